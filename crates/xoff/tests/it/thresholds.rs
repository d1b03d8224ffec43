//! PFC's default threshold, and the warnings of thresholds, loads and arbitration that cannot do what they are meant to.
//!
//! In a star with links of 100 Gb/s and 1 us, frames of 1,518 B and PAUSE frames of 64 B, the headroom of a port is 2 x 1 us x
//! 12.5 B/ns = 25,000 B, two frames on the wires, 3,036 B, the PAUSE frame, 64 B, and the frame that crosses Xoff with a byte
//! for rounding, 1,519 B: 29,619 B.

use xoff::Scenario;
use xoff_engine::Bytes;
use xoff_fabric::settings::FlowControl;

const STAR: &str = r#"
[topology]
name = "star"
hosts = 4
rate = "100Gbps"
delay = "1us"

[scheme]
name = "none"

[[traffic]]
pattern = "incast"
senders = 3
receiver = "host0"
size = "100KB"
"#;

fn read(text: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Scenario::parse(text, "test.toml", &set).unwrap_or_else(|e| panic!("{e}"))
}

fn xoff(set: &[(&str, &str)]) -> Option<u64> {
    let FlowControl::Pfc(pfc) = read(STAR, set).flow_control else { panic!("no PFC") };
    pfc.xoff.map(|bytes: Bytes| bytes.0)
}

/// The only warning of a star with these settings, or nothing.
fn warning(set: &[(&str, &str)]) -> String {
    let scenario = read(STAR, set);
    match scenario.warnings() {
        [] => String::new(),
        [one] => one.clone(),
        several => panic!("{several:?}"),
    }
}

/// 40 us of the link: 500 KB at 100 Gb/s.
#[test]
fn the_default_threshold_follows_the_rate_with_and_without_the_table() {
    for (rate, bytes) in
        [("25Gbps", 125_000), ("40Gbps", 200_000), ("100Gbps", 500_000), ("800Gbps", 4_000_000)]
    {
        let rate = ("topology.rate", rate);
        assert_eq!(xoff(&[rate]), Some(bytes));
        assert_eq!(xoff(&[rate, ("flow_control.name", "pfc")]), Some(bytes));
        assert_eq!(xoff(&[rate, ("flow_control.refresh", "false")]), Some(bytes));
    }
    assert_eq!(xoff(&[("flow_control.xoff", "50KB")]), Some(50_000));
}

/// Four ports have 4 x 29,619 = 118,476 B of headroom. Of 318,476 B 200,000 B are left, 50,000 for each; of 120,000 B 1,524
/// are left, 381 for each, less than two frames, 3,036 B.
#[test]
fn a_buffer_bounds_the_default_threshold() {
    assert_eq!(xoff(&[("switch.buffer", "318476B")]), Some(50_000));
    assert_eq!(xoff(&[("switch.buffer", "120000B")]), Some(3_036));
    assert_eq!(xoff(&[("switch.buffer", "32MB")]), Some(500_000));
    // A static threshold that is given stands, and so does a dynamic one.
    assert_eq!(xoff(&[("switch.buffer", "32MB"), ("flow_control.alpha", "0.125")]), None);
}

#[test]
fn ports_of_several_rates_have_a_threshold_each() {
    let set = [("topology", r#"{ name = "leaf_spine", host_rate = "100Gbps", spine_rate = "400Gbps" }"#)];
    assert_eq!(xoff(&set), None);
    // The resolved form is a scenario again, with the same thresholds.
    let resolved = serde_json::to_value(read(STAR, &set)).expect("JSON");
    assert_eq!(resolved["flow_control"]["xoff"], serde_json::Value::Null);
}

#[test]
fn keys_that_belong_to_a_threshold_need_it() {
    let refused = |set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        Scenario::parse(STAR, "test.toml", &set).expect_err("refused").to_string()
    };
    assert!(
        refused(&[("flow_control.xon", "10KB")]).contains("`xon` in [flow_control] stands without `xoff`")
    );
    let text = refused(&[("flow_control.reserve", "1KB")]);
    assert!(text.contains("`reserve` in [flow_control] has no meaning without `alpha`"), "{text}");
}

/// RED's default K_min at 100 Gb/s is 400 KB. With six hosts five others can fill a queue with 5 x 129,619 B, more than that;
/// with up to 400 / 100 = 4 inputs each is stopped at 100 KB before the queue has 400 KB. With four hosts three others bring
/// 3 x 129,619 = 388,857 B at most: nothing is ever marked.
#[test]
fn marks_that_come_too_late_or_never_are_warned_of() {
    let dcqcn = ("scheme.name", "dcqcn");
    let six = ("topology.hosts", "6");
    let low = ("flow_control.xoff", "100KB");
    assert_eq!(
        warning(&[dcqcn, six, low]),
        "marks begin at 400KB (`k_min` at 100Gbps), PAUSE at 100KB an input (`xoff`): with up to 4 inputs PAUSE comes before any mark"
    );
    assert_eq!(
        warning(&[dcqcn, low]),
        "nothing is ever marked: marks begin at 400KB (`k_min`), and no queue can hold more than 388.857KB"
    );
    // Two inputs make a queue: it has 400 KB when each is stopped at 200 KB.
    for (xoff, late) in [("200KB", true), ("200.001KB", false)] {
        let found = warning(&[dcqcn, six, ("flow_control.xoff", xoff)]);
        assert_eq!(found.contains("with up to 2 inputs PAUSE"), late, "{found}");
    }
    // At 20 KB an input 20 of them are stopped, and a star of 17 has 16 for a port: 16 x 49,619 B are more than 400 KB.
    let seventeen = ("topology.hosts", "17");
    let found = warning(&[dcqcn, seventeen, ("flow_control.xoff", "20KB")]);
    assert!(found.contains("with up to 16 inputs PAUSE"), "{found}");
    // Who looks at no marks is not warned of them.
    assert_eq!(warning(&[six, low]), "");
    assert_eq!(warning(&[dcqcn]), "", "by default marks come first");
    // TCD wraps RED; FECN has a threshold of its own, 50 KB.
    assert!(warning(&[dcqcn, six, low, ("detector.name", "tcd")]).contains("`k_min`"));
    let fecn = warning(&[("scheme.name", "ib_cc"), six, ("flow_control.xoff", "20KB")]);
    assert!(
        fecn.contains("marks begin at 50KB (`threshold` at 100Gbps)") && fecn.contains("up to 2 inputs"),
        "{fecn}"
    );
}

/// A queue behind a neighbour that pauses the port holds what one input brings. At Xoff of 100 KB a link of 50 us has a headroom of
/// 2 x 50 us x 12.5 B/ns = 1,250,000 B and more: above 400 KB, where marks begin. Of 1 us, one input brings 129,619 B.
#[test]
fn a_queue_of_one_input_grows_behind_a_paused_port() {
    let pair = |delay: &str| {
        let two = r#"hosts = ["host0", "host1"], switches = ["s"],
            links = [{ a = "host0", b = "s", rate = "100Gbps", delay = "DELAY" },
            { a = "host1", b = "s", rate = "100Gbps", delay = "1us" }]"#;
        let topology = format!(r#"{{ name = "graph", {} }}"#, two.replace("DELAY", delay));
        let flow = r#"[{ pattern = "flow", src = "host0", dst = "host1", size = "1MB" }]"#;
        let xoff = ("flow_control.xoff", "100KB");
        warning(&[("topology", &topology), ("scheme.name", "dcqcn"), xoff, ("traffic", flow)])
    };
    assert_eq!(pair("50us"), "");
    assert!(pair("1us").contains("no queue can hold more than 129.619KB"), "{}", pair("1us"));
}

/// A queue of a lossy switch holds its memory at most.
#[test]
fn marks_beyond_the_memory_of_a_lossy_switch_are_warned_of() {
    let lossy = [("lossy", "true"), ("flow_control", r#"{ name = "none" }"#), ("scheme.name", "dcqcn")];
    let with = |buffer| warning(&[lossy[0], lossy[1], lossy[2], ("switch.buffer", buffer)]);
    assert!(with("400KB").contains("no queue can hold more than 400KB"));
    assert_eq!(with("500KB"), "");
}

#[test]
fn short_headroom_is_warned_of() {
    // All ports lack a byte; the last one is named.
    assert_eq!(
        warning(&[("flow_control.headroom", "29618B")]),
        "`headroom` in [flow_control] is 29.618KB at `host3->switch1`, and up to 29.619KB can arrive after PAUSE: packets may be \
         lost"
    );
    assert_eq!(warning(&[("flow_control.headroom", "29619B")]), "");
    assert_eq!(warning(&[("flow_control.headroom", "40KB")]), "");
    // Once rate times delay is 12,500 B.
    assert!(
        warning(&[("flow_control.headroom_bdp", "1")]).contains("`headroom_bdp` in [flow_control] is 12.5KB")
    );
}

/// Loads are of payload. A full frame of 1,518 B carries 1,456 B of it, so that a load of 0.96 takes 1.0009 of a link.
#[test]
fn loads_beyond_the_links_are_warned_of() {
    let poisson = |load: &str, more: &str| {
        format!(r#"{{ pattern = "poisson", workload = "websearch", load = {load}, stop = "1ms"{more} }}"#)
    };
    let with = |patterns: &[String]| warning(&[("traffic", &format!("[{}]", patterns.join(", ")))]);
    assert_eq!(with(&[poisson("0.95", "")]), "");
    assert_eq!(
        with(&[poisson("0.96", "")]),
        "`load` in [[traffic]] is 0.960 of payload, 1.001 with headers: more than the senders' links carry"
    );
    // Two patterns on the same hosts add up if they are on at the same time, with labels and without.
    assert!(with(&[poisson("0.7", ""), poisson("0.7", "")]).contains("is 1.400 of payload"));
    let (low, high) = (r#", hosts = "host0..host1""#, r#", hosts = "host2..host3""#);
    assert_eq!(with(&[poisson("0.7", low), poisson("0.7", high)]), "");
    // What a label has in all does not count for each of its hosts: host0 has 0.2 and 0.3, host2 0.7 and 0.2.
    let label = |hosts: &str, label: &str| format!("{hosts}, label = \"{label}\"");
    let (low_a, high_a) = (label(low, "a"), label(high, "a"));
    let (low_b, high_b) = (label(low, "b"), label(high, "b"));
    let four = [("0.2", low_a), ("0.7", high_a), ("0.3", low_b), ("0.2", high_b)];
    assert_eq!(with(&four.map(|(load, more)| poisson(load, &more))), "");
    let (a, b) = (r#", label = "a""#, r#", label = "b""#);
    assert!(with(&[poisson("0.5", a), poisson("0.5", b)]).contains("is 1.000 of payload"));
    let later = r#", label = "b", start = "1ms", stop = "2ms""#;
    let later = format!(r#"{{ pattern = "poisson", workload = "websearch", load = 0.5{later} }}"#);
    assert_eq!(with(&[poisson("0.5", a), later]), "");
}

#[test]
fn arbitration_among_one_lane_is_warned_of() {
    let weighted =
        [("switch.priorities", "2"), ("switch.scheduling", "weighted"), ("switch.high_limit", "3")];
    let found = warning(&weighted);
    assert_eq!(found, "`high_limit` in [switch] has no effect: all traffic has priority 0");
    let two = r#"[{ pattern = "flow", src = "host1", dst = "host0", size = "1KB" },
        { pattern = "flow", src = "host2", dst = "host0", size = "1KB", priority = 1 }]"#;
    let both = [weighted[0], weighted[1], weighted[2], ("traffic", two)];
    assert_eq!(warning(&both), "`high_limit` in [switch] has no effect: no priority is a high one");
    let high = [both[0], both[1], both[2], both[3], ("switch.high_priority", "[1]")];
    assert_eq!(warning(&high), "");
}

#[test]
fn a_bound_of_eager_messages_that_is_never_reached_is_warned_of() {
    let gpcnet = |keys: &str| {
        let traffic = format!(
            r#"[{{ pattern = "gpcnet", processes = 2, congestor_size = "4KiB", congestor_iterations = 10{keys} }}]"#
        );
        let scenario = read(STAR, &[("topology.hosts", "16"), ("traffic", &traffic)]);
        let found: Vec<String> =
            scenario.warnings().iter().filter(|w| w.contains("eager_outstanding")).cloned().collect();
        found.join("\n")
    };
    assert_eq!(gpcnet(""), "");
    assert_eq!(gpcnet(", eager_outstanding = 9"), "");
    assert!(gpcnet(", eager_outstanding = 10").contains("a process sends 10 messages"));
    assert!(gpcnet(r#", eager_outstanding = 9, eager = "1KiB""#).contains("are above `eager`, 1.024KB"));
    let others = r#", eager_outstanding = 9, congestor_kernels = ["put_incast"]"#;
    assert!(gpcnet(others).contains("no congestor is a `two_sided_incast`"));
}

/// A value that is no TOML is a text, also if it begins with a digit. A key in quotes may hold dots.
#[test]
fn settings_take_texts_that_begin_with_digits_and_keys_in_quotes() {
    let narrow = [
        ("flow_control.name", "cbfc"),
        ("flow_control.counters", "12_bit"),
        ("flow_control.undersized", "true"),
    ];
    let FlowControl::Cbfc(cbfc) = read(STAR, &narrow).flow_control else { panic!("no CBFC") };
    assert_eq!(cbfc.counters, xoff_fabric::settings::CounterWidth::TwelveBit);

    let swept = format!("{STAR}\n[sweep]\n\"scheme.name\" = [\"none\", \"hpcc\", \"fncc\"]\n");
    let points = |set: &[(&str, &str)]| read(&swept, set).sweep_points().len();
    assert_eq!(points(&[]), 3);
    for key in ["sweep.\"scheme.name\"", "sweep.'scheme.name'", "sweep.scheme.name"] {
        assert_eq!(points(&[(key, "[\"dctcp\"]")]), 1, "{key} replaces what the file has");
        assert_eq!(
            read(STAR, &[(key, "[\"dctcp\", \"hpcc\"]")]).sweep_points().len(),
            2,
            "{key} without a sweep in the file"
        );
    }
    // Numbers stay numbers, with underscores too, and so do those that do not fit.
    assert_eq!(read(STAR, &[("seed", "1_000")]).seed, 1_000);
    for key in ["sweep.\"scheme.name", "sweep.\"\"", ".seed", "sweep.\"scheme\"name"] {
        let set = [(key.to_string(), "1".to_string())];
        let error = Scenario::parse(STAR, "test.toml", &set).expect_err("no key").to_string();
        assert!(error.contains("is no key"), "{key}: {error}");
    }
}
