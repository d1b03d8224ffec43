//! Torus, HyperX and Jellyfish: their size, their paths and lanes, and how much they carry.

use serde_json::json;
use xoff_fabric::ids::NodeId;
use xoff_fabric::network::Flow;
use xoff_fabric::routing::{DimensionOrder, KShortest, Router, Routing, RoutingError};
use xoff_fabric::settings::{Queueing, Scheduling};
use xoff_fabric::topology::{AnyTopology, NodeKind, Topology};

use crate::dragonfly::{built, carried, counts, names, offer, settings};

const ORDER: Routing = Routing::DimensionOrder(DimensionOrder {});

fn path(t: &Topology, routing: &Routing, from: u32, to: u32, key: u64) -> Vec<String> {
    let router = Router::new(t, routing, 1).expect("routes");
    let mut path = Vec::new();
    router.path(NodeId(from), NodeId(to), key, &mut path).expect("a path");
    names(t, &path)
}

/// Links between the hosts with numbers below `half` and the others, over the switches that the hosts are attached to.
fn bisection(t: &Topology, half: u32) -> usize {
    let hosts = t.hosts().len() as u32;
    let side = |node: NodeId| node.0 - hosts < half;
    let switch = |node: NodeId| t.nodes[node.index()].kind == NodeKind::Switch;
    t.links.iter().filter(|l| switch(l.a) && switch(l.b) && side(l.a) != side(l.b)).count()
}

#[test]
fn sizes_are_those_of_the_definitions() {
    // 16 switches, each with one link onwards in each of 2 dimensions; 64 switches with 3. Across the middle of the last dimension each
    // of 4 (16) rings is cut twice.
    let plane = built("torus", json!({}));
    assert_eq!((counts(&plane), bisection(&plane, 8)), ((16, 16, 16 + 32), 8));
    let cube = built("torus", json!({ "dimensions": [4, 4, 4] }));
    assert_eq!((counts(&cube), bisection(&cube, 32)), ((64, 64, 64 + 192), 32));
    // A ring of two has one link: 2 rows of 3 in a ring, and 3 links between them.
    assert_eq!(counts(&built("torus", json!({ "dimensions": [3, 2] }))), (6, 6, 6 + 6 + 3));
    // Rows of 4 have 6 links; there are 4 rows in each of 2 dimensions. Each of 4 rows is cut in 2 x 2 places.
    let hyperx = built("hyperx", json!({}));
    assert_eq!((counts(&hyperx), bisection(&hyperx, 8)), ((64, 16, 64 + 48), 16));
    assert_eq!(counts(&built("hyperx", json!({ "links_per_pair": 2 }))), (64, 16, 64 + 96));
    // Diameters: 2 + 2, 2 + 2 + 2, and 1 + 1 links between switches, and two links of hosts.
    let hops = |t: &Topology| Router::new(t, &ORDER, 1).expect("a grid").max_hops();
    assert_eq!([&plane, &cube, &hyperx].map(hops), [6, 8, 4]);
}

#[test]
fn packets_go_by_one_dimension_after_the_other() {
    // Switch 3 is at (3, 0), switch 13 at (1, 3): from 3 to 1 both ways are 2 links, down from odd places; then from 0 to 3 by the
    // link that closes the ring.
    let torus = built("torus", json!({}));
    let way = ["host3->s3.0", "s3.0->s2.0", "s2.0->s1.0", "s1.0->s1.3", "s1.3->host13"];
    assert_eq!(path(&torus, &ORDER, 3, 13, 0), way);
    let hyperx = built("hyperx", json!({ "hosts_per_switch": 1 }));
    assert_eq!(path(&hyperx, &ORDER, 3, 13, 0), ["host3->s3.0", "s3.0->s1.0", "s1.0->s1.3", "s1.3->host13"]);
}

#[test]
fn datelines_break_the_circles_of_rings() {
    for dimensions in [json!([5]), json!([4, 4]), json!([3, 4, 2])] {
        let t = built("torus", json!({ "dimensions": dimensions }));
        let router = Router::new(&t, &ORDER, 1).expect("a torus");
        assert_eq!(router.lanes().map(|lanes| lanes.count()), Some(2));
        assert_eq!(router.dependencies(1).expect("paths").cycle_on_lanes(), []);
    }
    let hyperx = Router::new(built("hyperx", json!({})), &ORDER, 1).expect("a HyperX");
    assert!(hyperx.lanes().is_none(), "one lane is enough");
    assert_eq!(hyperx.dependencies(1).expect("paths").cycle_on_lanes(), []);
}

#[test]
fn grids_carry_what_their_busiest_links_can() {
    // In a ring of 8 each host sends to the one 3 further on ("tornado"): every link upwards has 3 flows, so 1/3 each.
    let ring = built("torus", json!({ "dimensions": [8] }));
    // Offered more, some wait behind others that cannot go on (see below), and no more than that gets through.
    let tornado = |offered| (0..8).map(|h| offer(h, (h + 3) % 8, offered)).collect();
    let share = carried(&ring, &ORDER, settings(2), tornado(0.31));
    assert!((share - 0.31).abs() < 0.01, "{share}");
    let share = carried(&ring, &ORDER, settings(2), tornado(0.4));
    assert!(share < 1.0 / 3.0, "{share}");
    // In a plane, along each row: the same, at half of 4 links: 2 flows upwards from even places and 2 downwards from odd ones, so
    // one link upwards has the flows that begin there and one before: for two from places 0 and 2, one each.
    let plane = built("torus", json!({}));
    let across: Vec<Flow> = (0..16).map(|h| offer(h, h / 4 * 4 + (h + 2) % 4, 0.9)).collect();
    let share = carried(&plane, &ORDER, settings(2), across);
    assert!((share - 0.9).abs() < 0.02, "{share}");
    // In a HyperX all 4 hosts of a switch send to the next switch of its row: they share one link.
    let hyperx = built("hyperx", json!({}));
    let next: Vec<Flow> = (0..64).map(|h| offer(h, h / 16 * 16 + (h + 4) % 16, 0.9)).collect();
    let share = carried(&hyperx, &ORDER, settings(1), next);
    assert!((share - 0.25).abs() < 0.005, "{share}");
    // All to the same host of all other switches: a link carries the flows from 4 hosts to the next place, and those that turn
    // into the column: 4 hosts x 4 columns' worth / 15; each host offers 1/15 to each other switch. Row links carry 4 x 4 / 15 =
    // 1.07 of a line: 0.9 of that fits.
    let pairs =
        (0..64u32).flat_map(|a| (0..16).filter(move |&s| s != a / 4).map(move |s| (a, 4 * s + a % 4)));
    let all: Vec<Flow> = pairs.map(|(a, b)| offer(a, b, 0.8 / 15.0)).collect();
    let share = carried(&hyperx, &ORDER, settings(1), all);
    assert!((share - 0.8).abs() < 0.02, "{share}");
}

#[test]
fn a_ring_beyond_its_capacity_is_held_up_at_the_head_of_its_lanes() {
    // The tornado of a ring of 8 with more than it can carry. All lanes lead towards the link that closes the ring, which is full. A switch serves
    // its inputs in turn: half of what leaves it upwards is its host's, and half comes from below. Let link k carry r(k), half of it
    // of host k. Of that, all but its own host's goes on from link k - 1, where packets for this switch stand among the others and keep
    // their share: r(k) / 2 = r(k - 1) / 2 + r(k - 2) / 2, what hosts k - 1 and k - 2 send. So each link carries 0.618 (the golden
    // ratio) of the next one, and host k has 1/2, 0.309, 0.191, ... of a line: the mean of eight is (1 - 0.618^8) / (2 x 0.382 x 8) = 0.160.
    let ring = built("torus", json!({ "dimensions": [8] }));
    let tornado = || (0..8).map(|h| offer(h, (h + 3) % 8, 0.9)).collect::<Vec<Flow>>();
    let held_up = carried(&ring, &ORDER, settings(2), tornado());
    assert!((held_up - 0.160).abs() < 0.006, "{held_up}");
    // A virtual output queue for each output changes nothing: packets for all of them share the lane's buffer.
    let mut queues = settings(2);
    queues.switch.queueing = Some(Queueing::VirtualOutput);
    let held_up = carried(&ring, &ORDER, queues, tornado());
    assert!((held_up - 0.160).abs() < 0.006, "{held_up}");
    // With a lane for each link, flows that share a link have lanes of their own there, and none waits behind another: the links are
    // full. That holds too if lane 0, the hosts', may send two or eight times as much as the others.
    let by_hop = Routing::KShortest(KShortest { k: 1, lanes: 4 });
    for weights in [[64; 4], [128, 64, 64, 64], [255, 32, 32, 32]] {
        let mut lanes = settings(4);
        (lanes.switch.scheduling, lanes.switch.weights) = (Scheduling::Weighted, weights.to_vec());
        let share = carried(&ring, &by_hop, lanes, tornado());
        assert!(share > 0.32 && share < 1.0 / 3.0, "{weights:?}: {share}");
    }
}

#[test]
fn a_jellyfish_is_regular_connected_and_the_same_for_the_same_seed() {
    for (switches, degree) in [(20, 4), (7, 3), (5, 4), (50, 6)] {
        let make = |seed: u64| {
            built(
                "jellyfish",
                json!({ "switches": switches, "degree": degree, "hosts_per_switch": 1, "seed": seed }),
            )
        };
        let t = make(3);
        assert_eq!(counts(&t), (switches, switches, switches + switches * degree / 2));
        let adjacency = t.adjacency();
        let degrees = (0..switches).map(|s| adjacency.ports_of(NodeId::at(switches + s)).len() - 1);
        let missing: usize = degrees.map(|d| degree - d).sum();
        assert_eq!(missing, switches * degree % 2, "an odd number of ports leaves one free");
        let names: std::collections::BTreeSet<String> = t.port_names().into_iter().collect();
        assert!(names.iter().all(|name| !name.contains('#')), "no parallel links");
        assert_eq!(t, make(3));
        assert!(degree + 1 == switches || t != make(4));
    }
}

#[test]
fn k_shortest_paths_are_all_that_there_are_and_shortest_first() {
    // A square with a host at each corner: between neighbours one link and three; across, two links either way.
    let link = |(a, b)| json!({ "a": a, "b": b, "rate": "100Gbps", "delay": "500ns" });
    let ends = [("h0", "s0"), ("h1", "s1"), ("h2", "s2"), ("h3", "s3")];
    let corners = [("s0", "s1"), ("s1", "s2"), ("s2", "s3"), ("s3", "s0")];
    let links: Vec<_> = ends.into_iter().chain(corners).map(link).collect();
    let square = json!({
        "hosts": ["h0", "h1", "h2", "h3"], "switches": ["s0", "s1", "s2", "s3"], "links": links,
    });
    let t = built("graph", square);
    let routing = |k, lanes| Routing::KShortest(KShortest { k, lanes });
    let ways = |k, lanes, to| {
        let all = (0..200).map(|key| path(&t, &routing(k, lanes), 0, to, key).len() - 2);
        all.collect::<std::collections::BTreeSet<usize>>()
    };
    assert_eq!(ways(8, 4, 1), [1, 3].into());
    assert_eq!(ways(1, 4, 1), [1].into());
    assert_eq!(ways(8, 2, 1), [1].into(), "three links take three lanes");
    assert_eq!(ways(8, 4, 2), [2].into());
    // On one lane the links of the square wait for each other; on a lane for each link they do not.
    let circle = |lanes| {
        let router = Router::new(&t, &routing(8, lanes), 1).expect("paths");
        router.dependencies(8).expect("paths").cycle().len()
    };
    assert!(circle(1) >= 4);
    assert_eq!(circle(4), 0);
    let few = Router::new(&t, &routing(8, 2), 1).err();
    assert_eq!(few, None, "two links at most");
    let ring = built("torus", json!({ "dimensions": [8] }));
    let error = Router::new(&ring, &routing(8, 2), 1).expect_err("four links");
    assert_eq!(error, RoutingError::FewLanes { lanes: 2, links: 4, max: 8 });
    let text = "`lanes` is 2, and there are switches 4 links apart: expected 4 to 8, or 1 for paths of any length, which may deadlock";
    assert_eq!(error.to_string(), text);
}

/// The numbers of links of all loopless paths between two switches, ascending, by trying all ways.
fn lengths_of_all_paths(t: &Topology, from: NodeId, to: NodeId) -> Vec<usize> {
    fn go(t: &Topology, way: &mut Vec<NodeId>, to: NodeId, found: &mut Vec<usize>) {
        let at = way[way.len() - 1];
        if at == to {
            return found.push(way.len() - 1);
        }
        for link in &t.links {
            for (a, b) in [(link.a, link.b), (link.b, link.a)] {
                if a == at && t.nodes[b.index()].kind == NodeKind::Switch && !way.contains(&b) {
                    way.push(b);
                    go(t, way, to, found);
                    way.pop();
                }
            }
        }
    }
    let mut found = Vec::new();
    go(t, &mut vec![from], to, &mut found);
    found.sort_unstable();
    found
}

#[test]
fn k_shortest_paths_of_random_graphs_are_those_of_a_search_of_all() {
    for seed in 0..4 {
        let params = json!({ "switches": 8, "degree": 3, "hosts_per_switch": 1, "seed": seed });
        let t = built("jellyfish", params);
        let all = lengths_of_all_paths(&t, NodeId(8), NodeId(15));
        for k in [1, 2, 5, 12] {
            let routing = Routing::KShortest(KShortest { k, lanes: 1 });
            let router = Router::new(&t, &routing, 1).expect("paths");
            // Of 12 paths, 600 connections leave one out with a probability of 12 x (11/12)^600, below 1e-21.
            let paths: std::collections::BTreeSet<Vec<u32>> = (0..600)
                .map(|key| {
                    let mut path = Vec::new();
                    router.path(NodeId(0), NodeId(7), key, &mut path).expect("a path");
                    path.iter().map(|port| port.0).collect()
                })
                .collect();
            let mut lengths: Vec<usize> = paths.iter().map(|path| path.len() - 2).collect();
            lengths.sort_unstable();
            let expected: Vec<usize> = all.iter().copied().take(k as usize).collect();
            assert_eq!(lengths, expected, "seed {seed}, k {k}");
            assert!(router.max_hops() >= lengths[lengths.len() - 1] + 2);
        }
        // With a lane for each link, paths of more links than lanes are left out.
        let lanes = 4;
        let longest = Router::new(&t, &Routing::KShortest(KShortest { k: 64, lanes }), 1).expect("paths");
        let paths = (0..2_000).map(|key| {
            let mut path = Vec::new();
            longest.path(NodeId(0), NodeId(7), key, &mut path).expect("a path");
            path
        });
        let lengths: std::collections::BTreeSet<usize> = paths.map(|path| path.len() - 2).collect();
        let expected = all.iter().copied().filter(|&links| links <= usize::from(lanes)).collect();
        assert_eq!(lengths, expected, "seed {seed}");
    }
}

#[test]
fn a_jellyfish_carries_more_by_k_shortest_paths_than_by_equal_ones() {
    // Between neighbours there is one shortest path: ECMP sends all of it by one link. By 8 paths a part goes round.
    let t = built("jellyfish", json!({ "switches": 12, "degree": 4, "hosts_per_switch": 3 }));
    let link = t.links.iter().find(|l| t.nodes[l.a.index()].kind == NodeKind::Switch).expect("a link");
    let hosts = |node: NodeId| (0..3).map(move |h| (node.0 - 36) * 3 + h);
    let flows = || -> Vec<Flow> {
        let pairs = hosts(link.a).zip(hosts(link.b));
        pairs.flat_map(|(a, b)| (0..8).map(move |_| offer(a, b, 0.9 / 8.0))).collect()
    };
    let ecmp = carried(&t, &Routing::default(), settings(1), flows()) * 36.0;
    assert!((ecmp - 1.0).abs() < 0.03, "{ecmp} lines");
    let paths = carried(&t, &Routing::KShortest(KShortest::default()), settings(4), flows()) * 36.0;
    assert!(paths > 1.5, "{paths} lines");
}

#[test]
fn grids_that_are_none_are_refused() {
    let error = |name: &str, params| {
        AnyTopology::read(name, params)
            .expect("known")
            .expect("valid")
            .build()
            .expect_err("refused")
            .to_string()
    };
    let none = "`dimensions` has 0 numbers: expected 1 to 8, one for each dimension, such as [4, 4]";
    assert_eq!(error("torus", json!({ "dimensions": [] })), none);
    assert_eq!(error("hyperx", json!({ "dimensions": [4, 1] })), "`dimensions` is 1: expected at least 2");
    assert_eq!(
        error("jellyfish", json!({ "switches": 4, "degree": 4 })),
        "`degree` is 4: expected at most 3"
    );
    let star = Router::new(built("star", json!({})), &ORDER, 1).expect_err("no grid").to_string();
    assert!(star.ends_with("expected `torus` or `hyperx` in [topology], or another routing"), "{star}");
}
