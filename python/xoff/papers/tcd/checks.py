"""Checks for both kinds of flow control, with their parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from xoff.papers.rules import Check, Estimate, Values, estimate, every, none, over, some, under
from xoff.papers.tcd.measures import Chain, Testbed

Numbers = dict[str, float | Estimate | None]
Ruled = tuple[list[Check], Numbers, str]
"""Checks, measured numbers by name, and a note."""

PERSISTENT_KB = 100.0
"""A queue above this at the end of the bursts is persistent."""
EQUAL = 0.15
"""Relative difference up to which "equal", "comparable" or "unchanged" holds."""


def of(runs: Mapping[int, Any], number: Callable[[Any], float]) -> Values:
    """A number of each seed."""
    return {seed: float(number(run)) for seed, run in runs.items()}


def paired(first: Values, second: Values) -> tuple[Values, Values]:
    """Both without the seeds in which one of them has no number."""
    known = [s for s in first if s in second and not math.isnan(first[s]) and not math.isnan(second[s])]
    return {s: first[s] for s in known}, {s: second[s] for s in known}


def marks_of(found: Chain, port: str, traffic: str, mark: str = "ce") -> int:
    """Packets of a traffic that a port marked."""
    return found.marks.get((port, traffic, mark), 0)


def marked_by(found: Chain, port: str, mark: str = "ce") -> int:
    """Packets that a port marked."""
    return sum(count for (name, _, kind), count in found.marks.items() if (name, kind) == (port, mark))


def after_pauses(found: Chain) -> tuple[float, float]:
    """P2's mean queue in KB and rate in Gbps in the 0.5 ms after its last pause."""
    end = found.stopped_us["P2"]
    window = (found.time_us > end) & (found.time_us <= end + 500)
    if not window.any():
        return math.nan, math.nan
    return float(found.queue_kb["P2"][window].mean()), float(found.sent_gbps["P2"][window].mean())


def time_in(found: Chain, port: str, state: str) -> float:
    """How long a port was in a state, in us."""
    rows = [*found.states[port], (float(found.time_us[-1]), "")]
    return float(sum(later - since for (since, now), (later, _) in pairwise(rows) if now == state))


def mismarking_checks(runs: Mapping[int, Chain], marks: tuple[tuple[str, str], ...], prefix: str) -> Ruled:
    """Fig. 3: what a port that is not congested marks, by (port, traffic)."""
    measured: Numbers = {f"{prefix}P2's longest queue, KB": estimate(of(runs, lambda run: run.queue_kb["P2"].max()))}
    counts = {
        (port, traffic): of(runs, lambda run, p=port, t=traffic: marks_of(run, p, t))  # type: ignore[misc]
        for port in ("P1", "P2")
        for traffic in ("f0", "f1", "f2")
    }
    for (port, traffic), values in counts.items():
        measured[f"{prefix}{traffic}'s packets marked at {port}"] = estimate(values)
    checks = [some(f"{prefix}{traffic}'s packets marked at {port}", counts[port, traffic]) for port, traffic in marks]
    return checks, measured, ""


def on_off_checks(runs: Mapping[int, Chain], claimed_ms: float, prefix: str) -> Ruled:
    """Fig. 4: when P2's ON-OFF ends, and its queue and rate after that."""
    end = of(runs, lambda run: run.stopped_us["P2"] / 1e3)
    queue = of(runs, lambda run: after_pauses(run)[0])
    rate = of(runs, lambda run: after_pauses(run)[1])
    checks = [
        over(f"{prefix}P2's ON-OFF ends, ms", end, 0, claimed_ms),
        over(f"{prefix}then a persistent queue, KB", queue, PERSISTENT_KB),
        over(f"{prefix}then at full rate, Gbps", rate, 0.97 * 40),
    ]
    return checks, {f"{check.what}": check.measured for check in checks}, ""


def transition_checks(one: Mapping[int, Chain], several: Mapping[int, Chain], prefix: str) -> Ruled:
    """Fig. 12 and 13: states of P2 and P1 with one and with several congestion points, and what they mark."""
    measured: Numbers = {}
    for name, runs in (("one", one), ("several", several)):
        for port in ("P1", "P2"):
            measured[f"{prefix}{name}: packets that {port} marks CE"] = estimate(
                of(runs, lambda run, p=port: marked_by(run, p))  # type: ignore[misc]
            )
            for state in ("undetermined", "congestion"):
                measured[f"{prefix}{name}: us of {port} in state {state}"] = estimate(
                    of(runs, lambda run, p=port, s=state: time_in(run, p, s))  # type: ignore[misc]
                )
    checks = []
    for port in ("P2", "P1"):
        undetermined = of(one, lambda run, p=port: time_in(run, p, "undetermined"))  # type: ignore[misc]
        last = {seed: run.states[port][-1][1] == "non_congestion" for seed, run in one.items()}
        marked = of(one, lambda run, p=port: marked_by(run, p))  # type: ignore[misc]
        checks += [
            some(f"{prefix}one: us of {port} undetermined", undetermined),
            every(f"{prefix}one: {port} not congested in the end", last, of(one, lambda _: 1.0)),
            none(f"{prefix}one: packets that {port} marks CE", marked),
        ]
    checks += [
        every(
            f"{prefix}several: P2 undetermined, then congestion; packets that P2 marks CE",
            {seed: _then_congested(run) for seed, run in several.items()},
            of(several, lambda run: marked_by(run, "P2")),
        ),
        some(f"{prefix}several: us of P1 undetermined", of(several, lambda run: time_in(run, "P1", "undetermined"))),
        none(f"{prefix}several: packets that P1 marks CE", of(several, lambda run: marked_by(run, "P1"))),
    ]
    return checks, measured, ""


def _then_congested(found: Chain) -> bool:
    states = [state for _, state in found.states["P2"]]
    return "undetermined" in states and "congestion" in states[states.index("undetermined") :]


def testbed_checks(runs: Mapping[int, Testbed], prefix: str) -> Ruled:
    """Fig. 11: shares of f0's and f1's packets by their mark, while a0 sends and after."""

    def share(flow: str, mark: str) -> Values:
        return of(runs, lambda run: _share(run, flow, mark))

    checks = [
        over(f"{prefix}f0's share of UE while a0 sends", share("f0", "ue"), 0.9, 1.0),
        under(f"{prefix}f0's share of CE while a0 sends", share("f0", "ce"), 0.05),
        under(f"{prefix}f0's share of marks after", of(runs, _rest), 0.01),
        over(f"{prefix}f1's share of CE while a0 sends", share("f1", "ce"), 0.9, 1.0),
    ]
    return checks, {check.what: check.measured for check in checks}, ""


def _share(found: Testbed, flow: str, mark: str) -> float:
    begin, end = found.sending_ms
    # Intervals that a0's beginning or end does not touch.
    during = (found.time_ms > begin + found.interval_ms * 1.01) & (found.time_ms < end + 1e-6)
    return float(found.share[flow, mark][during].mean())


def _rest(found: Testbed) -> float:
    # a0's queues drain in the interval after its end.
    after = found.time_ms > found.sending_ms[1] + found.interval_ms * 1.01
    return float(max(found.share["f0", mark][after].max() for mark in ("ue", "ce")))
