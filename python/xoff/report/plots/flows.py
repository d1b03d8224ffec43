"""Flow completion: slowdown by flow size, and its distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xoff.analysis.tables import STATISTICS, cdf, endings, size_edges, slowdown_by_size, slowdowns
from xoff.report.plots.style import Labelled, Plot, finish, listed, log_ticks, new_figure

_NO_FLOWS = "No flow completed its size, so there is no slowdown to show."


def fct_by_size(runs: Sequence[Labelled]) -> Plot:
    """Mean and percentiles of slowdown over flow size, one panel a statistic."""
    name, title = "fct-by-size", "FCT slowdown by flow size"
    edges = size_edges([each.run for each in runs])
    if len(edges) == 0:
        return Plot(name, title, _NO_FLOWS)
    figure = make_subplots(
        rows=2,
        cols=2,
        shared_xaxes=True,
        subplot_titles=STATISTICS,
        horizontal_spacing=0.07,
        vertical_spacing=0.1,
    )
    for each in runs:
        bins = slowdown_by_size(each.run, edges)
        detail = np.stack([bins.low_bytes / 1e3, bins.high_bytes / 1e3, bins.count], axis=-1)
        for index, statistic in enumerate(STATISTICS):
            figure.add_trace(
                go.Scatter(
                    x=bins.median_bytes / 1e3,
                    y=bins.statistics[statistic],
                    customdata=detail,
                    mode="lines+markers",
                    name=each.plotted,
                    legendgroup=each.plotted,
                    showlegend=index == 0,
                    line={"color": each.colour, "dash": each.dash, "width": 2},
                    marker={"size": 6},
                    hovertemplate=f"{each.plotted}: {statistic} %{{y:.2f}}<br>%{{customdata[2]}} flows of "
                    "%{customdata[0]:.4~g} to %{customdata[1]:.4~g} KB<extra></extra>",
                ),
                row=index // 2 + 1,
                col=index % 2 + 1,
            )
    finish(figure, height=620)
    figure.update_layout(legend={"y": 1.06}, margin={"t": 40})
    figure.update_xaxes(type="log", dtick=1, exponentformat="none")
    figure.update_xaxes(title_text="flow size (KB)", row=2)
    figure.update_yaxes(title_text="FCT slowdown", col=1)
    note = (
        "Completion time over that of the same flow alone in the network. Flows of all runs together are cut into "
        "up to ten groups of about equal number by size; each point stands at the median size of its group."
    )
    return Plot(name, title, note + _unfinished(runs), figure)


def slowdown_distribution(runs: Sequence[Labelled]) -> Plot:
    """The distribution function of slowdown."""
    name, title = "slowdown-cdf", "Distribution of FCT slowdown"
    if not any(len(slowdowns(each.run)) for each in runs):
        return Plot(name, title, _NO_FLOWS)
    figure = new_figure(height=420, x="FCT slowdown", y="share of flows (%)")
    for each in runs:
        x, share = cdf(slowdowns(each.run))
        figure.add_trace(
            go.Scatter(
                x=x,
                y=share * 100,
                mode="lines",
                name=each.plotted,
                line={"color": each.colour, "dash": each.dash, "width": 2, "shape": "hv"},
                hovertemplate=f"{each.plotted}: %{{y:.2f}} % of flows up to %{{x:.3f}}<extra></extra>",
            )
        )
    every = np.concatenate([slowdowns(each.run) for each in runs])
    low, high = float(every.min()), float(every.max())
    # Over less than a factor of three, hardly any of the ticks of a logarithmic axis would be in sight.
    if high >= 3 * low:
        ticks = log_ticks(low, high)
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{tick:,g}" for tick in ticks])
    else:
        figure.update_xaxes(rangemode="normal", nticks=8)
    figure.update_yaxes(range=[0, 101])
    return Plot(name, title, "Share of flows with a slowdown of at most x, of those that completed their size.", figure)


def _unfinished(runs: Sequence[Labelled]) -> str:
    """A note on the flows that are not in the figure."""
    text = ""
    ended = [(each.label, endings(each.run)) for each in runs]
    for why, counts in (
        ("did not complete", [(label, each.incomplete) for label, each in ended]),
        ("were stopped before they had sent their size", [(label, each.stopped) for label, each in ended]),
    ):
        parts = [f"{count:,} of {label}" for label, count in counts if count]
        text += f" Not in it, for they {why}: {listed(parts)}." if parts else ""
    return text
