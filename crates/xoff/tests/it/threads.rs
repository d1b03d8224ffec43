//! A run on several threads gives the same bytes as on one: manifest, tables, errors.

use crate::common::{self, is_of_uet, load};
use arrow_array::RecordBatch;
use serde_json::Value;
use xoff::{Output, RunError, Scenario, Threads, run_on};
use xoff_fabric::topology::AnyTopology;
use xoff_schemes::AnyScheme;

type Set<'a> = &'a [(&'a str, &'a str)];

/// Everything that can be recorded.
const RECORD: Set<'static> = &[
    ("record.interval", "2us"),
    ("record.queues", "all"),
    ("record.rates", "all"),
    ("record.utilization", "true"),
    ("record.roots", "true"),
    ("record.marks", "true"),
    ("record.breakdown", "true"),
    ("record.packets", "all"),
];

/// What must be the same: the manifest without what clock and threads say, and every table.
fn outcome(output: &Output) -> (Value, Vec<(&'static str, RecordBatch)>) {
    let mut manifest = output.manifest.clone();
    let keys = manifest.as_object_mut().expect("an object");
    assert!(["wall_s", "setup_s", "threads"].iter().all(|key| keys.remove(*key).is_some()));
    (manifest, output.tables.iter().map(|t| (t.name, t.batch.clone())).collect())
}

fn on(threads: u32, scenario: &Scenario) -> Result<Output, RunError> {
    run_on(Threads::UpTo(threads), scenario, &mut |_| true)
}

/// Runs on 1, 2, 3 and 8 threads, of which the network can use `parts`.
fn same_on_all(scenario: &Scenario, parts: u64, what: &str) -> Output {
    let one = on(1, scenario).unwrap_or_else(|e| panic!("{what}: {e}"));
    let expected = outcome(&one);
    for threads in [2, 3, 8] {
        let several = on(threads, scenario).unwrap_or_else(|e| panic!("{what}: {e}"));
        let used = several.manifest["threads"].as_u64().expect("a number");
        let least = if threads < 8 { parts.min(threads.into()) } else { parts.min(4) };
        assert!((least..=parts.min(threads.into())).contains(&used), "{what}: {used} of {threads} threads");
        let found = outcome(&several);
        for (one, other) in expected.1.iter().zip(&found.1) {
            assert!(one == other, "{what} on {threads} threads: table {}", one.0);
        }
        assert_eq!(expected.0, found.0, "{what} on {threads} threads");
    }
    one
}

/// The permutation on a fat-tree without PFC's table, for the settings of other flow control.
fn credited(set: Set) -> Scenario {
    let bare = "topology = { name = \"fat_tree\" }\nscheme = { name = \"none\" }\n\
                traffic = [{ pattern = \"permutation\", size = \"1MB\" }]";
    let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Scenario::parse(bare, "credited.toml", &set).unwrap_or_else(|e| panic!("{e}"))
}

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml", &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_scheme() {
    // Ultra Ethernet's schemes take one thread: `what_orders_events_for_the_whole_network_needs_one_thread`.
    for scheme in AnyScheme::NAMES.iter().filter(|scheme| !is_of_uet(scheme)) {
        let small: Set = &[("topology.k", "4"), ("traffic.0.size", "150KB"), ("scheme.name", scheme)];
        same_on_all(&load("fat_tree_permutation", &[small, RECORD].concat()), 8, scheme);
    }
}

#[test]
fn every_topology() {
    // The switches with hosts and, between them, without: as many parts as there are switches, of eight at most.
    let (ecmp, order) = ("{ name = \"ecmp\" }", "{ name = \"dimension_order\" }");
    let (ugal_l, ugal_g) =
        ("{ name = \"dragonfly\", variant = \"ugal_l\" }", "{ name = \"dragonfly\", variant = \"ugal_g\" }");
    for (name, parts, routing) in [
        ("star", 1, ecmp),
        ("dumbbell", 3, ecmp),
        ("leaf_spine", 8, ecmp),
        ("fat_tree", 8, ecmp),
        ("chain", 3, ecmp),
        ("rail_optimized", 8, ecmp),
        ("hpn", 8, ecmp),
        ("dragonfly", 8, ugal_g),
        ("dragonfly_plus", 8, ugal_l),
        ("torus", 8, order),
        ("hyperx", 8, order),
        ("jellyfish", 8, "{ name = \"k_shortest\" }"),
    ] {
        let text = format!(
            "topology = {{ name = \"{name}\" }}\nscheme = {{ name = \"dcqcn\" }}\nrouting = {routing}\n\
             traffic = [{{ pattern = \"permutation\", size = \"40KB\" }}]\n\
             record = {{ interval = \"1us\", queues = \"all\", rates = \"all\" }}"
        );
        same_on_all(&parse(&text), parts, name);
    }
    let custom = load("custom_graph", &[&[("run.duration", "600us")], RECORD].concat());
    same_on_all(&custom, 2, "graph");
    assert_eq!(AnyTopology::NAMES.len(), 13, "a new topology belongs here");
}

#[test]
fn losses_storms_priorities_and_random_arrivals() {
    let cases: &[(&str, u64, Set)] = &[
        ("dumbbell", 3, &[("run.duration", "400us")]),
        ("leaf_spine_hadoop", 8, &[("traffic.0.stop", "150us")]),
        ("spanning_trees", 8, &[("scheme.name", "dcqcn"), ("traffic.0.size", "200KB")]),
        ("two_priorities", 1, &[("scheme.name", "none")]),
        ("bursts", 6, &[("traffic.0.count", "4"), ("scheme.name", "rocc")]),
        ("deadlock", 4, &[("run.duration", "300us")]),
        // Hosts with several NICs, of which more than the first one sends.
        ("rails", 8, &[("traffic.0.size", "50KB"), ("traffic.1.size", "50KB"), ("traffic.2.size", "100KB")]),
    ];
    for (name, parts, set) in cases {
        same_on_all(&load(name, &[*set, RECORD].concat()), *parts, name);
    }
    // PAUSE spreads from the receiver's edge switch to all pods.
    let storm: Set = &[
        ("topology.k", "4"),
        ("scheme.name", "none"),
        ("flow_control.xoff", "30KB"),
        ("traffic.0.pattern", "incast"),
        ("traffic.0.senders", "12"),
        ("traffic.0.receiver", "host0"),
        ("traffic.0.size", "300KB"),
    ];
    let output = same_on_all(&load("fat_tree_permutation", &[storm, RECORD].concat()), 8, "storm");
    assert!(common::total(&output, "ports", "pause_frames_sent") > 50);
    assert!(common::table(&output, "roots").num_rows() > 0);
    // Credits cross the parts: in updates, and one by one.
    for credits in [
        &[("flow_control.name", "cbfc")] as Set,
        &[("flow_control.name", "credit"), ("flow_control.credits", "2700")],
    ] {
        let set = [&storm[..2], credits, &storm[3..], RECORD].concat();
        let bare: Vec<_> = set.into_iter().filter(|(key, _)| *key != "flow_control.xoff").collect();
        let output = same_on_all(&credited(&bare), 8, "storm with credits");
        assert!(common::total(&output, "ports", "paused_ps") > 1_000_000);
    }
    // Messages of whole switches cross the parts.
    let srcc: Set = &[("scheme.name", "srcc"), ("scheme.cnm_interval", "5us")];
    let output = same_on_all(&load("fat_tree_permutation", &[storm, srcc, RECORD].concat()), 8, "srcc");
    assert!(common::count(&output, "switch_messages") > 10);
    // The same under a scheme that reacts to UE, with states and marks of all ports.
    let detector: Set = &[
        ("scheme.name", "dcqcn"),
        ("detector.name", "tcd"),
        ("detector.red", "{ k_min = \"5KB\", k_max = \"200KB\" }"),
        ("record.states", "all"),
    ];
    let output =
        same_on_all(&load("fat_tree_permutation", &[storm, detector, RECORD].concat()), 8, "storm with TCD");
    assert!(common::total(&output, "ports", "marked_ue") > 50);
    // Each of 80 ports of switches has a row at 0; more are changes.
    assert!(common::table(&output, "states").num_rows() > 80);
    // Go-back-N and drops in several parts.
    let text = "topology = { name = \"fat_tree\", k = 4 }\nscheme = { name = \"dcqcn\" }\nlossy = true\n\
                flow_control = { name = \"none\" }\nswitch = { buffer = \"60KB\" }\n\
                traffic = [{ pattern = \"incast\", senders = 12, receiver = \"host0\", size = \"200KB\" }]\n\
                record = { interval = \"2us\", queues = \"all\", rates = \"all\" }";
    let output = same_on_all(&parse(text), 8, "lossy");
    assert!(common::count(&output, "dropped_packets") > 100);
}

#[test]
fn a_run_that_breaks_breaks_with_the_same_words() {
    let storm = "topology = { name = \"fat_tree\", k = 4 }\nscheme = { name = \"none\" }\n\
                 traffic = [{ pattern = \"incast\", senders = 12, receiver = \"host0\", size = \"2MB\" }]\n\
                 run = { duration = \"5ms\" }\n";
    let drop = format!("{storm}flow_control = {{ name = \"pfc\", xoff = \"50KB\", headroom = \"2KB\" }}");
    let many = storm.replace("duration", "max_events = 50000, duration");
    let error = |scenario: &Scenario, part: &str, several: &[u32]| {
        let one = on(1, scenario).err().unwrap_or_else(|| panic!("{part}: no error"));
        assert!(one.to_string().contains(part), "{one}");
        for &threads in several {
            assert_eq!(on(threads, scenario).err().as_ref(), Some(&one), "{threads} threads");
        }
    };
    error(&parse(&drop), "packet dropped", &[2, 3, 8]);
    error(&parse(&many), "50000 events", &[2, 3, 8]);
    // Without a duration a deadlock is an error, found at the same time on any number of threads; if it is expected, there are
    // results.
    let text = std::fs::read_to_string(common::folder().join("deadlock.toml")).expect("a scenario");
    let sized = text.replace("[[traffic]]", "[[traffic]]\nsize = \"10MB\"");
    let open = sized.replace("duration = \"500us\"", "");
    error(&parse(&open.replace("expect = \"deadlock\"", "")), "deadlock at", &[2, 4]);
    let expected = parse(&open);
    let ends: Vec<String> = [1, 2, 4]
        .map(|threads| {
            on(threads, &expected).unwrap_or_else(|e| panic!("{e}")).manifest["stop_reason"].to_string()
        })
        .into();
    assert!(ends[0].contains("ring0->ring1, ring1->ring2, ring2->ring3, ring3->ring0"), "{}", ends[0]);
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
}

#[test]
fn what_orders_events_for_the_whole_network_needs_one_thread() {
    let settings = [
        ("quirks.order", "scheduled", "`quirks.order = \"scheduled\"`"),
        ("quirks.nic", "ns3", "`quirks.nic = \"ns3\"`"),
        ("quirks.marking_stream", "5", "`quirks.marking_stream`"),
        ("host.transport", "uet", "`host.transport = \"uet\"`"),
    ];
    let sizes = [("traffic.0.size", "1MB"), ("traffic.1.size", "1MB")];
    for (key, value, name) in settings {
        let scheme = if value == "uet" { "nscc" } else { "dcqcn" };
        let scenario = load(
            "dumbbell",
            &[(key, value), ("scheme.name", scheme), ("run.duration", "310us"), sizes[0], sizes[1]],
        );
        let error = on(2, &scenario).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("2 threads") && error.contains(name), "{error}");
        let auto = run_on(Threads::Auto, &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(auto.manifest["threads"], 1);
    }
}

#[test]
fn a_small_run_takes_one_thread_by_itself() {
    let scenario = load("dumbbell", &[("run.duration", "310us")]);
    let auto = run_on(Threads::Auto, &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(auto.manifest["threads"], 1);
}
