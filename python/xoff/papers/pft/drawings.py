"""The paper's figures from our runs, and how F_C depends on what the paper leaves open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.pft import readings, theory
from xoff.papers.pft.experiments import BEST, CLAIMED, DRAWN, HEAVY, PPORTS, STRATEGIES, Control, Point
from xoff.papers.pft.findings import Results, control_factor, factors, pooled
from xoff.report import figures as fig
from xoff.report.figures import FigureFile

COLOURS = dict(zip(STRATEGIES, (fig.COLOURS[2], fig.COLOURS[1], fig.COLOURS[3], fig.COLOURS[0]), strict=True))
"""A strategy has the same colour in all figures."""
MARKERS = dict(zip(STRATEGIES, "osD^", strict=True))
BLACK = "#111111"
"""Without PFT, as in the paper."""
GREY = "#777777"
INTERVALS = 24
"""Intervals of a distribution."""


def draw(results: Results, folder: Path, claims: set[str]) -> list[FigureFile]:
    """Every figure of the claims for which there are results."""
    drawn: list[FigureFile] = []
    if "injection-rate" in claims:
        drawn += _injection(folder)
    if claims & {"control-factor", "distributions"}:
        drawn += _distribution(results, 0, "fig03", folder)
        drawn += _distribution(results, 1, "fig04", folder)
    if "control-factor" in claims:
        drawn += _factors(results, "default", folder)
        drawn += _factors(results, HEAVY, folder)
        drawn += _cost(results, folder)
        drawn += _processes(results, folder)
        drawn += _sensitivity(results, folder)
    return drawn


def _injection(folder: Path) -> list[FigureFile]:
    import matplotlib as mpl

    title = "Injection rate against used credits"
    tables = []
    used = np.array(theory.CREDITS)
    with fig.canvas(1, 2, width=10.6, height=4.4) as (figure, (left, right)):
        shades = (fig.COLOURS[0], fig.COLOURS[1], fig.COLOURS[2], fig.COLOURS[3], fig.COLOURS[5])
        styles = ("-", (0, (5, 2)), (0, (1, 1.5)))
        for n, colour in zip(theory.FIXED_N, shades, strict=True):
            for k, style in zip(theory.FIXED_K, styles, strict=True):
                rate = theory.fixed(n, k)
                left.plot(used, rate, color=colour, linestyle=style, linewidth=1.3, drawstyle="steps-post")
                tables.append(pl.DataFrame({"used": used, "rate": rate}).with_columns(line=pl.lit(f"FI n {n} k {k}")))
            left.plot([], [], color=colour, label=f"n = {n}")
        for k, style in zip(theory.FIXED_K, styles, strict=True):
            left.plot([], [], color=GREY, linestyle=style, label=f"k = {k}")
        left.set_title("(a) FI, m = 0", loc="left", pad=44)
        fig.legend_above(left, 4)
        ramp = mpl.colormaps["viridis"]
        for index, m in enumerate(theory.RANDOM_M):
            rate = theory.random(m)
            right.plot(used, rate, color=ramp(index / len(theory.RANDOM_M)), label=f"m = {m}")
            tables.append(pl.DataFrame({"used": used, "rate": rate}).with_columns(line=pl.lit(f"RI m {m}")))
        right.set_title("(b) RI, n = 0, k = 0, b = 28", loc="left", pad=44)
        fig.legend_above(right, 4)
        for panel in (left, right):
            panel.set_xlabel("used credits c")
            panel.set_xlim(0, used[-1])
            panel.set_ylim(0, 1.02)
            panel.set_ylabel("injection rate (share of the line rate)")
        figure.suptitle(f"Fig. 1: {title.lower()}", x=0.01, ha="left", fontsize=12)
        caption = "As the program computes it while Congested, each 32 credits. (a) 1/(1 + f(c)); (b) 1 - f(c)/2^28."
        return [fig.save(figure, pl.concat(tables), folder, FigureFile("fig01", title, caption, wide=True))]


def _distribution(results: Results, which: int, name: str, folder: Path) -> list[FigureFile]:
    shown: list[Control | None] = [None, *(control for control in DRAWN if (Point(control), 1) in results)]
    if (Point(None), 1) not in results or len(shown) < 2:
        return []
    what, unit = (("delays", "delay of a process (us)"), ("bandwidths", "bandwidth of a process (MiB/s)"))[which]
    values = {control: pooled(results, control)[which] for control in shown}
    pool = np.concatenate(list(values.values()))
    edges = np.geomspace(pool.min() * 0.98, pool.max() * 1.02, INTERVALS + 1)
    middles = np.sqrt(edges[:-1] * edges[1:])
    tables = []
    title = f"processes with different {what}"
    with fig.canvas(width=7.4, height=4.2) as (figure, axes):
        for control, each in values.items():
            counts = np.histogram(each, edges)[0]
            label, colour, marker, width = "without PFT", BLACK, None, 2.2
            if control:
                strategy = control.strategy
                label, colour, marker, width = control.name, COLOURS[strategy], MARKERS[strategy], 1.3
            axes.plot(middles, counts, color=colour, marker=marker, markersize=4, linewidth=width, label=label)
            tables.append(
                pl.DataFrame({"low": edges[:-1], "high": edges[1:], "processes": counts}).with_columns(
                    line=pl.lit(label), median=pl.lit(float(np.median(each)))
                )
            )
        axes.set_xscale("log")
        _plain(axes.xaxis, edges[-1] / edges[0])
        axes.set_xlabel(f"{unit}, logarithmic")
        axes.set_ylabel("processes in the interval")
        axes.set_ylim(bottom=0)
        axes.set_title(f"Fig. {name[-1]}: {title}", loc="left", pad=58)
        fig.legend_above(axes, 2)
        seeds = len([seed for point, seed in results if point == Point(None)])
        caption = (
            f"{INTERVALS} intervals of equal ratio; all processes of the tests beside congestors, PPort 16, "
            f"{seeds} seed{'s' * (seeds > 1)}."
        )
        return [fig.save(figure, pl.concat(tables), folder, FigureFile(name, f"Number of {title}", caption))]


def _plain(axis: Any, ratio: float) -> None:
    """Numbers on a logarithmic axis without powers of ten; `ratio` is the ratio of the axis' ends."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    # If the axis spans less than a decade, 1, 2 and 5 may all be outside.
    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12) if ratio > 10 else MaxNLocator(7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _label(control: Control) -> str:
    letter = "m" if control.interval == "random" else "n"
    base = f"{letter} {control.shift}"
    if control.k:
        base += f", k {control.k}"
    if control.enter not in (0x250, 0x2A0):
        base += f"\n{control.thresholds}"
    return base


def _factors(results: Results, reading: str, folder: Path) -> list[FigureFile]:
    found = factors(results, reading)
    if not found:
        return []
    name, number, title = "fig05", "Fig. 5: ", "F_C under different strategies and configurations"
    if reading == HEAVY:
        name, number, title = "heavy", "", "F_C as in Fig. 5, but with congestors' messages of 64 KiB"
    most = max(*found.values(), CLAIMED)
    rows = [
        {"strategy": c.strategy, "shift": c.shift, "k": c.k, "enter": c.enter, "escape": c.escape, "control_factor": f}
        for c, f in found.items()
    ]
    with fig.canvas(2, 2, width=10.6, height=7.6) as (figure, panels):
        for panel, strategy in zip(panels.flat, STRATEGIES, strict=True):
            own = {control: value for control, value in found.items() if control.strategy == strategy}
            bars = panel.bar(range(len(own)), list(own.values()), 0.7, color=COLOURS[strategy])
            # Inside the bars: above them the line would cross the numbers.
            numbers = [f"{value:.2f}" for value in own.values()]
            panel.bar_label(bars, numbers, fontsize=8, label_type="center", color="white")
            panel.axhline(1, color=BLACK, linewidth=1.0)
            panel.set_xticks(range(len(own)), [_label(c) for c in own], rotation=60, ha="right", fontsize=8)
            # A few bars stand in the middle, no wider than many.
            middle, half = (len(own) - 1) / 2, max(len(own), 8) / 2 + 0.1
            panel.set_xlim(middle - half, middle + half)
            panel.set_ylim(0, most * 1.12)
            panel.set_ylabel("F_C")
            panel.grid(axis="x", visible=False)
            own_pair = next(iter(own)).thresholds
            panel.set_title(f"{strategy}, thresholds {own_pair} where not named", loc="left", fontsize=10)
            if BEST in own:
                place = list(own).index(BEST)
                panel.plot([place], [CLAIMED], marker="*", color=BLACK, markersize=11, linestyle="none")
                panel.annotate(
                    f"the paper: {CLAIMED}", (place, CLAIMED), xytext=(9, -3), textcoords="offset points", fontsize=8
                )
        figure.suptitle(f"{number}{title}", x=0.01, ha="left", fontsize=12)
        caption = "Bandwidth over delay of the tests, relative to the same without PFT. The line is 1: no effect."
        return [fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption, wide=True))]


def _cost(results: Results, folder: Path) -> list[FigureFile]:
    found = factors(results)
    if not found:
        return []
    title = "What F_C costs: goodput of the congestors"
    base = results[Point(None), 1].congestors_gbps
    rows = [
        {"setting": c.name, "strategy": c.strategy, "gbps": results[Point(c), 1].congestors_gbps, "control_factor": f}
        for c, f in found.items()
    ]
    with fig.canvas(width=7.0, height=4.4) as (figure, axes):
        for strategy in STRATEGIES:
            own = [row for row in rows if row["strategy"] == strategy]
            axes.plot(
                [row["gbps"] for row in own],
                [row["control_factor"] for row in own],
                color=COLOURS[strategy],
                marker=MARKERS[strategy],
                markersize=6,
                linestyle="none",
                label=strategy,
            )
        axes.plot([base], [1.0], marker="*", color=BLACK, markersize=12, linestyle="none", label="without PFT")
        axes.set_xlabel("goodput of the congestors (Gbps a host)")
        axes.set_ylabel("F_C")
        axes.margins(0.08)
        axes.set_title(title, loc="left", pad=28)
        fig.legend_above(axes, 5)
        caption = "Each dot is a setting of Fig. 5: payload that the congestors got delivered while the tests ran."
        return [fig.save(figure, pl.DataFrame(rows), folder, FigureFile("cost", title, caption))]


def _processes(results: Results, folder: Path) -> list[FigureFile]:
    shown = [p for p in PPORTS if all((Point(control, p), 1) in results for control in (None, BEST))]
    if len(shown) < 2:
        return []
    title = "Processes a port (PPort)"
    quantities: tuple[tuple[str, str, Callable[[Any], float]], ...] = (
        ("delay D (us)", "delay_us", lambda victims: float(victims.mean_delay)),
        ("bandwidth B (MiB/s)", "bandwidth_mibs", lambda victims: float(victims.mean_bandwidth)),
    )
    rows = [
        {
            "processes": p,
            "pft": control is not None,
            **{column: of(results[Point(control, p), 1]) for _, column, of in quantities},
            "control_factor": control_factor(results, Point(control, p), Point(None, p)) if control else 1.0,
        }
        for p in shown
        for control in (None, BEST)
    ]
    with fig.canvas(1, 3, width=10.6, height=3.8) as (figure, panels):
        places = np.arange(len(shown))
        for panel, (label, column, _) in zip(panels, quantities, strict=False):
            for offset, pft, colour, name in ((-0.2, False, GREY, "without PFT"), (0.2, True, COLOURS["AT-RI"], "PFT")):
                heights = [row[column] for row in rows if row["pft"] == pft]
                bars = panel.bar(places + offset, heights, 0.36, color=colour, label=name)
                panel.bar_label(
                    bars, [f"{height:.{0 if height >= 100 else 1}f}" for height in heights], fontsize=8, padding=2
                )
            panel.set_ylabel(label)
        heights = [row["control_factor"] for row in rows if row["pft"]]
        bars = panels[2].bar(places, heights, 0.5, color=COLOURS["AT-RI"])
        numbers = [f"{height:.2f}" for height in heights]
        panels[2].bar_label(bars, numbers, fontsize=8, label_type="center", color="white")
        panels[2].axhline(1, color=BLACK, linewidth=1.0)
        panels[2].set_ylabel("F_C")
        for panel in panels:
            panel.set_xticks(places, [str(p) for p in shown])
            panel.set_xlabel("processes a port")
            panel.grid(axis="x", visible=False)
            panel.margins(y=0.12)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper right", ncols=2)
        figure.suptitle(title, x=0.01, ha="left", fontsize=12)
        caption = f"Means over the tests' processes beside congestors, first seed; PFT is {BEST.name}."
        return [fig.save(figure, pl.DataFrame(rows), folder, FigureFile("pport", title, caption, wide=True))]


def _sensitivity(results: Results, folder: Path) -> list[FigureFile]:
    found = readings.table(results)
    parts = [(str(axis), part) for (axis,), part in found.group_by(["open"], maintain_order=True) if len(part) > 1]
    if not parts:
        return []
    title = "F_C against what the paper leaves open"
    columns = min(5, len(parts))
    lines = -(-len(parts) // columns)
    most = max(found["control_factor"].max(), CLAIMED)  # type: ignore[type-var]
    with fig.canvas(lines, columns, width=13.0, height=0.4 + 3.5 * lines) as (figure, grid):
        panels = np.atleast_1d(grid).ravel()
        for panel, (axis, part) in zip(panels, parts, strict=False):
            places, values = np.arange(len(part)), part["control_factor"].to_numpy()
            panel.axhline(CLAIMED, color=GREY, linestyle=(0, (4, 2)), linewidth=1.0)
            panel.axhline(1, color=BLACK, linewidth=1.0)
            panel.plot(places, values, color=COLOURS["AT-RI"], marker="o", markersize=5, linewidth=1.2)
            default = part["default"].to_numpy()
            panel.plot(places[default], values[default], marker="o", markersize=9, color=BLACK, fillstyle="none")
            for place, value in zip(places, values, strict=True):
                panel.annotate(
                    f"{value:.2f}", (place, value), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=8
                )
            panel.set_xticks(places, part["value"].to_list(), rotation=35, ha="right", fontsize=8)
            panel.set_xlim(-0.5, len(part) - 0.5)
            panel.set_ylim(0, float(most) * 1.15)  # type: ignore[arg-type]
            panel.set_title(axis, loc="left", fontsize=9)
        for panel in panels[len(parts) :]:
            panel.set_visible(False)
        for row in range(lines):
            panels[row * columns].set_ylabel("F_C")
        figure.suptitle(f"{title} ({BEST.name})", x=0.01, ha="left", fontsize=12)
        caption = (
            "One thing changed at a time, first seed. Ring: what the verdicts rest on. Line at 1: no effect; dashes: "
            "the paper's 2.58. Where fabric or traffic changes, so does the run without PFT."
        )
        return [fig.save(figure, found, folder, FigureFile("sensitivity", title, caption, wide=True))]
