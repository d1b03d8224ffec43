//! PowerTCP and θ-PowerTCP against numbers worked by hand from Algorithms 1 and 2: power (dq + dtx)/(b dt) * (1 + q/(b τ)),
//! or (dRTT/dt + 1) RTT/τ, averaged over τ, and w = γ (w_old/power + β) + (1 - γ) w with β = b τ/N.
//!
//! Throughout, b = 100 Gb/s = 12,500 B/us and τ = 10 us, so that b τ = 125,000 B, β = 12,500 B with N = 10, and 1 B of window
//! is 800 kb/s.

use crate::common::flow_env;
use xoff_engine::{Rate, Time};
use xoff_schemes::int::{ExactRecord, IntStack, PortReading, Records};
use xoff_schemes::powertcp::theta::{DelayPower, ThetaPowerTcp};
use xoff_schemes::powertcp::window::OldWindow;
use xoff_schemes::powertcp::{Power, PowerTcp, PowerTcpSender};
use xoff_schemes::{Ack, FlowEnv, Mark, ReactionPoint, Scheme};

const T: Time = Time::from_us(10);
const BDP: u64 = 125_000;

fn env() -> FlowEnv {
    flow_env(Rate::from_gbps(100), T)
}

/// A record of a 100 Gb/s port: microseconds, bytes sent, bytes queued.
fn record(us: u64, tx_bytes: u64, queue_bytes: u64) -> ExactRecord {
    let rate = Rate::from_gbps(100);
    ExactRecord::stamp(&PortReading { at: Time::from_us(us), tx_bytes, queue_bytes, rate })
}

/// The ACK of `packet` while the packets before `next_packet` are sent.
fn ack(packet: u64, next_packet: u64, records: &[ExactRecord]) -> Ack<'_> {
    Ack {
        now: Time::ZERO,
        seq: (packet + 1) * 1_000,
        newly_acked: 1_000,
        snd_nxt: next_packet * 1_000,
        packet,
        next_packet,
        rtt: None,
        mark: Mark::None,
        flow_count: 0,
        label: 0,
        int: IntStack { records: Records::Exact(records), ..IntStack::default() },
    }
}

/// The sender's rate is that of a window of `bytes`, to 1 bit/s.
#[track_caller]
fn assert_window(sender: &impl ReactionPoint, bytes: f64) {
    let found = sender.rate().0 as f64 / 800_000.0;
    assert!((found - bytes).abs() < 1e-5, "window {found} instead of {bytes}");
    assert!((sender.window() as f64 - bytes).abs() <= 0.51);
}

#[track_caller]
fn assert_power(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
}

/// Power after each of the stacks.
fn power(stacks: &[&[ExactRecord]]) -> f64 {
    let mut power = Power::new(T);
    for (i, records) in stacks.iter().enumerate() {
        assert_eq!(power.measure(&ack(i as u64, 100, records)), i > 0);
    }
    power.average()
}

#[test]
fn a_flow_starts_at_line_rate_and_its_first_ack_only_stores_telemetry() {
    let mut sender = PowerTcp::default().reaction(&env());
    assert_eq!((sender.rate(), sender.window()), (Rate::from_gbps(100), BDP));
    sender.on_ack(&ack(0, 50, &[record(0, 0, 1_000_000)]));
    assert_eq!((sender.rate(), sender.window()), (Rate::from_gbps(100), BDP));
}

#[test]
fn power_is_what_arrives_times_pipe_and_queue() {
    // In 1 us 12,500 B leave, and the queue grows to 12,500 B: 25,000 B have arrived, twice the capacity.
    // Power = 2 * (1 + 12,500/125,000) = 2.2, and the average 0.9 * 1 + 0.1 * 2.2 = 1.12.
    assert_power(power(&[&[record(0, 0, 0)], &[record(1, 12_500, 12_500)]]), 1.12);
    // A queue that drains from 25,000 B to 18,750 B: 6,250 B have arrived, half. Power = 0.5 * 1.15 = 0.575, average 0.9575.
    assert_power(power(&[&[record(0, 0, 25_000)], &[record(1, 12_500, 18_750)]]), 0.957_5);
    // A link that is idle has none: 0.9.
    assert_power(power(&[&[record(0, 0, 0)], &[record(1, 0, 0)]]), 0.9);
    // Less than nothing has arrived, as rounded counters may show: none, 0.9, and not 0.9 - 0.1.
    assert_power(power(&[&[record(0, 0, 12_500)], &[record(1, 0, 0)]]), 0.9);
}

#[test]
fn the_hop_of_the_greatest_power_counts_over_its_own_interval() {
    // Hop 0: 12,500 B in 1 us, power 1. Hop 1: 25,000 B in 2 us and 25,000 B queued throughout, power 1 * 1.2 over 2 us.
    // 0.8 * 1 + 0.2 * 1.2 = 1.04.
    let (before, after) =
        ([record(0, 0, 0), record(0, 0, 25_000)], [record(1, 12_500, 0), record(2, 25_000, 25_000)]);
    assert_power(power(&[&before, &after]), 1.04);
    // The other way round it is the same.
    let swapped = |records: [ExactRecord; 2]| [records[1], records[0]];
    assert_power(power(&[&swapped(before), &swapped(after)]), 1.04);
    // An interval beyond τ counts as τ: 125,000 B in 20 us are half of the capacity, and nothing of the 1 is left.
    assert_power(power(&[&[record(0, 0, 0)], &[record(20, BDP, 0)]]), 0.5);
    // Hop 1 shows the same moment again: it keeps its 1.2, over no time, above the 0.4 of hop 0.
    let again = [record(2, 17_500, 0), record(2, 25_000, 25_000)];
    assert_power(power(&[&before, &after, &again]), 1.04);
    // A path of another length is measured from new.
    let mut power = Power::new(T);
    assert!(!power.measure(&ack(0, 9, &before)));
    assert!(!power.measure(&ack(1, 9, &[record(1, 0, 0)])));
    assert_power(power.average(), 1.0);
}

#[test]
fn the_window_is_the_earlier_one_over_power_and_an_increase() {
    // Power 1.12 as above: 0.9 (125,000/1.12 + 12,500) + 0.1 * 125,000 = 124,196.428571. The next ACK of the round trip has
    // 12,500 B more and the same queue, power 1.1 and average 0.9 * 1.12 + 0.11 = 1.118; it starts from the same 125,000:
    // 0.9 (125,000/1.118 + 12,500) + 0.1 * 124,196.428571 = 124,295.760925.
    let mut sender = PowerTcp::default().reaction(&env());
    sender.on_ack(&ack(0, 50, &[record(0, 0, 0)]));
    sender.on_ack(&ack(1, 51, &[record(1, 12_500, 12_500)]));
    assert_window(&sender, 124_196.428_571);
    sender.on_ack(&ack(2, 52, &[record(2, 25_000, 12_500)]));
    assert_window(&sender, 124_295.760_925);
}

/// Gives ACKs of the given packets, with the packets sent before them, 10 us apart: the link is full and holds 125,000 B, so
/// that power is 2 at each.
fn at_power_two(sender: &mut PowerTcpSender, acks: &[(u64, u64)]) {
    for (i, &(packet, next_packet)) in acks.iter().enumerate() {
        let us = 10 * i as u64;
        sender.on_ack(&ack(packet, next_packet, &[record(us, 12_500 * us, BDP)]));
    }
}

#[test]
fn the_earlier_window_is_that_of_the_round_trip_or_of_the_packet() {
    // 125,000 -> 0.9 (62,500 + 12,500) + 12,500 = 80,000 -> 0.9 * 75,000 + 8,000 = 75,500, remembered with packet 10, the
    // first one sent after the first ACK. Packet 11 was sent at 80,000. From 75,500: 0.9 (37,750 + 12,500) + 7,550 = 52,775;
    // from 80,000: 0.9 (40,000 + 12,500) + 7,550 = 54,800.
    let acks = [(0, 10), (1, 11), (10, 12), (11, 13)];
    for (old_window, last) in [(OldWindow::RoundTrip, 52_775.0), (OldWindow::Packet, 54_800.0)] {
        let mut sender = PowerTcp { old_window, ..PowerTcp::default() }.reaction(&env());
        at_power_two(&mut sender, &acks[..2]);
        assert_window(&sender, 80_000.0);
        let mut sender = PowerTcp { old_window, ..PowerTcp::default() }.reaction(&env());
        at_power_two(&mut sender, &acks[..3]);
        assert_window(&sender, 75_500.0);
        let mut sender = PowerTcp { old_window, ..PowerTcp::default() }.reaction(&env());
        at_power_two(&mut sender, &acks);
        assert_window(&sender, last);
    }
}

#[test]
fn several_acks_before_the_next_packet_keep_the_last_window() {
    // ACKs 1 and 2 come while packet 10 is the next one: it is sent at the window of the second, 0.9 * 75,000 + 8,000 = 75,500.
    // Its ACK: 0.9 (37,750 + 12,500) + 7,550 = 52,775.
    let mut sender = PowerTcp { old_window: OldWindow::Packet, ..PowerTcp::default() }.reaction(&env());
    at_power_two(&mut sender, &[(0, 10), (1, 10), (2, 10), (10, 11)]);
    assert_window(&sender, 52_775.0);
}

#[test]
fn two_flows_settle_at_their_shares_with_a_queue_of_twice_the_increase() {
    // Appendix A: the queue is the sum of increases, 25,000 B, so that power is 1.2, and each window is
    // (25,000 + 125,000)/25,000 * 12,500 = 75,000 B: half of pipe and queue. Each ACK goes 15 % of the way.
    let mut sender = PowerTcp::default().reaction(&env());
    for i in 0..150 {
        sender.on_ack(&ack(i, i + 1, &[record(10 * i, BDP * i, 25_000)]));
    }
    assert_window(&sender, 75_000.0);
}

#[test]
fn the_window_stays_between_the_minimum_rate_and_the_bandwidth_delay_product() {
    // 100 Mb/s over 10 us are 125 B. A queue of 10^10 B has a power of 80,001: 125,000/80,001 + 0.125 is 1.7 B.
    let mut sender = PowerTcp { gamma: 1.0, expected_flows: 1e6, ..PowerTcp::default() }.reaction(&env());
    let queue = 10_000_000_000;
    sender.on_ack(&ack(0, 50, &[record(0, 0, queue)]));
    sender.on_ack(&ack(1, 51, &[record(10, BDP, queue)]));
    assert_eq!((sender.window(), sender.rate()), (125, Rate::from_mbps(100)));
    // A link without any power: the maximum.
    sender.on_ack(&ack(2, 52, &[record(30, BDP, 0)]));
    assert_eq!((sender.window(), sender.rate()), (BDP, Rate::from_gbps(100)));
}

#[test]
fn an_older_record_measures_nothing() {
    // Power 1.12 after the ACK of packet 2, as above. Packet 1 was overtaken, and its record is older: the hop keeps its 2.2,
    // over no time, and the same average gives 0.9 (125,000/1.12 + 12,500) + 0.1 * 124,196.428571 = 124,116.071429.
    let mut sender = PowerTcp::default().reaction(&env());
    sender.on_ack(&ack(0, 50, &[record(2, 0, 0)]));
    sender.on_ack(&ack(2, 51, &[record(3, 12_500, 12_500)]));
    sender.on_ack(&ack(1, 52, &[record(1, 0, 0)]));
    assert_window(&sender, 124_116.071_429);
}

#[test]
fn theta_power_is_round_trip_time_and_its_gradient() {
    // 10 us, and 5 us later 12 us: (2/5 + 1) * 1.2 = 1.68, average 0.5 + 0.84 = 1.34. 1 us later 12 us again: 1.2, and
    // 0.9 * 1.34 + 0.12 = 1.326. 1 us later 11.5 us: 0.5 * 1.15 = 0.575, and 0.9 * 1.326 + 0.0575 = 1.2509.
    let mut power = DelayPower::new(T);
    assert!(!power.measure(Time::from_us(1), Time::from_us(10)));
    assert!(power.measure(Time::from_us(6), Time::from_us(12)));
    assert_power(power.average(), 1.34);
    assert!(power.measure(Time::from_us(7), Time::from_us(12)));
    assert_power(power.average(), 1.326);
    power.measure(Time::from_us(8), Time::from_ns(11_500));
    assert_power(power.average(), 1.250_9);
    // Two ACKs at once: the second one counts for nothing.
    power.measure(Time::from_us(8), Time::from_us(99));
    assert_power(power.average(), 1.250_9);
    // 3.5 us less within 1 us: power would be -2.5 * 0.8; it is 0, and 0.9 * 1.2509 = 1.12581.
    power.measure(Time::from_us(9), Time::from_us(8));
    assert_power(power.average(), 1.125_81);
    // After 20 us without ACKs: (2/20 + 1) * 1 = 1.1, with full weight.
    power.measure(Time::from_us(29), Time::from_us(10));
    assert_power(power.average(), 1.1);
}

#[test]
fn thetas_window_follows_once_a_round_trip() {
    // Power as above: 1.34 at the second ACK, 0.9 (125,000/1.34 + 12,500) + 12,500 = 107,705.223881. The next one belongs to
    // the same round trip: power alone follows. Packet 51 ends it with power 1.2509:
    // 0.9 (107,705.223881/1.2509 + 12,500) + 10,770.5223881 = 99,512.489366.
    let mut sender = ThetaPowerTcp::default().reaction(&env());
    assert_eq!((sender.rate(), sender.window()), (Rate::from_gbps(100), BDP));
    let mut give = |packet, next_packet, now_us, rtt_ns| {
        let (now, rtt) = (Time::from_us(now_us), Some(Time::from_ns(rtt_ns)));
        sender.on_ack(&Ack { now, rtt, ..ack(packet, next_packet, &[]) });
        sender.clone()
    };
    assert_window(&give(0, 50, 1, 10_000), 125_000.0);
    assert_window(&give(1, 51, 6, 12_000), 107_705.223_881);
    assert_window(&give(50, 52, 7, 12_000), 107_705.223_881);
    assert_window(&give(51, 53, 8, 11_500), 99_512.489_366);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let key = |params: PowerTcp| params.validate().map_err(|e| e.key).unwrap_err();
    for gamma in [0.0, 1.1, f64::NAN] {
        assert_eq!(key(PowerTcp { gamma, ..PowerTcp::default() }), "gamma");
        let theta = ThetaPowerTcp { gamma, ..ThetaPowerTcp::default() };
        assert_eq!(theta.validate().unwrap_err().key, "gamma");
    }
    assert_eq!(key(PowerTcp { expected_flows: 0.5, ..PowerTcp::default() }), "expected_flows");
    assert_eq!(key(PowerTcp { min_rate: Rate(0), ..PowerTcp::default() }), "min_rate");
    assert_eq!(PowerTcp::default().validate(), Ok(()));
}
