"""How measures of a tuning are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_KNOWN: dict[str, tuple[str, str, float]] = {
    "slowdown_mean": ("Mean FCT slowdown", "", 1.0),
    "slowdown_p50": ("Median FCT slowdown", "", 1.0),
    "slowdown_p95": ("95th percentile of FCT slowdown", "", 1.0),
    "slowdown_p99": ("99th percentile of FCT slowdown", "", 1.0),
    "pause_frames": ("PAUSE frames", "", 1.0),
    "paused_ps": ("Time that ports were stopped", "us", 1e6),
    "hol_blocked": ("HoL-blocked flows", "", 1.0),
    "max_queue_bytes": ("Longest queue", "KB", 1e3),
    "dropped": ("Packets dropped", "", 1.0),
    "incomplete": ("Flows that did not complete", "", 1.0),
}
"""Title, unit, and what one of that unit has."""


@dataclass(frozen=True)
class Shown:
    """A measure for people."""

    name: str
    """As in `trials.parquet`."""
    title: str
    unit: str
    scale: float
    """What one of the unit has."""
    index: int = 0
    """Its place among those shown."""

    @property
    def axis(self) -> str:
        """With its unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


def shown_measures(names: Sequence[str]) -> list[Shown]:
    """Measures by name, each with its label, if it is of a label."""
    found = []
    for index, name in enumerate(names):
        label, _, metric = name.rpartition(".")
        title, unit, scale = _KNOWN.get(metric, (metric, "", 1.0))
        found.append(Shown(name, f"{title} of {label}" if label else title, unit, scale, index))
    return found
