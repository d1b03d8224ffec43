"""PAUSE, how far it spreads, and whom it blocks: computed from a run's tables. No drawing here.

Congestion roots are recorded if a scenario asks for them (`record.roots`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xoff.analysis.tables import frame, hol_blocked

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]

PS_PER_S = 1e12


@dataclass(frozen=True)
class PauseTotals:
    """PAUSE over a run, or a part of it."""

    frames_per_s: float
    """PAUSE frames sent by all ports, a second."""
    paused_share: float
    """Share of the time for which a port was stopped, on average over all ports."""
    ports: int
    """Ports that were stopped at all."""
    last_ps: float
    """When the last pause ended, in ps; 0 without a pause."""


def pause_totals(run: Run, until_ps: float | None = None) -> PauseTotals:
    """PAUSE frames and stopped time up to `until_ps`, or to the end of the run; needs `record.pauses`.

    A frame counts in the pause that it made or renewed; a pause counts with its part before `until_ps`.
    """
    end = float(run.manifest["sim_time_ps"]) if until_ps is None else until_ps
    data, ports = frame(run, "pauses"), run.table("ports").num_rows
    if data.is_empty() or end <= 0:
        return PauseTotals(0.0, 0.0, 0, 0.0)
    start = data["start_ps"].to_numpy().astype(np.float64)
    length = data["length_ps"].to_numpy().astype(np.float64)
    inside = start < end
    clipped = np.minimum(length, end - start)[inside]
    frames = int(data["frames"].to_numpy()[inside].sum())
    return PauseTotals(
        frames_per_s=frames / (end / PS_PER_S),
        paused_share=float(clipped.sum()) / (end * ports),
        ports=data.filter(inside)["port"].n_unique(),
        last_ps=float((start + length).max()),
    )


def blocked_share(run: Run) -> float:
    """Share of the flows that head-of-line blocking held up; NaN if congestion roots were not recorded."""
    count, flows = hol_blocked(run), run.table("flows").num_rows
    return float("nan") if count is None else count / flows


def pause_spread(run: Run) -> pl.DataFrame:
    """The pauses with `depth`: how many links the stopped port is away from the congestion root behind the pause.

    The port that a root's switch stops has depth 1, those that stop because of that port 2, and so on: the minimum over
    all roots and pauses that hold up what comes through it at some moment of the pause. `root` is the port that is
    this root, of several the one whose time as a root, or whose stopped port's pause, began first. Both are null if
    there is no root, for instance because roots were not recorded, or nothing exceeds `record.root_growth`.
    """
    import polars as pl

    data = frame(run, "pauses").sort("start_ps", "port", "priority")
    if data.is_empty():
        return data.with_columns(depth=pl.lit(None, pl.Int64), root=pl.lit(None, pl.String))
    start = data["start_ps"].to_numpy().astype(np.int64)
    end = start + data["length_ps"].to_numpy().astype(np.int64)
    priority = data["priority"].to_list()
    # What may hold up the packets of a stopped port is at the node that stopped it: first that node's roots, then its
    # own stopped ports.
    waiting = _places(zip((by.partition("->")[0] for by in data["by"]), priority, strict=True))
    at = list(zip((port.partition("->")[0] for port in data["port"]), priority, strict=True))
    depth: list[int | None] = [None] * len(data)
    root: list[str | None] = [None] * len(data)
    causes = _roots_at_nodes(run)
    links = 1
    while causes:
        found: list[int] = []
        for place, (begin, finish, names) in causes.items():
            rows = waiting.get(place, _NOBODY)
            # The first cause that has not ended when a pause begins is the first that the pause meets, or it meets
            # none: the latest end up to each cause finds it.
            latest = np.maximum.accumulate(finish)
            first = np.searchsorted(latest, start[rows])
            met = first < len(begin)
            met[met] = begin[first[met]] <= end[rows[met]]
            for row, cause in zip(rows[met].tolist(), first[met].tolist(), strict=True):
                depth[row], root[row] = links, names[cause]
            found += rows[met].tolist()
            waiting[place] = rows[~met]
        # Rows come by start.
        found.sort()
        causes = {
            place: (start[rows], end[rows], [root[row] for row in rows])
            for place, rows in _places((at[row] for row in found), found).items()
        }
        links += 1
    return data.with_columns(depth=pl.Series(depth, dtype=pl.Int64), root=pl.Series(root, dtype=pl.String))


def _roots_at_nodes(run: Run) -> dict[tuple[str, int], tuple[Numbers, Numbers, list[str | None]]]:
    """By node and priority: when its roots began and ended, in the order of their beginning, and their ports."""
    if not run.table("roots").num_rows:
        return {}
    data = frame(run, "roots").sort("start_ps", "port", "priority")
    names: list[str | None] = data["port"].to_list()
    start = data["start_ps"].to_numpy().astype(np.int64)
    end = start + data["length_ps"].to_numpy().astype(np.int64)
    at = zip((port.partition("->")[0] for port in data["port"]), data["priority"].to_list(), strict=True)
    return {place: (start[rows], end[rows], [names[row] for row in rows]) for place, rows in _places(at).items()}


def _places(keys: Iterable[tuple[str, int]], rows: Iterable[int] | None = None) -> dict[tuple[str, int], Numbers]:
    """The rows of each key, in their order; `rows` are their numbers, by default 0, 1, 2, ..."""
    found: dict[tuple[str, int], list[int]] = {}
    for row, key in zip(itertools.count() if rows is None else rows, keys, strict=False):
        found.setdefault(key, []).append(row)
    return {key: np.array(several, dtype=np.int64) for key, several in found.items()}


_NOBODY = np.zeros(0, dtype=np.int64)


def settling_ps(run: Run, port: str, below_bytes: float, quiet_ps: float, since_ps: float = 0.0) -> float:
    """Time from the first PAUSE that begins at `since_ps` or later until the queue of `port` is back, in ps.

    The queue is back at the first sample from which on it stays below `below_bytes` for `quiet_ps`, or to the end of
    the run if that comes first. Infinite if the queue never is back, NaN without a PAUSE, after which nothing has to
    settle, or without a later sample of the queue; needs `record.pauses` and samples of the queue.
    """
    import polars as pl

    pauses, queues = frame(run, "pauses"), frame(run, "queues")
    if pauses.is_empty() or queues.is_empty():
        return float("nan")
    starts = pauses["start_ps"].to_numpy().astype(np.float64)
    if not (starts >= since_ps).any():
        return float("nan")
    trigger = float(starts[starts >= since_ps].min())
    own = queues.filter(pl.col("port") == port).sort("time_ps")
    time = own["time_ps"].to_numpy().astype(np.float64)
    if not (time > trigger).any():
        return float("nan")
    high = np.flatnonzero((own["max_bytes"].to_numpy() >= below_bytes) & (time > trigger))
    # Candidates: the first sample after the trigger, and that after each high one.
    after = np.concatenate([[np.searchsorted(time, trigger, side="right")], high + 1])
    for index in after:
        if index >= len(time):
            break
        later = high[high >= index]
        if len(later) == 0 or time[later[0]] - time[index] >= quiet_ps:
            return max(float(time[index]) - trigger, 0.0)
    return float("inf")


def goodput_bps(run: Run, label: str) -> float:
    """Payload of the flows with this label over the time from their first start to their last end, in bit/s.

    NaN if one did not complete.
    """
    import polars as pl

    flows = frame(run, "flows").filter(pl.col("label") == label)
    if flows.is_empty() or flows["fct_ps"].null_count() > 0:
        return float("nan")
    begin = flows["start_ps"].to_numpy().astype(np.float64).min()
    end = (flows["start_ps"].to_numpy().astype(np.float64) + flows["fct_ps"].to_numpy().astype(np.float64)).max()
    return float(flows["acked_bytes"].sum()) * 8 / (float(end - begin) / PS_PER_S)
