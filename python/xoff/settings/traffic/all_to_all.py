"""Traffic patterns: `all_to_all`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["all_to_all"]


def all_to_all(
    *,
    size: Bytes,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    hosts: str | Sequence[str] | None = None,
    stagger: Time | None = None,
) -> Table:
    """A message from each host to each other one.

    Parameters
    ----------
    size
        Payload of each message, up to 1 TB.
    label
        Name of the group of flows in the results; without it, the pattern's name.
    priority
        Traffic class, 0 to 7.
    nic
        Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    connection
        Which messages share a connection, and so its congestion control: none do (`"per_message"`), all from a host
        to another (`"per_pair"`), or this many connections from a host to another take them in turn (a number).
    start
        When the first round starts.
    hosts
        Who takes part, two or more.
    stagger
        Time from the start of a round to the start of the next one; with 0 all rounds start at the same time. Every
        round must start before the end of the run.
    """
    return table(
        {
            "pattern": "all_to_all",
            "size": size,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "hosts": hosts,
            "stagger": stagger,
        }
    )
