"""What a training job's iterations are spent on besides computing, and what to try for each."""

from __future__ import annotations

from xoff.analysis.explain.findings import Finding
from xoff.analysis.explain.job import Job
from xoff.runs.iterations import WAITS
from xoff.text import share_text, time_text

EXPOSED_SHARE = 0.25
"""Share of a rank's iteration without computation from which a job's iterations are named."""
ADVISED_SHARE = 0.1
"""Share of an iteration for which a rank waits for one thing from which there is advice on that."""


def iterations(job: Job) -> Finding | None:
    """A rank of a training job spends much of an iteration without computing."""
    about = job.about.get("iterations")
    if not about:
        return None
    whole = max(about["compute_ps"] + about["exposed_ps"], 1)
    share = about["exposed_ps"] / whole
    if share < EXPOSED_SHARE:
        return None
    waits = sorted(((each["mean_ps"], each["waits_for"]) for each in about["exposed"] if each["mean_ps"]), reverse=True)
    parts = ", ".join(
        f"{time_text(round(mean))} for {WAITS.get(name, name)} ({share_text(mean / whole)})" for mean, name in waits
    )
    named = [name for place, (mean, name) in enumerate(waits) if place == 0 or mean >= ADVISED_SHARE * whole]
    return Finding(
        "iterations",
        "note",
        f"job {job.label}: a rank does not compute for {share_text(share)} of an iteration",
        (f"of {time_text(round(whole))} it waits {parts}",),
        f"{share_text(EXPOSED_SHARE)} of an iteration without computation; advice on the longest wait, and on each of "
        f"{share_text(ADVISED_SHARE)}",
        tuple(f"for {WAITS.get(name, name)}: {advice}" for name in named if (advice := _advice(job, name))),
    )


def _advice(job: Job, waits_for: str) -> str | None:
    """What to try if ranks wait for this."""
    if waits_for == "tensor":
        if (job.program.messages["kernel"] == "tensor").any():
            return "ranks that share a layer on one host: `ranks_per_host` of at least `tensor`, `placement` packed"
        return "a smaller `tensor`, or a faster `local_rate`"
    if waits_for == "expert":
        return "ranks that share experts near each other: `placement`, a smaller `expert`, or `ranks_per_host`"
    if waits_for == "gradients":
        if any(each.get("buckets") == 1 for each in job.program.patterns):
            return "more `buckets`, so that gradients are summed beside the last backward pass"
        return (
            "another `algorithm` or more `channels`, a `placement` with replicas near each other, or a larger `batch`"
        )
    if waits_for == "parameters":
        return "a larger `batch`, or `sharded = false`, which gathers no parameters"
    if waits_for == "pipeline":
        return "more micro-batches: a larger `batch` or a smaller `micro_batch`; or fewer stages"
    return None
