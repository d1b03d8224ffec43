"""Many runs over all cores, with a bar that says how long it will take."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from xoff.runs.executor import Local, Outcome, RunExecutor, execute_tasks
from xoff.runs.kept import Kept
from xoff.runs.library import run_as_meant
from xoff.runs.progress import RunsBar
from xoff.runs.results import Run
from xoff.scheme.load import SchemeFile


@dataclass(frozen=True)
class Job:
    """A run and what is taken from it; the tables themselves stay in the process that ran it."""

    key: Any
    """Key of the result: hashable, a tuple if it has several parts."""
    scenario: Path
    """The scenario file."""
    measure: Callable[[Run], Any]
    """A function of a module, or a `partial` of one."""
    sets: Mapping[str, object] = field(default_factory=dict)
    """Settings on top of the file."""
    seed: int = 1
    """Seed of the run."""
    cost: float = 1.0
    """How long it takes, in any unit that is the same for all jobs."""
    expected: str = ""
    """A regular expression of warnings that the experiment is meant to give, and that are not shown."""
    schemes: tuple[SchemeFile, ...] = ()
    """The scheme in Python that it runs, if it runs one."""


def run_jobs(
    jobs: Sequence[Job], title: str, executor: RunExecutor | None = None, kept: Kept | None = None
) -> dict[Any, Any]:
    """Run all `jobs` and return their results by key; by default on all cores of this machine.

    The first exception of a job ends all. The costliest jobs go first, so that no core idles at the end; results do
    not depend on the order. With `kept`, each result is kept as soon as it is there, and not made again.
    """
    results: dict[Any, Any] = {}
    found = {job.key: kept.find(job) for job in jobs} if kept is not None else {}
    results.update({key: result[0] for key, result in found.items() if result is not None})
    missing = [job for job in jobs if job.key not in results]
    if missing:
        executor = executor or Local(min(os.cpu_count() or 1, len(missing)))
        workers = executor.at_once if executor.here else None
        with RunsBar(title, count=len(missing), cost=sum(job.cost for job in missing), workers=workers) as bar:
            if results:
                bar.say(f"{len(results)} runs are there already")

            def finished(job: Job, outcome: Outcome[Any]) -> None:
                if outcome.error is not None:
                    raise outcome.error
                results[job.key] = outcome.result
                if kept is not None:
                    kept.put(job, outcome.result)
                bar.advance(job.cost)

            ordered = sorted(missing, key=lambda job: -job.cost)
            execute_tasks(ordered, lambda job: partial(_run, job), executor, finished)
    return {job.key: results[job.key] for job in jobs}


def _run(job: Job) -> Any:
    with warnings.catch_warnings():
        if job.expected:
            warnings.filterwarnings("ignore", job.expected, RuntimeWarning)
        return job.measure(run_as_meant(job.scenario, seed=job.seed, sets=job.sets, schemes=job.schemes))
