"""Results of jobs that a command keeps until it has ended, so that it goes on after an interruption."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import pickle
import shutil
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff import _xoff
from xoff.runs.files import remove_leftovers, sync, write_file
from xoff.runs.folder import ResultFolder

if TYPE_CHECKING:
    from xoff.runs.jobs import Job

FOLDER = ".finished-jobs"
"""Where they are, in the folder of the command's results."""

_MAX_BYTES = 10**7
"""Maximum size of a file beside a scenario that may belong to it."""

_HASH = 32
"""Bytes of the SHA-256 that comes before a result."""

_LIBRARIES = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("polars.dataframe.frame", "DataFrame"),
    ("polars.series.series", "Series"),
    ("pathlib", "PosixPath"),
    ("pathlib._local", "PosixPath"),
    ("builtins", "complex"),
    ("builtins", "frozenset"),
    ("builtins", "range"),
    ("builtins", "set"),
    ("builtins", "slice"),
}
"""What results may hold beside Python's own values and the classes of the measuring package."""


class Kept:
    """Results of jobs in the folder of a command, which must be this process's alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        remove_leftovers(self._folder)

    def find(self, job: Job) -> tuple[Any] | None:
        """The result of an equal job; `None` if there is none, or a changed one."""
        try:
            data = self._file(job).read_bytes()
            # A library may raise anything over a damaged array, so that none is given to it.
            if data[:_HASH] != hashlib.sha256(data[_HASH:]).digest():
                return None
            return (_Reader(io.BytesIO(data[_HASH:]), _measure(job)[0].__module__).load(),)
        except (
            OSError,
            pickle.UnpicklingError,
            EOFError,
            AttributeError,
            ImportError,
            LookupError,
            TypeError,
            ValueError,
        ):
            return None

    def put(self, job: Job, result: Any) -> None:
        """Keep a result.

        Raises
        ------
        OSError
            The disk is full, say.
        """
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True)
            sync(self._folder.parent)
        data = pickle.dumps(result)
        write_file(self._file(job), hashlib.sha256(data).digest() + data)

    def clear(self) -> None:
        """Keep nothing any more: the command has ended."""
        with contextlib.suppress(OSError):
            shutil.rmtree(self._folder)

    def _file(self, job: Job) -> Path:
        measure, given = _measure(job)
        folder = job.scenario.parent.resolve()
        what = (
            _xoff.__version__,
            _program(),
            str(job.scenario),
            job.scenario.read_bytes(),
            _beside(folder),
            sorted((key, repr(value)) for key, value in job.sets.items()),
            job.seed,
            [(each.name, each.cls, each.text) for each in job.schemes],
            f"{measure.__module__}.{measure.__qualname__}",
            given,
        )
        return self._folder / f"{hashlib.sha256(repr(what).encode()).hexdigest()[:32]}.pickle"


@contextlib.contextmanager
def resumed(out: Path) -> Iterator[Kept]:
    """What a command that writes into the folder `out` has finished, kept until the command has ended well.

    Raises
    ------
    UserError
        Results should not go there, or another process is writing there.
    """
    with ResultFolder(out, force=True):
        kept = Kept(out)
        yield kept
        kept.clear()


def _measure(job: Job) -> tuple[Any, str]:
    """The function that measures, and what it is given."""
    how, given = job.measure, ""
    while isinstance(how, partial):
        given += repr((how.args, sorted(how.keywords.items())))
        how = how.func
    return how, given


@cache
def _program() -> str:
    """A hash of this installation of xoff."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*")):
        if file.suffix in (".py", ".toml"):
            digest.update(f"{file.relative_to(root)}\0".encode())
            digest.update(file.read_bytes())
    native = Path(str(_xoff.__file__)).stat()
    digest.update(f"{native.st_size} {native.st_mtime_ns}".encode())
    return digest.hexdigest()


@cache
def _beside(folder: Path) -> str:
    """A hash of the files beside a scenario, which it may name."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.stat().st_size <= _MAX_BYTES:
            digest.update(f"{file.name}\0".encode(errors="surrogateescape"))
            digest.update(file.read_bytes())
    return digest.hexdigest()


class _Reader(pickle.Unpickler):
    """Makes plain values, arrays, tables and objects of the measuring package alone: a file may be anybody's."""

    def __init__(self, data: io.BytesIO, module: str) -> None:
        super().__init__(data)
        self._packages = {"xoff", module.split(".")[0]}

    def find_class(self, module: str, name: str) -> Any:
        """The class of this name; raises `UnpicklingError` if results may not hold it."""
        found = getattr(importlib.import_module(module), name) if self._may(module, name) else None
        if found is None or (module.split(".")[0] in self._packages and not isinstance(found, type)):
            raise pickle.UnpicklingError(f"{module}.{name}: not part of a result")
        return found

    def _may(self, module: str, name: str) -> bool:
        return (module, name) in _LIBRARIES or (module.split(".")[0] in self._packages and "." not in name)
