"""PAUSE, how far it spreads, and whom it blocks: computed from a run's tables. No drawing here.

Congestion roots are recorded where a scenario asks for them (`record.roots`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xoff.analysis import frame, hol_blocked

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from xoff.results import Run

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
    """When the last pause ended, in ps; 0 without any."""


def pause_totals(run: Run, until_ps: float | None = None) -> PauseTotals:
    """PAUSE frames and stopped time up to `until_ps`, or to the end of the run; needs `record.pauses`.

    Frames count in the pause that they made or renewed, and that with its part before `until_ps`.
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
    """Share of the flows that head-of-line blocking held up; NaN where congestion roots were not recorded."""
    count, flows = hol_blocked(run), run.table("flows").num_rows
    return float("nan") if count is None else count / flows


def pause_spread(run: Run) -> pl.DataFrame:
    """The pauses with `depth`: how many links the stopped port is away from the congestion root behind the pause.

    The port that a root's switch stops has depth 1, those that are stopped for its sake 2, and so on: the least over
    all roots and pauses that hold up what comes through it at some moment of the pause. Null where there is none, as
    where roots were not recorded, or a queue grows by less than `record.root_growth`.
    """
    import polars as pl

    data = frame(run, "pauses").sort("start_ps", "port", "priority")
    if data.is_empty():
        return data.with_columns(depth=pl.lit(None, pl.Int64))
    start = data["start_ps"].to_numpy().astype(np.int64)
    end = start + data["length_ps"].to_numpy().astype(np.int64)
    priority = data["priority"].to_numpy()
    stopper = [by.partition("->")[0] for by in data["by"]]
    # What may hold up the packets of a stopped port at the node that stopped it: its roots, and its own stopped ports.
    roots: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for port, rank, begin, length in (
        frame(run, "roots").select("port", "priority", "start_ps", "length_ps").iter_rows()
    ):
        roots.setdefault((port.partition("->")[0], rank), []).append((begin, begin + length))
    stopped: dict[tuple[str, int], list[int]] = {}
    for row, port in enumerate(data["port"]):
        stopped.setdefault((port.partition("->")[0], int(priority[row])), []).append(row)
    depth: list[int | None] = [None] * len(data)
    for row in range(len(data)):
        spans = roots.get((stopper[row], int(priority[row])), ())
        if any(begin <= end[row] and start[row] <= finish for begin, finish in spans):
            depth[row] = 1
    # A pause rests on those before it of the node that made it; one pass for each further link of the longest chain.
    for known in range(1, len(data) + 1):
        found = False
        for row in range(len(data)):
            if depth[row] is not None:
                continue
            behind = stopped.get((stopper[row], int(priority[row])), ())
            if any(depth[other] == known and start[other] <= end[row] and start[row] <= end[other] for other in behind):
                depth[row], found = known + 1, True
        if not found:
            break
    return data.with_columns(depth=pl.Series(depth, dtype=pl.Int64))


def settling_ps(run: Run, port: str, below_bytes: float, quiet_ps: float, since_ps: float = 0.0) -> float:
    """Time from the first PAUSE that begins at `since_ps` or later until the queue of `port` is back, in ps.

    It is back at the first sample from which on it stays below `below_bytes` for `quiet_ps`, or to the end of the run
    where that comes first. NaN without a PAUSE, or where it never is; needs `record.pauses` and samples of the queue.
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
    high = np.flatnonzero((own["max_bytes"].to_numpy() >= below_bytes) & (time > trigger))
    # Candidates: the first sample after the trigger, and that after each high one.
    after = np.concatenate([[np.searchsorted(time, trigger, side="right")], high + 1])
    for index in after:
        if index >= len(time):
            break
        later = high[high >= index]
        if len(later) == 0 or time[later[0]] - time[index] >= quiet_ps:
            return max(float(time[index]) - trigger, 0.0)
    return float("nan")


def goodput_bps(run: Run, label: str) -> float:
    """Payload of the flows with this label over the time from their first start to their last end, in bit/s.

    NaN where one did not complete.
    """
    import polars as pl

    flows = frame(run, "flows").filter(pl.col("label") == label)
    if flows.is_empty() or flows["fct_ps"].null_count() > 0:
        return float("nan")
    begin = flows["start_ps"].to_numpy().astype(np.float64).min()
    end = (flows["start_ps"].to_numpy().astype(np.float64) + flows["fct_ps"].to_numpy().astype(np.float64)).max()
    return float(flows["acked_bytes"].sum()) * 8 / (float(end - begin) / PS_PER_S)
