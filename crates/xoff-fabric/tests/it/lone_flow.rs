//! One flow alone meets its ideal FCT to the picosecond.

use crate::common::{chain, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::Recording;
use xoff_fabric::ids::{FlowId, PortId};
use xoff_fabric::settings::{Host, Packets, Settings};
use xoff_fabric::topology::{AnyTopology, Topology};

const PAYLOAD: u64 = 1456; // 1518 B less 62 B of headers

fn fct(topology: &Topology, settings: &Settings, src: u32, dst: u32, size: u64) -> (Time, Time) {
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![flow(src, dst, size)];
    let mut sim = simulate(topology.clone(), settings.clone(), none, flows, Recording::default(), None);
    sim.run(&mut |_| true).expect("no loss");
    assert_eq!(sim.packets_in_flight(), 0, "every packet has left");
    (sim.records().outcomes()[0].fct.expect("completed"), sim.network().ideal_fct(FlowId(0)).expect("finite"))
}

/// Every packet's way through store-and-forward queues in tandem, one after the other: an independent reckoning of
/// what the closed form of the ideal FCT claims. ACKs take the way back.
fn packet_by_packet(topology: &Topology, path: &[PortId], size: u64, gap: u64, ack_every: u64) -> Time {
    let packets = size.div_ceil(PAYLOAD);
    let mut free = vec![0u64; path.len()];
    let mut free_back = vec![0u64; path.len()];
    let mut done = 0;
    for n in 1..=packets {
        let frame = (size - (n - 1) * PAYLOAD).min(PAYLOAD) + 62;
        let mut at = 0u64;
        for (k, &port) in path.iter().enumerate() {
            let rate = topology.rate(port);
            let end = at.max(free[k]) + rate.serialization(frame).0;
            free[k] = end + rate.serialization(gap).0;
            at = end + topology.delay(port).0;
        }
        if n % ack_every == 0 || n == packets {
            for (k, &port) in path.iter().enumerate().rev() {
                let rate = topology.rate(port.peer());
                let end = at.max(free_back[k]) + rate.serialization(66).0;
                free_back[k] = end + rate.serialization(gap).0;
                at = end + topology.delay(port.peer()).0;
            }
            done = at;
        }
    }
    Time(done)
}

#[test]
fn by_hand_on_two_links() {
    // h0 - s0 - h1, 100 Gbps (80 ps/B), 1 us. One byte: 63 B frame and 66 B ACK, each on two links:
    // 2 x 63 x 80 + 2 x 66 x 80 + 4 x 1,000,000 = 4,020,640 ps.
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    assert_eq!(fct(&topology, &Settings::default(), 0, 1, 1).0, Time(4_020_640));
    // Two full packets: the second follows the first: 3 x 1518 x 80 + 2 x 66 x 80 + 4 us = 4,374,880 ps.
    assert_eq!(fct(&topology, &Settings::default(), 0, 1, 2 * PAYLOAD).0, Time(4_374_880));
}

#[test]
fn sizes_around_packet_boundaries_on_mixed_rates() {
    // The slow link in the middle holds up the train; the short last packet catches up behind it.
    let mut topology = chain(3, &[0, 2], Rate::from_gbps(100), Time(1_500_000));
    topology.links[2].rate_ab = Rate::from_gbps(40);
    topology.links[3].rate_ab = Rate::from_gbps(400);
    topology.links[3].rate_ba = Rate::from_gbps(3); // does not divide: rounds up at each packet
    let path = [0, 4, 6, 3].map(PortId);
    for size in [1, 2, PAYLOAD - 1, PAYLOAD, PAYLOAD + 1, 2 * PAYLOAD, 2 * PAYLOAD + 1, 100_000, 1_000_000] {
        for (gap, ack_every) in [(0, 1), (20, 1), (0, 4), (20, 7)] {
            let packets = Packets { gap: Bytes(gap), ..Packets::default() };
            let host = Host { ack_every: ack_every as u32, ..Host::default() };
            let settings = Settings { packets, host, ..Settings::default() };
            let expected = packet_by_packet(&topology, &path, size, gap, ack_every);
            let (measured, ideal) = fct(&topology, &settings, 0, 1, size);
            assert_eq!(measured, expected, "size {size}, gap {gap}, an ACK every {ack_every}");
            assert_eq!(ideal, expected, "closed form, size {size}, gap {gap}, an ACK every {ack_every}");
        }
    }
}

#[test]
fn a_train_of_acks_on_a_slow_way_back() {
    // Data at 100 Gbps, ACKs over a link of 1 Gbps: an ACK of 66 B takes 528 ns there and a data packet 121.44 ns, so
    // ACKs queue. By hand for ten packets: the first ACK reaches that link at 2 x 121,440 + 5,280 + 3 us, ten leave it
    // one behind the other in 5,280,000 ps, and the last link adds 1 us: 9,528,160 ps in all.
    let mut topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    topology.links[0].rate_ba = Rate::from_gbps(1);
    let (measured, ideal) = fct(&topology, &Settings::default(), 0, 1, 10 * PAYLOAD);
    assert_eq!((measured, ideal), (Time(9_528_160), Time(9_528_160)));
    for (slow, ack_every, gap) in [(1, 1, 0), (1, 3, 20), (7, 2, 0), (40, 5, 20)] {
        for size in [1, PAYLOAD, 5 * PAYLOAD + 1, 6 * PAYLOAD, 7 * PAYLOAD - 1, 200_000] {
            let mut topology = chain(3, &[0, 2], Rate::from_gbps(100), Time(1_500_000));
            topology.links[2].rate_ba = Rate::from_gbps(slow);
            let packets = Packets { gap: Bytes(gap), ..Packets::default() };
            let host = Host { ack_every: ack_every as u32, ..Host::default() };
            let settings = Settings { packets, host, ..Settings::default() };
            let expected = packet_by_packet(&topology, &[0, 4, 6, 3].map(PortId), size, gap, ack_every);
            let (measured, ideal) = fct(&topology, &settings, 0, 1, size);
            assert_eq!(
                measured, expected,
                "{slow} Gbps back, size {size}, gap {gap}, an ACK every {ack_every}"
            );
            assert_eq!(
                ideal, expected,
                "closed form: {slow} Gbps back, size {size}, an ACK every {ack_every}"
            );
        }
    }
}

#[test]
fn acks_larger_than_their_data() {
    // Frames of 128 B and ACKs of 500 B at the same rate: the ACKs are the train that queues.
    let packets = Packets { mtu: Bytes(128), ack: Bytes(500), ..Packets::default() };
    let settings = Settings { packets, ..Settings::default() };
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    // 66 B of payload a packet, 10 packets: the first ACK starts back at 2 x 128 x 80 + 2 us = 2,020,480 ps; ten ACKs
    // of 40,000 ps each follow each other on the first link, the last takes another 40,000 on the second, and 2 us:
    // 2,020,480 + 400,000 + 40,000 + 2,000,000.
    let (measured, ideal) = fct(&topology, &settings, 0, 1, 660);
    assert_eq!((measured, ideal), (Time(4_460_480), Time(4_460_480)));
}

#[test]
fn a_gigabyte() {
    // 686,814 packets: 686,813 full ones and one of 272 B payload (334 B). At 80 ps/B over two links:
    // 686,813 x 121,440 ps on the first link, the last full one again on the second, which holds the short one up;
    // then 334 x 80 and two ACKs of 66 x 80, and 4 us of propagation.
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    let packets = 1_000_000_000u64.div_ceil(PAYLOAD);
    let last = 1_000_000_000 - (packets - 1) * PAYLOAD;
    assert_eq!((packets, last), (686_814, 272));
    let expected = packets * 121_440 + 334 * 80 + 2 * 66 * 80 + 4_000_000;
    let (measured, ideal) = fct(&topology, &Settings::default(), 0, 1, 1_000_000_000);
    assert_eq!(measured, Time(expected));
    assert_eq!(ideal, Time(expected));
}

#[test]
fn host_processing_adds_once() {
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    let host = Host { processing_delay: Time::from_ns(700), ..Host::default() };
    let settings = Settings { host, ..Settings::default() };
    let (measured, ideal) = fct(&topology, &settings, 0, 1, 1);
    assert_eq!((measured, ideal), (Time(4_720_640), Time(4_720_640)));
}

#[test]
fn on_every_topology() {
    // First to last host of each, against the packet-by-packet reckoning along the path that was taken.
    let topologies = [
        json!({ "name": "dumbbell", "switches": 4, "trunk_rate": "40Gbps" }),
        json!({ "name": "chain", "join": "middle" }),
        json!({ "name": "star", "hosts": 3, "rate": "1.6Tbps" }),
        json!({ "name": "fat_tree", "k": 4, "host_rate": "25Gbps", "core_rate": "400Gbps", "delay": "650ns" }),
        json!({ "name": "leaf_spine", "leaves": 3, "spines": 2, "links_per_pair": 2, "host_rate": "10Gbps" }),
        json!({
            "name": "graph", "hosts": ["a", "b"], "switches": ["s", "t", "u"],
            "links": [
                { "a": "a", "b": "s", "rate": "1Gbps", "delay": "1us" },
                { "a": "s", "b": "t", "rate": "100Gbps", "delay": "0ps", "rate_back": "7Gbps" },
                { "a": "t", "b": "u", "rate": "40Gbps", "delay": "1ps" },
                { "a": "u", "b": "b", "rate": "3Gbps", "delay": "2us", "delay_back": "5us" },
            ],
        }),
    ];
    for mut parameters in topologies {
        let name = parameters["name"].take().as_str().map(String::from).expect("a name");
        parameters.as_object_mut().expect("an object").remove("name");
        let topology =
            AnyTopology::read(&name, parameters).expect("known").expect("valid").build().expect(&name);
        let hosts = topology.hosts();
        let (src, dst) = (hosts[0], hosts[hosts.len() - 1]);
        for size in [1, PAYLOAD, PAYLOAD + 1, 3 * PAYLOAD, 500_000] {
            let none = scheme("none", json!({}), Time::ZERO);
            let flows = vec![flow(src.0, dst.0, size)];
            let recording = Recording::default();
            let mut sim = simulate(topology.clone(), Settings::default(), none, flows, recording, None);
            sim.run(&mut |_| true).expect("no loss");
            let path = sim.network().data_path(FlowId(0)).to_vec();
            let expected = packet_by_packet(&topology, &path, size, 0, 1);
            assert_eq!(sim.records().outcomes()[0].fct, Some(expected), "{name}, {size} B");
            assert_eq!(sim.network().ideal_fct(FlowId(0)), Some(expected), "closed form on {name}, {size} B");
        }
    }
}
