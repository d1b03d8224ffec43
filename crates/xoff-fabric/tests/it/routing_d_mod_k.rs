//! D-mod-k routing on fat-trees by hand, and the freedom from deadlock of every topology and routing.

use std::collections::{BTreeMap, BTreeSet};

use xoff_engine::{Rate, Time};
use xoff_fabric::routing::{
    DModK, Dependencies, Ecmp, EcmpHash, Router, Routing, RoutingError, SpanningTrees, StaticRoute,
    StaticRoutes,
};
use xoff_fabric::topology::{
    AnyTopology, Chain, Dumbbell, FatTree, Graph, GraphLink, Hpn, Join, LeafSpine, NodeId, PortId,
    RailOptimized, Star, Topology, TopologyKind,
};

fn d_mod_k() -> Routing {
    Routing::DModK(DModK {})
}

fn fat_tree(k: u32) -> Topology {
    FatTree { k, ..FatTree::default() }.build().expect("a fat-tree")
}

fn path(router: &Router, from: NodeId, to: NodeId) -> Vec<PortId> {
    let mut out = vec![];
    router.path(from, to, 0, &mut out).expect("a path");
    out
}

/// The switches on a path, by name.
fn via(t: &Topology, path: &[PortId]) -> Vec<String> {
    path[1..].iter().map(|&p| t.nodes[t.node_of(p).index()].name.clone()).collect()
}

#[test]
fn with_k_4_each_host_has_its_core() {
    // Host d: up from its edge by d mod 2, up from there by floor(d / 2) mod 2. Aggregation i of each pod links to cores
    // 2 i and 2 i + 1.
    let t = fat_tree(4);
    let router = Router::new(&t, &d_mod_k(), 1).expect("a fat-tree");
    for (from, to, switches) in [
        (0, 1, vec!["edge0"]),
        (0, 2, vec!["edge0", "agg0", "edge1"]),
        (0, 3, vec!["edge0", "agg1", "edge1"]),
        (0, 15, vec!["edge0", "agg1", "core3", "agg7", "edge7"]), // 15: 1, then 7 mod 2 = 1
        (5, 15, vec!["edge2", "agg3", "core3", "agg7", "edge7"]),
        (15, 0, vec!["edge7", "agg6", "core0", "agg0", "edge0"]),
        (3, 9, vec!["edge1", "agg1", "core2", "agg5", "edge4"]), // 9: 1, then 4 mod 2 = 0
    ] {
        assert_eq!(via(&t, &path(&router, NodeId(from), NodeId(to))), switches, "{from} to {to}");
    }
    // ACKs are packets to the sender.
    assert!(!router.is_symmetric());
    let mut ack = vec![];
    router.ack_path(NodeId(0), NodeId(15), 0, &mut ack).expect("a path");
    assert_eq!(ack, path(&router, NodeId(15), NodeId(0)));
    assert_eq!(router.max_hops(), 6);
}

#[test]
fn with_k_16_each_host_has_its_core() {
    let t = fat_tree(16);
    let router = Router::new(&t, &d_mod_k(), 1).expect("a fat-tree");
    // 1,023: 7, then 127 mod 8 = 7: core 7 x 8 + 7. 500: 4, then 62 mod 8 = 6: core 4 x 8 + 6, pod 7.
    let far = ["edge0", "agg7", "core63", "agg127", "edge127"];
    assert_eq!(via(&t, &path(&router, NodeId(0), NodeId(1_023))), far);
    assert_eq!(
        via(&t, &path(&router, NodeId(0), NodeId(500))),
        ["edge0", "agg4", "core38", "agg60", "edge62"]
    );
}

#[test]
fn packets_to_a_host_take_one_tree_and_hosts_share_the_links() {
    for k in [4, 16] {
        let t = fat_tree(k);
        let half = k / 2;
        let router = Router::new(&t, &d_mod_k(), 1).expect("a fat-tree");
        let hosts = t.hosts();
        // By egress port: hosts to which packets leave by it.
        let mut leads: BTreeMap<PortId, BTreeSet<NodeId>> = BTreeMap::new();
        // Of k = 16 a host of each edge switch sends: the others there take the same way from it on.
        for &to in &hosts {
            let mut next: BTreeMap<NodeId, PortId> = BTreeMap::new();
            let mut cores = BTreeSet::new();
            for &from in hosts.iter().step_by(half as usize).filter(|from| **from != to) {
                let way = path(&router, from, to);
                for &port in &way[1..] {
                    let node = t.node_of(port);
                    assert_eq!(*next.entry(node).or_insert(port), port, "one way from each switch to a host");
                    leads.entry(port).or_default().insert(to);
                    if t.nodes[node.index()].tier == 3 {
                        cores.insert(node);
                    }
                }
            }
            assert_eq!(cores.len(), 1, "one core for all senders");
        }
        // k^3/4 hosts. An edge's link upwards leads to those of other edges with one of half remainders; an
        // aggregation's to those of other pods with both of its remainders; a core's downwards to one in each pod.
        let all = hosts.len();
        for (&port, to) in &leads {
            let (node, other) = (&t.nodes[t.node_of(port).index()], &t.nodes[t.node_of(port.peer()).index()]);
            let expected = match (node.tier, other.tier) {
                (1, 2) => (all - half as usize) / half as usize,
                (2, 3) => (all - (half * half) as usize) / (half * half) as usize,
                (3, 2) | (1, 0) => 1,
                (2, 1) => 1,
                tiers => panic!("{tiers:?}"),
            };
            assert_eq!(to.len(), expected, "{}", t.port_name(port));
        }
        // Every link between switches is used, in both directions: 2 x 2 x k half^2 ports; and each host's.
        assert_eq!(leads.len(), (4 * k * half * half) as usize + all);
    }
}

#[test]
fn more_hosts_than_links_upwards_share_them() {
    // Four hosts on each edge with two links upwards: numbers 0 and 2 take the first, then floor(d / 2) mod 2.
    let t = FatTree { k: 4, hosts_per_edge: Some(4), ..FatTree::default() }.build().expect("a fat-tree");
    let router = Router::new(&t, &d_mod_k(), 1).expect("a fat-tree");
    for (to, core) in [(28, "core0"), (29, "core2"), (30, "core1"), (31, "core3")] {
        assert_eq!(via(&t, &path(&router, NodeId(0), NodeId(to)))[2], core);
    }
}

#[test]
fn two_tiers_and_one_are_fat_trees_too() {
    let t = LeafSpine::default().build().expect("a leaf-spine");
    let router = Router::new(&t, &d_mod_k(), 1).expect("a fat-tree");
    let spines = t.nodes.iter().filter(|n| n.name.starts_with("spine")).count() as u32;
    let hosts = t.hosts();
    let last = hosts.len() as u32 - 1;
    assert_eq!(via(&t, &path(&router, hosts[0], hosts[last as usize]))[1], format!("spine{}", last % spines));
    let star = Star::default().build().expect("a star");
    assert!(Router::new(&star, &d_mod_k(), 1).is_ok());
}

/// Switches with links between them, and a host on each of the first `hosted`.
fn graph(switches: u32, hosted: u32, links: &[(u32, u32)]) -> Topology {
    let link = |a: String, b: String| GraphLink {
        a,
        b,
        rate: Rate::from_gbps(100),
        delay: Time::from_us(1),
        rate_back: None,
        delay_back: None,
    };
    let hosts = (0..hosted).map(|s| link(format!("h{s}"), format!("s{s}")));
    let between = links.iter().map(|(a, b)| link(format!("s{a}"), format!("s{b}")));
    Graph {
        hosts: (0..hosted).map(|h| format!("h{h}")).collect(),
        switches: (0..switches).map(|s| format!("s{s}")).collect(),
        links: hosts.chain(between).collect(),
        ..Graph::default()
    }
    .build()
    .expect("a graph")
}

#[test]
fn what_is_no_fat_tree_is_refused_with_the_reason() {
    let why = |t: Topology| match Router::new(&t, &d_mod_k(), 1) {
        Err(RoutingError::NotAFatTree { why }) => why,
        other => panic!("{other:?}"),
    };
    let same_tier = why(graph(2, 2, &[(0, 1)]));
    assert_eq!(same_tier, "a link joins `s0` and `s1`, of which neither is one tier above the other");
    // Of a dumbbell's four switches the two in the middle are both one tier above those with hosts; with three the middle
    // one is the top of a tree.
    let dumbbell = |switches| Dumbbell { switches, ..Dumbbell::default() }.build().expect("a dumbbell");
    assert!(why(dumbbell(4)).starts_with("a link joins `switch2` and `switch3`"));
    assert!(Router::new(dumbbell(3), &d_mod_k(), 1).is_ok());
    // Two links between the same switches.
    assert_eq!(why(graph(3, 2, &[(0, 2), (1, 2), (1, 2)])), "two ways lead down from `s2` to `s1`");
    // s2 and s3 above s0, s6 above s1; s4 above s2 alone, s5 above the others.
    let partial = why(graph(7, 2, &[(0, 2), (0, 3), (1, 6), (2, 4), (3, 5), (6, 5)]));
    assert_eq!(partial, "`s4` is at the top, and `s1` is not below it");
    // s2 above s0, s3 above both, s4 above s1, s5 above s2 and s4.
    let differing = why(graph(6, 2, &[(0, 2), (0, 3), (1, 3), (1, 4), (2, 5), (4, 5)]));
    assert_eq!(differing, "of `s2` and `s3`, both above `s0`, one alone has `s1` below it");
}

/// The same network with names that end in a number each, as the hash of ns-3 needs them.
fn numbered(mut topology: Topology) -> Topology {
    for (number, node) in topology.nodes.iter_mut().enumerate() {
        node.name = format!("node{number}");
    }
    topology
}

#[test]
fn every_topology_is_free_of_deadlock_under_every_routing() {
    let topologies = [
        (AnyTopology::Star(Star::default()), true),
        (AnyTopology::Dumbbell(Dumbbell::default()), false),
        (AnyTopology::Chain(Chain { join: Join::Middle, ..Chain::default() }), false),
        (
            AnyTopology::LeafSpine(LeafSpine {
                leaves: 4,
                spines: 3,
                hosts_per_leaf: 3,
                ..LeafSpine::default()
            }),
            true,
        ),
        (AnyTopology::FatTree(FatTree { k: 4, ..FatTree::default() }), true),
        (AnyTopology::FatTree(FatTree { k: 6, ..FatTree::default() }), true),
        (AnyTopology::RailOptimized(RailOptimized { rails: 2, ..RailOptimized::default() }), true),
        (AnyTopology::Hpn(Hpn::default()), true),
    ];
    // All kinds without circles; `graph` has no shape of its own, and the others need lanes: see `dragonfly.rs` and `grids.rs`.
    let kinds: BTreeSet<_> = topologies.iter().map(|(t, _)| t.name()).collect();
    let others = ["dragonfly", "dragonfly_plus", "torus", "hyperx", "jellyfish", "graph"];
    assert_eq!(kinds.len() + others.len(), AnyTopology::NAMES.len());
    let ecmp = |symmetric| Routing::Ecmp(Ecmp { symmetric: Some(symmetric), ..Ecmp::default() });
    let routings = [
        ecmp(true),
        ecmp(false),
        Routing::Ecmp(Ecmp { hash: EcmpHash::Ns3Hpcc, ..Ecmp::default() }),
        Routing::SpanningTrees(SpanningTrees::default()),
        Routing::StaticRoutes(StaticRoutes::default()),
        d_mod_k(),
    ];
    let kinds: BTreeSet<_> = routings.iter().map(Routing::name).collect();
    let on_lanes = ["dragonfly", "dimension_order", "k_shortest"];
    assert_eq!(kinds.len() + on_lanes.len(), Routing::NAMES.len());
    for (topology, is_fat_tree) in &topologies {
        let t = numbered(topology.build().expect("a network"));
        for routing in routings.iter().filter(|r| *is_fat_tree || r.name() != "d_mod_k") {
            let router = match Router::new(&t, routing, 1) {
                Err(RoutingError::SeveralNics { .. }) => continue, // the hash of the other simulator
                router => router.expect("a routing"),
            };
            // Eight flows of each pair: of the k = 6 tree's nine ways most are taken.
            let circle = router.dependencies(8).expect("paths").cycle();
            assert!(circle.is_empty(), "{} under {routing:?}: {circle:?}", topology.name());
        }
    }
}

#[test]
fn a_ring_has_a_circle_of_links_that_wait_for_each_other() {
    // Each flow goes over two links of the ring of four, clockwise.
    let t = graph(4, 4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    let ring = |from: usize| {
        let name = |s: usize| format!("s{}", (from + s) % 4);
        let host = |s: usize| format!("h{}", (from + s) % 4);
        StaticRoute { from: host(0), to: host(2), via: (0..3).map(name).collect() }
    };
    let names = |routes: &[StaticRoute]| {
        let routing =
            Routing::StaticRoutes(StaticRoutes { routes: routes.to_vec(), ..StaticRoutes::default() });
        let router = Router::new(&t, &routing, 1).expect("routes");
        // Data alone: ACKs of two of the routes would go by two others' ways.
        let mut dependencies = Dependencies::default();
        for route in routes {
            let id = |name: &str| t.node_by_name(name).expect("a host");
            dependencies.add(&path(&router, id(&route.from), id(&route.to)));
        }
        dependencies.cycle().iter().map(|&p| t.port_name(p)).collect::<Vec<_>>()
    };
    let all: Vec<StaticRoute> = (0..4).map(ring).collect();
    assert_eq!(names(&all), ["s0->s1", "s1->s2", "s2->s3", "s3->s0"]);
    // Without one of them the circle is open.
    assert_eq!(names(&all[..3]), [""; 0]);
}
