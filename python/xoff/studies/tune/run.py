"""`xoff tune`: trials in batches until there are as many as asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xoff._xoff import __version__ as xoff_version
from xoff.errors import ScenarioError, UserError
from xoff.runs.executor import RunExecutor
from xoff.runs.manifest import deadlock_of
from xoff.runs.parquet import read_table
from xoff.runs.progress import RunsBar
from xoff.runs.scenario import Override, Scenario
from xoff.studies.sweep.folder import RECORD, Folder, column
from xoff.studies.sweep.make import check_memory, make_all
from xoff.studies.sweep.parts import by_label
from xoff.studies.sweep.plan import Planned, files_of, plan_point, value_of, warnings_of
from xoff.studies.tune.best import Trial, best, mean, measures_of
from xoff.studies.tune.outcome import TRIALS, Measured, Outcome
from xoff.studies.tune.study import EARLIER, Record, Study, new_record


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
    baseline: Measured
    """The scenario with its own values of the keys."""


def tune(
    scenario: Scenario,
    out: Path,
    executor: RunExecutor,
    *,
    say: Callable[[str], None] | None = None,
    warn: Callable[[str], None] | None = None,
    quiet: bool = False,
) -> Tuned:
    """Make the trials of the scenario's tuning that `out` does not have yet.

    However the search ends, the next call continues it, beyond its end if the scenario has more `trials`. Which values
    are tried, and so the outcome, depends on the scenario alone, and not on where the search was interrupted. `say`
    gets what fails and ends in a deadlock, and `warn`, at the end, each warning of the runs, once.

    Raises
    ------
    UserError, ScenarioError
        The scenario is wrong, has no tuning, or `out` cannot hold this one.
    RunError
        The cluster's scheduler has gone, a run cannot be stored, or it was lost with its process. The next call tries
        that run again; one that was refused or broke by itself is a failed trial for ever.
    """
    prepared = scenario.prepare()
    if prepared.space is None:
        raise UserError(
            f'{scenario.origin}: no tuning in it; expected a table such as [tune] with objective = "slowdown_p99"'
        )
    resolved = json.loads(prepared.resolved)
    if scenario.by_label is not None:
        resolved = scenario.by_label.applied(resolved)
    about = {"budget": {}, "seeds": [int(resolved["seed"])], **resolved["tune"]}
    about["seeds"] = about["seeds"] or [int(resolved["seed"])]
    alone = json.loads(prepared.alone().resolved)
    for scheme in files_of(scenario):
        alone.setdefault("scheme_files", []).append(hashlib.sha256(scheme.text.encode()).hexdigest())
    identity = _identity(alone, about)
    with Folder(out) as folder:
        record = Record.read(out)
        if record is None:
            _refuse_unrecorded(folder)
            record = new_record(identity)
        if record.identity != identity:
            raise UserError(
                f"{out}: holds the tuning of another scenario, or with other keys, objective, budget, seeds or "
                f"sampler{record.other_xoff()}; only `trials` may grow; name another folder"
            )
        space = json.loads(prepared.space)
        own = {each["key"]: _at(alone, each["key"]) for each in space}
        search = _Search(scenario, about, Study(about, space), record, folder, executor, say or (lambda _: None))
        search.baseline = {key: value for key, value in own.items() if value is not None}
        tuned = search.go(quiet=quiet)
        if warn is not None:
            for warning in search.warnings():
                warn(warning)
        return tuned


def _at(scenario: Any, key: str) -> Any:
    """The value of a dotted key; `None` if there is none."""
    for name in key.split("."):
        if isinstance(scenario, list):
            scenario = scenario[int(name)] if name.isdecimal() and int(name) < len(scenario) else None
        else:
            scenario = scenario.get(name) if isinstance(scenario, dict) else None
    return scenario


def _refuse_unrecorded(folder: Folder) -> None:
    """Refuse a folder that holds a sweep, or a tuning of which no record says which one."""
    out = folder.path
    if (out / RECORD).exists():
        raise UserError(f"{out}: {RECORD}, which says what its tuning tried, cannot be read; name another folder")
    for name in (EARLIER, TRIALS):
        if (out / name).exists():
            raise UserError(
                f"{out}: holds a tuning ({name}) without {RECORD}, which says what it tried: an earlier xoff made it, "
                f"or {RECORD} was removed; name another folder"
            )
    if folder.lists_runs():
        raise UserError(f"{out}: holds a sweep; name another folder for a tuning")


def _identity(scenario: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    what = {"scenario": scenario, "tune": {key: value for key, value in about.items() if key != "trials"}}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def _rows(file: Path) -> int:
    try:
        return int(read_table(file).num_rows)
    except (OSError, UserError):
        return 0


class _Search:
    def __init__(
        self,
        scenario: Scenario,
        about: Mapping[str, Any],
        study: Study,
        record: Record,
        folder: Folder,
        executor: RunExecutor,
        say: Callable[[str], None],
    ) -> None:
        self._scenario, self._about, self._study, self._record = scenario, about, study, record
        self._folder, self._executor, self._say = folder, executor, say
        self._trials: dict[int, Trial] = {}
        self._runs: dict[str, Planned] = {}
        self._of: dict[int, list[Planned]] = {}
        self._wrong: dict[int, str] = {}
        self._failed = folder.failed()
        self._recorded = len(record.trials)
        self._written = _rows(folder.path / TRIALS)
        self._space = study.space
        self._baseline_runs = [plan_point(scenario, [("seed", str(seed))]) for seed in about["seeds"]]
        self.baseline: dict[str, Any] = {}
        """The scenario's own values of the keys."""

    def go(self, *, quiet: bool) -> Tuned:
        batch, study = int(self._about["batch"]), self._study
        total = max(int(self._about["trials"]), self._recorded)
        try:
            with ExitStack() as stack:
                bar: RunsBar | None = None
                while study.count < total:
                    first = study.count
                    # Members of a batch know nothing of each other's outcome, however long the search was to be.
                    trials = [study.ask() for _ in range(min(batch - first % batch, total - first))]
                    new = [number for number, overrides in trials if self._record.take(number, overrides)]
                    if new:
                        self._record.write(self._folder.path)
                    runs = self._planned(trials)
                    if missing := self._missing(runs):
                        later = (total - study.count) * len(self._about["seeds"])
                        bar = bar or self._bar(stack, len(missing) + later, quiet=quiet)
                    self._make(runs, (lambda: None) if bar is None else bar.advance)
                    for number, overrides in trials:
                        self._tell(number, overrides)
                # The baseline is no trial, and comes when all trials are known.
                self._make(self._baseline_runs, lambda: None)
        except BaseException:
            # A search that is cut off before it is back where it was says less than the folder does, and so does one of
            # which the folder's record has other values.
            if self._replayed() and len(self._trials) >= self._written:
                self._write()
            raise
        self._write()
        trials_found = [self._trials[number] for number in sorted(self._trials)]
        objective, budget = list(self._about["objective"]), dict(self._about["budget"])
        return Tuned(trials_found, self._best(), objective, budget, self._measured(self.baseline, self._baseline_runs))

    def warnings(self) -> list[str]:
        """Each warning of the runs of all trials, once, with how many runs it concerns."""
        return warnings_of(list(self._runs.values()))

    def _replayed(self) -> bool:
        """Whether every trial of the record is planned."""
        return len(self._of) + len(self._wrong) >= self._recorded

    def _bar(self, stack: ExitStack, count: int, *, quiet: bool) -> RunsBar | None:
        if quiet:
            return None
        workers = self._executor.at_once if self._executor.here else None
        return stack.enter_context(RunsBar(Path(self._scenario.origin).name, count=count, workers=workers))

    def _plan(self, overrides: Sequence[Override]) -> list[Planned]:
        seeds = self._about["seeds"]
        runs = [plan_point(self._scenario, [*overrides, ("seed", str(seed))]) for seed in seeds]
        self._runs.update({run.run: run for run in runs})
        return runs

    def _planned(self, trials: Sequence[tuple[int, list[Override]]]) -> list[Planned]:
        """The runs of a batch, each once; a scenario that is refused is a failed trial."""
        refused: ValueError | None = None
        for number, overrides in trials:
            try:
                self._of[number] = self._plan(overrides)
            except ScenarioError as error:
                self._wrong[number], refused = str(error), error
                self._say(f"trial {number}: {error}")
        tried = [number for number, _ in trials if number in self._of]
        if refused is not None and not tried and not any(t.error is None for t in self._trials.values()):
            raise refused
        return list({run.run: run for number in tried for run in self._of[number]}.values())

    def _missing(self, runs: Sequence[Planned]) -> list[Planned]:
        # A run that failed fails again: the search goes on as if it had not been interrupted.
        return [run for run in runs if run.run not in self._failed and not self._folder.has(run.run)]

    def _make(self, runs: Sequence[Planned], advance: Callable[[], None]) -> None:
        missing = self._missing(runs)
        if not missing:
            return
        check_memory(missing, self._executor)
        if self._replayed():
            self._folder.write_index(list(self._runs.values()), self._failed, sampled=True)

        def finished(run: Planned, error: str | None) -> None:
            advance()
            if error is not None:
                self._failed[run.run] = error
            if wrong := error or self._deadlock(run):
                self._say(f"{run.label}: {wrong}")

        make_all(missing, self._executor, self._folder, finished, end_if_lost=True)

    def _tell(self, number: int, overrides: Sequence[Override]) -> None:
        runs = self._of.get(number, [])
        errors = [self._failed.get(run.run) or self._deadlock(run) for run in runs]
        error = self._wrong.get(number) or next(filter(None, errors), None)
        trial = self._judge(number, overrides, runs, error)
        self._study.tell(number, None if trial.error else [trial.measures[name] for name in self._about["objective"]])

    def _deadlock(self, run: Planned) -> str:
        """The deadlock of a run that was made and did not expect one: what it measured is of other flows."""
        return deadlock_of(self._folder.manifest(run.run))

    def _judge(self, number: int, overrides: Sequence[Override], runs: Sequence[Planned], error: str | None) -> Trial:
        settings = {key: value_of(text) for key, text in overrides}
        measures: dict[str, float] = {}
        if error is None:
            measures = mean([self._measures(run) for run in runs])
            needed = [*self._about["objective"], *self._about["budget"]]
            lacking = [name for name in needed if name not in measures]
            if lacking:
                error = f"its runs have no {lacking[0]}: no flow completed"
        trial = Trial(number, settings, {} if error else measures, error)
        budget = self._about["budget"]
        self._study.over[number] = [trial.measures.get(name, 2 * most + 1) - most for name, most in budget.items()]
        self._trials[number] = trial
        return trial

    def _measures(self, run: Planned) -> dict[str, float]:
        found = measures_of(self._folder.manifest(run.run)["summary"])
        for name in dict.fromkeys([*self._about["objective"], *self._about["budget"]]):
            label, dot, measure = name.rpartition(".")
            own = by_label(self._folder.of(run.run) / "flows.parquet", label) if dot else {}
            if measure in own:
                found[name] = own[measure]
        return found

    def _measured(self, settings: dict[str, Any], runs: Sequence[Planned]) -> Measured:
        """What runs with these values came to, each by itself."""
        errors = [self._failed[run.run] for run in runs if run.run in self._failed]
        made = [run for run in runs if not errors and self._folder.has(run.run)]
        return Measured(settings, {str(run.seed): self._measures(run) for run in made}, errors[0] if errors else None)

    def _best(self) -> list[Trial]:
        return best(self._trials.values(), self._about["objective"], self._about["budget"])

    def _write(self) -> None:
        import polars as pl

        runs = list(self._runs.values())
        self._folder.write_index(runs, self._failed, sampled=True)
        self._folder.write_dataset(runs, self._failed)
        front = {trial.number for trial in self._best()}
        trials = [self._trials[number] for number in sorted(self._trials)]
        names = list(dict.fromkeys(name for trial in trials for name in trial.measures))
        keys = list(dict.fromkeys(key for trial in trials for key in trial.settings))
        columns = {
            "trial": [trial.number for trial in trials],
            **{key: column([trial.settings.get(key) for trial in trials]) for key in keys},
            **{name: [trial.measures.get(name) for trial in trials] for name in names},
            "within_budget": [trial.error is None and not trial.exceeds(self._about["budget"]) for trial in trials],
            "best": [trial.number in front for trial in trials],
            "error": [trial.error for trial in trials],
        }
        self._folder.write_table(pl.DataFrame(columns, schema_overrides={"error": pl.String}), TRIALS)
        Outcome(
            self._scenario.origin,
            xoff_version,
            dict(self._about),
            [dict(each) for each in self._space],
            self._measured(self.baseline, self._baseline_runs),
            {str(trial.number): self._measured(trial.settings, self._of[trial.number]) for trial in self._best()},
        ).write(self._folder.path)
