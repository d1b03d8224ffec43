"""Traffic patterns: `mpi_io`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["mpi_io"]


def mpi_io(
    *,
    duration: Time,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    hosts: str | Sequence[str] | None = None,
    messages: int | None = None,
    io_share: float | None = None,
    io_servers: int | None = None,
    io_clients: float | None = None,
    io_sizes: Sequence[Bytes] | None = None,
    mpi_small: Bytes | None = None,
    mpi_small_share: float | None = None,
    mpi_sizes: Sequence[Bytes] | None = None,
) -> Table:
    """Messages of MPI and I/O jobs that share a network.

    Parameters
    ----------
    duration
        Time in which the messages start, on average: the gap between two messages is exponential, and its mean is
        this time divided by their number. A message that would start after the end of the run is left out.
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
        Beginning of both processes of arrivals.
    hosts
        Who takes part. Hosts at the same switch are a rack.
    messages
        Messages in all; TCD generates over 80,000 among 1024 hosts.
    io_share
        Share of them that are I/O; 10 % in TCD.
    io_servers
        I/O servers in each rack; 4 in TCD.
    io_clients
        I/O clients, as a share of the hosts; 25 % in TCD. Rounded down, but at least one.
    io_sizes
        Sizes of I/O messages, equally likely; those of TCD.
    mpi_small
        Size of the smallest MPI messages.
    mpi_small_share
        Share of the MPI messages that have it.
    mpi_sizes
        Sizes of the other MPI messages, equally likely.
    """
    return table(
        {
            "pattern": "mpi_io",
            "duration": duration,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "hosts": hosts,
            "messages": messages,
            "io_share": io_share,
            "io_servers": io_servers,
            "io_clients": io_clients,
            "io_sizes": io_sizes,
            "mpi_small": mpi_small,
            "mpi_small_share": mpi_small_share,
            "mpi_sizes": mpi_sizes,
        }
    )
