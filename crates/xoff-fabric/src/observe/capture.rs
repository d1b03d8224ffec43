//! Packets as they pass ports: when each packet went onto the wire or arrived, and what was in it.
//!
//! The probe sees a frame once, when it leaves a node: its arrival time at the other end of the link is known by then, so
//! one call gives the rows of both ends.

use xoff_engine::Time;
use xoff_schemes::Mark;
use xoff_schemes::int;

use super::probe::{Departure, Hooks, Probe};
use super::records::Records;
use crate::ids::{FlowId, PortId, QueueId};
use crate::network::Network;
use crate::packet::{DATA, Kind, Packet};

/// Which packets to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketFilter {
    /// Ports at which packets leave or arrive, without duplicates.
    pub ports: Vec<PortId>,
    /// From this time on.
    pub from: Time,
    /// Before this time.
    pub until: Time,
}

/// A packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// Outbound: when the first bit goes onto the wire. Inbound: when the packet counts as arrived, which is with its last
    /// bit or, under cut-through, with the last bit of its header.
    pub time: Time,
    /// When the data packet, or the data packet that this ACK answers, left its sender.
    pub sent_at: Time,
    /// See [`Packet::seq`].
    pub seq: u64,
    /// The flow; [`crate::packet::NO_FLOW`] for frames of flow control, which belong to no flow.
    pub flow: FlowId,
    /// The port.
    pub port: PortId,
    /// CNM: the congestion point.
    pub point: u32,
    /// Where the packet's telemetry begins in [`PacketRecords`].
    int_at: u32,
    /// Bytes on the wire.
    pub size: u16,
    /// Payload bytes.
    pub payload: u16,
    /// The receiver's count of flows, in ACKs.
    pub flow_count: u16,
    /// The scheme's own byte, in data packets and ACKs.
    pub label: u8,
    /// Kind of packet.
    pub kind: Kind,
    /// The packet's queue class; for frames of flow control, the class of the priority that they concern.
    class: u8,
    /// The congestion mark; in an ACK or CNP, the mark that it brings back.
    pub mark: Mark,
    /// [`crate::packet::LAST`], [`crate::packet::HAS_RATE`].
    pub flags: u8,
    /// Number of INT records.
    int_count: u8,
    /// Number of links that the packet has passed, including this one.
    pub links: u8,
    /// The packet arrived by the port; otherwise it left by the port.
    pub inbound: bool,
}

impl PacketRecord {
    /// The packet's data priority, or the priority that it concerns; `None` for control packets, which go before all data.
    pub fn priority(&self) -> Option<u8> {
        self.class.checked_sub(DATA)
    }

    /// The port by which the packet left the node before the link.
    pub fn sender(&self) -> PortId {
        if self.inbound { self.port.peer() } else { self.port }
    }
}

/// The packets of a run.
#[derive(Debug, Default)]
pub struct PacketRecords {
    rows: Vec<PacketRecord>,
    int: Vec<u64>,
}

impl PacketRecords {
    /// The rows. Once the run has ended, they are sorted by time, then direction (inbound first), then port.
    pub fn rows(&self) -> &[PacketRecord] {
        &self.rows
    }

    /// The telemetry of a row in the order of stamping; each record has the format of [`int::PackedRecord`].
    pub fn int(&self, row: &PacketRecord) -> &[u64] {
        &self.int[row.int_at as usize..][..usize::from(row.int_count)]
    }

    /// Adds another partition's packets.
    pub(crate) fn append(&mut self, other: PacketRecords) {
        let base = self.int.len() as u32;
        self.int.extend(other.int);
        let moved = |row: PacketRecord| PacketRecord { int_at: row.int_at + base, ..row };
        self.rows.extend(other.rows.into_iter().map(moved));
    }

    /// Sorts the rows. The key is unique: at no port do two packets leave, or arrive, at the same time.
    pub(crate) fn sort(&mut self) {
        self.rows.sort_unstable_by_key(|row| (row.time, !row.inbound, row.port));
    }
}

/// The packets that a partition has recorded.
pub(crate) struct Capture {
    /// By port: whether its packets are recorded.
    watched: Vec<bool>,
    from: Time,
    until: Time,
    packets: PacketRecords,
}

impl Capture {
    pub fn new(filter: &PacketFilter, ports: u32) -> Box<Capture> {
        let mut watched = vec![false; ports as usize];
        filter.ports.iter().for_each(|&port| watched[port.index()] = true);
        let (from, until) = (filter.from, filter.until);
        Box::new(Capture { watched, from, until, packets: PacketRecords::default() })
    }

    /// Number of rows so far.
    pub fn len(&self) -> usize {
        self.packets.rows.len()
    }

    fn takes(&self, port: PortId, time: Time) -> bool {
        self.watched[port.index()] && self.from <= time && time < self.until
    }
}

/// The number of links that a packet has passed, including the one that it is about to take.
fn links(net: &Network, packet: &Packet) -> u8 {
    if packet.concerns_link() {
        return 1;
    }
    let from_host = net.links_up_to_next(packet);
    if packet.kind != Kind::Cnm || packet.destination().is_some() || net.faults.is_some() {
        return from_host;
    }
    // A CNM starts at the switch of its congestion point, which lies on the data path.
    let priorities = usize::from(net.settings.switch.priorities);
    let (path, point) = (net.data_path(packet.flow), QueueId(packet.point).port(priorities));
    let behind = path.iter().rev().position(|&port| port == point).map_or(0, |ports| ports + 1);
    from_host - behind as u8
}

impl Probe for Capture {
    fn hooks(&self) -> Hooks {
        Hooks::WIRE
    }

    /// A packet goes onto the wire of a port: adds the rows of both ends.
    #[cold]
    #[inline(never)]
    fn on_depart(&mut self, departure: &Departure<'_>) {
        let &Departure { now, port, packet, arrival, net, id, packets } = departure;
        let (leaves, arrives) = (self.takes(port, now), self.takes(port.peer(), arrival));
        if !leaves && !arrives {
            return;
        }
        // Frames of flow control name their priority in the field in which other packets count INT records.
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
            label: packet.label,
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
            port: port.peer(),
            inbound: true,
            ..row
        }));
    }

    /// Keeps the rows up to the end of the run.
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
