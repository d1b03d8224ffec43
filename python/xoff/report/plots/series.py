"""Quantities over time: queues, rates, PAUSE, utilization."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import plotly.graph_objects as go

from xoff.analysis.columns import as_numpy
from xoff.analysis.failures import spans
from xoff.analysis.tables import Series, busiest, flow_rates, stopped_ports, thin
from xoff.report.plots.spans import shade
from xoff.report.plots.style import Labelled, Plot, line_styles, listed, new_figure, plain, time_scale

_MAX_FLOWS = 20


def queues_over_time(runs: Sequence[Labelled]) -> Plot:
    """The longest queues."""
    top = _top(runs)
    return _over_time(
        runs,
        Plot(
            "queues",
            "Queue length",
            f"Bytes waiting at egress ports: those with the longest queues, up to {top}{_each(runs)}.",
        ),
        lambda each: busiest(each.run, "queues", "bytes", top),
        "queue (KB)",
        1e3,
        _absent(runs, "queues", "Every sampled queue stayed empty."),
    )


def rates_over_time(runs: Sequence[Labelled]) -> Plot:
    """Sending rates of flows, or their sum where there are many."""
    max_flows = _MAX_FLOWS // len(runs)
    return _over_time(
        runs,
        Plot(
            "rates",
            "Sending rate",
            "Rate at which each recorded flow put frames on the wire; the sum of all where a run recorded more than "
            f"{max_flows}.",
        ),
        lambda each: flow_rates(each.run, "sent_bps", max_flows)[0],
        "sending rate (Gbps)",
        1e9,
        _absent(runs, "rates", "No recorded flow sent anything."),
    )


def utilization_over_time(runs: Sequence[Labelled]) -> Plot:
    """Utilization of the busiest ports."""
    top = _top(runs)
    return _over_time(
        runs,
        Plot(
            "utilization",
            "Utilization of the busiest ports",
            f"Share of each interval in which a port sent: the busiest ports, up to {top}{_each(runs)}.",
        ),
        lambda each: busiest(each.run, "utilization", "utilization", top),
        "utilization (%)",
        0.01,
        _absent(runs, "utilization", "No sampled port sent anything."),
    )


def pauses_over_time(runs: Sequence[Labelled]) -> Plot:
    """How many ports stand still."""

    def stopped(each: Labelled) -> list[Series]:
        series = stopped_ports(each.run)
        return [series] if series else []

    return _over_time(
        runs,
        Plot("pauses", "Stopped ports", "Egress ports that stand still by PAUSE, each priority counted apart."),
        stopped,
        "stopped ports",
        1.0,
        pause_absent(runs),
        shape="hv",
    )


def pause_absent(runs: Sequence[Labelled]) -> str | None:
    """Why there is no plot of PAUSE; `None` if it was not recorded."""
    frames = 0
    for each in runs:
        ports = each.run.ports
        if ports.num_rows:
            frames += int(as_numpy(ports["pause_frames_sent"]).sum())
    return None if frames else "No PAUSE frame was sent."


def _over_time(
    runs: Sequence[Labelled],
    plot: Plot,
    series_of: Callable[[Labelled], list[Series]],
    axis: str,
    unit: float,
    absent: str | None,
    shape: str = "linear",
) -> Plot:
    found = [series_of(each) for each in runs]
    every = [series for several in found for series in several]
    if not every:
        return Plot(plot.name, plot.title, absent or "It was not recorded.", recorded=absent is not None)
    first = min(float(series.time_ps[0]) for series in every)
    busy = _last_busy(every)
    scale, time = time_scale(busy)
    one_each = all(len(several) <= 1 for several in found)
    figure = new_figure(height=420, x=f"time ({time})", y=axis, legend="top" if one_each else "right")
    for index, (each, several) in enumerate(zip(runs, found, strict=True)):
        for rank, series in enumerate(several):
            x, y = thin(series.time_ps, series.value)
            name = each.plotted if one_each and len(runs) > 1 else plain(series.name)
            figure.add_trace(
                go.Scatter(
                    x=x / scale,
                    y=y / unit,
                    mode="lines",
                    name=name,
                    legendgroup=each.plotted,
                    legendgrouptitle={"text": each.plotted} if len(runs) > 1 and not one_each else None,
                    line={**line_styles(runs, index, rank), "shape": shape},
                    hovertemplate=f"{each.plotted}, {plain(series.name)}<br>%{{x:.3f}} {time}: %{{y:.4~g}}"
                    "<extra></extra>",
                )
            )
    # A single line is named too: of which port or flow it is.
    figure.update_layout(legend={"groupclick": "toggleitem"}, showlegend=True)
    if max(float(series.value.max()) for series in every) / unit <= 5 and unit == 1.0:
        figure.update_yaxes(dtick=1)
    latest = max(float(series.time_ps[-1]) for series in every)
    zoomed = first < busy < 0.8 * latest
    end = busy + 0.03 * (busy - first) if zoomed else latest
    if zoomed:
        figure.update_xaxes(range=[first / scale, end / scale])
    shade(figure, [span for each in runs for span in spans(each.run)], scale, (first, end))
    silent = [each.label for each, several in zip(runs, found, strict=True) if not several]
    without = f" Nothing to show of {listed(silent)}." if silent else ""
    zoom = " Zoomed to where something happens; a double click on the plot shows the whole run." if zoomed else ""
    return Plot(plot.name, plot.title, plot.note + without + zoom, figure)


def _last_busy(every: Sequence[Series]) -> float:
    """The last moment at which any series is above a hundredth of the greatest value, in ps."""
    least = max(float(series.value.max()) for series in every) / 100
    ends = [series.time_ps[(series.value > least).nonzero()[0]] for series in every]
    return max((float(times[-1]) for times in ends if len(times)), default=0.0)


def _top(runs: Sequence[Labelled]) -> int:
    return 6 if len(runs) == 1 else 3


def _each(runs: Sequence[Labelled]) -> str:
    return "" if len(runs) == 1 else " of each run"


def _absent(runs: Sequence[Labelled], table: str, recorded: str) -> str | None:
    return recorded if any(each.run.table(table).num_rows for each in runs) else None
