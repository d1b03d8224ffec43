"""Topologies: hosts, switches and links: `leaf_spine`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["leaf_spine"]


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
