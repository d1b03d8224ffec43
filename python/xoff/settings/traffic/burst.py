"""Traffic patterns: `burst`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["burst"]


def burst(
    *,
    senders: str | Sequence[str],
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    receivers: str | Sequence[str] | None = None,
    paired: bool | None = None,
    size: Bytes | None = None,
    workload: str | None = None,
    cdf: str | None = None,
    count: int | None = None,
    every: Time | None = None,
    stop: Time | None = None,
    poisson: bool | None = None,
) -> Table:
    """Synchronized messages from a set of senders.

    Parameters
    ----------
    senders
        Who sends.
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
        The first moment.
    receivers
        Who may receive: each message goes to one of these, other than its sender, drawn uniformly.
    paired
        Whether instead the first sender always sends to the first receiver, the second to the second, and so on, from
        the first receiver again if there are fewer receivers.
    size
        Payload of each message, up to 1 TB. One of this, `workload` and `cdf` is needed.
    workload
        Name of the size distribution; one size is drawn at each moment for all senders.
    cdf
        Path of a size distribution's file (a line `SIZE_IN_BYTES PROBABILITY` a point), used as `workload` is.
    count
        Number of moments. Without it a single moment or, with `every`, all moments before `stop` and the end of the
        run.
    every
        Time from one moment to the next, on average where `poisson` is set.
    stop
        No moment at or after this time.
    poisson
        Whether the moments are a Poisson process that begins at `start`, instead of periodic.
    """
    return table(
        {
            "pattern": "burst",
            "senders": senders,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "receivers": receivers,
            "paired": paired,
            "size": size,
            "workload": workload,
            "cdf": cdf,
            "count": count,
            "every": every,
            "stop": stop,
            "poisson": poisson,
        }
    )
