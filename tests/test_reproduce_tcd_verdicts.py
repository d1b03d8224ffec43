"""TCD's verdicts from data made by hand, which must pass, fail and decide nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcd_runs import CLAIMS, victims_by_hand
from xoff.papers.tcd.findings import END_MS, find, jain, kept, undetermined_ms
from xoff.papers.tcd.measures import Fairness, Fct, Victims


def test_jain_index() -> None:
    assert jain(np.array([8.0, 8.0, 8.0, 8.0])) == pytest.approx(1.0)
    assert jain(np.array([3.0, 1.0])) == pytest.approx(0.8)


def of_victims(tcd: Victims, red: Victims, group: str, tcd_group: str = "") -> dict[Any, Any]:
    return {(g, kind, s): v for g, kind, v in ((group, "red", red), (tcd_group or group, "tcd", tcd)) for s in (1, 2)}


def test_one_marked_victim_is_one_too_many() -> None:
    red = victims_by_hand([1_000.0] * 1000, marked=266)
    clean, marked = victims_by_hand([1_000.0] * 1000), victims_by_hand([1_000.0] * 1000, marked=1)
    results = of_victims(clean, red, "dcqcn-victims", "table3")
    assert find(CLAIMS["victims"], results, "").verdict == "reproduced"
    # In one seed of two it is open, in both it is contradicted.
    assert find(CLAIMS["victims"], {**results, ("table3", "tcd", 1): marked}, "").verdict == "undecided"
    assert find(CLAIMS["victims"], of_victims(marked, red, "dcqcn-victims", "table3"), "").verdict == "contradicted"
    # A quarter of 26.6 % more is 33.25 %.
    more = victims_by_hand([1_000.0] * 1000, marked=334)
    assert find(CLAIMS["victims"], of_victims(clean, more, "dcqcn-victims", "table3"), "").verdict == "direction"
    none = of_victims(clean, clean, "dcqcn-victims", "table3")
    assert find(CLAIMS["victims"], none, "").verdict == "contradicted"


def test_victims_must_gain_in_every_bin() -> None:
    sizes = [1_000.0, 50_000.0, 500_000.0, 5_000_000.0]
    slow, fast = victims_by_hand(sizes, slower=2.0), victims_by_hand(sizes)
    assert find(CLAIMS["dcqcn-victims"], of_victims(fast, slow, "dcqcn-victims"), "").verdict == "reproduced"
    assert find(CLAIMS["dcqcn-victims"], of_victims(slow, fast, "dcqcn-victims"), "").verdict == "contradicted"
    # Twice as fast is within a quarter of 2.2 and of 2.3.
    assert find(CLAIMS["timely-victims"], of_victims(fast, slow, "timely-victims"), "").verdict == "reproduced"


def fct_by_hand(small: float, large: float) -> Fct:
    """A hundred flows of 10 KB and a hundred of 2 MB with these slowdowns."""
    sizes, slow = np.repeat([10_000, 2_000_000], 100), np.repeat([small, large], 100)
    return Fct(200, 0, sizes, slow, 0, (0, 0))


def test_small_flows_must_gain_and_large_ones_stay() -> None:
    def verdict(small: float, large: float) -> str:
        runs = {("dcqcn-hadoop", "red", s): fct_by_hand(9.0, 10.0) for s in (1, 2)}
        runs |= {("dcqcn-hadoop", "tcd", s): fct_by_hand(small, large) for s in (1, 2)}
        return find(CLAIMS["dcqcn-hadoop"], runs, "").verdict

    # 9 over 4.5 is 2: neither 3 within a quarter, nor 1.7; and 9 over 3 is not 1.7.
    assert verdict(4.5, 10.0) == "direction"
    assert verdict(4.5, 11.4) == "direction"
    assert verdict(4.5, 11.6) == "contradicted"
    assert verdict(9.1, 10.0) == "contradicted"


def fairness_by_hand(**changes: Any) -> Fairness:
    """All as claimed: P2 undetermined for 2 of the bursts' 3 ms, rates that stay, and 8 Gbps each afterwards."""
    times = np.arange(0.5, END_MS + 0.1, 0.5)
    made: dict[str, Any] = {
        "time_ms": times,
        "goodput_gbps": np.full((len(times), 4), 8.0),
        "f1_gbps": np.full(len(times), 8.0),
        "rate_gbps": np.full((len(times), 4), 10.0),
        "pauses": 5,
        "states": [(-0.1, "non_congestion"), (0.5, "undetermined"), (2.5, "congestion")],
        "marks": {"ce": 10, "ue": 20},
    }
    return Fairness(**{**made, **changes})


def fairness(**changes: Any) -> str:
    runs = {("fairness", scheme, s): fairness_by_hand() for scheme in ("dcqcn", "timely") for s in (1, 2)}
    runs |= {("fairness", "timely", s): fairness_by_hand(**changes) for s in (1, 2)}
    return find(CLAIMS["fairness"], runs, "").verdict


def test_fairness_asks_for_the_undetermined_port_and_for_the_fifth_flow() -> None:
    good = fairness_by_hand()
    assert undetermined_ms(good) == 2.0
    # What comes after the bursts' 3 ms does not count.
    assert undetermined_ms(fairness_by_hand(states=[(0.5, "undetermined"), (5.0, "congestion")])) == 2.5
    assert kept(good) == 1.0
    assert fairness() == "reproduced"
    # Equal shares of four flows prove nothing where P2 was never undetermined.
    assert fairness(states=[(-0.1, "non_congestion"), (3.0, "congestion")]) == "contradicted"
    assert fairness(marks={"ce": 10, "ue": 0}) == "contradicted"
    assert fairness(marks={"ce": 0, "ue": 20}, states=good.states[:2]) == "contradicted"
    times = good.time_ms
    falling = np.where(times < 2, 10.0, 0.1)
    assert kept(fairness_by_hand(rate_gbps=np.tile(falling, (4, 1)).T)) == pytest.approx(0.01)
    assert fairness(rate_gbps=np.tile(falling, (4, 1)).T) == "contradicted"
    # f1 has 5 Gbps: Jain's index of all five is still 40^2 / (5 x 331.25) = 0.966.
    slow = {"goodput_gbps": np.full((len(times), 4), 8.75), "f1_gbps": np.full(len(times), 5.0)}
    assert fairness(**slow) == "contradicted"
    # f1 counts: four flows of 9.76 and one of 0.95 Gbps. Jain: 40^2 / (5 x 382) = 0.84.
    starved = {"goodput_gbps": np.full((len(times), 4), 9.76), "f1_gbps": np.full(len(times), 0.95)}
    assert jain(np.array([9.76] * 4 + [0.95])) == pytest.approx(0.84, abs=0.005)
    assert fairness(**starved) == "contradicted"
