"""A scheme in Python on a connection that is idle between two messages."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

import xoff
from xoff.errors import UserError
from xoff.scheme.describe import describe

US = 1_000_000
PERIOD = 55 * US
"""DCQCN's increase timer."""

SCENARIO = """
[topology]
name = "graph"
hosts = ["a", "b"]
switches = ["s"]
links = [{ a = "a", b = "s", rate = "100Gbps", delay = "1us" }, { a = "s", b = "b", rate = "50Gbps", delay = "1us" }]

[packets]
mtu = "1000B"
header = "48B"
ack = "50B"
gap = "0B"

[detector]
name = "red"
k_min = "1B"
k_max = "1B"

[scheme]
name = "recovering"

[[traffic]]
pattern = "list"
file = "messages.txt"
connection = "per_pair"
"""

# A hundred packets of 952 B at the start, and eleven at 240 us.
MESSAGES = "a b 95200B 0us\na b 10472B 240us\n"


class Halving(xoff.Scheme):
    """Halves its rate at each CNP, as DCQCN does while alpha is 1, and never recovers."""

    signals: ClassVar[xoff.Signals] = {"cnps": True}
    seen: ClassVar[list[tuple[str, int]]] = []

    def __init__(self, flow: xoff.Flow) -> None:
        self.current = self.target = float(flow.line_rate_bps)
        self.next: int | None = None

    def on_cnp(self, cnp: xoff.Cnp) -> None:
        """The rate of before is the target."""
        self.seen.append(("cnp", cnp.now_ps))
        self.target, self.current, self.next = self.current, self.current / 2, cnp.now_ps + PERIOD

    def on_idle(self, now_ps: int) -> None:
        """Nothing to do."""
        self.seen.append(("idle", now_ps))

    def rate(self) -> float:
        """In bit/s."""
        return self.current

    def advance(self, now_ps: int) -> None:
        """Halve the distance to the target for each period that is over: DCQCN's fast recovery."""
        while self.next is not None and self.next <= now_ps:
            self.current, self.next = (self.current + self.target) / 2, self.next + PERIOD


class Lazy(Halving):
    """Recovers when there is a message again."""

    def on_busy(self, now_ps: int) -> None:
        """All periods at once."""
        self.seen.append(("busy", now_ps))
        self.advance(now_ps)


class Timed(Halving):
    """Recovers by its timer."""

    def on_busy(self, now_ps: int) -> None:
        """Nothing to do."""
        self.seen.append(("busy", now_ps))

    def on_timer(self, now_ps: int) -> None:
        """A period is over."""
        self.seen.append(("timer", now_ps))
        self.advance(now_ps)

    def next_timer(self) -> float | None:
        """The end of the period."""
        return self.next


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "messages.txt").write_text(MESSAGES)
    (tmp_path / "idle.toml").write_text(SCENARIO)
    return tmp_path / "idle.toml"


def run(scenario: Path, cls: type[Halving]) -> tuple[list[int], list[tuple[str, int]]]:
    """Completion times, and what the one object of the connection was told."""
    cls.seen.clear()
    flows = xoff.run(scenario, schemes={"recovering": cls}).flows
    assert flows["connection"].to_pylist() == [0, 0]
    return flows["fct_ps"].to_pylist(), list(cls.seen)


# A packet of 1000 B with headers takes 80 ns on the first link and 160 ns on the second, an ACK of 50 B 8 ns and 4
# ns, and each link 1 us. Packets queue at the switch during the first message, which is over after 20.1 us: 100
# packets of 160 ns, and 4.092 us. The CNP of its first mark is back in less than 6 us: 100 -> 50 Gbps. Receivers send
# one each 50 us, and the second one, for the other marks, comes while the connection is idle: 50 -> 25 Gbps, with the
# target at 50. From then on until 240 us three periods of 55 us are over: 25 -> 37.5 -> 43.75 -> 46.875 Gbps.
ALONE = 4 * US + 80_000 + 160_000 + 12_000
GAP = 8e15 / 46.875e9
"""Picoseconds from packet to packet."""


def second_cnp(seen: list[tuple[str, int]]) -> int:
    (_, first), (_, idle), (_, second) = seen[:3]
    assert [what for what, _ in seen[:3]] == ["cnp", "idle", "cnp"]
    assert first < 6 * US
    assert second == first + 50 * US > idle
    return second


def test_a_second_message_starts_at_the_rate_that_on_busy_has_recovered(scenario: Path) -> None:
    (first, second), seen = run(scenario, Lazy)
    assert first == 100 * 160_000 + ALONE - 160_000
    assert ("idle", first) in seen
    assert second == pytest.approx(10 * GAP + ALONE, abs=10)
    assert 240 * US - second_cnp(seen) in range(3 * PERIOD, 4 * PERIOD)
    assert seen[3] == ("busy", 240 * US)
    assert [what for what, _ in seen[4:]] == ["idle"]


def test_timers_of_an_idle_connection_run_before_its_next_message(scenario: Path) -> None:
    (_, second), seen = run(scenario, Timed)
    assert second == pytest.approx(10 * GAP + ALONE, abs=10)
    ends = [second_cnp(seen) + number * PERIOD for number in (1, 2, 3)]
    assert seen[3:7] == [*(("timer", end) for end in ends), ("busy", 240 * US)]


def test_a_connection_keeps_its_rate_unless_the_scheme_does_something(scenario: Path) -> None:
    # 25 Gbps: 320 ns a packet.
    (_, second), seen = run(scenario, Halving)
    assert second == 10 * 320_000 + ALONE
    assert [what for what, _ in seen] == ["cnp", "idle", "cnp", "idle"]


def test_a_message_with_a_connection_to_itself_begins_anew(scenario: Path) -> None:
    # At line rate the eleven packets queue for the second link, and no connection goes idle.
    Lazy.seen.clear()
    sets = {"traffic.0.connection": "per_message"}
    flows = xoff.run(scenario, schemes={"recovering": Lazy}, sets=sets).flows
    assert flows["fct_ps"][1].as_py() == 10 * 160_000 + ALONE
    assert {what for what, _ in Lazy.seen} == {"cnp"}


def test_a_method_for_idleness_by_another_name_is_refused() -> None:
    class Wrong(Halving):
        def on_idel(self, now_ps: int) -> None:
            """Never called."""

    with pytest.raises(UserError, match=r"on_idel is never called: .*on_idle, on_busy; did you mean `on_idle`"):
        describe("wrong", Wrong)
