"""The index of a folder of many runs: which runs a sweep or a tuning is to have, with their settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

INDEX = "sweep.json"
"""The file that lists the runs of a folder; a folder of runs is recognized by it."""


def is_sweep(folder: Path) -> bool:
    """Whether `folder` is that of a sweep or a tuning."""
    return (folder / INDEX).is_file()


def settings_of(run: Path, seed: int | None) -> str | None:
    """The settings of a run in a folder of many, on one line; `None` if the folder does not list it with settings."""
    point = point_of(run, seed) or {}
    return settings_text({key: value for key, value in point.items() if key != "seed"}) or None


def point_of(run: Path, seed: int | None) -> dict[str, Any] | None:
    """The settings of a run in a folder of many, by key; `None` if the folder does not list the run."""
    runs = run.resolve().parent
    index = runs.parent / INDEX
    if runs.name != "runs" or not index.is_file():
        return None
    point = _points(index, index.stat().st_mtime_ns).get(run.resolve().name)
    if point is None or point["seed"] != seed:
        return None
    return dict(point["settings"])


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings on one line."""
    return ", ".join(f"{key} = {text_of(value)}" for key, value in settings.items())


@lru_cache(maxsize=8)
def _points(index: Path, changed_ns: int) -> dict[str, dict[str, Any]]:
    """What a folder's index says of each run, by name; nothing if no sweep has written it."""
    del changed_ns  # a file that has changed is read again
    try:
        points = json.loads(index.read_text(encoding="utf-8"))["points"]
        return {point["run"]: {"seed": point["seed"], "settings": dict(point["settings"])} for point in points}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return {}


def text_of(value: Any) -> str:
    """A setting's value for people, names and folders."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
