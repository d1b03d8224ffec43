"""Traffic patterns: `all_to_all_collective`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["all_to_all_collective"]


def all_to_all_collective(
    *,
    size: Bytes,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    hosts: str | Sequence[str] | None = None,
    processes: int | None = None,
    repetitions: int | None = None,
    compute: Time | None = None,
    overhead: Time | None = None,
    acknowledged: bool | None = None,
) -> Table:
    """Exchanges of all ranks with all, in a closed loop.

    Parameters
    ----------
    size
        Payload from each rank to each other one, up to 1 TB.
    label
        Name of the group of flows in the results; without it, the pattern's name.
    priority
        Traffic class, 0 to 7.
    nic
        Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    connection
        Which messages share a connection, and so its congestion control: all from a process to another
        (`"per_process_pair"`), all from a host to another (`"per_pair"`), none (`"per_message"`), or this many
        connections from a host to another take them in turn (a number).
    start
        When the first exchange starts.
    hosts
        Who takes part, two or more: one rank each, in this order.
    processes
        Processes on each host. Each takes part in an exchange of its own, with one process of every host.
    repetitions
        Number of exchanges, one after the other.
    compute
        Time that a rank computes between an exchange and the next one.
    overhead
        Time from the arrival of a message to the receiver's next action: matching and software.
    acknowledged
        Whether a rank also waits for the last ACK of its messages before it begins the next phase, as in a blocking
        send of a large message.
    """
    return table(
        {
            "pattern": "all_to_all_collective",
            "size": size,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "hosts": hosts,
            "processes": processes,
            "repetitions": repetitions,
            "compute": compute,
            "overhead": overhead,
            "acknowledged": acknowledged,
        }
    )
