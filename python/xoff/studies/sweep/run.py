"""`xoff sweep`: every run of a scenario's sweep."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from xoff.errors import UserError
from xoff.runs.executor import RunExecutor
from xoff.runs.manifest import deadlock_of
from xoff.runs.progress import RunsBar
from xoff.runs.scenario import Scenario
from xoff.studies.sweep.folder import RECORD, Folder
from xoff.studies.sweep.make import check_memory, make_all
from xoff.studies.sweep.plan import Planned, plan, warnings_of


@dataclass
class Swept:
    """What came of a sweep."""

    runs: list[Planned]
    """All of its runs."""
    made: int = 0
    """Those made now; the others were there."""
    failed: dict[str, str] = field(default_factory=dict)
    """Why runs failed, by their names."""
    stuck: dict[str, str] = field(default_factory=dict)
    """The deadlock of each run that ended in one and did not expect it, in words, by the runs' names."""


def sweep(
    scenario: Scenario,
    out: Path,
    executor: RunExecutor,
    *,
    say: Callable[[str], None] | None = None,
    warn: Callable[[str], None] | None = None,
    quiet: bool = False,
) -> Swept:
    """Make the runs of the scenario's sweep that `out` does not have yet, and write its dataset.

    Finished runs stay, however the sweep ends. `warn` gets each warning of its runs, once. A run that fails is reported
    to `say`, and the others go on; a new sweep tries it again.

    Raises
    ------
    UserError, ScenarioError
        The scenario is wrong, has no sweep, or `out` cannot hold one.
    RunError
        The cluster's scheduler has gone.
    """
    runs = plan(scenario)
    swept = Swept(runs)
    sampled = "sample" in json.loads(scenario.prepare().resolved)["sweep"]
    if (out / RECORD).exists():
        raise UserError(f"{out}: holds a tuning; name another folder for a sweep")
    with Folder(out) as folder:
        missing = [run for run in runs if not folder.has(run.run)]
        check_memory(missing, executor)
        if warn is not None:
            for warning in warnings_of(runs):
                warn(warning)
        folder.write_index(runs, {}, sampled=sampled)
        try:
            with progress(scenario.origin, missing, executor, quiet=quiet) as advance:

                def finished(run: Planned, error: str | None) -> None:
                    advance()
                    if error is None:
                        swept.made += 1
                    else:
                        swept.failed[run.run] = error
                        if say is not None:
                            say(f"{run.label}: {error}")

                make_all(missing, executor, folder, finished)
        finally:
            folder.write_index(runs, swept.failed, sampled=sampled)
            folder.write_dataset(runs, swept.failed)
        for run in runs:
            if folder.has(run.run) and (stuck := deadlock_of(folder.manifest(run.run))):
                swept.stuck[run.run] = stuck
    return swept


@contextmanager
def progress(
    origin: str, missing: list[Planned], executor: RunExecutor, *, quiet: bool
) -> Iterator[Callable[[], None]]:
    """A bar over `missing` runs, with the function that moves it on; no bar if `quiet`, or if nothing is missing."""
    if quiet or not missing:
        yield lambda: None
        return
    with RunsBar(Path(origin).name, count=len(missing), workers=executor.at_once if executor.here else None) as bar:
        yield bar.advance
