"""TCD's figures on InfiniBand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.tcd.chain_drawings import detected_by, mismarking, several
from xoff.papers.tcd.checks import marked_by, time_in
from xoff.papers.tcd.common import P3_LOADS, Results
from xoff.papers.tcd.drawings import testbed
from xoff.papers.tcd.infiniband import BURSTS, FAT_TREE_VARIANTS, MARKINGS, VARIANTS, victims
from xoff.papers.tcd.infiniband_findings import SIZES_KB, mean_us
from xoff.papers.tcd.measures import Chain, Mct, Victims
from xoff.papers.tcd.style import set_title, size_text
from xoff.papers.tcd.victim_drawings import HATCHED, marked_bars, marked_row
from xoff.report import figures as fig
from xoff.report.figures import FigureFile

COLOUR = {"fecn": fig.COLOURS[1], "fecn-head": fig.COLOURS[3], "tcd": fig.COLOURS[0]}
NAMES = {"fecn": "FECN", "fecn-head": "FECN (head)", "tcd": "TCD"}


def draw(results: Results, folder: Path) -> list[FigureFile]:
    """Every figure for which there are results."""
    groups = {key[0] for key in results}
    made: dict[tuple[str, ...], Callable[[], FigureFile]] = {
        ("ib-single",): lambda: _mismarking(results, folder),
        ("ib-multi",): lambda: _several(results, folder),
        ("ib-testbed",): lambda: _testbed(results, folder),
        ("ib-single", "ib-multi"): lambda: _detected(results, "single", folder),
        ("ib-multi", "ib-single"): lambda: _detected(results, "multi", folder),
        ("ib-readings", "ib-variants"): lambda: _chain_settings(results, folder),
        ("ib-loads", "ib-victims"): lambda: _table3(results, folder),
        ("ib-loads",): lambda: _loads(results, folder),
        ("ib-victim-variants",): lambda: _victim_settings(results, folder),
        ("ib-mct", "ib-victims"): lambda: _victims(results, folder),
        ("ib-fat-tree",): lambda: _fat_tree(results, folder),
        ("ib-fat-tree", "ib-mct"): lambda: _fat_tree_settings(results, folder),
    }
    return [make() for needed, make in made.items() if groups >= set(needed)]


def _mismarking(results: Results, folder: Path) -> FigureFile:
    """Fig. 3b and 3d."""
    drawn = FigureFile("fig03b", "One congestion point, CBFC and FECN", "the rate that the index allows f1")
    return mismarking(results["ib-single", "fecn"], drawn, folder)


def _several(results: Results, folder: Path) -> FigureFile:
    """Fig. 4b and 4d."""
    caption = "Pauses are times without credits. The paper's ON-OFF ends at 4 ms."
    drawn = FigureFile("fig04b", "Several congestion points, CBFC and FECN", caption)
    return several(results["ib-multi", "fecn"], drawn, folder)


def _detected(results: Results, points: str, folder: Path) -> FigureFile:
    """Fig. 12 and 13, CBFC."""
    text, name = {"single": ("one congestion point", "fig12"), "multi": ("several congestion points", "fig13")}[points]
    return detected_by(results[f"ib-{points}", "tcd"], f"TCD, {text}, CBFC", f"{name}-cbfc", folder)


def _testbed(results: Results, folder: Path) -> FigureFile:
    """Fig. 11, CBFC."""
    drawn = FigureFile("fig11-cbfc", "f0's marks on the testbed's topology, CBFC", ", with credits each 60 us")
    return testbed(results["ib-testbed", "tcd"], drawn, folder)


def _bars(axes: Any, values: dict[str, list[float]], names: list[str], form: str) -> None:
    """Groups of bars, one bar for each kind of marking, with their values."""
    width = 0.8 / len(values)
    for index, (marking, heights) in enumerate(values.items()):
        places = np.arange(len(heights)) + (index - (len(values) - 1) / 2) * width
        bars = axes.bar(places, heights, width * 0.94, color=COLOUR[marking], label=NAMES[marking])
        axes.bar_label(bars, [form.format(height) for height in heights], padding=2, fontsize=6.5)
    axes.set_xticks(range(len(names)), names)
    axes.grid(axis="x", visible=False)


def _percent(found: Victims) -> float:
    return 100 * found.marked_ce / found.flows


def _table3(results: Results, folder: Path) -> FigureFile:
    title = "Victims marked CE, InfiniBand"
    found = {marking: victims(results, "ib-victims", marking) for marking in MARKINGS}
    with fig.canvas() as (figure, axes):
        for index, (marking, each) in enumerate(found.items()):
            marked_bars(axes, [index], 0.5, [each], COLOUR[marking], "_", last=False)
        axes.set_xticks(range(len(found)), [NAMES[marking] for marking in found])
        axes.set_ylabel("victims marked CE (%)")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, max(1.0, axes.get_ylim()[1] * 1.1))
        axes.set_title(f"Table 3: {title}", loc="left")
        caption = (
            "All seeds together. Delayed by a lack of credits are, for FECN, packets that were queued when credits "
            f"came, or the one at the head. The paper: 13.5 % with FECN, none with TCD. {HATCHED}"
        )
        rows = [
            {"marking": marking, **marked_row(each), "marked_ue": each.marked_ue} for marking, each in found.items()
        ]
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("table3-infiniband", title, caption))


def _loads(results: Results, folder: Path) -> FigureFile:
    title = "victims marked CE, by the load of P3, InfiniBand"
    rows = []
    with fig.canvas() as (figure, axes):
        for marking in MARKINGS:
            found = [victims(results, "ib-loads", marking, load) for load in P3_LOADS]
            axes.plot(
                [100 * load for load in P3_LOADS],
                [_percent(each) for each in found],
                marker="o",
                color=COLOUR[marking],
                label=NAMES[marking],
            )
            rows += [
                {
                    "marking": marking,
                    "load": load,
                    "victims": each.flows,
                    "marked_ce": each.marked_ce,
                    "marked_ue": each.marked_ue,
                    "mean_us": float(each.fct_us.mean()),
                }
                for load, each in zip(P3_LOADS, found, strict=True)
            ]
        axes.axhline(13.5, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)))
        axes.annotate("paper, FECN", (45, 13.5), xytext=(0, 3), textcoords="offset points", fontsize=9, color="#555555")
        axes.set_xlabel("load of P3 (%), of which s1's are 30 %")
        axes.set_ylabel("victims marked CE (%)")
        axes.set_ylim(bottom=0)
        axes.set_title(f"Sensitivity: {title}", loc="left", pad=24)
        fig.legend_above(axes, 3)
        caption = "The paper does not give the load on which Table 3 rests; the verdict is taken at 60 %."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("loads-infiniband", title, caption))


def _chain_settings(results: Results, folder: Path) -> FigureFile:
    """CE marks of P2 by what the paper leaves open in 3.1."""
    title = "packets that P2 marks CE, InfiniBand"
    runs = {
        **{f"bursts {name}": ("ib-readings", name) for name in list(BURSTS)[1:]},
        **{name: ("ib-variants", name) for name in VARIANTS},
    }
    rows = []
    with fig.canvas(1, 2, width=9.6, height=5.0) as (figure, panels):
        for axes, points, text in zip(panels, ("single", "multi"), ("one point", "several points"), strict=True):
            places = np.arange(len(runs))
            for index, marking in enumerate(("fecn", "tcd")):
                found: list[Chain] = [results[group, marking, name, points] for group, name in runs.values()]
                counts = [marked_by(each, "P2") for each in found]
                bars = axes.barh(
                    places + (index - 0.5) * 0.4, counts, 0.38, color=COLOUR[marking], label=NAMES[marking]
                )
                axes.bar_label(bars, [f"{count:,}" for count in counts], padding=2, fontsize=8)
                rows += [
                    {
                        "points": points,
                        "setting": name,
                        "marking": marking,
                        "p2_marked_ce": count,
                        "p2_longest_queue_kb": float(each.queue_kb["P2"].max()),
                        "p2_last_pause_ends_us": each.stopped_us["P2"],
                        "p2_undetermined_us": time_in(each, "P2", "undetermined") if marking == "tcd" else None,
                        "p2_congestion_us": time_in(each, "P2", "congestion") if marking == "tcd" else None,
                    }
                    for name, count, each in zip(runs, counts, found, strict=True)
                ]
            axes.set_yticks(places, list(runs) if points == "single" else [])
            axes.invert_yaxis()
            axes.set_xlim(right=axes.get_xlim()[1] * 1.15)
            axes.set_xlabel("packets")
            axes.set_title(text, loc="left")
            axes.grid(axis="y", visible=False)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper right", ncols=2)
        figure.suptitle(f"Sensitivity: {title}", x=0.01, ha="left", fontsize=12)
        caption = "Verdicts rest on T_c = 40 us, with bursts at once. One setting differs in each row."
        return fig.save(
            figure, pl.DataFrame(rows), folder, FigureFile("settings-infiniband", title, caption, wide=True)
        )


def _victim_settings(results: Results, folder: Path) -> FigureFile:
    """Victims by what the paper leaves open."""
    title = "victims by other settings, InfiniBand"
    rows = []
    with fig.canvas(1, 2, width=9.6, height=5.6) as (figure, panels):
        places = np.arange(len(VARIANTS))
        for index, marking in enumerate(MARKINGS):
            found = [victims(results, "ib-victim-variants", marking, name) for name in VARIANTS]
            shares = [_percent(each) for each in found]
            means = [float(each.fct_us.mean()) for each in found]
            for axes, values, form in zip(panels, (shares, means), ("{:.1f}", "{:.0f}"), strict=True):
                bars = axes.barh(places + (index - 1) * 0.27, values, 0.25, color=COLOUR[marking], label=NAMES[marking])
                axes.bar_label(bars, [form.format(value) for value in values], padding=2, fontsize=8)
            rows += [
                {
                    "setting": name,
                    "marking": marking,
                    "victims": each.flows,
                    "marked_ce": each.marked_ce,
                    "marked_ue": each.marked_ue,
                    "mean_us": mean,
                }
                for name, each, mean in zip(VARIANTS, found, means, strict=True)
            ]
        for axes, text in zip(panels, ("victims marked CE (%)", "mean completion time (us)"), strict=True):
            axes.set_yticks(places, list(VARIANTS) if axes is panels[0] else [])
            axes.invert_yaxis()
            axes.set_xlim(right=axes.get_xlim()[1] * 1.1)
            axes.set_xlabel(text)
            axes.grid(axis="y", visible=False)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper right", ncols=3)
        figure.suptitle(f"Sensitivity: {title}", x=0.01, ha="left", fontsize=12)
        caption = (
            "TCD by steps of 2, FECN of 1. Verdicts rest on T_c = 40 us and, for FECN, on packets that were queued "
            "when credits came. FECN knows neither UE nor TCD's rules."
        )
        drawn = FigureFile("victim-settings-infiniband", title, caption, wide=True)
        return fig.save(figure, pl.DataFrame(rows), folder, drawn)


def _victims(results: Results, folder: Path) -> FigureFile:
    """Fig. 17a."""
    title = "Mean completion time of victims, InfiniBand"
    rows = []
    values: dict[str, list[float]] = {}
    for marking in MARKINGS:
        found = victims(results, "ib-mct" if marking == "tcd" else "ib-victims", marking)
        own = [found.fct_us[found.size_bytes == size * 1_000] for size in SIZES_KB]
        values[marking] = [float(each.mean()) if len(each) else float("nan") for each in own]
        rows += [
            {"marking": marking, "size_kb": size, "mean_us": mean, "messages": len(each)}
            for size, mean, each in zip(SIZES_KB, values[marking], own, strict=True)
        ]
    with fig.canvas(width=11.0, height=4.2) as (figure, axes):
        _bars(axes, values, [size_text(size) for size in SIZES_KB], "{:.0f}")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_ylim(top=axes.get_ylim()[1] * 1.6)
        axes.set_xlabel("message size")
        axes.set_ylabel("mean completion time (us)")
        set_title(axes, "fig17a", title)
        fig.legend_above(axes, 3)
        caption = "At the sender, all seeds together; with TCD by steps of 2."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig17a", title, caption, wide=True))


def _fat_tree(results: Results, folder: Path) -> FigureFile:
    """Fig. 17b."""
    found: dict[str, Mct] = {marking: results["ib-fat-tree", marking, "60 %"] for marking in ("fecn", "tcd")}
    title = "Mean completion time of messages, fat-tree of 1,024 hosts"
    values = {marking: [mean_us(each, size) for size in SIZES_KB] for marking, each in found.items()}
    rows = [
        {
            "marking": marking,
            "size_kb": size,
            "mean_us": mean_us(each, size),
            "messages": int((each.size_bytes == size * 1_000).sum()),
        }
        for marking, each in found.items()
        for size in SIZES_KB
    ]
    with fig.canvas(width=11.0, height=4.2) as (figure, axes):
        _bars(axes, values, [size_text(size) for size in SIZES_KB], "{:.0f}")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_ylim(top=axes.get_ylim()[1] * 1.6)
        axes.set_xlabel("message size")
        axes.set_ylabel("mean completion time (us)")
        set_title(axes, "fig17b", title)
        fig.legend_above(axes, 2)
        count = found["fecn"].messages
        caption = f"At the sender, from a message's turn on its connection; {count:,} messages, with TCD by steps of 2."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig17b", title, caption, wide=True))


def _fat_tree_settings(results: Results, folder: Path) -> FigureFile:
    """Gain of TCD in the fat-tree by what the paper leaves open."""
    title = "what TCD gains in the fat-tree, InfiniBand"
    rows = []
    for name in FAT_TREE_VARIANTS:
        without = results.get(("ib-fat-tree", "fecn", "60 %" if name == "step 1" else name))
        ternary = results.get(("ib-fat-tree", "tcd", name))
        if without is None or ternary is None:
            continue
        rows.append(
            {
                "setting": name,
                "overall": mean_us(without) / mean_us(ternary),
                "of_512_kb": mean_us(without, 512) / mean_us(ternary, 512),
                "fecn_mean_us": mean_us(without),
                "tcd_mean_us": mean_us(ternary),
                "fecn_marked_ce": without.marked[0],
                "tcd_marked_ce": ternary.marked[0],
                "tcd_marked_ue": ternary.marked[1],
                "fecn_without_credits_ms": without.paused_ms,
                "tcd_without_credits_ms": ternary.paused_ms,
            }
        )
    data = pl.DataFrame(rows)
    with fig.canvas() as (figure, axes):
        for shift, column, colour, label in (
            (-0.2, "overall", fig.COLOURS[0], "all messages"),
            (0.2, "of_512_kb", fig.COLOURS[2], "512 KB"),
        ):
            values = data[column].to_list()
            bars = axes.bar(np.arange(len(values)) + shift, values, 0.38, color=colour, label=label)
            axes.bar_label(bars, [f"{value:.2f}" for value in values], label_type="center", color="white", fontsize=9)
        axes.axhline(1, color="#555555", linewidth=0.9)
        axes.set_xticks(range(len(rows)), data["setting"].to_list())
        axes.set_ylabel("mean completion time,\nFECN over TCD")
        axes.set_ylim(top=axes.get_ylim()[1] * 1.08)
        axes.grid(axis="x", visible=False)
        axes.set_title(f"Sensitivity: {title}", loc="left", pad=24)
        fig.legend_above(axes, 2)
        caption = (
            "By the load of I/O on its clients' links, which the paper does not give, and at 60 % with another timer, "
            "with steps of 1, and with one index for all of a host's messages. The paper: 1.22 times overall, 1.5 "
            "times for 512 KB."
        )
        return fig.save(figure, data, folder, FigureFile("fat-tree-settings-infiniband", title, caption))
