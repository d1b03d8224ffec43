//! The registry: names, tags and documentation of every scheme.

use xoff_engine::{Rate, Time};
use xoff_schemes::{AnyScheme, NetworkEnv, registry};

#[test]
fn every_schemes_defaults_are_valid_before_and_after_resolution_and_survive_a_round_trip() {
    let env = NetworkEnv { line_rate: Rate::from_gbps(100), base_rtt: Time::from_us(13) };
    for name in AnyScheme::NAMES {
        let scheme = AnyScheme::read(name, serde_json::json!({})).unwrap().unwrap();
        assert_eq!(scheme.validate(), Ok(()), "{name}");
        let resolved = scheme.resolve(&env);
        assert_eq!(resolved.validate(), Ok(()), "{name}");
        let written = serde_json::to_value(&resolved).unwrap();
        assert_eq!(written["name"], **name);
        let back: AnyScheme = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&back).unwrap(), written);
    }
}

#[test]
fn every_parameter_is_documented() {
    for scheme in registry::catalogue() {
        let properties = scheme.schema["properties"].as_object().cloned().unwrap_or_default();
        let defaults = scheme.defaults.as_object().cloned().unwrap_or_default();
        assert_eq!(properties.len(), defaults.len(), "{}", scheme.name);
        for (key, schema) in properties {
            let text = schema["description"].as_str().unwrap_or_default();
            assert!(text.len() > 20, "{}.{key} lacks a description", scheme.name);
        }
    }
}

#[test]
fn unknown_parameters_are_refused() {
    for name in AnyScheme::NAMES {
        assert!(AnyScheme::read(name, serde_json::json!({ "no_such_key": 1 })).unwrap().is_err(), "{name}");
    }
}
