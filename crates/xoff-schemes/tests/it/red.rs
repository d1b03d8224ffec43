//! RED: nothing up to K_min, P_max (q - K_min)/(K_max - K_min) up to K_max, everything above.

use crate::common;
use proptest::prelude::*;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::detector::fecn::Fecn;
use xoff_schemes::detector::np_ecn::{NpEcn, Rule};
use xoff_schemes::detector::red::{Red, RedAtRate, RedMarker};
use xoff_schemes::detector::tcd::Tcd;
use xoff_schemes::{AnyDetector, Detector, DetectorParams, Mark, PacketView, PortEnv, QueueView, detector};

fn port_env(gbps: u64) -> PortEnv {
    PortEnv { payload: 1_456, frame: 1_518, ..common::port_env(Rate::from_gbps(gbps), Time::from_ns(1_500)) }
}

fn mark(marker: &mut RedMarker, bytes: u64) -> Mark {
    marker.on_dequeue(&QueueView { now: Time::ZERO, bytes }, &PacketView { flow: 0, bytes: 1_518 })
}

fn red(k_min: u64, k_max: u64, p_max: f64) -> Red {
    Red { k_min: Some(Bytes(k_min)), k_max: Some(Bytes(k_max)), p_max, ..Red::default() }
}

#[test]
fn defaults_follow_the_ports_rate() {
    // 100 KB and 400 KB for each 25 Gb/s: 400 KB and 1,600 KB at 100 Gb/s, 160 KB and 640 KB at 40 Gb/s.
    for (gbps, k_min, k_max) in [(25, 100_000, 400_000), (40, 160_000, 640_000), (100, 400_000, 1_600_000)] {
        // With P_max = 1 the last byte up to K_max is marked all but always, and none up to K_min.
        let mut marker = Red { p_max: 1.0, ..Red::default() }.detector(&port_env(gbps));
        assert!((0..1_000).all(|_| mark(&mut marker, k_min) == Mark::None));
        let just_above = (0..1_000).filter(|_| mark(&mut marker, k_min + 1) == Mark::Ce).count();
        assert!(just_above < 10); // 1 in 300,000 or fewer
        assert!((0..1_000).all(|_| mark(&mut marker, k_max) == Mark::Ce));
        let mut marker = Red { p_max: 0.0, ..Red::default() }.detector(&port_env(gbps));
        assert!((0..1_000).all(|_| mark(&mut marker, k_max) == Mark::None));
        assert_eq!(mark(&mut marker, k_max + 1), Mark::Ce);
    }
}

#[test]
fn between_the_thresholds_the_probability_is_linear() {
    // 5 KB, 200 KB, 0.2: a quarter of the way 0.05, half 0.1. Of 100,000 packets 5,000 and 10,000, give or take
    // five standard deviations, sqrt(n p (1 - p)) = 69 and 95.
    let mut marker = red(5_000, 205_000, 0.2).detector(&port_env(40));
    for (bytes, expected, deviation) in [(55_000, 5_000, 69), (105_000, 10_000, 95)] {
        let marked = (0..100_000).filter(|_| mark(&mut marker, bytes) == Mark::Ce).count();
        assert!(marked.abs_diff(expected) <= 5 * deviation, "{marked} instead of {expected}");
    }
}

#[test]
fn equal_thresholds_are_a_step() {
    let mut marker = red(30_000, 30_000, 0.5).detector(&port_env(10));
    assert_eq!(mark(&mut marker, 30_000), Mark::None);
    assert_eq!(mark(&mut marker, 30_001), Mark::Ce);
}

#[test]
fn an_empty_queue_is_of_no_concern() {
    // Switches do not ask RED about packets that pass an idle port. With K_min = 0 the queue's 0 B are not above K_min:
    // no mark, and no random number, so that the packets behind 500 B, half of K_max, get the same marks as without them.
    const { assert!(!Red::SEES_EMPTY_QUEUES) };
    let (mut asked, mut spared) = [(); 2].map(|()| red(0, 1_000, 1.0).detector(&port_env(10))).into();
    for packet in 0..1_000 {
        assert_eq!(mark(&mut asked, 0), Mark::None);
        assert_eq!(mark(&mut asked, 500), mark(&mut spared, 500), "packet {packet}");
    }
    assert_eq!(mark(&mut red(0, 0, 1.0).detector(&port_env(10)), 0), Mark::None);
}

#[test]
fn a_step_scales_with_the_ports_rate() {
    // 30 KB for each 10 Gb/s: 75 KB at 25 Gb/s, 300 KB at 100 Gb/s.
    let params = Red::step(Bytes(30_000));
    assert_eq!(params.validate(), Ok(()));
    for (gbps, k) in [(10, 30_000), (25, 75_000), (100, 300_000)] {
        let mut marker = params.detector(&port_env(gbps));
        assert_eq!(mark(&mut marker, k), Mark::None);
        assert_eq!(mark(&mut marker, k + 1), Mark::Ce);
    }
}

#[test]
fn a_step_stands_alone() {
    let message = |red: Red| red.validate().expect_err("refused").to_string();
    let step = || Red::step(Bytes(30_000));
    assert_eq!(message(Red::step(Bytes(0))), "`step` is zero: expected a size such as \"10MB\"");
    let beside = Red { k_min: Some(Bytes(1)), k_max: Some(Bytes(2)), ..step() };
    assert_eq!(message(beside), "`k_min` beside `step`: expected one of the two");
    assert!(message(Red { p_max: 0.5, ..step() }).contains("`p_max` beside `step`"));
    let at = RedAtRate { rate: Rate::from_gbps(10), k_min: Bytes(1), k_max: Bytes(2), p_max: None };
    assert!(message(Red { rates: vec![at], ..step() }).contains("`rates` beside `step`"));
}

#[test]
fn random_numbers_are_drawn_between_the_thresholds_only() {
    let params = red(5_000, 205_000, 1.0);
    let (mut plain, mut disturbed) = (params.detector(&port_env(40)), params.detector(&port_env(40)));
    let mut seen = [0, 0];
    for _ in 0..200 {
        mark(&mut disturbed, 5_000);
        mark(&mut disturbed, 205_001);
        let (a, b) = (mark(&mut plain, 105_000), mark(&mut disturbed, 105_000));
        assert_eq!(a, b);
        seen[usize::from(a == Mark::Ce)] += 1;
    }
    assert!(seen[0] > 0 && seen[1] > 0);
}

#[test]
fn parameters_out_of_range_are_refused_by_key() {
    let key = |params: Red| params.validate().unwrap_err().key;
    assert_eq!(key(red(2, 1, 0.2)), "k_min");
    assert_eq!(key(red(1, 2, 1.5)), "p_max");
    assert_eq!(key(red(1, 2, f64::NAN)), "p_max");
    assert_eq!(key(Red { k_min: Some(Bytes(1)), ..Red::default() }), "k_min");
    assert_eq!(key(Red { k_max: Some(Bytes(1)), ..Red::default() }), "k_max");
    assert_eq!(red(1, 1, 1.0).validate(), Ok(()));
    assert_eq!(Red::default().validate(), Ok(()));
}

fn at_rate(gbps: u64, k_min: u64, k_max: u64, p_max: Option<f64>) -> RedAtRate {
    RedAtRate { rate: Rate::from_gbps(gbps), k_min: Bytes(k_min), k_max: Bytes(k_max), p_max }
}

#[test]
fn each_rate_has_its_own_thresholds() {
    // 400 KB and 1,600 KB at 100 Gb/s with a probability of its own, 1 at the end; 1,600 KB and 6,400 KB at 400 Gb/s
    // with the detector's, 0.
    let rates = vec![at_rate(100, 400_000, 1_600_000, Some(1.0)), at_rate(400, 1_600_000, 6_400_000, None)];
    let red = Red { p_max: 0.0, rates, ..Red::default() };
    assert_eq!(red.validate(), Ok(()));
    for (gbps, k_min, k_max, at_k_max) in
        [(100, 400_000, 1_600_000, Mark::Ce), (400, 1_600_000, 6_400_000, Mark::None)]
    {
        let mut marker = red.detector(&port_env(gbps));
        assert_eq!(mark(&mut marker, k_min), Mark::None);
        assert_eq!(mark(&mut marker, k_max), at_k_max);
        assert_eq!(mark(&mut marker, k_max + 1), Mark::Ce);
        assert_eq!(red.accepts(Rate::from_gbps(gbps)), Ok(()));
    }
    let refused = red.accepts(Rate::from_gbps(40)).unwrap_err();
    assert_eq!(refused.key, "rates");
    assert_eq!(refused.to_string(), "`rates` has no entry for 40Gbps: expected one beside 100Gbps, 400Gbps");
    assert_eq!(Red::default().accepts(Rate::from_gbps(40)), Ok(()));
}

#[test]
fn thresholds_by_rate_that_make_no_sense_are_refused() {
    let message = |red: Red| red.validate().unwrap_err().to_string();
    let rates = |rates: Vec<RedAtRate>| Red { rates, ..Red::default() };
    let one = || at_rate(100, 1, 2, Some(0.5));
    assert!(message(rates(vec![one(), one()])).starts_with("`rates` has 100Gbps twice"));
    assert!(message(rates(vec![at_rate(100, 2, 1, None)])).contains("`k_min` 2B at 100Gbps"));
    assert!(message(rates(vec![at_rate(100, 1, 2, Some(1.5))])).contains("`p_max` 1.5 at 100Gbps"));
    assert!(message(Red { rates: vec![one()], ..red(1, 2, 0.2) }).contains("`k_min` beside `rates`"));
    // One that no rate would use.
    assert!(
        message(Red { rates: vec![one()], p_max: 0.3, ..Red::default() }).contains("`p_max` has no effect")
    );
    assert_eq!(rates(vec![one(), at_rate(400, 1, 1, None)]).validate(), Ok(()));
}

#[test]
fn it_is_found_by_name_and_refuses_unknown_keys() {
    let read =
        |text: &str| AnyDetector::read("red", serde_json::from_str::<serde_json::Value>(text).unwrap());
    let found = read(r#"{ "k_min": "5KB", "k_max": "200KB", "p_max": 0.01 }"#).unwrap().unwrap();
    assert_eq!((found.name(), found.validate()), ("red", Ok(())));
    assert!(read(r#"{ "kmin": "5KB" }"#).unwrap().is_err());
    assert!(AnyDetector::read("blue", serde_json::json!({})).is_none());
    assert_eq!(detector::catalogue()[0].name, "red");
    // The tag under which it is written is its name.
    assert_eq!(serde_json::to_value(&found).unwrap()["name"], "red");
}

#[test]
fn a_detector_that_marks_by_red_says_so() {
    let own = || red(5_000, 6_000, 0.5);
    let tcd = |red| AnyDetector::Tcd(Tcd { red, ..Tcd::default() });
    let np_ecn = |rule, red| AnyDetector::NpEcn(NpEcn { rule, red });
    assert_eq!(AnyDetector::Red(own()).red(), Some(own()));
    assert_eq!(np_ecn(Rule::Red, Some(own())).red(), Some(own()));
    assert_eq!(np_ecn(Rule::Red, None).red(), Some(Red::default()));
    assert_eq!(np_ecn(Rule::Backlog, None).red(), None);
    assert_eq!((tcd(Some(own())).red(), tcd(None).red()), (Some(own()), None));
    assert_eq!(AnyDetector::Fecn(Fecn::default()).red(), None);
}

proptest! {
    #[test]
    fn outside_of_the_thresholds_nothing_is_left_to_chance(k_min in 0u64..1_000_000, width in 0u64..1_000_000, q: u32) {
        let q = u64::from(q) % 3_000_000;
        let mut marker = red(k_min, k_min + width, 0.5).detector(&port_env(100));
        let marked = mark(&mut marker, q);
        if q <= k_min {
            prop_assert_eq!(marked, Mark::None);
        } else if q > k_min + width {
            prop_assert_eq!(marked, Mark::Ce);
        }
    }
}

#[test]
fn detectors_say_up_to_which_length_they_mark_nothing() {
    // At 100 Gb/s: RED's K_min, 400 KB, or where P_max is 0, K_max, 1,600 KB; NP-ECN marks every queue, or by its RED; TCD goes by RED.
    let env = port_env(100);
    let cases: [(AnyDetector, u64); 5] = [
        (Red::default().into(), 400_000),
        (red(5_000, 200_000, 0.2).into(), 5_000),
        (red(5_000, 200_000, 0.0).into(), 200_000),
        (NpEcn { rule: Rule::Red, red: None }.into(), 400_000),
        (NpEcn { rule: Rule::Red, red: Some(red(7_000, 7_000, 1.0)) }.into(), 7_000),
    ];
    let others: [AnyDetector; 3] = [NpEcn::default().into(), Fecn::default().into(), Tcd::default().into()];
    for (params, bytes) in &cases {
        assert_eq!(params.detector(&env).unmarked_bytes(), Some(*bytes));
    }
    for params in cases.iter().map(|(params, _)| params).chain(&others) {
        let mut marker = params.detector(&env);
        let bytes = marker.unmarked_bytes().expect("each of these says so");
        let packet = PacketView { flow: 0, bytes: 1_518 };
        let view = |bytes| QueueView { now: Time::ZERO, bytes };
        assert!(!marker.is_by_chance(&view(bytes)));
        assert!((0..100).all(|_| marker.on_dequeue(&view(bytes), &packet) == Mark::None), "{params:?}");
        let marks = (0..100).any(|_| marker.on_dequeue(&view(bytes + 1), &packet) != Mark::None);
        assert!(marks || marker.is_by_chance(&view(bytes + 1)), "{params:?}: nor one byte more");
    }
}
