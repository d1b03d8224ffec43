"""The rules of verdicts: intervals worked out by hand, and data that pass, fail and decide nothing."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import pytest

from xoff.papers import rules, verdicts
from xoff.papers.rules import Check, Estimate, Outcome, Verdict, exact
from xoff.papers.verdicts import Claim, Finding


def seeds(*values: float) -> dict[int, float]:
    return dict(enumerate(values, 1))


def check(outcome: Outcome, value: float = 1.0, claimed: float | None = None) -> Check:
    return Check("what", outcome, exact(value), claimed)


def claim() -> Claim:
    return Claim(id="paper.name", where="1", setting="s", metric="m", relation="r")


def test_the_interval_is_students() -> None:
    # 1, 2, 3: mean 2, deviation 1; t at 97.5 % with 2 degrees of freedom is 4.302653, over the root of 3: 2.484138.
    found = rules.estimate(seeds(1, 2, 3))
    assert (found.value, found.n) == (2.0, 3)
    assert found.low == pytest.approx(2 - 2.484138, abs=1e-6)
    assert found.high == pytest.approx(2 + 2.484138, abs=1e-6)
    # Two seeds: t is 12.706205; the deviation of 1 and 2 is the root of a half, over the root of 2: a half.
    assert rules.estimate(seeds(1, 2)).high == pytest.approx(1.5 + 6.3531, abs=1e-4)
    # Equal seeds have an interval without width, whatever binary fractions do to 0.1.
    same = rules.estimate(seeds(0.1, 0.1, 0.1))
    assert (same.low, same.high) == pytest.approx((0.1, 0.1))
    with pytest.raises(ValueError, match="at least one seed"):
        rules.estimate({})


def test_one_seed_has_no_bounds_and_what_no_seed_changes_has_no_interval() -> None:
    assert rules.estimate(seeds(5)) == Estimate(5.0, -math.inf, math.inf, 1)
    assert rules.exact(5) == Estimate(5.0, 5.0, 5.0, 0)
    assert rules.under("x", seeds(1), 2).outcome == "open"
    assert rules.under("x", exact(1), 2).outcome == "holds"
    assert rules.under("x", exact(3), 2).outcome == "fails"


def test_differences_are_of_the_seeds_that_both_have() -> None:
    # 10, 20, 30 against 11, 21, 31: each one lower, although the values spread over 20.
    assert rules.difference(seeds(10, 20, 30), {**seeds(11, 21, 31), 4: 0.0}) == Estimate(-1.0, -1.0, -1.0, 3)
    with pytest.raises(ValueError, match="no seed is shared"):
        rules.difference({1: 1.0}, {2: 1.0})


@pytest.mark.parametrize(
    ("values", "others", "outcome"),
    [
        # Differences -2, -2.5, -3: mean -2.5, deviation 0.5, half of the interval 1.242: below 0.
        (seeds(8, 7.5, 7), seeds(10, 10, 10), "holds"),
        # The reverse.
        (seeds(10, 10, 10), seeds(8, 7.5, 7), "fails"),
        # Differences -1, -2, -3: half of the interval is 2.484, more than the mean of 2.
        (seeds(9, 8, 7), seeds(10, 10, 10), "open"),
        # One seed, whatever its size.
        (seeds(1), seeds(1000), "open"),
    ],
)
def test_an_order_holds_fails_or_is_open(values: rules.Values, others: rules.Values, outcome: Outcome) -> None:
    assert rules.lower("x", values, others).outcome == outcome
    assert rules.times("x", others, values).outcome == outcome
    assert rules.more("x", others, values).outcome == outcome
    assert rules.higher("x", others, values).outcome == outcome


def test_a_tie_passes_where_the_order_allows_one() -> None:
    nobody = seeds(0, 0, 0)
    # No PAUSE frame against none: "lowest" may tie, "lower" may not.
    assert rules.lower("x", nobody, nobody, tie=True).outcome == "holds"
    assert rules.lower("x", nobody, nobody).outcome == "fails"
    assert rules.more("x", nobody, nobody, tie=True).outcome == "holds"
    assert rules.more("x", nobody, nobody).outcome == "fails"
    # A tie does not decide what noise covers, nor one seed.
    assert rules.lower("x", seeds(1, 2, 3), seeds(2, 2, 2), tie=True).outcome == "open"
    assert rules.lower("x", seeds(0), seeds(0), tie=True).outcome == "open"


def test_the_size_of_a_reduction_is_a_share_of_the_reference() -> None:
    # From 160 to 100 is 60 of 160.
    found = rules.lower("queue", seeds(100, 100), seeds(160, 160), claimed=0.375)
    assert found.measured.value == pytest.approx(0.375)
    assert found.size == "holds"
    assert rules.times("fct", seeds(30, 30), seeds(10, 10)).measured.value == pytest.approx(3.0)
    assert rules.higher("goodput", seeds(30, 30), seeds(10, 10)).measured.value == pytest.approx(2.0)
    assert math.isnan(rules.lower("pauses", seeds(0, 0), seeds(0, 0)).measured.value)
    assert math.isnan(rules.fall(1.0, 0.0))
    # 9 and 11 over 10 and 10: ratio 1; residuals -0.1 and 0.1, deviation 0.1414, half 12.706 x 0.1.
    found_ratio = rules.ratio(seeds(9, 11), seeds(10, 10))
    assert found_ratio.value == pytest.approx(1.0)
    assert found_ratio.high == pytest.approx(1 + 1.2706205, abs=1e-6)
    # Values that are in proportion have no interval: 1 of 2, 5 of 10.
    assert rules.ratio(seeds(1, 5), seeds(2, 10)).high == pytest.approx(0.5)


# 0.375 plus and minus a quarter of it is 0.46875 and 0.28125, both of which binary fractions hold exactly.
@pytest.mark.parametrize(
    ("low", "high", "size"),
    [
        (0.375, 0.375, "holds"),
        (0.28125, 0.46875, "holds"),
        (0.28, 0.4, "open"),
        (0.3, 0.47, "open"),
        (0.4689, 0.6, "fails"),
        (-1.0, 0.2811, "fails"),
        (-math.inf, math.inf, "open"),
    ],
)
def test_a_size_agrees_up_to_a_quarter(low: float, high: float, size: Outcome) -> None:
    assert Check("x", "holds", Estimate(0.375, low, high, 3), 0.375).size == size


def test_rounding_does_not_decide_at_the_bound() -> None:
    # 0.1 * 1.25 is 0.125; in binary 0.125 - 0.1 is a hair above 0.25 * 0.1.
    assert Check("x", "holds", exact(0.125), 0.1).size == "holds"


@pytest.mark.parametrize(
    ("values", "bound", "tie", "outcome"),
    [
        (seeds(1, 1), 2, False, "holds"),
        (seeds(2, 2), 2, True, "holds"),
        (seeds(2, 2), 2, False, "fails"),
        (seeds(3, 3), 2, True, "fails"),
        (seeds(1, 1.9), 2, False, "open"),
    ],
)
def test_bounds(values: rules.Values, bound: float, tie: bool, outcome: Outcome) -> None:
    assert rules.under("x", values, bound, tie=tie).outcome == outcome
    mirrored = {seed: -value for seed, value in values.items()}
    found = rules.over("x", mirrored, -bound, tie=tie)
    assert found.outcome == outcome
    assert found.measured.value == -rules.estimate(values).value


def test_values_between_bounds_and_near_a_number() -> None:
    assert rules.between("x", seeds(100, 100), 100, 200).outcome == "holds"
    assert rules.between("x", seeds(99, 99), 100, 200).outcome == "fails"
    assert rules.between("x", seeds(100, 140), 100, 200).outcome == "open"
    assert rules.near("x", exact(1.25), 1.0).outcome == "holds"
    assert rules.near("x", exact(1.26), 1.0).outcome == "fails"
    assert rules.near("x", exact(math.nan), 1.0).outcome == "open"


def test_a_statement_must_be_true_of_every_seed() -> None:
    numbers = seeds(0, 3)
    assert rules.every("x", {1: True, 2: True}, numbers).outcome == "holds"
    assert rules.every("x", {1: False, 2: False}, numbers).outcome == "fails"
    assert rules.every("x", {1: True, 2: False}, numbers).outcome == "open"
    assert rules.every("x", {1: True}, seeds(1)).outcome == "open"
    assert rules.every("x", {1: True}, exact(1)).outcome == "holds"
    assert rules.every("x", {1: False}, exact(1)).outcome == "fails"
    assert rules.none("x", seeds(0, 0)).outcome == "holds"
    assert rules.none("x", seeds(0, 1)).outcome == "open"
    assert rules.none("x", seeds(2, 1)).outcome == "fails"
    assert rules.some("x", seeds(2, 1)).outcome == "holds"


def test_what_never_happens_is_later_than_anything() -> None:
    never = math.inf
    assert rules.lower("x", seeds(1, 2), seeds(never, never)).outcome == "holds"
    assert rules.lower("x", seeds(1, 2), seeds(never, 5)).outcome == "holds"
    assert rules.lower("x", seeds(never, never), seeds(1, 2)).outcome == "fails"
    assert rules.lower("x", seeds(never, 1), seeds(5, 5)).outcome == "open"
    # Two that never happen are equally late.
    assert rules.lower("x", seeds(never, never), seeds(never, never), tie=True).outcome == "holds"
    assert rules.under("x", seeds(never, 70), 80).outcome == "open"
    assert rules.estimate(seeds(never, never)).text == "never [never, never], n 2"


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([check("holds")], "reproduced"),
        ([check("fails")], "contradicted"),
        ([check("open")], "undecided"),
        ([check("holds", 0.40, 0.375)], "reproduced"),
        ([check("holds", 0.20, 0.375)], "direction"),
        # The size fits, but the order does not.
        ([check("fails", 0.375, 0.375)], "contradicted"),
        ([check("holds", 0.375, 0.375), check("holds", 0.1, 0.4)], "direction"),
        # What fails outweighs what is open, and that what holds.
        ([check("holds"), check("open"), check("fails")], "contradicted"),
        ([check("holds", 0.1, 0.4), check("open")], "undecided"),
        # The relation is sure, the size is not: only the relation is claimed.
        ([Check("x", "holds", Estimate(0.375, 0.1, 0.6, 3), 0.375)], "direction"),
    ],
)
def test_a_verdict_follows_from_its_checks(checks: list[Check], expected: Verdict) -> None:
    assert rules.verdict(checks) == expected
    assert Finding(claim(), checks, {}, [1], "s.toml").verdict == expected


def test_without_checks_there_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="at least one"):
        rules.verdict([])


def test_findings_are_written_with_their_intervals(tmp_path: Path) -> None:
    found = rules.lower("queue", seeds(1, 2, 3), seeds(2, 3, 5), claimed=0.5)
    measured: verdicts.Measured = {
        "time, us": math.nan,
        "queue": rules.estimate(seeds(1, 2, 3)),
        "one": rules.estimate(seeds(1)),
    }
    verdicts.write([Finding(claim(), [found], measured, [1, 2, 3], "s.toml", "why")], tmp_path)
    (entry,) = json.loads((tmp_path / "claims.json").read_text())
    assert entry["verdict"] == "undecided"
    assert entry["measured"]["time, us"] is None
    assert entry["measured"]["queue"] == {
        "value": 2.0,
        "low": pytest.approx(-0.484, abs=1e-3),
        "high": pytest.approx(4.484, abs=1e-3),
        "n": 3,
    }
    # An interval without end has no number in JSON.
    assert entry["measured"]["one"]["low"] is None
    assert entry["checks"][0]["measured"]["n"] == 3
    assert entry["checks"][0]["outcome"] == "open"
    text = (tmp_path / "claims.md").read_text()
    assert "time, us never" in text
    assert "queue 2 [-0.4841, 4.484], n 3" in text
    assert "one 1 (1 seed)" in text
    assert "| paper.name | queue | 0.4 [" in text


def test_events_that_each_of_two_misses_decide_nothing() -> None:
    # The first never happens in seed 1, the second never in seed 2: their difference has no mean, and no warning.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rules.lower("", seeds(math.inf, 1, 2), seeds(1, math.inf, 3))
    assert found.outcome == "open"
