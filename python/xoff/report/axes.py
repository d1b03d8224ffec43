"""Figures for papers with matplotlib: axes in, axes out.

Each function draws one or several runs into the axes given to it, names the axes with their units, and returns
the axes; ranges, legends and sizes stay the caller's. Where a name stands for several runs, such as those of several
seeds, a line is their mean and the band around it the 95 % interval of the mean (Student's t). `label` keeps to flows
of one label of the scenario's traffic.

>>> import matplotlib.pyplot as plt, xoff  # doctest: +SKIP
>>> figure, ax = plt.subplots()  # doctest: +SKIP
>>> xoff.plot.fct_slowdown(ax, {"FNCC": xoff.load("out/fncc"), "HPCC": xoff.load("out/hpcc")})  # doctest: +SKIP
>>> figure.savefig("slowdown.svg")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from xoff.analysis import bands
from xoff.analysis import tables as analysis
from xoff.errors import UserError, nearest
from xoff.report.palette import COLOURS
from xoff.runs.results import Run, labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from xoff.analysis.bands import Band
    from xoff.analysis.tables import Series
    from xoff.fluid import Trajectory

Runs = Run | Sequence[Run] | Mapping[str, Run] | Mapping[str, Sequence[Run]]
"""One run, several, or several with the names for the legend, each of which may stand for runs of several seeds."""

LINES = ("-", ":", "--", "-.")


def fct_slowdown(ax: Axes, runs: Runs, statistic: str = "p99", bins: int = 10, label: str | None = None) -> Axes:
    """FCT slowdown (`mean`, `p50`, `p95` or `p99`) over flow size in KB.

    Completed flows of all runs together are cut into up to `bins` groups of about equal number by size; a point
    stands at the median size of its group. With several seeds, the point is the mean of what each seed has.
    """
    if statistic not in analysis.STATISTICS:
        hint = nearest(statistic, analysis.STATISTICS)
        raise UserError(f"statistic {statistic}: expected one of {', '.join(analysis.STATISTICS)}{hint}")
    named = _grouped(runs)
    pooled = [run for several in named.values() for run in several]
    _check_label(pooled, label)
    edges = analysis.size_edges(pooled, bins, label)
    for index, (name, several) in enumerate(named.items()):
        curves = [analysis.slowdown_by_size(run, edges, label) for run in several]
        band = bands.by_place(
            [curve.place for curve in curves],
            [curve.median_bytes / 1e3 for curve in curves],
            [curve.statistics[statistic] for curve in curves],
        )
        _draw(ax, band, index, name, marker="o", markersize=3)
    ax.set_xscale("log")
    ax.set_xlabel("flow size (KB)")
    ax.set_ylabel(f"FCT slowdown ({statistic}){_of_label(label)}")
    return ax


def slowdown_cdf(ax: Axes, runs: Runs, label: str | None = None) -> Axes:
    """The share of completed flows whose slowdown is at most x.

    With several seeds, the share is the mean of their shares.
    """
    named = _grouped(runs)
    _check_label([run for several in named.values() for run in several], label)
    for index, (name, several) in enumerate(named.items()):
        curves = [analysis.cdf(analysis.slowdowns(run, label)) for run in several]
        band = bands.of_steps(curves)
        _draw(ax, band, index, name, step=True, within=(0.0, 1.0))
    ax.set_xscale("log")
    ax.set_xlabel("FCT slowdown")
    ax.set_ylabel(f"share of flows{_of_label(label)}")
    return ax


def queue(ax: Axes, runs: Runs, ports: Sequence[str] | None = None, top: int = 1) -> Axes:
    """Queue length in KB over time in us, of these ports or of the `top` ports of each run."""
    return _sampled(ax, runs, _of_ports("queues", "bytes", ports, top), 1e3, "queue (KB)")


def utilization(ax: Axes, runs: Runs, ports: Sequence[str] | None = None, top: int = 1) -> Axes:
    """Utilization in percent over time in us, of these ports or of the `top` ports of each run."""
    return _sampled(ax, runs, _of_ports("utilization", "utilization", ports, top), 0.01, "utilization (%)")


def rates(ax: Axes, runs: Runs, column: str = "sent_bps", max_flows: int = 20, label: str | None = None) -> Axes:
    """Each recorded flow's rate in Gbps over time in us; their sum where there are more than `max_flows`.

    `column` is `sent_bps`, `goodput_bps` or `rate_bps` (what the scheme allows).
    """
    columns = ("sent_bps", "goodput_bps", "rate_bps")
    if column not in columns:
        raise UserError(f"column {column}: expected one of {', '.join(columns)}{nearest(column, columns)}")
    _check_label([run for several in _grouped(runs).values() for run in several], label)
    axis = f"rate (Gbps){_of_label(label)}"
    return _sampled(ax, runs, lambda run: analysis.flow_rates(run, column, max_flows, label)[0], 1e9, axis)


def pauses(ax: Axes, runs: Runs) -> Axes:
    """How many ports stand still by PAUSE over time in us, each priority counted apart."""
    for index, (name, several) in enumerate(_grouped(runs).items()):
        found = [analysis.stopped_ports(run) for run in several]
        curves = [(each.time_ps / 1e6, each.value) if each else (np.zeros(0), np.zeros(0)) for each in found]
        _draw(ax, bands.of_steps(curves), index, name, step=True)
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
    named = _grouped(runs)
    for index, (name, several) in enumerate(named.items()):
        found = [series_of(run) for run in several]
        places = {series.name: place for place, series in enumerate(found[0])} if found else {}
        if all({series.name for series in each} == set(places) for each in found):
            # The same ports or flows, of which another seed may have another one first.
            found = [sorted(each, key=lambda series: places[series.name]) for each in found]
        for rank in range(max((len(each) for each in found), default=0)):
            of_seeds = [each[rank] for each in found if rank < len(each)]
            own = of_seeds[0].name if len({series.name for series in of_seeds}) == 1 else f"series {rank + 1}"
            alone = max(len(each) for each in found) == 1
            label = name if alone else own if len(named) == 1 else f"{name}, {own}"
            band = bands.of_samples([(each.time_ps / 1e6, each.value / unit) for each in of_seeds])
            colour = index if len(named) > 1 else rank
            line = LINES[(0 if len(named) == 1 else rank) % len(LINES)]
            _draw(ax, band, colour, label, linestyle=line, linewidth=1.2)
    ax.set_xlabel("time (us)")
    ax.set_ylabel(axis)
    return ax


def _draw(
    ax: Axes,
    band: Band,
    colour: int,
    label: str,
    *,
    step: bool = False,
    within: tuple[float, float] = (-np.inf, np.inf),
    **style: Any,
) -> None:
    """A mean, and the interval around it where there are several runs, as far as values can be."""
    (line,) = ax.plot(band.x, band.mean, color=_colour(colour), label=label, **style)
    if step:
        line.set_drawstyle("steps-post")
    if band.half is not None:
        low, high = (np.clip(band.mean + side * band.half, *within) for side in (-1, 1))
        where: Literal["post"] | None = "post" if step else None
        ax.fill_between(band.x, low, high, step=where, color=_colour(colour), alpha=0.2, linewidth=0)


def _check_label(runs: Sequence[Run], label: str | None) -> None:
    """Refuse a label that no flow has."""
    if label is None:
        return
    known = sorted({name for run in runs for name in analysis.labels_of(run)})
    if label not in known:
        raise UserError(f"label {label}: no flow has it; labels are {', '.join(known)}{nearest(label, known)}")


def _of_label(label: str | None) -> str:
    return "" if label is None else f", {label}"


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


def _grouped(runs: Runs) -> dict[str, list[Run]]:
    """Runs by the name of their line."""
    if isinstance(runs, Run):
        runs = [runs]
    if isinstance(runs, Mapping):
        return {name: [each] if isinstance(each, Run) else list(each) for name, each in runs.items()}
    return {name: [run] for name, run in zip(labels(runs), runs, strict=True)}


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]
