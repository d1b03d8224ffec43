"""The flow file: how many, and a flow a line: `SRC DST PRIORITY DST_PORT SIZE_BYTES START_S`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from xoff.errors import UserError
from xoff.formats.lines import Line, read_lines
from xoff.formats.ns3_hpcc.topology import Topology

COLUMNS = "SRC DST PRIORITY DST_PORT SIZE_BYTES START_S"


@dataclass(frozen=True)
class Flow:
    """A flow, its ends by id."""

    src: int
    dst: int
    group: int
    """Priority group, 1 to 7."""
    dst_port: int
    size: int
    """Bytes."""
    start: int
    """ns."""


def start_ns(text: str) -> int:
    """A start in whole ns, as that simulator computes it: a double in s, cut in 64.64 fixed point.

    Half of all times lose 1 ns by that: 0.0001 s is 1844674407370955.25 times 2^-64 s, and without the fraction
    99999.99999999999999 ns.
    """
    value = Fraction(float(text))
    whole = int(value)
    fixed = int((value - whole) * 2**64)
    return whole * 10**9 + (fixed * 10**9 >> 64)


def read_flows(file: Path, topology: Topology, warn: Callable[[str], None]) -> list[Flow]:
    """The flows in a flow file, in its order."""
    lines = read_lines(file, "flow file")
    if not lines:
        raise UserError(f"{file}: it is empty: expected the number of flows in its first line")
    first, *lines = lines
    first.has("FLOWS")
    number = first.count(0, "the number of flows", 1, 10**8)
    if len(lines) < number:
        raise UserError(f"{file}: it has {len(lines)} flows: expected {number}, as line {first.number} says")
    if len(lines) > number:
        rest = f"the last {len(lines) - number} are left out, as there"
        warn(f"{file}:{lines[number].number}: line {first.number} says {number} flows, so {rest}")
    hosts, switches = set(topology.hosts), set(topology.switches)
    flows: list[Flow] = []
    for line in lines[:number]:
        flow = _flow(line, hosts, switches)
        if flows and flow.start < flows[-1].start:
            raise line.wrong(
                f"the flow starts at {line.words[5]} s, before that of the line above",
                "flows by start, as that simulator needs them",
            )
        flows.append(flow)
    return flows


def _flow(line: Line, hosts: set[int], switches: set[int]) -> Flow:
    line.has(COLUMNS)
    src, dst = (line.count(index, "a node") for index in (0, 1))
    for node in (src, dst):
        if node in switches:
            raise line.wrong(f"node {node} is a switch", "a host")
        if node not in hosts:
            raise line.wrong(f"the unknown node {node}", f"one from 0 to {len(hosts) + len(switches) - 1}")
    if src == dst:
        raise line.wrong(f"a flow from node {src} to itself", "two hosts")
    group = line.count(2, "the priority group", 0, 7)
    if group == 0:
        raise line.wrong(
            "priority group 0, which is that simulator's control class and not modelled for flows", "1 to 7"
        )
    port = line.count(3, "the destination port", 0, 2**16 - 1)
    size = line.count(4, "the size in bytes", 1)
    start = line.real(5, "the start in s")
    if float(start) > 10**6:
        raise line.wrong(f"the start is {start} s", "at most 1000000 s")
    return Flow(src, dst, group, port, size, start_ns(start))
