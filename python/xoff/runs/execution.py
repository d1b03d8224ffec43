"""Running a scenario: the native run in a thread of its own, so that Ctrl-C and a progress bar stay alive."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xoff.errors import UserError
from xoff.runs.signals import first_held

if TYPE_CHECKING:
    from xoff._xoff import ArrowTable, Prepared, RunOutput

MAX_THREADS = 4096
"""Maximum number of threads of a run."""

POLL_S = 0.05
"""How often the waiting thread looks for Ctrl-C, in seconds."""


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    fraction: float
    """Share of the simulated time, 0 to 1."""
    sim_time_ps: int
    """Simulated time in ps."""
    flows_done: int
    """Flows completed."""
    flows_total: int
    """Flows known so far."""


@dataclass(frozen=True)
class Look:
    """What a look at a run that goes on has found."""

    progress: Progress
    """How far the run is."""
    events: int
    """Events handled so far."""
    tables: dict[str, ArrowTable] | None
    """Rows since the last look by table; `None` if several threads record, each its own part."""
    at_s: float = field(default_factory=time.monotonic)
    """When it was, in seconds of a clock that does not go back."""


@dataclass(frozen=True)
class Outcome:
    """What a run left, and whether Ctrl-C ended it."""

    output: RunOutput
    interrupted: bool


def thread_count(threads: int | str) -> int | None:
    """The number of threads asked for, a number or its text; `None` for `auto`: as many as make a run fastest."""
    text = str(threads)
    if text == "auto":
        return None
    if text.isascii() and text.isdigit() and 0 < int(text) <= MAX_THREADS:
        return int(text)
    raise UserError(f"threads {text}: expected a number from 1 to {MAX_THREADS}, or auto")


def execute(
    scenario: Prepared,
    *,
    threads: int | str = "auto",
    progress: Callable[[Progress], None] | None = None,
    look: Callable[[Look], None] | None = None,
) -> Outcome:
    """Run `scenario` on this many `threads` (see `thread_count`).

    The first Ctrl-C stops it cleanly with what was recorded, a second one at once. `look` is told about twice a
    second what
    was recorded since the last time; the results are the same.

    Raises
    ------
    UserError, ScenarioError
        `threads` is not a number of threads, or the scenario cannot be run on this many.
    RunError
        The run broke.
    """
    workers = thread_count(threads)
    done = threading.Event()
    result: list[RunOutput] = []
    failure: list[BaseException] = []

    def on_progress(fraction: float, sim_time_ps: int, flows_done: int, flows_total: int) -> bool:
        if progress is not None:
            progress(Progress(fraction, sim_time_ps, flows_done, flows_total))
        return not stopped

    def on_look(
        fraction: float,
        sim_time_ps: int,
        flows_done: int,
        flows_total: int,
        events: int,
        tables: dict[str, ArrowTable] | None,
    ) -> None:
        if look is not None:
            look(Look(Progress(fraction, sim_time_ps, flows_done, flows_total), events, tables))

    def work() -> None:
        try:
            result.append(scenario.run(workers, on_progress, on_look if look else None))
        except BaseException as error:  # handed over to the caller's thread
            failure.append(error)
        finally:
            done.set()

    worker = threading.Thread(target=work, name="xoff-run", daemon=True)
    # Python runs signal handlers in the main thread only, which must not be busy in native code.
    with first_held() as stopped:
        worker.start()
        while not done.wait(POLL_S):
            pass
    if failure:
        raise failure[0]
    return Outcome(result[0], bool(stopped))
