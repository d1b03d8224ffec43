"""The figures of a sweep's page: small multiples over the swept keys."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xoff.report.palette import COLOURS, SERIES
from xoff.report.plots.style import DASHES, Plot, colour_of, dash_of, finish, plain, symbol_of
from xoff.runs.index import text_of
from xoff.studies.sweep.aggregate import Case, Results
from xoff.studies.sweep.measures import Measure, magnitude

PANELS = 3
"""Panels side by side."""

MAX_ABOVE = 8
"""Maximum lines whose legend stands above the panels; that of more lines stands beside the panels."""

MAX_PANELS = 24
"""Maximum panels of one measure; the table has the others."""


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
    lines = [key for key in others if len(values(key)) <= len(SERIES) * len(DASHES) // 2]
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


def small_multiples(found: Results, shown: Layout, name: str, measures: Sequence[Measure]) -> Plot:
    """A figure of one measure, or of one for each part of the traffic, which then has panels of its own."""
    settings, first = distinct_panels(found, shown), measures[0]
    panels = [(measure, panel) for measure in measures for panel in settings][:MAX_PANELS]
    columns = min(PANELS, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        # Parts may be far from each other.
        shared_yaxes="all" if len(measures) == 1 else False,
        subplot_titles=[_panel_title(measure, panel) for measure, panel in panels],
        horizontal_spacing=0.05 if len(measures) == 1 else 0.07,
        vertical_spacing=0.18 / rows + 0.04,
    )
    lines = distinct(case.settings.get(shown.colour) for case in found.cases) if shown.colour else [None]
    along = distinct(case.settings.get(shown.x) for case in found.cases)
    sizes = [magnitude(value) for value in along]
    numeric = bool(shown.x) and all(size is not None for size in sizes)
    order = {text_of(value): place for place, value in enumerate(along)}
    for (index, (measure, panel)), (rank, line) in itertools.product(enumerate(panels), enumerate(lines)):
        cases = [case for case in found.cases if _belongs(case, panel, shown, line) and measure.name in case.measures]
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
                line={"color": colour_of(rank), "dash": dash_of(rank)},
                marker={"size": 7, "color": colour_of(rank), "symbol": symbol_of(rank)},
                customdata=[[_plain(case.settings.get(shown.x)), len(case.seeds)] for case in cases],
                hovertemplate=f"{label} %{{customdata[0]}}: %{{y:.4~g}} {measure.unit}, "
                "%{customdata[1]} seeds<extra></extra>",
            ),
            row=index // columns + 1,
            col=index % columns + 1,
        )
    many = len(lines) > MAX_ABOVE
    finish(figure, height=130 + 250 * rows, legend="right" if many else "top")
    unit = f" ({first.unit})" if first.unit else ""
    figure.update_layout(margin={"t": 70 if shown.colour and not many else 40}, title_text=None)
    if not many:
        figure.update_layout(legend={"y": 1 + 60 / (130 + 250 * rows)})
    figure.update_yaxes(title_text=f"{first.title}{unit}", col=1)
    x_unit = next((size[1] for size in sizes if size is not None and size[1]), "") if numeric else ""
    figure.update_xaxes(title_text=f"{plain(shown.x)} ({x_unit})" if x_unit else plain(shown.x), row=rows)
    if numeric and _wide([size[0] for size in sizes if size is not None]):
        figure.update_xaxes(type="log", dtick=1, exponentformat="none")
    note = f"Lines: {shown.colour}. " if shown.colour else ""
    if len(measures) > 1:
        note += "Each panel has its own axis. "
    return Plot(name, first.title, f"{note}Mean over the seeds.", figure)


def _panel_title(measure: Measure, panel: dict[str, Any]) -> str:
    settings = [f"{plain(key)} = {_plain(value)}" for key, value in panel.items()]
    return ", ".join(([plain(measure.part)] if measure.part else []) + settings)


def scatter(found: Results, measure: Measure) -> Plot:
    """A figure of one measure of a sample: a panel for each key."""
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
