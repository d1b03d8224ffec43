"""Routing: how packets find their path: `k_shortest`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Table, table

__all__ = ["k_shortest"]


def k_shortest(
    *,
    k: int | None = None,
    lanes: int | None = None,
) -> Table:
    """Each flow takes one of the k shortest paths, by a hash.

    Parameters
    ----------
    k
        Paths between two switches, at most; from 1 to 64.
    lanes
        Virtual lanes for each priority of traffic, one for each link between switches, so that paths never deadlock;
        paths with more links are left out. From 1 to 8; 1 takes paths of any length, which may deadlock.
    """
    return table(
        {
            "name": "k_shortest",
            "k": k,
            "lanes": lanes,
        }
    )
