"""Routing: how packets find their path: `spanning_trees`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.settings.table import Table, table

__all__ = ["spanning_trees"]


def spanning_trees(
    *,
    trees: int | None = None,
    roots: Sequence[str] | None = None,
) -> Table:
    """Each flow takes the only path in one of several spanning trees, by a hash.

    Parameters
    ----------
    trees
        Number of trees; at least 1. The default gives each core switch of FNCC's fat-tree with k = 8 a tree of its
        own.
    roots
        Names of the switches at which the trees are rooted, in turn; without them, the switches of the highest tier,
        evenly chosen.
    """
    return table(
        {
            "name": "spanning_trees",
            "trees": trees,
            "roots": roots,
        }
    )
