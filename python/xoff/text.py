"""Counts, times, sizes and rates as text for people."""

from __future__ import annotations

import unicodedata

_OBEYED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Categories of characters that a terminal obeys or cannot show."""


def printable(text: str) -> str:
    """A text for a terminal, whoever wrote it: control characters, but for line breaks, are shown as escapes.

    So are marks that turn the direction of text, and bytes of a file's name that are not UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(
        each.encode("unicode_escape").decode() if each != "\n" and unicodedata.category(each) in _OBEYED else each
        for each in text
    )


def count_text(count: int, thing: str) -> str:
    """`1 frame`, `2,000 frames`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def time_text(time_ps: int) -> str:
    """A time in ps with a fitting unit."""
    for unit, scale in (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if time_ps >= scale:
            return f"{time_ps / scale:.4g} {unit}"
    return f"{time_ps} ps"


def size_text(size_bytes: float) -> str:
    """Bytes with a fitting decimal unit."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.4g} {unit}"
    return f"{size_bytes:.4g} B"


def rate_text(rate_bps: float) -> str:
    """Bits a second with a fitting unit."""
    for unit, scale in (("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6)):
        if rate_bps >= scale:
            return f"{rate_bps / scale:.4g} {unit}"
    return f"{rate_bps:.0f} bps"


def share_text(share: float) -> str:
    """A share in per cent."""
    return f"{share * 100:.3g} %" if share < 0.9995 else "100 %"
