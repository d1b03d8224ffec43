//! Where a network is cut for threads: hosts stay with their switch and pods of a fat-tree together, parts have equal
//! work, and the longest links are cut.

use crate::common::{chain, flow, scheme};
use serde_json::json;
use xoff_engine::{Rate, Time};
use xoff_fabric::ids::{FlowId, NodeId};
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::Settings;
use xoff_fabric::topology::{AnyTopology, NodeKind, Topology};
use xoff_fabric::{Cut, Flow, Network};

fn network(topology: Topology, flows: Vec<Flow>) -> Network {
    let none = scheme("none", json!({}), Time::ZERO);
    Network::build(topology, &Routing::default(), Settings::default(), none, flows, 1).expect("a network")
}

/// Each host sends to all others.
fn all_to_all(topology: Topology) -> Network {
    let hosts = topology.hosts();
    let pairs = hosts.iter().flat_map(|&a| hosts.iter().filter(move |&&b| b != a).map(move |&b| (a, b)));
    let flows = pairs.map(|(a, b)| flow(a.0, b.0, 100_000)).collect();
    network(topology, flows)
}

fn fat_tree(k: u32) -> Topology {
    let tree = AnyTopology::read("fat_tree", json!({ "k": k })).expect("known").expect("valid");
    tree.build().expect("a fat-tree")
}

#[test]
fn pods_of_a_fat_tree_stay_together_and_parts_are_alike() {
    let net = all_to_all(fat_tree(8));
    for parts in [2, 4, 8] {
        let cut = Cut::into(&net, parts, None);
        assert_eq!(cut.partitions(), parts);
        let of = |tier: u8| -> Vec<usize> {
            let nodes = net.topology.nodes.iter().enumerate().filter(|(_, n)| n.tier == tier);
            nodes.map(|(i, _)| cut.partition_of(NodeId::at(i))).collect()
        };
        // 8 pods of 16 hosts, 4 edge and 4 aggregation switches; 16 core switches.
        for (tier, of_pod) in [(0, 16), (1, 4), (2, 4)] {
            let nodes = of(tier);
            assert!(nodes.chunks(of_pod).all(|pod| pod.iter().all(|p| *p == pod[0])), "{parts}: {nodes:?}");
            for part in 0..parts {
                assert_eq!(nodes.iter().filter(|p| **p == part).count(), nodes.len() / parts, "{nodes:?}");
            }
        }
        for part in 0..parts {
            assert_eq!(of(3).iter().filter(|p| **p == part).count(), 16 / parts, "{:?}", of(3));
        }
    }
}

#[test]
fn hosts_stay_with_their_switch_and_links_without_delay_are_whole() {
    // h0 and h1 at s0, h2 at s1, h3 at s2; no time between s1 and s2.
    let mut topology = chain(3, &[0, 0, 1, 2], Rate::from_gbps(100), Time::from_us(1));
    topology.links[5].delay_ba = Time::ZERO;
    let net = all_to_all(topology);
    let cut = Cut::into(&net, 8, None);
    let parts: Vec<usize> = (0..7).map(|node| cut.partition_of(NodeId(node))).collect();
    assert_eq!(parts, [0, 0, 1, 1, 0, 1, 1]);
}

#[test]
fn one_switch_is_one_part() {
    let net = all_to_all(chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1)));
    assert_eq!(Cut::into(&net, 4, None).partitions(), 1);
}

#[test]
fn the_longest_links_are_cut_where_the_work_allows_it() {
    // Four switches in a row with a host each; the middle link is 100 times as long as the others, and on either side
    // of it are two switches and two hosts.
    let mut topology = chain(4, &[0, 1, 2, 3], Rate::from_gbps(100), Time::from_ns(10));
    (topology.links[5].delay_ab, topology.links[5].delay_ba) = (Time::from_us(1), Time::from_us(1));
    let net = all_to_all(topology);
    let cut = Cut::into(&net, 2, None);
    let parts: Vec<usize> = (4..8).map(|switch| cut.partition_of(NodeId(switch))).collect();
    assert_eq!(parts, [0, 0, 1, 1]);
}

#[test]
fn several_threads_are_for_large_runs() {
    let small = all_to_all(fat_tree(4));
    assert_eq!(Cut::fastest(&small, 8, None).partitions(), 1);
    // 128 hosts send 10 MB each to a host of the next pod: 128 x 7,000 packets over 6 links, and as many ACKs back, are
    // 11 million packet-hops in 0.8 ms, and so 13,000 a microsecond.
    let topology = fat_tree(8);
    let hosts = topology.hosts();
    let flows = (0..hosts.len()).map(|i| flow(hosts[i].0, hosts[(i + 16) % 128].0, 10_000_000)).collect();
    let large = network(topology, flows);
    assert!(large.topology.nodes[large.flows.src(FlowId(0)).index()].kind == NodeKind::Host);
    assert_eq!(Cut::fastest(&large, 2, None).partitions(), 2);
    assert_eq!(Cut::fastest(&large, 1, None).partitions(), 1);
}

#[test]
fn several_threads_begin_at_some_hundred_thousand_packet_hops() {
    // As above with fewer packets a flow: 128 flows over 6 links, and ACKs back, are 1,536 packet-hops for each. Below a
    // third of a million (20 ms at 60 ns) starting a thread, 1 ms, is not worth its while: 200 packets are 307,200,
    // 400 are 614,400, in some 50 us.
    let parts = |packets: u64| {
        let topology = fat_tree(8);
        let hosts = topology.hosts();
        let size = packets * 1456;
        let flows = (0..hosts.len()).map(|i| flow(hosts[i].0, hosts[(i + 16) % 128].0, size)).collect();
        Cut::fastest(&network(topology, flows), 2, None).partitions()
    };
    assert_eq!((parts(200), parts(400)), (1, 2));
}

#[test]
fn a_long_run_with_few_packets_in_a_window_takes_one_thread() {
    // 100 Mbps for 10 s: 85,000 packets a second over three links, and as many ACKs, are 5 million packet-hops in all
    // but one in two windows of 1 us; a window's meeting of all threads takes as long as 50 packet-hops.
    let slow = Flow { source_rate: Rate::from_mbps(100), ..flow(0, 1, 125_000_000) };
    let net = network(chain(2, &[0, 1], Rate::from_gbps(100), Time::from_us(1)), vec![slow]);
    assert_eq!(Cut::into(&net, 2, None).partitions(), 2);
    assert_eq!(Cut::fastest(&net, 2, None).partitions(), 1);
}
