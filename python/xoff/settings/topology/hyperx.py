"""Topologies: hosts, switches and links: `hyperx`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["hyperx"]


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
