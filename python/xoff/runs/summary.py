"""A run in numbers, without the libraries that read its tables: `xoff run` prints it at once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xoff._xoff import RunOutput


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
    def of_output(cls, output: RunOutput) -> Summary:
        """The summary of a run that has just ended; `xoff.analysis.tables.summarize` gives it for any run."""
        manifest = json.loads(output.manifest)
        wall_s, hops = manifest["wall_s"], manifest["packet_hops"]
        speed = hops / wall_s if wall_s > 0 else 0.0
        return cls(**json.loads(output.summary()), wall_s=wall_s, packet_hops=hops, hops_per_s=speed)
