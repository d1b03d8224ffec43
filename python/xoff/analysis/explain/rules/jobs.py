"""What parallel programs wait for: which rank, which operation and which link cost a job how much."""

from __future__ import annotations

import numpy as np
import polars as pl

from xoff.analysis.explain.findings import Finding
from xoff.analysis.explain.job import Job
from xoff.analysis.explain.rules.job_links import Links, links_of
from xoff.text import count_text, share_text, time_text

COMMUNICATION_SHARE = 0.1
"""Share of a critical path that is no computation from which the path is named."""
LOST_SHARE = 0.1
"""Share of a critical path for which messages are longer than alone from which that is a warning."""
WAIT_SHARE = 0.01
"""Share of a job's time from which the rank that waited longest is named."""
SLOW_RANK = 1.1
"""How many times as long as the median a rank computes from which the rank is named."""
SLOW_SHARE = 0.05
"""Share of a critical path that a slow rank's computations have from which the rank is named."""


def critical_path(job: Job) -> Finding | None:
    """A job's last operation waited for messages, or the job took longer than on an ideal network."""
    if job.program.operations.is_empty():
        return None
    if not job.path:
        return _without_path(job)
    whole = job.path_ps
    others = whole - job.spent_ps("compute")
    if others < COMMUNICATION_SHARE * whole:
        return None
    links = links_of(job)
    messages, within = job.spent_ps("message"), job.spent_ps("local") + job.spent_ps("between")
    if within > messages:
        title = f"{share_text(within / whole)} of its critical path are overheads, latencies and messages within hosts"
    else:
        lost = f"{time_text(links.lost_ps)} longer than alone" if links.lost_ps else "no longer than alone"
        title = f"messages are {share_text(messages / whole)} of its critical path, {lost}"
    evidence = [_completion(job), _kinds(job), *_operations(job), *links.evidence, *_ranks(job)]
    return Finding(
        "critical_path",
        "warning" if links.sure_ps >= LOST_SHARE * whole else "note",
        f"job {job.label}: {title}",
        tuple(evidence),
        f"{share_text(COMMUNICATION_SHARE)} of the path that is no computation; a warning from "
        f"{share_text(LOST_SHARE)} of the path for which messages are longer than alone",
        _advice(job, links),
        ports=links.ports,
        flows=links.flows,
    )


def _without_path(job: Job) -> Finding | None:
    """What is known without the parts of messages' time: how much slower than alone they were, and for whom."""
    took, ideal = job.about.get("completion_ps"), job.about.get("ideal_completion_ps")
    messages = job.program.messages
    if not took or not ideal or took < (1 + COMMUNICATION_SHARE) * ideal or messages.is_empty():
        return None
    late = messages.with_columns(lost=pl.col("fct_ps") - pl.col("ideal_fct_ps")).filter(pl.col("lost") > 0)
    late = late.sort("lost", "id", descending=[True, False])
    evidence = [_completion(job)]
    if not late.is_empty():
        worst = late.row(0, named=True)
        evidence.append(
            f"{len(late):,} of {count_text(len(messages), 'message')} took longer than alone, most flow {worst['id']} "
            f"of {worst['kernel']}, {worst['src']}->{worst['dst']}: {time_text(worst['lost'])}"
        )
    return Finding(
        "critical_path",
        "note",
        f"job {job.label}: it took {took / ideal:.2f} times as long as on an ideal network",
        (*evidence, *_waits(job)),
        f"{1 + COMMUNICATION_SHARE:.2f} times the completion time on an ideal network, where the path is not known",
        (f"record.breakdown = true{_plain(job)} says which messages its last rank waited for, and at which ports",),
        flows=tuple(late["id"].head(100)),
    )


def _plain(job: Job) -> str:
    """What else a run needs that is to record the parts of messages' time."""
    return ", in a run without run.fast_forward," if (job.facts.scenario.get("run") or {}).get("fast_forward") else ""


def slow_ranks(job: Job) -> Finding | None:
    """Ranks of a job compute longer than the others."""
    computes = job.program.computes_ps
    if not computes or not job.about.get("completion_ps"):
        # Ranks of a job that was cut off are at different places of what they do.
        return None
    median = float(np.median(list(computes.values())))
    slow = {rank: ps for rank, ps in computes.items() if ps >= SLOW_RANK * median}
    on_path = dict.fromkeys(slow, 0)
    for each in job.path:
        if each.kind == "compute" and each.rank in on_path:
            on_path[each.rank] += each.time_ps
    if job.path:
        slow = {rank: ps for rank, ps in slow.items() if on_path[rank] >= SLOW_SHARE * job.path_ps}
    if not slow:
        return None
    (rank, longest), *others = sorted(slow.items(), key=lambda item: (-item[1], item[0]))
    ranks = f"{count_text(len(computes), 'rank')} that compute"
    evidence = [f"it computes {time_text(longest)}, the median of {ranks} {time_text(round(median))}"]
    if others:
        more = f" and {len(others) - 8} more" if len(others) > 8 else ""
        named = ", ".join(str(other.number) for other, _ in others[:8])
        evidence.append(f"{count_text(len(others), 'other rank')} too: {named}{more}")
    if job.path:
        part = share_text(on_path[rank] / job.path_ps)
        evidence.append(f"{time_text(on_path[rank])} of it ({part}) is on the job's critical path")
    return Finding(
        "slow_ranks",
        "note",
        f"job {job.label}: {rank} computes {longest / median:.2f} times as long as the median",
        (*evidence, *_waits(job)),
        f"{SLOW_RANK} times the median of the ranks that compute, and {share_text(SLOW_SHARE)} of the critical path "
        "where that is known",
        ("an equal share of the computation for each rank; in a pipeline, stages that take equally long",),
    )


def _completion(job: Job) -> str:
    ends = job.program.operations.sort("end_ps", "process", "host", descending=[True, False, False])
    together = ends.filter(pl.col("end_ps") == ends["end_ps"][0]).unique(["process", "host"], maintain_order=True)
    last = together.row(0, named=True)
    others = f" and {count_text(len(together) - 1, 'other')}" if len(together) > 1 else ""
    who = f"rank {last['process']} on {last['host']}{others} ended last, with {last['kernel']}"
    took, ideal = job.about.get("completion_ps"), job.about.get("ideal_completion_ps")
    if not took:
        return f"it had not ended when the run did; of what had, {who}"
    about = job.about.get("iterations")
    length = f"it took {time_text(took)}" + (f" for {count_text(len(about['times_ps']), 'iteration')}" if about else "")
    if ideal:
        length += f", {took / ideal:.2f} times the {time_text(ideal)} of an ideal network"
    return f"{length}; {who}"


def _kinds(job: Job) -> str:
    names = (
        ("compute", "computing"),
        ("message", "messages between hosts"),
        ("local", "messages within hosts"),
        ("between", "overheads, latencies and messages that no table has"),
    )
    spent = [(job.spent_ps(kind), name) for kind, name in names]
    parts = ", ".join(f"{name} {time_text(ps)} ({share_text(ps / job.path_ps)})" for ps, name in spent if ps)
    guessed = sum(each.time_ps for each in job.path if not each.sure)
    unsure = f"; {share_text(guessed / job.path_ps)} of it, the earlier part, is not sure" if guessed else ""
    return f"its critical path, by when operations and messages begin and end: {parts}{unsure}"


def _operations(job: Job) -> list[str]:
    """The operations whose messages have most of the path."""
    lost = dict(job.losses.group_by("flow").agg(pl.col("time_ps").sum()).iter_rows())
    rows = [(each.kernel, each.kind, each.time_ps, lost.get(each.flow, 0)) for each in job.path]
    table = pl.DataFrame(rows, ("kernel", "kind", "ps", "lost"), orient="row")
    sent = table.filter(pl.col("kind").is_in(["message", "local"])).group_by("kernel", "kind")
    sums = sent.agg(pl.len().alias("count"), pl.col("ps", "lost").sum())
    worst = sums.sort("ps", "kernel", descending=[True, False])
    if worst.is_empty():
        return []
    parts = [_operation(*row) for row in worst.head(3).iter_rows()]
    more = [count_text(len(worst) - 3, "other operation")] if len(worst) > 3 else []
    return [f"its messages by operation: {'; '.join(parts + more)}"]


def _operation(kernel: str, kind: str, count: int, spent: int, lost: int) -> str:
    if kind == "local":
        return f"{kernel} {time_text(spent)} within hosts"
    slower = f", {spent / max(spent - lost, 1):.2f} times as long as alone" if lost else ""
    return f"{kernel} {time_text(spent)} in {count_text(count, 'message')}{slower}"


def _ranks(job: Job) -> list[str]:
    """The rank that has most of the path, and the one that waited longest."""
    sums: dict[str, int] = {}
    for each in job.path:
        if each.kind != "between":
            sums[str(each.rank)] = sums.get(str(each.rank), 0) + each.time_ps
    if len(sums) < 2:
        return _waits(job)
    rank, spent = max(sums.items(), key=lambda item: item[1])
    most = f"of {count_text(len(sums), 'rank')} on the path {rank} has most, {share_text(spent / job.path_ps)}"
    return [f"{most}: what it computes, and what it sends", *_waits(job)]


def _waits(job: Job) -> list[str]:
    if len(job.program.waits_ps) < 2:
        return []
    rank, waited = min(job.program.waits_ps.items(), key=lambda item: (-item[1], item[0]))
    times = job.program.operations
    if waited < max(WAIT_SHARE * (times["end_ps"].max() - times["start_ps"].min()), 1):  # type: ignore[operator]
        return []
    return [f"{rank} waited longest: for {time_text(waited)} it neither computed nor sent"]


def _advice(job: Job, links: Links) -> tuple[str, ...]:
    found = []
    if job.spent_ps("local") + job.spent_ps("between") > job.spent_ps("message"):
        found.append("a faster local_rate, shorter overheads and latencies, or less data within hosts")
    elif links.lost_ps < LOST_SHARE * job.path_ps:
        found.append("messages take little longer than alone: less to send, faster links, or more beside computing")
    elif links.advice:
        found.append(links.advice)
    if links.held and not job.facts.recorded("roots"):
        found.append("record.roots = true says which ports were congested on the paths of messages that were held")
    return tuple(found)
