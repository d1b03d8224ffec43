"""Measurements of a run, taken in the process that made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from xoff.analysis.blocking import blocked_share, goodput_bps, pause_spread, pause_totals, settling_ps
from xoff.analysis.tables import frame, sampled_rates

if TYPE_CHECKING:
    import numpy.typing as npt

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]

BACK_KB = 250.0
"""The queue is back below this, half of Q_PFC, in KB."""
QUIET_US = 100.0
"""For this long, in us."""
SHOWN_US = (-100.0, 1500.0)
"""The part of a queue that is kept, from the burst's beginning, in us."""
BIN_US = 100.0
"""Bins of Fig. 2b and c, in us."""
SHOWN_MS = (0.9, 9.1)
"""What of Fig. 2 is measured before and after its first burst, in ms."""

PS_PER_US = 1e6


@dataclass(frozen=True)
class Measured:
    """A run in numbers."""

    flows: int
    """The number of flows that count: all, or those of the label asked for."""
    incomplete: int
    """Those that did not complete."""
    afct_us: float
    """Average FCT in us."""
    p99_us: float
    """99th percentile FCT in us."""
    pauses: int
    """PAUSE frames that all ports sent."""
    pauses_per_ms: float
    """The same a millisecond of arrivals, or of the run if arrivals have no end."""
    paused_share: float
    """Share of that time for which a port was stopped, averaged over all ports."""
    stopped_ports: int
    """Ports that were stopped at all."""
    depth: int
    """Links from the congestion root to the farthest port stopped for it; 0 without a pause."""
    blocked_share: float
    """Share of all flows that head-of-line blocking held up."""
    messages: int
    """CNMs that switches sent."""
    table: int
    """Most flows in a switch's table; 0 without tables."""
    goodput_gbps: float
    """Payload over the time of the flows of the label asked for, in Gbps; NaN if none is."""
    settled_us: float
    """From the burst's first PAUSE until the queue of that port is back, in us; infinite: never, NaN: no PAUSE."""
    queue: tuple[Floats, Floats] | None
    """That port's queue around the burst: time since its beginning in us, most KB in each interval."""


def measure(
    run: Run,
    *,
    label: str | None = None,
    window_ms: float | None = None,
    goodput: str | None = None,
    port: str | None = None,
    burst_ms: float = 0.0,
) -> Measured:
    """Measure a run: FCTs of the flows with `label`, PAUSE within the first `window_ms`, the queue of `port`.

    That queue settles after the first PAUSE from `burst_ms` on.
    """
    flows = frame(run, "flows")
    chosen = flows if label is None else flows.filter(pl.col("label") == label)
    fct_us = chosen["fct_ps"].drop_nulls().to_numpy() / PS_PER_US
    until_ps = float(run.manifest["sim_time_ps"]) if window_ms is None else window_ms * 1e9
    totals = pause_totals(run, until_ps)
    depths = pause_spread(run)["depth"].drop_nulls()
    tables = run.manifest["flow_tables"]
    return Measured(
        flows=len(chosen),
        incomplete=len(chosen) - len(fct_us),
        afct_us=float(np.mean(fct_us)),
        p99_us=float(np.percentile(fct_us, 99)),
        pauses=int(frame(run, "ports")["pause_frames_sent"].sum()),
        pauses_per_ms=totals.frames_per_s / 1e3,
        paused_share=totals.paused_share,
        stopped_ports=totals.ports,
        depth=int(depths.to_numpy().max()) if len(depths) else 0,
        blocked_share=blocked_share(run),
        messages=int(run.manifest["switch_messages"]),
        table=int(tables["largest"]) if tables else 0,
        goodput_gbps=float("nan") if goodput is None else goodput_bps(run, goodput) / 1e9,
        settled_us=_settled_us(run, port, burst_ms) if port else float("nan"),
        queue=_around(*_queue(run, port), burst_ms * 1e3) if port else None,
    )


def _settled_us(run: Run, port: str, burst_ms: float) -> float:
    return settling_ps(run, port, BACK_KB * 1e3, QUIET_US * PS_PER_US, burst_ms * 1e9) / PS_PER_US


def _around(time_us: Floats, queue_kb: Floats, burst_us: float) -> tuple[Floats, Floats]:
    since = time_us - burst_us
    shown = (since >= SHOWN_US[0]) & (since <= SHOWN_US[1])
    return since[shown], queue_kb[shown]


def _queue(run: Run, port: str) -> tuple[Floats, Floats]:
    own = frame(run, "queues").filter(pl.col("port") == port).sort("time_ps")
    return own["time_ps"].to_numpy() / PS_PER_US, own["max_bytes"].to_numpy() / 1e3


@dataclass(frozen=True)
class Motivation:
    """A run of Fig. 2."""

    time_us: Floats
    """End of each sample of the queue since the first burst, in us."""
    queue_kb: Floats
    """Most bytes in it, in KB."""
    bins_us: Floats
    """End of each bin since the first burst, in us."""
    frames: Floats
    """PAUSE frames whose pause begins in the bin."""
    stopped: Floats
    """Ports stopped, averaged over the bin."""
    victim: Floats
    """Goodput of the victims in the bin, as a share of their links."""
    pauses: int
    """PAUSE frames of pauses that begin in these bins."""
    longest_us: float
    """The longest stretch of bins with a stopped port, in us."""
    paused_share: float
    """Share of the bins with a stopped port."""
    before: float
    """The victims' goodput over the 400 us before the bursts."""
    least: float
    """Their lowest goodput of a bin after the first burst."""
    blocked: int
    """Victims that head-of-line blocking held up."""


def measure_motivation(run: Run, *, burst_ms: float) -> Motivation:
    """Measure a run of Fig. 2 around its first burst."""
    time_us, queue_kb = _queue(run, "leaf3->host95")
    # Samples end on whole us: the beginning is one too.
    begin_us, end_us = round((burst_ms - SHOWN_MS[0]) * 1e3), run.manifest["sim_time_ps"] / PS_PER_US
    bins_us = np.arange(begin_us + BIN_US, end_us + BIN_US / 2, BIN_US)
    last = len(bins_us) - 1
    pauses = frame(run, "pauses")
    frames, stopped = np.zeros(len(bins_us)), np.zeros(len(bins_us))
    for start_ps, length_ps, count in pauses.select("start_ps", "length_ps", "frames").iter_rows():
        start, stop = start_ps / PS_PER_US, (start_ps + length_ps) / PS_PER_US
        if start >= begin_us:
            frames[min(int((start - begin_us) // BIN_US), last)] += count
        stopped += np.clip(np.minimum(stop, bins_us) - np.maximum(start, bins_us - BIN_US), 0, None) / BIN_US
    rates = sampled_rates(run)
    since = rates["time_ps"].to_numpy() / PS_PER_US - begin_us
    shown = since > 0
    place = np.minimum(np.ceil(since[shown] / BIN_US).astype(int) - 1, last)
    # Equal samples: the mean of a bin is that of its samples, over eight links of 100 Gbps.
    samples = BIN_US * PS_PER_US / run.manifest["sample_interval_ps"]
    victim = np.bincount(place, rates["goodput_bps"].to_numpy()[shown], len(bins_us)) / samples / 8e11
    burst_us = round(burst_ms * 1e3)
    bins_us, time_us = bins_us - burst_us, time_us - burst_us
    after = bins_us > 0
    longest = run_length = 0
    for busy in stopped > 0:
        run_length = run_length + 1 if busy else 0
        longest = max(longest, run_length)
    victims = frame(run, "flows").filter(pl.col("label") == "victim")
    return Motivation(
        time_us=time_us[time_us > begin_us - burst_us],
        queue_kb=queue_kb[time_us > begin_us - burst_us],
        bins_us=bins_us,
        frames=frames,
        stopped=stopped,
        victim=victim,
        pauses=int(frames.sum()),
        longest_us=longest * BIN_US,
        paused_share=float(np.mean(stopped > 0)),
        before=float(victim[(bins_us > -400) & ~after].mean()),
        least=float(victim[after].min()),
        blocked=int(victims["hol_blocked"].sum()),
    )
