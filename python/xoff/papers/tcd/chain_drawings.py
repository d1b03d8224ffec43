"""TCD's figures of a chain of switches: marks, queues and detected states over time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.tcd.common import Results, first
from xoff.papers.tcd.measures import Chain, on_period_us
from xoff.papers.tcd.style import number, set_title
from xoff.report import figures as fig
from xoff.report.figures import FigureFile

STATES = {
    "non_congestion": ("no congestion", "#d0d0d0"),
    "undetermined": ("undetermined", fig.COLOURS[3]),
    "released": ("released", fig.COLOURS[5]),
    "congestion": ("congestion", fig.COLOURS[1]),
}


def draw_model(folder: Path) -> FigureFile:
    """Fig. 8: Equation 2 over epsilon, for several R_d."""
    title = "T_on by the ON-OFF model, 40 Gbps, tau 8 us"
    epsilon = np.linspace(0.01, 0.5, 200)
    shares = (0.1, 0.2, 0.3, 0.4, 0.5)
    rows = []
    with fig.canvas() as (figure, axes):
        for index, share in enumerate(shares):
            values = on_period_us(epsilon, np.array(share), 8.0, 40.0, 2_000.0)
            axes.plot(epsilon, values, color=fig.COLOURS[index], label=f"R_d = {share:g} C")
            rows += [{"epsilon": e, "rd_over_c": share, "on_us": v} for e, v in zip(epsilon, values, strict=True)]
        plane = float(on_period_us(np.array(0.05), np.array(0.5), 8.0, 40.0, 2_000.0))
        axes.axhline(plane, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)))
        axes.annotate(
            f"max(T_on) at epsilon 0.05: {plane:.0f} us",
            (0.49, plane),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right",
            fontsize=9,
        )
        axes.set_yscale("log")
        axes.set_xlim(0, 0.5)
        axes.set_xlabel("congestion degree epsilon")
        axes.set_ylabel("T_on (us)")
        set_title(axes, "fig08", title, pad=40)
        fig.legend_above(axes, 3)
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig08", title, "Equation 2; B1 - B0 is 2 MTU."))


def _until(found: Chain) -> float:
    """A ms after P2's last pause, but at least 5 ms, as in the paper."""
    return max(5_000.0, float(np.nan_to_num(found.stopped_us["P2"])) + 1_000.0)


def _shown(found: Chain, until: float) -> Any:
    return (found.time_us > -100) & (found.time_us <= until)


def _marks_below(axes: Any, times: Any, colour: str, label: str, height: float) -> None:
    """Ticks at the bottom of a plot, one a marked packet, thinned to what can be seen."""
    if len(times):
        thin = np.unique((times / 5).round() * 5) / 1e3
        axes.plot(thin, np.full(len(thin), height), "|", color=colour, markersize=6, label=label)


def _chain_rows(found: Chain, until: float) -> pl.DataFrame:
    inside = _shown(found, until)
    columns: dict[str, Any] = {"time_us": found.time_us[inside]}
    for port in found.queue_kb:
        columns[f"{port}_kb"] = found.queue_kb[port][inside]
        columns[f"{port}_gbps"] = found.sent_gbps[port][inside]
    return pl.DataFrame({**columns, "f1_gbps": found.f1_gbps[inside]})


def draw_mismarking(results: Results, folder: Path) -> FigureFile:
    """Fig. 3a and 3c."""
    drawn = FigureFile("fig03a", "One congestion point, ECN by queue length", "the rate that DCQCN allows f1")
    return mismarking(first(results, "single", "red"), drawn, folder)


def mismarking(found: Chain, what: FigureFile, folder: Path) -> FigureFile:
    """P2's queue and marks, and below the rates; the caption of `what` names f1's rate."""
    until = _until(found)
    with fig.canvas(2, 1, height=5.4) as (figure, (above, beneath)):
        inside = _shown(found, until)
        time = found.time_us[inside] / 1e3
        above.plot(time, found.queue_kb["P2"][inside], color=fig.COLOURS[0], label="queue at P2")
        _marks_below(above, found.mark_us["P2", "ce"], fig.COLOURS[1], "P2 marks CE", -25)
        above.set_ylabel("queue (KB)")
        above.tick_params(labelbottom=False)
        set_title(above, what.name, what.title)
        fig.legend_above(above, 3)
        beneath.plot(time, found.sent_gbps["P2"][inside], color=fig.COLOURS[2], linewidth=0.9, label="sent by P2")
        beneath.plot(time, found.f1_gbps[inside], color=fig.COLOURS[3], label="rate of f1")
        beneath.set_ylabel("Gbps")
        beneath.set_xlabel("time since the bursts began (ms)")
        fig.legend_above(beneath, 3)
        counts = ", ".join(f"{flow} {found.marks.get(('P2', flow, 'ce'), 0):,}" for flow in ("f0", "f1", "f2"))
        caption = (
            f"Above: most bytes queued at P2 in each 5 us, and when it marks CE (packets: {counts}). Below: what P2 "
            f"sends in each 5 us, and {what.caption}."
        )
        return fig.save(figure, _chain_rows(found, until), folder, FigureFile(what.name, what.title, caption))


def draw_several(results: Results, folder: Path) -> FigureFile:
    """Fig. 4a and 4c."""
    drawn = FigureFile("fig04a", "Several congestion points, ECN by queue length", "The paper's ON-OFF ends at 1.6 ms.")
    return several(first(results, "multi", "red"), drawn, folder)


def several(found: Chain, what: FigureFile, folder: Path) -> FigureFile:
    """P2's queue, and below what it sends; the caption of `what` quotes the paper."""
    until = _until(found)
    with fig.canvas(2, 1, height=5.4) as (figure, (above, beneath)):
        inside = _shown(found, until)
        time = found.time_us[inside] / 1e3
        above.plot(time, found.queue_kb["P2"][inside], color=fig.COLOURS[0], label="queue at P2")
        beneath.plot(time, found.sent_gbps["P2"][inside], color=fig.COLOURS[2], linewidth=0.9, label="sent by P2")
        end = found.stopped_us["P2"] / 1e3
        for axes in (above, beneath):
            axes.axvline(end, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)))
        above.annotate(
            f"last pause ends: {end:.2f} ms", (end, 0), xytext=(4, 4), textcoords="offset points", fontsize=9
        )
        above.set_ylabel("queue (KB)")
        above.tick_params(labelbottom=False)
        set_title(above, what.name, what.title)
        fig.legend_above(above, 3)
        beneath.set_ylabel("Gbps")
        beneath.set_xlabel("time since the bursts began (ms)")
        fig.legend_above(beneath, 3)
        caption = f"P2 in each 5 us: most bytes queued, and below what it sends. {what.caption}"
        return fig.save(figure, _chain_rows(found, until), folder, FigureFile(what.name, what.title, caption))


def draw_detected(results: Results, group: str, name: str, folder: Path) -> FigureFile:
    """Fig. 12 and 13: queue, state and marks of P2 and P1."""
    point = "one congestion point" if group == "single" else "several congestion points"
    return detected_by(first(results, group, "tcd"), f"TCD, {point}", name, folder)


def detected_by(found: Chain, title: str, name: str, folder: Path) -> FigureFile:
    """Queue, state and marks of P2 and P1 over time."""
    until = _until(found)
    with fig.canvas(2, 1, height=5.6) as (figure, panels):
        seen: set[str] = set()
        for port, axes in zip(("P2", "P1"), panels, strict=True):
            inside = _shown(found, until)
            axes.plot(found.time_us[inside] / 1e3, found.queue_kb[port][inside], color="#222222", linewidth=1.1)
            rows = [*found.states[port], (until, "")]
            for (since, state), (end, _) in pairwise(rows):
                text, colour = STATES[state]
                low, high = max(since, -100) / 1e3, min(end, until) / 1e3
                if high > low:
                    label = text if text not in seen else None
                    seen.add(text)
                    axes.axvspan(low, high, color=colour, alpha=0.45, linewidth=0, label=label)
            top = max(float(found.queue_kb[port][inside].max()), 1.0)
            for mark, colour, place in (("ue", fig.COLOURS[0], 0.06), ("ce", "#a00000", 0.12)):
                label = f"marked {mark.upper()}"
                times = found.mark_us[port, mark]
                if len(times):
                    shown = None if label in seen else label
                    seen.add(label)
                    _marks_below(axes, times, colour, shown or "_", -place * top)
            axes.set_ylabel(f"queue at {port} (KB)")
            axes.set_xlim(-0.1, until / 1e3)
        panels[0].tick_params(labelbottom=False)
        panels[1].set_xlabel("time since the bursts began (ms)")
        panels[0].set_title(f"Fig. {number(name)}: {title}", loc="left", pad=8)
        handles, names = [], []
        for axes in panels:
            more = axes.get_legend_handles_labels()
            handles += more[0]
            names += more[1]
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        caption = (
            "Most bytes queued in each 5 us, the state as of the last packet that left, and when packets are marked."
        )
        data = pl.DataFrame(
            [
                {"port": port, "since_us": since, "state": state}
                for port in ("P1", "P2")
                for since, state in found.states[port]
            ]
        )
        return fig.save(figure, data, folder, FigureFile(name, title, caption))
