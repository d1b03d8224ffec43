"""Many runs over all cores, with a bar that says how long it will take."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xoff.results import Run

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
    workers = min(os.cpu_count() or 1, len(jobs))
    results: dict[Any, Any] = {}
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, mp_context=context) as pool, _Bar(title, jobs, workers) as bar:
        ordered = sorted(jobs, key=lambda job: -job.cost)
        futures: dict[Future[Any], Job] = {pool.submit(_run, job): job for job in ordered}
        try:
            pending = set(futures)
            while pending:
                done, pending = wait(pending, POLL_S, return_when=FIRST_COMPLETED)
                for future in done:
                    job = futures[future]
                    results[job.key] = future.result()
                    bar.advance(job)
        except BaseException:
            # Without its processes the pool has nothing to wait for.
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()
            raise
    return {job.key: results[job.key] for job in jobs}


def _run(job: Job) -> Any:
    import xoff

    return job.measure(xoff.run(job.scenario, seed=job.seed, sets=job.sets))


class _Bar:
    """A progress bar on a terminal; elsewhere a line at the start and at each tenth."""

    def __init__(self, title: str, jobs: Sequence[Job], workers: int) -> None:
        self._title, self._count = title, len(jobs)
        self._total = sum(job.cost for job in jobs)
        self._done = 0.0
        self._finished = 0
        self._said = 0
        self._workers = workers
        self._bar: Any = None
        self._began = time.monotonic()

    def __enter__(self) -> _Bar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f} %  {task.fields[runs]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=300)
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total, runs=f"0/{self._count} runs")
        else:
            self._say(f"{self._count} runs over {self._workers} processes")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, job: Job) -> None:
        self._done += job.cost
        self._finished += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, runs=f"{self._finished}/{self._count} runs")
            return
        share = self._done / self._total
        if int(share * 10) > self._said:
            self._said = int(share * 10)
            left = (time.monotonic() - self._began) * (1 - share) / share
            self._say(f"{share:.0%}, {self._finished}/{self._count} runs, about {left:.0f} s left")

    def _say(self, text: str) -> None:
        print(f"{self._title}: {text}", file=sys.stderr)
