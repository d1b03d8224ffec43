//! HPCC against numbers worked by hand from Algorithm 1: u' = min(q)/(B T) + txRate/B,
//! U = (1 - tau/T) U + (tau/T) u, W = Wc/(U/eta) + W_AI, R = W/T.
//!
//! Throughout, B = 100 Gb/s = 12,500 B/us and T = 10 us, so that B T = 125,000 B and 1 B of window is 800 kb/s.

use crate::common::flow_env;
use proptest::prelude::*;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::hpcc::{Form, Hpcc, HpccSender, InFlight};
use xoff_schemes::int::{ExactRecord, IntStack, PackedRecord, PortReading, Records};
use xoff_schemes::{Ack, Mark, ReactionPoint, Scheme};

const T: Time = Time::from_us(10);
const BDP: u64 = 125_000;

/// A record of a 100 Gb/s port: microseconds, bytes sent, bytes queued.
fn record(us: u64, tx_bytes: u64, queue_bytes: u64) -> ExactRecord {
    let rate = Rate::from_gbps(100);
    ExactRecord::stamp(&PortReading { at: Time::from_us(us), tx_bytes, queue_bytes, rate })
}

fn stack(records: &[ExactRecord]) -> IntStack<'_> {
    IntStack { records: Records::Exact(records), ..IntStack::default() }
}

fn ack<'a>(seq: u64, snd_nxt: u64, int: IntStack<'a>) -> Ack<'a> {
    Ack {
        now: Time::ZERO,
        seq,
        newly_acked: 1_000,
        snd_nxt,
        packet: (seq - 1) / 1_000,
        next_packet: snd_nxt.div_ceil(1_000),
        rtt: None,
        mark: Mark::None,
        flow_count: 0,
        label: 0,
        int,
    }
}

fn telemetry(records: &[ExactRecord]) -> Ack<'_> {
    ack(1_000, 1_000, stack(records))
}

fn sender(params: &Hpcc) -> HpccSender {
    params.reaction(&flow_env(Rate::from_gbps(100), T))
}

/// The sender's rate is that of a window of `bytes`, to 1 bit/s.
#[track_caller]
fn assert_window(sender: &HpccSender, bytes: f64) {
    let expected = bytes * 800_000.0;
    let rate = sender.rate().0 as f64;
    assert!((rate - expected).abs() <= 1.0, "window {} instead of {bytes}", rate / 800_000.0);
    assert!((sender.window() as f64 - bytes).abs() <= 0.51);
}

#[test]
fn a_flow_starts_at_line_rate_with_the_bandwidth_delay_product() {
    let sender = sender(&Hpcc::default());
    assert_eq!(sender.rate(), Rate::from_gbps(100));
    assert_eq!(sender.window(), BDP);
}

#[test]
fn the_first_ack_only_stores_its_telemetry() {
    let mut sender = sender(&Hpcc::default());
    sender.on_ack(&ack(1_000, 50_000, stack(&[record(0, 0, 1_000_000)])));
    assert_eq!(sender.window(), BDP);
    assert_eq!(sender.rate(), Rate::from_gbps(100));
}

#[test]
fn a_full_link_brings_the_window_to_eta_of_itself() {
    // 12,500 B in 1 us and no queue: u = 1. U = 0.9 * 1 + 0.1 * 1 = 1. W = 125,000 * 0.95 + 80 = 118,830.
    let mut sender = sender(&Hpcc::default());
    sender.on_ack(&ack(1_000, 50_000, stack(&[record(0, 0, 0)])));
    sender.on_ack(&ack(2_000, 51_000, stack(&[record(1, 12_500, 0)])));
    assert_window(&sender, 118_830.0);
    assert_eq!(sender.rate(), Rate(95_064_000_000)); // 118,830 B * 8 / 10 us
    // Within the round trip the reference stays 125,000, so the same load gives the same window.
    sender.on_ack(&ack(50_000, 52_000, stack(&[record(2, 25_000, 0)])));
    assert_window(&sender, 118_830.0);
    // The ACK of the first byte after 50,000 makes 118,830 the reference: 118,830 * 0.95 + 80 = 112,968.5 next.
    sender.on_ack(&ack(51_000, 53_000, stack(&[record(3, 37_500, 0)])));
    assert_window(&sender, 118_830.0);
    sender.on_ack(&ack(52_000, 54_000, stack(&[record(4, 50_000, 0)])));
    assert_window(&sender, 112_968.5);
}

#[test]
fn the_average_weighs_by_the_worst_hops_interval_and_the_lesser_queue() {
    // Hop 0: 2,500 B in 1 us, u' = 0.2. Hop 1: 12,500 B in 2 us and min(12,500, 25,000) B queued,
    // u' = 12,500/125,000 + 0.5 = 0.6. tau = 2 us, U = 0.8 * 1 + 0.2 * 0.6 = 0.92.
    let mut in_flight = InFlight::new(T);
    assert!(!in_flight.measure(&telemetry(&[record(0, 0, 0), record(0, 0, 12_500)])));
    assert!(in_flight.measure(&telemetry(&[record(1, 2_500, 0), record(2, 12_500, 25_000)])));
    assert!((in_flight.average() - 0.92).abs() < 1e-12);
    let worst = in_flight.bottleneck();
    assert_eq!((worst.hop, worst.is_last, worst.bytes_per_ps), (1, true, 0.0125));
    assert!((worst.utilization - 0.6).abs() < 1e-12);
    // An interval beyond T counts as T: 100,000 B in 20 us, U = u = 0.4.
    assert!(in_flight.measure(&telemetry(&[record(21, 102_500, 0), record(22, 20_000, 0)])));
    assert!((in_flight.average() - 0.4).abs() < 1e-12);
    assert!(!in_flight.bottleneck().is_last);
}

#[test]
fn the_same_snapshot_keeps_a_hops_load_and_the_average() {
    // u' = 2 at hop 0 over 5 us: 62,500 B sent and 125,000 B queued. U = 0.5 * 1 + 0.5 * 2 = 1.5.
    let mut in_flight = InFlight::new(T);
    in_flight.measure(&telemetry(&[record(0, 0, BDP), record(0, 0, 0)]));
    in_flight.measure(&telemetry(&[record(5, 62_500, BDP), record(5, 0, 0)]));
    assert!((in_flight.average() - 1.5).abs() < 1e-12);
    // Hop 0 shows the same moment again, hop 1 has moved with u' = 0.5: hop 0 is still the worst, over no time.
    assert!(in_flight.measure(&telemetry(&[record(5, 62_500, BDP), record(9, 25_000, 0)])));
    assert!((in_flight.average() - 1.5).abs() < 1e-12);
    assert_eq!(in_flight.bottleneck().hop, 0);
    assert!((in_flight.bottleneck().utilization - 2.0).abs() < 1e-12);
}

/// A record of a 100 Gb/s port in hardware widths: nanoseconds, bytes sent, bytes queued.
fn packed(ns: u64, tx_bytes: u64, queue_bytes: u64) -> PackedRecord {
    let rate = Rate::from_gbps(100);
    let code = PackedRecord::speed_code(rate).expect("a rate with a code");
    PackedRecord::stamp(code, 0, &PortReading { at: Time::from_ns(ns), tx_bytes, queue_bytes, rate })
}

#[test]
fn in_hardware_widths_a_load_is_that_of_whole_units() {
    // Units of 128 B sent and 80 B queued, rounded down. Hop 0 has 2,500 B in 2 us, 19 units = 2,432 B, and no queue:
    // u' = 2,432/25,000 = 0.09728. Hop 1 has sent 100,000 B and then 125,000 B, 781 and 976 units: 195 units = 24,960 B in
    // 2 us. Queued are 12,500 B and then 25,000 B, 156 and 312 units: the lesser is 12,480 B.
    // u' = 12,480/125,000 + 24,960/25,000 = 1.09824, and U = 0.8 * 1 + 0.2 * 1.09824 = 1.019648.
    // W = 125,000 * 0.95 / 1.019648 + 80 = 116,541.76 B. With a queue that shrinks from 25,000 to 12,500 B it is the same.
    for queues in [[12_500, 25_000], [25_000, 12_500]] {
        let first = [packed(1_000, 0, 0), packed(1_000, 100_000, queues[0])];
        let second = [packed(3_000, 2_500, 0), packed(3_000, 125_000, queues[1])];
        for last_hop_first in [false, true] {
            // Stamped on the way back, the last hop's record is the first one of the stack.
            let in_order = |mut records: [PackedRecord; 2]| {
                if last_hop_first {
                    records.reverse();
                }
                records
            };
            let (first, second) = (in_order(first), in_order(second));
            let stack = |r| IntStack { records: Records::Packed(r), last_hop_first, ..IntStack::default() };
            let mut in_flight = InFlight::new(T);
            assert!(!in_flight.measure(&ack(1_000, 50_000, stack(&first))));
            assert!(in_flight.measure(&ack(2_000, 51_000, stack(&second))));
            let worst = in_flight.bottleneck();
            assert_eq!((worst.hop, worst.is_last, worst.bytes_per_ps), (1, true, 0.0125));
            assert!((worst.utilization - 1.098_24).abs() < 1e-12, "{worst:?}");
            assert!((in_flight.average() - 1.019_648).abs() < 1e-12);
            let mut sender = sender(&Hpcc::default());
            sender.on_ack(&ack(1_000, 50_000, stack(&first)));
            sender.on_ack(&ack(2_000, 51_000, stack(&second)));
            assert_window(&sender, 118_750.0 / 1.019_648 + 80.0);
        }
    }
}

#[test]
fn a_path_of_another_length_is_measured_from_new() {
    let mut in_flight = InFlight::new(T);
    in_flight.measure(&telemetry(&[record(0, 0, 0)]));
    assert!(!in_flight.measure(&telemetry(&[record(1, 12_500, 0), record(1, 12_500, 0)])));
    assert!(in_flight.measure(&telemetry(&[record(2, 12_500, 0), record(2, 18_750, 0)])));
    // Hop 1 sent half of what it can: U = 0.9 * 1 + 0.1 * 0.5.
    assert!((in_flight.average() - 0.95).abs() < 1e-12);
}

#[test]
fn additive_stages_come_before_a_multiplicative_increase() {
    // u = 2 over T: W = 125,000 * 0.95 / 2 + 80 = 59,455. Then u = 0.5 over T at each round trip: two additive
    // steps, then 59,615 * 0.95 / 0.5 + 80 = 113,348.5, then additive again.
    let mut sender = sender(&Hpcc { max_stage: 2, ..Hpcc::default() });
    sender.on_ack(&ack(1_000, 1_000, stack(&[record(0, 0, BDP)])));
    sender.on_ack(&ack(2_000, 2_000, stack(&[record(10, BDP, BDP)])));
    assert_window(&sender, 59_455.0);
    let mut tx = BDP;
    for (i, expected) in [59_535.0, 59_615.0, 113_348.5, 113_428.5].into_iter().enumerate() {
        let round = i as u64 + 2;
        tx += BDP / 2;
        sender.on_ack(&ack(
            round * 1_000 + 1_000,
            round * 1_000 + 1_000,
            stack(&[record(round * 10, tx, 0)]),
        ));
        assert_window(&sender, expected);
    }
}

#[test]
fn a_stage_takes_a_round_trip_however_many_acks_it_has() {
    // As above, but in ten ACKs a round trip: packets 2 to 10, 11 to 20 and so on. All come with U = 0.5, and each computes
    // from the reference and the stage of its round trip; the last one moves both. After 59,455 at packet 1 there are two
    // additive steps, then 59,615 * 0.95 / 0.5 + 80 = 113,348.5, and additive again.
    // The rate form: half of 95e9 and 80 B a 10 us, which is 64e6, are 47.564e9; steps of 64e6 to 47.692e9; then
    // 47.692e9 * 1.9 + 64e6 = 90.6788e9, and a step.
    let rounds = [
        (2..=10, 59_535.0, 47_628_000_000_u64),
        (11..=20, 59_615.0, 47_692_000_000),
        (21..=30, 113_348.5, 90_678_800_000),
        (31..=40, 113_428.5, 90_742_800_000),
    ];
    for form in [Form::Window, Form::Rate] {
        let mut sender = sender(&Hpcc { max_stage: 2, form, ..Hpcc::default() });
        let mut on_ack = |packet: u64, tx_bytes, queue| {
            // When an ACK ends a round trip, the next one ends with the packet that is sent then.
            let next_packet = if packet == 0 { 1 } else { packet / 10 * 10 + 10 };
            let telemetry = [record(10 * packet, tx_bytes, queue)];
            sender.on_ack(&ack(1_000 * (packet + 1), 1_000 * next_packet, stack(&telemetry)));
            (sender.window() as f64, sender.rate().0)
        };
        on_ack(0, 0, BDP);
        on_ack(1, BDP, BDP);
        for (packets, window, rate) in rounds.clone() {
            for packet in packets {
                let found = on_ack(packet, BDP + (packet - 1) * BDP / 2, 0);
                match form {
                    Form::Window => assert!((found.0 - window).abs() <= 0.5, "packet {packet}: {found:?}"),
                    Form::Rate => assert!(found.1.abs_diff(rate) <= 2, "packet {packet}: {found:?}"),
                }
            }
        }
    }
}

#[test]
fn an_idle_path_gives_the_line_rate_and_no_more() {
    // u = 0.1 over T: W = 125,000 * 9.5 + 80, beyond the NIC's bandwidth-delay product.
    let mut sender = sender(&Hpcc::default());
    sender.on_ack(&ack(1_000, 1_000, stack(&[record(0, 0, 0)])));
    sender.on_ack(&ack(2_000, 2_000, stack(&[record(10, 12_500, 0)])));
    assert_eq!(sender.window(), BDP);
    assert_eq!(sender.rate(), Rate::from_gbps(100));
}

#[test]
fn the_rate_never_falls_below_its_least() {
    // u = 10,000: W = 125,000 * 0.95 / 10,000 + 10 = 21.9 B, below 100 Mb/s * 10 us = 125 B.
    let mut sender = sender(&Hpcc { w_ai: Bytes(10), ..Hpcc::default() });
    let queue = 10_000 * BDP;
    sender.on_ack(&ack(1_000, 1_000, stack(&[record(0, 0, queue)])));
    sender.on_ack(&ack(2_000, 2_000, stack(&[record(10, 0, queue)])));
    assert_eq!(sender.rate(), Rate::from_mbps(100));
    assert_eq!(sender.window(), 125);
}

#[test]
fn without_fast_reaction_a_round_trip_is_one_measurement() {
    let mut sender = sender(&Hpcc { fast_react: false, ..Hpcc::default() });
    sender.on_ack(&ack(1_000, 50_000, stack(&[record(0, 0, 0)])));
    sender.on_ack(&ack(2_000, 51_000, stack(&[record(5, 62_500, 500_000)])));
    assert_eq!(sender.window(), BDP);
    // 125,000 B in 10 us since the first ACK, min(0, 500,000) queued: u = 1, W = 118,830.
    sender.on_ack(&ack(50_001, 60_000, stack(&[record(10, BDP, 500_000)])));
    assert_window(&sender, 118_830.0);
}

/// A sender that steers its rate, after ACKs of a full link with 12,500 B queued, u = 1 + 12,500/125,000 = 1.1, a
/// microsecond apart; each gives the sequence numbers acknowledged and sent.
fn steered(params: Hpcc, acks: &[(u64, u64)]) -> HpccSender {
    let mut sender = sender(&Hpcc { form: Form::Rate, ..params });
    for (us, &(seq, snd_nxt)) in (0..).zip(acks) {
        sender.on_ack(&ack(seq, snd_nxt, stack(&[record(us, us * 12_500, 12_500)])));
    }
    sender
}

#[test]
fn the_rate_form_steers_whole_bits_a_second() {
    // 80 B a 10 us are 64 Mb/s. U = 0.9 * 1 + 0.1 * 1.1 = 1.01: R = 95e9 / 1.01 = 94,059,405,940.59 cut to whole
    // bits, and 64e6; W = 125,000 * 0.9412340594 = 117,654.3 cut to whole bytes.
    let acks = [(1_000, 50_000), (2_000, 51_000), (50_000, 52_000), (51_000, 53_000), (52_000, 54_000)];
    let sender = steered(Hpcc::default(), &acks[..2]);
    assert_eq!((sender.rate(), sender.window()), (Rate(94_123_405_940), 117_654));
    // Within the round trip from the same reference: U = 0.9 * 1.01 + 0.11 = 1.019, 95e9 / 1.019 = 93,228,655,544.65.
    let sender = steered(Hpcc::default(), &acks[..3]);
    assert_eq!((sender.rate(), sender.window()), (Rate(93_292_655_544), 116_615));
    // The first byte after 50,000: U = 1.0271, 95e9 / 1.0271 = 92,493,428,098.53, and this rate is the new reference:
    // U = 1.03439, 92,557,428,098 * 0.95 / 1.03439 = 85,006,193,692.03.
    assert_eq!(steered(Hpcc::default(), &acks[..4]).rate(), Rate(92_557_428_098));
    assert_eq!(steered(Hpcc::default(), &acks).rate(), Rate(85_070_193_692));
}

#[test]
fn the_rate_form_takes_its_increase_as_a_rate() {
    // 94,059,405,940 and 100 Mb/s.
    let params = Hpcc { r_ai: Some(Rate::from_mbps(100)), ..Hpcc::default() };
    assert_eq!(params.validate(), Ok(()));
    let sender = steered(params, &[(1_000, 50_000), (2_000, 51_000)]);
    assert_eq!(sender.rate(), Rate(94_159_405_940));
}

#[test]
fn the_rate_form_takes_additive_stages_before_a_multiplicative_one() {
    // Half of the line rate and 1,125,000 B for T: u = 0.5 + 9 = U, R = 1e11 * 0.95 / 9.5 + 64e6 = 10.064e9. Then half
    // of the line rate without a queue, U = 0.5. Without stages R = 10.064e9 * 0.95 / 0.5 + 64e6 = 19.1856e9; with one
    // R = 10.064e9 + 64e6 first, and then 10.128e9 * 0.95 / 0.5 + 64e6 = 19.3072e9.
    let queues = [1_125_000, 1_125_000, 0, 0];
    for (max_stage, expected) in
        [(0, vec![10_064_000_000, 19_185_600_000]), (1, vec![10_064_000_000, 10_128_000_000, 19_307_200_000])]
    {
        let mut sender = sender(&Hpcc { max_stage, form: Form::Rate, ..Hpcc::default() });
        let mut rates = vec![];
        for (round, queue) in (0..=expected.len() as u64).zip(queues) {
            let seq = 1_000 * (round + 1);
            sender.on_ack(&ack(seq, seq, stack(&[record(10 * round, 62_500 * round, queue)])));
            rates.push(sender.rate().0);
        }
        // To a bit: 0.95 is no binary fraction.
        assert!(
            rates[1..].iter().zip(&expected).all(|(rate, value)| rate.abs_diff(*value) <= 1),
            "{rates:?}"
        );
    }
}

#[test]
fn the_rate_form_without_fast_reaction_measures_once_a_round_trip() {
    // The second ACK is skipped; the third shows 25,000 B in 2 us beside the queue, u = 1.1: U = 0.8 + 0.2 * 1.1 =
    // 1.02, 95e9 / 1.02 = 93,137,254,901.96.
    let params = Hpcc { fast_react: false, ..Hpcc::default() };
    let acks = [(1_000, 50_000), (2_000, 51_000), (50_001, 52_000)];
    assert_eq!(steered(params.clone(), &acks[..2]).rate(), Rate::from_gbps(100));
    assert_eq!(steered(params, &acks).rate(), Rate(93_201_254_901));
}

#[test]
fn parameters_out_of_range_are_refused_by_key() {
    for eta in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY] {
        assert_eq!(Hpcc { eta, ..Hpcc::default() }.validate().unwrap_err().key, "eta");
    }
    assert_eq!(Hpcc { min_rate: Rate(0), ..Hpcc::default() }.validate().unwrap_err().key, "min_rate");
    let both = Hpcc { r_ai: Some(Rate::from_mbps(50)), w_ai: Bytes(100), ..Hpcc::default() };
    assert_eq!(both.validate().unwrap_err().key, "w_ai");
    assert_eq!(Hpcc { r_ai: Some(Rate(0)), ..Hpcc::default() }.validate().unwrap_err().key, "r_ai");
    assert_eq!(Hpcc::default().validate(), Ok(()));
}

proptest! {
    #[test]
    fn no_telemetry_breaks_the_bounds(
        acks in prop::collection::vec((any::<u32>(), any::<u32>(), prop::collection::vec(any::<u64>(), 0..7)), 1..60),
        max_stage in 0u32..6,
        fast_react: bool,
    ) {
        let mut sender = sender(&Hpcc { max_stage, fast_react, ..Hpcc::default() });
        for (seq, snd_nxt, words) in acks {
            let records: Vec<_> = words.into_iter().map(PackedRecord).collect();
            let int = IntStack { records: Records::Packed(&records), ..IntStack::default() };
            sender.on_ack(&ack(seq.into(), snd_nxt.into(), int));
            prop_assert!(sender.rate() >= Rate::from_mbps(100) && sender.rate() <= Rate::from_gbps(100));
            prop_assert!(sender.window() >= 125 && sender.window() <= BDP);
        }
    }
}
