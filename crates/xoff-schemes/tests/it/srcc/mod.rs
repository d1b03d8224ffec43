//! SRCC against numbers worked by hand. A port at 100 Gb/s moves 12.5 B in a nanosecond, 50,000 B in the 4 us of a link;
//! the base RTT is 30 us, so that the time window is 90 us. Frames of 1,000 B.

mod sender;
mod switch;

use crate::common::flow_env;
use serde_json::{Value, json};
use xoff_engine::{Rate, Time};
use xoff_schemes::srcc::Srcc;
use xoff_schemes::{
    AnyScheme, Cnm, Cnp, EgressView, IngressView, Joining, Mark, ReactionPoint, Scheme, Sent, SwitchEnv,
    SwitchPoint,
};

const GBPS_100: Rate = Rate::from_gbps(100);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn ns(n: u64) -> Time {
    Time::from_ns(n)
}

fn params(value: Value) -> Srcc {
    let params: Srcc = serde_json::from_value(value).expect("parameters");
    assert_eq!(params.validate(), Ok(()));
    params
}

#[test]
fn marks_and_thresholds_are_asked_for_as_they_are_needed() {
    let dcqcn = params(json!({})).signals();
    assert!(dcqcn.switch_point && dcqcn.ecn && dcqcn.pause_threshold && !dcqcn.congestion_point);
    assert!(!params(json!({ "base": "none" })).signals().ecn);
    assert!(!params(json!({ "q_pfc": "500KB" })).signals().pause_threshold);
    let fixed = params(json!({ "threshold": "fixed", "fixed_threshold": "200KB" }));
    assert!(!fixed.signals().pause_threshold);
}

#[test]
fn parameters_without_a_meaning_are_refused() {
    for (value, key) in [
        (json!({ "threshold": "fixed" }), "threshold"),
        (json!({ "fixed_threshold": "1KB" }), "fixed_threshold"),
        (json!({ "threshold": "literal", "rate_time": "1us" }), "rate_time"),
        (json!({ "threshold": "fixed", "fixed_threshold": "1KB", "rate_time": "1us" }), "rate_time"),
        (json!({ "threshold": "fixed", "fixed_threshold": "1KB", "q_pfc": "1KB" }), "q_pfc"),
        (json!({ "threshold": "fixed", "fixed_threshold": "1KB", "floor": "1KB" }), "floor"),
        (json!({ "threshold": "fixed", "fixed_threshold": "1KB", "rtt_factor": 1.0 }), "rtt_factor"),
        (json!({ "threshold": "fixed", "fixed_threshold": "0B" }), "fixed_threshold"),
        (json!({ "q_pfc": "0B" }), "q_pfc"),
        (json!({ "floor": "0B" }), "floor"),
        (json!({ "rtt_factor": -1.0 }), "rtt_factor"),
        (json!({ "rate_time": "0us" }), "rate_time"),
        (json!({ "window_rtts": 0.0 }), "window_rtts"),
        (json!({ "cnm_interval": "0us" }), "cnm_interval"),
        (json!({ "flow_timeout": "0us" }), "flow_timeout"),
        (json!({ "target_timeout": "0us" }), "target_timeout"),
        (json!({ "rise_interval": "1us" }), "rise_interval"),
        (json!({ "base": "none", "rise_interval": "0us" }), "rise_interval"),
        (json!({ "base": "none", "dcqcn": {} }), "dcqcn"),
        (json!({ "base": "none", "composition": "cap" }), "composition"),
        (json!({ "count_rtts": 0.0 }), "count_rtts"),
        (json!({ "dcqcn": { "g": 2.0 } }), "dcqcn.g"),
    ] {
        let params: Srcc = serde_json::from_value(value.clone()).expect("parameters");
        let error = params.validate().expect_err("refused");
        assert_eq!(error.key, key, "{value}");
        assert!(!error.expected.is_empty(), "{error}");
    }
}

#[test]
fn it_is_in_the_registry_with_its_base() {
    let scheme = AnyScheme::read("srcc", json!({ "dcqcn": { "g": 0.01 } })).expect("known").expect("valid");
    let env = xoff_schemes::NetworkEnv { line_rate: GBPS_100, base_rtt: us(30) };
    let resolved = serde_json::to_value(scheme.resolve(&env)).expect("a table");
    assert_eq!(resolved["cnm_interval"], json!("30us"));
    assert_eq!(resolved["target_timeout"], json!("90us"));
    assert_eq!(resolved["dcqcn"]["g"], json!(0.01));
    assert_eq!(resolved["dcqcn"]["increase_timer"], json!("55us"));
    assert_eq!(resolved["rise_interval"], Value::Null);
}
