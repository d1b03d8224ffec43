"""Parallel programs: how long they took, and what each rank did when."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from xoff.analysis.intervals import Intervals
from xoff.report.palette import COLOURS
from xoff.report.plots.iterations import iterations
from xoff.report.plots.ranks import Rank, ranks_of, schedules
from xoff.report.plots.style import Labelled, Plot, new_figure, plain_names, time_scale
from xoff.text import time_text

_LANES = 32
"""Maximum number of ranks that have a row of their own, with three lanes."""

_MAX_ROWS, _BINS = 128, 400
"""Rows and columns if there are more ranks."""

_PIXELS = 4_000
"""Gaps shorter than this fraction of the run (1 over the number) are not drawn."""

_IDEAL = "rgba(128,128,128,0.55)"
_COMPUTES, _SENDS, _WITHIN, _WAITS = COLOURS[0], COLOURS[1], COLOURS[3], "rgba(150,150,150,0.75)"
_DONE = "rgba(0,0,0,0)"

_WITHIN_HOST = "sends within the host"


def jobs(runs: Sequence[Labelled]) -> list[Plot]:
    """Completion times beside those on an ideal network, iterations of training, and timelines of ranks.

    Nothing without jobs.
    """
    if not any(each.run.manifest.get("jobs") for each in runs):
        return []
    replayed = [(each, job) for each in runs for job in schedules(each)]
    return [
        _completion(runs),
        *iterations(runs),
        *(_timeline(f"timeline-{n}", *one, len(runs)) for n, one in enumerate(replayed)),
    ]


def _completion(runs: Sequence[Labelled]) -> Plot:
    name, title = "job-completion", "Completion time"
    rows = [
        (each, job)
        for each in runs
        for job in each.run.manifest.get("jobs", [])
        if job.get("completion_ps") is not None
    ]
    if not rows:
        return Plot(name, title, "No job ended before its run did.")
    scale, unit = time_scale(max(job["completion_ps"] for _, job in rows))
    figure = new_figure(height=130 + 44 * len(rows), x=f"completion time ({unit})", y="")
    several = len({job["label"] for _, job in rows}) > 1
    labels = plain_names([f"{each.label}: {job['label']}" if several else each.label for each, job in rows])
    ideals = [job.get("ideal_completion_ps") for _, job in rows]
    texts = [f"{each.plotted}: {time_text(job['completion_ps'])}, {_times(job)}" for each, job in rows]
    for legend, values, colours in (
        ("run", [job["completion_ps"] / scale for _, job in rows], [each.colour for each, _ in rows]),
        ("ideal network", [None if ideal is None else ideal / scale for ideal in ideals], _IDEAL),
    ):
        figure.add_trace(
            go.Bar(
                x=values,
                y=labels,
                orientation="h",
                name=legend,
                marker={"color": colours},
                customdata=texts,
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(autorange="reversed", type="category")
    note = (
        "From the first operation to the end of the last. On the ideal network each message takes the time that it "
        "takes alone in this network, at line rate and without telemetry: messages do not meet, not even at their "
        "hosts' links."
    )
    return Plot(name, title, note, figure)


def _times(job: dict[str, Any]) -> str:
    """How many times the ideal completion time a job took, in words."""
    ideal = job.get("ideal_completion_ps")
    if not ideal:
        return "without an ideal to compare with"
    return f"{job['completion_ps'] / ideal:.3f} times the ideal, {time_text(ideal)}"


def _timeline(name: str, each: Labelled, job: dict[str, Any], runs: int) -> Plot:
    label = str(job["label"])
    title = "What each rank did" + (f": {each.label}" if runs > 1 else "")
    ranks, latest = ranks_of(each, label)
    if not ranks:
        return Plot(name, title, "No rank had begun when the run ended.")
    taken = "It had not ended when the run did."
    if job.get("completion_ps") is not None:
        taken = f"It took {time_text(job['completion_ps'])}, {_times(job)}."
    many = len(ranks) > _LANES
    figure = _overview(ranks, latest) if many else _lanes(ranks, latest)
    words = (
        "What ranks did for most of the time in each cell: they compute; or send, and do not compute; or wait for "
        "messages alone; in empty cells they have nothing to do."
        if many
        else "Computing above, messages being sent below it, and at the bottom receives and collectives that are "
        "waited for while the rank does not compute."
    )
    if _any_local(ranks):
        words += " Messages between ranks of one host take no network, and are drawn apart from those that do."
    return Plot(name, title, f"{taken} {words}", figure)


def _any_local(ranks: Sequence[Rank]) -> bool:
    return any(len(rank.local) for rank in ranks)


def _lanes(ranks: Sequence[Rank], latest: int) -> go.Figure:
    """Three lanes a rank, and one for messages within hosts where there are such."""
    scale, unit = time_scale(latest)
    kinds: list[tuple[str, str, Callable[[Rank], Intervals]]] = [
        ("computes", _COMPUTES, lambda rank: rank.computes),
        ("sends", _SENDS, lambda rank: rank.sends),
        ("waits", _WAITS, lambda rank: rank.receives - rank.computes),
    ]
    if _any_local(ranks):
        kinds.insert(2, (_WITHIN_HOST, _WITHIN, lambda rank: rank.local))
    figure = new_figure(height=150 + (26 if len(kinds) == 3 else 34) * len(ranks), x=f"time ({unit})", y="rank")
    for place, (legend, colour, spans_of) in enumerate(kinds):
        x: list[float] = []
        y: list[float] = []
        lasts: list[str | None] = []
        for row, rank in enumerate(ranks):
            spans = spans_of(rank).closed(latest // _PIXELS)
            for begin, end in zip(spans.start.tolist(), spans.end.tolist(), strict=True):
                x += [begin / scale, end / scale, math.nan]
                y += [row + (place - (len(kinds) - 1) / 2) * 0.81 / len(kinds)] * 2 + [math.nan]
                taken = f"for {time_text(end - begin)}" if end - begin > 1 else "in no time"
                lasts += [f"rank {rank.number} {legend} {taken}"] * 2 + [None]
        # Messages within a host may take no time: then only their marks show them.
        marks = {"symbol": "line-ns", "size": 6, "line": {"color": colour, "width": 1.5}}
        figure.add_trace(
            go.Scatter(
                # Plotly looks at each entry of a list by itself, and takes an array as a whole.
                x=np.array(x),
                y=np.array(y),
                name=legend,
                customdata=np.array(lasts, dtype=object),
                line={"color": colour, "width": 6},
                hovertemplate="%{customdata}<br>%{x:.6~g} " + unit + "<extra></extra>",
                **({"mode": "lines+markers", "marker": marks} if legend == _WITHIN_HOST else {"mode": "lines"}),
            )
        )
    numbers = [str(rank.number) for rank in ranks]
    figure.update_yaxes(
        tickvals=list(range(len(ranks))), ticktext=numbers, range=[len(ranks) - 0.4, -0.6], showgrid=False
    )
    figure.update_xaxes(range=[0, latest / scale])
    return figure


def _overview(ranks: Sequence[Rank], latest: int) -> go.Figure:
    """A cell for some ranks and some time, with what they did for most of it."""
    scale, unit = time_scale(latest)
    edges = np.linspace(0, latest, _BINS + 1).astype(np.int64)
    local = _any_local(ranks)
    rows = np.array_split(np.arange(len(ranks)), min(len(ranks), _MAX_ROWS))
    cells, texts = [], []
    for row in rows:
        times = np.sum([_shares(ranks[i], edges, local=local) for i in row], axis=0)
        shares = times / np.maximum(times.sum(axis=0), 1)
        cells.append(np.argmax(shares, axis=0))
        first, last = ranks[row[0]].number, ranks[row[-1]].number
        texts.append(f"{first}" if first == last else f"{first} to {last}")
    names, colours = ["compute", "send", "wait", "nothing to do"], [_COMPUTES, _SENDS, _WAITS, _DONE]
    if local:
        names.insert(2, "send within the host")
        colours.insert(2, _WITHIN)
    kinds = len(names)
    scale_of = [pair for i, c in enumerate(colours) for pair in ((i / kinds, c), ((i + 1) / kinds, c))]
    figure = new_figure(height=max(360, 60 + 5 * len(rows)), x=f"time ({unit})", y="rank")
    words = [[names[cell] for cell in row] for row in cells]
    figure.add_trace(
        go.Heatmap(
            z=[row.tolist() for row in cells],
            x=(edges / scale).tolist(),
            y=list(range(len(rows) + 1)),
            customdata=[[f"rank {text}: {word}" for word in row] for text, row in zip(texts, words, strict=True)],
            zmin=-0.5,
            zmax=kinds - 0.5,
            colorscale=scale_of,
            colorbar={"tickvals": list(range(kinds)), "ticktext": names, "thickness": 14},
            hovertemplate="%{customdata}<br>%{x:.6~g} " + unit + "<extra></extra>",
        )
    )
    ticks = np.unique(np.linspace(0, len(rows) - 1, 9).astype(int))
    figure.update_yaxes(
        tickvals=(ticks + 0.5).tolist(), ticktext=[texts[i].split(" ")[0] for i in ticks], autorange="reversed"
    )
    return figure


def _shares(rank: Rank, edges: Any, *, local: bool) -> Any:
    """Time in each bin in which a rank computes, else sends, else (if asked) sends within its host, else waits."""
    kinds = (rank.computes, rank.sends, *([rank.local] if local else []), rank.receives)
    covered = [union.covered(edges) for union in itertools.accumulate(kinds, operator.or_)]
    width = np.diff(edges)
    return np.diff([np.zeros_like(width), *covered, width], axis=0)
