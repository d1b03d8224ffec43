//! The pool that packets live in, each with its telemetry beside it.

use std::hint::select_unpredictable;

use xoff_engine::{ArrivalLinks, Time, fetch_ahead};
use xoff_schemes::Mark;
use xoff_schemes::int::{ExactRecord, MAX_INT_HOPS, PackedRecord, PortReading};

use super::loads::Loads;
use super::offers::Offers;
use super::way::Ways;
use super::{Kind, NO_PACKET, Packet, PacketId};
use crate::ids::FlowId;

/// A packet's telemetry in hardware widths: one cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct PackedStack([PackedRecord; MAX_INT_HOPS]);

/// The telemetry of all packets, in the run's format.
pub(super) enum IntPool {
    Off,
    Packed(Vec<PackedStack>),
    Exact(Vec<[ExactRecord; MAX_INT_HOPS]>),
}

/// The most packets for which a pool has room from the beginning.
const MOST_ROOM: usize = 1 << 22;

/// A list takes room from the beginning only where so many times as many addresses are left, so that others do not lack them.
const ADDRESSES_FOR_ROOM: usize = 16;

/// At least so many bytes of addresses are asked for to know whether they are left. glibc would take a smaller piece, once it is
/// given back, as a sign to no longer map memory of its own for such pieces.
const LEAST_PROBE: usize = 1 << 26;

/// An empty list with room for a number of entries, if there are addresses enough.
fn with_room<T>(entries: usize) -> Vec<T> {
    let mut list = Vec::new();
    let entries = entries.min(MOST_ROOM);
    let probe = entries.saturating_mul(ADDRESSES_FOR_ROOM).max(LEAST_PROBE / size_of::<T>());
    // In a browser room takes memory before it is used.
    if cfg!(not(target_family = "wasm")) && Vec::<T>::new().try_reserve_exact(probe).is_ok() {
        _ = list.try_reserve_exact(entries);
    }
    list
}

/// The pool of packets. The slot that was freed last is used next, because it is still in the cache.
pub struct Packets {
    slots: Vec<Packet>,
    pub(super) int: IntPool,
    /// INT's units are 2^this times as large as the hardware's.
    int_shift: u8,
    /// What [`Packets::stamp_if`] writes for packets that want no record.
    unread: PackedRecord,
    free: PacketId,
    live: u32,
    /// Ways of packets; `None` unless the breakdown of flows' times is recorded.
    pub(crate) ways: Option<Box<Ways>>,
    /// When packets would have come without stops; `None` unless congestion roots are recorded.
    pub(crate) offers: Option<Box<Offers>>,
    /// Queues that packets carry; `None` unless routing wants them.
    pub(crate) loads: Option<Box<Loads>>,
}

impl Packets {
    /// An empty pool without telemetry, with room for a number of packets.
    ///
    /// Room takes addresses but no memory as long as it is not used. A pool that is full doubles its room, and while it does so its
    /// packets lie in memory twice: the system's allocator moves a list whose entries begin at cache lines by a copy.
    pub fn new(room: usize) -> Self {
        Packets {
            slots: with_room(room),
            int: IntPool::Off,
            int_shift: 0,
            unread: PackedRecord::default(),
            free: NO_PACKET,
            live: 0,
            ways: None,
            offers: None,
            loads: None,
        }
    }

    /// An empty pool whose packets carry telemetry, in full precision if `exact`, else in units 2^`shift` times as
    /// large. See [`Packets::new`].
    pub fn with_int(exact: bool, shift: u8, room: usize) -> Self {
        let int = if exact { IntPool::Exact(with_room(room)) } else { IntPool::Packed(with_room(room)) };
        Packets { int, int_shift: shift, ..Packets::new(room) }
    }

    /// See [`xoff_schemes::int::IntStack::unit_shift`].
    pub fn int_shift(&self) -> u8 {
        self.int_shift
    }

    /// Forgets all telemetry: none may be written or read from now on. The packets themselves stay.
    pub(crate) fn end_telemetry(&mut self) {
        self.int = IntPool::Off;
    }

    /// Forgets all packets and their telemetry. Nothing that names a packet may be looked at from now on.
    pub(crate) fn forget_all(&mut self) {
        self.end_telemetry();
        (self.slots, self.free, self.live) = (Vec::new(), NO_PACKET, 0);
        (self.ways, self.offers, self.loads) = (None, None, None);
    }

    /// Number of packets in the pool.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// The packets in the pool, in no order. To find them takes time for each slot that there ever was.
    fn all(&self) -> impl Iterator<Item = &Packet> {
        let mut live = vec![true; self.slots.len()];
        let mut free = self.free;
        while free != NO_PACKET {
            live[free as usize] = false;
            free = self.slots[free as usize].next;
        }
        self.slots.iter().zip(live).filter_map(|(packet, live)| live.then_some(packet))
    }

    /// Packets go on as those of messages with other names.
    pub fn rename(&mut self, name: impl Fn(FlowId) -> FlowId) {
        // Slots that are free may be renamed too.
        for packet in &mut self.slots {
            packet.flow = name(packet.flow);
        }
    }

    /// Number of data packets in the pool.
    pub fn live_data(&self) -> u64 {
        self.all().filter(|packet| packet.kind == Kind::Data).count() as u64
    }

    /// Whether a packet in the pool carries a mark, or a notification to a sender.
    pub fn has_notices(&self) -> bool {
        self.all().any(|packet| packet.kind == Kind::Cnp || packet.mark != Mark::None)
    }

    /// Puts a packet in. Inlined, so that the packet's fields go to its slot without a copy of the whole.
    #[inline(always)] // runs for every packet
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        self.live += 1;
        if self.free == NO_PACKET {
            self.free = self.grow();
        }
        let id = self.free;
        let slot = &mut self.slots[id as usize];
        self.free = slot.next;
        *slot = packet;
        id
    }

    /// Adds a free slot.
    #[cold]
    fn grow(&mut self) -> PacketId {
        self.slots.push(Packet::EMPTY);
        match &mut self.int {
            IntPool::Off => {}
            IntPool::Packed(v) => v.push(Default::default()),
            IntPool::Exact(v) => v.push(Default::default()),
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
            IntPool::Off => Records::Packed(&[]),
            IntPool::Packed(v) => Records::Packed(&v[id as usize].0[..hops as usize]),
            IntPool::Exact(v) => Records::Exact(&v[id as usize][..hops as usize]),
        }
    }

    /// Packet `id`, if there is such a slot.
    #[inline(always)] // runs for every packet of a large network
    pub fn get(&self, id: PacketId) -> Option<&Packet> {
        self.slots.get(id as usize)
    }

    /// Fetches packet `id` into the cache, if there is such a packet: the caller is about to use it.
    #[inline]
    pub fn prefetch(&self, id: PacketId) {
        fetch_ahead(&self.slots, id);
    }

    /// The same with its telemetry, which the caller is about to read or is sure to write.
    #[inline]
    pub fn prefetch_with_telemetry(&self, id: PacketId) {
        self.prefetch(id);
        if let IntPool::Packed(stacks) = &self.int {
            fetch_ahead(stacks, id);
        }
    }

    /// Fetches the telemetry of packet `id` if it is `wanted`. Packets that want a record and others interleave unpredictably, so the code
    /// selects without a branch.
    #[inline(always)] // runs for every packet of a large network
    pub fn prefetch_telemetry_if(&self, wanted: bool, id: PacketId) {
        if let IntPool::Packed(stacks) = &self.int {
            fetch_ahead(stacks, select_unpredictable(wanted, id, NO_PACKET));
        }
    }

    /// Appends a record to packet `id` if it is `wanted`. Packets that want a record and others interleave unpredictably, so
    /// the code selects without a branch.
    #[inline(always)] // runs for every packet
    pub fn stamp_if(&mut self, wanted: bool, id: PacketId, code: u8, reading: impl FnOnce() -> PortReading) {
        let IntPool::Packed(stacks) = &mut self.int else {
            return if wanted {
                self.stamp(id, code, reading)
            };
        };
        let hops = &mut self.slots[id as usize].hops;
        debug_assert!(!wanted || usize::from(*hops) < MAX_INT_HOPS, "paths are no longer than telemetry");
        let record = &mut stacks[id as usize].0[usize::from(*hops) % MAX_INT_HOPS];
        *hops += u8::from(wanted);
        // An unwanted record goes where nobody reads it, so that telemetry of no use stays out of the cache.
        let record = select_unpredictable(wanted, record, &mut self.unread);
        *record = PackedRecord::stamp(code, self.int_shift, &reading());
    }

    /// Appends a record to packet `id`.
    #[inline(always)] // runs for every packet
    pub fn stamp(&mut self, id: PacketId, code: u8, reading: impl FnOnce() -> PortReading) {
        let packet = &mut self.slots[id as usize];
        let hop = packet.hops as usize;
        packet.hops += 1;
        match &mut self.int {
            IntPool::Off => {}
            IntPool::Packed(v) => {
                v[id as usize].0[hop] = PackedRecord::stamp(code, self.int_shift, &reading())
            }
            IntPool::Exact(v) => v[id as usize][hop] = ExactRecord::stamp(&reading()),
        }
    }
}

impl ArrivalLinks for Packets {
    #[inline(always)]
    fn link(&mut self, id: PacketId, time: Time, next: PacketId) {
        let packet = &mut self[id];
        debug_assert_eq!(packet.next_at, Time::NEVER, "no packet follows so far");
        (packet.next_at, packet.next) = (time, next);
    }

    #[inline(always)]
    fn unlink(&mut self, id: PacketId) -> (Time, PacketId) {
        let packet = &mut self[id];
        (std::mem::replace(&mut packet.next_at, Time::NEVER), packet.next)
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
    use crate::ids::FlowId;
    use crate::ids::PortId;
    use crate::packet::{DATA, Packet};
    use xoff_engine::Rate;
    use xoff_schemes::int::Records;

    #[test]
    fn packets_stay_in_place_while_there_is_room() {
        // A pool with room for three: three packets and their telemetry lie where they were put. A fourth one has all of them moved
        // to larger lists, and their content stays.
        let mut packets = Packets::with_int(false, 0, 3);
        let room = |packets: &Packets| match &packets.int {
            IntPool::Packed(stacks) => (packets.slots.capacity(), stacks.capacity()),
            _ => panic!("packed"),
        };
        assert_eq!(room(&packets), (3, 3));
        for seq in 0..4 {
            assert_eq!(room(&packets), (3, 3));
            packets.insert(Packet::data(FlowId(0), seq, 0, 900, 1_000, DATA, PortId(0), Time::ZERO));
        }
        assert!(room(&packets) > (3, 3));
        assert_eq!([0, 1, 2, 3].map(|id| packets[id].seq), [0, 1, 2, 3]);
        // No machine has so many addresses: the list begins without room.
        assert_eq!(with_room::<[u8; 1 << 50]>(1).capacity(), 0);
    }

    #[test]
    fn packed_telemetry_is_one_cache_line() {
        assert_eq!((size_of::<PackedStack>(), align_of::<PackedStack>()), (64, 64));
    }

    #[test]
    fn only_packets_that_want_a_record_get_one() {
        // The maximum number of hops: a data packet gets all of them, and an unwanted record changes none.
        let mut packets = Packets::with_int(false, 0, 0);
        let id = packets.insert(Packet::data(FlowId(0), 0, 0, 900, 1_000, DATA, PortId(0), Time::ZERO));
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
