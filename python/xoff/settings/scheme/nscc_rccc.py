"""Congestion control: `nscc_rccc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping

from xoff.settings.table import Table, table

__all__ = ["nscc_rccc"]


def nscc_rccc(
    *,
    nscc: Mapping[str, object] | None = None,
    rccc: Mapping[str, object] | None = None,
) -> Table:
    """NSCC and RCCC together.

    Parameters
    ----------
    nscc
        The sender's window, as in scheme `nscc`.
    rccc
        The receiver's credit, as in scheme `rccc`.
    """
    return table(
        {
            "name": "nscc_rccc",
            "nscc": nscc,
            "rccc": rccc,
        }
    )
