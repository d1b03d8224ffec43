"""The variables that a scheme in Python tells: recorded as they are, and mistakes are named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import xoff


class Counting(xoff.Scheme):
    """Counts its ACKs, and tells the count and its half."""

    def __init__(self, flow: xoff.Flow) -> None:
        super().__init__(flow)
        self.acks = 0

    def on_ack(self, ack: xoff.Ack) -> None:
        """One more."""
        self.acks += 1

    def window(self) -> float:
        """Half of the bandwidth-delay product."""
        return 50_000.0

    def variables(self, probe: Callable[[str, float], None]) -> None:
        """Two."""
        probe("acks", self.acks)
        probe("half", self.acks / 2)


def run(small: Path, cls: type[xoff.Scheme], **more: Any) -> xoff.Run:
    return xoff.run(
        small,
        sets={"record.interval": "10us", "record.rates": True, "record.variables": True, **more},
        schemes={"counting": cls},
    )


def test_variables_are_those_of_the_object(small: Path) -> None:
    done = run(small, Counting, **{"scheme.name": "counting"})
    rows = done.variables.to_pylist()
    flow = done.flows.to_pylist()[0]
    # A row of each variable each 10 us, and one at the end.
    times = [*range(10_000_000, flow["fct_ps"], 10_000_000), flow["fct_ps"]]
    assert [(row["time_ps"], row["name"]) for row in rows] == [(at, name) for at in times for name in ("acks", "half")]
    counts = [row["value"] for row in rows if row["name"] == "acks"]
    assert counts == sorted(counts)
    # 1 MB in packets of 1,456 B: 687 ACKs in all, of which the last ends the flow before the scheme hears of it.
    assert counts[-1] == 686
    assert [row["value"] for row in rows if row["name"] == "half"] == [count / 2 for count in counts]


def test_what_is_recorded_changes_nothing(small: Path) -> None:
    told = run(small, Counting, **{"scheme.name": "counting"})
    untold = run(small, Counting, **{"scheme.name": "counting", "record.variables": False})
    assert untold.variables.num_rows == 0
    assert told.flows.equals(untold.flows)


def telling(tell: Callable[[Callable[..., None]], object]) -> type[xoff.Scheme]:
    """A scheme whose variables are told by `tell`."""
    return type("Counting", (Counting,), {"variables": lambda self, probe: tell(probe)})


@pytest.mark.parametrize(
    ("tell", "message"),
    [
        (lambda probe: probe("x", float("nan")), "expected a finite number"),
        (lambda probe: probe("x", "y"), "raised TypeError"),
        (lambda probe: probe("", 1), "a name of 1 to 80 bytes"),
        (lambda probe: probe("x", 1) or probe("x", 2), "is called twice"),
        (lambda probe: any(probe(f"x{each}", 1) for each in range(65)), "more than 64 times"),
        (lambda probe: 7, "returned 7: expected None"),
        (lambda probe: 1 / 0, "raised ZeroDivisionError"),
    ],
)
def test_a_mistake_ends_the_run_and_is_named(
    small: Path, tell: Callable[[Callable[..., None]], object], message: str
) -> None:
    with pytest.raises(xoff.RunError, match=message) as raised:
        run(small, telling(tell), **{"scheme.name": "counting"})
    assert "Counting.variables() of flow 0" in str(raised.value)
