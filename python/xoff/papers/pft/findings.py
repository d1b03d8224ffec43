"""PFT's claims against what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from xoff.papers.pft import theory
from xoff.papers.pft.experiments import BEST, CLAIMED, HEAVY, STRATEGIES, Control, Point
from xoff.papers.pft.measures import Victims
from xoff.papers.rules import Check, Estimate, estimate, every, exact, over, under
from xoff.papers.verdicts import Claim, Finding

Results = Mapping[Any, Victims]
"""By (point, seed)."""
Ruled = tuple[list[Check], dict[str, float | Estimate | None], str]


def find(claim: Claim, results: Results, short: str) -> Finding:
    """The finding of `claim`; `short` says what was shortened, for its note."""
    if claim.name == "injection-rate":
        checks, measured, note = _rate()
        return Finding(claim, checks, measured, [], "Equation 1", note)
    rule = {"control-factor": _factor, "distributions": _distributions}[claim.name]
    checks, measured, note = rule(results)
    seeds = sorted({seed for _, seed in results})
    return Finding(claim, checks, measured, seeds, "fabric.toml", " ".join(filter(None, (note, short))))


def control_factors(results: Results, point: Point, base: Point) -> dict[int, float]:
    """F_C (Eq. 2) against `base` of each seed that both have."""
    shared = [seed for p, seed in results if p == point and (base, seed) in results]
    return {seed: results[point, seed].ratio / results[base, seed].ratio for seed in shared}


def control_factor(results: Results, point: Point, base: Point, seeds: Sequence[int] = ()) -> float:
    """F_C (Eq. 2) against `base`: mean over the seeds that both have, or `seeds`."""
    found = control_factors(results, point, base)
    return float(np.mean([found[seed] for seed in seeds or found]))


def factors(results: Results, reading: str = "default") -> dict[Control, float]:
    """F_C of each setting of the grid under a reading."""
    grid = dict.fromkeys(p.control for p, _ in results if p.control and p == Point(p.control, reading=reading))
    base = Point(None, reading=reading)
    return {control: control_factor(results, Point(control, reading=reading), base) for control in grid}


def _rate() -> Ruled:
    c = theory.CREDITS
    fixed = {n: theory.fixed(n) for n in theory.FIXED_N}
    random = {m: theory.random(m) for m in theory.RANDOM_M}
    curves = [*fixed.values(), *random.values()]
    falls = all(all(a >= b for a, b in pairwise(each)) and each[-1] < each[0] for each in curves)
    at = c.index(2048)
    by_n = [fixed[n][at] for n in theory.FIXED_N]
    fall = (fixed[8][at] - fixed[8][-1]) / (fixed[8][0] - fixed[8][at])
    checks = [
        every(
            "rate falls with c, FI with n 8 to 12 and RI with m 15 to 22: curves that do",
            {0: falls},
            exact(sum(each[-1] < each[0] for each in curves)),
        ),
        every(
            "the larger n the smaller the rate (the text), FI: rate with n 12 over that with n 8 at c = 2048",
            {0: all(a > b for a, b in pairwise(by_n))},
            exact(by_n[-1] / by_n[0]),
        ),
        over(
            "the larger c the faster the fall (the text), FI, n 8: fall from 2048 to 4096 over that from 0 to 2048",
            exact(fall),
            1,
        ),
    ]
    measured: dict[str, float | Estimate | None] = {
        f"FI, n {n}, rate at c = 2048": fixed[n][at] for n in theory.FIXED_N
    }
    measured |= {f"FI, n {n}, rate at c = 4096": fixed[n][-1] for n in theory.FIXED_N}
    for m in theory.RANDOM_M:
        measured[f"RI, m {m}, credits above which nothing goes"] = float(2 ** (28 - m))
    for used in (BEST.enter, BEST.escape):
        measured[f"RI, m 18, rate at c = {used:#x}"] = theory.random(18, used=[used])[0]
    note = (
        "Equation 1 is c shifted right by n, so with a larger n the gap is shorter and the rate higher: the text's "
        "sentence on n has it the wrong way round. With f(c) idle cycles after a flit the rate is 1/(1 + f), which "
        "falls ever more slowly as c grows. RI's rate falls in a straight line, 1 - f/2^b, with b = 28 here; the paper "
        "gives no b."
    )
    return checks, measured, note


def _factor(results: Results) -> Ruled:
    found = factors(results)
    above = sum(value > 1 for value in found.values())
    top = max(found, key=lambda control: found[control])
    own = {control: control_factors(results, Point(control), Point(None)) for control in found}
    seeds = [seed for seed in own[BEST] if all(seed in each for each in own.values())]
    shares = {seed: float(np.mean([each[seed] > 1 for each in own.values()])) for seed in seeds}
    distances = {seed: own[BEST][seed] / max(each[seed] for each in own.values()) for seed in seeds}
    checks = [
        over("F_C above 1: share of the settings, more than half", shares, 0.5),
        over(f"F_C of the paper's best setting, {BEST.name}: above 1", own[BEST], 1, CLAIMED),
        over("the paper's best setting is the best of all: its F_C over the greatest", distances, 1, tie=True),
    ]
    measured: dict[str, float | Estimate | None] = {
        "settings": float(len(found)),
        "settings with F_C above 1": float(above),
        "F_C of the paper's best": estimate(own[BEST]),
        f"greatest F_C ({top.name})": found[top],
    }
    for strategy in STRATEGIES:
        part = [value for control, value in found.items() if control.strategy == strategy]
        measured[f"{strategy}: least F_C"] = min(part)
        measured[f"{strategy}: greatest F_C"] = max(part)
    base, held = _first(results, None), _first(results, BEST)
    measured |= {
        "D_0, us": base.mean_delay,
        "B_0, MiB/s": base.mean_bandwidth,
        "D_C of the paper's best, us": held.mean_delay,
        "B_C of the paper's best, MiB/s": held.mean_bandwidth,
        "congestors without PFT, Gbps a host": base.congestors_gbps,
        "congestors under the paper's best, Gbps a host": held.congestors_gbps,
        "share of time Congested under the paper's best, congestors": held.congested,
        "share of time Congested under the paper's best, victims": held.victims_congested,
    }
    heavy = factors(results, HEAVY)
    if heavy:
        top = max(heavy, key=lambda control: heavy[control])
        measured |= {
            "congestors of 64 KiB: settings": float(len(heavy)),
            "congestors of 64 KiB: settings with F_C above 1": float(sum(value > 1 for value in heavy.values())),
            "congestors of 64 KiB: F_C of the paper's best": heavy[BEST],
            f"congestors of 64 KiB: greatest F_C ({top.name})": heavy[top],
        }
    note = (
        "D and B are means over the processes of the tests. The paper prints no list of its settings: the grid here is "
        "section III.D's m and n, with the thresholds of the best setting (changed places under FT, which needs t_e >= "
        "t_s), and other thresholds and k at m 18 and n 10. Absolute values are of the first seed."
    )
    return checks, measured, note


def _first(results: Results, control: Control | None) -> Victims:
    return results[Point(control), 1]


def _distributions(results: Results) -> Ruled:
    base = pooled(results, None)
    checks: list[Check] = []
    measured: dict[str, float | Estimate | None] = {
        "median delay without PFT, us": float(np.median(base[0])),
        "median bandwidth without PFT, MiB/s": float(np.median(base[1])),
    }
    shifts = {control: _shift(results, control) for control in factors(results)}
    delay, bandwidth = shifts[BEST]
    checks += [
        under(f"{BEST.name}: median delay over that without PFT, below 1", _shifts(results, BEST, 0), 1),
        over(f"{BEST.name}: median bandwidth over that without PFT, above 1", _shifts(results, BEST, 1), 1),
    ]
    for strategy in STRATEGIES:
        own = {control: shift for control, shift in shifts.items() if control.strategy == strategy}
        least = min(own, key=lambda control: own[control][0])
        most = max(own, key=lambda control: own[control][1])
        both = [control for control, (d, b) in own.items() if d < 1 and b > 1]
        checks += [
            under(f"{strategy}: some setting shifts delay left; least ratio of medians", _shifts(results, least, 0), 1),
            over(f"{strategy}: some setting shifts bandwidth right; greatest ratio", _shifts(results, most, 1), 1),
        ]
        measured |= {
            f"{strategy}: least ratio of median delays ({least.name})": own[least][0],
            f"{strategy}: greatest ratio of median bandwidths ({most.name})": own[most][1],
            f"{strategy}: settings that shift both, of {len(own)}": float(len(both)),
        }
    measured |= {"paper's best: ratio of median delays": delay, "paper's best: ratio of median bandwidths": bandwidth}
    note = (
        "A distribution is that of the processes of the tests over all seeds; it shifts as its median does. The paper "
        "says of its figures that strategies and parameters can be chosen so that delay falls and bandwidth rises: so "
        "of each strategy one setting is asked for, and the best setting itself."
    )
    return checks, measured, note


def pooled(results: Results, control: Control | None, seeds: Sequence[int] = ()) -> tuple[Any, Any]:
    """Delay and bandwidth of all processes, over all seeds or `seeds`."""
    own = [e for (point, seed), e in results.items() if point == Point(control) and (not seeds or seed in seeds)]
    return np.concatenate([e.delay for e in own]), np.concatenate([e.bandwidth for e in own])


def _shift(results: Results, control: Control) -> tuple[float, float]:
    """Medians of delay and bandwidth over those without PFT with the same seeds."""
    seeds = [seed for point, seed in results if point == Point(control) and (Point(None), seed) in results]
    (delay, bandwidth), base = (pooled(results, each, seeds) for each in (control, None))
    return float(np.median(delay) / np.median(base[0])), float(np.median(bandwidth) / np.median(base[1]))


def _shifts(results: Results, control: Control, which: int) -> dict[int, float]:
    """The median delay (0) or bandwidth (1) of each seed over that without PFT."""
    seeds = [seed for point, seed in results if point == Point(control) and (Point(None), seed) in results]
    medians = {
        seed: [float(np.median(pooled(results, each, [seed])[which])) for each in (control, None)] for seed in seeds
    }
    return {seed: own / base for seed, (own, base) in medians.items()}
