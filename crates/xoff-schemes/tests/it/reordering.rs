//! Senders whose ACKs come out of order, against numbers worked by hand.

use crate::common::flow_env;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::dctcp::{Dctcp, DctcpSender};
use xoff_schemes::hpcc::{Hpcc, HpccSender};
use xoff_schemes::int::{ExactRecord, IntMemory, IntStack, PackedRecord, PortReading, Records};
use xoff_schemes::timely::{Form, Timely, TimelySender};
use xoff_schemes::{Ack, Mark, NetworkEnv, ReactionPoint, Scheme};

const PACKET: u64 = 1_000;

/// The ACK of a packet while the packets before `next_packet` are sent.
fn ack(packet: u64, next_packet: u64) -> Ack<'static> {
    Ack {
        now: Time::ZERO,
        seq: (packet + 1) * PACKET,
        newly_acked: PACKET,
        snd_nxt: next_packet * PACKET,
        packet,
        next_packet,
        rtt: None,
        mark: Mark::None,
        flow_count: 0,
        label: 0,
        int: IntStack::default(),
    }
}

// HPCC: B = 100 Gb/s = 12,500 B/us and T = 10 us, so that B T = 125,000 B. The link is full and holds 12,500 B:
// u = 0.1 + 1 = 1.1 over any time.

/// What the link's port shows after `us` microseconds.
fn reading(us: u64) -> PortReading {
    let rate = Rate::from_gbps(100);
    PortReading { at: Time::from_us(us), tx_bytes: us * 12_500, queue_bytes: 12_500, rate }
}

fn give(sender: &mut HpccSender, packet: u64, next_packet: u64, us: u64) {
    let records = [ExactRecord::stamp(&reading(us))];
    let int = IntStack { records: Records::Exact(&records), ..IntStack::default() };
    sender.on_ack(&Ack { int, ..ack(packet, next_packet) });
}

/// The sender's rate is that of a window of `bytes`, to 1 bit/s.
#[track_caller]
fn assert_window(sender: &HpccSender, bytes: f64) {
    let found = sender.rate().0 as f64 / 800_000.0;
    assert!((found - bytes).abs() < 1e-3, "window {found} instead of {bytes}");
}

#[test]
fn hpcc_measures_nothing_by_an_older_record() {
    let mut sender = Hpcc::default().reaction(&flow_env(Rate::from_gbps(100), Time::from_us(10)));
    give(&mut sender, 0, 100, 0);
    // U = 0.8 + 0.2 * 1.1 = 1.02, W = 125,000 * 0.95 / 1.02 + 80.
    give(&mut sender, 2, 101, 2);
    assert_window(&sender, 116_501.569);
    // A microsecond older: U stays.
    give(&mut sender, 1, 102, 1);
    assert_window(&sender, 116_501.569);
    // A microsecond since the newest record, not two since the older one: U = 0.9 * 1.02 + 0.1 * 1.1 = 1.028.
    give(&mut sender, 3, 103, 3);
    assert_window(&sender, 115_595.564);
}

#[test]
fn hpcc_ends_a_round_trip_once_when_its_last_packets_swap() {
    let mut sender = Hpcc::default().reaction(&flow_env(Rate::from_gbps(100), Time::from_us(10)));
    // The round trip ends with packet 2 or a later one.
    give(&mut sender, 0, 2, 0);
    // Packet 3 ends it: U = 0.7 + 0.3 * 1.1 = 1.03, W = 118,750 / 1.03 + 80, the new reference.
    give(&mut sender, 3, 6, 3);
    assert_window(&sender, 115_371.262);
    // Packet 2 does not end another, and changes neither U nor the reference: W = 115,371.262 * 0.95 / 1.03 + 80.
    give(&mut sender, 2, 6, 2);
    assert_window(&sender, 106_490.387);
    // U = 0.9 * 1.03 + 0.11 = 1.037, W = 115,371.262 * 0.95 / 1.037 + 80.
    give(&mut sender, 4, 7, 4);
    assert_window(&sender, 105_772.092);
}

/// What a memory makes of packed records: the packet whose ACK brings each, and the record's time in microseconds. An ACK
/// comes a microsecond later for each packet.
fn changes(records: &[(u64, u64)]) -> Vec<(u64, u64)> {
    changes_at(&records.iter().map(|&(packet, us)| (packet, packet, us)).collect::<Vec<_>>())
}

/// As [`changes`], with the time at which each ACK comes, in microseconds, in front.
fn changes_at(records: &[(u64, u64, u64)]) -> Vec<(u64, u64)> {
    let mut memory = IntMemory::default();
    let mut found = vec![];
    for &(now, packet, us) in records {
        let packed = [PackedRecord::stamp(8, 0, &PortReading { tx_bytes: us * 12_800, ..reading(us) })];
        let stack = IntStack { records: Records::Packed(&packed), ..IntStack::default() };
        memory.compare(&stack, Time::from_us(now), packet, |_, change| {
            found.push((change.elapsed.ps() / 1_000_000, change.tx_bytes / 12_800));
        });
    }
    found
}

#[test]
fn packed_counters_step_back_only_when_acks_are_out_of_order() {
    // Each record: microseconds, and units of 12,800 B.
    assert_eq!(changes(&[(0, 10), (2, 12), (1, 11), (3, 13)]), [(2, 2), (0, 0), (1, 1)]);
    // A packet that was sent again has a lower number and a younger record.
    assert_eq!(changes(&[(0, 10), (5, 12), (1, 20), (2, 21)]), [(2, 2), (8, 8), (1, 1)]);
    // In order a large step is one forward, by up to 16.7 ms.
    assert_eq!(changes(&[(0, 10), (1, 10_010)]), [(10_000, 10_000)]);
}

#[test]
fn an_ack_is_out_of_order_for_half_of_the_clocks_range() {
    // The clock wraps around after 2^24 ns, half of which is 8,388.608 us. Up to then packet 1 is behind packet 5: its record of
    // 11 us is older than that of 12 us. Later it is as good as in order, and shows a step forward: 16,777.216 us less 1 us, and
    // 2^20 units of 128 B, 10,485.76 of 12,800 B, less one.
    let early = changes_at(&[(0, 0, 10), (0, 5, 12), (8_388, 1, 11)]);
    assert_eq!(early, [(2, 2), (0, 0)]);
    let late = changes_at(&[(0, 0, 10), (0, 5, 12), (8_389, 1, 11)]);
    assert_eq!(late, [(2, 2), (16_776, 10_484)]);
    // A packet that was sent again brings a record younger by less than that, or seems to be older.
    assert_eq!(changes_at(&[(0, 0, 10), (0, 5, 12), (0, 1, 8_400)]), [(2, 2), (8_388, 8_388)]);
    assert_eq!(changes_at(&[(0, 0, 10), (0, 5, 12), (0, 1, 8_401)]), [(2, 2), (0, 0)]);
}

#[test]
fn a_path_whose_hops_disagree_takes_the_younger_record_of_each() {
    let exact = |us: u64| ExactRecord::stamp(&reading(us));
    let mut memory = IntMemory::default();
    let mut compare = |packet, records: [ExactRecord; 2]| {
        let stack = IntStack { records: Records::Exact(&records), ..IntStack::default() };
        let mut found = vec![];
        memory.compare(&stack, Time::ZERO, packet, |_, change| found.push(change.elapsed.ps() / 1_000_000));
        found
    };
    assert!(compare(0, [exact(10), exact(20)]).is_empty());
    // The second hop's record is older than the one in memory, which stays.
    assert_eq!(compare(1, [exact(13), exact(19)]), [3, 0]);
    assert_eq!(compare(2, [exact(14), exact(24)]), [1, 4]);
}

// TIMELY: 10 Gb/s, steps of 10 Mb/s, D_minRTT 20 us, alpha 0.875, beta 0.8; from 1 Gb/s.

fn timely(params: Timely) -> TimelySender {
    let line = Rate::from_gbps(10);
    let env = xoff_schemes::FlowEnv { payload: PACKET, frame: 1_048, ..flow_env(line, Time::from_us(20)) };
    let params = Timely { initial_rate: Some(Rate::from_gbps(1)), ..params };
    params.resolve(&NetworkEnv { line_rate: line, base_rtt: env.base_rtt }).reaction(&env)
}

fn sample(sender: &mut TimelySender, at_us: u64, packet: u64, next_packet: u64, rtt_us: u64) -> f64 {
    let rtt = Some(Time::from_us(rtt_us));
    sender.on_ack(&Ack { now: Time::from_us(at_us), rtt, ..ack(packet, next_packet) });
    sender.rate().0 as f64 / 1e6
}

#[track_caller]
fn assert_mbps(found: f64, mbps: f64) {
    assert!((found - mbps).abs() < 1e-5, "{found} instead of {mbps} Mb/s");
}

#[test]
fn timely_samples_a_segment_once_when_its_last_packets_swap() {
    // Segments of two packets.
    let mut sender = timely(Timely {
        segment: Some(Bytes(2 * PACKET)),
        time_scaling: Some(false),
        deduct_serialization: Some(false),
        ..Timely::default()
    });
    assert_mbps(sample(&mut sender, 0, 0, 10, 400), 1_000.0);
    // The first sample has no gradient: a step.
    assert_mbps(sample(&mut sender, 100, 1, 10, 100), 1_010.0);
    // Packet 4 comes before 3, the last of the second segment, and completes it: difference 0.875 * 8 = 7 us,
    // gradient 0.35, 1010 * (1 - 0.8 * 0.35) = 727.2.
    assert_mbps(sample(&mut sender, 200, 2, 10, 400), 1_010.0);
    assert_mbps(sample(&mut sender, 300, 4, 10, 108), 727.2);
    assert_mbps(sample(&mut sender, 400, 3, 10, 400), 727.2);
    // Packet 5 completes the third: difference 0.125 * 7 = 0.875 us, gradient 0.04375, 727.2 * (1 - 0.035) = 701.748.
    assert_mbps(sample(&mut sender, 500, 5, 10, 108), 701.748);
}

#[test]
fn timelys_round_trips_end_once_when_their_last_packets_swap() {
    let mut sender = timely(Timely { form: Form::Ns3Hpcc, ..Timely::default() });
    // The first sample is stored; the round trip ends with packet 10 or a later one.
    assert_mbps(sample(&mut sender, 0, 0, 10, 30), 1_000.0);
    assert_mbps(sample(&mut sender, 10, 9, 19, 600), 1_000.0);
    // Packet 11 ends it with a step below T_low; packet 10 does not end another.
    assert_mbps(sample(&mut sender, 20, 11, 21, 30), 1_010.0);
    assert_mbps(sample(&mut sender, 30, 10, 21, 600), 1_010.0);
    // 1010 * (1 - 0.8 * (1 - 500/625)) = 848.4.
    assert_mbps(sample(&mut sender, 40, 21, 31, 625), 848.4);
}

#[test]
fn dctcp_counts_a_window_of_data_once_when_its_last_packets_swap() {
    let env = xoff_schemes::FlowEnv { payload: PACKET, ..flow_env(Rate::from_gbps(100), Time::from_us(8)) };
    let mut sender = Dctcp::default().reaction(&env);
    let alpha = |sender: &DctcpSender| match sender {
        DctcpSender::Window(sender) => sender.alpha() * 256.0,
        DctcpSender::Rate(_) => panic!("the other form"),
    };
    let marked = |packet, next_packet| Ack { mark: Mark::Ce, ..ack(packet, next_packet) };
    // The first ACK is a window of its own: 1 * 15/16 = 240/256. The next one ends with packet 10 or later.
    sender.on_ack(&ack(0, 10));
    assert_eq!(alpha(&sender), 240.0);
    // Packet 11 ends it, marked as all of its packets: 15/16 * 15/16 + 1/16 = 241/256. The cut leaves
    // 100,000 * (1 - 241/512) = 52,929.7 B.
    sender.on_ack(&marked(11, 20));
    assert_eq!((alpha(&sender), sender.window()), (241.0, 52_929));
    // Packet 10 ends no other one and cuts no more.
    sender.on_ack(&marked(10, 20));
    assert_eq!((alpha(&sender), sender.window()), (241.0, 52_929));
}
