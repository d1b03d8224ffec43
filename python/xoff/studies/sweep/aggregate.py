"""Results of a sweep: for each combination of keys, the mean over the seeds with its confidence interval."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.types as kinds

from xoff.errors import UserError
from xoff.runs.index import INDEX, text_of
from xoff.runs.parquet import read_table
from xoff.studies.sweep.folder import SUMMARY, TOTALS, keys_of
from xoff.studies.sweep.measures import MEASURES, Estimate, Measure, estimate
from xoff.studies.sweep.parts import Load, Part, mean_loads, part_measures, part_of


@dataclass(frozen=True)
class Case:
    """A combination of the swept keys."""

    settings: dict[str, Any]
    """Its keys and values, without the seed."""
    seeds: list[int]
    """Seeds that are done."""
    values: dict[str, dict[int, float]]
    """Each measure's value by seed, by name; what was not recorded is left out."""
    loads: list[Load] = field(default_factory=list)
    """Of its traffic, if the runs' manifests are there."""

    @cached_property
    def measures(self) -> dict[str, Estimate]:
        """Means over the seeds, by name."""
        return {name: estimate(list(by_seed.values())) for name, by_seed in self.values.items()}


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
    labels: list[Measure] = field(default_factory=list)
    """Measures by traffic label; empty if flows have one label or none."""
    sizes: list[Measure] = field(default_factory=list)
    """Measures by size of the messages; empty if all are in one bin."""

    @property
    def every(self) -> list[Measure]:
        """All measures that some case has: those of all flows, by label, and by size."""
        there = {name for case in self.cases for name in case.values}
        return [each for each in (*MEASURES, *self.labels, *self.sizes) if each.name in there]


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
    parts = {row["run"]: part_of(folder / "runs" / row["run"]) for of in grouped.values() for row in of}
    labels, sizes = part_measures(parts.values())
    cases = [_case(settings[name], of, parts, [*labels, *sizes]) for name, of in grouped.items()]
    keys = varied(cases)
    sampled = bool(index.get("sampled"))
    about = str(index.get("version")), str(index.get("scenario"))
    return Results(keys, cases, failed, missing, *about, sampled, labels, sizes)


def varied(cases: Sequence[Case]) -> list[str]:
    """The keys with several values, without the seed."""
    every = [key for key in keys_of([case.settings for case in cases]) if key != "seed"]
    return [key for key in every if len({text_of(case.settings.get(key)) for case in cases}) > 1]


def of_cases(cases: list[Case]) -> Results:
    """Results of a sweep that is not made yet."""
    return Results(varied(cases), cases, [], 0, "", "", False)


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


def _case(
    settings: dict[str, Any], rows: Sequence[dict[str, Any]], parts: dict[str, Part], by_part: Sequence[Measure]
) -> Case:
    values: dict[str, dict[int, float]] = {}
    for measure in (*MEASURES, *by_part):
        found = {}
        for row in rows:
            value = row.get(measure.name) if not measure.part else parts[row["run"]].values.get(measure.name)
            if value is not None:
                found[int(row["seed"])] = float(value) / measure.scale
        if found:
            values[measure.name] = found
    return Case(settings, [row["seed"] for row in rows], values, mean_loads([parts[row["run"]].loads for row in rows]))
