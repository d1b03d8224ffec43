"""FNCC's claims: verdicts from numbers made by hand, and the short two-flow experiments through the simulator."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xoff.errors import UserError
from xoff.papers import fncc, verdicts
from xoff.papers.fncc.experiments import HERE, Scale, group_jobs, mean, settings
from xoff.papers.fncc.findings import GROUPS
from xoff.papers.fncc.measures import Joined, jain
from xoff.papers.reproduction import reproduce
from xoff.papers.verdicts import Check, Claim, Finding

ONCE = Scale(repetitions=1, interval_ms=1, window_ms=1, seeds=1, reading_window_ms=0, reading_seeds=0)


def claim() -> Claim:
    return Claim(id="paper.name", where="1", setting="s", metric="m", relation="r")


# 0.375 plus and minus a quarter of it is 0.46875 and 0.28125, both of which binary fractions hold exactly.
@pytest.mark.parametrize(
    ("measured", "agrees"),
    [(0.375, True), (0.46875, True), (0.28125, True), (0.4689, False), (0.2811, False), (math.nan, False)],
)
def test_a_size_agrees_up_to_a_quarter(measured: float, agrees: bool) -> None:
    assert verdicts.within(measured, 0.375) is agrees


def test_rounding_does_not_decide_at_the_bound() -> None:
    # 0.1 * 1.25 is 0.125; in binary 0.125 - 0.1 is a hair above 0.25 * 0.1.
    assert verdicts.within(0.125, 0.1)


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([Check("order", True, 1.0)], "reproduced"),
        ([Check("order", False, 1.0)], "contradicted"),
        ([Check("size", True, 0.40, 0.375)], "reproduced"),
        ([Check("size", True, 0.20, 0.375)], "direction"),
        # The size fits, but the order does not.
        ([Check("size", False, 0.375, 0.375)], "contradicted"),
        ([Check("size", True, 0.375, 0.375), Check("size", True, 0.1, 0.4)], "direction"),
        ([Check("size", True, 0.375, 0.375), Check("order", False, -0.01)], "contradicted"),
    ],
)
def test_a_verdict_follows_from_its_checks(checks: list[Check], expected: str) -> None:
    assert verdicts.verdict(checks) == expected
    assert Finding(claim(), checks, {}, [1], "s.toml").verdict == expected


def test_without_checks_there_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="at least one"):
        verdicts.verdict([])


def test_a_reduction_is_a_share_of_the_reference() -> None:
    # From 160 to 100 is 60 of 160.
    check = verdicts.reduced("queue", 100.0, 160.0, claimed=0.375)
    assert check.holds
    assert check.measured == pytest.approx(0.375)
    # From 100 up to 160 is no reduction, and nothing is less than nothing.
    assert not verdicts.reduced("queue", 160.0, 100.0, claimed=0.375).holds
    assert not verdicts.below("queue", 0.0, 0.0).holds
    assert math.isnan(verdicts.reduction(1.0, 0.0))


def test_findings_are_written_as_json_without_nan(tmp_path: Path) -> None:
    finding = Finding(claim(), [Check("order", False, math.nan)], {"time, us": math.nan}, [1, 2], "s.toml", "why")
    verdicts.write([finding], tmp_path)
    (entry,) = json.loads((tmp_path / "claims.json").read_text())
    assert entry["verdict"] == "contradicted"
    assert entry["measured"] == {"time, us": None}
    assert entry["seeds"] == [1, 2]
    assert "time, us never" in (tmp_path / "claims.md").read_text()


def test_every_claim_has_its_experiments_and_scenario() -> None:
    claims = verdicts.load(HERE / "claims.toml")
    assert set(claims) == set(GROUPS)
    for groups in GROUPS.values():
        for group in groups:
            assert all(job.scenario.is_file() for job in group_jobs(group, ONCE))


def test_a_claim_is_found_with_and_without_its_paper() -> None:
    claims = verdicts.load(HERE / "claims.toml")
    assert verdicts.choose(claims, "first-hop") == verdicts.choose(claims, "fncc.first-hop")
    assert len(verdicts.choose(claims, None)) == 11
    with pytest.raises(UserError, match="did you mean `first-hop`"):
        verdicts.choose(claims, "first-hops")


def test_settings_of_a_scheme_go_on_top_of_those_of_all() -> None:
    sets = {"*": {"a": 1, "b": 1}, "fncc": {"b": 2}}
    assert settings("hpcc", sets) == {"scheme.name": "hpcc", "a": 1, "b": 1}
    assert settings("fncc-no-lhcs", sets) == {"scheme.name": "fncc", "a": 1, "b": 2, "scheme.lhcs": False}


def test_jain_index() -> None:
    assert jain(np.array([10.0, 10.0, 10.0])) == pytest.approx(1.0)
    # One flow of four has all: 1/4. Shares 3 and 1: 16 / (2 * 10).
    assert jain(np.array([8.0, 0.0, 0.0, 0.0])) == pytest.approx(0.25)
    assert jain(np.array([3.0, 1.0])) == pytest.approx(0.8)


def measured(group: str) -> dict[Any, Joined]:
    import xoff

    jobs = group_jobs(group, ONCE)
    return {job.key: job.measure(xoff.run(job.scenario, seed=job.seed, sets=job.sets)) for job in jobs}


def test_fncc_reacts_before_hpcc_and_no_sooner_than_news_travels() -> None:
    found = measured("100")
    times = {scheme: mean(found, "100", scheme, "reaction_us") for scheme in ("fncc", "hpcc")}
    # From sender1 to switch1 and from there to sender0: two links of 1.5 us.
    assert 3.0 < times["fncc"] < times["hpcc"]
    # HPCC's news goes on to the receiver and comes all the way back: at least a base RTT of 12 us later.
    assert times["hpcc"] > 12.0


def test_fncc_keeps_a_lower_queue_than_hpcc_at_the_first_hop() -> None:
    found = measured("first")
    peaks = {scheme: mean(found, "first", scheme, "peak_kb") for scheme in ("fncc", "hpcc")}
    assert 0 < peaks["fncc"] < peaks["hpcc"]
    # Two flows at line rate fill it with 12.5 KB a us; HPCC hears of it only after 12 us.
    assert peaks["hpcc"] > 12.5 * 12 * 0.9


def test_last_hop_speedup_steps_to_fair_share_times_beta() -> None:
    found = measured("last")
    for flow in (0, 1):
        # 100 Gbps over two flows, times 0.9.
        assert mean(found, "last", "fncc", f"step{flow}_gbps") == pytest.approx(45.0, rel=0.01)


def test_one_claim_is_reproduced_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(fncc.PAPER, tmp_path, "middle-hop", quick=True) == 0
    (entry,) = json.loads((tmp_path / "claims.json").read_text())
    assert entry["id"] == "fncc.middle-hop"
    assert entry["measured"]["FNCC peak, KB"] < entry["measured"]["HPCC peak, KB"]
    assert "--quick" in entry["note"]
    assert "fncc.middle-hop" in capsys.readouterr().out
    for name in ("fig13b.png", "fig13b.svg", "fig13b.csv", "claims.md", "readings.csv"):
        assert (tmp_path / name).stat().st_size > 0
    page = (tmp_path / "index.html").read_text()
    assert "data:image/svg+xml;base64," in page
    assert "Shortened by --quick" in page
    # Self-contained: nothing is fetched.
    assert 'src="http' not in page
    assert "<script" not in page
