"""Detectors: what marks packets: `np_ecn`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from xoff.settings.table import Table, table

__all__ = ["np_ecn"]

Rule = Literal["backlog", "red"]


def np_ecn(
    *,
    rule: Rule | None = None,
    red: Mapping[str, object] | None = None,
) -> Table:
    """Marks no packet that a PAUSE has held up.

    Parameters
    ----------
    rule
        When a packet that no PAUSE has held up is marked. Default `backlog`.
    red
        RED's parameters, with `rule = "red"` only.
    """
    return table(
        {
            "name": "np_ecn",
            "rule": rule,
            "red": red,
        }
    )
