//! Headers of Ultra Ethernet's packets.

use crate::packet::PacketId;

/// What a packet carries beyond what all packets have. The packet's number is its PSN, or that of the packet that it
/// answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Header {
    /// The packet's EV, or that of the packet that an ACK or NACK answers.
    pub ev: u32,
    /// Bytes on the wire of the data packet, also after it was trimmed; of an ACK, those of the packet that it answers.
    pub frame: u16,
    /// Data, RTS: the sender asks for an ACK at once.
    pub asks: bool,
    /// NACK: the packet was trimmed at the last hop.
    pub last_hop: bool,
    /// Data, RTS: quanta that the sender wants to have got since the start. PULL: quanta granted since the start.
    pub quanta: u64,
    /// ACK: all PSNs before this one have arrived.
    pub cumulative: u32,
    /// ACK: PSN of the bitmap's first bit.
    pub base: u32,
    /// ACK: PSNs from `base` on that have arrived, the first one in the lowest bit.
    pub bitmap: u64,
    /// ACK: bytes on the wire that have arrived, each packet once.
    pub received: u64,
}

/// Headers by packet id.
#[derive(Default)]
pub(super) struct Headers(Vec<Header>);

impl Headers {
    pub fn put(&mut self, id: PacketId, header: Header) {
        let place = id as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, Header::default());
        }
        self.0[place] = header;
    }

    pub fn of(&self, id: PacketId) -> Header {
        self.0.get(id as usize).copied().unwrap_or_default()
    }
}
