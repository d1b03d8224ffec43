"""The rules by which a claim is judged: one way to form an interval, one rule of noise in both directions.

A number is the mean over seeds, with Student's t-interval at 95 %, of paired differences where two things are compared:
two schemes of a seed get the same traffic, so the difference varies less than either, and at 2 to 10 seeds the
t-interval keeps its level, which a bootstrap does not.

A relation holds if the whole interval is on the claimed side, fails if the whole interval is on the other side, and is
open otherwise. One seed of a random experiment has no bounds, so every relation of it is open. What no seed changes
(an equation, a deterministic run) is a single value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from xoff.analysis.student import half_width

TOLERANCE = 0.25
"""Relative difference up to which a measured figure counts as the paper's."""

Verdict = Literal["reproduced", "direction", "undecided", "contradicted"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "direction", "undecided", "contradicted")
"""From the best to the worst."""
Outcome = Literal["holds", "open", "fails"]
"""Of a relation."""
Values = Mapping[Any, float]
"""A number of each seed."""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval."""

    value: float
    """Mean over the seeds; infinite if an event never happened in one of them."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end."""
    n: int
    """Seeds; 0 if nothing is random."""

    @property
    def text(self) -> str:
        """The value, its interval and the number of seeds."""
        if self.n == 0:
            return number_text(self.value)
        if self.n == 1:
            return f"{number_text(self.value)} (1 seed)"
        return f"{number_text(self.value)} [{number_text(self.low)}, {number_text(self.high)}], n {self.n}"


def exact(value: float) -> Estimate:
    """A number that no seed changes."""
    return Estimate(float(value), float(value), float(value), 0)


def estimate(values: Values) -> Estimate:
    """The mean over the seeds with its t-interval.

    An event that never happens has an infinite time. Where seeds have one, the interval is the range of the seeds.
    """
    found = np.array(list(values.values()), dtype=np.float64)
    if not len(found):
        raise ValueError("an estimate needs at least one seed")
    return _interval(found, float(found.mean()))


def difference(values: Values, others: Values) -> Estimate:
    """By how much `values` exceed `others`, from the differences of the seeds that both have."""
    first, second = _paired(values, others)
    with np.errstate(invalid="ignore"):
        # Two events that never happen are equally late.
        gaps = np.where(np.isinf(first) & (first == second), 0.0, first - second)
        # Where each of the two never happens in some seed, there is no mean.
        return _interval(gaps, float(gaps.mean()))


def ratio(values: Values, others: Values) -> Estimate:
    """The mean of `values` over that of `others`, with the interval of the linearised ratio of paired seeds.

    NaN if the ratio is not defined.
    """
    first, second = _paired(values, others)
    if not np.isfinite([*first, *second]).all() or second.mean() == 0:
        return Estimate(math.nan, math.nan, math.nan, len(first))
    value = float(first.mean() / second.mean())
    return _interval(value + (first - value * second) / second.mean(), value)


def reduction(values: Values, others: Values) -> Estimate:
    """The share by which the mean of `values` is below that of `others`; NaN without one above 0."""
    found = ratio(values, others)
    return Estimate(1 - found.value, 1 - found.high, 1 - found.low, found.n)


def _paired(values: Values, others: Values) -> tuple[Any, Any]:
    shared = [seed for seed in values if seed in others]
    if not shared:
        raise ValueError(f"no seed is shared: {sorted(values)} and {sorted(others)}")
    return np.array([values[s] for s in shared], float), np.array([others[s] for s in shared], float)


def _interval(found: Any, value: float) -> Estimate:
    n = len(found)
    if n == 1:
        return Estimate(value, -math.inf, math.inf, 1)
    if not np.isfinite(found).all():
        return Estimate(value, float(found.min()), float(found.max()), n)
    # Rounding alone makes no interval.
    spread = 0.0 if np.ptp(found) == 0 else float(found.std(ddof=1))
    half = half_width(n) * spread / math.sqrt(n)
    return Estimate(value, value - half, value + half, n)


@dataclass(frozen=True)
class Check:
    """One comparison of a claim."""

    what: str
    """What is compared, with unit."""
    outcome: Outcome
    """Whether the order, sign or bound is as claimed."""
    measured: Estimate
    """The measured size."""
    claimed: float | None = None
    """The paper's size; `None` if the paper prints none."""

    @property
    def size(self) -> Outcome:
        """Whether the measured size is within `TOLERANCE` of the paper's; holds if the paper prints none."""
        if self.claimed is None:
            return "holds"
        band = TOLERANCE * abs(self.claimed) * (1 + 1e-12)
        return _inside(self.measured, self.claimed - band, self.claimed + band)


def verdict(checks: Sequence[Check]) -> Verdict:
    """What the checks show of a claim.

    `contradicted` if a relation fails, else `undecided` if one is open, else `reproduced` if every size is surely the
    paper's, else `direction`.
    """
    if not checks:
        raise ValueError("a verdict needs at least one check")
    outcomes = {check.outcome for check in checks}
    if "fails" in outcomes:
        return "contradicted"
    if "open" in outcomes:
        return "undecided"
    return "reproduced" if all(check.size == "holds" for check in checks) else "direction"


def lower(what: str, values: Values, others: Values, claimed: float | None = None, *, tie: bool = False) -> Check:
    """That `values` are below `others`, or with `tie` not above; the size is the share by which they are below."""
    return Check(what, _below(difference(values, others), 0.0, tie), reduction(values, others), claimed)


def times(what: str, values: Values, others: Values, claimed: float | None = None) -> Check:
    """That `values` are above `others`; the size is their ratio."""
    return Check(what, _below(difference(others, values), 0.0, tie=False), ratio(values, others), claimed)


def higher(what: str, values: Values, others: Values, claimed: float | None = None) -> Check:
    """That `values` are above `others`; the size is the share by which they are above."""
    found = ratio(values, others)
    gain = Estimate(found.value - 1, found.low - 1, found.high - 1, found.n)
    return Check(what, _below(difference(others, values), 0.0, tie=False), gain, claimed)


def more(what: str, values: Values, others: Values, *, tie: bool = False) -> Check:
    """That `values` are above `others`, or with `tie` not below; the size is the difference."""
    return Check(what, _below(difference(others, values), 0.0, tie), difference(values, others))


def under(
    what: str, values: Values | Estimate, bound: float, claimed: float | None = None, *, tie: bool = False
) -> Check:
    """That `values` are below `bound`, or with `tie` not above."""
    found = _estimate(values)
    return Check(what, _below(found, bound, tie), found, claimed)


def over(
    what: str, values: Values | Estimate, bound: float, claimed: float | None = None, *, tie: bool = False
) -> Check:
    """That `values` are above `bound`, or with `tie` not below."""
    found = _estimate(values)
    turned = Estimate(-found.value, -found.high, -found.low, found.n)
    return Check(what, _below(turned, -bound, tie), found, claimed)


def between(what: str, values: Values | Estimate, low: float, high: float, claimed: float | None = None) -> Check:
    """That `values` lie from `low` to `high`."""
    found = _estimate(values)
    return Check(what, _inside(found, low, high), found, claimed)


def near(what: str, values: Values | Estimate, expected: float, tolerance: float = TOLERANCE) -> Check:
    """That `values` differ from `expected` by at most `tolerance` of it."""
    band = tolerance * abs(expected) * (1 + 1e-12)
    return between(what, values, expected - band, expected + band, expected)


def every(what: str, states: Mapping[Any, bool], measured: Values | Estimate, claimed: float | None = None) -> Check:
    """A statement that is true or false of a run: true of each seed; false of each; open if seeds differ, or of one.

    `measured` says what the statement is about; if that is an exact number, one run is enough.
    """
    found = _estimate(measured)
    known = set(states.values())
    outcome: Outcome = "open"
    if len(known) == 1 and (len(states) > 1 or found.n == 0):
        outcome = "holds" if known == {True} else "fails"
    return Check(what, outcome, found, claimed)


def none(what: str, values: Values) -> Check:
    """That `values` are 0 in each seed."""
    return every(what, {seed: value == 0 for seed, value in values.items()}, values)


def some(what: str, values: Values, claimed: float | None = None) -> Check:
    """That `values` are above 0 in each seed."""
    return every(what, {seed: value > 0 for seed, value in values.items()}, values, claimed)


def _estimate(values: Values | Estimate) -> Estimate:
    return values if isinstance(values, Estimate) else estimate(values)


def _below(found: Estimate, bound: float, tie: bool) -> Outcome:
    if math.isnan(found.value):
        return "open"
    if found.high <= bound if tie else found.high < bound:
        return "holds"
    return "fails" if (found.low > bound if tie else found.low >= bound) else "open"


def _inside(found: Estimate, low: float, high: float) -> Outcome:
    if math.isnan(found.value):
        return "open"
    if low <= found.low and found.high <= high:
        return "holds"
    return "fails" if found.high < low or found.low > high else "open"


def fall(value: float, reference: float) -> float:
    """The share by which `value` is below `reference`; NaN without a reference above 0."""
    return 1 - value / reference if reference > 0 else math.nan


def number_text(value: float | None) -> str:
    """Four significant digits; `never` for an event that did not happen."""
    if value is None or math.isnan(value) or value == math.inf:
        return "never"
    return f"{value:.4g}"
