//! Congestion roots and the flows that head-of-line blocking holds up, against networks worked by hand. Frames of
//! 1,518 B take 121,440 ps at 100 Gbps.

use crate::common::{chain, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::PortId;
use xoff_fabric::observe::rows::RootRecord;
use xoff_fabric::settings::{FlowControl, Pfc, Settings};
use xoff_fabric::topology::Topology;
use xoff_fabric::{Flow, Recording, Simulation};

const FRAME: u64 = 1_518;
const PAYLOAD: u64 = 1_456;
const FRAME_TIME: u64 = 121_440;

fn run(topology: Topology, xoff: u64, flows: Vec<Flow>, growth: u64) -> Simulation {
    let pfc = Pfc { xoff: Some(Bytes(xoff)), ..Pfc::default() };
    let settings = Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() };
    let recording = Recording { roots: Some(growth), pauses: true, ..Recording::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, settings, none, flows, recording, None);
    sim.run(&mut |_| true).expect("no loss");
    sim
}

fn port(sim: &Simulation, name: &str) -> PortId {
    let topology = &sim.network().topology;
    topology.port_ids().find(|&p| topology.port_name(p) == name).expect("a port of that name")
}

#[test]
fn an_overrun_port_is_a_root_from_its_growth_until_its_link_has_caught_up() {
    // Two hosts send 50 frames each to a third, 1 us away each. From 1 us + 121,440 ps on, two frames come and one goes
    // every 121,440 ps: the second frame of the k-th pair waits for k + 1 with itself, and finds k queued. 30,000 B are
    // exceeded by 20 frames. The 100 frames are sent one after the other.
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let flows = vec![flow(0, 2, 50 * PAYLOAD), flow(1, 2, 50 * PAYLOAD)];
    let sim = run(topology, 500_000, flows, 30_000);
    let expected = RootRecord {
        port: port(&sim, "s0->h2"),
        priority: 0,
        start: Time(1_000_000 + 19 * FRAME_TIME),
        end: Time(1_000_000 + 101 * FRAME_TIME),
        max_bytes: 50 * FRAME,
    };
    assert_eq!(sim.records().roots, [expected]);
    assert!(sim.records().outcomes().iter().all(|f| !f.hol_blocked));
    assert!(sim.records().pauses.is_empty());
}

#[test]
fn a_queue_that_grows_less_is_none() {
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let flows = vec![flow(0, 2, 50 * PAYLOAD), flow(1, 2, 50 * PAYLOAD)];
    assert!(run(topology, 500_000, flows, 51 * FRAME + 1).records().roots.is_empty());
}

/// h0 and h1 at s0, h2, h3 and h4 at s1. h0 (60 Gbps) and h4 send to h3, whose port is overrun; h1 (20 Gbps) sends to
/// h2, which has the trunk s0->s1 in common with h0.
fn victim() -> Simulation {
    let topology = chain(2, &[0, 0, 1, 1, 1], Rate::from_gbps(100), Time::from_us(1));
    let paced = |src, dst, gbps, size| Flow { source_rate: Rate::from_gbps(gbps), ..flow(src, dst, size) };
    let flows = vec![paced(0, 3, 60, 1_500_000), paced(1, 2, 20, 500_000), flow(4, 3, 2_000_000)];
    run(topology, 50_000, flows, 30_000)
}

#[test]
fn a_flow_that_waits_for_others_is_blocked_and_those_at_the_root_are_not() {
    let sim = victim();
    let records = sim.records();
    let blocked: Vec<bool> = records.flows.iter().map(|f| f.hol_blocked).collect();
    assert_eq!(blocked, [false, true, false]);
    // The trunk is offered 80 Gbps of 100, and s0 stops h0 too, which then sends at line rate what it has made
    // meanwhile. With h1's that overruns the trunk at those moments, but would have been sent without the stops.
    let stopped = |name: &str| records.pauses.iter().filter(|p| p.port == port(&sim, name)).count();
    let counts = ["s0->s1", "h0->s0"].map(stopped);
    assert!(counts[0] > 5 && counts[1] > 5, "{counts:?}");
    let roots: Vec<PortId> = records.roots.iter().map(|r| r.port).collect();
    assert_eq!(roots, [port(&sim, "s1->h3")]);
}

/// h0, h1 and h2 at s0, h3, h4 and h5 at s1. h0 and h1 overrun the trunk s0->s1 all the time, and h5 and h0 overrun
/// s1->h4 at first, so that the trunk is stopped; h2 begins when that is over.
#[test]
fn a_queue_is_a_root_while_it_is_stopped_and_while_pfc_holds_it_at_its_length() {
    let topology = chain(2, &[0, 0, 0, 1, 1, 1], Rate::from_gbps(100), Time::from_us(1));
    let late = Flow { start: Time::from_us(120), ..flow(2, 3, 100_000) };
    let flows = vec![flow(0, 4, 4_000_000), flow(1, 3, 4_000_000), flow(5, 4, 500_000), late];
    let sim = run(topology, 50_000, flows, 60_000);
    let records = sim.records();
    let trunk = port(&sim, "s0->s1");
    let last = records.pauses.iter().filter(|p| p.port == trunk).map(|p| p.end).max().expect("a pause");
    assert!(last < Time::from_us(120));
    // 60,000 B are exceeded by 40 frames, those of the 39th pair. That is before 66 pairs have brought the 50,000 B of each
    // host at which s0 stops it, so nothing is late yet. From then on 200 Gbps are offered to the trunk until h0 or h1 has
    // sent all: it gets 8 MB of payload, which take 667 us, and both have some left for nearly all that time.
    let roots: Vec<&RootRecord> = records.roots.iter().filter(|r| r.port == trunk).collect();
    let [root] = roots[..] else { panic!("one root: {roots:?}") };
    assert_eq!(root.start, Time(1_000_000 + 39 * FRAME_TIME));
    assert!(root.end > Time::from_us(600), "{root:?}");
    // Each host's part of the queue is 50,000 B, and less than 30,000 B that came while a PAUSE was on its way.
    assert!(root.max_bytes < 240_000, "{root:?}");
    let stopped = |name: &str| {
        let host = port(&sim, name);
        records.pauses.iter().filter(|p| p.port == host && p.start > last).count()
    };
    assert!(stopped("h0->s0") > 10 && stopped("h2->s0") > 0, "s0 goes on stopping its hosts");
    assert!(records.flows.iter().all(|f| !f.hol_blocked), "the trunk or s1->h4 is on the way of each");
}

#[test]
fn nothing_is_said_of_blocking_unless_it_is_recorded() {
    let topology = chain(2, &[0, 0, 1, 1, 1], Rate::from_gbps(100), Time::from_us(1));
    let pfc = Pfc { xoff: Some(Bytes(50_000)), ..Pfc::default() };
    let settings = Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![flow(0, 3, 500_000), flow(1, 2, 500_000), flow(4, 3, 500_000)];
    let mut sim = simulate(topology, settings, none, flows, Recording::default(), None);
    sim.run(&mut |_| true).expect("no loss");
    let records = sim.records();
    assert!(!records.watches_roots() && records.roots.is_empty() && records.root_rows() == 0);
    assert!(records.flows.iter().all(|f| !f.hol_blocked));
}
