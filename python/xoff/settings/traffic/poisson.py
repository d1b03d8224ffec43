"""Traffic patterns: `poisson`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["poisson"]


def poisson(
    *,
    load: float,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    workload: str | None = None,
    cdf: str | None = None,
    size: Bytes | None = None,
    hosts: str | Sequence[str] | None = None,
    destinations: str | Sequence[str] | None = None,
    stop: Time | None = None,
    duration: Time | None = None,
) -> Table:
    """Independent arrivals at each host with sizes after a distribution.

    Parameters
    ----------
    load
        Payload that each host sends on average, as a share of the line rate of all its NICs together: above 0, up to
        1.
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
        Beginning of the process; the first flow of a host comes an exponential time later.
    workload
        Name of the size distribution. One of this, `cdf` and `size` is needed.
    cdf
        Path of a size distribution's file (a line `SIZE_IN_BYTES PROBABILITY` a point).
    size
        Payload of each flow if all flows have one size, up to 1 TB.
    hosts
        Who sends.
    destinations
        Who may receive: each flow goes to one of these, other than its sender, drawn uniformly.
    stop
        No flow starts at or after this time; where neither this nor `duration` is given, the end of the run.
    duration
        The same end, as a time from `start`.
    """
    return table(
        {
            "pattern": "poisson",
            "load": load,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "workload": workload,
            "cdf": cdf,
            "size": size,
            "hosts": hosts,
            "destinations": destinations,
            "stop": stop,
            "duration": duration,
        }
    )
