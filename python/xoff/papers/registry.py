"""Finding a paper by its name: `xoff.papers.<paper>.PAPER`."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any

import xoff.papers
from xoff.errors import UserError, nearest
from xoff.papers.paper import Paper
from xoff.papers.reproduction import reproduce
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
        hint = f"; there is {', '.join(known)}"
        raise UserError(f"no paper `{name}`{nearest(name, known) or hint}")
    found: Paper[Any] = importlib.import_module(f"xoff.papers.{name}").PAPER
    return found


def run(what: str, out: Path, quick: bool) -> int:
    """Re-run `PAPER` or `PAPER/CLAIM` into the folder `out`; the exit status."""
    name, _, claim = what.partition("/")
    chosen = paper(name)
    check_target(out, force=True)
    return reproduce(chosen, out, claim or None, quick)
