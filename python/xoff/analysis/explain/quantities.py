"""Quantities of a resolved scenario (`"1.5us"`, `"320KB"`, `"100Gbps"`) as numbers, and numbers as text."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": 10**12,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "bps": 1,
    "Kbps": 10**3,
    "kbps": 10**3,
    "Mbps": 10**6,
    "Gbps": 10**9,
    "Tbps": 10**12,
}


def quantity(text: object) -> int | None:
    """A quantity in ps, B or bit/s, by its unit; `None` if the value is no quantity, such as a missing key."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([A-Za-z]+)", text) if isinstance(text, str) else None
    if match is None or match[2] not in _UNITS:
        return None
    return int(Fraction(match[1]) * _UNITS[match[2]])


def size_text(size_bytes: float) -> str:
    """Bytes with a fitting unit."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.4g} {unit}"
    return f"{size_bytes:.0f} B"


def rate_text(rate_bps: float) -> str:
    """Bits a second with a fitting unit."""
    for unit, scale in (("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6)):
        if rate_bps >= scale:
            return f"{rate_bps / scale:.4g} {unit}"
    return f"{rate_bps:.0f} bps"


def share_text(share: float) -> str:
    """A share in per cent."""
    return f"{share * 100:.3g} %" if share < 0.9995 else "100 %"


def bytes_in(rate_bps: float, time_ps: float) -> float:
    """Bytes that a link carries in a time."""
    return rate_bps * time_ps / 8e12
