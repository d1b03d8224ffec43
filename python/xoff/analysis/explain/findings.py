"""What an explanation is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["problem", "warning", "note"]
"""A `problem` spoils the run, a `warning` costs time or safety, a `note` is worth knowing."""

SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note")
"""From the worst."""


@dataclass(frozen=True)
class Finding:
    """Something that a rule found."""

    rule: str
    """The rule's name, as in the documentation."""
    severity: Severity
    """How bad it is."""
    title: str
    """What was found, in a line."""
    evidence: tuple[str, ...]
    """What it rests on."""
    threshold: str
    """When the rule speaks."""
    advice: tuple[str, ...]
    """What to try."""
    ports: tuple[str, ...] = ()
    """The ports concerned, worst first."""
    flows: tuple[int, ...] = ()
    """The flows concerned, worst first."""


@dataclass(frozen=True)
class Share:
    """A part of a flow's time."""

    leg: str
    """`sender`, `data` or `ack`."""
    part: str
    """Serialization, queueing and so on, as in the table `breakdown`."""
    port: str
    """Where."""
    time_ps: int
    """How long, in ps."""


@dataclass(frozen=True)
class FlowTime:
    """A flow and where its time went."""

    flow: int
    """Its id."""
    src: str
    """Sending host."""
    dst: str
    """Receiving host."""
    nic: int | None
    """The sender's NIC that it uses; `None` if the sender has only one."""
    size_bytes: int | None
    """Payload; `None`: endless."""
    fct_ps: int | None
    """Completion time; `None`: it did not complete."""
    time_ps: int
    """What the parts sum to: the completion time, or that from the flow's start to the end of the run."""
    slowdown: float | None
    """Completion time over that of the flow alone in the network."""
    shares: tuple[Share, ...]
    """The parts, longest first; empty if they were not recorded."""

    @property
    def ends(self) -> str:
        """Sender and receiver, with the sender's NIC if it has several."""
        return f"{self.src}->{self.dst}" + ("" if self.nic is None else f" by NIC {self.nic}")


@dataclass(frozen=True)
class Missing:
    """A record that the run lacks, and that would tell more."""

    key: str
    """The setting, as `--set` takes it."""
    tells: str
    """What it would tell."""


@dataclass(frozen=True)
class Explanation:
    """The explanation of a run."""

    name: str
    """What the run is called."""
    about: dict[str, Any]
    """Scheme, seed, flows and simulated time."""
    findings: tuple[Finding, ...]
    """Worst first."""
    worst: tuple[FlowTime, ...]
    """The flows with the greatest slowdowns."""
    totals: dict[str, int] = field(default_factory=dict)
    """The time of all complete flows by part, in ps."""
    waits: tuple[Share, ...] = ()
    """Where flows waited most, all together: queueing and paused by port."""
    missing: tuple[Missing, ...] = ()
    """What was not recorded."""
    settings: str | None = None
    """The settings that tell the run from others of its sweep, besides the seed; `None` if no sweep made the run."""
