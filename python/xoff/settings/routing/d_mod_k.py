"""Routing: how packets find their path: `d_mod_k`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Table, table

__all__ = ["d_mod_k"]


def d_mod_k() -> Table:
    """Fat-trees: the destination's number decides on each link upwards."""
    return table({"name": "d_mod_k"})
