//! N, the number of concurrent flows that a receiver writes into its ACKs, in both definitions.

use crate::common::{chain, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::Recording;
use xoff_fabric::network::Flow;
use xoff_fabric::observe::capture::PacketFilter;
use xoff_fabric::packet::Kind;
use xoff_fabric::settings::{FlowCount, Host, Packets, Settings};
use xoff_fabric::topology::PortId;

/// Payload of a frame of 1,000 B.
const PAYLOAD: u64 = 952;

/// The base RTT: a frame of 80 ns and then an ACK of 50 B and of 58 B, 4 ns and 4.64 ns, over two links of 1 us each.
const T: u64 = 2 * 80_000 + 4_000 + 4_640 + 4_000_000;

/// By flow of h0 to h1: N in its first and in its last ACK.
fn counts(flow_count: FlowCount) -> Vec<(u16, u16)> {
    let at = |start: u64, packets| Flow { start: Time(start), ..flow(0, 1, packets * PAYLOAD) };
    let flows =
        vec![at(0, 1), at(T - 1, 1), at(2 * T - 1, 1), at(4 * T, 20), at(4 * T + 100_000, 1), at(10 * T, 1)];
    let settings = Settings {
        packets: Packets { mtu: Bytes(1_000), header: Bytes(48), ack: Bytes(46), ..Packets::default() },
        host: Host { flow_count, ..Host::default() },
        ..Settings::default()
    };
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    let filter = PacketFilter { ports: vec![PortId(2)], from: Time::ZERO, until: Time::from_ms(1) };
    let recording = Recording { packets: Some(filter), ..Recording::default() };
    let fncc = scheme("fncc", json!({}), Time(T));
    let number = flows.len();
    let mut sim = simulate(topology, settings, fncc, flows, recording, None);
    sim.run(&mut |_| true).expect("no loss");
    assert_eq!(sim.network().env.base_rtt, Time(T));
    let rows = sim.records().packets.rows();
    let of = |id| {
        let acks = rows.iter().filter(|row| row.kind == Kind::Ack && row.flow.index() == id);
        let counts: Vec<u16> = acks.map(|row| row.flow_count).collect();
        (counts[0], counts[counts.len() - 1])
    };
    (0..number).map(of).collect()
}

#[test]
fn a_flow_counts_for_one_more_base_rtt() {
    // Flow 1 delivers its packet 1 ps before the base RTT since flow 0's is over, flow 2 when it is over since flow 1's. Flow 4
    // comes amid flow 3's packets, and counts up to flow 3's last one, 1.6 us later at most. Flow 5 comes when all is quiet.
    assert_eq!(counts(FlowCount::Recent), [(1, 1), (2, 2), (1, 1), (1, 2), (2, 2), (1, 1)]);
}

#[test]
fn open_qps_are_all_that_ever_delivered_data() {
    assert_eq!(counts(FlowCount::AllOpenQps), [(1, 1), (2, 2), (3, 3), (4, 5), (5, 5), (6, 6)]);
}
