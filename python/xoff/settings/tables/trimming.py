"""Plain tables of a scenario, and tables inside others: `trimming`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Table, table

__all__ = ["trimming"]


def trimming(
    *,
    size: Bytes | None = None,
) -> Table:
    """Switches that trim packets.

    Parameters
    ----------
    size
        Bytes on the wire of a trimmed packet.
    """
    return table(
        {
            "size": size,
        }
    )
