"""Values as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping

from xoff.errors import UserError


def toml(value: object) -> str:
    """A value as TOML, on one line.

    Raises
    ------
    UserError
        TOML has no such value.
    """
    if isinstance(value, str):
        # A JSON string without surrogate escapes is a TOML basic string, except for DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml(str(key))} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise UserError(f"a setting cannot be {value!r}: expected text, a number, true, false, a list or a dict")
