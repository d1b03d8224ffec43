"""What each rank of a GOAL schedule, a Chakra trace or a training job did when, from the tables of its run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xoff.analysis.columns import as_numpy, rows_of
from xoff.analysis.explain.quantities import quantity
from xoff.analysis.intervals import Intervals
from xoff.analysis.operations import COMPUTES, ITERATION, SENDS, transfer_ps, word
from xoff.report.plots.style import Labelled

if TYPE_CHECKING:
    from xoff.analysis.intervals import Times


_PATTERNS = ("goal", "chakra", "training")
"""Patterns whose ranks have a timeline."""

_NO_WAIT = (*COMPUTES, SENDS, ITERATION)
"""Words of all that is no receive and no collective."""


@dataclass(frozen=True)
class Rank:
    """What a rank did."""

    number: int
    computes: Intervals
    sends: Intervals
    local: Intervals
    """Messages to ranks of its own host, itself among them; one that takes no time lasts for a ps."""
    receives: Intervals
    """Receives and collectives that have begun and not ended."""


def schedules(each: Labelled) -> list[dict[str, Any]]:
    """The jobs whose ranks have a timeline: replayed GOAL schedules and Chakra traces, and training."""
    labels = {_label(pattern) for pattern in _patterns(each)}
    return [job for job in each.run.manifest.get("jobs", []) if job.get("label") in labels]


def ranks_of(each: Labelled, label: str) -> tuple[list[Rank], int]:
    """What the ranks of a job did, and until when; operations without an end last until the end of the run.

    A rank sends while messages of it are under way, which for short ones is longer than the operation takes.
    """
    import pyarrow.compute as pc

    over = int(each.run.manifest.get("sim_time_ps", 0))
    operations, flows = (rows_of(table, "label", label) for table in (each.run.operations, each.run.flows))
    start, size = (as_numpy(operations[name]).astype(np.int64) for name in ("start_ps", "bytes"))
    end = as_numpy(operations["end_ps"], over).astype(np.int64)
    names = as_numpy(pc.cast(operations["kernel"], "string"))
    words = {name: word(name) for name in np.unique(names.astype(str)).tolist()}
    kernel = np.array([words[str(name)] for name in names], dtype=object)
    computes, waits = np.isin(kernel, COMPUTES), ~np.isin(kernel, _NO_WAIT)
    left = as_numpy(flows["start_ps"]).astype(np.int64)
    acked = as_numpy(pc.add(flows["start_ps"], flows["fct_ps"]), over).astype(np.int64)
    by_rank = _by_rank(as_numpy(operations["process"]))
    flows_of = _by_rank(as_numpy(flows["process"]))
    # No table has messages within a host, but each send that has begun and has no flow is one.
    goes, takes = _within_host(each, label, start, size)
    kind = _pattern(each, label)["pattern"]
    if kind == "training":
        # A rank that trains waits in all of an iteration in which it does not compute.
        waits = kernel == ITERATION
        # Sums over ranks of one host.
        within = (kernel == "tensor") & (size == 0)
        goes, takes = start, end - start
    else:
        within = (kernel == SENDS) & ~np.isin(_keys(operations), _keys(flows)) & (goes <= over)

    def of(rows: Any, among: Any) -> Intervals:
        wanted = rows[among[rows]]
        return Intervals(start[wanted], end[wanted])

    def local(rows: Any) -> Intervals:
        wanted = rows[within[rows]]
        return Intervals(goes[wanted], np.maximum(np.minimum((goes + takes)[wanted], over), goes[wanted] + 1))

    none = np.array([], dtype=np.int64)
    ranks = [
        Rank(
            number,
            of(rows, computes),
            Intervals(left[sent := flows_of.get(number, none)], acked[sent]),
            local(rows),
            of(rows, waits),
        )
        for number, rows in by_rank.items()
    ]
    return ranks, max(int(end.max(initial=0)), int(acked.max(initial=0)), 1)


def _patterns(each: Labelled) -> list[dict[str, Any]]:
    traffic = each.run.manifest.get("scenario", {}).get("traffic", [])
    return [pattern for pattern in traffic if pattern.get("pattern") in _PATTERNS]


def _label(pattern: dict[str, Any]) -> str:
    return str(pattern.get("label") or pattern["pattern"])


def _pattern(each: Labelled, label: str) -> dict[str, Any]:
    return next(pattern for pattern in _patterns(each) if _label(pattern) == label)


def _within_host(each: Labelled, label: str, start: Times, size: Times) -> tuple[Times, Times]:
    """When the messages of sends go, and how long they take, if they are for a rank of the same host."""
    pattern = _pattern(each, label)
    overhead, delay, rate = (quantity(pattern.get(key)) or 0 for key in ("overhead", "local_delay", "local_rate"))
    if pattern.get("pattern") == "chakra":
        overhead = 0  # There only receivers have one.
    # No message is drawn for longer than the run.
    return start + overhead, transfer_ps(size, rate, delay, each.run.manifest["sim_time_ps"])


def _keys(table: Any) -> Times:
    """A number for each message: its rank, and its place among the rank's operations."""
    process, place = (as_numpy(table[name]).astype(np.int64) for name in ("process", "iteration"))
    keys: Times = (process << 32) | place
    return keys


def _by_rank(process: Any) -> dict[int, Any]:
    """The rows of each rank, by its number."""
    process = process.astype(np.int64)
    order = np.argsort(process, kind="stable")
    numbers = np.unique(process)
    groups = np.split(order, np.searchsorted(process[order], numbers[1:])) if len(numbers) else []
    return dict(zip(numbers.tolist(), groups, strict=True))
