"""TCD's claims: numbers by hand, and the short experiments through the simulator."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcd_runs import CLAIMS, SHORT, measured, outcomes, victims_by_hand
from xoff.papers import tcd
from xoff.papers.reproduction import reproduce
from xoff.papers.survey import Cache
from xoff.papers.tcd.checks import marked_by, paired, time_in
from xoff.papers.tcd.common import QUICK, by_size, slowdowns
from xoff.papers.tcd.experiments import EDGES_KB, dcqcn, group_jobs, timely
from xoff.papers.tcd.findings import GROUPS
from xoff.papers.tcd.measures import Chain, Fct, longest_on_us, on_period_us
from xoff.papers.tcd.space import MESSAGE_BYTES, SPACE, burst_gap_us


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
    assert set(CLAIMS) == set(GROUPS)
    for groups in GROUPS.values():
        for group in groups:
            jobs = group_jobs(group, QUICK, SPACE.default)
            assert jobs
            assert all(job.scenario.is_file() for job in jobs)
            assert len({job.key for job in jobs}) == len(jobs)
            # An interval needs several seeds.
            assert len({job.key[-1] for job in jobs}) >= 3


def test_every_alternative_changes_a_run_and_leaves_a_scenario_that_can_run() -> None:
    cache = Cache("")

    def runs(*answers: str) -> dict[Any, str]:
        jobs = [job for group in groups for job in group_jobs(group, SHORT, SPACE.parse(answers))]
        return {job.key: cache.digest(job) for job in jobs if job.key[-1] == 1}

    groups = sorted({group for groups in GROUPS.values() for group in groups} - {"dcqcn-bursts", "timely-bursts"})
    default = runs()
    for choice in SPACE.choices:
        for each in choice.alternatives:
            if each.name != choice.default:
                found = runs(f"{choice.name}={each.name}")
                assert found.keys() == default.keys()
                assert found != default, (choice.name, each.name)


def test_settings_are_the_papers_or_its_authors_simulators() -> None:
    paper, authors = SPACE.default, SPACE.parse(["simulator=authors", "alpha=0.5"])
    assert dcqcn(paper, tcd=False, case_study=True)["scheme.initial_alpha"] == 0.5
    assert dcqcn(paper, tcd=True, case_study=True)["scheme.initial_alpha"] == 1.2
    # Detection (5.1) comes before the case study's change.
    assert dcqcn(paper, tcd=True)["scheme.initial_alpha"] == 0.5
    # The released simulator has 0.5 in all modes.
    assert dcqcn(authors, tcd=True, case_study=True)["scheme.initial_alpha"] == 0.5
    assert dcqcn(authors, tcd=False)["flow_control.xoff"] == "331660B"
    scheme: Any = timely(paper, tcd=True)["scheme"]
    assert scheme["beta"] == 1.6
    # The released simulator's flows start at line rate.
    assert timely(paper, tcd=False)["scheme.start"] == "line"


def test_flows_of_the_authors_generator_are_as_many_at_the_same_load() -> None:
    # 250 hosts at 60 % of 40 Gbps bring 750 KB in a us; 500 flows of 120,421 B come in 80 us, of 2.832 MB in 1,888 us.
    for answers, workload, us in (((), "fb_hadoop", 80), (("hadoop=generator",), "tcd_hadoop", 1888)):
        for group in ("dcqcn-hadoop", "timely-hadoop"):
            sets = group_jobs(group, SHORT, SPACE.parse(answers))[0].sets
            assert sets["traffic.0.workload"] == workload
            assert float(str(sets["traffic.0.stop"]).removesuffix("ms")) == pytest.approx(us / 1e3, abs=1e-3)
    sets = group_jobs("dcqcn-websearch", SHORT, SPACE.parse(["hadoop=generator"]))[0].sets
    assert sets["traffic.0.workload"] == "websearch"


def test_bursts_are_those_of_the_authors_file() -> None:
    # 64 units of 1,000 B from each of 15 hosts each 47.5 us; 3 ms are 63 rounds.
    for group, scope in (("single", "bursts"), ("ib-single", "ib-bursts")):
        sets = group_jobs(group, SHORT, SPACE.default)[0].sets
        assert (sets["traffic.1.every"], sets["traffic.1.count"]) == ("47.5us", 63)
        assert int(3_000 / 47.5) == 63
        other = group_jobs(group, SHORT, SPACE.parse([f"{scope}=at-once"]))[0].sets
        assert (other["traffic.1.every"], other["traffic.1.count"]) == ("1ns", 16)


def test_the_bursts_bring_what_s1_leaves_of_the_load() -> None:
    # 30 % of 40 Gbps are 12,000 bit/us; 15 x 120,421 B are 14,450,520 bit.
    assert burst_gap_us(120_421, 0.3) == pytest.approx(1204.21)
    # 45 % are 18,000 bit/us: 802.807 us.
    assert burst_gap_us(120_421, 0.45) == pytest.approx(802.807, abs=1e-3)
    # Of messages of 194,865 B: 23,383,800 bit at 12,000 bit/us.
    assert burst_gap_us(MESSAGE_BYTES, 0.3) == pytest.approx(1948.65)


def test_bins_take_in_their_largest_size() -> None:
    found = victims_by_hand([1_000.0, 10_000.0, 2_000.0, 5_000_000.0])
    means, counts = by_size(found, EDGES_KB)
    # Up to 10 KB: 10, 100 and 20 us; none up to 1 MB.
    assert counts == [3, 0, 0, 1]
    assert means[0] == pytest.approx(130 / 3)
    assert np.isnan(means[1])
    assert means[3] == pytest.approx(50_000)
    # A seed without victims of a size is left out, in both.
    assert paired({1: 1.0, 2: np.nan, 3: 3.0}, {1: 5.0, 2: 6.0, 3: np.nan}) == ({1: 1.0}, {1: 5.0})


def test_slowdowns_are_those_of_the_sizes_asked_for() -> None:
    found = Fct(3, 0, np.array([1_000, 50_000, 50_001]), np.array([1.0, 2.0, 3.0]), 0, (0, 0))
    assert slowdowns(found, 0, 50).tolist() == [1.0, 2.0]
    assert slowdowns(found, 50, np.inf).tolist() == [3.0]


def test_epsilon_is_judged_on_the_concurrent_bursts_alone() -> None:
    jobs = group_jobs("epsilon", SHORT, SPACE.default)
    assert {job.scenario.name for job in jobs} == {"chain.toml"}
    # max(T_on) of the authors would leave epsilon without effect.
    for job in group_jobs("epsilon", SHORT, SPACE.parse(["simulator=authors"])):
        assert "detector.max_on" not in job.sets


@pytest.mark.parametrize("simulator", ["paper", "authors"])
def test_a_port_behind_pauses_is_undetermined_and_never_marks_ce(simulator: str) -> None:
    results = measured("single", f"simulator={simulator}")
    red: Chain = results["single", "red", 1]
    found: Chain = results["single", "tcd", 1]
    # RED takes the queue that pauses make for congestion; TCD says undetermined.
    assert red.marks.get(("P2", "f0", "ce"), 0) > 0
    assert found.marks.get(("P2", "f0", "ce"), 0) == 0
    assert sum(found.marks.get((port, "f0", "ue"), 0) for port in ("P0", "P2")) > 0
    assert "congestion" not in {state for _, state in found.states["P2"]}
    assert found.states["P2"][-1][1] == "non_congestion"
    # The congestion itself is told: the port to r1 is never stopped.
    assert "undetermined" not in {state for _, state in found.states["P3"]}
    assert found.marks.get(("P3", "f1", "ce"), 0) > 0


def test_a_queue_that_does_not_fall_is_congested_by_section_4_1_alone() -> None:
    # f0 and f2 bring 50 Gbps to P2, whose queue stands at what PFC allows its inputs: it neither falls nor grows.
    for growth, marks in (("increases", False), ("not-fallen", True)):
        one, several = (measured(group, f"growth={growth}") for group in ("single", "multi"))
        assert marked_by(one["single", "tcd", 1], "P2") == 0
        assert (marked_by(several["multi", "tcd", 1], "P2") > 0) is marks
        found = outcomes("transitions", one | several)
        (last,) = [outcome for what, outcome in found.items() if what.startswith("several: P2 undetermined, then")]
        assert last == ("holds" if marks else "fails")


def test_the_testbeds_flow_is_undetermined_while_the_other_host_sends() -> None:
    found = measured("testbed")["testbed", "tcd", 1]
    # Ten intervals, of which a0 sends in the fourth to the seventh; the fifth to the seventh are whole.
    assert found.share["f0", "ue"][4:7].min() > 0.8
    assert found.share["f0", "ce"][4:7].max() < 0.05
    assert found.share["f1", "ce"][4:7].min() > 0.8
    assert max(found.share["f0", mark][8:].max() for mark in ("ue", "ce")) < 0.01
    assert found.share["f0", "ue"][:3].max() == 0


def chain_by_hand() -> Chain:
    states = {"P2": [(0.0, "non_congestion"), (10.0, "undetermined"), (30.0, "released"), (45.0, "undetermined")]}
    marks = {("P2", "f0", "ce"): 3, ("P2", "f1", "ce"): 4, ("P2", "f0", "ue"): 5, ("P1", "f0", "ce"): 7}
    return Chain(np.array([5.0, 100.0]), {}, {}, np.array([]), marks, {}, states, {}, {})


def test_times_in_a_state_and_marks_of_a_port_are_added_up() -> None:
    # Undetermined from 10 to 30 us and from 45 us to the end of the last sample at 100 us.
    assert time_in(chain_by_hand(), "P2", "undetermined") == 20 + 55
    assert time_in(chain_by_hand(), "P2", "congestion") == 0
    assert marked_by(chain_by_hand(), "P2") == 7
    assert marked_by(chain_by_hand(), "P2", "ue") == 5


def test_one_claim_is_reproduced_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = replace(QUICK, chain_seeds=1)
    assert reproduce(replace(tcd.PAPER, quick=once), tmp_path, "transitions", quick=True) == 0
    (entry,) = json.loads((tmp_path / "claims.json").read_text())
    assert entry["id"] == "tcd.transitions"
    assert entry["seeds"] == [1]
    assert "tcd.transitions" in capsys.readouterr().out
    for name in (
        "fig12.png",
        "fig13.svg",
        "fig03a.csv",
        "fig08.png",
        "claims.md",
    ):
        assert (tmp_path / name).stat().st_size > 0
    page = (tmp_path / "index.html").read_text()
    assert "data:image/svg+xml;base64," in page
    assert 'src="http' not in page
