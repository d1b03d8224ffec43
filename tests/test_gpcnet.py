"""GPCNeT's table: as the benchmark computes it, from made-up numbers and from runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import xoff
from conftest import ROOT
from xoff.analysis import gpcnet
from xoff.errors import UserError
from xoff.runs.results import Run

SCENARIO = ROOT / "scenarios" / "gpcnet.toml"

US = 1_000_000


def made_up(**times: list[tuple[int, int, int, float]]) -> Run:
    """A run whose tests took these times: each ring, process, iteration and time in us."""
    rows: list[dict[str, Any]] = []
    sizes = {"latency": 16, "bandwidth": 2 * 8 * 131_072, "allreduce": 24}
    for kernel, of in times.items():
        for ring, process, iteration, time in of:
            rows.append(
                {
                    "label": "gpcnet",
                    "kernel": kernel,
                    "process": process,
                    "ring": ring,
                    "iteration": iteration,
                    "bytes": sizes[kernel],
                    "start_ps": 7 * US,
                    "end_ps": 7 * US + round(time * US),
                }
            )
    flows = [
        {"label": "gpcnet", "kernel": kernel, "size_bytes": {"bandwidth": 131_072}.get(kernel, 8)} for kernel in times
    ]
    pattern = {
        "pattern": "gpcnet",
        "label": None,
        "tests": list(times),
        "rings": 1 + max(row["ring"] for row in rows),
        **{f"{k}_iterations": 1 + max(i for _, _, i, _ in of) for k, of in times.items()},
    }
    tables = {"operations": pa.Table.from_pylist(rows), "flows": pa.Table.from_pylist(flows)}
    return Run({"fingerprint": "0", "scenario": {"traffic": [pattern]}}, tables)


def test_averages_are_of_rings_and_processes() -> None:
    # Ring 0: process 4 took 4 and 6 us (5 on average), process 5 took 10 and 10. Ring 1: 2 and 2, 20 and 24 us.
    latency = [(0, 4, 0, 4.0), (0, 4, 1, 6.0), (0, 5, 0, 10.0), (0, 5, 1, 10.0)]
    latency += [(1, 4, 0, 2.0), (1, 4, 1, 2.0), (1, 5, 0, 20.0), (1, 5, 1, 24.0)]
    (row,) = gpcnet.results(made_up(latency=latency))
    # Half of it is a latency: 2.5 and 5 on ring 0, 1 and 11 on ring 1.
    assert (row.minimum, row.maximum) == pytest.approx((1.0, 11.0))
    assert row.average == pytest.approx(((2.5 + 5) / 2 + (1 + 11) / 2) / 2)
    assert row.worst == pytest.approx((5 + 11) / 2)
    # 8 iterations: the first int(0.99 x 8) = 7 in order are 1, 1, 2, 3, 5, 5, 10; a bucket is 11 / 99999 wide.
    assert row.p99 == pytest.approx(10.0, abs=2 * 11 / 99_999)
    assert (row.name, row.unit) == ("RR Two-sided Lat (8 B)", "usec")
    # Without the first iteration: 3, 5; 1, 12.
    (later,) = gpcnet.results(made_up(latency=latency), skip=1)
    assert later.average == pytest.approx((3 + 5 + 1 + 12) / 4)


def test_bandwidth_is_over_all_iterations_and_its_worst_is_the_least() -> None:
    # 2 MiB in 1000 us are 2000 MiB/s, in 3000 us 666.7; both together 4 MiB in 4000 us: 1000.
    run = made_up(bandwidth=[(0, 0, 0, 1000.0), (0, 0, 1, 3000.0), (0, 1, 0, 500.0), (0, 1, 1, 500.0)])
    (row,) = gpcnet.results(run)
    assert (row.minimum, row.maximum, row.average, row.worst) == pytest.approx((1000, 4000, 2500, 1000))
    # From above: 4000, 4000, 2000 are the first int(0.99 x 4) = 3.
    assert row.p99 == pytest.approx(2000, abs=2 * 4000 / 99_999)
    assert (row.name, row.unit) == ("RR Two-sided BW+Sync (131072 B)", "MiB/s/rank")


def test_percentiles_are_the_far_edges_of_buckets() -> None:
    # 0 to 99,999: buckets of width 1. 99,000 values are 0 to 98,999; the bucket of the last ends at 99,000.
    values = np.arange(100_000, dtype=np.float64)
    assert gpcnet.percentile(values, 0.99, low=False) == 99_000
    # From above the 99,000th value is 1,000, the lower edge of its bucket.
    assert gpcnet.percentile(values, 0.99, low=True) == 1_000
    assert gpcnet.percentile(values, 0.999, low=False) == 99_900
    assert gpcnet.percentile(np.full(5, 3.5), 0.99, low=True) == 3.5


def test_impact_factors_say_how_many_times_worse() -> None:
    def run(factor: float) -> Run:
        return made_up(
            latency=[(0, 0, 0, 4.0 * factor)],
            bandwidth=[(0, 0, 0, 1000.0 * factor)],
            allreduce=[(0, 0, 0, 6.0 * factor)],
        )

    for impact in gpcnet.impacts(run(1.0), run(3.0)):
        assert (impact.average, impact.p99) == pytest.approx((3.0, 3.0)), impact.test
    # F_C: three times the bandwidth at a third of the latency is nine times better.
    assert gpcnet.control_factor(run(3.0), run(1.0)) == pytest.approx(9.0)
    of = gpcnet.processes(run(3.0), "latency")
    assert (of.process.tolist(), of.value.tolist(), of.unit) == ([0], [pytest.approx(6.0)], "usec")


def test_the_table_reads_as_the_benchmark_s() -> None:
    alone = made_up(latency=[(0, 0, 0, 4.0)], allreduce=[(0, 0, 0, 6.0)])
    beside = made_up(latency=[(0, 0, 0, 12.0)], allreduce=[(0, 0, 0, 30.0)])
    assert gpcnet.text(alone, beside) == (
        "Isolated Network Tests\n"
        "+--------------------------+-----+-----+-------+\n"
        "|                     Name | Avg | 99% | Units |\n"
        "+--------------------------+-----+-----+-------+\n"
        "|   RR Two-sided Lat (8 B) | 2.0 | 2.0 |  usec |\n"
        "| Multiple Allreduce (8 B) | 6.0 | 6.0 |  usec |\n"
        "+--------------------------+-----+-----+-------+\n"
        "\n"
        "Network Tests running with Congestion Tests\n"
        "+--------------------------+------+------+-------+\n"
        "|                     Name |  Avg |  99% | Units |\n"
        "+--------------------------+------+------+-------+\n"
        "|   RR Two-sided Lat (8 B) |  6.0 |  6.0 |  usec |\n"
        "| Multiple Allreduce (8 B) | 30.0 | 30.0 |  usec |\n"
        "+--------------------------+------+------+-------+\n"
        "\n"
        "Network Tests running with Congestion Tests - Key Results (Congestion Impact Factor)\n"
        "+--------------------------+------+------+\n"
        "|                     Name |  Avg |  99% |\n"
        "+--------------------------+------+------+\n"
        "|   RR Two-sided Lat (8 B) | 3.0X | 3.0X |\n"
        "| Multiple Allreduce (8 B) | 5.0X | 5.0X |\n"
        "+--------------------------+------+------+\n"
    )
    verbose = gpcnet.text(alone, verbose=True).splitlines()
    assert [cell.strip() for cell in verbose[2].split("|")[1:-1]] == [
        "Name", "Min", "Max", "Avg", "Avg(Worst)", "99%", "99.9%", "Units",
    ]  # fmt: skip


def test_congestors_make_the_tests_worse(tmp_path: Path) -> None:
    alone = xoff.run(SCENARIO, sets={"traffic.0.congestors": False})
    beside = xoff.run(SCENARIO)
    impacts = gpcnet.impacts(alone, beside)
    assert [impact.test for impact in impacts] == list(gpcnet.TESTS)
    assert all(impact.average > 1.5 and impact.p99 > 1.5 for impact in impacts)
    # 4 hosts with four processes each; 100 Gbps are 11,921 MiB/s, and a quarter of that for each process is the most.
    bandwidth = gpcnet.processes(alone, "bandwidth")
    assert len(bandwidth.process) == 16
    assert 1_500 < bandwidth.value.mean() < 11_921 / 4
    # A run that is stored and loaded gives the same table.
    assert gpcnet.text(alone, xoff.load(beside.write(tmp_path / "beside"))) == gpcnet.text(alone, beside)
    # And on a part of the tests.
    only = xoff.run(SCENARIO, sets={"traffic.0.tests": ["latency"], "traffic.0.congestors": False})
    assert [row.test for row in gpcnet.results(only)] == ["latency"]
    with pytest.raises(UserError, match="no GPCNeT test `bandwidth`"):
        gpcnet.processes(only, "bandwidth")


def test_congestion_control_acts_with_its_default_detector() -> None:
    # Under `none` PFC alone holds the congestors back. RED marks from 400 KB on and PFC stops a port that holds 500 KB,
    # so a queue that a single port fills is marked before PAUSE (Zhu et al., SIGCOMM 2015, section 4).
    runs = {name: xoff.run(SCENARIO, sets={"scheme.name": name}) for name in ("none", "dcqcn", "ib_cc")}
    latency = {name: gpcnet.results(run)[0].average for name, run in runs.items()}
    assert latency["none"] > 1.5 * latency["dcqcn"] > 1.5 * latency["ib_cc"]
    pauses = {name: run.manifest["summary"]["pause_frames"] for name, run in runs.items()}
    assert pauses["none"] > 5 * pauses["dcqcn"] > 0
    marked = {name: sum(run.flows["marked_ce"].to_pylist()) for name, run in runs.items()}
    assert marked["none"] == 0 < min(marked["dcqcn"], marked["ib_cc"])
    assert sum(runs["dcqcn"].flows["cnps"].to_pylist()) > 0


def test_mistakes_are_named() -> None:
    other = xoff.run(ROOT / "scenarios" / "dumbbell.toml")
    with pytest.raises(UserError, match="no tests of GPCNeT labelled `gpcnet`"):
        gpcnet.results(other)
    short = xoff.run(SCENARIO, sets={"traffic.0.congestors": False, "run.duration": "60us"})
    with pytest.raises(UserError, match="before the test `latency` was over"):
        gpcnet.results(short)
    run = made_up(latency=[(0, 0, 0, 4.0)])
    with pytest.raises(UserError, match="`skip` is 1"):
        gpcnet.results(run, skip=1)
    with pytest.raises(UserError, match="expected one of latency, bandwidth, allreduce"):
        gpcnet.processes(run, "speed")


def test_a_run_whose_congestors_end_early_says_so() -> None:
    with pytest.warns(RuntimeWarning, match="congestor processes of `gpcnet` had made all their iterations"):
        xoff.run(SCENARIO, sets={"traffic.0.congestor_iterations": 1})
