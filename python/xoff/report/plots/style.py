"""Parts that all figures share: colours, units, axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from xoff.report.palette import SERIES
from xoff.runs.results import Run
from xoff.text import name_text, name_texts

DASHES = ("solid", "dot", "dash", "dashdot", "longdash", "longdashdot")
"""Line styles, for what shares a colour."""

SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "x", "triangle-down", "star")
"""Markers, which tell series apart beside their colours."""

_PLAIN = 7
"""Series that their colours alone tell apart for all kinds of colour vision."""

_NAME = 48
"""Maximum length of a name in a figure."""

GRID = "rgba(128,128,128,0.22)"


@dataclass(frozen=True)
class Labelled:
    """A run with its name in figures."""

    label: str
    """Short and unique among the runs shown."""
    run: Run
    """The run."""
    colour: str
    """The same in all figures."""
    dash: str
    """Tells runs apart if there are more runs than colours."""

    @property
    def plotted(self) -> str:
        """The label as Plotly takes it."""
        return plain(self.label)


@dataclass(frozen=True)
class Plot:
    """A figure with its heading, or the reason why there is none."""

    name: str
    """Identifier in the page."""
    title: str
    """Heading."""
    note: str
    """What is shown, and how it was computed; if `figure` is `None`, why."""
    figure: go.Figure | None = None
    recorded: bool = True
    """Whether the runs recorded what it shows; what they did not is said in one place of the page."""


def labelled(runs: Sequence[Run], labels: Sequence[str]) -> list[Labelled]:
    """Give each run its colour."""
    return [
        Labelled(label, run, colour_of(index), dash_of(index))
        for index, (run, label) in enumerate(zip(runs, labels, strict=True))
    ]


def colour_of(index: int) -> str:
    """The colour of the series of this index: fourteen different ones, and then again."""
    return SERIES[index % len(SERIES)]


def dash_of(index: int) -> str:
    """The line style of the series of this index: another one after each seven series."""
    return DASHES[index // _PLAIN % len(DASHES)]


def symbol_of(index: int) -> str:
    """The marker of the series of this index; no two of the first 56 series share both colour and marker."""
    return SYMBOLS[index % len(SYMBOLS)]


def plain(name: str) -> str:
    """A name of a user's own choice as a text that Plotly shows as it is, cut if it is long.

    Plotly takes `<b>`, `&lt;` and `%{x}` for markup.
    """
    return _literal(name_text(name, _NAME))


def plain_names(names: Sequence[str]) -> list[str]:
    """Several names as `plain` makes them, each different: Plotly takes equal ones for one place of an axis."""
    return [_literal(name) for name in name_texts(names, _NAME)]


def _literal(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("%{", "%&#123;")


def line_styles(runs: Sequence[Labelled], run_index: int, rank: int) -> dict[str, Any]:
    """The line of the series of this rank.

    Runs differ in colour and the series of one run in dashes; if there is only one run, its series differ in colour.
    """
    if len(runs) == 1:
        return {"color": colour_of(rank), "dash": dash_of(rank), "width": 1.5}
    return {"color": runs[run_index].colour, "dash": DASHES[rank % len(DASHES)], "width": 1.5}


def time_scale(latest_ps: float) -> tuple[float, str]:
    """Picoseconds in the unit for a time axis, and its name: us, or ms from 20 ms on."""
    return (1e9, "ms") if latest_ps >= 20e9 else (1e6, "us")


def new_figure(*, height: int, x: str, y: str, legend: str = "top") -> go.Figure:
    """An empty figure with named axes, its legend above (few entries) or on the right (many)."""
    figure = go.Figure()
    finish(figure, height=height, legend=legend)
    figure.update_xaxes(title_text=x)
    figure.update_yaxes(title_text=y)
    return figure


def finish(figure: go.Figure, *, height: int, legend: str = "top") -> None:
    """Set the layout that all figures share."""
    above = {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"}
    beside = {
        "orientation": "v",
        "x": 1.01,
        "y": 1,
        "xanchor": "left",
        "yanchor": "top",
        "font": {"size": 11},
    }
    figure.update_layout(
        template="none",
        height=height,
        autosize=True,
        # A legend beside the plot begins below the bar of buttons.
        margin={"l": 64, "r": 16, "t": 16 if legend == "top" else 40, "b": 52},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 12.5},
        legend=above if legend == "top" else beside,
        hovermode="closest",
        bargap=0.25,
    )
    axis = {"gridcolor": GRID, "linecolor": GRID, "zeroline": False, "automargin": True, "ticks": "outside"}
    figure.update_xaxes(**axis, tickcolor=GRID)
    figure.update_yaxes(**axis, tickcolor=GRID, rangemode="tozero")


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 2 and 5 times the powers of ten from `low` to `high`; powers alone over many decades."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if len(decades) > 5 else (1, 2, 5)
    return [step * 10.0**decade for decade in decades for step in steps]


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
