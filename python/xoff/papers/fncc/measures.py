"""Measurements of a run, taken in the process that made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from xoff.analysis.tables import frame, sampled_rates, slowdown_statistics

if TYPE_CHECKING:
    import numpy.typing as npt

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

BEFORE_US = 50.0
"""Time before the join over which flow0's own rate is averaged, in us."""
REACTED = 0.95
"""Share of that rate below which flow0 has reacted."""
STEPPED_US = (15.0, 25.0)
"""Time after the join at which the flows have taken their first step, in us: one to two round trips."""
WINDOW_US = 650.0
"""Time after the join over which a run is measured, in us: every repetition has as much."""
SMOOTH_US = 5.0
"""Time over which rates are averaged before they are called fair, in us."""
JITTER_US = (30.0, 300.0)
"""Time after the join over which rates are called smooth, in us: after the first step, as long as Fig. 9 shows."""
END_US = 100.0
"""The last part of the window, in us."""

PS_PER_US = 1e6
PS_PER_BYTE = 80
"""At the fat-tree's 100 Gbps."""
MTU = 1518
"""Bytes of a full frame."""


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
class Rates:
    """Both flows' rates after the join, from which all times count."""

    reaction_us: float
    """Until flow0's rate is below `REACTED` of what it was before the join; NaN: never."""
    below_line_us: float
    """Until it is below `REACTED` of the line rate; NaN: never."""
    settled10_us: float
    """Until both flows stay within 10 % of half the line rate, averaged over `SMOOTH_US`; NaN: never."""
    settled25_us: float
    """The same within 25 %."""
    jitter_gbps: float
    """Standard deviation of a flow's rate over `JITTER_US`, the mean of the two."""
    step0_gbps: float
    """Median rate of flow0 over `STEPPED_US`."""
    step1_gbps: float
    """The same of flow1."""
    end0_gbps: float
    """Mean rate of flow0 over the last `END_US` of the window."""
    end1_gbps: float
    """The same of flow1."""


@dataclass(frozen=True)
class Joined:
    """A two-flow run in numbers, over `WINDOW_US` after the join."""

    rates: Rates
    """The flows' rates."""
    peak_kb: float
    """Most bytes queued at the congested port, in KB."""
    mean_kb: float
    """Bytes queued, averaged over the window, in KB."""
    mean150_kb: float
    """The same over the first 150 us."""
    utilization: float
    """Of the congested port, over the window."""
    utilization300: float
    """The same over the first 300 us."""
    pauses: int
    """PAUSE frames that the congested port's switch sent, in the whole run."""
    pauses_all: int
    """PAUSE frames that any port sent."""
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
    flows = (_rate_gbps(rates, 0, time), _rate_gbps(rates, 1, time))
    line = ports.filter(pl.col("port") == port)["rate_bps"][0] / 1e9
    sent = ports.filter(pl.col("node") == port.partition("->")[0])["pause_frames_sent"].sum()

    def within(us: float) -> Any:
        return (time > join_us) & (time <= join_us + us)

    return Joined(
        rates=measure_rates(time - join_us, flows, line),
        peak_kb=float(peak[within(WINDOW_US)].max()),
        mean_kb=float(length[within(WINDOW_US)].mean()),
        mean150_kb=float(length[within(150)].mean()),
        utilization=float(busy[within(WINDOW_US)].mean()),
        utilization300=float(busy[within(300)].mean()),
        pauses=int(sent),
        pauses_all=int(ports["pause_frames_sent"].sum()),
        trace=Trace(time, peak, busy, flows) if keep else None,
    )


def measure_rates(time: Floats, flows: tuple[Floats, Floats], line_gbps: float) -> Rates:
    """Measure two flows' rates, sampled evenly at times from the join on, of which some are before it."""
    after = (time > 0) & (time <= WINDOW_US)
    own = float(np.mean(flows[0][(time > -BEFORE_US) & (time <= 0)]))
    width = round(SMOOTH_US / float(time[1] - time[0]))
    ends = time[after][width - 1 :]
    smooth = [np.convolve(flow[after], np.full(width, 1 / width), mode="valid") for flow in flows]
    away = np.max([np.abs(flow / (line_gbps / 2) - 1) for flow in smooth], axis=0)

    def first(limit: float) -> float:
        times = time[after & (flows[0] < limit)]
        return float(times[0]) if len(times) else float("nan")

    def settled(band: float) -> float:
        outside = np.flatnonzero(away > band)
        if not len(outside):
            return 0.0
        return float(ends[outside[-1]]) if outside[-1] < len(ends) - 1 else float("nan")

    def part(low: float, high: float) -> list[Floats]:
        return [flow[(time > low) & (time <= high)] for flow in flows]

    stepped, end = part(*STEPPED_US), part(WINDOW_US - END_US, WINDOW_US)
    return Rates(
        reaction_us=first(REACTED * own),
        below_line_us=first(REACTED * line_gbps),
        settled10_us=settled(0.1),
        settled25_us=settled(0.25),
        jitter_gbps=float(np.mean([flow.std() for flow in part(*JITTER_US)])),
        step0_gbps=float(np.median(stepped[0])),
        step1_gbps=float(np.median(stepped[1])),
        end0_gbps=float(np.mean(end[0])),
        end1_gbps=float(np.mean(end[1])),
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


def measure_fct(run: Run, edges_kb: Sequence[float], headers: tuple[int, int]) -> Fct:
    """Slowdowns by flow size.

    `edges_kb` are the bins' largest sizes in KB, `headers` the bytes of header in the run's ideal FCT and in the one by
    which slowdowns are taken.
    """
    flows = frame(run, "flows")
    done = flows.drop_nulls("slowdown")
    size = done["size_bytes"].to_numpy().astype(np.int64)
    links = done["path"].str.count_matches(">").to_numpy().astype(np.int64)
    given, wanted = (alone_bytes(size, links, header) for header in headers)
    ideal = done["ideal_fct_ps"].to_numpy().astype(np.int64) + (wanted - given) * PS_PER_BYTE
    slowdown = done["fct_ps"].to_numpy() / ideal
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


def alone_bytes(size: Ints, links: Ints, header: int) -> Ints:
    """Bytes whose time on a link a flow alone takes to arrive, without propagation, over store-and-forward links.

    All of its packets on the first link, and on each further one the last packet, or a full one that it waits for.
    """
    payload = MTU - header
    packets = np.maximum(-(-size // payload), 1)
    last = size - (packets - 1) * payload + header
    total: Ints = np.where(packets > 1, (packets + links - 2) * MTU + last, links * last)
    return total


def _percentile(values: Floats, percent: float) -> float:
    return float(np.percentile(values, percent)) if len(values) else float("nan")
