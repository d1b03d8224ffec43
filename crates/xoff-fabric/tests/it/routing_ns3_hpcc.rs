//! ECMP by the hash of the ns-3 HPCC simulator, against hashes worked out apart from this program.

use std::collections::BTreeSet;

use xoff_engine::{Rate, Time};
use xoff_fabric::routing::{Ecmp, EcmpHash, Router, Routing, RoutingError, StaticRoutes};
use xoff_fabric::topology::{Chain, Graph, GraphLink, NodeId, PortId, Topology, TopologyKind};

fn path(router: &Router, from: NodeId, to: NodeId, key: u64) -> Vec<PortId> {
    let mut out = Vec::new();
    router.path(from, to, key, &mut out).unwrap();
    out
}

fn ack_path(router: &Router, from: NodeId, to: NodeId, key: u64) -> Vec<PortId> {
    let mut out = Vec::new();
    router.ack_path(from, to, key, &mut out).unwrap();
    out
}

/// The name of the second switch on a path.
fn second(t: &Topology, path: &[PortId]) -> String {
    t.nodes[t.node_of(path[1].peer()).index()].name.clone()
}

fn ns3_hpcc() -> Routing {
    Routing::Ecmp(Ecmp { hash: EcmpHash::Ns3Hpcc, ..Ecmp::default() })
}

/// Hosts h0 and h1 at the switches s2 and s3, and links between switches.
fn between_s2_and_s3(links: &[(&str, &str)]) -> Topology {
    let link = |(a, b): (&str, &str)| GraphLink {
        a: a.into(),
        b: b.into(),
        rate: Rate::from_gbps(100),
        delay: Time::from_us(1),
        rate_back: None,
        delay_back: None,
    };
    let ends = [("h0", "s2"), ("h1", "s3")];
    let switches: BTreeSet<&str> = links.iter().flat_map(|&(a, b)| [a, b]).collect();
    Graph {
        hosts: vec!["h0".into(), "h1".into()],
        switches: switches.into_iter().map(String::from).collect(),
        links: ends.iter().chain(links).map(|&l| link(l)).collect(),
        ..Graph::default()
    }
    .build()
    .unwrap()
}

#[test]
fn the_hash_of_the_ns3_simulator_picks_as_there() {
    // s4, s5, s6 in the middle. The search from h1 visits s3 and then s6, s5, s4, in which order s2 has its next hops.
    // MurmurHash3 of (0b000001, 0b000101, 10000 + k | 100 << 16) with seed 2, computed apart from this program, for
    // k = 0 to 5: 150554262, 1512900316, 1419624159, 2171593708, 223296381, 1370297453; modulo 3: 0, 1, 0, 1, 0, 2.
    // ACKs at s3, of (0b000101, 0b000001, 100 | 10000 + k << 16) with seed 3: 1650525488, 195813545, 3052023349,
    // 206912900, 1714724474, 2130279427; modulo 3: 2, 2, 1, 2, 2, 1.
    let links = [("s2", "s4"), ("s2", "s5"), ("s2", "s6"), ("s3", "s4"), ("s3", "s5"), ("s3", "s6")];
    let t = between_s2_and_s3(&links);
    let router = Router::new(&t, &ns3_hpcc(), 1).unwrap();
    let data: Vec<_> = (0..6).map(|k| second(&t, &path(&router, NodeId(0), NodeId(1), k))).collect();
    assert_eq!(data, ["s6", "s5", "s6", "s5", "s6", "s4"]);
    let acks: Vec<_> = (0..6).map(|k| second(&t, &ack_path(&router, NodeId(0), NodeId(1), k))).collect();
    assert_eq!(acks, ["s4", "s4", "s5", "s4", "s4", "s5"]);
    assert!(!router.is_symmetric());
    assert_eq!(router.max_hops(), 4);
    // Another destination port is another hash: with 4791, 1155245072 or 2 modulo 3 for k = 0.
    let other = Routing::Ecmp(Ecmp { hash: EcmpHash::Ns3Hpcc, dst_port: Some(4_791), ..Ecmp::default() });
    let router = Router::new(&t, &other, 1).unwrap();
    assert_eq!(second(&t, &path(&router, NodeId(0), NodeId(1), 0)), "s4");
}

#[test]
fn the_ns3_simulators_next_hops_stand_in_the_order_of_its_search() {
    // The search from h1 visits s3, then s5 before s4, and so s6 behind s5 before s7 behind s4, although 7 > 6. The
    // hashes at s2, as above, modulo 2: 0, 0, 1, 0, 1, 1.
    let links = [("s3", "s4"), ("s3", "s5"), ("s4", "s7"), ("s5", "s6"), ("s6", "s2"), ("s7", "s2")];
    let t = between_s2_and_s3(&links);
    let router = Router::new(&t, &ns3_hpcc(), 1).unwrap();
    let picked: Vec<_> = (0..6).map(|k| second(&t, &path(&router, NodeId(0), NodeId(1), k))).collect();
    assert_eq!(picked, ["s6", "s6", "s7", "s6", "s7", "s7"]);
}

#[test]
fn what_the_ns3_simulators_hash_cannot_serve_is_named() {
    let error = |t: &Topology, routing: &Routing| Router::new(t, routing, 1).unwrap_err();
    // `sender0` and `receiver0`.
    assert_eq!(
        error(&Chain::default().build().unwrap(), &ns3_hpcc()),
        RoutingError::SameNumber { a: "sender0".into(), b: "receiver0".into(), number: 0 }
    );
    let t = between_s2_and_s3(&[("s2", "s3"), ("s3", "s2")]);
    assert_eq!(error(&t, &ns3_hpcc()), RoutingError::ParallelLinks { a: "s2".into(), b: "s3".into() });
    for name in ["core", "s65536", "s2b"] {
        let t = between_s2_and_s3(&[("s2", name), (name, "s3")]);
        assert_eq!(error(&t, &ns3_hpcc()), RoutingError::NoNumber { node: name.into() });
    }
    let t = between_s2_and_s3(&[("s2", "s3")]);
    let mut unneeded =
        Ecmp { hash: EcmpHash::Ns3Hpcc, symmetric: Some(true), dst_port: None, ..Ecmp::default() };
    let key = |ecmp: &Ecmp| match error(&t, &Routing::Ecmp(ecmp.clone())) {
        RoutingError::Unneeded { key, .. } => key,
        other => panic!("{other}"),
    };
    assert_eq!(key(&unneeded), "symmetric");
    unneeded = Ecmp { hash: EcmpHash::Own, symmetric: None, dst_port: Some(100), ..Ecmp::default() };
    assert_eq!(key(&unneeded), "dst_port");
    let fallback = Ecmp { hash: EcmpHash::Ns3Hpcc, ..Ecmp::default() };
    let routes = Routing::StaticRoutes(StaticRoutes { fallback, ..StaticRoutes::default() });
    assert_eq!(error(&t, &routes), RoutingError::FallbackHash);
}
