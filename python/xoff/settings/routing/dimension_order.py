"""Routing: how packets find their path: `dimension_order`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Table, table

__all__ = ["dimension_order"]


def dimension_order() -> Table:
    """Torus and HyperX: one dimension after the other."""
    return table({"name": "dimension_order"})
