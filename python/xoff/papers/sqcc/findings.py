"""SQCC's claims against what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from xoff.papers.rules import (
    TOLERANCE,
    Check,
    Estimate,
    Outcome,
    between,
    estimate,
    exact,
    lower,
    near,
    none,
    over,
    some,
    under,
)
from xoff.papers.sqcc import theory
from xoff.papers.sqcc.experiments import DELTA, ERROR, FIXED, GROUPS, INCASTS, PATCHED, ROWS, SQCC, Point
from xoff.papers.sqcc.measures import Queue
from xoff.papers.verdicts import Claim, Finding

NAMES = {
    PATCHED: "patched TIMELY",
    ERROR: "SQCC, error function alone",
    DELTA: "SQCC, error function and step",
    SQCC: "SQCC",
}

TABLE2 = {ERROR: (272.77, 122.38), DELTA: (53.96, 20.55), SQCC: (149.3, 13.73)}
"""Mean and standard deviation that Table II prints, in packets."""

Results = Mapping[Any, Queue]
Ruled = tuple[list[Check], dict[str, float | Estimate | None], str]


def values(results: Results, point: Point, quantity: str) -> dict[int, float]:
    """A quantity of the steady state of each seed."""
    return {key[2]: float(getattr(each, quantity)) for key, each in results.items() if key[:2] == point}


def mean(results: Results, point: Point, quantity: str) -> float:
    """A quantity of the steady state, averaged over the seeds."""
    return float(np.mean(list(values(results, point, quantity).values())))


def find(claim: Claim, results: Results, short: str) -> Finding:
    """The finding of `claim`; `short` says what was shortened, for its note."""
    checks, measured, note = _RULES[claim.name](results)
    seeds = sorted({key[2] for key in results if key[:2] in GROUPS[claim.name]})
    return Finding(claim, checks, measured, seeds, "incast.toml", " ".join(filter(None, (note, short))))


def _fixed_point(results: Results) -> Ruled:
    over_ceiling = exact(theory.fixed_packets((PATCHED, 80)) / theory.ceiling_packets())
    checks = [over("Eq. 6 at N = 80 over the queue at T_high", over_ceiling, 1, tie=True)]
    measured = dict[str, float | Estimate | None]()
    ceiling = theory.ceiling_packets()
    seeds = values(results, (PATCHED, FIXED[0]), "most")
    first = {seed: _first_over(results, seed, ceiling) for seed in seeds}
    for n in FIXED:
        queue, expected = values(results, (PATCHED, n), "mean"), theory.fixed_packets((PATCHED, n))
        measured[f"queue at N = {n}, packets"] = estimate(queue)
        if n < min(first.values()):
            # If nothing is unstable, the relation is the equation itself.
            checks.append(near(f"queue at N = {n} is that of Eq. 6, packets", queue, expected))
    checks.append(under("smallest N whose queue exceeds T_high", first, 80, 60, tie=True))
    measured["smallest N whose queue exceeds T_high"] = estimate(first)
    measured["N by Eq. 8"] = theory.max_flows()
    note = (
        "Eq. 6 is taken as the round-trip time at which Algorithm 2 changes no rate, T_low (1 + N delta/(beta C)), "
        "less D and a packet's time; by it the fixed point passes T_high at N = 72, by Eq. 8, which takes D off T_low, "
        f"at 80. The queue at T_high is {ceiling:.0f} packets. Deviations in packets: "
        + ", ".join(f"N = {n}: {mean(results, (PATCHED, n), 'deviation'):.1f}" for n in FIXED)
        + "."
    )
    return checks, measured, note


def _steady(results: Results, points: Sequence[Point]) -> list[Check]:
    """That the mean of the last quarter of a run differs from that of the quarter before by at most a quarter."""
    checks = []
    for point in points:
        runs = {key[2]: each for key, each in results.items() if key[:2] == point}
        # A queue that is always empty is steady.
        drift = {seed: abs(each.drift) / each.mean if each.mean > 0 else 0.0 for seed, each in runs.items()}
        what = f"{NAMES[point[0]]} at N = {point[1]}: drift over mean in the steady state"
        checks.append(under(what, drift, TOLERANCE, tie=True))
    return checks


def _first_over(results: Results, seed: int, ceiling: float) -> float:
    """The smallest N of the grid whose queue exceeds `ceiling`; infinite if none does."""
    over = [n for n in FIXED if results[PATCHED, n, seed].most > ceiling]
    return float(over[0]) if over else math.inf


def _error(results: Results) -> Ruled:
    checks, measured = _steady(results, GROUPS["error-function"]), dict[str, float | Estimate | None]()
    for n in (2, 40, 60):
        patched, error = (values(results, (variant, n), "mean") for variant in (PATCHED, ERROR))
        measured[f"patched TIMELY at N = {n}, packets"] = estimate(patched)
        measured[f"SQCC's error at N = {n}, packets"] = estimate(error)
        what = f"mean queue at N = {n}, patched TIMELY to SQCC's error function: reduction"
        checks.append(lower(what, error, patched, 0.8 if n == 60 else None))
        measured[f"lower at N = {n} by"] = checks[-1].measured
    expected = 1 - theory.fixed_packets((ERROR, 60)) / theory.fixed_packets((PATCHED, 60))
    note = (
        f"By the paper's own equations, 6 and 17, the queue at N = 60 falls by {expected:.0%}. Range at N = 60 in "
        "packets: " + ", ".join(f"{NAMES[v]} {mean(results, (v, 60), 'range'):.0f}" for v in (PATCHED, ERROR)) + "."
    )
    return checks, measured, note


def _delta(results: Results) -> Ruled:
    checks, measured = _steady(results, GROUPS["delta"]), dict[str, float | Estimate | None]()
    for n, queue, span in ((40, 0.215, 0.27), (60, 0.42, 0.57)):
        for quantity, claimed, text in (("mean", queue, "mean queue"), ("range", span, "range")):
            error, delta = (values(results, (variant, n), quantity) for variant in (ERROR, DELTA))
            checks.append(lower(f"{text} at N = {n}, error function to step: reduction", delta, error, claimed))
            measured |= {
                f"{text} at N = {n}, error alone, packets": estimate(error),
                f"{text} at N = {n}, with step, packets": estimate(delta),
                f"{text} at N = {n}, lower by": checks[-1].measured,
            }
    expected = [1 - theory.fixed_packets((DELTA, n)) / theory.fixed_packets((ERROR, n)) for n in (40, 60)]
    note = (
        "delta = C/N^2, 6.25 and 2.78 Mbps. By Eq. 17 the mean falls by "
        f"{expected[0]:.1%} and {expected[1]:.1%}. The range is that of all samples of the steady state, 10 us apart."
    )
    return checks, measured, note


def _table(results: Results) -> Ruled:
    checks, measured = _steady(results, ROWS), dict[str, float | Estimate | None]()
    for variant, (queue, deviation) in TABLE2.items():
        found = {q: values(results, (variant, 500), q) for q in ("mean", "deviation", "range", "utilization")}
        for quantity, claimed in (("mean", queue), ("deviation", deviation)):
            size = estimate(found[quantity])
            outcome = _ordered(results, quantity)
            checks.append(Check(f"{NAMES[variant]}, {quantity}, packets", outcome, size, claimed))
        measured |= {f"{NAMES[variant]}, {quantity}": estimate(value) for quantity, value in found.items()}
    note = (
        "Mean and deviation hold where their order over the three rows is the paper's. Eq. 17 gives "
        + ", ".join(f"{theory.fixed_packets((variant, 500)):.0f}" for variant in TABLE2)
        + " packets."
    )
    return checks, measured, note


def _t_low(results: Results) -> Ruled:
    empty = {variant: values(results, (variant, 500), "empty") for variant in TABLE2}
    use = {variant: values(results, (variant, 500), "utilization") for variant in TABLE2}
    checks = [none(f"{NAMES[SQCC]}: share of samples with an empty queue", empty[SQCC])]
    for variant in (ERROR, DELTA):
        checks += [
            some(f"{NAMES[variant]}: share of samples with an empty queue", empty[variant]),
            lower(f"utilization, {NAMES[SQCC]} to {NAMES[variant]}: reduction", use[variant], use[SQCC]),
        ]
    measured: dict[str, float | Estimate | None] = {}
    for variant, name in ((v, NAMES[v]) for v in TABLE2):
        measured[f"{name}: share with an empty queue"] = estimate(empty[variant])
        measured[f"{name}: utilization"] = estimate(use[variant])
    return checks, measured, "The paper gives no number for either."


def _ordered(results: Results, quantity: str) -> Outcome:
    """Whether the rows are in the paper's order."""
    column = 0 if quantity == "mean" else 1
    rows = sorted(TABLE2, key=lambda variant: TABLE2[variant][column])
    found = [values(results, (variant, 500), quantity) for variant in rows]
    outcomes = {lower("", first, second).outcome for first, second in pairwise(found)}
    return "fails" if "fails" in outcomes else "open" if "open" in outcomes else "holds"


def _large(results: Results) -> Ruled:
    checks, measured = _steady(results, GROUPS["large-incast"]), dict[str, float | Estimate | None]()
    for n in INCASTS:
        queue, span = (values(results, (SQCC, n), quantity) for quantity in ("mean", "range"))
        checks.append(between(f"mean queue at N = {n} from 100 to 200 packets", queue, 100, 200))
        checks.append(under(f"range at N = {n} up to 25 packets", span, 25, tie=True))
        measured |= {f"mean at N = {n}, packets": estimate(queue), f"range at N = {n}, packets": estimate(span)}
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
    "t-low": _t_low,
    "large-incast": _large,
}
