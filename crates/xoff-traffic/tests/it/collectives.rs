//! The pattern `collective`: its messages between hosts, their connections and sizes, and who waits for what.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use xoff_engine::{NicChoice, Rate, Time};
use xoff_traffic::closed_loop::Milestone;
use xoff_traffic::{CollectiveKind, HostInfo, Pattern, Traffic, TrafficError, generate};

use crate::closed_loops::check;

fn try_with(hosts: u32, seed: u64, keys: &str, file: &str) -> Result<Traffic, TrafficError> {
    let host = |i| HostInfo { name: format!("host{i}"), rate: Rate::from_gbps(100), rack: 0, nics: 1 };
    let hosts: Vec<HostInfo> = (0..hosts).map(host).collect();
    let pattern: Pattern = serde_json::from_str(&format!(r#"{{"pattern": "collective", {keys}}}"#)).unwrap();
    generate(&[pattern], &hosts, seed, None, &|_| Ok(file.to_string()))
}

fn make(hosts: u32, keys: &str) -> Traffic {
    let traffic = try_with(hosts, 1, keys, "").unwrap();
    check(&traffic);
    traffic
}

fn refused(hosts: u32, keys: &str, file: &str) -> (&'static str, String) {
    match try_with(hosts, 1, keys, file) {
        Err(TrafficError::Pattern { key, fault, .. }) => (key, fault.to_string()),
        Err(other) => ("", other.to_string()),
        Ok(traffic) => panic!("{} flows", traffic.flows.len()),
    }
}

#[test]
fn every_algorithm_waits_at_the_host_that_knows() {
    for kind in CollectiveKind::ALL {
        for algorithm in kind.algorithms() {
            for ranks in [1, 2] {
                let size = if kind == CollectiveKind::Barrier { "" } else { r#", "size": "9KB""# };
                let more = if kind == CollectiveKind::AllToAllV { r#", "imbalance": 2.0"# } else { "" };
                let local = if ranks > 1 { r#", "local_rate": "900Gbps", "local_delay": "1us""# } else { "" };
                let (kind, algorithm) = (kind.name(), algorithm.name());
                let t = make(
                    6,
                    &format!(
                        r#""kind": "{kind}", "algorithm": "{algorithm}", "channels": 2, "repetitions": 2,
                        "ranks_per_host": {ranks}{size}{more}{local}"#
                    ),
                );
                // Two operations for each rank, the second one from where the first one ended.
                assert_eq!(t.operations.len(), 2 * 6 * ranks, "{kind} {algorithm}");
                let half = t.operations.len() / 2;
                for (first, second) in t.operations[..half].iter().zip(&t.operations[half..]) {
                    assert_eq!((first.end, first.host), (second.begin, second.host));
                }
                // Every flow waits at least for its sender's beginning.
                let waiting: BTreeSet<_> = t.dependencies.iter().map(|d| format!("{:?}", d.then)).collect();
                assert!((0..t.flows.len()).all(|f| waiting.contains(&format!("Flow({f})"))));
            }
        }
    }
}

#[test]
fn channels_have_connections_and_nics_of_their_own() {
    // A ring of 3 with 4 channels: blocks of 40 B in parts of 10 B, 4 steps, 3 pairs of hosts.
    let keys = r#""kind": "all_reduce", "size": "120B", "channels": 4"#;
    let t = make(3, &format!(r#"{keys}, "nics": 2"#));
    assert_eq!(t.flows.len(), 4 * 4 * 3);
    assert!(t.flows.to_vec().iter().all(|f| f.size.bytes() == Some(10)));
    let mut of_pair: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for flow in &t.flows.to_vec() {
        of_pair.entry((flow.src, flow.dst)).or_default().insert(flow.connection, flow.nic);
    }
    assert_eq!(of_pair.len(), 3);
    for connections in of_pair.values() {
        assert_eq!(connections.len(), 4);
        let nics: Vec<_> = connections.values().copied().collect();
        assert_eq!(nics, [0, 1, 0, 1].map(|nic| Some(NicChoice::Nic(nic))));
    }
    assert!(make(3, keys).flows.to_vec().iter().all(|f| f.nic.is_none()));
    // Two ranks a host, hierarchical: the ranks of place p talk among themselves, by NIC p.
    let keys = r#""kind": "all_reduce", "algorithm": "hierarchical", "size": "120B", "ranks_per_host": 2, "nics": 2"#;
    let rail = |f: &xoff_traffic::FlowSpec| f.role.map(|role| NicChoice::Nic(role.process % 2));
    assert!(make(3, keys).flows.to_vec().iter().all(|f| f.nic == rail(f)));
}

#[test]
fn protocols_have_the_bytes_and_the_latency_of_nccl() {
    // Blocks of 1000 B: LL 2000 B and 2.7 us, LL128 ceil(1000 / 120) x 128 = 1152 B and 4 us, Simple 14 us.
    for (protocol, bytes, ns) in
        [("none", 1000, 0), ("simple", 1000, 14_000), ("ll", 2000, 2_700), ("ll128", 1152, 4_000)]
    {
        let t = make(
            4,
            &format!(r#""kind": "all_gather", "size": "4KB", "protocol": "{protocol}", "overhead": "1us""#),
        );
        assert!(t.flows.to_vec().iter().all(|f| f.size.bytes() == Some(bytes)), "{protocol}");
        let delivered = t.dependencies.iter().filter(|d| matches!(d.on, Milestone::Delivered(_)));
        assert!(delivered.clone().all(|d| d.delay == Time::from_us(1) + Time::from_ns(ns)), "{protocol}");
        assert!(delivered.count() > 0);
    }
}

#[test]
fn messages_within_a_host_hold_a_port_and_no_network() {
    // 2 hosts with 2 ranks: a ring of 4 crosses twice in each of 3 steps. 3000 B at 24 Gbps, 3 B/ns: 1 us on the rank's port.
    let t = make(
        2,
        r#""kind": "all_gather", "size": "12KB", "ranks_per_host": 2, "local_rate": "24Gbps", "local_delay": "2us""#,
    );
    assert_eq!(t.flows.len(), 3 * 2);
    let held: Vec<_> = t.steps.iter().filter_map(|s| s.hold).collect();
    assert_eq!(held.len(), 3 * 2);
    assert!(held.iter().all(|hold| hold.time == Time::from_us(1)));
    // Only ranks 0 and 2 have a neighbour on their host.
    assert_eq!(held.iter().map(|h| h.processor).collect::<BTreeSet<_>>().len(), 2);
    // What such a message brings comes a port's time and a delay later.
    let held: BTreeSet<u32> = (0..).zip(&t.steps).filter(|(_, s)| s.hold.is_some()).map(|(n, _)| n).collect();
    let after = t.dependencies.iter().filter(|d| matches!(d.on, Milestone::Step(s) if held.contains(&s)));
    let delays: BTreeSet<Time> = after.map(|d| d.delay).collect();
    // The sender's end is the port's time.
    assert_eq!(delays, BTreeSet::from([Time::from_us(1), Time::from_us(3)]));
}

#[test]
fn a_mixture_of_experts_is_as_unequal_as_asked() {
    // 8 ranks of 80 KB each: the mean is 80 KB, the busiest gets 2.5 times that.
    let keys = r#""kind": "all_to_all_v", "size": "80KB", "imbalance": 2.5"#;
    for seed in 1..4 {
        let t = try_with(8, seed, keys, "").unwrap();
        let mut to: BTreeMap<u32, u64> = BTreeMap::new();
        t.flows.to_vec().iter().for_each(|f| *to.entry(f.dst).or_default() += f.size.bytes().unwrap_or(0));
        // A rank's own part is not sent: 7 of 8 senders.
        let busiest = *to.values().max().unwrap() as f64;
        assert!((busiest / (80_000.0 * 7.0 / 8.0) - 2.5).abs() < 0.001, "{to:?}");
        let sent: u64 =
            t.flows.to_vec().iter().filter(|f| f.src == 0).map(|f| f.size.bytes().unwrap_or(0)).sum();
        assert!(sent < 80_000 && sent > 40_000);
    }
    let busiest = |seed| {
        let t = try_with(8, seed, keys, "").unwrap();
        t.flows.to_vec().iter().max_by_key(|f| f.size.bytes()).unwrap().dst
    };
    assert!((1..9).map(busiest).collect::<BTreeSet<_>>().len() > 1, "who is busiest is drawn");
    // Without imbalance, all alike.
    let t = make(8, r#""kind": "all_to_all_v", "size": "80KB", "imbalance": 1.0"#);
    assert!(t.flows.to_vec().iter().all(|f| f.size.bytes() == Some(10_000)) && t.flows.len() == 56);
}

#[test]
fn a_matrix_gives_each_pair_its_size() {
    let keys = r#""kind": "all_to_all_v", "algorithm": "pairwise", "matrix": "m""#;
    let t = try_with(3, 1, keys, "0B 1KB 2KB # rank 0\n\n0B, 9B, 0B\n5B\t6B 7B\n").unwrap();
    let mut sizes: Vec<_> =
        t.flows.to_vec().iter().map(|f| (f.src, f.dst, f.size.bytes().unwrap_or(0))).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [(0, 1, 1000), (0, 2, 2000), (2, 0, 5), (2, 1, 6)]);
    for (text, says) in [
        ("0B 1KB 2KB\n", "has 1 lines"),
        ("0B 1KB 2KB\n0B 1KB\n1B 1B 1B\n", "line 2"),
        ("0B 1KB 2KB\n0B x 1B\n1B 1B 1B\n", "line 2"),
        ("0B 1KB 2KB\n0B 2TB 1B\n1B 1B 1B\n", "at most 1TB"),
        ("1B 0B 0B\n0B 1B 0B\n0B 0B 1B\n", "no rank sends to another"),
        ("0B 1B 1B\n1B 0B 1B\n1B 1B 0B\n1B 1B 1B\n", "one too many"),
    ] {
        let (key, fault) = refused(3, keys, text);
        assert!(key == "matrix" && fault.contains(says), "{fault}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    for (keys, key) in [
        (r#""kind": "all_reduce""#, "size"),
        (r#""kind": "all_reduce", "size": "0B""#, "size"),
        (r#""kind": "barrier", "size": "1B""#, "size"),
        (r#""kind": "all_reduce", "size": "1KB", "algorithm": "bruck""#, "algorithm"),
        (r#""kind": "all_reduce", "size": "1KB", "across": "ring""#, "across"),
        (
            r#""kind": "all_reduce", "size": "1KB", "algorithm": "hierarchical", "across": "hierarchical""#,
            "across",
        ),
        (r#""kind": "all_reduce", "size": "1KB", "channels": 0"#, "channels"),
        (r#""kind": "all_reduce", "size": "1KB", "channels": 65"#, "channels"),
        (r#""kind": "all_reduce", "size": "1KB", "chunk": "0B""#, "chunk"),
        (r#""kind": "all_reduce", "size": "1KB", "nics": 0"#, "nics"),
        (r#""kind": "all_reduce", "size": "1KB", "nics": 2, "nic": 1"#, "nic"),
        (r#""kind": "all_reduce", "size": "1KB", "root": 1"#, "root"),
        (r#""kind": "reduce", "size": "1KB", "root": 4"#, "root"),
        (r#""kind": "all_reduce", "size": "1KB", "imbalance": 2.0"#, "imbalance"),
        (r#""kind": "all_to_all_v", "size": "1KB""#, "imbalance"),
        (r#""kind": "all_to_all_v", "size": "1KB", "imbalance": 0.5"#, "imbalance"),
        (r#""kind": "all_to_all_v", "size": "1KB", "imbalance": 4.0"#, "imbalance"),
        (r#""kind": "all_to_all_v", "size": "1KB", "matrix": "m""#, "size"),
        (r#""kind": "all_reduce", "size": "1KB", "local_rate": "1Gbps""#, "local_rate"),
        (r#""kind": "all_reduce", "size": "1KB", "ranks_per_host": 2, "local_rate": "0bps""#, "local_rate"),
        (r#""kind": "all_reduce", "size": "1KB", "ranks_per_host": 0"#, "ranks_per_host"),
        (r#""kind": "all_reduce", "size": "1KB", "repetitions": 0"#, "repetitions"),
        (r#""kind": "all_reduce", "size": "1KB", "hosts": "host1""#, "hosts"),
        (r#""kind": "all_reduce", "size": "1KB", "ranks_per_host": 2, "hosts": "host1""#, "hosts"),
        (r#""kind": "all_reduce", "size": "1KB", "step_latency": "1000001s""#, "step_latency"),
    ] {
        assert_eq!(refused(4, keys, "").0, key, "{keys}");
    }
    // Too many messages are counted, with the sum, before the first one is made.
    let many = refused(64, r#""kind": "all_reduce", "size": "1TB", "channels": 8, "chunk": "1B""#, "");
    assert!(many.1.contains("64 ranks, channels: 8, chunks: 1953125000"), "{many:?}");
    // A Bruck all-to-all of many ranks in many chunks: 1024 x 1024 blocks, each moved (10 / 2 + 1) times, in 1000 chunks.
    let bruck = r#""kind": "all_to_all", "algorithm": "bruck", "size": "8MB", "chunk": "4KB""#;
    assert_eq!(refused(1024, bruck, "").0, "chunk");
}

const ALGORITHMS: [&str; 10] = [
    "ring",
    "double_binary_tree",
    "tree",
    "halving_doubling",
    "recursive_doubling",
    "bruck",
    "pairwise",
    "spread",
    "direct",
    "hierarchical",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_collective_panics_and_what_is_made_is_valid(
        (hosts, ranks, root) in (1..7u32, 1..4u32, 0..12u32),
        kind in prop::sample::select(CollectiveKind::ALL.to_vec()),
        (algorithm, across) in (prop::sample::select(ALGORITHMS.to_vec()), prop::option::of(prop::sample::select(ALGORITHMS.to_vec()))),
        (size, chunk, channels) in (1..20_000u64, prop::option::of(1..30_000u64), 1..9u32),
        protocol in prop::sample::select(vec!["none", "simple", "ll", "ll128"]),
        (rate, nics) in (prop::option::of(1..1_000u32), prop::option::of(1..5u32)),
    ) {
        let mut keys = vec![
            format!(r#""kind": "{}", "algorithm": "{algorithm}", "channels": {channels}"#, kind.name()),
            format!(r#""ranks_per_host": {ranks}, "protocol": "{protocol}""#),
        ];
        if kind != CollectiveKind::Barrier {
            keys.push(format!(r#""size": "{size}B""#));
        }
        if kind == CollectiveKind::AllToAllV {
            keys.push(r#""imbalance": 1.3"#.into());
        }
        if kind.has_root() {
            keys.push(format!(r#""root": {root}"#));
        }
        keys.extend(across.map(|across| format!(r#""across": "{across}""#)));
        keys.extend(chunk.map(|chunk| format!(r#""chunk": "{chunk}B""#)));
        keys.extend(rate.filter(|_| ranks > 1).map(|rate| format!(r#""local_rate": "{rate}Gbps""#)));
        keys.extend(nics.map(|nics| format!(r#""nics": {nics}"#)));
        // A chunk of some bytes makes too many messages for a test.
        prop_assume!(chunk.is_none_or(|chunk| size / chunk < 100));
        if let Ok(traffic) = try_with(hosts, 1, &keys.join(", "), "") {
            check(&traffic);
            prop_assert!(traffic.flows.to_vec().iter().all(|flow| flow.size.bytes().is_some_and(|size| size > 0)));
            prop_assert_eq!(traffic.operations.len() as u32, hosts * ranks);
        }
    }
}
