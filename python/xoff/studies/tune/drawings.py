"""The figures of a tuning's page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xoff.report.palette import COLOURS
from xoff.report.plots.style import Plot, finish, new_figure, plain
from xoff.runs.index import text_of
from xoff.studies.sweep.measures import magnitude
from xoff.studies.tune.best import Trial
from xoff.studies.tune.importance import number
from xoff.studies.tune.measures import Shown
from xoff.text import quantity_text

BLUE, ORANGE, GREEN, GREY = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[6]

SCALE = ((0.0, "#0072B2"), (0.5, "#BDBDBD"), (1.0, "#D55E00"))
"""Colours of an objective: blue is good."""

_SPREAD = 20
"""Ratio of largest to smallest value from which an axis is logarithmic."""

_GRID = 40
"""Points of a contour along each axis."""


def history(trials: Sequence[Trial], over: set[int], shown: Shown, baseline: float | None) -> Plot:
    """An objective by trial, with the best so far among the trials that keep to the budget."""
    name, scale = shown.name, shown.scale
    done = [trial for trial in trials if trial.error is None and name in trial.measures]
    figure = new_figure(height=340, x="trial", y=shown.axis)
    for label, chosen, symbol in (
        ("within the budget" if over else "trials", [t for t in done if t.number not in over], "circle"),
        ("above the budget", [t for t in done if t.number in over], "circle-open"),
    ):
        if chosen:
            figure.add_trace(
                go.Scatter(
                    x=[trial.number for trial in chosen],
                    y=[trial.measures[name] / scale for trial in chosen],
                    mode="markers",
                    name=label,
                    marker={"size": 8, "symbol": symbol, "color": BLUE if symbol == "circle" else GREY},
                    customdata=[_about(trial) for trial in chosen],
                    hovertemplate="trial %{x}: %{y:.4~g}<br>%{customdata}<extra></extra>",
                )
            )
    steps = best_so_far(done, over, name)
    if steps:
        last = max(trial.number for trial in trials)
        x = [number for number, _ in steps]
        y = [value / scale for _, value in steps]
        figure.add_trace(
            go.Scatter(
                x=[*x, last],
                y=[*y, y[-1]],
                mode="lines",
                name="best so far",
                line={"shape": "hv", "color": ORANGE, "width": 2},
                hovertemplate="best up to trial %{x}: %{y:.4~g}<extra></extra>",
            )
        )
    if baseline is not None:
        figure.add_hline(y=baseline / scale, line={"color": GREEN, "dash": "dash", "width": 1.5})
        figure.add_trace(
            go.Scatter(x=[None], y=[None], mode="lines", name="baseline", line={"color": GREEN, "dash": "dash"})
        )
    failed = [trial.number for trial in trials if trial.error is not None]
    note = "Each trial, as the mean over its seeds; smaller is better."
    if failed:
        note += f" {len(failed):,} failed, and {'has' if len(failed) == 1 else 'have'} no point."
    return Plot(f"tune-history-{shown.index}", f"{shown.title}, by trial", note, figure)


def best_so_far(trials: Sequence[Trial], over: set[int], name: str) -> list[tuple[int, float]]:
    """The trials within the budget that were better than each before them, with their values, in order."""
    steps: list[tuple[int, float]] = []
    for trial in sorted(trials, key=lambda each: each.number):
        if trial.number in over or trial.error is not None or name not in trial.measures:
            continue
        if not steps or trial.measures[name] < steps[-1][1]:
            steps.append((trial.number, trial.measures[name]))
    return steps


def importance(shares: Mapping[str, float], shown: Shown) -> Plot:
    """How much each key matters."""
    keys = list(shares)[::-1]
    figure = new_figure(height=110 + 34 * len(keys), x="share, %", y="")
    figure.add_trace(
        go.Bar(
            x=[100 * shares[key] for key in keys],
            y=[plain(key) for key in keys],
            orientation="h",
            marker={"color": BLUE},
            text=[f"{100 * shares[key]:.0f} %" for key in keys],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:.1f} %<extra></extra>",
        )
    )
    figure.update_xaxes(range=[0, 112])
    note = (
        "Which keys set the best tenth of the trials apart from all trials (PED-ANOVA, by Optuna); the shares add up "
        "to 100 %. A key that hardly matters within its range may matter much beyond it."
    )
    return Plot(f"tune-importance-{shown.index}", f"What matters to: {shown.title}", note, figure)


def by_key(trials: Sequence[Trial], key: str, shown: Shown, best: set[int], baseline: float | None) -> Plot:
    """An objective over a key: a point a trial."""
    done = [trial for trial in trials if trial.error is None and shown.name in trial.measures]
    axis = Axis(key, [trial.settings.get(key) for trial in done])
    figure = new_figure(height=320, x="", y=shown.axis)
    for chosen, name, look in (
        ([t for t in done if t.number not in best], "trials", {"color": BLUE, "size": 7, "opacity": 0.8}),
        ([t for t in done if t.number in best], "best", {"color": ORANGE, "size": 13, "symbol": "star"}),
    ):
        figure.add_trace(
            go.Scatter(
                x=[axis.place(trial.settings.get(key)) for trial in chosen],
                y=[trial.measures[shown.name] / shown.scale for trial in chosen],
                mode="markers",
                name=name,
                marker=look,
                customdata=[f"trial {trial.number}<br>{_about(trial)}" for trial in chosen],
                hovertemplate="%{customdata}<br>%{y:.4~g}<extra></extra>",
            )
        )
    figure.update_xaxes(**axis.options)
    note = "Each trial; other keys differ too."
    if baseline is not None:
        figure.add_hline(y=baseline / shown.scale, line={"color": GREEN, "dash": "dash", "width": 1.5})
        note += " Dashed: the baseline."
    name = re.sub(r"\W+", "-", key)
    return Plot(f"tune-key-{shown.index}-{name}", f"{shown.title}, by {key}", note, figure)


def contour(trials: Sequence[Trial], keys: tuple[str, str], shown: Shown, best: set[int]) -> Plot:
    """An objective over two keys: interpolated between the trials, which are points."""
    done = [trial for trial in trials if trial.error is None and shown.name in trial.measures]
    x, y = (Axis(key, [trial.settings.get(key) for trial in done]) for key in keys)
    values = [trial.measures[shown.name] / shown.scale for trial in done]
    places = [(x.place(t.settings.get(keys[0])), y.place(t.settings.get(keys[1]))) for t in done]
    figure = new_figure(height=480, x="", y="", legend="top")
    colours: dict[str, Any] = {"colorscale": SCALE, "cmin": min(values), "cmax": max(values)}
    grid = _interpolated(x, y, places, values) if x.numeric and y.numeric else None
    if grid is not None:
        figure.add_trace(
            go.Contour(
                x=grid[0],
                y=grid[1],
                z=grid[2],
                colorscale=SCALE,
                zmin=min(values),
                zmax=max(values),
                showscale=False,
                opacity=0.55,
                line={"width": 0.5},
                hoverinfo="skip",
            )
        )
    for chosen, look in ((False, {"size": 8, "symbol": "circle"}), (True, {"size": 16, "symbol": "star"})):
        own = [index for index, trial in enumerate(done) if (trial.number in best) == chosen]
        bar = {"title": {"text": shown.axis, "side": "right"}, "thickness": 14} if not chosen else None
        figure.add_trace(
            go.Scatter(
                x=[places[index][0] for index in own],
                y=[places[index][1] for index in own],
                mode="markers",
                name="best" if chosen else "trials",
                showlegend=False,
                marker={
                    **look,
                    **colours,
                    "color": [values[index] for index in own],
                    "line": {"width": 1, "color": "rgba(128,128,128,0.9)"},
                    "showscale": not chosen,
                    **({"colorbar": bar} if bar else {}),
                },
                customdata=[[f"trial {done[i].number}<br>{_about(done[i])}", values[i]] for i in own],
                hovertemplate="%{customdata[0]}<br>%{customdata[1]:.4~g}<extra></extra>",
            )
        )
    figure.update_xaxes(**x.options, ticks="outside")
    figure.update_yaxes(**y.options, ticks="outside")
    note = "The two keys that matter most; a star is the best. "
    note += "Between trials the objective is interpolated; other keys differ too." if grid is not None else ""
    return Plot(f"tune-contour-{shown.index}", f"{shown.title} over two keys", note, figure)


def front(
    trials: Sequence[Trial], shown: Sequence[Shown], best: set[int], over: set[int], baseline: Mapping[str, float]
) -> Plot:
    """Objectives against each other, with the Pareto front; a panel for each pair."""
    pairs = list(combinations(shown, 2))
    done = [trial for trial in trials if trial.error is None]
    columns = min(3, len(pairs))
    rows = math.ceil(len(pairs) / columns)
    figure = make_subplots(rows=rows, cols=columns, horizontal_spacing=0.09, vertical_spacing=0.2 / rows)
    for index, (a, b) in enumerate(pairs):
        place = {"row": index // columns + 1, "col": index % columns + 1}
        groups = (
            ("other trials", [t for t in done if t.number not in best | over], "markers", GREY, "circle"),
            ("above the budget", [t for t in done if t.number in over], "markers", GREY, "circle-open"),
            ("Pareto front", [t for t in done if t.number in best], "lines+markers", ORANGE, "circle"),
        )
        for name, chosen, mode, colour, symbol in groups:
            ordered = sorted(chosen, key=lambda trial: (trial.measures[a.name], trial.measures[b.name]))
            if not ordered:
                continue
            figure.add_trace(
                go.Scatter(
                    x=[trial.measures[a.name] / a.scale for trial in ordered],
                    y=[trial.measures[b.name] / b.scale for trial in ordered],
                    # With three objectives the front is a surface: a line through it says nothing.
                    mode=mode if len(pairs) == 1 else "markers",
                    name=name,
                    legendgroup=name,
                    showlegend=index == 0,
                    line={"color": colour, "shape": "hv", "width": 1.5},
                    marker={"size": 8, "color": colour, "symbol": symbol},
                    customdata=[f"trial {trial.number}<br>{_about(trial)}" for trial in ordered],
                    hovertemplate="%{customdata}<br>%{x:.4~g}, %{y:.4~g}<extra></extra>",
                ),
                **place,
            )
        if a.name in baseline and b.name in baseline:
            figure.add_trace(
                go.Scatter(
                    x=[baseline[a.name] / a.scale],
                    y=[baseline[b.name] / b.scale],
                    mode="markers",
                    name="baseline",
                    legendgroup="baseline",
                    showlegend=index == 0,
                    marker={"size": 12, "color": GREEN, "symbol": "diamond"},
                    hovertemplate="baseline: %{x:.4~g}, %{y:.4~g}<extra></extra>",
                ),
                **place,
            )
        figure.update_xaxes(title_text=a.axis, **place)
        figure.update_yaxes(title_text=b.axis, **place)
    finish(figure, height=90 + 380 * rows)
    note = "Trials of which none is better in one objective without being worse in another. Down and left is better."
    return Plot("tune-front", "Pareto front", note, figure)


class Axis:
    """Where values of a key lie along an axis."""

    def __init__(self, key: str, values: Sequence[Any]) -> None:
        sizes = [magnitude(value) for value in values]
        self.numeric = bool(values) and all(size is not None for size in sizes)
        numbers = [size[0] for size in sizes if size is not None]
        unit = next((size[1] for size in sizes if size is not None and size[1]), "") if self.numeric else ""
        self.log = self.numeric and min(numbers) > 0 and max(numbers) / min(numbers) >= _SPREAD
        self.options: dict[str, Any] = {"title_text": f"{plain(key)} ({unit})" if unit else plain(key)}
        if self.log:
            self.options |= {"type": "log", "dtick": 1, "exponentformat": "none"}

    def place(self, value: Any) -> Any:
        """The place of a value."""
        return number(value) if self.numeric else plain(text_of(value))

    def even(self, places: Any) -> Any:
        """Places as the axis spaces them."""
        return np.log10(places) if self.log else np.asarray(places, dtype=np.float64)


def _interpolated(x: Axis, y: Axis, places: Sequence[tuple[Any, Any]], values: Sequence[float]) -> Any:
    """Axes and values of a grid between the trials; `None` if the trials lie on a line, or are too few."""
    from scipy.interpolate import griddata
    from scipy.spatial import QhullError

    known = np.column_stack([x.even([place[0] for place in places]), y.even([place[1] for place in places])])
    low, high = known.min(axis=0), known.max(axis=0)
    if len(values) < 4 or (high - low == 0).any():
        return None
    lines = [np.linspace(low[side], high[side], _GRID) for side in (0, 1)]
    unit = [np.linspace(0, 1, _GRID)] * 2
    try:
        found = griddata((known - low) / (high - low), np.asarray(values), tuple(np.meshgrid(*unit)), method="linear")
    except QhullError:
        return None
    along = [10**line if axis.log else line for line, axis in zip(lines, (x, y), strict=True)]
    rows = [[None if math.isnan(value) else float(value) for value in row] for row in found]
    return along[0].tolist(), along[1].tolist(), rows


def _about(trial: Trial) -> str:
    return "<br>".join(f"{plain(key)} = {plain(quantity_text(text_of(v)))}" for key, v in trial.settings.items())
