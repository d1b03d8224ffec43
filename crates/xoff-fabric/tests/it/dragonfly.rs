//! Dragonflies: their size, their paths and lanes, and how much they carry under each routing.

use serde_json::json;
use xoff_engine::{Bytes, MessageSize, Rate, Time};
use xoff_fabric::ids::{NodeId, PortId};
use xoff_fabric::network::{Flow, WireSizes};
use xoff_fabric::routing::{Dependencies, Dragonfly, DragonflyVariant, Router, Routing, RoutingError};
use xoff_fabric::settings::{FlowControl, LinkCredits, Pfc, Settings, Transport};
use xoff_fabric::topology::{AnyTopology, NodeKind, Topology};
use xoff_fabric::{BuildError, Network, Recording, Simulation};
use xoff_schemes::AnyScheme;

use crate::common::flow;

use DragonflyVariant::{Min, UgalG, UgalL, Valiant};
const VARIANTS: [DragonflyVariant; 4] = [Min, Valiant, UgalL, UgalG];

pub fn built(name: &str, params: serde_json::Value) -> Topology {
    AnyTopology::read(name, params).expect("known").expect("valid").build().expect("a network")
}

/// The example of Kim et al., Fig. 5: p = 2, a = 4, h = 2, so 9 groups, 36 routers and 72 hosts.
fn example() -> Topology {
    built("dragonfly", json!({}))
}

fn routing(variant: DragonflyVariant) -> Routing {
    Routing::Dragonfly(Dragonfly { variant, ..Dragonfly::default() })
}

pub fn names(t: &Topology, path: &[PortId]) -> Vec<String> {
    path.iter().map(|&port| t.port_name(port)).collect()
}

pub fn counts(t: &Topology) -> (usize, usize, usize) {
    let of = |kind| t.nodes.iter().filter(|node| node.kind == kind).count();
    (of(NodeKind::Host), of(NodeKind::Switch), t.links.len())
}

/// Settings of a lossless network with the lanes of a routing, in which data may overtake data.
pub fn settings(lanes: u8) -> Settings {
    let flow_control = FlowControl::Pfc(Pfc { xoff: Some(Bytes(60_000)), ..Pfc::default() });
    let mut settings = Settings { flow_control, ..Settings::default() };
    settings.switch.priorities = lanes;
    settings.host.transport = Transport::Unordered;
    settings
}

/// A flow without an end that offers a share of the line rate of 100 Gbps, headers included.
pub fn offer(src: u32, dst: u32, share: f64) -> Flow {
    let wire = WireSizes::new(&settings(1), &Default::default());
    let payload = share * 100e9 * wire.payload as f64 / wire.frame() as f64;
    Flow { size: MessageSize::ENDLESS, stop: STOP, source_rate: Rate(payload as u64), ..flow(src, dst, 1) }
}

const STOP: Time = Time::from_us(300);

/// The share of its line rate that a host gets delivered on average while these flows send.
pub fn carried(t: &Topology, routing: &Routing, settings: Settings, flows: Vec<Flow>) -> f64 {
    let wire = WireSizes::new(&settings, &Default::default());
    let scheme = AnyScheme::read("none", json!({})).expect("known").expect("valid");
    let net = Network::build(t.clone(), routing, settings, scheme, flows, 1).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), Some(STOP));
    sim.run(&mut |_| true).expect("no loss");
    assert!(sim.deadlock().is_empty(), "{routing:?}");
    let frames = sim.counters().delivered_bytes as f64 / wire.payload as f64 * wire.frame() as f64;
    frames / (t.hosts().len() as f64 * 100e9 / 8.0 * STOP.secs())
}

/// Every host of group i sends to the same host of group i + 1.
fn adversarial(offered: f64) -> Vec<Flow> {
    (0..72).map(|h| offer(h, (h + 8) % 72, offered)).collect()
}

/// Every host sends to all others alike.
fn uniform(offered: f64) -> Vec<Flow> {
    let pairs = (0..72).flat_map(|a| (0..72).filter(move |&b| b != a).map(move |b| (a, b)));
    pairs.map(|(a, b)| offer(a, b, offered / 71.0)).collect()
}

#[test]
fn sizes_are_those_of_the_definition() {
    // 9 x 4 routers with 2 hosts each; 6 links among 4 routers in each of 9 groups, and one between each two of 9 groups, 36.
    let t = example();
    assert_eq!(counts(&t), (72, 36, 72 + 54 + 36));
    // Every router has 2 hosts, 3 neighbours in its group and 2 links to other groups.
    let ports = t.adjacency();
    for node in NodeId::all(t.nodes.len()).filter(|n| t.nodes[n.index()].kind == NodeKind::Switch) {
        assert_eq!(ports.ports_of(node).len(), 7);
    }
    // Group 0 has link 0 to group 1, at router 0, and link 7 to group 8, at router 3; group 1 has link 0 to group 0.
    for name in ["g0r0->g1r0", "g0r3->g8r0", "g1r0->g2r0"] {
        assert!(t.port_names().iter().any(|port| port == name), "{name}");
    }
    // 5 groups share 8 links of each group: 2 between each two of 10 pairs.
    let fewer = built("dragonfly", json!({ "groups": 5 }));
    assert_eq!(counts(&fewer), (40, 20, 40 + 30 + 20));
    // 2 leaves and 2 spines with 2 links to other groups each make 5 groups; 2 x 2 links in each and 10 between them.
    assert_eq!(counts(&built("dragonfly_plus", json!({}))), (20, 20, 20 + 20 + 10));
}

#[test]
fn minimal_paths_take_one_link_between_groups() {
    let t = example();
    let router = Router::new(&t, &routing(Min), 1).expect("a dragonfly");
    // Host 6 is at g0r3, host 72 - 8 - 1 = 63 at the last router of group 7. Group 0 reaches group 7 by its link 6, at router
    // 3; group 7 has its link 0 to group 0 at router 0.
    let mut path = Vec::new();
    router.path(NodeId(6), NodeId(63), 0, &mut path).expect("a path");
    assert_eq!(names(&t, &path), ["host6->g0r3", "g0r3->g7r0", "g7r0->g7r3", "g7r3->host63"]);
    // At most local, global, local, and two links of hosts; by another group up to two links to get into it and three more.
    assert_eq!(router.max_hops(), 5);
    assert_eq!(
        VARIANTS.map(|v| Router::new(&t, &routing(v), 1).expect("a dragonfly").max_hops()),
        [5, 7, 7, 7]
    );
    // A spine of a dragonfly+ that has no link to the destination's group goes down to a leaf and up to the other spine: leaf,
    // spine, spine there, leaf, spine, spine of the third group, leaf: 6 links.
    let plus = built("dragonfly_plus", json!({}));
    assert_eq!(Router::new(&plus, &routing(Valiant), 1).expect("a dragonfly+").max_hops(), 8);
}

#[test]
fn lanes_break_all_circles_of_links() {
    for t in [example(), built("dragonfly_plus", json!({})), built("dragonfly", json!({ "groups": 5 }))] {
        for variant in VARIANTS {
            let router = Router::new(&t, &routing(variant), 1).expect("a dragonfly");
            assert_eq!(router.dependencies(2).expect("paths").cycle_on_lanes(), [], "{variant:?}");
        }
    }
    // On one lane links wait for each other: a local link for one between groups, which waits for a local link there.
    let t = example();
    let router = Router::new(&t, &routing(Min), 1).expect("a dragonfly");
    let (mut one_lane, mut path) = (Dependencies::default(), Vec::new());
    for src in 0..72 {
        for dst in (0..72).filter(|&dst| dst != src) {
            path.clear();
            router.path(NodeId(src), NodeId(dst), 0, &mut path).expect("a path");
            one_lane.add(&path);
        }
    }
    assert!(one_lane.cycle().len() > 2);
}

#[test]
fn adversarial_traffic_saturates_where_theory_says() {
    // All 8 hosts of a group share one link under MIN: 1/8 (Kim et al., Section 4.2: 1 / (a p)).
    let t = example();
    let at = |variant, offered| {
        carried(&t, &routing(variant), settings(routing(variant).lanes(false)), adversarial(offered))
    };
    let min = at(Min, 0.3);
    assert!((min - 0.125).abs() < 0.002, "{min}");
    // Under Valiant, 7 third groups take 8 r / 7 of a group's traffic each; a link between groups that is not a direct one
    // carries that of its own group and as much that passes: 16 r / 7, full at r = 7/16 = 0.4375. Queues at hosts' links
    // and in groups take their part of that.
    assert!((at(Valiant, 0.35) - 0.35).abs() < 0.01);
    let valiant = at(Valiant, 0.6);
    assert!((0.38..0.4375).contains(&valiant), "{valiant}");
    // UGAL sends by the direct link what that takes, and the rest like Valiant: at least as much, at most 1/2, since both
    // links between groups of a detour are taken from 8 for 8 hosts, and the direct link saves one: r <= (8 + 1) / 16.
    for variant in [UgalL, UgalG] {
        let adaptive = at(variant, 0.6);
        assert!((valiant..0.5625).contains(&adaptive), "{variant:?} {adaptive}");
        assert!((at(variant, 0.4) - 0.4).abs() < 0.015, "{variant:?}");
    }
}

#[test]
fn uniform_traffic_takes_minimal_paths_under_ugal() {
    // To each of 8 other groups go 8 x 8 / 71 of what a host offers, over one link: 0.9 of it. So MIN carries 0.8 with room
    // to spare. Valiant takes two links between groups for each packet, on average of 16 r x 64 / 71 / 8 = 1.8 r: full at 0.55.
    let t = example();
    let at = |variant, offered| {
        carried(&t, &routing(variant), settings(routing(variant).lanes(false)), uniform(offered))
    };
    for variant in [Min, UgalL, UgalG] {
        let carried = at(variant, 0.7);
        assert!((carried - 0.7).abs() < 0.03, "{variant:?} {carried}");
    }
    let valiant = at(Valiant, 0.7);
    assert!((0.45..0.56).contains(&valiant), "{valiant}");
}

#[test]
fn lanes_have_credits_of_their_own() {
    // As above, by credits in place of PFC.
    let t = example();
    for (variant, carries) in [(Min, 0.12..0.13), (Valiant, 0.36..0.4375)] {
        let lanes = routing(variant).lanes(false);
        let flow_control = FlowControl::Credit(LinkCredits::default());
        let settings = Settings { flow_control, ..settings(lanes) };
        let share = carried(&t, &routing(variant), settings, adversarial(0.6));
        assert!(carries.contains(&share), "{variant:?} {share}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let scheme = || AnyScheme::read("none", json!({})).expect("known").expect("valid");
    let build = |t: Topology, variant, priorities| {
        Network::build(t, &routing(variant), settings(priorities), scheme(), vec![flow(0, 9, 1)], 1).err()
    };
    // Valiant takes three lanes, which one, two or four priorities do not have.
    for priorities in [1, 2, 4] {
        let lanes = BuildError::Routing(RoutingError::Lanes { lanes: 3, priorities });
        assert_eq!(build(example(), Valiant, priorities), Some(lanes));
    }
    assert_eq!(build(example(), Valiant, 6), None);
    let star = built("star", json!({}));
    let error = build(star, Min, 2).expect("a star has no groups").to_string();
    assert!(error.contains("`name` is `dragonfly`, which does not know this [topology]"), "{error}");
    let two = built("dragonfly", json!({ "groups": 2 }));
    let error = build(two, Valiant, 3).expect("no third group").to_string();
    assert!(error.ends_with("expected `min`, or 3 to 32768 `groups` in [topology]"), "{error}");
    let many =
        AnyTopology::read("dragonfly", json!({ "groups": 10 })).expect("known").expect("valid").build();
    assert_eq!(many.expect_err("8 links").to_string(), "`groups` is 10: expected at most 9");
}
