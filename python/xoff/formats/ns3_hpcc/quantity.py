"""Quantities as that simulator writes them, and as scenarios do."""

from __future__ import annotations

import re
from fractions import Fraction

from xoff import _xoff

# A decimal prefix counts thousands; `k` and `K` are the same there, and `Mb/s` is `Mbps`.
_PREFIX = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_RATE = re.compile(r"([0-9]+(?:\.[0-9]*)?)((?:[kKMG]i|[kKMGT])?)(bps|b/s|Bps|B/s)")
_NS: dict[str, int | Fraction] = {
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "ns": 1,
    "ps": Fraction(1, 10**3),
    "fs": Fraction(1, 10**6),
}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]*)?)(s|ms|us|ns|ps|fs)")
_SIZE = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZED = re.compile(r"([0-9]+(?:\.[0-9]*)?)([KMG]?B)")


def rate_bps(text: str) -> int | None:
    """A rate such as `100Gbps` or `20Mb/s` in bit/s, cut to whole ones; `None` if it is no rate."""
    found = _RATE.fullmatch(text)
    if not found or len(text) > 40:
        return None
    number, prefix, unit = found.groups()
    scale = (_PREFIX | {"ki": 2**10} | _BINARY)[prefix] * (8 if unit[0] == "B" else 1)
    return int(Fraction(number) * scale)


def time_ns(text: str) -> Fraction | None:
    """A time such as `1.5us` in ns; `None` if it is no time."""
    found = _TIME.fullmatch(text)
    return Fraction(found[1]) * _NS[found[2]] if found and len(text) <= 40 else None


def size_bytes(text: str) -> int | None:
    """A size such as `1.018KB` in bytes; `None` if it is no size."""
    found = _SIZED.fullmatch(text)
    return int(Fraction(found[1]) * _SIZE[found[2]]) if found and len(text) <= 40 else None


def time_text(ns: int) -> str:
    """A time as a scenario writes it."""
    return _xoff.time_text(ns * 1000) if ns else "0ns"


def moment_text(ns: int) -> str:
    """A point in time as a scenario writes it, in seconds."""
    if ns < 10**9:
        return f"{ns}ns"
    whole, rest = divmod(ns, 10**9)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".") + "s"
