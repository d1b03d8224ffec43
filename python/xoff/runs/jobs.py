"""Many runs over all cores, with a bar that says how long it will take."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xoff.runs.progress import RunsBar
from xoff.runs.results import Run

POLL_S = 0.2
"""How often the waiting thread looks for Ctrl-C, in seconds: a signal may reach another thread and not wake it."""


@dataclass(frozen=True)
class Job:
    """A run and what is taken from it; the tables themselves stay in the process that ran it."""

    key: Any
    """What the result is called: hashable, a tuple where there are several parts."""
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


def run_jobs(jobs: Sequence[Job], title: str) -> dict[Any, Any]:
    """Run all `jobs` and return their results by key.

    The costliest go first, so that no core idles at the end. Results do not depend on the order.
    """
    if not jobs:
        return {}
    # A process started afresh has no threads of its parent's to inherit.
    context = multiprocessing.get_context("spawn")
    workers, cost = min(os.cpu_count() or 1, len(jobs)), sum(job.cost for job in jobs)
    results: dict[Any, Any] = {}
    others = set(multiprocessing.active_children())
    with (
        ProcessPoolExecutor(workers, mp_context=context) as pool,
        RunsBar(title, count=len(jobs), cost=cost, workers=workers) as bar,
    ):
        ordered = sorted(jobs, key=lambda job: -job.cost)
        futures: dict[Future[Any], Job] = {pool.submit(_run, job): job for job in ordered}
        try:
            pending = set(futures)
            while pending:
                done, pending = wait(pending, POLL_S, return_when=FIRST_COMPLETED)
                for future in done:
                    job = futures[future]
                    results[job.key] = future.result()
                    bar.advance(job.cost)
        except BaseException:
            # Without its processes the pool has nothing to wait for.
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()
            raise
    return {job.key: results[job.key] for job in jobs}


def _run(job: Job) -> Any:
    from xoff.runs.library import run

    return job.measure(run(job.scenario, seed=job.seed, sets=job.sets))
