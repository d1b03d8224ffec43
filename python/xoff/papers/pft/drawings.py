"""The paper's figures from our runs, and what F_C costs the congestors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.pft import theory
from xoff.papers.pft.experiments import BEST, CLAIMED, DRAWN, STRATEGIES, Control, Point
from xoff.papers.pft.findings import Results, average_of, control_factors, settings_of
from xoff.papers.pft.measures import Victims
from xoff.papers.rules import Estimate, estimate
from xoff.papers.space import Reading
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


def draw(results: Results, reading: Reading, folder: Path, claims: set[str]) -> list[FigureFile]:
    """Every figure of the claims for which there are results."""
    drawn: list[FigureFile] = []
    average = average_of(reading)
    if "injection-rate" in claims:
        drawn += _injection(reading, folder)
    if "delay-distribution" in claims:
        drawn += _distribution(results, 0, "fig03", folder)
    if "bandwidth-distribution" in claims:
        drawn += _distribution(results, 1, "fig04", folder)
    if "control-factor" in claims:
        drawn += _factors(results, average, folder)
        drawn += _cost(results, average, folder)
    if "best-setting" in claims:
        drawn += _processes(results, average, folder)
    return drawn


def _injection(reading: Reading, folder: Path) -> list[FigureFile]:
    import matplotlib as mpl

    title = "Injection rate against used credits"
    tables = []
    read = reading.sets("theory")
    held, bits = int(str(read["credits"])), int(str(read["random_bits"]))
    used = theory.used(held)
    with fig.canvas(1, 2, width=10.6, height=4.4) as (figure, (left, right)):
        shades = (fig.COLOURS[0], fig.COLOURS[1], fig.COLOURS[2], fig.COLOURS[3], fig.COLOURS[5])
        styles = ("-", (0, (5, 2)), (0, (1, 1.5)))
        for n, colour in zip(theory.FIXED_N, shades, strict=True):
            for k, style in zip(theory.FIXED_K, styles, strict=True):
                rate = theory.fixed(n, used, k)
                left.plot(used, rate, color=colour, linestyle=style, linewidth=1.3, drawstyle="steps-post")
                tables.append(pl.DataFrame({"used": used, "rate": rate}).with_columns(line=pl.lit(f"FI n {n} k {k}")))
            left.plot([], [], color=colour, label=f"n = {n}")
        for k, style in zip(theory.FIXED_K, styles, strict=True):
            left.plot([], [], color=GREY, linestyle=style, label=f"k = {k}")
        left.set_title("(a) FI, m = 0", loc="left", pad=44)
        fig.legend_above(left, 4)
        ramp = mpl.colormaps["viridis"]
        for index, m in enumerate(theory.RANDOM_M):
            rate = theory.random(m, used, bits)
            right.plot(used, rate, color=ramp(index / len(theory.RANDOM_M)), label=f"m = {m}")
            tables.append(pl.DataFrame({"used": used, "rate": rate}).with_columns(line=pl.lit(f"RI m {m}")))
        right.set_title(f"(b) RI, n = 0, k = 0, b = {bits}", loc="left", pad=44)
        fig.legend_above(right, 4)
        for panel in (left, right):
            panel.set_xlabel("used credits c")
            panel.set_xlim(0, held)
            panel.set_ylim(0, 1.02)
            panel.set_ylabel("injection rate (share of the line rate)")
        figure.suptitle(f"Fig. 1: {title.lower()}", x=0.01, ha="left", fontsize=12)
        caption = (
            f"As the program computes it while Congested, from Equation 1. (a) 1/(1 + f(c)); (b) 1 - f(c)/2^{bits}."
        )
        return [fig.save(figure, pl.concat(tables), folder, FigureFile("fig01", title, caption, wide=True))]


def _distribution(results: Results, which: int, name: str, folder: Path) -> list[FigureFile]:
    shown: list[Control | None] = [None, *(control for control in DRAWN if (Point(control), 1) in results)]
    if (Point(None), 1) not in results or len(shown) < 2:
        return []
    what, unit = (("delays", "delay of a process (us)"), ("bandwidths", "bandwidth of a process (MiB/s)"))[which]
    values = {control: _pooled(results, control)[which] for control in shown}
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
        caption = (
            f"{INTERVALS} intervals of equal ratio; all processes of the tests beside congestors, PPort 16, of "
            f"{_seeds(results)}."
        )
        return [fig.save(figure, pl.concat(tables), folder, FigureFile(name, f"Number of {title}", caption))]


def _pooled(results: Results, control: Control | None) -> tuple[Any, Any]:
    """Delay and bandwidth of all processes, over all seeds."""
    own = [each for (point, _), each in results.items() if point == Point(control)]
    return np.concatenate([each.delay for each in own]), np.concatenate([each.bandwidth for each in own])


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


def _factors(results: Results, average: str, folder: Path) -> list[FigureFile]:
    found = {c: estimate(control_factors(results, c, average)) for c in settings_of(results)}
    if not found:
        return []
    title = "F_C under different strategies and configurations"
    most = max(*(each.value for each in found.values()), CLAIMED)
    rows = [
        {
            "strategy": c.strategy,
            "shift": c.shift,
            "k": c.k,
            "enter": c.enter,
            "escape": c.escape,
            "control_factor": f.value,
            "low": f.low,
            "high": f.high,
        }
        for c, f in found.items()
    ]
    with fig.canvas(2, 2, width=10.6, height=7.6) as (figure, panels):
        for panel, strategy in zip(panels.flat, STRATEGIES, strict=True):
            own = {control: each for control, each in found.items() if control.strategy == strategy}
            heights = [each.value for each in own.values()]
            bars = panel.bar(range(len(own)), heights, 0.7, color=COLOURS[strategy])
            panel.errorbar(
                range(len(own)), heights, yerr=_bars(own.values()), fmt="none", ecolor=BLACK, elinewidth=1, capsize=2.5
            )
            # Inside the bars: above them the line and the intervals would cross the numbers.
            numbers = [f"{height:.2f}" for height in heights]
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
        figure.suptitle(f"Fig. 5: {title}", x=0.01, ha="left", fontsize=12)
        caption = (
            "Bandwidth over delay of the tests, relative to the same seed without PFT: means with 95 % intervals over "
            f"{_seeds(results)}. The line is 1: no effect."
        )
        return [fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig05", title, caption, wide=True))]


def _bars(values: Iterable[Estimate]) -> Any:
    """Lengths of error bars below and above; none for a single seed."""
    ends = [(each.value - each.low, each.high - each.value) for each in values]
    return np.array([[end if np.isfinite(end) else 0.0 for end in side] for side in zip(*ends, strict=True)])


def _seeds(results: Results) -> str:
    count = len({seed for point, seed in results if point == Point(None)})
    return f"{count} seeds" if count > 1 else "one seed"


def _of(results: Results, point: Point, quantity: str, average: str) -> Estimate:
    """D or B of a run, over its seeds."""
    which = ("delay", "bandwidth").index(quantity)
    return estimate({seed: each.of(average)[which] for (p, seed), each in results.items() if p == point})


def _cost(results: Results, average: str, folder: Path) -> list[FigureFile]:
    if not settings_of(results):
        return []
    title = "What F_C costs: goodput of the congestors"

    def goodput(control: Control | None) -> float:
        own: list[Victims] = [each for (point, _), each in results.items() if point == Point(control)]
        return float(np.mean([each.congestors_gbps for each in own]))

    rows: list[dict[str, Any]] = [
        {
            "setting": c.name,
            "strategy": c.strategy,
            "gbps": goodput(c),
            "control_factor": estimate(control_factors(results, c, average)).value,
        }
        for c in settings_of(results)
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
        base = goodput(None)
        axes.plot([base], [1.0], marker="*", color=BLACK, markersize=12, linestyle="none", label="without PFT")
        axes.set_xlabel("goodput of the congestors (Gbps a host)")
        axes.set_ylabel("F_C")
        axes.margins(0.08)
        axes.set_title(title, loc="left", pad=28)
        fig.legend_above(axes, 5)
        caption = (
            "Each dot is a setting of Fig. 5: payload that the congestors got delivered while the tests ran. Means "
            f"over {_seeds(results)}."
        )
        return [fig.save(figure, pl.DataFrame(rows), folder, FigureFile("cost", title, caption))]


def _processes(results: Results, average: str, folder: Path) -> list[FigureFile]:
    shown = sorted({point.processes for point, _ in results if point.control == BEST})
    if len(shown) < 2:
        return []
    title = "Processes a port (PPort)"
    rows: list[dict[str, Any]] = []
    with fig.canvas(1, 3, width=10.6, height=3.8) as (figure, panels):
        places = np.arange(len(shown))
        for panel, quantity, label in zip(
            panels, ("delay", "bandwidth"), ("delay D (us)", "bandwidth B (MiB/s)"), strict=False
        ):
            for offset, control, colour, name in (
                (-0.2, None, GREY, "without PFT"),
                (0.2, BEST, COLOURS["AT-RI"], "PFT"),
            ):
                found = [_of(results, Point(control, p), quantity, average) for p in shown]
                _labelled(panel, places + offset, found, 0.36, color=colour, label=name)
                rows += [
                    {"quantity": quantity, "pft": control is not None, "processes": p, "value": e.value}
                    for p, e in zip(shown, found, strict=True)
                ]
            panel.set_ylabel(label)
        factors = [estimate(control_factors(results, BEST, average, p)) for p in shown]
        _labelled(panels[2], places, factors, 0.5, color=COLOURS["AT-RI"])
        rows += [
            {"quantity": "control factor", "pft": True, "processes": p, "value": e.value}
            for p, e in zip(shown, factors, strict=True)
        ]
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
        caption = f"Means and 95 % intervals over {_seeds(results)}; PFT is {BEST.name}."
        return [fig.save(figure, pl.DataFrame(rows), folder, FigureFile("pport", title, caption, wide=True))]


def _labelled(panel: Any, places: Any, found: Sequence[Estimate], width: float, **style: Any) -> None:
    """Bars with intervals, and numbers above them."""
    heights = [each.value for each in found]
    bars = panel.bar(places, heights, width, yerr=_bars(found), error_kw={"elinewidth": 1, "capsize": 2.5}, **style)
    digits = [0 if height >= 100 else 1 if height >= 10 else 2 for height in heights]
    texts = [f"{height:.{digit}f}" for height, digit in zip(heights, digits, strict=True)]
    panel.bar_label(bars, texts, fontsize=8, padding=2)
