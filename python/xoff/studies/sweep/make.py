"""Making the runs of a folder: each once, with any executor, and whatever happens to that executor."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xoff import _xoff
from xoff.errors import RunError, ScenarioError, UserError
from xoff.runs.executor import Outcome, ProcessDiedError, RunExecutor, execute_tasks
from xoff.studies.sweep.folder import Folder
from xoff.studies.sweep.plan import Planned
from xoff.text import size_text

NEGLIGIBLE_BYTES = 100_000_000
"""Estimates below this are not compared with the machine."""

_KEPT = "what is finished is kept: give the command again to go on"


@dataclass(frozen=True)
class Made:
    """What came of a run."""

    files: dict[str, bytes] | None = None
    """The files of its folder, if another machine made the run."""
    error: str | None = None
    """Why the run failed; `None` if it did not."""


class NotWrittenError(RunError):
    """A run was made and could not be stored: the disk is full, say. No other run can be stored then."""


class OtherVersionError(RunError):
    """Another version of xoff is installed where a run was to be made."""


def check_memory(runs: Sequence[Planned], executor: RunExecutor) -> None:
    """Refuse runs that this machine cannot hold at once: as many as the executor has processes, those that need most.

    Each run by itself fits, or its scenario would be refused. Raises `UserError`.
    """
    if not executor.here or (free := _xoff.free_memory()) is None:
        return
    most = sorted((run.needs_bytes for run in runs), reverse=True)[: executor.at_once]
    needed, (left, what) = sum(most), free
    if needed <= max(left, NEGLIGIBLE_BYTES):
        return
    fits = max(sum(total <= left for total in itertools.accumulate(most)), 1)
    raise UserError(
        f"{len(most)} runs at a time need about {size_text(needed)}, up to {size_text(most[0])} each: "
        f"{size_text(left)} are {what}; expected --workers {fits}{', or less' if fits > 1 else ''}"
    )


def make_all(
    runs: Iterable[Planned],
    executor: RunExecutor,
    folder: Folder,
    finished: Callable[[Planned, str | None], None],
    *,
    end_if_lost: bool = False,
) -> None:
    """Make every run that `folder` does not have, and report each one when it is there, or why it failed.

    `execute_tasks` says what happens if a process dies. With `end_if_lost`, a run that has no outcome of its own, since
    its process died or another version of xoff was to make it, ends everything in place of counting as failed.

    Raises
    ------
    NotWrittenError
        A run cannot be stored. It has not failed: the next call makes it again.
    RunError
        A run was lost, with `end_if_lost`.
    """

    def call(run: Planned) -> Callable[[], Made]:
        return partial(make, run, str(folder.of(run.run)) if executor.here else None)

    def take(run: Planned, outcome: Outcome[Made]) -> None:
        if isinstance(outcome.error, NotWrittenError):
            raise outcome.error
        if outcome.error is not None and end_if_lost:
            raise RunError(f"{run.label}: {_reason(outcome.error)}; {_KEPT}") from None
        made = outcome.result or Made(error=_reason(outcome.error))
        if made.files is not None:
            try:
                folder.take(run.run, made.files)
            except OSError as error:
                raise _not_written(str(folder.of(run.run)), error) from None
        finished(run, made.error)

    execute_tasks((run for run in runs if not folder.has(run.run)), call, executor, take)


def _reason(error: Exception | None) -> str:
    return str(error) if isinstance(error, ProcessDiedError | OtherVersionError) else f"{type(error).__name__}: {error}"


def make(run: Planned, target: str | None) -> Made:
    """Make a run and write it to `target`, or else return its files. Called where the run is made."""
    from xoff.runs.execution import execute
    from xoff.runs.folder import ResultFolder
    from xoff.runs.results import Run

    if run.version != _xoff.__version__:
        raise OtherVersionError(f"xoff {_xoff.__version__} is installed where it was to be made, not {run.version}")
    try:
        schemes = [scheme.describe() for scheme in run.schemes]
        prepared = _xoff.prepare(run.text, run.origin, list(run.overrides), "", None, run.files, schemes).alone()
        result = Run.from_output(execute(prepared, threads=1).output)
    except (RunError, ScenarioError, UserError) as error:
        return Made(error=str(error))
    if not result.complete:
        return Made(error=str(result.manifest["stop_reason"]))
    if target is not None:
        try:
            with ResultFolder(target, force=True, tidy=False) as place:
                result.write_into(place)
        except (OSError, UserError) as error:
            raise _not_written(target, error) from None
        return Made()
    with tempfile.TemporaryDirectory() as place:
        folder = result.write(Path(place) / run.run)
        return Made(files={file.name: file.read_bytes() for file in folder.iterdir()})


def _not_written(target: str, error: OSError | UserError) -> NotWrittenError:
    why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return NotWrittenError(f"{target}: the results could not be written: {why}; {_KEPT}")
