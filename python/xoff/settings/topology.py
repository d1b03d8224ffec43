"""Topologies: hosts, switches and links.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Rate, Table, Time, table

__all__ = [
    "chain",
    "dragonfly",
    "dragonfly_plus",
    "dumbbell",
    "fat_tree",
    "graph",
    "hpn",
    "hyperx",
    "jellyfish",
    "leaf_spine",
    "rail_optimized",
    "star",
    "torus",
]

Join = Literal["first", "middle", "last"]
RailSpines = Literal["per_rail", "shared", "none"]


def dumbbell(
    *,
    switches: int | None = None,
    senders: int | None = None,
    receivers: int | None = None,
    rate: Rate | None = None,
    trunk_rate: Rate | None = None,
    delay: Time | None = None,
) -> Table:
    """Switches in a chain between senders and receivers.

    Parameters
    ----------
    switches
        Switches in the chain, FNCC's M; at least 1.
    senders
        Hosts on the first switch, FNCC's N; at least 1.
    receivers
        Hosts on the last switch; at least 1.
    rate
        Rate of every link, in bits a second.
    trunk_rate
        Rate of the links between switches, in bits a second; without it, `rate`.
    delay
        Propagation delay of every link.
    """
    return table(
        {
            "name": "dumbbell",
            "switches": switches,
            "senders": senders,
            "receivers": receivers,
            "rate": rate,
            "trunk_rate": trunk_rate,
            "delay": delay,
        }
    )


def chain(
    *,
    switches: int | None = None,
    join: Join | None = None,
    rate: Rate | None = None,
    delay: Time | None = None,
) -> Table:
    """A chain whose congestion is at its first, middle or last hop.

    Parameters
    ----------
    switches
        Switches in the chain; at least 1 for `last`, 2 for `first`, 3 for `middle`.
    join
        Where the second sender joins.
    rate
        Rate of every link, in bits a second.
    delay
        Propagation delay of every link.
    """
    return table(
        {
            "name": "chain",
            "switches": switches,
            "join": join,
            "rate": rate,
            "delay": delay,
        }
    )


def star(
    *,
    hosts: int | None = None,
    rate: Rate | None = None,
    delay: Time | None = None,
) -> Table:
    """Hosts on one switch.

    Parameters
    ----------
    hosts
        Hosts; at least 1. The default makes a 16-to-1 incast.
    rate
        Rate of every link, in bits a second.
    delay
        Propagation delay of every link.
    """
    return table(
        {
            "name": "star",
            "hosts": hosts,
            "rate": rate,
            "delay": delay,
        }
    )


def fat_tree(
    *,
    k: int | None = None,
    hosts_per_edge: int | None = None,
    cores_per_agg: int | None = None,
    rails: int | None = None,
    planes: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    edge_rate: Rate | None = None,
    core_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
    edge_delay: Time | None = None,
    core_delay: Time | None = None,
) -> Table:
    """Three tiers of equal switches.

    Parameters
    ----------
    k
        Ports per switch: even, at least 2.
    hosts_per_edge
        Hosts on each edge switch, or on each group of `rails` edge switches; without it, k/2. More hosts
        oversubscribe the edge.
    cores_per_agg
        Core switches that each aggregation switch is linked with; without it, k/2. Fewer of them oversubscribe the
        core.
    rails
        Rails, and so NICs of each host: NIC i of every host in a group of `rails` edge switches goes to edge switch i
        of the group. A divisor of the k/2 edge switches of a pod.
    planes
        Planes: copies of the tree that share nothing but the hosts. Each host has `rails` NICs in each plane, plane
        by plane.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate between hosts and edge switches, in bits a second; without it, `rate`.
    edge_rate
        Rate between edge and aggregation switches, in bits a second; without it, `rate`.
    core_rate
        Rate between aggregation and core switches, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and edge switches; without it, `delay`.
    edge_delay
        Propagation delay between edge and aggregation switches; without it, `delay`.
    core_delay
        Propagation delay between aggregation and core switches; without it, `delay`.
    """
    return table(
        {
            "name": "fat_tree",
            "k": k,
            "hosts_per_edge": hosts_per_edge,
            "cores_per_agg": cores_per_agg,
            "rails": rails,
            "planes": planes,
            "rate": rate,
            "host_rate": host_rate,
            "edge_rate": edge_rate,
            "core_rate": core_rate,
            "delay": delay,
            "host_delay": host_delay,
            "edge_delay": edge_delay,
            "core_delay": core_delay,
        }
    )


def leaf_spine(
    *,
    leaves: int | None = None,
    spines: int | None = None,
    hosts_per_leaf: int | None = None,
    links_per_pair: int | None = None,
    rails: int | None = None,
    planes: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    spine_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
    spine_delay: Time | None = None,
) -> Table:
    """Two tiers, each leaf connected to each spine.

    Parameters
    ----------
    leaves
        Leaves of a plane; at least 1.
    spines
        Spines of a plane; at least 1.
    hosts_per_leaf
        Hosts on each leaf, or on each group of `rails` leaves; at least 1.
    links_per_pair
        Parallel links between each leaf and each spine; at least 1.
    rails
        Rails, and so NICs of each host: NIC i of every host in a group of `rails` leaves goes to leaf i of the group.
        A divisor of `leaves`.
    planes
        Planes: copies of leaves and spines that share nothing but the hosts. Each host has `rails` NICs in each
        plane, plane by plane.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate between hosts and leaves, in bits a second; without it, `rate`.
    spine_rate
        Rate between leaves and spines, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and leaves; without it, `delay`.
    spine_delay
        Propagation delay between leaves and spines; without it, `delay`.
    """
    return table(
        {
            "name": "leaf_spine",
            "leaves": leaves,
            "spines": spines,
            "hosts_per_leaf": hosts_per_leaf,
            "links_per_pair": links_per_pair,
            "rails": rails,
            "planes": planes,
            "rate": rate,
            "host_rate": host_rate,
            "spine_rate": spine_rate,
            "delay": delay,
            "host_delay": host_delay,
            "spine_delay": spine_delay,
        }
    )


def rail_optimized(
    *,
    rails: int | None = None,
    groups: int | None = None,
    hosts_per_group: int | None = None,
    spine: RailSpines | None = None,
    spines: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    spine_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
    spine_delay: Time | None = None,
) -> Table:
    """A leaf for each rail.

    Parameters
    ----------
    rails
        Rails, and NICs of each host; from 1 to 64.
    groups
        Groups of hosts, each with one leaf of each rail; at least 1.
    hosts_per_group
        Hosts of each group; at least 1.
    spine
        What joins the leaves: spines of each rail (`per_rail`), spines of all rails (`shared`), or nothing (`none`,
        with one group).
    spines
        Spines of each rail, or of all rails if they share them; at least 1.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate between hosts and leaves, in bits a second; without it, `rate`.
    spine_rate
        Rate between leaves and spines, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and leaves; without it, `delay`.
    spine_delay
        Propagation delay between leaves and spines; without it, `delay`.
    """
    return table(
        {
            "name": "rail_optimized",
            "rails": rails,
            "groups": groups,
            "hosts_per_group": hosts_per_group,
            "spine": spine,
            "spines": spines,
            "rate": rate,
            "host_rate": host_rate,
            "spine_rate": spine_rate,
            "delay": delay,
            "host_delay": host_delay,
            "spine_delay": spine_delay,
        }
    )


def hpn(
    *,
    rails: int | None = None,
    segments: int | None = None,
    hosts_per_segment: int | None = None,
    dual_plane: bool | None = None,
    aggs: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    agg_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
    agg_delay: Time | None = None,
) -> Table:
    """Two top-of-rack switches for each NIC.

    Parameters
    ----------
    rails
        Rails, and NICs of two ports of each host; from 1 to 32. The paper has 8.
    segments
        Segments, each with two switches for each rail; at least 1. The paper has 15.
    hosts_per_segment
        Hosts of each segment; at least 1. The paper has 128, with 8 GPUs each.
    dual_plane
        The two ports of a NIC lead to planes of their own; otherwise all switches have the same aggregation switches.
    aggs
        Aggregation switches of each plane, or of all if there is one plane; at least 1. The paper has 60.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate of each port of a NIC, in bits a second; without it, `rate`.
    agg_rate
        Rate between top-of-rack and aggregation switches, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and their switches; without it, `delay`.
    agg_delay
        Propagation delay between top-of-rack and aggregation switches; without it, `delay`.
    """
    return table(
        {
            "name": "hpn",
            "rails": rails,
            "segments": segments,
            "hosts_per_segment": hosts_per_segment,
            "dual_plane": dual_plane,
            "aggs": aggs,
            "rate": rate,
            "host_rate": host_rate,
            "agg_rate": agg_rate,
            "delay": delay,
            "host_delay": host_delay,
            "agg_delay": agg_delay,
        }
    )


def dragonfly(
    *,
    hosts_per_router: int | None = None,
    routers_per_group: int | None = None,
    global_links: int | None = None,
    groups: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    local_rate: Rate | None = None,
    global_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
    local_delay: Time | None = None,
    global_delay: Time | None = None,
) -> Table:
    """Groups of routers.

    Parameters
    ----------
    hosts_per_router
        Hosts on each router (p); at least 1.
    routers_per_group
        Routers in each group (a); at least 1.
    global_links
        Links of each router to other groups (h); at least 1.
    groups
        Groups; at least 2, and at most a h + 1, which is the default.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate between hosts and routers, in bits a second; without it, `rate`.
    local_rate
        Rate inside of groups, in bits a second; without it, `rate`.
    global_rate
        Rate between groups, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and routers; without it, `delay`.
    local_delay
        Propagation delay inside of groups; without it, `delay`.
    global_delay
        Propagation delay between groups; without it, `delay`.
    """
    return table(
        {
            "name": "dragonfly",
            "hosts_per_router": hosts_per_router,
            "routers_per_group": routers_per_group,
            "global_links": global_links,
            "groups": groups,
            "rate": rate,
            "host_rate": host_rate,
            "local_rate": local_rate,
            "global_rate": global_rate,
            "delay": delay,
            "host_delay": host_delay,
            "local_delay": local_delay,
            "global_delay": global_delay,
        }
    )


def dragonfly_plus(
    *,
    hosts_per_leaf: int | None = None,
    leaves_per_group: int | None = None,
    spines_per_group: int | None = None,
    global_links: int | None = None,
    groups: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    local_rate: Rate | None = None,
    global_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
    local_delay: Time | None = None,
    global_delay: Time | None = None,
) -> Table:
    """Groups of leaves and spines.

    Parameters
    ----------
    hosts_per_leaf
        Hosts on each leaf; at least 1.
    leaves_per_group
        Leaves in each group; at least 1.
    spines_per_group
        Spines in each group; at least 1.
    global_links
        Links of each spine to other groups; at least 1.
    groups
        Groups; at least 2, and at most one more than a group's links to others, which is the default.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate between hosts and leaves, in bits a second; without it, `rate`.
    local_rate
        Rate between leaves and spines, in bits a second; without it, `rate`.
    global_rate
        Rate between groups, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and leaves; without it, `delay`.
    local_delay
        Propagation delay between leaves and spines; without it, `delay`.
    global_delay
        Propagation delay between groups; without it, `delay`.
    """
    return table(
        {
            "name": "dragonfly_plus",
            "hosts_per_leaf": hosts_per_leaf,
            "leaves_per_group": leaves_per_group,
            "spines_per_group": spines_per_group,
            "global_links": global_links,
            "groups": groups,
            "rate": rate,
            "host_rate": host_rate,
            "local_rate": local_rate,
            "global_rate": global_rate,
            "delay": delay,
            "host_delay": host_delay,
            "local_delay": local_delay,
            "global_delay": global_delay,
        }
    )


def torus(
    *,
    dimensions: Sequence[int] | None = None,
    hosts_per_switch: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
) -> Table:
    """Rings in every dimension.

    Parameters
    ----------
    dimensions
        Switches along each dimension; at least 2 each, such as `[4, 4]` or `[4, 4, 4]`.
    hosts_per_switch
        Hosts on each switch; at least 1.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate between hosts and switches, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and switches; without it, `delay`.
    """
    return table(
        {
            "name": "torus",
            "dimensions": dimensions,
            "hosts_per_switch": hosts_per_switch,
            "rate": rate,
            "host_rate": host_rate,
            "delay": delay,
            "host_delay": host_delay,
        }
    )


def hyperx(
    *,
    dimensions: Sequence[int] | None = None,
    hosts_per_switch: int | None = None,
    links_per_pair: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
) -> Table:
    """All linked with all in every dimension.

    Parameters
    ----------
    dimensions
        Switches along each dimension (S); at least 2 each, such as `[4, 4]`.
    hosts_per_switch
        Hosts on each switch (T); at least 1.
    links_per_pair
        Parallel links between two switches of a row (K); at least 1.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate between hosts and switches, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and switches; without it, `delay`.
    """
    return table(
        {
            "name": "hyperx",
            "dimensions": dimensions,
            "hosts_per_switch": hosts_per_switch,
            "links_per_pair": links_per_pair,
            "rate": rate,
            "host_rate": host_rate,
            "delay": delay,
            "host_delay": host_delay,
        }
    )


def jellyfish(
    *,
    switches: int | None = None,
    degree: int | None = None,
    hosts_per_switch: int | None = None,
    seed: int | None = None,
    rate: Rate | None = None,
    host_rate: Rate | None = None,
    delay: Time | None = None,
    host_delay: Time | None = None,
) -> Table:
    """A random regular graph.

    Parameters
    ----------
    switches
        Switches; at least 3.
    degree
        Links of each switch to others (r); at least 2 and below `switches`. If both numbers are odd, one switch has
        one less.
    hosts_per_switch
        Hosts on each switch; at least 1.
    seed
        Seed of the graph: the same seed gives the same network, whatever the seed of the run.
    rate
        Rate of the links that have no rate of their own below, in bits a second.
    host_rate
        Rate between hosts and switches, in bits a second; without it, `rate`.
    delay
        Propagation delay of the links that have no delay of their own below.
    host_delay
        Propagation delay between hosts and switches; without it, `delay`.
    """
    return table(
        {
            "name": "jellyfish",
            "switches": switches,
            "degree": degree,
            "hosts_per_switch": hosts_per_switch,
            "seed": seed,
            "rate": rate,
            "host_rate": host_rate,
            "delay": delay,
            "host_delay": host_delay,
        }
    )


def graph(
    *,
    file: str | None = None,
    nodes: Sequence[Mapping[str, object]] | None = None,
    hosts: Sequence[str] | None = None,
    switches: Sequence[str] | None = None,
    links: Sequence[Mapping[str, object]] | None = None,
) -> Table:
    """Any nodes and links.

    Parameters
    ----------
    file
        A file of TOML or JSON with the lists below, instead of them; relative to the scenario.
    nodes
        Nodes with their kinds.
    hosts
        Names of hosts, beside those in `nodes`.
    switches
        Names of switches, beside those in `nodes`.
    links
        Links.
    """
    return table(
        {
            "name": "graph",
            "file": file,
            "nodes": nodes,
            "hosts": hosts,
            "switches": switches,
            "links": links,
        }
    )
