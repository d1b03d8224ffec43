"""Traffic patterns: `incast`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["incast"]


def incast(
    *,
    senders: int | str | Sequence[str],
    receiver: str,
    size: Bytes,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    random: bool | None = None,
    spread: Time | None = None,
    repeat: int | None = None,
    every: Time | None = None,
    stop: Time | None = None,
    poisson: bool | None = None,
) -> Table:
    """Many senders, one receiver, at the same moment.

    Parameters
    ----------
    senders
        Who sends: a number (that many of the first hosts, without the receiver), `"all"` others, or hosts by name.
    receiver
        Name of the receiving host, or `"random"`: another at each moment, where `senders` is a number or `"all"`.
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
        The first moment.
    random
        Whether a number of senders is drawn at random from all hosts, anew at each moment.
    spread
        Each message starts less than this after its moment, by a time drawn uniformly; those that would start after
        the end of the run are left out.
    repeat
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
            "pattern": "incast",
            "senders": senders,
            "receiver": receiver,
            "size": size,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "random": random,
            "spread": spread,
            "repeat": repeat,
            "every": every,
            "stop": stop,
            "poisson": poisson,
        }
    )
