"""Traffic patterns: `permutation`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["permutation"]


def permutation(
    *,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    hosts: str | Sequence[str] | None = None,
    size: Bytes | None = None,
    stop: Time | None = None,
) -> Table:
    """A flow from each host to one other, each receiving one.

    Parameters
    ----------
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
        When all flows start.
    hosts
        Who takes part, two or more.
    size
        Payload of each flow, up to 1 TB; without it, flows are endless until `stop` or the end of the run.
    stop
        When the flows end even if bytes are left.
    """
    return table(
        {
            "pattern": "permutation",
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "hosts": hosts,
            "size": size,
            "stop": stop,
        }
    )
