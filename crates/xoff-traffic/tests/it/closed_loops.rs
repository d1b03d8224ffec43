//! Patterns whose flows wait for each other: who sends what to whom, and who waits for what.

use std::collections::{BTreeMap, BTreeSet};

use xoff_engine::{Rate, Time};
use xoff_traffic::closed_loop::{Milestone, Waiter};
use xoff_traffic::{Fault, FlowSpec, HostInfo, Pattern, Traffic, TrafficError, generate};

/// Hosts in racks of 8.
fn hosts(n: u32) -> Vec<HostInfo> {
    let host = |i| HostInfo { name: format!("host{i}"), rate: Rate::from_gbps(100), rack: i / 8, nics: 1 };
    (0..n).map(host).collect()
}

fn try_make(n: u32, end: Option<Time>, patterns: &[&str]) -> Result<Traffic, TrafficError> {
    let patterns: Vec<Pattern> = patterns.iter().map(|p| serde_json::from_str(p).unwrap()).collect();
    generate(&patterns, &hosts(n), 1, end, &|_| Err("no files".into()))
}

fn make(n: u32, pattern: &str) -> Traffic {
    let traffic = try_make(n, None, &[pattern]).unwrap();
    check(&traffic);
    traffic
}

/// What holds of all closed loops: a milestone is known where it is waited for, and a process's messages and steps belong
/// to its host.
pub(crate) fn check(t: &Traffic) {
    let mut host_of: BTreeMap<(u16, u32), u32> = BTreeMap::new();
    for d in &t.dependencies {
        let known = match d.on {
            Milestone::Delivered(f) => t.flows.of(f as usize).dst,
            Milestone::Sent(f) => t.flows.of(f as usize).src,
            Milestone::Step(s) => t.steps[s as usize].host,
        };
        let waits = match d.then {
            Waiter::Flow(f) => t.flows.of(f as usize).src,
            Waiter::Step(s) => t.steps[s as usize].host,
        };
        assert_eq!(known, waits, "{d:?}");
    }
    let mut belongs = |label: u16, process: u32, host: u32| {
        assert_eq!(*host_of.entry((label, process)).or_insert(host), host);
    };
    for f in &t.flows.to_vec() {
        assert_ne!(f.src, f.dst);
        if let Some(role) = f.role {
            // MPI and I/O processes send themselves; those of the other patterns as well.
            belongs(f.label, role.process, f.src);
        }
    }
    for o in &t.operations {
        belongs(o.label, o.role.process, o.host);
        assert_eq!([o.begin, o.end].map(|s| t.steps[s as usize].host), [o.host; 2]);
    }
    assert!(t.flows.to_vec().is_sorted_by_key(|f| f.start));
}

fn kernel(t: &Traffic, name: &str) -> Vec<FlowSpec> {
    let number = t.kernels.iter().position(|k| k == name).map(|k| k as u16);
    t.flows.iter().filter(|f| f.role.map(|r| r.kernel) == number && number.is_some()).collect()
}

fn fault(n: u32, end: Option<Time>, pattern: &str) -> (&'static str, String) {
    match try_make(n, end, &[pattern]) {
        Err(TrafficError::Pattern { key, fault, .. }) => (key, fault.to_string()),
        other => panic!("{:?}", other.map(|t| t.flows.len())),
    }
}

#[test]
fn an_allreduce_has_the_messages_of_its_algorithm() {
    let with = |algorithm: &str, more: &str| {
        make(6, &format!(r#"{{"pattern": "allreduce", "algorithm": "{algorithm}", "size": "600B"{more}}}"#))
    };
    // Ring of 6: 10 phases of 6 messages of 100 B.
    let ring = with("ring", "");
    assert_eq!(ring.flows.len(), 60);
    assert!(ring.flows.to_vec().iter().all(|f| f.size.bytes() == Some(100) && f.dst == (f.src + 1) % 6));
    // Tree: 5 up, 5 down. Halving-doubling: two pairs folded (2 + 2), four ranks in 2 x 2 phases. Recursive doubling: 2 + 2
    // and two phases.
    assert_eq!(with("tree", "").flows.len(), 10);
    assert_eq!(with("halving_doubling", "").flows.len(), 4 + 16);
    assert_eq!(with("recursive_doubling", "").flows.len(), 4 + 8);
    // Three times, by two processes a host: six times as many; each process has an operation a repetition.
    let many = with("ring", r#", "processes": 2, "repetitions": 3, "compute": "1us""#);
    assert_eq!((many.flows.len(), many.operations.len()), (360, 2 * 6 * 3));
    // A rank sends 10 blocks of 100 B in each; connections keep to their group.
    assert!(many.operations.iter().all(|o| o.bytes == 1000));
    assert!(many.flows.to_vec().iter().all(|f| f.role.map(|r| r.process % 2) == f.connection));
    let process = |o: &xoff_traffic::closed_loop::Operation| (o.role.process, o.role.iteration);
    assert_eq!(many.operations.iter().map(process).collect::<BTreeSet<_>>().len(), 36);
}

#[test]
fn an_all_to_all_has_a_message_of_each_to_each() {
    let t = make(5, r#"{"pattern": "all_to_all_collective", "size": "4KiB", "repetitions": 2}"#);
    let mut pairs = BTreeMap::new();
    t.flows.to_vec().iter().for_each(|f| *pairs.entry((f.src, f.dst)).or_insert(0) += 1);
    assert_eq!((pairs.len(), pairs.values().all(|n| *n == 2)), (20, true));
    assert!(t.operations.iter().all(|o| o.bytes == 4 * 4096) && t.operations.len() == 10);
}

#[test]
fn patterns_beside_each_other_keep_their_dependencies() {
    // Flows of other patterns come before and between: all is numbered anew, and `check` finds every milestone in place.
    let late = r#"{"pattern": "allreduce", "algorithm": "tree", "size": "1KB", "start": "5us"}"#;
    let early = r#"{"pattern": "all_to_all_collective", "size": "1KB", "start": "1us"}"#;
    let other = r#"{"pattern": "flow", "src": "host0", "dst": "host1", "size": "1KB", "start": "3us"}"#;
    let t = try_make(4, None, &[late, other, early]).unwrap();
    check(&t);
    let labels: Vec<&str> = t.flows.to_vec().iter().map(|f| t.labels[f.label as usize].as_str()).collect();
    let expected = [vec!["all_to_all_collective"; 12], vec!["flow"], vec!["allreduce"; 6]].concat();
    assert_eq!(labels, expected);
    // Alone it is the same.
    let alone = make(4, early);
    assert_eq!(
        alone.dependencies,
        t.dependencies[t.dependencies.len() - alone.dependencies.len()..]
            .iter()
            .map(|d| {
                // Its steps come after those of the tree.
                let before = (t.steps.len() - alone.steps.len()) as u32;
                let mut d = *d;
                if let Milestone::Step(s) = &mut d.on {
                    *s -= before
                }
                if let Waiter::Step(s) = &mut d.then {
                    *s -= before
                }
                d
            })
            .collect::<Vec<_>>()
    );
}

/// 30 hosts: 24 run congestors, 6 the tests.
const GPCNET: &str = r#"{"pattern": "gpcnet", "processes": 2, "rings": 2, "latency_iterations": 3,
    "bandwidth_iterations": 2, "allreduce_iterations": 5, "congestor_iterations": 7"#;

fn gpcnet(more: &str) -> Traffic {
    make(30, &format!("{GPCNET}{more}}}"))
}

#[test]
fn gpcnet_s_congestors_are_four_groups_of_as_many_hosts() {
    let t = gpcnet("");
    // 6 hosts a kernel, 2 slices, 7 iterations: all-to-all 6 x 5, incasts 5, a broadcast 5 requests and 5 answers.
    let counts =
        ["all_to_all", "two_sided_incast", "put_incast", "get_broadcast"].map(|k| kernel(&t, k).len());
    assert_eq!(counts, [2 * 7 * 30, 2 * 7 * 5, 2 * 7 * 5, 2 * 7 * 10]);
    let sizes = |k: &str| kernel(&t, k).iter().filter_map(|f| f.size.bytes()).collect::<BTreeSet<_>>();
    assert_eq!(sizes("all_to_all"), BTreeSet::from([4096]));
    assert_eq!(sizes("get_broadcast"), BTreeSet::from([16, 4096]));
    let ends = |k: &str| -> BTreeSet<u32> { kernel(&t, k).iter().flat_map(|f| [f.src, f.dst]).collect() };
    let groups = ["all_to_all", "two_sided_incast", "put_incast", "get_broadcast", "latency"].map(ends);
    assert_eq!(groups.each_ref().map(BTreeSet::len), [6; 5]);
    assert_eq!(groups.iter().flatten().collect::<BTreeSet<_>>().len(), 30);
    // Both slices' incasts go to one host, and each of the others sends there.
    for k in ["two_sided_incast", "put_incast"] {
        assert_eq!(kernel(&t, k).iter().map(|f| f.dst).collect::<BTreeSet<_>>().len(), 1);
        assert_eq!(kernel(&t, k).iter().map(|f| f.src).collect::<BTreeSet<_>>().len(), 5);
    }
    // Of the all-to-all alone 2 iterations.
    let fewer = gpcnet(r#", "all_to_all_iterations": 2"#);
    assert_eq!(kernel(&fewer, "all_to_all").len(), 2 * 2 * 30);
    assert_eq!(["two_sided_incast", "put_incast"].map(|k| kernel(&fewer, k).len()), [2 * 7 * 5; 2]);
    // Congestors are what the run does not wait for.
    assert!(t.flows.to_vec().iter().all(|f| f.background != (f.start == Time::from_us(50))));
    assert_eq!(t.flows.to_vec().iter().filter(|f| f.background).count(), counts.iter().sum::<usize>());
}

#[test]
fn gpcnet_s_tests_have_their_messages() {
    let t = gpcnet("");
    // 6 hosts, 2 slices. Latency: 2 rings x 3 iterations x 12 processes x 2 neighbours, 8 B.
    let latency = kernel(&t, "latency");
    assert_eq!(latency.len(), 2 * 3 * 12 * 2);
    assert!(latency.iter().all(|f| f.size.bytes() == Some(8)));
    // Bandwidth: 2 rings x 2 iterations x 12 processes x (2 x 8 of 128 KiB, and 3 rounds of a barrier of 6).
    let bandwidth = kernel(&t, "bandwidth");
    assert_eq!(bandwidth.iter().filter(|f| f.size.bytes() == Some(131_072)).count(), 2 * 2 * 12 * 16);
    assert_eq!(bandwidth.len(), 2 * 2 * 12 * (16 + 3));
    // Allreduce: 5 iterations x 2 slices; 6 ranks: 2 folded before and after, 4 in two phases.
    assert_eq!(kernel(&t, "allreduce").len(), 5 * 2 * (2 + 8 + 2));
    // A barrier of 6 hosts before each ring of the first two tests and before the third.
    assert_eq!(kernel(&t, "barrier").len(), 5 * 3 * 6);
    let of = |k: &str| {
        let number = t.kernels.iter().position(|n| n == k).map(|n| n as u16);
        t.operations.iter().filter(move |o| Some(o.role.kernel) == number)
    };
    assert_eq!(["latency", "bandwidth", "allreduce"].map(|k| of(k).count()), [72, 48, 60]);
    assert!(of("latency").all(|o| o.bytes == 16));
    // Without its part in the barrier, as the benchmark counts.
    assert!(of("bandwidth").all(|o| o.bytes == 16 * 131_072));
    // On each ring a process has two neighbours, and all are on one ring.
    let number = t.kernels.iter().position(|k| k == "latency").map(|k| k as u16);
    for (process, ring) in (0..12).flat_map(|p| [(p, 0), (p, 1)]) {
        let ops: Vec<_> =
            of("latency").filter(|o| o.role.process == 48 + process && o.ring == ring).collect();
        assert_eq!(ops.len(), 3);
        assert!(ops.windows(2).all(|w| w[0].end == w[1].begin), "one after the other");
    }
    let to: BTreeSet<(u32, u32)> = t
        .flows
        .to_vec()
        .iter()
        .filter(|f| f.role.is_some_and(|r| Some(r.kernel) == number && r.process % 2 == 0))
        .map(|f| (f.src, f.dst))
        .collect();
    // Of one slice two rings: 12 directed pairs each, as many less as they share.
    assert!((12..=24).contains(&to.len()));
}

#[test]
fn gpcnet_s_placement_does_not_depend_on_congestors_or_tests() {
    let victims = |t: &Traffic| -> Vec<FlowSpec> {
        let number = t.kernels.iter().position(|k| k == "latency").map(|k| k as u16);
        let role = |f: &&FlowSpec| f.role.is_some_and(|r| Some(r.kernel) == number);
        let same = |f: &FlowSpec| FlowSpec {
            role: f.role.map(|r| xoff_traffic::closed_loop::Role { kernel: 0, ..r }),
            ..*f
        };
        t.flows.to_vec().iter().filter(role).map(same).collect()
    };
    let congested = victims(&gpcnet(""));
    let alone = gpcnet(r#", "congestors": false"#);
    assert_eq!(victims(&alone), congested);
    assert!(alone.flows.to_vec().iter().all(|f| !f.background));
    assert_eq!(victims(&gpcnet(r#", "tests": ["allreduce", "latency"]"#)), congested);
    // Another seed, another placement.
    let patterns = [serde_json::from_str(&format!("{GPCNET}}}")).unwrap()];
    let other = generate(&patterns, &hosts(30), 2, None, &|_| Err(String::new())).unwrap();
    assert_ne!(victims(&other), congested);
}

#[test]
fn the_number_of_flows_is_foretold() {
    // 1,000,000 iterations make too many; what the message counts is what would be made.
    let many =
        format!("{GPCNET}, \"congestor_iterations\": 1000000}}").replace("\"congestor_iterations\": 7, ", "");
    let few = gpcnet("");
    let congestors = few.flows.to_vec().iter().filter(|f| f.background).count() as u64;
    match try_make(30, None, &[&many]) {
        Err(TrafficError::TooManyFlows { count, .. }) => {
            assert_eq!(count, congestors / 7 * 1_000_000 + few.flows.len() as u64 - congestors);
        }
        other => panic!("{:?}", other.map(|t| t.flows.len())),
    }
    // 1,000,000 of the all-to-all alone, whose iteration has 2 x 30 messages of the two slices.
    let many = format!("{GPCNET}, \"all_to_all_iterations\": 1000000}}");
    match try_make(30, None, &[&many]) {
        Err(TrafficError::TooManyFlows { count, .. }) => {
            assert_eq!(count, 60 * 1_000_000 + few.flows.len() as u64 - 60 * 7);
        }
        other => panic!("{:?}", other.map(|t| t.flows.len())),
    }
}

#[test]
fn mpi_io_is_the_mix_of_its_paper() {
    let t = make(32, r#"{"pattern": "mpi_io", "duration": "1ms", "messages": 4000}"#);
    let (io, mpi) = (kernel(&t, "io"), kernel(&t, "mpi"));
    assert_eq!((io.len(), mpi.len()), (400, 3600));
    // 4 servers in each of 4 racks, of which some may get nothing: 8 clients draw theirs among 16.
    let servers: BTreeSet<u32> = io.iter().map(|f| f.dst).collect();
    let clients: BTreeSet<u32> = io.iter().map(|f| f.src).collect();
    assert!(servers.len() <= 8 && (0..4).all(|rack| servers.iter().filter(|s| **s / 8 == rack).count() <= 4));
    assert_eq!(clients.len(), 8);
    // 8 MPI processes are left of 32 hosts.
    let others: BTreeSet<u32> = mpi.iter().flat_map(|f| [f.src, f.dst]).collect();
    assert_eq!(others.len(), 8);
    assert!(others.is_disjoint(&clients) && others.is_disjoint(&servers) && clients.is_disjoint(&servers));
    // 55 % of 3,600 have 2 KB: 1,980, sigma sqrt(3600 x 0.55 x 0.45) = 29.8; five sigma are 149. A quarter of 400 have each
    // I/O size: sigma 8.7.
    let small = mpi.iter().filter(|f| f.size.bytes() == Some(2000)).count() as i64;
    assert!((small - 1980).abs() < 149, "{small}");
    for size in [512_000, 1_000_000, 2_000_000, 4_000_000] {
        let count = io.iter().filter(|f| f.size.bytes() == Some(size)).count() as i64;
        assert!((count - 100).abs() < 44, "{size}: {count}");
    }
    let sizes: BTreeSet<u64> = mpi.iter().filter_map(|f| f.size.bytes()).collect();
    assert_eq!(sizes, BTreeSet::from([2000, 4000, 8000, 16_000, 32_000]));
    // The last of 3,600 gaps of 1 ms / 3600 on average: 1 ms, sigma 1/60 of it.
    let last = mpi.iter().map(|f| f.start).max().unwrap();
    assert!(last.ps().abs_diff(1_000_000_000) < 84_000_000, "{last}");
    // Each client has one connection, on which each message but the first waits for the one before.
    for client in clients {
        assert_eq!(io.iter().filter(|f| f.src == client).map(|f| f.dst).collect::<BTreeSet<_>>().len(), 1);
    }
    assert_eq!(t.dependencies.len(), 400 - 8);
    for d in &t.dependencies {
        let (Milestone::Sent(before), Waiter::Flow(after)) = (d.on, d.then) else { panic!("{d:?}") };
        let (before, after) = (t.flows.of(before as usize), t.flows.of(after as usize));
        assert_eq!((before.src, before.dst), (after.src, after.dst));
        assert!(before.start <= after.start);
    }
    // What comes after the end of the run is left out.
    let cut = try_make(
        32,
        Some(Time::from_us(1_000)),
        &[r#"{"pattern": "mpi_io", "duration": "1ms", "messages": 4000}"#],
    );
    assert!(cut.unwrap().flows.to_vec().iter().all(|f| f.start < Time::from_us(1_000)));
}

#[test]
fn wrong_values_are_named() {
    let us = |n| Some(Time::from_us(n));
    let allreduce = |more: &str| format!(r#"{{"pattern": "allreduce", "size": "5B"{more}}}"#);
    let gpcnet = |more: &str| format!(r#"{{"pattern": "gpcnet"{more}}}"#);
    let mpi_io = |more: &str| format!(r#"{{"pattern": "mpi_io"{more}}}"#);
    for (hosts, end, pattern, key, text) in [
        (6, None, allreduce(r#", "algorithm": "ring""#), "size", "a byte for each of 6 ranks"),
        (1, None, allreduce(r#", "algorithm": "tree""#), "hosts", "two hosts or more"),
        (6, None, allreduce(r#", "algorithm": "tree", "processes": 0"#), "processes", "from 1"),
        (6, None, allreduce(r#", "algorithm": "tree", "repetitions": 0"#), "repetitions", "from 1"),
        (6, None, allreduce(r#", "algorithm": "tree", "compute": "2000s""#), "compute", "at most"),
        (6, None, allreduce(r#", "algorithm": "tree", "overhead": "2000s""#), "overhead", "at most"),
        (8, None, gpcnet(""), "hosts", "two congestors of each of 4 kernels"),
        (8, None, gpcnet(r#", "congestor_share": 0.9"#), "hosts", "two are left"),
        (30, None, gpcnet(r#", "congestor_share": 1.5"#), "congestor_share", "from 0 to 1"),
        (30, None, gpcnet(r#", "congestor_kernels": []"#), "congestor_kernels", "at least one"),
        (30, None, gpcnet(r#", "tests": []"#), "tests", "at least one"),
        (30, None, gpcnet(r#", "tests": ["latency", "latency"]"#), "tests", "each test once"),
        (30, None, gpcnet(r#", "rings": 0"#), "rings", "from 1"),
        (30, None, gpcnet(r#", "all_to_all_iterations": 0"#), "all_to_all_iterations", "from 1"),
        (30, None, gpcnet(r#", "processes": 2000"#), "processes", "to 1024"),
        (30, None, gpcnet(r#", "latency_size": "0B""#), "latency_size", "1B"),
        (30, None, gpcnet(r#", "overhead": "2000s""#), "overhead", "at most"),
        (30, None, gpcnet(r#", "eager_outstanding": 0"#), "eager_outstanding", "from 1 to 1000000"),
        (30, us(50), gpcnet(""), "congestor_lead", "before 50us"),
        (32, None, mpi_io(r#", "duration": "0us""#), "duration", "above 0"),
        (32, us(9), mpi_io(r#", "duration": "10us""#), "duration", "end of the run"),
        (32, None, mpi_io(r#", "duration": "1us", "messages": 0"#), "messages", "from 1"),
        (32, None, mpi_io(r#", "duration": "1us", "io_servers": 0"#), "io_servers", "from 1"),
        (30, None, mpi_io(r#", "duration": "1us", "io_servers": 7"#), "io_servers", "at most 6"),
        (32, None, mpi_io(r#", "duration": "1us", "io_clients": 0.5"#), "io_clients", "two MPI processes"),
        (32, None, mpi_io(r#", "duration": "1us", "io_share": -0.5"#), "io_share", "from 0 to 1"),
        (32, None, mpi_io(r#", "duration": "1us", "io_sizes": []"#), "io_sizes", "at least one size"),
        (32, None, mpi_io(r#", "duration": "1us", "mpi_sizes": ["0B"]"#), "mpi_sizes", "1B"),
        (32, None, mpi_io(r#", "duration": "1us", "mpi_small": "0B""#), "mpi_small", "1B"),
    ] {
        let (found, message) = fault(hosts, end, &pattern);
        assert_eq!(found, key, "{pattern}");
        assert!(message.contains(text), "{pattern}: {message}");
    }
    // Few congestors do where none run.
    assert!(try_make(8, None, &[r#"{"pattern": "gpcnet", "congestors": false}"#]).is_ok());
    let absent = r#"{"pattern": "allreduce", "algorithm": "tree", "size": "1KB", "hosts": ["hots1"]}"#;
    let unknown = try_make(6, None, &[absent]);
    assert!(matches!(
        unknown,
        Err(TrafficError::Pattern { key: "hosts", fault: Fault::UnknownHost { .. }, .. })
    ));
}
