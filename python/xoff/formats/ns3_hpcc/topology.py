"""The topology file: `NODES SWITCHES LINKS`, the switches' ids, and a link a line: `SRC DST RATE DELAY ERROR_RATE`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from xoff.errors import UserError
from xoff.formats.lines import Line, quoted, read_lines
from xoff.formats.ns3_hpcc.quantity import rate_bps, time_ns

MAX_NODES = 2**16
"""An id stands in two bytes of an address."""

COLUMNS = "SRC DST RATE DELAY ERROR_RATE"


@dataclass(frozen=True)
class Link:
    """A link between two nodes, the same both ways."""

    src: int
    dst: int
    rate: int
    """Bit/s."""
    delay: int
    """ns."""


@dataclass(frozen=True)
class Topology:
    """Nodes by id; every node that is not a switch is a host."""

    file: Path
    hosts: list[int]
    switches: list[int]
    links: list[Link]
    """In the order of the file, which numbers the interfaces of each node."""

    def name(self, node: int) -> str:
        """What the scenario calls a node."""
        return f"{'s' if node in self._switches else 'h'}{node}"

    @functools.cached_property
    def _switches(self) -> frozenset[int]:
        return frozenset(self.switches)

    def rates_of_switches(self) -> list[int]:
        """The rates of switches' ports, ascending."""
        switches = self._switches
        return sorted({link.rate for link in self.links if link.src in switches or link.dst in switches})

    def one_rate_of_hosts(self) -> bool:
        """Whether all hosts' links have one rate, and no link a lower one."""
        hosts = set(self.hosts)
        rates = {link.rate for link in self.links if link.src in hosts or link.dst in hosts}
        return len(rates) == 1 and min(link.rate for link in self.links) in rates


def read_topology(file: Path, warn: Callable[[str], None]) -> Topology:
    """The network in a topology file."""
    lines = read_lines(file, "topology file")
    if not lines:
        raise UserError(f"{file}: it is empty: expected `NODES SWITCHES LINKS` in its first line")
    first, *lines = lines
    first.has("NODES SWITCHES LINKS")
    nodes = first.count(0, "the number of nodes", 1, MAX_NODES)
    count = first.count(1, "the number of switches", 0, nodes)
    number = first.count(2, "the number of links", 1, 10**7)
    switches: list[int] = []
    while len(switches) < count:
        if not lines:
            raise UserError(f"{file}: it ends after {len(switches)} ids of switches: expected {count}, as line 1 says")
        line, *lines = lines
        for index in range(len(line.words)):
            switch = line.count(index, "the id of a switch", 0, nodes - 1)
            if switch in switches:
                raise line.wrong(f"switch {switch} twice", "each once")
            switches.append(switch)
        if len(switches) > count:
            raise line.wrong(f"{len(switches)} ids of switches", f"{count}, as line {first.number} says")
    if len(lines) < number:
        raise UserError(f"{file}: it has {len(lines)} links: expected {number}, as line {first.number} says")
    if len(lines) > number:
        rest = f"the last {len(lines) - number} are left out, as there"
        warn(f"{file}:{lines[number].number}: line {first.number} says {number} links, so {rest}")
    known = set(switches)
    hosts = [node for node in range(nodes) if node not in known]
    topology = Topology(file, hosts, sorted(switches), [_link(line, nodes, warn) for line in lines[:number]])
    _check(topology, lines)
    return topology


def _link(line: Line, nodes: int, warn: Callable[[str], None]) -> Link:
    line.has(COLUMNS)
    src, dst = (line.count(index, "a node", 0, nodes - 1) for index in (0, 1))
    if src == dst:
        raise line.wrong(f"a link from node {src} to itself", "two nodes")
    rate, delay = rate_bps(line.words[2]), time_ns(line.words[3])
    if not rate:
        raise line.wrong(f"the rate is {quoted(line.words[2])}", "one such as `100Gbps`")
    if delay is None:
        raise line.wrong(f"the delay is {quoted(line.words[3])}", "one such as `1000ns`")
    if delay.denominator != 1:
        warn(f"{line.file}:{line.number}: the delay is cut to {int(delay)}ns, as there")
    if float(line.real(4, "the error rate")) != 0:
        raise line.wrong(f"the error rate is {line.words[4]}, and lossy links are not modelled", "0")
    return Link(src, dst, rate, int(delay))


def _check(topology: Topology, lines: list[Line]) -> None:
    """Refuse what no scenario can describe: hosts without or with several links, parallel links, islands."""
    hosts = set(topology.hosts)
    if len(hosts) < 2:
        raise UserError(
            f"{topology.file}: it has {len(hosts)} nodes that are not switches: expected at least two hosts"
        )
    links_of: dict[int, list[int]] = {}
    pairs: dict[frozenset[int], Line] = {}
    for link, line in zip(topology.links, lines, strict=False):
        pair = frozenset((link.src, link.dst))
        if pair in pairs:
            what = f"a second link between nodes {link.src} and {link.dst}, beside line {pairs[pair].number}"
            raise line.wrong(what, "one, since that simulator's routing knows one")
        pairs[pair] = line
        for node, peer in ((link.src, link.dst), (link.dst, link.src)):
            if node in hosts and node in links_of:
                expected = "one link a host, since that simulator takes a host's address and rate from its first device"
                raise line.wrong(f"a second link of node {node}, which is a host", expected)
            links_of.setdefault(node, []).append(peer)
    for host in topology.hosts:
        if host not in links_of:
            raise UserError(f"{topology.file}: node {host}, which is a host, has no link: expected one")
    reached, queue = {topology.hosts[0]}, [topology.hosts[0]]
    for node in queue:
        for peer in links_of[node]:
            if peer not in reached:
                reached.add(peer)
                queue.append(peer)
    for host in topology.hosts:
        if host not in reached:
            raise UserError(
                f"{topology.file}: no links connect the hosts {topology.hosts[0]} and {host}: expected one network"
            )
