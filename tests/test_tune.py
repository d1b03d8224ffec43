"""Tuning: what is best, that it goes on where it was, and that only the scenario decides what is tried."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import ROOT, SMALL, Command
from test_sweep import finished
from xoff import _xoff
from xoff.errors import RunError, ScenarioError, UserError
from xoff.runs.executor import Local
from xoff.runs.scenario import Scenario
from xoff.studies.sweep import Swept, sweep
from xoff.studies.tune import Trial, Tuned, best, tune
from xoff.studies.tune.best import MEASURES, mean, measures_of
from xoff.studies.tune.show import best_text
from xoff.studies.tune.study import Study

# Four hosts send to one at once; the lower PFC's threshold, the more PAUSE frames.
INCAST = SMALL.replace("hosts = 3", "hosts = 5").replace(
    'pattern = "flow"\nsrc = "host1"\ndst = "host0"\nsize = "1MB"',
    'pattern = "incast"\nsenders = 4\nreceiver = "host0"\nsize = "200KB"',
)

TUNE = """
[tune]
objective = "pause_frames"
trials = 8
batch = 4
seeds = [1, 2]

[tune.keys]
"flow_control.xoff" = { from = "10KB", to = "400KB", log = true }
"""


def tuned(tail: str, folder: Path, workers: int = 2) -> Tuned:
    return tune(Scenario(INCAST + tail, "incast.toml", "."), folder, Local(workers), quiet=True)


def test_the_best_trials_by_hand() -> None:
    def trial(number: int, p99: float, frames: float, error: str | None = None) -> Trial:
        return Trial(number, {}, {} if error else {"slowdown_p99": p99, "pause_frames": frames}, error)

    trials = [
        trial(0, 5.0, 10),
        trial(1, 3.0, 40),
        trial(2, 3.0, 40),  # the same outcome as an earlier one
        trial(3, 4.0, 40),  # worse than 1 in one, no better in the other
        trial(4, 2.0, 90),
        trial(5, 0, 0, "lost a packet"),
        trial(6, 9.0, 0),
    ]
    cases: list[tuple[list[str], dict[str, float]]] = [
        (["slowdown_p99"], {}),
        (["slowdown_p99"], {"pause_frames": 40}),
        (["slowdown_p99", "pause_frames"], {}),
        (["slowdown_p99", "pause_frames"], {"slowdown_p99": 4.5}),
        (["slowdown_p99"], {"pause_frames": -1}),
    ]
    numbers = [[t.number for t in best(trials, objective, budget)] for objective, budget in cases]
    assert numbers == [[4], [1], [4, 1, 0, 6], [4, 1], []]
    assert trials[0].exceeds({"pause_frames": 4, "slowdown_p99": 5}) == {"pause_frames": 6}


def test_the_measures_are_those_of_the_scenario() -> None:
    choices = json.loads(_xoff.schema())["$defs"]["Measure"]["oneOf"]
    assert tuple(choice["const"] for choice in choices) == MEASURES
    summary = {
        "flows": 10,
        "completed": 8,
        "slowdown": {"mean": 2.0, "p50": 1.5, "p95": 3.0, "p99": 4.0},
        "pause_frames": 6,
        "paused_ps": 5,
        "hol_blocked": None,
        "max_queue_bytes": 4,
        "dropped": 0,
    }
    one = measures_of(summary)
    assert one.keys() == set(MEASURES) - {"hol_blocked"}
    assert one["incomplete"] == 2
    two = measures_of({**summary, "slowdown": None, "pause_frames": 7})
    assert mean([one, two])["pause_frames"] == 6.5
    assert "slowdown_p99" not in mean([one, two])


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Tuned]:
    folder = tmp_path_factory.mktemp("tune") / "eight"
    return folder, tuned(TUNE, folder)


def test_it_finds_what_is_known_to_be_best(eight: tuple[Path, Tuned]) -> None:
    # Four senders of 200 KB, of which a quarter goes at once: their ingresses never hold 200 KB each, so above that
    # there is no PAUSE, and below some 10 KB there are many.
    folder, found = eight
    assert [trial.number for trial in found.trials] == list(range(8))
    frames = {trial.number: trial.measures["pause_frames"] for trial in found.trials}
    [winner] = found.best
    assert frames[winner.number] == min(frames.values()) == 0
    assert max(frames.values()) > 0
    table = pl.read_parquet(folder / "trials.parquet")
    assert table.filter("best")["trial"].to_list() == [winner.number]
    assert table["within_budget"].all()
    # Two seeds of each trial, and of the baseline.
    assert len(finished(folder)) == 18
    # The folder is that of a sweep too.
    assert len(pl.read_parquet(f"{folder}/flows/")) == 16 * 4
    assert json.loads((folder / "sweep.json").read_text("utf-8"))["sampled"] is True
    text = best_text(found)
    assert "8 trials" in text
    assert f"--set flow_control.xoff={winner.settings['flow_control.xoff']}" in text


def test_what_is_tried_depends_on_the_scenario_alone(eight: tuple[Path, Tuned], tmp_path: Path) -> None:
    _, reference = eight
    # In two steps, with one process instead of two.
    half = TUNE.replace("trials = 8", "trials = 4")
    assert tuned(half, tmp_path / "out", workers=1).trials == reference.trials[:4]
    written = finished(tmp_path / "out")
    whole = tuned(TUNE, tmp_path / "out", workers=1)
    assert whole.trials == reference.trials
    after = finished(tmp_path / "out")
    assert {name: after[name] for name in written} == written
    # Given again, nothing is made.
    assert tuned(TUNE, tmp_path / "out").trials == reference.trials
    assert finished(tmp_path / "out") == after
    # Another seed tries others.
    other = tuned(half.replace("seeds", "sampler_seed = 2\nseeds"), tmp_path / "other")
    assert other.trials != reference.trials[:4]


CUT_OFF = """
import os, signal, sys
from xoff.cli.app import main
from xoff.studies.tune import run as tuning

real, done = tuning.make_all, []

def make_all(runs, executor, folder, finished, **more):
    def counted(run, error):
        finished(run, error)
        done.append(run)
        if len(done) == 9:
            {end}
    real(runs, executor, folder, counted, **more)

tuning.make_all = make_all
if __name__ == "__main__":
    sys.exit(main(["tune", "incast.toml", "-o", "out", "--workers", "1", "--quiet"]))
"""
"""A tuning that ends itself when its ninth run is finished: in the second batch of four trials with two seeds each."""


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("os.killpg(0, signal.SIGKILL)", -signal.SIGKILL),
        ("signal.raise_signal(signal.SIGINT)", 130),
        ("signal.raise_signal(signal.SIGTERM)", 143),
        ("signal.raise_signal(signal.SIGHUP)", 129),
    ],
)
def test_a_tuning_that_is_cut_off_goes_on_where_it_was(
    eight: tuple[Path, Tuned], tmp_path: Path, end: str, status: int
) -> None:
    (tmp_path / "incast.toml").write_text(INCAST + TUNE)
    (tmp_path / "cut_off.py").write_text(CUT_OFF.format(end=end))
    done = subprocess.run(
        [sys.executable, "cut_off.py"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert 9 <= len(finished(tmp_path / "out")) <= 10, "in the middle: one more may have been begun"
    if status != -signal.SIGKILL:
        assert "give the command again to go on" in done.stderr
        # The trials of whole batches have an outcome.
        assert pl.read_parquet(tmp_path / "out" / "trials.parquet")["trial"].to_list() == [0, 1, 2, 3]
    before = finished(tmp_path / "out")
    assert tuned(TUNE, tmp_path / "out").trials == eight[1].trials
    after = finished(tmp_path / "out")
    assert {name: after[name] for name in before} == before


def test_other_values_than_those_of_the_record_are_said(eight: tuple[Path, Tuned], tmp_path: Path) -> None:
    shutil.copytree(eight[0], tmp_path / "out")
    file = tmp_path / "out" / "study.json"
    record = json.loads(file.read_text())
    assert [list(trial) for trial in record["trials"]] == [["flow_control.xoff"]] * 8
    record["trials"][3]["flow_control.xoff"] = '"1KB"'
    file.write_text(json.dumps({**record, "optuna": "4.0.0"}))
    with pytest.raises(UserError, match=r"trial 3: Optuna .* chooses other values than Optuna 4\.0\.0"):
        tuned(TUNE, tmp_path / "out")
    # Of what is the same, nothing is to be installed.
    optuna = record["optuna"]
    file.write_text(json.dumps({**record, "xoff": "0.0.9"}))
    with pytest.raises(UserError, match=r"trial 3: xoff .* chooses other values than study.json has, by xoff 0\.0\.9;"):
        tuned(TUNE, tmp_path / "out")
    file.write_text(json.dumps(record))
    with pytest.raises(UserError, match=r"trial 3: study.json has other values than this search chooses"):
        tuned(TUNE, tmp_path / "out")
    assert optuna == json.loads((eight[0] / "study.json").read_text())["optuna"]
    # Nothing of the search that is there was replaced.
    for name in ("trials.parquet", "runs.parquet", "sweep.json"):
        assert (tmp_path / "out" / name).read_bytes() == (eight[0] / name).read_bytes()


def test_trials_before_a_refusal_for_want_of_memory_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def check(runs: list[Any], _: object) -> None:
        asked.append(len(runs))
        if len(asked) == 2:
            raise UserError("no memory is left")

    monkeypatch.setattr("xoff.studies.tune.run.check_memory", check)
    with pytest.raises(UserError, match="no memory is left"):
        tuned(TUNE, tmp_path / "out")
    # A batch of four, and the one that was refused.
    assert pl.read_parquet(tmp_path / "out" / "trials.parquet")["trial"].to_list() == [0, 1, 2, 3]


@pytest.mark.parametrize("cut", [0, 3, 6])
def test_a_search_that_is_cut_off_while_it_goes_back_keeps_what_the_folder_says(
    eight: tuple[Path, Tuned], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    shutil.copytree(eight[0], tmp_path / "out")
    tell = Study.tell

    def told(self: Study, number: int, outcome: Any) -> None:
        if number == cut:
            raise KeyboardInterrupt
        tell(self, number, outcome)

    with monkeypatch.context() as patch:
        patch.setattr(Study, "tell", told)
        with pytest.raises(KeyboardInterrupt):
            tuned(TUNE.replace("trials = 8", "trials = 12"), tmp_path / "out")
    for name in ("trials.parquet", "runs.parquet", "sweep.json"):
        assert (tmp_path / "out" / name).read_bytes() == (eight[0] / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("study.log", "{}", r"holds a tuning \(study\.log\) without study\.json"),
        ("trials.parquet", "", r"holds a tuning \(trials\.parquet\) without study\.json"),
        ("study.json", "{", r"study\.json, which says what its tuning tried, cannot be read"),
    ],
)
def test_a_tuning_without_a_record_is_not_taken_over(tmp_path: Path, name: str, text: str, message: str) -> None:
    out = tmp_path / "out"
    (out / "runs").mkdir(parents=True)
    (out / "sweep.json").write_text(json.dumps({"format": 1, "points": [], "failed": {}}))
    (out / name).write_text(text)
    with pytest.raises(UserError, match=message):
        tuned(TUNE, out)


def test_a_sweep_and_a_tuning_do_not_share_a_folder(tmp_path: Path) -> None:
    def swept(out: Path) -> Swept:
        return sweep(Scenario(SMALL + "[sweep]\nseed = [1]\n", "s.toml", "."), out, Local(1), quiet=True)

    one = TUNE.replace("trials = 8\nbatch = 4", "trials = 1")
    swept(tmp_path / "swept")
    tuned(one, tmp_path / "tuned", 1)
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(UserError, match="swept: holds a sweep; name another folder"):
        tuned(one, tmp_path / "swept", 1)
    with pytest.raises(UserError, match="tuned: holds a tuning; name another folder"):
        swept(tmp_path / "tuned")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == kept


def test_a_trial_in_a_deadlock_is_a_failed_one_that_is_said(command: Command, tmp_path: Path) -> None:
    # With 100 KB the ring is in a deadlock; 1 GB are more than its four flows send in 500 us.
    ring = (ROOT / "scenarios" / "deadlock.toml").read_text("utf-8") + TUNE.replace(
        '{ from = "10KB", to = "400KB", log = true }', '["100KB", "1GB"]'
    )
    (tmp_path / "ring.toml").write_text(ring.replace('expect = "deadlock"\n', ""))
    done = command("tune", "ring.toml", "-o", "out", "-q")
    trials = pl.read_parquet(tmp_path / "out" / "trials.parquet")
    stuck = trials["flow_control.xoff"] == "100KB"
    assert 0 < stuck.sum() < 8
    assert (trials["error"].str.starts_with("deadlock: these ports wait").fill_null(value=False) == stuck).all()
    assert f"8 trials, {stuck.sum()} failed" in done.stdout
    assert "xoff=1GB" in done.stdout
    lines = [line for line in done.stderr.splitlines() if "failed" in line]
    assert len(lines) == 2, "one of each seed"
    assert all("xoff = 100KB" in line and "deadlock: these ports wait on each other for ever" in line for line in lines)
    again = command("tune", "ring.toml", "-o", "out", "-q")
    assert again.stdout == done.stdout
    # A deadlock that is expected is an outcome like any other.
    (tmp_path / "expected.toml").write_text(ring)
    command("tune", "expected.toml", "-o", "expected", "-q")
    assert pl.read_parquet(tmp_path / "expected" / "trials.parquet")["error"].is_null().all()


def test_warnings_of_the_trials_are_said_once_each(command: Command, tmp_path: Path) -> None:
    # Far more than 5 B can arrive after a PAUSE; each value is a run with each of two seeds.
    keys = TUNE.replace("flow_control.xoff", "flow_control.headroom").replace(
        '{ from = "10KB", to = "400KB", log = true }', '["5B", "1MB"]'
    )
    (tmp_path / "small.toml").write_text(SMALL + keys)
    done = command("tune", "small.toml", "-o", "out", "-q")
    [line] = done.stderr.splitlines()
    assert line.startswith("warning: 2 of 4 runs: `headroom` in [flow_control] is 5B at")


class Dying(Executor):
    """Its process dies of every run."""

    at_once, here, blames = 1, True, True

    def start(self) -> Executor:
        """It is whole again."""
        return self

    def close(self) -> None:
        """Nothing to do."""

    def submit(self, call: Any) -> Future[Any]:  # type: ignore[override]
        """Die."""
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor())
        return future


def test_a_run_that_is_lost_with_its_process_is_no_failed_trial(eight: tuple[Path, Tuned], tmp_path: Path) -> None:
    source = Scenario(INCAST + TUNE, "incast.toml", ".")
    with pytest.raises(RunError, match=r"its process died.*give the command again to go on"):
        tune(source, tmp_path / "out", Dying(), quiet=True)
    assert tuned(TUNE, tmp_path / "out").trials == eight[1].trials


def test_a_search_that_grows_within_a_batch_is_the_longer_search(eight: tuple[Path, Tuned], tmp_path: Path) -> None:
    # Six trials end in the middle of the second batch of four.
    assert tuned(TUNE.replace("trials = 8", "trials = 6"), tmp_path / "out").trials == eight[1].trials[:6]
    assert tuned(TUNE, tmp_path / "out").trials == eight[1].trials


def test_a_pareto_front_within_a_budget(tmp_path: Path) -> None:
    tail = TUNE.replace('"pause_frames"', '["slowdown_p99", "max_queue_bytes"]').replace(
        "seeds = [1, 2]", 'budget = { pause_frames = 20 }\nsampler = "nsga2"'
    )
    found = tuned(tail, tmp_path / "out")
    for one in found.best:
        assert one.measures["pause_frames"] <= 20
        assert not any(
            other.measures["slowdown_p99"] < one.measures["slowdown_p99"]
            and other.measures["max_queue_bytes"] < one.measures["max_queue_bytes"]
            for other in found.trials
            if other.measures["pause_frames"] <= 20
        )
    assert found.best


def test_a_budget_that_nothing_keeps_to(command: Command, tmp_path: Path) -> None:
    tail = TUNE.replace("seeds = [1, 2]", "budget = { max_queue_bytes = 1 }").replace("trials = 8", "trials = 2")
    (tmp_path / "incast.toml").write_text(INCAST + tail)
    done = command("tune", "incast.toml", "-o", "out", "--quiet")
    assert done.returncode == 1
    assert "2 above the budget" in done.stdout
    assert "no trial keeps to the budget" in done.stdout


CHOICES = """
[tune]
objective = "slowdown_mean"
sampler = "random"
trials = 8

[tune.keys]
"scheme.name" = ["dcqcn"]
"detector.name" = ["red"]
"detector.k_min" = ["10KB", "500KB"]
"detector.k_max" = ["100KB"]
"""


def test_values_that_are_refused_together_are_a_failed_trial(tmp_path: Path) -> None:
    found = tuned(CHOICES, tmp_path / "out")
    bad = {trial.number for trial in found.trials if trial.settings["detector.k_min"] == "500KB"}
    assert 0 < len(bad) < 8
    assert {trial.number for trial in found.trials if trial.error} == bad
    assert all("k_min" in str(trial.error) for trial in found.trials if trial.error)
    # Trials with the same values have the same run.
    assert len(finished(tmp_path / "out")) == 2  # the trial and the baseline
    assert len(found.best) == 1
    # Where nothing else is tried, it is a mistake.
    with pytest.raises(ScenarioError, match="k_min"):
        tuned(CHOICES.replace('"10KB", ', ""), tmp_path / "none")


def test_mistakes(tmp_path: Path, command: Command) -> None:
    with pytest.raises(UserError, match="no tuning in it"):
        tuned("", tmp_path / "out")
    tuned(TUNE.replace("trials = 8", "trials = 1"), tmp_path / "out")
    with pytest.raises(UserError, match="holds the tuning of another scenario"):
        tuned(TUNE.replace("10KB", "20KB"), tmp_path / "out")
    (tmp_path / "wrong.toml").write_text(INCAST + TUNE.replace("objective", "objektive"))
    done = command("tune", "wrong.toml", "-o", "new")
    assert done.returncode == 2
    assert "did you mean `objective`" in done.stderr
    assert "wrong.toml:" in done.stderr
