"""Statistics against numbers worked out by hand, and properties over random input."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_up import made_up_run
from xoff.analysis import tables as analysis
from xoff.analysis.columns import as_numpy, rows_of
from xoff.analysis.student import half_width
from xoff.runs.summary import Summary

values = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=400)


def test_statistics_interpolate_between_ranks() -> None:
    # 1..101: rank p of 100 steps is the value 1 + p exactly.
    statistics = analysis.slowdown_statistics(np.arange(1.0, 102.0))
    assert statistics == {"mean": 51.0, "p50": 51.0, "p95": 96.0, "p99": 100.0}
    # Between 1 and 3 the 95th percentile lies 95 % of the way.
    assert analysis.slowdown_statistics(np.array([1.0, 3.0]))["p95"] == pytest.approx(2.9)


def test_a_column_is_an_array_of_its_values() -> None:
    # In two chunks, as tables of several files are.
    whole = as_numpy(pa.chunked_array([[1, 2**60], [3]], pa.int64()))
    assert (whole.dtype.name, whole.tolist()) == ("int64", [1, 2**60, 3])
    # A double has 53 bits for the digits, so that 2^52 + 1 is exact.
    lacking = as_numpy(pa.chunked_array([[2**52 + 1, None]], pa.int64()))
    assert (lacking.dtype.name, lacking[0], np.isnan(lacking[1])) == ("float64", 2**52 + 1, True)
    # With a number for null they stay whole: 2^60 + 1 is none of the doubles.
    filled = as_numpy(pa.chunked_array([[2**60 + 1, None]], pa.int64()), 7)
    assert (filled.dtype.name, filled.tolist()) == ("int64", [2**60 + 1, 7])
    assert as_numpy(pa.array([True, False])).dtype == np.bool_
    assert as_numpy(pa.array(["a", "b"])).tolist() == ["a", "b"]
    assert as_numpy(pa.chunked_array([], pa.int64())).tolist() == []


@pytest.mark.parametrize("names", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_rows_of_a_name_are_those_that_have_it_and_not_those_without_a_name(names: pa.DataType) -> None:
    column = pa.chunked_array([["a", "b", None], ["a"]], pa.string()).cast(names)
    table = pa.table({"label": column, "number": [1, 2, 3, 4]})
    assert rows_of(table, "label", "a")["number"].to_pylist() == [1, 4]
    assert rows_of(table, "label", "c").num_rows == 0
    assert rows_of(table.slice(0, 0), "label", "a").num_rows == 0


def test_an_interval_is_as_wide_as_in_students_table() -> None:
    # The column for 97.5 % of any table of t: 12.706 with one degree of freedom, 2.776 with four, 2.262 with nine.
    assert [round(half_width(count), 3) for count in (2, 5, 10)] == [12.706, 2.776, 2.262]


def test_the_speed_of_a_run_is_packet_hops_over_wall_time() -> None:
    # 5 million packet-hops in 2 s.
    assert Summary.of(made_up_run().manifest).hops_per_s == 2.5e6


def test_a_flow_that_stopped_when_told_to_has_completed() -> None:
    # Of 2,000 B and of no size, both stopped after 5 and 6 ps: done, without a slowdown. The third completed its size,
    # the fourth of 4,000 B and the fifth, without a size, were under way at the end.
    run = made_up_run([2000, None, 3000, 4000, None], [None, None, 2.0, None, None], fcts=[5, 6, 7, None, None])
    assert analysis.endings(run) == analysis.Endings(completed=3, stopped=1, incomplete=1)


def test_rates_over_time_are_means_over_whole_intervals() -> None:
    # Samples every 100 ps, and a run that ends at 250 ps. Flow 0 lives from 90 to 230 ps: rows of 10, 100 and 30 ps.
    # Its first, at 40 Gbps, is 4 Gbps over the whole interval; its last, at 10 Gbps, is 6 Gbps over the 50 ps that are
    # left. Flow 1 lives from 120 to 130 ps at 30 Gbps: 3 Gbps.
    rates = [(100, 10, 0, 40e9), (130, 10, 1, 30e9), (200, 100, 0, 8e9), (230, 30, 0, 10e9)]
    run = made_up_run(rates=rates, sample_interval_ps=100, sim_time_ps=250)
    one_each, _ = analysis.flow_rates(run)
    assert [series.time_ps.tolist() for series in one_each] == [[100, 200, 250], [200]]
    assert [series.value.tolist() for series in one_each] == [pytest.approx([4e9, 8e9, 6e9]), pytest.approx([3e9])]
    (total,), _ = analysis.flow_rates(run, max_flows=1)
    assert total.time_ps.tolist() == [100, 200, 250]
    assert total.value.tolist() == pytest.approx([4e9, 11e9, 6e9])
    # What the scheme allowed is no mean.
    allowed, _ = analysis.flow_rates(run, "rate_bps")
    assert allowed[0].value.tolist() == [40e9, 8e9, 10e9]


def test_few_sizes_have_a_bin_each() -> None:
    run = made_up_run([1000, 5000, 1000, 5000], [1.0, 2.0, 3.0, 6.0])
    bins = analysis.slowdown_by_size(run, analysis.size_edges([run]))
    assert bins.median_bytes.tolist() == [1000, 5000]
    assert bins.count.tolist() == [2, 2]
    assert bins.statistics["mean"].tolist() == [2.0, 4.0]


def test_size_bins_hold_equally_many_flows() -> None:
    # 100 different sizes in ten bins: ten flows in each, 1..10 KB first.
    sizes = [1000 * number for number in range(1, 101)]
    run = made_up_run(sizes, [1.0] * 100)
    bins = analysis.slowdown_by_size(run, analysis.size_edges([run], 10))
    assert bins.count.tolist() == [10] * 10
    assert (bins.low_bytes[0], bins.high_bytes[0]) == (1000, 10000)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=200), st.integers(1, 20))
def test_every_flow_is_in_one_size_bin(sizes: list[int], count: int) -> None:
    run = made_up_run(sizes, [1.0] * len(sizes))
    bins = analysis.slowdown_by_size(run, analysis.size_edges([run], count))
    assert bins.count.sum() == len(sizes)
    assert (bins.low_bytes[1:] > bins.high_bytes[:-1]).all()


@given(values, st.integers(10, 50))
def test_thinning_keeps_extremes_ends_and_order(samples: list[float], points: int) -> None:
    value = np.array(samples)
    time = np.arange(len(value), dtype=np.float64)
    kept_time, kept = analysis.thin(time, value, points)
    assert (kept.min(), kept.max()) == (value.min(), value.max())
    assert (kept_time[0], kept_time[-1]) == (time[0], time[-1])
    assert (np.diff(kept_time) > 0).all()
    assert len(kept) <= points + 2
    assert (value[kept_time.astype(int)] == kept).all()


@given(values, st.integers(4, 50))
def test_a_distribution_rises_to_one(samples: list[float], points: int) -> None:
    x, share = analysis.cdf(np.array(samples), points)
    assert len(x) <= max(points, 1)
    assert (np.diff(x) >= 0).all()
    assert (np.diff(share) > 0).all()
    assert share[-1] == 1.0
    # The share at x counts the values up to x, ties below it included.
    assert all(np.sum(np.array(samples) <= at) >= part * len(samples) - 1e-6 for at, part in zip(x, share, strict=True))


def test_stopped_ports_overlap() -> None:
    # a stands still in 10..30, b in 20..40: one, two, one, none.
    run = made_up_run(pauses=[("a", 10, 20), ("b", 20, 20)])
    stopped = analysis.stopped_ports(run)
    assert stopped is not None
    assert stopped.time_ps.tolist() == [10, 20, 30, 40]
    assert stopped.value.tolist() == [1, 2, 1, 0]
    assert analysis.stopped_ports(made_up_run()) is None


def test_paused_time_adds_up_by_port() -> None:
    run = made_up_run(pauses=[("a", 0, 5), ("b", 0, 7), ("a", 10, 5)])
    assert analysis.paused_by_port(run).rows() == [("a", 10, 2), ("b", 7, 1)]


def test_the_busiest_ports_come_first_and_idle_ones_not_at_all() -> None:
    run = made_up_run(queues=[(0, "a", 5), (1, "a", 0), (0, "b", 9), (1, "b", 1), (0, "c", 0), (1, "c", 0)])
    found = analysis.busiest(run, "queues", "bytes", 5)
    assert [series.name for series in found] == ["b", "a"]
    assert found[0].value.tolist() == [9, 1]


def test_many_flows_are_shown_as_their_sum() -> None:
    rates = [(time, 100, flow, 1e9) for time in (100, 200) for flow in range(3)]
    run = made_up_run([1000] * 3, [1.0] * 3, rates=rates)
    one_each, count = analysis.flow_rates(run, max_flows=3)
    assert ([series.name for series in one_each], count) == (
        ["0: host0->host0", "1: host1->host1", "2: host2->host2"],
        3,
    )
    (total,), _ = analysis.flow_rates(run, max_flows=2)
    assert total.value.tolist() == [3e9, 3e9]
