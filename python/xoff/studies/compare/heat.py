"""The overview of a survey: each headline number against the best of its column, on one scale for all columns.

A cell's colour says by how many times its number is worse than the best one: 1 is pale, and `WORST` or more is darkest.
The scale does not depend on the numbers shown: two schemes that are close to each other look alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from xoff.report.article import Section
from xoff.report.template import render
from xoff.studies.compare.experiments import DRAWN, EXPERIMENTS, Metric
from xoff.studies.compare.table import Row, shown

WORST = 4.0
"""How many times worse than the best the end of the scale is."""

PACKET_KB = 1.5
"""A queue below one packet is none: what counts at least."""

STOPS = ("#FFFFE5", "#FFF3B8", "#FEDE8A", "#FEC44F", "#FE9929")
"""Colours of the scale, in equal steps of the ratio's logarithm.

Black text stands out from each by 4.5:1 (WCAG), on light and dark pages: a cell has its own ground. An SVG file that a
dark page turns round keeps that too.
"""

HEADLINES = (
    ("dumbbell", "utilization", "dumbbell:\nutilization"),
    ("dumbbell", "queue_mean", "dumbbell:\nmean queue, KB"),
    ("dumbbell", "jain", "dumbbell:\nJain's index"),
    ("incast", "queue_max", "incast:\ngreatest queue, KB"),
    ("incast", "last_ms", "incast:\nlast complete, ms"),
    ("victim", "victim_p99", "victims:\np99 slowdown"),
    ("victim", "pauses", "victims:\nPAUSE frames"),
    ("fat_tree", "slowdown_mean", "fat-tree:\nmean slowdown"),
    ("fat_tree", "small_p99", "fat-tree: small\nflows' p99 slowdown"),
)
"""Columns of the overview: experiment, metric, title."""

SCALE_TEXT = (
    f"The colour says how many times worse a number is than the best of its column, from 1 (pale) to {WORST:g} or more "
    "(dark), in all columns alike, on a logarithmic scale. A queue below a packet of 1.5 KB counts as one packet, and "
    "another number below one in its last digit as that digit."
)

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Cell:
    """A number of the overview."""

    text: str
    """The number."""
    colour: str
    """Its ground; empty if there is no number."""
    order: float
    """For sorting: smaller is better."""
    about: str
    """What a reader sees who points at it."""


def ratios(metric: Metric, values: Sequence[float]) -> list[float]:
    """By how many times each value is worse than the best, at least 1; NaN for NaN."""
    unit = PACKET_KB if metric.unit == "KB" else 10.0**-metric.digits
    known = [max(value, unit) for value in values if not math.isnan(value)]
    if not known:
        return [math.nan] * len(values)
    best = min(known) if metric.best == "low" else max(known)
    return [_ratio(metric, max(value, unit), best) if not math.isnan(value) else math.nan for value in values]


def _ratio(metric: Metric, value: float, best: float) -> float:
    return value / best if metric.best == "low" else best / value


def shade(ratio: float) -> float:
    """The place of a ratio on the scale, from 0 to 1."""
    return min(max(math.log(ratio) / math.log(WORST), 0.0), 1.0)


def colour(place: float) -> str:
    """The colour at a place of the scale, between its two nearest stops."""
    at = place * (len(STOPS) - 1)
    low = min(int(at), len(STOPS) - 2)
    ends = [[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in STOPS[low : low + 2]]
    mixed = [round(a + (b - a) * (at - low)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{channel:02X}" for channel in mixed)


def overview(rows: Sequence[Row], seeds: int) -> Section:
    """The overview as a table that answers to pointing at a cell, and sorts by a column."""
    values = {(row.experiment, row.contender): row.values for row in rows}
    names = list(dict.fromkeys(row.contender for row in rows))
    lines: dict[str, list[Cell]] = {name: [] for name in names}
    for experiment, key, title in HEADLINES:
        metric, low = metric_of(experiment, key), metric_of(experiment, key).best == "low"
        column = [values[experiment, name][key] for name in names]
        found = ratios(metric, column)
        leader = min(range(len(found)), key=lambda i: math.inf if math.isnan(found[i]) else found[i])
        runs = f"mean of {seeds} seeds" if experiment in DRAWN and seeds > 1 else "one run"
        for name, value, ratio in zip(names, column, found, strict=True):
            about = f"{name}, {title.replace(chr(10), ' ')}: {shown(metric, value)}"
            if math.isnan(ratio):
                lines[name].append(Cell("-", "", math.inf, f"{about}, since it has none"))
                continue
            times = f"{ratio:.3g} times"
            worse = f"{times} that of {names[leader]}" if low else f"{names[leader]} has {times} as much"
            better = "less is better" if low else "more is better"
            lines[name].append(
                Cell(
                    shown(metric, value),
                    colour(shade(ratio)),
                    ratio,
                    f"{about}; {'the best' if ratio == 1 else worse}; {better}; {runs}",
                )
            )
    ticks = [(f"{WORST ** (place / 4):.3g}", colour(place / 4)) for place in range(5)]
    html = render(
        "heat.html",
        HERE / "templates",
        titles=[title.replace("\n", " ") for _, _, title in HEADLINES],
        lines=lines,
        ticks=ticks,
        scale=SCALE_TEXT,
    )
    script, style = ((HERE / "static" / name).read_text("utf-8") for name in ("heat.js", "heat.css"))
    return Section("Who is best at what", Markup(html), script, style)


def metric_of(experiment: str, key: str) -> Metric:
    """A metric of an experiment."""
    own = next(each for each in EXPERIMENTS if each.name == experiment)
    return next(each for each in own.metrics if each.key == key)
