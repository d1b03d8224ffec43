"""Topologies: hosts, switches and links: `dumbbell`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["dumbbell"]


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
