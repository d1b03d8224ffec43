"""How far many runs have come, for the people who wait."""

from __future__ import annotations

import sys
import time
from typing import Any

from xoff.text import shown


class RunsBar:
    """A progress bar over many runs with an estimate of what is left: on a terminal; elsewhere, a line at each tenth.

    A context manager; costs are in any unit that is the same for all runs.
    """

    def __init__(self, title: str, *, count: int, cost: float | None = None, workers: int | None = None) -> None:
        self._title, self._count = shown(title), count
        self._total = float(count) if cost is None else cost
        self._done = 0.0
        self._finished = 0
        self._said = 0
        self._workers = workers
        self._bar: Any = None
        self._began = time.monotonic()

    def __enter__(self) -> RunsBar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}", markup=False),
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
            over = "" if self._workers is None else f" over {self._workers} processes"
            self.say(f"{self._count} runs{over}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, cost: float = 1.0) -> None:
        """A run is finished."""
        self._done += cost
        self._finished += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, runs=f"{self._finished}/{self._count} runs")
            return
        share = self._done / self._total
        if int(share * 10) > self._said:
            self._said = int(share * 10)
            left = (time.monotonic() - self._began) * (1 - share) / share
            self.say(f"{share:.0%}, {self._finished}/{self._count} runs, about {left:.0f} s left")

    def say(self, text: str) -> None:
        """A line for the people who wait."""
        print(shown(f"{self._title}: {text}"), file=sys.stderr)
