//! Reordering: how far packets of a connection come out of the order in which they were sent first.
//!
//! RFC 4737 (Packet Reordering Metrics): with packets numbered in the order of their first transmission, a packet is
//! *reordered* if one with a higher number has come before it (Section 3.3); its *extent* is the number of packets that
//! have come since the first such one, that one included (4.2.1); its *late time* is the time since then (4.2.3, from the arrival
//! of that packet). RFC 5236 (Improved Packet Reordering Metrics, Section 5) asks for the buffer that puts packets in order: here the
//! bytes of payload that have come and wait for one before them, at their maximum. Packets that are sent again fill gaps, and
//! count as nothing else.
//!
//! A packet comes by the last link of its path, so that the probe listens there. It has no effect on a run.

use std::collections::BTreeMap;

use xoff_engine::Time;

use super::probe::{Departure, Hooks, Probe};
use super::records::{Records, ReorderingRecord};
use crate::ids::ConnectionId;
use crate::packet::{Kind, Packet, RESENT};

/// What has come on the connections whose receivers belong to a partition.
#[derive(Default)]
pub(crate) struct Reordering {
    connections: BTreeMap<u32, Arrivals>,
}

/// A packet that had a higher number than all before it.
#[derive(Clone, Copy)]
struct Peak {
    number: u32,
    /// Its place among the packets of its connection, in the order of arrival.
    place: u64,
    at: Time,
}

/// What has come on a connection.
#[derive(Default)]
struct Arrivals {
    row: ReorderingRecord,
    /// The packets that had a higher number than all before them and may still be overtaken, ascending.
    peaks: Vec<Peak>,
    /// All payload before this offset has come.
    in_order: u64,
    /// Payload behind a gap: where it begins and ends.
    waiting: BTreeMap<u64, u64>,
    waiting_bytes: u64,
}

impl Arrivals {
    fn on_data(&mut self, at: Time, packet: &Packet) {
        self.keep_in_order(packet.seq, packet.seq + u64::from(packet.payload));
        if packet.flags & RESENT != 0 {
            return;
        }
        let place = self.row.packets;
        self.row.packets += 1;
        // Numbers count modulo 2^32.
        let is_behind = |peak: &Peak| packet.number.wrapping_sub(peak.number) < 1 << 31;
        let first_above = self.peaks.partition_point(is_behind);
        match self.peaks.get(first_above) {
            None => {
                if self.waiting.is_empty() {
                    self.peaks.clear(); // all before it have come
                }
                self.peaks.push(Peak { number: packet.number, place, at });
            }
            Some(peak) => {
                let extent = place - peak.place;
                self.row.reordered += 1;
                self.row.extents += extent;
                self.row.max_extent = self.row.max_extent.max(extent);
                self.row.max_late = self.row.max_late.max(at - peak.at);
            }
        }
    }

    /// Counts the bytes that wait for others.
    fn keep_in_order(&mut self, begin: u64, end: u64) {
        if begin > self.in_order {
            if self.waiting.insert(begin, end).is_none() {
                self.waiting_bytes += end - begin;
                self.row.buffer = self.row.buffer.max(self.waiting_bytes);
            }
            return;
        }
        self.in_order = self.in_order.max(end);
        while let Some(entry) = self.waiting.first_entry().filter(|entry| *entry.key() <= self.in_order) {
            let (begin, end) = entry.remove_entry();
            self.waiting_bytes -= end - begin;
            self.in_order = self.in_order.max(end);
        }
    }
}

impl Probe for Reordering {
    fn hooks(&self) -> Hooks {
        Hooks::WIRE
    }

    fn on_depart(&mut self, departure: &Departure<'_>) {
        let Departure { packet, net, port, .. } = departure;
        let arrives = departure.arrival < Time::NEVER && net.is_host(net.topology.node_of(port.peer()));
        if packet.kind == Kind::Data && arrives {
            let connection = net.connections.of(packet.flow);
            self.connections.entry(connection.0).or_default().on_data(departure.arrival, packet);
        }
    }

    fn finish(&mut self, _: Time, records: &mut Records) {
        let rows = std::mem::take(&mut self.connections).into_iter();
        records.reordering.extend(rows.map(|(connection, arrivals)| ReorderingRecord {
            connection: ConnectionId(connection),
            ..arrivals.row
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FlowId, PortId};
    use crate::packet::DATA;

    /// Packets of 100 B of payload that come one after the other, a microsecond apart.
    fn arrivals(numbers: &[u32]) -> ReorderingRecord {
        let mut arrivals = Arrivals::default();
        for (at, &number) in (1..).zip(numbers) {
            let seq = u64::from(number) * 100;
            let packet = Packet::data(FlowId(0), seq, number, 100, 148, DATA, PortId(0), Time::ZERO);
            arrivals.on_data(Time::from_us(at), &packet);
        }
        arrivals.row
    }

    #[test]
    fn packets_in_order_are_not_reordered() {
        let row = arrivals(&[0, 1, 2, 3]);
        assert_eq!((row.packets, row.reordered, row.max_extent, row.buffer), (4, 0, 0, 0));
    }

    #[test]
    fn extents_and_buffers_are_those_of_the_definitions() {
        // Packets 3, 4 and 5 come 1, 2 and 3 places behind 6,
        // 1 to 3 us later. While 3 to 5 come, 6 waits: 100 B.
        let row = arrivals(&[0, 1, 2, 6, 3, 4, 5, 7, 8]);
        assert_eq!((row.packets, row.reordered, row.extents, row.max_extent), (9, 3, 6, 3));
        assert_eq!((row.max_late, row.buffer), (Time::from_us(3), 100));
        // 3 comes behind 1 and 2; 0 comes 3 places behind 1. Then 1, 2 and 3 have waited, 300 B; 5 waits for 4 alone.
        let row = arrivals(&[1, 2, 3, 0, 5, 4, 6]);
        assert_eq!((row.reordered, row.extents, row.max_extent, row.buffer), (2, 4, 3, 300));
        // 2 comes after 4, but the first with a higher number than 2 is 3.
        assert_eq!(arrivals(&[0, 1, 3, 4, 2]).max_extent, 2);
    }

    #[test]
    fn what_is_sent_again_fills_a_gap_and_is_not_reordered() {
        let mut all = Arrivals::default();
        let packet = |number: u32| {
            Packet::data(FlowId(0), u64::from(number) * 100, number, 100, 148, DATA, PortId(0), Time::ZERO)
        };
        all.on_data(Time::ZERO, &packet(0));
        all.on_data(Time::ZERO, &packet(2));
        all.on_data(Time::ZERO, &Packet { flags: RESENT, ..packet(1) });
        assert_eq!((all.row.packets, all.row.reordered, all.row.buffer, all.in_order), (2, 0, 100, 300));
        assert!(all.waiting.is_empty());
    }
}
