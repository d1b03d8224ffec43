"""`xoff tune`: trials in batches until there are as many as asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xoff.errors import ScenarioError, UserError
from xoff.runs.executor import RunExecutor
from xoff.runs.progress import RunsBar
from xoff.runs.scenario import Override, Scenario
from xoff.studies.sweep.folder import Folder, column
from xoff.studies.sweep.make import make_all
from xoff.studies.sweep.plan import Planned, files_of, plan_point, value_of
from xoff.studies.tune.best import MEASURES, Trial, best, mean, measures_of
from xoff.studies.tune.study import Study

TRIALS = "trials.parquet"
"""A row for each trial."""


@dataclass(frozen=True)
class Tuned:
    """What came of a tuning."""

    trials: list[Trial]
    """All trials so far."""
    best: list[Trial]
    """The best of them: one, or a Pareto front; empty if no trial keeps to the budget."""
    objective: list[str]
    """The measures that were minimized."""
    budget: dict[str, float]
    """Upper bounds of measures."""


def tune(
    scenario: Scenario,
    out: Path,
    executor: RunExecutor,
    *,
    say: Callable[[str], None] | None = None,
    quiet: bool = False,
) -> Tuned:
    """Make the trials of the scenario's tuning that `out` does not have yet.

    However the search ends, the next call continues it, beyond its end if the scenario has more `trials`. Which values
    are tried, and so the outcome, depends on the scenario alone.

    Raises
    ------
    UserError, ScenarioError
        The scenario is wrong, has no tuning, or `out` cannot hold this one.
    RunError
        The cluster's scheduler has gone.
    """
    prepared = scenario.prepare()
    if prepared.space is None:
        raise UserError(
            f'{scenario.origin}: no tuning in it; expected a table such as [tune] with objective = "slowdown_p99"'
        )
    resolved = json.loads(prepared.resolved)
    about = {"budget": {}, "seeds": [int(resolved["seed"])], **resolved["tune"]}
    about["seeds"] = about["seeds"] or [int(resolved["seed"])]
    alone = json.loads(prepared.alone().resolved)
    for scheme in files_of(scenario):
        alone.setdefault("scheme_files", []).append(hashlib.sha256(scheme.text.encode()).hexdigest())
    with Folder(out) as folder:
        study = Study(out, about, json.loads(prepared.space))
        if not study.agree(_identity(alone, about)):
            raise UserError(
                f"{out}: holds the tuning of another scenario, or with other keys, objective, budget, seeds or "
                "sampler; only `trials` may grow; name another folder"
            )
        return _Search(scenario, about, study, folder, executor, say or (lambda _: None)).go(quiet=quiet)


def _identity(scenario: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    what = {"scenario": scenario, "tune": {key: value for key, value in about.items() if key != "trials"}}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


class _Search:
    def __init__(
        self,
        scenario: Scenario,
        about: Mapping[str, Any],
        study: Study,
        folder: Folder,
        executor: RunExecutor,
        say: Callable[[str], None],
    ) -> None:
        self._scenario, self._about, self._study = scenario, about, study
        self._folder, self._executor, self._say = folder, executor, say
        self._trials: dict[int, Trial] = {}
        self._runs: dict[str, Planned] = {}
        self._failed = folder.failed()

    def go(self, *, quiet: bool) -> Tuned:
        wanted, batch = int(self._about["trials"]), int(self._about["batch"])
        study = self._study
        study.drop_torn()
        for number, overrides in study.finished():
            self._known(number, overrides)
        try:
            with ExitStack() as stack:
                bar = self._bar(stack, wanted, quiet=quiet)
                while True:
                    open_ones = study.open()
                    # A batch ends where it would have without an interruption.
                    end = min(wanted, (study.count() // batch + (study.count() % batch > 0 or not open_ones)) * batch)
                    while study.count() < end:
                        open_ones.append(study.ask())
                    if not open_ones:
                        break
                    self._make(open_ones, (lambda: None) if bar is None else bar.advance)
        finally:
            self._write()
        trials = [self._trials[number] for number in sorted(self._trials)]
        return Tuned(trials, self._best(), list(self._about["objective"]), dict(self._about["budget"]))

    def _bar(self, stack: ExitStack, wanted: int, *, quiet: bool) -> RunsBar | None:
        left = max(0, wanted - self._study.count()) + len(self._study.open())
        if quiet or left == 0:
            return None
        count = left * len(self._about["seeds"])
        workers = self._executor.at_once if self._executor.here else None
        return stack.enter_context(RunsBar(Path(self._scenario.origin).name, count=count, workers=workers))

    def _plan(self, overrides: Sequence[Override]) -> list[Planned]:
        seeds = self._about["seeds"]
        runs = [plan_point(self._scenario, [*overrides, ("seed", str(seed))]) for seed in seeds]
        self._runs.update({run.run: run for run in runs})
        return runs

    def _known(self, number: int, overrides: Sequence[Override]) -> None:
        """Take up a trial of an earlier process, of which the runs are there."""
        try:
            runs = self._plan(overrides)
        except ScenarioError as error:
            self._judge(number, overrides, [], str(error))
            return
        errors = [self._failed.get(run.run, "a run of it is gone") for run in runs if not self._folder.has(run.run)]
        self._judge(number, overrides, runs, errors[0] if errors else None)

    def _make(self, trials: Sequence[tuple[int, list[Override]]], advance: Callable[[], None]) -> None:
        planned: dict[int, list[Planned]] = {}
        wrong: dict[int, str] = {}
        refused: ValueError | None = None
        for number, overrides in trials:
            try:
                planned[number] = self._plan(overrides)
            except ScenarioError as error:
                wrong[number], refused = str(error), error
                self._say(f"trial {number}: {error}")
                for _ in self._about["seeds"]:
                    advance()
        if refused is not None and not planned and not any(t.error is None for t in self._trials.values()):
            raise refused
        every = list({run.run: run for runs in planned.values() for run in runs}.values())
        self._folder.write_index(list(self._runs.values()), self._failed, sampled=True)

        def finished(run: Planned, error: str | None) -> None:
            advance()
            self._failed.pop(run.run, None)
            if error is not None:
                self._failed[run.run] = error
                self._say(f"{run.label}: {error}")

        make_all(every, self._executor, self._folder, finished)
        for number, overrides in trials:
            runs = planned.get(number, [])
            errors = [self._failed[run.run] for run in runs if run.run in self._failed]
            trial = self._judge(number, overrides, runs, wrong.get(number) or (errors[0] if errors else None))
            outcome = None if trial.error else [trial.measures[name] for name in self._about["objective"]]
            self._study.tell(number, outcome)

    def _judge(self, number: int, overrides: Sequence[Override], runs: Sequence[Planned], error: str | None) -> Trial:
        settings = {key: value_of(text) for key, text in overrides}
        measures: dict[str, float] = {}
        if error is None:
            measures = mean([measures_of(self._folder.manifest(run.run)["summary"]) for run in runs])
            needed = [*self._about["objective"], *self._about["budget"]]
            lacking = [name for name in needed if name not in measures]
            if lacking:
                error = f"its runs have no {lacking[0]}: no flow completed"
        trial = Trial(number, settings, {} if error else measures, error)
        budget = self._about["budget"]
        self._study.over[number] = [trial.measures.get(name, 2 * most + 1) - most for name, most in budget.items()]
        self._trials[number] = trial
        return trial

    def _best(self) -> list[Trial]:
        return best(self._trials.values(), self._about["objective"], self._about["budget"])

    def _write(self) -> None:
        import polars as pl

        runs = list(self._runs.values())
        self._folder.write_index(runs, self._failed, sampled=True)
        self._folder.write_dataset(runs, self._failed)
        front = {trial.number for trial in self._best()}
        trials = [self._trials[number] for number in sorted(self._trials)]
        names = [name for name in MEASURES if any(name in trial.measures for trial in trials)]
        keys = list(dict.fromkeys(key for trial in trials for key in trial.settings))
        columns = {
            "trial": [trial.number for trial in trials],
            **{key: column([trial.settings.get(key) for trial in trials]) for key in keys},
            **{name: [trial.measures.get(name) for trial in trials] for name in names},
            "within_budget": [trial.error is None and not trial.exceeds(self._about["budget"]) for trial in trials],
            "best": [trial.number in front for trial in trials],
            "error": [trial.error for trial in trials],
        }
        pl.DataFrame(columns, schema_overrides={"error": pl.String}).write_parquet(self._folder.path / TRIALS)
