"""Fig. 1: the injection rate as the program computes it from Equation 1 (section III.D)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from xoff import _xoff

POINTS = 128
"""Points of a curve beyond its beginning."""
FIXED_N = (8, 9, 10, 11, 12)
FIXED_K = (0, 1, 4)
RANDOM_M = (15, 16, 17, 18, 19, 20, 21, 22)


def used(held: int) -> list[int]:
    """The used credits at which curves are looked at: up to the `held` ones of a buffer."""
    step = max(held // POINTS, 1)
    return list(range(0, held + 1, step))


def fixed(n: int, used: Sequence[int], k: int = 0) -> list[float]:
    """FI with m 0: share of the line rate by used credits."""
    return _rate({"interval": "fixed", "m": 0, "n": n, "k": k}, used)


def random(m: int, used: Sequence[int], bits: int) -> list[float]:
    """RI with n 0 and k 0: share of the line rate by used credits."""
    return _rate({"interval": "random", "m": m, "n": 0, "k": 0, "random_bits": bits}, used)


def _rate(params: dict[str, object], used: Sequence[int]) -> list[float]:
    return _xoff.pft_injection_rate(json.dumps(params), list(used))
