"""Chakra execution traces: from files to a scenario and a run."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

import xoff
from conftest import ROOT, Command
from xoff.errors import UserError
from xoff.formats.chakra.importer import Costs, import_chakra, read_trace

TRACES = ROOT / "scenarios" / "chakra"


def _writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_traces", TRACES / "make_traces.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


et = _writer()


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Two ranks: one computes 5 us and sends 952 B, the other receives them and computes 1 us."""
    folder = tmp_path / "traces"
    folder.mkdir()
    send = et.node(2, "to", et.SEND, [1], comm_dst=1, comm_size=952)
    et.write(folder / "pair.0.et", [et.node(1, "gemm", et.COMPUTE, micros=5), send])
    receive = et.node(1, "from", et.RECEIVE, comm_src=0, comm_size="952")
    et.write(folder / "pair.1.et", [receive, et.node(2, "relu", et.COMPUTE, [1], micros=1)])
    return folder


def test_a_trace_becomes_a_scenario_and_a_run(traces: Path, tmp_path: Path, command: Command) -> None:
    done = command("import", "chakra", traces, "-o", "out/pair.toml", "--topology", "star,rate=100Gbps,delay=1us")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "out/pair.toml: 2 hosts, 1 message\n2 ranks, 4 nodes, 0 collectives\n"
    (traffic,) = xoff.check(tmp_path / "out" / "pair.toml")["traffic"]
    # The traces stay where they are.
    assert (traffic["trace"], traffic["ranks"]) == ("../traces/pair", 2)
    run = xoff.run(tmp_path / "out" / "pair.toml", sets={"scheme.name": "none"})
    rows = pl.DataFrame(run.operations).with_columns(pl.col("kernel").cast(pl.String))
    kernels = rows.filter(pl.col("kernel") != "iteration").sort("process", "iteration")["kernel"].to_list()
    assert kernels == ["compute: gemm", "send: to", "recv: from", "compute: relu"]
    whole = rows.filter(pl.col("kernel") == "iteration").sort("process")
    # Rank 1 computes for 1 us after the message of rank 0, which goes at 5 us.
    end = rows.filter(pl.col("kernel") == "recv: from")["end_ps"][0]
    assert whole["end_ps"][1] == end + 1_000_000
    assert end > 5_000_000 + 2_000_000
    # Given again, it replaces its own file.
    assert command("import", "chakra", traces / "pair", "-o", "out/pair.toml").returncode == 0


def test_a_sweep_reads_the_traces_where_they_are(traces: Path, tmp_path: Path, command: Command) -> None:
    import_chakra(traces, tmp_path / "pair.toml", topology="star")
    text = (tmp_path / "pair.toml").read_text()
    (tmp_path / "pair.toml").write_text(text + '\n[sweep]\n"traffic.0.overhead" = ["0us", "1us"]\n')
    done = command("sweep", "pair.toml", "-o", "sweep")
    assert done.returncode == 0, done.stderr


def test_the_ready_traces_are_what_their_script_writes(tmp_path: Path) -> None:
    for rank in range(4):
        et.write(tmp_path / "t.et", et.training(4, 100, 200, 4 << 20))
        assert (TRACES / f"training_4.{rank}.et").read_bytes() == (tmp_path / "t.et").read_bytes()
    size = read_trace(TRACES / "training_4")
    assert (size.ranks, size.nodes, size.collectives) == (4, 52, 4)


def test_what_is_wrong_is_said_with_file_and_node(traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "pair.toml"

    def refused(expected: str, costs: Costs | None = None) -> None:
        with pytest.raises(UserError) as error:
            import_chakra(traces, out, topology="star", costs=costs)
        assert expected in str(error.value)
        assert not out.exists()

    et.write(traces / "pair.1.et", [et.node(7, "from", et.RECEIVE, comm_src=0, comm_size=951)])
    refused(f"{traces}/pair.1.et: whose node 7 (`from`) is a receive of 951 B")
    et.write(traces / "pair.1.et", [et.node(7, "load", 2, tensor_size=8)])
    refused("expected a duration, or `memory_bandwidth` in the scenario")
    refused("`peak_flops`", Costs(peak_flops=0.0))
    (traces / "pair.1.et").rename(traces / "pair.2.et")
    refused(f"{traces}/pair.1.et: is not there: expected a file for each rank from 0 to 2")
    shutil.copy(traces / "pair.0.et", traces / "other.0.et")
    refused("has several traces, other, pair: expected FOLDER/NAME")
    for file in traces.iterdir():
        file.unlink()
    refused("has no files NAME.RANK.et")
