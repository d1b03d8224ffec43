"""PFT's injection rate (Figure 1 of its paper): what the program computes against the two formulas."""

from __future__ import annotations

import json

import pytest

import xoff
from xoff import _xoff

USED = list(range(0, 4097, 64))


@pytest.mark.parametrize("n", [8, 9, 10, 11, 12])
@pytest.mark.parametrize("k", [0, 1, 4])
def test_fixed_intervals(n: int, k: int) -> None:
    params = json.dumps({"interval": "fixed", "m": 0, "n": n, "k": k})
    expected = [1 / (1 + (used >> n) + k) for used in USED]
    assert _xoff.pft_injection_rate(params, USED) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("m", range(15, 23))
def test_random_intervals(m: int) -> None:
    params = json.dumps({"interval": "random", "m": m, "n": 0, "k": 0})
    expected = [max(0.0, 1 - (used << m) / 2**28) for used in USED]
    assert _xoff.pft_injection_rate(params, USED) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("params", ["{", '{"no_such_key": 1}', '{"m": 41}'])
def test_wrong_parameters_are_refused(params: str) -> None:
    with pytest.raises(xoff.ScenarioError):
        _xoff.pft_injection_rate(params, USED)
