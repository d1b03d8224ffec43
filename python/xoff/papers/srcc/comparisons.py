"""SRCC against the other schemes: the checks of a quantity at a place, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xoff.papers.rules import Check, Estimate, estimate, lower, reduction
from xoff.papers.srcc.experiments import OTHERS, values

NAMES = {"dcqcn": "DCQCN", "swift": "Swift", "hpcc": "HPCC", "pcn": "PCN", "srcc": "SRCC"}

Results = Mapping[Any, Any]
Ruled = tuple[list[Check], dict[str, float | Estimate | None], str]
"""Checks, numbers behind them, and a note."""


def lowest(results: Results, group: str, at: float, quantity: str, what: str) -> list[Check]:
    """That SRCC is lowest."""
    own = values(results, group, "srcc", at, quantity)
    # Nobody is below 0: "lowest" may tie.
    return [
        lower(f"{what}, {NAMES[s]} to SRCC: reduction", own, values(results, group, s, at, quantity), tie=True)
        for s in OTHERS
    ]


def reductions(
    results: Results,
    group: str,
    at: float,
    quantity: str,
    what: str,
    claimed: Mapping[str, float | None],
    *,
    tie: bool = False,
) -> tuple[list[Check], dict[str, float | Estimate | None]]:
    """That SRCC is lower by the claimed shares, with the numbers; `None` where the paper prints no share."""
    own = values(results, group, "srcc", at, quantity)
    other = {s: values(results, group, s, at, quantity) for s in claimed}
    checks = [
        lower(f"{what}, {NAMES[s]} to SRCC: reduction", own, other[s], share, tie=tie) for s, share in claimed.items()
    ]
    measured: dict[str, float | Estimate | None] = {
        f"{what}, {NAMES[s]}": estimate(value) for s, value in {**other, "srcc": own}.items()
    }
    measured |= {f"{what}, SRCC below {NAMES[s]} by": reduction(own, other[s]) for s in claimed}
    return checks, measured
