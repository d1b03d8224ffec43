"""The page of a sweep: small multiples over the swept keys, with confidence intervals over the seeds."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xoff.report.page import page, write_page
from xoff.report.palette import COLOURS
from xoff.report.plots.style import DASHES, Plot, finish, listed, plain
from xoff.runs.index import text_of
from xoff.studies.sweep.aggregate import MEASURES, Case, Estimate, Measure, Results, magnitude, results

PANELS = 3
"""Panels side by side."""

MAX_PANELS = 24
"""Maximum panels of one measure; the table has the others."""

MAX_ROWS = 500
"""Maximum rows of the page's table; runs.parquet has all of them."""


def write_sweep_report(folder: Path, target: Path) -> Path:
    """Write the page of a sweep's folder to `target`, and return it."""
    return write_page(lambda: render(results(folder)), target)


@dataclass(frozen=True)
class Layout:
    """Which key is shown how."""

    x: str
    """Along the axis."""
    colour: str | None
    """By line."""
    panels: list[str]
    """By panel, all combinations of these."""
    scattered: bool = False
    """The combinations are a sample: each key has a panel of its own along whose axis it is, as points."""


def layout(found: Results) -> Layout:
    """The key with the most numbers along the axis, the next one by line, the others by panel."""

    def values(key: str) -> list[Any]:
        return distinct(case.settings.get(key) for case in found.cases)

    if found.sampled:
        return Layout("", None, found.keys, scattered=True)
    numeric = [key for key in found.keys if all(magnitude(value) is not None for value in values(key))]
    if not found.keys:
        return Layout("", None, [])
    x = max(numeric or found.keys, key=lambda key: len(values(key)))
    others = [key for key in found.keys if key != x]
    lines = [key for key in others if len(values(key)) <= len(COLOURS) * len(DASHES)]
    # Prefer names for lines, and numbers for panels.
    lines.sort(key=lambda key: key in numeric)
    colour = lines[0] if lines else None
    return Layout(x, colour, [key for key in others if key != colour])


def distinct(values: Any) -> list[Any]:
    """Each value once: numbers in their order, others as they come."""
    once = list({text_of(value): value for value in values}.values())
    sizes = [magnitude(value) for value in once]
    if once and all(size is not None for size in sizes):
        return [value for _, value in sorted(zip(sizes, once, strict=True), key=lambda pair: pair[0] or (0.0, ""))]
    return once


def render(found: Results) -> str:
    """The page as text."""
    shown = layout(found)
    plots, idle = [], []
    for measure in MEASURES:
        values = [case.measures[measure.name] for case in found.cases if measure.name in case.measures]
        if values and any(value.mean != 0 for value in values):
            plots.append(_scatter(found, measure) if shown.scattered else _plot(found, shown, measure))
        elif values:
            idle.append(measure.title)
    name = Path(found.scenario).name
    figures = {plot.name: json.loads(plot.figure.to_json()) for plot in plots if plot.figure}
    measures = [measure for measure in MEASURES if any(measure.name in case.measures for case in found.cases)]
    return page(
        "sweep.html",
        f"Sweep of {name}",
        found.version,
        figures,
        folder=Path(__file__).parent / "templates",
        about=_about(found),
        plots=plots,
        idle=listed(idle) if idle else "",
        keys=found.keys,
        measures=measures,
        rows=[_row(case, found.keys, measures) for case in found.cases[:MAX_ROWS]],
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
    if found.missing:
        text += f" {found.missing:,} runs are not done yet."
    if found.failed:
        text += f" {len(found.failed):,} runs failed; they stand at the end."
    return text


def _plot(found: Results, shown: Layout, measure: Measure) -> Plot:
    panels = distinct_panels(found, shown)[:MAX_PANELS]
    columns = min(PANELS, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        shared_yaxes="all",
        subplot_titles=[", ".join(f"{plain(key)} = {_plain(panel[key])}" for key in panel) for panel in panels],
        horizontal_spacing=0.05,
        vertical_spacing=0.18 / rows + 0.04,
    )
    lines = distinct(case.settings.get(shown.colour) for case in found.cases) if shown.colour else [None]
    along = distinct(case.settings.get(shown.x) for case in found.cases)
    sizes = [magnitude(value) for value in along]
    numeric = bool(shown.x) and all(size is not None for size in sizes)
    for (index, panel), (rank, line) in itertools.product(enumerate(panels), enumerate(lines)):
        cases = [case for case in found.cases if _belongs(case, panel, shown, line) and measure.name in case.measures]
        order = {text_of(value): place for place, value in enumerate(along)}
        cases.sort(key=lambda case: order[text_of(case.settings.get(shown.x))])
        if not cases:
            continue
        label = "" if shown.colour is None else _plain(line)
        estimates = [case.measures[measure.name] for case in cases]
        figure.add_trace(
            go.Scatter(
                x=[_position(case, shown.x, numeric) for case in cases],
                y=[estimate.mean for estimate in estimates],
                error_y={
                    "type": "data",
                    "array": [estimate.half or 0.0 for estimate in estimates],
                    # No measure is below zero.
                    "arrayminus": [min(estimate.half or 0.0, estimate.mean) for estimate in estimates],
                    "visible": any(estimate.half is not None for estimate in estimates),
                    "thickness": 1.2,
                    "width": 4,
                },
                mode="lines+markers" if numeric else "markers",
                name=label,
                legendgroup=label,
                showlegend=bool(label) and index == 0,
                line={"color": COLOURS[rank % len(COLOURS)], "dash": DASHES[rank // len(COLOURS) % len(DASHES)]},
                marker={"size": 7, "color": COLOURS[rank % len(COLOURS)]},
                customdata=[[_plain(case.settings.get(shown.x)), len(case.seeds)] for case in cases],
                hovertemplate=f"{label} %{{customdata[0]}}: %{{y:.4~g}} {measure.unit}, "
                "%{customdata[1]} seeds<extra></extra>",
            ),
            row=index // columns + 1,
            col=index % columns + 1,
        )
    finish(figure, height=130 + 250 * rows)
    unit = f" ({measure.unit})" if measure.unit else ""
    figure.update_layout(
        margin={"t": 70 if shown.colour else 40}, legend={"y": 1 + 60 / (130 + 250 * rows)}, title_text=None
    )
    figure.update_yaxes(title_text=f"{measure.title}{unit}", col=1)
    x_unit = next((size[1] for size in sizes if size is not None and size[1]), "") if numeric else ""
    figure.update_xaxes(title_text=f"{plain(shown.x)} ({x_unit})" if x_unit else plain(shown.x), row=rows)
    if numeric and _wide([size[0] for size in sizes if size is not None]):
        figure.update_xaxes(type="log", dtick=1, exponentformat="none")
    note = f"Lines: {shown.colour}. " if shown.colour else ""
    return Plot(f"sweep-{measure.name}", measure.title, f"{note}Mean over the seeds.", figure)


def _scatter(found: Results, measure: Measure) -> Plot:
    keys = found.keys[:MAX_PANELS] or [""]
    columns = min(PANELS, len(keys))
    rows = math.ceil(len(keys) / columns)
    figure = make_subplots(
        rows=rows, cols=columns, shared_yaxes="all", horizontal_spacing=0.05, vertical_spacing=0.18 / rows + 0.04
    )
    cases = [case for case in found.cases if measure.name in case.measures]
    for index, key in enumerate(keys):
        sizes = [magnitude(case.settings.get(key)) for case in cases]
        numeric = all(size is not None for size in sizes)
        row, column = index // columns + 1, index % columns + 1
        figure.add_trace(
            go.Scatter(
                x=[_position(case, key, numeric) for case in cases],
                y=[case.measures[measure.name].mean for case in cases],
                mode="markers",
                showlegend=False,
                marker={"size": 6, "color": COLOURS[0], "opacity": 0.75},
                customdata=[", ".join(f"{plain(k)} = {_plain(v)}" for k, v in case.settings.items()) for case in cases],
                hovertemplate=f"%{{customdata}}: %{{y:.4~g}} {measure.unit}<extra></extra>",
            ),
            row=row,
            col=column,
        )
        unit = next((size[1] for size in sizes if size is not None and size[1]), "") if numeric else ""
        figure.update_xaxes(title_text=f"{plain(key)} ({unit})" if unit else plain(key), row=row, col=column)
        if numeric and sizes and _wide([size[0] for size in sizes if size is not None]):
            figure.update_xaxes(type="log", dtick=1, exponentformat="none", row=row, col=column)
    finish(figure, height=70 + 270 * rows)
    unit = f" ({measure.unit})" if measure.unit else ""
    figure.update_yaxes(title_text=f"{measure.title}{unit}", col=1)
    note = "Each combination that was drawn, over each of its keys. Mean over the seeds."
    return Plot(f"sweep-{measure.name}", measure.title, note, figure)


def _plain(value: Any) -> str:
    """A setting's value as Plotly shows it."""
    return plain(text_of(value))


def _wide(sizes: Sequence[float]) -> bool:
    return min(sizes) > 0 and max(sizes) / min(sizes) >= 20


def _position(case: Case, key: str, numeric: bool) -> Any:
    value = case.settings.get(key)
    size = magnitude(value) if numeric else None
    return _plain(value) if size is None else size[0]


def distinct_panels(found: Results, shown: Layout) -> list[dict[str, Any]]:
    """The combinations of the keys by panel for which there are runs; one without keys if there is no such key."""
    values = [distinct(case.settings.get(key) for case in found.cases) for key in shown.panels]
    every = (dict(zip(shown.panels, each, strict=True)) for each in itertools.product(*values))
    return [panel for panel in every if any(_in_panel(case, panel) for case in found.cases)] or [{}]


def _in_panel(case: Case, panel: dict[str, Any]) -> bool:
    return all(text_of(case.settings.get(key)) == text_of(value) for key, value in panel.items())


def _belongs(case: Case, panel: dict[str, Any], shown: Layout, line: Any) -> bool:
    by_line = shown.colour is None or text_of(case.settings.get(shown.colour)) == text_of(line)
    return by_line and _in_panel(case, panel)


def _row(case: Case, keys: Sequence[str], measures: Sequence[Measure]) -> tuple[list[str], list[str]]:
    """A combination's settings with its count of seeds, and its numbers."""
    settings = [*(text_of(case.settings.get(key)) for key in keys), str(len(case.seeds))]
    return settings, [_number(case.measures.get(measure.name)) for measure in measures]


def _number(estimate: Estimate | None) -> str:
    if estimate is None:
        return "\N{EN DASH}"
    half = "" if estimate.half is None else f" \N{PLUS-MINUS SIGN} {_digits(estimate.half, 3)}"
    return _digits(estimate.mean, 4) + half


def _digits(number: float, count: int) -> str:
    return f"{number:,.0f}" if abs(number) >= 10 ** (count - 1) else f"{number:.{count}g}"
