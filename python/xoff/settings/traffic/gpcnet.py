"""Traffic patterns: `gpcnet`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["gpcnet"]

CongestorKernel = Literal["all_to_all", "two_sided_incast", "put_incast", "get_broadcast"]
VictimTest = Literal["latency", "bandwidth", "allreduce"]


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
