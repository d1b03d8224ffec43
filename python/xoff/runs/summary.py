"""A run in numbers, of its manifest: no library that reads tables is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xoff.errors import UserError


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
    wall_s: float
    """Wall time of the run in s."""
    packet_hops: int
    """Packets received at any node."""
    hops_per_s: float
    """Packet-hops over wall time."""

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
        return cls(**manifest["summary"], wall_s=wall_s, packet_hops=hops, hops_per_s=speed)
