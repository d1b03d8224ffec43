//! Paths against their definitions: shortest, loop-free, symmetric, evenly spread.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;
use xoff_engine::{Rate, Time};
use xoff_fabric::routing::{
    Ecmp, MAX_TREES, Router, Routing, RoutingError, SpanningTrees, StaticRoute, StaticRoutes,
};
use xoff_fabric::topology::{
    Chain, Dumbbell, FatTree, Graph, GraphLink, Join, LeafSpine, Link, Nearest, Node, NodeId, NodeKind,
    PortId, Star, Topology, TopologyKind,
};

fn ecmp(symmetric: bool) -> Routing {
    Routing::Ecmp(Ecmp { symmetric: Some(symmetric), ..Ecmp::default() })
}
fn trees(trees: u32, roots: &[&str]) -> Routing {
    Routing::SpanningTrees(SpanningTrees { trees, roots: roots.iter().map(|r| r.to_string()).collect() })
}
fn route(from: &str, to: &str, via: &[&str]) -> StaticRoute {
    StaticRoute { from: from.into(), to: to.into(), via: via.iter().map(|v| v.to_string()).collect() }
}
fn static_routes(routes: &[StaticRoute]) -> Routing {
    Routing::StaticRoutes(StaticRoutes { routes: routes.to_vec(), ..StaticRoutes::default() })
}
fn fat_tree(k: u32) -> Topology {
    FatTree { k, ..FatTree::default() }.build().unwrap()
}

pub fn path(router: &Router, from: NodeId, to: NodeId, key: u64) -> Vec<PortId> {
    let mut out = Vec::new();
    router.path(from, to, key, &mut out).unwrap();
    out
}
fn reversed(path: &[PortId]) -> Vec<PortId> {
    path.iter().rev().map(|&p| p.peer()).collect()
}
fn ack_path(router: &Router, from: NodeId, to: NodeId, key: u64) -> Vec<PortId> {
    let mut out = Vec::new();
    router.ack_path(from, to, key, &mut out).unwrap();
    out
}

/// The nodes on a path, after checking that its ports follow one another from `from` to `to` through switches.
fn nodes(t: &Topology, path: &[PortId], from: NodeId, to: NodeId) -> Vec<NodeId> {
    let mut at = from;
    let mut passed = vec![from];
    for &port in path {
        assert_eq!(t.node_of(port), at);
        at = t.node_of(port.peer());
        passed.push(at);
    }
    assert_eq!(at, to);
    assert!(passed[1..passed.len() - 1].iter().all(|&n| t.nodes[n.index()].kind == NodeKind::Switch));
    passed
}
fn names(t: &Topology, path: &[PortId], from: NodeId, to: NodeId) -> Vec<String> {
    nodes(t, path, from, to).iter().map(|&n| t.nodes[n.index()].name.clone()).collect()
}

#[test]
fn a_dumbbells_path_is_its_chain() {
    let t = Dumbbell::default().build().unwrap();
    let router = Router::new(&t, &Routing::default(), 1).unwrap();
    let mut out = vec![PortId(99)];
    router.path(NodeId(0), NodeId(2), 0, &mut out).unwrap();
    assert_eq!(out[0], PortId(99), "a path is appended");
    let ports: Vec<_> = out[1..].iter().map(|&p| t.port_name(p)).collect();
    assert_eq!(ports, ["sender0->switch1", "switch1->switch2", "switch2->switch3", "switch3->receiver0"]);
    let ack: Vec<_> = ack_path(&router, NodeId(0), NodeId(2), 0).iter().map(|&p| t.port_name(p)).collect();
    assert_eq!(ack, ["receiver0->switch3", "switch3->switch2", "switch2->switch1", "switch1->sender0"]);
    assert_eq!(router.max_hops(), 4);
}

#[test]
fn a_chains_flows_first_share_the_hop_that_its_join_names() {
    // FNCC, Fig. 11. Every link has the same rate, so the first shared port is the only one that can congest.
    for (join, hop) in [
        (Join::First, "switch1->switch2"),
        (Join::Middle, "switch2->switch3"),
        (Join::Last, "switch3->receiver0"),
    ] {
        let t = Chain { join, ..Chain::default() }.build().unwrap();
        let router = Router::new(&t, &Routing::default(), 1).unwrap();
        let id = |name: &str| t.node_by_name(name).unwrap();
        let receiver1 = t.node_by_name("receiver1").unwrap_or(id("receiver0"));
        let flow0 = path(&router, id("sender0"), id("receiver0"), 0);
        let flow1 = path(&router, id("sender1"), receiver1, 1);
        let shared: Vec<_> = flow0.iter().filter(|p| flow1.contains(p)).map(|&p| t.port_name(p)).collect();
        assert_eq!(shared[0], hop);
        // The receivers' own links congest only where they are meant to.
        assert_eq!(shared.iter().any(|p| p.contains("receiver")), join == Join::Last);
    }
}

#[test]
fn a_fat_trees_paths_have_2_4_or_6_links() {
    // k = 4: hosts 0 and 1 on edge0, 0 and 2 in pod 0, 0 and 4 in pods 0 and 1.
    let t = fat_tree(4);
    for routing in [ecmp(true), ecmp(false), trees(4, &[])] {
        let router = Router::new(&t, &routing, 7).unwrap();
        for key in 0..50 {
            for (to, links) in [(1, 2), (2, 4), (3, 4), (4, 6), (15, 6)] {
                let there = path(&router, NodeId(0), NodeId(to), key);
                nodes(&t, &there, NodeId(0), NodeId(to));
                assert_eq!(there.len(), links);
            }
        }
        assert_eq!(router.max_hops(), 6);
    }
}

#[test]
fn flows_spread_evenly_over_a_fat_trees_cores() {
    // k = 8: 4 aggregation switches with 4 cores each, so 16 paths between two pods. 10,000 flows make 625 on
    // each, with a standard deviation of sqrt(10,000 * 1/16 * 15/16) = 24; 20 % are 125, five of them. Switches
    // whose choices were not independent would use 4 of the 16.
    let t = fat_tree(8);
    // Pods have 16 hosts: 0 to 15 and 16 to 31.
    let one_pair = |key: u64| (NodeId(0), NodeId(16), key);
    let many_pairs = |key: u64| (NodeId((key % 16) as u32), NodeId(16 + (key / 16 % 16) as u32), key / 256);
    for (symmetric, flow) in [(true, one_pair as fn(u64) -> _), (true, many_pairs), (false, one_pair)] {
        let router = Router::new(&t, &ecmp(symmetric), 3).unwrap();
        let mut flows: BTreeMap<NodeId, u32> = BTreeMap::new();
        for key in 0..10_000 {
            let (from, to, key) = flow(key);
            let there = path(&router, from, to, key);
            // Host, edge, aggregation, core.
            *flows.entry(nodes(&t, &there, from, to)[3]).or_default() += 1;
        }
        assert_eq!(flows.len(), 16);
        assert!(flows.values().all(|&n| n.abs_diff(625) <= 125), "{flows:?}");
        // Pearson's statistic with 15 degrees of freedom exceeds 44.3 once in 10,000 times.
        let square: u64 = flows.values().map(|&n| u64::from(n.abs_diff(625)).pow(2)).sum();
        assert!(square as f64 / 625.0 < 44.3, "{flows:?}");
    }
}

#[test]
fn parallel_links_share_flows_and_keep_symmetry() {
    let t = LeafSpine { leaves: 2, spines: 1, hosts_per_leaf: 1, links_per_pair: 4, ..LeafSpine::default() };
    let t = t.build().unwrap();
    let router = Router::new(&t, &Routing::default(), 5).unwrap();
    let mut used: BTreeMap<PortId, u32> = BTreeMap::new();
    for key in 0..4_000 {
        let there = path(&router, NodeId(0), NodeId(1), key);
        assert_eq!(ack_path(&router, NodeId(0), NodeId(1), key), reversed(&there));
        used.entry(there[1]).and_modify(|n| *n += 1).or_insert(1);
    }
    // 1000 flows each, standard deviation sqrt(4000 * 1/4 * 3/4) = 27; 150 are more than five of them.
    assert_eq!(used.len(), 4);
    assert!(used.values().all(|&n| n.abs_diff(1000) <= 150), "{used:?}");
}

#[test]
fn asymmetric_ecmp_sends_acks_their_own_way() {
    let t = fat_tree(8);
    let router = Router::new(&t, &ecmp(false), 3).unwrap();
    assert!(!router.is_symmetric());
    let same = (0..10_000).filter(|&key| {
        ack_path(&router, NodeId(0), NodeId(16), key) == reversed(&path(&router, NodeId(0), NodeId(16), key))
    });
    // An independent choice meets the data's one of 16 paths 625 times, give or take 24.
    assert!(same.count().abs_diff(625) <= 125);
}

#[test]
fn the_seed_alone_decides() {
    let t = fat_tree(8);
    let all = |seed| {
        let router = Router::new(&t, &Routing::default(), seed).unwrap();
        (0..100).map(|key| path(&router, NodeId(0), NodeId(100), key)).collect::<Vec<_>>()
    };
    assert_eq!(all(1), all(1));
    assert_ne!(all(1), all(2));
}

#[test]
fn spanning_trees_take_the_cores_in_turn_and_use_every_path() {
    // 16 trees on the 16 cores of k = 8: between two pods each core is one tree's way.
    let t = fat_tree(8);
    let router = Router::new(&t, &Routing::SpanningTrees(SpanningTrees::default()), 3).unwrap();
    assert!(router.is_symmetric());
    let mut cores: BTreeMap<NodeId, u32> = BTreeMap::new();
    for key in 0..10_000 {
        let there = path(&router, NodeId(0), NodeId(16), key);
        assert_eq!(ack_path(&router, NodeId(0), NodeId(16), key), reversed(&there));
        *cores.entry(nodes(&t, &there, NodeId(0), NodeId(16))[3]).or_default() += 1;
    }
    assert_eq!(cores.len(), 16);
    assert!(cores.values().all(|&n| n.abs_diff(625) <= 125), "{cores:?}");
}

#[test]
fn a_tree_uses_one_path_for_all_flows_of_a_pair() {
    // One tree rooted at core2, in the second group: pods meet there, and hosts of one pod at its second agg.
    let t = fat_tree(4);
    let router = Router::new(&t, &trees(1, &["core2"]), 3).unwrap();
    for key in 0..100 {
        let far = ["host0", "edge0", "agg1", "core2", "agg3", "edge2", "host4"];
        assert_eq!(names(&t, &path(&router, NodeId(0), NodeId(4), key), NodeId(0), NodeId(4)), far);
        assert_eq!(
            names(&t, &path(&router, NodeId(0), NodeId(2), key), NodeId(0), NodeId(2)),
            ["host0", "edge0", "agg1", "edge1", "host2"]
        );
    }
}

#[test]
fn trees_avoid_the_links_of_earlier_ones() {
    // Four trees, four parallel links from each leaf to the one spine: each tree takes another of them.
    let t = LeafSpine { leaves: 2, spines: 1, hosts_per_leaf: 1, links_per_pair: 4, ..LeafSpine::default() };
    let t = t.build().unwrap();
    let router = Router::new(&t, &trees(4, &["spine0"]), 3).unwrap();
    for hop in [1, 2] {
        let used: BTreeSet<_> = (0..200).map(|key| path(&router, NodeId(0), NodeId(1), key)[hop]).collect();
        assert_eq!(used.len(), 4);
    }
}

#[test]
fn a_ring_shows_what_trees_cost() {
    // Four switches in a ring, a host on each. A tree cuts one link; the two hosts at its ends are then 3 links
    // between switches apart, 5 with their own. The shortest paths have at most 2 + 2.
    let ring: Vec<_> = (0..4).map(|i| (i, (i + 1) % 4)).collect();
    let t = network(4, &ring, &[0, 1, 2, 3]);
    assert_eq!(Router::new(&t, &trees(1, &[]), 1).unwrap().max_hops(), 5);
    assert_eq!(Router::new(&t, &ecmp(true), 1).unwrap().max_hops(), 4);
}

#[test]
fn static_routes_are_followed_both_ways_and_others_use_ecmp() {
    let t = fat_tree(4);
    let via = ["edge0", "agg1", "core3", "agg3", "edge2"];
    let router = Router::new(
        &t,
        &static_routes(&[route("host4", "host0", &["edge2", "agg3", "core3", "agg1", "edge0"])]),
        1,
    );
    let router = router.unwrap();
    assert!(router.is_symmetric());
    for key in 0..20 {
        let there = path(&router, NodeId(0), NodeId(4), key);
        assert_eq!(names(&t, &there, NodeId(0), NodeId(4))[1..6], via);
        assert_eq!(ack_path(&router, NodeId(0), NodeId(4), key), reversed(&there));
        assert_eq!(path(&router, NodeId(0), NodeId(5), key).len(), 6);
    }
    assert_eq!(router.max_hops(), 6);

    // A route need not be a shortest one: 8 switch links and 2 host links between hosts of one pod.
    let long = ["edge0", "agg0", "core0", "agg2", "edge2", "agg3", "core2", "agg1", "edge1"];
    let router = Router::new(&t, &static_routes(&[route("host0", "host2", &long)]), 1).unwrap();
    assert_eq!(path(&router, NodeId(2), NodeId(0), 0).len(), 10);
    assert_eq!(router.max_hops(), 10);
    // hosts 0 and 2 are the first on their switches and stand for them already.
    assert_eq!(router.representative_pairs().len(), 64);
}

#[test]
fn two_different_static_routes_of_a_pair_are_asymmetric() {
    let t = fat_tree(4);
    let there = route("host0", "host2", &["edge0", "agg0", "edge1"]);
    let back = route("host2", "host0", &["edge1", "agg0", "edge0"]);
    let other = route("host2", "host0", &["edge1", "agg1", "edge0"]);
    assert!(Router::new(&t, &static_routes(&[there.clone(), back]), 1).unwrap().is_symmetric());
    let router = Router::new(&t, &static_routes(&[there, other]), 1).unwrap();
    assert!(!router.is_symmetric());
    assert_eq!(
        names(&t, &ack_path(&router, NodeId(0), NodeId(2), 0), NodeId(2), NodeId(0)),
        ["host2", "edge1", "agg1", "edge0", "host0"]
    );
    assert_eq!(
        names(&t, &path(&router, NodeId(0), NodeId(2), 0), NodeId(0), NodeId(2)),
        ["host0", "edge0", "agg0", "edge1", "host2"]
    );
}

#[test]
fn wrong_routes_are_named() {
    let t = fat_tree(4);
    let wrong = |r: &[StaticRoute]| Router::new(&t, &static_routes(r), 1).unwrap_err();
    let one = |from, to, via: &[&str]| wrong(&[route(from, to, via)]);
    assert_eq!(
        one("host0", "hots4", &[]).to_string(),
        "`routes[0].to` names the unknown node `hots4`: expected a node of the topology; did you mean `host4`?"
    );
    assert_eq!(
        one("host0", "host2", &["edge0", "spine", "edge1"]),
        RoutingError::UnknownNode {
            key: "routes[0].via[1]".into(),
            name: "spine".into(),
            nearest: Nearest(None)
        }
    );
    let kind = |key: &str, name: &str, expected| RoutingError::WrongKind {
        key: key.into(),
        name: name.into(),
        expected,
    };
    assert_eq!(one("edge0", "host2", &[]), kind("routes[0].from", "edge0", "host"));
    assert_eq!(one("host0", "host2", &["edge0", "host1"]), kind("routes[0].via[1]", "host1", "switch"));
    assert_eq!(one("host0", "host0", &["edge0"]), RoutingError::SameHost { host: "host0".into() });
    let gap = |a: &str, b: &str| RoutingError::NotLinked { route: 0, a: a.into(), b: b.into() };
    assert_eq!(one("host0", "host1", &[]), gap("host0", "host1"));
    assert_eq!(one("host0", "host2", &["agg0", "edge1"]), gap("host0", "agg0"));
    assert_eq!(one("host0", "host2", &["edge0", "edge1"]), gap("edge0", "edge1"));
    assert_eq!(one("host0", "host2", &["edge0", "agg0"]), gap("agg0", "host2"));
    assert_eq!(
        one("host0", "host2", &["edge0", "agg0", "edge0", "agg0", "edge1"]),
        RoutingError::Loop { route: 0, switch: "edge0".into() }
    );
    let good = route("host0", "host1", &["edge0"]);
    let (from, to) = ("host0".to_string(), "host1".to_string());
    assert_eq!(wrong(&[good.clone(), good]), RoutingError::DuplicateRoute { route: 1, from, to });
}

#[test]
fn wrong_trees_are_named() {
    let t = fat_tree(4);
    let wrong = |n, roots: &[&str]| Router::new(&t, &trees(n, roots), 1).unwrap_err();
    assert_eq!(wrong(0, &[]), RoutingError::TreeCount { trees: 0, max: MAX_TREES });
    assert_eq!(wrong(MAX_TREES + 1, &[]), RoutingError::TreeCount { trees: MAX_TREES + 1, max: MAX_TREES });
    // 2^27 entries are 1342 trees of 100,000 switches each.
    let long = Dumbbell { switches: 100_000, ..Dumbbell::default() }.build().unwrap();
    let many = Router::new(&long, &trees(1343, &[]), 1).map(|_| ());
    assert_eq!(many, Err(RoutingError::TreeCount { trees: 1343, max: 1342 }));
    assert_eq!(wrong(1, &["core0", "core1"]), RoutingError::TooManyRoots { roots: 2, trees: 1 });
    assert_eq!(
        wrong(1, &["core9"]).to_string(),
        "`roots[0]` names the unknown node `core9`: expected a node of the topology; did you mean `core0`?"
    );
    assert_eq!(
        wrong(2, &["core0", "host0"]),
        RoutingError::WrongKind { key: "roots[1]".into(), name: "host0".into(), expected: "switch" }
    );
}

#[test]
fn wrong_ends_of_a_path_are_named() {
    let t = fat_tree(4);
    let router = Router::new(&t, &Routing::default(), 1).unwrap();
    let error = |from, to| {
        let mut out = vec![PortId(5)];
        let error = router.path(from, to, 0, &mut out).unwrap_err();
        assert_eq!(out, [PortId(5)], "nothing is appended");
        error
    };
    assert_eq!(error(NodeId(0), NodeId(16)), RoutingError::NotAHost { node: "edge0".into() });
    assert_eq!(error(NodeId(36), NodeId(0)), RoutingError::NoSuchNode { node: NodeId(36) });
    assert_eq!(error(NodeId(3), NodeId(3)), RoutingError::SameHost { host: "host3".into() });
}

/// `switches` switches with `trunks` between them, and a host on each of `hosts`; not validated, so that it may fall
/// apart. Hosts are nodes 0, 1, ...
pub fn network(switches: u32, trunks: &[(u32, u32)], hosts: &[u32]) -> Topology {
    let n = hosts.len() as u32;
    let node = |kind, name: String| Node { name, kind, tier: u8::from(kind == NodeKind::Switch) };
    let (rate, delay) = (Rate::from_gbps(100), Time::from_us(1));
    let link = |a, b| Link { a, b, rate_ab: rate, rate_ba: rate, delay_ab: delay, delay_ba: delay };
    let host_nodes = (0..n).map(|i| node(NodeKind::Host, format!("h{i}")));
    let switch_nodes = (0..switches).map(|i| node(NodeKind::Switch, format!("s{i}")));
    let host_links = hosts.iter().zip(0..).map(|(&s, h)| link(NodeId(h), NodeId(n + s)));
    let trunk_links = trunks.iter().map(|&(a, b)| link(NodeId(n + a), NodeId(n + b)));
    Topology {
        nodes: host_nodes.chain(switch_nodes).collect(),
        links: host_links.chain(trunk_links).collect(),
        ..Topology::default()
    }
}

#[test]
fn a_path_beyond_the_tables_is_named() {
    // 65,535 links join 65,536 switches; distances are counted to 65,534.
    for (switches, found) in [(65_535, true), (65_536, false)] {
        let t = Dumbbell { switches, ..Dumbbell::default() }.build().unwrap();
        let router = Router::new(&t, &Routing::default(), 1).unwrap();
        let (from, to) = ("sender1".to_string(), "receiver0".to_string());
        let expected = if found { Ok(()) } else { Err(RoutingError::TooLong { from, to }) };
        assert_eq!(router.path(NodeId(1), NodeId(2), 0, &mut Vec::new()), expected);
    }
}

#[test]
fn an_unreachable_pair_is_named() {
    let t = network(2, &[], &[0, 1]);
    for routing in [ecmp(true), ecmp(false), trees(2, &[]), static_routes(&[])] {
        let mut out = Vec::new();
        let error =
            Router::new(&t, &routing, 1).unwrap().path(NodeId(0), NodeId(1), 0, &mut out).unwrap_err();
        assert_eq!(error, RoutingError::Unreachable { from: "h0".into(), to: "h1".into() });
        assert!(out.is_empty());
    }
    let lone = Topology { links: Vec::new(), ..t };
    let error =
        Router::new(&lone, &Routing::default(), 1).unwrap().path(NodeId(0), NodeId(1), 0, &mut Vec::new());
    assert_eq!(error, Err(RoutingError::NotConnected { host: "h0".into() }));
}

#[test]
fn two_hosts_need_no_switch() {
    let link = GraphLink {
        a: "x".into(),
        b: "y".into(),
        rate: Rate::from_gbps(1),
        delay: Time::ZERO,
        rate_back: None,
        delay_back: None,
    };
    let t =
        Graph { hosts: vec!["x".into(), "y".into()], links: vec![link], ..Graph::default() }.build().unwrap();
    for routing in [ecmp(true), trees(1, &[])] {
        let router = Router::new(&t, &routing, 1).unwrap();
        assert_eq!(
            (path(&router, NodeId(0), NodeId(1), 0), ack_path(&router, NodeId(0), NodeId(1), 0)),
            (vec![PortId(0)], vec![PortId(1)])
        );
        assert_eq!(
            (router.max_hops(), router.representative_pairs()),
            (1, vec![(NodeId(0), NodeId(1)), (NodeId(1), NodeId(0))])
        );
    }
}

#[test]
fn representative_pairs_are_few_and_enough() {
    // k = 4: 8 edge switches, all host links alike: 8 * 8 ordered pairs, those within a switch included.
    let t = fat_tree(4);
    let pairs = Router::new(&t, &Routing::default(), 1).unwrap().representative_pairs();
    assert_eq!(pairs.len(), 64);
    assert!(
        pairs.contains(&(NodeId(0), NodeId(1)))
            && pairs.contains(&(NodeId(0), NodeId(2)))
            && pairs.contains(&(NodeId(14), NodeId(0)))
    );

    // Three hosts on a switch, the last with a slower link: the pair of equal ones, and both orders of unequal
    // ones; there is no pair of slow ones.
    let mut t = Star { hosts: 3, ..Star::default() }.build().unwrap();
    t.links[2].rate_ab = Rate::from_gbps(25);
    let router = Router::new(&t, &Routing::default(), 1).unwrap();
    assert_eq!(router.representative_pairs(), [(0, 1), (0, 2), (2, 0)].map(|(a, b)| (NodeId(a), NodeId(b))));
    assert_eq!(router.max_hops(), 2);

    // A host alone on its switch has no partner there.
    let lone = Star { hosts: 1, ..Star::default() }.build().unwrap();
    let router = Router::new(&lone, &Routing::default(), 1).unwrap();
    assert_eq!((router.representative_pairs(), router.max_hops()), (vec![], 0));
}

#[test]
fn eight_thousand_hosts_are_no_burden() {
    // k = 32: 8192 hosts on 512 edge switches. Pairs of which one is at one of 256 chosen switches: 512^2 less the
    // 256^2 among the others.
    let t = fat_tree(32);
    let router = Router::new(&t, &Routing::default(), 1).unwrap();
    let pairs = router.representative_pairs();
    assert_eq!(pairs.len(), 512 * 512 - 256 * 256);
    let mut out = Vec::new();
    let mut links = BTreeMap::new();
    for (from, to) in pairs {
        out.clear();
        router.path(from, to, 0, &mut out).unwrap();
        *links.entry(out.len()).or_insert(0) += 1;
    }
    // Same edge switch: 256 pairs. Same pod: each chosen switch, every second one, has 15 others in its pod, to and
    // fro; pairs of two chosen ones (7 of the 15) must not count twice: 256 * (15 + 8).
    assert_eq!(links, [(2, 256), (4, 256 * 23), (6, 196_608 - 256 - 256 * 23)].into());
    assert_eq!(router.max_hops(), 6);
}

#[test]
fn routing_is_read_by_name() {
    assert_eq!(serde_json::from_value::<Routing>(json!({ "name": "ecmp" })).unwrap(), Routing::default());
    for (name, value, routing) in [
        ("ecmp", json!({ "symmetric": false }), ecmp(false)),
        ("spanning_trees", json!({ "trees": 2, "roots": ["a"] }), trees(2, &["a"])),
        (
            "static_routes",
            json!({ "routes": [{ "from": "a", "to": "b", "via": ["s"] }] }),
            static_routes(&[route("a", "b", &["s"])]),
        ),
    ] {
        assert_eq!(Routing::read(name, value.clone()).unwrap().unwrap(), routing);
        let mut tagged = value;
        tagged["name"] = json!(name);
        assert_eq!(serde_json::from_value::<Routing>(tagged).unwrap(), routing);
        assert_eq!(routing.name(), name);
        assert!(Routing::NAMES.contains(&name));
    }
    assert!(Routing::read("ospf", json!({})).is_none());
    assert!(Routing::read("ecmp", json!({ "symetric": true })).unwrap().is_err());
}

/// Random connected networks of up to 9 switches, with parallel links, and 2 to 8 hosts.
fn connected() -> impl Strategy<Value = Topology> {
    (1u32..=9, 2usize..=8).prop_flat_map(|(switches, hosts)| {
        let earlier: Vec<_> = (1..switches).map(|s| (Just(s), 0..s)).collect();
        let more = proptest::collection::vec((0..switches, 0..switches), 0..12);
        let hosts = proptest::collection::vec(0..switches, hosts);
        (earlier, more, hosts).prop_map(move |(mut trunks, more, hosts)| {
            trunks.extend(more.into_iter().filter(|(a, b)| a != b));
            network(switches, &trunks, &hosts)
        })
    })
}

/// Links between all pairs of nodes by Floyd's and Warshall's algorithm, which shares nothing with the router's.
fn all_distances(t: &Topology) -> Vec<Vec<usize>> {
    let n = t.nodes.len();
    let mut d = vec![vec![usize::MAX / 2; n]; n];
    for (i, row) in d.iter_mut().enumerate() {
        row[i] = 0;
    }
    for l in &t.links {
        d[l.a.index()][l.b.index()] = 1;
        d[l.b.index()][l.a.index()] = 1;
    }
    for via in 0..n {
        for a in 0..n {
            for b in 0..n {
                d[a][b] = d[a][b].min(d[a][via] + d[via][b]);
            }
        }
    }
    d
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn paths_of_random_networks_are_simple_symmetric_and_shortest(t in connected(), seed: u64, key: u64) {
        prop_assert_eq!(t.validate(), Ok(()));
        let distance = all_distances(&t);
        for routing in [ecmp(true), ecmp(false), trees(3, &[]), static_routes(&[])] {
            let router = Router::new(&t, &routing, seed).unwrap();
            let mut longest = 0;
            for from in t.hosts() {
                for to in t.hosts().into_iter().filter(|&to| to != from) {
                    let there = path(&router, from, to, key);
                    let mut passed = nodes(&t, &there, from, to);
                    passed.sort_unstable();
                    passed.dedup();
                    prop_assert_eq!(passed.len(), there.len() + 1, "no node twice");
                    if router.is_symmetric() {
                        prop_assert_eq!(ack_path(&router, from, to, key), reversed(&there));
                    }
                    let least = distance[from.index()][to.index()];
                    if matches!(routing, Routing::SpanningTrees(_)) {
                        prop_assert!(there.len() >= least);
                    } else {
                        prop_assert_eq!(there.len(), least);
                    }
                    longest = longest.max(there.len());
                }
            }
            if matches!(routing, Routing::SpanningTrees(_)) {
                prop_assert!(longest <= router.max_hops());
            } else {
                prop_assert_eq!(longest, router.max_hops());
            }
        }
    }

    #[test]
    fn one_tree_is_a_tree(t in connected(), seed: u64) {
        // All pairs' paths together use one link less than the switches they touch, whatever the flows' keys.
        let router = Router::new(&t, &trees(1, &[]), seed).unwrap();
        let (mut links, mut switches) = (Vec::new(), Vec::new());
        let mut longest = 0;
        for from in t.hosts() {
            for to in t.hosts().into_iter().filter(|&to| to != from) {
                let there = path(&router, from, to, seed ^ u64::from(to.0));
                let passed = nodes(&t, &there, from, to);
                links.extend(there[1..there.len() - 1].iter().map(|p| p.link()));
                switches.extend_from_slice(&passed[1..passed.len() - 1]);
                longest = longest.max(there.len());
            }
        }
        links.sort_unstable();
        links.dedup();
        switches.sort_unstable();
        switches.dedup();
        prop_assert_eq!(links.len() + 1, switches.len());
        prop_assert_eq!(longest, router.max_hops());
    }
}
