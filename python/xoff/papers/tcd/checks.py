"""Checks for both kinds of flow control, with their parts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from xoff.papers.rules import Check, every
from xoff.papers.tcd.common import Results
from xoff.papers.tcd.measures import Chain, Testbed

Ruled = tuple[list[Check], dict[str, float | None], str]
"""Checks, measured numbers by name, and a note."""

PERSISTENT_KB = 100.0
"""A queue above this at the end of the bursts is persistent."""


def joined(*parts: Callable[[Results], Ruled]) -> Callable[[Results], Ruled]:
    """A claim's halves together: the verdict is over all their checks."""

    def both(results: Results) -> Ruled:
        ruled = [part(results) for part in parts]
        measured = {name: value for _, numbers, _ in ruled for name, value in numbers.items()}
        return [check for checks, _, _ in ruled for check in checks], measured, " ".join(note for _, _, note in ruled)

    return both


def said(what: str, holds: bool, measured: float, claimed: float | None = None) -> Check:
    """A statement about one run, or about several taken together: one seed in the eyes of the rules."""
    return every(what, {1: bool(holds)}, {1: float(measured)}, claimed)


def marks_of(found: Chain, port: str, traffic: str, mark: str = "ce") -> int:
    """Packets of a traffic that a port marked."""
    return found.marks.get((port, traffic, mark), 0)


def marked_by(found: Chain, port: str, mark: str = "ce") -> int:
    """Packets that a port marked."""
    return sum(count for (name, _, kind), count in found.marks.items() if (name, kind) == (port, mark))


def after_pauses(found: Chain) -> tuple[float, float]:
    """P2's mean queue in KB and rate in Gbps in the 0.5 ms after its last pause during the bursts."""
    end = found.stopped_us["P2"]
    window = (found.time_us > end) & (found.time_us <= end + 500)
    return float(found.queue_kb["P2"][window].mean()), float(found.sent_gbps["P2"][window].mean())


def time_in(found: Chain, port: str, state: str) -> float:
    """How long a port was in a state, in us."""
    rows = [*found.states[port], (float(found.time_us[-1]), "")]
    return float(sum(later - since for (since, now), (later, _) in pairwise(rows) if now == state))


def transition_checks(single: Chain, multi: Chain, prefix: str) -> tuple[list[Check], dict[str, float | None]]:
    """Fig. 12 and 13: states of P2 and P1 with one and with several congestion points, and what they mark."""
    measured = dict[str, float | None]()
    ce = {
        (name, port): float(marked_by(run, port))
        for name, run in (("one", single), ("several", multi))
        for port in ("P1", "P2")
    }
    for (name, port), count in ce.items():
        measured[f"{prefix}{name}: packets that {port} marks CE"] = count
    for name, run in (("one", single), ("several", multi)):
        for port in ("P1", "P2"):
            measured[f"{prefix}{name}: us of {port} in congestion"] = time_in(run, port, "congestion")
            measured[f"{prefix}{name}: us of {port} undetermined"] = time_in(run, port, "undetermined")
    checks = []
    for port in ("P2", "P1"):
        seen = [state for _, state in single.states[port]]
        checks += [
            said(f"{prefix}one: {port} undetermined", "undetermined" in seen, time_in(single, port, "undetermined")),
            said(f"{prefix}one: {port} not congested in the end", seen[-1] == "non_congestion", float(len(seen))),
            said(f"{prefix}one: packets that {port} marks CE", ce["one", port] == 0, ce["one", port]),
        ]
    p2, p1 = ([state for _, state in multi.states[port]] for port in ("P2", "P1"))
    first = p2.index("undetermined") if "undetermined" in p2 else len(p2)
    checks += [
        said(f"{prefix}several: P2 undetermined, then congestion", "congestion" in p2[first:], ce["several", "P2"]),
        said(f"{prefix}several: P1 undetermined", "undetermined" in p1, time_in(multi, "P1", "undetermined")),
        said(f"{prefix}several: packets that P1 marks CE", ce["several", "P1"] == 0, ce["several", "P1"]),
    ]
    return checks, measured


def testbed_checks(found: Testbed, prefix: str) -> tuple[list[Check], dict[str, float | None]]:
    """Fig. 11: shares of f0's and f1's packets by their mark, while a0 sends and after."""
    begin, end = found.sending_ms
    # Intervals that a0's beginning or end does not touch; its queues drain in the one after its end.
    during = (found.time_ms > begin + found.interval_ms * 1.01) & (found.time_ms < end + 1e-6)
    after = found.time_ms > end + found.interval_ms * 1.01
    shares = {
        (flow, mark): float(found.share[flow, mark][during].mean()) for flow in ("f0", "f1") for mark in ("ue", "ce")
    }
    rest = float(max(found.share["f0", mark][after].max() for mark in ("ue", "ce")))
    measured: dict[str, float | None] = {
        f"{prefix}{flow} {mark.upper()} while a0 sends": value for (flow, mark), value in shares.items()
    }
    measured[f"{prefix}f0 marked after"] = rest
    checks = [
        said(f"{prefix}f0's share of UE while a0 sends", shares["f0", "ue"] > 0.9, shares["f0", "ue"], 1.0),
        said(f"{prefix}f0's share of CE while a0 sends", shares["f0", "ce"] < 0.05, shares["f0", "ce"]),
        said(f"{prefix}f0's share of marks after", rest < 0.01, rest),
        said(f"{prefix}f1's share of CE while a0 sends", shares["f1", "ce"] > 0.9, shares["f1", "ce"], 1.0),
    ]
    return checks, measured
