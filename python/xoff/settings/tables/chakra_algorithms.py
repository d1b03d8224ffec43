"""Plain tables of a scenario, and tables inside others: `chakra_algorithms`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Table, table

__all__ = ["chakra_algorithms"]

CollectiveAlgorithm = Literal[
    "ring",
    "double_binary_tree",
    "tree",
    "halving_doubling",
    "recursive_doubling",
    "bruck",
    "pairwise",
    "spread",
    "direct",
    "hierarchical",
]


def chakra_algorithms(
    *,
    all_reduce: CollectiveAlgorithm | None = None,
    all_gather: CollectiveAlgorithm | None = None,
    reduce_scatter: CollectiveAlgorithm | None = None,
    all_to_all: CollectiveAlgorithm | None = None,
    broadcast: CollectiveAlgorithm | None = None,
    reduce: CollectiveAlgorithm | None = None,
    scatter: CollectiveAlgorithm | None = None,
    gather: CollectiveAlgorithm | None = None,
) -> Table:
    """Algorithms of collectives; `None` for the first one that docs/collectives.md lists for the operation.

    Parameters
    ----------
    all_reduce
        All-reduce.
    all_gather
        All-gather.
    reduce_scatter
        Reduce-scatter.
    all_to_all
        All-to-all.
    broadcast
        Broadcast.
    reduce
        Reduce.
    scatter
        Scatter.
    gather
        Gather.
    """
    return table(
        {
            "all_reduce": all_reduce,
            "all_gather": all_gather,
            "reduce_scatter": reduce_scatter,
            "all_to_all": all_to_all,
            "broadcast": broadcast,
            "reduce": reduce,
            "scatter": scatter,
            "gather": gather,
        }
    )
