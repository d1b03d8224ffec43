"""Topologies: hosts, switches and links: `dragonfly_plus`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["dragonfly_plus"]


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
