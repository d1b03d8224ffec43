"""The fat tree of a command line: of a `.topo` file, or by the number of nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from xoff.errors import UserError
from xoff.formats.htsim.topology import Topology, read_topology
from xoff.formats.networks import Link, Network, listed
from xoff.formats.uet_htsim.commandline import Command, wrong

_PS_OF_US = 10**6
_PS_OF_NS = 10**3

DEGRADED = 4
"""A failed link has this part of its rate."""


@dataclass(frozen=True)
class Tree:
    """A fat tree whose links all have the same rate."""

    hosts: int
    down: int
    """Hosts of each ToR switch."""
    tors: int
    """Of each pod; of all if there are two tiers."""
    aggs: int
    """Of each pod; of all if there are two tiers."""
    uplinks: int
    """From each aggregation switch; 0 if there are two tiers."""
    bundles: tuple[int, ...]
    """Links between a ToR and an aggregation switch, and between that and a core switch."""
    rate: int
    """bit/s."""
    hops: tuple[int, ...]
    """Latency of the links below each tier in ps."""
    switches: tuple[int, ...]
    """Latency of the switches of each tier in ps."""

    @property
    def tiers(self) -> int:
        """2 or 3."""
        return len(self.hops)

    @property
    def oversubscription(self) -> float:
        """Hosts of a ToR switch for each of its uplinks."""
        return self.down / (self.aggs * self.bundles[0])

    def round_trip(self, mtu: int) -> int:
        """Base RTT of the network in ps, as there: of a full packet and its ACK over the diameter."""
        one_way = 2 * sum(self.hops) + 2 * sum(self.switches[:-1]) + self.switches[-1]
        return 2 * one_way + 2 * self.tiers * (mtu + 64) * (8 * 10**12 // self.rate)

    def network(self, failed: int, source: Path) -> Network:
        """Its nodes and links; of `failed` links or, with two tiers, spines, some have a part of their rate."""
        pods = self.hosts // (self.down * self.tors)
        cores = self.aggs * self.uplinks
        nodes = {f"host{n}": "host" for n in range(self.hosts)}
        nodes |= {f"tor{n}": "switch" for n in range(pods * self.tors)}
        nodes |= {f"agg{n}": "switch" for n in range(pods * self.aggs)}
        nodes |= {f"core{n}": "switch" for n in range(cores)}
        slow = self.rate // DEGRADED
        links = [self._link(f"host{n}", f"tor{n // self.down}", 0) for n in range(self.hosts)]
        for tor in range(pods * self.tors):
            first = tor // self.tors * self.aggs
            for agg in range(first, first + self.aggs):
                rate = slow if self.tiers == 2 and agg < failed else self.rate
                links += [self._link(f"tor{tor}", f"agg{agg}", 1, rate, rate)] * self.bundles[0]
        for agg in range(pods * self.aggs if cores else 0):
            for uplink in range(self.uplinks):
                down = slow if uplink + agg * self.aggs < failed else self.rate
                core = agg % self.aggs + self.aggs * uplink
                links += [self._link(f"agg{agg}", f"core{core}", 2, self.rate, down)] * self.bundles[1]
        return listed(nodes, links, source, "a command line of uet-htsim")

    def _link(self, below: str, above: str, tier: int, up: int | None = None, down: int | None = None) -> Link:
        """A link below a tier. Each delay includes the time that the switch at its end needs for a packet."""
        at_below = self.switches[tier - 1] if tier else 0
        hop = self.hops[tier]
        return Link(below, above, up or self.rate, hop + self.switches[tier], down or self.rate, hop + at_below)


def tree_of(command: Command, nodes: int, folder: Path, warn: list[str]) -> Tree:
    """The tree of a command line, with this number of nodes in the connection matrix."""
    rate = command.linkspeed * 10**6
    if command.topology is not None:
        return _of_file(read_topology(folder / command.topology, _quietly(warn)), command, nodes, rate)
    k = 2
    while _hosts(command.tiers, k) < nodes:
        k += 2
    if _hosts(command.tiers, k) != nodes:
        sizes = " or ".join(str(_hosts(command.tiers, size)) for size in (k - 2, k) if size)
        what = f"{nodes} nodes in a tree of {command.tiers} tiers"
        raise UserError(f"{command.matrix}: {what}: expected {sizes}, which make a whole tree")
    hop, switch = int(command.hop_latency * _PS_OF_US), int(command.switch_latency * _PS_OF_US)
    half = k // 2
    if command.tiers == 2:
        return Tree(nodes, half, k, half, 0, (1, 1), rate, (hop,) * 2, (switch,) * 2)
    return Tree(nodes, half, half, half, half, (1, 1), rate, (hop,) * 3, (switch,) * 3)


def _hosts(tiers: int, k: int) -> int:
    """Hosts of a tree of switches with k ports."""
    return k * k // 2 if tiers == 2 else k**3 // 4


def _of_file(topology: Topology, command: Command, nodes: int, rate: int) -> Tree:
    tiers = topology.tiers
    for tier in tiers:
        speed = tier.get("downlink_speed_gbps") * 10**9
        if speed != rate:
            what = f"{speed // 10**9} Gbps, and `-linkspeed` is {command.linkspeed} Mbps"
            raise tier.at("downlink_speed_gbps").wrong(
                what, "the same in both: NICs, windows and queues follow the option"
            )
    if topology.hosts != nodes:
        raise wrong(
            f"-topo {command.topology}", f"has {topology.hosts} hosts", f"the {nodes} nodes of the connection matrix"
        )
    hops = tuple(tier.get("downlink_latency_ns") * _PS_OF_NS for tier in tiers)
    switches = tuple(tier.get("switch_latency_ns", 0) * _PS_OF_NS for tier in tiers)
    bundles = tuple(tier.get("bundle", 1) for tier in tiers[1:])
    down = tiers[0].get("radix_down")
    return Tree(nodes, down, topology.tors, topology.aggs, topology.uplinks, (*bundles, 1), rate, hops, switches)


def _quietly(warnings: list[str]) -> Callable[[str], None]:
    """Takes warnings, except for that of queue sizes, which that program overwrites too."""
    return lambda text: None if "sizes of queues" in text else warnings.append(text)
