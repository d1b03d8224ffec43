"""The matplotlib figures: axes in, axes out, with units."""

from __future__ import annotations

import matplotlib as mpl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import xoff
from made_up import made_up_run
from xoff import plot

mpl.use("Agg")

RUN = made_up_run(
    pauses=[("a", 10**6, 10**6)],
    queues=[(0, "a", 5000), (10**6, "a", 7000), (0, "b", 1000), (10**6, "b", 0)],
    rates=[(0, 1, 0, 1e9), (10**6, 10**6, 0, 2e9)],
)


@pytest.fixture
def ax() -> Axes:
    return Figure().subplots()


def test_slowdown_by_size(ax: Axes) -> None:
    assert plot.fct_slowdown(ax, {"one": RUN, "two": RUN}, "mean") is ax
    assert [line.get_label() for line in ax.lines] == ["one", "two"]
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 1.0], [2.0, 3.0]]  # type: ignore[union-attr]
    assert ax.get_xlabel() == "flow size (KB)"
    with pytest.raises(xoff.UserError, match="did you mean `p99`"):
        plot.fct_slowdown(ax, RUN, "p999")


def test_distribution(ax: Axes) -> None:
    plot.slowdown_cdf(ax, RUN)
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 0.5], [3.0, 1.0]]  # type: ignore[union-attr]


def test_queue_of_the_longest_and_of_named_ports(ax: Axes) -> None:
    plot.queue(ax, RUN)
    assert ax.lines[0].get_xydata().tolist() == [[0.0, 5.0], [1.0, 7.0]]  # type: ignore[union-attr]
    plot.queue(ax, RUN, ports=["b"])
    assert ax.lines[1].get_xydata().tolist() == [[0.0, 1.0], [1.0, 0.0]]  # type: ignore[union-attr]
    with pytest.raises(xoff.UserError, match="port c"):
        plot.queue(ax, RUN, ports=["c"])


def test_rates_and_pauses(ax: Axes) -> None:
    plot.rates(ax, RUN)
    assert ax.lines[0].get_xydata().tolist() == [[0.0, 1.0], [1.0, 2.0]]  # type: ignore[union-attr]
    plot.pauses(ax, [RUN])
    assert ax.lines[1].get_xydata().tolist() == [[1.0, 1.0], [2.0, 0.0]]  # type: ignore[union-attr]
    with pytest.raises(xoff.UserError, match="goodput_bps"):
        plot.rates(ax, RUN, "goodput")


def test_nothing_recorded_draws_nothing(ax: Axes) -> None:
    plot.utilization(ax, RUN)
    assert len(ax.lines) == 0
    assert ax.get_ylabel() == "utilization (%)"
