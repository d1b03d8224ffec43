"""Plain tables of a scenario, and tables inside others: `straggler`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Table, table

__all__ = ["straggler"]


def straggler(
    *,
    rank: int,
    factor: float,
) -> Table:
    """A rank that computes more slowly.

    Parameters
    ----------
    rank
        Number of the rank.
    factor
        How many times as long its passes take; above 0, and at most 1000.
    """
    return table(
        {
            "rank": rank,
            "factor": factor,
        }
    )
