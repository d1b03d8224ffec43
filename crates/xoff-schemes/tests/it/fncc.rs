//! FNCC against numbers worked by hand from Algorithms 2 and 3.
//!
//! Throughout, B = 100 Gb/s = 12,500 B/us and T = 10 us, so that B T = 125,000 B and 1 B of window is 800 kb/s.

use crate::common::flow_env;
use proptest::prelude::*;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::fncc::{Fncc, FnccSender};
use xoff_schemes::int::{ExactRecord, IntStack, PackedRecord, PortReading, Records};
use xoff_schemes::{Ack, IntPath, Mark, ReactionPoint, Scheme};

const T: Time = Time::from_us(10);
const BDP: u64 = 125_000;

fn sender(params: &Fncc) -> FnccSender {
    params.reaction(&flow_env(Rate::from_gbps(100), T))
}

fn ack<'a>(seq: u64, flow_count: u16, int: IntStack<'a>) -> Ack<'a> {
    Ack {
        now: Time::ZERO,
        seq,
        newly_acked: 1_000,
        snd_nxt: 1_000_000,
        packet: (seq - 1) / 1_000,
        next_packet: 1_000,
        rtt: None,
        mark: Mark::None,
        flow_count,
        label: 0,
        int,
    }
}

/// What a hop shows over an interval: bytes queued at both ends, bytes sent in it.
#[derive(Clone, Copy)]
struct Load {
    queue: u64,
    tx: u64,
    rate: Rate,
}

fn load(queue: u64, tx: u64) -> Load {
    Load { queue, tx, rate: Rate::from_gbps(100) }
}

/// A sender that has seen two ACKs, `us` apart, on a path with `hops` in data-path order. The telemetry comes
/// stamped on the way back, last hop first.
fn after_two_acks(params: &Fncc, us: u64, flow_count: u16, hops: &[Load]) -> FnccSender {
    let mut sender = sender(params);
    for (seq, at, part) in [(1_000, 0, 0), (2_000, us, 1)] {
        let records: Vec<_> = hops
            .iter()
            .rev()
            .map(|h| {
                let (tx_bytes, queue_bytes) = (h.tx * part, h.queue);
                ExactRecord::stamp(&PortReading {
                    at: Time::from_us(at),
                    tx_bytes,
                    queue_bytes,
                    rate: h.rate,
                })
            })
            .collect();
        let int = IntStack { records: Records::Exact(&records), last_hop_first: true, ..IntStack::default() };
        sender.on_ack(&ack(seq, flow_count, int));
    }
    sender
}

/// The sender's rate is that of a window of `bytes`, to 1 bit/s.
#[track_caller]
fn assert_window(sender: &FnccSender, bytes: f64) {
    let expected = bytes * 800_000.0;
    let rate = sender.rate().0 as f64;
    assert!((rate - expected).abs() <= 1.0, "window {} instead of {bytes}", rate / 800_000.0);
}

/// u' = 0.5 over 1 us.
const HALF: (u64, u64) = (0, 6_250);
/// u' = 1 + 7,500 / 125,000 = 1.06 over 1 us.
const CONGESTED: (u64, u64) = (7_500, 12_500);

fn path(loads: [(u64, u64); 3]) -> Vec<Load> {
    loads.map(|(queue, tx)| load(queue, tx)).to_vec()
}

#[test]
fn congestion_at_the_last_hop_gives_the_fair_share_at_once() {
    // W = B T beta / N = 125,000 * 0.9 / 2 = 56,250 B, 45 Gb/s.
    let sender = after_two_acks(&Fncc::default(), 1, 2, &path([HALF, HALF, CONGESTED]));
    assert_eq!(sender.window(), 56_250);
    assert_eq!(sender.rate(), Rate::from_gbps(45));
    // N = 16: 7,031.25 B, 5.625 Gb/s.
    let sender = after_two_acks(&Fncc::default(), 1, 16, &path([HALF, HALF, CONGESTED]));
    assert_eq!(sender.window(), 7_031);
    assert_eq!(sender.rate(), Rate(5_625_000_000));
    // No count counts as one: 112,500 B.
    let sender = after_two_acks(&Fncc::default(), 1, 0, &path([HALF, HALF, CONGESTED]));
    assert_eq!(sender.window(), 112_500);
}

#[test]
fn at_alpha_itself_nothing_is_sped_up() {
    // u' = 1 + 6,250 / 125,000 = 1.05, not above alpha. U = 0.9 + 0.1 * 1.05 = 1.005 and
    // W = 125,000 * 0.95 / 1.005 + 80.
    let sender = after_two_acks(&Fncc::default(), 1, 2, &path([HALF, HALF, (6_250, 12_500)]));
    assert_window(&sender, 118_750.0 / 1.005 + 80.0);
}

#[test]
fn a_worse_hop_before_the_last_one_is_left_to_hpcc() {
    // u' = 1.2 in the middle, 1.06 at the end: U = 0.9 + 0.1 * 1.2 = 1.02.
    let sender = after_two_acks(&Fncc::default(), 1, 2, &path([HALF, (25_000, 12_500), CONGESTED]));
    assert_window(&sender, 118_750.0 / 1.02 + 80.0);
    // Equally loaded: U_j > U_max keeps the first. U = 0.9 + 0.1 * 1.06 = 1.006.
    let sender = after_two_acks(&Fncc::default(), 1, 2, &path([HALF, CONGESTED, CONGESTED]));
    assert_window(&sender, 118_750.0 / 1.006 + 80.0);
}

#[test]
fn the_share_is_one_of_the_last_hops_bandwidth() {
    // 25 Gb/s: B T = 31,250 B; 3,125 B in 1 us fill it and 3,125 B queued add 0.1. W = 31,250 * 0.9 = 28,125.
    let slow = Load { queue: 3_125, tx: 3_125, rate: Rate::from_gbps(25) };
    let sender = after_two_acks(&Fncc::default(), 1, 1, &[load(0, 3_125), load(0, 3_125), slow]);
    assert_eq!(sender.window(), 28_125);
}

#[test]
fn as_printed_the_share_is_divided_once_more() {
    // u' = 2 over T, so U = 2. Bypass: W = 56,250. As printed: W = 56,250 * 0.95 / 2 + 80 = 26,798.75.
    // Without the speedup: W = 125,000 * 0.95 / 2 + 80 = 59,455.
    let hops = path([(0, 62_500), (0, 62_500), (BDP, BDP)]);
    let run = |params| after_two_acks(&params, 10, 2, &hops);
    assert_window(&run(Fncc::default()), 56_250.0);
    assert_window(&run(Fncc { lhcs_bypass: false, ..Fncc::default() }), 26_798.75);
    assert_window(&run(Fncc { lhcs: false, ..Fncc::default() }), 59_455.0);
}

#[test]
fn each_parameter_that_hpcc_has_too_reaches_the_window() {
    // u' = 2 over T at the first hop: W = 125,000 * 0.8 / 2 + 1,000 = 51,000. A minimum rate of 50 Gb/s is 62,500 B. Within the
    // round trip only a fast reaction takes the second ACK.
    let hops = path([(BDP, BDP), (0, 62_500), (0, 62_500)]);
    let params = Fncc { eta: 0.8, w_ai: Bytes(1_000), ..Fncc::default() };
    assert_window(&after_two_acks(&params, 10, 2, &hops), 51_000.0);
    let floor = Fncc { min_rate: Rate::from_gbps(50), ..params.clone() };
    assert_window(&after_two_acks(&floor, 10, 2, &hops), 62_500.0);
    let slow = Fncc { fast_react: false, ..params.clone() };
    assert_window(&after_two_acks(&slow, 10, 2, &hops), 125_000.0);
    // A round trip a packet: after 51,000 B u' = 0.5 over T. With a stage the window rises by 1,000 B first, without one it is
    // 51,000 * 0.8 / 0.5 + 1,000 = 82,600.
    // Each ACK ends a round trip, so that a slow reaction takes them all.
    for (max_stage, fast_react, expected) in
        [(1, true, 52_000.0), (0, true, 82_600.0), (1, false, 52_000.0), (0, false, 82_600.0)]
    {
        let mut sender = sender(&Fncc { max_stage, fast_react, ..params.clone() });
        for (packet, queue_bytes, tx_bytes) in [(0, BDP, 0), (1, BDP, BDP), (2, 0, BDP + BDP / 2)] {
            let (at, rate) = (Time::from_us(10 * packet), Rate::from_gbps(100));
            let last = ExactRecord::stamp(&PortReading { at, tx_bytes: 0, queue_bytes: 0, rate });
            let records = [last, ExactRecord::stamp(&PortReading { at, tx_bytes, queue_bytes, rate })];
            let int =
                IntStack { records: Records::Exact(&records), last_hop_first: true, ..IntStack::default() };
            sender.on_ack(&Ack { next_packet: packet + 1, ..ack(1_000 * (packet + 1), 2, int) });
        }
        assert_window(&sender, expected);
    }
}

#[test]
fn the_search_for_the_worst_hop_starts_anew_at_each_ack() {
    // After 56,250 B from the speedup, the last hop falls to u' = 0.5 over T: an ACK within the round trip
    // computes from the reference 56,250: 56,250 * 0.95 / 0.5 + 80 = 106,955.
    let mut sender = after_two_acks(&Fncc::default(), 1, 2, &path([HALF, HALF, CONGESTED]));
    let later = |tx, queue| {
        let at = Time::from_us(11);
        ExactRecord::stamp(&PortReading { at, tx_bytes: tx, queue_bytes: queue, rate: Rate::from_gbps(100) })
    };
    let records = [later(12_500 + 62_500, 0), later(6_250, 0), later(6_250, 0)];
    let int = IntStack { records: Records::Exact(&records), last_hop_first: true, ..IntStack::default() };
    sender.on_ack(&ack(3_000, 2, int));
    assert_window(&sender, 106_955.0);
}

#[test]
fn a_path_of_one_switch_has_only_a_last_hop() {
    let sender = after_two_acks(&Fncc::default(), 1, 2, &[load(7_500, 12_500)]);
    assert_eq!(sender.window(), 56_250);
}

#[test]
fn it_asks_for_telemetry_on_acks_the_flow_count_and_symmetric_paths() {
    let signals = Fncc::default().signals();
    assert_eq!(signals.int, IntPath::Ack);
    assert!(signals.flow_count && signals.symmetric_paths && signals.acks && !signals.ecn);
}

#[test]
fn without_fast_reaction_only_the_first_ack_of_a_round_trip_counts() {
    // The first ACK has nothing to compare with, the second is of the same round trip.
    let params = Fncc { fast_react: false, ..Fncc::default() };
    let sender = after_two_acks(&params, 1, 2, &path([HALF, HALF, CONGESTED]));
    assert_eq!((sender.window(), sender.rate()), (BDP, Rate::from_gbps(100)));
}

#[test]
fn parameters_out_of_range_are_refused_by_key() {
    let key = |params: Fncc| params.validate().unwrap_err().key;
    assert_eq!(key(Fncc { alpha: f64::NAN, ..Fncc::default() }), "alpha");
    assert_eq!(key(Fncc { alpha: 0.0, ..Fncc::default() }), "alpha");
    assert_eq!(key(Fncc { beta: 1.1, ..Fncc::default() }), "beta");
    assert_eq!(key(Fncc { eta: 0.0, ..Fncc::default() }), "eta");
    assert_eq!(Fncc::default().validate(), Ok(()));
}

proptest! {
    #[test]
    fn no_telemetry_breaks_the_bounds(
        acks in prop::collection::vec((any::<u32>(), any::<u16>(), prop::collection::vec(any::<u64>(), 0..7)), 1..60),
        lhcs_bypass: bool,
    ) {
        let mut sender = sender(&Fncc { lhcs_bypass, ..Fncc::default() });
        for (seq, flow_count, words) in acks {
            let records: Vec<_> = words.into_iter().map(PackedRecord).collect();
            let int = IntStack { records: Records::Packed(&records), last_hop_first: true, ..IntStack::default() };
            sender.on_ack(&ack(seq.into(), flow_count, int));
            prop_assert!(sender.rate() >= Rate::from_mbps(100) && sender.rate() <= Rate::from_gbps(100));
            prop_assert!(sender.window() >= 125 && sender.window() <= BDP);
        }
    }
}
