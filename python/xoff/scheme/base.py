"""The class that a scheme in Python is derived from."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal, TypedDict

from xoff._xoff import Ack, Cnp, Flow, Sent


class Signals(TypedDict, total=False):
    """What a scheme needs on the wire; headers grow by exactly that. Signals that are not declared do not exist."""

    ecn: bool
    """Switches mark data (RED, unless the scenario has another `[detector]`), and ACKs bring the marks back."""
    cnps: bool
    """Receivers send CNPs as DCQCN's do: for marked data, at most one each 50 us. Has `ecn` in it."""
    int: Literal["data", "ack"]
    """Switches write telemetry on data, which ACKs bring back (HPCC), or on ACKs (FNCC)."""
    timestamp: bool
    """Data carries its sender's clock, so that each ACK gives a round-trip time."""
    flow_count: bool
    """ACKs carry the number of flows at their receiver."""


class Scheme:
    """A congestion-control scheme: the reaction point of one connection; each connection has its own object.

    A connection carries one message, a flow, unless `connection` in `[[traffic]]` says otherwise.

    A derived class overrides what it needs, and at least one of `rate` and `window`. After each call of an `on_`
    method `rate`, `window` and `next_timer` are asked what holds from now on. Further parameters of the constructor, by
    keyword, are the scheme's parameters in a scenario. Times are in ps, rates in bit/s, sizes in bytes.

    A method that raises an exception, or returns a value that makes no sense, ends the run.
    """

    signals: ClassVar[Signals] = {}
    """What the scheme needs on the wire."""

    def __init__(self, flow: Flow) -> None:
        """A new flow, about to send its first packet."""
        self.flow = flow

    def on_send(self, sent: Sent) -> None:
        """A data packet goes out."""

    def on_ack(self, ack: Ack) -> None:
        """An ACK has come."""

    def on_cnp(self, cnp: Cnp) -> None:
        """A CNP has come; only with the signal `cnps`."""

    def on_timer(self, now_ps: int) -> None:
        """The moment of `next_timer` has come."""

    def on_loss(self, now_ps: int) -> None:
        """Packets were lost and are sent again; only if the scenario has `lossy = true`."""

    def on_timeout(self, now_ps: int) -> None:
        """Nothing was acknowledged for the retransmission timeout; a loss like any other unless this is overridden."""
        self.on_loss(now_ps)

    def on_idle(self, now_ps: int) -> None:
        """Nothing is left to send and nothing is in flight; only on a connection that carries several messages.

        The object stays for the next message. CNPs that arrive until then count. `on_timer` is called for each moment
        that `next_timer` names, but late: before the next message starts, or before the next CNP.
        """

    def on_busy(self, now_ps: int) -> None:
        """There is a message to send again, after `on_idle`. By default rate and window are those of before."""

    def variables(self, probe: Callable[[str, float], None]) -> None:
        """Tell the scheme's own variables, such as `probe("alpha", self.alpha)`.

        They are finite numbers, up to 64, each name once. Called only for flows in `record.variables` of the scenario:
        each `record.interval`, and when the flow ends. It must not change what the scheme does.
        """

    def rate(self) -> float | None:
        """The pacing rate of the flow's wire bytes in bit/s, from 1 up; `None`, or more than line rate, for line rate.

        Fractions of a bit/s are cut off.
        """
        return None

    def window(self) -> float | None:
        """Maximum payload bytes in flight, from 0 up; `None` for no limit. A packet may go while fewer are in flight.

        Fractions of a byte are cut off. With nothing in flight a packet may always go.
        """
        return None

    def next_timer(self) -> float | None:
        """When to call `on_timer`, in ps; `None` for never."""
        return None


CALLS = ("on_send", "on_ack", "on_cnp", "on_timer", "on_loss", "on_timeout", "on_idle", "on_busy")
"""Methods that are called when something happens."""

ASKED = ("rate", "window", "next_timer")
"""Methods that are asked after each of these."""

RECORDED = ("variables",)
"""Methods that are asked when something is recorded."""
