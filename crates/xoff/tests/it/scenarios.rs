//! Every ready scenario runs, keeps the laws that hold for any network, and shows what its comment says.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;

use crate::common::{count, floats, folder, load, names, numbers, numbers_or_null, rows, run, table, total};
use xoff::{Output, Scenario};
use xoff_fabric::topology::NodeKind;

/// What shortens the scenarios that would take seconds, and leaves out what does not come to its end.
fn shortened(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "fat_tree_websearch" => &[("traffic.0.stop", "300us"), ("traffic.1.start", "100us")],
        "leaf_spine_hadoop" => &[("traffic.0.stop", "1ms")],
        // The congestors, which a run does not wait for, have tests of their own.
        "gpcnet" => &[("traffic.0.congestors", "false")],
        _ => &[],
    }
}

/// The names of all ready scenarios.
fn all() -> Vec<String> {
    let files = std::fs::read_dir(folder()).expect("the folder of scenarios");
    let paths = files.map(|f| f.expect("a readable entry").path());
    let tomls = paths.filter(|p| p.extension().is_some_and(|e| e == "toml"));
    let mut names: Vec<String> =
        tomls.map(|p| p.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn every_ready_scenario_keeps_the_laws_of_any_network() {
    let names = all();
    assert!(names.len() >= 14, "{names:?}");
    for name in names {
        let scenario = load(&name, shortened(&name));
        assert!(scenario.title.is_some(), "{name} has no title");
        // One that stands for many runs warns that it is run alone, and one that is there for PAUSE of marks that come late.
        let alone = scenario.clone().alone();
        let late = |warning: &&String| warning.contains("PAUSE comes before any mark");
        let is_late = ["congestion_tree", "two_priorities"].contains(&name.as_str());
        assert_eq!(alone.warnings().iter().filter(late).count(), usize::from(is_late), "{name}");
        assert_eq!(alone.warnings().len(), usize::from(is_late), "{name}: {:?}", alone.warnings());
        let output = run(&scenario);
        assert_eq!(output.manifest["complete"], true, "{name}");
        finite_flows_complete(&name, &output);
        slowdowns_are_at_least_one(&name, &output);
        bytes_are_conserved(&name, &scenario, &output);
        links_carry_what_they_can(&name, &output);
        what_is_asked_for_is_recorded(&name, &scenario, &output);
    }
}

fn finite_flows_complete(name: &str, output: &Output) {
    let flows = table(output, "flows");
    let sizes = numbers_or_null(flows, "size_bytes");
    let fcts = numbers_or_null(flows, "fct_ps");
    assert_eq!(sizes.len() as u64, count(output, "flows"), "{name}: every flow has started");
    for (flow, (size, fct)) in sizes.iter().zip(&fcts).enumerate() {
        assert!(size.is_none() || fct.is_some(), "{name}: flow {flow} is incomplete");
    }
}

/// A flow alone sends at line rate without telemetry, and no scheme or network can be faster.
fn slowdowns_are_at_least_one(name: &str, output: &Output) {
    for slowdown in floats(table(output, "flows"), "slowdown").into_iter().flatten() {
        assert!(slowdown >= 1.0, "{name}: {slowdown}");
    }
}

fn bytes_are_conserved(name: &str, scenario: &Scenario, output: &Output) {
    let flows = table(output, "flows");
    let payload = output.manifest["wire"]["payload_bytes"].as_u64().expect("a payload");
    let packets = numbers(flows, "packets_sent");
    let acked = numbers(flows, "acked_bytes");
    let retransmitted = numbers(flows, "retransmitted_bytes");
    let loses = scenario.lossy || !scenario.event.is_empty() || scenario.link.loses();
    for (flow, size) in numbers_or_null(flows, "size_bytes").into_iter().enumerate() {
        match size {
            Some(size) => assert_eq!(acked[flow], size, "{name}: flow {flow}"),
            None => assert!(acked[flow] <= packets[flow] * payload, "{name}: flow {flow}"),
        }
        if !loses {
            assert_eq!(retransmitted[flow], 0, "{name}: flow {flow}");
            if let Some(size) = size {
                assert_eq!(packets[flow], size.div_ceil(payload), "{name}: flow {flow}");
            }
        }
    }
    if !loses {
        assert_eq!(count(output, "dropped_packets"), 0, "{name}");
    }
    assert_eq!(total(output, "ports", "dropped"), count(output, "dropped_packets"), "{name}");

    // Every packet that was received had been sent. Where all flows are complete, and nothing but data and ACKs was
    // sent, every packet has also arrived, and each switch has sent on what it was sent.
    let ports = table(output, "ports");
    let sent = numbers(ports, "tx_packets");
    assert!(count(output, "packet_hops") <= sent.iter().sum(), "{name}");
    let done = count(output, "flows_done") == count(output, "flows");
    let messages = total(output, "flows", "cnps")
        + total(output, "flows", "marked_ce")
        + total(output, "flows", "marked_ue")
        + total(output, "ports", "pause_frames_sent")
        + count(output, "switch_messages")
        + count(output, "dropped_packets");
    if done && messages == 0 {
        assert_eq!(count(output, "packet_hops"), sent.iter().sum::<u64>(), "{name}");
        let (nodes, peers) = (names(ports, "node"), names(ports, "peer"));
        for node in scenario.network().nodes.iter().filter(|n| n.kind == NodeKind::Switch) {
            let of = |ends: &[String]| -> u64 {
                ends.iter().zip(&sent).filter(|(end, _)| **end == node.name).map(|(_, sent)| sent).sum()
            };
            assert_eq!(of(&peers), of(&nodes), "{name}: {}", node.name);
        }
    }
}

fn links_carry_what_they_can(name: &str, output: &Output) {
    for table in [table(output, "ports"), table(output, "utilization")] {
        for share in floats(table, "utilization").into_iter().flatten() {
            // Sampled ends of frames round up to a byte.
            assert!((0.0..=1.0 + 1e-3).contains(&share), "{name}: {share}");
        }
    }
}

fn what_is_asked_for_is_recorded(name: &str, scenario: &Scenario, output: &Output) {
    use xoff::scenario::{Queues, Rates};
    let empty = |t: &str| table(output, t).num_rows() == 0;
    assert_eq!(empty("queues"), scenario.record.queues == Queues::None, "{name}");
    assert_eq!(empty("rates"), scenario.record.rates == Rates::None, "{name}");
    assert_eq!(empty("utilization"), !scenario.record.utilization, "{name}");
    let stopped = total(output, "ports", "paused_ps") > 0;
    assert_eq!(empty("pauses"), !(stopped && scenario.record.pauses), "{name}");
}

/// The most bytes that a port had queued after `from_ps`.
fn peak(output: &Output, port: &str, from_ps: u64) -> u64 {
    let queues = table(output, "queues");
    let (times, most) = (numbers(queues, "time_ps"), numbers(queues, "max_bytes"));
    rows(queues, "port", port).into_iter().filter(|&i| times[i] > from_ps).map(|i| most[i]).max().unwrap_or(0)
}

/// Payload that the flows of a label had acknowledged.
fn acked(output: &Output, label: &str) -> u64 {
    let flows = table(output, "flows");
    let acked = numbers(flows, "acked_bytes");
    rows(flows, "label", label).into_iter().map(|i| acked[i]).sum()
}

/// FNCC, section 5.4.2: a shallower queue than HPCC's wherever the flows meet, and least of all without the speedup at
/// the last hop.
#[test]
fn fncc_keeps_shorter_queues_than_hpcc_at_each_hop() {
    let peak_of =
        |name: &str, port: &str, set: &[(&str, &str)]| peak(&run(&load(name, set)), port, 300_000_000);
    let mut gains = Vec::new();
    for (name, port) in [
        ("chain_first_hop", "switch1->switch2"),
        ("chain_middle_hop", "switch2->switch3"),
        ("chain_last_hop", "switch3->receiver0"),
    ] {
        let hpcc = peak_of(name, port, &[("scheme.name", "hpcc")]);
        let fncc = peak_of(name, port, &[]);
        assert!(fncc < hpcc, "{name}: {fncc} B against {hpcc} B");
        gains.push((hpcc - fncc) as f64 / hpcc as f64);
    }
    let hpcc = peak_of("chain_last_hop", "switch3->receiver0", &[("scheme.name", "hpcc")]);
    let plain = peak_of("chain_last_hop", "switch3->receiver0", &[("scheme.lhcs", "false")]);
    let gain_without_speedup = (hpcc as f64 - plain as f64) / hpcc as f64;
    assert!(gains[0] > gains[1] && gains[1] > gain_without_speedup, "{gains:?}, {gain_without_speedup}");
    assert!(gains[2] > gain_without_speedup, "{gains:?}, {gain_without_speedup}");
}

/// The receiver's link is never idle while sixteen senders have data: 687 packets of each message, of 1456 B payload in
/// frames of 1518 B but for the last of 1184 + 62 B, are 16 x 1,042,594 B, which take 1,334,520,320 ps at 80 ps a byte.
/// On the way there and back come 6 us of propagation and three short serializations.
#[test]
fn an_incast_takes_the_time_of_its_bytes_and_the_switch_what_xoff_and_headroom_allow() {
    let output = run(&load("incast", &[]));
    let end = count(&output, "sim_time_ps");
    let transfer = 1_334_520_320;
    assert!((transfer + 6_000_000..transfer + 7_000_000).contains(&end), "{end}");
    assert!(total(&output, "ports", "pause_frames_sent") > 16);
    // Each of sixteen ingress ports may hold Xoff, 100,000 B, and its headroom, 42,119 B (2 x 1.5 us at 12.5 GB/s,
    // three frames of 1518 B, a PAUSE of 64 B, and one byte).
    let most = peak(&output, "switch1->host0", 0);
    assert!((16 * 100_000..=16 * 142_119).contains(&most), "{most}");
    for scheme in ["hpcc", "fncc"] {
        let output = run(&load("incast", &[("scheme.name", scheme)]));
        assert_eq!(total(&output, "ports", "pause_frames_sent"), 0, "{scheme}");
    }
}

/// The storm lasts about 1 ms: 12 MB of payload in frames of 1518 for 1456 B at 12.5 GB/s. Until then the victim's link
/// is stopped for two thirds of the time and it shares the rest with `far`: a third of the line rate, and no more than
/// `far` has; with HPCC, two thirds or more.
#[test]
fn a_victim_of_head_of_line_blocking_is_freed_by_a_scheme() {
    let until = [("run.duration", "900us"), ("traffic.1.size", "8MB")];
    let full = 900e-6 * 12.5e9 * 1456.0 / 1518.0;
    let blocked = acked(&run(&load("custom_graph", &until)), "victim") as f64 / full;
    assert!((0.25..0.4).contains(&blocked), "{blocked}");
    let free =
        acked(&run(&load("custom_graph", &[&until[..], &[("scheme.name", "hpcc")]].concat())), "victim");
    assert!(free as f64 / full > 0.62, "{}", free as f64 / full);
}

/// The same storm: hot's three senders get a third of a link each, so that far leaves two thirds of the shared link to a victim that
/// nobody holds back. PAUSE leaves the victim no more than far has.
#[test]
fn back_pressure_by_flow_frees_the_victim() {
    let full = 900e-6 * 12.5e9 * 1456.0 / 1518.0;
    let share = |flow_control| {
        let more =
            [("run.duration", "900us"), ("traffic.1.size", "8MB"), ("flow_control.name", flow_control)];
        let output = run(&load("bfc_victim", &more));
        [acked(&output, "victim") as f64 / full, acked(&output, "storm") as f64 / full]
    };
    let [victim, storm] = share("bfc");
    assert!((0.6..0.667).contains(&victim) && (0.9..1.0).contains(&storm), "{victim} {storm}");
    let [victim, _] = share("pfc");
    assert!((0.25..0.4).contains(&victim), "{victim}");
}

/// Flows on rail 1 have it for themselves, and those on rail 0 share it with an incast, whose pauses stay on that rail.
#[test]
fn a_pause_stays_on_its_rail() {
    let output = run(&load("rails", &[]));
    let flows = table(&output, "flows");
    let slowdowns = floats(flows, "slowdown");
    let of = |label: &str| -> Vec<f64> {
        rows(flows, "label", label).into_iter().filter_map(|i| slowdowns[i]).collect()
    };
    // ACKs of what the hosts receive take a few per cent of their links.
    assert!(of("rail1").len() == 7 && of("rail1").iter().all(|s| *s < 1.05), "{:?}", of("rail1"));
    assert!(of("rail0").iter().all(|s| *s > 1.3), "{:?}", of("rail0"));
    let paused: std::collections::BTreeSet<String> =
        names(table(&output, "pauses"), "port").into_iter().collect();
    assert!(paused.contains("host4->leaf4") && paused.contains("host1->leaf0"), "{paused:?}");
    // Rail 0 is leaf0 and leaf4.
    let on_rail = |port: &&String| port.contains("leaf0") || port.contains("leaf4");
    assert!(paused.iter().all(|port| on_rail(&port)), "{paused:?}");
    // Spread over the receiver's NICs the incast is over sooner.
    let spread = run(&load("rails", &[("traffic.0.nic", "hash")]));
    assert!(count(&spread, "sim_time_ps") < count(&output, "sim_time_ps") * 2 / 3);
}

#[test]
fn the_ring_stands_still_for_ever() {
    let output = run(&load("deadlock", &[]));
    let utilization = table(&output, "utilization");
    let (times, bits) = (numbers(utilization, "time_ps"), floats(utilization, "tx_bps"));
    assert!(bits.iter().flatten().any(|b| *b > 0.0));
    for (time, bits) in times.iter().zip(bits) {
        assert!(*time < 100_000_000 || bits == Some(0.0), "{bits:?} at {time} ps");
    }
    // The four links of the ring are stopped until the end.
    let pauses = table(&output, "pauses");
    let (starts, lengths) = (numbers(pauses, "start_ps"), numbers(pauses, "length_ps"));
    for port in ["ring0->ring1", "ring1->ring2", "ring2->ring3", "ring3->ring0"] {
        let end = rows(pauses, "port", port).into_iter().map(|i| starts[i] + lengths[i]).max();
        assert_eq!(end, Some(500_000_000), "{port}");
    }
    let tree = [("routing", r#"{ name = "spanning_trees", trees = 1 }"#)];
    let moving = run(&load("deadlock", &tree));
    let last = numbers(table(&moving, "utilization"), "time_ps")
        .into_iter()
        .zip(floats(table(&moving, "utilization"), "tx_bps"));
    assert!(last.into_iter().any(|(time, bits)| time == 500_000_000 && bits > Some(1e10)));
}

/// A request waits for one frame on the wire at most: 1518 B at 80 ps a byte are 121,440 ps. Its ACK may wait at the
/// receiver for two ACKs or CNPs of 66 B at 5,280 ps each.
#[test]
fn strict_priority_costs_a_request_one_frame() {
    let output = run(&load("two_priorities", &[]));
    let flows = table(&output, "flows");
    let (fct, ideal) = (numbers(flows, "fct_ps"), numbers(flows, "ideal_fct_ps"));
    let requests = rows(flows, "label", "requests");
    assert_eq!(requests.len(), 50);
    for &flow in &requests {
        let waited = fct[flow] - ideal[flow];
        assert!(waited <= 121_440 + 2 * 5_280, "flow {flow} waited {waited} ps");
    }
    // In one class with the bulk they wait for its queue.
    let together = run(&load("two_priorities", &[("traffic.1.priority", "0")]));
    let slowdowns = floats(table(&together, "flows"), "slowdown");
    let flows = table(&together, "flows");
    let worst = rows(flows, "label", "requests").into_iter().filter_map(|i| slowdowns[i]).fold(0.0, f64::max);
    assert!(worst > 3.0, "{worst}");
}

#[test]
fn without_flow_control_packets_are_lost_and_sent_again() {
    let output = run(&load("lossy", &[]));
    assert!(count(&output, "dropped_packets") > 0);
    assert!(total(&output, "flows", "retransmitted_bytes") > 0);
    assert_eq!(total(&output, "ports", "pause_frames_sent"), 0);
    let lossless = run(&load("incast", &[]));
    assert!(count(&output, "sim_time_ps") > count(&lossless, "sim_time_ps"));
}

/// 15 Gbps of payload are less than a quarter of the link, so that the sources keep their rate whatever the scheme's
/// shares; the long flow alone gives way when the third one joins.
#[test]
fn constant_rate_sources_keep_their_rate() {
    let output = run(&load("constant_rate", &[]));
    let seconds = [("steady0", 1e-3), ("steady1", 1e-3), ("steady2", 0.5e-3)];
    for (label, seconds) in seconds {
        let gbps = acked(&output, label) as f64 * 8e-9 / seconds;
        // A round trip's worth of bytes is still on its way.
        assert!((14.5..=15.0).contains(&gbps), "{label}: {gbps} Gbps");
    }
}

#[test]
fn every_ready_scenario_but_the_deadlock_is_free_of_it() {
    for name in all() {
        let scenario = load(&name, &[]);
        let (net, router) = (scenario.network(), scenario.router());
        let circle = router.dependencies(1).expect("paths").cycle();
        let ports: Vec<String> = circle.iter().map(|&p| net.port_name(p)).collect();
        if name == "deadlock" {
            // The four flows go clockwise; their ACKs, and what others would send, may close a circle the other way.
            for port in ["ring0->ring1", "ring1->ring2", "ring2->ring3", "ring3->ring0"] {
                assert!(ports.iter().any(|p| p == port), "{ports:?} without {port}");
            }
            let tree = load(&name, &[("routing", "{ name = \"spanning_trees\", trees = 1 }")]);
            assert!(tree.router().dependencies(1).expect("paths").cycle().is_empty(), "in a tree");
        } else {
            assert_eq!(ports, [""; 0], "{name}");
        }
    }
}

#[test]
fn a_victim_behind_a_link_with_credits_goes_as_slowly_as_the_congested_until_it_has_a_lane() {
    // Five flows share 40 Gbps of h6's link: 8 Gbps each, of which 2048 of 2074 B of a frame are payload. s0 serves its six
    // inputs in turn, so that the victim goes as fast as one of them; with a lane of its own it has its link's 40 Gbps.
    let share = 2048.0 / 2074.0;
    let rate = |output: &Output, label: &str| acked(output, label) as f64 * 8e-9 / 2e-3;
    let together = run(&load("infiniband_victim", &[]));
    assert!((rate(&together, "congested") / (40.0 * share) - 1.0).abs() < 0.02);
    assert!((rate(&together, "victim") / (8.0 * share) - 1.0).abs() < 0.1, "{}", rate(&together, "victim"));
    let apart = [("switch.priorities", "2"), ("traffic.5.priority", "1")];
    let apart = run(&load("infiniband_victim", &apart));
    assert!((rate(&apart, "victim") / (40.0 * share) - 1.0).abs() < 0.02, "{}", rate(&apart, "victim"));
}

#[test]
fn the_table_of_flows_tells_the_senders_nic() {
    // Four rails: NIC k of host0 to host3 goes to leaf k, and NIC k of host4 to host7 to leaf 4 + k. The first two patterns take
    // NIC 0 and the third NIC 1.
    let output = run(&load("rails", &[("traffic.0.size", "10KB")]));
    let flows = table(&output, "flows");
    let nics = flows.column_by_name("nic").expect("a column").as_primitive::<UInt32Type>().values();
    let (labels, sources, paths) = (names(flows, "label"), names(flows, "src"), names(flows, "path"));
    assert_eq!(flows.num_rows(), 21);
    for row in 0..flows.num_rows() {
        assert_eq!(nics[row], u32::from(labels[row] == "rail1"), "flow {row}");
        let host: u32 = sources[row].trim_start_matches("host").parse().expect("a number");
        let leaf = format!("leaf{}", nics[row] + if host < 4 { 0 } else { 4 });
        assert_eq!(paths[row].split('>').nth(1), Some(leaf.as_str()), "flow {row}");
    }
    // Of one NIC all take the first.
    let output =
        run(&load("rails", &[("traffic.0.size", "10KB"), ("topology.rails", "1"), ("traffic.2.nic", "0")]));
    let column = table(&output, "flows").column_by_name("nic").expect("a column").clone();
    assert!(column.as_primitive::<UInt32Type>().values().iter().all(|nic| *nic == 0));
}

#[test]
fn frames_that_a_link_loses_do_not_arrive_for_the_table_of_reordering() {
    // One path: nothing overtakes. Of 1,000 packets of 1 KB that go by a link that loses every second frame, some 500 arrive at their first
    // try: in go-back-N those behind a loss are sent again, and count once.
    let text = "[topology]\nname = \"star\"\nhosts = 2\n[scheme]\nname = \"none\"\n\
                [host]\nretransmit_timeout = \"20us\"\n[packets]\npayload = \"1000B\"\n\
                [record]\nreordering = true\n\
                [[traffic]]\npattern = \"flow\"\nsrc = \"host0\"\ndst = \"host1\"\nsize = \"1MB\"\n\
                [[event]]\nkind = \"bit_errors\"\nlink = \"switch1->host1\"\nloss = 0.5\nat = \"0us\"\n";
    let scenario = xoff::Scenario::parse(text, "lossy.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let output = run(&scenario);
    let rows = table(&output, "reordering");
    assert_eq!(numbers(rows, "reordered"), [0]);
    let packets = numbers(rows, "packets")[0];
    assert!((400..=600).contains(&packets), "{packets}");
}

#[test]
fn the_times_of_detours_add_up_and_hosts_process_data_once() {
    // Valiant's paths have up to five links between switches, minimal ones up to three: the data's part of a way ends at the receiver,
    // which takes 700 ns for it, whatever the length.
    let text = "[topology]\nname = \"dragonfly\"\n[routing]\nname = \"dragonfly\"\nvariant = \"valiant\"\n\
                [scheme]\nname = \"none\"\n[host]\nprocessing_delay = \"700ns\"\n[record]\nbreakdown = true\n\
                [[traffic]]\npattern = \"permutation\"\nsize = \"20KB\"\n";
    let scenario = Scenario::parse(text, "valiant.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let output = run(&scenario);
    let (flows, parts) = (table(&output, "flows"), table(&output, "breakdown"));
    let of = parts["flow"].as_primitive::<UInt32Type>().values();
    let times = numbers(parts, "time_ps");
    let (causes, legs) = (names(parts, "part"), names(parts, "leg"));
    for (flow, fct) in (0..).zip(numbers(flows, "fct_ps")) {
        let rows = || (0..of.len()).filter(|&row| of[row] == flow);
        assert_eq!(rows().map(|row| times[row]).sum::<u64>(), fct);
        let processed: Vec<_> = rows().filter(|&row| causes[row] == "processing").collect();
        assert_eq!(processed.iter().map(|&row| times[row]).collect::<Vec<_>>(), [700_000]);
        assert_eq!(legs[processed[0]], "ack");
    }
}
