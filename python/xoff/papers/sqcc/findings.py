"""SQCC's claims against what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xoff.papers.sqcc import theory
from xoff.papers.sqcc.experiments import DELTA, ERROR, FIXED, GROUPS, INCASTS, PATCHED, SQCC, Point
from xoff.papers.sqcc.measures import Queue
from xoff.papers.verdicts import Check, Claim, Finding, below, reduced, within

NAMES = {
    PATCHED: "patched TIMELY",
    ERROR: "SQCC, error function alone",
    DELTA: "SQCC, error function and step",
    SQCC: "SQCC",
}

TABLE2 = {ERROR: (272.77, 122.38), DELTA: (53.96, 20.55), SQCC: (149.3, 13.73)}
"""Mean and standard deviation that Table II prints, in packets."""

Results = Mapping[Any, Queue]
Ruled = tuple[list[Check], dict[str, float | None], str]


def mean(results: Results, point: Point, quantity: str) -> float:
    """A quantity of the steady state, averaged over the seeds."""
    return float(np.mean([getattr(each, quantity) for key, each in results.items() if key[:2] == point]))


def find(claim: Claim, results: Results, short: str) -> Finding:
    """The finding of `claim`; `short` says what was shortened, for its note."""
    checks, measured, note = _RULES[claim.name](results)
    seeds = sorted({key[2] for key in results if key[:2] in GROUPS[claim.name]})
    return Finding(claim, checks, measured, seeds, "incast.toml", " ".join(filter(None, (note, short))))


def _fixed_point(results: Results) -> Ruled:
    checks = [
        Check(
            "Eq. 8: N at which the fixed point reaches T_high",
            theory.max_flows() >= 80 - 1e-9,
            theory.max_flows(),
            80.0,
        )
    ]
    measured = dict[str, float | None]()
    ceiling = theory.ceiling_packets()
    over = [n for n in FIXED if mean(results, (PATCHED, n), "most") > ceiling]
    first = float(over[0]) if over else float("nan")
    for n in FIXED:
        queue, expected = mean(results, (PATCHED, n), "mean"), theory.fixed_packets((PATCHED, n))
        measured[f"queue at N = {n}, packets"] = queue
        if n < first:
            # If nothing is unstable, the relation is the equation itself.
            checks.append(
                Check(f"queue at N = {n} is that of Eq. 6, packets", within(queue, expected), queue, expected)
            )
    checks.append(Check("least N whose queue exceeds T_high", first <= 80, first, 60.0))
    measured["least N whose queue exceeds T_high"] = first
    note = (
        "Eq. 6 is taken as the round-trip time at which Algorithm 2 changes no rate, T_low (1 + N delta/(beta C)), "
        "less D and a packet's time; by it the fixed point passes T_high at N = 72, by Eq. 8, which takes D off T_low, "
        f"at 80. The queue at T_high is {ceiling:.0f} packets. Deviations in packets: "
        + ", ".join(f"N = {n}: {mean(results, (PATCHED, n), 'deviation'):.1f}" for n in FIXED)
        + "."
    )
    return checks, measured, note


def _error(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for n in (2, 40, 60):
        patched, error = (mean(results, (variant, n), "mean") for variant in (PATCHED, ERROR))
        measured |= {f"patched TIMELY at N = {n}, packets": patched, f"SQCC's error at N = {n}, packets": error}
        what = f"mean queue at N = {n}, patched TIMELY to SQCC's error function"
        checks.append(reduced(what, error, patched, 0.8) if n == 60 else below(what, error, patched))
        measured[f"lower at N = {n} by"] = checks[-1].measured
    expected = 1 - theory.fixed_packets((ERROR, 60)) / theory.fixed_packets((PATCHED, 60))
    note = (
        f"By the paper's own equations, 6 and 17, the queue at N = 60 falls by {expected:.0%}. Range at N = 60 in "
        "packets: " + ", ".join(f"{NAMES[v]} {mean(results, (v, 60), 'range'):.0f}" for v in (PATCHED, ERROR)) + "."
    )
    return checks, measured, note


def _delta(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for n, queue, span in ((40, 0.215, 0.27), (60, 0.42, 0.57)):
        for quantity, claimed, text in (("mean", queue, "mean queue"), ("range", span, "range")):
            error, delta = (mean(results, (variant, n), quantity) for variant in (ERROR, DELTA))
            checks.append(reduced(f"{text} at N = {n}, error function to step", delta, error, claimed))
            measured |= {
                f"{text} at N = {n}, error alone, packets": error,
                f"{text} at N = {n}, with step, packets": delta,
                f"{text} at N = {n}, lower by": checks[-1].measured,
            }
    expected = [1 - theory.fixed_packets((DELTA, n)) / theory.fixed_packets((ERROR, n)) for n in (40, 60)]
    note = (
        "delta = C/N^2, 6.25 and 2.78 Mbps. By Eq. 17 the mean falls by "
        f"{expected[0]:.1%} and {expected[1]:.1%}. The range is that of all samples of the steady state, 10 us apart."
    )
    return checks, measured, note


def _table(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for variant, (queue, deviation) in TABLE2.items():
        found = {q: mean(results, (variant, 500), q) for q in ("mean", "deviation", "range", "utilization")}
        for quantity, claimed in (("mean", queue), ("deviation", deviation)):
            value = found[quantity]
            checks.append(Check(f"{NAMES[variant]}, {quantity}, packets", _ordered(results, quantity), value, claimed))
        measured |= {f"{NAMES[variant]}, {quantity}": value for quantity, value in found.items()}
    note = (
        "Mean and deviation hold where their order over the three rows is the paper's. Eq. 17 gives "
        + ", ".join(f"{theory.fixed_packets((variant, 500)):.0f}" for variant in TABLE2)
        + " packets."
    )
    return checks, measured, note


def _ordered(results: Results, quantity: str) -> bool:
    column = 0 if quantity == "mean" else 1
    rows = sorted(TABLE2, key=lambda variant: TABLE2[variant][column])
    values = [mean(results, (variant, 500), quantity) for variant in rows]
    return values == sorted(values)


def _large(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for n in INCASTS:
        queue, span = (mean(results, (SQCC, n), quantity) for quantity in ("mean", "range"))
        checks.append(Check(f"mean queue at N = {n} from 100 to 200 packets", 100 <= queue <= 200, queue))
        checks.append(Check(f"range at N = {n} up to 25 packets", span <= 25, span))
        measured |= {f"mean at N = {n}, packets": queue, f"range at N = {n}, packets": span}
    note = (
        "Eq. 17 with Eq. 25 gives "
        + ", ".join(f"{theory.fixed_packets((SQCC, n)):.0f} at N = {n}" for n in INCASTS)
        + " packets: at 100 and 1000 outside of what the paper says of all N. Standard deviations in packets: "
        + ", ".join(f"{mean(results, (SQCC, n), 'deviation'):.1f} at N = {n}" for n in INCASTS)
        + ". Table II's own 13.73 at N = 500 does not go with a range of 25."
    )
    return checks, measured, note


_RULES: dict[str, Callable[[Results], Ruled]] = {
    "patched-timely-fixed-point": _fixed_point,
    "error-function": _error,
    "delta": _delta,
    "table2": _table,
    "large-incast": _large,
}
