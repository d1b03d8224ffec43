//! SQCC against numbers worked by hand from its Algorithm 3 and Eq. 16, 17 and 25.
//!
//! Throughout, C = 10 Gb/s, β = 0.008, T_low = 50 us at k = 1, T_high = 500 us, D_minRTT = 20 us, a segment is one
//! packet, and flows start with C/N.

use crate::common::flow_env;
use proptest::prelude::*;
use serde_json::json;
use xoff_engine::{Rate, Time};
use xoff_schemes::int::{IntStack, Records};
use xoff_schemes::rtt::Undetermined;
use xoff_schemes::sqcc::{ErrorFunction, Sqcc, SqccSender};
use xoff_schemes::{Ack, AnyDetector, FlowEnv, Mark, NetworkEnv, ReactionPoint, Scheme};

const PACKET: u64 = 1_456;
const LINE: Rate = Rate::from_gbps(10);

fn env() -> FlowEnv {
    flow_env(LINE, Time::from_us(5))
}

fn plain() -> Sqcc {
    Sqcc { deduct_serialization: false, ..Sqcc::default() }
}

/// Only the error function is SQCC's: the first row of Table II.
fn error_only() -> Sqcc {
    Sqcc { adapt_delta: false, adapt_t_low: false, ..plain() }
}

fn resolved(params: Sqcc) -> Sqcc {
    params.resolve(&NetworkEnv { line_rate: LINE, base_rtt: Time::from_us(5) })
}

/// One of `flows` senders, at its fair share.
fn fair(params: &Sqcc, flows: u64) -> SqccSender {
    let share = Rate(LINE.0 / flows);
    resolved(Sqcc { initial_rate: Some(share), ..params.clone() }).reaction(&env())
}

fn ack_at(packet: u64, flows: u16, rtt_us: f64) -> Ack<'static> {
    Ack {
        now: Time::from_ms(packet),
        seq: packet * PACKET,
        newly_acked: PACKET,
        snd_nxt: (packet + 10) * PACKET,
        packet: packet - 1,
        next_packet: packet + 10,
        rtt: Some(Time((rtt_us * 1e6).round() as u64)),
        mark: Mark::None,
        flow_count: flows,
        label: 0,
        int: IntStack { records: Records::Exact(&[]), ..IntStack::default() },
    }
}

/// Gives the sender an ACK for each of `rtts`, in us, from packet `first` on.
fn feed(sender: &mut SqccSender, first: u64, flows: u16, rtts: &[f64]) {
    for (packet, &rtt) in (first..).zip(rtts) {
        sender.on_ack(&ack_at(packet, flows, rtt));
    }
}

/// By how much the rate moves with an ACK, in Mb/s.
fn step(sender: &mut SqccSender, packet: u64, flows: u16, rtt_us: f64) -> f64 {
    let before = sender.rate().0 as f64;
    sender.on_ack(&ack_at(packet, flows, rtt_us));
    (sender.rate().0 as f64 - before) / 1e6
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    // Rates are whole bits a second.
    assert!((found - expected).abs() < 2e-6, "{found} instead of {expected}");
}

#[test]
fn the_step_follows_the_number_of_flows() {
    // Eq. 25, below T_low: C k / N² with k = ⌊lg N⌋, at least 1. The paper's own: 6.25 at 40, 2.7 (2.78) at 60, 0.08
    // at 500 Mb/s; at 1000 k = 3: 0.03. One flow: C itself, bounded by line rate; nine: 10,000/81.
    for (flows, expected) in [
        (40, 6.25),
        (60, 10_000.0 / 3_600.0),
        (500, 0.08),
        (1_000, 0.03),
        (9, 10_000.0 / 81.0),
        (99, 10_000.0 / 9_801.0),
    ] {
        let mut sender = fair(&plain(), flows);
        assert_near(step(&mut sender, 1, flows as u16, 20.0), expected);
    }
    // Without T_low's k = 2 the step is half: Table II's second row.
    let mut second = fair(&Sqcc { adapt_t_low: false, ..plain() }, 500);
    assert_near(step(&mut second, 1, 500, 20.0), 0.04);
    // Alone, a flow may take all at once.
    let mut alone = fair(&plain(), 10);
    feed(&mut alone, 1, 1, &[20.0]);
    assert_eq!(alone.rate(), LINE);
}

#[test]
fn without_adaptation_step_and_threshold_stay() {
    let mut sender = fair(&error_only(), 500);
    assert!(!error_only().signals().flow_count && plain().signals().flow_count);
    assert_near(step(&mut sender, 1, 0, 49.0), 10.0);
    // 51 us are above T_low: half a step and error 500 * 1 / (50 * 449) on 30 Mb/s, from a gradient of
    // 0.875 * 2 / 20 = 0.0875, w = 0.675.
    let cut = 30.0 * 0.008 * (500.0 / (50.0 * 449.0)) * 0.675;
    assert_near(step(&mut sender, 2, 0, 51.0), 10.0 * 0.325 - cut);
}

#[test]
fn the_threshold_follows_the_number_of_flows() {
    // 99 us: above T_low = 50 us with 99 flows, below 100 us with 100 (k = 2) and 1000 (k = 3: 150 us).
    let only_t_low = Sqcc { adapt_delta: false, ..plain() };
    for (flows, below) in [(99, false), (100, true), (999, true), (1_000, true)] {
        let mut sender = fair(&only_t_low, u64::from(flows));
        let moved = step(&mut sender, 1, flows, 99.0);
        assert_eq!((moved - 10.0).abs() < 1e-6, below, "{flows}: {moved}");
    }
    for (flows, below) in [(999, false), (1_000, true)] {
        let mut sender = fair(&only_t_low, u64::from(flows));
        let moved = step(&mut sender, 1, flows, 149.0);
        assert_eq!((moved - 10.0).abs() < 1e-6, below, "{flows}: {moved}");
    }
    // N changes under way: from 100 flows to 99 the same 99 us are above the threshold.
    let mut sender = fair(&only_t_low, 100);
    assert_near(step(&mut sender, 1, 100, 99.0), 10.0);
    assert!(step(&mut sender, 2, 99, 99.0) < 5.0);
}

#[test]
fn another_base_of_the_logarithm() {
    // Base 2 at 500 flows: k = 8, δ = 0.32 Mb/s, T_low = 400 us.
    let mut sender = fair(&Sqcc { log_base: Some(2), ..plain() }, 500);
    assert_near(step(&mut sender, 1, 500, 399.0), 0.32);
}

#[test]
fn the_error_grows_without_bound() {
    // Eq. 16 at N = 500 (T_low 50 us, δ 0.04 Mb/s, R = 20 Mb/s), no gradient (w = 1/2): at 275 us
    // 500 * 225 / (50 * 225) = 10: 0.02 - 20 * 0.008 * 10 / 2 = -0.78.
    let second = Sqcc { adapt_t_low: false, ..plain() };
    assert_near(step(&mut fair(&second, 500), 1, 500, 275.0), 0.02 - 0.8);
    // Patched TIMELY's there: 225/50 = 4.5: 0.02 - 0.36.
    let patched = Sqcc { error: ErrorFunction::PatchedTimely, ..second.clone() };
    assert_near(step(&mut fair(&patched, 500), 1, 500, 275.0), 0.02 - 0.36);
    // At 490 us 500 * 440 / (50 * 10) = 440: β error w = 1.76 takes the whole rate, and the minimum stays.
    let mut high = fair(&second, 500);
    feed(&mut high, 1, 500, &[490.0]);
    assert_eq!(high.rate(), Rate::from_mbps(1));
    // T_high itself is TIMELY's branch, which cuts nothing there.
    assert_near(step(&mut fair(&second, 500), 1, 500, 500.0), 0.0);
    // 625 us: 20 * 0.008 * 0.2.
    assert_near(step(&mut fair(&second, 500), 1, 500, 625.0), -0.032);
}

#[test]
fn the_fixed_points_are_those_of_equation_17() {
    // q_low q_high (δ N + β C) / (δ N q_low + β C q_high) in times at C, with e = δ N / (β C):
    // T_low T_high (1 + e) / (T_high + e T_low). Table II's rows at N = 500:
    // e = 62.5: 437.93 us; e = 1/4: 31,250/512.5 = 60.976 us; k = 2, e = 1/2: 75,000/550 = 136.36 us.
    let rows = [
        (error_only(), 25_000.0 * 63.5 / 3_625.0),
        (Sqcc { adapt_t_low: false, ..plain() }, 31_250.0 / 512.5),
        (plain(), 75_000.0 / 550.0),
    ];
    assert_eq!(rows.clone().map(|(_, rtt)| (rtt * 10.0_f64).round() / 10.0), [437.9, 61.0, 136.4]);
    for (params, rtt) in rows {
        let mut sender = fair(&params, 500);
        feed(&mut sender, 1, 500, &[rtt]);
        assert!(sender.rate().0.abs_diff(20_000_000) <= 10, "{rtt}: {}", sender.rate());
        assert!(step(&mut fair(&params, 500), 1, 500, rtt + 2.0) < 0.0);
        assert!(step(&mut fair(&params, 500), 1, 500, rtt - 2.0) > 0.0);
    }
}

#[test]
fn before_the_first_ack_nothing_adapts() {
    // Starts with C/(n + 1) of its own host, until told otherwise.
    let params = resolved(plain());
    assert_eq!(params.reaction(&env()).rate(), LINE);
    assert_eq!(params.reaction(&FlowEnv { active_flows: 4, ..env() }).rate(), Rate::from_gbps(2));
    assert_eq!(params.reaction(&env()).burst(), 0);
    let burst =
        resolved(serde_json::from_value(json!({ "pacing": "segment", "segment": "62.5KB" })).unwrap());
    assert_eq!(burst.reaction(&env()).burst(), 43 * PACKET); // 42.9 packets
}

#[test]
fn the_capacity_may_be_another_than_the_senders_line_rate() {
    let mut sender = fair(&Sqcc { capacity: Some(Rate::from_gbps(40)), ..plain() }, 40);
    assert_near(step(&mut sender, 1, 40, 20.0), 25.0);
}

#[test]
fn a_threshold_that_has_grown_to_the_upper_one_leaves_nothing_between_them() {
    // Base 2 at N = 1024: k = 10, T_low = 500 us = T_high. Below it steps of C k / N², 10e9 * 10 / 1024² = 95,367 b/s;
    // at 500 us TIMELY's cut begins with nothing, and at 625 us it is 0.008 * 0.2 of 9.765625 Mb/s, 15,625 b/s.
    let params = Sqcc { log_base: Some(2), ..plain() };
    for (rtt, moved) in [(499.0, 0.095367), (500.0, 0.0), (625.0, -0.015625)] {
        assert_near(step(&mut fair(&params, 1_024), 1, 1_024, rtt), moved);
    }
}

#[test]
fn an_undetermined_mark_holds_the_rate_while_the_gradient_is_positive() {
    let hold = Sqcc { undetermined: Undetermined::Hold, ..error_only() };
    assert!(resolved(hold.clone()).signals().ecn && !resolved(error_only()).signals().ecn);
    assert_eq!(AnyDetector::from(hold.detector()).name(), "tcd");
    let marked = |packet, rtt, mark| Ack { mark, ..ack_at(packet, 500, rtt) };
    // 51 us after 49: as in `without_adaptation_step_and_threshold_stay`, but the rate stays at 20 + 10 Mb/s.
    let mut sender = fair(&hold, 500);
    sender.on_ack(&marked(1, 49.0, Mark::Ue)); // below T_low it rises all the same
    sender.on_ack(&marked(2, 51.0, Mark::Ue));
    assert_eq!(sender.rate(), Rate::from_mbps(30));
    // Without the mark, with CE, and by default it moves.
    for (params, mark) in [(&hold, Mark::None), (&hold, Mark::Ce), (&error_only(), Mark::Ue)] {
        let mut sender = fair(params, 500);
        sender.on_ack(&marked(1, 49.0, mark));
        sender.on_ack(&marked(2, 51.0, mark));
        assert_ne!(sender.rate(), Rate::from_mbps(30), "{mark:?}");
    }
}

#[test]
fn defaults_that_depend_on_the_parts_are_filled_in() {
    let all = resolved(plain());
    assert_eq!((all.log_base, all.capacity, all.delta), (Some(10), Some(LINE), None));
    let none = resolved(error_only());
    assert_eq!((none.log_base, none.capacity, none.delta), (None, None, Some(Rate::from_mbps(10))));
    assert_eq!((all.validate(), none.validate()), (Ok(()), Ok(())));
}

#[test]
fn impossible_parameters_are_refused_by_key() {
    let cases = [
        ("alpha", json!({ "alpha": 0.0 })),
        ("beta", json!({ "beta": 1.5 })),
        ("t_low", json!({ "t_low": "0us" })),
        ("t_low", json!({ "t_high": "50us" })),
        ("min_rtt", json!({ "min_rtt": "20us", "base_min_rtt": true })),
        ("segment", json!({ "segment": "2MB" })),
        ("min_rate", json!({ "min_rate": "0bps" })),
        ("start", json!({ "initial_rate": "1Gbps", "start": "share" })),
        ("log_base", json!({ "log_base": 1 })),
        ("log_base", json!({ "log_base": 1_001 })),
        ("capacity", json!({ "capacity": "0bps" })),
        ("delta", json!({ "adapt_delta": false, "delta": "0bps" })),
        // What a part reads that is off.
        ("log_base", json!({ "adapt_t_low": false, "log_base": 10 })),
        ("capacity", json!({ "adapt_delta": false, "capacity": "10Gbps" })),
        ("delta", json!({ "delta": "10Mbps" })),
    ];
    for (key, params) in cases {
        let error = serde_json::from_value::<Sqcc>(params.clone()).expect("parses").validate().unwrap_err();
        assert_eq!(error.key, key, "{params}");
        assert!(!error.expected.is_empty(), "{error}");
    }
}

proptest! {
    /// Whatever comes, the rate is between the minimum and line rate.
    #[test]
    fn rates_stay_in_bounds(
        acks in prop::collection::vec((0.0f64..2_000.0, 0u16..2_000), 1..200),
        log_base in 2u32..12,
    ) {
        let mut sender = fair(&Sqcc { log_base: Some(log_base), ..plain() }, 10);
        for (packet, (rtt, flows)) in (1..).zip(acks) {
            feed(&mut sender, packet, flows, &[rtt]);
            prop_assert!(sender.rate() >= Rate::from_mbps(1) && sender.rate() <= LINE);
        }
    }
}
