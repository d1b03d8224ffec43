"""Finding a paper by its name: `xoff.papers.<paper>.PAPER`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import xoff.papers
from xoff.errors import UserError, nearest
from xoff.papers.paper import Paper
from xoff.papers.reproduction import reproduce, survey_readings
from xoff.runs.executor import Local
from xoff.runs.folder import check_target


def papers() -> list[str]:
    """The papers whose experiments can be re-run."""
    return sorted(module.name for module in pkgutil.iter_modules(xoff.papers.__path__) if module.ispkg)


def paper(name: str) -> Paper[Any]:
    """The paper called `name`.

    Raises
    ------
    UserError
        There is none.
    """
    known = papers()
    if name not in known:
        hint = f"; there are {', '.join(known)}"
        raise UserError(f"no paper `{name}`{nearest(name, known) or hint}")
    found: Paper[Any] = importlib.import_module(f"xoff.papers.{name}").PAPER
    return found


def run(
    what: str,
    out: Path,
    quick: bool,
    readings: Sequence[str] = (),
    survey: bool = False,
    trials: int | None = None,
    workers: int | None = None,
) -> int:
    """Re-run `PAPER` or `PAPER/CLAIM` into the folder `out`, or with `survey` try all its readings; the exit status.

    `workers` processes make the runs, by default as many as there are cores.
    """
    name, _, claim = what.partition("/")
    chosen = paper(name)
    if readings and survey:
        raise UserError("--reading runs one reading and --readings all of them: give one of the two")
    if trials is not None and not survey:
        raise UserError("--trials belongs to --readings")
    chosen.space.parse(readings)
    check_target(out, force=True)
    if survey:
        return survey_readings(chosen, out, claim or None, quick, trials, partial(Local, workers))
    return reproduce(chosen, out, claim or None, quick, readings, Local(workers))
