"""What can go wrong, and who can repair it.

A user's mistake ends a command with exit status 2 and a message, a run that broke with 1.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from xoff import _xoff
from xoff.text import printable

_NATIVE = (
    "MAX_ROWS",
    "MAX_SCENARIO_BYTES",
    "Prepared",
    "RunError",
    "RunOutput",
    "ScenarioError",
    "Session",
    "SessionEvent",
    "catalogue",
    "check",
    "columns",
    "exchange",
    "free_memory",
    "goal",
    "keys",
    "nearest",
    "pft_injection_rate",
    "prepare",
    "rate_text",
    "read_rate",
    "read_size",
    "read_time",
    "red_thresholds",
    "schema",
    "size_text",
    "slowdown_statistics",
    "time_text",
)
"""What the Python part needs from the native module."""

if not all(hasattr(_xoff, name) for name in _NATIVE):
    raise ImportError("the native module of xoff is older than its Python part; install again: pip install .")

RunError = _xoff.RunError
ScenarioError = _xoff.ScenarioError

__all__ = ["RunError", "ScenarioError", "UserError", "extra", "nearest", "nearest_file"]

_EXTRAS = {"matplotlib": ("Matplotlib", "plot"), "optuna": ("Optuna", "tune"), "distributed": ("Dask", "dask")}
"""Libraries that a plain run does not need: what each is called, and the extra that installs it."""


class UserError(ValueError):
    """A mistake in what the user asked for; the message says what was expected."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint ", did you mean ...?" naming the entry of `known` closest to `name`, or nothing."""
    texts = [printable(each) for each in known]
    return _xoff.nearest(printable(name), texts)


def nearest_file(file: Path) -> str:
    """A hint ", did you mean ...?" naming the file beside `file` with the closest name, or nothing."""
    try:
        return nearest(file.name, (entry.name for entry in file.parent.iterdir()))
    except OSError:
        return ""


def extra(module: str, what: str) -> Any:
    """The library of an extra, which `what` needs.

    Raises
    ------
    UserError
        It is not installed; the message has the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        library, name = _EXTRAS[module]
        raise UserError(f"{what} needs {library}; install it: pip install '{_requirement(module, name)}'") from None


def _requirement(module: str, name: str) -> str:
    """What pip is to install for the extra `name`.

    The name `xoff[...]` would mean nothing to pip where xoff was installed from a clone.
    """
    from importlib import metadata

    try:
        required = metadata.requires("xoff") or []
    except metadata.PackageNotFoundError:
        required = []
    for line in required:
        requirement, _, marker = line.partition(";")
        if requirement.startswith(module) and f'extra == "{name}"' in marker.replace("'", '"'):
            return requirement.strip()
    return module
