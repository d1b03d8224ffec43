"""Topologies: hosts, switches and links: `chain`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["chain"]

Join = Literal["first", "middle", "last"]


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
