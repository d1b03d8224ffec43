"""Congestion control: `rccc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Table, table

__all__ = ["rccc"]


def rccc(
    *,
    pull_rate: float | None = None,
    pull_quanta: int | None = None,
    oversubscription: float | None = None,
) -> Table:
    """RCCC: Ultra Ethernet's credits from receivers.

    Parameters
    ----------
    pull_rate
        Share of the receiver's link that PULLs grant.
    pull_quanta
        Quanta of 256 B that a PULL brings at most.
    oversubscription
        The ratio of hosts' rates to uplinks of their switch. Above 1, the receiver slows its PULLs by marks and
        trimmed packets, down to 0.9 / this.
    """
    return table(
        {
            "name": "rccc",
            "pull_rate": pull_rate,
            "pull_quanta": pull_quanta,
            "oversubscription": oversubscription,
        }
    )
