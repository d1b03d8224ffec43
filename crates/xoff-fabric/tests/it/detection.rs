//! Marks and states that a run records, with TCD, RED and NP-ECN where PFC spreads congestion.

use std::collections::HashMap;

use crate::common::{chain, flow, scheme};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::FlowId;
use xoff_fabric::network::Network;
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::{AckClass, Cbfc, FlowControl, Host, Pfc, Settings};
use xoff_fabric::topology::PortId;
use xoff_fabric::{Recording, Simulation};
use xoff_schemes::{AnyDetector, Mark, PortState};

/// The congested flow's number and the victim's.
const FLOWS: (FlowId, FlowId) = (FlowId(0), FlowId(1));

/// Four hosts of switch 2 and one of switch 0 send to a host of switch 2, whose port is congested, and a second host of
/// switch 0 sends 5 Gbps to another host there: what that one meets on the way are pauses. Before it and the burst the
/// first host of switch 0 has the way for itself at half its rate.
fn spreading(detector: &AnyDetector, recording: fn(&Simulation) -> Recording) -> Simulation {
    spreading_by(detector, 200_000, recording)
}

/// As [`spreading`], with a burst of this number of bytes from each of its hosts.
fn spreading_by(detector: &AnyDetector, burst: u64, recording: fn(&Simulation) -> Recording) -> Simulation {
    let build = || {
        let topology = chain(3, &[0, 0, 2, 2, 2, 2, 2, 2], Rate::from_gbps(40), Time::from_us(1));
        let pfc = Pfc { xoff: Some(Bytes(30_000)), ..Pfc::default() };
        let settings = Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() };
        let slow = |mut f: xoff_fabric::Flow, gbps| {
            f.source_rate = Rate::from_gbps(gbps);
            f
        };
        let mut flows = vec![slow(flow(0, 6, 600_000), 20), slow(flow(1, 7, 200_000), 5)];
        flows.extend((2..6).map(|src| flow(src, 6, burst)));
        let params = json!({ "min_rate": "39Gbps" }); // which looks at marks and hardly reacts
        let dcqcn = scheme("dcqcn", params, Time::from_us(10));
        Network::build(topology, &Routing::default(), settings, dcqcn, flows, 1).expect("a network")
    };
    let blank = Simulation::new(build(), Some(detector), Recording::default(), None);
    let mut sim = Simulation::new(build(), Some(detector), recording(&blank), None);
    sim.run(&mut |_| true).expect("no loss");
    sim
}

fn port(sim: &Simulation, name: &str) -> PortId {
    let names = sim.network().topology.port_names();
    PortId::at(names.iter().position(|n| n == name).expect("a port"))
}

fn everything(sim: &Simulation) -> Recording {
    let states = ["s0->s1", "s1->s2", "s2->h6", "s2->h7"].map(|name| port(sim, name)).into();
    Recording { marks: true, states, ..Recording::default() }
}

fn tcd() -> AnyDetector {
    let params = json!({ "red": { "k_min": "5KB", "k_max": "20KB", "p_max": 0.01 } });
    AnyDetector::read("tcd", params).expect("a detector").expect("valid parameters")
}

#[test]
fn tcd_marks_the_root_ce_and_what_waits_behind_pauses_ue() {
    let sim = spreading(&tcd(), everything);
    let records = sim.records();
    let at = |name: &str| records.totals.marks.of(port(&sim, name));
    assert!(at("s2->h6").ce > 100 && at("s2->h6").ue == 0, "{:?}", at("s2->h6"));
    assert!(at("s1->s2").ue > 20, "{:?}", at("s1->s2"));
    // The victim passes s2->h7, where nothing is congested.
    let (congested, victim) = (records.flows.of(FLOWS.0).marks, records.flows.of(FLOWS.1).marks);
    assert_eq!(at("s2->h7").ce, 0);
    assert!(congested.ce > 50, "{congested:?}");
    assert!(victim.ue > 5, "{victim:?}");
}

#[test]
fn a_victim_of_pauses_is_ue_with_tcd_and_ce_with_red() {
    // The hosts of switch 0 send 25 Gbps together, and a burst of 40 KB a host is over before a PAUSE reaches them: what they
    // send never makes a queue at ports of 40 Gbps, but pauses do, at both ports that the victim shares. No packet is marked
    // CE there by TCD; RED looks at the length alone.
    let red = json!({ "k_min": "5KB", "k_max": "20KB", "p_max": 0.01 });
    let red = AnyDetector::read("red", red).expect("a detector").expect("valid parameters");
    let shared = ["s0->s1", "s1->s2"];
    for (detector, is_tcd) in [(tcd(), true), (red, false)] {
        let sim = spreading_by(&detector, 40_000, |_| Recording { pauses: true, ..Recording::default() });
        let records = sim.records();
        let is_paused = |name: &str| records.pauses.iter().any(|pause| pause.port == port(&sim, name));
        assert_eq!(["h0->s0", "h1->s0", "s0->s1", "s1->s2"].map(is_paused), [false, false, true, true]);
        let victim = records.flows.of(FLOWS.1).marks;
        assert_eq!((victim.ue > 0, victim.ce > 0), (is_tcd, !is_tcd), "{victim:?}");
        for name in shared {
            let marks = records.totals.marks.of(port(&sim, name));
            assert_eq!((marks.ue > 0, marks.ce > 0), (is_tcd, !is_tcd), "{name}: {marks:?}");
        }
    }
}

#[test]
fn red_and_np_ecn_mark_no_packet_ue() {
    let red = json!({ "k_min": "5KB", "k_max": "20KB", "p_max": 0.01 });
    for (name, params) in [("red", red.clone()), ("np_ecn", json!({ "rule": "red", "red": red }))] {
        let detector = AnyDetector::read(name, params).expect("a detector").expect("valid parameters");
        let sim = spreading(&detector, |_| Recording { marks: true, ..Recording::default() });
        assert!(sim.records().marks.iter().all(|m| m.mark == Mark::Ce) && !sim.records().marks.is_empty());
        assert_eq!(sim.records().states, []);
    }
}

#[test]
fn np_ecn_marks_a_part_of_what_red_marks_behind_pauses() {
    // A packet that the first port has marked is not marked again by the second: together they are packets.
    let red = json!({ "k_min": "5KB", "k_max": "5KB" });
    let marked_behind_pauses = |name: &str, params| {
        let detector = AnyDetector::read(name, params).expect("a detector").expect("valid parameters");
        let sim = spreading(&detector, |_| Recording::default());
        ["s0->s1", "s1->s2"].map(|at| sim.records().totals.marks.of(port(&sim, at)).ce).iter().sum::<u64>()
    };
    let plain = marked_behind_pauses("red", red.clone());
    let without = marked_behind_pauses("np_ecn", json!({ "rule": "red", "red": red }));
    assert!(without < plain * 3 / 4, "{without} and {plain}");
}

#[test]
fn the_table_of_marks_holds_each_mark_of_ports_and_flows() {
    let sim = spreading(&tcd(), everything);
    let records = sim.records();
    let mut by_port = HashMap::<PortId, (u64, u64)>::new();
    let mut last = HashMap::<(FlowId, u64), Mark>::new();
    for row in &records.marks {
        let counts = by_port.entry(row.port).or_default();
        if row.mark == Mark::Ce {
            counts.0 += 1
        } else {
            counts.1 += 1
        }
        // A packet's marks only rise.
        let before = last.insert((row.flow, row.seq), row.mark).unwrap_or_default();
        assert!(row.mark > before, "{row:?} after {before:?}");
    }
    for (port, marks) in records.totals.marks.iter().enumerate() {
        let (ce, ue) = by_port.get(&PortId::at(port)).copied().unwrap_or_default();
        assert_eq!((marks.ce, marks.ue), (ce, ue));
    }
    for (id, outcome) in records.flows.iter().enumerate() {
        let of =
            |mark| last.iter().filter(|((flow, _), m)| *flow == FlowId::at(id) && **m == mark).count() as u64;
        assert_eq!((outcome.marks.ce, outcome.marks.ue), (of(Mark::Ce), of(Mark::Ue)), "flow {id}");
    }
    let upgraded = records.marks.len() - last.len();
    assert!(upgraded > 0, "no packet was UE first and CE then");
    assert!(records.marks.is_sorted_by_key(|m| (m.time, m.port)));
}

#[test]
fn states_begin_without_congestion_and_each_row_is_a_change() {
    let sim = spreading(&tcd(), everything);
    let mut last = HashMap::new();
    for row in &sim.records().states {
        match last.insert(row.port, row.state) {
            None => assert_eq!((row.time, row.state), (Time::ZERO, PortState::NonCongestion)),
            Some(before) => assert_ne!(before, row.state),
        }
    }
    assert_eq!(last.len(), 4);
    let seen = |name: &str, state| {
        let port = port(&sim, name);
        sim.records().states.iter().any(|row| row.port == port && row.state == state)
    };
    // The root is never stopped: hosts send no PAUSE.
    assert!(seen("s2->h6", PortState::Congestion) && !seen("s2->h6", PortState::Undetermined));
    assert!(seen("s1->s2", PortState::Undetermined));
    assert!(!seen("s2->h7", PortState::Congestion));
}

#[test]
fn packets_that_find_no_queue_pass_detectors_too() {
    // At 40 Gbps a frame of 1,518 B takes 303.6 ns: tau = 2 x 303.6 ns + 2 x 1 us = 2,607 ns, in which 13,036 B come. Xoff and Xon are
    // two frames apart, 3,036 B, so that max(T_on) = (2 x 3,036 B + 13,036 B) / (2 x 0.05 x 5 B/ns) + 2,607 ns = 40,823 ns. So long
    // after its last pause the first port marks UE what leaves it, although hosts send 25 Gbps at most and what waited is gone by half
    // of that: bursts of 40 KB make short pauses. In the second half, 20,412 ns, come frames with 1,456 B of payload at 20 Gbps and
    // at 5 Gbps of payload, one each 582.4 ns and one each 2,329.6 ns: 35 and 9, give or take one each. Most of them find no queue.
    let sim =
        spreading_by(&tcd(), 40_000, |_| Recording { marks: true, pauses: true, ..Recording::default() });
    let (records, at) = (sim.records(), port(&sim, "s0->s1"));
    let end = records.pauses.iter().filter(|pause| pause.port == at).map(|pause| pause.end).max();
    let end = end.expect("a pause");
    let marks = records.marks.iter().filter(|mark| mark.port == at && mark.mark == Mark::Ue);
    let late = marks.map(|mark| mark.time).filter(|&time| time > end + Time::from_ns(20_412));
    let late: Vec<Time> = late.map(|time| time - end).collect();
    assert!((42..=46).contains(&late.len()) && late[late.len() - 1] <= Time(40_823_600), "{late:?}");
}

/// When packets are marked at the port to host 1 of a switch, to which hosts 0 and 2 send six frames each from 300 us on, at twice the
/// port's rate. With `before`, they have sent more at the beginning, while host 1 sent to host 0: then ACKs of a data class waited between the
/// data for the port's credits. A buffer of 20,000 B and an update each 20 us make 8 Gbps, of a link of 100 Gbps. FECN counts all that a lack
/// of credits has delayed.
fn after_acks_have_waited(before: bool) -> Vec<Time> {
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_ns(100));
    let cbfc = Cbfc {
        buffer: Some(Bytes(20_000)),
        undersized: true,
        update_period: Time::from_us(20),
        ..Cbfc::default()
    };
    let host = Host { ack_class: AckClass::Data, ..Host::default() };
    let settings = Settings { flow_control: FlowControl::Cbfc(cbfc), host, ..Settings::default() };
    let at = |start, f| xoff_fabric::Flow { start, ..f };
    let late = [0, 2].map(|src| at(Time::from_us(300), flow(src, 1, 6 * 1_456)));
    let early = [flow(0, 1, 60_000), flow(2, 1, 60_000), flow(1, 0, 200_000)];
    let flows: Vec<_> = early.into_iter().filter(|_| before).chain(late).collect();
    let none = scheme("none", json!({}), Time::from_us(10));
    let network = Network::build(topology, &Routing::default(), settings, none, flows, 1).expect("a network");
    let params = json!({ "threshold": "0B", "delayed": "queued", "victim_mask": "none" });
    let fecn = AnyDetector::read("fecn", params).expect("a detector").expect("valid parameters");
    let recording = Recording { marks: true, pauses: true, ..Recording::default() };
    let mut sim = Simulation::new(network, Some(&fecn), recording, None);
    sim.run(&mut |_| true).expect("no loss");
    let (records, at) = (sim.records(), port(&sim, "s0->h1"));
    let stops = records.pauses.iter().filter(|pause| pause.port == at && pause.start < Time::from_us(250));
    assert_eq!(stops.count() > 0, before, "only what comes before makes the port wait before");
    let marks = records.marks.iter().filter(|mark| mark.port == at && mark.time >= Time::from_us(300));
    marks.map(|mark| mark.time).collect()
}

#[test]
fn what_waited_for_credits_and_has_left_delays_nothing() {
    // Six frames of 1,518 B from each host, 24 blocks each, need 288 of the buffer's 312. They come in pairs, one pair in the time T of a
    // frame. At the time j T, before the next pair comes, frame j leaves of 2 j that have come, and j - 1 stay: frames 2 to 6 leave a
    // backlog. From then on no more come, and one fewer stays each time: frames 7 to 10 leave a backlog, and frame 11 is the last.
    let alone = after_acks_have_waited(false);
    assert_eq!(alone.len(), 9, "{alone:?}");
    assert_eq!(after_acks_have_waited(true), alone);
}

#[test]
fn nothing_is_recorded_that_was_not_asked_for() {
    let sim = spreading(&tcd(), |_| Recording::default());
    let records = sim.records();
    assert!(records.marks.is_empty() && records.states.is_empty());
    assert!(records.totals.marks.iter().any(|m| m.any()));
}

#[test]
fn the_distance_of_pfcs_thresholds_is_what_detectors_are_told() {
    // Without `xon` two frames; otherwise what lies between; with dynamic thresholds `resume_offset`.
    let of = |pfc: Pfc| FlowControl::Pfc(pfc).hysteresis(1_518);
    let (xoff, xon) = (Some(Bytes(320_000)), Some(Bytes(300_000)));
    assert_eq!(of(Pfc { xoff, ..Pfc::default() }), Some(Bytes(3_036)));
    assert_eq!(of(Pfc { xoff, xon, ..Pfc::default() }), Some(Bytes(20_000)));
    assert_eq!(of(Pfc { alpha: Some(0.125), ..Pfc::default() }), Some(Bytes(3_072)));
    assert_eq!(FlowControl::None.hysteresis(1_518), None);
}
