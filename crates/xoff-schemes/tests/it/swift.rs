//! Swift against numbers worked by hand: Algorithm 1 of the paper, and its target
//! base + hops * hbar + clamp(a / sqrt(cwnd) + b, 0, fs_range) with a = fs_range / (1/sqrt(fs_min) - 1/sqrt(fs_max))
//! and b = -a / sqrt(fs_max) (section 3.3).
//!
//! Throughout, C = 100 Gb/s, T = 10 us, three hops, and packets of 1,000 B, 1,062 B on the wire. C T is 125 packets, and
//! without flow scaling the default target is T + 5 us + 3 * 1 us = 18 us.

use crate::common::flow_env;
use xoff_engine::{Rate, Time};
use xoff_schemes::int::IntStack;
use xoff_schemes::rtt::Undetermined;
use xoff_schemes::swift::{Swift, SwiftSender};
use xoff_schemes::{Ack, AnyDetector, FlowEnv, Mark, NetworkEnv, ReactionPoint, Scheme};

const US: u64 = 1_000_000;

fn env() -> FlowEnv {
    let line_rate = Rate::from_gbps(100);
    FlowEnv { payload: 1_000, frame: 1_062, ..flow_env(line_rate, Time::from_us(10)) }
}

fn sender(params: &Swift) -> SwiftSender {
    assert_eq!(params.validate(), Ok(()));
    params.reaction(&env())
}

/// Without flow scaling, with a window of `cwnd` packets.
fn plain(cwnd: f64) -> Swift {
    Swift { fs_range: Time::ZERO, initial_cwnd: Some(cwnd), ..Swift::default() }
}

/// At `now_us`, the ACK of a packet with an RTT of `rtt_us`.
fn ack(now_us: u64, rtt_us: u64) -> Ack<'static> {
    let (now, rtt) = (Time::from_us(now_us), Some(Time::from_us(rtt_us)));
    let int = IntStack::default();
    Ack {
        now,
        seq: 0,
        newly_acked: 1_000,
        snd_nxt: 0,
        packet: 0,
        next_packet: 0,
        rtt,
        mark: Mark::None,
        flow_count: 0,
        label: 0,
        int,
    }
}

#[track_caller]
fn assert_cwnd(sender: &SwiftSender, expected: f64) {
    assert!((sender.cwnd() - expected).abs() < 1e-9, "{} instead of {expected}", sender.cwnd());
}

#[track_caller]
fn assert_target(params: &Swift, us: f64) {
    let target = sender(params).target().0 as f64 / US as f64;
    assert!((target - us).abs() < 1e-5, "{target} us instead of {us} us");
}

#[test]
fn it_asks_for_timestamps_on_every_ack() {
    let signals = Swift::default().signals();
    assert!(signals.timestamp && signals.acks && !signals.ecn);
}

#[test]
fn a_flow_starts_with_the_bandwidth_delay_product_unpaced() {
    let sender = sender(&Swift::default());
    assert_eq!((sender.window(), sender.rate()), (125_000, Rate::from_gbps(100)));
    // The maximum window is a bound from the start.
    let most = Swift { max_cwnd: Some(100.0), ..Swift::default() };
    assert_eq!(self::sender(&most).window(), 100_000);
}

/// At 10 us a NIC of 400 Gb/s sends 500,000 B, 500 packets of 1,000 B, and one of 100 Gb/s 125. Bolt's 256 packets would hold a
/// lone flow at half of the faster link.
#[test]
fn the_maximum_window_is_never_below_the_bandwidth_delay_product() {
    let largest = |gbps, params: &Swift| {
        let env = FlowEnv { payload: 1_000, ..flow_env(Rate::from_gbps(gbps), Time::from_us(10)) };
        let mut sender = params.reaction(&env);
        // Each ACK adds 1/W packet: from 125 to 300 packets these are (300^2 - 125^2) / 2 = 37,188 ACKs.
        for at in 0..40_000 {
            sender.on_ack(&ack(at, 1));
        }
        sender.window()
    };
    assert_eq!(largest(400, &Swift::default()), 500_000);
    assert_eq!(largest(100, &Swift::default()), 256_000);
    assert_eq!(largest(400, &Swift { max_cwnd: Some(256.0), ..Swift::default() }), 256_000);
    assert_eq!(largest(100, &Swift { initial_cwnd: Some(300.0), ..Swift::default() }), 300_000);
}

#[test]
fn the_target_scales_with_hops_and_with_the_window() {
    // a = 100 / (3.16227766 - 0.0625) = 32.260378 us, b = -2.016274 us.
    let at = |cwnd| Swift { initial_cwnd: Some(cwnd), max_cwnd: Some(1_000.0), ..Swift::default() };
    assert_target(&at(256.0), 18.0); // fs_max: nothing is added
    assert_target(&at(0.1), 118.0); // fs_min: all of fs_range
    assert_target(&at(0.01), 118.0);
    assert_target(&at(1_000.0), 18.0);
    assert_target(&at(1.0), 18.0 + 32.260378 - 2.016274);
    assert_target(&at(25.0), 18.0 + 32.260378 / 5.0 - 2.016274);
    // hbar counts per switch, and a given base target stands as it is.
    let base_target = Some(Time::from_us(25));
    assert_target(&Swift { base_target, per_hop: Time::from_us(3), ..plain(9.0) }, 25.0 + 3.0 * 3.0);
}

#[test]
fn the_base_target_is_5_us_above_the_base_rtt_and_at_least_10_us() {
    for (base_rtt, target) in [(32, 37), (10, 15), (5, 10), (1, 10)] {
        let env = NetworkEnv { line_rate: Rate::from_gbps(100), base_rtt: Time::from_us(base_rtt) };
        assert_eq!(Swift::default().resolve(&env).base_target, Some(Time::from_us(target)));
    }
    let given = Swift { base_target: Some(Time::from_us(7)), ..Swift::default() };
    assert_eq!(given.resolve(&NetworkEnv::default()).base_target, Some(Time::from_us(7)));
}

#[test]
fn below_the_target_the_window_grows_by_ai_a_round_trip() {
    let mut sender = sender(&plain(10.0));
    sender.on_ack(&ack(0, 17)); // 10 + 1/10
    assert_cwnd(&sender, 10.1);
    assert_eq!((sender.window(), sender.rate()), (10_100, Rate::from_gbps(100)));
    sender.on_ack(&ack(0, 17)); // 10.1 + 1/10.1
    assert_cwnd(&sender, 10.1 + 1.0 / 10.1);
    // Below one packet each ACK adds ai: there are fewer of them.
    let mut sender = self::sender(&plain(0.5));
    sender.on_ack(&ack(0, 17));
    assert_cwnd(&sender, 1.5);
    let mut sender = self::sender(&Swift { ai: 0.25, ..plain(0.5) });
    sender.on_ack(&ack(0, 17));
    assert_cwnd(&sender, 0.75);
    // An ACK of two packets counts twice, and the maximum window is kept to.
    let mut sender = self::sender(&Swift { max_cwnd: Some(10.15), ..plain(10.0) });
    sender.on_ack(&Ack { newly_acked: 2_000, ..ack(0, 17) }); // 10.2
    assert_cwnd(&sender, 10.15);
}

#[test]
fn at_the_target_or_above_the_window_is_cut_by_the_excess_at_most_by_max_mdf() {
    let after = |rtt| {
        let mut sender = sender(&plain(100.0));
        sender.on_ack(&ack(0, rtt));
        sender.cwnd()
    };
    assert_eq!(after(18), 100.0); // no excess
    assert!((after(20) - 92.0).abs() < 1e-9); // 1 - 0.8 * 2/20 = 0.92
    assert!((after(24) - 80.0).abs() < 1e-9); // 1 - 0.8 * 6/24 = 0.8
    assert_eq!(after(100), 50.0); // 1 - 0.8 * 82/100 = 0.344, at least 1 - 0.5
}

#[test]
fn one_cut_a_round_trip() {
    let mut sender = sender(&plain(100.0));
    sender.on_ack(&ack(100, 20)); // 0.92
    sender.on_ack(&ack(119, 20)); // 19 us later: an RTT is 20 us
    assert_cwnd(&sender, 92.0);
    sender.on_ack(&ack(120, 20));
    assert_cwnd(&sender, 92.0 * 0.92);
    // Growth goes on in between.
    sender.on_ack(&ack(121, 10));
    assert_cwnd(&sender, 92.0 * 0.92 + 1.0 / (92.0 * 0.92));
}

#[test]
fn an_averaged_rtt_spaces_the_cuts_but_is_not_compared_with_the_target() {
    // The first sample is taken whole, the second by half: (20 + 40) / 2 = 30 us between cuts.
    let mut sender = sender(&Swift { rtt_gain: 0.5, ..plain(100.0) });
    sender.on_ack(&ack(100, 20)); // 0.92
    sender.on_ack(&ack(129, 40)); // 29 us later
    assert_cwnd(&sender, 92.0);
    sender.on_ack(&ack(136, 40)); // (30 + 40) / 2 = 35 us, 36 us later: 1 - 0.8 * 22/40 = 0.56
    assert_cwnd(&sender, 92.0 * 0.56);
}

#[test]
fn a_window_held_at_its_least_notes_no_cut() {
    let mut sender = sender(&Swift { min_cwnd: 10.0, ..plain(10.0) });
    sender.on_ack(&ack(100, 36));
    assert_cwnd(&sender, 10.0);
    sender.on_ack(&ack(100, 17)); // 10.1
    sender.on_ack(&ack(101, 20)); // may cut at once: 10.1 * 0.92 is below the minimum
    assert_cwnd(&sender, 10.0);
    sender.on_ack(&ack(101, 17));
    sender.on_ack(&ack(102, 20)); // that was a cut, so this is not
    assert_cwnd(&sender, 10.1);
}

#[test]
fn below_one_packet_the_window_is_a_gap() {
    // At an RTT of 40 us: 1 - 0.8 * 22/40 = 0.56, and 1 * 0.56 packets are one packet each 40 / 0.56 = 71.43 us:
    // 1,062 B * 8 * 0.56 / 40 us = 118.944 Mb/s.
    let mut sender = sender(&plain(1.0));
    assert_eq!((sender.window(), sender.rate()), (1_000, Rate::from_gbps(100)));
    sender.on_ack(&ack(0, 40));
    assert_cwnd(&sender, 0.56);
    assert_eq!(sender.window(), 1); // one packet, when none is in flight
    assert_eq!(sender.rate(), Rate(118_944_000));
    assert_eq!(sender.rate().time_for(1_062).0 / 10_000, 7_142); // 71.42 us
    // The minimum: 0.001 packets at an RTT of 100 us, one packet each 100 ms.
    let mut sender = self::sender(&plain(0.0011));
    sender.on_ack(&ack(0, 100));
    assert_cwnd(&sender, 0.001);
    assert_eq!(sender.rate(), Rate(84_960));
    assert_eq!(sender.rate().time_for(1_062), Time::from_us(100_000));
    // Before the first sample the base RTT stands in: 0.5 packets each 10 us.
    assert_eq!(self::sender(&plain(0.5)).rate().time_for(1_062), Time::from_us(20));
}

#[test]
fn losses_cut_by_the_most_once_a_round_trip() {
    let mut sender = sender(&plain(100.0));
    sender.on_loss(Time::from_us(50));
    assert_cwnd(&sender, 50.0);
    sender.on_loss(Time::from_us(59)); // no sample yet: an RTT is T = 10 us
    assert_cwnd(&sender, 50.0);
    sender.on_timeout(Time::from_us(60));
    assert_cwnd(&sender, 25.0);
    assert_eq!(sender.window(), 25_000);
}

#[test]
fn the_fifth_timeout_in_a_row_resets_the_window() {
    let mut sender = sender(&plain(100.0));
    for timeout in 1..=4 {
        sender.on_timeout(Time::from_us(1_000 * timeout));
    }
    assert_cwnd(&sender, 100.0 / 16.0);
    sender.on_ack(&ack(4_500, 17)); // an ACK begins the count anew
    let grown = 100.0 / 16.0 + 16.0 / 100.0;
    for timeout in 5..=8 {
        sender.on_timeout(Time::from_us(1_000 * timeout));
    }
    assert_cwnd(&sender, grown / 16.0);
    sender.on_loss(Time::from_us(8_500)); // and so does a gap that the receiver reports
    for timeout in 9..=12 {
        sender.on_timeout(Time::from_us(1_000 * timeout));
    }
    assert_cwnd(&sender, grown / 512.0);
    sender.on_timeout(Time::from_us(13_000));
    assert_cwnd(&sender, 0.001);
    assert_eq!(sender.window(), 1);
}

#[test]
fn the_endpoint_has_a_window_of_its_own() {
    // The receiver takes 10 us of an RTT of 20 us. With a target of 5 us there its window is cut by
    // 0.8 * 5/10 = 0.4; the fabric's 10 us are below 18 us, so its window grows. The lesser counts.
    let params = Swift { endpoint_target: Some(Time::from_us(5)), ..plain(100.0) };
    let env = FlowEnv { ack_delay: Time::from_us(10), ..env() };
    let mut sender = params.reaction(&env);
    sender.on_ack(&ack(100, 20));
    assert_cwnd(&sender, 60.0);
    sender.on_ack(&ack(110, 20));
    assert_cwnd(&sender, 60.0);
    sender.on_loss(Time::from_us(111)); // the fabric's alone may be cut: to 50.01
    assert_cwnd(&sender, (100.01 + 1.0 / 100.01) / 2.0);
    for timeout in 1..=5 {
        sender.on_timeout(Time::from_us(1_000 * timeout));
    }
    assert_cwnd(&sender, 0.001);
    // With a target of 11 us neither is above its own.
    let params = Swift { endpoint_target: Some(Time::from_us(11)), ..plain(100.0) };
    let mut sender = params.reaction(&env);
    sender.on_ack(&ack(100, 20));
    assert_cwnd(&sender, 100.01);
    // Without an endpoint's window its delay counts as the fabric's: 1 - 0.8 * 2/20.
    let mut sender = plain(100.0).reaction(&env);
    sender.on_ack(&ack(100, 20));
    assert_cwnd(&sender, 92.0);
}

#[test]
fn an_undetermined_mark_spares_the_fabrics_window_a_cut() {
    let hold = Swift { undetermined: Undetermined::Hold, ..plain(100.0) };
    assert!(hold.signals().ecn && !plain(100.0).signals().ecn);
    assert_eq!(AnyDetector::from(hold.detector()).name(), "tcd");
    // 20 us are above the target of 18 us, and 18 us are at it: with the mark the window stays. Without it, with CE, and
    // by default it is cut by 0.8 * 2/20. Below the target it grows all the same.
    for (params, mark, rtt, expected) in [
        (&hold, Mark::Ue, 20, 100.0),
        (&hold, Mark::Ue, 18, 100.0),
        (&hold, Mark::Ue, 17, 100.01),
        (&hold, Mark::None, 20, 92.0),
        (&hold, Mark::Ce, 20, 92.0),
        (&plain(100.0), Mark::Ue, 20, 92.0),
    ] {
        let mut sender = sender(params);
        sender.on_ack(&Ack { mark, ..ack(100, rtt) });
        assert_cwnd(&sender, expected);
    }
    // What was spared does not count as the cut of its round trip.
    let mut sender = sender(&hold);
    sender.on_ack(&Ack { mark: Mark::Ue, ..ack(100, 20) });
    sender.on_ack(&ack(101, 20));
    assert_cwnd(&sender, 92.0);
    // The receiving host's window is not spared: 0.8 * 5/10 for 10 us there above a target of 5 us.
    let params = Swift { endpoint_target: Some(Time::from_us(5)), ..hold };
    let mut sender = params.reaction(&FlowEnv { ack_delay: Time::from_us(10), ..env() });
    sender.on_ack(&Ack { mark: Mark::Ue, ..ack(100, 40) });
    assert_cwnd(&sender, 60.0);
}

#[test]
fn an_ack_without_a_sample_changes_nothing() {
    let mut sender = sender(&plain(10.0));
    sender.on_ack(&Ack { rtt: None, ..ack(0, 0) });
    assert_cwnd(&sender, 10.0);
}

#[test]
fn values_without_sense_are_refused_by_name() {
    let wrong = |params: Swift| params.validate().expect_err("refused").to_string();
    let base = Swift::default;
    assert!(wrong(Swift { ai: 0.0, ..base() }).contains("`ai` is 0"));
    assert!(wrong(Swift { beta: -1.0, ..base() }).contains("`beta` is -1"));
    assert_eq!(
        wrong(Swift { max_mdf: 1.0, ..base() }),
        "`max_mdf` is 1: expected a number above 0 and below 1"
    );
    assert!(wrong(Swift { max_mdf: f64::NAN, ..base() }).contains("`max_mdf` is NaN"));
    assert!(wrong(Swift { fs_min: 0.0, ..base() }).contains("`fs_min` is 0"));
    assert!(wrong(Swift { fs_max: 0.1, ..base() }).contains("`fs_max` is 0.1"));
    let off = Swift { fs_range: Time::ZERO, ..base() };
    assert!(wrong(Swift { fs_min: 0.2, ..off.clone() }).contains("`fs_min` has no meaning with `fs_range"));
    assert!(wrong(Swift { fs_max: 100.0, ..off }).contains("`fs_max` has no meaning with `fs_range"));
    assert!(wrong(Swift { min_cwnd: 0.0, ..base() }).contains("`min_cwnd` is 0"));
    assert!(wrong(Swift { max_cwnd: Some(0.0001), ..base() }).contains("`max_cwnd` is 0.0001"));
    let above = Swift { initial_cwnd: Some(300.0), max_cwnd: Some(256.0), ..base() };
    assert!(wrong(above).contains("`initial_cwnd` is 300"));
    assert!(wrong(Swift { rtt_gain: 0.0, ..base() }).contains("`rtt_gain` is 0"));
    assert!(wrong(Swift { base_target: Some(Time::ZERO), ..base() }).contains("`base_target` is zero"));
    assert!(wrong(Swift { retx_reset: 0, ..base() }).contains("`retx_reset` is 0"));
    assert!(
        wrong(Swift { endpoint_target: Some(Time::ZERO), ..base() }).contains("`endpoint_target` is zero")
    );
}
