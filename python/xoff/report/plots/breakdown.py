"""Where the worst flows' time went, as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import FlowTime, Share
from xoff.analysis.explain.flows import worst_flows
from xoff.report.palette import COLOURS, PAUSED
from xoff.report.plots.style import Labelled, Plot, finish, plain, time_scale
from xoff.text import time_text

_BLUE, _RED, _GREEN, _PINK, _, _SKY, _GREY = COLOURS

_STYLES = {
    "serialization": (_GREEN, ""),
    "propagation": (_GREY, ""),
    "queueing": (_RED, ""),
    "paused": (PAUSED, ""),
    "window": (_BLUE, ""),
    "rate": (_PINK, ""),
    "source": (_SKY, ""),
    "throttled": (_PINK, "/"),
    "processing": (_GREY, "/"),
    "recovery": (_RED, "/"),
    "in_flight": (_SKY, "/"),
}
"""Colour and hatching of each part, in the order of the bars."""

_MAX_FLOWS = 12


def time_of_worst_flows(runs: Sequence[Labelled]) -> Plot:
    """A bar for each of the worst flows, in parts that sum to its completion time."""
    name, title = "breakdown", "Where the worst flows' time went"
    each_run = max(_MAX_FLOWS // len(runs), 1)
    bars = [
        (f"{each.plotted}: {_name(flow)}" if len(runs) > 1 else _name(flow), flow)
        for each in runs
        if (facts := Facts(each.run)).recorded("breakdown")
        for flow in worst_flows(facts, each_run)
        if flow.shares
    ]
    if not bars:
        if any(Facts(each.run).recorded("breakdown") for each in runs):
            return Plot(name, title, "No flow had started.")
        return Plot(name, title, "It was not recorded.", recorded=False)
    scale, unit = time_scale(max(flow.time_ps for _, flow in bars))
    figure = go.Figure()
    for part, (colour, hatching) in _STYLES.items():
        own = [[share for share in flow.shares if share.part == part] for _, flow in bars]
        if not any(own):
            continue
        figure.add_trace(
            go.Bar(
                y=[label for label, _ in bars],
                x=[sum(share.time_ps for share in shares) / scale for shares in own],
                customdata=[_places(shares) for shares in own],
                name=part,
                orientation="h",
                marker={"color": colour, "pattern": {"shape": hatching, "solidity": 0.4}},
                hovertemplate=f"%{{y}}<br>{part} %{{x:.4~g}} {unit}<br>%{{customdata}}<extra></extra>",
            )
        )
    finish(figure, height=110 + 30 * len(bars))
    figure.update_layout(barmode="stack", legend={"traceorder": "normal"})
    figure.update_xaxes(title_text=f"completion time ({unit})", tickformat=",")
    figure.update_yaxes(autorange="reversed")
    note = (
        f"The {each_run} flows{'' if len(runs) == 1 else ' of each run'} with the greatest slowdowns. The parts of a "
        "bar sum to the flow's completion time; one that did not complete has its time up to the end of the run. "
        "Queueing and paused are those at its sender's port, and those of its last packet and that packet's ACK on "
        "their way; a tooltip says where."
    )
    return Plot(name, title, note, figure)


def _name(flow: FlowTime) -> str:
    return f"{flow.flow}: {plain(flow.ends)}"


def _places(shares: Sequence[Share]) -> str:
    """The three longest of some parts, with their ports."""
    return "<br>".join(f"{plain(each.port)} {time_text(each.time_ps)}" for each in shares[:3])
