"""Measurements of a run, taken in the process that made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xoff.analysis.tables import frame

if TYPE_CHECKING:
    import numpy.typing as npt

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]

BINS = 1500
"""Points of a trace."""
EARLY = 10_000
"""First samples, 100 ms of them, that are kept more finely."""
FINE = 5
"""Number of these samples that are averaged."""
PACKET = 1000
"""Bytes of a packet."""
LATER = 0.5
"""The part of a run after which it counts as steady."""


@dataclass(frozen=True)
class Trace:
    """The bottleneck's queue over time, in packets, in bins of equal length."""

    time_ms: Floats
    """End of each bin."""
    mean: Floats
    """Mean of the samples in it."""
    least: Floats
    """Smallest sample."""
    most: Floats
    """Largest sample."""
    early_ms: Floats
    """End of each bin of 50 us, in the first 100 ms."""
    early: Floats
    """Mean of the samples in it."""


@dataclass(frozen=True)
class Queue:
    """A run in numbers: the bottleneck's queue over the second half of the run, in packets, from samples."""

    mean: float
    deviation: float
    """Standard deviation."""
    least: float
    most: float
    p1: float
    """1st percentile."""
    p99: float
    """99th percentile."""
    empty: float
    """Share of samples that found the queue empty."""
    utilization: float
    """Of the bottleneck, 0 to 1."""
    drift: float
    """Mean over the last quarter of the run less that over the quarter before."""
    settled_ms: float
    """When the mean over a hundredth of the run is within 20 % of the steady mean, or 5 packets, for the first time."""
    trace: Trace | None
    """Samples, if asked for."""

    @property
    def range(self) -> float:
        """Largest minus smallest sample."""
        return self.most - self.least


def measure(run: Run, keep: bool) -> Queue:
    """Measure a run; with its samples if `keep`."""
    queues = frame(run, "queues")
    time_ms = queues["time_ps"].to_numpy() / 1e9
    packets = queues["bytes"].to_numpy() / PACKET
    end = time_ms[-1]
    later = time_ms > LATER * end
    use = frame(run, "utilization")
    busy = use["utilization"].to_numpy()[use["time_ps"].to_numpy() / 1e9 > LATER * end]
    steady = packets[later]
    third, last = (packets[(time_ms > part * end) & (time_ms <= (part + 0.25) * end)] for part in (0.5, 0.75))
    return Queue(
        mean=float(steady.mean()),
        deviation=float(steady.std()),
        least=float(steady.min()),
        most=float(steady.max()),
        p1=float(np.percentile(steady, 1)),
        p99=float(np.percentile(steady, 99)),
        empty=float(np.mean(steady == 0)),
        utilization=float(busy.mean()),
        drift=float(last.mean() - third.mean()),
        settled_ms=_settled(time_ms, packets, float(steady.mean())),
        trace=_trace(time_ms, packets) if keep else None,
    )


def _settled(time_ms: Floats, packets: Floats, mean: float) -> float:
    parts = np.array_split(np.arange(len(packets)), 100)
    for part in parts:
        if abs(float(packets[part].mean()) - mean) <= max(0.2 * mean, 5.0):
            return float(time_ms[part[-1]])
    return float("nan")


def _trace(time_ms: Floats, packets: Floats) -> Trace:
    whole = max(1, len(packets) // BINS)
    count = len(packets) // whole
    binned = packets[: count * whole].reshape(count, whole)
    return Trace(
        time_ms[: count * whole].reshape(count, whole)[:, -1],
        binned.mean(axis=1),
        binned.min(axis=1),
        binned.max(axis=1),
        _fine(time_ms)[:, -1],
        _fine(packets).mean(axis=1),
    )


def _fine(samples: Floats) -> Floats:
    count = min(EARLY, len(samples)) // FINE
    return samples[: count * FINE].reshape(count, FINE)
