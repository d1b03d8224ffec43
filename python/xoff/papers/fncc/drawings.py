"""FNCC's figures, drawn from what was measured and named as in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.fncc.experiments import EDGES_KB, FCT_SCHEMES, HOPS, JOIN_US, SCHEMES, mean
from xoff.papers.fncc.measures import Fairness, Fct, Trace
from xoff.report import figures as fig
from xoff.report.figures import MARKERS, SCHEME_COLOURS, SCHEME_NAMES, FigureFile

Results = Mapping[Any, Any]

SHOWN_US = (280.0, 600.0)
"""The part of the two-flow runs that figures show, in us."""
BIN = 50
"""Samples averaged in figures of utilization: 5 us."""

ORDER = ("dcqcn", "rocc", "hpcc", "fncc-no-lhcs", "fncc")
"""The line that is drawn last is on top."""


def draw(results: Results, folder: Path) -> list[FigureFile]:
    """Every figure for which there are results."""
    groups = {key[0] for key in results}
    drawn = []
    for letter, group in zip("bcd", ("100", "200", "400"), strict=True):
        if group in groups:
            drawn.append(_queue(results, group, ("dcqcn", "hpcc", "fncc"), f"fig01{letter}", folder))
    if {"200", "400"} <= groups:
        drawn.append(_pauses(results, folder))
    for queue, rate, group in (("a", "b", "100"), ("c", "d", "200"), ("e", "f", "400")):
        if group in groups:
            drawn.append(_queue(results, group, SCHEMES, f"fig09{queue}", folder))
            drawn.append(_rates(results, group, SCHEMES, f"fig09{rate}", f"Rates at {group} Gbps", folder))
    for letter, group in zip("gh", ("200", "400"), strict=True):
        if group in groups:
            drawn.append(_utilization(results, group, f"fig09{letter}", folder))
    for letter, group in zip("abc", HOPS, strict=True):
        if group in groups:
            drawn.append(_hop(results, group, f"fig13{letter}", folder))
    if "last" in groups:
        title = "Rates, congestion at the last hop"
        drawn.append(_rates(results, "last", HOPS["last"], "fig13d", title, folder))
    if "fairness" in groups:
        drawn.append(_fairness(results["fairness", "fncc", 0], folder))
    for name, workload in (("fig14", "websearch"), ("fig15", "hadoop")):
        if workload in groups:
            drawn.append(_slowdowns(results, workload, name, folder))
    return drawn


def _traces(results: Results, group: str, schemes: Sequence[str]) -> dict[str, Trace]:
    return {s: results[group, s, 0].trace for s in ORDER if s in schemes}


def _shown(trace: Trace) -> Any:
    return (trace.time_us >= SHOWN_US[0]) & (trace.time_us <= SHOWN_US[1])


def _mark_join(axes: Any, at_top: bool) -> None:
    axes.axvline(JOIN_US, color="#666666", linewidth=0.9, linestyle=(0, (2, 2)))
    axes.annotate(
        "flow1 joins",
        (JOIN_US, 1.0 if at_top else 0.0),
        xycoords=("data", "axes fraction"),
        xytext=(-3, -3 if at_top else 3),
        textcoords="offset points",
        rotation=90,
        ha="right",
        va="top" if at_top else "bottom",
        fontsize=8,
        color="#555555",
    )


def _title(axes: Any, name: str, text: str) -> None:
    number = name.removeprefix("fig").lstrip("0")
    axes.set_title(f"Fig. {number}: {text}", loc="left", pad=24)


def _time_axis(axes: Any) -> None:
    axes.set_xlim(*SHOWN_US)
    axes.set_xlabel("time (us)")


def _styled(scheme: str) -> dict[str, Any]:
    return {"color": SCHEME_COLOURS[scheme], "label": SCHEME_NAMES[scheme]}


def _queue(results: Results, group: str, schemes: Sequence[str], name: str, folder: Path) -> FigureFile:
    traces = _traces(results, group, schemes)
    title = f"Queue at the congested port, {group} Gbps"
    with fig.canvas() as (figure, axes):
        for scheme, trace in traces.items():
            shown = _shown(trace)
            axes.plot(trace.time_us[shown], trace.queue_kb[shown], **_styled(scheme))
        _mark_join(axes, at_top=True)
        _title(axes, name, title)
        _time_axis(axes)
        axes.set_ylabel("queue (KB)")
        axes.set_ylim(bottom=0)
        fig.legend_above(axes, 4)
        data = _long(traces, lambda trace: {"queue_kb": trace.queue_kb})
        caption = "Most bytes queued at switch1's port to switch2 in each 0.1 us."
        return fig.save(figure, data, folder, FigureFile(name, title, caption))


def _rates(results: Results, group: str, schemes: Sequence[str], name: str, title: str, folder: Path) -> FigureFile:
    traces = _traces(results, group, schemes)
    with fig.canvas() as (figure, axes):
        for scheme, trace in traces.items():
            shown = _shown(trace)
            time = trace.time_us[shown]
            axes.plot(time, trace.rates_gbps[0][shown], **_styled(scheme))
            axes.plot(time, trace.rates_gbps[1][shown], color=SCHEME_COLOURS[scheme], linestyle=(0, (3, 1.5)))
        axes.plot([], [], color="#444444", label="flow0")
        axes.plot([], [], color="#444444", linestyle=(0, (3, 1.5)), label="flow1")
        _mark_join(axes, at_top=False)
        _title(axes, name, title)
        _time_axis(axes)
        axes.set_ylabel("rate (Gbps)")
        axes.set_ylim(bottom=0)
        fig.legend_above(axes, 6)
        data = _long(traces, lambda t: {"flow0_gbps": t.rates_gbps[0], "flow1_gbps": t.rates_gbps[1]})
        caption = (
            "The rate that each sender's scheme allows, solid flow0, dashed flow1; where lines coincide, one hides "
            "the other."
        )
        return fig.save(figure, data, folder, FigureFile(name, title, caption))


def _binned(values: Any) -> Any:
    whole = len(values) // BIN * BIN
    return values[:whole].reshape(-1, BIN)


def _draw_utilization(axes: Any, traces: Mapping[str, Trace]) -> None:
    for scheme, trace in traces.items():
        time, use = _binned(trace.time_us)[:, -1], _binned(trace.utilization).mean(axis=1)
        shown = (time >= SHOWN_US[0]) & (time <= SHOWN_US[1])
        axes.plot(time[shown], 100 * use[shown], **_styled(scheme))
    axes.set_ylabel("utilization (%)")
    axes.set_ylim(0, 104)


def _utilization(results: Results, group: str, name: str, folder: Path) -> FigureFile:
    traces = _traces(results, group, SCHEMES)
    title = f"Utilization of the congested port, {group} Gbps"
    with fig.canvas() as (figure, axes):
        _draw_utilization(axes, traces)
        _mark_join(axes, at_top=False)
        _title(axes, name, title)
        _time_axis(axes)
        fig.legend_above(axes, 4)
        data = _long(traces, lambda trace: {"utilization": trace.utilization})
        caption = (
            "Share of each 5 us in which switch1's port to switch2 sent; the data beside the figure has each 0.1 us. "
            "Where lines coincide, one hides the other."
        )
        return fig.save(figure, data, folder, FigureFile(name, title, caption))


def _hop(results: Results, group: str, name: str, folder: Path) -> FigureFile:
    traces = _traces(results, group, HOPS[group])
    title = f"Congestion at the {group} hop, 100 Gbps"
    with fig.canvas(2, 1, height=5.2) as (figure, (above, beneath)):
        for scheme, trace in traces.items():
            shown = _shown(trace)
            above.plot(trace.time_us[shown], trace.queue_kb[shown], **_styled(scheme))
        above.set_ylabel("queue (KB)")
        above.set_ylim(bottom=0)
        above.set_xlim(*SHOWN_US)
        above.tick_params(labelbottom=False)
        _mark_join(above, at_top=True)
        _title(above, name, title)
        fig.legend_above(above, 4)
        _draw_utilization(beneath, traces)
        beneath.axvline(JOIN_US, color="#666666", linewidth=0.9, linestyle=(0, (2, 2)))
        _time_axis(beneath)
        data = _long(traces, lambda t: {"queue_kb": t.queue_kb, "utilization": t.utilization})
        caption = "Above: most bytes queued at the congested port in each 0.1 us. Below: its utilization in each 5 us."
        return fig.save(figure, data, folder, FigureFile(name, title, caption))


def _pauses(results: Results, folder: Path) -> FigureFile:
    title = "PAUSE frames sent at the congestion point"
    speeds = ("200", "400")
    rows: list[dict[str, Any]] = []
    with fig.canvas() as (figure, axes):
        for index, scheme in enumerate(FCT_SCHEMES):
            counts = [mean(results, group, scheme, "pauses") for group in speeds]
            places = np.arange(len(speeds)) + (index - 1) * 0.26
            bars = axes.bar(places, counts, 0.24, **_styled(scheme))
            axes.bar_label(bars, [f"{count:.3g}" for count in counts], padding=2, fontsize=9)
            rows += [{"gbps": int(g), "scheme": scheme, "frames": c} for g, c in zip(speeds, counts, strict=True)]
        axes.set_xticks(range(len(speeds)), [f"{group} Gbps" for group in speeds])
        axes.set_ylabel("PAUSE frames in 1 ms")
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, max(1.0, 1.12 * max(row["frames"] for row in rows)))
        _title(axes, "fig03", title)
        fig.legend_above(axes, 3)
        caption = "Sent by switch1 to the two senders, mean of the repetitions. Threshold: 500 KB per ingress port."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig03", title, caption))


def _fairness(found: Fairness, folder: Path) -> FigureFile:
    title = f"Four FNCC flows, a change every {found.interval_ms:g} ms"
    colours = [fig.COLOURS[index] for index in (0, 1, 2, 3)]
    with fig.canvas(2, 1, height=5.2) as (figure, (above, beneath)):
        for flow, colour in enumerate(colours):
            low, high = flow * found.interval_ms, (flow + 4) * found.interval_ms
            active = (found.time_ms > low) & (found.time_ms <= high)
            above.plot(found.time_ms[active], found.goodput_gbps[active, flow], color=colour, label=f"flow{flow}")
        above.set_ylabel("goodput (Gbps)")
        above.set_ylim(bottom=0)
        above.tick_params(labelbottom=False)
        _title(above, "fig13e", title)
        fig.legend_above(above, 4)
        beneath.plot(found.time_ms, found.jain_sampled, color="#444444")
        beneath.axhline(0.95, color=fig.COLOURS[1], linewidth=1.0, linestyle=(0, (4, 2)))
        beneath.annotate(
            "0.95",
            (0.995, 0.95),
            xycoords=("axes fraction", "data"),
            xytext=(0, -3),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=9,
            color=fig.COLOURS[1],
        )
        beneath.set_ylim(0.5, 1.02)
        beneath.set_ylabel("Jain's index")
        beneath.set_xlabel("time (ms)")
        for axes in (above, beneath):
            axes.set_xlim(0, 7 * found.interval_ms)
        columns = {f"flow{flow}_gbps": found.goodput_gbps[:, flow] for flow in range(4)}
        data = pl.DataFrame({"time_ms": found.time_ms, **columns, "jain": found.jain_sampled})
        caption = (
            f"Payload acknowledged in each {found.interval_ms * 5:g} us, and Jain's index of the active flows "
            "(from two on)."
        )
        return fig.save(figure, data, folder, FigureFile("fig13e", title, caption))


def _slowdowns(results: Results, workload: str, name: str, folder: Path) -> FigureFile:
    label = {"websearch": "WebSearch", "hadoop": "FB_Hadoop"}[workload]
    title = f"FCT slowdown, {label}, 50 % load"
    edges = EDGES_KB[workload]
    runs: dict[str, list[Fct]] = {
        scheme: [each for key, each in results.items() if key[:2] == (workload, scheme)] for scheme in FCT_SCHEMES
    }
    rows = []
    with fig.canvas(2, 2, width=10.6, height=7.2) as (figure, panels):
        for panel, statistic, text in zip(
            panels.flat,
            ("mean", "p50", "p95", "p99"),
            ("average", "median", "95th percentile", "99th percentile"),
            strict=True,
        ):
            for scheme in reversed(FCT_SCHEMES):
                seeds = np.array([run.bins[statistic] for run in runs[scheme]])
                values = seeds.mean(axis=0)
                panel.plot(range(len(edges)), values, marker=MARKERS[scheme], markersize=4.5, **_styled(scheme))
                rows += [
                    {
                        "statistic": statistic,
                        "scheme": scheme,
                        "up_to_kb": edge,
                        "slowdown": value,
                        "least_seed": least,
                        "greatest_seed": greatest,
                    }
                    for edge, value, least, greatest in zip(
                        edges, values, seeds.min(axis=0), seeds.max(axis=0), strict=True
                    )
                ]
            panel.set_title(f"({'abcd'[list(panels.flat).index(panel)]}) {text}", loc="left")
            panel.set_xticks(range(len(edges)), [_size(edge) for edge in edges], rotation=45)
            panel.set_xlabel("flow size, up to")
            panel.set_ylabel("slowdown")
            panel.set_yscale("log")
            panel.grid(which="minor", axis="y", linewidth=0.3)
            panel.yaxis.set_major_formatter("{x:g}")
            panel.yaxis.set_minor_formatter(_minor)
        handles, names = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles[::-1], names[::-1], loc="outside upper right", ncols=3)
        number = name.removeprefix("fig")
        figure.suptitle(f"Fig. {number}: {title}", x=0.01, ha="left", fontsize=12)
        count = len(next(iter(runs.values())))
        caption = (
            f"Actual over ideal completion time by flow size, mean of {count} seeds' statistics, logarithmic; a bin is "
            "labelled with its largest size. The data beside the figure has the range over seeds."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption, wide=True))


def _minor(value: float, _: int) -> str:
    digit = round(value / 10 ** np.floor(np.log10(value)))
    return f"{value:g}" if digit in (2, 5) else ""


def _size(kilobytes: float) -> str:
    if kilobytes >= 1000:
        return f"{kilobytes / 1000:g} MB"
    return f"{kilobytes:g} KB" if kilobytes >= 1 else f"{kilobytes * 1000:g} B"


def _long(traces: Mapping[str, Trace], columns: Any) -> pl.DataFrame:
    parts = []
    for scheme, trace in traces.items():
        shown = _shown(trace)
        values = {name: column[shown] for name, column in columns(trace).items()}
        parts.append(
            pl.DataFrame({"time_us": trace.time_us[shown].round(3), **values}).with_columns(scheme=pl.lit(scheme))
        )
    return pl.concat(parts)
