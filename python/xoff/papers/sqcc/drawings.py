"""The paper's figures from our runs, and the queues beside its equations and beside the fluid model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff import fluid
from xoff.papers.sqcc import theory
from xoff.papers.sqcc.experiments import DELTA, ERROR, FIXED, FRAME, INCASTS, PATCHED, SQCC, Point
from xoff.papers.sqcc.findings import NAMES, Results, mean
from xoff.papers.sqcc.measures import Trace
from xoff.report import figures as fig
from xoff.report.figures import FigureFile

COLOURS = {PATCHED: fig.COLOURS[0], ERROR: fig.COLOURS[1], DELTA: fig.COLOURS[3], SQCC: fig.COLOURS[2]}
"""A variant has the same colour in all figures."""

SHOWN = 500.0
"""Packets of queue up to which Fig. 4 is drawn."""
FLUID_MS = 60.0
"""How long the fluid model is solved for, in ms."""

Lines = Mapping[str, tuple[Trace, str]]
"""Traces with their colours, by name."""


def draw(results: Results, folder: Path) -> list[FigureFile]:
    """Every figure for which there are results."""
    drawn = []
    for letter, n in zip("abc", (2, 40, 60), strict=True):
        drawn += _compared(results, n, (PATCHED, ERROR), f"fig01{letter}", folder)
    drawn += _bars(results, (2, 40, 60), (PATCHED, ERROR), "fig01d", folder)
    for letter, n in zip("ab", (40, 60), strict=True):
        drawn += _compared(results, n, (ERROR, DELTA), f"fig02{letter}", folder)
    drawn += _bars(results, (40, 60), (ERROR, DELTA), "fig02c", folder)
    drawn += _compared(results, 500, (ERROR,), "fig03a", folder)
    drawn += _compared(results, 500, (ERROR, DELTA, SQCC), "fig03b", folder)
    drawn += _large(results, folder)
    drawn += _fixed_points(results, folder)
    drawn += _fluid(results, folder)
    return drawn


def _has(results: Results, *points: Point) -> bool:
    return all((*point, 1) in results for point in points)


def _trace(results: Results, point: Point) -> Trace:
    trace = results[*point, 1].trace
    if trace is None:
        raise ValueError("the first seed keeps its samples")
    return trace


def _plot(
    lines: Lines, name: str, title: str, caption: str, folder: Path, most: float | None = None
) -> list[FigureFile]:
    with fig.canvas() as (figure, axes):
        for label, (trace, colour) in lines.items():
            axes.fill_between(trace.time_ms, trace.least, trace.most, color=colour, alpha=0.25, linewidth=0)
            axes.plot(trace.time_ms, trace.mean, color=colour, label=label, linewidth=1.2)
        axes.set_xlabel("time (ms)")
        axes.set_ylabel("queue (packets)")
        axes.set_xlim(0, max(trace.time_ms[-1] for trace, _ in lines.values()))
        axes.set_ylim(0, most)
        columns = 4 if all(len(label) < 12 for label in lines) else 2
        _title(axes, name, title, rows=-(-len(lines) // columns))
        fig.legend_above(axes, columns)
        data = pl.concat(
            pl.DataFrame({"time_ms": t.time_ms, "mean": t.mean, "least": t.least, "most": t.most}).with_columns(
                line=pl.lit(label)
            )
            for label, (t, _) in lines.items()
        )
        return [fig.save(figure, data, folder, FigureFile(name, title, caption))]


def _title(axes: Any, name: str, title: str, rows: int = 1) -> None:
    number = name.removeprefix("fig").lstrip("0")
    text = f"Fig. {number}: {title}" if name.startswith("fig") else title
    axes.set_title(text, loc="left", pad=12 + 14 * rows)


_CAPTION = "Line: mean of the samples, which are 10 us apart, in each bin; band: least to greatest."


def _compared(results: Results, n: int, variants: Sequence[str], name: str, folder: Path) -> list[FigureFile]:
    if not _has(results, *((variant, n) for variant in variants)):
        return []
    lines = {NAMES[v]: (_trace(results, (v, n)), COLOURS[v]) for v in variants}
    title = f"queue of {n} to 1"
    return _first(lines, name, title, folder) if n < 100 else _plot(lines, name, title, _CAPTION, folder)


def _first(lines: Lines, name: str, title: str, folder: Path) -> list[FigureFile]:
    """The first 100 ms, in which oscillations can be told apart."""
    with fig.canvas() as (figure, axes):
        for label, (trace, colour) in lines.items():
            axes.plot(trace.early_ms, trace.early, color=colour, label=label, linewidth=1.1)
        axes.set_xlabel("time (ms)")
        axes.set_ylabel("queue (packets)")
        axes.set_xlim(0, max(trace.early_ms[-1] for trace, _ in lines.values()))
        axes.set_ylim(bottom=0)
        columns = 4 if all(len(label) < 12 for label in lines) else 2
        _title(axes, name, title, rows=-(-len(lines) // columns))
        fig.legend_above(axes, columns)
        data = pl.concat(
            pl.DataFrame({"time_ms": trace.early_ms, "queue": trace.early}).with_columns(line=pl.lit(label))
            for label, (trace, _) in lines.items()
        )
        caption = "The first 100 ms, mean of each 50 us. Flows start with C/N on an empty queue."
        return [fig.save(figure, data, folder, FigureFile(name, title, caption))]


def _large(results: Results, folder: Path) -> list[FigureFile]:
    if not _has(results, *((SQCC, n) for n in INCASTS)):
        return []
    colours = (fig.COLOURS[5], fig.COLOURS[4], fig.COLOURS[2], fig.COLOURS[3])
    lines = {f"{n} to 1": (_trace(results, (SQCC, n)), colour) for n, colour in zip(INCASTS, colours, strict=True)}
    surge = max(trace.most.max() for trace, _ in lines.values())
    caption = f"{_CAPTION} The surge at the start, up to {surge:.0f} packets, is cut off."
    return _plot(lines, "fig04", "queue under SQCC", caption, folder, SHOWN)


def _bars(results: Results, flows: Sequence[int], variants: Sequence[str], name: str, folder: Path) -> list[FigureFile]:
    if not _has(results, *((variant, n) for variant in variants for n in flows)):
        return []
    rows: list[dict[str, Any]] = []
    title = "mean queue in the steady state, and its range"
    with fig.canvas() as (figure, axes):
        for index, variant in enumerate(variants):
            found = [{q: mean(results, (variant, n), q) for q in ("mean", "least", "most", "deviation")} for n in flows]
            places = np.arange(len(flows)) + (index - (len(variants) - 1) / 2) * 0.36
            heights = [each["mean"] for each in found]
            spans = [[e["mean"] - e["least"] for e in found], [e["most"] - e["mean"] for e in found]]
            bars = axes.bar(places, heights, 0.32, color=COLOURS[variant], label=NAMES[variant])
            axes.errorbar(places, heights, yerr=spans, fmt="none", ecolor="#333333", elinewidth=1.1, capsize=4)
            for bar, height in zip(bars, heights, strict=True):
                axes.annotate(
                    f"{height:.0f}",
                    (bar.get_x() + bar.get_width() * 0.72, height),
                    xytext=(0, 2),
                    textcoords="offset points",
                    ha="left",
                    fontsize=8,
                )
            rows += [{"variant": variant, "n": n, **each} for n, each in zip(flows, found, strict=True)]
        axes.set_xticks(range(len(flows)), [f"{n} to 1" for n in flows])
        axes.set_ylabel("queue (packets)")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(bottom=0)
        _title(axes, name, title)
        fig.legend_above(axes, 2)
        caption = (
            "Bars and numbers: mean of the second half of the run. Lines: least to greatest sample. Mean of the seeds."
        )
        return [fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption))]


def _fixed_points(results: Results, folder: Path) -> list[FigureFile]:
    if not _has(results, *((PATCHED, n) for n in FIXED)):
        return []
    title = "Queue under patched TIMELY against N, and Eq. 6"
    found = [{q: mean(results, (PATCHED, n), q) for q in ("mean", "least", "most", "deviation")} for n in FIXED]
    expected = [theory.fixed_packets((PATCHED, n)) for n in FIXED]
    ceiling = theory.ceiling_packets()
    with fig.canvas() as (figure, axes):
        heights = [each["mean"] for each in found]
        spans = [[e["mean"] - e["least"] for e in found], [e["most"] - e["mean"] for e in found]]
        axes.plot(FIXED, expected, color="#444444", linewidth=1.2, label="Eq. 6")
        axes.axhline(ceiling, color=fig.COLOURS[6], linestyle=(0, (4, 2)), linewidth=1.2, label="queue at T_high")
        axes.errorbar(
            FIXED, heights, yerr=spans, fmt="o", color=COLOURS[PATCHED], capsize=3, markersize=5, label="packets"
        )
        axes.set_xlabel("flows N")
        axes.set_ylabel("queue (packets)")
        axes.set_ylim(bottom=0)
        _title(axes, "fixed-point", title)
        fig.legend_above(axes, 3)
        data = pl.DataFrame([{"n": n, "eq6": e, **each} for n, e, each in zip(FIXED, expected, found, strict=True)])
        caption = "Dots: mean of the steady state in packet runs; lines: least to greatest sample. Mean of the seeds."
        return [fig.save(figure, data, folder, FigureFile("fixed-point", title, caption))]


def _fluid(results: Results, folder: Path) -> list[FigureFile]:
    """The first moments of 40 to 1, packets and the fluid model."""
    variants = [variant for variant in (PATCHED, ERROR, DELTA) if _has(results, (variant, 40))]
    if len(variants) < 3:
        return []
    title = "The first 60 ms of 40 to 1, packets and fluid model"
    tables = []
    with fig.canvas(1, 3, width=10.6, height=3.8) as (figure, panels):
        for panel, variant in zip(panels, variants, strict=True):
            trace = _trace(results, (variant, 40))
            shown = trace.early_ms <= FLUID_MS
            moments, queue = trace.early_ms[shown], trace.early[shown]
            solved = fluid.simulate(theory.model((variant, 40)), FLUID_MS / 1e3, interval_s=50e-6)
            time_ms, packets = solved.time_s * 1e3, solved.queue_bytes / FRAME
            panel.plot(moments, queue, color=COLOURS[variant], linewidth=1.1, label="packets")
            panel.plot(time_ms, packets, color="#444444", linewidth=1.1, linestyle=(0, (4, 2)), label="fluid model")
            panel.axhline(theory.fixed_packets((variant, 40)), color=fig.COLOURS[6], linewidth=1.0, label="fixed point")
            panel.set_title(NAMES[variant], loc="left", fontsize=10)
            panel.set_xlabel("time (ms)")
            panel.set_xlim(0, FLUID_MS)
            panel.set_ylim(bottom=0)
            for what, x, y in (("packets", moments, queue), ("fluid", time_ms, packets)):
                tables.append(
                    pl.DataFrame({"time_ms": x, "packets": y}).with_columns(variant=pl.lit(variant), line=pl.lit(what))
                )
        panels[0].set_ylabel("queue (packets)")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper right", ncols=3)
        figure.suptitle(title, x=0.01, ha="left", fontsize=12)
        caption = (
            "Flows start with C/N on an empty queue; packets: mean of each 50 us. The model has the packets' segments."
        )
        return [fig.save(figure, pl.concat(tables), folder, FigureFile("fluid", title, caption, wide=True))]
