"""The page of a sweep: small multiples, paired differences to a baseline, and results by part of the traffic."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xoff.report.page import page, write_page
from xoff.report.plots.style import Plot, listed
from xoff.runs.index import text_of
from xoff.studies.sweep.aggregate import Case, Results, results
from xoff.studies.sweep.measures import MEASURES, Measure
from xoff.studies.sweep.paired import baselines, first_key, paired, partner, read_baseline
from xoff.studies.sweep.panels import layout, scatter, small_multiples
from xoff.studies.sweep.parts import load_text
from xoff.studies.sweep.words import difference_text, number_text
from xoff.text import quantity_text

MAX_ROWS = 500
"""Maximum rows of the page's table; runs.parquet has all of them."""

MAX_COMPARED = 2000
"""Maximum rows of differences, over all baselines to choose from."""

HERE = Path(__file__).parent


def write_sweep_report(folder: Path, target: Path, baseline: Sequence[str] = ()) -> Path:
    """Write the page of a sweep's folder to `target`, and return it; `baseline` as `--baseline` takes it."""
    return write_page(lambda: render(results(folder), baseline), target)


def render(found: Results, baseline: Sequence[str] = ()) -> str:
    """The page as text."""
    shown = layout(found)
    plots, idle = [], []
    for measure in MEASURES:
        values = [case.measures[measure.name] for case in found.cases if measure.name in case.measures]
        if values and any(value.mean != 0 for value in values):
            name = f"sweep-{measure.name}"
            plots.append(scatter(found, measure) if shown.scattered else small_multiples(found, shown, name, [measure]))
        elif values:
            idle.append(measure.title)
    groups = [("By traffic label", "label", found.labels), ("By size of the messages", "size", found.sizes)]
    parts = [
        (heading, _part_plots(found, kind, measures), *_part_table(found, measures))
        for heading, kind, measures in groups
        if measures
    ]
    every = [*plots, *(plot for _, several, *_ in parts for plot in several)]
    measures = [measure for measure in found.every if not measure.part]
    chosen = read_baseline(baseline, found)
    return page(
        "sweep.html",
        f"Sweep of {Path(found.scenario).name}",
        found.version,
        {plot.name: json.loads(plot.figure.to_json()) for plot in every if plot.figure},
        folder=HERE / "templates",
        scripts=[(HERE / "static" / "baseline.js").read_text("utf-8")],
        about=_about(found),
        plots=plots,
        idle=listed(idle) if idle else "",
        parts=parts,
        keys=found.keys,
        measures=measures,
        has_loads=any(case.loads for case in found.cases),
        rows=[_row(case, found.keys, measures) for case in found.cases[:MAX_ROWS]],
        compared=_compared(found, chosen),
        compared_measures=found.every,
        more=max(0, len(found.cases) - MAX_ROWS),
        failed=found.failed,
    )


def _about(found: Results) -> str:
    runs = sum(len(case.seeds) for case in found.cases)
    seeds = sorted({len(case.seeds) for case in found.cases})
    over = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}" if seeds else "no"
    text = f"{runs:,} runs: {len(found.cases):,} combinations of {listed(found.keys) if found.keys else 'no key'}, "
    text += f"{over} seed{'' if over == '1' else 's'} each."
    if seeds and seeds[-1] > 1 and not found.sampled:
        text += " Bars are 95 % confidence intervals of the mean over the seeds (Student's t), cut at zero."
        text += " Whether two settings differ stands below, in the differences by seed: bars that overlap do not say."
    if found.missing:
        text += f" {found.missing:,} runs are not done yet."
    if found.failed:
        text += f" {len(found.failed):,} runs failed; they stand at the end."
    return text


def _part_plots(found: Results, kind: str, measures: Sequence[Measure]) -> list[Plot]:
    """A figure for each statistic, with panels for each part; a sample has none, but the table."""
    shown = layout(found)
    if shown.scattered:
        return []
    titles = dict.fromkeys(measure.title for measure in measures)
    return [
        small_multiples(found, shown, f"sweep-{kind}-{index}", [each for each in measures if each.title == title])
        for index, title in enumerate(titles)
    ]


def _part_table(found: Results, measures: Sequence[Measure]) -> tuple[list[Measure], list[Any]]:
    """Columns, and a row for each combination: settings and numbers."""
    return list(measures), [_row(case, found.keys, measures) for case in found.cases[:MAX_ROWS]]


def _compared(found: Results, chosen: Mapping[str, Any]) -> list[tuple[str, str, list[Any]]]:
    """For each baseline its name, whether it is the one shown first, and the rows of what differs from it."""
    options = baselines(found, first_key(found))
    if chosen:
        options = [dict(chosen), *(each for each in options if each != chosen)]
    tables: list[tuple[str, str, list[Any]]] = []
    left = MAX_COMPARED
    for option in options:
        rows = []
        for case in found.cases[: min(MAX_ROWS, left)]:
            other = partner(case, option, found.cases)
            if other is None:
                continue
            pairs = [(case.values.get(each.name, {}), other.values.get(each.name, {})) for each in found.every]
            rows.append((_settings(case, found.keys), [difference_text(paired(*pair)) for pair in pairs]))
        if rows and len(rows) <= left:
            left -= len(rows)
            name = ", ".join(f"{key} = {_value(value)}" for key, value in option.items())
            tables.append((name, "" if not tables else "hidden", rows))
    return tables


def _row(case: Case, keys: Sequence[str], measures: Sequence[Measure]) -> tuple[list[Any], str, list[str]]:
    """A combination's settings with its count of seeds, its load, and its numbers."""
    settings = [*_settings(case, keys), (str(len(case.seeds)), "")]
    numbers = [number_text(case.measures.get(measure.name)) for measure in measures]
    return settings, load_text(case.loads) or "\N{EN DASH}", numbers


def _settings(case: Case, keys: Sequence[str]) -> list[tuple[str, str]]:
    """Each setting for people, and as it stands in the scenario if that differs."""
    values = [text_of(case.settings[key]) if key in case.settings else "" for key in keys]
    return [(quantity_text(value), value if quantity_text(value) != value else "") for value in values]


def _value(value: Any) -> str:
    return quantity_text(text_of(value))
