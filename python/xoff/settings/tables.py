"""Plain tables of a scenario, and tables inside others.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = [
    "chakra_algorithms",
    "collective_settings",
    "fast_forward",
    "graph_link",
    "graph_node",
    "host",
    "job",
    "link",
    "llr",
    "packets",
    "quirks",
    "record",
    "red_at_rate",
    "run",
    "static_route",
    "straggler",
    "switch",
    "trimming",
    "tune",
    "uet",
    "vl_weight",
    "watchdog",
]

AckClass = Literal["control", "data", "control_at_host"]
BaseRtt = Literal["max", "per_pair"]
Clock = Literal["exact", "ns3"]
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
EntropyChoice = Literal["oblivious", "bitmap", "reps", "reps_legacy", "mixed"]
Expect = Literal["deadlock", "unfinished"]
FlowCount = Literal["recent", "all_open_qps"]
Forwarding = Literal["store_and_forward", "cut_through"]
GraphNodeKind = Literal["host", "switch"]
IntFormat = Literal["hardware", "exact"]
Measure = Literal[
    "slowdown_mean",
    "slowdown_p50",
    "slowdown_p95",
    "slowdown_p99",
    "pause_frames",
    "paused_ps",
    "hol_blocked",
    "max_queue_bytes",
    "dropped",
    "incomplete",
]
NicTimer = Literal["next_to_send", "ns3"]
Order = Literal["by_port", "scheduled"]
PacingGap = Literal["rate_in_force", "rate_when_sent"]
Placement = Literal["packed", "random", "rail_aware", "file"]
Protocol = Literal["none", "simple", "ll", "ll128"]
Queueing = Literal["output", "virtual_output"]
RttOf = Literal["frame_and_ack", "payload"]
Sampler = Literal["tpe", "nsga2", "random"]
Scheduling = Literal["round_robin", "strict", "weighted"]
Stop = Literal["flows", "time"]
Transport = Literal["go_back_n", "selective_repeat", "unordered", "uet"]
UetOf = Literal["specification", "htsim"]
Victim = Literal["arriving", "either"]
WatchdogAction = Literal["drop", "forward"]


def run(
    *,
    duration: Time | None = None,
    stop: Stop | None = None,
    max_events: int | None = None,
    expect: Expect | None = None,
    fast_forward: Mapping[str, object] | None = None,
) -> Table:
    """When a run ends.

    Parameters
    ----------
    duration
        The latest end in simulated time; without it, the run ends when the last flow is complete.
    stop
        What ends the run.
    max_events
        A run of more events than this is broken off with an error.
    expect
        An outcome that would otherwise be an error: with `"deadlock"`, a run that ends in one keeps its results and
        its exit status of 0; with `"unfinished"`, so does a run whose last flows an `[[event]]` keeps from
        completing.
    fast_forward
        Carries time forward over steady states, `{ tolerance = 0.01 }`; without it, every packet is simulated. The
        run then has one thread, and records flows, totals and samples only.
    """
    return table(
        {
            "duration": duration,
            "stop": stop,
            "max_events": max_events,
            "expect": expect,
            "fast_forward": fast_forward,
        }
    )


def fast_forward(
    *,
    tolerance: float | None = None,
) -> Table:
    """Carries time forward over steady states of the run, in which every message sends at a constant rate.

    Parameters
    ----------
    tolerance
        Relative error of completion times that is accepted: above 0, and at most 0.1. A smaller one gives fewer and
        shorter jumps. Off unless this key or `fast_forward = {}` is written.
    """
    return table(
        {
            "tolerance": tolerance,
        }
    )


def graph_node(
    *,
    name: str,
    kind: GraphNodeKind,
) -> Table:
    """A listed node.

    Parameters
    ----------
    name
        Unique name.
    kind
        Host or switch.
    """
    return table(
        {
            "name": name,
            "kind": kind,
        }
    )


def graph_link(
    *,
    a: str,
    b: str,
    rate: Rate,
    delay: Time,
    rate_back: Rate | None = None,
    delay_back: Time | None = None,
) -> Table:
    """A listed link.

    Parameters
    ----------
    a
        Name of the node at one end.
    b
        Name of the node at the other end.
    rate
        Rate from `a` to `b`, in bits a second.
    delay
        Propagation delay from `a` to `b`.
    rate_back
        Rate from `b` to `a`, in bits a second; without it, `rate`.
    delay_back
        Propagation delay from `b` to `a`; without it, `delay`.
    """
    return table(
        {
            "a": a,
            "b": b,
            "rate": rate,
            "delay": delay,
            "rate_back": rate_back,
            "delay_back": delay_back,
        }
    )


def static_route(
    *,
    from_: str,
    to: str,
    via: Sequence[str],
) -> Table:
    """A path from one host to another. It also holds for the opposite direction, unless that direction is listed.

    Parameters
    ----------
    from_
        Name of the sending host.
    to
        Name of the receiving host.
    via
        Names of all switches on the path, from the sender's to the receiver's. If two of them have parallel links,
        the flow's hash picks one link.
    """
    return table(
        {
            "from": from_,
            "to": to,
            "via": via,
        }
    )


def red_at_rate(
    *,
    rate: Rate,
    k_min: Bytes,
    k_max: Bytes,
    p_max: float | None = None,
) -> Table:
    """RED's thresholds at ports of one rate.

    Parameters
    ----------
    rate
        The port's rate, in bits a second.
    k_min
        Queue length up to which nothing is marked, in bytes.
    k_max
        Queue length above which everything is marked, in bytes.
    p_max
        Probability of a mark at `k_max`; `None` for the detector's.
    """
    return table(
        {
            "rate": rate,
            "k_min": k_min,
            "k_max": k_max,
            "p_max": p_max,
        }
    )


def packets(
    *,
    mtu: Bytes | None = None,
    payload: Bytes | None = None,
    header: Bytes | None = None,
    ack: Bytes | None = None,
    cnp: Bytes | None = None,
    pfc: Bytes | None = None,
    gap: Bytes | None = None,
    int_format: IntFormat | None = None,
    int_multi: int | None = None,
    int_hops: int | None = None,
    int_refresh: Time | None = None,
) -> Table:
    """Sizes on the wire.

    Parameters
    ----------
    mtu
        A full data frame on the wire, with every header and the scheme's signals. The payload of a full packet is
        what remains.
    payload
        Payload of a full data packet. If it is given, headers and signals are added to it and `mtu` follows.
    header
        Headers of a data packet without signals: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4.
    ack
        An ACK without signals: a data packet's headers and AETH 4.
    cnp
        A CNP (from a receiver) or CNM (from a switch).
    pfc
        A PAUSE or RESUME frame (IEEE 802.1Qbb: the minimum Ethernet frame).
    gap
        Bytes for which the wire stays taken after each frame: 20 B for Ethernet's preamble and minimum gap, or 0, as
        in most published simulations.
    int_format
        Width of INT's counters.
    int_multi
        Multiplier of INT's units: sent bytes count in units of 128 B times this, queued bytes in units of 80 B times
        this. A power of two, at most 128.
    int_hops
        Maximum number of hops whose telemetry fits into INT.
    int_refresh
        Period at which a switch refreshes the table that FNCC's ACKs read (FNCC, section 4.1, which gives no value);
        0 reads live counters. Live, the records of different hops cover different moments of a packet or two, and the
        largest of several such noisy rates is too high: flows settle 5 to 10 % below eta. A table of 1 us averages
        over some packets at all hops.
    """
    return table(
        {
            "mtu": mtu,
            "payload": payload,
            "header": header,
            "ack": ack,
            "cnp": cnp,
            "pfc": pfc,
            "gap": gap,
            "int_format": int_format,
            "int_multi": int_multi,
            "int_hops": int_hops,
            "int_refresh": int_refresh,
        }
    )


def host(
    *,
    ack_every: int | None = None,
    ack_class: AckClass | None = None,
    processing_delay: Time | None = None,
    doorbell_delay: Time | None = None,
    message_interval: Time | None = None,
    packet_interval: Time | None = None,
    cnp_delay: Time | None = None,
    base_rtt: BaseRtt | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    flow_count: FlowCount | None = None,
    transport: Transport | None = None,
    bdp_cap: bool | None = None,
    retransmit_timeout: Time | None = None,
    nack_interval: Time | None = None,
    uet: Mapping[str, object] | None = None,
) -> Table:
    """Host NICs and their transport.

    Parameters
    ----------
    ack_every
        One cumulative ACK for this many data packets, and always one for the last. That many packets may be in flight
        whatever the window: otherwise a small window would never be acknowledged.
    ack_class
        The class in which ACKs travel.
    processing_delay
        Time from a data packet's arrival to its ACK's readiness.
    doorbell_delay
        Time from the start of a message, when its doorbell is rung, until the NIC may begin its first packet: the
        doorbell's write over PCIe, and the fetch of the work request and of the first data.
    message_interval
        Minimum time between two messages that a NIC takes from its doorbells, in the order of their starts and
        whatever their connections: its message rate is at most one in this time. Messages that wait for their turn
        wait in the NIC.
    packet_interval
        Minimum time between the beginnings of two data packets of a NIC: its packet rate is at most one in this time.
        ACKs and control packets do not count.
    cnp_delay
        Time from the data packet, or the timer, for which a receiver notifies its sender until its NIC has made the
        CNP. The delay of ACKs is `processing_delay`.
    base_rtt
        The base RTT that schemes are given.
    nic
        Hosts with several NICs: the NIC that a connection takes at its sender, unless its traffic says otherwise.
        `round_robin` gives the sender's connections its NICs in turn, `hash` picks a NIC by a hash of hosts and
        connection, and a number, counted from 0, always picks that NIC. NIC k talks to NIC k mod n of a receiver with
        n NICs.
    flow_count
        Which flows a receiver counts into N.
    transport
        What is sent again, and in which order data may arrive.
    bdp_cap
        `selective_repeat` and `unordered`: new packets go only while less than a bandwidth-delay product of payload
        is in flight, whatever the scheme's window (IRN's BDP-FC).
    retransmit_timeout
        In a lossy network, or if packets overtake each other: time without new acknowledgements after which a sender
        sends unacknowledged data again.
    nack_interval
        In a lossy network, or if packets overtake each other, with `go_back_n`: minimum time between two NACKs for
        the same gap.
    uet
        `uet`: Ultra Ethernet's transport.
    """
    return table(
        {
            "ack_every": ack_every,
            "ack_class": ack_class,
            "processing_delay": processing_delay,
            "doorbell_delay": doorbell_delay,
            "message_interval": message_interval,
            "packet_interval": packet_interval,
            "cnp_delay": cnp_delay,
            "base_rtt": base_rtt,
            "nic": nic,
            "flow_count": flow_count,
            "transport": transport,
            "bdp_cap": bdp_cap,
            "retransmit_timeout": retransmit_timeout,
            "nack_interval": nack_interval,
            "uet": uet,
        }
    )


def uet(
    *,
    ack_bytes: Bytes | None = None,
    ack_delay: Time | None = None,
    entropy: EntropyChoice | None = None,
    paths: int | None = None,
    network_rtt: Time | None = None,
    base_rtt_from_nacks: bool | None = None,
) -> Table:
    """Ultra Ethernet's transport.

    Parameters
    ----------
    ack_bytes
        A receiver sends an ACK after this many bytes on the wire.
    ack_delay
        A receiver holds back an ACK for at most this time; 0 for no limit, with which a sender whose window has
        shrunk may wait for its retransmission timer.
    entropy
        Path choice `entropy`: how senders choose entropy values.
    paths
        Path choice `entropy`: number of a connection's entropy values, a power of two.
    network_rtt
        The base RTT of the network, which flows start with; without it, the maximum over all pairs of hosts, or the
        flow's own under `base_rtt = "per_pair"`. Constants of `nscc` follow from the network's in either case.
    base_rtt_from_nacks
        Under `uet = "htsim"` in [quirks]: NACKs lower the base RTT too.
    """
    return table(
        {
            "ack_bytes": ack_bytes,
            "ack_delay": ack_delay,
            "entropy": entropy,
            "paths": paths,
            "network_rtt": network_rtt,
            "base_rtt_from_nacks": base_rtt_from_nacks,
        }
    )


def switch(
    *,
    priorities: int | None = None,
    scheduling: Scheduling | None = None,
    weights: Sequence[int] | None = None,
    high_priority: Sequence[int] | None = None,
    high_limit: int | None = None,
    vlarb_high: Sequence[Mapping[str, object]] | None = None,
    vlarb_low: Sequence[Mapping[str, object]] | None = None,
    buffer: Bytes | None = None,
    queue_limit: Bytes | None = None,
    queue_victim: Victim | None = None,
    trimming: Mapping[str, object] | None = None,
    queueing: Queueing | None = None,
    forwarding: Forwarding | None = None,
    cut_through_after: Bytes | None = None,
    pipeline_delay: Time | None = None,
    watchdog: Mapping[str, object] | None = None,
) -> Table:
    """Switches.

    Parameters
    ----------
    priorities
        Data priorities in use, numbered from 0; at most 8.
    scheduling
        How an egress port chooses among its data priorities.
    weights
        Weighted scheduling: what each priority may send in its turn, in units of 64 B, from 1 to 255. Priorities that
        are not listed have 1.
    high_priority
        Weighted scheduling: priorities that go before the others, up to `high_limit`.
    high_limit
        Weighted scheduling: once high priority has sent this many times 4096 B, a packet of low priority goes, if one
        waits; 0 for after each packet, 255 for never (InfiniBand's Limit of High-Priority).
    vlarb_high
        Weighted scheduling: the high-priority table of arbitration, up to 64 entries such as `{ vl = 0, weight = 4
        }`. A VL may stand in it several times, and in `vlarb_low` as well. In place of `weights` and `high_priority`.
    vlarb_low
        Weighted scheduling: the low-priority table, like `vlarb_high`. Each VL needs a weight above 0 in one of the
        two.
    buffer
        Packet memory of each switch; without it, only flow control's thresholds bound the queues. Excludes credits,
        whose buffers belong to links.
    queue_limit
        Bytes of data that each egress port may hold in a lossy network, the packet on its wire included; a port that
        is slower than the fastest has its share. Twice as many bytes of control packets may wait beside them. Without
        it, ports share the memory.
    queue_victim
        Which packet makes room where data finds none below `queue_limit`.
    trimming
        Data that finds no room below `queue_limit` is cut to its header, which goes on with control packets, so that
        its receiver can ask for it again at once; without it, such data is dropped.
    queueing
        Where packets wait. Without it, in virtual output queues if flow control is by credits (`cbfc`, `ue_cbfc`,
        `credit`), otherwise at the output.
    forwarding
        When a packet is sent on. Without it, by cut-through if flow control is `cbfc` or `credit`, otherwise after
        all of it has arrived (store-and-forward).
    cut_through_after
        Cut-through: bytes of a packet that must have arrived before it is sent on.
    pipeline_delay
        Time that everything which comes to a switch takes through its pipeline, beside the transmission. It counts as
        a longer link into the switch: in base RTTs and in what buffers must hold, and for frames of flow control as
        well.
    watchdog
        The PFC watchdog of all egress queues: `watchdog = {}` for SONiC's defaults, or `{ detection = "400ms",
        restoration = "2s", action = "drop" }`. Without it, no watchdog.
    """
    return table(
        {
            "priorities": priorities,
            "scheduling": scheduling,
            "weights": weights,
            "high_priority": high_priority,
            "high_limit": high_limit,
            "vlarb_high": vlarb_high,
            "vlarb_low": vlarb_low,
            "buffer": buffer,
            "queue_limit": queue_limit,
            "queue_victim": queue_victim,
            "trimming": trimming,
            "queueing": queueing,
            "forwarding": forwarding,
            "cut_through_after": cut_through_after,
            "pipeline_delay": pipeline_delay,
            "watchdog": watchdog,
        }
    )


def vl_weight(
    *,
    vl: int,
    weight: int,
) -> Table:
    """An entry of a table of InfiniBand's arbitration among virtual lanes.

    Parameters
    ----------
    vl
        The virtual lane, a data priority.
    weight
        What the lane may send in the entry's turn, in units of 64 B, from 0 to 255; an entry with 0 is skipped.
    """
    return table(
        {
            "vl": vl,
            "weight": weight,
        }
    )


def trimming(
    *,
    size: Bytes | None = None,
) -> Table:
    """Switches that trim packets.

    Parameters
    ----------
    size
        Bytes on the wire of a trimmed packet.
    """
    return table(
        {
            "size": size,
        }
    )


def watchdog(
    *,
    detection: Time | None = None,
    restoration: Time | None = None,
    action: WatchdogAction | None = None,
) -> Table:
    """The PFC watchdog of a switch's egress queues, with SONiC's defaults.

    Parameters
    ----------
    detection
        A queue that holds packets and is stopped for so long is in a storm.
    restoration
        A queue in a storm that is not stopped for so long obeys PAUSE again.
    action
        What becomes of the packets of a queue in a storm.
    """
    return table(
        {
            "detection": detection,
            "restoration": restoration,
            "action": action,
        }
    )


def link(
    *,
    ber: float | None = None,
    frame_loss: float | None = None,
    llr: Mapping[str, object] | None = None,
) -> Table:
    """All links: errors on them, and their repair.

    Parameters
    ----------
    ber
        Probability that a bit is wrong, which spoils its frame: one of b bytes with probability 1 - (1 - ber)^(8 b).
        For all the run and in both directions; `[[event]]` has errors for a time, of one link.
    frame_loss
        Probability that a frame is lost, whatever its size; in place of `ber`.
    llr
        Link-level retry (LLR) of Ultra Ethernet: `llr = {}`, or `{ replay_buffer = "64KB", timeout = "10us" }`.
        Without it, a frame with an error is lost.
    """
    return table(
        {
            "ber": ber,
            "frame_loss": frame_loss,
            "llr": llr,
        }
    )


def llr(
    *,
    replay_buffer: Bytes | None = None,
    timeout: Time | None = None,
    control: Bytes | None = None,
) -> Table:
    """Link-level retry (LLR) of Ultra Ethernet 1.0, between the two ends of each link: frames are numbered, the ...

    Link-level retry (LLR) of Ultra Ethernet 1.0, between the two ends of each link: frames are numbered, the sender
    keeps each one until it is acknowledged, and sends again from the first one that did not arrive.

    Parameters
    ----------
    replay_buffer
        Memory of each port for frames that are not acknowledged. A port sends nothing new while a largest frame finds
        no room in it. Without it, as much as keeps the port's link busy.
    timeout
        Time without progress after which a port sends again all that is not acknowledged, since an ACK or NACK may be
        lost. Without it, twice the longest that the link needs to acknowledge a full replay buffer.
    control
        Bytes of an ACK or NACK, a control ordered set between the frames of the other direction, where it delays
        nothing.
    """
    return table(
        {
            "replay_buffer": replay_buffer,
            "timeout": timeout,
            "control": control,
        }
    )


def quirks(
    *,
    clock: Clock | None = None,
    order: Order | None = None,
    nic: NicTimer | None = None,
    gap: PacingGap | None = None,
    base_rtt: RttOf | None = None,
    uet: UetOf | None = None,
    marking_stream: int | None = None,
) -> Table:
    """What other simulators do differently, for comparison with them; the defaults are xoff's own behaviour.

    Parameters
    ----------
    clock
        How transmission times are calculated.
    order
        The order of simultaneous events.
    nic
        When a NIC with nothing to send checks its flows again.
    gap
        Which rate sets the gap after a packet.
    base_rtt
        What the base RTT is made of.
    uet
        Whose transport of Ultra Ethernet runs.
    marking_stream
        RED draws from ns-3's random streams (seed 1, run 1), beginning with this stream: a new stream for each
        number, also for ACKs in data queues. Each PAUSE and RESUME that a switch makes takes a stream too, for a
        number in its header. Without it each queue has a stream of its own.
    """
    return table(
        {
            "clock": clock,
            "order": order,
            "nic": nic,
            "gap": gap,
            "base_rtt": base_rtt,
            "uet": uet,
            "marking_stream": marking_stream,
        }
    )


def chakra_algorithms(
    *,
    all_reduce: CollectiveAlgorithm | None = None,
    all_gather: CollectiveAlgorithm | None = None,
    reduce_scatter: CollectiveAlgorithm | None = None,
    all_to_all: CollectiveAlgorithm | None = None,
    broadcast: CollectiveAlgorithm | None = None,
    reduce: CollectiveAlgorithm | None = None,
    scatter: CollectiveAlgorithm | None = None,
    gather: CollectiveAlgorithm | None = None,
) -> Table:
    """Algorithms of collectives; `None` for the first one that docs/collectives.md lists for the operation.

    Parameters
    ----------
    all_reduce
        All-reduce.
    all_gather
        All-gather.
    reduce_scatter
        Reduce-scatter.
    all_to_all
        All-to-all.
    broadcast
        Broadcast.
    reduce
        Reduce.
    scatter
        Scatter.
    gather
        Gather.
    """
    return table(
        {
            "all_reduce": all_reduce,
            "all_gather": all_gather,
            "reduce_scatter": reduce_scatter,
            "all_to_all": all_to_all,
            "broadcast": broadcast,
            "reduce": reduce,
            "scatter": scatter,
            "gather": gather,
        }
    )


def collective_settings(
    *,
    channels: int | None = None,
    chunk: Bytes | None = None,
    protocol: Protocol | None = None,
    step_latency: Time | None = None,
    nics: int | None = None,
    local_rate: Rate | None = None,
    local_delay: Time | None = None,
    local_step_latency: Time | None = None,
    across: CollectiveAlgorithm | None = None,
) -> Table:
    """How a collective is carried out.

    Parameters
    ----------
    channels
        Channels: parallel rings or trees, each for an equal part of the data and with connections of its own, from 1
        to 64.
    chunk
        Maximum bytes of a message: a rank forwards a chunk when that chunk has arrived. Without it, a message is not
        divided.
    protocol
        How data go over the wire: NCCL's protocols add bytes and a latency.
    step_latency
        Time between the arrival of a message from another host and what its receiver does next; without it, the
        protocol's.
    nics
        NICs of a host: channel c of the rank with place p on its host sends by NIC (p + c) modulo this number.
        Without it, as the pattern or `host.nic` says.
    local_rate
        Rate at which a rank sends to ranks of its host (NVLink), without the network; without it, such messages take
        only `local_delay`.
    local_delay
        Delay of messages among ranks of one host.
    local_step_latency
        Time between the arrival of a message from a rank of the same host and what its receiver does next; without
        it, the protocol's.
    across
        The algorithm between hosts if the collective's algorithm is `hierarchical`; without it, the operation's
        default.
    """
    return table(
        {
            "channels": channels,
            "chunk": chunk,
            "protocol": protocol,
            "step_latency": step_latency,
            "nics": nics,
            "local_rate": local_rate,
            "local_delay": local_delay,
            "local_step_latency": local_step_latency,
            "across": across,
        }
    )


def straggler(
    *,
    rank: int,
    factor: float,
) -> Table:
    """A rank that computes more slowly.

    Parameters
    ----------
    rank
        Number of the rank.
    factor
        How many times as long its passes take; above 0, and at most 1000.
    """
    return table(
        {
            "rank": rank,
            "factor": factor,
        }
    )


def record(
    *,
    interval: Time | None = None,
    queues: Literal["none", "switches", "all"] | Sequence[str] | None = None,
    rates: bool | Literal["all"] | Sequence[str] | None = None,
    variables: bool | Literal["all"] | Sequence[str] | None = None,
    utilization: bool | None = None,
    pauses: bool | None = None,
    notifications: bool | None = None,
    roots: bool | None = None,
    root_growth: Bytes | None = None,
    marks: bool | None = None,
    states: Literal["none", "all"] | Sequence[str] | None = None,
    throttles: bool | None = None,
    breakdown: bool | None = None,
    reordering: bool | None = None,
    packets: Literal["none", "switches", "all"] | Sequence[str] | None = None,
    packets_from: Time | None = None,
    packets_until: Time | None = None,
) -> Table:
    """What a run records beside its flows. Sampled series cost time and space and are off unless asked for.

    Parameters
    ----------
    interval
        Time between two samples of queues, rates and utilization.
    queues
        Egress queues whose length is sampled: `"none"`, those of `"switches"`, `"all"` (with host NICs), or a list of
        ports, each as `"node->neighbour"`.
    rates
        Flows whose sending rate is sampled: `false`, `true` or `"all"`, or a list of traffic labels.
    variables
        Flows of which the scheme's own variables, such as DCQCN's alpha, are sampled: `false`, `true` or `"all"`, or
        a list of traffic labels. Which variables there are the scheme says; a reaction point that a service level
        shares has none.
    utilization
        Whether the share of each interval in which a port sent is recorded, for each of the ports in `queues`.
    pauses
        Whether each PAUSE is recorded, with its port, start and length.
    notifications
        Whether each CNP and CNM is recorded.
    roots
        Whether congestion roots are recorded: egress queues of switches to which more is offered than their link
        carries; and which flows head-of-line blocking held up (`hol_blocked` in flows).
    root_growth
        Backlog that makes an egress queue a congestion root: what would have waited for its link had no link been
        stopped.
    marks
        Whether each mark of a packet is recorded, with port, flow and code point. A packet marked UE and later CE has
        two.
    states
        Egress queues of switches whose changes of state are recorded: `"none"`, `"all"`, or a list of ports, each as
        `"node->neighbour"`. This needs a detector that tells states apart, such as `tcd`.
    throttles
        Whether each change of the state of a host's throttle (`[throttle]`) is recorded.
    breakdown
        Whether the causes of each flow's completion time are recorded: serialization, propagation, queueing and
        pauses by port, window, rate and so on. Their times sum to the completion time exactly.
    reordering
        Whether the order in which each connection's packets come is recorded: how many are overtaken, how far, and
        the buffer that puts them in order.
    packets
        Ports at which each packet is recorded as it leaves and as it arrives: `"none"`, those of `"switches"`,
        `"all"` (with host NICs), or a list of ports, each as `"node->neighbour"`. These rows fill the record fast.
    packets_from
        Packets are recorded from this time on.
    packets_until
        Packets are recorded before this time; without it, until the end of the run.
    """
    return table(
        {
            "interval": interval,
            "queues": queues,
            "rates": rates,
            "variables": variables,
            "utilization": utilization,
            "pauses": pauses,
            "notifications": notifications,
            "roots": roots,
            "root_growth": root_growth,
            "marks": marks,
            "states": states,
            "throttles": throttles,
            "breakdown": breakdown,
            "reordering": reordering,
            "packets": packets,
            "packets_from": packets_from,
            "packets_until": packets_until,
        }
    )


def tune(
    *,
    objective: Measure | Sequence[Measure],
    budget: Mapping[str, object] | None = None,
    trials: int | None = None,
    seeds: Sequence[int] | None = None,
    sampler: Sampler | None = None,
    sampler_seed: int | None = None,
    batch: int | None = None,
    keys: Mapping[str, object] | None = None,
) -> Table:
    """A search for the values of some keys that minimize one or several measures of a run.

    Parameters
    ----------
    objective
        The measure to minimize, or a list of measures whose Pareto front is searched for. Each is the mean over the
        seeds.
    budget
        Maximum values of measures, as the mean over the seeds; a trial that exceeds one of them is no solution.
    trials
        Number of trials. A trial is a set of values, run with every seed.
    seeds
        Seeds with which each trial is run; without them, the scenario's own seed.
    sampler
        How values are chosen.
    sampler_seed
        Seed of that choice.
    batch
        Number of trials that are chosen together, before the results of any of them are known, and run side by side.
        The outcome depends on this number, but not on how many trials run at the same time.
    keys
        The keys, each with a range, `{ from = "20KB", to = "400KB", log = true }`, or a list of choices.
    """
    return table(
        {
            "objective": objective,
            "budget": budget,
            "trials": trials,
            "seeds": seeds,
            "sampler": sampler,
            "sampler_seed": sampler_seed,
            "batch": batch,
            "keys": keys,
        }
    )


def job(
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
