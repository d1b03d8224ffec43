"""TCD's figures of victims on Ethernet: who is marked, and how long they take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.tcd.common import Results, by_size, seeded, together
from xoff.papers.tcd.experiments import BURSTS_KB, EDGES_KB, EPSILONS
from xoff.papers.tcd.measures import Victims, longest_on_us
from xoff.papers.tcd.style import COLOUR, KINDS, NAMES, set_title, size_text
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


def _together(results: Results, *key: object) -> Victims:
    return together(seeded(results, *key).values())


def draw_table3(results: Results, folder: Path) -> FigureFile:
    """Table 3, Ethernet: victims marked CE."""
    title = "Victims with a packet marked CE (Table 3)"
    rows = []
    with fig.canvas() as (figure, axes):
        for index, (kind, group) in enumerate((("red", "dcqcn-victims"), ("tcd", "table3"))):
            found = _together(results, group, kind)
            marked_bars(axes, [index], 0.5, [found], COLOUR[kind], "_", last=False)
            rows.append({"marking": kind, **marked_row(found)})
        axes.set_xticks(range(2), list(KINDS.values()))
        axes.set_ylabel("victims marked CE (%)")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, max(1.0, axes.get_ylim()[1] * 1.1))
        axes.set_title(f"Table 3: {title.partition(' (')[0]}", loc="left")
        caption = f"All seeds together. The paper: 26.6 % without TCD, none with it. {HATCHED}"
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("table3", title, caption))


def draw_victims(results: Results, scheme: str, name: str, folder: Path) -> FigureFile:
    """Fig. 15a and 18a: mean FCT of victims by size."""
    title = f"Mean FCT of victims, {NAMES[scheme]}"
    rows = []
    with fig.canvas() as (figure, axes):
        for index, (kind, label) in enumerate(KINDS.items()):
            means, counts = by_size(_together(results, f"{scheme}-victims", kind), EDGES_KB)
            places = np.arange(len(means)) + (index - 0.5) * 0.38
            bars = axes.bar(places, means, 0.36, color=COLOUR[kind], label=label)
            axes.bar_label(bars, [f"{mean:.0f}" for mean in means], padding=2, fontsize=8)
            rows += [
                {"marking": kind, "up_to_kb": edge, "mean_us": mean, "flows": count}
                for edge, mean, count in zip(EDGES_KB, means, counts, strict=True)
            ]
        axes.set_yscale("log")
        axes.set_xticks(range(len(EDGES_KB)), [size_text(edge) for edge in EDGES_KB])
        axes.set_xlabel("flow size, up to")
        axes.set_ylabel("mean FCT (us)")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(top=axes.get_ylim()[1] * 1.6)
        set_title(axes, name, title)
        fig.legend_above(axes, 2)
        caption = "At the sender, all seeds together."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption))


def draw_bursts(results: Results, scheme: str, name: str, folder: Path) -> FigureFile:
    """Fig. 15b and 18b: victims under bursts of one size."""
    title = f"Victims under bursts of one size, {NAMES[scheme]}"
    rows = []
    with fig.canvas(2, 1, height=5.4) as (figure, (above, beneath)):
        places = range(len(BURSTS_KB))
        for kind, label in KINDS.items():
            found = [_together(results, f"{scheme}-bursts", kind, kb) for kb in BURSTS_KB]
            means = [float(each.fct_us.mean()) for each in found]
            above.plot(places, means, marker="o", color=COLOUR[kind], label=label)
            rows += [
                {
                    "marking": kind,
                    "burst_kb": kb,
                    "mean_us": mean,
                    "flows": each.flows,
                    "marked_ce": each.marked_ce,
                    "marked_ue": each.marked_ue,
                }
                for kb, mean, each in zip(BURSTS_KB, means, found, strict=True)
            ]
        found = [_together(results, f"{scheme}-bursts", "tcd", kb) for kb in BURSTS_KB]
        for mark, colour in (("marked_ue", fig.COLOURS[0]), ("marked_ce", fig.COLOURS[1])):
            shares = [100 * getattr(each, mark) / each.flows for each in found]
            beneath.plot(places, shares, marker="s", color=colour, label=mark[-2:].upper())
        above.set_ylabel("mean FCT (us)")
        above.set_ylim(bottom=0)
        above.tick_params(labelbottom=False)
        beneath.set_ylabel("victims marked (%)")
        beneath.set_xlabel("burst size")
        for axes in (above, beneath):
            axes.set_xticks(places, [size_text(kb) for kb in BURSTS_KB])
        set_title(above, name, title)
        fig.legend_above(above, 2)
        beneath.legend(loc="best", ncols=2)
        caption = (
            "Below: victims that TCD marks, CE where any packet was, else UE. The bursts come each 640 us on average."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption))


def draw_epsilon(results: Results, folder: Path) -> FigureFile:
    """Fig. 14: innocent packets marked CE by epsilon."""
    title = "f0's and f2's packets marked CE, by epsilon"
    rows = []
    with fig.canvas() as (figure, axes):
        for epsilon in EPSILONS:
            rows += [
                {
                    "epsilon": epsilon,
                    "max_on_us": longest_on_us(40, 1_000, 4.0, epsilon),
                    "seed": seed,
                    "marked_ce": each.marked_ce,
                    "packets": each.packets,
                }
                for seed, each in seeded(results, "epsilon", "tcd", epsilon).items()
            ]
        data = pl.DataFrame(rows)
        means = data.group_by("epsilon", maintain_order=True).agg(pl.col("marked_ce", "packets").sum())
        shares = 100 * means["marked_ce"].to_numpy() / means["packets"].to_numpy()
        axes.plot(EPSILONS, shares, marker="o", color=COLOUR["tcd"])
        axes.set_xlabel("epsilon")
        axes.set_ylabel("packets marked CE (%)")
        axes.axvline(0.05, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)))
        set_title(axes, "fig14", title, pad=8)
        caption = (
            "Concurrent bursts, one congestion point; max(T_on) by Equation 3. Dashed: the recommended 0.05. All seeds "
            "together."
        )
        return fig.save(figure, data, folder, FigureFile("fig14", title, caption))
