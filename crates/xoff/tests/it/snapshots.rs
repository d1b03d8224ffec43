//! One table a scheme and small scenario: what each flow and the network as a whole came to, and the fingerprint of the
//! sequence of events. A change of any line is a change of the model: it must be meant, and named in the changelog.
//!
//! `INSTA_UPDATE=always cargo test -p xoff --test it snapshots` writes the tables anew, for `git diff` to show.

use std::fmt::Write;

use crate::common::{count, floats, load, names, numbers, run, scheme_keys, table, total};
use xoff::Output;
use xoff_schemes::AnyScheme;

/// Small scenarios whose flows all complete.
const SCENARIOS: &[(&str, &[(&str, &str)])] = &[
    ("dumbbell", &[("traffic.0.size", "5MB"), ("traffic.1.size", "1MB"), ("run.duration", "10ms")]),
    ("incast", &[("traffic.0.senders", "8"), ("traffic.0.size", "200KB")]),
    ("fat_tree_permutation", &[("topology.k", "4"), ("traffic.0.size", "500KB")]),
];

fn text(output: &Output) -> String {
    let flows = table(output, "flows");
    let (src, dst) = (names(flows, "src"), names(flows, "dst"));
    let (fct, cnps, marks) = (numbers(flows, "fct_ps"), numbers(flows, "cnps"), numbers(flows, "marked_ce"));
    let slowdown = floats(flows, "slowdown");
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{}", line.trim_end()).expect("a string takes any text");
    for (name, value) in [
        ("packet hops", count(output, "packet_hops")),
        ("events", count(output, "events")),
        ("end, ps", count(output, "sim_time_ps")),
        ("PAUSE frames", total(output, "ports", "pause_frames_sent")),
        ("paused, ps", total(output, "ports", "paused_ps")),
        (
            "longest queue, B",
            numbers(table(output, "ports"), "max_queue_bytes").into_iter().max().unwrap_or(0),
        ),
        ("marked at ports", total(output, "ports", "marked_ce")),
        ("switch messages", count(output, "switch_messages")),
    ] {
        line(format!("{name:<18} {value:>14}"));
    }
    line(format!("{:<18} {:>14}", "fingerprint", output.manifest["fingerprint"].as_str().unwrap_or("")));
    line(String::new());
    line(format!(
        "{:<10} {:<10} {:>12} {:>9} {:>7} {:>6}",
        "src", "dst", "fct, ps", "slowdown", "marked", "CNPs"
    ));
    for i in 0..flows.num_rows() {
        let slow = slowdown[i].unwrap_or(f64::NAN);
        let (src, dst, fct, marks, cnps) = (&src[i], &dst[i], fct[i], marks[i], cnps[i]);
        line(format!("{src:<10} {dst:<10} {fct:>12} {slow:>9.4} {marks:>7} {cnps:>6}"));
    }
    text
}

/// Compares a run with its table in `tests/snapshots`.
fn check(name: &str, output: &Output) {
    let mut settings = insta::Settings::clone_current();
    // By default a table's place and name follow from those of the test's module.
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(format!("snapshots__{name}"), text(output)));
}

#[test]
fn credits_on_small_scenarios() {
    for scheme in ["none", "hpcc", "dcqcn"] {
        let output = run(&load("hpc_credits", &[("traffic.0.size", "300KB"), ("scheme.name", scheme)]));
        check(&format!("hpc_credits@{scheme}"), &output);
        // INT has no code for 160 Gbps but in full.
        let set = [("run.duration", "1ms"), ("scheme.name", scheme), ("packets.int_format", "exact")];
        let sizes: Vec<_> = (0..6).map(|i| (format!("traffic.{i}.size"), "100KB")).collect();
        let sizes = sizes.iter().map(|(key, value)| (key.as_str(), *value));
        let output = run(&load("infiniband_victim", &sizes.chain(set).collect::<Vec<_>>()));
        check(&format!("infiniband_victim@{scheme}"), &output);
    }
}

#[test]
fn every_scheme_on_small_scenarios() {
    for (name, set) in SCENARIOS {
        for scheme in AnyScheme::NAMES {
            let output = run(&load(name, &[*set, &scheme_keys(scheme)].concat()));
            check(&format!("{name}@{scheme}"), &output);
        }
    }
}
