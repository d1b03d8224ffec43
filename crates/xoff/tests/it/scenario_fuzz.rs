//! Whatever is written, reading a scenario ends with a scenario or a message, never with a panic.

use proptest::collection::vec;
use proptest::prelude::*;
use xoff::Scenario;

const FULL: &str = r#"title = "all tables"
seed = 3
lossy = false

[run]
duration = "20us"
stop = "time"

[topology]
name = "fat_tree"
k = 4
rate = "100Gbps"

[routing]
name = "spanning_trees"
trees = 2
roots = ["core0"]

[scheme]
name = "dcqcn"

[detector]
name = "red"

[packets]
payload = "1000B"

[host]
ack_every = 2

[switch]
priorities = 2
buffer = "32MB"

[flow_control]
name = "pfc"
alpha = 0.125

[[traffic]]
pattern = "incast"
senders = "host1..host3"
receiver = "host0"
size = "64KB"
label = "burst"

[[traffic]]
pattern = "flow"
src = "host4"
dst = "host5"
priority = 1

[record]
interval = "1us"
queues = ["edge0->host0"]
rates = ["burst"]

[sweep]
"scheme.name" = ["dcqcn", "none"]
list = [{ "traffic.0.label" = "a" }, { seed = 3 }]
sample = 2
sample_seed = 1
"host.processing_delay" = { from = "1us", to = "2us", steps = 3, log = true }

[tune]
objective = ["slowdown_p99"]
budget = { pause_frames = 10 }
trials = 10
seeds = [1, 2]

[tune.keys]
"host.processing_delay" = { from = "1us", to = "2us" }
lossy = [true, false]
"#;

/// Values that somebody might write, most of them wrong where they end up.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "255",
    "65536",
    "4294967296",
    "18446744073709551616",
    "1e308",
    "-0.0",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\"x\"",
    "\"all\"",
    "\"none\"",
    "\"host0\"",
    "\"hostile\"",
    "\"1us\"",
    "\"0ps\"",
    "\"18446744s\"",
    "\"1Gbps\"",
    "\"3.7Gbps\"",
    "\"0bps\"",
    "\"1B\"",
    "\"0B\"",
    "\"18446744073709551615B\"",
    "[]",
    "[[]]",
    "{}",
    "[{}]",
    "[\"host0\", 3]",
    "1979-05-27",
    "{ name = \"none\" }",
    "\"ecmp\"",
    "\"graph\"",
    "\"pfc\"",
    "\"fncc\"",
    "\"hpcc\"",
    "\"rocc\"",
    "\"red\"",
    "\"\u{0}\u{1b}[2J\"",
    "\"\u{202e}\u{1f3f3}\"",
];

/// The message if it is refused.
fn try_it(text: &str, set: &[(String, String)]) -> Option<String> {
    Scenario::parse(text, "fuzz.toml", set).err().map(|e| {
        let message = e.to_string();
        assert!(message.starts_with("error: "), "{message:?}");
        assert!(message.contains("--> "), "{message:?}");
        assert!(!message.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{message:?}");
        message
    })
}

/// Keys of the scenario above.
fn key_names() -> Vec<String> {
    let mut keys: Vec<String> = xoff::scenario::keys().iter().map(|k| k.path.replace("[]", ".0")).collect();
    keys.extend(
        ["traffic.1.size", "traffic.9.size", "a.b.c", "", ".", "seed.x", "topology", "scheme"]
            .map(String::from),
    );
    keys
}

#[test]
fn the_scenario_to_mutate_is_a_good_one() {
    assert_eq!(try_it(FULL, &[]), None);
}

#[test]
fn deep_nesting_is_refused() {
    for deep in [
        format!("{}x = 1", "a.".repeat(100_000)),
        format!("[{}x]", "a.".repeat(100_000)),
        format!("x = {{ {}x = 1 }}", "a.".repeat(100_000)),
        format!("x = {}", "[".repeat(100_000)),
        format!("x = {}", "{ x = ".repeat(100_000)),
        "[[a]]\n".repeat(10_000),
    ] {
        assert!(try_it(&deep, &[]).is_some());
    }
    let key = vec!["a"; 100_000].join(".");
    assert!(try_it(FULL, &[(key, "1".into())]).is_some());
    assert!(try_it(FULL, &[("x".into(), "[".repeat(100_000))]).is_some());
    assert!(try_it(FULL, &[("x".into(), format!("{{ {}x = 1 }}", "a.".repeat(100_000)))]).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..400)) {
        try_it(&String::from_utf8_lossy(&bytes), &[]);
    }

    #[test]
    fn any_text_that_looks_like_toml(text in "[\\[\\]{}=.,\"'#a-c0-9 \n\t\u{e4}-]{0,200}") {
        try_it(&text, &[]);
    }

    #[test]
    fn good_scenarios_with_bytes_replaced(
        edits in vec((0..FULL.len(), 0usize..8, "[\\[\\]{}=.,\"#a-z0-9 \n]{0,6}"), 1..4),
    ) {
        let mut text = FULL.to_string();
        for (at, length, new) in edits {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.replace_range(at..end, &new);
        }
        try_it(&text, &[]);
    }

    #[test]
    fn good_scenarios_with_lines_moved(from in 0usize..60, to in 0usize..60, twice: bool) {
        let mut lines: Vec<&str> = FULL.lines().collect();
        let line = lines[from % lines.len()];
        if !twice {
            lines.remove(from % lines.len());
        }
        lines.insert(to % lines.len(), line);
        try_it(&lines.join("\n"), &[]);
    }

    #[test]
    fn good_scenarios_with_any_values_set(
        pairs in vec((proptest::sample::select(key_names()), proptest::sample::select(VALUES)), 1..4),
    ) {
        let set: Vec<_> = pairs.into_iter().map(|(k, v)| (k, v.to_string())).collect();
        try_it(FULL, &set);
    }

    #[test]
    fn any_override(key in ".{0,20}", value in ".{0,20}") {
        try_it(FULL, &[(key, value)]);
    }
}
