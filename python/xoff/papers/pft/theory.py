"""Fig. 1: the injection rate as the program computes it from Equation 1 (section III.D)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from xoff import _xoff

CREDITS = tuple(range(0, 4097, 32))
"""Used credits of the curves: a buffer of 4096."""
FIXED_N = (8, 9, 10, 11, 12)
FIXED_K = (0, 1, 4)
RANDOM_M = (15, 16, 17, 18, 19, 20, 21, 22)


def fixed(n: int, k: int = 0, used: Sequence[int] = CREDITS) -> list[float]:
    """FI with m 0: share of the line rate by used credits."""
    return _rate({"interval": "fixed", "m": 0, "n": n, "k": k}, used)


def random(m: int, bits: int = 28, used: Sequence[int] = CREDITS) -> list[float]:
    """RI with n 0 and k 0: share of the line rate by used credits."""
    return _rate({"interval": "random", "m": m, "n": 0, "k": 0, "random_bits": bits}, used)


def _rate(params: dict[str, object], used: Sequence[int]) -> list[float]:
    return _xoff.pft_injection_rate(json.dumps(params), list(used))
