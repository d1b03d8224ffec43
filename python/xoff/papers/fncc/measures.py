"""Measurements of a run, taken in the process that made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from xoff.analysis.tables import frame, sampled_rates, slowdown_statistics

if TYPE_CHECKING:
    import numpy.typing as npt

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]

BEFORE_US = 50.0
"""Time before the join over which flow0's own rate is averaged, in us."""
REACTED = 0.95
"""Share of that rate below which flow0 has reacted."""
STEPPED_US = (15.0, 25.0)
"""Time after the join at which the flows have taken their first step, in us: one to two round trips."""

PS_PER_US = 1e6


@dataclass(frozen=True)
class Trace:
    """Samples of a two-flow run; times in us, end of each interval."""

    time_us: Floats
    queue_kb: Floats
    """Most bytes queued in the interval, in KB of 1000 B."""
    utilization: Floats
    """Of the congested port, 0 to 1."""
    rates_gbps: tuple[Floats, Floats]
    """The scheme's rate of each flow; NaN before flow1 starts."""


@dataclass(frozen=True)
class Joined:
    """A two-flow run in numbers. All times count from the join."""

    reaction_us: float
    """Until flow0's rate is below `REACTED` of what it was before the join; NaN: never."""
    below_line_us: float
    """Until it is below `REACTED` of the line rate; NaN: never."""
    peak_kb: float
    """Most bytes queued at the congested port, in KB."""
    mean_kb: float
    """Bytes queued, averaged up to the end of the run, in KB."""
    mean150_kb: float
    """The same over the first 150 us."""
    utilization: float
    """Of the congested port, up to the end of the run."""
    utilization300: float
    """The same over the first 300 us."""
    pauses: int
    """PAUSE frames that the congested port's switch sent, in the whole run."""
    pauses_all: int
    """PAUSE frames that any port sent."""
    step0_gbps: float
    """Median rate of flow0 over `STEPPED_US`."""
    step1_gbps: float
    """The same of flow1."""
    trace: Trace | None
    """Samples, if asked for."""


def measure_joined(run: Run, join_us: float, keep: bool) -> Joined:
    """Measure a two-flow run whose second flow starts at `join_us`; with its samples if `keep`."""
    queues, use, ports = (frame(run, name) for name in ("queues", "utilization", "ports"))
    rates = sampled_rates(run)
    time = queues["time_ps"].to_numpy() / PS_PER_US
    peak = queues["max_bytes"].to_numpy() / 1e3
    length = queues["bytes"].to_numpy() / 1e3
    busy = use["utilization"].to_numpy()
    port = queues["port"][0]
    flow0, flow1 = (_rate_gbps(rates, flow, time) for flow in (0, 1))
    line = ports.filter(pl.col("port") == port)["rate_bps"][0] / 1e9
    after = time > join_us
    own = float(np.mean(flow0[(time > join_us - BEFORE_US) & ~after]))
    stepped = (time > join_us + STEPPED_US[0]) & (time <= join_us + STEPPED_US[1])
    sent = ports.filter(pl.col("node") == port.partition("->")[0])["pause_frames_sent"].sum()

    def first(limit: float) -> float:
        times = time[after & (flow0 < limit)]
        return float(times[0] - join_us) if len(times) else float("nan")

    return Joined(
        reaction_us=first(REACTED * own),
        below_line_us=first(REACTED * line),
        peak_kb=float(peak[after].max()),
        mean_kb=float(length[after].mean()),
        mean150_kb=float(length[after & (time <= join_us + 150)].mean()),
        utilization=float(busy[after].mean()),
        utilization300=float(busy[after & (time <= join_us + 300)].mean()),
        pauses=int(sent),
        pauses_all=int(ports["pause_frames_sent"].sum()),
        step0_gbps=float(np.median(flow0[stepped])),
        step1_gbps=float(np.median(flow1[stepped])),
        trace=Trace(time, peak, busy, (flow0, flow1)) if keep else None,
    )


def _rate_gbps(rates: pl.DataFrame, flow: int, time_us: Floats) -> Floats:
    mine = rates.filter((pl.col("flow") == flow) & (pl.col("time_ps") <= round(time_us[-1] * PS_PER_US)))
    # The last entry begins with the flow: there is no earlier rate.
    place = np.searchsorted(time_us, mine["time_ps"].to_numpy() / PS_PER_US - 1e-6)
    found = np.full(len(time_us), np.nan)
    found[place] = mine["rate_bps"].to_numpy() / 1e9
    return found


@dataclass(frozen=True)
class Fairness:
    """A run with flows that join and leave."""

    interval_ms: float
    """Between two changes."""
    time_ms: Floats
    """End of each sample."""
    goodput_gbps: Floats
    """Payload acknowledged: a row a sample, a column a flow; 0 if it is not active."""
    jain: Floats
    """Jain's index of the active flows' goodput, in each interval, its first half left out."""
    jain_sampled: Floats
    """The same of each sample; NaN if fewer than two flows are active."""


def measure_fairness(run: Run, interval_ms: float) -> Fairness:
    """Jain's index in each interval between two changes, from its middle on."""
    rates = sampled_rates(run)
    time_ps = np.unique(rates["time_ps"].to_numpy())
    goodput = np.zeros((len(time_ps), 4))
    place = np.searchsorted(time_ps, rates["time_ps"].to_numpy())
    goodput[place, rates["flow"].to_numpy()] = rates["goodput_bps"].to_numpy() / 1e9
    time_ms = time_ps / 1e9
    indices, sampled = [], np.full(len(time_ms), np.nan)
    for number in range(7):
        low, high = number * interval_ms, (number + 1) * interval_ms
        active = [flow for flow in range(4) if flow <= number < flow + 4]
        if len(active) < 2:
            continue
        settled = (time_ms > (low + high) / 2) & (time_ms <= high)
        indices.append(jain(goodput[settled][:, active].mean(axis=0)))
        for row in np.flatnonzero((time_ms > low) & (time_ms <= high)):
            sampled[row] = jain(goodput[row, active])
    return Fairness(interval_ms, time_ms, goodput, np.array(indices), sampled)


def jain(rates: Floats) -> float:
    """Jain's fairness index: 1 for equal rates, 1/n if one flow has all."""
    squares = float(np.sum(rates**2))
    return float(np.sum(rates)) ** 2 / (len(rates) * squares) if squares > 0 else float("nan")


@dataclass(frozen=True)
class Fct:
    """A fat-tree run."""

    flows: int
    """Flows that arrived."""
    incomplete: int
    """Those that did not complete."""
    large: int
    """Those over 1 MB."""
    small: int
    """Those under 100 KB."""
    large_p50: float
    """Median slowdown of flows over 1 MB."""
    small_p95: float
    """95th percentile of the slowdown of flows under 100 KB."""
    bins: dict[str, Floats]
    """`count`, and `mean`, `p50`, `p95` and `p99` of slowdown, by size bin; NaN if a bin is empty."""
    pauses: int
    """PAUSE frames sent by all ports."""


def measure_fct(run: Run, edges_kb: Sequence[float]) -> Fct:
    """Slowdowns by flow size; `edges_kb` are the bins' largest sizes in KB."""
    flows = frame(run, "flows")
    done = flows.drop_nulls("slowdown")
    size = done["size_bytes"].to_numpy()
    slowdown = done["slowdown"].to_numpy()
    large, small = slowdown[size > 1_000_000], slowdown[size < 100_000]
    place = np.searchsorted(np.array(edges_kb) * 1e3, size, side="left")
    rows = [
        {"count": int(inside.sum()), **(slowdown_statistics(slowdown[inside]) if inside.any() else {})}
        for inside in (place == index for index in range(len(edges_kb)))
    ]
    return Fct(
        flows=len(flows),
        incomplete=len(flows) - len(done),
        large=len(large),
        small=len(small),
        large_p50=_percentile(large, 50),
        small_p95=_percentile(small, 95),
        bins={
            name: np.array([row.get(name, np.nan) for row in rows], dtype=np.float64)
            for name in ("count", "mean", "p50", "p95", "p99")
        },
        pauses=int(frame(run, "ports")["pause_frames_sent"].sum()),
    )


def _percentile(values: Floats, percent: float) -> float:
    return float(np.percentile(values, percent)) if len(values) else float("nan")
