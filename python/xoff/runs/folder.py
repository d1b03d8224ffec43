"""A run's folder: where results may go, and how they get there complete."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from xoff import _xoff
from xoff.errors import UserError
from xoff.runs.captures import FILES
from xoff.runs.files import is_at, is_temporary, lock, remove_leftovers, sync, temporary_folder
from xoff.runs.manifest import MANIFEST, is_manifest

COLUMNS: dict[str, dict[str, dict[str, str]]] = json.loads(_xoff.columns())
"""By table and column of every run: what the column holds (`number`, `name` or `flag`), its unit and its meaning."""

TABLES = tuple(COLUMNS)
"""Every table of a run."""

_OWN = frozenset((MANIFEST, *(f"{name}.parquet" for name in TABLES), *FILES))
"""The files of a run."""

_PAGES = ("report.html", "explore.html")
"""What xoff writes beside them."""

_MAX_LINKS = 1000
"""Other files that may stand in a run's folder that is replaced in one step."""


@cache
def columns_of_some_runs() -> dict[str, dict[str, dict[str, str]]]:
    """The columns that only some runs have: as `COLUMNS`, with `runs`: which runs have it."""
    found: dict[str, dict[str, dict[str, str]]] = json.loads(_xoff.columns_of_some_runs())
    return found


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
            if not force and any(_entries(target)) and not _is_run_folder(target):
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


def holds_run(folder: Path) -> bool:
    """Whether an earlier run, complete or not, stands in `folder`."""
    return (folder / MANIFEST).is_file()


class ResultFolder:
    """A folder for a run's results, for one process at a time: a context manager.

    Parameters
    ----------
    folder
        As for `check_target`, which says what is refused.
    force
        As there.
    tidy
        Remove what killed processes have left in the folder and beside it.

    Raises
    ------
    UserError
        The folder is refused, or another process is writing there.
    OSError
        The folder cannot be made.
    """

    def __init__(self, folder: str | os.PathLike[str], *, force: bool = False, tidy: bool = True) -> None:
        self.path = check_target(folder, force=force)
        """As it was given."""
        self._place = self.path.resolve()
        self._tidy = tidy
        self._made: list[Path] = []
        self._descriptor = -1

    def __enter__(self) -> ResultFolder:
        try:
            self._take()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes write there; a folder that was made for nothing is removed."""
        for folder in self._made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        self._close()

    def _take(self) -> None:
        while self._descriptor < 0:
            missing = [each for each in (self._place, *self._place.parents) if not each.exists()]
            self._place.mkdir(parents=True, exist_ok=True)
            self._made = missing or self._made
            self._descriptor = os.open(self._place, os.O_RDONLY | os.O_DIRECTORY)
            if not lock(self._descriptor):
                self._made = []
                raise UserError(
                    f"{self.path}: another xoff is writing there; wait until it has ended, or name another folder"
                )
            if not is_at(self._descriptor, self._place):
                # The other process has just put its results there.
                self._close()
        if self._tidy:
            remove_leftovers(self._place)
            remove_leftovers(self._place.parent)

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def put(self, write: Callable[[Path], None]) -> None:
        """Let `write` fill a folder, and put what it wrote in the place of an earlier run.

        The folder is replaced in one step, so that whatever ends the process leaves the earlier run or this one; other
        files in it stay. Where that is not possible (a folder that holds folders, one in which this process is, a mount
        point, a file system without this step) the files come one by one, and the manifest first: whatever ends the
        process then leaves the earlier run, this one, or files whose checksums differ from the manifest's.

        Raises
        ------
        OSError
            The disk is full, or a file cannot be written; the folder is then as it was. Or the disk does not confirm
            the very last step, and what it has after a power cut is not certain.
        """
        whole = self._replaceable()
        with temporary_folder(self._place.parent if whole else self._place) as staging:
            write(staging)
            if whole and self._swap(staging):
                return
            if not whole:
                self._move(staging)
                return
            with temporary_folder(self._place) as inside:
                # Beside them are links to the user's other files, which stay where they are.
                for file in staging.iterdir():
                    if file.name in _OWN:
                        shutil.copyfile(file, inside / file.name)
                        sync(inside / file.name)
                self._move(inside)

    def _replaceable(self) -> bool:
        others = [entry for entry in _entries(self._place) if entry.name not in _OWN]
        try:
            inside = Path.cwd().is_relative_to(self._place)
        except OSError:
            # The current folder was removed.
            inside = False
        return (
            len(others) <= _MAX_LINKS
            and not any(entry.is_dir() and not entry.is_symlink() for entry in others)
            and not inside
            and not self._place.is_mount()
            and os.access(self._place.parent, os.W_OK | os.X_OK)
        )

    def _swap(self, staging: Path) -> bool:
        """Put `staging` in the folder's place, and the folder in its; whether the file system can do that."""
        try:
            _copy_access(self._place, staging)
            for entry in _entries(self._place):
                if entry.name not in _OWN:
                    os.link(entry, staging / entry.name, follow_symlinks=False)
            sync(staging)
            try:
                # In the place of an empty folder.
                staging.rename(self._place)
            except OSError:
                _xoff.exchange(staging, self._place)
        except OSError:
            return False
        sync(self._place.parent)
        if staging.is_dir():
            # What came while the earlier run was being replaced.
            for entry in _entries(staging):
                if entry.name not in _OWN and not os.path.lexists(self._place / entry.name):
                    entry.rename(self._place / entry.name)
        return True

    def _move(self, staging: Path) -> None:
        sync(staging)
        # With the new checksums, tables of an earlier run are not read as this one's.
        (staging / MANIFEST).replace(self._place / MANIFEST)
        sync(self._place)
        for name in sorted(_OWN - {MANIFEST}):
            if (staging / name).exists():
                (staging / name).replace(self._place / name)
            else:
                # Captures of an earlier run do not belong to this one.
                (self._place / name).unlink(missing_ok=True)
        sync(self._place)


def _copy_access(old: Path, new: Path) -> None:
    """Give `new` the mode and attributes of `old`, but not its times, and its group where that is permitted."""
    with contextlib.suppress(OSError):
        os.chown(new, -1, old.stat().st_gid)
    shutil.copystat(old, new)
    os.utime(new)


def _entries(folder: Path) -> list[Path]:
    """What stands in `folder`, without what is being written or was left."""
    return [entry for entry in folder.iterdir() if not is_temporary(entry.name)]


def _is_run_folder(folder: Path) -> bool:
    try:
        return is_manifest(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        # Tables without a manifest: a run whose writing was cut off.
        return {entry.name for entry in _entries(folder)} <= {*_OWN, *_PAGES}
