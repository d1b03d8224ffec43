"""TCD's figures of a chain of switches: marks, queues and detected states over time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.tcd.checks import marked_by, time_in
from xoff.papers.tcd.common import Results
from xoff.papers.tcd.experiments import BURSTS, RISES_B, SETS
from xoff.papers.tcd.measures import Chain, on_period_us
from xoff.papers.tcd.style import KINDS, number, set_title
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
    return mismarking(results["single", "red", "paper"], drawn, folder)


def mismarking(found: Chain, what: FigureFile, folder: Path) -> FigureFile:
    """P2's queue and marks, and below the rates; the caption of `what` names f1's rate."""
    until = 5_000.0
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
    return several(results["multi", "red", "paper"], drawn, folder)


def several(found: Chain, what: FigureFile, folder: Path) -> FigureFile:
    """P2's queue, and below what it sends; the caption of `what` quotes the paper."""
    until = 5_000.0
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


def draw_detected(results: Results, group: str, name: str, folder: Path) -> list[FigureFile]:
    """Fig. 12 and 13: queue, state and marks of P2 and P1, for each set of rules."""
    point = "one congestion point" if group == "single" else "several congestion points"
    return [
        detected_by(results[group, "tcd", which], f"TCD, {point}, {which}'s rules", f"{name}-{which}", folder)
        for which in SETS
    ]


def detected_by(found: Chain, title: str, name: str, folder: Path) -> FigureFile:
    """Queue, state and marks of P2 and P1 over time."""
    until = 5_000.0
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


def draw_readings(results: Results, folder: Path) -> FigureFile:
    """Several congestion points under other readings of the bursts."""
    title = "Several congestion points, the bursts read otherwise"
    rows = []
    with fig.canvas(2, 1, height=5.6) as (figure, panels):
        for kind, axes in zip(KINDS, panels, strict=True):
            for index, bursts in enumerate(BURSTS):
                found: Chain = results["readings", kind, bursts, 0.32]
                inside = _shown(found, 5_000.0)
                axes.plot(
                    found.time_us[inside] / 1e3, found.queue_kb["P2"][inside], color=fig.COLOURS[index], label=bursts
                )
                for every in (1.6, 0.32):
                    run: Chain = results["readings", kind, bursts, every]
                    rows.append(
                        {
                            "marking": kind,
                            "bursts": bursts,
                            "points": "one" if every == 1.6 else "several",
                            "longest_queue_kb": float(run.queue_kb["P2"].max()),
                            "last_pause_ends_us": run.stopped_us["P2"],
                            "pauses": run.pauses["P2"],
                            "marked_ce": len(run.mark_us["P2", "ce"]),
                            "marked_ue": len(run.mark_us["P2", "ue"]),
                        }
                    )
            axes.set_ylabel(f"P2, {KINDS[kind]} (KB)")
        panels[0].tick_params(labelbottom=False)
        panels[1].set_xlabel("time since the bursts began (ms)")
        panels[0].set_title(f"Sensitivity: {title}", loc="left", pad=24)
        fig.legend_above(panels[0], 4)
        caption = (
            "Most bytes queued at P2 in each 5 us; beside it in the data what P2 comes to with one congestion point."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("readings", title, caption))


def draw_growth(results: Results, folder: Path) -> FigureFile:
    """What counts as a queue that has grown."""
    title = "what counts as a queue that has grown"
    rows = []
    with fig.canvas(2, 1, height=5.4) as (figure, panels):
        for index, (points, every) in enumerate((("one", 1.6), ("several", 0.32))):
            found: list[Chain] = [results["growth", "tcd", rise, every] for rise in RISES_B]
            counts = [marked_by(each, "P2") for each in found]
            congested = [time_in(each, "P2", "congestion") / 1e3 for each in found]
            for axes, values in zip(panels, (counts, congested), strict=True):
                label = f"{points} congestion point{'' if points == 'one' else 's'}"
                axes.plot(range(len(RISES_B)), values, marker="os"[index], color=fig.COLOURS[index], label=label)
            rows += [
                {"points": points, "rise_bytes": rise, "p2_marked_ce": count, "p2_congested_ms": time}
                for rise, count, time in zip(RISES_B, counts, congested, strict=True)
            ]
        panels[0].set_ylabel("packets that P2 marks CE")
        panels[0].tick_params(labelbottom=False)
        panels[1].set_ylabel("P2 in congestion (ms)")
        panels[1].set_xlabel("least growth in a period (B)")
        for axes in panels:
            axes.set_xticks(range(len(RISES_B)), ["0 (not fallen)", "1 (increases)", "900 (simulator)", "2,000"])
            axes.set_ylim(bottom=0)
        panels[0].set_title(f"Sensitivity: {title}", loc="left", pad=24)
        fig.legend_above(panels[0], 2)
        caption = (
            "Paper's rules; verdicts rest on 1 B. With 0 a queue counts that has not fallen. Fig. 12 has no CE with "
            "one point, Fig. 13 has P2 in congestion with several."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("growth", title, caption))
