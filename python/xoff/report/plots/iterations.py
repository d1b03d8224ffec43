"""Iterations of training jobs: how much of one a rank computes, and what it waits for otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from xoff.report.palette import COLOURS
from xoff.report.plots.style import Labelled, Plot, new_figure, plain_names, time_scale
from xoff.runs.iterations import WAITS, iterations_text
from xoff.text import time_text

_COLOURS = {
    "compute": COLOURS[0],
    "tensor": COLOURS[3],
    "expert": COLOURS[4],
    "gradients": COLOURS[1],
    "parameters": COLOURS[2],
    "pipeline": COLOURS[6],
}


def iterations(runs: Sequence[Labelled]) -> list[Plot]:
    """A bar for each job that trains; nothing without such jobs."""
    rows = [(each, job) for each in runs for job in each.run.manifest.get("jobs", []) if job.get("iterations")]
    if not rows:
        return []
    several = len({job["label"] for _, job in rows}) > 1
    labels = plain_names([f"{each.label}: {job['label']}" if several else each.label for each, job in rows])
    scale, unit = time_scale(max(job["iterations"]["mean_ps"] for _, job in rows))
    figure = new_figure(height=150 + 44 * len(rows), x=f"time of a rank in an iteration ({unit})", y="")
    parts = [
        {"compute": job["iterations"]["compute_ps"]}
        | {each["waits_for"]: each["mean_ps"] for each in job["iterations"]["exposed"]}
        for _, job in rows
    ]
    for name, colour in _COLOURS.items():
        values = [part.get(name, 0.0) for part in parts]
        if not any(values):
            continue
        legend = "computes" if name == "compute" else f"waits for {WAITS[name]}"
        figure.add_trace(
            go.Bar(
                x=[value / scale for value in values],
                y=labels,
                orientation="h",
                name=legend,
                marker={"color": colour},
                customdata=[f"{legend}: {time_text(round(value))}" for value in values],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    figure.update_layout(barmode="stack", legend_traceorder="normal")
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(autorange="reversed", type="category")
    texts = (f"{each.label}: {iterations_text(job['iterations'])}." for each, job in rows[:8])
    note = (
        "Means over ranks and iterations. What a rank waits for is communication that no computation hides, and what "
        "lies behind it: slower ranks, and the bubbles of the pipeline. " + " ".join(texts)
    )
    return [Plot("iterations", "Iterations", note, figure)]
