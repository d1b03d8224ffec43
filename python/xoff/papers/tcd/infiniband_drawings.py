"""TCD's figures on InfiniBand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.tcd.chain_drawings import detected_by, mismarking, several
from xoff.papers.tcd.common import Results, first, mean_us, seeded
from xoff.papers.tcd.drawings import testbed
from xoff.papers.tcd.infiniband import MARKINGS, victims
from xoff.papers.tcd.infiniband_findings import SIZES_KB
from xoff.papers.tcd.style import set_title, size_text
from xoff.papers.tcd.victim_drawings import HATCHED, marked_bars, marked_row
from xoff.report import figures as fig
from xoff.report.figures import FigureFile

COLOUR = {"fecn": fig.COLOURS[1], "tcd": fig.COLOURS[0]}


def draw(results: Results, folder: Path) -> list[FigureFile]:
    """Every figure for which there are results."""
    groups = {key[0] for key in results}
    made: dict[tuple[str, ...], Callable[[], FigureFile]] = {
        ("ib-single",): lambda: _mismarking(results, folder),
        ("ib-multi",): lambda: _several(results, folder),
        ("ib-testbed",): lambda: _testbed(results, folder),
        ("ib-single", "ib-multi"): lambda: _detected(results, "single", folder),
        ("ib-multi", "ib-single"): lambda: _detected(results, "multi", folder),
        ("ib-victims",): lambda: _table3(results, folder),
        ("ib-mct", "ib-victims"): lambda: _victims(results, folder),
        ("ib-fat-tree",): lambda: _fat_tree(results, folder),
    }
    return [make() for needed, make in made.items() if groups >= set(needed)]


def _mismarking(results: Results, folder: Path) -> FigureFile:
    """Fig. 3b and 3d."""
    drawn = FigureFile("fig03b", "One congestion point, CBFC and FECN", "the rate that the index allows f1")
    return mismarking(first(results, "ib-single", "fecn"), drawn, folder)


def _several(results: Results, folder: Path) -> FigureFile:
    """Fig. 4b and 4d."""
    caption = "Pauses are times without credits. The paper's ON-OFF ends at 4 ms."
    drawn = FigureFile("fig04b", "Several congestion points, CBFC and FECN", caption)
    return several(first(results, "ib-multi", "fecn"), drawn, folder)


def _detected(results: Results, points: str, folder: Path) -> FigureFile:
    """Fig. 12 and 13, CBFC."""
    text, name = {"single": ("one congestion point", "fig12"), "multi": ("several congestion points", "fig13")}[points]
    return detected_by(first(results, f"ib-{points}", "tcd"), f"TCD, {text}, CBFC", f"{name}-cbfc", folder)


def _testbed(results: Results, folder: Path) -> FigureFile:
    """Fig. 11, CBFC."""
    drawn = FigureFile("fig11-cbfc", "f0's marks on the testbed's topology, CBFC", ", with credits each 60 us")
    return testbed(first(results, "ib-testbed", "tcd"), drawn, folder)


def _bars(axes: Any, values: dict[str, list[float]], names: list[str], form: str) -> None:
    """Groups of bars, one bar for each kind of marking, with their values."""
    width = 0.8 / len(values)
    for index, (marking, heights) in enumerate(values.items()):
        places = np.arange(len(heights)) + (index - (len(values) - 1) / 2) * width
        bars = axes.bar(places, heights, width * 0.94, color=COLOUR[marking], label=MARKINGS[marking])
        axes.bar_label(bars, [form.format(height) for height in heights], padding=2, fontsize=6.5)
    axes.set_xticks(range(len(names)), names)
    axes.grid(axis="x", visible=False)


def _table3(results: Results, folder: Path) -> FigureFile:
    title = "Victims marked CE, InfiniBand"
    found = {marking: victims(results, "ib-victims", marking) for marking in MARKINGS}
    with fig.canvas() as (figure, axes):
        for index, (marking, each) in enumerate(found.items()):
            marked_bars(axes, [index], 0.5, [each], COLOUR[marking], "_", last=False)
        axes.set_xticks(range(len(found)), [MARKINGS[marking] for marking in found])
        axes.set_ylabel("victims marked CE (%)")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, max(1.0, axes.get_ylim()[1] * 1.1))
        axes.set_title(f"Table 3: {title}", loc="left")
        caption = f"All seeds together. The paper: 13.5 % with FECN, none with TCD. {HATCHED}"
        rows = [
            {"marking": marking, **marked_row(each), "marked_ue": each.marked_ue} for marking, each in found.items()
        ]
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("table3-infiniband", title, caption))


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
    found = {marking: list(seeded(results, "ib-fat-tree", marking).values()) for marking in MARKINGS}
    title = "Mean completion time of messages, fat-tree of 1,024 hosts"
    values = {
        marking: [float(np.mean([mean_us(run, size) for run in runs])) for size in SIZES_KB]
        for marking, runs in found.items()
    }
    rows = [
        {
            "marking": marking,
            "size_kb": size,
            "mean_us": value,
            "messages": sum(int((run.size_bytes == size * 1_000).sum()) for run in found[marking]),
        }
        for marking, means in values.items()
        for size, value in zip(SIZES_KB, means, strict=True)
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
        count = found["fecn"][0].messages
        caption = (
            f"At the sender, from a message's turn on its connection; {count:,} messages a seed, mean over the seeds, "
            "with TCD by steps of 2."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig17b", title, caption, wide=True))
