"""Quantities of a resolved scenario (`"1.5us"`, `"320KB"`, `"100Gbps"`) as numbers."""

from __future__ import annotations

from xoff._xoff import read_rate, read_size, read_time


def quantity(text: object) -> int | None:
    """A quantity in ps, B or bit/s, by its unit; `None` if the value is no quantity, such as a missing key."""
    if not isinstance(text, str):
        return None
    found = (read(text) for read in (read_time, read_size, read_rate))
    return next((value for value in found if value is not None), None)


def bytes_in(rate_bps: float, time_ps: float) -> float:
    """Bytes that a link carries in a time."""
    return rate_bps * time_ps / 8e12
