"""Topologies: hosts, switches and links: `star`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["star"]


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
