"""Files and folders that appear as a whole, whatever ends the process or the machine.

They are written under a name that nobody can guess, so that no link in the way is followed. The disk has them before
they take their name, which is one step. What a killed process leaves under such a name is recognized: each process
holds the lock of what it writes, so that a leftover is what nobody holds.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from xoff import _xoff

_TEMPORARY = re.compile(r"\.xoff-[0-9a-f]{8}([0-9a-f]{24})?")


def is_temporary(name: str) -> bool:
    """Whether a file or folder of this name is being written, or is a leftover."""
    return _TEMPORARY.fullmatch(name) is not None


def write_file(file: Path, content: str | bytes) -> None:
    """Write `file`, or replace it, in one step; a link of this name is replaced, not followed.

    Raises
    ------
    OSError
        The file cannot be written; an earlier one is then as it was. Or a device or a pipe has its name.
    """
    if file.exists() and not file.is_file():
        raise OSError(errno.EEXIST, "is no file: expected the name of a file", str(file))
    try:
        with temporary_file(file.parent) as temporary:
            temporary.write_bytes(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)
            publish(temporary, file)
    except OSError as error:
        # Of the file that the caller knows, and not of the temporary one.
        raise OSError(error.errno, error.strerror, str(file)) from None


def publish(temporary: Path, file: Path) -> None:
    """Give a complete file its name, in one step."""
    sync(temporary)
    temporary.replace(file)
    sync(file.parent)


@contextlib.contextmanager
def temporary_file(place: Path) -> Iterator[Path]:
    """An empty file in `place`, where the file stands that it becomes; removed at the end if it is there."""
    file, descriptor = _make(place, _create)
    try:
        yield file
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
        os.close(descriptor)


@contextlib.contextmanager
def temporary_folder(place: Path) -> Iterator[Path]:
    """An empty folder in `place`; what has its name at the end is removed."""
    folder, descriptor = _make(place, os.mkdir)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def replace_folder(new: Path, old: Path) -> None:
    """Give `new` the name of `old`, in one step where the file system can do that; `new` may be an earlier one then."""
    try:
        new.rename(old)
    except OSError:
        try:
            _xoff.exchange(new, old)
        except OSError:
            shutil.rmtree(old, ignore_errors=True)
            new.rename(old)


def remove_leftovers(place: Path) -> None:
    """Remove what killed processes have left in `place`, and nothing that a process is writing."""
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if not is_temporary(entry.name):
                continue
            with contextlib.suppress(OSError):
                descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    if not lock(descriptor, certain=True):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path, ignore_errors=True)
                    else:
                        os.unlink(entry.path)  # noqa: PTH108 - beside `entry.path`
                finally:
                    os.close(descriptor)


def lock(descriptor: int, *, certain: bool = False) -> bool:
    """Take the lock of an open file or folder, which ends with the process; whether it is this process's now.

    On a file system without locks nobody has it for certain.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES) and not certain
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Whether `path` still is what was opened."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except OSError:
        return False


def sync(path: Path) -> None:
    """Wait until the disk has a file's content, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems have no such call for folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def _make(place: Path, make: Callable[[Path], None]) -> tuple[Path, int]:
    """Make a file or folder in `place`, and take its lock before another process can take it for a leftover."""
    while True:
        path = place / f".xoff-{os.urandom(16).hex()}"
        make(path)
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            if lock(descriptor) and is_at(descriptor, path):
                return path, descriptor
            os.close(descriptor)


def _create(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
