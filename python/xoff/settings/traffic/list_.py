"""Traffic patterns: `list`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Table, Time, table

__all__ = ["list_"]


def list_(
    *,
    file: str,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    across_hosts: bool | None = None,
) -> Table:
    """Flows from a file.

    Parameters
    ----------
    file
        Path of the file: lines `SRC DST SIZE START [PRIORITY]` with units, or a header that names the columns.
    label
        Name of the group of flows in the results; without it, the pattern's name.
    priority
        Traffic class of the flows whose line has no priority, 0 to 7.
    nic
        Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    connection
        Which messages share a connection, and so its congestion control: none do (`"per_message"`), all from a host
        to another (`"per_pair"`), or this many connections from a host to another take them in turn (a number).
    start
        Added to the start of each flow.
    across_hosts
        Whether a flow may wait (column `after`) for an end that its own host does not know; it then learns of that
        end without delay, and the run takes one thread.
    """
    return table(
        {
            "pattern": "list",
            "file": file,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "across_hosts": across_hosts,
        }
    )
