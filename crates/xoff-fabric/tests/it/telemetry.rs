//! What switches stamp in a network, in hardware widths, by hand.
//!
//! h0 sends to h1 over s0 and s1: 100 Gbps to s0, 40 Gbps to s1, 25 Gbps to h1, 100 Gbps back, 1 us a link. A frame of
//! 1,000 B has 900 B of payload and takes 80, 200 and 320 ns. Packet k is at s0 at 1.08 us + 80 ns k, from where packets
//! leave every 200 ns; at s1 at 2.28 us + 200 ns k, from where they leave every 320 ns. Both queues grow. A record has
//! whole units: nanoseconds, 128 B sent, 80 B queued.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::Recording;
use xoff_fabric::network::Flow;
use xoff_fabric::observe::capture::PacketFilter;
use xoff_fabric::packet::Kind;
use xoff_fabric::settings::{FlowControl, Packets, Settings};
use xoff_fabric::topology::PortId;
use xoff_schemes::IntFormat;
use xoff_schemes::int::PackedRecord;

/// A hop's record: nanoseconds, bytes sent, bytes queued, and the port's rate.
type Record = (u64, u64, u64, Rate);

const TO_S1: Rate = Rate::from_gbps(40);
const TO_H1: Rate = Rate::from_gbps(25);

/// The telemetry of packets of a `kind` that arrive by a host's `port` up to 12 us: a list for each packet, in the order of
/// stamping.
fn arriving(name: &str, packets: Packets, traffic: Flow, kind: Kind, port: PortId) -> Vec<Vec<Record>> {
    let mut topology = chain(2, &[0, 1], Rate::from_gbps(100), Time::from_us(1));
    topology.links[2].rate_ab = TO_S1;
    topology.links[1].rate_ba = TO_H1;
    let settings = Settings { flow_control: FlowControl::None, packets, ..Settings::default() };
    let filter = PacketFilter { ports: vec![port], from: Time::ZERO, until: Time::from_us(12) };
    let recording = Recording { packets: Some(filter), ..Recording::default() };
    let (scheme, end) = (scheme(name, json!({}), Time::from_us(7)), Some(Time::from_us(12)));
    let mut sim = simulate(topology, settings, scheme, vec![traffic], recording, end);
    sim.run(&mut |_| true).expect("no loss");
    let packets = &sim.records().packets;
    let record = |&word: &u64| {
        let reading = PackedRecord(word).reading(0);
        (reading.at.ps() / 1_000, reading.tx_bytes, reading.queue_bytes, reading.rate)
    };
    let arrived = packets.rows().iter().filter(|row| row.kind == kind && row.inbound);
    arrived.map(|row| packets.int(row).iter().map(record).collect()).collect()
}

/// Sizes that give frames of 1,000 B with 900 B of payload, and ACKs of 50 B at the receiver, if headers and ACKs have this
/// number of bytes without signals.
fn sizes(header: u64, ack: u64) -> Packets {
    Packets { mtu: Bytes(1_000), header: Bytes(header), ack: Bytes(ack), ..Packets::default() }
}

#[test]
fn data_bring_what_each_port_had_sent_and_queued_as_they_left() {
    // INT takes 2 + 5 x 8 = 42 B, in data and in ACKs. Packets 0 to 3 are full and packet 4 has a frame of 500 B: it is at s0
    // 40 ns after packet 3, at 1.36 us, and at s1 at 1.88 + 0.1 + 1 = 2.98 us.
    //
    // s0, where packets leave at 1.08, 1.28, 1.48, 1.68 and 1.88 us: packet 0 finds no queue. Behind packet 1 waits 2 (since
    // 1.24 us); behind 2 wait 3 (1.32 us) and 4 (1.36 us): 1,500 B, 18 units; behind 3 waits 4: 500 B, 6 units; and behind 4
    // nothing. Sent before them are 0 to 4,000 B: 0, 7, 15, 23 and 31 units.
    // s1, where packets leave at 2.28, 2.60, 2.92, 3.24 and 3.56 us: behind packet 1 waits nothing, since 2 comes at 2.68 us;
    // behind 2 waits 3 (2.88 us), behind 3 waits 4 (2.98 us).
    let s0 =
        [(1_080, 0, 0), (1_280, 896, 960), (1_480, 1_920, 1_440), (1_680, 2_944, 480), (1_880, 3_968, 0)];
    let s1 = [(2_280, 0, 0), (2_600, 896, 0), (2_920, 1_920, 960), (3_240, 2_944, 480), (3_560, 3_968, 0)];
    let at = |(ns, sent, queued), rate| (ns, sent, queued, rate);
    let expected: Vec<_> = s0.iter().zip(&s1).map(|(&a, &b)| vec![at(a, TO_S1), at(b, TO_H1)]).collect();
    for int_format in [IntFormat::Hardware, IntFormat::Exact] {
        let packets = Packets { int_format, ..sizes(58, 8) };
        let message = flow(0, 1, 4 * 900 + 400);
        assert_eq!(arriving("hpcc", packets.clone(), message, Kind::Data, PortId(2)), expected);
        // The receiver's ACKs bring back the same.
        assert_eq!(arriving("hpcc", packets, message, Kind::Ack, PortId(0)), expected);
    }
}

#[test]
fn acks_read_a_table_that_is_refreshed_in_periods() {
    // FNCC's ACKs have 2 B of INT and 2 B of N, and grow by 8 B at each switch. The first ACK leaves h1 at 3.6 us, s1 4 ns and
    // 1 us later, at 4.604 us, and s0 at 5.609 us; the next two 320 ns later each. With a period of 500 ns they read s1's table
    // of 4.5, 4.5 and 5.0 us, and s0's of 5.5, 5.5 and 6.0 us. Up to then h0 sends at line rate: no ACK has come back.
    //
    // s1 at 4.5 us: 25 Gbps are 3.125 B/ns, in 2.22 us 6,937 B, 54 units = 6,912 B. Packets 0 to 11 have come, 0 to 6 have
    // begun: 5 wait, 5,000 B, 62 units = 4,960 B. At 5.0 us: 8,500 B, 66 units = 8,448 B; 14 have come and 9 begun, 5 wait.
    // s0 at 5.5 us: 5 B/ns, in 4.42 us 22,100 B, 172 units = 22,016 B. 56 have come and 23 begun: 33,000 B, 412 units =
    // 32,960 B. At 6.0 us: 24,600 B, 192 units = 24,576 B; 62 have come and 25 begun: 37,000 B, 462 units = 36,960 B.
    let packets = Packets { int_refresh: Time::from_ns(500), ..sizes(100, 46) };
    let found = arriving("fncc", packets, endless(0, 1, 0), Kind::Ack, PortId(0));
    let (early, late) = ((4_500, 6_912, 4_960, TO_H1), (5_000, 8_448, 4_960, TO_H1));
    let (early_s0, late_s0) = ((5_500, 22_016, 32_960, TO_S1), (6_000, 24_576, 36_960, TO_S1));
    assert_eq!(found[..3], [vec![early, early_s0], vec![early, early_s0], vec![late, late_s0]]);
}

#[test]
fn without_a_period_acks_read_the_counters_of_the_moment() {
    // As above, at 4.604 us and, 58 B and 1 us later, 5.60864 us. s1: in 2.324 us 7,262 B, 56 units = 7,168 B; 12 packets have
    // come and 8 begun: 4,000 B, 50 units. s0: in 4.52864 us 22,643 B, 176 units = 22,528 B; 57 have come and 23 begun:
    // 34,000 B, 425 units.
    let packets = Packets { int_refresh: Time::ZERO, ..sizes(100, 46) };
    let found = arriving("fncc", packets, endless(0, 1, 0), Kind::Ack, PortId(0));
    assert_eq!(found[0], [(4_604, 7_168, 4_000, TO_H1), (5_608, 22_528, 34_000, TO_S1)]);
}
