"""The runs of `xoff collective`: made where they are not there yet, and measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xoff.errors import UserError
from xoff.runs.executor import RunExecutor
from xoff.runs.manifest import deadlock_of
from xoff.studies.collective.measure import Measured, measure
from xoff.studies.collective.plan import Plan
from xoff.studies.sweep import Folder, make_all
from xoff.studies.sweep.make import check_memory
from xoff.studies.sweep.plan import Planned, warnings_of
from xoff.studies.sweep.run import progress


@dataclass
class Results:
    """What came of the runs."""

    keys: list[str]
    """What tells the rows of one size apart."""
    rows: list[tuple[dict[str, Any], Measured]] = field(default_factory=list)
    """A run's settings, and what was measured."""
    failed: dict[str, str] = field(default_factory=dict)
    """Why runs gave no row, by their labels."""

    def records(self) -> list[dict[str, Any]]:
        """Each row as names and values."""
        return [{**{key: settings[key] for key in self.keys}, **vars(measured)} for settings, measured in self.rows]


def measure_all(
    plan: Plan,
    out: Path,
    executor: RunExecutor,
    element: str,
    *,
    origin: str,
    warn: Callable[[str], None],
    quiet: bool,
) -> Results:
    """Make the runs of `plan` that `out` does not have, and measure all of them.

    Raises
    ------
    UserError
        `out` cannot hold the runs, or the machine cannot.
    RunError
        The cluster's scheduler has gone.
    """
    from xoff.runs.results import load

    results = Results(plan.keys)
    failed: dict[str, str] = {}
    unique = list({run.run: run for run in plan.runs}.values())
    with Folder(out) as folder:
        missing = [run for run in unique if not folder.has(run.run)]
        check_memory(missing, executor)
        for warning in warnings_of(unique):
            warn(warning)
        folder.write_index(unique, {})
        try:
            with progress(origin, missing, executor, quiet=quiet) as advance:

                def finished(run: Planned, error: str | None) -> None:
                    advance()
                    if error is not None:
                        failed[run.run] = error

                make_all(missing, executor, folder, finished)
        finally:
            folder.write_index(unique, failed)
            folder.write_dataset(unique, failed)
        for planned in plan.runs:
            if planned.run in failed:
                results.failed[planned.label] = failed[planned.run]
                continue
            run = load(folder.of(planned.run))
            if stuck := deadlock_of(run.manifest):
                results.failed[planned.label] = stuck
                continue
            try:
                results.rows.append((planned.settings, measure(run, plan.place, element)))
            except UserError as error:
                results.failed[planned.label] = str(error)
    return results
