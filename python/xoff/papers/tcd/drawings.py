"""TCD's figures, drawn from what was measured and named as in the paper."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from xoff.papers.tcd import victim_drawings
from xoff.papers.tcd.chain_drawings import draw_detected, draw_mismarking, draw_model, draw_several
from xoff.papers.tcd.common import Results, first, pooled_slowdowns, seeded
from xoff.papers.tcd.measures import Testbed, percentile
from xoff.papers.tcd.style import COLOUR, KINDS, NAMES, number, set_title, size_text
from xoff.report import figures as fig
from xoff.report.figures import FigureFile

FCT_EDGES_KB = {
    "hadoop": (0.35, 0.5, 0.7, 1, 2, 30, 50, 80, 120, 300, 1000, 10000),
    "websearch": (10, 20, 30, 50, 80, 200, 500, 1000, 2000, 5000, 10000, 30000),
}


def draw(results: Results, folder: Path) -> list[FigureFile]:
    """Every figure for which there are results."""
    groups = {key[0] for key in results}
    drawn = [draw_model(folder)]
    made: dict[str, Callable[[], list[FigureFile]]] = {
        "single": lambda: [draw_mismarking(results, folder), draw_detected(results, "single", "fig12", folder)],
        "multi": lambda: [draw_several(results, folder), draw_detected(results, "multi", "fig13", folder)],
        "testbed": lambda: [_testbed(results, folder)],
        "table3": lambda: [victim_drawings.draw_table3(results, folder)],
        "dcqcn-victims": lambda: [victim_drawings.draw_victims(results, "dcqcn", "fig15a", folder)],
        "timely-victims": lambda: [victim_drawings.draw_victims(results, "timely", "fig18a", folder)],
        "dcqcn-bursts": lambda: [victim_drawings.draw_bursts(results, "dcqcn", "fig15b", folder)],
        "timely-bursts": lambda: [victim_drawings.draw_bursts(results, "timely", "fig18b", folder)],
        "epsilon": lambda: [victim_drawings.draw_epsilon(results, folder)],
        "dcqcn-hadoop": lambda: [_slowdowns(results, "dcqcn", "hadoop", "fig16a", folder)],
        "timely-hadoop": lambda: [_slowdowns(results, "timely", "hadoop", "fig19a", folder)],
        "dcqcn-websearch": lambda: [_slowdowns(results, "dcqcn", "websearch", "fig16b", folder)],
        "timely-websearch": lambda: [_slowdowns(results, "timely", "websearch", "fig19b", folder)],
        "fairness": lambda: [_fairness(results, folder)],
    }
    for group, make in made.items():
        if group in groups:
            drawn += make()
    return sorted(drawn, key=lambda each: each.name)


def _testbed(results: Results, folder: Path) -> FigureFile:
    drawn = FigureFile("fig11", "f0's marks on the testbed's topology, PFC", "")
    return testbed(first(results, "testbed", "tcd"), drawn, folder)


def testbed(found: Testbed, what: FigureFile, folder: Path) -> FigureFile:
    """f0's shares of marks over time; the caption of `what` ends the figure's."""
    rows = []
    with fig.canvas() as (figure, axes):
        for (flow, mark), values in found.share.items():
            rows += [
                {"time_ms": t, "flow": flow, "mark": mark, "share": v}
                for t, v in zip(found.time_ms, values, strict=True)
            ]
        places = found.time_ms - found.interval_ms / 2
        width = found.interval_ms * 0.4
        for mark, colour, shift in (("ue", fig.COLOURS[0], -0.5), ("ce", fig.COLOURS[1], 0.5)):
            axes.bar(places + shift * width, found.share["f0", mark], width, color=colour, label=f"f0 {mark.upper()}")
        low, high = found.sending_ms
        axes.axvspan(low, high, color="#888888", alpha=0.15, linewidth=0, label="a0 sends")
        axes.set_xlabel("time (ms)")
        axes.set_ylabel("share of f0's packets")
        axes.set_ylim(0, 1.05)
        axes.grid(axis="x", visible=False)
        set_title(axes, what.name, what.title)
        fig.legend_above(axes, 3)
        caption = f"By their mark at the receiver, in each {found.interval_ms:g} ms{what.caption}."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(what.name, what.title, caption))


def _slowdowns(results: Results, scheme: str, workload: str, name: str, folder: Path) -> FigureFile:
    name_of = {"websearch": "WebSearch", "hadoop": "FB_Hadoop"}[workload]
    title = f"FCT slowdown, {name_of}, {NAMES[scheme]}"
    edges = FCT_EDGES_KB[workload]
    rows = []
    with fig.canvas(1, 3, width=12.0, height=4.4) as (figure, panels):
        for letter, panel, percent in zip("abc", panels, (50, 95, 99), strict=True):
            for kind, label in KINDS.items():
                runs = seeded(results, f"{scheme}-{workload}", kind).values()
                bins = [pooled_slowdowns(runs, low, high) for low, high in pairwise((0, *edges))]
                values = [percentile(each, percent) for each in bins]
                panel.plot(range(len(edges)), values, marker="o", markersize=4, color=COLOUR[kind], label=label)
                rows += [
                    {"marking": kind, "percentile": percent, "up_to_kb": edge, "slowdown": value, "flows": len(each)}
                    for edge, value, each in zip(edges, values, bins, strict=True)
                ]
            text = "median" if percent == 50 else f"{percent}th percentile"
            panel.set_title(f"({letter}) {text}", loc="left")
            panel.set_xticks(range(len(edges)), [size_text(edge) for edge in edges], rotation=45)
            panel.set_xlabel("flow size, up to")
            panel.set_ylabel("slowdown")
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter("{x:g}")
            panel.yaxis.set_minor_formatter(_minor)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper right", ncols=4)
        figure.suptitle(f"Fig. {number(name)}: {title}", x=0.01, ha="left", fontsize=12)
        caption = (
            "At the receiver, over size/C and propagation, logarithmic, all seeds together; a bin is labelled with its "
            "largest size."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption, wide=True))


def _minor(value: float, _: int) -> str:
    digit = round(value / 10 ** np.floor(np.log10(value)))
    return f"{value:g}" if digit in (2, 5) else ""


def _fairness(results: Results, folder: Path) -> FigureFile:
    title = "Four flows through P2, with TCD"
    rows = []
    with fig.canvas(2, 1, height=5.6) as (figure, panels):
        for scheme, axes in zip(NAMES, panels, strict=True):
            found = first(results, "fairness", scheme)
            for flow in range(4):
                axes.plot(
                    found.time_ms, found.goodput_gbps[:, flow], color=fig.COLOURS[flow], linewidth=1.0, label=f"b{flow}"
                )
            axes.plot(found.time_ms, found.f1_gbps, color="#888888", linewidth=1.0, label="f1")
            axes.axhline(8, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)))
            axes.axvspan(0, 3, color="#888888", alpha=0.15, linewidth=0, label="bursts")
            axes.set_ylabel(f"{NAMES[scheme]} (Gbps)")
            axes.set_ylim(bottom=0)
            rows += [
                {
                    "scheme": scheme,
                    "time_ms": time,
                    **{f"b{flow}_gbps": value for flow, value in enumerate(row)},
                    "f1_gbps": f1,
                }
                for time, row, f1 in zip(found.time_ms, found.goodput_gbps, found.f1_gbps, strict=True)
            ]
        panels[0].tick_params(labelbottom=False)
        panels[1].set_xlabel("time since the bursts began (ms)")
        set_title(panels[0], "fig20", title)
        fig.legend_above(panels[0], 6)
        caption = "What each sender puts on the wire in each 100 us; dashed the fair share of 8 Gbps."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig20", title, caption))
