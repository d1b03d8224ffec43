"""From that simulator's input files to a scenario, which a person can read and change."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from xoff._xoff import rate_text, size_text
from xoff.errors import UserError
from xoff.formats.files import Imported, write_scenario
from xoff.formats.lines import read_lines
from xoff.formats.networks import LONG, MARK
from xoff.formats.ns3_hpcc.config import Config, listed
from xoff.formats.ns3_hpcc.flows import Flow, read_flows
from xoff.formats.ns3_hpcc.quantity import moment_text, time_text
from xoff.formats.ns3_hpcc.scheme import HPCC, MARKED, TIMELY, mode_of, write_scheme
from xoff.formats.ns3_hpcc.topology import Topology, read_topology
from xoff.formats.toml import Lines, inline
from xoff.text import count_text, line_text

LONGEST = 10**6
"""Maximum duration of a run, in s."""

_MULTIPLES = [1 << n for n in range(8)]
"""Multiples of INT's units that the model has."""

Warn = Callable[[str], None]


def import_config(
    config_file: str | os.PathLike[str], out: str | os.PathLike[str], *, clean: bool = False, force: bool = False
) -> Imported:
    """Write the scenario that `config_file` and the files that it names describe.

    Parameters
    ----------
    config_file
        That simulator's configuration. Files that it names are looked for in its folder, and in the one above.
    out
        The scenario; long lists go to files beside it.
    clean
        Leave out what imitates that simulator's rounding and order of events.
    force
        Overwrite files that no import wrote.

    Raises
    ------
    UserError
        An input is wrong or not modelled, makes a scenario that cannot be run, or a file cannot be written.
    """
    warnings: list[str] = []
    config = Config(Path(config_file))
    inputs = [config.file]
    texts = _texts(config, Path(out), inputs, clean, warnings.append)
    write_scenario(config.file, texts.files, inputs, force=force)
    return Imported(list(texts.files), len(texts.topology.hosts), len(texts.topology.switches), texts.flows, warnings)


@dataclass(frozen=True)
class _Texts:
    """The files to write, the scenario first."""

    files: dict[Path, str]
    topology: Topology
    flows: int


def _texts(config: Config, out: Path, inputs: list[Path], clean: bool, warn: Warn) -> _Texts:
    mode = mode_of(config)
    _refuse_losses(config)
    topology = read_topology(_beside(config, "TOPOLOGY_FILE", inputs), warn)
    flows = read_flows(_beside(config, "FLOW_FILE", inputs), topology, warn)
    seconds = float(config.get("SIMULATOR_STOP_TIME"))
    if seconds > LONGEST:
        raise config.refuse("SIMULATOR_STOP_TIME", "is too long", f"at most {LONGEST} s")
    stop = round(seconds * 10**9)
    late = sum(flow.start >= stop for flow in flows)
    if late == len(flows):
        raise config.refuse(
            "SIMULATOR_STOP_TIME", f"is before the first flow's start, {moment_text(flows[0].start)}", "a later one"
        )
    if late:
        warn(f"{config.at('SIMULATOR_STOP_TIME')}: the last {late} flows start at or after it and are left out")
        flows = flows[:-late]
    files = {out: ""}
    text = _head(config, mode, topology)
    text.table("[run]")
    text.put("duration", moment_text(stop), "SIMULATOR_STOP_TIME")
    _network(text, topology, out, files)
    _routing(text, flows, warn)
    write_scheme(config, topology, text, warn)
    _settings(text, config, mode, flows, warn)
    if not clean:
        _quirks(text, mode, topology)
    _traffic(text, flows, topology, out, files)
    text.table("[record]", "For samples of queues and rates: `queues`, `rates`, `interval`.")
    text.put("pauses", True, "PFC_OUTPUT_FILE")
    _trace(config, topology, inputs, warn)
    if defaulted := config.defaulted():
        warn(f"{config.file}: without {listed(defaulted)}, whose defaults there are taken")
    _unused(config, text, warn)
    files[out] = text.text()
    return _Texts(files, topology, len(flows))


def _unused(config: Config, text: Lines, warn: Warn) -> None:
    """List the keys that nothing was made of at the scenario's end, and say so."""
    unused = config.unused()
    if not unused:
        return
    text.raw()
    text.note("Keys of the configuration that have no effect on this scenario:")
    for reason, names in unused.items():
        text.note(f"- {reason}: {listed(names)}")
    count = count_text(sum(map(len, unused.values())), "key")
    warn(f"{config.file}: {count} without effect on the scenario, which lists them with the reasons at its end")


def _refuse_losses(config: Config) -> None:
    if config.get("LINK_DOWN") != (0, 0, 0):
        raise config.refuse("LINK_DOWN", "takes a link down during the run, which is not modelled", "0 0 0")
    if float(config.get("ERROR_RATE_PER_LINK")) != 0:
        raise config.refuse("ERROR_RATE_PER_LINK", "makes links lossy, which is not modelled", "0")
    if not config.get("USE_DYNAMIC_PFC_THRESHOLD"):
        raise config.refuse("USE_DYNAMIC_PFC_THRESHOLD", "is a static threshold, which the key does not give", "1")


def _beside(config: Config, name: str, inputs: list[Path]) -> Path:
    """The file that a key names: in the configuration's folder, or in the one above.

    Names there start where that simulator was started, and its examples are a folder below that.
    """
    named: str = config.get(name)
    here, above = config.file.parent / named, config.file.absolute().parent.parent / named
    try:
        file = above if not here.exists() and above.exists() else here
    except (OSError, ValueError):
        raise config.refuse(name, "is no file's name", "one") from None
    inputs.append(file)
    return file


def _head(config: Config, mode: int, topology: Topology) -> Lines:
    text = Lines()
    text.raw(f"{MARK}{line_text(config.file.name)} of the ns-3 HPCC simulator, with {line_text(topology.file.name)}.")
    text.note("Behind each value stands the key that it comes from; what has none is fixed in that simulator.")
    folder = config.file.absolute().parent.name
    text.raw()
    text.put("title", f"{folder}/{config.file.name}" if folder else config.file.name)
    return text


def _network(text: Lines, topology: Topology, out: Path, files: dict[Path, str]) -> None:
    graph = text
    text.table(
        "[topology]",
        f"From {line_text(topology.file.name)}: node 3 is h3 where it is a host, and s3 where it is a switch.",
    )
    text.put("name", "graph")
    if len(topology.links) >= LONG:
        graph, file = Lines(), out.with_name(f"{out.stem}.topology.toml")
        text.put("file", file.name)
        graph.raw(f"{MARK}{line_text(topology.file.name)} of the ns-3 HPCC simulator.")
    graph.names("hosts", map(topology.name, topology.hosts))
    graph.names("switches", map(topology.name, topology.switches))
    graph.raw("links = [")
    for link in topology.links:
        a, b = topology.name(link.src), topology.name(link.dst)
        graph.raw(f"    {inline({'a': a, 'b': b, 'rate': rate_text(link.rate), 'delay': time_text(link.delay)})},")
    graph.raw("]")
    if graph is not text:
        files[file] = graph.text()


def _routing(text: Lines, flows: list[Flow], warn: Warn) -> None:
    ports = Counter(flow.dst_port for flow in flows)
    port = max(ports, key=lambda port: (ports[port], -port))
    if len(ports) > 1:
        taken = f"{len(ports)} destination ports, of which [routing] takes one, {port}"
        others = count_text(len(flows) - ports[port], "flow")
        warn(f"flows have {taken}: {others} may take other paths than there")
    text.table("[routing]")
    text.put("name", "ecmp")
    text.put("hash", "ns3_hpcc")
    text.put("dst_port", port, "the flow file")


def _settings(text: Lines, config: Config, mode: int, flows: list[Flow], warn: Warn) -> None:
    payload: int = config.get("PACKET_PAYLOAD_SIZE")
    text.table(
        "[packets]",
        {
            HPCC: "Without preambles and gaps; the 42 B of INT come on top of data and ACKs.",
            TIMELY: "Without preambles and gaps; the 8 B of a timestamp come on top of data and ACKs.",
        }.get(mode, "Without preambles and gaps."),
    )
    text.put("payload", f"{payload}B", "PACKET_PAYLOAD_SIZE")
    text.put("header", "48B")
    # There an ACK is padded to 60 B.
    text.put("ack", {HPCC: "46B", TIMELY: "52B"}.get(mode, "60B"))
    if mode in MARKED:
        text.put("cnp", "60B")
    text.put("pfc", "43B")
    text.put("gap", "0B")
    if mode == HPCC:
        text.put("int_hops", 5)
        multi: int = config.get("INT_MULTI")
        if multi not in _MULTIPLES:
            raise config.refuse("INT_MULTI", "is no power of two, and no other multiple is modelled", "1 to 128")
        text.put("int_multi", multi, "INT_MULTI")
    groups = sorted({flow.group for flow in flows})
    text.table("[host]")
    text.put("ack_every", _ack_every(config, payload, warn), "L2_ACK_INTERVAL, in packets")
    high: bool = config.get("ACK_HIGH_PRIO")
    text.put("ack_class", "control_at_host" if high else "data", "ACK_HIGH_PRIO")
    if not high and groups != [3]:
        warn(f"{config.at('ACK_HIGH_PRIO')}: there ACKs are in priority group 3 then, here in that of their flow")
    text.put("base_rtt", "max" if config.get("GLOBAL_T") else "per_pair", "GLOBAL_T")
    text.table("[switch]")
    text.put("buffer", f"{config.get('BUFFER_SIZE')}MiB", "BUFFER_SIZE, whose MB are 1024 x 1024 B")
    mapped = ", ".join(f"{group} is {priority}" for priority, group in enumerate(groups))
    text.put("priorities", len(groups), f"the flow file's priority groups: {mapped}")
    text.table("[flow_control]", "PAUSE at an eighth of the free memory, more at ports that are faster than hosts'.")
    text.put("name", "pfc")
    text.put("alpha", 0.125)
    text.put("alpha_by_rate", True)
    text.put("reserve", "4KiB")
    text.put("resume_offset", "3KiB")
    text.put("headroom_bdp", 3)
    text.put("expires", False)


def _ack_every(config: Config, payload: int, warn: Warn) -> int:
    if payload == 0:
        raise config.refuse("PACKET_PAYLOAD_SIZE", "leaves nothing to send", "1 or more")
    interval: int = config.get("L2_ACK_INTERVAL")
    if interval > payload:
        if interval % payload:
            warn(
                f"{config.at('L2_ACK_INTERVAL')}: not a multiple of PACKET_PAYLOAD_SIZE, so ACKs are rounded to packets"
            )
        warn(f"{config.at('L2_ACK_INTERVAL')}: there L2_CHUNK_SIZE makes ACKs in between, here not")
    return max(1, -(-interval // payload))


def _quirks(text: Lines, mode: int, topology: Topology) -> None:
    text.table("[quirks]", "That simulator's own ways, to compare flow by flow; without this table, xoff's.")
    text.put("clock", "ns3", "times are cut to whole ns")
    text.put("order", "scheduled", "simultaneous events run in the order in which they were scheduled")
    text.put("nic", "ns3", "how a NIC finds the next packet")
    if mode != HPCC:
        text.put("gap", "rate_when_sent", "only HPCC moves a packet that is due when the rate changes")
    if mode in MARKED:
        # Sources of randomness that come into being before the first mark or PAUSE: 2, and 6 a node, found by comparing
        # its runs on 4, 20 and 208 nodes, whose marks and PAUSEs are all the same with this number.
        streams = 2 + 6 * (len(topology.hosts) + len(topology.switches))
        text.put("marking_stream", streams, "the random streams by which it marks")
    text.put("base_rtt", "payload", "2 x propagation + transmission of a payload at each hop, without headers and ACK")


def _traffic(text: Lines, flows: list[Flow], topology: Topology, out: Path, files: dict[Path, str]) -> None:
    priority = {group: number for number, group in enumerate(sorted({flow.group for flow in flows}))}
    if 7 * len(flows) >= LONG:
        file = out.with_name(f"{out.stem}.flows.txt")
        text.table("[[traffic]]")
        text.put("pattern", "list")
        text.put("label", "flows")
        text.put("file", file.name)
        rows = [f"{MARK}the flow file of the ns-3 HPCC simulator.", "src dst size_bytes start_ns priority"]
        name = {node: topology.name(node) for node in topology.hosts}
        rows += [f"{name[f.src]} {name[f.dst]} {f.size} {f.start} {priority[f.group]}" for f in flows]
        files[file] = "\n".join(rows) + "\n"
        return
    for flow in flows:
        text.table("[[traffic]]")
        text.put("pattern", "flow")
        text.put("label", "flows")
        text.put("src", topology.name(flow.src))
        text.put("dst", topology.name(flow.dst))
        text.put("size", size_text(flow.size))
        text.put("start", moment_text(flow.start))
        text.put("priority", priority[flow.group])


def _trace(config: Config, topology: Topology, inputs: list[Path], warn: Warn) -> None:
    """Say which command traces packets."""
    if not config.get("ENABLE_TRACE") or not config.get("TRACE_FILE"):
        return
    file = _beside(config, "TRACE_FILE", inputs)
    words = [(line, index) for line in read_lines(file, "trace file") for index in range(len(line.words))]
    if not words:
        raise UserError(f"{file}: it is empty: expected the number of nodes, and their ids")
    (line, index), *words = words
    count = line.count(index, "the number of nodes", 0, 10**6)
    if len(words) < count:
        raise UserError(f"{file}: it has {len(words)} ids: expected {count}, as line {line.number} says")
    nodes = len(topology.hosts) + len(topology.switches)
    traced = {line.count(index, "a node", 0, nodes - 1) for line, index in words[:count]}
    if traced:
        link = next(link for link in topology.links if traced & {link.src, link.dst})
        a, b = (link.src, link.dst) if link.src in traced else (link.dst, link.src)
        port = f"{topology.name(a)}->{topology.name(b)}"
        warn(f"{config.at('ENABLE_TRACE')}: `xoff run` traces packets of TRACE_FILE's nodes with --pcap '{port}'")
