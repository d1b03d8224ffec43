"""Traffic patterns: `flow`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["flow"]


def flow(
    *,
    src: str,
    dst: str,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    size: Bytes | None = None,
    stop: Time | None = None,
    rate: Rate | None = None,
) -> Table:
    """One flow.

    Parameters
    ----------
    src
        Name of the sending host.
    dst
        Name of the receiving host.
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
        When the flow starts.
    size
        Payload, up to 1 TB; without it, the flow is endless until `stop` or the end of the run.
    stop
        When the flow ends even if bytes are left.
    rate
        Constant rate at which the application makes its bytes, of payload; without it, all bytes are ready at the
        start.
    """
    return table(
        {
            "pattern": "flow",
            "src": src,
            "dst": dst,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "size": size,
            "stop": stop,
            "rate": rate,
        }
    )
