"""TCD's figures, drawn from what was measured and named as in the paper."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.tcd import victim_drawings
from xoff.papers.tcd.checks import marked_by, time_in
from xoff.papers.tcd.common import Results
from xoff.papers.tcd.experiments import BURSTS, RISES_B, SETS, slowdowns
from xoff.papers.tcd.measures import Chain, Testbed, on_period_us, percentile
from xoff.papers.tcd.style import COLOUR, KINDS, LINES, NAMES, number, set_title, size_text
from xoff.report import figures as fig
from xoff.report.figures import FigureFile

STATES = {
    "non_congestion": ("no congestion", "#d0d0d0"),
    "undetermined": ("undetermined", fig.COLOURS[3]),
    "released": ("released", fig.COLOURS[5]),
    "congestion": ("congestion", fig.COLOURS[1]),
}
FCT_EDGES_KB = {
    "hadoop": (0.35, 0.5, 0.7, 1, 2, 30, 50, 80, 120, 300, 1000, 10000),
    "websearch": (10, 20, 30, 50, 80, 200, 500, 1000, 2000, 5000, 10000, 30000),
}


def draw(results: Results, folder: Path) -> list[FigureFile]:
    """Every figure for which there are results."""
    groups = {key[0] for key in results}
    drawn = [_model(folder)]
    made: dict[str, Callable[[], list[FigureFile]]] = {
        "single": lambda: [_mismarking(results, folder), *_detected(results, "single", "fig12", folder)],
        "multi": lambda: [_several(results, folder), *_detected(results, "multi", "fig13", folder)],
        "readings": lambda: [_readings(results, folder)],
        "growth": lambda: [_growth(results, folder)],
        "testbed": lambda: [_testbed(results, folder)],
        "table3": lambda: [victim_drawings.draw_table3(results, folder)],
        "dcqcn-victims": lambda: [victim_drawings.draw_victims(results, "dcqcn", "fig15a", folder)],
        "timely-victims": lambda: [victim_drawings.draw_victims(results, "timely", "fig18a", folder)],
        "dcqcn-bursts": lambda: [victim_drawings.draw_bursts(results, "dcqcn", "fig15b", folder)],
        "timely-bursts": lambda: [victim_drawings.draw_bursts(results, "timely", "fig18b", folder)],
        "epsilon": lambda: [victim_drawings.draw_epsilon(results, folder)],
        "loads": lambda: [victim_drawings.draw_loads(results, folder)],
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


def _model(folder: Path) -> FigureFile:
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


def _mismarking(results: Results, folder: Path) -> FigureFile:
    """Fig. 3a and 3c."""
    drawn = FigureFile("fig03a", "One congestion point, ECN by queue length", "the rate that DCQCN allows f1")
    return mismarking(results["single", "red", "paper"], drawn, folder)


def mismarking(found: Chain, what: FigureFile, folder: Path) -> FigureFile:
    """P2's queue and marks, and below the rates; the caption of `what` says what f1's is."""
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


def _several(results: Results, folder: Path) -> FigureFile:
    """Fig. 4a and 4c."""
    drawn = FigureFile("fig04a", "Several congestion points, ECN by queue length", "The paper's ON-OFF ends at 1.6 ms.")
    return several(results["multi", "red", "paper"], drawn, folder)


def several(found: Chain, what: FigureFile, folder: Path) -> FigureFile:
    """P2's queue, and below what it sends; the caption of `what` says what the paper has."""
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


def _detected(results: Results, group: str, name: str, folder: Path) -> list[FigureFile]:
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


def _readings(results: Results, folder: Path) -> FigureFile:
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


def _growth(results: Results, folder: Path) -> FigureFile:
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


def _testbed(results: Results, folder: Path) -> FigureFile:
    drawn = FigureFile("fig11", "f0's marks on the testbed's topology, PFC", "; paper's rules")
    return testbed(results["testbed", "tcd", "paper"], drawn, folder)


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
    label = {"websearch": "WebSearch", "hadoop": "FB_Hadoop"}[workload]
    title = f"FCT slowdown, {label}, 60 % load, {NAMES[scheme]}"
    edges = FCT_EDGES_KB[workload]
    rows = []
    with fig.canvas(1, 3, width=12.0, height=4.4) as (figure, panels):
        for letter, panel, percent in zip("abc", panels, (50, 95, 99), strict=True):
            for which in SETS:
                for kind in KINDS:
                    found = results[f"{scheme}-{workload}", kind, which]
                    bins = [slowdowns(found, low, high) for low, high in pairwise((0, *edges))]
                    values = [percentile(each, percent) for each in bins]
                    panel.plot(
                        range(len(edges)),
                        values,
                        marker="o",
                        markersize=4,
                        color=COLOUR[kind],
                        linestyle=LINES[which],
                        label=f"{KINDS[kind]}, {which}",
                    )
                    rows += [
                        {
                            "rules": which,
                            "marking": kind,
                            "percentile": percent,
                            "up_to_kb": edge,
                            "slowdown": value,
                            "flows": len(each),
                        }
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
            "At the receiver, over size/C and propagation, logarithmic; a bin is labelled with its largest size. "
            "Dashed: rules and numbers of the authors' simulator."
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
            found = results["fairness", scheme, "paper"]
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
        caption = "What each sender puts on the wire in each 100 us; dashed the fair share of 8 Gbps; paper's rules."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig20", title, caption))
