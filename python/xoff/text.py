"""Counts and times as text."""

from __future__ import annotations


def count_text(count: int, thing: str) -> str:
    """`1 frame`, `2,000 frames`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def time_text(time_ps: int) -> str:
    """A time in ps with a fitting unit."""
    for unit, scale in (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if time_ps >= scale:
            return f"{time_ps / scale:.4g} {unit}"
    return f"{time_ps} ps"
