"""Traces for Perfetto's viewer, read back with its own protocol."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

import xoff
from conftest import ROOT


@dataclass
class Trace:
    """What a viewer makes of a trace's packets."""

    paths: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """By track: its name after those of the tracks around it."""
    slices: dict[tuple[str, ...], list[tuple[int, int, str]]] = field(default_factory=lambda: defaultdict(list))
    """By track: begin and end in ns, and name."""
    counters: dict[tuple[str, ...], list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    """By track: time in ns, and value."""
    units: dict[tuple[str, ...], str] = field(default_factory=dict)
    """By counter: its unit."""
    arrows: dict[int, list[tuple[int, tuple[str, ...], str]]] = field(default_factory=lambda: defaultdict(list))
    """By arrow: time in ns, track and name of the slices that it joins."""
    annotations: list[dict[str, Any]] = field(default_factory=list)
    """What stands at each slice that has something."""


def read(file: Path) -> Trace:
    """Put a trace together as the viewer does: names are said once, and slices end where their track says so."""
    message = proto.Trace()
    assert message.ParseFromString(file.read_bytes()) == file.stat().st_size
    trace, names, keys = Trace(), {}, {}
    opened: dict[tuple[str, ...], tuple[int, str]] = {}
    assert message.packet[0].sequence_flags == proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    for packet in message.packet:
        assert packet.trusted_packet_sequence_id == 1
        names.update({name.iid: name.name for name in packet.interned_data.event_names})
        keys.update({name.iid: name.name for name in packet.interned_data.debug_annotation_names})
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in trace.paths
            around = trace.paths[track.parent_uuid] if track.HasField("parent_uuid") else ()
            trace.paths[track.uuid] = (*around, track.name)
            if track.HasField("counter"):
                unit = proto.CounterDescriptor.Unit.Name(track.counter.unit)
                trace.units[*around, track.name] = track.counter.unit_name or unit
        if packet.HasField("track_event"):
            event, at = packet.track_event, packet.timestamp
            path = trace.paths[event.track_uuid]
            if event.type == proto.TrackEvent.TYPE_SLICE_BEGIN:
                assert path not in opened, "a slice begins after the one before it has ended"
                opened[path] = (at, names[event.name_iid])
                for arrow in event.flow_ids:
                    trace.arrows[arrow].append((at, path, names[event.name_iid]))
                if event.debug_annotations:
                    trace.annotations.append(
                        {keys[a.name_iid]: a.string_value or a.uint_value for a in event.debug_annotations}
                    )
            elif event.type == proto.TrackEvent.TYPE_SLICE_END:
                begin, name = opened.pop(path)
                trace.slices[path].append((begin, at, name))
            else:
                assert event.type == proto.TrackEvent.TYPE_COUNTER
                value = event.double_counter_value if event.HasField("double_counter_value") else event.counter_value
                trace.counters[path].append((at, value))
    assert not opened
    return trace


def made(tmp_path: Path, name: str, sets: dict[str, object]) -> tuple[xoff.Run, Trace]:
    record = {"record.packets": "all", "record.queues": "all", "record.rates": "all"}
    run = xoff.run(ROOT / "scenarios" / f"{name}.toml", sets={**record, **sets})
    return run, read(run.write_perfetto(tmp_path / "trace.perfetto"))


def test_a_packet_is_linked_through_its_hops_and_back(tmp_path: Path) -> None:
    """One byte over a switch and back, 100 Gbps and 1.5 us a link."""
    sets = {"traffic.0.senders": 1, "traffic.0.size": "1B", "scheme.name": "none"}
    run, trace = made(tmp_path, "incast", sets)
    sender = run.flows["src"][0].as_py()
    # 63 B of data take 5.04 ns, 66 B of ACK 5.28 ns; each link takes 1.5 us more, and the switch sends on at once.
    data, ack = f"data of flow {run.flows['id'][0].as_py()}", f"ACK of flow {run.flows['id'][0].as_py()}"
    hops = [
        (0, (sender, f"{sender}->switch1"), data),
        (1505, ("switch1", "switch1->host0"), data),
        (3010, ("host0", "host0->switch1"), ack),
        (4515, ("switch1", f"switch1->{sender}"), ack),
    ]
    assert list(trace.arrows.values()) == [hops]
    for at, track, name in hops:
        assert trace.slices[track] == [(at, at + 5, name)]
    # The flow is a slice from its start to its last ACK.
    flow = ("flows", f"flow 0: {sender} to host0")
    assert trace.slices[flow] == [(0, run.flows["fct_ps"][0].as_py() // 1000, "flow 0")]


def test_pauses_queues_and_rates_are_those_of_the_tables(tmp_path: Path) -> None:
    sets = {"traffic.0.senders": 4, "traffic.0.size": "60KB", "flow_control.xoff": "20KB", "scheme.name": "dcqcn"}
    run, trace = made(tmp_path, "incast", sets)
    pauses = pl.from_arrow(run.pauses)
    assert isinstance(pauses, pl.DataFrame)
    assert len(pauses) > 0
    expected = defaultdict(list)
    for port, priority, start, length in pauses.select("port", "priority", "start_ps", "length_ps").iter_rows():
        track = (port.split("->")[0], port, f"PAUSE, priority {priority}")
        expected[track].append((start // 1000, (start + length) // 1000, "paused"))
    found = {track: slices for track, slices in trace.slices.items() if track[-1].startswith("PAUSE")}
    assert found == {track: sorted(slices) for track, slices in expected.items()}
    bottleneck = ("switch1", "switch1->host0", "queue")
    queue = [
        (row["time_ps"] // 1000, row["bytes"]) for row in run.queues.to_pylist() if row["port"] == "switch1->host0"
    ]
    assert trace.counters[bottleneck] == queue
    assert trace.units[bottleneck] == "UNIT_SIZE_BYTES"
    assert max(size for _, size in queue) > 20_000
    # A mean holds from the beginning of its interval, and is over with the flow.
    sent = [
        ((row["time_ps"] - row["interval_ps"]) // 1000, row["sent_bps"])
        for row in run.rates.to_pylist()
        if row["flow"] == 0
    ]
    flow = next(path for path in trace.paths.values() if path[-1].startswith("flow 0:"))
    assert trace.counters[*flow, "sent"][:-1] == sent
    assert trace.counters[*flow, "sent"][-1][1] == 0
    assert trace.units[*flow, "sent"] == "bit/s"
    # DCQCN has no window.
    assert (*flow, "the scheme's window") not in trace.units


def test_packets_do_not_overlap_and_say_what_they_are(tmp_path: Path) -> None:
    sets = {"traffic.0.senders": 4, "traffic.0.size": "60KB", "flow_control.xoff": "20KB", "scheme.name": "dcqcn"}
    run, trace = made(
        tmp_path, "incast", {**sets, "detector.name": "red", "detector.k_min": "2KB", "detector.k_max": "20KB"}
    )
    out = run.packets.filter(pl.Series(run.packets["direction"].to_pylist()).eq("out").to_arrow())
    ports = {tuple(path): slices for path, slices in trace.slices.items() if path[-1] in set(out["port"].to_pylist())}
    assert sum(map(len, ports.values())) == out.num_rows
    for slices in ports.values():
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(slices))
    assert {name.split(" ")[0] for slices in ports.values() for *_, name in slices} == {"data", "ACK", "CNP", "PFC"}
    assert {row.get("mark") for row in trace.annotations} == {None, "CE"}
    assert {row["quanta"] for row in trace.annotations if "quanta" in row} == {0, 65535}
    # Every packet of data goes over two links, and so does its ACK: four slices.
    of_data = [chain for chain in trace.arrows.values() if "data" in chain[0][2]]
    assert {len(chain) for chain in of_data} == {4}


@pytest.mark.parametrize("scenario", ["infiniband_victim", "hpc_credits"])
def test_networks_with_credits_have_traces_too(tmp_path: Path, scenario: str) -> None:
    run = xoff.run(
        ROOT / "scenarios" / f"{scenario}.toml",
        sets={"record.packets": "switches", "record.packets_until": "20us", "run.duration": "100us"},
    )
    trace = read(run.write_perfetto(tmp_path / "trace.perfetto"))
    assert trace.arrows
    assert max(end for path, slices in trace.slices.items() if path[0] != "flows" for *_, end, _ in slices) > 10_000
