"""Intervals of a mean by Student's t distribution, which assume that seeds are independent."""

from __future__ import annotations

CONFIDENCE = 0.95
"""Of every interval that xoff states."""


def half_width(count: int) -> float:
    """Half of a mean's interval, in standard errors of the mean of `count` values, which are two or more."""
    # `scipy.stats` has the same number, and takes four times as long to import.
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
