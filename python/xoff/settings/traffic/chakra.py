"""Traffic patterns: `chakra`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["chakra"]


def chakra(
    *,
    trace: str,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    ranks: int | None = None,
    groups: str | None = None,
    hosts: str | Sequence[str] | None = None,
    ranks_per_host: int | None = None,
    peak_flops: float | None = None,
    memory_bandwidth: Rate | None = None,
    overhead: Time | None = None,
    eager: Bytes | None = None,
    algorithms: Mapping[str, object] | None = None,
    collectives: Mapping[str, object] | None = None,
    local_rate: Rate | None = None,
    local_delay: Time | None = None,
) -> Table:
    """Execution traces of a training job in Chakra's format, as a closed loop.

    Parameters
    ----------
    trace
        The trace: rank R has the file `TRACE.R.et`, so `"traces/all_reduce"` stands for `traces/all_reduce.0.et` and
        so on.
    label
        Name of the group of flows in the results; without it, the pattern's name.
    priority
        Traffic class, 0 to 7.
    nic
        Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    connection
        Which messages share a connection, and so its congestion control: all from a rank to another
        (`"per_process_pair"`; those of each channel of a collective have one of their own), all from a host to
        another (`"per_pair"`), none (`"per_message"`), or this many connections from a host to another take them in
        turn (a number).
    start
        When the first nodes may begin.
    ranks
        Number of ranks; without it, as many as there are files, from rank 0 on.
    groups
        Path of a JSON file with the ranks of each communicator group, `{"NAME": [RANK, ...], ...}`, as ASTRA-sim
        reads it; without it, the groups that PyTorch lists in the trace.
    hosts
        Hosts of the ranks: the first ranks on the first of these hosts, and so on. There may be more hosts than
        needed.
    ranks_per_host
        Ranks on each host.
    peak_flops
        Floating-point operations of a rank in a second, such as `312e12`: a computation without a duration and with
        `num_ops` takes as long as these take, or its `tensor_size` at `memory_bandwidth` if that is longer (a
        roofline).
    memory_bandwidth
        Rate of a rank's memory, such as `"16Tbps"` for 2 TB/s: a load or store without a duration takes its
        `tensor_size` at this rate.
    overhead
        Time from the arrival of a message to the receiver's next action.
    eager
        A send of up to this size ends when its message goes, a longer one with the last ACK of its message.
    algorithms
        Algorithms of collectives, such as `{ all_reduce = "double_binary_tree" }`; those that are not named have the
        first one that docs/collectives.md lists for them.
    collectives
        How collectives are carried out: channels, chunks, protocol, and the links within a host.
    local_rate
        Rate of messages between ranks of one host, which use no network and do not delay each other; without it, they
        take only `local_delay`. Those of collectives have `collectives.local_rate`.
    local_delay
        Delay of messages between ranks of one host.
    """
    return table(
        {
            "pattern": "chakra",
            "trace": trace,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "ranks": ranks,
            "groups": groups,
            "hosts": hosts,
            "ranks_per_host": ranks_per_host,
            "peak_flops": peak_flops,
            "memory_bandwidth": memory_bandwidth,
            "overhead": overhead,
            "eager": eager,
            "algorithms": algorithms,
            "collectives": collectives,
            "local_rate": local_rate,
            "local_delay": local_delay,
        }
    )
