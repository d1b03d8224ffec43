"""Traffic patterns.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = [
    "all_to_all",
    "all_to_all_collective",
    "allreduce",
    "burst",
    "chakra",
    "collective",
    "flow",
    "goal",
    "gpcnet",
    "incast",
    "list_",
    "mpi_io",
    "permutation",
    "poisson",
    "training",
]

AllreduceAlgorithm = Literal["ring", "tree", "halving_doubling", "recursive_doubling"]
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
CongestorKernel = Literal["all_to_all", "two_sided_incast", "put_incast", "get_broadcast"]
Placement = Literal["packed", "random", "rail_aware", "file"]
Protocol = Literal["none", "simple", "ll", "ll128"]
VictimTest = Literal["latency", "bandwidth", "allreduce"]


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


def all_to_all(
    *,
    size: Bytes,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    hosts: str | Sequence[str] | None = None,
    stagger: Time | None = None,
) -> Table:
    """A message from each host to each other one.

    Parameters
    ----------
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
        When the first round starts.
    hosts
        Who takes part, two or more.
    stagger
        Time from the start of a round to the start of the next one; with 0 all rounds start at the same time. Every
        round must start before the end of the run.
    """
    return table(
        {
            "pattern": "all_to_all",
            "size": size,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "hosts": hosts,
            "stagger": stagger,
        }
    )


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


def list_(
    *,
    file: str,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    across_hosts: bool | None = None,
) -> Table:
    """Flows from a file.

    Parameters
    ----------
    file
        Path of the file: lines `SRC DST SIZE START [PRIORITY]` with units, or a header that names the columns.
    label
        Name of the group of flows in the results; without it, the pattern's name.
    priority
        Traffic class of the flows whose line has no priority, 0 to 7.
    nic
        Hosts with several NICs: which one each connection takes at its sender; without it, as `host.nic` says.
    connection
        Which messages share a connection, and so its congestion control: none do (`"per_message"`), all from a host
        to another (`"per_pair"`), or this many connections from a host to another take them in turn (a number).
    start
        Added to the start of each flow.
    across_hosts
        Whether a flow may wait (column `after`) for an end that its own host does not know; it then learns of that
        end without delay, and the run takes one thread.
    """
    return table(
        {
            "pattern": "list",
            "file": file,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "across_hosts": across_hosts,
        }
    )


def allreduce(
    *,
    algorithm: AllreduceAlgorithm,
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
    """Sums over all ranks, in a closed loop.

    Parameters
    ----------
    algorithm
        The algorithm.
    size
        Bytes that each rank has, up to 1 TB.
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
        When the first allreduce starts.
    hosts
        Who takes part, two or more: one rank each, in this order.
    processes
        Processes on each host. Each takes part in an allreduce of its own, with one process of every host.
    repetitions
        Number of allreduces, one after the other.
    compute
        Time that a rank computes between an allreduce and the next one.
    overhead
        Time from the arrival of a message to the receiver's next action: the sum, matching and software.
    acknowledged
        Whether a rank also waits for the last ACK of its messages before it begins the next phase, as in a blocking
        send of a large message.
    """
    return table(
        {
            "pattern": "allreduce",
            "algorithm": algorithm,
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


def gpcnet(
    *,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    hosts: str | Sequence[str] | None = None,
    processes: int | None = None,
    congestors: bool | None = None,
    congestor_share: float | None = None,
    congestor_kernels: Sequence[CongestorKernel] | None = None,
    congestor_size: Bytes | None = None,
    congestor_iterations: int | None = None,
    all_to_all_iterations: int | None = None,
    congestor_lead: Time | None = None,
    tests: Sequence[VictimTest] | None = None,
    rings: int | None = None,
    latency_iterations: int | None = None,
    latency_size: Bytes | None = None,
    bandwidth_iterations: int | None = None,
    bandwidth_size: Bytes | None = None,
    bandwidth_outstanding: int | None = None,
    allreduce_iterations: int | None = None,
    allreduce_size: Bytes | None = None,
    overhead: Time | None = None,
    eager: Bytes | None = None,
    eager_outstanding: int | None = None,
) -> Table:
    """GPCNeT's congestors and victims.

    Parameters
    ----------
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
        When the congestors start.
    hosts
        Who takes part.
    processes
        Processes on each host, and so on each network port (PPN in GPCNeT, PPort in PFT, where it is 1, 8 and 16).
    congestors
        Whether congestors run beside the tests. The placement is the same without them.
    congestor_share
        Share of the hosts that run congestors, rounded down.
    congestor_kernels
        The congestors' kernels, which the congestors' hosts take in turn.
    congestor_size
        Payload of each of the congestors' messages.
    congestor_iterations
        Maximum number of iterations of each congestor. It should be more than a congestor makes while the tests run;
        a run in which it was not says so in its warnings. Each iteration takes 350 to 560 bytes of memory per
        message.
    all_to_all_iterations
        The same for the all-to-all; without it, `congestor_iterations`. One of its iterations has a message to each
        other process of the slice, so that it makes fewer of them in a time.
    congestor_lead
        Time from the start of the congestors to that of the tests.
    tests
        The tests, one after the other.
    rings
        Random rings of the latency and bandwidth tests; 30 in GPCNeT.
    latency_iterations
        Iterations of the latency test on each ring; 200 in GPCNeT, after 200 that do not count.
    latency_size
        Payload of the latency test's messages.
    bandwidth_iterations
        Iterations of the bandwidth test on each ring; 8 in GPCNeT.
    bandwidth_size
        Payload of the bandwidth test's messages.
    bandwidth_outstanding
        The bandwidth test's messages to each neighbour that are in flight at a time.
    allreduce_iterations
        Iterations of the allreduce test; 200 in GPCNeT.
    allreduce_size
        What the allreduce test sums.
    overhead
        Time from the arrival of a two-sided message to the receiver's next action, for matching and software; also
        from an eager message of an incast to the next one, and from the ACK that makes room for a message to that
        message.
    eager
        Two-sided messages up to this size go by the eager protocol: the sender does not wait for them. Longer ones go
        by rendezvous: the sender waits for the last ACK.
    eager_outstanding
        Maximum number of eager messages of a process of `two_sided_incast` that are handed over and not acknowledged,
        1 to 1,000,000; the next send waits until the oldest of them is acknowledged. 256 is the length of UCX's send
        queue (`UCX_RC_VERBS_TX_QUEUE_LEN`), of which each process has one here; with 1 a process waits for each ACK.
    """
    return table(
        {
            "pattern": "gpcnet",
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "hosts": hosts,
            "processes": processes,
            "congestors": congestors,
            "congestor_share": congestor_share,
            "congestor_kernels": congestor_kernels,
            "congestor_size": congestor_size,
            "congestor_iterations": congestor_iterations,
            "all_to_all_iterations": all_to_all_iterations,
            "congestor_lead": congestor_lead,
            "tests": tests,
            "rings": rings,
            "latency_iterations": latency_iterations,
            "latency_size": latency_size,
            "bandwidth_iterations": bandwidth_iterations,
            "bandwidth_size": bandwidth_size,
            "bandwidth_outstanding": bandwidth_outstanding,
            "allreduce_iterations": allreduce_iterations,
            "allreduce_size": allreduce_size,
            "overhead": overhead,
            "eager": eager,
            "eager_outstanding": eager_outstanding,
        }
    )


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


def training(
    *,
    layers: int,
    hidden: int,
    sequence: int,
    batch: int,
    tflops: float,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    hosts: str | Sequence[str] | None = None,
    ranks_per_host: int | None = None,
    placement: Placement | None = None,
    placement_file: str | None = None,
    tensor: int | None = None,
    pipeline: int | None = None,
    data: int | None = None,
    expert: int | None = None,
    micro_batch: int | None = None,
    vocabulary: int | None = None,
    experts: int | None = None,
    top_k: int | None = None,
    expert_interval: int | None = None,
    activation_bytes: int | None = None,
    gradient_bytes: int | None = None,
    recompute: bool | None = None,
    optimizer: Time | None = None,
    buckets: int | None = None,
    sharded: bool | None = None,
    algorithm: CollectiveAlgorithm | None = None,
    channels: int | None = None,
    chunk: Bytes | None = None,
    protocol: Protocol | None = None,
    local_rate: Rate | None = None,
    local_delay: Time | None = None,
    overhead: Time | None = None,
    iterations: int | None = None,
    stragglers: Sequence[Mapping[str, object]] | None = None,
    jitter: float | None = None,
) -> Table:
    """Training of a transformer: iterations with the communication of its parallelism.

    Parameters
    ----------
    layers
        Layers of the transformer.
    hidden
        Hidden size: elements of a token's vector.
    sequence
        Tokens in a sequence.
    batch
        Sequences in an iteration, over all replicas.
    tflops
        Floating-point operations that a rank achieves in a second, in 10^12 (TFLOP/s): its peak times the share that
        its kernels reach.
    label
        Name of the job, and of the group of its flows in the results; without it, the pattern's name.
    priority
        Traffic class, 0 to 7.
    nic
        Hosts with several NICs: which one each connection takes at its sender; without it, as `placement` or
        `host.nic` says.
    connection
        Which messages share a connection, and so its congestion control: all from a rank to another that go over one
        channel (`"per_process_pair"`), all from a host to another (`"per_pair"`), none (`"per_message"`), or this
        many connections from a host to another take them in turn (a number).
    start
        When the first iteration starts.
    hosts
        Hosts that the job may have; it takes as many as its ranks need.
    ranks_per_host
        Ranks (GPUs) on each host.
    placement
        Which hosts the ranks get: `packed`, `random`, `rail_aware`, or `file`.
    placement_file
        For `placement = "file"`: path of a file with the name of a host in each line, that of rank 0 first. `#`
        begins a comment.
    tensor
        Tensor parallelism: ranks that share each layer.
    pipeline
        Pipeline parallelism: stages, each with an equal part of the layers.
    data
        Data parallelism: replicas of the model, each with an equal part of the batch.
    expert
        Expert parallelism: ranks among which the experts of a layer are divided; a divisor of `data`.
    micro_batch
        Sequences in a micro-batch of a replica.
    vocabulary
        Size of the vocabulary, for the embedding of the first stage and the logits of the last one; without it,
        neither counts.
    experts
        Experts in each layer that has experts; without it, layers have none.
    top_k
        Experts to which a token goes.
    expert_interval
        Every how many layers one has experts.
    activation_bytes
        Bytes of an element of activations.
    gradient_bytes
        Bytes of an element of gradients, as they are summed over replicas.
    recompute
        Whether the backward pass computes the activations again, which is a forward pass more.
    optimizer
        Time of the optimizer's step.
    buckets
        Parts in which the gradients are summed: each as soon as the last backward pass has computed it. With 1, the
        sum waits for the whole pass.
    sharded
        Whether replicas divide the optimizer's state among them (ZeRO stage 1): gradients go by reduce-scatter, and
        parameters by all-gather after the optimizer's step, in place of one all-reduce.
    algorithm
        The algorithm of the all-reduce of gradients; without it, `ring`.
    channels
        Channels of a collective: parallel rings or trees, each for an equal part of the data, from 1 to 64.
    chunk
        Maximum size of a collective's message: a rank forwards a chunk when that chunk has arrived. Without it,
        messages are not divided.
    protocol
        How data go over the wire: NCCL's protocols add bytes and a latency to each step.
    local_rate
        Rate at which a rank sends to ranks of its host (NVLink), without the network; without it, such messages take
        only `local_delay`.
    local_delay
        Delay of messages among ranks of one host.
    overhead
        Time from the arrival of a message to the receiver's next action.
    iterations
        Iterations, one after the other.
    stragglers
        Ranks that compute more slowly than the others.
    jitter
        Each pass of each rank takes its time times a number drawn between 1 - `jitter` and 1 + `jitter`; from 0 to
        0.9.
    """
    return table(
        {
            "pattern": "training",
            "layers": layers,
            "hidden": hidden,
            "sequence": sequence,
            "batch": batch,
            "tflops": tflops,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "hosts": hosts,
            "ranks_per_host": ranks_per_host,
            "placement": placement,
            "placement_file": placement_file,
            "tensor": tensor,
            "pipeline": pipeline,
            "data": data,
            "expert": expert,
            "micro_batch": micro_batch,
            "vocabulary": vocabulary,
            "experts": experts,
            "top_k": top_k,
            "expert_interval": expert_interval,
            "activation_bytes": activation_bytes,
            "gradient_bytes": gradient_bytes,
            "recompute": recompute,
            "optimizer": optimizer,
            "buckets": buckets,
            "sharded": sharded,
            "algorithm": algorithm,
            "channels": channels,
            "chunk": chunk,
            "protocol": protocol,
            "local_rate": local_rate,
            "local_delay": local_delay,
            "overhead": overhead,
            "iterations": iterations,
            "stragglers": stragglers,
            "jitter": jitter,
        }
    )
