"""What a training job's iterations are spent on: which communication, which rank and which link cost how much."""

from __future__ import annotations

from typing import Any

import polars as pl

from xoff.analysis.explain.facts import WAITING, Facts
from xoff.analysis.explain.findings import Finding
from xoff.runs.iterations import WAITS
from xoff.text import count_text, share_text, time_text

EXPOSED_SHARE = 0.25
"""Share of a rank's iteration without computation from which a job's iterations are named."""
SLOW_RANK = 1.1
"""How many times as long as the median a rank computes from which it is named."""
_COMPUTES = ("forward", "backward", "optimizer")


def iterations(facts: Facts) -> Finding | None:
    """A rank of a training job spends much of an iteration without computing."""
    found = [each for job in facts.manifest.get("jobs", []) if (each := _job(facts, job))]
    if not found:
        return None
    share, label, evidence, ports = max(found, key=lambda each: each[0])
    advice = ["more `buckets` of the job, so that gradients are summed beside the last backward pass"]
    if len(found) > 1:
        evidence = (*evidence, f"so do {count_text(len(found) - 1, 'other job')}, less")
    if not facts.recorded("breakdown"):
        advice.append("record.breakdown = true says which ports its messages wait at")
    return Finding(
        "iterations",
        "note",
        f"job {label}: a rank does not compute for {share_text(share)} of an iteration",
        evidence,
        f"{share_text(EXPOSED_SHARE)} of an iteration without computation",
        tuple(advice),
        ports=ports,
    )


def _job(facts: Facts, job: dict[str, Any]) -> tuple[float, str, tuple[str, ...], tuple[str, ...]] | None:
    iterations = job.get("iterations")
    if not iterations:
        return None
    whole = iterations["compute_ps"] + iterations["exposed_ps"]
    share = iterations["exposed_ps"] / max(whole, 1)
    if share < EXPOSED_SHARE:
        return None
    label = str(job["label"])
    waits = sorted(((each["mean_ps"], each["waits_for"]) for each in iterations["exposed"]), reverse=True)
    parts = ", ".join(
        f"{time_text(round(mean))} for {WAITS.get(name, name)} ({share_text(mean / whole)})"
        for mean, name in waits
        if mean > 0
    )
    evidence = [f"of {time_text(round(whole))} it waits {parts}"]
    evidence += _slow_ranks(facts, label)
    ports, at = _ports(facts, label)
    evidence += at
    return share, label, tuple(evidence), ports


def _slow_ranks(facts: Facts, label: str) -> list[str]:
    """Ranks that compute longer than the others, for which these wait."""
    computes = (
        facts.operations.filter((pl.col("label") == label) & pl.col("kernel").is_in(_COMPUTES))
        .with_columns((pl.col("end_ps") - pl.col("start_ps")).alias("ps"))
        .group_by("process")
        .agg(pl.col("ps").sum())
        .sort("ps", "process", descending=[True, False])
    )
    if computes.is_empty():
        return []
    median = float(computes["ps"].median())  # type: ignore[arg-type]
    slow = computes.filter(pl.col("ps") >= SLOW_RANK * median)
    if slow.is_empty():
        return []
    rank, longest = slow.row(0)
    others = f", {count_text(len(slow) - 1, 'other')} too" if len(slow) > 1 else ""
    return [f"rank {rank} computes {longest / median:.2f} times as long as the median{others}: the others wait for it"]


def _ports(facts: Facts, label: str) -> tuple[tuple[str, ...], list[str]]:
    """The ports at which the job's messages waited longest, if that was recorded."""
    if facts.breakdown.is_empty():
        return (), []
    flows = facts.flows.filter(pl.col("label") == label)["id"]
    waited = (
        facts.breakdown.filter(pl.col("flow").is_in(flows.to_list()) & pl.col("part").is_in(WAITING))
        .group_by("port")
        .agg(pl.col("time_ps").sum())
        .sort("time_ps", "port", descending=[True, False])
        .filter(pl.col("time_ps") > 0)
    )
    if waited.is_empty():
        return (), ["its messages waited at no port"]
    total = int(waited["time_ps"].sum())
    worst = waited.head(3)
    named = ", ".join(f"{port} ({share_text(ps / total)})" for port, ps in worst.iter_rows())
    return tuple(str(port) for port in worst["port"]), [
        f"its messages waited {time_text(total)} at ports, all together, most at {named}"
    ]
