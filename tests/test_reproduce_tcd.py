"""TCD's claims: numbers by hand, and the short experiments through the simulator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xoff.papers import _claims, tcd
from xoff.papers.tcd.experiments import (
    HERE,
    QUICK,
    Scale,
    by_size,
    dcqcn,
    group_jobs,
    slowdowns,
    timely,
    victim_settings,
    victims,
)
from xoff.papers.tcd.findings import GROUPS, jain
from xoff.papers.tcd.measures import Chain, Fct, Victims, longest_on_us, on_period_us

SHORT = Scale(window_ms=5, seeds=1, bursts_ms=5, flows={"hadoop": 500, "websearch": 100}, testbed_ms=4)


def test_the_longest_on_period_is_the_papers() -> None:
    # Section 4.3; at 40 Gbps tau is 2.4 us: (2 x 16,000 + 96,000 bit) / (0.1 x 40,000 bit/us) + 2.4 us.
    for gbps, expected in ((40, 34.4), (100, 26.96), (200, 24.48)):
        assert longest_on_us(gbps, 1_000, 1.0) == pytest.approx(expected, abs=1e-9)
    # The simulations' links: tau 8.4 us, (32,000 + 336,000) / 4,000 + 8.4.
    assert longest_on_us(40, 1_000, 4.0) == pytest.approx(100.4, abs=1e-9)


def test_the_on_period_at_half_the_line_is_the_bound() -> None:
    # Equation 2 with R_d = C/2 is Equation 3: tau 8 us, (16,000 + 8 x 0.5 x 40,000) / (0.05 x 40,000) + 8 = 96 us.
    assert float(on_period_us(np.array(0.05), np.array(0.5), 8.0, 40.0, 2_000.0)) == pytest.approx(96.0)


def test_every_claim_has_its_experiments_and_scenario() -> None:
    claims = _claims.load(HERE / "claims.toml")
    assert set(claims) == set(GROUPS)
    for groups in GROUPS.values():
        for group in groups:
            jobs = group_jobs(group, QUICK)
            assert jobs
            assert all(job.scenario.is_file() for job in jobs)
            assert len({job.key for job in jobs}) == len(jobs)


def test_settings_are_the_papers_or_its_authors_simulators() -> None:
    assert dcqcn("paper", tcd=False)["scheme.initial_alpha"] == 0.5
    assert dcqcn("paper", tcd=True)["scheme.initial_alpha"] == 1.2
    # The released simulator has 0.5 in all modes.
    assert dcqcn("code", tcd=True)["scheme.initial_alpha"] == 0.5
    scheme: Any = timely("code", tcd=True)["scheme"]
    assert scheme["beta"] == 1.6


def test_the_bursts_bring_what_s1_leaves_of_the_load() -> None:
    # 30 % of 40 Gbps are 12,000 bit/us; 15 x 120,421 B are 14,450,520 bit.
    assert victim_settings(10, load=0.6)["traffic.2.every"] == "1204.21us"
    # 45 % are 18,000 bit/us: 802.807 us.
    assert victim_settings(10, load=0.75)["traffic.2.every"] == "802.81us"


def test_victims_of_all_seeds_are_taken_together() -> None:
    def made(sizes: list[float], marked: int) -> Victims:
        return Victims(len(sizes), marked, 0, marked, 10, np.array(sizes), np.array(sizes) / 100)

    results = {
        ("g", "tcd", "paper", 1): made([1_000.0, 10_000.0], 1),
        ("g", "tcd", "paper", 2): made([2_000.0, 5_000_000.0], 0),
        ("g", "red", "paper", 1): made([1.0], 1),
    }
    found = victims(results, "g", "tcd", "paper")
    assert (found.flows, found.marked_ce) == (4, 1)
    means, counts = by_size(found)
    # Up to 10 KB: 10, 20 and 100 us; none up to 1 MB.
    assert counts == [3, 0, 0, 1]
    assert means[0] == pytest.approx(130 / 3)
    assert np.isnan(means[1])
    assert means[3] == pytest.approx(50_000)


def test_slowdowns_are_those_of_the_sizes_asked_for() -> None:
    found = Fct(3, 0, np.array([1_000, 50_000, 50_001]), np.array([1.0, 2.0, 3.0]), 0, (0, 0))
    assert slowdowns(found, 0, 50).tolist() == [1.0, 2.0]
    assert slowdowns(found, 50, np.inf).tolist() == [3.0]


def test_jain_index() -> None:
    assert jain(np.array([8.0, 8.0, 8.0, 8.0])) == pytest.approx(1.0)
    assert jain(np.array([3.0, 1.0])) == pytest.approx(0.8)


def measured(group: str) -> dict[Any, Any]:
    import xoff

    return {
        job.key: job.measure(xoff.run(job.scenario, seed=job.seed, sets=job.sets)) for job in group_jobs(group, SHORT)
    }


def test_a_port_behind_pauses_is_undetermined_and_never_marks_ce() -> None:
    results = measured("single")
    for which in ("paper", "code"):
        red: Chain = results["single", "red", which]
        found: Chain = results["single", "tcd", which]
        # RED takes the queue that pauses make for congestion; TCD says undetermined.
        assert red.marks.get(("P2", "f0", "ce"), 0) > 0
        assert found.marks.get(("P2", "f0", "ce"), 0) == 0
        assert sum(found.marks.get((port, "f0", "ue"), 0) for port in ("P0", "P2")) > 0
        assert "congestion" not in {state for _, state in found.states["P2"]}
        assert found.states["P2"][-1][1] == "non_congestion"
        # The congestion itself is told: the port to r1 is never stopped.
        assert "undetermined" not in {state for _, state in found.states["P3"]}
        assert found.marks.get(("P3", "f1", "ce"), 0) > 0


def test_the_testbeds_flow_is_undetermined_while_the_other_host_sends() -> None:
    found = measured("testbed")["testbed", "tcd", "paper"]
    # Ten intervals, of which a0 sends in the fourth to the seventh; the fifth to the seventh are whole.
    assert found.share["f0", "ue"][4:7].min() > 0.8
    assert found.share["f0", "ce"][4:7].max() < 0.05
    assert found.share["f1", "ce"][4:7].min() > 0.8
    assert max(found.share["f0", mark][8:].max() for mark in ("ue", "ce")) < 0.01
    assert found.share["f0", "ue"][:3].max() == 0


def test_one_claim_is_reproduced_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tcd.reproduce(tmp_path, "transitions", quick=True) == 0
    (entry,) = json.loads((tmp_path / "claims.json").read_text())
    assert entry["id"] == "tcd.transitions"
    assert "tcd.transitions" in capsys.readouterr().out
    for name in ("fig12-paper.png", "fig13-code.svg", "fig03a.csv", "fig08.png", "claims.md"):
        assert (tmp_path / name).stat().st_size > 0
    page = (tmp_path / "index.html").read_text()
    assert "data:image/svg+xml;base64," in page
    assert 'src="http' not in page
