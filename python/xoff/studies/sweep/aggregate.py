"""Results of a sweep: for each combination of keys, the mean over the seeds with its confidence interval."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.types as kinds

from xoff.errors import UserError
from xoff.runs.index import INDEX, text_of
from xoff.runs.parquet import read_table
from xoff.studies.sweep.folder import SUMMARY, TOTALS, keys_of

CONFIDENCE = 0.95
"""Of the intervals."""


@dataclass(frozen=True)
class Measure:
    """What is compared over a sweep."""

    name: str
    """As in `runs.parquet`."""
    title: str
    """For people."""
    unit: str
    """Of what is shown."""
    scale: float = 1.0
    """What one of that unit has."""


MEASURES = (
    Measure("slowdown_mean", "Mean FCT slowdown", ""),
    Measure("slowdown_p50", "Median FCT slowdown", ""),
    Measure("slowdown_p99", "99th percentile of FCT slowdown", ""),
    Measure("goodput_bps", "Goodput of endless flows, together", "Gbps", 1e9),
    Measure("pause_frames", "PAUSE frames", ""),
    Measure("paused_ps", "Time that ports were stopped", "us", 1e6),
    Measure("max_queue_bytes", "Longest queue", "KB", 1e3),
    Measure("hol_blocked", "HoL-blocked flows", ""),
    Measure("dropped", "Packets dropped", ""),
    Measure("incomplete", "Flows that did not complete", ""),
)
"""In the order shown."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds."""

    mean: float
    """The mean."""
    half: float | None
    """Half of the confidence interval (Student's t); `None` for one seed."""


@dataclass(frozen=True)
class Case:
    """A combination of the swept keys."""

    settings: dict[str, Any]
    """Its keys and values, without the seed."""
    seeds: list[int]
    """Seeds that are done."""
    measures: dict[str, Estimate]
    """By name; what was not recorded is left out."""


@dataclass(frozen=True)
class Results:
    """A sweep's outcome."""

    keys: list[str]
    """Keys with several values, without the seed."""
    cases: list[Case]
    """In the order of the sweep, those of which a run is done."""
    failed: list[tuple[str, str]]
    """What failed, and why."""
    missing: int
    """Runs that are not done yet."""
    version: str
    """Of xoff."""
    scenario: str
    """The scenario's file."""
    sampled: bool
    """The combinations are a sample, not a grid."""


def results(folder: Path) -> Results:
    """Those of a sweep's folder."""
    if (folder / INDEX).exists() and not (folder / TOTALS).exists():
        again = f"`xoff sweep` with `-o {folder}` goes on with it"
        raise UserError(f"{folder}: this sweep was killed before it had its results together: {again}")
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        points = {point["run"]: dict(point["settings"]) for point in index["points"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{folder / INDEX}: not the index of a sweep, or a broken one: {error}") from None
    rows = _totals(folder / TOTALS)
    grouped: dict[str, list[dict[str, Any]]] = {}
    settings: dict[str, dict[str, Any]] = {}
    failed, missing = [], 0
    for run, all_of in points.items():
        row = rows.get(run, {})
        if row.get("state") == "failed":
            label = ", ".join(f"{key} = {text_of(value)}" for key, value in all_of.items())
            failed.append((label, str(row["error"])))
        elif row.get("state") != "done":
            missing += 1
        else:
            own = {key: value for key, value in all_of.items() if key != "seed"}
            name = json.dumps(own, sort_keys=True, default=str)
            settings[name] = own
            grouped.setdefault(name, []).append({**row, "incomplete": row["flows"] - row["completed"]})
    cases = [Case(settings[name], [row["seed"] for row in of], _measures(of)) for name, of in grouped.items()]
    every = [key for key in keys_of(list(points.values())) if key != "seed"]
    keys = [key for key in every if len({text_of(case.settings.get(key)) for case in cases}) > 1]
    sampled = bool(index.get("sampled"))
    return Results(keys, cases, failed, missing, str(index.get("version")), str(index.get("scenario")), sampled)


def _totals(file: Path) -> dict[str, dict[str, Any]]:
    """What each run came to, by its name."""
    table = read_table(file)
    for name in ("run", "state", "seed", "error", *SUMMARY):
        if table.column_names.count(name) != 1:
            raise UserError(f"{file}: no column `{name}`, so not a table that this version of xoff wrote")
        kind = table.schema.field(name).type
        if name in SUMMARY and not (kinds.is_integer(kind) or kinds.is_floating(kind)):
            raise UserError(f"{file}: the column `{name}` is of type {kind}; expected numbers")
    rows = {row["run"]: row for row in pl.DataFrame(table).iter_rows(named=True)}
    for run, row in rows.items():
        if row["state"] == "done" and (row["flows"] is None or row["completed"] is None):
            raise UserError(f"{file}: the run {run} is done and has no number of flows; make the sweep again")
    return rows


def _measures(rows: Sequence[dict[str, Any]]) -> dict[str, Estimate]:
    found = {}
    for measure in MEASURES:
        values = [float(row[measure.name]) / measure.scale for row in rows if row.get(measure.name) is not None]
        if values:
            found[measure.name] = estimate(values)
    return found


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of at least one value, with its confidence interval under Student's t distribution."""
    from scipy import stats

    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return Estimate(mean, None)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Estimate(mean, float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * math.sqrt(variance / count))


_UNITS = {
    "s": ("us", 1e6),
    "ms": ("us", 1e3),
    "us": ("us", 1.0),
    "ns": ("us", 1e-3),
    "ps": ("us", 1e-6),
    "Tbps": ("Gbps", 1e3),
    "Gbps": ("Gbps", 1.0),
    "Mbps": ("Gbps", 1e-3),
    "Kbps": ("Gbps", 1e-6),
    "bps": ("Gbps", 1e-9),
    "TB": ("KB", 1e9),
    "GB": ("KB", 1e6),
    "MB": ("KB", 1e3),
    "KB": ("KB", 1.0),
    "B": ("KB", 1e-3),
    "TiB": ("KB", 2**40 / 1e3),
    "GiB": ("KB", 2**30 / 1e3),
    "MiB": ("KB", 2**20 / 1e3),
    "KiB": ("KB", 2**10 / 1e3),
}


def magnitude(value: Any) -> tuple[float, str] | None:
    """A setting as a number and its unit: us, Gbps, KB or none; nothing if it is no number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value), ""
    match = re.fullmatch(r"([\d_]+(?:\.[\d_]+)?) ?([A-Za-z]+)", value) if isinstance(value, str) else None
    if match is None or match[2] not in _UNITS:
        return None
    unit, scale = _UNITS[match[2]]
    return float(match[1].replace("_", "")) * scale, unit
