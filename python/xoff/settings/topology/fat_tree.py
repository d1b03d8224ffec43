"""Topologies: hosts, switches and links: `fat_tree`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["fat_tree"]


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
