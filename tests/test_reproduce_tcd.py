"""TCD's claims: numbers by hand, and the short experiments through the simulator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xoff.papers import tcd, verdicts
from xoff.papers.reproduction import reproduce
from xoff.papers.rules import Outcome
from xoff.papers.tcd import infiniband
from xoff.papers.tcd.checks import marked_by, paired, time_in
from xoff.papers.tcd.common import HERE, QUICK, Scale, by_size, mean_us, slowdowns
from xoff.papers.tcd.experiments import EDGES_KB, dcqcn, group_jobs, timely
from xoff.papers.tcd.findings import END_MS, GROUPS, find, jain, kept, undetermined_ms
from xoff.papers.tcd.measures import Chain, Fairness, Fct, Mct, Victims, longest_on_us, on_period_us
from xoff.papers.tcd.space import MESSAGE_BYTES, SPACE, burst_gap_us

SHORT = Scale(
    chain_seeds=2,
    window_ms=5,
    seeds=2,
    bursts_ms=5,
    bursts_seeds=2,
    flows={"hadoop": 500, "websearch": 100},
    fat_tree_seeds=1,
    testbed_ms=4,
    messages=300,
)

CLAIMS = verdicts.load(HERE / "claims.toml")


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
    from xoff.papers.survey import digest

    def runs(*answers: str) -> dict[Any, str]:
        jobs = [job for group in groups for job in group_jobs(group, SHORT, SPACE.parse(answers))]
        return {job.key: digest(job) for job in jobs if job.key[-1] == 1}

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


def victims_by_hand(sizes: list[float], marked: int = 0, slower: float = 1.0) -> Victims:
    times = np.array(sizes) / 100 * slower
    return Victims(len(sizes), marked, 0, marked, 10, marked, marked, np.array(sizes), times)


def test_slowdowns_are_those_of_the_sizes_asked_for() -> None:
    found = Fct(3, 0, np.array([1_000, 50_000, 50_001]), np.array([1.0, 2.0, 3.0]), 0, (0, 0))
    assert slowdowns(found, 0, 50).tolist() == [1.0, 2.0]
    assert slowdowns(found, 50, np.inf).tolist() == [3.0]


def test_jain_index() -> None:
    assert jain(np.array([8.0, 8.0, 8.0, 8.0])) == pytest.approx(1.0)
    assert jain(np.array([3.0, 1.0])) == pytest.approx(0.8)


def outcomes(name: str, results: dict[Any, Any]) -> dict[str, Outcome]:
    return {check.what: check.outcome for check in find(CLAIMS[name], results, "").checks}


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
    # f1 counts: four flows of 9.76 and one of 0.95 Gbps. Jain: 40^2 / (5 x 382) = 0.84.
    starved = {"goodput_gbps": np.full((len(times), 4), 9.76), "f1_gbps": np.full(len(times), 0.95)}
    assert jain(np.array([9.76] * 4 + [0.95])) == pytest.approx(0.84, abs=0.005)
    assert fairness(**starved) == "contradicted"


def test_epsilon_is_judged_on_the_concurrent_bursts_alone() -> None:
    jobs = group_jobs("epsilon", SHORT, SPACE.default)
    assert {job.scenario.name for job in jobs} == {"chain.toml"}
    # max(T_on) of the authors would leave epsilon without effect.
    for job in group_jobs("epsilon", SHORT, SPACE.parse(["simulator=authors"])):
        assert "detector.max_on" not in job.sets


def measured(group: str, *answers: str) -> dict[Any, Any]:
    import xoff

    jobs = group_jobs(group, SHORT, SPACE.parse(answers))
    return {job.key: job.measure(xoff.run(job.scenario, seed=job.seed, sets=job.sets)) for job in jobs}


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


def test_messages_of_the_victims_are_those_of_the_fat_tree() -> None:
    points = [line.split() for line in (HERE / "mpi_io.txt").read_text().splitlines() if not line.startswith("#")]
    steps = [(int(low[0]), float(high[1]) - float(low[1])) for low, high in zip(points[::2], points[1::2], strict=True)]
    # A tenth of 512 KB, 1, 2 or 4 MB; of the rest 55 % of 2 KB, the others of 4, 8, 16 or 32 KB.
    assert steps[0][0] == 2_000
    assert steps[0][1] == pytest.approx(0.9 * 0.55)
    assert [size for size, share in steps if share == pytest.approx(0.9 * 0.45 / 4)] == [4_000, 8_000, 16_000, 32_000]
    assert sum(share for size, share in steps if size >= 512_000) == pytest.approx(0.1)
    # 0.1 x 1,878,000 B + 0.9 x (0.55 x 2,000 + 0.45 x 15,000 B).
    assert sum(size * share for size, share in steps) == pytest.approx(MESSAGE_BYTES)


def test_arrivals_on_infiniband_bring_the_loads_that_are_said() -> None:
    # 8,200 messages of 1.878 MB in 20 ms, over 256 links of 40 Gbps: 123.2 Gbit over 6,144 Gbps x 20.05 ms.
    assert infiniband.duration_ms(82_000) == pytest.approx(20.05, abs=0.005)


def test_steps_are_of_two_with_tcd_in_the_case_study_alone() -> None:
    read = SPACE.default
    assert infiniband.ib_cc(read, "tcd", case_study=True)["scheme.ccti_increase"] == 2
    assert infiniband.ib_cc(read, "tcd")["scheme.ccti_increase"] == 1
    assert infiniband.ib_cc(read, "fecn", case_study=True)["scheme.ccti_increase"] == 1
    assert infiniband.ib_cc(read, "fecn")["detector.delayed"] == "queued"
    head = infiniband.ib_cc(SPACE.parse(["delayed=head"]), "tcd")
    assert head["detector.fecn.delayed"] == "head"


def test_servers_drawn_anew_are_those_of_the_paper() -> None:
    drawn: Any = infiniband.random_servers(8_000, 2.0, "per_pair", seed=1)
    jobs, io = drawn
    mpi = set(jobs["hosts"])
    assert mpi == set(jobs["destinations"])
    servers, clients = set(io["destinations"]), set(io["hosts"])
    # 4 servers in each of 128 racks, 25 % of 1,024 hosts as clients, MPI on the rest.
    assert (len(servers), len(clients), len(mpi)) == (512, 256, 256)
    assert not servers & clients
    assert not mpi & (servers | clients)
    # 800 messages of 1.878 MB in 2 ms over 256 x 40 Gbps: 12.02 of 20.48 Gbit.
    assert io["load"] == pytest.approx(0.587, abs=0.001)
    # 7,200 of 7,850 B in the same time: 0.452 Gbit.
    assert jobs["load"] == pytest.approx(0.0221, abs=0.0001)


def test_mean_completion_times_are_of_the_size_asked_for() -> None:
    sizes, times = np.array([2_000, 512_000, 512_000]), np.array([10.0, 100.0, 300.0])
    found = Mct(3, 0, sizes, times, sizes > 32_000, (0, 0), 0.0)
    assert mean_us(found, 512) == 200
    assert mean_us(found) == pytest.approx(410 / 3)
    assert np.isnan(mean_us(found, 4_000))


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
    fecn: Chain = one["ib-single", "fecn", 1]
    assert fecn.marks.get(("P2", "f0", "ce"), 0) > 0
    assert fecn.marks.get(("P2", "f2", "ce"), 0) > 0
    # Two inputs of 280 KB are all that waits for P2, and the frame on the wire is not in them.
    assert 500 < fecn.queue_kb["P2"].max() <= 560
    found: Chain = one["ib-single", "tcd", 1]
    assert time_in(found, "P2", "undetermined") > 3_000
    assert marked_by(found, "P1") == 0
    assert "undetermined" not in {state for _, state in found.states["P3"]}
    both: Chain = several["ib-multi", "tcd", 1]
    # f0 and f2 bring 50 Gbps: a congestion that shows when P3's is over.
    assert "congestion" in {state for _, state in both.states["P2"]}
    assert both.states["P1"][-1][1] == "undetermined"


def test_the_testbeds_flow_is_undetermined_with_credits_too() -> None:
    found = measured("ib-testbed")["ib-testbed", "tcd", 1]
    assert found.share["f0", "ue"][4:7].min() > 0.8
    assert found.share["f0", "ce"].max() < 0.05
    assert found.share["f1", "ce"][4:7].min() > 0.8
    assert max(found.share["f0", mark][8:].max() for mark in ("ue", "ce")) < 0.01
    assert found.share["f0", "ue"][:3].max() == 0


def test_jobs_on_the_fat_tree_come_to_their_end() -> None:
    import xoff

    # k = 8 has 4 hosts in a rack, of which one is a server.
    job = next(job for job in group_jobs("ib-fat-tree", SHORT, SPACE.default) if job.key[1] == "tcd")
    all_traffic: Any = job.sets["traffic"]
    (traffic,) = all_traffic
    small = {"topology.k": 8, "traffic": [{**traffic, "io_servers": 1}]}
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
