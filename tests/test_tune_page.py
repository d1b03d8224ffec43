"""The page of a tuning: history, importance, the best beside the baseline, and measures of one label."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from conftest import Command
from test_tune import INCAST, TUNE
from xoff.errors import UserError
from xoff.runs.by_label import by_label
from xoff.runs.executor import Local
from xoff.runs.scenario import Scenario
from xoff.studies.sweep.parts import by_label as flows_of
from xoff.studies.tune import tune
from xoff.studies.tune.best import Trial
from xoff.studies.tune.drawings import best_so_far, contour, front, history
from xoff.studies.tune.importance import importances
from xoff.studies.tune.measures import shown_measures
from xoff.studies.tune.outcome import Measured, Outcome, read_outcome
from xoff.studies.tune.page import render, write_tune_report

SPACE = [
    {"key": "a", "low": 0.0, "high": 1.0, "log": False, "whole": False, "suffix": ""},
    {"key": "b", "low": 1e3, "high": 1e5, "log": True, "whole": True, "suffix": "B"},
]


def trial(number: int, p99: float, a: float = 0.5, b: str = "10KB", frames: float = 0) -> Trial:
    return Trial(number, {"a": a, "b": b}, {"slowdown_p99": p99, "pause_frames": frames})


def test_the_best_so_far_by_hand() -> None:
    trials = [trial(0, 5), trial(1, 6), trial(2, 3), trial(3, 1), trial(4, 2), Trial(5, {}, {}, "failed"), trial(6, 2)]
    # Trial 3 is above the budget.
    assert best_so_far(trials, {3}, "slowdown_p99") == [(0, 5), (2, 3), (4, 2)]
    figure = history(trials, {3}, shown_measures(["slowdown_p99"])[0], 4.0).figure
    assert figure is not None
    named = {trace.name: trace for trace in figure.data}
    assert list(named) == ["within the budget", "above the budget", "best so far", "baseline"]
    assert list(named["above the budget"].x) == [3]
    assert (list(named["best so far"].x), list(named["best so far"].y)) == ([0, 2, 4, 6], [5, 3, 2, 2])


def test_what_alone_matters_has_nearly_all_importance() -> None:
    # The objective is the distance of `a` from 0.3; `b` takes its values in an order of its own and changes nothing.
    trials = [trial(n, abs(n / 60 - 0.3), n / 60, f"{1000 + 37 * n % 61 * 500}B") for n in range(60)]
    shares = importances(trials, SPACE, "slowdown_p99")
    assert shares is not None
    assert list(shares) == ["a", "b"]
    assert shares["a"] > 0.9
    assert sum(shares.values()) == pytest.approx(1)
    turned = [replace(each, settings={"a": 0.3, "b": each.settings["b"]}) for each in trials]
    assert importances(turned, SPACE, "slowdown_p99") == {"b": 1.0}  # nothing else was tried
    assert importances(trials[:4], SPACE, "slowdown_p99") is None  # too few
    assert (
        importances([replace(each, measures={"slowdown_p99": 1.0}) for each in trials], SPACE, "slowdown_p99") is None
    )


def test_the_contour_goes_through_the_trials() -> None:
    # A plane, which linear interpolation gives back: 2 + a + log10(b / 1 KB).
    corners = [(0.0, "1KB"), (1.0, "1KB"), (0.0, "100KB"), (1.0, "100KB"), (0.5, "10KB")]
    values = [2.0, 3.0, 4.0, 5.0, 3.5]
    trials = [trial(n, values[n], *corners[n]) for n in range(5)]
    figure = contour(trials, ("a", "b"), shown_measures(["slowdown_p99"])[0], {0}).figure
    assert figure is not None
    grid, *points = figure.data
    assert (grid.x[0], grid.x[-1], round(grid.y[0], 9), round(grid.y[-1], 9)) == (0, 1, 1, 100)
    assert grid.z[0][0] == pytest.approx(2)
    assert grid.z[-1][-1] == pytest.approx(5)
    assert grid.z[0][-1] == pytest.approx(3)
    assert [list(each.x) for each in points] == [[1, 0, 1, 0.5], [0]]
    # Trials on a line have no area between them.
    flat = contour([trial(n, n, n / 9, "10KB") for n in range(5)], ("a", "b"), shown_measures(["slowdown_p99"])[0], {0})
    assert flat.figure is not None
    assert flat.figure.data[0].type == "scatter"


def test_the_front_is_drawn_as_steps() -> None:
    trials = [trial(0, 5, frames=10), trial(1, 3, frames=40), trial(2, 6, frames=50), trial(3, 2, frames=90)]
    shown = shown_measures(["slowdown_p99", "pause_frames"])
    figure = front(trials, shown, {0, 1, 3}, set(), {"slowdown_p99": 7.0, "pause_frames": 60.0}).figure
    assert figure is not None
    named = {trace.name: trace for trace in figure.data}
    assert (list(named["Pareto front"].x), list(named["Pareto front"].y)) == ([2, 3, 5], [90, 40, 10])
    assert list(named["other trials"].x) == [6]
    assert (list(named["baseline"].x), list(named["baseline"].y)) == ([7], [60])


def test_the_page_says_what_was_asked_for_and_what_came_of_it() -> None:
    trials = [trial(0, 5.0, 0.1, "20000B"), trial(1, 2.3, 0.2, "1962001B"), trial(2, 4.0, 0.3, "30000B", 900)]
    seeds = {"1": {"slowdown_p99": 2.2}, "2": {"slowdown_p99": 2.3}, "3": {"slowdown_p99": 2.4}}
    base = {"1": {"slowdown_p99": 2.5}, "2": {"slowdown_p99": 2.5}, "3": {"slowdown_p99": 2.5}}
    about = {"objective": ["slowdown_p99"], "budget": {"pause_frames": 500.0}, "seeds": [1, 2, 3], "sampler": "tpe"}
    best, baseline = Measured(trials[1].settings, seeds), Measured({"a": 0.5, "b": "10KB"}, base)
    found = Outcome("x/scenario.toml", "0.1.0", about, SPACE, baseline, {"1": best}, trials)
    text = " ".join(re.sub("<[^>]*>", " ", render(found).split("<main>")[1].split("</main>")[0]).split())
    assert "Tuning of scenario.toml" in text
    assert "3 trials with 3 seeds each, 1 above the budget." in text
    assert "objective minimize 99th percentile of FCT slowdown" in text
    assert "PAUSE frames at most 500" in text
    assert "b 1 KB to 100 KB, all magnitudes as likely" in text
    assert "b 1.962 MB 10 KB" in text
    # -0.3, -0.2 and -0.1: the mean -0.2, half the interval 4.302653 * 0.1 / sqrt(3) = 0.25.
    assert "2.3 ± 0.248 2.5 ± 0 \N{MINUS SIGN}0.2 ± 0.25 (\N{MINUS SIGN}8 %)" in text
    assert "--set a=0.2 --set b=1962001B" in text
    assert "too few trials, or all are as good" in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page") / "out"
    value = '["incast.slowdown_p99", "pause_frames"]\nbudget = { "incast.incomplete" = 0 }'
    tune(objective(value), folder, Local(2), quiet=True)
    return folder


def test_a_tuning_keeps_what_its_page_needs(folder: Path) -> None:
    found = read_outcome(folder)
    assert found.about["objective"] == ["incast.slowdown_p99", "pause_frames"]
    assert found.about["budget"] == {"incast.incomplete": 0.0}
    # The scenario says nothing of the threshold: the baseline has what the simulator takes.
    assert list(found.baseline.by_seed) == ["1", "2"]
    assert found.baseline.error is None
    assert len(found.trials) == 8
    for number, measured in found.best.items():
        values = [of["incast.slowdown_p99"] for of in measured.by_seed.values()]
        one = next(each for each in found.trials if str(each.number) == number)
        assert one.measures["incast.slowdown_p99"] == pytest.approx(sum(values) / 2)
        # All flows of this scenario are the incast's.
        assert one.measures["incast.slowdown_p99"] == pytest.approx(one.measures["slowdown_p99"])
    table = pl.read_parquet(folder / "trials.parquet")
    assert table["incast.slowdown_p99"].null_count() == 0
    # The baseline is no trial, and no run of the dataset.
    assert len(json.loads((folder / "sweep.json").read_text("utf-8"))["points"]) == 16
    page = write_tune_report(folder, folder / "report.html").read_text("utf-8")
    for name in ("tune-front", "tune-history-0", "tune-history-1", "tune-key-0-flow_control-xoff"):
        assert f'id="{name}"' in page


def test_the_command_writes_the_page_of_a_tuning(folder: Path, command: Command) -> None:
    done = command("report", folder)
    assert done.returncode == 0, done.stderr
    assert "<h1>Tuning of incast.toml</h1>" in (folder / "report.html").read_text("utf-8")
    wrong = command("report", folder, "--baseline", "a=1")
    assert wrong.returncode == 2
    assert "a tuning's baseline is the scenario with its own settings" in wrong.stderr


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"baseline": 1}', '{"baseline": {"settings": 3}, "best": {}}'])
def test_a_damaged_outcome_is_said(folder: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "tuning.json").write_text(text)
    (tmp_path / "trials.parquet").write_bytes((folder / "trials.parquet").read_bytes())
    with pytest.raises(UserError, match="not what a tuning came to"):
        read_outcome(tmp_path)


def test_statistics_of_a_labels_flows(tmp_path: Path) -> None:
    rows = {
        "label": ["web", "web", "web", "incast", None],
        "size_bytes": [1, 1, 1, 1, 1],
        "slowdown": [1.0, 3.0, None, 9.0, 50.0],
        "fct_ps": [1, 1, None, 1, 1],
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "flows.parquet")
    web = flows_of(tmp_path / "flows.parquet", "web")
    # Two complete, of slowdown 1 and 3; percentiles interpolate between them.
    assert (web["slowdown_mean"], web["slowdown_p50"], web["incomplete"]) == (2.0, 2.0, 1.0)
    assert web["slowdown_p99"] == pytest.approx(2.98)
    assert flows_of(tmp_path / "flows.parquet", "nobody") == {}
    assert flows_of(tmp_path / "none.parquet", "web") == {}


def objective(value: str, label: str = "incast") -> Scenario:
    text = INCAST.replace('pattern = "incast"', f'pattern = "incast"\nlabel = "{label}"')
    return Scenario(text + TUNE.replace('"pause_frames"', value), "incast.toml", ".")


def test_measures_of_a_label_are_the_scenarios_own() -> None:
    found, _ = objective('["web.v2.slowdown_p99", "pause_frames"]', "web.v2").check()
    assert found["tune"]["objective"] == ["web.v2.slowdown_p99", "pause_frames"]
    # Without labels nothing is different.
    assert by_label(INCAST + TUNE, [], "x") is None
    # What is set on top counts.
    own = objective('"incast.slowdown_p99"')
    plain = replace(own, overrides=[("tune.objective", '"dropped"')])
    assert plain.check()[0]["tune"]["objective"] == ["dropped"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"incats.slowdown_p99"', "no traffic has the label `incats`; its labels are incast; did you mean `incast`?"),
        ('"incast.pause_frames"', "flows of one label have no `pause_frames`; expected LABEL.MEASURE"),
        ('"incast.slowdown_p9"', "did you mean `slowdown_p95`?"),
        ('".slowdown_p99"', "a label is missing; expected LABEL.MEASURE"),
        ('["incast.slowdown_p99", "incast.slowdown_p99"]', "a measure stands there twice"),
        ('"incast.slowdown_p99"\nbudget = { "incast.incomplete" = -1 }', "expected a number from 0"),
    ],
)
def test_wrong_measures_of_a_label_are_refused(value: str, message: str) -> None:
    for act in (Scenario.check, Scenario.prepare):
        with pytest.raises(UserError, match=re.escape(message)):
            act(objective(value))
