"""`xoff collective`: its sizes, its runs, and nccl-tests' columns, worked out by hand."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from xoff import _xoff
from xoff.errors import ScenarioError, UserError
from xoff.runs.executor import Local
from xoff.runs.scenario import Scenario
from xoff.studies.collective import KINDS, Request, Results, measure_all, plan
from xoff.studies.collective.measure import factor, least_bytes
from xoff.studies.collective.plan import sizes_of

# 100 Gbps, 1 us a link. A full packet has 952 B of payload and takes 80 ns; a message has one ACK of 50 B, 4 ns a link.
STAR = """
title = "A star"
topology = { name = "star", hosts = 4, rate = "100Gbps", delay = "1us" }
scheme = { name = "none" }
host = { ack_every = 1000000 }
packets = { mtu = "1000B", header = "48B", ack = "50B", gap = "0B" }
"""

FLOW = '[[traffic]]\npattern = "flow"\nsrc = "host0"\ndst = "host1"\nsize = "1KB"\n'


def scenario(text: str = STAR) -> Scenario:
    return Scenario(text, "star.toml", ".")


def measured(request: Request, folder: Path, text: str = STAR) -> Results:
    def warn(what: str) -> None:
        raise AssertionError(what)

    planned = plan(scenario(text), request)
    return measure_all(planned, folder, Local(1), "float", origin="star.toml", warn=warn, quiet=True)


def test_sizes_go_by_a_factor_or_a_step() -> None:
    assert list(sizes_of(Request(smallest="1KiB", largest="9KiB"))) == [1024, 2048, 4096, 8192]
    assert list(sizes_of(Request(smallest="1KB", largest="3KB", step="1KB"))) == [1000, 2000, 3000]
    assert list(sizes_of(Request(smallest="1KB", largest="2KB", factor=1.5))) == [1000, 1500]
    assert list(sizes_of(Request(smallest="1KB", largest="1KB"))) == [1000]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"smallest": "1"}, "--min 1: not a size"),
        ({"smallest": "0B"}, "--min 0B: expected a size from 1B to 1TB"),
        ({"smallest": "2MB", "largest": "1MB"}, "--min 2MB: is above --max 1MB"),
        ({"factor": 1.0}, "--factor 1: expected a number above 1"),
        ({"factor": float("nan")}, "--factor nan: expected a number above 1"),
        ({"smallest": "1B", "factor": 1.5}, "more than 10,000 sizes; expected a larger factor"),
        ({"step": "1B"}, "more than 10,000 sizes; expected a longer step"),
        ({"step": "1B", "factor": 2.0}, "--factor and --step: expected one of them"),
        ({"kind": "all_redcue"}, "did you mean `all_reduce`?"),
        ({"algorithms": ("rign",)}, "did you mean `ring`?"),
        ({"algorithms": ("pairwise",)}, "not one for all_reduce"),
        ({"vary": ("scheme.name",)}, "--vary scheme.name: expected KEY=A,B"),
        ({"vary": ("scheme.name=,",)}, "expected KEY=A,B"),
        ({"vary": tuple(f"x{i}=1,2,3,4,5,6,7,8,9" for i in range(5))}, "expected at most 10,000"),
    ],
)
def test_a_wrong_option_is_named(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError) as caught:
        plan(scenario(), Request(**wrong))
    assert says in str(caught.value)


def test_a_sweep_is_refused_and_wrong_toml_has_its_place() -> None:
    with pytest.raises(UserError, match=r"has a table \[sweep\]"):
        plan(scenario(STAR + '[sweep]\n"scheme.name" = ["none", "hpcc"]\n'), Request())
    with pytest.raises(ScenarioError, match=r"star\.toml:1"):
        plan(scenario("topology = {"), Request())


def test_the_algorithms_are_those_of_the_pattern() -> None:
    names = json.loads(_xoff.schema())["$defs"]["CollectiveAlgorithm"]["oneOf"]
    every = [name["const"] for name in names]
    assert len(every) == 10
    for kind, known in KINDS.items():
        for algorithm in every:
            more = ", imbalance = 1.5" if kind == "all_to_all_v" else ""
            keys = f'kind = "{kind}", algorithm = "{algorithm}", size = "1KB"{more}'
            text = f'{STAR}traffic = [{{ pattern = "collective", {keys} }}]'
            if algorithm in known:
                scenario(text).check()
            else:
                with pytest.raises(ScenarioError, match="algorithm"):
                    scenario(text).check()


def test_factors_are_those_of_nccl_tests() -> None:
    # 8 ranks: 2 x 7 / 8 = 1.75; 7 / 8 = 0.875; 1.
    assert factor("all_reduce", 8) == 1.75
    assert [factor(kind, 8) for kind in ("all_gather", "reduce_scatter", "all_to_all", "gather")] == [0.875] * 4
    assert factor("broadcast", 8) == factor("reduce", 8) == 1.0


def test_the_ideal_is_what_the_busiest_host_must_send_or_receive() -> None:
    # One rank on each of 4 hosts, 800 B: busbw of the ideal is the line rate.
    for kind in set(KINDS) - {"all_to_all_v"}:
        assert least_bytes(kind, 800, 4, 1, 0) == 800 * factor(kind, 4)
    # 2 ranks on each of 4 hosts: an all-reduce is one among 4 hosts, 2 x 3 / 4 x 800 = 1200; in an all-to-all each
    # rank sends 6 of its 8 parts of 100 B to other hosts, 2 x 600.
    assert least_bytes("all_reduce", 800, 8, 2, 0) == 1200
    assert least_bytes("all_to_all", 800, 8, 2, 0) == 1200
    assert least_bytes("all_to_all_v", 800, 8, 2, 777) == 777


def test_a_ring_among_four(tmp_path: Path) -> None:
    # Blocks of 100 packets, 95,200 B: a step takes 101 packets' time and 2 us, 10.08 us; the last ACK 2 us and 8 ns.
    # All-gather: 3 steps, 32.248 us; all-reduce: 6 steps, 62.488 us. ACKs between the data add 4 ns each, one a step.
    size = 4 * 100 * 952
    for kind, steps, bus in (("all_gather", 3, 0.75), ("all_reduce", 6, 1.5)):
        request = Request(kind=kind, smallest=f"{size}B", largest=f"{size}B")
        ((settings, row),) = measured(request, tmp_path / kind, STAR + FLOW).rows
        assert settings == {"size": size, "algorithm": "ring"}
        time_us = steps * 10.08 + 2.008
        assert row.time_us == pytest.approx(time_us, rel=1e-3)
        assert row.algbw == pytest.approx(size / row.time_us / 1e3)
        assert row.busbw == pytest.approx(row.algbw * bus)
        # 100 Gbps are 12.5 GB/s.
        assert row.ideal_busbw == pytest.approx(12.5)
        assert row.of_ideal == pytest.approx(row.busbw / 12.5)
        # nccl-tests counts the elements of a rank: an n-th in an all-gather.
        assert row.count == size // 4 // (4 if kind == "all_gather" else 1)
        assert (row.type, row.redop, row.root) == ("float", "sum" if kind == "all_reduce" else "none", -1)


def test_repetitions_are_a_mean_and_runs_are_kept(tmp_path: Path) -> None:
    request = Request(kind="broadcast", smallest="95200B", largest="95200B", keys=(("repetitions", "3"), ("root", "2")))
    results = measured(request, tmp_path)
    ((_, row),) = results.rows
    # A chain of 3 hops of 100 packets. Each rank goes on when its message is acknowledged: the root is the first, so
    # the next broadcast begins before the one before is over.
    assert 10.08 < row.time_us < 3 * 10.08 + 2.1
    assert (row.root, row.redop) == (2, "none")
    before = sorted(path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/manifest.json"))
    assert measured(request, tmp_path).rows == results.rows
    assert sorted(path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/manifest.json")) == before


def test_a_scenario_with_a_collective_keeps_its_traffic(tmp_path: Path) -> None:
    own = '[[traffic]]\npattern = "collective"\nkind = "all_to_all"\nalgorithm = "pairwise"\nsize = "4KB"\n'
    planned = plan(scenario(STAR + FLOW + own), Request(smallest="1KB", largest="1KB"))
    assert (planned.kind, planned.place, planned.replaced) == ("all_to_all", 1, 0)
    ((settings, row),) = measured(Request(smallest="8KB", largest="8KB"), tmp_path, STAR + FLOW + own).rows
    assert (settings["algorithm"], row.size, row.ranks) == ("pairwise", 8000, 4)


def test_a_run_that_ends_too_early_is_named(tmp_path: Path) -> None:
    results = measured(Request(smallest="1MB", largest="1MB"), tmp_path, STAR + 'run = { duration = "5us" }\n')
    ((label, why),) = results.failed.items()
    assert "size = 1000000" in label
    assert "expected a longer `run.duration`" in why


def test_the_command_prints_a_table_json_and_csv(command: Command) -> None:
    star = [str(ROOT / "scenarios" / "collective.toml"), "--min", "64KiB", "--max", "64KiB", "-q"]
    varied = [*star, "--vary", "scheme.name=none,dcqcn", "-o", "kept"]
    table = command("collective", *varied)
    assert table.returncode == 0, table.stderr
    for word in ("all_reduce among 16 ranks", "busbw", "ideal busbw", "scheme.name", "ring", "dcqcn", "65536", "16384"):
        assert word in table.stdout
    rows = json.loads(command("collective", *varied, "--json").stdout)
    assert [(row["algorithm"], row["scheme.name"]) for row in rows] == [("ring", "none"), ("ring", "dcqcn")]
    read = list(csv.DictReader(io.StringIO(command("collective", *varied, "--csv").stdout)))
    assert [row["busbw"] for row in read] == [str(row["busbw"]) for row in rows]
    both = command("collective", *star, "--json", "--csv")
    assert both.returncode == 2
    assert "--json and --csv" in both.stderr
    unknown = command("collective", *star, "--type", "flot")
    assert unknown.returncode == 2
    assert "did you mean `float`?" in unknown.stderr
