"""Figures for papers with matplotlib: axes in, axes out.

Each function draws one or several runs into the axes given to it, names the axes with their units, and returns
the axes; ranges, legends and sizes stay the caller's.

>>> import matplotlib.pyplot as plt, xoff  # doctest: +SKIP
>>> figure, ax = plt.subplots()  # doctest: +SKIP
>>> xoff.plot.fct_slowdown(ax, {"FNCC": xoff.load("out/fncc"), "HPCC": xoff.load("out/hpcc")})  # doctest: +SKIP
>>> figure.savefig("slowdown.svg")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xoff.analysis import tables as analysis
from xoff.errors import UserError, nearest
from xoff.report.palette import COLOURS
from xoff.runs.results import Run, labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from xoff.analysis.tables import Series
    from xoff.fluid import Trajectory

Runs = Run | Sequence[Run] | Mapping[str, Run]
"""One run, several, or several with the names for the legend."""

LINES = ("-", ":", "--", "-.")


def fct_slowdown(ax: Axes, runs: Runs, statistic: str = "p99", bins: int = 10) -> Axes:
    """FCT slowdown (`mean`, `p50`, `p95` or `p99`) over flow size in KB.

    Completed flows of all runs together are cut into up to `bins` groups of about equal number by size; a point
    stands at the median size of its group.
    """
    if statistic not in analysis.STATISTICS:
        hint = nearest(statistic, analysis.STATISTICS)
        raise UserError(f"statistic {statistic}: expected one of {', '.join(analysis.STATISTICS)}{hint}")
    named = _named(runs)
    edges = analysis.size_edges(list(named.values()), bins)
    for index, (name, run) in enumerate(named.items()):
        groups = analysis.slowdown_by_size(run, edges)
        ax.plot(
            groups.median_bytes / 1e3,
            groups.statistics[statistic],
            marker="o",
            markersize=3,
            color=_colour(index),
            label=name,
        )
    ax.set_xscale("log")
    ax.set_xlabel("flow size (KB)")
    ax.set_ylabel(f"FCT slowdown ({statistic})")
    return ax


def slowdown_cdf(ax: Axes, runs: Runs) -> Axes:
    """The share of completed flows whose slowdown is at most x."""
    for index, (name, run) in enumerate(_named(runs).items()):
        x, share = analysis.cdf(analysis.slowdowns(run))
        ax.step(x, share, where="post", color=_colour(index), label=name)
    ax.set_xscale("log")
    ax.set_xlabel("FCT slowdown")
    ax.set_ylabel("share of flows")
    return ax


def queue(ax: Axes, runs: Runs, ports: Sequence[str] | None = None, top: int = 1) -> Axes:
    """Queue length in KB over time in us, of these ports or of the `top` ports of each run."""
    return _sampled(ax, runs, _of_ports("queues", "bytes", ports, top), 1e3, "queue (KB)")


def utilization(ax: Axes, runs: Runs, ports: Sequence[str] | None = None, top: int = 1) -> Axes:
    """Utilization in percent over time in us, of these ports or of the `top` ports of each run."""
    return _sampled(ax, runs, _of_ports("utilization", "utilization", ports, top), 0.01, "utilization (%)")


def rates(ax: Axes, runs: Runs, column: str = "sent_bps", max_flows: int = 20) -> Axes:
    """Each recorded flow's rate in Gbps over time in us; their sum where there are more than `max_flows`.

    `column` is `sent_bps`, `goodput_bps` or `rate_bps` (what the scheme allows).
    """
    columns = ("sent_bps", "goodput_bps", "rate_bps")
    if column not in columns:
        raise UserError(f"column {column}: expected one of {', '.join(columns)}{nearest(column, columns)}")
    return _sampled(ax, runs, lambda run: analysis.flow_rates(run, column, max_flows)[0], 1e9, "rate (Gbps)")


def pauses(ax: Axes, runs: Runs) -> Axes:
    """How many ports stand still by PAUSE over time in us, each priority counted apart."""
    for index, (name, run) in enumerate(_named(runs).items()):
        stopped = analysis.stopped_ports(run)
        x, y = (stopped.time_ps / 1e6, stopped.value) if stopped else (np.zeros(0), np.zeros(0))
        ax.step(x, y, where="post", color=_colour(index), label=name)
    ax.set_xlabel("time (us)")
    ax.set_ylabel("stopped ports")
    return ax


def fluid_queue(ax: Axes, models: Trajectory | Mapping[str, Trajectory]) -> Axes:
    """Queue length in KB over time in us of a solved fluid model, or of several by name; dashed, to go over a run's."""
    return _solved(ax, models, lambda model: [model.queue_series()], 1e3, "queue (KB)")


def fluid_rates(ax: Axes, models: Trajectory | Mapping[str, Trajectory]) -> Axes:
    """A flow's rate in Gbps over time in us, one line for flows that move alike; dashed, to go over a run's."""
    return _solved(ax, models, lambda model: model.rate_series(), 1e9, "rate (Gbps)")


def _solved(
    ax: Axes,
    models: Trajectory | Mapping[str, Trajectory],
    series_of: Callable[[Trajectory], list[Series]],
    unit: float,
    axis: str,
) -> Axes:
    named = models if isinstance(models, Mapping) else {"": models}
    for index, (name, model) in enumerate(named.items()):
        found = series_of(model)
        for rank, series in enumerate(found):
            label = ", ".join(part for part in (name, series.name if len(found) > 1 or not name else "") if part)
            colour = _colour(rank if len(named) == 1 else index)
            ax.plot(series.time_ps / 1e6, series.value / unit, "--", color=colour, linewidth=1.2, label=label)
    ax.set_xlabel("time (us)")
    ax.set_ylabel(axis)
    return ax


def _sampled(ax: Axes, runs: Runs, series_of: Callable[[Run], list[Series]], unit: float, axis: str) -> Axes:
    named = _named(runs)
    for index, (name, run) in enumerate(named.items()):
        found = series_of(run)
        for rank, series in enumerate(found):
            label = name if len(found) == 1 else series.name if len(named) == 1 else f"{name}, {series.name}"
            colour = _colour(rank if len(named) == 1 else index)
            line = LINES[(0 if len(named) == 1 else rank) % len(LINES)]
            ax.plot(series.time_ps / 1e6, series.value / unit, line, color=colour, linewidth=1.2, label=label)
    ax.set_xlabel("time (us)")
    ax.set_ylabel(axis)
    return ax


def _of_ports(table: str, column: str, ports: Sequence[str] | None, top: int) -> Callable[[Run], list[Series]]:
    def of(run: Run) -> list[Series]:
        if ports is None:
            return analysis.busiest(run, table, column, top)
        found = {series.name: series for series in analysis.all_ports(run, table, column)}
        for port in ports:
            if port not in found:
                raise UserError(f"port {port}: no samples of it in `{table}`{nearest(port, found)}")
        return [found[port] for port in ports]

    return of


def _named(runs: Runs) -> dict[str, Run]:
    if isinstance(runs, Run):
        runs = [runs]
    if isinstance(runs, Mapping):
        return dict(runs)
    return dict(zip(labels(runs), runs, strict=True))


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]
