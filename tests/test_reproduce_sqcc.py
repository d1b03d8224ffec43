"""SQCC's claims: the paper's equations, verdicts from numbers made by hand, and short runs through the simulator."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from xoff.papers import sqcc, verdicts
from xoff.papers.reproduction import reproduce
from xoff.papers.rules import Estimate
from xoff.papers.sqcc import experiments, theory
from xoff.papers.sqcc.experiments import DELTA, ERROR, FULL, GROUPS, HERE, PATCHED, SQCC, Scale, jobs, settings
from xoff.papers.sqcc.findings import find, mean
from xoff.papers.sqcc.measures import Queue, measure
from xoff.papers.sqcc.space import SPACE
from xoff.papers.survey import Cache

SHORT = Scale(duration_s=0.1, seeds=1)


def queue(
    mean: float,
    deviation: float = 1.0,
    least: float = 0.0,
    most: float = 10.0,
    *,
    drift: float = 0.0,
    empty: float = 0.0,
    utilization: float = 1.0,
) -> Queue:
    return Queue(mean, deviation, least, most, least, most, empty, utilization, drift, 1.0, None)


def twice(point: tuple[str, int], value: Queue) -> dict[Any, Queue]:
    return {(*point, seed): value for seed in (1, 2)}


def claims() -> dict[str, verdicts.Claim]:
    return verdicts.load(HERE / "claims.toml")


def test_every_claim_has_its_runs() -> None:
    assert set(claims()) == set(GROUPS)
    assert experiments.SCENARIO.is_file()


def test_step_and_threshold_are_those_of_the_paper() -> None:
    # Section IV: 6.25 and 2.7 (2.78) Mbps at 40 and 60; 0.04 at 500 without and 0.08 with T_low = 100 us.
    expected = {
        (DELTA, 40): (50e-6, 6.25e6),
        (DELTA, 60): (50e-6, 1e10 / 3600),
        (DELTA, 500): (50e-6, 0.04e6),
        (SQCC, 500): (100e-6, 0.08e6),
        (ERROR, 500): (50e-6, 10e6),
        (PATCHED, 500): (50e-6, 10e6),
    }
    for point, (low, step) in expected.items():
        model = theory.model(point)
        assert model.low_s == pytest.approx(low), point
        assert model.increase_bps == pytest.approx(step), point


def test_fixed_points_are_those_of_the_equations() -> None:
    # Eq. 6 at N = 40: 50 (1 + 40 * 10 / 80) = 300 us; less 5.8 us there are 294.2 us of queue, 1.25 packets each.
    assert theory.fixed_packets((PATCHED, 40)) == pytest.approx(367.75)
    # Eq. 17, Table II's rows: 437.931, 60.976 and 136.364 us.
    for variant, rtt in ((ERROR, 437.931), (DELTA, 60.976), (SQCC, 136.364)):
        assert theory.fixed_packets((variant, 500)) == pytest.approx((rtt - 5.8) * 1.25, rel=1e-4)
    assert theory.max_flows() == pytest.approx(80.0)
    assert theory.ceiling_packets() == pytest.approx(494.2 * 1.25)


def test_the_scenario_itself_is_a_run_of_sixty() -> None:
    from xoff.runs.scenario import read

    scenario = read(experiments.SCENARIO)
    own = settings((SQCC, 60), FULL, SPACE.default)
    assert own["topology.hosts"] == 61
    assert own["traffic.0.senders"] == 60
    assert own["traffic.0.spread"] == "48000000ps"
    assert own["scheme.initial_rate"] == "166666667bps"
    assert scenario.check()[1] == []


def test_the_segment_is_that_of_the_papers_numbers() -> None:
    # low = seg/C (Eq. 20) and T_low = 50 us (IV): 10 Gbps x 50 us = 62,500 B. Patched TIMELY has 16 KB (CoNEXT 2016).
    assert settings((SQCC, 60), FULL, SPACE.default)["scheme.segment"] == "62500B"
    assert settings((PATCHED, 60), FULL, SPACE.default)["scheme.segment"] == "16KB"
    assert "scheme.pacing" not in settings((SQCC, 60), FULL, SPACE.default)
    # seg/R is 25 ms at N = 500: a run has 0.8 s x 5 for 160 updates, as it has 0.8 s for 160 of 5 ms at N = 100.
    assert settings((SQCC, 500), FULL, SPACE.default)["run.duration"] == "4s"
    assert settings((SQCC, 60), FULL, SPACE.default)["run.duration"] == "0.8s"


def test_every_alternative_changes_a_run() -> None:
    cache = Cache("")
    points = [point for points in GROUPS.values() for point in points]

    def runs(*answers: str) -> dict[Any, str]:
        return {job.key: cache.digest(job) for job in jobs(points, SHORT, SPACE.parse(answers))}

    default = runs()
    for choice in SPACE.choices:
        for each in choice.alternatives:
            if each.name != choice.default:
                assert runs(f"{choice.name}={each.name}") != default, (choice.name, each.name)


def table2(values: dict[str, tuple[float, float]]) -> dict[Any, Queue]:
    return {(variant, 500, seed): queue(*value) for variant, value in values.items() for seed in (1, 2)}


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        # The paper's own numbers; within a quarter of them; one beyond; the order of the means another.
        ({ERROR: (272.77, 122.38), DELTA: (53.96, 20.55), SQCC: (149.3, 13.73)}, "reproduced"),
        ({ERROR: (340.0, 100.0), DELTA: (60.0, 20.55), SQCC: (163.0, 13.73)}, "reproduced"),
        ({ERROR: (540.0, 122.38), DELTA: (53.96, 20.55), SQCC: (149.3, 13.73)}, "direction"),
        ({ERROR: (272.77, 122.38), DELTA: (153.96, 20.55), SQCC: (149.3, 13.73)}, "contradicted"),
        # The order of the deviations another.
        ({ERROR: (272.77, 122.38), DELTA: (53.96, 10.0), SQCC: (149.3, 13.73)}, "contradicted"),
    ],
)
def test_verdicts_of_table_ii(values: dict[str, tuple[float, float]], verdict: str) -> None:
    assert find(claims()["table2"], table2(values), "").verdict == verdict


def test_verdicts_of_the_large_incast() -> None:
    fine = {(SQCC, n, seed): queue(150.0, 2.0, 140.0, 160.0) for n in (60, 100, 500, 1000) for seed in (1, 2)}
    assert find(claims()["large-incast"], fine, "").verdict == "reproduced"
    for worse in (queue(201.0, 2.0, 190.0, 210.0), queue(150.0, 2.0, 130.0, 160.0)):
        found = find(claims()["large-incast"], {**fine, **twice((SQCC, 100), worse)}, "")
        assert found.verdict == "contradicted"


def test_verdicts_of_error_function_and_step() -> None:
    made: dict[Any, Queue] = {}
    for n in (2, 40, 60):
        made |= twice((PATCHED, n), queue(500.0)) | twice((ERROR, n), queue(100.0, most=100.0))
    assert find(claims()["error-function"], made, "").verdict == "reproduced"
    assert find(claims()["error-function"], {**made, **twice((ERROR, 60), queue(300.0))}, "").verdict == "direction"
    assert find(claims()["error-function"], {**made, **twice((ERROR, 2), queue(501.0))}, "").verdict == "contradicted"
    made |= twice((DELTA, 40), queue(78.5, most=73.0)) | twice((DELTA, 60), queue(58.0, most=43.0))
    assert find(claims()["delta"], made, "").verdict == "reproduced"
    assert (
        find(claims()["delta"], {**made, **twice((DELTA, 60), queue(58.0, most=101.0))}, "").verdict == "contradicted"
    )


def test_verdicts_of_the_fixed_point() -> None:
    # T_high is 617.75 packets. On the equation up to N = 50, above T_high from 60 on.
    made = {
        (*point, seed): queue(theory.fixed_packets(point), most=600.0 if point[1] < 60 else 700.0)
        for point in GROUPS["patched-timely-fixed-point"]
        for seed in (1, 2)
    }
    found = find(claims()["patched-timely-fixed-point"], made, "")
    assert found.verdict == "reproduced"
    assert found.measured["smallest N whose queue exceeds T_high"] == Estimate(60, 60, 60, 2)
    stable = {key: queue(each.mean, most=600.0) for key, each in made.items()}
    assert find(claims()["patched-timely-fixed-point"], stable, "").verdict == "contradicted"
    off = {**made, **twice((PATCHED, 10), queue(2.0))}
    assert find(claims()["patched-timely-fixed-point"], off, "").verdict == "contradicted"


class Made:
    """A run with a queue of 100 packets in its first half, and 10 and 30 by turns in its second."""

    def __init__(self) -> None:
        time = np.arange(1, 1001) * 10_000_000
        packets = np.where(np.arange(1000) < 500, 100, np.where(np.arange(1000) % 2 == 0, 10, 30))
        self.tables = {
            "queues": pl.DataFrame({"time_ps": time, "bytes": packets * 1000}),
            "utilization": pl.DataFrame({"time_ps": time, "utilization": np.where(packets == 100, 1.0, 0.9)}),
        }


def test_the_steady_state_is_the_second_half(monkeypatch: pytest.MonkeyPatch) -> None:
    from xoff.papers.sqcc import measures

    monkeypatch.setattr(measures, "frame", lambda run, name: run.tables[name])
    found = measure(Made(), keep=True)  # type: ignore[arg-type]
    assert (found.mean, found.deviation, found.least, found.most, found.range) == (20.0, 10.0, 10.0, 30.0, 20.0)
    assert (found.empty, found.drift) == (0.0, 0.0)
    assert found.utilization == pytest.approx(0.9)
    # The first hundredth of the run whose mean is near 20 packets is the 51st, which ends at 5.1 ms.
    assert found.settled_ms == pytest.approx(5.1)
    assert found.trace is not None
    assert found.trace.time_ms[-1] == pytest.approx(10.0)
    assert set(found.trace.mean) == {100.0, 10.0, 30.0}
    # Five samples each: 100 packets, then 10, 30, 10, 30, 10 and the reverse by turns.
    assert set(found.trace.early) == {100.0, 18.0, 22.0}
    assert found.trace.early_ms[0] == pytest.approx(0.05)


def test_a_queue_that_runs_away_is_no_steady_state() -> None:
    paper = {ERROR: (272.77, 122.38), DELTA: (53.96, 20.55), SQCC: (149.3, 13.73)}
    fine = table2(paper)
    assert find(claims()["table2"], fine, "").verdict == "reproduced"
    # A quarter of 272.77 is 68.2.
    for drift, verdict in ((68.0, "reproduced"), (-69.0, "contradicted"), (69.0, "contradicted")):
        away = twice((ERROR, 500), queue(272.77, 122.38, drift=drift))
        assert find(claims()["table2"], {**fine, **away}, "").verdict == verdict


def test_a_queue_that_is_always_empty_is_steady() -> None:
    nothing = twice((ERROR, 500), queue(0.0, 0.0)) | twice((DELTA, 500), queue(0.0, 0.0))
    checks = find(claims()["table2"], nothing | twice((SQCC, 500), queue(149.3, 13.73)), "").checks
    assert {check.outcome for check in checks if "drift" in check.what} == {"holds"}


def test_t_low_is_claimed_to_fill_an_empty_queue() -> None:
    made = twice((ERROR, 500), queue(270, empty=0.1, utilization=0.9))
    made |= twice((DELTA, 500), queue(50, empty=0.05, utilization=0.95))
    made |= twice((SQCC, 500), queue(150))
    assert find(claims()["t-low"], made, "").verdict == "reproduced"
    never = {**made, **twice((DELTA, 500), queue(50))}
    assert find(claims()["t-low"], never, "").verdict == "contradicted"
    empty = {**made, **twice((SQCC, 500), queue(150, empty=0.01))}
    assert find(claims()["t-low"], empty, "").verdict == "contradicted"
    once = {**made, (DELTA, 500, 1): queue(50)}
    assert find(claims()["t-low"], once, "").verdict == "undecided"


def measured(*points: tuple[str, int], answers: tuple[str, ...] = ()) -> dict[Any, Queue]:
    import xoff

    wanted = jobs(points, SHORT, SPACE.parse(answers))
    return {job.key: job.measure(xoff.run(job.scenario, seed=job.seed, sets=job.sets)) for job in wanted}


def test_queues_settle_at_the_fixed_points() -> None:
    # Eq. 6 and 17 are of rates that change all the time: updates after each packet come nearest.
    points = ((PATCHED, 20), (DELTA, 60), (SQCC, 100))
    found = measured(*points, answers=("segment=1-packet", "baseline=1-packet"))
    for point in points:
        assert mean(found, point, "mean") == pytest.approx(theory.fixed_packets(point), rel=0.02), point


def test_each_part_of_sqcc_lowers_the_queue_of_forty() -> None:
    found = measured((PATCHED, 40), (ERROR, 40), (DELTA, 40))
    means = [mean(found, (variant, 40), "mean") for variant in (DELTA, ERROR, PATCHED)]
    assert means == sorted(means)


def test_one_claim_is_reproduced_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(replace(sqcc.PAPER, quick=SHORT), tmp_path, "delta", quick=True) == 0
    (entry,) = json.loads((tmp_path / "claims.json").read_text())
    assert entry["id"] == "sqcc.delta"
    assert entry["seeds"] == [1]
    assert "--quick" in entry["note"]
    assert "sqcc.delta" in capsys.readouterr().out
    for name in ("fig02a.png", "fig02b.svg", "fig02c.csv", "claims.md"):
        assert (tmp_path / name).stat().st_size > 0
    page = (tmp_path / "index.html").read_text()
    assert "data:image/svg+xml;base64," in page
    assert "Shortened by --quick" in page
    assert 'src="http' not in page
