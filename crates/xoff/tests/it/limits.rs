//! What takes long to make is counted, and not made, by a check.

use xoff::Scenario;
use xoff::scenario::{Effort, OwnSchemes};

fn check(text: &str) -> Scenario {
    let files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let checked =
        Scenario::parse_among(text, "large.toml", &[], &files, &OwnSchemes::default(), Effort::Count);
    checked.unwrap_or_else(|e| panic!("{e}"))
}

const FLOW: &str = "pattern = \"flow\"\nsrc = \"host0\"\ndst = \"host1\"\nsize = \"1MB\"";

fn scenario(topology: &str, traffic: &str) -> String {
    format!(
        "[topology]\n{topology}\n[scheme]\nname = \"none\"\n[run]\nduration = \"2s\"\n[[traffic]]\n{traffic}\n"
    )
}

/// k = 128: 128^3 / 4 = 524,288 hosts, and as many links in each of three tiers.
#[test]
fn a_large_network_is_counted() {
    let checked = check(&scenario("name = \"fat_tree\"\nk = 128", FLOW));
    assert_eq!(checked.network().nodes.len(), 0, "nothing is built");
    let warning = checked.warnings().join("\n");
    assert!(warning.contains("524288 hosts and 1.6e6 links were counted"), "{warning}");
    assert!(warning.contains("names of hosts and ports, traffic, records"), "{warning}");
}

/// k = 32 and k = 64: 32^3 / 4 = 8,192 and 65,536 hosts.
#[test]
fn names_and_workloads_of_large_networks_are_checked() {
    let refusal = |topology: &str, traffic: &str| {
        let files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let text = scenario(topology, traffic);
        let checked =
            Scenario::parse_among(&text, "large.toml", &[], &files, &OwnSchemes::default(), Effort::Count);
        checked.map(|_| ()).expect_err("refused").to_string()
    };
    let nowhere = FLOW.replace("host0", "nohost");
    for k in [32, 64] {
        let text = refusal(&format!("name = \"fat_tree\"\nk = {k}"), &nowhere);
        assert!(text.contains("nohost"), "{text}");
    }
    let poisson = "pattern = \"poisson\"\nload = 0.5\nworkload = \"nosuch\"";
    let text = refusal("name = \"star\"\nhosts = 30000", poisson);
    assert!(text.contains("nosuch"), "{text}");
}

/// k = 64: 5 * 64^2 / 4 = 5,120 switches.
#[test]
fn routes_of_many_switches_are_counted() {
    let checked = check(&scenario("name = \"fat_tree\"\nk = 64", FLOW));
    let warning = checked.warnings().join("\n");
    assert!(warning.contains("routes among 5120 switches were counted"), "{warning}");
}

/// 60 senders, each a message every 30 us for 2 s: 60 * 66,667 = 4,000,020. All-to-all among 1000 hosts, 10 times: 9,990,000.
#[test]
fn many_messages_are_counted() {
    let burst = "pattern = \"burst\"\nsenders = \"host1..host60\"\nreceivers = \"host0\"\nsize = \"1KB\"\nevery = \"30us\"";
    let collective = "pattern = \"all_to_all_collective\"\nsize = \"1KB\"\nrepetitions = 10";
    for (hosts, traffic, count) in [(61, burst, "4.0e6"), (1000, collective, "1.0e7")] {
        let checked = check(&scenario(&format!("name = \"star\"\nhosts = {hosts}"), traffic));
        assert_eq!(checked.flows().flows.len(), 0, "nothing is made");
        let warning = checked.warnings().join("\n");
        assert!(warning.contains(&format!("{count} messages were counted")), "{warning}");
        // A run without its messages would be over at once, and say that all of none are complete.
        let run = xoff::run(&checked, &mut |_| true);
        assert!(matches!(run, Err(xoff::RunError::Counted)), "{:?}", run.err());
    }
}

#[test]
fn what_is_small_is_made_and_checked_whole() {
    let checked = check(&scenario("name = \"fat_tree\"\nk = 8", FLOW));
    assert_eq!((checked.network().hosts().len(), checked.flows().flows.len()), (128, 1));
    assert!(checked.warnings().is_empty(), "{:?}", checked.warnings());
}

/// More messages than any run may have: 1 + 2 + ... phases are not made to be counted. 20,000 hosts in a ring need
/// 2 * 20,000 * 19,999 messages, 8.0e8.
#[test]
fn closed_loops_are_counted_before_their_phases_are_made() {
    let text = scenario(
        "name = \"star\"\nhosts = 20000",
        "pattern = \"allreduce\"\nalgorithm = \"ring\"\nsize = \"1MB\"",
    );
    let error = Scenario::parse(&text, "ring.toml", &[]).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("799960000 flows"), "{error}");
    let gpcnet = "pattern = \"gpcnet\"\nprocesses = 1024\nrings = 1000";
    let text = scenario("name = \"star\"\nhosts = 1000", gpcnet);
    let error = Scenario::parse(&text, "gpcnet.toml", &[]).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("flows: 1000 rings of"), "{error}");
}

#[test]
fn a_scenario_of_more_than_8_mb_is_refused_before_it_is_parsed() {
    let text = format!("# {}\n{}", "x".repeat(8_000_000), scenario("name = \"star\"", FLOW));
    let error = Scenario::parse(&text, "long.toml", &[]).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, "error: cannot read the scenario: it has 8.0MB; expected at most 8MB\n --> long.toml");
}

/// More packets than any machine holds, some 10^10 and more: 200 wires of 10 s at 400 Gbps have 5 * 10^11 B each, a hundred inputs
/// may have 1 TB each, and 99 messages have 1 TB each. The place is what would make them fewer.
#[test]
fn too_many_packets_are_refused_at_what_they_come_from() {
    let refusal = |delay: &str, xoff: &str, traffic: &str| {
        let topology = format!("name = \"star\"\nhosts = 100\nrate = \"400Gbps\"\ndelay = \"{delay}\"");
        let text = scenario(&topology, traffic).replace("\"2s\"", "\"1000s\"");
        let more = format!("[flow_control]\nname = \"pfc\"\nxoff = \"{xoff}\"\nheadroom = \"1TB\"\n");
        Scenario::parse(&format!("{text}{more}"), "many.toml", &[])
            .map(|_| ())
            .expect_err("refused")
            .to_string()
    };
    let endless = "pattern = \"permutation\"\nstop = \"1000s\"";
    let incast = "pattern = \"incast\"\nsenders = \"all\"\nreceiver = \"host0\"\nsize = \"1TB\"";
    for (found, at, place) in [
        (refusal("10s", "1KB", endless), "[topology] has links for about", "delay = \"10s\""),
        (refusal("1us", "1TB", endless), "[switch] and [flow_control] have room for about", "xoff = \"1TB\""),
        (refusal("10s", "1KB", incast), "[[traffic]] sends about 6.8e10 packets", "size = \"1TB\""),
    ] {
        assert!(found.contains(at) && found.contains("in the network at once"), "{found}");
        assert!(found.contains(place), "{found}");
    }
}
