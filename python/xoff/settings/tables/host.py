"""Plain tables of a scenario, and tables inside others: `host`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from xoff.settings.table import Table, Time, table

__all__ = ["host"]

AckClass = Literal["control", "data", "control_at_host"]
BaseRtt = Literal["max", "per_pair"]
FlowCount = Literal["recent", "all_open_qps"]
Transport = Literal["go_back_n", "selective_repeat", "unordered", "uet"]


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
