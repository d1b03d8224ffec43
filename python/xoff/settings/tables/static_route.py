"""Plain tables of a scenario, and tables inside others: `static_route`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.settings.table import Table, table

__all__ = ["static_route"]


def static_route(
    *,
    from_: str,
    to: str,
    via: Sequence[str],
) -> Table:
    """A path from one host to another. It also holds for the opposite direction, unless that direction is listed.

    Parameters
    ----------
    from_
        Name of the sending host.
    to
        Name of the receiving host.
    via
        Names of all switches on the path, from the sender's to the receiver's. If two of them have parallel links,
        the flow's hash picks one link.
    """
    return table(
        {
            "from": from_,
            "to": to,
            "via": via,
        }
    )
