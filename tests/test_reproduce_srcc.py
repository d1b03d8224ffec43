"""SRCC's claims: verdicts from numbers made by hand, and short experiments through the simulator."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import xoff
from xoff.papers import srcc, verdicts
from xoff.papers.reproduction import reproduce
from xoff.papers.srcc import readings
from xoff.papers.srcc.experiments import (
    HERE,
    OTHERS,
    SCHEMES,
    SENDERS,
    Scale,
    group_jobs,
    incast_jobs,
    load_jobs,
    motivation_jobs,
    settings,
)
from xoff.papers.srcc.findings import GROUPS, find
from xoff.papers.srcc.measures import Measured
from xoff.runs.jobs import Job

ONCE = Scale(testbed_ms=0.5, large_ms=0.05, loads=(0.8,), seeds=1)

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
    assert len(claims) == 12
    assert set(claims) == set(GROUPS)
    for groups in GROUPS.values():
        for group in groups:
            jobs = group_jobs(group, ONCE)
            assert jobs
            assert all(job.scenario.is_file() for job in jobs)
            assert len({job.key for job in jobs}) == len(jobs)


def test_sizes_of_the_incast_add_up_to_50_mb() -> None:
    for job in incast_jobs(SENDERS, {}):
        senders = int(job.key[2])
        size = int(str(job.sets["traffic.0.size"]).removesuffix("B"))
        assert 50_000_000 <= size * senders < 50_000_000 + senders


def test_settings_of_a_line_go_on_top_of_its_scheme() -> None:
    assert settings("srcc-40", {}) == {
        "scheme.name": "srcc",
        "scheme.threshold": "fixed",
        "scheme.fixed_threshold": "200KB",
    }
    sets = {"*": {"a": 1, "b": 1}, "pcn": {"b": 2}}
    assert settings("pcn", sets) == {"scheme.name": "pcn", "detector.name": "np_ecn", "a": 1, "b": 2}
    assert settings("swift", sets) == {"scheme.name": "swift", "a": 1, "b": 1}


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
    late = {**times, "pcn": math.nan}
    assert found("convergence", "websearch", 0.8, of("settled_us", late)).verdict == "direction"
    own = {**times, "srcc": math.nan}
    assert found("convergence", "websearch", 0.8, of("settled_us", own)).verdict == "contradicted"


def test_the_incast_claim_asks_for_the_link_and_for_the_gain() -> None:
    # 95 Gbps over 66.9, 70.9, 76 and 79.2 is 42, 34, 25 and 20 % more.
    goodput = {"dcqcn": 66.9, "swift": 70.9, "hpcc": 76.0, "pcn": 79.2, "srcc": 95.0}
    assert found("incast", "incast", 160.0, of("goodput_gbps", goodput)).verdict == "reproduced"
    assert found("incast", "incast", 160.0, of("goodput_gbps", {**goodput, "srcc": 89.0})).verdict == "contradicted"
    assert found("incast", "incast", 160.0, of("goodput_gbps", {**goodput, "hpcc": 95.5})).verdict == "contradicted"


def test_an_overview_compares_with_what_a_reading_leaves_alone() -> None:
    # By default 50 against 100; the reading makes SRCC 25 and leaves the others.
    main = {("web-server", s, 0.8, 1): replace(NOTHING, afct_us=50.0 if s == "srcc" else 100.0) for s in SCHEMES}
    further = {("literal", ("web-server", "srcc", 0.8, 1)): replace(NOTHING, afct_us=25.0)}
    table = readings.table(main, further, "web-server", 0.8)
    assert table.filter(pl.col("reading") == "literal").height == 1
    columns, rows = readings.overview(table, "afct_us", "us", more=False)
    assert columns[2:] == ["SRCC, us", "below DCQCN", "below Swift", "below HPCC", "below PCN"]
    assert rows[0][2:] == ["50", *["50.0 %"] * 4]
    assert rows[1][2:] == ["25", *["75.0 %"] * 4]


def test_switches_tell_senders_of_an_incast_and_no_other_scheme_has_messages() -> None:
    runs = measured([job for job in incast_jobs([20], {}) if job.key[1] in ("srcc", "dcqcn")])
    own, other = runs["incast", "srcc", 20.0, 1], runs["incast", "dcqcn", 20.0, 1]
    assert own.messages > 20
    assert other.messages == 0
    # The last leaf's table has all 20 flows.
    assert (own.table, other.table) == (20, 0)
    # Headers leave 1456 of 1518 bytes: 95.9 Gbps.
    for run in (own, other):
        assert 50 < run.goodput_gbps < 95.92
        assert run.flows == 20
        assert run.incomplete == 0


def test_victims_are_blocked_behind_pauses_that_messages_from_switches_avoid() -> None:
    jobs = [job for job in motivation_jobs({}) if job.key[1] in ("dcqcn", "srcc")]
    dcqcn, srcc = (job.measure(xoff.run(job.scenario, sets={**job.sets, "run.duration": "1.5ms"})) for job in jobs)
    # A victim shares its NIC with one long flow and could have half of it; behind PAUSE it has less.
    assert dcqcn.least < 0.25
    assert dcqcn.blocked == 8
    assert srcc.blocked < 8
    assert srcc.pauses < dcqcn.pauses


def test_one_claim_is_reproduced_into_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(srcc, "QUICK", ONCE)
    assert reproduce(srcc.PAPER, tmp_path, "web-server", quick=True) == 0
    (entry,) = json.loads((tmp_path / "claims.json").read_text())
    assert entry["id"] == "srcc.web-server"
    assert "--quick" in entry["note"]
    assert "srcc.web-server" in capsys.readouterr().out
    for name in ("fig05.png", "fig05.svg", "fig05.csv", "sensitivity.png", "claims.md", "readings.csv"):
        assert (tmp_path / name).stat().st_size > 0
    page = (tmp_path / "index.html").read_text()
    assert "Other readings" in page
    assert 'src="http' not in page


def test_reductions_are_taken_over_the_same_flows() -> None:
    # The traffic of a seed does not depend on the scheme.
    runs = measured(load_jobs("web-server", ("srcc", "dcqcn"), (0.8,), ONCE, {}))
    assert len({run.flows for run in runs.values()}) == 1
    assert all(run.incomplete == 0 for run in runs.values())
    assert set(OTHERS) == set(SCHEMES) - {"srcc"}
