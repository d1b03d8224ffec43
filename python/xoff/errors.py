"""What can go wrong, and who can repair it.

A user's mistake ends a command with exit status 2 and a message, a run that broke with 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from xoff import _xoff

_NATIVE = (
    "Prepared",
    "RunError",
    "RunOutput",
    "ScenarioError",
    "catalogue",
    "columns",
    "goal",
    "keys",
    "nearest",
    "pft_injection_rate",
    "prepare",
    "rate_text",
    "read_rate",
    "read_size",
    "read_time",
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

__all__ = ["RunError", "ScenarioError", "UserError", "nearest", "nearest_file"]


class UserError(ValueError):
    """A mistake in what the user asked for; the message says what was expected."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint ", did you mean ...?" naming the entry of `known` closest to `name`, or nothing."""
    return _xoff.nearest(name, list(known))


def nearest_file(file: Path) -> str:
    """A hint ", did you mean ...?" naming the file beside `file` with the closest name, or nothing."""
    try:
        return nearest(file.name, (entry.name for entry in file.parent.iterdir()))
    except OSError:
        return ""
