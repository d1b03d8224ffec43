"""Parallel programs: how long they took, and what each rank did when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from xoff.console import time_text
from xoff.intervals import Intervals
from xoff.palette import COLOURS
from xoff.plots.style import Labelled, Plot, new_figure, time_scale

_LANES = 32
"""Up to so many ranks have a row of their own, with three lanes."""

_MOST_ROWS, _BINS = 128, 400
"""Rows and columns where there are more ranks."""

_PIXELS = 4_000
"""Gaps shorter than the run over this are not drawn."""

_IDEAL = "rgba(128,128,128,0.55)"
_COMPUTES, _SENDS, _WAITS = COLOURS[0], COLOURS[1], "rgba(150,150,150,0.75)"
_DONE = "rgba(0,0,0,0)"


def jobs(runs: Sequence[Labelled]) -> list[Plot]:
    """Completion times beside those on an ideal network, and a timeline of each GOAL schedule; nothing without jobs."""
    if not any(each.run.manifest.get("jobs") for each in runs):
        return []
    timelines = [_timeline(each, job, len(runs)) for each in runs for job in _schedules(each)]
    return [_completion(runs), *timelines]


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
    labels = [f"{each.label}: {job['label']}" if several else each.label for each, job in rows]
    ideals = [job.get("ideal_completion_ps") for _, job in rows]
    texts = [f"{each.label}: {time_text(job['completion_ps'])}, {_times(job)}" for each, job in rows]
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


@dataclass(frozen=True)
class _Rank:
    """What a rank did."""

    number: int
    computes: Intervals
    sends: Intervals
    receives: Intervals


def _schedules(each: Labelled) -> list[dict[str, Any]]:
    """The jobs that replay a GOAL schedule."""
    traffic = each.run.manifest.get("scenario", {}).get("traffic", [])
    labels = {pattern.get("label") or "goal" for pattern in traffic if pattern.get("pattern") == "goal"}
    return [job for job in each.run.manifest.get("jobs", []) if job.get("label") in labels]


def _ranks(each: Labelled, label: str) -> tuple[list[_Rank], int]:
    """What the ranks of a job did, and until when; what has not ended lasts until the end of the run.

    A rank sends while messages of it are under way, which for short ones is longer than the operation takes.
    """
    import pyarrow.compute as pc

    over = int(each.run.manifest.get("sim_time_ps", 0))
    operations, flows = (
        table.filter(pc.equal(pc.cast(table["label"], "string"), label))
        for table in (each.run.operations, each.run.flows)
    )
    start = operations["start_ps"].to_numpy().astype(np.int64)
    end = pc.fill_null(operations["end_ps"], over).to_numpy().astype(np.int64)
    kernel = pc.cast(operations["kernel"], "string").to_numpy(zero_copy_only=False)
    left = flows["start_ps"].to_numpy().astype(np.int64)
    acked = pc.fill_null(pc.add(flows["start_ps"], flows["fct_ps"]), over).to_numpy().astype(np.int64)
    by_rank = _by_rank(operations["process"].to_numpy())
    flows_of = _by_rank(flows["process"].to_numpy(zero_copy_only=False))

    def of(rows: Any, name: str) -> Intervals:
        wanted = rows[kernel[rows] == name]
        return Intervals(start[wanted], end[wanted])

    none = np.array([], dtype=np.int64)
    ranks = [
        _Rank(
            number,
            of(rows, "calc"),
            Intervals(left[sent := flows_of.get(number, none)], acked[sent]),
            of(rows, "recv"),
        )
        for number, rows in by_rank.items()
    ]
    return ranks, max(int(end.max(initial=0)), int(acked.max(initial=0)), 1)


def _by_rank(process: Any) -> dict[int, Any]:
    """The rows of each rank, by its number."""
    process = process.astype(np.int64)
    order = np.argsort(process, kind="stable")
    numbers = np.unique(process)
    groups = np.split(order, np.searchsorted(process[order], numbers[1:])) if len(numbers) else []
    return dict(zip(numbers.tolist(), groups, strict=True))


def _timeline(each: Labelled, job: dict[str, Any], runs: int) -> Plot:
    label = str(job["label"])
    name = "timeline-" + "".join(c if c.isalnum() else "-" for c in f"{each.label}-{label}")
    title = "What each rank did" + (f": {each.label}" if runs > 1 else "")
    ranks, latest = _ranks(each, label)
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
        else "Computing above, messages being sent below it, and at the bottom receives that are waited for while the "
        "rank does not compute."
    )
    return Plot(name, title, f"{taken} {words}", figure)


def _lanes(ranks: Sequence[_Rank], latest: int) -> go.Figure:
    """Three lanes a rank."""
    scale, unit = time_scale(latest)
    figure = new_figure(height=150 + 26 * len(ranks), x=f"time ({unit})", y="rank")
    for place, (legend, colour) in enumerate((("computes", _COMPUTES), ("sends", _SENDS), ("waits", _WAITS))):
        x: list[float | None] = []
        y: list[float | None] = []
        lasts: list[str | None] = []
        for row, rank in enumerate(ranks):
            spans = (rank.computes, rank.sends, rank.receives - rank.computes)[place].closed(latest // _PIXELS)
            for begin, end in zip(spans.start.tolist(), spans.end.tolist(), strict=True):
                x += [begin / scale, end / scale, None]
                y += [row + (place - 1) * 0.27] * 2 + [None]
                lasts += [f"rank {rank.number} {legend} for {time_text(end - begin)}"] * 2 + [None]
        figure.add_trace(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                name=legend,
                customdata=lasts,
                line={"color": colour, "width": 6},
                hovertemplate="%{customdata}<br>%{x:.6~g} " + unit + "<extra></extra>",
            )
        )
    numbers = [str(rank.number) for rank in ranks]
    figure.update_yaxes(
        tickvals=list(range(len(ranks))), ticktext=numbers, range=[len(ranks) - 0.4, -0.6], showgrid=False
    )
    figure.update_xaxes(range=[0, latest / scale])
    return figure


def _overview(ranks: Sequence[_Rank], latest: int) -> go.Figure:
    """A cell for some ranks and some time, with what they did for most of it."""
    scale, unit = time_scale(latest)
    edges = np.linspace(0, latest, _BINS + 1).astype(np.int64)
    rows = np.array_split(np.arange(len(ranks)), min(len(ranks), _MOST_ROWS))
    cells, texts = [], []
    for row in rows:
        times = np.sum([_shares(ranks[i], edges) for i in row], axis=0)
        shares = times / np.maximum(times.sum(axis=0), 1)
        cells.append(np.argmax(shares, axis=0))
        first, last = ranks[row[0]].number, ranks[row[-1]].number
        texts.append(f"{first}" if first == last else f"{first} to {last}")
    names = ("compute", "send", "wait", "nothing to do")
    colours = (_COMPUTES, _SENDS, _WAITS, _DONE)
    scale_of = [pair for i, c in enumerate(colours) for pair in ((i / 4, c), ((i + 1) / 4, c))]
    figure = new_figure(height=max(360, 60 + 5 * len(rows)), x=f"time ({unit})", y="rank")
    words = [[names[cell] for cell in row] for row in cells]
    figure.add_trace(
        go.Heatmap(
            z=[row.tolist() for row in cells],
            x=(edges / scale).tolist(),
            y=list(range(len(rows) + 1)),
            customdata=[[f"rank {text}: {word}" for word in row] for text, row in zip(texts, words, strict=True)],
            zmin=-0.5,
            zmax=3.5,
            colorscale=scale_of,
            colorbar={"tickvals": [0, 1, 2, 3], "ticktext": list(names), "thickness": 14},
            hovertemplate="%{customdata}<br>%{x:.6~g} " + unit + "<extra></extra>",
        )
    )
    ticks = np.unique(np.linspace(0, len(rows) - 1, 9).astype(int))
    figure.update_yaxes(
        tickvals=(ticks + 0.5).tolist(), ticktext=[texts[i].split(" ")[0] for i in ticks], autorange="reversed"
    )
    return figure


def _shares(rank: _Rank, edges: Any) -> Any:
    """Time in each bin in which a rank computes, else sends, else waits, else none of these."""
    busy = rank.computes | rank.sends
    computes, busy_time = rank.computes.covered(edges), busy.covered(edges)
    any_time = (busy | rank.receives).covered(edges)
    return np.stack([computes, busy_time - computes, any_time - busy_time, np.diff(edges) - any_time])
