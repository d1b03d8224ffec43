//! Packets as they pass ports: when each went onto the wire or came in, and what was in it.
//!
//! A frame is seen once, where it leaves a node: its arrival at the other end of the link is known by then, so that one
//! look gives the rows of both ends.

use xoff_engine::Time;
use xoff_schemes::Mark;
use xoff_schemes::int;

use super::probe::{Departure, Hooks, Probe};
use super::records::Records;
use crate::ids::{PortId, QueueId, peer};
use crate::network::Network;
use crate::packet::{DATA, Kind, Packet};

/// Which packets to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketFilter {
    /// Ports at which they leave or arrive, each once.
    pub ports: Vec<PortId>,
    /// From this time on.
    pub from: Time,
    /// Before this time.
    pub until: Time,
}

/// A packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// Out: when its first bit goes onto the wire. In: when its node takes it in, which is at its last bit or, where
    /// switches cut through, at its header's.
    pub time: Time,
    /// When the data packet, or the one that this ACK answers, left its sender.
    pub sent_at: Time,
    /// See [`Packet::seq`].
    pub seq: u64,
    /// The flow; [`u32::MAX`] for frames of flow control, which have none.
    pub flow: u32,
    /// The port.
    pub port: PortId,
    /// CNM: the congestion point.
    pub point: u32,
    /// Where its telemetry begins.
    int_at: u32,
    /// Bytes on the wire.
    pub size: u16,
    /// Payload bytes.
    pub payload: u16,
    /// The receiver's count of flows, in ACKs.
    pub flow_count: u16,
    /// What it is.
    pub kind: Kind,
    /// Its queue's class; for frames of flow control that of the priority that they concern.
    class: u8,
    /// Its congestion mark, or in an ACK or CNP the one that it brings back.
    pub mark: Mark,
    /// [`crate::packet::LAST`], [`crate::packet::HAS_RATE`].
    pub flags: u8,
    /// INT records.
    int_count: u8,
    /// Links that it has come along, this one included.
    pub links: u8,
    /// It came in by the port; otherwise it left by it.
    pub inbound: bool,
}

impl PacketRecord {
    /// Its data priority, or the one that it concerns; `None` for control packets, which go before all data.
    pub fn priority(&self) -> Option<u8> {
        self.class.checked_sub(DATA)
    }

    /// The port by which it left the node before the link.
    pub fn sender(&self) -> PortId {
        if self.inbound { peer(self.port) } else { self.port }
    }
}

/// The packets of a run.
#[derive(Debug, Default)]
pub struct PacketRecords {
    rows: Vec<PacketRecord>,
    int: Vec<u64>,
}

impl PacketRecords {
    /// The rows; once the run has ended by time, what comes in before what goes out, and by port.
    pub fn rows(&self) -> &[PacketRecord] {
        &self.rows
    }

    /// The telemetry of a row in the order in which it was stamped, each record as [`int::PackedRecord`] has it.
    pub fn int(&self, row: &PacketRecord) -> &[u64] {
        &self.int[row.int_at as usize..][..usize::from(row.int_count)]
    }

    /// Adds another partition's.
    pub(crate) fn append(&mut self, part: PacketRecords) {
        let base = self.int.len() as u32;
        self.int.extend(part.int);
        let moved = |row: PacketRecord| PacketRecord { int_at: row.int_at + base, ..row };
        self.rows.extend(part.rows.into_iter().map(moved));
    }

    /// Puts them in order. At no port do two packets leave, or arrive, at the same time.
    pub(crate) fn sort(&mut self) {
        self.rows.sort_unstable_by_key(|row| (row.time, !row.inbound, row.port));
    }
}

/// What a partition has recorded of packets.
pub(crate) struct Capture {
    /// By port.
    watched: Vec<bool>,
    from: Time,
    until: Time,
    packets: PacketRecords,
}

impl Capture {
    pub fn new(filter: &PacketFilter, ports: u32) -> Box<Capture> {
        let mut watched = vec![false; ports as usize];
        filter.ports.iter().for_each(|&port| watched[port as usize] = true);
        let (from, until) = (filter.from, filter.until);
        Box::new(Capture { watched, from, until, packets: PacketRecords::default() })
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.packets.rows.len()
    }

    fn takes(&self, port: PortId, time: Time) -> bool {
        self.watched[port as usize] && self.from <= time && time < self.until
    }
}

/// The links that a packet has come along when it leaves a node, counted by its way.
fn links(net: &Network, packet: &Packet) -> u8 {
    if packet.concerns_link() {
        return 1;
    }
    if packet.destination().is_some() {
        return packet.links;
    }
    let route = net.route(packet.flow);
    let start = match packet.kind {
        Kind::Data | Kind::Pfc | Kind::CreditUpdate => route.data,
        Kind::Ack | Kind::Nack | Kind::Cnp => route.ack,
        Kind::Cnm => {
            // It began at the switch of its congestion point, which lies on the data path.
            let priorities = usize::from(net.settings.switch.priorities);
            let (path, point) = (net.data_path(packet.flow), QueueId(packet.point).port(priorities));
            let hop = path.iter().position(|&port| port == point);
            route.back + (path.len() - hop.unwrap_or(path.len())) as u32
        }
    };
    (packet.position - start) as u8
}

impl Probe for Capture {
    fn hooks(&self) -> Hooks {
        Hooks::WIRE
    }

    /// A packet goes onto the wire of a port: the rows of both ends.
    #[cold]
    #[inline(never)]
    fn on_depart(&mut self, departure: &Departure<'_>) {
        let &Departure { now, port, packet, arrival, net, id, packets } = departure;
        let (leaves, arrives) = (self.takes(port, now), self.takes(peer(port), arrival));
        if !leaves && !arrives {
            return;
        }
        // Frames of flow control name their priority where others count INT records.
        let (class, int_count) =
            if packet.concerns_link() { (DATA + packet.hops, 0) } else { (packet.class, packet.hops) };
        let log = &mut self.packets;
        let int_at = log.int.len() as u32;
        match packets.int_records(id, int_count) {
            int::Records::Packed(records) => log.int.extend(records.iter().map(|r| r.0)),
            int::Records::Exact(records) => log.int.extend(records.iter().map(|r| r.packed().0)),
        }
        let row = PacketRecord {
            time: now,
            sent_at: packet.sent_at,
            seq: packet.seq,
            flow: packet.flow,
            port,
            point: packet.point,
            int_at,
            size: packet.size,
            payload: packet.payload,
            flow_count: packet.flow_count,
            kind: packet.kind,
            class,
            mark: packet.mark,
            flags: packet.flags,
            int_count: (log.int.len() as u32 - int_at) as u8,
            links: links(net, packet),
            inbound: false,
        };
        log.rows.extend(leaves.then_some(row));
        log.rows.extend(arrives.then_some(PacketRecord {
            time: arrival,
            port: peer(port),
            inbound: true,
            ..row
        }));
    }

    /// Keeps what had happened by the end of the run.
    fn finish(&mut self, end: Time, records: &mut Records) {
        let mut packets = std::mem::take(&mut self.packets);
        packets.rows.retain(|row| row.time <= end);
        records.packets = packets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_less_than_a_cache_line() {
        assert_eq!(size_of::<PacketRecord>(), 56);
    }
}
