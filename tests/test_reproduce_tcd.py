"""TCD's claims: numbers by hand, and the short experiments through the simulator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xoff.papers import tcd, verdicts
from xoff.papers.reproduction import reproduce
from xoff.papers.tcd import infiniband, infiniband_findings
from xoff.papers.tcd.checks import marked_by, time_in
from xoff.papers.tcd.common import HERE, QUICK, Scale
from xoff.papers.tcd.experiments import by_size, dcqcn, group_jobs, slowdowns, timely, victim_settings, victims
from xoff.papers.tcd.findings import GROUPS, jain
from xoff.papers.tcd.measures import Chain, Fct, Mct, Victims, longest_on_us, on_period_us

SHORT = Scale(
    window_ms=5,
    seeds=1,
    bursts_ms=5,
    flows={"hadoop": 500, "websearch": 100},
    testbed_ms=4,
    messages=300,
    fat_tree_variants=("60 %",),
)


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
    claims = verdicts.load(HERE / "claims.toml")
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
        return Victims(len(sizes), marked, 0, marked, 10, marked, marked, np.array(sizes), np.array(sizes) / 100)

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


def test_messages_of_the_victims_are_those_of_the_fat_tree() -> None:
    points = [line.split() for line in (HERE / "mpi_io.txt").read_text().splitlines() if not line.startswith("#")]
    steps = [(int(low[0]), float(high[1]) - float(low[1])) for low, high in zip(points[::2], points[1::2], strict=True)]
    # A tenth of 512 KB, 1, 2 or 4 MB; of the rest 55 % of 2 KB, the others of 4, 8, 16 or 32 KB.
    assert steps[0][0] == 2_000
    assert steps[0][1] == pytest.approx(0.9 * 0.55)
    assert [size for size, share in steps if share == pytest.approx(0.9 * 0.45 / 4)] == [4_000, 8_000, 16_000, 32_000]
    assert sum(share for size, share in steps if size >= 512_000) == pytest.approx(0.1)
    # 0.1 x 1,878,000 B + 0.9 x (0.55 x 2,000 + 0.45 x 15,000 B).
    assert sum(size * share for size, share in steps) == pytest.approx(infiniband.MEAN_BYTES)


def test_arrivals_on_infiniband_bring_the_loads_that_are_said() -> None:
    # 30 % of 40 Gbps are 12,000 bit/us; 15 x 194,865 B are 23,383,800 bit.
    assert infiniband.victim_settings(10, load=0.6)["traffic.2.every"] == "1948.65us"
    # 8,200 messages of 1.878 MB in 20 ms, over 256 links of 40 Gbps: 123.2 Gbit over 6,144 Gbps x 20.05 ms.
    assert infiniband.duration_ms(82_000) == pytest.approx(20.05, abs=0.005)


def test_steps_are_of_two_with_tcd_in_the_case_study_alone() -> None:
    assert infiniband.ib_cc("tcd", case_study=True)["scheme.ccti_increase"] == 2
    assert infiniband.ib_cc("tcd")["scheme.ccti_increase"] == 1
    assert infiniband.ib_cc("fecn", case_study=True)["scheme.ccti_increase"] == 1
    assert infiniband.ib_cc("fecn-head")["detector"] == {"name": "fecn", "threshold": "50KB", "delayed": "head"}


def test_mean_completion_times_are_of_the_size_asked_for() -> None:
    sizes, times = np.array([2_000, 512_000, 512_000]), np.array([10.0, 100.0, 300.0])
    found = Mct(3, 0, sizes, times, sizes > 32_000, (0, 0), 0.0)
    assert infiniband_findings.mean_us(found, 512) == 200
    assert infiniband_findings.mean_us(found) == pytest.approx(410 / 3)
    assert np.isnan(infiniband_findings.mean_us(found, 4_000))


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


def test_lacking_credits_make_fecn_mark_the_innocent_and_tcd_say_undetermined() -> None:
    one, several = measured("ib-single"), measured("ib-multi")
    for marking in ("fecn", "fecn-head"):
        fecn: Chain = one["ib-single", marking]
        assert fecn.marks.get(("P2", "f0", "ce"), 0) > 0
        assert fecn.marks.get(("P2", "f2", "ce"), 0) > 0
        # Two inputs of 280 KB are all that waits for P2, and the frame on the wire is not in them.
        assert 500 < fecn.queue_kb["P2"].max() <= 560
    found: Chain = one["ib-single", "tcd"]
    assert time_in(found, "P2", "undetermined") > 3_000
    assert found.states["P2"][-1][1] == "non_congestion"
    assert marked_by(found, "P1") == 0
    assert "undetermined" not in {state for _, state in found.states["P3"]}
    both: Chain = several["ib-multi", "tcd"]
    # f0 and f2 bring 50 Gbps: a congestion that shows when P3's is over.
    assert both.states["P2"][-1][1] == "congestion"
    assert both.states["P1"][-1][1] == "undetermined"


def test_the_testbeds_flow_is_undetermined_with_credits_too() -> None:
    found = measured("ib-testbed")["ib-testbed", "tcd"]
    assert found.share["f0", "ue"][4:7].min() > 0.8
    assert found.share["f0", "ce"].max() < 0.05
    assert found.share["f1", "ce"][4:7].min() > 0.8
    assert max(found.share["f0", mark][8:].max() for mark in ("ue", "ce")) < 0.01
    assert found.share["f0", "ue"][:3].max() == 0


def test_jobs_on_the_fat_tree_come_to_their_end() -> None:
    import xoff

    # k = 8 has 4 hosts in a rack, of which one is a server.
    job = next(job for job in group_jobs("ib-fat-tree", SHORT) if job.key[1] == "tcd")
    small = {"topology.k": 8, "traffic.0.io_servers": 1}
    found: Mct = job.measure(xoff.run(job.scenario, seed=job.seed, sets={**job.sets, **small}))
    assert found.messages == 300
    assert found.incomplete == 0
    assert set(found.size_bytes[found.io].tolist()) <= {512_000, 1_000_000, 2_000_000, 4_000_000}
    # 1,024 hosts' time for a message alone at least: two links there and back, 4 us each.
    assert found.mct_us.min() > 16


def test_one_claim_is_reproduced_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(tcd.PAPER, tmp_path, "transitions", quick=True) == 0
    (entry,) = json.loads((tmp_path / "claims.json").read_text())
    assert entry["id"] == "tcd.transitions"
    assert "tcd.transitions" in capsys.readouterr().out
    for name in (
        "fig12-paper.png",
        "fig13-code.svg",
        "fig13-cbfc.svg",
        "fig03a.csv",
        "fig03b.csv",
        "fig08.png",
        "claims.md",
    ):
        assert (tmp_path / name).stat().st_size > 0
    page = (tmp_path / "index.html").read_text()
    assert "data:image/svg+xml;base64," in page
    assert 'src="http' not in page
