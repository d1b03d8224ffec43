"""Plain tables of a scenario, and tables inside others: `fast_forward`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Table, table

__all__ = ["fast_forward"]

Approximate = Literal["never", "apart", "always"]


def fast_forward(
    *,
    enabled: bool | None = None,
    tolerance: float | None = None,
    approximate: Approximate | None = None,
    recall: bool | None = None,
) -> Table:
    """Carries time forward over steady states of the run, in which every message sends at a constant rate.

    Parameters
    ----------
    enabled
        With `false` the run is the one without this table, in which every packet is simulated. Otherwise the table
        switches fast-forward on, if only as `fast_forward = {}`.
    tolerance
        Relative error of completion times that is accepted: above 0, and at most 0.1. A smaller one gives fewer and
        shorter jumps.
    approximate
        Which steady states are carried forward that do not repeat exactly: with `never` none, with `apart` those of a
        run whose messages have not met at a port, with `always` those of messages that share ports too; and with
        `always` messages are recalled also where the run cannot vouch for them. There a run skips more, and is
        uncertain from the first such jump or message on: single messages may differ by far more than the tolerance.
    recall
        Messages that take the same time again and again are recalled, and not simulated. Without that a run skips
        less; and under schemes that learn from ACKs, where recalled messages are uncertain, it may be certain of all
        messages.
    """
    return table(
        {
            "enabled": enabled,
            "tolerance": tolerance,
            "approximate": approximate,
            "recall": recall,
        }
    )
