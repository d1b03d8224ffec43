"""PFT's claims against what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from xoff.papers.pft import theory
from xoff.papers.pft.experiments import BEST, CLAIMED, STRATEGIES, Control, Point
from xoff.papers.pft.measures import Victims
from xoff.papers.rules import Check, Estimate, estimate, every, exact, over, under
from xoff.papers.space import Reading
from xoff.papers.verdicts import Claim, Finding

Results = Mapping[Any, Victims]
"""By (point, seed)."""
Ruled = tuple[list[Check], dict[str, float | Estimate | None], str]
Seeds = dict[int, float]
"""A number of each seed."""

SIGNIFICANT = 0.1
"""Share of the line rate by which a rate at least falls if it "changes significantly"."""

GRID_NOTE = (
    "The paper prints no list of its settings: the grid here has m and n from section III.D's ranges with the "
    "thresholds of the best setting (changed places under FT, which needs t_e >= t_s), and other thresholds and k at m "
    "18 and n 10."
)
CHOSEN_NOTE = (
    "The paper says that strategies and parameters can be chosen so: of each strategy one setting is asked for. It is "
    "chosen for each seed by what it does with the other seeds, so that no setting wins by its luck."
)


def find(claim: Claim, results: Results, reading: Reading, short: str) -> Finding:
    """The finding of `claim`; `short` says what was shortened, for its note."""
    if claim.name == "injection-rate":
        checks, measured, note = _rate(reading)
        return Finding(claim, checks, measured, [], "Equation 1", note)
    checks, measured, note = _RULES[claim.name](results, average_of(reading))
    seeds = sorted({seed for _, seed in results})
    return Finding(claim, checks, measured, seeds, "fabric.toml", " ".join(filter(None, (note, short))))


def average_of(reading: Reading) -> str:
    """Of what D and B are made."""
    return str(reading.sets("measure")["of"])


def control_factors(results: Results, control: Control, average: str, processes: int = 16) -> Seeds:
    """F_C (Eq. 2) of each seed, against the run of that seed without PFT."""
    found = {}
    for seed, own, base in _paired(results, control, processes):
        (delay, bandwidth), (delay_0, bandwidth_0) = own.of(average), base.of(average)
        found[seed] = bandwidth * delay_0 / (bandwidth_0 * delay)
    return found


def settings_of(results: Results) -> list[Control]:
    """The settings that were run with 16 processes a port, in the order of the grid."""
    return list(dict.fromkeys(p.control for p, _ in results if p.control and p == Point(p.control)))


def _paired(results: Results, control: Control, processes: int = 16) -> list[tuple[int, Victims, Victims]]:
    own, base = Point(control, processes), Point(None, processes)
    seeds = [seed for point, seed in results if point == own and (base, seed) in results]
    return [(seed, results[own, seed], results[base, seed]) for seed in seeds]


def _rate(reading: Reading) -> Ruled:
    read = reading.sets("theory")
    held, bits = int(str(read["credits"])), int(str(read["random_bits"]))
    used = theory.used(held)
    fixed = {n: theory.fixed(n, used) for n in theory.FIXED_N}
    random = {m: theory.random(m, used, bits) for m in theory.RANDOM_M}
    falling = {name: _falls(curve) for name, curve in [*fixed.items(), *random.items()]}
    distinct = len({tuple(curve) for curve in fixed.values()})
    least = min(curve[0] - curve[-1] for curve in random.values())
    checks = [
        every(
            f"FI, n 8 to 12: the rate falls as c grows to {held}; curves that do, of 5",
            {0: all(falling[n] for n in theory.FIXED_N)},
            exact(sum(falling[n] for n in theory.FIXED_N)),
        ),
        every("FI: n sets the rate; different curves, of 5", {0: distinct == len(fixed)}, exact(distinct)),
        every(
            f"RI, m 15 to 22: the rate falls as c grows to {held}; curves that do, of 8",
            {0: all(falling[m] for m in theory.RANDOM_M)},
            exact(sum(falling[m] for m in theory.RANDOM_M)),
        ),
        over("RI: the least fall over m, in parts of the line rate, above a tenth", exact(least), SIGNIFICANT),
    ]
    half = len(used) // 2
    measured: dict[str, float | Estimate | None] = {
        f"FI, n {n}, rate at c = {held}": curve[-1] for n, curve in fixed.items()
    }
    measured |= {f"RI, m {m}, credits above which nothing goes": float(2 ** (bits - m)) for m in random}
    for credit in (BEST.enter, BEST.escape):
        measured[f"RI, m 18, rate at c = {credit:#x}"] = theory.random(18, [credit], bits)[0]
    measured |= {
        f"FI, rate with n 12 over that with n 8 at c = {used[half]} (the text: below 1)": (
            fixed[12][half] / fixed[8][half]
        ),
        "FI, n 8: fall over the second half of c over that over the first (the text: above 1)": (
            (fixed[8][half] - fixed[8][-1]) / (fixed[8][0] - fixed[8][half])
            if fixed[8][half] < fixed[8][0]
            else float("nan")
        ),
    }
    note = (
        "Two sentences of III.D are not checked, but computed beside the checks. That the rate is the smaller the "
        "larger n is contradicts Equation 1, where c is shifted right by n: a slip. That the rate falls the faster the "
        "larger c is holds of neither formula: 1/(1 + f) flattens out, and 1 - f/2^b is a straight line. A change is "
        "taken for significant from a tenth of the line rate on."
    )
    return checks, measured, note


def _falls(curve: Sequence[float]) -> bool:
    return curve[-1] < curve[0] and all(a >= b for a, b in pairwise(curve))


def _factor(results: Results, average: str) -> Ruled:
    found = {control: control_factors(results, control, average) for control in settings_of(results)}
    means = {control: float(np.mean(list(values.values()))) for control, values in found.items()}
    shares = {seed: float(np.mean([values[seed] > 1 for values in found.values()])) for seed in found[BEST]}
    checks = [over("F_C above 1: share of the settings, more than half", shares, 0.5)]
    measured: dict[str, float | Estimate | None] = {
        "settings": float(len(found)),
        "settings with a mean F_C above 1": float(sum(value > 1 for value in means.values())),
        "settings whose F_C is surely above 1": float(sum(estimate(each).low > 1 for each in found.values())),
        "settings whose F_C is surely below 1": float(sum(estimate(each).high < 1 for each in found.values())),
    }
    for strategy in STRATEGIES:
        own = [control for control in found if control.strategy == strategy]
        least, most = min(own, key=means.__getitem__), max(own, key=means.__getitem__)
        measured[f"least F_C of {strategy}: {least.name}"] = estimate(found[least])
        measured[f"greatest F_C of {strategy}: {most.name}"] = estimate(found[most])
    note = f"{GRID_NOTE} A least and a greatest of many settings owe something to luck."
    return checks, measured, note


def _best(results: Results, average: str) -> Ruled:
    factors = control_factors(results, BEST, average)
    checks = [over(f"F_C of {BEST.name}: above 1", factors, 1, CLAIMED)]
    pairs = _paired(results, BEST)
    measured: dict[str, float | Estimate | None] = {"F_C": estimate(factors)}
    sides = {"0": {s: base for s, _, base in pairs}, "C": {s: own for s, own, _ in pairs}}
    for which, (letter, unit) in enumerate((("D", "us"), ("B", "MiB/s"))):
        for side, runs in sides.items():
            values = {seed: run.of(average)[which] for seed, run in runs.items()}
            measured[f"{letter}_{side}, {unit}"] = estimate(values)
    measured |= {
        "goodput of the congestors without PFT, Gbps a host": estimate({s: b.congestors_gbps for s, _, b in pairs}),
        "the same with PFT": estimate({s: own.congestors_gbps for s, own, _ in pairs}),
        "share of time Congested, congestors": estimate({s: own.congested for s, own, _ in pairs}),
        "share of time Congested, tests": estimate({s: own.victims_congested for s, own, _ in pairs}),
    }
    for processes in sorted({point.processes for point, _ in results} - {16}):
        name = f"F_C with {processes} process{'es' * (processes > 1)} a port"
        measured[name] = estimate(control_factors(results, BEST, average, processes))
    return checks, measured, ""


def shifts(results: Results, control: Control, which: int) -> Seeds:
    """The median delay (0) or bandwidth (1) of the processes of each seed over that without PFT."""
    medians = {
        seed: [each.of("median")[which] for each in (own, base)] for seed, own, base in _paired(results, control)
    }
    return {seed: own / base for seed, (own, base) in medians.items()}


def chosen(found: Mapping[Control, Seeds], *, least: bool) -> Seeds:
    """For each seed the value of the setting whose mean over the other seeds is least or greatest.

    A single seed chooses by itself.
    """
    sign = 1 if least else -1
    made = {}
    for seed in next(iter(found.values())):

        def elsewhere(control: Control, seed: int = seed) -> float:
            own = found[control]
            others = [value for other, value in own.items() if other != seed] or list(own.values())
            return sign * float(np.mean(others))

        made[seed] = found[min(found, key=elsewhere)][seed]
    return made


def _distribution(which: int) -> Callable[[Results, str], Ruled]:
    what, unit, direction = (("delay", "us", "left"), ("bandwidth", "MiB/s", "right"))[which]

    def rule(results: Results, _average: str) -> Ruled:
        found = {control: shifts(results, control, which) for control in settings_of(results)}
        relation = over if which else under
        base = {seed: each.of("median")[which] for (point, seed), each in results.items() if point == Point(None)}
        checks: list[Check] = []
        measured: dict[str, float | Estimate | None] = {f"median {what} without PFT, {unit}": estimate(base)}
        for strategy in STRATEGIES:
            own = {control: values for control, values in found.items() if control.strategy == strategy}
            picked = chosen(own, least=not which)
            text = f"{strategy}: the chosen setting shifts {what} {direction}; its median over that without PFT"
            checks.append(relation(text, picked, 1))
            surely = [estimate(values) for values in own.values()]
            count = sum(each.low > 1 if which else each.high < 1 for each in surely)
            measured[f"{strategy}: settings that surely shift it {direction}, of {len(own)}"] = float(count)
        measured[f"{BEST.name}: ratio of the medians"] = estimate(found[BEST])
        return checks, measured, f"A distribution shifts as its median does. {CHOSEN_NOTE} {GRID_NOTE}"

    return rule


_RULES: dict[str, Callable[[Results, str], Ruled]] = {
    "delay-distribution": _distribution(0),
    "bandwidth-distribution": _distribution(1),
    "control-factor": _factor,
    "best-setting": _best,
}
