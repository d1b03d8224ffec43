//! Messages of whole switches: when they are sent, to whom, and their way back by the switches' tables. A debug build
//! also asserts at every hop that table and path agree.

use crate::common::{chain, flow, scheme, simulate};
use serde_json::{Value, json};
use xoff_engine::{Rate, Time};
use xoff_fabric::ids::FlowId;
use xoff_fabric::packet::Kind;
use xoff_fabric::settings::Settings;
use xoff_fabric::topology::Topology;
use xoff_fabric::{Flow, Recording, Simulation};

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
