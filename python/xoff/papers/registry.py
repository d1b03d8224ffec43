"""Finding the module that re-runs a paper's experiments: `xoff.papers.<paper>`."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import xoff.papers
from xoff.errors import UserError, nearest
from xoff.runs.folder import check_target


def papers() -> list[str]:
    """The papers whose experiments can be re-run."""
    return sorted(module.name for module in pkgutil.iter_modules(xoff.papers.__path__) if module.ispkg)


def reproduce(what: str, out: Path, quick: bool) -> int:
    """Re-run `PAPER` or `PAPER/CLAIM` into the folder `out`; the exit status.

    The paper's module has `reproduce(out: Path, claim: str | None, quick: bool) -> int`.
    """
    paper, _, claim = what.partition("/")
    known = papers()
    if paper not in known:
        hint = nearest(paper, known) or (f"; there is {', '.join(known)}" if known else "")
        raise UserError(f"no paper `{paper}`{hint}")
    check_target(out, force=True)
    module = importlib.import_module(f"xoff.papers.{paper}")
    status: int = module.reproduce(out, claim or None, quick)
    return status
