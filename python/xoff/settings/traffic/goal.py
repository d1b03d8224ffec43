"""Traffic patterns: `goal`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["goal"]


def goal(
    *,
    file: str,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    ignore_tags: bool | None = None,
    hosts: str | Sequence[str] | None = None,
    ranks_per_host: int | None = None,
    overhead: Time | None = None,
    eager: Bytes | None = None,
    local_rate: Rate | None = None,
    local_delay: Time | None = None,
) -> Table:
    """A schedule of a parallel program in the GOAL format, as a closed loop.

    Parameters
    ----------
    file
        Path of the schedule, in the text form of GOAL.
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
        When the first operations may begin.
    ignore_tags
        Whether the n-th send of a rank to another belongs to that rank's n-th receive, whatever the tags; otherwise
        to the n-th with its tag.
    hosts
        Hosts of the ranks: the first ranks on the first of these hosts, and so on. There may be more hosts than
        needed.
    ranks_per_host
        Ranks on each host.
    overhead
        Time for which each send holds its processor before its message goes, and each receive after its message has
        arrived (o in the LogGOPS model).
    eager
        A send of up to this size ends when its message goes, a longer one with the last ACK of its message (S in the
        LogGOPS model, 65,535 B in LogGOPSim).
    local_rate
        Rate of messages between ranks of one host, which use no network and do not delay each other; without it, they
        take only `local_delay`.
    local_delay
        Delay of messages between ranks of one host.
    """
    return table(
        {
            "pattern": "goal",
            "file": file,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "ignore_tags": ignore_tags,
            "hosts": hosts,
            "ranks_per_host": ranks_per_host,
            "overhead": overhead,
            "eager": eager,
            "local_rate": local_rate,
            "local_delay": local_delay,
        }
    )
