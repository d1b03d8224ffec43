//! What looks the same at each look at a network, and does not go on in the same way: counters, the lag of a source, cycles that looks miss.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use xoff::{Output, Scenario, Threads, run_on};

use crate::common::{numbers, numbers_or_null, table};
use crate::fast_forward::FAST;

/// A scenario, plain and fast.
fn both(text: &str) -> [Output; 2] {
    ["", FAST].map(|fast| {
        let text = format!("{text}\n[run]\n{fast}\n");
        let scenario = Scenario::parse(&text, "hidden.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        run_on(Threads::UpTo(1), &scenario, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
    })
}

fn flow(src: u32, dst: u32, size: &str, more: &str) -> String {
    format!(
        "[[traffic]]\npattern = \"flow\"\nsrc = \"host{src}\"\ndst = \"host{dst}\"\nsize = \"{size}\"\n{more}\n"
    )
}

/// The times of all messages are those of the plain run, and it vouches for them.
fn assert_same([plain, fast]: &[Output; 2]) {
    let times = |output: &Output| numbers_or_null(table(output, "flows"), "fct_ps");
    assert_eq!(times(plain), times(fast));
    assert_eq!(fast.manifest["fast_forward"]["uncertain_from_ps"], serde_json::Value::Null);
    assert_eq!(plain.manifest["sim_time_ps"], fast.manifest["sim_time_ps"]);
}

/// FECN marks one packet in 10,001. Periods without a mark are all the same, and then one comes that lowers a sender's rate.
#[test]
fn a_detector_that_counts_packets_hides_when_it_marks_next() {
    for flow_control in [r#"{ name = "pfc", xoff = "400KB" }"#, r#"{ name = "credit" }"#] {
        let text = format!(
            r#"
            topology = {{ name = "star", hosts = 5, rate = "100Gbps", delay = "1us" }}
            scheme = {{ name = "dcqcn", r_ai = "1Mbps", r_hai = "1Mbps", increase_timer = "10ms", byte_counter = "1GB" }}
            detector = {{ name = "fecn", marking_rate = 10000, threshold = "5KB", victim_mask = "all" }}
            flow_control = {flow_control}
            "#
        );
        let first = flow(3, 0, "100KB", "") + &flow(4, 0, "100KB", "");
        let late = "start = \"100us\"";
        let sims = both(&(text + &first + &flow(1, 0, "30MB", late) + &flow(2, 0, "30MB", late)));
        assert!(numbers(table(&sims[0], "flows"), "cnps").iter().sum::<u64>() > 0, "somebody is notified");
        assert_same(&sims);
    }
}

/// Twelve packets go in each cycle of credits, 1.04 us long. Looks 1 us apart see eleven more each time, a pace that is none.
#[test]
fn a_cycle_that_is_longer_than_looks_are_apart_is_no_pace() {
    let text = r#"
        topology = { name = "star", hosts = 3, rate = "310Gbps", delay = "500ns" }
        scheme = { name = "none" }
        flow_control = { name = "credit", unit = "packet", credits = 12, undersized = true }
    "#;
    let sims = both(&(text.to_string() + &flow(1, 2, "20MB", "")));
    assert_same(&sims);
    assert!(sims[1].manifest["fast_forward"]["jumps"].as_u64() > Some(0), "the cycle itself is one");
}

/// The source of the third message makes packets at a rate at which they fall behind the slots that the others leave, by less than one: for
/// some time all slots are the same, and then one is left out.
#[test]
fn the_lag_of_a_source_within_a_packet_is_part_of_the_state() {
    let text = r#"
        topology = { name = "star", hosts = 5, rate = "40Gbps", delay = "330ns" }
        scheme = { name = "none" }
        flow_control = { name = "credit" }
    "#;
    let made = flow(1, 3, "6MB", "rate = \"9.8Gbps\"");
    assert_same(&both(&(text.to_string() + &flow(1, 0, "20MB", "") + &flow(2, 0, "20MB", "") + &made)));
}

/// After an approximate jump, random marks hit other packets than in the plain run: the run does not vouch for what they do, however small its
/// jumps' errors are. In the first scenario they move a message's time by more than a quarter; in the second one nothing but such marks is in doubt.
#[test]
fn marks_by_chance_after_an_approximate_jump_are_uncertain() {
    let text = |seed: u32, rest: &str| {
        format!(
            "seed = {seed}\ntopology = {{ name = \"star\", hosts = 5, rate = \"100Gbps\", delay = \"500ns\" }}\n{rest}"
        )
    };
    let first = text(
        1360,
        r#"
        scheme = { name = "dcqcn", r_ai = "40Mbps", r_hai = "10Gbps", increase_timer = "55us" }
        detector = { name = "red", k_min = "5KB", k_max = "10KB" }
        flow_control = { name = "pfc", xoff = "50KB" }
        "#,
    );
    let late = "start = \"129us\"\nconnection = \"per_pair\"";
    let first = first + &flow(2, 4, "5046KB", "") + &flow(1, 2, "5031KB", late);
    let second = text(
        842,
        r#"
        scheme = { name = "dcqcn", r_ai = "5Mbps", r_hai = "50Mbps", increase_timer = "55us" }
        detector = { name = "red", k_min = "5KB", k_max = "60KB" }
        flow_control = { name = "pfc", xoff = "50KB" }
        "#,
    );
    let second = second + &flow(2, 4, "56MB", "") + &flow(1, 2, "6MB", "start = \"456us\"");
    for text in [first, second] {
        let [plain, fast] = both(&text);
        let fcts = [&plain, &fast].map(|output| numbers(table(output, "flows"), "fct_ps"));
        let starts = numbers(table(&fast, "flows"), "start_ps");
        let all = &fast.manifest["fast_forward"];
        assert!(all["approximate_jumps"].as_u64() > Some(0), "{all}");
        let from = all["uncertain_from_ps"].as_u64().expect("the run does not vouch for all");
        for (i, start) in starts.iter().enumerate() {
            let error = (fcts[1][i] as f64 / fcts[0][i] as f64 - 1.0).abs();
            assert!(
                error < 0.01 || start + fcts[1][i] >= from,
                "message {i}: {error}, uncertain from {from}"
            );
        }
    }
}

/// A receiver stops for 1 us while it is to notify its sender, whose time was carried forward before: the CNP goes at its simulated time.
#[test]
fn a_cnp_that_waits_while_its_receiver_has_stopped_goes_in_time() {
    let text = r#"
        topology = { name = "star", hosts = 4, rate = "100Gbps", delay = "500ns" }
        scheme = { name = "dcqcn", np = "periodic", cnp_interval = "150us" }
        flow_control = { name = "pfc" }
        event = [{ kind = "receiver_stop", host = "host1", at = "5118us", for = "1us" }]
        [[traffic]]
        pattern = "incast"
        senders = ["host2", "host3"]
        receiver = "host1"
        size = "436KB"
        start = "5ms"
        every = "171us"
        repeat = 4
        connection = "per_pair"
    "#;
    let sims = both(&(text.to_string() + &flow(0, 1, "40MB", "")));
    assert_same(&sims);
    assert!(sims[1].manifest["fast_forward"]["skipped_ps"].as_u64() > Some(2_000_000_000));
}

/// Receivers notify their senders each 50 us while marks come. One that stops from 40 to 60 us, over such a moment, does so afterwards, and goes on to.
#[test]
fn a_receiver_that_goes_on_still_notifies() {
    let text = r#"
        topology = { name = "star", hosts = 3, rate = "100Gbps", delay = "500ns" }
        scheme = { name = "dcqcn", np = "periodic", cnp_interval = "50us" }
        flow_control = { name = "pfc" }
        event = [{ kind = "receiver_stop", host = "host0", at = "40us", for = "20us" }]
    "#;
    let sims = both(&(text.to_string() + &flow(1, 0, "40MB", "") + &flow(2, 0, "40MB", "")));
    assert_same(&sims);
    let cnps = numbers(table(&sims[0], "flows"), "cnps");
    assert!(cnps.iter().all(|&cnps| cnps > 0), "{cnps:?}");
}

/// The last thing of a job is a computation. No time is carried forward beyond it, although something breaks long after it.
#[test]
fn no_time_is_carried_forward_beyond_the_end_of_the_run() {
    let text = r#"
        topology = { name = "star", hosts = 2, rate = "100Gbps", delay = "500ns" }
        scheme = { name = "none" }
        flow_control = { name = "pfc" }
        event = [{ kind = "degrade", rate = "10Gbps", link = "host1->switch1", at = "50ms", for = "1ms" }]
        [[traffic]]
        pattern = "allreduce"
        algorithm = "ring"
        size = "1MB"
        compute = "20us"
        repetitions = 3
    "#;
    let sims = both(text);
    assert_same(&sims);
    let number = |key: &str| sims[1].manifest["fast_forward"][key].as_u64().expect("a number");
    let end = sims[1].manifest["sim_time_ps"].as_u64().expect("a number");
    assert!(number("skipped_ps") + number("recalled_ps") < end, "{} of {end}", number("skipped_ps"));
    let used = |output: &Output| {
        let column = table(output, "ports").column_by_name("utilization").expect("a column").clone();
        column.as_primitive::<Float64Type>().values().to_vec()
    };
    assert_eq!(used(&sims[0]), used(&sims[1]));
}
