//! Patched TIMELY against numbers worked by hand from SQCC's Algorithm 2 and Eq. 1 to 8.
//!
//! Throughout, C = 10 Gb/s, δ = 10 Mb/s, β = 0.008, T_low = RTT_ref = 50 us, T_high = 500 us, D_minRTT = 20 us and
//! α = 0.875; a segment is one packet of 1,456 B unless said otherwise.

use crate::common::flow_env;
use proptest::prelude::*;
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::int::{IntStack, Records};
use xoff_schemes::patched_timely::{PatchedTimely, PatchedTimelySender, weight};
use xoff_schemes::rtt::Undetermined;
use xoff_schemes::{Ack, AnyDetector, FlowEnv, Mark, NetworkEnv, ReactionPoint, Scheme};

const PACKET: u64 = 1_456;
const LINE: Rate = Rate::from_gbps(10);

fn env() -> FlowEnv {
    flow_env(LINE, Time::from_us(5))
}

fn plain() -> PatchedTimely {
    PatchedTimely {
        segment: Bytes(1),
        deduct_serialization: false,
        initial_rate: Some(Rate::from_gbps(1)),
        ..PatchedTimely::default()
    }
}

fn sender(params: PatchedTimely) -> PatchedTimelySender {
    params.resolve(&NetworkEnv { line_rate: LINE, base_rtt: Time::from_us(5) }).reaction(&env())
}

fn ack_at(now_us: f64, packets: u64, rtt_us: f64) -> Ack<'static> {
    let us = |us: f64| Time((us * 1e6).round() as u64);
    Ack {
        now: us(now_us),
        seq: packets * PACKET,
        newly_acked: PACKET,
        snd_nxt: (packets + 10) * PACKET,
        packet: packets - 1,
        next_packet: packets + 10,
        rtt: Some(us(rtt_us)),
        mark: Mark::None,
        flow_count: 0,
        label: 0,
        int: IntStack { records: Records::Exact(&[]), ..IntStack::default() },
    }
}

/// Gives the sender an ACK for each of `rtts`, in us, 1,000 us apart, from packet `first` on.
fn feed(sender: &mut PatchedTimelySender, first: u64, rtts: &[f64]) {
    for (packet, &rtt) in (first..).zip(rtts) {
        sender.on_ack(&ack_at(packet as f64 * 1_000.0, packet, rtt));
    }
}

#[track_caller]
fn assert_mbps(sender: &PatchedTimelySender, mbps: f64) {
    let found = sender.rate().0 as f64 / 1e6;
    assert!((found - mbps).abs() < 1e-6, "{found} instead of {mbps} Mb/s");
}

#[test]
fn the_weight_is_linear_between_a_quarter_down_and_a_quarter_up() {
    // Eq. 5: 0 up to -1/4, 2 g + 1/2 in between, 1 from 1/4 on.
    for (gradient, expected) in
        [(-3.0, 0.0), (-0.25, 0.0), (-0.125, 0.25), (0.0, 0.5), (0.1, 0.7), (0.25, 1.0), (2.0, 1.0)]
    {
        assert!((weight(gradient) - expected).abs() < 1e-12, "{gradient}");
    }
}

#[test]
fn outside_the_thresholds_it_is_timely() {
    let mut low = sender(plain());
    feed(&mut low, 1, &[20.0, 45.0]);
    assert_mbps(&low, 1_020.0);
    // 1000 * (1 - 0.008 * (1 - 500/625)) = 1000 * 0.9984.
    let mut high = sender(plain());
    feed(&mut high, 1, &[625.0]);
    assert_mbps(&high, 998.4);
}

#[test]
fn in_between_step_and_cut_share_by_the_weight() {
    // 100 us, no gradient: w = 1/2, error 1: 5 + 1000 * (1 - 0.004) = 1001.
    let mut sender = sender(plain());
    feed(&mut sender, 1, &[100.0]);
    assert_mbps(&sender, 1_001.0);
    // 102 us: g = 0.875 * 2 / 20 = 0.0875, w = 0.675, error 1.04:
    // 3.25 + 1001 * (1 - 0.008 * 1.04 * 0.675) = 3.25 + 1001 * 0.994384 = 998.628384.
    feed(&mut sender, 2, &[102.0]);
    assert_mbps(&sender, 998.628384);
    // 150 us: g > 1/4, no step; error 2: 998.628384 * 0.984 = 982.650329856.
    feed(&mut sender, 3, &[150.0]);
    assert_mbps(&sender, 982.650329856);
    // 100 us: falls by more than a quarter: a whole step, no cut.
    feed(&mut sender, 4, &[100.0]);
    assert_mbps(&sender, 992.650329856);
}

#[test]
fn the_thresholds_themselves() {
    // At T_low the error is 0 and half a step is made; T_high counts as above it, where the cut begins with nothing.
    let mut low = sender(plain());
    feed(&mut low, 1, &[50.0]);
    assert_mbps(&low, 1_005.0);
    let mut high = sender(plain());
    feed(&mut high, 1, &[500.0]);
    assert_mbps(&high, 1_000.0);
}

#[test]
fn the_fixed_point_is_that_of_equation_6() {
    // q* = N δ q'/(β C) + q' in times at C: N = 40: 40 * 10 * 50 / (0.008 * 10,000) + 50 = 300 us, and 60: 425 us.
    // There a flow with C/N = 250 or 166.67 Mb/s keeps its rate; Eq. 8 with D = 0 reaches 500 us at N = 72.
    for (n, rtt) in [(40u64, 300.0), (60, 425.0)] {
        let share = Rate(LINE.0 / n);
        let mut sender = sender(PatchedTimely { initial_rate: Some(share), ..plain() });
        feed(&mut sender, 1, &[rtt; 20]);
        assert!(sender.rate().0.abs_diff(share.0) <= 1, "{n}");
        // Above it rates fall, below it they rise.
        feed(&mut sender, 21, &[rtt + 10.0; 20]);
        assert!(sender.rate() < share);
        feed(&mut sender, 41, &[rtt - 10.0; 100]);
        assert!(sender.rate() > share);
    }
}

#[test]
fn two_flows_at_one_round_trip_time_approach_each_other() {
    // The cut is a share of the rate, the step is not.
    let mut slow = sender(PatchedTimely { initial_rate: Some(Rate::from_mbps(100)), ..plain() });
    let mut fast = sender(plain());
    feed(&mut slow, 1, &[100.0]);
    feed(&mut fast, 1, &[100.0]);
    assert_mbps(&slow, 104.6); // 5 + 100 * 0.996
    assert_mbps(&fast, 1_001.0);
    for sender in [&mut slow, &mut fast] {
        feed(sender, 2, &[100.0; 3_000]);
        // 5 = R * 0.004.
        assert!((sender.rate().0 as f64 / 1e6 - 1_250.0).abs() < 0.1);
    }
}

#[test]
fn the_reference_may_be_another() {
    // RTT_ref 80 us at 60 us: error -1/4, which raises: 5 + 1000 * (1 + 0.008 * 0.25 * 0.5) = 1006.
    let mut sender = sender(PatchedTimely { rtt_ref: Some(Time::from_us(80)), ..plain() });
    feed(&mut sender, 1, &[60.0]);
    assert_mbps(&sender, 1_006.0);
}

#[test]
fn updates_keep_their_distance() {
    // Eq. 3: at most one in D_minRTT, 20 us. What comes between counts for nothing, not even for the gradient.
    let mut sender = sender(plain());
    sender.on_ack(&ack_at(100.0, 1, 20.0));
    sender.on_ack(&ack_at(119.0, 2, 400.0));
    assert_mbps(&sender, 1_010.0);
    sender.on_ack(&ack_at(120.0, 3, 20.0));
    assert_mbps(&sender, 1_020.0);
    // From 20 us to 52: w = 1, error 0.04.
    sender.on_ack(&ack_at(140.0, 4, 52.0));
    assert_mbps(&sender, 1_020.0 * (1.0 - 0.008 * 0.04));
    let mut each = another(PatchedTimely { update_gap: Some(Time::ZERO), ..plain() });
    each.on_ack(&ack_at(100.0, 1, 20.0));
    each.on_ack(&ack_at(101.0, 2, 20.0));
    assert_mbps(&each, 1_020.0);
}

fn another(params: PatchedTimely) -> PatchedTimelySender {
    sender(params)
}

#[test]
fn segments_bursts_and_deduction() {
    // 16 KB are 11 packets; by default they are paced one by one.
    let default = PatchedTimely { initial_rate: Some(Rate::from_gbps(1)), ..PatchedTimely::default() };
    let mut whole = sender(default.clone());
    assert_eq!(whole.burst(), 0);
    feed(&mut whole, 1, &[20.0; 10]);
    assert_mbps(&whole, 1_000.0);
    feed(&mut whole, 11, &[20.0]);
    assert_mbps(&whole, 1_010.0);
    let burst: PatchedTimely = serde_json::from_value(json!({ "pacing": "segment" })).unwrap();
    assert_eq!(another(burst).burst(), 11 * PACKET);
    // 51 us less 1.2144 us of a frame of 1,518 B are below T_low.
    let mut less = another(PatchedTimely { deduct_serialization: true, ..plain() });
    feed(&mut less, 1, &[51.0]);
    assert_mbps(&less, 1_010.0);
    // D_minRTT of 5 us: g = 0.875 * 0.5 / 5 = 0.0875, as with 2 us at 20 us.
    let mut base = another(PatchedTimely { base_min_rtt: true, ..plain() });
    feed(&mut base, 1, &[100.0, 100.5]);
    // 3.25 + 1001 * (1 - 0.008 * 1.01 * 0.675).
    assert_mbps(&base, 3.25 + 1_001.0 * (1.0 - 0.008 * 1.01 * 0.675));
}

#[test]
fn the_rate_stays_between_its_bounds() {
    assert_eq!(another(PatchedTimely::default()).rate(), LINE);
    let shared = PatchedTimely::default().reaction(&FlowEnv { active_flows: 9, ..env() });
    assert_eq!(shared.rate(), Rate::from_gbps(1));
    let mut top = sender(PatchedTimely::default());
    feed(&mut top, 11, &[20.0]);
    assert_eq!(top.rate(), LINE);
    let mut bottom = sender(PatchedTimely { initial_rate: Some(Rate::from_mbps(1)), ..plain() });
    feed(&mut bottom, 1, &[5_000.0]);
    assert_mbps(&bottom, 1.0);
}

#[test]
fn an_undetermined_mark_holds_the_rate_while_the_gradient_is_positive() {
    let hold = PatchedTimely { undetermined: Undetermined::Hold, ..plain() };
    assert!(hold.signals().ecn && !plain().signals().ecn);
    assert_eq!(AnyDetector::from(hold.detector()).name(), "tcd");
    let marked = |packet: u64, rtt, mark| Ack { mark, ..ack_at(packet as f64 * 1_000.0, packet, rtt) };
    // As `in_between_step_and_cut_share_by_the_weight`: 1,001 Mb/s at 100 us, where there is no gradient; it stays at
    // 102 us, whose gradient counts on: at 102 us again g = 0.125 * 0.0875 = 0.0109375, w = 0.521875, error 1.04,
    // 10 * 0.478125 + 1001 * (1 - 0.008 * 1.04 * 0.521875) = 4.78125 + 996.6537...
    let mut sender = sender(hold.clone());
    sender.on_ack(&marked(1, 100.0, Mark::Ue));
    assert_mbps(&sender, 1_001.0);
    sender.on_ack(&marked(2, 102.0, Mark::Ue));
    assert_mbps(&sender, 1_001.0);
    sender.on_ack(&marked(3, 102.0, Mark::None));
    assert_mbps(&sender, 4.78125 + 1_001.0 * (1.0 - 0.008 * 1.04 * 0.521875));
    // Other marks, and any without `hold`, do not.
    for (params, mark) in [(hold.clone(), Mark::Ce), (hold.clone(), Mark::None), (plain(), Mark::Ue)] {
        let mut moved = another(params);
        moved.on_ack(&marked(1, 100.0, mark));
        moved.on_ack(&marked(2, 102.0, mark));
        assert_mbps(&moved, 998.628384);
    }
    // Outside of the thresholds nothing is held.
    let mut high = another(hold.clone());
    high.on_ack(&marked(1, 400.0, Mark::None));
    let before = high.rate();
    high.on_ack(&marked(2, 625.0, Mark::Ue));
    assert!(high.rate() < before);
    let mut low = another(hold);
    low.on_ack(&marked(1, 20.0, Mark::None));
    low.on_ack(&marked(2, 45.0, Mark::Ue));
    assert_mbps(&low, 1_020.0);
}

#[test]
fn a_gap_that_is_left_open_resolves_to_the_minimum_round_trip_time() {
    // 20 us if nothing is given; with the base round-trip time of each flow the gap is each flow's own.
    let gap = |params: PatchedTimely| params.resolve(&NetworkEnv::default()).update_gap;
    assert_eq!(gap(PatchedTimely::default()), Some(Time::from_us(20)));
    assert_eq!(
        gap(PatchedTimely { min_rtt: Some(Time::from_us(9)), ..Default::default() }),
        Some(Time::from_us(9))
    );
    assert_eq!(
        gap(PatchedTimely { update_gap: Some(Time::from_us(5)), ..Default::default() }),
        Some(Time::from_us(5))
    );
    assert_eq!(gap(PatchedTimely { base_min_rtt: true, ..Default::default() }), None);
}

#[test]
fn impossible_parameters_are_refused_by_key() {
    let cases = [
        ("delta", json!({ "delta": "0bps" })),
        ("alpha", json!({ "alpha": 0.0 })),
        ("beta", json!({ "beta": 1.5 })),
        ("t_low", json!({ "t_low": "0us" })),
        ("t_low", json!({ "t_low": "1ms" })),
        ("rtt_ref", json!({ "rtt_ref": "0us" })),
        ("min_rtt", json!({ "min_rtt": "0us" })),
        ("min_rtt", json!({ "min_rtt": "20us", "base_min_rtt": true })),
        ("segment", json!({ "segment": "0B" })),
        ("segment", json!({ "segment": "2MB" })),
        ("min_rate", json!({ "min_rate": "0bps" })),
        ("initial_rate", json!({ "initial_rate": "0bps" })),
        ("start", json!({ "initial_rate": "1Gbps", "start": "share" })),
    ];
    for (key, params) in cases {
        let error =
            serde_json::from_value::<PatchedTimely>(params.clone()).expect("parses").validate().unwrap_err();
        assert_eq!(error.key, key, "{params}");
        assert!(!error.expected.is_empty(), "{error}");
    }
}

proptest! {
    /// Whatever comes, the rate is between the minimum and line rate.
    #[test]
    fn rates_stay_in_bounds(rtts in prop::collection::vec(0.0f64..2_000.0, 1..200)) {
        let mut sender = sender(plain());
        feed(&mut sender, 1, &rtts);
        prop_assert!(sender.rate() >= Rate::from_mbps(1) && sender.rate() <= LINE);
    }
}
