"""SRCC's figures, drawn from what was measured and named as in the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from xoff.papers.srcc.comparisons import NAMES
from xoff.papers.srcc.experiments import SCHEMES, THRESHOLDS, WINDOWS, mean, places
from xoff.papers.srcc.measures import Measured, Motivation
from xoff.report import figures as fig
from xoff.report.figures import COLOURS, FigureFile

Results = Mapping[Any, Any]

STYLES: dict[str, dict[str, Any]] = {
    "dcqcn": {"color": COLOURS[2], "marker": "^", "label": "DCQCN"},
    "swift": {"color": COLOURS[4], "marker": "D", "label": "Swift"},
    "hpcc": {"color": COLOURS[1], "marker": "s", "label": "HPCC"},
    "pcn": {"color": COLOURS[5], "marker": "v", "label": "PCN"},
    "srcc": {"color": COLOURS[0], "marker": "o", "label": "SRCC"},
}
"""Colours of each scheme in all figures."""

LOAD = "load"


def draw(results: Results, folder: Path) -> list[FigureFile]:
    """Every figure for which there are results."""
    groups = {key[0] for key in results}
    drawn: list[FigureFile] = []
    if "motivation" in groups:
        drawn.append(_motivation(results, folder))
    for name, group, title in (
        ("fig05", "web-server", "Web server workload, testbed topology"),
        ("fig06", "cache-follower", "Cache follower workload, testbed topology"),
    ):
        if group in groups:
            drawn.append(_loads(results, group, name, title, folder))
    for group, letter, axis in (
        ("burst-interval", "a", "time between bursts (us)"),
        ("burst-size", "b", "message of a burst (KB)"),
    ):
        if group in groups:
            title = f"Average FCT by {'time between bursts' if letter == 'a' else 'size of a burst'}"
            drawn.append(_bars(results, group, f"fig07{letter}", title, axis, folder))
    if "threshold" in groups:
        drawn.append(_variants(results, "threshold", THRESHOLDS, "fig08a", "Average FCT by threshold", folder))
    if "window" in groups:
        drawn.append(_variants(results, "window", WINDOWS, "fig08b", "Average FCT by time window", folder))
    for name, group, title in (
        ("fig09", "websearch", "Web search, 8 leaves of 24 hosts"),
        ("fig10", "hadoop", "Hadoop, 8 leaves of 24 hosts"),
    ):
        if group in groups:
            drawn.append(_large(results, group, name, title, folder))
    if "incast" in groups:
        drawn.append(_incast(results, folder))
    return drawn


def _styled(scheme: str, markers: bool = True) -> dict[str, Any]:
    style = dict(STYLES[scheme])
    if not markers:
        del style["marker"]
    return {**style, "markersize": 4.5} if markers else style


def _head(figure: Any, handles: Any, title: str) -> None:
    """A title and the legend in a row of its own under it, above all panels."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    lines, names = handles.get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper right", ncols=len(names))


def _motivation(results: Results, folder: Path) -> FigureFile:
    found: dict[str, Motivation] = {s: results["motivation", s, 0.0, 1] for s in SCHEMES}
    title = "Long flows and bursts of mice to one host"
    rows = []
    with fig.canvas(1, 3, width=13.5, height=4.0) as (figure, panels):
        for scheme, run in found.items():
            style = _styled(scheme, markers=False)
            panels[0].plot(run.time_us / 1e3, run.queue_kb, linewidth=1.0, **style)
            panels[1].plot(run.bins_us / 1e3, run.stopped, **style)
            panels[2].plot(run.bins_us / 1e3, 100 * run.victim, **style)
            rows += [
                {"scheme": scheme, "time_us": t, "pause_frames": f, "stopped_ports": p, "victim_share": v}
                for t, f, p, v in zip(run.bins_us, run.frames, run.stopped, run.victim, strict=True)
            ]
        for panel, letter, what, axis in zip(
            panels,
            "abc",
            ("queue at H95", "stopped ports", "victims"),
            ("queue (KB)", "ports stopped by PAUSE", "goodput (% of the victims' links)"),
            strict=True,
        ):
            panel.axvline(0, color="#666666", linewidth=0.9, linestyle=(0, (2, 2)))
            panel.set_title(f"({letter}) {what}", loc="left")
            panel.set_xlabel("time since the first burst (ms)")
            panel.set_ylabel(axis)
            panel.set_ylim(bottom=0)
            panel.set_xlim(found["srcc"].bins_us[0] / 1e3, found["srcc"].bins_us[-1] / 1e3)
        _head(figure, panels[0], f"Fig. 2: {title}")
        caption = (
            "The dotted line is the first burst; one more comes each ms. Queue: most bytes in each 10 us; "
            "stopped ports "
            "and goodput: means over 100 us. SRCC is not in the paper's figure."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig02", title, caption, wide=True))


def _lines(axes: Any, results: Results, group: str, quantity: str, scale: float, rows: list[dict[str, Any]]) -> None:
    at = places(results, group)
    for scheme in SCHEMES:
        found = [scale * mean(results, group, scheme, x, quantity) for x in at]
        axes.plot(at, found, **_styled(scheme))
        rows += [
            {"scheme": scheme, "load": x, "quantity": quantity, "value": v} for x, v in zip(at, found, strict=True)
        ]
    axes.set_xlabel(LOAD)
    axes.set_xticks(at)
    axes.set_ylim(bottom=0)


_PANELS = {
    "pauses_per_ms": ("PAUSE rate", "PAUSE frames a ms", 1.0),
    "blocked_share": ("HoL-blocked flows", "HoL-blocked flows (%)", 100.0),
    "afct_us": ("average FCT", "average FCT (us)", 1.0),
    "p99_us": ("99th percentile FCT", "99th percentile FCT (us)", 1.0),
}


def _panel(axes: Any, results: Results, group: str, quantity: str, letter: str, rows: list[dict[str, Any]]) -> None:
    what, axis, scale = _PANELS[quantity]
    _lines(axes, results, group, quantity, scale, rows)
    axes.set_title(f"({letter}) {what}", loc="left")
    axes.set_ylabel(axis)


def _loads(results: Results, group: str, name: str, title: str, folder: Path) -> FigureFile:
    rows: list[dict[str, Any]] = []
    with fig.canvas(1, 4, width=14.5, height=3.9) as (figure, panels):
        for panel, letter, quantity in zip(panels, "abcd", _PANELS, strict=True):
            _panel(panel, results, group, quantity, letter, rows)
        _head(figure, panels[0], f"Fig. {int(name[3:])}: {title}")
        caption = f"Means of {_seeds(results, group)}. PAUSE frames of all ports while flows arrive."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption, wide=True))


def _seeds(results: Results, group: str) -> str:
    count = len({key[3] for key in results if key[0] == group})
    return f"{count} seeds" if count > 1 else "one seed"


def _large(results: Results, group: str, name: str, title: str, folder: Path) -> FigureFile:
    rows: list[dict[str, Any]] = []
    last = places(results, group)[-1]
    with fig.canvas(1, 4, width=14.5, height=3.9) as (figure, panels):
        for scheme in SCHEMES:
            run: Measured = results[group, scheme, last, 1]
            if run.queue is not None:
                panels[0].plot(*run.queue, linewidth=1.0, **_styled(scheme, markers=False))
        panels[0].set_title(f"(a) burst's receiver, load {last:g}", loc="left")
        panels[0].set_xlabel("time since the burst began (us)")
        panels[0].set_ylabel("queue (KB)")
        panels[0].set_ylim(bottom=0)
        for panel, letter, quantity in zip(panels[1:], "bcd", ("pauses_per_ms", "afct_us", "p99_us"), strict=True):
            _panel(panel, results, group, quantity, letter, rows)
        _head(figure, panels[1], f"Fig. {int(name[3:])}: {title}")
        caption = (
            f"(a) the first seed, most bytes in each 2 us. (b) to (d) means of {_seeds(results, group)}; PAUSE "
            f"frames of "
            "all ports while flows arrive; FCTs without the burst's."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption, wide=True))


def _groups(
    axes: Any,
    at: Sequence[float],
    lines: Mapping[str, Mapping[str, Any]],
    value: Callable[[str, float], float],
    rows: list[dict[str, Any]],
) -> None:
    """Bars in groups: one group for each place, one bar for each line."""
    width = 0.8 / len(lines)
    for index, (line, style) in enumerate(lines.items()):
        found = [value(line, x) for x in at]
        place = [x + (index - (len(lines) - 1) / 2) * width for x in range(len(at))]
        axes.bar(place, found, width=0.92 * width, **style)
        rows += [{"line": line, "at": x, "value": v} for x, v in zip(at, found, strict=True)]
    axes.set_xticks(range(len(at)), [f"{x:g}" for x in at])
    axes.grid(visible=False, axis="x")


def _bars(results: Results, group: str, name: str, title: str, axis: str, folder: Path) -> FigureFile:
    rows: list[dict[str, Any]] = []
    with fig.canvas() as (figure, axes):
        lines = {s: {"color": STYLES[s]["color"], "label": NAMES[s]} for s in SCHEMES}
        _groups(axes, places(results, group), lines, lambda s, x: mean(results, group, s, x, "afct_us"), rows)
        axes.set_title(f"Fig. {int(name[3:5])}{name[5]}: {title}", loc="left", pad=24)
        axes.set_xlabel(axis)
        axes.set_ylabel("average FCT (us)")
        fig.legend_above(axes, 5)
        caption = f"All flows, those of the web server under the bursts too; means of {_seeds(results, group)}."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption))


def _variants(
    results: Results, group: str, names: Mapping[str, str], name: str, title: str, folder: Path
) -> FigureFile:
    rows: list[dict[str, Any]] = []
    with fig.canvas() as (figure, axes):
        shades = dict(zip(names, (COLOURS[0], COLOURS[5], COLOURS[6]), strict=True))
        lines = {line: {"color": shades[line], "label": text} for line, text in names.items()}
        _groups(axes, places(results, group), lines, lambda s, x: mean(results, group, s, x, "afct_us"), rows)
        axes.set_title(f"Fig. {int(name[3:5])}{name[5]}: {title}", loc="left", pad=24)
        axes.set_xlabel(LOAD)
        axes.set_ylabel("average FCT (us)")
        fig.legend_above(axes, 3)
        caption = f"Web server workload on 8 leaves of 24 hosts; means of {_seeds(results, group)}."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile(name, title, caption))


def _incast(results: Results, folder: Path) -> FigureFile:
    rows: list[dict[str, Any]] = []
    title = "Goodput of a client by servers that answer at once"
    with fig.canvas() as (figure, axes):
        at = places(results, "incast")
        for scheme in SCHEMES:
            found = [mean(results, "incast", scheme, x, "goodput_gbps") for x in at]
            axes.plot(at, found, **_styled(scheme))
            rows += [{"scheme": scheme, "senders": x, "goodput_gbps": v} for x, v in zip(at, found, strict=True)]
        axes.set_title("Fig. 11: Goodput in an incast", loc="left", pad=24)
        axes.set_xlabel("servers")
        axes.set_xticks(at)
        axes.set_ylabel("goodput (Gbps)")
        axes.set_ylim(0, 100)
        fig.legend_above(axes, 5)
        caption = "50 MB in all, over the time until the last response is acknowledged."
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("fig11", title, caption))
