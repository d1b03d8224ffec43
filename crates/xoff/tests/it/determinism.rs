//! The same scenario and seed give the same bytes; another seed gives others where anything is drawn; and looking
//! changes nothing.

use crate::common::{count, load, run, table};
use arrow_array::RecordBatch;
use serde_json::Value;
use xoff::{Output, Scenario};

type Set = &'static [(&'static str, &'static str)];

/// Scenarios that between them draw for arrivals and sizes, routes, marks and pairs, and every scheme.
const CASES: &[(&str, Set)] = &[
    ("dumbbell", &[("scheme.name", "rocc")]),
    ("incast", &[("scheme.name", "dcqcn")]),
    ("incast", &[("scheme.name", "dctcp")]),
    ("incast", &[("scheme.name", "dctcp"), ("scheme.form", "rate")]),
    ("incast", &[("scheme.name", "swift")]),
    ("incast", &[("scheme.name", "sqcc"), ("traffic.0.spread", "10us"), ("traffic.0.size", "200KB")]),
    ("incast", &[("scheme.name", "timely"), ("traffic.0.size", "200KB")]),
    ("incast", &[("scheme.name", "dcqcn"), ("detector.name", "tcd"), ("record.marks", "true")]),
    ("incast", &[("scheme.name", "ib_cc"), ("scheme.becn", "cnp")]),
    ("incast", &[("scheme.name", "ib_cc"), ("detector.name", "tcd"), ("flow_control.xoff", "100KB")]),
    ("leaf_spine_hadoop", &[("traffic.0.stop", "300us")]),
    ("fat_tree_permutation", &[("traffic.0.size", "500KB")]),
    ("spanning_trees", &[("scheme.name", "dcqcn"), ("traffic.0.size", "500KB")]),
    ("lossy", &[]),
    ("two_priorities", &[("scheme.name", "none")]),
];

/// What must be the same: the manifest without what the clock says, and every table.
fn outcome(output: &Output) -> (Value, Vec<(&'static str, RecordBatch)>) {
    let mut manifest = output.manifest.clone();
    let keys = manifest.as_object_mut().expect("an object");
    assert!(keys.remove("wall_s").is_some() && keys.remove("setup_s").is_some());
    (manifest, output.tables.iter().map(|t| (t.name, t.batch.clone())).collect())
}

fn fingerprint(output: &Output) -> &str {
    output.manifest["fingerprint"].as_str().expect("a fingerprint")
}

#[test]
fn the_same_scenario_and_seed_give_the_same_bytes() {
    for (name, set) in CASES {
        let first = outcome(&run(&load(name, set)));
        let second = outcome(&run(&load(name, set)));
        assert!(first == second, "{name} {set:?}");
        assert!(first.1.iter().any(|(_, batch)| batch.num_rows() > 0));
    }
}

#[test]
fn a_manifest_is_enough_to_run_it_again() {
    for (name, set) in CASES {
        let scenario = load(name, set);
        let first = outcome(&run(&scenario));
        let text = toml::to_string(&scenario).expect("a scenario is TOML");
        let again = Scenario::parse(&text, "again.toml", &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(first == outcome(&run(&again)), "{name} {set:?}");
    }
}

#[test]
fn another_seed_gives_another_run_where_anything_is_drawn() {
    let with_seed =
        |name: &str, set: Set, seed: &'static str| run(&load(name, &[set, &[("seed", seed)]].concat()));
    let draws: &[(&str, Set)] = &[
        ("leaf_spine_hadoop", &[("traffic.0.stop", "300us")]),
        ("fat_tree_permutation", &[("traffic.0.size", "500KB")]),
        ("incast", &[("scheme.name", "dcqcn")]),
    ];
    for (name, set) in draws {
        let (one, two) = (with_seed(name, set, "1"), with_seed(name, set, "2"));
        assert_ne!(fingerprint(&one), fingerprint(&two), "{name}");
        assert_ne!(table(&one, "flows"), table(&two, "flows"), "{name}");
    }
    // One path, no marks, no arrivals: nothing is drawn.
    let (one, two) = (with_seed("dumbbell", &[], "1"), with_seed("dumbbell", &[], "2"));
    assert_eq!(fingerprint(&one), fingerprint(&two));
}

#[test]
fn what_is_recorded_changes_nothing_of_what_happens() {
    for (name, set) in CASES {
        let blind: &[(&str, &str)] = &[
            ("record.queues", "none"),
            ("record.rates", "false"),
            ("record.utilization", "false"),
            ("record.pauses", "false"),
            ("record.notifications", "false"),
            ("record.marks", "false"),
        ];
        let (watched, unwatched) = (run(&load(name, set)), run(&load(name, &[*set, blind].concat())));
        for key in ["packet_hops", "sim_time_ps", "flows_done", "dropped_packets"] {
            assert_eq!(count(&watched, key), count(&unwatched, key), "{name}: {key}");
        }
        assert_eq!(table(&watched, "flows"), table(&unwatched, "flows"), "{name}");
        assert_eq!(table(&watched, "ports"), table(&unwatched, "ports"), "{name}");
        assert_eq!(table(&unwatched, "queues").num_rows(), 0);
    }
}
