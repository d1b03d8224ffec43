"""The survey's numbers as a table: Markdown, JSON and Parquet."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from xoff.runs.files import write_file
from xoff.studies.compare.experiments import EXPERIMENTS, Experiment, Metric


@dataclass(frozen=True)
class Row:
    """A contender in an experiment."""

    experiment: str
    contender: str
    values: dict[str, float]
    """By metric."""


def shown(metric: Metric, value: float) -> str:
    """A number as tables print it."""
    return "-" if math.isnan(value) else f"{value:,.{metric.digits}f}"


def best(metric: Metric, rows: Sequence[Row]) -> set[str]:
    """The contenders whose number, as it is printed, is the best; empty if all are equal, or without any number."""
    printed = {
        row.contender: round(row.values[metric.key], metric.digits)
        for row in rows
        if not math.isnan(row.values[metric.key])
    }
    if len(set(printed.values())) < 2:
        return set()
    champion = min(printed.values()) if metric.best == "low" else max(printed.values())
    return {name for name, value in printed.items() if value == champion}


def metrics(experiment: Experiment, rows: Sequence[Row]) -> list[Metric]:
    """The metrics to show: without the count of incomplete flows if all are complete."""
    all_complete = not any(row.values.get("incomplete") for row in rows)
    return [each for each in experiment.metrics if each.key != "incomplete" or not all_complete]


def cells(experiment: Experiment, rows: Sequence[Row], best_as: str) -> tuple[list[str], list[list[str]]]:
    """Column titles and cells; the best of a column is written in the form `best_as`, with `{}` for the number."""
    columns = metrics(experiment, rows)
    champions = {metric.key: best(metric, rows) for metric in columns}
    lines = []
    for row in rows:
        line = [row.contender]
        for metric in columns:
            text = shown(metric, row.values[metric.key])
            line.append(best_as.format(text) if row.contender in champions[metric.key] else text)
        lines.append(line)
    return ["scheme", *(metric.title for metric in columns)], lines


def markdown(rows: Sequence[Row]) -> str:
    """All tables, the best of each column bold."""
    parts = []
    for experiment in EXPERIMENTS:
        own = [row for row in rows if row.experiment == experiment.name]
        columns, lines = cells(experiment, own, "**{}**")
        parts += [f"### {experiment.title}", "", experiment.what, ""]
        parts += [f"| {' | '.join(columns)} |", f"| --- |{' ---: |' * (len(columns) - 1)}"]
        parts += [f"| {' | '.join(line)} |" for line in lines]
        parts.append("")
    return "\n".join(parts)


def write(rows: Sequence[Row], absent: dict[str, str], command: str, note: str, out: Path) -> None:
    """Write `survey.md`, `survey.json` and `survey.parquet` into the folder `out`."""
    left_out = [f"Left out: `{name}`, since {reason}" for name, reason in absent.items()]
    head = ["# Survey", "", f"Made by `{command}`. {note} The best of each column is bold.", "", *left_out]
    text = "\n".join([*head, *([""] if left_out else []), markdown(rows)])
    write_file(out / "survey.md", text)
    records = [
        {
            "experiment": row.experiment,
            "scheme": row.contender,
            "metric": metric.key,
            "unit": metric.unit,
            "better": metric.best,
            "value": None if math.isnan(row.values[metric.key]) else row.values[metric.key],
            "best": row.contender in best(metric, [other for other in rows if other.experiment == row.experiment]),
        }
        for experiment in EXPERIMENTS
        for row in rows
        if row.experiment == experiment.name
        for metric in experiment.metrics
    ]
    about = {"command": command, "note": note, "left_out": absent, "rows": records}
    write_file(out / "survey.json", json.dumps(about, indent=2) + "\n")
    schema = {"experiment": pl.String, "scheme": pl.String, "metric": pl.String, "unit": pl.String}
    frame = pl.DataFrame(records, schema={**schema, "better": pl.String, "value": pl.Float64, "best": pl.Boolean})
    data = io.BytesIO()
    frame.write_parquet(data)
    write_file(out / "survey.parquet", data.getvalue())
