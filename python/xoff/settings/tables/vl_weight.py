"""Plain tables of a scenario, and tables inside others: `vl_weight`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Table, table

__all__ = ["vl_weight"]


def vl_weight(
    *,
    vl: int,
    weight: int,
) -> Table:
    """An entry of a table of InfiniBand's arbitration among virtual lanes.

    Parameters
    ----------
    vl
        The virtual lane, a data priority.
    weight
        What the lane may send in the entry's turn, in units of 64 B, from 0 to 255; an entry with 0 is skipped.
    """
    return table(
        {
            "vl": vl,
            "weight": weight,
        }
    )
