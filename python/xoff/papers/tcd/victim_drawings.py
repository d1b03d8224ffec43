"""TCD's figures of victims on Ethernet: who is marked, and how long they take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.tcd.common import P3_LOADS, Results
from xoff.papers.tcd.experiments import BURSTS_KB, EDGES_KB, EPSILONS, SETS, by_size, victims
from xoff.papers.tcd.measures import Victims, longest_on_us
from xoff.papers.tcd.style import COLOUR, KINDS, LINES, NAMES, set_title, size_text
from xoff.report import figures as fig
from xoff.report.figures import FigureFile

HATCHED = "Hatched: those with a mark from a port that was no congestion root at that moment."
"""What the hatched part of `marked_bars` is."""


def marked_bars(
    axes: Any, places: Any, width: float, found: Sequence[Victims], colour: str, label: str, *, last: bool
) -> None:
    """Bars of the share of victims marked CE, with the share that is false by the ground truth hatched."""
    shares = [100 * each.marked_ce / each.flows for each in found]
    wrong = [100 * each.mismarked / each.flows for each in found]
    bars = axes.bar(places, shares, width, color=colour, label=label)
    axes.bar(places, wrong, width, facecolor="none", edgecolor="white", hatch="////", linewidth=0)
    if last:
        # White on white would not be seen in the legend.
        axes.bar(0, 0, 0, color="#777777", edgecolor="white", hatch="////", label="by a port that was no root")
    axes.bar_label(
        bars,
        [f"{share:.2f} %\n({part:.2f} %)" for share, part in zip(shares, wrong, strict=True)],
        padding=2,
        fontsize=8,
    )


def marked_row(found: Victims) -> dict[str, int]:
    """Victims by their marks, for a figure's data."""
    return {
        "victims": found.flows,
        "marked_ce": found.marked_ce,
        "by_no_root": found.mismarked,
        "packets_ce": found.packets_ce,
        "packets_by_no_root": found.packets_mismarked,
    }


def draw_table3(results: Results, folder: Path) -> FigureFile:
    """Table 3, Ethernet: victims marked CE."""
    title = "Victims with a packet marked CE (Table 3)"
    rows = []
    with fig.canvas() as (figure, axes):
        for index, kind in enumerate(KINDS):
            found = [victims(results, "table3" if kind == "tcd" else "dcqcn-victims", kind, which) for which in SETS]
            places = np.arange(2) + (index - 0.5) * 0.36
            marked_bars(axes, places, 0.34, found, COLOUR[kind], KINDS[kind], last=index == 1)
            rows += [
                {"rules": which, "marking": kind, **marked_row(each)} for which, each in zip(SETS, found, strict=True)
            ]
        axes.set_xticks(range(2), ["paper's rules and numbers", "authors' simulator's"])
        axes.set_ylabel("victims marked CE (%)")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, max(1.0, axes.get_ylim()[1] * 1.1))
        axes.set_title(f"Table 3: {title.partition(' (')[0]}", loc="left", pad=24)
        fig.legend_above(axes, 3)
        caption = f"All seeds together. The paper: 26.6 % without TCD, none with it. {HATCHED}"
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("table3", title, caption))


def draw_victims(results: Results, scheme: str, name: str, folder: Path) -> FigureFile:
    """Fig. 15a and 18a: mean FCT of victims by size."""
    title = f"Mean FCT of victims, {NAMES[scheme]}"
    rows = []
    with fig.canvas() as (figure, axes):
        for index, (kind, which) in enumerate((k, w) for w in SETS for k in KINDS):
            means, counts = by_size(victims(results, f"{scheme}-victims", kind, which))
            hatch = "" if which == "paper" else "///"
            bars = axes.bar(
                np.arange(len(means)) + (index - 1.5) * 0.2,
                means,
                0.19,
                color=COLOUR[kind],
                hatch=hatch,
                edgecolor="white",
                label=f"{KINDS[kind]}, {which}",
            )
            axes.bar_label(bars, [f"{mean:.0f}" for mean in means], padding=2, fontsize=7)
            rows += [
                {"rules": which, "marking": kind, "up_to_kb": edge, "mean_us": mean, "flows": count}
                for edge, mean, count in zip(EDGES_KB, means, counts, strict=True)
            ]
        axes.set_yscale("log")
        axes.set_xticks(range(len(EDGES_KB)), [size_text(edge) for edge in EDGES_KB])
        axes.set_xlabel("flow size, up to")
        axes.set_ylabel("mean FCT (us)")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(top=axes.get_ylim()[1] * 1.6)
        set_title(axes, name, title, pad=40)
        fig.legend_above(axes, 2)
        caption = "At the sender, all seeds together; hatched: rules and numbers of the authors' simulator."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption))


def draw_bursts(results: Results, scheme: str, name: str, folder: Path) -> FigureFile:
    """Fig. 15b and 18b: victims under bursts of one size."""
    title = f"Victims under bursts of one size, {NAMES[scheme]}"
    rows = []
    with fig.canvas(2, 1, height=5.4) as (figure, (above, beneath)):
        for which in SETS:
            for kind in KINDS:
                found = [results[f"{scheme}-bursts", kind, which, kb] for kb in BURSTS_KB]
                means = [float(each.fct_us.mean()) for each in found]
                above.plot(
                    range(len(BURSTS_KB)),
                    means,
                    marker="o",
                    color=COLOUR[kind],
                    linestyle=LINES[which],
                    label=f"{KINDS[kind]}, {which}",
                )
                rows += [
                    {
                        "rules": which,
                        "marking": kind,
                        "burst_kb": kb,
                        "mean_us": mean,
                        "flows": each.flows,
                        "marked_ce": each.marked_ce,
                        "marked_ue": each.marked_ue,
                    }
                    for kb, mean, each in zip(BURSTS_KB, means, found, strict=True)
                ]
            found = [results[f"{scheme}-bursts", "tcd", which, kb] for kb in BURSTS_KB]
            for mark, colour in (("marked_ue", fig.COLOURS[0]), ("marked_ce", fig.COLOURS[1])):
                beneath.plot(
                    range(len(BURSTS_KB)),
                    [100 * getattr(each, mark) / each.flows for each in found],
                    marker="s",
                    color=colour,
                    linestyle=LINES[which],
                    label=f"{mark[-2:].upper()}, {which}",
                )
        above.set_ylabel("mean FCT (us)")
        above.set_ylim(bottom=0)
        above.tick_params(labelbottom=False)
        beneath.set_ylabel("victims marked (%)")
        beneath.set_xlabel("burst size")
        for axes in (above, beneath):
            axes.set_xticks(range(len(BURSTS_KB)), [size_text(kb) for kb in BURSTS_KB])
        set_title(above, name, title, pad=40)
        fig.legend_above(above, 2)
        beneath.legend(loc="best", ncols=2)
        caption = (
            "Below: victims that TCD marks, CE where any packet was, else UE. The bursts come each 640 us on average."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption))


def draw_epsilon(results: Results, folder: Path) -> FigureFile:
    """Fig. 14: innocent packets marked CE by epsilon."""
    title = "Innocent packets marked CE, by epsilon"
    rows = []
    with fig.canvas() as (figure, axes):
        for which in SETS:
            for where, colour, marker in (("bursts", fig.COLOURS[0], "o"), ("victims", fig.COLOURS[1], "s")):
                found = [results["epsilon", where, which, epsilon] for epsilon in EPSILONS]
                counts = [each.packets_ce if where == "victims" else each.marked_ce for each in found]
                shares = [100 * count / each.packets for count, each in zip(counts, found, strict=True)]
                axes.plot(
                    EPSILONS,
                    shares,
                    marker=marker,
                    color=colour,
                    linestyle=LINES[which],
                    label=f"{where}, {which}",
                )
                rows += [
                    {
                        "rules": which,
                        "scenario": where,
                        "epsilon": epsilon,
                        "max_on_us": longest_on_us(40, 1_000, 4.0, epsilon),
                        "marked_ce": count,
                        "packets": each.packets,
                    }
                    for epsilon, count, each in zip(EPSILONS, counts, found, strict=True)
                ]
        axes.set_xlabel("epsilon")
        axes.set_ylabel("packets marked CE (%)")
        axes.axvline(0.05, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)))
        set_title(axes, "fig14", title, pad=40)
        fig.legend_above(axes, 2)
        caption = (
            "f0's and f2's packets under the bursts, and the victims' under FB_Hadoop; max(T_on) by Equation "
            "3. Dashed: the recommended 0.05."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig14", title, caption))


def draw_loads(results: Results, folder: Path) -> FigureFile:
    """Victims marked CE by the load of P3, which the paper leaves open."""
    title = "Victims marked CE, by the load of P3"
    rows = []
    with fig.canvas() as (figure, axes):
        for which in SETS:
            for kind in KINDS:
                found = [results["loads", kind, which, load] for load in P3_LOADS]
                shares = [100 * each.marked_ce / each.flows for each in found]
                axes.plot(
                    [100 * load for load in P3_LOADS],
                    shares,
                    marker="o",
                    color=COLOUR[kind],
                    linestyle=LINES[which],
                    label=f"{KINDS[kind]}, {which}",
                )
                rows += [
                    {
                        "rules": which,
                        "marking": kind,
                        "load": load,
                        "victims": each.flows,
                        "marked_ce": each.marked_ce,
                        "mean_us": float(each.fct_us.mean()),
                    }
                    for load, each in zip(P3_LOADS, found, strict=True)
                ]
        axes.axhline(26.6, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)))
        axes.annotate(
            "paper, without TCD", (45, 26.6), xytext=(0, 3), textcoords="offset points", fontsize=9, color="#555555"
        )
        axes.set_xlabel("load of P3 (%), of which s1's are 30 %")
        axes.set_ylabel("victims marked CE (%)")
        axes.set_ylim(bottom=0)
        axes.set_title(f"Sensitivity: {title}", loc="left", pad=40)
        fig.legend_above(axes, 2)
        caption = "The paper does not give the load on which Table 3 rests; the verdict is taken at 60 %."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("loads", title, caption))
