"""A run in numbers, of its manifest: no library that reads tables is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xoff.errors import UserError
from xoff.text import count_text, rate_text


@dataclass(frozen=True)
class Endless:
    """Flows without an end, and the payload of theirs that was acknowledged."""

    flows: int
    """Their number."""
    goodput_bps: float
    """Of all of them, from the first one's start to the end of the run, in bit/s."""
    min_bps: float
    """The lowest goodput of one of them over its own time, in bit/s."""
    max_bps: float
    """The highest, in bit/s."""

    @property
    def goodput_text(self) -> str:
        """Their goodput for people."""
        total = rate_text(self.goodput_bps)
        if self.flows == 1:
            return total
        low, high = rate_text(self.min_bps), rate_text(self.max_bps)
        return f"{total} together, {low if low == high else f'{low} to {high}'} each from its own start"


@dataclass(frozen=True)
class Summary:
    """A run in numbers."""

    flows: int
    """Flows that started and have an end: a size, or a moment at which they stopped."""
    completed: int
    """Flows that completed, or stopped when they were told to: `flows_done` of the manifest."""
    slowdown: dict[str, float] | None
    """Statistics of slowdown by name; `None` if no flow sent all of its size."""
    pause_frames: int
    """PAUSE frames sent by all ports."""
    paused_ps: int
    """Time that ports were stopped, summed over ports and priorities, in ps."""
    hol_blocked: int | None
    """Flows that head-of-line blocking held up; `None` if congestion roots are not recorded."""
    max_queue_bytes: int
    """The longest egress queue of any port, in bytes."""
    dropped: int
    """Packets dropped."""
    endless: Endless | None
    """What flows without an end carried; `None` if every flow has one."""
    wall_s: float
    """Wall time of the run in s."""
    packet_hops: int
    """Packets received at any node."""
    hops_per_s: float
    """Packet-hops over wall time."""

    @property
    def flows_text(self) -> str:
        """How many flows completed, and how many have no end, for people."""
        endless = 0 if self.endless is None else self.endless.flows
        parts = [f"{self.completed:,} of {self.flows:,} completed"] if self.flows or not endless else []
        parts += [count_text(endless, "endless flow")] if endless else []
        return ", ".join(parts)

    @classmethod
    def of(cls, manifest: dict[str, Any]) -> Summary:
        """The summary of a run with this manifest.

        Raises
        ------
        UserError
            It has none: another version of xoff wrote it.
        """
        if "summary" not in manifest:
            raise UserError("the manifest has no `summary`: expected a run of this version of xoff")
        wall_s, hops = float(manifest.get("wall_s", 0.0)), int(manifest.get("packet_hops", 0))
        speed = hops / wall_s if wall_s > 0 else 0.0
        found = dict(manifest["summary"])
        endless = found.pop("endless", None)
        return cls(
            **found,
            endless=None if endless is None else Endless(**endless),
            wall_s=wall_s,
            packet_hops=hops,
            hops_per_s=speed,
        )
