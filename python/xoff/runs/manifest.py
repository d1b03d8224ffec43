"""A stored run's manifest: the file, and whether its content is as xoff writes it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

MANIFEST = "manifest.json"


def is_manifest(manifest: object) -> bool:
    """Whether `manifest` has what every manifest has."""
    return isinstance(manifest, dict) and "fingerprint" in manifest and isinstance(manifest.get("scenario"), dict)


def wrong_entry(manifest: dict[str, Any]) -> str | None:
    """What is wrong with the first entry that is not as xoff writes it; `None` if all are right."""
    for key, (expected, fits) in _KINDS.items():
        if key in manifest and not fits(manifest[key]):
            shown = json.dumps(manifest[key])
            shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
            return f"`{key}` is {shown}: expected {expected}"
    return None


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**64


def _is_number(value: object) -> bool:
    return _is_count(value) or (isinstance(value, float) and math.isfinite(value) and value >= 0)


def _is_load(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("label", ""), str)
        and all(value.get(key) is None or _is_number(value[key]) for key in ("asked", "offered"))
    )


def _is_table_docs(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(columns, dict) and all(isinstance(doc, str) for doc in columns.values())
        for columns in value.values()
    )


def _is_job(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("label"), str)
        and all(value.get(key) is None or _is_count(value[key]) for key in ("completion_ps", "ideal_completion_ps"))
    )


_COUNTED = ("flows", "completed", "pause_frames", "paused_ps", "max_queue_bytes", "dropped")
"""What a summary counts in every run."""


def _is_summary(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) - {"endless"} == {*_COUNTED, "slowdown", "hol_blocked"}
        and all(_is_count(value[key]) for key in _COUNTED)
        and (value["hol_blocked"] is None or _is_count(value["hol_blocked"]))
        and (value["slowdown"] is None or _is_statistics(value["slowdown"]))
        and (value.get("endless") is None or _is_endless(value["endless"]))
    )


def _is_endless(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"flows", "goodput_bps", "min_bps", "max_bps"}
        and _is_count(value["flows"])
        and _is_statistics(value)
    )


def _is_statistics(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


_COUNT = "a whole number, 0 or more"

_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "loads": (
        "a list of objects with a text `label` and numbers `asked` and `offered`",
        lambda value: isinstance(value, list) and all(map(_is_load, value)),
    ),
    "jobs": (
        "a list of objects with a text `label` and whole numbers `completion_ps` and `ideal_completion_ps`",
        lambda value: isinstance(value, list) and all(map(_is_job, value)),
    ),
    "sim_time_ps": (_COUNT, _is_count),
    "sample_interval_ps": (f"{_COUNT}, or null", lambda value: value is None or _is_count(value)),
    "wall_s": ("a number, 0 or more", _is_number),
    "summary": ("an object of the counts of a run and their `slowdown`", _is_summary),
    "packet_hops": (_COUNT, _is_count),
    "flows": (_COUNT, _is_count),
    "table_docs": ("for each table an object of columns and texts", _is_table_docs),
}
"""What the report, the figures and the export read of a stored manifest, and what each entry holds if it is there."""
