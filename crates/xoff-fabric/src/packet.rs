//! Packets and the slab they live in.

mod transit;

pub(crate) use transit::Transit;

use std::hint::select_unpredictable;

use xoff_engine::{ArrivalLinks, Time, fetch_ahead};
use xoff_schemes::Mark;
use xoff_schemes::int::{ExactRecord, MAX_INT_HOPS, PackedRecord, PortReading};

use crate::breakdown::way::Ways;

/// A packet's index in the slab.
pub type PacketId = u32;

/// No packet.
pub const NO_PACKET: PacketId = u32::MAX;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Payload of a flow.
    Data,
    /// Cumulative acknowledgement.
    Ack,
    /// Negative acknowledgement: go back to `seq` (lossy networks only).
    Nack,
    /// Congestion notification packet, from a receiver.
    Cnp,
    /// Congestion notification message, from a switch.
    Cnm,
    /// PAUSE (quanta above zero) or RESUME of one priority; never leaves its link.
    Pfc,
    /// How far the neighbour may count its credits; never leaves its link.
    CreditUpdate,
}

/// Set on the packet that ends its flow.
pub const LAST: u8 = 1;
/// The packet's bytes count at its ingress port of the switch that it is in.
pub const CHARGED: u8 = 2;
/// The CNP carries a rate in `seq`.
pub const HAS_RATE: u8 = 4;

/// A packet: one cache line. Telemetry lies beside it in [`Packets`], only when a scheme asks for it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Data: offset of its first payload byte. ACK, NACK: all before this offset has arrived. CNP, CNM: the rate
    /// in bit/s. PFC: quanta. Credit update: the limit.
    pub seq: u64,
    /// When the data packet, or the one that this ACK answers, left its sender.
    pub sent_at: Time,
    /// The flow it belongs to.
    pub flow: u32,
    /// When the next packet of the same link arrives; never where none is on its way behind this one.
    pub next_at: Time,
    /// Next packet of the same queue or link, or next free slot.
    pub next: PacketId,
    /// Index of its next egress port in the network's paths.
    pub position: u32,
    /// Port by which it entered the node that it is in.
    pub ingress: u32,
    /// CNM: the congestion point.
    pub point: u32,
    /// Bytes on the wire.
    pub size: u16,
    /// Payload bytes.
    pub payload: u16,
    /// The receiver's count of flows, in ACKs.
    pub flow_count: u16,
    /// What it is.
    pub kind: Kind,
    /// Queue class: 0 MAC control, 1 control, 2 + p data priority p. PFC frames and credit updates
    /// name the priority that they concern in `hops`.
    pub class: u8,
    /// Its congestion mark.
    pub mark: Mark,
    /// [`LAST`], [`CHARGED`], [`HAS_RATE`].
    pub flags: u8,
    /// INT records so far.
    pub hops: u8,
}

/// A packet's telemetry in hardware widths: one cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct PackedStack([PackedRecord; MAX_INT_HOPS]);

/// The telemetry of a packet, as the run's format has it.
enum IntSlab {
    Off,
    Packed(Vec<PackedStack>),
    Exact(Vec<[ExactRecord; MAX_INT_HOPS]>),
}

/// The slab of packets. A freed slot is the next to be used, as it is still in the cache.
pub struct Packets {
    slots: Vec<Packet>,
    int: IntSlab,
    /// INT's units are 2^this times as large.
    int_shift: u8,
    free: PacketId,
    live: u32,
    /// Ways of packets; none unless where flows' time went is recorded.
    pub(crate) ways: Option<Box<Ways>>,
}

impl Packets {
    /// An empty slab without telemetry.
    pub fn new() -> Self {
        Packets { slots: Vec::new(), int: IntSlab::Off, int_shift: 0, free: NO_PACKET, live: 0, ways: None }
    }

    /// An empty slab whose packets carry telemetry, in full precision if `exact`, else in units 2^`shift` times as
    /// large.
    pub fn with_int(exact: bool, shift: u8) -> Self {
        let int = if exact { IntSlab::Exact(Vec::new()) } else { IntSlab::Packed(Vec::new()) };
        Packets { int, int_shift: shift, ..Packets::new() }
    }

    /// See [`xoff_schemes::int::IntStack::unit_shift`].
    pub fn int_shift(&self) -> u8 {
        self.int_shift
    }

    /// Packets in use.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// Puts a packet in.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        self.live += 1;
        let id = self.free;
        if id != NO_PACKET {
            let slot = &mut self.slots[id as usize];
            self.free = slot.next;
            *slot = packet;
            return id;
        }
        self.slots.push(packet);
        match &mut self.int {
            IntSlab::Off => {}
            IntSlab::Packed(v) => v.push(Default::default()),
            IntSlab::Exact(v) => v.push(Default::default()),
        }
        (self.slots.len() - 1) as PacketId
    }

    /// Takes a packet out.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.live -= 1;
        self.slots[id as usize].next = self.free;
        self.free = id;
    }

    /// The telemetry of packet `id`, `hops` records long.
    #[inline]
    pub fn int_records(&self, id: PacketId, hops: u8) -> xoff_schemes::int::Records<'_> {
        use xoff_schemes::int::Records;
        match &self.int {
            IntSlab::Off => Records::Packed(&[]),
            IntSlab::Packed(v) => Records::Packed(&v[id as usize].0[..hops as usize]),
            IntSlab::Exact(v) => Records::Exact(&v[id as usize][..hops as usize]),
        }
    }

    /// Fetches packet `id` and its telemetry into the cache, if there is such a packet: it is about to be used.
    #[inline]
    pub fn prefetch(&self, id: PacketId) {
        fetch_ahead(&self.slots, id);
        if let IntSlab::Packed(stacks) = &self.int {
            fetch_ahead(stacks, id);
        }
    }

    /// Appends a record to packet `id` if it is `wanted`. Which packets of a mixed stream want one is as good as random, so it
    /// is no branch.
    #[inline(always)] // on the way of every packet
    pub fn stamp_if(&mut self, wanted: bool, id: PacketId, code: u8, reading: impl FnOnce() -> PortReading) {
        let IntSlab::Packed(stacks) = &mut self.int else {
            return if wanted {
                self.stamp(id, code, reading)
            };
        };
        let hops = &mut self.slots[id as usize].hops;
        debug_assert!(!wanted || usize::from(*hops) < MAX_INT_HOPS, "paths are no longer than telemetry");
        let record = &mut stacks[id as usize].0[usize::from(*hops) % MAX_INT_HOPS];
        *hops += u8::from(wanted);
        *record =
            select_unpredictable(wanted, PackedRecord::stamp(code, self.int_shift, &reading()), *record);
    }

    /// Appends a record to packet `id`.
    #[inline(always)] // on the way of every packet
    pub fn stamp(&mut self, id: PacketId, code: u8, reading: impl FnOnce() -> PortReading) {
        let packet = &mut self.slots[id as usize];
        let hop = packet.hops as usize;
        packet.hops += 1;
        match &mut self.int {
            IntSlab::Off => {}
            IntSlab::Packed(v) => {
                v[id as usize].0[hop] = PackedRecord::stamp(code, self.int_shift, &reading())
            }
            IntSlab::Exact(v) => v[id as usize][hop] = ExactRecord::stamp(&reading()),
        }
    }
}

impl ArrivalLinks for Packets {
    #[inline(always)]
    fn link(&mut self, id: PacketId, time: Time, next: PacketId) {
        let packet = &mut self[id];
        debug_assert_eq!(packet.next_at, Time::NEVER, "nothing follows it so far");
        (packet.next_at, packet.next) = (time, next);
    }

    #[inline(always)]
    fn unlink(&mut self, id: PacketId) -> (Time, PacketId) {
        let packet = &mut self[id];
        (std::mem::replace(&mut packet.next_at, Time::NEVER), packet.next)
    }
}

impl Default for Packets {
    fn default() -> Self {
        Self::new()
    }
}

impl std::ops::Index<PacketId> for Packets {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.slots[id as usize]
    }
}

impl std::ops::IndexMut<PacketId> for Packets {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::Rate;
    use xoff_schemes::int::Records;

    #[test]
    fn a_packet_is_one_cache_line() {
        assert_eq!(size_of::<Packet>(), 64);
        assert_eq!((size_of::<PackedStack>(), align_of::<PackedStack>()), (64, 64));
    }

    #[test]
    fn only_packets_that_want_a_record_get_one() {
        // The most hops that there may be: a data packet gets all of them, and passing as an ACK then changes none.
        let mut packets = Packets::with_int(false, 0);
        let id = packets.insert(Packet {
            seq: 0,
            sent_at: Time::ZERO,
            flow: 0,
            next_at: Time::NEVER,
            next: NO_PACKET,
            position: 0,
            ingress: 0,
            point: 0,
            size: 1_000,
            payload: 900,
            flow_count: 0,
            kind: Kind::Data,
            class: 2,
            mark: Mark::None,
            flags: 0,
            hops: 0,
        });
        let reading = |hop: u64| PortReading {
            at: Time::from_ns(hop),
            tx_bytes: 128 * hop,
            queue_bytes: 80 * hop,
            rate: Rate::from_gbps(100),
        };
        for hop in 1..=MAX_INT_HOPS as u64 {
            packets.stamp_if(true, id, 1, || reading(hop));
            packets.stamp_if(false, id, 1, || reading(99));
        }
        assert_eq!(packets[id].hops as usize, MAX_INT_HOPS);
        let Records::Packed(records) = packets.int_records(id, packets[id].hops) else { panic!("packed") };
        let seen: Vec<u64> = records.iter().map(|record| record.reading(0).queue_bytes / 80).collect();
        assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
