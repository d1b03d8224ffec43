//! Packets, the pool that they live in, and their transfer from one partition of the network to another.
//!
//! The room owns packets and depends on no other room.

mod boundary;
mod class;
mod loads;
mod offers;
mod pool;
mod transit;
pub(crate) mod way;

pub(crate) use boundary::{Boundary, PartitionId, Share};
pub use class::{CONTROL, DATA, MAC_CONTROL, MAX_PRIORITIES};
pub(crate) use loads::Loads;
pub use pool::Packets;
pub(crate) use transit::Transit;

use xoff_engine::{Rate, Time};
use xoff_schemes::{Cnm, Credit, Mark, QueueReport};

use crate::ids::{FlowId, PortId};

/// A packet's index in the pool.
pub type PacketId = u32;

/// No packet.
pub const NO_PACKET: PacketId = u32::MAX;

/// In place of a message's number in frames that belong to no message.
pub const NO_FLOW: FlowId = FlowId(u32::MAX);

/// Kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Payload of a message.
    Data,
    /// Acknowledgement: cumulative, and of the data packet that it answers.
    Ack,
    /// Negative acknowledgement: data is missing from `seq` on (where packets may be lost or overtake each other).
    Nack,
    /// Congestion notification packet, from a receiver.
    Cnp,
    /// Congestion notification message, from a switch.
    Cnm,
    /// PAUSE (quanta above zero) or RESUME of one priority; never leaves its link.
    Pfc,
    /// Data whose payload a switch has cut off for lack of room.
    Trimmed,
    /// Credit from a receiver (Ultra Ethernet).
    Pull,
    /// Request to send, from a sender (Ultra Ethernet); or for credits, or to stop them: see [`Packet::request`].
    Rts,
    /// Limit of the neighbour's count of sent credits; never leaves its link.
    CreditUpdate,
    /// Credit from a receiver for one data packet, which every port limits; also a cumulative acknowledgement.
    Credit,
}

/// Set on the packet that ends its message.
pub const LAST: u8 = 1;
/// The packet's bytes are charged to its ingress port of the current switch.
pub const CHARGED: u8 = 2;
/// The CNP carries a rate.
pub const HAS_RATE: u8 = 4;
/// The data packet is a retransmission.
pub const RESENT: u8 = 8;
/// The CNM reports a queue.
pub const HAS_QUEUE: u8 = 16;

/// The packet was trimmed at its last hop.
pub const LAST_HOP: u8 = 32;

/// Bit of `position`: each switch chooses the packet's next hop or its lane, and the other bits are the port at which the packet
/// ends. Places of paths have this bit only together with the next one.
pub(crate) const BY_HOP: u32 = 1 << 31;

/// Whether each switch chooses the next hop, or the lane, of a packet with a `position`.
#[inline(always)] // runs for every packet
pub(crate) const fn is_by_hop(position: u32) -> bool {
    position.cast_signed() < (BY_HOP | BY_HOP >> 1).cast_signed()
}

/// A packet: one cache line. Its telemetry, if a scheme asks for any, lies beside it in [`Packets`].
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Data: offset of its first payload byte in its connection. ACK, NACK, credit: all bytes before this offset have arrived.
    /// Other kinds keep something else here: see [`Packet::rate`], [`Packet::quanta`] and [`Packet::credit_limit`].
    pub seq: u64,
    /// When the data packet, or the data packet that this ACK answers or that this CNM reports of, left its sender.
    pub sent_at: Time,
    /// The message that the packet belongs to; [`NO_FLOW`] for frames of flow control.
    pub flow: FlowId,
    /// Data: identifies the packet's path, if each switch chooses its next hop; 0 otherwise.
    pub path_id: u16,
    /// The scheme's own byte; 0 if it has none.
    pub label: u8,
    /// What a switch has added to the class by which the packet came, modulo 256: routing by virtual lanes changes it.
    pub lane_change: u8,
    /// When the next packet of the same link arrives; [`Time::NEVER`] if no packet follows.
    pub next_at: Time,
    /// Next packet of the same queue or link, or next free slot.
    pub next: PacketId,
    /// Index of its next egress port in the network's paths, or the port at which it ends: see [`Packet::destination`].
    pub position: u32,
    /// Port by which it entered its current node.
    pub ingress: PortId,
    /// CNM: the congestion point. Data and ACKs whose next hop each switch chooses: see [`Packet::path_number`]; whose lane it
    /// chooses: the index of the next egress port in the network's paths.
    pub point: u32,
    /// Number of the data packet, or of the data packet that this ACK answers, in the order of first transmission on its
    /// connection, modulo 2^32. CNM: bytes queued, if the CNM reports a queue.
    pub number: u32,
    /// Payload bytes.
    pub payload: u16,
    /// The receiver's count of flows, in ACKs. Data: the number of the credit that it took.
    pub flow_count: u16,
    /// Bytes on the wire.
    pub size: u16,
    /// Kind of packet.
    pub kind: Kind,
    /// Queue class: 0 MAC control, 1 control, 2 + p data priority p.
    pub class: u8,
    /// Its congestion mark.
    pub mark: Mark,
    /// [`LAST`], [`CHARGED`], [`HAS_RATE`], [`RESENT`], [`HAS_QUEUE`].
    pub flags: u8,
    /// Number of INT records so far. Frames of flow control have their priority here: see [`Packet::link_priority`].
    pub hops: u8,
    /// Number of links that the packet has passed, including the one that it leaves by, if each switch chooses its next hop.
    pub links: u8,
}

/// The part of a packet that queues and wires need, read once at each node: one register.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Frame {
    bytes: u16,
    /// Kind of packet.
    pub kind: Kind,
    /// Its queue class.
    pub class: u8,
}

impl Frame {
    /// A frame of `size` bytes on the wire.
    #[inline(always)] // runs for every packet
    pub fn new(kind: Kind, class: u8, size: u64) -> Frame {
        Frame { bytes: size as u16, kind, class }
    }

    /// Bytes on the wire.
    #[inline(always)] // runs for every packet
    pub fn size(self) -> u64 {
        self.bytes.into()
    }
}

impl Packet {
    /// The packet as queues and wires see it.
    #[inline(always)] // runs for every packet
    pub fn frame(&self) -> Frame {
        Frame { bytes: self.size, kind: self.kind, class: self.class }
    }

    /// The class by which the packet came to its current switch, to whose ingress buffer it is charged.
    #[inline(always)] // runs for every packet
    pub fn ingress_class(&self) -> u8 {
        self.class.wrapping_sub(self.lane_change)
    }

    /// What a free slot of the pool holds.
    pub(super) const EMPTY: Packet = Packet::plain(Kind::Data, MAC_CONTROL, 0, Time::ZERO);

    /// A packet with defaults in all fields that only some kinds use.
    #[inline(always)] // runs for every packet
    const fn plain(kind: Kind, class: u8, size: u64, now: Time) -> Packet {
        Packet {
            seq: 0,
            sent_at: now,
            flow: NO_FLOW,
            path_id: 0,
            label: 0,
            next_at: Time::NEVER,
            next: NO_PACKET,
            position: 0,
            ingress: PortId(0),
            point: 0,
            number: 0,
            size: size as u16,
            payload: 0,
            flow_count: 0,
            kind,
            class,
            mark: Mark::None,
            flags: 0,
            hops: 0,
            links: 0,
            lane_change: 0,
        }
    }

    /// Data of `flow` that leaves its host by `port` with `payload` bytes, `size` on the wire, from `seq` of the
    /// connection on.
    #[inline(always)] // runs for every packet
    #[allow(clippy::too_many_arguments)] // each one is a field of the packet
    pub fn data(
        flow: FlowId,
        seq: u64,
        number: u32,
        payload: u64,
        size: u64,
        class: u8,
        port: PortId,
        now: Time,
    ) -> Packet {
        let payload = payload as u16;
        Packet { flow, seq, number, payload, ingress: port, ..Packet::plain(Kind::Data, class, size, now) }
    }

    /// A receiver's CNP for `flow`, which reports `mark` and, if there is one, asks for a `rate`.
    pub fn cnp(flow: FlowId, size: u64, mark: Mark, rate: Option<Rate>, now: Time) -> Packet {
        let flags = if rate.is_some() { HAS_RATE } else { 0 };
        let seq = rate.map_or(0, |rate| rate.bps());
        Packet { flow, seq, mark, flags, ..Packet::plain(Kind::Cnp, CONTROL, size, now) }
    }

    /// A switch's `message` to the source of `flow`.
    pub fn cnm(flow: FlowId, message: &Cnm, size: u64, port: PortId, now: Time) -> Packet {
        let (seq, point) = (message.rate.bps(), message.point);
        let packet =
            Packet { flow, seq, point, ingress: port, ..Packet::plain(Kind::Cnm, CONTROL, size, now) };
        match message.queue {
            Some(QueueReport { bytes, sent_at }) => {
                Packet { number: bytes, sent_at, flags: HAS_QUEUE, ..packet }
            }
            None => packet,
        }
    }

    /// A receiver's `credit`, which says that all bytes of the connection before `seq` have arrived.
    pub fn credit(flow: FlowId, seq: u64, credit: Credit, now: Time) -> Packet {
        let plain = Packet::plain(Kind::Credit, CONTROL, credit.size.into(), now);
        Packet { flow, seq, number: credit.number.into(), ..plain }
    }

    /// A sender asks for credits for its connection, or `wants` no more.
    pub fn request(flow: FlowId, wants: bool, size: u64, port: PortId, now: Time) -> Packet {
        Packet { flow, number: wants.into(), ingress: port, ..Packet::plain(Kind::Rts, CONTROL, size, now) }
    }

    /// A PAUSE of `priority` for `quanta`, or a RESUME if these are 0, that leaves by `port`.
    pub fn pfc(port: PortId, priority: u8, quanta: u16, size: u64, now: Time) -> Packet {
        let (seq, hops) = (u64::from(quanta), priority);
        Packet { seq, hops, ingress: port, ..Packet::plain(Kind::Pfc, MAC_CONTROL, size, now) }
    }

    /// A credit update of `priority` that leaves by `port`; its limit is filled in when the packet leaves.
    pub fn credit_update(port: PortId, priority: u8, size: u64, now: Time) -> Packet {
        Packet { hops: priority, ingress: port, ..Packet::plain(Kind::CreditUpdate, MAC_CONTROL, size, now) }
    }

    /// The rate that a CNM grants, or that a CNP carries; `None` in other packets.
    pub fn rate(&self) -> Option<Rate> {
        (self.kind == Kind::Cnm || self.flags & HAS_RATE != 0).then_some(Rate(self.seq))
    }

    /// What a CNM says to the sender of `connection`.
    pub fn message(&self, connection: u32) -> Cnm {
        let report = QueueReport { bytes: self.number, sent_at: self.sent_at };
        Cnm {
            flow: connection,
            point: self.point,
            rate: Rate(self.seq),
            queue: (self.flags & HAS_QUEUE != 0).then_some(report),
        }
    }

    /// A PFC frame's quanta; 0 for a RESUME.
    pub fn quanta(&self) -> u64 {
        self.seq
    }

    /// A credit update's limit of the neighbour's count of sent credits.
    pub fn credit_limit(&self) -> u64 {
        self.seq
    }

    /// The priority that a frame of flow control concerns.
    pub fn link_priority(&self) -> u8 {
        self.hops
    }

    /// Whether the packet is a frame of flow control, which never leaves its link.
    pub fn concerns_link(&self) -> bool {
        matches!(self.kind, Kind::Pfc | Kind::CreditUpdate)
    }

    /// The host's port at which the packet ends, if each switch chooses its next hop; `None` if its path is fixed.
    #[inline]
    pub fn destination(&self) -> Option<PortId> {
        is_by_hop(self.position).then_some(PortId(self.position & !BY_HOP))
    }

    /// Lets each switch choose the next hop of a packet that leaves its host, to another host's `port`; `path_number` names
    /// one of the equal-cost paths.
    #[inline]
    pub fn goes_to(&mut self, port: PortId, path_number: u32) {
        (self.position, self.point, self.links) = (port.0 | BY_HOP, path_number, 1);
    }

    /// Lets a packet that leaves its host follow the path of its connection, on a lane that switches set, to another host's
    /// `port`.
    #[inline]
    pub fn follows_path_to(&mut self, port: PortId) {
        self.goes_to(port, self.position);
    }

    /// The number of the packet's path among the remaining equal-cost paths, in data and ACKs whose next hop each switch
    /// chooses.
    #[inline]
    pub fn path_number(&self) -> u32 {
        self.point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_one_cache_line() {
        assert_eq!(size_of::<Packet>(), 64);
    }
}
