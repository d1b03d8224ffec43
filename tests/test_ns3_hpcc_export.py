"""Export in the ns-3 HPCC simulator's formats, and the way there and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import xoff
from conftest import ROOT, Command
from xoff.errors import UserError
from xoff.formats.ns3_hpcc.exporter import address, export_run
from xoff.formats.ns3_hpcc.importer import import_config
from xoff.runs.results import Run

EXAMPLE = ROOT / "scenarios" / "ns3-hpcc"

# h0 - s2 - h1 and h3 - s2; the link to h1 has 40 Gbps.
TOPOLOGY = {
    "name": "graph",
    "hosts": ["h0", "h1", "h3"],
    "switches": ["s2"],
    "links": [
        {"a": "h0", "b": "s2", "rate": "100Gbps", "delay": "1us"},
        {"a": "s2", "b": "h1", "rate": "40Gbps", "delay": "1.5us", "delay_back": "1.5us"},
        {"a": "s2", "b": "h3", "rate": "100Gbps", "delay": "1us"},
    ],
}

Row = tuple[str, str, int, int, int | None]
"""src, dst, size in bytes, start and FCT in ns."""


def made_up(flows: Sequence[Row] = (), pauses: Sequence[tuple[str, int, int]] = (), **topology: Any) -> Run:
    """A run of these flows, and of pauses: port, start and length in ns."""
    manifest = {
        "fingerprint": "0",
        "flows": len(flows),
        "sim_time_ps": 10**9,
        "wire": {"payload_bytes": 1000},
        "scenario": {"topology": TOPOLOGY | topology, "routing": {"name": "ecmp"}, "packets": {"header": "48B"}},
    }
    tables = {
        "flows": pa.table(
            {
                "id": pa.array(range(len(flows)), pa.uint32()),
                "src": pa.array([row[0] for row in flows], pa.string()).dictionary_encode(),
                "dst": pa.array([row[1] for row in flows], pa.string()).dictionary_encode(),
                "size_bytes": pa.array([row[2] for row in flows], pa.uint64()),
                "start_ps": pa.array([row[3] * 1000 for row in flows], pa.uint64()),
                "fct_ps": pa.array([None if row[4] is None else row[4] * 1000 for row in flows], pa.uint64()),
                "path": pa.array([f"{row[0]}>s2>{row[1]}" for row in flows], pa.string()),
            }
        ),
        "pauses": pa.table(
            {
                "port": pa.array([row[0] for row in pauses], pa.string()),
                "start_ps": pa.array([row[1] * 1000 for row in pauses], pa.uint64()),
                "length_ps": pa.array([row[2] * 1000 for row in pauses], pa.uint64()),
            }
        ),
    }
    return Run(manifest, tables)


def test_fct_lines_are_as_there(tmp_path: Path) -> None:
    flows: list[Row] = [
        ("h0", "h1", 1500, 2_000_000_000, 90_000),
        ("h0", "h1", 1_000_000, 2_000_000_000, 80_000),
        ("h3", "h0", 1, 2_000_000_001, 70_000),
        ("h0", "h1", 5, 2_000_000_002, None),
        ("h0", "h1", 1000, 2_000_000_003, 99_000),
    ]
    made = export_run(made_up(flows), tmp_path / "fct.txt")
    # Node n is 11.0.n.1. Ports count up for each pair, an incomplete flow's too. To h1: 2 x (1000 + 1500) ns there and
    # back, 80 ns and 200 ns for 1000 B, 5280 in all, and the bytes with 48 B a packet at 40 Gbps, 0.2 ns each: 1596 B
    # are 319.2, 1,048,000 B 209,600, 1048 B 209.6 ns, cut. h3 to h0: 4000 + 160 + 49 B at 0.08 ns, 3.92. By completion.
    assert (tmp_path / "fct.txt").read_text().splitlines() == [
        "0b000301 0b000001 10000 100 1 2000000001 70000 4163",
        "0b000001 0b000101 10001 100 1000000 2000000000 80000 214880",
        "0b000001 0b000101 10000 100 1500 2000000000 90000 5599",
        "0b000001 0b000101 10003 100 1000 2000000003 99000 5489",
    ]
    assert (made.flows, made.warnings) == (4, ["left out, as there, since not complete: 1 flow"])


def test_addresses_hold_two_bytes_of_the_id() -> None:
    # 1000 is 0x3e8.
    assert [address(node) for node in (0, 255, 1000, 65535)] == ["0b000001", "0b00ff01", "0b03e801", "0bffff01"]


def test_pfc_lines_are_as_there(tmp_path: Path) -> None:
    # s2 stops h0 (its only interface) and h3 at the same moment; h1 stops s2, whose second link leads there, until the
    # end of the run at 1 ms, so without a RESUME.
    pauses = [("h3->s2", 500, 100), ("h0->s2", 500, 250), ("s2->h1", 900_000, 100_000)]
    export_run(made_up(pauses=pauses), tmp_path / "fct.txt", tmp_path / "pfc.txt")
    assert (tmp_path / "pfc.txt").read_text().splitlines() == [
        "500 0 0 1 1",
        "500 3 0 1 1",
        "600 3 0 1 0",
        "750 0 0 1 0",
        "900000 2 1 2 1",
    ]


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ({"name": "star"}, "its topology is not `graph`: expected a run of an imported scenario"),
        ({"switches": ["core"]}, "node `core` gives no id: expected names that end in a number of their own"),
        ({"switches": ["s3"]}, "node `s3` gives no id"),
        ({"switches": ["s65536"]}, "node `s65536` gives no id"),
        ({"links": [{}]}, "its manifest is not that of an imported scenario"),
        ({"links": None}, "its manifest is not that of an imported scenario"),
        ({"links": []}, "which its scenario does not have"),
    ],
)
def test_a_run_of_another_kind_is_a_mistake(tmp_path: Path, topology: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as raised:
        export_run(made_up([("h0", "h1", 1, 0, 1)], **topology), tmp_path / "fct.txt")
    assert message in str(raised.value)
    assert list(tmp_path.iterdir()) == []


GRAPH = """
[topology]
name = "graph"
hosts = ["h0", "h1"]
switches = ["s2"]
links = [
    { a = "h0", b = "s2", rate = "100Gbps", delay = "1us" },
    { a = "h1", b = "s2", rate = "100Gbps", delay = "1us" },
]

[scheme]
name = "none"

[[traffic]]
pattern = "flow"
src = "h0"
dst = "h1"
size = "10KB"
"""


def test_nothing_is_overwritten_unasked(command: Command, tmp_path: Path) -> None:
    (tmp_path / "graph.toml").write_text(GRAPH)
    assert command("run", "graph.toml", "-o", "run").returncode == 0
    (tmp_path / "mine.txt").write_text("mine")
    arguments = ("export", "ns3-hpcc", "run", "-o")
    done = command(*arguments, "mine.txt")
    assert (done.returncode, done.stderr) == (
        2,
        "error: mine.txt: exists already; name another file, or give --force\n",
    )
    done = command(*arguments, "fct.txt", "--pfc", "mine.txt")
    assert (done.returncode, (tmp_path / "fct.txt").exists()) == (2, False)
    assert command(*arguments, "fct.txt", "--pfc", "fct.txt").returncode == 2
    assert command(*arguments, "run").returncode == 2
    assert (tmp_path / "mine.txt").read_text() == "mine"
    done = command(*arguments, "mine.txt", "--pfc", "pfc.txt", "--force")
    assert (done.returncode, done.stdout) == (0, "mine.txt: 1 flow\npfc.txt: 0 frames\n")
    assert command("export", "ns3-hpcc", "nothing", "-o", "new.txt").returncode == 2


def test_force_spares_the_run_and_writes_no_file_twice(command: Command, tmp_path: Path) -> None:
    (tmp_path / "graph.toml").write_text(GRAPH)
    assert command("run", "graph.toml", "-o", "run").returncode == 0
    (tmp_path / "fct.txt").write_text("mine")
    (tmp_path / "soft.txt").symlink_to("fct.txt")
    (tmp_path / "hard.txt").hardlink_to(tmp_path / "fct.txt")
    (tmp_path / "link.txt").symlink_to("run/flows.parquet")
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    for name in ("run/manifest.json", "./run/flows.parquet", "run/other.parquet", "link.txt"):
        for arguments in (["-o", name], ["-o", "new.txt", "--pfc", name]):
            done = command("export", "ns3-hpcc", "run", *arguments, "--force")
            expected = f"error: {Path(name)}: a file of the run itself; name another file\n"
            assert (done.returncode, done.stderr) == (2, expected)
    for name in ("fct.txt", "run/../fct.txt", "soft.txt", "hard.txt"):
        done = command("export", "ns3-hpcc", "run", "-o", "fct.txt", "--pfc", name, "--force")
        assert (done.returncode, done.stderr) == (2, f"error: {name}: named for both files: expected two names\n")
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before
    assert ((tmp_path / "fct.txt").read_text(), (tmp_path / "new.txt").exists()) == ("mine", False)
    # Files of another name in the folder are the user's to choose.
    assert command("export", "ns3-hpcc", "run", "-o", "run/fct.txt").returncode == 0


def test_there_and_back(tmp_path: Path) -> None:
    """The example's flows come back with addresses, ports, sizes, starts and standalone FCT as there."""
    import_config(EXAMPLE / "config.txt", tmp_path / "mix.toml")
    run = xoff.run(tmp_path / "mix.toml")
    export_run(run, tmp_path / "fct.txt", tmp_path / "pfc.txt")
    lines = [line.split() for line in (tmp_path / "fct.txt").read_text().splitlines()]
    # Between racks 8 x 1000 ns, 80 + 20 + 20 + 80 ns for 1000 B, and the bytes with 48 B a packet at 0.08 ns each:
    # 1,048,000 B are 83,840 ns, 52,400 B 4192 ns, 20,960 B 1676.8 ns.
    assert sorted([*line[:6], line[7]] for line in lines) == [
        ["0b000001", "0b000201", "10000", "100", "1000000", "2000000000", "92040"],
        ["0b000001", "0b000201", "10001", "100", "20000", "2000199999", "9876"],
        ["0b000001", "0b000301", "10000", "100", "50000", "2000100000", "12392"],
        ["0b000101", "0b000201", "10000", "100", "1000000", "2000000576", "92040"],
        ["0b000301", "0b000001", "10000", "100", "20000", "2000199999", "9876"],
    ]
    ends = [int(line[5]) + int(line[6]) for line in lines]
    assert ends == sorted(ends)
    # The hash at the sender's edge, computed apart from this program, of (source, destination, ports 10000 | 100 << 16
    # or 10001 | 100 << 16), seeded with 4 or 5: 65455076, 1293743950, 3451083860, 4065090114, 198996765. Next hops
    # stand as s7, s6, since the search visits the higher id first: the first but for the last, odd one.
    paths = {row["id"]: row["path"].split(">")[2] for row in run.flows.select(["id", "path"]).to_pylist()}
    assert [paths[flow] for flow in sorted(paths)] == ["s7", "s7", "s7", "s7", "s6"]
