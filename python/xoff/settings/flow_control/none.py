"""Flow control between neighbours: `none`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Table, table

__all__ = ["none"]


def none() -> Table:
    """None: queues grow up to `switch.buffer`."""
    return table({"name": "none"})
