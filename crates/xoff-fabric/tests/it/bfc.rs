//! Backpressure Flow Control on small networks. Frames of 1,000 B hold 952 B and take 80 ns at 100 Gb/s; ACKs have 50 B; a link takes
//! 1 us. HRTT is 2 us and two frames, 160 ns; a list goes each half of it, 1.08 us: a pause acts 3.24 us after a queue is too long,
//! in which a port of 100 Gb/s sends 40,500 B.

use crate::common::{flow, scheme, star};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{NodeId, PortId};
use xoff_fabric::network::Flow;
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::{Bfc, FlowControl, Pfc, Settings};
use xoff_fabric::topology::{Link, Node, NodeKind, Topology};
use xoff_fabric::{Cut, Network, Recording, Simulation, Stop};

const PAYLOAD: u64 = 952;
const REACTION: u64 = 40_500;

fn settings(flow_control: FlowControl) -> Settings {
    let mut all = Settings { flow_control, ..Settings::default() };
    (all.packets.mtu, all.packets.header, all.packets.ack) = (Bytes(1_000), Bytes(48), Bytes(50));
    all
}

fn bfc() -> FlowControl {
    FlowControl::Bfc(Bfc::default())
}

fn network(topology: Topology, settings: Settings, flows: Vec<Flow>) -> Network {
    let none = scheme("none", json!({}), Time::from_us(1));
    Network::build(topology, &Routing::default(), settings, none, flows, 1).expect("a network")
}

fn run(topology: Topology, settings: Settings, flows: Vec<Flow>) -> Simulation {
    let sizes: u64 = flows.iter().map(|flow| flow.size.bytes().unwrap_or(0)).sum();
    let mut sim = Simulation::new(network(topology, settings, flows), None, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    // Each byte arrives once and nothing is left behind.
    assert_eq!((sim.counters().delivered_bytes, sim.counters().drops), (sizes, 0));
    assert_eq!(sim.buffered_bytes(), (0, 0));
    sim
}

fn fct(sim: &Simulation, flow: usize) -> u64 {
    sim.records().outcomes()[flow].fct.expect("complete").0
}

/// Hosts 0 to 8 on one switch and 9 and 10 on another one; 100 Gb/s, but 400 Gb/s between the switches.
fn two_switches() -> Topology {
    let host = |i: u32| Node { name: format!("h{i}"), kind: NodeKind::Host, tier: 0 };
    let switch = |i: u32| Node { name: format!("s{i}"), kind: NodeKind::Switch, tier: 1 };
    let link = |a: u32, b: u32, gbps| {
        let (rate, delay) = (Rate::from_gbps(gbps), Time::from_us(1));
        Link { a: NodeId(a), b: NodeId(b), rate_ab: rate, rate_ba: rate, delay_ab: delay, delay_ba: delay }
    };
    let near = (0..9).map(|h| link(h, 11, 100));
    let far = (9..11).map(|h| link(h, 12, 100));
    Topology {
        nodes: (0..11).map(host).chain((0..2).map(switch)).collect(),
        links: near.chain(far).chain([link(11, 12, 400)]).collect(),
        ..Topology::default()
    }
}

/// Eight hosts send 2 MB each to host 9, and host 8 sends 4 MB to host 10.
fn incast_and_victim() -> Vec<Flow> {
    let incast = (0..8).map(|src| flow(src, 9, 2_000_000));
    incast.chain([flow(8, 10, 4_000_000)]).collect()
}

/// The victim alone: 4,201 frames of 80 ns and one of 696 B. The last full one is 20 ns on the trunk and 80 ns on the last link after the
/// NIC's end, and the short one 55.68 ns behind it. Six links' delays, and an ACK of 50 B.
const ALONE: u64 = 4_201 * 80_000 + 100_000 + 55_680 + 6_000_000 + 9_000;

/// The incast takes 100 of the trunk's 400 Gb/s, so there is room for the victim. Eight flows want eight times what host 9 takes; they are
/// held back one by one, first at the first switch and then at their hosts, in queues of their own. The victim loses
/// no more than packets of others that are before its own at the trunk: eight frames of 20 ns for each of its frames of 80 ns
/// at most while the eight send, which is until the pause has acted, some 7 us.
#[test]
fn a_victim_that_shares_the_port_of_an_incast_keeps_its_rate() {
    let sim = run(two_switches(), settings(bfc()), incast_and_victim());
    let found = fct(&sim, 8);
    assert!((ALONE..ALONE + 10_000_000).contains(&found), "{found} instead of {ALONE}");
    // The bottleneck never idles: 8 x 2,101 frames of 80 ns, and some round trips.
    let last = (0..8).map(|i| fct(&sim, i)).max().unwrap_or(0);
    assert!(last < 8 * 2_101 * 80_000 + 30_000_000, "{last}");
    // All eight get the same.
    let first = (0..8).map(|i| fct(&sim, i)).min().unwrap_or(0);
    assert!(last - first < last / 50, "{first} to {last}");
}

/// PFC stops the trunk for all, and the victim waits for the incast; so do queues that are too few.
#[test]
fn a_victim_in_the_same_queue_waits() {
    let pfc = FlowControl::Pfc(Pfc { xoff: Some(Bytes(50_000)), ..Pfc::default() });
    let one_queue = FlowControl::Bfc(Bfc { queues: 1, ..Bfc::default() });
    let one_flow = FlowControl::Bfc(Bfc { virtual_flows: 1, ..Bfc::default() });
    for flow_control in [pfc, one_queue, one_flow] {
        let sim = run(two_switches(), settings(flow_control), incast_and_victim());
        let found = fct(&sim, 8);
        assert!(found > 2 * ALONE, "{found} under {:?}", sim.network().settings.flow_control);
    }
}

/// Of the trunk's 400 Gb/s the incast alone uses host 9's 100: while hosts fill the trunk's queues, which is all but the first and last
/// few us of 1.34 ms, the trunk sends for a quarter of the time and is stopped for the rest.
#[test]
fn a_port_that_may_send_nothing_counts_as_stopped() {
    let flows: Vec<Flow> = (0..8).map(|src| flow(src, 9, 2_000_000)).collect();
    let sim = run(two_switches(), settings(bfc()), flows);
    let (trunk, end) = (PortId(2 * 11), (0..8).map(|i| fct(&sim, i)).max().unwrap_or(0));
    let share = sim.paused(trunk, 0).0 as f64 / end as f64;
    assert!(share > 0.7 && share < 0.75, "{share}");
}

/// All connections are one virtual flow, and hosts 1 to 4 each send to host 0 and, by turns, to host 5. Host 0's link has 50 Gb/s and
/// host 5's 25 Gb/s: both ports hold the flow back, and host 0's lets it go on first. The slower link's two frames of 320 ns make HRTT 2.64 us, a list goes each 1.32 us, and 3.96 us
/// after host 5's queue holds 12,375 B nothing more comes. Till then half of 400 Gb/s comes and 25 Gb/s leave, 86,625 B, so the
/// queue never holds more than 99,000 B and a frame of each host.
#[test]
fn a_flow_that_two_ports_hold_back_waits_for_both() {
    let mut topology = star(&[0; 6]);
    (topology.links[0].rate_ab, topology.links[0].rate_ba) = (Rate::from_gbps(50), Rate::from_gbps(50));
    (topology.links[5].rate_ab, topology.links[5].rate_ba) = (Rate::from_gbps(25), Rate::from_gbps(25));
    let one = FlowControl::Bfc(Bfc { virtual_flows: 1, ..Bfc::default() });
    let flows = (1..5).flat_map(|src| [flow(src, 0, 1_000_000), flow(src, 5, 1_000_000)]).collect();
    let sim = run(topology, settings(one), flows);
    let queue = sim.port(PortId(11)).max_queued_bytes;
    assert!(queue > 12_375 && queue <= 99_000 + 4 * 1_000, "{queue}");
}

#[test]
fn parameters_out_of_range_are_refused() {
    let wrong = Bfc { queues: 0, virtual_flows: 0, period: Some(Time::ZERO), resumes: 0 };
    let none = scheme("none", json!({}), Time::ZERO);
    let found = settings(FlowControl::Bfc(wrong)).validate(&none);
    let keys: Vec<String> = found.into_iter().map(|violation| violation.key.to_string()).collect();
    let tables = ["queues", "virtual_flows", "period", "resumes"].map(|key| format!("flow_control.{key}"));
    assert_eq!(keys, tables);
}

/// Two hosts send to a third one at twice its rate. Each flow's queue is too long above 40,500 / 2 B, after which both go on for
/// at most the reaction of 3.24 us and the rest of a period: the port's queue grows by a port's rate, 40,500 B, and a few frames. Then one
/// flow goes on when its queue is short again, and the port never idles.
#[test]
fn queues_keep_to_their_share_of_the_reaction() {
    let sim = run(star(&[0, 0, 0]), settings(bfc()), vec![flow(1, 0, 5_000_000), flow(2, 0, 5_000_000)]);
    let queue = sim.port(PortId(1)).max_queued_bytes;
    assert!(queue > REACTION && queue < 2 * REACTION + 4_000, "{queue}");
    let packets = 5_000_000u64.div_ceil(PAYLOAD);
    let least = 2 * packets * 80_000;
    let last = fct(&sim, 0).max(fct(&sim, 1));
    assert!(last > least && last < least + least / 100, "{last} of {least}");
}

/// A flow that nothing holds back is as fast as without flow control.
#[test]
fn a_flow_alone_is_never_held_back() {
    let flows = vec![flow(8, 10, 4_000_000)];
    let times = [bfc(), FlowControl::None]
        .map(|control| fct(&run(two_switches(), settings(control), flows.clone()), 0));
    assert_eq!(times[0], times[1]);
    assert_eq!(times[0], ALONE);
}

/// Each of the eight flows may have one hop's data at the first switch while it is held back, 3.24 us of 400 Gb/s or 162 KB, and 3.24 us
/// more of its host's 100 Gb/s, 40.5 KB: with the victim's 1.9 MB at most. Without it 16 MB come to 2 MB.
#[test]
fn a_buffer_of_one_hop_for_each_flow_loses_nothing() {
    let with = |control| {
        let mut all = settings(control);
        all.switch.buffer = Some(Bytes(2_000_000));
        all
    };
    run(two_switches(), with(bfc()), incast_and_victim());
    let net = network(two_switches(), with(FlowControl::None), incast_and_victim());
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    assert!(sim.run(&mut |_| true).is_err(), "without it the buffer is too small");
}

/// A network in two parts, each on a thread, gives the same events.
#[test]
fn partitions_give_the_same() {
    let whole = run(two_switches(), settings(bfc()), incast_and_victim());
    let net = network(two_switches(), settings(bfc()), incast_and_victim());
    let cut = Cut::into(&net, 2, None);
    assert_eq!(cut.partitions(), 2);
    let mut parts = Simulation::cut(net, cut, None, Recording::default(), None);
    assert_eq!(parts.run(&mut |_| true), Ok(Stop::FlowsDone));
    assert_eq!(parts.counters().fingerprint, whole.counters().fingerprint);
}
