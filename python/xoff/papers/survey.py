"""A paper's claims under many readings: the runs, the verdicts, the search, and what they come to.

`xoff reproduce PAPER --readings` runs the design of the paper's space: the default, each alternative alone, and the
pairs of choices that may interact. Then Optuna looks for the single reading under which most claims hold. Runs of equal
scenarios are made once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl

from xoff.errors import extra
from xoff.papers.paper import Paper, Rerun
from xoff.papers.space import Reading, Space
from xoff.papers.verdicts import Claim, Finding
from xoff.runs.executor import RunExecutor
from xoff.runs.jobs import Job, run_jobs
from xoff.runs.kept import Kept
from xoff.runs.scenario import overrides_from, read

BATCH = 4
"""Readings that the search chooses at a time, whatever the number of processes: so the search does not depend on it."""
SEED = 1
"""Of the search."""

HOLDING = ("reproduced", "direction")
"""Verdicts of a claim that holds."""

Kind = Literal["robust", "hanging", "never met", "undecided"]


class Cache:
    """Results of runs by the content of their scenario."""

    def __init__(self, title: str, executor: Callable[[], RunExecutor] | None = None, kept: Kept | None = None) -> None:
        self._title, self._executor, self._kept = title, executor, kept
        self._known: dict[str, Any] = {}
        # By what a job says: the same words mean the same, and to resolve a scenario can take a second.
        self._digests: dict[str, str] = {}
        self.asked = 0
        """Runs that were asked for."""
        self.made = 0
        """Runs that were made."""

    def results(self, groups: Sequence[Sequence[Job]]) -> list[dict[Any, Any]]:
        """The results of each group of jobs by their keys."""
        digests = [[self.digest(job) for job in jobs] for jobs in groups]
        self.asked += sum(len(jobs) for jobs in groups)
        missing = {
            name: replace(job, key=name)
            for jobs, names in zip(groups, digests, strict=True)
            for job, name in zip(jobs, names, strict=True)
            if name not in self._known
        }
        self.made += len(missing)
        executor = self._executor() if self._executor else None
        self._known |= run_jobs(list(missing.values()), self._title, executor, self._kept)
        return [
            {job.key: self._known[name] for job, name in zip(jobs, names, strict=True)}
            for jobs, names in zip(groups, digests, strict=True)
        ]

    def digest(self, job: Job) -> str:
        """What `digest` says of a job, once for all jobs that say the same."""
        said = repr((job.scenario, sorted(job.sets.items()), job.seed, job.measure))
        if said not in self._digests:
            self._digests[said] = digest(job)
        return self._digests[said]


def digest(job: Job) -> str:
    """What a job's result depends on: the resolved scenario, the folder of its files, and what is measured."""
    prepared = read(job.scenario, overrides_from(job.sets)).prepare(job.seed)
    how, given = job.measure, ""
    while isinstance(how, partial):
        given += repr((how.args, sorted(how.keywords.items())))
        how = how.func
    what = [prepared.resolved, str(job.scenario.parent), f"{how.__module__}.{how.__qualname__}", given]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


@dataclass(frozen=True)
class Survey:
    """The claims under each reading."""

    claims: Sequence[Claim]
    """The claims."""
    findings: dict[Reading, dict[str, Finding]]
    """By reading, in the order of the runs, and by the claim's name; the default is the first."""
    searched: tuple[Reading, ...] = ()
    """Readings that only the search has tried."""
    asked: int = 0
    """Runs that were asked for."""
    made: int = 0
    """Runs that were made."""

    def verdict(self, reading: Reading, claim: Claim) -> str:
        """The verdict on a claim under a reading."""
        return self.findings[reading][claim.name].verdict

    def holds(self, reading: Reading, claim: Claim) -> bool:
        """Whether a claim holds under a reading."""
        return self.verdict(reading, claim) in HOLDING

    def score(self, reading: Reading) -> float:
        """How many claims hold, and among equals how many are reproduced."""
        verdicts = [finding.verdict for finding in self.findings[reading].values()]
        return sum(each in HOLDING for each in verdicts) + verdicts.count("reproduced") / 1000

    @property
    def best(self) -> Reading:
        """The reading under which most claims hold; among equals the one that departs least from the default."""
        return max(self.findings, key=lambda reading: (self.score(reading), -len(reading.chosen)))

    def kind(self, claim: Claim) -> Kind:
        """Whether a claim holds under every reading, under some but not others, under none, or is not decided.

        It is not decided if no reading contradicts it, and not every one lets it hold.
        """
        verdicts = [self.verdict(reading, claim) for reading in self.findings]
        held = [verdict in HOLDING for verdict in verdicts]
        if all(held):
            return "robust"
        if "contradicted" not in verdicts:
            return "undecided"
        return "hanging" if any(held) else "never met"

    @property
    def shown(self) -> list[Reading]:
        """The default, each answer alone, the pairs that show an interaction, and the best reading."""
        designed = [reading for reading in self.findings if reading not in self.searched]
        shown = [reading for reading in designed if len(reading.chosen) < 2 or self.interacts(reading)]
        return shown if self.best in shown else [*shown, self.best]

    def interacts(self, pair: Reading) -> bool:
        """Whether two answers together turn a claim that neither turns alone, or leave one that one of them turns."""
        default = next(iter(self.findings))
        alone = [default.space.reading(dict([answer])) for answer in pair.chosen]
        return any(
            (self.holds(pair, claim) is not self.holds(default, claim))
            is not any(self.holds(each, claim) is not self.holds(default, claim) for each in alone)
            for claim in self.claims
        )

    def table(self) -> pl.DataFrame:
        """A row for each reading, claim and comparison."""
        rows = [
            {
                "reading": reading.name,
                "claim": name,
                "kind": self.kind(finding.claim),
                "verdict": finding.verdict,
                "check": check.what,
                "outcome": check.outcome,
                "value": check.measured.value,
                "low": check.measured.low,
                "high": check.measured.high,
                "n": check.measured.n,
                "claimed": check.claimed,
                "searched": reading in self.searched,
            }
            for reading, findings in self.findings.items()
            for name, finding in findings.items()
            for check in finding.checks
        ]
        return pl.DataFrame(rows, schema_overrides={"claimed": pl.Float64})


def survey(
    paper: Paper[Any],
    claims: Sequence[Claim],
    scale: Any,
    out: Path,
    trials: int,
    executor: Callable[[], RunExecutor] | None = None,
    kept: Kept | None = None,
) -> Survey:
    """Find the claims' verdicts under the design of the paper's space, and under `trials` readings of a search.

    The search depends on the results alone: with `kept`, it goes on as if it had not been interrupted.

    Raises
    ------
    UserError
        A search is asked for without Optuna.
    RunError
        A run broke.
    """
    study = _study() if trials else None
    cache = Cache(f"{paper.name.upper()}, readings", executor, kept)
    found: dict[Reading, dict[str, Finding]] = {}

    def judge(readings: Iterable[Reading]) -> None:
        new = [reading for reading in dict.fromkeys(readings) if reading not in found]
        results = cache.results([paper.experiments(claims, scale, reading) for reading in new])
        for reading, own in zip(new, results, strict=True):
            rerun = Rerun(claims, scale, own, out, reading)
            found[reading] = {claim.name: paper.find(claim, rerun, "") for claim in claims}

    judge(paper.space.design())
    designed = list(found)
    if study is not None:
        for reading in designed:
            study.add_trial(_known(paper.space, reading, Survey(claims, found).score(reading)))
        for begin in range(0, trials, BATCH):
            asked = [study.ask(_distributions(paper.space)) for _ in range(min(BATCH, trials - begin))]
            readings = [paper.space.reading(trial.params) for trial in asked]
            judge(readings)
            for trial, reading in zip(asked, readings, strict=True):
                study.tell(trial, Survey(claims, found).score(reading))
    searched = tuple(reading for reading in found if reading not in designed)
    return Survey(claims, found, searched, cache.asked, cache.made)


def _study() -> Any:
    optuna = extra("optuna", "--readings with a search")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=SEED, n_startup_trials=0, multivariate=True, constant_liar=True)
    return optuna.create_study(direction="maximize", sampler=sampler)


def _distributions(space: Space) -> dict[str, Any]:
    optuna = extra("optuna", "--readings with a search")
    made = optuna.distributions.CategoricalDistribution
    return {choice.name: made([each.name for each in choice.tried]) for choice in space.choices}


def _known(space: Space, reading: Reading, score: float) -> Any:
    optuna = extra("optuna", "--readings with a search")
    answers = {choice.name: reading.answer(choice.name) for choice in space.choices}
    return optuna.trial.create_trial(params=answers, distributions=_distributions(space), value=score)
