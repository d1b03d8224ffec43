//! TIMELY against numbers worked by hand from Algorithm 1 of SIGCOMM 2015 and what the authors' snippet adds.
//!
//! Throughout, C = 10 Gb/s, so that δ is 10 Mb/s; a segment is one packet of 1,456 B unless said otherwise, T_low
//! 50 us, T_high 500 us, D_minRTT 20 us, α 0.875 and β 0.8.

mod ns3_hpcc;
mod segment;

use crate::common::flow_env;
use proptest::prelude::*;
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::int::{IntStack, Records};
use xoff_schemes::timely::{Form, Timely, TimelySender, Undetermined};
use xoff_schemes::{Ack, AnyDetector, FlowEnv, Mark, NetworkEnv, ReactionPoint, Scheme};

const PACKET: u64 = 1_456;

const LINE: Rate = Rate::from_gbps(10);

fn env() -> FlowEnv {
    flow_env(LINE, Time::from_us(10))
}

fn resolved(params: Timely) -> Timely {
    params.resolve(&NetworkEnv { line_rate: LINE, base_rtt: Time::from_us(10) })
}

/// A packet at a time, from 1 Gb/s, without the scaling by time and without deduction.
fn plain() -> Timely {
    Timely {
        segment: Some(Bytes(PACKET)),
        time_scaling: Some(false),
        deduct_serialization: Some(false),
        initial_rate: Some(Rate::from_gbps(1)),
        ..Timely::default()
    }
}

fn sender(params: Timely) -> TimelySender {
    resolved(params).reaction(&env())
}

fn ack_at(now_us: f64, packets: u64, rtt_us: f64, mark: Mark) -> Ack<'static> {
    let us = |us: f64| Time((us * 1e6).round() as u64);
    Ack {
        now: us(now_us),
        seq: packets * PACKET,
        newly_acked: PACKET,
        snd_nxt: (packets + 10) * PACKET,
        packet: packets - 1,
        next_packet: packets + 10,
        rtt: Some(us(rtt_us)),
        mark,
        flow_count: 0,
        label: 0,
        int: IntStack { records: Records::Exact(&[]), ..IntStack::default() },
    }
}

#[track_caller]
fn assert_mbps(sender: &TimelySender, mbps: f64) {
    let found = sender.rate().0 as f64 / 1e6;
    assert!((found - mbps).abs() < 1e-6, "{found} instead of {mbps} Mb/s");
}

#[test]
fn a_flow_starts_with_its_share_of_the_nic() {
    // C/(n + 1) with n flows under way: alone 10 Gb/s, beside three others 2.5 Gb/s.
    let params = resolved(Timely::default());
    assert_eq!(params.reaction(&env()).rate(), LINE);
    assert_eq!(params.reaction(&FlowEnv { active_flows: 3, ..env() }).rate(), Rate::from_mbps(2_500));
    let line = resolved(serde_json::from_value(json!({ "start": "line" })).unwrap());
    assert_eq!(line.reaction(&FlowEnv { active_flows: 3, ..env() }).rate(), LINE);
    assert_eq!(sender(plain()).rate(), Rate::from_gbps(1));
    let low = Timely { initial_rate: Some(Rate::from_mbps(1)), ..Timely::default() };
    assert_eq!(sender(low).rate(), Rate::from_mbps(100)); // the minimum rate
    assert_eq!(sender(plain()).window(), u64::MAX);
}

fn another(params: Timely) -> TimelySender {
    sender(params)
}

#[test]
fn a_window_follows_the_rate_where_it_is_asked_for() {
    // 10 Gb/s x 10 us = 12,500 B at line rate, 1,250 B at 1 Gb/s.
    assert_eq!(sender(Timely { window: true, ..plain() }).window(), 1_250);
    assert_eq!(sender(Timely { window: true, initial_rate: None, ..plain() }).window(), 12_500);
}

#[test]
fn impossible_parameters_are_refused_by_key() {
    let cases = [
        ("alpha", json!({ "alpha": 0.0 })),
        ("alpha", json!({ "alpha": 1.5 })),
        ("beta", json!({ "beta": 0.0 })),
        ("beta", json!({ "beta": 2.5 })),
        ("t_low", json!({ "t_low": "500us" })),
        ("min_rtt", json!({ "min_rtt": "0us" })),
        ("min_rtt", json!({ "min_rtt": "20us", "base_min_rtt": true })),
        ("delta", json!({ "delta": "0bps" })),
        ("hai_factor", json!({ "hai_factor": 0.5 })),
        ("least_factor", json!({ "least_factor": 1.5 })),
        ("min_rate", json!({ "min_rate": "0bps" })),
        ("initial_rate", json!({ "initial_rate": "0bps" })),
        ("start", json!({ "initial_rate": "1Gbps", "start": "line" })),
        ("segment", json!({ "segment": "0B" })),
        ("segment", json!({ "segment": "2MB" })),
        ("segment", json!({ "form": "ns3_hpcc", "segment": "16KB" })),
        ("pacing", json!({ "form": "ns3_hpcc", "pacing": "packet" })),
        ("time_scaling", json!({ "form": "ns3_hpcc", "time_scaling": true })),
        ("deduct_serialization", json!({ "form": "ns3_hpcc", "deduct_serialization": true })),
        ("undetermined", json!({ "form": "ns3_hpcc", "undetermined": "hold" })),
    ];
    for (key, params) in cases {
        let error = serde_json::from_value::<Timely>(params.clone()).expect("parses").validate().unwrap_err();
        assert_eq!(error.key, key, "{params}");
        assert!(!error.expected.is_empty(), "{error}");
    }
    for form in ["segment", "ns3_hpcc"] {
        let params: Timely = serde_json::from_value(json!({ "form": form })).unwrap();
        assert_eq!(resolved(params).validate(), Ok(()), "{form}");
    }
}

#[test]
fn what_is_left_open_resolves_to_the_documented_defaults() {
    // 10 Mb/s for each 10 Gb/s of line rate. The form of HPCC's simulator has no use for segments. The base RTT is each flow's own,
    // so that it takes the place of `min_rtt`; an initial rate takes that of `start`.
    let open = |params: serde_json::Value| {
        let found = resolved(serde_json::from_value(params).expect("parses"));
        assert_eq!(found.validate(), Ok(()));
        let found = serde_json::to_value(found).expect("written");
        let keys = ["min_rtt", "delta", "least_factor", "start", "segment", "pacing", "time_scaling"];
        let more = ["deduct_serialization", "undetermined"];
        keys.iter().chain(&more).map(|key| found[key].clone()).collect::<serde_json::Value>()
    };
    let segments = json!(["20us", "10Mbps", 0.5, "share", "16KB", "segment", true, true, "cut"]);
    assert_eq!(open(json!({})), segments);
    let simulator = json!(["20us", "10Mbps", 0.0, "line", null, null, null, null, null]);
    assert_eq!(open(json!({ "form": "ns3_hpcc" })), simulator);
    let given = open(json!({ "base_min_rtt": true, "initial_rate": "1Gbps" }));
    assert_eq!((&given[0], &given[3]), (&json!(null), &json!(null)));
}

fn ns3() -> Timely {
    Timely { form: Form::Ns3Hpcc, initial_rate: Some(Rate::from_gbps(1)), ..Timely::default() }
}
