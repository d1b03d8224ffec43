"""Quantities as scenarios write them."""

from __future__ import annotations

import re
from fractions import Fraction

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)")


def rate_text(bps: int) -> str:
    """A rate as a scenario writes it."""
    return in_units(bps, (("Gbps", 10**9), ("Mbps", 10**6), ("Kbps", 10**3), ("bps", 1)), 3)


def size_text(size: int) -> str:
    """A size as a scenario writes it."""
    return in_units(size, (("GB", 10**9), ("MB", 10**6), ("KB", 10**3), ("B", 1)), 3)


def delay_text(ps: int) -> str:
    """A time in ps as a scenario writes it."""
    return in_units(ps, (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1)), 3)


def in_units(value: int, units: tuple[tuple[str, int], ...], decimals: int) -> str:
    """The value in the largest unit that needs at most this many decimals."""
    for unit, scale in units:
        if value >= scale and value * 10**decimals % scale == 0:
            whole, rest = divmod(value, scale)
            digits = f"{rest * 10**decimals // scale:0{decimals}}".rstrip("0")
            return f"{whole}.{digits}{unit}" if digits else f"{whole}{unit}"
    return f"{value}{units[-1][0]}"


def read_rate(text: str) -> int | None:
    """A rate as a scenario writes it, in bit/s; `None` if it is not a rate or time, or not a whole number of units."""
    return _read(text, {"Tbps": 10**12, "Gbps": 10**9, "Mbps": 10**6, "Kbps": 10**3, "bps": 1})


def read_time(text: str) -> int | None:
    """A time as a scenario writes it, in ps; `None` if it is not a rate or time, or not a whole number of units."""
    return _read(text, {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1})


def _read(text: str, units: dict[str, int]) -> int | None:
    found = _QUANTITY.fullmatch(text.strip())
    if not found or len(text) > 40 or found[2] not in units:
        return None
    value = Fraction(found[1]) * units[found[2]]
    return int(value) if value.denominator == 1 else None
