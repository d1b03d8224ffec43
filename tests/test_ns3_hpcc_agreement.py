"""Runs of imported scenarios against completion times and PFC frames of the ns-3 HPCC simulator, to the nanosecond.

`ns3_reference` holds the flows of ten of its runs with their completion times, and where there was PFC, each PAUSE and
RESUME with the time and the node that it came to (`NAME.pfc.txt`). The networks are made here: two hosts
on one switch with their receiver; fifteen senders and a victim on one switch, their receivers on another; and a
fat-tree of 128 hosts under WebSearch traffic at half its capacity.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from xoff import run
from xoff.formats.ns3_hpcc.exporter import export_run
from xoff.formats.ns3_hpcc.importer import import_config

REFERENCE = Path(__file__).parent / "ns3_reference"

COMMON = """ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
MIN_RATE 1000Mb/s
L2_ACK_INTERVAL 1
GLOBAL_T 1
U_TARGET 0.95
MI_THRESH 0
RATE_BOUND 1
KMAX_MAP 2 100000000000 1600 400000000000 6400
KMIN_MAP 2 100000000000 400 400000000000 1600
PMAX_MAP 2 100000000000 0.20 400000000000 0.20
"""

HPCC = """CC_MODE 3
RATE_AI 40Mb/s
RATE_HAI 40Mb/s
HAS_WIN 1
VAR_WIN 1
FAST_REACT 1
ACK_HIGH_PRIO 0
MULTI_RATE 0
SAMPLE_FEEDBACK 0
INT_MULTI 4
"""
DCQCN = """CC_MODE 1
RATE_AI 20Mb/s
RATE_HAI 200Mb/s
HAS_WIN 0
VAR_WIN 0
FAST_REACT 0
ACK_HIGH_PRIO 1
"""
DCTCP = """CC_MODE 8
RATE_AI 10Mb/s
RATE_HAI 10Mb/s
DCTCP_RATE_AI 615Mb/s
HAS_WIN 1
VAR_WIN 1
FAST_REACT 0
ACK_HIGH_PRIO 0
"""
TIMELY = """CC_MODE 7
RATE_AI 100Mb/s
RATE_HAI 500Mb/s
HAS_WIN 0
VAR_WIN 0
FAST_REACT 0
ACK_HIGH_PRIO 1
"""
# What DCTCP has in place of COMMON's: g is 1/16, and marking a step at 30 KB for each 10 Gb/s.
STEP = {
    "EWMA_GAIN 0.00390625": "EWMA_GAIN 0.0625",
    "100000000000 1600 400000000000 6400": "100000000000 300 400000000000 1200",
    "100000000000 400 400000000000 1600": "100000000000 300 400000000000 1200",
    "100000000000 0.20 400000000000 0.20": "100000000000 1 400000000000 1",
}


def dumbbell() -> list[tuple[int, int, str, str]]:
    return [(host, 3, "100Gbps", "1000ns") for host in range(3)]


def incast() -> list[tuple[int, int, str, str]]:
    senders = [(host, 18, "100Gbps", "1500ns") for host in range(16)]
    return [*senders, *((host, 19, "100Gbps", "1500ns") for host in (16, 17)), (18, 19, "400Gbps", "1500ns")]


def fat_tree() -> list[tuple[int, int, str, str]]:
    hosts = [(host, 128 + host // 4) for host in range(128)]
    edges = [(128 + edge, 160 + 4 * (edge // 4) + up) for edge in range(32) for up in range(4)]
    cores = [(160 + up, 192 + 4 * (up % 4) + core) for up in range(32) for core in range(4)]
    return [(a, b, "100Gbps", "1500ns") for a, b in hosts + edges + cores]


# The importer sets sizes of packets that some schemes do not send.
@pytest.mark.filterwarnings("ignore:`cnp` in .packets. has no effect:RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "links", "hosts", "keys"),
    [
        ("dumbbell2_hp", dumbbell(), 3, HPCC + "BUFFER_SIZE 32\nSIMULATOR_STOP_TIME 2.02\n"),
        ("dumbbell2_dcqcn", dumbbell(), 3, DCQCN + "BUFFER_SIZE 32\nSIMULATOR_STOP_TIME 2.101\n"),
        ("dumbbell2_timely", dumbbell(), 3, TIMELY + "BUFFER_SIZE 32\nSIMULATOR_STOP_TIME 2.101\n"),
        ("incast16_2sw_dcqcn", incast(), 18, DCQCN + "BUFFER_SIZE 4\nSIMULATOR_STOP_TIME 2.101\n"),
        ("incast16_2sw_timely", incast(), 18, TIMELY + "BUFFER_SIZE 4\nSIMULATOR_STOP_TIME 2.101\n"),
        ("dumbbell2_dctcp", dumbbell(), 3, DCTCP + "BUFFER_SIZE 32\nSIMULATOR_STOP_TIME 2.101\n"),
        ("incast16_2sw_dctcp", incast(), 18, DCTCP + "BUFFER_SIZE 4\nSIMULATOR_STOP_TIME 2.101\n"),
        ("incast16_2sw_hp", incast(), 18, HPCC + "BUFFER_SIZE 4\nSIMULATOR_STOP_TIME 2.1\n"),
        ("ft128_websearch50_hp", fat_tree(), 128, HPCC + "BUFFER_SIZE 32\nSIMULATOR_STOP_TIME 2.02\n"),
        ("ft128_websearch50_dcqcn", fat_tree(), 128, DCQCN + "BUFFER_SIZE 32\nSIMULATOR_STOP_TIME 2.02\n"),
    ],
)
def test_every_flow_completes_and_every_pfc_frame_comes_at_the_same_nanosecond(
    tmp_path: Path, name: str, links: list[tuple[int, int, str, str]], hosts: int, keys: str
) -> None:
    lines = (REFERENCE / f"{name}.txt").read_text().splitlines()[1:]
    flows = [line.split() for line in lines]
    nodes = 1 + max(max(a, b) for a, b, _, _ in links)
    switches = " ".join(str(node) for node in range(hosts, nodes))
    topology = [f"{nodes} {nodes - hosts} {len(links)}", switches, *(f"{a} {b} {r} {d} 0" for a, b, r, d in links)]
    (tmp_path / "topology.txt").write_text("\n".join(topology) + "\n")
    listed = [f"{src} {dst} 3 100 {size} {start}" for src, dst, size, start, _ in flows]
    (tmp_path / "flow.txt").write_text("\n".join([str(len(flows)), *listed]) + "\n")
    common = COMMON
    for old, new in STEP.items() if keys.startswith(DCTCP) else ():
        assert old in common
        common = common.replace(old, new)
    (tmp_path / "config.txt").write_text(common + keys)
    import_config(tmp_path / "config.txt", tmp_path / "s.toml")

    result = run(tmp_path / "s.toml")
    rows = result.flows.to_pylist()  # by start, as the list is
    measured = [(f"{row['src'][1:]} {row['dst'][1:]} {row['size_bytes']}", row["fct_ps"]) for row in rows]
    expected = [(f"{src} {dst} {size}", 1000 * int(fct)) for src, dst, size, _, fct in flows]
    assert measured == expected

    frames = REFERENCE / f"{name}.pfc.txt"
    export_run(result, tmp_path / "fct.txt", tmp_path / "pfc.txt")
    # Frames of the same nanosecond stand there in the order of events, here by node.
    ours = sorted((tmp_path / "pfc.txt").read_text().splitlines())
    assert ours == (sorted(frames.read_text().splitlines()[1:]) if frames.exists() else [])
