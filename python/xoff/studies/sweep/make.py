"""Making runs: each once, whoever makes them, and whatever happens to who makes them."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path

from xoff.errors import RunError, ScenarioError, UserError
from xoff.runs.executor import Crew
from xoff.studies.sweep.folder import Folder
from xoff.studies.sweep.plan import Planned

POLL_S = 0.2
"""How often the waiting thread looks for Ctrl-C, in seconds."""


@dataclass(frozen=True)
class Made:
    """What came of a run."""

    files: dict[str, bytes] | None = None
    """The files of its folder, where it was made elsewhere."""
    error: str | None = None
    """Why there is none."""


def make_all(
    runs: Iterable[Planned], crew: Crew, folder: Folder, finished: Callable[[Planned, str | None], None]
) -> None:
    """Make every run that `folder` does not have, and say of each when it is there, or why it failed.

    Where a process dies, those runs that may be the cause are made again, one at a time; one that is alone and dies
    again has failed.
    """
    waiting = deque(run for run in runs if not folder.has(run.run))
    suspects: deque[Planned] = deque()
    running: dict[Future[Made], Planned] = {}
    if not waiting:
        return
    try:
        executor = crew.start()
        while waiting or suspects or running:
            queue, at_once = (suspects, 1) if suspects else (waiting, crew.at_once)
            alone = bool(suspects) or at_once == 1
            try:
                while queue and len(running) < at_once:
                    _hand_over(executor, crew, folder, queue[0], running)
                    queue.popleft()
            except BrokenExecutor:
                if not running:
                    executor = crew.start()
                    continue
            lost = _collect(running, folder, finished)
            if not lost:
                continue
            lost += running.values()
            running.clear()
            executor = crew.start()
            if not crew.blames:
                waiting.extendleft(reversed(lost))
            elif alone:
                finished(lost[0], "its process died: it was killed, or there was no memory left")
            else:
                suspects.extend(lost)
    finally:
        crew.close()


def _hand_over(
    executor: Executor, crew: Crew, folder: Folder, run: Planned, running: dict[Future[Made], Planned]
) -> None:
    target = str(folder.of(run.run)) if crew.here else None
    running[executor.submit(make, run, target)] = run


def _collect(
    running: dict[Future[Made], Planned], folder: Folder, finished: Callable[[Planned, str | None], None]
) -> list[Planned]:
    """Take what is finished out of `running`; return those that were lost with who made them."""
    lost = []
    for future in wait(running, POLL_S, return_when=FIRST_COMPLETED).done:
        run = running.pop(future)
        try:
            made = future.result()
        except (BrokenExecutor, CancelledError):
            lost.append(run)
            continue
        except Exception as error:  # the run's own, or the cluster's that gave it up
            made = Made(error=f"{type(error).__name__}: {error}")
        if made.files is not None:
            folder.take(run.run, made.files)
        finished(run, made.error)
    return lost


def make(run: Planned, target: str | None) -> Made:
    """Make a run and write it to `target`, or else return its files. Called where the run is made."""
    from xoff import _xoff
    from xoff.runs.execution import execute
    from xoff.runs.results import Run

    if run.version != _xoff.__version__:
        return Made(error=f"xoff {_xoff.__version__} is installed where it was to be made, not {run.version}")
    try:
        schemes = [scheme.describe() for scheme in run.schemes]
        prepared = _xoff.prepare(run.text, run.origin, list(run.overrides), "", None, run.files, schemes).alone()
        result = Run.from_output(execute(prepared).output)
    except (RunError, ScenarioError, UserError) as error:
        return Made(error=str(error))
    if not result.complete:
        return Made(error=str(result.manifest["stop_reason"]))
    if target is not None:
        result.write(target)
        return Made()
    with tempfile.TemporaryDirectory() as place:
        folder = result.write(Path(place) / run.run)
        return Made(files={file.name: file.read_bytes() for file in folder.iterdir()})
