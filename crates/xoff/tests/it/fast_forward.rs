//! Fast-forwarded runs beside plain ones: random small scenarios, and what a scenario may ask for.

use std::fmt::Write;

use crate::common::{numbers, numbers_or_null, table};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use proptest::prelude::*;
use xoff::{Output, Scenario, Threads, run_on};

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "fast.toml", &[]).unwrap_or_else(|e| panic!("{e}"))
}

pub fn run(text: &str, fast: &str) -> Output {
    let text = format!("{text}\n[run]\n{fast}\n");
    run_on(Threads::UpTo(1), &scenario(&text), &mut |_| true).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

pub const FAST: &str = "fast_forward = { tolerance = 0.01 }";

/// A message: its ends, size in KB and start in us.
pub type Message = (u32, u32, u64, u64);

/// Messages among `hosts` hosts of a network.
pub fn text(topology: &str, scheme: &str, flow_control: &str, messages: &[Message]) -> String {
    // SRCC takes its threshold from PFC, if there is one.
    let threshold = if scheme == "srcc" { ", q_pfc = \"250KB\"" } else { "" };
    let mut text = format!(
        "topology = {{ {topology}, rate = \"100Gbps\", delay = \"500ns\" }}\nscheme = {{ name = \"{scheme}\"{threshold} }}\n\
         flow_control = {{ name = \"{flow_control}\" }}\nrecord = {{ pauses = false }}\n"
    );
    for &(src, dst, size, start) in messages {
        let dst = if dst == src { (dst + 1) % HOSTS } else { dst };
        writeln!(
            text,
            "[[traffic]]\npattern = \"flow\"\nsrc = \"host{src}\"\ndst = \"host{dst}\"\nsize = \"{size}KB\"\n\
             start = \"{start}us\""
        )
        .expect("a string");
    }
    text
}

const HOSTS: u32 = 8;

pub const TOPOLOGIES: [&str; 2] =
    ["name = \"star\", hosts = 8", "name = \"leaf_spine\", leaves = 2, spines = 2, hosts_per_leaf = 4"];

const SCHEMES: [&str; 16] = [
    "none",
    "dcqcn",
    "hpcc",
    "swift",
    "dctcp",
    "timely",
    "fncc",
    "patched_timely",
    "pcn",
    "rocc",
    "ib_cc",
    "sqcc",
    "theta_powertcp",
    "powertcp",
    "bolt",
    "srcc",
];

const FLOW_CONTROLS: [&str; 4] = ["pfc", "cbfc", "credit", "bfc"];

/// What is wrong with the fast run, if anything is: each message keeps to the tolerance, unless it ends after the moment from
/// which the run says that it cannot know.
fn fault(plain: &Output, fast: &Output) -> Option<String> {
    let [a, b] = [plain, fast].map(|output| numbers(table(output, "flows"), "start_ps"));
    if a == b { collective_fault(plain, fast) } else { Some("starts differ".into()) }
}

/// The same of messages that wait for each other, whose starts depend on the errors of those before.
pub fn collective_fault(plain: &Output, fast: &Output) -> Option<String> {
    let [a, b] = [plain, fast].map(|output| table(output, "flows"));
    let from = fast.manifest["fast_forward"]["uncertain_from_ps"].as_u64().unwrap_or(u64::MAX);
    let is_lossy = !plain.manifest["failures"].is_null();
    if numbers(a, "packets_sent") != numbers(b, "packets_sent") && !(is_lossy && from < u64::MAX) {
        return Some("packets differ".into());
    }
    let (starts, others) = (numbers(a, "start_ps"), numbers(b, "start_ps"));
    let times = numbers_or_null(a, "fct_ps").into_iter().zip(numbers_or_null(b, "fct_ps"));
    for (i, ((plain, fast), (start, other))) in times.zip(starts.into_iter().zip(others)).enumerate() {
        let (Some(plain), Some(fast)) = (plain, fast) else {
            return Some(format!("message {i} is not complete"));
        };
        if (start + plain).min(other + fast) >= from {
            continue;
        }
        let ends = [(plain, fast), (start + plain, other + fast)];
        if ends.iter().any(|(a, b)| a.abs_diff(*b) as f64 > 0.01 * *a as f64) {
            return Some(format!(
                "message {i}: {plain} and {fast} ps, ended at {} and {}",
                ends[1].0, ends[1].1
            ));
        }
    }
    None
}

/// One or two allreduces on the halves of the hosts.
fn collectives(
    network: [&str; 3],
    algorithms: [&str; 2],
    size: u64,
    repetitions: u32,
    compute: u32,
) -> String {
    let [topology, scheme, flow_control] = network;
    let mut text = text(topology, scheme, flow_control, &[]);
    for (algorithm, hosts) in algorithms.into_iter().zip(["host0..host3", "host4..host7"]) {
        writeln!(
            text,
            "[[traffic]]\npattern = \"allreduce\"\nalgorithm = \"{algorithm}\"\nsize = \"{size}KB\"\n\
             hosts = \"{hosts}\"\nrepetitions = {repetitions}\ncompute = \"{compute}us\""
        )
        .expect("a string");
    }
    text
}

const ALGORITHMS: [&str; 4] = ["ring", "tree", "halving_doubling", "recursive_doubling"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn random_collectives_keep_to_the_tolerance(
        topology in 0..TOPOLOGIES.len(),
        scheme in 0..SCHEMES.len(),
        flow_control in 0..FLOW_CONTROLS.len(),
        algorithms in (0..ALGORITHMS.len(), 0..ALGORITHMS.len()),
        size in 20_u64..4_000,
        repetitions in 1_u32..8,
        compute in 0_u32..100,
    ) {
        let network = [TOPOLOGIES[topology], SCHEMES[scheme], FLOW_CONTROLS[flow_control]];
        let algorithms = [ALGORITHMS[algorithms.0], ALGORITHMS[algorithms.1]];
        let text = collectives(network, algorithms, size, repetitions, compute);
        let (plain, fast) = (run(&text, ""), run(&text, FAST));
        prop_assert_eq!(collective_fault(&plain, &fast), None, "{}", text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn random_messages_keep_to_the_tolerance(
        topology in 0..TOPOLOGIES.len(),
        scheme in 0..SCHEMES.len(),
        flow_control in 0..FLOW_CONTROLS.len(),
        messages in prop::collection::vec((0..HOSTS, 0..HOSTS, 1_u64..5_000, 0_u64..600), 1..7),
    ) {
        let text = text(TOPOLOGIES[topology], SCHEMES[scheme], FLOW_CONTROLS[flow_control], &messages);
        let (plain, fast) = (run(&text, ""), run(&text, FAST));
        prop_assert_eq!(fault(&plain, &fast), None, "{}", text);
    }
}

/// `[[event]]`s of one link each: what happens to it, from when on and for how long in us.
fn failures(events: &[(usize, u32, u64, u64)], topology: &str) -> String {
    const KINDS: [&str; 4] = [
        "kind = \"link_down\"",
        "kind = \"degrade\"\nrate = \"40Gbps\"",
        "kind = \"bit_errors\"\nloss = 0.001",
        "kind = \"receiver_stop\"",
    ];
    let switch =
        |host| if topology.contains("star") { "switch1".into() } else { format!("leaf{}", host / 4) };
    let mut text = String::from("[host]\nretransmit_timeout = \"100us\"\n");
    for &(kind, host, at, length) in events {
        let place = match kind {
            3 => format!("host = \"host{host}\""),
            _ => format!("link = \"host{host}->{}\"", switch(host)),
        };
        let kind = KINDS[kind];
        writeln!(text, "[[event]]\n{kind}\n{place}\nat = \"{at}us\"\nfor = \"{length}us\"")
            .expect("a string");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn random_failures_are_met_at_the_same_moment(
        topology in 0..TOPOLOGIES.len(),
        scheme in 0..SCHEMES.len(),
        flow_control in 0..3_usize,
        messages in prop::collection::vec((0..HOSTS, 0..HOSTS, 1_000_u64..12_000, 0_u64..300), 1..5),
        events in prop::collection::vec((0..4_usize, 0..HOSTS, 50_u64..1_200, 20_u64..400), 1..4),
    ) {
        // Schemes that are certain of what they skip come more often.
        let (topology, scheme) = (TOPOLOGIES[topology], SCHEMES[scheme % 4]);
        let text = text(topology, scheme, FLOW_CONTROLS[flow_control], &messages) + &failures(&events, topology);
        let (plain, fast) = (run(&text, ""), run(&text, FAST));
        prop_assert_eq!(fault(&plain, &fast), None, "{}", text);
    }
}

#[test]
fn what_has_a_state_that_is_not_compared_is_simulated_whole() {
    let message = [(0, 1, 10_000, 0)];
    let uet = "lossy = true\n".to_owned()
        + &text(TOPOLOGIES[0], "nscc", "none", &message)
        + "[host]\ntransport = \"uet\"\n";
    let link = text(TOPOLOGIES[0], "none", "pfc", &message) + "[link]\nframe_loss = 1e-6\n";
    let credits = text(TOPOLOGIES[0], "expresspass", "pfc", &message);
    for (text, what) in
        [(uet, "transport `uet`"), (credits, "credits of scheme `expresspass`"), (link, "[link]")]
    {
        let (plain, fast) = (run(&text, ""), run(&text, FAST));
        assert_eq!(plain.manifest["fingerprint"], fast.manifest["fingerprint"], "{what}");
        assert_eq!(fast.manifest["fast_forward"]["jumps"], 0);
        let warnings: Vec<&str> =
            fast.manifest["warnings"].as_array().expect("a list").iter().filter_map(|w| w.as_str()).collect();
        let skips: Vec<_> = warnings
            .iter()
            .filter(|w| w.contains("skips nothing") || w.contains("skipped nothing"))
            .collect();
        assert!(skips.len() == 1 && skips[0].contains(what), "{warnings:?}");
        let held = fast.manifest["fast_forward"]["not_skipped"][0]["reason"].as_str().expect("a reason");
        assert!(held.contains("no time is carried forward"), "{held}");
    }
}

#[test]
fn long_messages_that_meet_nobody_are_skipped_under_each_scheme_and_flow_control() {
    // Four pairs of hosts of a star, 20 MB each: 1.7 ms, of which more than an eighth is skipped; schemes that swing
    // about a mean are first observed for some time.
    let messages: Vec<Message> = (0..4).map(|i| (2 * i, 2 * i + 1, 20_000, 5 * u64::from(i))).collect();
    // Receivers of PCN keep times of their own.
    for scheme in SCHEMES.into_iter().filter(|scheme| *scheme != "pcn") {
        // Credits that come from time to time leave only schemes whose state is known.
        let is_known = ["none", "dcqcn"].contains(&scheme);
        for flow_control in FLOW_CONTROLS.into_iter().filter(|name| is_known || *name != "cbfc") {
            let text = text(TOPOLOGIES[0], scheme, flow_control, &messages);
            let (plain, fast) = (run(&text, ""), run(&text, FAST));
            assert_eq!(fault(&plain, &fast), None, "{scheme} {flow_control}");
            let skipped = fast.manifest["fast_forward"]["skipped_ps"].as_u64().expect("a number");
            let all = fast.manifest["sim_time_ps"].as_u64().expect("a number");
            assert!(8 * skipped > all, "{scheme} {flow_control}: {skipped} of {all}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let text = text(TOPOLOGIES[1], "none", "pfc", &[(0, 4, 20_000, 0), (1, 5, 20_000, 10)]);
    let text = format!("{text}\n[run]\n{FAST}\n");
    let of = |threads| {
        let output = run_on(Threads::UpTo(threads), &scenario(&text), &mut |_| true).expect("a run");
        (output.manifest["fingerprint"].clone(), output.manifest["threads"].clone())
    };
    assert_eq!(of(1), of(4));
}

#[test]
fn a_run_whose_fast_forward_is_not_enabled_is_the_one_without() {
    // 20 MB alone: with fast-forward nearly all of it is skipped (see below). Switched off, records that need every packet are no error, but a tolerance
    // that no run could have is one.
    let base = text(TOPOLOGIES[0], "none", "pfc", &[(0, 1, 20_000, 0)])
        .replace("pauses", "breakdown = true, pauses");
    let [plain, off] =
        ["", "fast_forward = { enabled = false, tolerance = 0.02 }"].map(|fast| run(&base, fast));
    assert_eq!(
        (&off.manifest["fast_forward"], &off.manifest["scenario"]),
        (&serde_json::Value::Null, &plain.manifest["scenario"])
    );
    assert_eq!(off.manifest["fingerprint"], plain.manifest["fingerprint"]);
    let batches =
        |run: &Output| run.tables.iter().map(|table| (table.name, table.batch.clone())).collect::<Vec<_>>();
    assert!(batches(&off) == batches(&plain), "all tables, and their columns, are the same");
    for (fast, problem) in [
        (FAST, "needs every packet"),
        ("fast_forward = { enabled = false, tolerance = 0.2 }", "above 0, at most 0.1"),
    ] {
        let wrong = Scenario::parse(&format!("{base}\n[run]\n{fast}\n"), "fast.toml", &[]).map(|_| ());
        let error = wrong.expect_err("refused").to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn what_cannot_be_fast_forwarded_is_refused() {
    let base = text(TOPOLOGIES[0], "none", "pfc", &[(0, 1, 100, 0)]);
    let error = |run: &str, record: &str| {
        let text = base.replace("pauses = false", record) + "\n[run]\n" + run + "\n";
        Scenario::parse(&text, "fast.toml", &[]).map(|_| ()).expect_err("refused").to_string()
    };
    for bad in ["0.0", "-0.01", "0.2"] {
        let error = error(&format!("fast_forward = {{ tolerance = {bad} }}"), "pauses = false");
        assert!(error.contains("above 0, at most 0.1"), "{error}");
    }
    assert!(error("fast_forward = { tolerence = 0.01 }", "pauses = false").contains("tolerance"));
    for key in
        ["packets = \"all\"", "breakdown = true", "roots = true", "notifications = true", "marks = true"]
    {
        let name = key.split(' ').next().expect("a name");
        let error = error(FAST, key);
        assert!(error.contains("needs every packet") && error.contains(name), "{error}");
    }
}

#[test]
fn a_run_says_what_it_skipped_and_why_not_more() {
    // 8.3 us are over before the base RTT has passed twice; 20 MB alone take 1.7 ms, nearly all of it skipped exactly.
    let of = |size| run(&text(TOPOLOGIES[0], "none", "pfc", &[(0, 1, size, 0)]), FAST).manifest;
    let short = of(100);
    assert_eq!(short["fast_forward"]["jumps"], 0);
    let warning = short["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("skipped nothing"), "{warning}");
    let long = of(20_000);
    let [jumps, exact] = ["jumps", "approximate_jumps"].map(|key| long["fast_forward"][key].as_u64());
    assert_eq!((jumps, exact, &long["warnings"]), (Some(1), Some(0), &serde_json::json!([])));
    let spans = long["fast_forward"]["spans"].as_array().expect("spans");
    assert_eq!(spans[0][1], long["fast_forward"]["skipped_ps"]);
    let held: u64 = long["fast_forward"]["not_skipped"]
        .as_array()
        .expect("reasons")
        .iter()
        .filter_map(|h| h["ps"].as_u64())
        .sum();
    let all = long["sim_time_ps"].as_u64().expect("a number");
    let skipped = long["fast_forward"]["skipped_ps"].as_u64().expect("a number");
    assert!(held + skipped <= all && held + skipped + 3_000_000 > all, "{held} {skipped} {all}");
}

#[test]
fn probes_and_jumps_exclude_each_other() {
    use xoff::fabric::observe::{Hooks, Probe, Records};
    struct Deaf;
    impl Probe for Deaf {
        fn hooks(&self) -> Hooks {
            Hooks::NONE
        }
        fn finish(&mut self, _: xoff::prelude::Time, _: &mut Records) {}
    }
    let text = text(TOPOLOGIES[0], "none", "pfc", &[(0, 1, 100, 0)]) + "\n[run]\n" + FAST;
    let make = |_: &xoff::fabric::Network| Box::new(Deaf) as Box<dyn Probe>;
    let error = xoff::run_with(Threads::Auto, &scenario(&text), &[&make], &mut |_| true).map(|_| ());
    assert!(error.expect_err("refused").to_string().contains("probes"));
}

/// Scenarios like those of which random runs once had exact jumps that were not: by how many packets ACKs are due, and when credits
/// are updated, was not as without the jumps.
const EXACT: [(&str, &str); 2] = [
    (
        "data and ACKs of both ways share links, an ACK for four packets",
        r#"topology = { name = "fat_tree", k = 4, rate = "100Gbps", delay = "500ns" }
scheme = { name = "dcqcn" }
flow_control = { name = "pfc", alpha = 0.25 }
switch = { buffer = "9MB" }
host = { ack_every = 4 }
[[traffic]]
pattern = "allreduce"
algorithm = "halving_doubling"
hosts = ["host12..host15"]
size = "18293218B"
repetitions = 2"#,
    ),
    (
        "credits are updated from time to time",
        r#"topology = { name = "fat_tree", k = 4, rate = "40Gbps", delay = "100ns" }
scheme = { name = "dcqcn" }
flow_control = { name = "cbfc" }
[[traffic]]
pattern = "incast"
senders = ["host10", "host6", "host5"]
receiver = "host1"
size = "4420B"
every = "225us"
repeat = 8
[[traffic]]
pattern = "flow"
src = "host1"
dst = "host12"
size = "623873B""#,
    ),
];

/// Three senders to one receiver, `repeat` times on the same connections, beside a message that is steady. The switch's ports share its
/// memory, so that all are carried forward together.
fn again_and_again(size: &str, every: &str, repeat: u32) -> String {
    format!(
        r#"topology = {{ name = "star", hosts = 8, rate = "100Gbps", delay = "500ns" }}
scheme = {{ name = "dcqcn" }}
flow_control = {{ name = "pfc" }}
switch = {{ buffer = "32MB" }}
[[traffic]]
pattern = "incast"
senders = ["host1", "host2", "host3"]
receiver = "host0"
size = "{size}"
every = "{every}"
repeat = {repeat}
connection = "per_pair"
[[traffic]]
pattern = "flow"
src = "host4"
dst = "host5"
size = "60MB""#
    )
}

#[test]
fn exact_jumps_change_no_message_by_a_picosecond() {
    let given = EXACT.map(|(what, text)| (what, text.to_owned()));
    // Between two bursts, rates recover, and a receiver may notify its sender again: by simulated time.
    let bursts = [
        ("rates have recovered from cuts, and are cut again", again_and_again("250KB", "1500us", 3)),
        ("a sender is notified before a jump and after it", again_and_again("240KB", "567us", 5)),
    ];
    for (what, text) in given.into_iter().chain(bursts) {
        let text = format!("record = {{ pauses = false }}\n{text}");
        let (plain, fast) = (run(&text, ""), run(&text, FAST));
        let [a, b] = [&plain, &fast].map(|output| numbers(table(output, "flows"), "fct_ps"));
        assert_eq!(a, b, "{what}");
        let all = &fast.manifest["fast_forward"];
        assert!(all["jumps"].as_u64() > Some(1), "{what}: {all}");
        assert_eq!(
            (&all["approximate_jumps"], &all["uncertain_from_ps"]),
            (&0.into(), &serde_json::Value::Null)
        );
    }
}

#[test]
fn a_jump_does_not_outlast_what_a_source_has_made() {
    // The source makes 20 Gbps of payload, and shares the port of 40 Gbps for 0.5 ms, so that it falls behind by the headers. It
    // catches up at 40 Gbps, and then has 20 Gbps again: 7.5 MB in 3 ms, and the rest of a packet.
    let text = r#"topology = { name = "star", hosts = 6, rate = "40Gbps", delay = "500ns" }
scheme = { name = "none" }
flow_control = { name = "pfc" }
record = { pauses = false }
[[traffic]]
pattern = "flow"
src = "host0"
dst = "host1"
rate = "20Gbps"
stop = "3000us"
[[traffic]]
pattern = "flow"
src = "host0"
dst = "host2"
stop = "500us""#;
    let (plain, fast) = (run(text, ""), run(text, FAST));
    let bytes = |output: &Output| numbers(table(output, "flows"), "acked_bytes");
    assert!((7_500_000..7_504_000).contains(&bytes(&plain)[0]));
    assert_eq!(bytes(&plain), bytes(&fast));
    assert_eq!(numbers(table(&plain, "flows"), "fct_ps"), numbers(table(&fast, "flows"), "fct_ps"));
    assert!(fast.manifest["fast_forward"]["skipped_ps"].as_u64() > Some(2_000_000_000));
}

#[test]
fn the_limit_of_events_holds() {
    let text = text(TOPOLOGIES[0], "none", "pfc", &[(0, 1, 20_000, 0)]);
    let text = format!("{text}\n[run]\n{FAST}\nmax_events = 37\n");
    let error = run_on(Threads::UpTo(1), &scenario(&text), &mut |_| true).map(|_| ()).expect_err("too many");
    assert!(error.to_string().contains("more than 37 events"), "{error}");
}

#[test]
fn long_collectives_recall_most_messages() {
    // Two rings of four hosts, each 7 times 6 phases of 500 KB: 42 messages a connection, of which 3 are simulated, and one
    // or two more after 16.
    let text = collectives([TOPOLOGIES[0], "dcqcn", "pfc"], ["ring", "ring"], 2_000, 7, 20);
    let (plain, fast) = (run(&text, ""), run(&text, FAST));
    assert_eq!(collective_fault(&plain, &fast), None);
    let all = &fast.manifest["fast_forward"];
    assert!(all["recalled_messages"].as_u64() > Some(8 * 34), "{all}");
    assert_eq!(all["uncertain_from_ps"], serde_json::Value::Null);
    let recalled = table(&fast, "flows").column_by_name("recalled").expect("a column").as_boolean();
    assert_eq!(Some(recalled.true_count() as u64), all["recalled_messages"].as_u64());
    let uncertain = table(&fast, "flows").column_by_name("uncertain").expect("a column").as_boolean();
    assert_eq!(uncertain.true_count(), 0);
    // Nothing of a recalled message was simulated.
    let flows = table(&fast, "flows");
    let times = numbers(flows, "skipped_ps").into_iter().zip(numbers(flows, "fct_ps"));
    assert!(times.zip(recalled).all(|((skipped, fct), recalled)| skipped == fct || recalled != Some(true)));
}

#[test]
fn rows_say_how_much_of_them_was_carried_forward() {
    // A message that sends for longer than the run of 9 ms, with a sample each ms: the intervals are the whole run, with all of the
    // time that was carried forward. Another one begins in the midst of an interval of which some was carried forward before.
    let base = text(TOPOLOGIES[0], "none", "pfc", &[(0, 1, 200_000, 0), (2, 3, 200_000, 2_600)]);
    let sampled = "record = { pauses = true, interval = \"1ms\", utilization = true, rates = \"all\", queues = \"all\" }";
    let base = base.replace("record = { pauses = false }", sampled);
    let (plain, fast) =
        (run(&base, "duration = \"9ms\""), run(&base, &format!("{FAST}\nduration = \"9ms\"")));
    let total = fast.manifest["fast_forward"]["skipped_ps"].as_u64().expect("a time");
    assert!(total > 6_000_000_000, "{total}");
    let skipped = |name: &str| numbers(table(&fast, name), "skipped_ps");
    // One row for each of 16 ports and of 9 intervals, none of which is carried forward for longer than it lasts.
    for name in ["queues", "utilization"] {
        assert_eq!(skipped(name).len(), 16 * 9);
        assert!(skipped(name).iter().all(|&ps| ps <= 1_000_000_000));
        assert_eq!(skipped(name).iter().sum::<u64>(), 16 * total, "{name}");
    }
    assert_eq!(skipped("flows")[0], total);
    let flow = table(&fast, "rates").column_by_name("flow").expect("a column").as_primitive::<UInt32Type>();
    let rates = flow.values().iter().copied().zip(skipped("rates"));
    let of = |flow| rates.clone().filter(|row| row.0 == flow).map(|row| row.1).sum::<u64>();
    assert_eq!([of(0), of(1)], skipped("flows")[..]);
    assert!((1..total).contains(&of(1)), "{}", of(1));
    for (name, column) in [
        ("flows", "skipped_ps"),
        ("flows", "recalled"),
        ("flows", "uncertain"),
        ("operations", "skipped_ps"),
        ("ports", "skipped_bytes"),
        ("queues", "skipped_ps"),
        ("rates", "skipped_ps"),
        ("utilization", "skipped_ps"),
        ("pauses", "over_jump"),
    ] {
        let has = |output: &Output| table(output, name).column_by_name(column).is_some();
        assert_eq!([has(&plain), has(&fast)], [false, true], "{column} of {name}");
    }
}

#[test]
fn operations_say_how_much_of_them_was_carried_forward() {
    // Two pairs of hosts, each a part of the run, sum up 50 and 20 MB twice, without a break: so each jump is in one operation of both
    // processes of its own part, and in none of the other part.
    let pair = |hosts: &str, size: &str| {
        format!(
            "[[traffic]]\npattern = \"collective\"\nkind = \"all_reduce\"\nalgorithm = \"ring\"\nhosts = \"{hosts}\"\n\
             size = \"{size}\"\nrepetitions = 2\n"
        )
    };
    let text = text(TOPOLOGIES[0], "none", "pfc", &[]);
    let fast = run(&format!("{text}{}{}", pair("host0..host1", "50MB"), pair("host2..host3", "20MB")), FAST);
    let all = &fast.manifest["fast_forward"];
    assert_eq!(all["parts"], 2);
    let skipped = numbers(table(&fast, "operations"), "skipped_ps");
    assert_eq!(skipped.len(), 2 * 2 * 2);
    assert_eq!(Some(skipped.iter().sum::<u64>()), all["skipped_ps"].as_u64().map(|ps| 2 * ps), "{skipped:?}");
    assert!(skipped.iter().all(|&ps| ps > 0), "{skipped:?}");
}

#[test]
fn what_shares_ports_with_others_or_keeps_times_is_not_approximated() {
    let account = |text: &str| run(text, FAST).manifest["fast_forward"].clone();
    // TIMELY sends in bursts, whose state is its own, so jumps are approximate; two hosts whose messages lead by one trunk have none, although
    // the second message comes only after the first.
    let one_spine = "name = \"leaf_spine\", leaves = 2, spines = 1, hosts_per_leaf = 4";
    let (alone, two) = (vec![(0, 4, 20_000, 0)], vec![(0, 4, 20_000, 0), (1, 5, 20_000, 5_000)]);
    let approximate =
        |messages: &[Message]| account(&text(one_spine, "timely", "pfc", messages))["jumps"].as_u64();
    assert!(approximate(&alone) > Some(0));
    assert_eq!(approximate(&two), Some(0));
    // Reaction points of service levels keep times.
    let of_levels =
        text(TOPOLOGIES[0], "ib_cc", "cbfc", &alone).replace("\"ib_cc\"", "\"ib_cc\", scope = \"sl\"");
    let shared = account(&of_levels);
    assert_eq!(shared["jumps"], 0, "{shared}");
    let reason = shared["not_skipped"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("shared reaction points"), "{reason}");
}

#[test]
fn what_jumps_would_get_wrong_is_held_back_or_uncertain() {
    // Once a random case each. HPCC sends evenly for one base RTT and then slows down; TIMELY's rate rises by so little in each
    // observation that it looks steady; PCN's receivers do things at times of their own.
    let hpcc = collectives([TOPOLOGIES[1], "hpcc", "pfc"], ["halving_doubling", "ring"], 1_007, 1, 0);
    let timely =
        text(TOPOLOGIES[0], "timely", "pfc", &[(5, 3, 2_122, 479), (0, 5, 4_369, 556), (0, 5, 1_854, 395)]);
    for text in [&hpcc, &timely] {
        let (plain, fast) = (run(text, ""), run(text, FAST));
        assert_eq!(collective_fault(&plain, &fast), None, "{text}");
        let all = &fast.manifest["fast_forward"];
        assert_eq!(all["jumps"] == 0, all["uncertain_from_ps"].is_null(), "{all}");
    }
    let all = run(&text(TOPOLOGIES[0], "pcn", "pfc", &[(0, 1, 20_000, 0)]), FAST).manifest;
    let all = &all["fast_forward"];
    assert_eq!((&all["jumps"], &all["uncertain_from_ps"]), (&0.into(), &serde_json::Value::Null));
    let reason = all["not_skipped"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("times of their own"), "{reason}");
}
