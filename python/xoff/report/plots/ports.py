"""Totals by port, the largest first."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from xoff.analysis.tables import frame, paused_by_port
from xoff.report.plots.series import pause_absent
from xoff.report.plots.style import Labelled, Plot, new_figure, plain_names

_MAX_PORTS = 10


def utilization_by_port(runs: Sequence[Labelled]) -> Plot:
    """Utilization over the whole run."""
    return _by_port(
        runs,
        Plot("utilization-by-port", "Utilization by port", "Share of the whole run in which the port sent"),
        [_ports(each, "utilization") for each in runs],
        "utilization (%)",
        0.01,
        "No port sent anything.",
    )


def max_queue_by_port(runs: Sequence[Labelled]) -> Plot:
    """The longest queue that a port ever had."""
    return _by_port(
        runs,
        Plot("max-queue-by-port", "Longest queue by port", "The most bytes that ever waited at the port"),
        [_ports(each, "max_queue_bytes") for each in runs],
        "longest queue (KB)",
        1e3,
        "No packet ever waited.",
    )


def paused_time_by_port(runs: Sequence[Labelled]) -> Plot:
    """For how long a port was stopped."""
    return _by_port(
        runs,
        Plot(
            "paused-by-port",
            "Time stopped by port",
            "Time for which PAUSE stopped the port, all priorities together",
        ),
        [dict(paused_by_port(each.run).select("port", "paused_ps").iter_rows()) for each in runs],
        "time stopped (us)",
        1e6,
        pause_absent(runs),
    )


def _ports(each: Labelled, column: str) -> dict[str, float]:
    data = frame(each.run, "ports")
    return {} if data.is_empty() else dict(data.select("port", column).iter_rows())


def _by_port(
    runs: Sequence[Labelled],
    plot: Plot,
    values: list[dict[str, float]],
    axis: str,
    unit: float,
    absent: str | None,
) -> Plot:
    peaks: dict[str, float] = {}
    for each in values:
        for port, value in each.items():
            if value > 0:
                peaks[port] = max(peaks.get(port, 0.0), value)
    if not peaks:
        return Plot(plot.name, plot.title, absent or "It was not recorded.", recorded=absent is not None)
    shown = sorted(peaks, key=lambda port: (-peaks[port], port))[:_MAX_PORTS]
    names = plain_names(shown)
    few = len(shown) * len(runs) <= 12
    figure = new_figure(height=160 + 14 * len(shown) * max(len(runs), 2) if not few else 300, x=axis, y="")
    for labelled, by_port in zip(runs, values, strict=True):
        figure.add_trace(
            go.Bar(
                x=[by_port.get(port, 0.0) / unit for port in shown],
                y=names,
                orientation="h",
                name=labelled.plotted,
                marker={"color": labelled.colour},
                hovertemplate=f"{labelled.plotted}, %{{y}}: %{{x:.4~g}}<extra></extra>",
            )
        )
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(autorange="reversed", type="category")
    largest = "" if len(peaks) <= _MAX_PORTS else f"; the {_MAX_PORTS} largest of {len(peaks):,} ports"
    return Plot(plot.name, plot.title, f"{plot.note}{largest}.", figure)
