"""Topologies: hosts, switches and links: `rail_optimized`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["rail_optimized"]

RailSpines = Literal["per_rail", "shared", "none"]


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
