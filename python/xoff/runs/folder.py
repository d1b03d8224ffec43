"""A run's folder: where results may go, and how they get there complete."""

from __future__ import annotations

import json
import os
from pathlib import Path

from xoff import _xoff
from xoff.errors import UserError
from xoff.runs.captures import FILES
from xoff.runs.manifest import MANIFEST, is_manifest

COLUMNS: dict[str, dict[str, dict[str, str]]] = json.loads(_xoff.columns())
"""By table and column: what the column holds (`number`, `name` or `flag`), its unit and its meaning."""

TABLES = tuple(COLUMNS)
"""Every table of a run."""


def check_target(folder: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Refuse a place where results cannot or should not go, before anything is computed or written.

    An earlier run's folder is reused; any other folder that is not empty needs `force`. Files that are
    not a run's are never touched.
    """
    target = Path(folder)
    if not target.name:
        target = target.resolve()
    try:
        if target.is_dir():
            if not force and any(target.iterdir()) and not _is_run_folder(target):
                raise UserError(f"{target}: not empty and not a run's folder; name another one, or give --force")
        elif target.exists() or target.is_symlink():
            raise UserError(f"{target}: is a file; expected a folder for the results")
        parent = next(ancestor for ancestor in target.absolute().parents if ancestor.exists())
        if not parent.is_dir():
            raise UserError(f"{target}: {parent} is a file, so no folder can be made in it")
        if not os.access(target if target.is_dir() else parent, os.W_OK | os.X_OK):
            raise UserError(f"{target}: no permission to write there")
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{target}: results cannot go there: {error}") from None
    return target


def move_into(staging: Path, target: Path) -> None:
    """Move the complete files of a run from `staging` into `target`, the manifest last."""
    if not target.exists():
        staging.replace(target)
        return
    (target / MANIFEST).unlink(missing_ok=True)
    for name in TABLES:
        (staging / f"{name}.parquet").replace(target / f"{name}.parquet")
    for file in FILES:
        # Captures of an earlier run do not belong to this one.
        (target / file).unlink(missing_ok=True)
        if (staging / file).exists():
            (staging / file).replace(target / file)
    (staging / MANIFEST).replace(target / MANIFEST)


def _is_run_folder(folder: Path) -> bool:
    try:
        return is_manifest(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        # Tables without a manifest: a run whose writing was cut off.
        return {entry.name for entry in folder.iterdir()} <= {*(f"{name}.parquet" for name in TABLES), *FILES}
