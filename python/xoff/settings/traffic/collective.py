"""Traffic patterns: `collective`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["collective"]

CollectiveAlgorithm = Literal[
    "ring",
    "double_binary_tree",
    "tree",
    "halving_doubling",
    "recursive_doubling",
    "bruck",
    "pairwise",
    "spread",
    "direct",
    "hierarchical",
]
CollectiveKind = Literal[
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "broadcast",
    "reduce",
    "all_to_all",
    "all_to_all_v",
    "scatter",
    "gather",
    "barrier",
]
Protocol = Literal["none", "simple", "ll", "ll128"]


def collective(
    *,
    kind: CollectiveKind,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    hosts: str | Sequence[str] | None = None,
    ranks_per_host: int | None = None,
    algorithm: CollectiveAlgorithm | None = None,
    size: Bytes | None = None,
    root: int | None = None,
    imbalance: float | None = None,
    matrix: str | None = None,
    channels: int | None = None,
    chunk: Bytes | None = None,
    protocol: Protocol | None = None,
    step_latency: Time | None = None,
    nics: int | None = None,
    local_rate: Rate | None = None,
    local_delay: Time | None = None,
    local_step_latency: Time | None = None,
    across: CollectiveAlgorithm | None = None,
    repetitions: int | None = None,
    compute: Time | None = None,
    overhead: Time | None = None,
    acknowledged: bool | None = None,
) -> Table:
    """A collective operation as NCCL or MPI runs it.

    Parameters
    ----------
    kind
        The operation.
    label
        Name of the group of flows in the results; without it, the pattern's name.
    priority
        Traffic class, 0 to 7.
    nic
        Hosts with several NICs: which one each connection takes at its sender; without it, as `nics` or `host.nic`
        says.
    connection
        Which messages share a connection, and so its congestion control: all from a rank to another that go over one
        channel (`"per_process_pair"`), all from a host to another (`"per_pair"`), none (`"per_message"`), or this
        many connections from a host to another take them in turn (a number).
    start
        When the first operation starts.
    hosts
        Who takes part: the first `ranks_per_host` ranks on the first of these hosts, and so on; two ranks or more.
    ranks_per_host
        Ranks on each host.
    algorithm
        The algorithm; without it, the first one that docs/collectives.md has for the operation.
    size
        Size as nccl-tests counts it, up to 1 TB: the larger of what a rank has before and after; a barrier has none.
    root
        The root's number, for operations that have one.
    imbalance
        For `all_to_all_v`: the bytes of the rank that receives most, divided by the mean, as of the busiest expert in
        a mixture of experts. The ranks' shares follow a power law; which rank gets which share is drawn.
    matrix
        For `all_to_all_v`: path of a file with a line for each sending rank and in it a size with unit for each
        receiving rank; `size` is then left out.
    channels
        Channels: parallel rings or trees, each for an equal part of the data and with connections of its own, from 1
        to 64.
    chunk
        Maximum size of a message: a rank forwards a chunk when that chunk has arrived. Without it, messages are not
        divided.
    protocol
        How data go over the wire: NCCL's protocols add bytes and a latency to each step.
    step_latency
        Time between the arrival of a message from another host and what its receiver does next, beside `overhead`;
        without it, the protocol's.
    nics
        NICs of a host: channel c of the rank with place p on its host sends by NIC (p + c) modulo this number.
        Without it, as `nic` or `host.nic` says.
    local_rate
        Rate at which a rank sends to ranks of its host (NVLink), without the network; without it, such messages take
        only `local_delay`.
    local_delay
        Delay of messages among ranks of one host.
    local_step_latency
        Time between the arrival of a message from a rank of the same host and what its receiver does next, beside
        `overhead`; without it, the protocol's.
    across
        The algorithm between hosts if `algorithm` is `hierarchical`; without it, the operation's first one.
    repetitions
        Number of operations, one after the other.
    compute
        Time that a rank computes between an operation and the next one.
    overhead
        Time from the arrival of a message to the receiver's next action: the sum, matching and software.
    acknowledged
        Whether an operation ends for a rank only with the last ACK of its messages, and a step of a pairwise exchange
        too, as with blocking sends of large messages.
    """
    return table(
        {
            "pattern": "collective",
            "kind": kind,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "hosts": hosts,
            "ranks_per_host": ranks_per_host,
            "algorithm": algorithm,
            "size": size,
            "root": root,
            "imbalance": imbalance,
            "matrix": matrix,
            "channels": channels,
            "chunk": chunk,
            "protocol": protocol,
            "step_latency": step_latency,
            "nics": nics,
            "local_rate": local_rate,
            "local_delay": local_delay,
            "local_step_latency": local_step_latency,
            "across": across,
            "repetitions": repetitions,
            "compute": compute,
            "overhead": overhead,
            "acknowledged": acknowledged,
        }
    )
