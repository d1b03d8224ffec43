"""What is measured of a run in a sweep, and means over seeds."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xoff.analysis.student import half_width


@dataclass(frozen=True)
class Measure:
    """What is compared over a sweep."""

    name: str
    """As in `runs.parquet`."""
    title: str
    """For people."""
    unit: str
    """Of what is shown."""
    scale: float = 1.0
    """What one of that unit has."""
    part: str = ""
    """Which flows it is of: those of a label, or of a range of sizes; empty for all."""


MEASURES = (
    Measure("slowdown_mean", "Mean FCT slowdown", ""),
    Measure("slowdown_p50", "Median FCT slowdown", ""),
    Measure("slowdown_p99", "99th percentile of FCT slowdown", ""),
    Measure("goodput_bps", "Goodput of endless flows, together", "Gbps", 1e9),
    Measure("pause_frames", "PAUSE frames", ""),
    Measure("paused_ps", "Time that ports were stopped", "us", 1e6),
    Measure("max_queue_bytes", "Longest queue", "KB", 1e3),
    Measure("hol_blocked", "HoL-blocked flows", ""),
    Measure("dropped", "Packets dropped", ""),
    Measure("incomplete", "Flows that did not complete", ""),
)
"""In the order shown."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds."""

    mean: float
    """The mean."""
    half: float | None
    """Half of the confidence interval (Student's t); `None` for one seed."""


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of at least one value, with its confidence interval under Student's t distribution."""
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return Estimate(mean, None)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Estimate(mean, half_width(count) * math.sqrt(variance / count))


_UNITS = {
    "s": ("us", 1e6),
    "ms": ("us", 1e3),
    "us": ("us", 1.0),
    "ns": ("us", 1e-3),
    "ps": ("us", 1e-6),
    "Tbps": ("Gbps", 1e3),
    "Gbps": ("Gbps", 1.0),
    "Mbps": ("Gbps", 1e-3),
    "Kbps": ("Gbps", 1e-6),
    "bps": ("Gbps", 1e-9),
    "TB": ("KB", 1e9),
    "GB": ("KB", 1e6),
    "MB": ("KB", 1e3),
    "KB": ("KB", 1.0),
    "B": ("KB", 1e-3),
    "TiB": ("KB", 2**40 / 1e3),
    "GiB": ("KB", 2**30 / 1e3),
    "MiB": ("KB", 2**20 / 1e3),
    "KiB": ("KB", 2**10 / 1e3),
}


def magnitude(value: Any) -> tuple[float, str] | None:
    """A setting as a number and its unit: us, Gbps, KB or none; nothing if it is no number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value), ""
    match = re.fullmatch(r"([\d_]+(?:\.[\d_]+)?) ?([A-Za-z]+)", value) if isinstance(value, str) else None
    if match is None or match[2] not in _UNITS:
        return None
    unit, scale = _UNITS[match[2]]
    return float(match[1].replace("_", "")) * scale, unit
