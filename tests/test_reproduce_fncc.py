"""FNCC's claims: verdicts from numbers made by hand, and the short two-flow experiments through the simulator."""

from __future__ import annotations

import json
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

ONCE = Scale(repetitions=1, interval_ms=1, window_ms=1, seeds=1, reading_window_ms=0, reading_seeds=0)


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
    assert entry["measured"]["FNCC peak, KB"]["high"] < entry["measured"]["HPCC peak, KB"]["low"]
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
