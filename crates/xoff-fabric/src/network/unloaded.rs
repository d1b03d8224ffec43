//! Times through empty queues: the base RTT, and the flow completion time of a flow that has the network for itself.

use std::collections::HashMap;

use xoff_engine::{Rate, Time};

use super::{Path, WireSizes};
use crate::ids::PortId;
use crate::path::routing::LinkTime;
use crate::path::topology::{NodeKind, Topology};
use crate::settings::{FlowControl, Forwarding, Quirks, RttOf, Settings, Switch};

/// Up to so many links between a link and the receiver, times are computed ahead: most networks have no longer paths.
const LINKS_AHEAD: usize = 8;

/// The terms of the time that a packet and its ACK take through empty queues.
pub(crate) struct UnloadedTimes<'a> {
    topology: &'a Topology,
    wire: &'a WireSizes,
    quirks: &'a Quirks,
    /// The header's bytes, if packets cut through and all links have one rate: then each link but the host's costs only
    /// the header's time. In other networks each link counts as store-and-forward.
    header: Option<u64>,
}

impl<'a> UnloadedTimes<'a> {
    pub fn new(topology: &'a Topology, wire: &'a WireSizes, settings: &'a Settings) -> Self {
        let header = settings.switch.cut_through(&settings.flow_control).filter(|_| uniform(topology));
        UnloadedTimes { topology, wire, quirks: &settings.quirks, header }
    }

    fn time(&self, port: PortId, bytes: u64) -> Time {
        let from_host = self.topology.nodes[self.topology.node_of(port).index()].kind == NodeKind::Host;
        let bytes = match self.header {
            Some(header) if !from_host => bytes.min(header),
            _ => bytes,
        };
        self.topology.rate(port).serialization(bytes) + self.topology.delay(port)
    }

    /// Time of a full data packet on the link that leaves by `port`.
    pub fn data(&self, port: PortId) -> Time {
        self.time(
            port,
            match self.quirks.base_rtt {
                RttOf::FrameAndAck => self.wire.frame(),
                RttOf::Payload => self.wire.payload,
            },
        )
    }

    /// Time of an ACK on the link that leaves by `port` after `hop` switches; the ACK grows at each switch's egress.
    pub fn ack(&self, port: PortId, hop: usize) -> Time {
        self.time(
            port,
            match self.quirks.base_rtt {
                RttOf::FrameAndAck => self.wire.ack + self.wire.ack_growth * hop as u64,
                RttOf::Payload => 0,
            },
        )
    }

    /// The times of both directions of each link, given the number of links between the link and the receiver. Links with the
    /// same rates and delays are computed once: a large network has few kinds of links.
    pub fn by_link(&self) -> impl Fn(PortId, usize) -> LinkTime {
        let mut kinds = HashMap::new();
        let mut examples = Vec::new();
        let kind = |port: PortId| {
            let of = |port: PortId| {
                let kind = self.topology.nodes[self.topology.node_of(port).index()].kind;
                (kind, self.topology.rate(port), self.topology.delay(port))
            };
            *kinds.entry((of(port), of(port.peer()))).or_insert_with(|| {
                examples.push(port);
                examples.len() - 1
            })
        };
        let kind_of: Vec<u32> = self.topology.port_ids().map(kind).map(|kind| kind as u32).collect();
        let time =
            |&port: &PortId, links| LinkTime { data: self.data(port), ack: self.ack(port.peer(), links) };
        let known: Vec<Vec<LinkTime>> =
            examples.iter().map(|port| (0..LINKS_AHEAD).map(|links| time(port, links)).collect()).collect();
        move |port, links| {
            let kind = kind_of[port.index()] as usize;
            known[kind].get(links).copied().unwrap_or_else(|| time(&examples[kind], links))
        }
    }

    /// Round-trip time of a full packet and its ACK.
    pub fn round_trip(&self, data: &[PortId], ack: Path<'_>) -> Time {
        let there = data.iter().map(|&p| self.data(p));
        let back = ack.iter().enumerate().map(|(hop, p)| self.ack(p, hop));
        there.chain(back).fold(Time::ZERO, |sum, t| sum + t)
    }
}

/// When a flow that has the network for itself reaches its milestones, from its start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnloadedFct {
    /// When its last byte arrives at the receiver.
    pub delivered: Time,
    /// When its last ACK arrives at the sender.
    pub sent: Time,
}

/// A flow alone in the network.
pub(super) struct UnloadedFlow<'a> {
    pub topology: &'a Topology,
    pub wire: &'a WireSizes,
    pub data: Path<'a>,
    pub ack: Path<'a>,
    pub ack_every: u64,
    pub processing_delay: Time,
    pub doorbell_delay: Time,
    /// Minimum time between the beginnings of two packets at the sender.
    pub packet_interval: Time,
    /// Bytes of a packet that must have arrived before a switch forwards it; `None` for the whole packet.
    pub header: Option<u64>,
}

impl UnloadedFlow<'_> {
    /// The exact times of the flow's milestones: its packets queue only behind each other, so this is a line of queues in
    /// tandem that all packets enter at once.
    pub fn times(&self, size: u64) -> UnloadedFct {
        let payload = self.wire.payload;
        let packets = size.div_ceil(payload).max(1);
        let (frame, last) = (self.wire.frame(), size - (packets - 1) * payload + self.wire.data_overhead);
        // `now` is when the last packet begins on each link, without propagation, which adds the same to all times. Full
        // packet i leaves a link (i - 1) times the slowest packet time so far after the first packet. The wire's gap holds
        // back only the next packet on the same link.
        let (mut first, mut slowest, mut now) = (Time::ZERO, Time::ZERO, Time::ZERO);
        let mut through = Time::ZERO;
        for (hop, port) in self.data.iter().enumerate() {
            let rate = self.topology.rate(port);
            let (full, gap) = (rate.serialization(frame), rate.serialization(self.wire.gap));
            (through, slowest) = (first + full, slowest.max(full + gap));
            if packets > 1 {
                now = now.max(through + slowest * (packets - 2) + gap);
            }
            if hop == 0 {
                slowest = slowest.max(self.packet_interval);
                now = now.max(Time(self.packet_interval.0.saturating_mul(packets - 1)));
            }
            first += self.lead(self.data, hop, frame);
            now += self.lead(self.data, hop, last);
        }
        let propagation = |path: Path<'_>| path.iter().fold(Time::ZERO, |s, p| s + self.topology.delay(p));
        let delivered = self.doorbell_delay + now + propagation(self.data);
        // All ACKs have one size and come evenly, apart from the last one. So the last ACK is delayed most by one of three:
        // itself, the first ACK, or the ACK before it; and the slowest link takes its time for each ACK in between.
        let ack_time = |port: PortId| {
            let rate = self.topology.rate(port);
            rate.serialization(self.wire.ack) + rate.serialization(self.wire.gap)
        };
        let slowest_ack = self.ack.iter().map(ack_time).max().unwrap_or(Time::ZERO);
        let earlier = (packets - 1) / self.ack_every;
        if earlier > 0 {
            let first = through + slowest * (self.ack_every - 1);
            let before = through + slowest * (earlier * self.ack_every - 1);
            now = now.max(first + slowest_ack * earlier).max(before + slowest_ack);
        }
        now = (0..self.ack.len()).fold(now, |at, hop| at + self.lead(self.ack, hop, self.wire.ack));
        let back = propagation(self.ack) + self.processing_delay;
        let sent = self.doorbell_delay + now + propagation(self.data) + back;
        UnloadedFct { delivered, sent }
    }

    /// Time from the start of `bytes` on a link of a path to their earliest start on the next link; on the last link, to
    /// their end.
    fn lead(&self, path: Path<'_>, hop: usize, bytes: u64) -> Time {
        let rate = self.topology.rate(path.at(hop));
        if hop + 1 < path.len() {
            lead(self.header, bytes, rate, self.topology.rate(path.at(hop + 1)))
        } else {
            rate.serialization(bytes)
        }
    }
}

/// The time from the start of `bytes` on a link of rate `on` to the earliest start on the `next` link behind a switch,
/// without propagation: the time of all bytes under store-and-forward, otherwise that of the first `header` bytes, or more
/// if the next link is faster.
pub fn lead(header: Option<u64>, bytes: u64, on: Rate, next: Rate) -> Time {
    let whole = on.serialization(bytes);
    match header {
        None => whole,
        Some(header) if header >= bytes => whole,
        Some(header) => {
            let rest = next.serialization(bytes);
            on.serialization(header).max(Time(whole.0.saturating_sub(rest.0)))
        }
    }
}

/// Whether all links have one rate.
pub fn uniform(topology: &Topology) -> bool {
    topology.port_ids().skip(1).all(|port| topology.rate(port) == topology.rate(PortId(0)))
}

impl Switch {
    /// Bytes of a packet that must have arrived before a switch forwards it; `None` for the whole packet.
    pub fn cut_through(&self, flow_control: &FlowControl) -> Option<u64> {
        match self.forwarding(flow_control) {
            Forwarding::StoreAndForward => None,
            Forwarding::CutThrough => Some(self.cut_through_after.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faster_link_waits_until_the_rest_comes_in_time() {
        let (slow, fast) = (Rate::from_gbps(50), Rate::from_gbps(100));
        // 1000 B: 80 ns at 100 Gbps, 160 ns at 50 Gbps. A header of 64 B: 5.12 ns at 100 Gbps, 10.24 ns at 50 Gbps.
        assert_eq!(lead(None, 1000, fast, fast), Time(80_000));
        assert_eq!(lead(Some(64), 1000, fast, fast), Time(5_120));
        assert_eq!(lead(Some(64), 1000, fast, slow), Time(5_120));
        // From 50 to 100 Gbps: the packet may start 80 ns before its last bit has arrived, so 80 ns after its first bit.
        assert_eq!(lead(Some(64), 1000, slow, fast), Time(80_000));
        // An ACK no longer than the header has nothing to cut.
        assert_eq!(lead(Some(64), 64, slow, fast), Time(10_240));
    }
}
