//! Messages of whole switches: when they are sent, to whom, and their way back by the switches' tables. A debug build
//! also asserts at every hop that table and path agree.

use crate::common::{chain, flow, scheme, simulate};
use crate::faults::{fault, two_spines_of};
use serde_json::{Value, json};
use xoff_engine::{Rate, Time};
use xoff_fabric::fault::{Broken, Convergence};
use xoff_fabric::ids::FlowId;
use xoff_fabric::observe::capture::PacketFilter;
use xoff_fabric::packet::Kind;
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::Settings;
use xoff_fabric::topology::Topology;
use xoff_fabric::{Flow, Network, Recording, Schedule, Simulation, network_env};

const PAYLOAD: u64 = 1_456;

fn run(topology: Topology, params: Value, flows: Vec<Flow>) -> Simulation {
    let recording = Recording { notifications: true, ..Recording::default() };
    let srcc = scheme("srcc", params, Time::from_us(100));
    let mut sim = simulate(topology, Settings::default(), srcc, flows, recording, None);
    sim.run(&mut |_| true).expect("no loss");
    sim
}

fn fixed(extra: Value) -> Value {
    let mut params = json!({ "threshold": "fixed", "fixed_threshold": "30KB", "base": "none" });
    params.as_object_mut().expect("a table").extend(extra.as_object().expect("a table").clone());
    params
}

#[test]
fn a_message_leaves_with_the_packet_that_exceeds_the_threshold() {
    // As in roots.rs the second frame of the 20th pair, h1's, is the first to find more than 30,000 B, at 1 us +
    // 20 x 121,440 ps = 3,428,800 ps. Its message takes 1 us and its own time on the wire back, and an ACK may be before
    // it: 66 B take 5,280 ps each.
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let flows = vec![flow(0, 2, 40 * PAYLOAD), flow(1, 2, 40 * PAYLOAD)];
    let sim = run(topology, fixed(json!({})), flows);
    let records = sim.records();
    let first = records.notifications.first().expect("a message");
    assert_eq!((first.kind, first.flow), (Kind::Cnm, FlowId(1)));
    let (least, most) = (4_428_800 + 5_280, 4_428_800 + 2 * 5_280);
    assert!((least..=most).contains(&first.time.0), "{first:?}");
    // The next frame of h0 brings the other one; each flow is told once a base RTT, longer than all of this lasts.
    assert_eq!(records.notifications.iter().map(|n| n.flow).collect::<Vec<_>>(), [FlowId(1), FlowId(0)]);
    assert_eq!((records.totals.cnms_sent, records.totals.cnms_lost), (2, 0));
    assert_eq!(records.totals.flow_tables.len(), 1);
    assert_eq!(records.totals.flow_tables[0].1, 2);
}

#[test]
fn messages_find_their_way_through_several_switches() {
    // h0, h1 and h2 at the ends and in the middle of four switches all send to h3 at the last one.
    let topology = chain(4, &[0, 1, 2, 3], Rate::from_gbps(100), Time::from_us(1));
    let flows = (0..3).map(|h| flow(h, 3, 2_000_000)).collect();
    let sim = run(topology, fixed(json!({ "cnm_interval": "5us" })), flows);
    let records = sim.records();
    assert!(records.totals.cnms_sent > 10 && records.totals.cnms_lost == 0, "{}", records.totals.cnms_sent);
    for flow in 0..3 {
        assert!(records.notifications.iter().any(|n| n.flow == FlowId(flow)), "flow {flow}");
    }
    // Every switch knows the flows that pass it: 1, 2, 3 and 3.
    let most: Vec<u64> = records.totals.flow_tables.iter().map(|t| t.1).collect();
    assert_eq!(most, [1, 2, 3, 3]);
}

#[test]
fn a_message_to_a_forgotten_flow_is_lost() {
    // h0's 60 frames are through s0 in 7.3 us; a message from s1 comes there 10 us after the frame that it is for, when
    // a table that forgets within 0.3 us no longer knows the flow.
    let topology = chain(2, &[0, 1, 1], Rate::from_gbps(100), Time::from_us(10));
    let late = Flow { start: Time::from_us(10), ..flow(1, 2, 60 * PAYLOAD) };
    let flows = vec![flow(0, 2, 60 * PAYLOAD), late];
    let sim = run(
        topology,
        fixed(json!({ "window_rtts": 0.005, "count_rtts": 0.005, "flow_timeout": "1ns" })),
        flows,
    );
    let records = sim.records();
    let base_rtt = sim.network().env.base_rtt;
    assert!(base_rtt > Time::from_us(60) && base_rtt < Time::from_us(61), "{base_rtt}");
    assert!(records.totals.cnms_lost > 0);
    let arrived = records.notifications.len() as u64;
    assert_eq!(records.totals.cnms_sent, arrived + records.totals.cnms_lost);
}

/// h0 and h3 send to h2 from 10 us on: h0 by one of two spines, h3 by the same leaf as h2, whose queue grows. The link of l0 to the spine that
/// h0's packets take without failures, or to the other one, is down from the beginning, which routing knows at 1 us.
fn to_one_leaf(takes_a_detour: bool) -> Simulation {
    let topology = two_spines_of(2);
    let flows: Vec<_> =
        [0, 3].map(|from| Flow { start: Time::from_us(10), ..flow(from, 2, 400 * PAYLOAD) }).into();
    let router = Router::new(topology.clone(), &Routing::default(), 1).expect("routes");
    let srcc = scheme("srcc", json!({ "base": "none", "cnm_interval": "1us" }), Time::from_us(100));
    let settings = Settings::default();
    let env = network_env(&topology, &router, &settings, &srcc.signals()).expect("connected");
    let net = Network::along(topology, &router, env, settings, srcc, flows, Schedule::default(), 1);
    let net = net.expect("a network");
    // Links 4 and 5 lead from l0 to the spines.
    let own = net.data_path(FlowId(0))[1].link() as u32;
    let down = if takes_a_detour { own } else { 9 - own };
    let faults = vec![fault(Broken::Link(down), Time::ZERO, Time::NEVER)];
    let net = net.with_faults(&router, faults, Convergence::After(Time::from_us(1)), &[]).expect("faults");
    let path = net.data_path_at(FlowId(0), Time::from_us(10));
    assert_eq!((path.len(), path[1].link() as u32), (4, 9 - down));
    let packets = PacketFilter { ports: path.to_vec(), from: Time::ZERO, until: Time::NEVER };
    let recording = Recording { notifications: true, packets: Some(packets), ..Recording::default() };
    let mut sim = Simulation::new(net, None, recording, None);
    sim.run(&mut |_| true).expect("a run");
    sim
}

#[test]
fn links_that_a_packet_has_passed_count_by_its_own_route() {
    // The spines are alike, so that the run is the same whether h0's packets take the one or, round a link that is down, the other. The threshold falls with the
    // number of links that a packet has passed (SRCC, Eq. 5), three for h0's at l1.
    let runs = [false, true].map(to_one_leaf);
    let told = runs.each_ref().map(|sim| {
        let of = |n: &xoff_fabric::observe::rows::NotificationRecord| (n.time, n.flow);
        sim.records().notifications.iter().map(of).collect::<Vec<_>>()
    });
    assert!(told[0].iter().any(|(_, flow)| *flow == FlowId(0)), "{told:?}");
    assert_eq!(told[0], told[1]);
    // Where a packet of h0 leaves by the first, second, third and fourth port of the path, it takes as many links.
    for sim in &runs {
        let path = sim.network().data_path_at(FlowId(0), Time::from_us(10));
        let rows = sim.records().packets.rows().iter().filter(|row| !row.inbound && row.flow == FlowId(0));
        let mut seen = [0; 4];
        for row in rows.filter(|row| row.kind == Kind::Data) {
            let hop = path.iter().position(|port| *port == row.port).expect("a port of the path");
            assert_eq!(usize::from(row.links), hop + 1);
            seen[hop] += 1;
        }
        assert_eq!(seen, [400; 4]);
    }
}
