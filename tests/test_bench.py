"""`xoff bench`: what it measures, and what a comparison refuses."""

from __future__ import annotations

import json
import shlex
import statistics
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from xoff.errors import RunError, UserError
from xoff.runs import bench, parallelism
from xoff.runs.scenario import Scenario
from xoff.scheme.load import SchemeFile


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> list[bench.Result]:
    file = tmp_path_factory.mktemp("bench") / "pair.toml"
    # Five packets of 1,000 B, of which a setting leaves one, over one switch, and its ACK: four packet-hops.
    file.write_text(
        'topology = { name = "star", hosts = 2 }\nscheme = { name = "none" }\npackets = { payload = "1000B" }\n'
        'traffic = [{ pattern = "flow", src = "host0", dst = "host1", size = "5000B" }]\n'
    )
    pair = bench.find([str(file)], [("traffic.0.size", "1000B")])
    return bench.measure([*pair, *bench.find(["startup"])], repeat=2)


def test_figures_follow_from_counts_and_clocks(measured: list[bench.Result]) -> None:
    pair, startup = measured
    assert (pair["repeat"], pair["hosts"], pair["flows"]) == (2, 2, 1)
    assert (pair["packet_hops"], pair["most_packets_in_flight"]) == (4, 1)
    assert pair["packet_hops_per_s"] == pytest.approx(4 / pair["process_s"])
    assert pair["run_packet_hops_per_s"] == pytest.approx(4 / pair["wall_s"])
    assert 0 < pair["setup_s"] < pair["process_s"]
    assert pair["wall_s"] < pair["process_s"]
    assert 0 < pair["memory_bytes"] < pair["peak_rss_bytes"] < 1e9
    assert pair["bytes_per_host"] == pair["memory_bytes"] / 2
    # `xoff run` has a process of its own, of which only the clock and the manifest are known.
    assert (startup["hosts"], startup["flows"], startup["memory_bytes"]) == (11, 10, None)
    # Ten flows of 100 KB in packets of at most 1,500 B, over three links there and their ACKs back.
    assert startup["packet_hops"] > 10 * (100_000 / 1_500) * 3
    # Its clock runs from the start of the process to its exit, and so over reading and running.
    assert startup["process_s"] > max(startup["wall_s"], startup["setup_s"]) > 0


def test_repeats_take_turns_and_their_median_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    times = {"incast_pause": iter([5.0, 1.0, 2.0]), "star_permutation": iter([7.0, 9.0, 8.0])}

    def run(benchmark: bench.Benchmark, threads: int | str) -> bench.Result:
        order.append(benchmark.name)
        seconds = next(times[benchmark.name])
        counts = dict.fromkeys(("packet_hops", "events", "hosts", "flows", "most_packets_in_flight"), 10)
        clocks = dict.fromkeys(("wall_s", "setup_s", "process_s"), seconds)
        return {**counts, **clocks, "threads": 1, "fingerprint": "a", "peak_rss_bytes": 1, "memory_bytes": 1}

    monkeypatch.setattr(bench, "_run", run)
    results = bench.measure(bench.find(["incast_pause", "star_permutation"]), repeat=3)
    assert order == ["incast_pause", "star_permutation"] * 3
    assert [result["process_s"] for result in results] == [statistics.median([5, 1, 2]), 8.0]
    assert [result["packet_hops_per_s"] for result in results] == [5.0, 1.25]


def _gives_small_pages() -> bool:
    """Whether the system gives memory in pages of some KB, as Linux does unless huge pages are forced on everybody."""
    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return sys.platform == "linux" and not (huge.exists() and "[always]" in huge.read_text())


@pytest.mark.skipif(not _gives_small_pages(), reason="untouched parts of lists take memory on this system")
def test_a_part_takes_memory_for_its_own_nodes() -> None:
    # A host and its share of switches have six ports: three links, two ends each. A port has two cache lines
    # (128 B), an ingress account (64 B), three queues (48 B), its stops (24 B) and those of PFC (32 B): 296 B, and so
    # 1,776 B a host. 15 more parts that had all of them would take 26.6 KB a host. They have their own, and the links
    # between parts, which are a third, in each part at most: 8.9 KB a host; and beside these what they keep by node
    # and by port in numbers alone, which is less than half of that.
    settings = [("topology.k", "32"), ("run.duration", "2us")]
    benchmarks = bench.find(["fat_tree_1024_hpcc"], settings)
    (one,), (sixteen,) = (bench.measure(benchmarks, repeat=1, threads=threads) for threads in (1, 16))
    assert (one["threads"], sixteen["threads"], one["hosts"]) == (1, 16, 8192)
    assert sixteen["fingerprint"] == one["fingerprint"]
    assert sixteen["bytes_per_host"] - one["bytes_per_host"] < 1.5 * 8_900


def test_runs_that_differ_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprints = iter(["a", "b"])
    monkeypatch.setattr(bench, "_run", lambda *_: {"fingerprint": next(fingerprints)})
    with pytest.raises(RunError, match="two runs differ"):
        bench.measure(bench.find(["startup"]), repeat=2)


def test_schemes_in_python_are_refused() -> None:
    mine = Scenario("", "small.toml", ".", schemes=(SchemeFile("mine", "Mine", "mine.py", ""),))
    with pytest.raises(UserError, match="benchmark `small`: schemes in Python are not measured"):
        bench.measure([bench.Benchmark("small", mine)])


def test_large_networks_are_there_when_asked_for() -> None:
    small, every = ([each.name for each in bench.find(large=large)] for large in (False, True))
    assert {"fat_tree_hpcc", "fat_tree_dcqcn", "incast_pause", "startup"} <= set(small)
    assert set(every) - set(small) == {"fat_tree_1024_hpcc", "fat_tree_1024_dcqcn"}
    # By name without being asked for.
    (large,) = bench.find(["fat_tree_1024_hpcc"])
    assert large.scenario.check()[0]["topology"]["k"] == 16


def test_a_setting_becomes_part_of_the_name() -> None:
    (each,) = bench.find(["fat_tree_hpcc"], [("topology.k", "4")])
    assert each.name == "fat_tree_hpcc topology.k=4"
    assert each.scenario.check()[0]["topology"]["k"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["incast"], "did you mean `incast_credits`?"),
        (["zzz"], "there are fat_tree_1024_dcqcn"),
        (["missing.toml"], "no such scenario file"),
        (["startup", "startup"], "name each once"),
        (["startup", "--set", "topology.senders"], "expected key=value"),
        (["startup", "--set", "topology.sender=3"], "senders"),
        (["startup", "--repeat", "0"], "repeat"),
        (["startup", "--compare", "missing.json"], "missing.json: no such file"),
        (["startup", "--compare", "."], "cannot be read"),
        (["startup", "--compare", "text.json"], "it is not JSON"),
        (["startup", "--compare", "other.json"], "expected a list of results"),
        (["startup", "--compare", "empty.json"], "expected a list of results"),
        (["startup", "--parallelism", "--threads", "2"], "--threads does not go with --parallelism"),
        (["startup", "--parallelism", "--repeat", "2"], "--repeat does not go with --parallelism"),
        (["startup", "--parallelism", "--compare", "text.json"], "--compare does not go with --parallelism"),
    ],
)
def test_a_mistake_is_explained(command: Command, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "text.json").write_text("scenario  M hops/s")
    (tmp_path / "other.json").write_text('[{"name": "startup"}]')
    (tmp_path / "empty.json").write_text("[]")
    done = command("bench", *arguments)
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (2, "", False)
    assert message in done.stderr


def test_a_comparison_gives_ratios(measured: list[bench.Result], tmp_path: Path) -> None:
    startup = measured[1]
    file = tmp_path / "before.json"
    file.write_text(json.dumps([{**startup, "process_s": startup["process_s"] * 4, "fingerprint": "another"}]))
    before = bench.earlier(file, bench.find(["startup"]))
    (compared,) = bench.compare([startup], before)
    assert compared["ratios"]["process_s"] == 0.25
    assert compared["ratios"]["wall_s"] == 1.0
    assert compared["ratios"]["memory_bytes"] is None
    assert compared["same_events"] is False
    bench.render([compared])


def test_other_scenarios_are_not_compared(measured: list[bench.Result], tmp_path: Path) -> None:
    file = tmp_path / "before.json"
    file.write_text(json.dumps(measured))
    with pytest.raises(UserError, match=r"no result of `incast_pause`.*it has pair traffic.0.size=1000B, startup"):
        bench.earlier(file, bench.find(["startup", "incast_pause"]))

    def change(scenario: dict[str, Any]) -> dict[str, Any]:
        return {**scenario, "topology": {**scenario["topology"], "senders": 11}}

    file.write_text(json.dumps([{**measured[1], "scenario": change(measured[1]["scenario"])}]))
    with pytest.raises(UserError, match=r"`startup` was another scenario, with a different \[topology\]"):
        bench.earlier(file, bench.find(["startup"]))


def test_the_command_prints_ratios(command: Command, tmp_path: Path) -> None:
    printed = command("bench", "startup", "--repeat", "1", "--json").stdout
    (tmp_path / "before.json").write_text(printed)
    done = command("bench", "startup", "--repeat", "1", "--compare", "before.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "hops/s ratio" in done.stdout
    assert "same" in done.stdout


def test_a_guided_build_knows_what_it_runs() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    python, *command, repeat, times = shlex.split(settings["pgo-command"])
    assert (python, command[:3], repeat, times) == ("python", ["-m", "xoff", "bench"], "--repeat", "1")
    names = command[3:]
    assert [found.name for found in bench.find(names)] == names


PAIRS = """
topology = { name = "fat_tree", k = 4 }
scheme = { name = "none" }
packets = { payload = "1000B" }
host = { ack_every = 100 }
traffic = [
    { pattern = "flow", src = "host0", dst = "host1", size = "100KB" },
    { pattern = "flow", src = "host8", dst = "host9", size = "100KB" },
]
"""


def test_the_critical_path_of_two_pairs_is_half_of_their_events(command: Command, tmp_path: Path) -> None:
    # Each pair sends through its own edge switch, in pods 0 and 2 of 4: two parts have one pair each, do the same in
    # each window, and nothing crosses. More parts have no more work to share.
    (tmp_path / "pairs.toml").write_text(PAIRS)
    done = command("bench", "pairs.toml", "--parallelism", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    (result,) = json.loads(done.stdout)
    assert [on["threads"] for on in result["curve"]] == list(parallelism.THREADS)
    for on in result["curve"]:
        assert 2 <= on["partitions"] <= on["threads"]
        assert (on["crossings"], on["busiest_events"]) == (0, result["events"] / 2)
        assert on["speedup_without_barriers"] == 2
        barriers = on["windows"] * result["barrier_s"] * on["partitions"] / 2
        critical = on["busiest_events"] * result["event_s"] + barriers
        assert on["speedup"] == pytest.approx(result["events"] * result["event_s"] / critical)
    table = command("bench", "pairs.toml", "--parallelism").stdout
    assert all(f"{threads} threads" in table for threads in parallelism.THREADS)


def test_one_switch_is_no_faster_on_several_threads() -> None:
    (result,) = parallelism.parallelism(bench.find(["star_permutation"], [("run.duration", "20us")]))
    assert [(on["partitions"], on["speedup"]) for on in result["curve"]] == [(1, 1)] * 6


def test_what_needs_one_thread_has_no_critical_path() -> None:
    one = bench.find(["star_permutation"], [("run.duration", "20us"), ("quirks.order", "scheduled")])
    with pytest.raises(RunError, match="needs events in one order"):
        parallelism.parallelism(one)
