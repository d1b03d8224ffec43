//! What each pattern makes, worked out by hand.

use xoff_engine::{Rate, Time};
use xoff_traffic::{Fault, FlowSpec, HostInfo, Pattern, Traffic, TrafficError, generate};

/// `host0` to `host{n-1}` at 100 Gbps.
fn hosts(n: u32) -> Vec<HostInfo> {
    (0..n)
        .map(|i| HostInfo { name: format!("host{i}"), rate: Rate::from_gbps(100), rack: 0, nics: 1 })
        .collect()
}

fn files(path: &str) -> Result<String, String> {
    match path {
        "plain.txt" => Ok("# src dst size start\nhost0 host1 64KB 1us\nhost2, host3, 1KB, 0.5us\n".into()),
        "class.txt" => Ok("host0 host1 64KB 1us 3\n".into()),
        "table.csv" => Ok("dst,src,start_ps,size_bytes\nhost1,host0,1500,64000\n".into()),
        "wrong_host.txt" => Ok("host0 host1 1KB 0us\n\nhost0 hots1 1KB 0us\n".into()),
        "no_unit.txt" => Ok("host0 host1 1000 0us\n".into()),
        "itself.txt" => Ok("host1 host1 1KB 0us\n".into()),
        "late.txt" => Ok("host0 host1 1KB 1s\n".into()),
        "short.txt" => Ok("host0 host1 1KB\n".into()),
        "uneven.txt" => Ok("host0 host1 1KB 0us\nhost0 host1 1KB 0us 1\n".into()),
        "no_start.csv" => Ok("src,dst,size\nhost0,host1,1KB\n".into()),
        "odd.csv" => Ok("src,dst,size,strat\nhost0,host1,1KB,0us\n".into()),
        "twice.csv" => Ok("src,dst,size,start,size_bytes\nhost0,host1,1KB,0us,1000\n".into()),
        "empty.txt" => Ok("# nothing\n".into()),
        "half.txt" => Ok("0 0\n1000 50\n3000 100\n".into()),
        other => Err(format!("no such file as {other}")),
    }
}

fn read(json: &str) -> Pattern {
    serde_json::from_str(json).unwrap()
}

fn try_make(n: u32, horizon: Option<Time>, json: &[&str]) -> Result<Traffic, TrafficError> {
    let patterns: Vec<Pattern> = json.iter().map(|j| read(j)).collect();
    generate(&patterns, &hosts(n), 1, horizon, &files)
}

fn make(n: u32, horizon: Option<Time>, json: &str) -> Traffic {
    try_make(n, horizon, &[json]).unwrap()
}

fn pairs(flows: &[FlowSpec]) -> Vec<(u32, u32)> {
    flows.iter().map(|f| (f.src, f.dst)).collect()
}

fn starts_us(flows: &[FlowSpec]) -> Vec<u64> {
    flows.iter().map(|f| f.start.ps() / 1_000_000).collect()
}

const MS: Option<Time> = Some(Time::from_ms(1));

#[test]
fn a_flow_is_what_it_says() {
    let t = make(
        4,
        MS,
        r#"{"pattern": "flow", "src": "host2", "dst": "host0", "size": "1MB", "start": "3us", "stop": "9us",
            "rate": "25Gbps", "priority": 3, "label": "victim"}"#,
    );
    let expected = FlowSpec {
        src: 2,
        dst: 0,
        size: 1_000_000.into(),
        start: Time::from_us(3),
        stop: Time::from_us(9),
        app_rate: Rate::from_gbps(25),
        priority: 3,
        ..FlowSpec::default()
    };
    assert_eq!(
        t,
        Traffic {
            flows: [expected].into_iter().collect(),
            labels: vec!["victim".into()],
            ..Traffic::default()
        }
    );
    // Without a size it is endless, which takes an end of some kind.
    let endless = r#"{"pattern": "flow", "src": "host2", "dst": "host0"}"#;
    assert_eq!(make(4, MS, endless).flows.to_vec()[0].size.bytes(), None);
    assert!(matches!(
        try_make(4, None, &[endless]),
        Err(TrafficError::Pattern { key: "size", fault: Fault::Missing(_), .. })
    ));
}

#[test]
fn an_incast_takes_the_first_other_hosts() {
    let t = make(
        6,
        MS,
        r#"{"pattern": "incast", "senders": 3, "receiver": "host1", "size": "64KB", "start": "5us"}"#,
    );
    assert_eq!(pairs(&t.flows.to_vec()), [(0, 1), (2, 1), (3, 1)]);
    assert!(t.flows.to_vec().iter().all(|f| f.size.bytes() == Some(64_000) && f.start == Time::from_us(5)));
    let t = make(4, MS, r#"{"pattern": "incast", "senders": "all", "receiver": "host1", "size": "64KB"}"#);
    assert_eq!(pairs(&t.flows.to_vec()), [(0, 1), (2, 1), (3, 1)]);
    let t = make(
        9,
        MS,
        r#"{"pattern": "incast", "senders": "host4..host6", "receiver": "host1", "size": "64KB"}"#,
    );
    assert_eq!(pairs(&t.flows.to_vec()), [(4, 1), (5, 1), (6, 1)]);
}

#[test]
fn repetitions_are_periodic_and_end_where_they_should() {
    let with = |keys: &str, horizon| {
        let json =
            format!(r#"{{"pattern": "incast", "senders": 2, "receiver": "host0", "size": "1KB", {keys}}}"#);
        starts_us(&make(4, horizon, &json).flows.to_vec())
    };
    // Two senders at each moment.
    assert_eq!(with(r#""every": "16us", "repeat": 3, "start": "4us""#, None), [4, 4, 20, 20, 36, 36]);
    assert_eq!(with(r#""every": "16us", "stop": "36us", "start": "4us""#, MS), [4, 4, 20, 20]);
    assert_eq!(with(r#""every": "10us""#, Some(Time::from_us(21))), [0, 0, 10, 10, 20, 20]);
    assert_eq!(with(r#""every": "10us", "repeat": 9"#, Some(Time::from_us(20))), [0, 0, 10, 10]);
}

#[test]
fn a_spread_incast_starts_evenly_over_its_time() {
    // 999 messages from 5 us on, drawn over 100 us: mean 55 us with a deviation of 100/sqrt(12 * 999) = 0.91 us.
    let t = make(
        1_000,
        MS,
        r#"{"pattern": "incast", "senders": "all", "receiver": "host0", "size": "1KB", "start": "5us", "spread": "100us"}"#,
    );
    assert_eq!(t.flows.len(), 999);
    assert!(t.flows.to_vec().iter().all(|f| f.start >= Time::from_us(5) && f.start < Time::from_us(105)));
    let mean = t.flows.to_vec().iter().map(|f| f.start.0 as f64 * 1e-6).sum::<f64>() / 999.0;
    assert!((mean - 55.0).abs() < 5.0 * 0.91, "{mean}");
    // Of the moments at 0 and 50 us the second's messages come up to 100 us, a half of them after the end at 75 us.
    let json = r#"{"pattern": "incast", "senders": "all", "receiver": "host0", "size": "1KB", "every": "50us", "spread": "50us"}"#;
    let t = make(1_000, Some(Time::from_us(75)), json);
    assert!((1_400..1_600).contains(&t.flows.len()), "{}", t.flows.len());
    assert!(t.flows.to_vec().iter().all(|f| f.start < Time::from_us(75)));
    let error = try_make(1_000, Some(Time::from_us(49)), &[json]).unwrap_err();
    assert!(matches!(error, TrafficError::Pattern { key: "spread", .. }), "{error}");
}

#[test]
fn a_poisson_incast_has_its_rate() {
    // 1 s over 100 us: 10,000 moments expected, sigma 100; five sigma.
    let t = make(
        4,
        Some(Time::from_ms(1000)),
        r#"{"pattern": "incast", "senders": 1, "receiver": "host0", "size": "1KB", "every": "100us", "poisson": true}"#,
    );
    assert!(t.flows.len().abs_diff(10_000) < 500, "{}", t.flows.len());
    // The share of gaps above the mean is 1/e = 36.8 %, sigma 0.48 %: no periodic process has it.
    let long =
        t.flows.to_vec().windows(2).filter(|w| w[1].start - w[0].start > Time::from_us(100)).count() as f64;
    assert!((long / t.flows.len() as f64 - 0.368).abs() < 0.024);
}

#[test]
fn a_random_incast_draws_senders_and_receiver_anew_without_repetition() {
    let t = make(
        10,
        MS,
        r#"{"pattern": "incast", "senders": 4, "receiver": "random", "random": true, "size": "1KB", "every": "1us",
            "repeat": 500}"#,
    );
    assert_eq!(t.flows.len(), 2000);
    let (mut received, mut sent) = ([0i32; 10], [0i32; 10]);
    for moment in t.flows.to_vec().chunks(4) {
        let mut srcs: Vec<u32> = moment.iter().map(|f| f.src).collect();
        srcs.sort_unstable();
        srcs.dedup();
        assert_eq!(srcs.len(), 4);
        assert!(moment.iter().all(|f| f.dst == moment[0].dst && f.src != f.dst));
        received[moment[0].dst as usize] += 1;
        moment.iter().for_each(|f| sent[f.src as usize] += 1);
    }
    // Receptions of a host are binomial (500, 1/10): mean 50, sigma 6.7. Sendings (500, 4/10): mean 200, sigma 11.
    assert!(received.iter().all(|n| (n - 50).abs() < 34), "{received:?}");
    assert!(sent.iter().all(|n| (n - 200).abs() < 55), "{sent:?}");
}

#[test]
fn a_burst_of_nobody_is_refused() {
    // A network without hosts has no senders: 2^64 moments of none of them would be no message, and take for ever.
    let burst = r#"{"pattern": "burst", "senders": "all", "size": "1KB", "every": "1ps", "count": 18446744073709551615}"#;
    let error = try_make(0, None, &[burst]).expect_err("nobody sends").to_string();
    assert_eq!(error, "traffic[0] (`burst`): `senders` is 0: expected two hosts or more");
}

#[test]
fn a_burst_is_synchronous() {
    let t = make(
        8,
        MS,
        r#"{"pattern": "burst", "senders": ["host0..host2"], "receivers": ["host5", "host6"], "paired": true,
            "size": "64KB", "every": "450us", "count": 2}"#,
    );
    // Three senders on two receivers: the third begins again with the first.
    assert_eq!(pairs(&t.flows.to_vec()), [(0, 5), (1, 6), (2, 5), (0, 5), (1, 6), (2, 5)]);
    assert_eq!(starts_us(&t.flows.to_vec()), [0, 0, 0, 450, 450, 450]);

    // With a workload each moment has one size for all senders, and moments differ.
    let t = make(
        8,
        MS,
        r#"{"pattern": "burst", "senders": "host0..host2", "workload": "fb_hadoop", "every": "50us", "poisson": true}"#,
    );
    let flows = t.flows.to_vec();
    let moments: Vec<&[FlowSpec]> = flows.chunks(3).collect();
    assert!(moments.iter().all(|m| m.iter().all(|f| f.size == m[0].size && f.start == m[0].start)));
    assert!(moments.windows(2).any(|w| w[0][0].size != w[1][0].size));
    // Receivers are drawn from all hosts.
    assert!(t.flows.to_vec().iter().any(|f| f.dst != t.flows.of(0).dst));
}

#[test]
fn all_to_all_goes_in_rounds_that_are_permutations() {
    let t = make(4, MS, r#"{"pattern": "all_to_all", "size": "4096B", "start": "1us", "stagger": "2us"}"#);
    assert_eq!(
        pairs(&t.flows.to_vec()),
        [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3), (2, 0), (3, 1), (0, 3), (1, 0), (2, 1), (3, 2)]
    );
    assert_eq!(starts_us(&t.flows.to_vec()), [1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5]);
}

#[test]
fn lists_are_read_with_units_or_named_columns() {
    let list =
        |file: &str, more: &str| make(4, MS, &format!(r#"{{"pattern": "list", "file": "{file}"{more}}}"#));
    let t = list("plain.txt", r#", "start": "10us", "priority": 2"#);
    // Sorted by start: the second line comes first.
    assert_eq!(pairs(&t.flows.to_vec()), [(2, 3), (0, 1)]);
    assert_eq!(t.flows.to_vec().iter().map(|f| f.start.ps()).collect::<Vec<_>>(), [10_500_000, 11_000_000]);
    assert_eq!(
        t.flows.to_vec().iter().map(|f| f.size.bytes()).collect::<Vec<_>>(),
        [Some(1000), Some(64_000)]
    );
    assert!(t.flows.to_vec().iter().all(|f| f.priority == 2));
    assert_eq!(list("class.txt", "").flows.to_vec()[0].priority, 3);
    let t = list("table.csv", "");
    assert_eq!(
        (pairs(&t.flows.to_vec()), t.flows.of(0).start, t.flows.of(0).size),
        (vec![(0, 1)], Time(1500), 64_000.into())
    );
}

#[test]
fn flows_are_sorted_by_start_then_pattern_then_order_and_labels_are_shared() {
    let flow = |src: u32, start: u32, label: &str| {
        format!(
            r#"{{"pattern": "flow", "src": "host{src}", "dst": "host9", "size": "1KB", "start": "{start}us"{label}}}"#
        )
    };
    let patterns = [
        flow(0, 5, r#", "label": "late""#),
        flow(1, 2, ""),
        r#"{"pattern": "incast", "senders": "host3..host4", "receiver": "host0", "size": "1KB", "start": "2us"}"#.into(),
        flow(2, 0, ""),
    ];
    let t = try_make(10, None, &patterns.each_ref().map(String::as_str)).unwrap();
    assert_eq!(pairs(&t.flows.to_vec()), [(2, 9), (1, 9), (3, 0), (4, 0), (0, 9)]);
    assert_eq!(t.labels, ["late", "flow", "incast"]);
    assert_eq!(t.flows.to_vec().iter().map(|f| f.label).collect::<Vec<_>>(), [1, 1, 2, 2, 0]);
}

#[test]
fn a_distribution_from_a_file_is_used() {
    // Half of the flows 0 to 1000 B, half 1000 to 3000 B: mean 250 + 1000 = 1250 B.
    let t = make(4, MS, r#"{"pattern": "poisson", "load": 0.5, "cdf": "half.txt", "duration": "100us"}"#);
    assert_eq!((t.offered[0].mean, t.offered[0].end), (1250.0, Time::from_us(100)));
    assert_eq!(t.offered[0].workload, "half.txt");
    assert!(
        t.flows
            .to_vec()
            .iter()
            .all(|f| f.size.bytes().is_some_and(|s| (1..=3000).contains(&s)) && f.start < Time::from_us(100))
    );
    // The sums of the report are those of the flows.
    assert_eq!(t.offered[0].flows, t.flows.len() as u64);
    assert_eq!(t.offered[0].bytes, t.flows.to_vec().iter().filter_map(|f| f.size.bytes()).sum::<u64>());
    // Four hosts of 12.5 GB/s carry 5 MB in 100 us.
    assert!((t.offered[0].offered - t.offered[0].bytes as f64 / 5e6).abs() < 1e-9);
}

#[test]
fn too_many_flows_are_refused_before_they_are_made() {
    // 1000 hosts at 12.5 GB/s and load 0.5 for 1 s make 6.25e12 B; MPI messages have 7,850 B on average: 7.96e8 flows.
    let wide =
        r#"{"pattern": "poisson", "load": 0.5, "workload": "tcd_mpi", "duration": "1s", "label": "mpi"}"#;
    let error = try_make(1000, None, &[wide]).unwrap_err();
    let TrafficError::TooManyFlows { index: 0, count, limit: 50_000_000, .. } = &error else {
        panic!("{error}")
    };
    assert!(count.abs_diff(796_178_343) < 1000, "{count}");
    let message = error.to_string();
    assert!(
        message.contains("796178") && message.contains("`mpi`") && message.contains("1000 hosts at load 0.5")
    );
    // 8000 * 7999 = 63,992,000.
    let error = try_make(8000, None, &[r#"{"pattern": "all_to_all", "size": "1KB"}"#]).unwrap_err();
    assert!(matches!(error, TrafficError::TooManyFlows { count: 63_992_000, .. }));
    // Numbers beyond 64 bits are counted, not wrapped.
    let many = r#"{"pattern": "incast", "senders": 9, "receiver": "host0", "size": "1KB", "every": "1ps",
                   "repeat": 18446744073709551615}"#;
    assert!(matches!(try_make(10, None, &[many]), Err(TrafficError::TooManyFlows { .. })));
}

#[test]
fn mistakes_are_refused_by_key() {
    let key = |json: &str| match try_make(4, MS, &[json]) {
        Err(TrafficError::Pattern { index: 0, key, fault, .. }) => (key, fault),
        other => panic!("{json}: {other:?}"),
    };
    let flow = |more: &str| key(&format!(r#"{{"pattern": "flow", {more}}}"#));
    let incast = |more: &str| key(&format!(r#"{{"pattern": "incast", "size": "1KB", {more}}}"#));
    let burst = |more: &str| key(&format!(r#"{{"pattern": "burst", {more}}}"#));
    let poisson = |more: &str| key(&format!(r#"{{"pattern": "poisson", "workload": "websearch", {more}}}"#));
    let list = |file: &str| match key(&format!(r#"{{"pattern": "list", "file": "{file}"}}"#)) {
        ("file", Fault::Line { line, column, fault, .. }) => (line, column, *fault),
        other => panic!("{file}: {other:?}"),
    };
    use Fault::{AfterEnd, File, Missing, OutOfBounds, Quantity, ToItself, Twice, UnknownHost, Unneeded};

    assert!(matches!(flow(r#""src": "host9", "dst": "host0""#), ("src", UnknownHost { .. })));
    assert!(matches!(flow(r#""src": "host1", "dst": "host1""#), ("dst", ToItself(_))));
    let ends = r#""src": "host0", "dst": "host1""#;
    assert!(matches!(flow(&format!(r#"{ends}, "size": "0B""#)), ("size", OutOfBounds { .. })));
    assert!(matches!(flow(&format!(r#"{ends}, "size": "1001GB""#)), ("size", OutOfBounds { .. })));
    assert!(matches!(flow(&format!(r#"{ends}, "start": "1ms""#)), ("start", AfterEnd { .. })));
    assert!(matches!(
        flow(&format!(r#"{ends}, "start": "5us", "stop": "5us""#)),
        ("stop", OutOfBounds { .. })
    ));
    assert!(matches!(flow(&format!(r#"{ends}, "rate": "0bps""#)), ("rate", OutOfBounds { .. })));
    assert!(matches!(flow(&format!(r#"{ends}, "rate": "101Gbps""#)), ("rate", OutOfBounds { .. })));
    assert!(matches!(flow(&format!(r#"{ends}, "priority": 8"#)), ("priority", OutOfBounds { .. })));
    assert!(matches!(flow(&format!(r#"{ends}, "label": """#)), ("label", OutOfBounds { .. })));

    assert!(matches!(incast(r#""senders": 0, "receiver": "host0""#), ("senders", OutOfBounds { .. })));
    assert!(matches!(incast(r#""senders": 4, "receiver": "host0""#), ("senders", OutOfBounds { .. })));
    assert!(matches!(incast(r#""senders": "host0..host2", "receiver": "host0""#), ("senders", ToItself(_))));
    assert!(matches!(incast(r#""senders": ["host1", "host1"], "receiver": "host0""#), ("senders", Twice(_))));
    assert!(matches!(
        incast(r#""senders": "host1", "receiver": "host0", "random": true"#),
        ("random", Unneeded(_))
    ));
    assert!(matches!(incast(r#""senders": "host1", "receiver": "random""#), ("receiver", Unneeded(_))));
    let three = r#""senders": 3, "receiver": "host0""#;
    assert!(matches!(incast(&format!(r#"{three}, "repeat": 0"#)), ("repeat", OutOfBounds { .. })));
    assert!(matches!(incast(&format!(r#"{three}, "repeat": 2"#)), ("every", Missing(_))));
    assert!(matches!(incast(&format!(r#"{three}, "poisson": true"#)), ("every", Missing(_))));
    assert!(matches!(
        incast(&format!(r#"{three}, "every": "0us", "repeat": 2"#)),
        ("every", OutOfBounds { .. })
    ));

    assert!(matches!(
        burst(r#""senders": "host0", "receivers": "host0", "size": "1KB""#),
        ("receivers", ToItself(_))
    ));
    let crossed =
        r#""senders": ["host0", "host1"], "receivers": ["host2", "host1"], "size": "1KB", "paired": true"#;
    assert!(matches!(burst(crossed), ("receivers", ToItself(_))));
    assert!(matches!(burst(r#""senders": "host0""#), ("workload", Missing(_))));
    assert!(matches!(
        burst(r#""senders": "host0", "size": "1KB", "count": 0"#),
        ("count", OutOfBounds { .. })
    ));

    for load in ["0", "-0.1", "1.0001"] {
        assert!(matches!(poisson(&format!(r#""load": {load}"#)), ("load", OutOfBounds { .. })), "{load}");
    }
    assert!(matches!(poisson(r#""load": 0.5, "stop": "1us", "duration": "1us""#), ("duration", Unneeded(_))));
    assert!(matches!(poisson(r#""load": 0.5, "duration": "0us""#), ("duration", OutOfBounds { .. })));
    assert!(matches!(
        poisson(r#""load": 0.5, "hosts": "host0", "destinations": "host0""#),
        ("destinations", ToItself(_))
    ));
    assert!(matches!(key(r#"{"pattern": "poisson", "load": 0.5, "cdf": "none.txt"}"#), ("cdf", File { .. })));
    assert!(matches!(key(r#"{"pattern": "permutation", "hosts": "host0"}"#), ("hosts", OutOfBounds { .. })));
    let slow = r#"{"pattern": "all_to_all", "size": "1KB", "stagger": "500us"}"#;
    // Three rounds at 0, 500 and 1000 us; the run ends at 1000 us.
    assert!(matches!(key(slow), ("stagger", OutOfBounds { .. })));

    assert!(matches!(key(r#"{"pattern": "list", "file": "none.txt"}"#), ("file", File { .. })));
    assert!(matches!(key(r#"{"pattern": "list", "file": "empty.txt"}"#), ("file", File { .. })));
    assert!(
        matches!(list("wrong_host.txt"), (3, c, UnknownHost { nearest, .. }) if c == "dst" && nearest.0.as_deref() == Some("host1"))
    );
    assert!(matches!(list("no_unit.txt"), (1, c, Quantity(_)) if c == "size"));
    assert!(matches!(list("itself.txt"), (1, c, ToItself(_)) if c == "dst"));
    assert!(matches!(list("late.txt"), (1, c, AfterEnd { .. }) if c == "start"));
    assert!(matches!(list("short.txt"), (1, c, OutOfBounds { .. }) if c == "line"));
    assert!(matches!(list("uneven.txt"), (2, c, OutOfBounds { .. }) if c == "line"));
    assert!(matches!(list("no_start.csv"), (1, c, Missing(_)) if c == "start"));
    assert!(
        matches!(list("odd.csv"), (1, c, OutOfBounds { expected, .. }) if c == "strat" && expected.contains("`start`"))
    );
    assert!(matches!(list("twice.csv"), (1, c, Unneeded(_)) if c == "size_bytes"));
}

#[test]
fn not_a_number_and_no_rate_are_refused() {
    let mut pattern = read(r#"{"pattern": "poisson", "workload": "websearch", "load": 0.5}"#);
    let mut still = hosts(3);
    still[1].rate = Rate(0);
    let error = generate(&[pattern.clone()], &still, 1, MS, &files).unwrap_err();
    assert_eq!(
        error.to_string(),
        "traffic[0] (`poisson`): `hosts` is `host1` at 0bps: expected hosts whose line rate is above 0"
    );
    let Pattern::Poisson(poisson) = &mut pattern else { panic!() };
    poisson.load = f64::NAN;
    assert!(matches!(
        generate(&[pattern], &hosts(3), 1, MS, &files),
        Err(TrafficError::Pattern { key: "load", .. })
    ));
}

#[test]
fn messages_name_pattern_key_and_what_was_expected() {
    let flow = r#"{"pattern": "flow", "src": "host0", "dst": "host1"}"#;
    let typo = r#"{"pattern": "poisson", "load": 0.5, "workload": "web_search", "label": "background"}"#;
    assert_eq!(
        try_make(4, MS, &[flow, typo]).unwrap_err().to_string(),
        "traffic[1] (`background`): `workload` names the unknown workload `web_search`: expected the name of a workload; did you mean `websearch`?"
    );
    let late = r#"{"pattern": "permutation", "start": "2ms"}"#;
    assert_eq!(
        try_make(4, MS, &[late]).unwrap_err().to_string(),
        "traffic[0] (`permutation`): `start` is 2ms: expected a time before the end of the run at 1ms"
    );
}
