"""Captures, as Wireshark's dissectors read them, and the options that make them."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import xoff
from conftest import ROOT, Command

# Opcodes of BTH: RDMA WRITE First, Middle, Last and Only of a reliable connection, Acknowledge, and RoCEv2's CNP.
FIRST, MIDDLE, LAST, ONLY = 0x06, 0x07, 0x08, 0x0A
ACKNOWLEDGE, CNP = 0x11, 0x81

FIELDS = (
    "_ws.malformed",
    "_ws.expert.message",
    "frame.time_epoch",
    "frame.interface_name",
    "frame.packet_flags_direction",
    "frame.len",
    "eth.type",
    "ip.src",
    "ip.dst",
    "ip.ttl",
    "ip.dsfield.dscp",
    "ip.dsfield.ecn",
    "ip.checksum.status",
    "udp.dstport",
    "infiniband.bth.opcode",
    "infiniband.bth.destqp",
    "infiniband.bth.psn",
    "infiniband.bth.padcnt",
    "infiniband.aeth.syndrome.opcode",
    "infiniband.aeth.msn",
    "infiniband.reth.dmalen",
    "infiniband.invariant.crc",
    "macc.opcode",
    "macc.cbfc.enbv.c0",
    "macc.cbfc.pause_time.c0",
)


def tshark(capture: Path, *arguments: str) -> list[str]:
    """The lines that tshark prints of a capture."""
    program = shutil.which("tshark")
    if program is None:
        pytest.fail("captures are tested with tshark: sudo apt-get install --no-install-recommends tshark")
    command = [program, "-r", str(capture), "-n", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def dissect(capture: Path, *, where: str = "") -> list[dict[str, str]]:
    """What tshark finds in each packet of a capture, by field; empty where the packet has no such field."""
    options = ["-o", "ip.check_checksum:TRUE", "-T", "fields", "-E", "occurrence=f"]
    fields = [argument for field in FIELDS for argument in ("-e", field)]
    lines = tshark(capture, *options, *(["-Y", where] if where else []), *fields)
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines]


def captured(tmp_path: Path, name: str, sets: dict[str, object]) -> tuple[xoff.Run, Path]:
    run = xoff.run(ROOT / "scenarios" / f"{name}.toml", sets={"record.packets": "all", **sets})
    return run, run.write_pcapng(tmp_path / "packets.pcapng")


def number(text: str) -> int:
    return int(text, 0)


INCAST = {"traffic.0.senders": 4, "traffic.0.size": "30KB"}
DUMBBELL = {"run.duration": "40us", "traffic.1.start": "5us"}

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "fncc": ("dumbbell", {**DUMBBELL, "scheme.name": "fncc"}),
    "hpcc": ("dumbbell", {**DUMBBELL, "scheme.name": "hpcc"}),
    "exact telemetry": ("dumbbell", {**DUMBBELL, "scheme.name": "hpcc", "packets.int_format": "exact"}),
    "dcqcn": (
        "incast",
        {**INCAST, "scheme.name": "dcqcn", "detector.name": "red", "detector.k_min": "2KB", "detector.k_max": "20KB"},
    ),
    "tcd": (
        "chain_last_hop",
        {
            "run.duration": "30us",
            "traffic.1.start": "2us",
            "scheme.name": "dcqcn",
            "detector.name": "tcd",
            "flow_control.xoff": "20KB",
        },
    ),
    "rocc": ("dumbbell", {**DUMBBELL, "run.duration": "80us", "scheme.name": "rocc"}),
    "srcc": ("incast", {**INCAST, "scheme.name": "srcc", "traffic.0.size": "100KB"}),
    "pcn": ("dumbbell", {**DUMBBELL, "scheme.name": "pcn"}),
    "timely": ("incast", {**INCAST, "scheme.name": "timely", "traffic.0.size": "4377B"}),
    "sqcc": ("incast", {**INCAST, "scheme.name": "sqcc"}),
    "pause": ("incast", {**INCAST, "flow_control.xoff": "20KB"}),
    "loss": ("lossy", {**INCAST, "traffic.0.size": "100KB", "switch.buffer": "40KB"}),
    "small headers": ("incast", {**INCAST, "packets.header": "20B", "packets.ack": "30B"}),
    "large headers": ("incast", {**INCAST, "packets.header": "90B", "packets.ack": "120B", "packets.pfc": "84B"}),
}


@pytest.mark.parametrize("name", RUNS)
def test_every_packet_is_dissected(tmp_path: Path, name: str) -> None:
    """Each row of the table is a frame that says the same, and none is malformed or has anything to complain of."""
    scenario, sets = RUNS[name]
    run, capture = captured(tmp_path, scenario, sets)
    rows = pl.from_arrow(run.packets)
    assert isinstance(rows, pl.DataFrame)
    summary = tshark(capture)
    assert len(summary) == len(rows)
    assert not [line for line in summary if "Malformed" in line or "nvalid" in line]
    frames = dissect(capture)
    assert len(frames) == len(rows) > 50
    full, sizes = run.manifest["wire"]["payload_bytes"], run.flows["size_bytes"].to_pylist()
    for frame, row in zip(frames, rows.iter_rows(named=True), strict=True):
        assert not frame["_ws.malformed"], (frame, row)
        assert not frame["_ws.expert.message"], (frame, row)
        # Picoseconds are cut off to nanoseconds.
        seconds, _, nanoseconds = frame["frame.time_epoch"].partition(".")
        assert int(seconds) * 10**9 + int(nanoseconds) == row["time_ps"] // 1000
        assert frame["frame.interface_name"] == row["port"]
        assert frame["frame.packet_flags_direction"] == {"in": "0x00000001", "out": "0x00000002"}[row["direction"]]
        if row["kind"] == "pfc":
            assert (number(frame["eth.type"]), number(frame["macc.opcode"])) == (0x8808, 0x0101)
            assert int(frame["macc.cbfc.enbv.c0"]) == 1
            assert int(frame["macc.cbfc.pause_time.c0"]) == row["quanta"]
            continue
        assert (number(frame["eth.type"]), frame["udp.dstport"]) == (0x0800, "4791")
        assert frame["ip.checksum.status"] == "1"
        opcode, psn = number(frame["infiniband.bth.opcode"]), int(frame["infiniband.bth.psn"])
        assert number(frame["infiniband.bth.destqp"]) == 0x10000 + row["flow"]
        if row["kind"] == "data":
            ends = row["offset_bytes"] + row["payload_bytes"] == sizes[row["flow"]]
            assert opcode == ({True: ONLY, False: FIRST} if psn == 0 else {True: LAST, False: MIDDLE})[ends]
            assert psn * full == row["offset_bytes"]
            if psn == 0:
                assert int(frame["infiniband.reth.dmalen"]) == min(sizes[row["flow"]] or 2**31, 2**31)
        elif row["kind"] in ("ack", "nack"):
            assert opcode == ACKNOWLEDGE
            # An ACK names the last packet that has come, a NAK the one that is missing; 0 is an ACK, 3 a NAK.
            missing = row["kind"] == "nack"
            assert psn == (row["offset_bytes"] // full if missing else -(-row["offset_bytes"] // full) - 1)
            assert int(frame["infiniband.aeth.syndrome.opcode"]) == (3 if missing else 0)
        else:
            assert opcode == CNP
        # Behind telemetry in an ACK, and behind a CNP, the dissector does not look for it.
        assert frame["infiniband.invariant.crc"] or row["kind"] in ("ack", "cnp", "cnm")


def test_every_kind_of_packet_is_among_these(tmp_path: Path) -> None:
    kinds: Counter[str] = Counter()
    marks: Counter[str] = Counter()
    for scenario, sets in RUNS.values():
        run = xoff.run(ROOT / "scenarios" / f"{scenario}.toml", sets={"record.packets": "all", **sets})
        kinds.update(run.packets["kind"].to_pylist())
        marks.update(run.packets["mark"].to_pylist())
    assert set(kinds) == {"data", "ack", "nack", "cnp", "cnm", "pfc"}
    assert set(marks) == {None, "ce", "ue"}


def test_a_packet_is_followed_through_its_hops(tmp_path: Path) -> None:
    """A frame of 1518 B at 100 Gbps and 1.5 us a link, over three switches: out and in at each of four links."""
    sets = {"traffic.0.size": "1000B", "traffic.1.start": "19us"}
    _, capture = captured(tmp_path, "dumbbell", {**sets, "scheme.name": "none", "run.duration": "20us"})
    seen = dissect(capture, where="infiniband.bth.opcode == 10")
    # 1062 B take 84,960 ps, and each link 1,584,960 ps.
    arrivals = [hop * 1_584_960 // 1000 for hop in range(5)]
    times = [int(frame["frame.time_epoch"].partition(".")[2]) for frame in seen]
    assert times == [arrivals[0], *(t for t in arrivals[1:4] for _ in range(2)), arrivals[4]]
    path = ["sender0", "switch1", "switch2", "switch3", "receiver0"]
    # Out at one end of a link and in at the other, with a hop less to live after each switch.
    ends = [(f"{a}->{b}", f"{b}->{a}") for a, b in itertools.pairwise(path)]
    expected = {(end, str(64 - hop)) for hop, link in enumerate(ends) for end in link}
    assert {(frame["frame.interface_name"], frame["ip.ttl"]) for frame in seen} == expected
    # On the wire with RETH and without the check sequence.
    assert {frame["frame.len"] for frame in seen} == {str(1062 + 16 - 4)}
    assert {(frame["ip.src"], frame["ip.dst"]) for frame in seen} == {("10.0.0.1", "10.0.0.3")}


def test_packets_change_nothing_of_a_run() -> None:
    scenario = ROOT / "scenarios" / "incast.toml"
    sets = {**INCAST, "flow_control.xoff": "20KB", "scheme.name": "dcqcn"}
    with_packets, without = xoff.run(scenario, sets={**sets, "record.packets": "all"}), xoff.run(scenario, sets=sets)
    for key in ("fingerprint", "events", "packet_hops", "sim_time_ps", "summary"):
        assert with_packets.manifest[key] == without.manifest[key]
    for name, table in without.tables.items():
        assert name == "packets" or with_packets.table(name).equals(table), name
    assert without.packets.num_rows == 0


def test_a_run_writes_what_is_asked_for(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small, "-o", "out", "--pcap", "host1->switch1", "--pcap", "switch1->host0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "packets.pcapng" in done.stdout
    frames = dissect(tmp_path / "out" / "packets.pcapng")
    assert {frame["frame.interface_name"] for frame in frames} == {"host1->switch1", "switch1->host0"}
    assert {int(frame["frame.len"]) for frame in frames} >= {62, 1514, 1530}
    assert not (tmp_path / "out" / "trace.perfetto").exists()
    assert xoff.load(tmp_path / "out").packets.num_rows == len(frames)
    # A run that takes the folder over takes the capture away, unless it has its own.
    assert command("run", small, "-o", "out", "--perfetto").returncode == 0
    assert not (tmp_path / "out" / "packets.pcapng").exists()
    assert (tmp_path / "out" / "trace.perfetto").stat().st_size > 10_000
    assert command("run", small, "-o", "out", "--pcap", "switches", "--snap-length", "64").returncode == 0
    cut = tshark(tmp_path / "out" / "packets.pcapng", "-T", "fields", "-e", "frame.cap_len", "-e", "frame.len")
    assert {line.split("\t")[0] for line in cut} == {"62", "64"}
    assert max(int(line.split("\t")[1]) for line in cut) == 1530


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pcap", "host1->swich1"], "did you mean `host1->switch1`?"),
        (["--pcap", "swtiches"], "or alone `switches` or `all`; did you mean `switches`?"),
        (["--pcap", "nowhere"], 'error: --pcap names the unknown port "nowhere"  --> --pcap nowhere   = expected'),
        (["--pcap", "all", "--pcap", "host1->switch1"], 'unknown port "all"  --> --pcap all --pcap host1->switch1 '),
        (["--set", "record.packets=nowhere"], "--> --set record.packets=nowhere"),
        (["--snap-length", "100"], "--snap-length: expected --pcap as well"),
        (["--pcap", "all", "--snap-length", "20"], "--snap-length"),
        (["--pcap", "all", "--set", "flow_control.name=cbfc"], "flow control `cbfc` is no Ethernet's"),
        (["--set", "record.packets_from=1us"], "`packets_from` in [record] has no ports"),
        (["--pcap", "all", "--set", "record.packets_until=0us"], "expected more than 0ps"),
    ],
)
def test_a_mistake_is_explained(
    command: Command, small: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = command("run", small, "-o", "out", *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert message in done.stderr.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_the_library_says_when_there_are_no_packets(small: Path, tmp_path: Path) -> None:
    run = xoff.run(small)
    with pytest.raises(xoff.UserError, match="no packets were recorded"):
        run.write_pcapng(tmp_path / "x.pcapng")
    with pytest.raises(xoff.UserError, match="no packets were recorded"):
        run.write_perfetto(tmp_path / "x.perfetto")
    run = xoff.run(small, sets={"record.packets": "all"})
    with pytest.raises(xoff.UserError, match="could not be written"):
        run.write_pcapng(tmp_path / "nowhere" / "x.pcapng")
    run.write(tmp_path / "out")
    with pytest.raises(xoff.UserError, match="read from its folder"):
        xoff.load(tmp_path / "out").write_perfetto(tmp_path / "x.perfetto")
