"""The survey's figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from xoff.report.figures import FigureFile, canvas, save
from xoff.report.palette import COLOURS, SERIES
from xoff.studies.compare.heat import HEADLINES, SCALE_TEXT, STOPS, metric_of, ratios, shade
from xoff.studies.compare.measures import Measured
from xoff.studies.compare.table import Row, shown

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Results = Mapping[tuple[str, str, int], Measured]

DASHES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def draw(rows: Sequence[Row], results: Results, out: Path) -> list[FigureFile]:
    """Every figure, into the folder `out`."""
    names = list(dict.fromkeys(row.contender for row in rows))
    return [
        _overview(rows, names, out),
        _trade(rows, names, out),
        _queues(results, names, "dumbbell", out),
        _rates(results, names, out),
        _queues(results, names, "incast", out),
        _victims(rows, names, out),
        _sizes(results, names, out),
    ]


def _overview(rows: Sequence[Row], names: Sequence[str], out: Path) -> FigureFile:
    """Each number against the best of its column, on one scale for all columns."""
    from matplotlib.colors import LinearSegmentedColormap

    values = {(row.experiment, row.contender): row.values for row in rows}
    shades = np.full((len(names), len(HEADLINES)), np.nan)
    texts: dict[tuple[int, int], str] = {}
    for j, (experiment, key, _) in enumerate(HEADLINES):
        metric = metric_of(experiment, key)
        column = [values[experiment, name][key] for name in names]
        for i, (value, ratio) in enumerate(zip(column, ratios(metric, column), strict=True)):
            texts[i, j] = shown(metric, value)
            shades[i, j] = math.nan if math.isnan(ratio) else shade(ratio)
    with canvas(width=12.5, height=1.5 + 0.36 * len(names)) as (figure, axes):
        colours = LinearSegmentedColormap.from_list("worse", STOPS)
        axes.imshow(shades, aspect="auto", cmap=colours, vmin=0, vmax=1)
        axes.set_xticks(range(len(HEADLINES)), [title for _, _, title in HEADLINES], fontsize=8.5)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(length=0, top=True, bottom=False, labeltop=True, labelbottom=False)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        for (i, j), text in texts.items():
            axes.text(j, i, text, ha="center", va="center", fontsize=9)
        data = pl.DataFrame(
            {"scheme": list(names)} | {f"{e}.{k}": [values[e, name][k] for name in names] for e, k, _ in HEADLINES}
        )
        title = "Who is best at what"
        return save(figure, data, out, FigureFile("overview", title, f"{title}. {SCALE_TEXT}", wide=True))


def _trade(rows: Sequence[Row], names: Sequence[str], out: Path) -> FigureFile:
    """Queue against utilization."""
    own = {row.contender: row.values for row in rows if row.experiment == "dumbbell"}
    queue = np.array([own[name]["queue_mean"] for name in names])
    busy = np.array([own[name]["utilization"] for name in names])
    with canvas(width=6.4, height=4.4) as (figure, axes):
        for i, name in enumerate(names):
            axes.plot(queue[i], 100 * busy[i], linestyle="", label=name, markersize=8, clip_on=False, **_look(i))
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(left=0)
        _plain_numbers(axes.xaxis)
        axes.set_xlabel("mean queue, KB (linear up to 1 KB)")
        axes.set_ylabel("utilization of the bottleneck, %")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=4, fontsize=8)
        data = pl.DataFrame({"scheme": list(names), "queue_mean_kb": queue, "utilization": busy})
        title = "Queue and utilization"
        caption = "Four long flows, second half of the run: up and to the left is better."
        return save(figure, data, out, FigureFile("trade", title, f"{title}. {caption}"))


def _queues(results: Results, names: Sequence[str], experiment: str, out: Path) -> FigureFile:
    """The bottleneck's queue over time, a panel a scheme."""
    series = {name: results[experiment, name, 1].queue for name in names}

    def line(axes: Any, i: int, name: str) -> list[dict[str, object]]:
        found = series[name]
        if found is None:
            return []
        time, queue = found
        axes.plot(time / 1e3, queue, color=SERIES[i % len(SERIES)], linewidth=1)
        return [{"scheme": name, "time_us": t, "queue_kb": q} for t, q in zip(time, queue, strict=True)]

    who = {"dumbbell": "Four long flows", "incast": "Incast of thirty-two"}[experiment]
    title = f"{who}: queue"
    caption = "Bytes queued at the congested port, in KB; all panels have the same axes."
    drawn = FigureFile(f"{experiment}_queue", title, f"{title}. {caption}", wide=True)
    return _panels(names, line, "queue, KB", out, drawn)


def _rates(results: Results, names: Sequence[str], out: Path) -> FigureFile:
    """What each of the long flows gets, a panel a scheme."""
    series = {name: results["dumbbell", name, 1].rates for name in names}

    def lines(axes: Any, _: int, name: str) -> list[dict[str, object]]:
        found = series[name]
        if found is None:
            return []
        time, rates = found
        # Means over 50 us: single samples of 5 us hold a few dozen packets.
        width = 10
        whole = len(time) // width * width
        moments = time[:whole].reshape(-1, width)[:, -1]
        means = rates[:whole].reshape(-1, width, rates.shape[1]).mean(axis=1)
        rows: list[dict[str, object]] = []
        for flow in range(means.shape[1]):
            axes.plot(moments / 1e3, means[:, flow], color=COLOURS[flow], linewidth=1)
            rows += [
                {"scheme": name, "flow": flow, "time_us": t, "goodput_gbps": g}
                for t, g in zip(moments, means[:, flow], strict=True)
            ]
        return rows

    title = "Four long flows: goodput"
    caption = "Of each flow, in Gbps, means over 50 us; flows join each 0.3 ms. A fair share is 23 to 24 Gbps."
    return _panels(
        names, lines, "goodput, Gbps", out, FigureFile("dumbbell_rates", title, f"{title}. {caption}", wide=True)
    )


def _panels(names: Sequence[str], line: Any, label: str, out: Path, drawn: FigureFile) -> FigureFile:
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    with canvas(rows, columns, width=3.1 * columns + 0.6, height=1.9 * rows + 0.5) as (figure, grid):
        panels = np.atleast_1d(grid).reshape(rows, columns)
        data: list[dict[str, object]] = []
        for i, name in enumerate(names):
            axes = panels[i // columns, i % columns]
            data += line(axes, i, name)
            axes.set_title(name, fontsize=10)
        used = [panels[i // columns, i % columns] for i in range(len(names))]
        top = max(axes.get_ylim()[1] for axes in used)
        right = max(axes.get_xlim()[1] for axes in used)
        for axes in used:
            axes.set_ylim(0, top)
            axes.set_xlim(0, right)
        for axes in panels.flat[len(names) :]:
            axes.set_visible(False)
        figure.supxlabel("time, ms", fontsize=10)
        figure.supylabel(label, fontsize=10)
        return save(figure, pl.DataFrame(data), out, drawn)


def _victims(rows: Sequence[Row], names: Sequence[str], out: Path) -> FigureFile:
    """Victims' and bursts' slowdown side by side."""
    own = {row.contender: row.values for row in rows if row.experiment == "victim"}
    order = sorted(names, key=lambda name: own[name]["victim_p99"])
    place = np.arange(len(order))
    with canvas(width=6.4, height=1.4 + 0.42 * len(order)) as (figure, axes):
        for shift, key, label, colour in (
            (-0.2, "victim_p99", "victims", COLOURS[1]),
            (0.2, "burst_p99", "bursts", COLOURS[0]),
        ):
            axes.barh(place + shift, [own[name][key] for name in order], height=0.38, color=colour, label=label)
        axes.set_yticks(place, order)
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel("p99 slowdown")
        axes.grid(visible=False, axis="y")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=2)
        keys = ("victim_p99", "burst_p99", "pauses", "trunk_paused")
        data = pl.DataFrame({"scheme": order} | {key: [own[name][key] for name in order] for key in keys})
        title = "Victims of head-of-line blocking"
        caption = "99th percentile of slowdown, of the messages that PAUSE alone can slow down and of the bursts."
        return save(figure, data, out, FigureFile("victims", title, f"{title}. {caption}"))


def _sizes(results: Results, names: Sequence[str], out: Path) -> FigureFile:
    """Slowdown by flow size on the fat-tree."""
    pooled = {name: _pooled(results, name) for name in names}
    sizes = np.concatenate([size for size, _ in pooled.values()])
    edges = np.unique(np.percentile(sizes, np.linspace(0, 100, 9)[1:], method="inverted_cdf"))
    data: list[dict[str, object]] = []
    with canvas(1, 2, width=12.5, height=4.6) as (figure, (left, right)):
        for i, name in enumerate(names):
            size, slowdown = pooled[name]
            place = np.searchsorted(edges, size, side="left")
            rows = [
                (float(np.median(size[place == part])), slowdown[place == part])
                for part in range(len(edges))
                if (place == part).any()
            ]
            x = [median / 1e3 for median, _ in rows]
            mean = [float(np.mean(values)) for _, values in rows]
            tail = [float(np.percentile(values, 99)) for _, values in rows]
            for axes, y in ((left, mean), (right, tail)):
                axes.plot(x, y, label=name, markersize=4, linestyle=DASHES[i // len(COLOURS) % len(DASHES)], **_look(i))
            data += [
                {"scheme": name, "median_kb": a, "flows": len(values), "mean": b, "p99": c}
                for a, b, c, (_, values) in zip(x, mean, tail, rows, strict=True)
            ]
        for axes, label in ((left, "mean slowdown"), (right, "p99 slowdown")):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel("flow size, KB (median of each eighth of the flows)")
            axes.set_ylabel(label)
            _plain_ticks(axes)
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=8, fontsize=8.5)
        title = "Web search on a fat-tree: slowdown by flow size"
        caption = "Mean and 99th percentile of each eighth of the flows, all seeds together."
        return save(
            figure, pl.DataFrame(data), out, FigureFile("fat_tree_sizes", title, f"{title}. {caption}", wide=True)
        )


def _plain_ticks(axes: Any) -> None:
    from matplotlib.ticker import LogLocator

    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (axes.xaxis, axes.yaxis):
        _plain_numbers(axis)


def _plain_numbers(axis: Any) -> None:
    """No powers of ten."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())


def _pooled(results: Results, name: str) -> tuple[Floats, Floats]:
    found = [m.slowdown for (experiment, who, _), m in results.items() if (experiment, who) == ("fat_tree", name)]
    parts = [each for each in found if each is not None]
    return np.concatenate([size for size, _ in parts]), np.concatenate([slow for _, slow in parts])


def _look(i: int) -> dict[str, Any]:
    return {"color": SERIES[i % len(SERIES)], "marker": MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]}
