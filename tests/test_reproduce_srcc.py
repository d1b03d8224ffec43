"""SRCC's claims: verdicts from numbers made by hand, and short experiments through the simulator."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xoff
from xoff.papers import srcc, verdicts
from xoff.papers.reproduction import reproduce
from xoff.papers.srcc.experiments import (
    FULL,
    HERE,
    OTHERS,
    QUICK,
    SCHEMES,
    SENDERS,
    Scale,
    burst_jobs,
    group_jobs,
    incast_jobs,
    load_jobs,
    motivation_jobs,
    settings,
)
from xoff.papers.srcc.findings import GROUPS, find
from xoff.papers.srcc.measures import Measured, Motivation, measure_motivation
from xoff.papers.srcc.space import SPACE
from xoff.papers.survey import Cache, digest
from xoff.runs.jobs import Job

ONCE = Scale(testbed_ms=0.5, large_ms=0.05, loads=(0.8,), testbed_seeds=1, seeds=1)
DEFAULT = SPACE.default

NOTHING = Measured(
    flows=1,
    incomplete=0,
    afct_us=1.0,
    p99_us=1.0,
    pauses=0,
    pauses_per_ms=0.0,
    paused_share=0.0,
    stopped_ports=0,
    depth=0,
    blocked_share=0.0,
    messages=0,
    table=0,
    goodput_gbps=math.nan,
    settled_us=math.nan,
    queue=None,
)


def measured(jobs: list[Job]) -> dict[Any, Any]:
    return {job.key: job.measure(xoff.run(job.scenario, seed=job.seed, sets=job.sets)) for job in jobs}


def found(name: str, group: str, at: float, value: dict[str, Measured]) -> verdicts.Finding:
    """The finding of a claim whose experiment has one place, from a measurement by scheme, the same of two seeds."""
    claim = verdicts.load(HERE / "claims.toml")[name]
    return find(claim, {(group, scheme, at, seed): each for scheme, each in value.items() for seed in (1, 2)}, "")


def of(quantity: str, numbers: dict[str, float]) -> dict[str, Measured]:
    made: dict[str, Any] = {scheme: {quantity: value} for scheme, value in numbers.items()}
    return {scheme: replace(NOTHING, **each) for scheme, each in made.items()}


def test_every_claim_has_its_experiments_and_scenario() -> None:
    claims = verdicts.load(HERE / "claims.toml")
    assert len(claims) == 19
    assert set(claims) == set(GROUPS)
    for groups in GROUPS.values():
        for group in groups:
            jobs = group_jobs(group, ONCE, DEFAULT)
            assert jobs
            assert all(job.scenario.is_file() for job in jobs)
            assert len({job.key for job in jobs}) == len(jobs)


def test_sizes_of_the_incast_add_up_to_50_mb() -> None:
    for job in incast_jobs(SENDERS, DEFAULT):
        senders = int(job.key[2])
        size = int(str(job.sets["traffic.0.size"]).removesuffix("B"))
        assert 50_000_000 <= size * senders < 50_000_000 + senders


STEPS = {"scheme.dcqcn.r_ai": "40Mbps", "scheme.dcqcn.r_hai": "200Mbps"}
"""Those of DCQCN's paper, for the DCQCN under SRCC."""


def test_settings_of_a_line_go_on_top_of_its_reading() -> None:
    # 40 % of 500 KB.
    assert settings("srcc-40", DEFAULT) == STEPS | {
        "scheme.name": "srcc",
        "scheme.threshold": "fixed",
        "scheme.fixed_threshold": "200KB",
    }
    # A fixed threshold measures no arrivals; 40 % of 22 MB.
    read = SPACE.parse(["threshold=eq5-4us", "fixed=switch", "pfc=1MB", "window=2rtt"])
    assert settings("srcc-40", read) == STEPS | {
        "scheme.name": "srcc",
        "scheme.window_rtts": 2.0,
        "scheme.threshold": "fixed",
        "scheme.fixed_threshold": "8800KB",
        "flow_control.xoff": "1MB",
    }
    assert settings("pcn", read) == {"scheme.name": "pcn", "detector.name": "np_ecn", "flow_control.xoff": "1MB"}
    # Fig. 8b has its own T.
    assert settings("srcc-4rtt", read)["scheme.window_rtts"] == 4.0


def test_the_lines_of_fig_8b_differ_by_the_time_window_alone() -> None:
    lines = [settings(line, DEFAULT) for line in ("srcc-2rtt", "srcc-3rtt", "srcc-4rtt")]
    assert [line.pop("scheme.window_rtts") for line in lines] == [2.0, 3.0, 4.0]
    assert lines == [STEPS | {"scheme.name": "srcc"}] * 3


def test_arrivals_of_10_ms_are_as_long_in_a_shortened_run() -> None:
    def stops(answer: str, scale: Scale, group: str) -> set[object]:
        return {job.sets["traffic.0.stop"] for job in group_jobs(group, scale, SPACE.parse([f"arrivals={answer}"]))}

    # Web search's largest flow: 30 MB at 100 Gbps are 2.4 ms, more than the 2 ms of a full run.
    assert stops("short", FULL, "websearch") == {"2ms"}
    assert stops("long", QUICK, "websearch") == {"1.8ms"}
    for scale in (FULL, QUICK):
        assert stops("10ms", scale, "websearch") == stops("10ms", scale, "web-server") == {"10ms"}


def test_every_alternative_changes_a_run_and_is_a_scenario() -> None:
    cache = Cache("")

    def runs(*answers: str) -> dict[Any, str]:
        # `digest` resolves the scenario, and refuses one that cannot be.
        read = SPACE.parse(answers)
        jobs = [
            job
            for group in ("motivation", "web-server", "threshold", "websearch")
            for job in group_jobs(group, ONCE, read)
        ]
        jobs += [*incast_jobs([20], read), *burst_jobs("burst-size", ONCE, read)[:5]]
        return {job.key: cache.digest(job) for job in jobs}

    default = runs()
    for choice in SPACE.choices:
        for each in choice.alternatives:
            if each.name != choice.default:
                changed = {key[1] for key, name in runs(f"{choice.name}={each.name}").items() if name != default[key]}
                assert changed, (choice.name, each.name)
                # What is read of SRCC's own leaves the others alone.
                if choice.name in ("base", "ecn", "threshold", "window", "count", "sharing", "fixed"):
                    assert all(line.startswith("srcc") for line in changed), (choice.name, each.name)


def test_answers_of_the_base_go_with_those_of_the_others() -> None:
    for base in SPACE.choice("base").alternatives:
        for other in ("ecn=off", "threshold=eq6", "threshold=eq5-4us", "pfc=dynamic"):
            (job,) = [j for j in incast_jobs([20], SPACE.parse([f"base={base.name}", other])) if j.key[1] == "srcc"]
            assert digest(job)


def test_a_pause_rate_lower_by_the_papers_shares_is_reproduced() -> None:
    # Lower by 91, 90, 88 and 84 %: 9 of 100, 9 of 90, 9 of 75, 9 of 56.25.
    rates = {"dcqcn": 100.0, "swift": 90.0, "hpcc": 75.0, "pcn": 56.25, "srcc": 9.0}
    assert found("pause-rate", "websearch", 0.8, of("pauses_per_ms", rates)).verdict == "reproduced"
    # Half of PCN's is lower, but not by 84 %.
    assert found("pause-rate", "websearch", 0.8, of("pauses_per_ms", {**rates, "pcn": 18.0})).verdict == "direction"
    assert found("pause-rate", "websearch", 0.8, of("pauses_per_ms", {**rates, "pcn": 8.0})).verdict == "contradicted"
    # Where nobody pauses there is nothing to be lower than.
    nobody = dict.fromkeys(SCHEMES, 0.0)
    assert found("pause-rate", "websearch", 0.8, of("pauses_per_ms", nobody)).verdict == "contradicted"


def test_a_scheme_that_never_settles_settles_after_all() -> None:
    times = {"dcqcn": 1000.0, "swift": 1000.0, "hpcc": 1000.0, "pcn": 1000.0, "srcc": 100.0}
    # 90 % lower than each: within a quarter of 91, 87 and 78 %, not of 58 %.
    assert found("convergence", "websearch", 0.8, of("settled_us", times)).verdict == "direction"
    late = {**times, "pcn": math.inf}
    assert found("convergence", "websearch", 0.8, of("settled_us", late)).verdict == "direction"
    own = {**times, "srcc": math.inf}
    assert found("convergence", "websearch", 0.8, of("settled_us", own)).verdict == "contradicted"
    # Without a PAUSE there is nothing to settle from, which says nothing of either.
    for scheme in ("srcc", "pcn"):
        none = {**times, scheme: math.nan}
        assert found("convergence", "websearch", 0.8, of("settled_us", none)).verdict == "undecided"


@pytest.mark.parametrize(
    ("claim", "quantity", "places", "held"),
    [
        # 90 of 100 is lower, and by no claimed share.
        ("pause-rate", "pauses_per_ms", {"websearch": (0.8,)}, "direction"),
        ("convergence", "settled_us", {"websearch": (0.8,)}, "direction"),
        ("hadoop-afct", "afct_us", {"hadoop": (0.5, 0.8)}, "direction"),
        ("tail", "p99_us", {"websearch": (0.8,), "hadoop": (0.8,)}, "direction"),
        ("burst-interval", "afct_us", {"burst-interval": (20.0, 100.0)}, "direction"),
        ("burst-size", "afct_us", {"burst-size": (32.0, 128.0)}, "direction"),
        ("web-server", "afct_us", {"web-server": (0.5, 0.8)}, "direction"),
        ("cache-follower", "p99_us", {"cache-follower": (0.8,)}, "direction"),
    ],
)
def test_a_lower_quantity_holds_fails_or_stays_open(
    claim: str, quantity: str, places: dict[str, tuple[float, ...]], held: str
) -> None:
    # Two seeds: SRCC is 10 % below in each; 10 % above in each; 10 % below in one and 9 % above in the other.
    for own, expected in (((90.0, 99.0), held), ((110.0, 121.0), "contradicted"), ((90.0, 120.0), "undecided")):
        made: dict[Any, Any] = {}
        for group, each in places.items():
            numbers = {(s, at): (100.0, 110.0) for s in OTHERS for at in each} | {("srcc", at): own for at in each}
            made |= seeded(group, quantity, numbers)
        assert verdict(claim, made) == expected


def test_the_gain_of_an_incast_stays_open_between_two_seeds() -> None:
    # 95 Gbps are the link's in both; others have 70, and in the last case 70 and 100: 36 % less and 5 % more.
    for swift, expected in (
        ((70.0, 70.0), "direction"),
        ((100.0, 100.0), "contradicted"),
        ((70.0, 100.0), "undecided"),
    ):
        numbers = {(s, 160.0): (70.0, 70.0) for s in OTHERS} | {("srcc", 160.0): (95.0, 95.0)}
        numbers["swift", 160.0] = swift
        assert verdict("incast", seeded("incast", "goodput_gbps", numbers)) == expected
    # The link: 95 Gbps in one seed and 87 in the other, against 90.
    numbers = {(s, 160.0): (70.0, 70.0) for s in OTHERS} | {("srcc", 160.0): (95.0, 87.0)}
    assert verdict("incast", seeded("incast", "goodput_gbps", numbers)) == "undecided"


def test_the_incast_claim_asks_for_the_link_and_for_the_gain() -> None:
    # 95 Gbps over 66.9, 70.9, 76 and 79.2 is 42, 34, 25 and 20 % more.
    goodput = {"dcqcn": 66.9, "swift": 70.9, "hpcc": 76.0, "pcn": 79.2, "srcc": 95.0}
    assert found("incast", "incast", 160.0, of("goodput_gbps", goodput)).verdict == "reproduced"
    assert found("incast", "incast", 160.0, of("goodput_gbps", {**goodput, "srcc": 89.0})).verdict == "contradicted"
    assert found("incast", "incast", 160.0, of("goodput_gbps", {**goodput, "hpcc": 95.5})).verdict == "contradicted"


def seeded(group: str, quantity: str, numbers: Mapping[tuple[str, float], tuple[float, ...]]) -> dict[Any, Measured]:
    """Measurements by (line, place), a number for each seed."""
    each: dict[Any, Any] = {
        (group, line, at, seed): {quantity: value}
        for (line, at), values in numbers.items()
        for seed, value in enumerate(values, 1)
    }
    return {key: replace(NOTHING, **value) for key, value in each.items()}


def verdict(name: str, results: dict[Any, Any]) -> str:
    return find(verdicts.load(HERE / "claims.toml")[name], results, "").verdict


def test_a_lead_of_some_seeds_alone_decides_nothing() -> None:
    # Ahead of Swift in two seeds of three, by 3, 2 and -2 %: the interval of 1 +- 6.6 % covers both sides.
    numbers = {(s, 0.8): (100.0, 100.0, 100.0) for s in OTHERS}
    ahead = {**numbers, ("srcc", 0.8): (97.0, 98.0, 102.0)}
    assert verdict("cache-follower", seeded("cache-follower", "p99_us", ahead)) == "undecided"
    # By 3, 2 and 3 %: surely ahead, and far from 72 %.
    ahead = {**numbers, ("srcc", 0.8): (97.0, 98.0, 97.0)}
    assert verdict("cache-follower", seeded("cache-follower", "p99_us", ahead)) == "direction"
    behind = {**numbers, ("srcc", 0.8): (103.0, 102.0, 103.0)}
    assert verdict("cache-follower", seeded("cache-follower", "p99_us", behind)) == "contradicted"


def test_lowest_may_tie_and_lower_may_not() -> None:
    # Nobody sends a PAUSE at 0.5, and at 0.8 SRCC sends 6 % of DCQCN's, so 94 % less.
    low = {(s, 0.5): (0.0, 0.0) for s in SCHEMES}
    high = {(s, 0.8): (100.0, 101.0) for s in OTHERS} | {("srcc", 0.8): (6.0, 6.0)}
    assert verdict("websearch-pauses", seeded("websearch", "pauses_per_ms", low | high)) == "reproduced"
    assert verdict("hadoop-pauses", seeded("hadoop", "pauses_per_ms", low | high)) == "reproduced"
    # Half is lowest, but not 94 % less.
    half = {**low, **high, ("srcc", 0.8): (50.0, 50.5)}
    assert verdict("hadoop-pauses", seeded("hadoop", "pauses_per_ms", half)) == "direction"
    # One frame a ms where nobody else sends one.
    one = {**low, **high, ("srcc", 0.5): (1.0, 1.0)}
    assert verdict("websearch-pauses", seeded("websearch", "pauses_per_ms", one)) == "contradicted"
    assert verdict("hadoop-pauses", seeded("hadoop", "pauses_per_ms", one)) == "contradicted"
    # In one seed of two.
    once = {**low, **high, ("srcc", 0.5): (0.0, 1.0)}
    assert verdict("websearch-pauses", seeded("websearch", "pauses_per_ms", once)) == "undecided"
    # Where no FCT is below another, none is lower.
    equal = {(s, 0.8): (10.0, 11.0) for s in SCHEMES}
    assert verdict("websearch-afct", seeded("websearch", "afct_us", equal)) == "contradicted"
    assert verdict("cache-follower-loads", seeded("cache-follower", "afct_us", equal)) == "reproduced"


def test_average_fct_of_web_search_must_be_lower_at_each_load() -> None:
    numbers = {(s, at): (100.0, 110.0) for s in OTHERS for at in (0.5, 0.8)}
    lower = {("srcc", at): (90.0, 99.0) for at in (0.5, 0.8)}
    assert verdict("websearch-afct", seeded("websearch", "afct_us", numbers | lower)) == "reproduced"
    late = {**numbers, **lower, ("srcc", 0.5): (120.0, 131.0)}
    assert verdict("websearch-afct", seeded("websearch", "afct_us", late)) == "contradicted"
    # 10 below and 10 above.
    mixed = {**numbers, **lower, ("srcc", 0.5): (90.0, 120.0)}
    assert verdict("websearch-afct", seeded("websearch", "afct_us", mixed)) == "undecided"


def test_fig_6_has_four_quantities_below_the_highest_load_and_three_at_it() -> None:
    alike = {(s, at): (10.0, 11.0) for s in SCHEMES for at in (0.5, 0.8)}
    worse = {**alike, ("srcc", 0.5): (20.0, 21.0)}
    for quantity in ("pauses_per_ms", "blocked_share", "afct_us", "p99_us"):
        assert verdict("cache-follower-loads", seeded("cache-follower", quantity, alike)) == "reproduced"
        assert verdict("cache-follower-loads", seeded("cache-follower", quantity, worse)) == "contradicted"
    # The 99th percentile at 0.8 is another claim's.
    last = {**alike, ("srcc", 0.8): (20.0, 21.0)}
    assert verdict("cache-follower-loads", seeded("cache-follower", "p99_us", last)) == "reproduced"
    mixed = {**alike, ("srcc", 0.5): (9.0, 12.0)}
    assert verdict("cache-follower-loads", seeded("cache-follower", "p99_us", mixed)) == "undecided"


def test_tails_below_the_highest_load() -> None:
    numbers = {(s, at): (100.0, 110.0) for s in SCHEMES for at in (0.5, 0.8)}
    late = {**numbers, ("srcc", 0.5): (120.0, 130.0)}
    mixed = {**numbers, ("srcc", 0.5): (90.0, 120.0)}
    for hadoop, expected in ((numbers, "reproduced"), (late, "contradicted"), (mixed, "undecided")):
        found = seeded("websearch", "p99_us", numbers) | seeded("hadoop", "p99_us", hadoop)
        assert verdict("tail-loads", found) == expected
    # At 0.8 it is another claim's.
    last = {**numbers, ("srcc", 0.8): (120.0, 130.0)}
    found = seeded("websearch", "p99_us", numbers) | seeded("hadoop", "p99_us", last)
    assert verdict("tail-loads", found) == "reproduced"


def test_more_is_blocked_with_the_web_server() -> None:
    web = {(s, 0.8): (0.04, 0.041) for s in SCHEMES}
    for cache, expected in (
        ((0.02, 0.021), "reproduced"),
        ((0.08, 0.081), "contradicted"),
        ((0.02, 0.08), "undecided"),
    ):
        found = seeded("web-server", "blocked_share", web)
        found |= seeded("cache-follower", "blocked_share", {(s, 0.8): cache for s in SCHEMES})
        assert verdict("blocking-workloads", found) == expected


def test_convergence_with_hadoop_has_no_numbers() -> None:
    for own, expected in ((100.0, "reproduced"), (2000.0, "contradicted"), (math.inf, "contradicted")):
        times = dict.fromkeys(OTHERS, 1000.0) | {"srcc": own}
        assert found("hadoop-convergence", "hadoop", 0.8, of("settled_us", times)).verdict == expected
    mixed = {(s, 0.8): (1000.0, 1000.0) for s in OTHERS} | {("srcc", 0.8): (900.0, 1100.0)}
    assert verdict("hadoop-convergence", seeded("hadoop", "settled_us", mixed)) == "undecided"


def test_a_minimum_of_the_time_window_is_at_three_rtts() -> None:
    def numbers(middle: tuple[float, float]) -> dict[tuple[str, float], tuple[float, ...]]:
        return {("srcc-2rtt", 0.8): (100.0, 105.0), ("srcc-3rtt", 0.8): middle, ("srcc-4rtt", 0.8): (102.0, 107.0)}

    for middle, expected in (
        ((99.0, 104.0), "reproduced"),
        ((101.0, 106.0), "contradicted"),
        ((99.0, 106.0), "undecided"),
        # A window without effect has no minimum.
        ((100.0, 105.0), "contradicted"),
    ):
        assert verdict("window", seeded("window", "afct_us", numbers(middle))) == expected


def test_a_dynamic_threshold_is_best_or_not() -> None:
    def numbers(own: tuple[float, float]) -> dict[tuple[str, float], tuple[float, ...]]:
        return {("srcc-40", 0.8): (100.0, 105.0), ("srcc-60", 0.8): (100.0, 105.0), ("srcc", 0.8): own}

    for own, expected in (
        ((90.0, 95.0), "reproduced"),
        ((110.0, 115.0), "contradicted"),
        ((100.0, 105.0), "contradicted"),
        ((90.0, 115.0), "undecided"),
    ):
        assert verdict("threshold", seeded("threshold", "afct_us", numbers(own))) == expected


def motivation(share: float, least: float = 0.01) -> Motivation:
    """A run of Fig. 2 that is paused for a share of its time."""
    empty = np.zeros(0)
    return Motivation(empty, empty, empty, empty, empty, empty, 10, 100.0, share, 1.0, least, 8)


def test_pausing_is_shortest_under_pcn_and_longest_under_dcqcn() -> None:
    # The paper's 3.5 and 5 of 10 ms.
    shares = {"dcqcn": 0.5, "swift": 0.45, "hpcc": 0.4, "pcn": 0.35, "srcc": 0.1}
    made: dict[Any, Any] = {("motivation", s, 0.0, seed): motivation(v) for s, v in shares.items() for seed in (1, 2)}
    assert verdict("motivation", made) == "reproduced"
    most = {**made, **{("motivation", "pcn", 0.0, seed): motivation(0.6) for seed in (1, 2)}}
    assert verdict("motivation", most) == "contradicted"
    once = {**made, ("motivation", "pcn", 0.0, 1): motivation(0.6)}
    assert verdict("motivation", once) == "undecided"
    # Victims that keep half of what they had.
    kept = {**made, **{("motivation", "swift", 0.0, seed): motivation(0.45, 0.5) for seed in (1, 2)}}
    assert verdict("motivation", kept) == "contradicted"


def test_switches_tell_senders_of_an_incast_and_no_other_scheme_has_messages() -> None:
    jobs = [job for job in incast_jobs([20], DEFAULT) if job.key[1] in ("srcc", "dcqcn")]
    rest = {key: value for key, value in jobs[0].sets.items() if not key.startswith("scheme.")}
    jobs += [replace(jobs[0], key=("free",), sets={**rest, "scheme.name": "none"})]
    runs = measured(jobs)
    own, other, free = runs["incast", "srcc", 20.0, 1], runs["incast", "dcqcn", 20.0, 1], runs["free",]
    assert own.messages > 20
    assert other.messages == free.messages == 0
    # The last leaf's table has all 20 flows.
    assert (own.table, other.table) == (20, 0)
    # Without control the receiver's link is busy from the first frame on: three links of 4 us and 1518 B before it, at
    # 80 ps a byte; 20 x 2.5 MB in 20 x 1718 packets with 62 B of headers; then a link, and the last ACK over four.
    way = 3 * (4e6 + 1518 * 80) + 20 * (2_500_000 + 1718 * 62) * 80 + 4e6 + 4 * (4e6 + 66 * 80)
    assert free.goodput_gbps == pytest.approx(50e6 * 8 / way * 1e3, rel=1e-9)
    for run in (own, other):
        assert 0 < run.goodput_gbps < free.goodput_gbps
        assert run.pauses < free.pauses
    for run in (own, other, free):
        assert run.flows == 20
        assert run.incomplete == 0


def test_mice_that_begin_later_are_measured_as_long_before_and_after() -> None:
    jobs = motivation_jobs(SPACE.parse(["mice=30.9ms"]))
    for job in jobs:
        assert job.sets["traffic.1.start"] == "30.9ms"
        # 9.1 ms of bursts, as from 0.9 to 10 ms.
        assert job.sets["traffic.1.stop"] == job.sets["run.duration"] == "40ms"
    job = jobs[0]
    run = xoff.run(job.scenario, sets={**job.sets, "traffic.1.start": "0.9ms", "run.duration": "1.5ms"})
    whole, later = measure_motivation(run, burst_ms=0.9), measure_motivation(run, burst_ms=1.2)
    # From 0.9 ms before the burst to the end of the run in bins of 0.1 ms: 15 from 0 on, 12 from 0.3 ms on.
    assert (len(whole.bins_us), len(later.bins_us)) == (15, 12)
    assert whole.bins_us[0] == later.bins_us[0] == -800
    assert list(later.frames) == list(whole.frames[3:])
    assert later.stopped == pytest.approx(whole.stopped[3:])
    assert later.victim == pytest.approx(whole.victim[3:])
    assert later.pauses == sum(whole.frames[3:]) < whole.pauses


def test_victims_are_blocked_behind_pauses_that_messages_from_switches_avoid() -> None:
    jobs = [job for job in motivation_jobs(DEFAULT) if job.key[1] in ("dcqcn", "srcc")]
    dcqcn, srcc = (job.measure(xoff.run(job.scenario, sets={**job.sets, "run.duration": "1.5ms"})) for job in jobs)
    # A victim shares its NIC with one long flow and could have half of it; behind PAUSE it has less.
    assert dcqcn.least < 0.25
    assert dcqcn.blocked == 8
    assert srcc.blocked < 8
    assert srcc.pauses < dcqcn.pauses


def test_one_claim_is_reproduced_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(replace(srcc.PAPER, quick=ONCE), tmp_path, "web-server", quick=True) == 0
    (entry,) = json.loads((tmp_path / "claims.json").read_text())
    assert entry["id"] == "srcc.web-server"
    assert entry["seeds"] == [1]
    assert "--quick" in entry["note"]
    assert "srcc.web-server" in capsys.readouterr().out
    for name in ("fig05.png", "fig05.svg", "fig05.csv", "claims.md"):
        assert (tmp_path / name).stat().st_size > 0
    page = (tmp_path / "index.html").read_text()
    assert "What the paper leaves open" in page
    assert 'src="http' not in page


def test_reductions_are_taken_over_the_same_flows() -> None:
    # The traffic of a seed does not depend on the scheme.
    runs = measured(load_jobs("web-server", ("srcc", "dcqcn"), (0.8,), ONCE, DEFAULT))
    assert len({run.flows for run in runs.values()}) == 1
    assert all(run.incomplete == 0 for run in runs.values())
    assert set(OTHERS) == set(SCHEMES) - {"srcc"}
