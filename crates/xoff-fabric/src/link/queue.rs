//! One class's queue at an egress port: a list that is linked through its packets.

use bytemuck::Zeroable;

use crate::packet::{NO_PACKET, PacketId, Packets};

/// One class's queue at an egress port.
#[derive(Clone, Copy, Debug, Zeroable)]
pub struct Queue {
    head: PacketId,
    tail: PacketId,
    /// Bytes queued.
    pub bytes: u64,
}

impl Queue {
    /// An empty queue.
    pub const EMPTY: Queue = Queue { head: NO_PACKET, tail: NO_PACKET, bytes: 0 };

    /// Adds a packet of `size` bytes at the end.
    #[inline]
    pub fn push(&mut self, id: PacketId, size: u64, packets: &mut Packets) {
        packets[id].next = NO_PACKET;
        if self.head == NO_PACKET {
            self.head = id;
        } else {
            packets[self.tail].next = id;
        }
        self.tail = id;
        self.bytes += size;
    }

    /// Takes the first packet of a queue that is not empty.
    #[inline]
    pub fn pop(&mut self, packets: &Packets) -> PacketId {
        let id = self.head;
        let packet = &packets[id];
        self.head = packet.next;
        self.bytes -= u64::from(packet.size);
        packets.prefetch_with_telemetry(self.head);
        id
    }

    /// Takes the last packet; `None` from an empty queue. Searches the whole queue, which is linked one way.
    pub fn pop_last(&mut self, packets: &mut Packets) -> Option<PacketId> {
        let id = self.tail;
        let before = self.packets(packets).take_while(|&other| other != id).last();
        if self.head == NO_PACKET {
            return None;
        }
        match before {
            Some(before) => (packets[before].next, self.tail) = (NO_PACKET, before),
            None => (self.head, self.tail) = (NO_PACKET, NO_PACKET),
        }
        self.bytes -= u64::from(packets[id].size);
        Some(id)
    }

    /// The packets queued, first to last.
    pub fn packets<'a>(&self, packets: &'a Packets) -> impl Iterator<Item = PacketId> + 'a {
        let some = |id: PacketId| (id != NO_PACKET).then_some(id);
        std::iter::successors(some(self.head), move |&id| some(packets[id].next))
    }

    /// The first packet; [`NO_PACKET`] if there is none.
    #[inline]
    pub fn first(&self) -> PacketId {
        self.head
    }

    /// Whether no packet is queued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}
