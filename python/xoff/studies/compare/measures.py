"""Measurements of a run, taken in the process that made it: numbers by name, and the samples that figures show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from xoff.analysis.tables import frame, sampled_rates

if TYPE_CHECKING:
    import numpy.typing as npt

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]

SETTLED = 0.5
"""Share of the dumbbell's run after which it counts: by then all flows have been active for long."""
SMALL_BYTES = 100_000
LARGE_BYTES = 1_000_000
"""Sizes up to and from which the fat-tree's flows are small and large."""


@dataclass(frozen=True)
class Measured:
    """A run in numbers."""

    values: dict[str, float]
    """By metric; NaN if a run has nothing to tell."""
    queue: tuple[Floats, Floats] | None = None
    """Time in us, and bytes queued at the bottleneck in KB."""
    rates: tuple[Floats, Floats] | None = None
    """Time in us, and goodput in Gbps: a row a sample, a column a flow."""
    slowdown: tuple[Floats, Floats] | None = None
    """Sizes in bytes and slowdowns of the flows that completed."""


def dumbbell(run: Run) -> Measured:
    """Long flows at one link, in the settled part of the run."""
    queues, use = frame(run, "queues"), frame(run, "utilization")
    begin = SETTLED * run.manifest["sim_time_ps"]
    settled = pl.col("time_ps") > begin
    time_us, goodput = _goodput(run)
    shares = goodput[time_us > begin / 1e6].mean(axis=0)
    return Measured(
        {
            "utilization": _mean(use.filter(settled)["utilization"]),
            "queue_mean": _mean(queues.filter(settled)["bytes"]) / 1e3,
            "queue_max": _greatest(queues["max_bytes"]) / 1e3,
            "jain": jain(shares),
            "pauses": _pauses(run),
            "stopped_ms": float(frame(run, "ports")["paused_ps"].sum()) / 1e9,
        },
        queue=_queue(queues),
        rates=(time_us, goodput),
    )


def incast(run: Run) -> Measured:
    """Equal messages that start at once to one receiver."""
    flows, queues = frame(run, "flows"), frame(run, "queues")
    done = flows.drop_nulls("slowdown")
    slowdown = _floats(done["slowdown"])
    return Measured(
        {
            "slowdown_mean": _mean(slowdown),
            "slowdown_p99": percentile(slowdown, 99),
            "last_ms": _greatest(done["fct_ps"]) / 1e9 if len(done) == len(flows) else float("nan"),
            "queue_mean": _mean(queues["bytes"]) / 1e3,
            "queue_max": _greatest(queues["max_bytes"]) / 1e3,
            "jain": jain(_floats(done["size_bytes"]) / _floats(done["fct_ps"])),
            "pauses": _pauses(run),
            "stopped_ms": float(frame(run, "ports")["paused_ps"].sum()) / 1e9,
            "incomplete": float(len(flows) - len(done)),
        },
        queue=_queue(queues),
    )


def victim(run: Run) -> Measured:
    """Messages that share a paused link with bursts to another host."""
    flows, pauses = frame(run, "flows"), frame(run, "pauses")
    done = flows.drop_nulls("slowdown")
    victims = _floats(done.filter(pl.col("label") == "victims")["slowdown"])
    bursts = _floats(done.filter(pl.col("label") == "bursts")["slowdown"])
    stopped = pauses.filter(pl.col("port") == "west->east")["length_ps"].sum() if len(pauses) else 0
    return Measured(
        {
            "victim_mean": _mean(victims),
            "victim_p99": percentile(victims, 99),
            "burst_mean": _mean(bursts),
            "burst_p99": percentile(bursts, 99),
            "trunk_paused": float(stopped) / run.manifest["sim_time_ps"],
            "queue_max": _greatest(frame(run, "queues")["max_bytes"]) / 1e3,
            "pauses": _pauses(run),
            "stopped_ms": float(frame(run, "ports")["paused_ps"].sum()) / 1e9,
            "incomplete": float(len(flows) - len(done)),
        },
    )


def fat_tree(run: Run) -> Measured:
    """A mix of flows in a data centre."""
    flows = frame(run, "flows")
    done = flows.drop_nulls("slowdown")
    size, slowdown = _floats(done["size_bytes"]), _floats(done["slowdown"])
    switches = frame(run, "ports").filter(~pl.col("node").str.starts_with("host"))
    return Measured(
        {
            "slowdown_mean": _mean(slowdown),
            "slowdown_p99": percentile(slowdown, 99),
            "small_p99": percentile(slowdown[size <= SMALL_BYTES], 99),
            "large_mean": _mean(slowdown[size >= LARGE_BYTES]),
            "queue_max": _greatest(switches["max_queue_bytes"]) / 1e3,
            "pauses": _pauses(run),
            "stopped_ms": float(frame(run, "ports")["paused_ps"].sum()) / 1e9,
            "incomplete": float(len(flows) - len(done)),
        },
        slowdown=(size, slowdown),
    )


def jain(shares: Floats) -> float:
    """Jain's index of fairness: 1 for equal shares, 1/n where one of n has all; NaN if none has anything."""
    squares = float(np.sum(shares**2))
    return float(np.sum(shares)) ** 2 / (len(shares) * squares) if squares > 0 else float("nan")


def percentile(values: Floats, percent: float) -> float:
    """A percentile, interpolated; NaN of nothing."""
    return float(np.percentile(values, percent)) if len(values) else float("nan")


def _goodput(run: Run) -> tuple[Floats, Floats]:
    rates = sampled_rates(run)
    moments = np.unique(rates["time_ps"].to_numpy())
    table = np.zeros((len(moments), int(_greatest(rates["flow"])) + 1))
    table[np.searchsorted(moments, rates["time_ps"].to_numpy()), rates["flow"].to_numpy()] = (
        rates["goodput_bps"].to_numpy() / 1e9
    )
    return moments / 1e6, table


def _queue(queues: pl.DataFrame) -> tuple[Floats, Floats]:
    return _floats(queues["time_ps"]) / 1e6, _floats(queues["bytes"]) / 1e3


def _pauses(run: Run) -> float:
    return float(frame(run, "ports")["pause_frames_sent"].sum())


def _floats(column: pl.Series) -> Floats:
    return column.to_numpy().astype(np.float64)


def _mean(values: pl.Series | Floats) -> float:
    return float(np.mean(_floats(values) if isinstance(values, pl.Series) else values)) if len(values) else float("nan")


def _greatest(column: pl.Series) -> float:
    return float(column.to_numpy().max()) if len(column) else float("nan")
