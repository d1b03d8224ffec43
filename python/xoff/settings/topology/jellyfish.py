"""Topologies: hosts, switches and links: `jellyfish`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["jellyfish"]


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
