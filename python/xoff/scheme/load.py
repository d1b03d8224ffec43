"""A scheme's class from a file, as `--scheme mine.py:Mine` names it."""

from __future__ import annotations

import linecache
import re
import sys
import traceback
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xoff.errors import UserError, nearest, nearest_file
from xoff.scheme.base import Scheme
from xoff.scheme.describe import Described, describe


@dataclass(frozen=True)
class SchemeFile:
    """A class in a file, with the file's text: all that another process or machine needs."""

    name: str
    """The scheme's name in scenarios."""
    cls: str
    """The class's name."""
    file: str
    """The file's name."""
    text: str
    """What stands in it."""

    def describe(self) -> Described:
        """Run the file, once in this process, and check its class.

        Raises
        ------
        UserError
            The file cannot be run, or has no such class, or the class cannot work.
        """
        return _described(self)

    def _run(self) -> Described:
        module = types.ModuleType(f"xoff_scheme_{self.name}")
        module.__file__ = self.file
        # Tracebacks show the file's lines even on a machine without the file.
        lines = self.text.splitlines(keepends=True)
        linecache.cache[self.file] = (len(self.text), None, lines, self.file)
        sys.modules[module.__name__] = module
        try:
            exec(compile(self.text, self.file, "exec"), module.__dict__)
        except SyntaxError as error:
            raise UserError(f"{self.file}:{error.lineno}: {type(error).__name__}: {error.msg}") from None
        except (Exception, SystemExit) as error:
            raise UserError(f"{self.file}:{_line(error, self.file)}: {type(error).__name__}: {error}") from None
        cls = getattr(module, self.cls, None)
        if cls is None:
            known = [key for key, value in vars(module).items() if _is_scheme(value)]
            has = f"its schemes are {', '.join(known)}" if known else "it has none derived from xoff.Scheme"
            raise UserError(f"{self.file}: no class {self.cls}; {has}{nearest(self.cls, known)}")
        return describe(self.name, cls, file=self.file, source=self.text)


@cache
def _described(scheme: SchemeFile) -> Described:
    return scheme._run()


@dataclass(frozen=True)
class SchemeClass:
    """A class that this process has already."""

    name: str
    """The scheme's name in scenarios."""
    cls: object
    """What was given as the class."""

    def describe(self) -> Described:
        """Check the class.

        Raises
        ------
        UserError
            It is not a class, or it cannot work.
        """
        return describe(self.name, self.cls)


def _is_scheme(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Scheme) and value is not Scheme


def _line(error: BaseException, file: str) -> int | None:
    """The line of the file where it broke."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return lines[-1] if lines else None


def read_spec(spec: str) -> SchemeFile:
    """What `FILE:CLASS` names; raises `UserError` if it names no class."""
    path, colon, cls = spec.rpartition(":")
    if not colon or not path or not cls.isidentifier():
        raise UserError(f"--scheme {spec}: expected FILE:CLASS, as in --scheme mine.py:Mine")
    file = Path(path)
    if file.is_dir():
        raise UserError(f"--scheme {spec}: {file} is a folder; expected a Python file")
    try:
        if file.exists() and not file.is_file():
            # A device or a pipe might never begin, or end.
            raise UserError(f"--scheme {spec}: {file} is a device or a pipe; expected a Python file")
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"--scheme {spec}: no such file {file}{nearest_file(file)}") from None
    except OSError as error:
        raise UserError(f"--scheme {spec}: {file} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"--scheme {spec}: {file} is not text (byte {error.start} is not UTF-8)") from None
    if "\0" in text:
        raise UserError(f"--scheme {spec}: {file} is not text (it holds a NUL byte)")
    return SchemeFile(name_of(cls), cls, str(file), text)


def name_of(cls: str) -> str:
    """The scheme's name in scenarios: the class's in snake case, `MyAimd` becomes `my_aimd`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls).lower()


def read_specs(specs: Iterable[str]) -> tuple[SchemeFile, ...]:
    """The schemes of several `FILE:CLASS`, whose names differ."""
    found: dict[str, SchemeFile] = {}
    for spec in specs:
        scheme = read_spec(spec)
        if scheme.name in found:
            raise UserError(f"--scheme {spec}: there is a scheme `{scheme.name}` already: expected another class name")
        found[scheme.name] = scheme
    return tuple(found.values())


def classes(schemes: Mapping[str, object] | None) -> tuple[SchemeClass, ...]:
    """Classes by the names that they are to have."""
    if not isinstance(schemes, Mapping | None):
        raise UserError(f"schemes: expected classes by name, such as {{'mine': Mine}}, not {schemes!r}")
    return tuple(SchemeClass(name, cls) for name, cls in (schemes or {}).items())


def selected(
    schemes: Sequence[SchemeFile | SchemeClass], overrides: Iterable[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The overrides, with the only scheme that is given as `scheme.name`, unless they set it."""
    chosen = [("scheme.name", schemes[0].name)] if len(schemes) == 1 else []
    return [*chosen, *overrides]
