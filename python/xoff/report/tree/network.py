"""The network of a run, from its tables: nodes in tiers, and the egress ports between them."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xoff.analysis.tables import frame

if TYPE_CHECKING:
    from xoff.runs.results import Run

_HOST = re.compile(r"(host|sender|receiver)\d+")
"""Names of hosts in the topologies that come with a name."""


@dataclass(frozen=True)
class Network:
    """Nodes and egress ports; both are identified by their place in these lists."""

    nodes: list[str]
    """Names of the nodes."""
    tiers: list[int]
    """How many links a node is away from the nearest host; 0 for hosts."""
    ports: list[str]
    """Names of the ports, in the order of the run's table."""
    node: list[int]
    """By port: the node at which it is."""
    peer: list[int]
    """By port: the node to which it leads."""
    listed: bool
    """The scenario lists the nodes one by one, so that their order need not mean anything."""

    @cached_property
    def port_number(self) -> dict[str, int]:
        """Ports by name."""
        return {name: number for number, name in enumerate(self.ports)}

    @cached_property
    def between(self) -> dict[tuple[int, int], list[int]]:
        """The ports from one node to another; several where links are parallel."""
        found: dict[tuple[int, int], list[int]] = {}
        for port, ends in enumerate(zip(self.node, self.peer, strict=True)):
            found.setdefault(ends, []).append(port)
        return found

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """By node: the nodes next to it, each once."""
        found: list[dict[int, None]] = [{} for _ in self.nodes]
        for node, peer in zip(self.node, self.peer, strict=True):
            found[node][peer] = None
        return [list(each) for each in found]

    def is_host(self, node: int) -> bool:
        """Whether it sends and receives flows."""
        return self.tiers[node] == 0

    def hosts(self) -> list[int]:
        """The hosts, in order."""
        return [node for node in range(len(self.nodes)) if self.is_host(node)]

    def path(self, names: str) -> list[int]:
        """The nodes of a path in the form `a>b>c` of the table `flows`; `None` if the path is not in this network."""
        try:
            nodes = [self._node_number[name] for name in names.split(">")]
        except KeyError:
            return []
        return nodes if all(ends in self.between for ends in itertools.pairwise(nodes)) else []

    def hops(self, path: list[int]) -> list[list[int]]:
        """The ports by which data leaves each node of a path but the last; parallel ones together."""
        return [self.between[ends] for ends in itertools.pairwise(path)]

    @cached_property
    def _node_number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.nodes)}


def network_of(run: Run) -> Network:
    """The network of `run`."""
    data = frame(run, "ports")
    ports, starts, ends = (data[name].to_list() for name in ("port", "node", "peer"))
    topology = run.manifest["scenario"].get("topology", {})
    listed = topology.get("name") == "graph"
    # A topology's own order: that in which nodes first appear as the ends of links, hosts of a switch together.
    number: dict[str, int] = {}
    for name in (*starts, *ends):
        number.setdefault(name, len(number))
    node, peer = [number[name] for name in starts], [number[name] for name in ends]
    hosts = _listed_hosts(topology) if listed else {name for name in number if _HOST.fullmatch(name)}
    nodes = list(number)
    return Network(nodes, _tiers(nodes, node, peer, hosts), ports, node, peer, listed)


def _listed_hosts(topology: dict[str, Any]) -> set[str]:
    return {*topology.get("hosts", ()), *(each["name"] for each in topology.get("nodes", ()) if each["kind"] == "host")}


def _tiers(nodes: list[str], node: list[int], peer: list[int], hosts: set[str]) -> list[int]:
    """Links from the nearest host; one more than the highest if a node reaches no host."""
    beside: list[list[int]] = [[] for _ in nodes]
    for start, end in zip(node, peer, strict=True):
        beside[start].append(end)
    tiers = [0 if name in hosts else -1 for name in nodes]
    reached = [number for number, tier in enumerate(tiers) if tier == 0]
    for each in reached:
        for other in beside[each]:
            if tiers[other] < 0:
                tiers[other] = tiers[each] + 1
                reached.append(other)
    top = max(tiers, default=0) + 1
    return [top if tier < 0 else tier for tier in tiers]
