"""Plain tables of a scenario, and tables inside others: `graph_node`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Table, table

__all__ = ["graph_node"]

GraphNodeKind = Literal["host", "switch"]


def graph_node(
    *,
    name: str,
    kind: GraphNodeKind,
) -> Table:
    """A listed node.

    Parameters
    ----------
    name
        Unique name.
    kind
        Host or switch.
    """
    return table(
        {
            "name": name,
            "kind": kind,
        }
    )
