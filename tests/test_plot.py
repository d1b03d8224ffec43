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


def test_seeds_are_a_mean_and_its_interval(ax: Axes) -> None:
    # Two seeds. Size 1000: slowdowns 1 and 3, mean 2, standard deviation sqrt(2), standard error 1, Student's t of one
    # degree of freedom at 95 % is 12.7062. Size 2000: 3 and 5, the same around 4.
    seeds = [made_up_run(), made_up_run(slowdowns=(3.0, 5.0))]
    plot.fct_slowdown(ax, {"two seeds": seeds}, "mean")
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 2.0], [2.0, 4.0]]  # type: ignore[union-attr]
    around = ax.collections[0].get_paths()[0].get_extents()
    assert (around.ymin, around.ymax) == pytest.approx((2 - 12.7062, 4 + 12.7062), abs=1e-3)


def test_one_run_has_no_band(ax: Axes) -> None:
    plot.fct_slowdown(ax, {"one": [RUN]}, "mean")
    plot.slowdown_cdf(ax, {"one": RUN})
    assert not ax.collections


def test_shares_and_samples_of_seeds(ax: Axes) -> None:
    # Slowdowns 1 and 3, and 2 and 3: at 1 the shares are 1/2 and 0, at 2 1/2 and 1/2, at 3 1 and 1.
    seeds = [made_up_run(), made_up_run(slowdowns=(2.0, 3.0))]
    plot.slowdown_cdf(ax, {"two": seeds})
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 0.25], [2.0, 0.5], [3.0, 1.0]]  # type: ignore[union-attr]
    # Queues of 0 to 4 KB in 2 us and of 2 to 6 KB: at 1 us the first is on its line at 2 KB, the other at 4.
    one = made_up_run(queues=[(0, "a", 0), (2 * 10**6, "a", 4000)])
    other = made_up_run(queues=[(0, "a", 2000), (10**6, "a", 4000), (2 * 10**6, "a", 6000)])
    plot.queue(ax, {"two": [one, other]})
    assert ax.lines[1].get_xydata().tolist() == [[0, 1], [1, 3], [2, 5]]  # type: ignore[union-attr]


def test_a_label_s_flows_alone(ax: Axes) -> None:
    run = made_up_run(label=["small", "large"])
    plot.slowdown_cdf(ax, run, label="large")
    assert ax.lines[0].get_xydata().tolist() == [[3.0, 1.0]]  # type: ignore[union-attr]
    plot.fct_slowdown(ax, run, "mean", label="small")
    assert ax.lines[1].get_xydata().tolist() == [[1.0, 1.0]]  # type: ignore[union-attr]
    assert ax.get_ylabel() == "FCT slowdown (mean), small"
    with pytest.raises(
        xoff.UserError, match="label larg: no flow has it; labels are large, small; did you mean `large`"
    ):
        plot.slowdown_cdf(ax, run, label="larg")


def test_samples_end_where_the_shortest_run_ends(ax: Axes) -> None:
    # The second run ends at 1 us: what would come after it is not known.
    long = made_up_run(queues=[(0, "a", 0), (10**6, "a", 1000), (2 * 10**6, "a", 9000)])
    short = made_up_run(queues=[(0, "a", 2000), (10**6, "a", 3000)])
    plot.queue(ax, {"two": [long, short]})
    assert ax.lines[0].get_xydata().tolist() == [[0, 1], [1, 2]]  # type: ignore[union-attr]
