//! Hosts with several NICs, by hand: rails and planes, which NIC a connection takes, and what NICs share.
//!
//! Frames of 1,000 B have 952 B of payload, an ACK 50 B; links have 100 Gbps, 80 ps a byte, and 1 us.

use crate::common::{flow, scheme};
use serde_json::json;
use xoff_engine::{Bytes, NicChoice, Rate, Time};
use xoff_fabric::ids::{FlowId, NodeId, PortId};
use xoff_fabric::observe::Records;
use xoff_fabric::routing::{HostNic, Router, Routing, RoutingError};
use xoff_fabric::settings::{Cbfc, FlowControl, LinkCredits, Pfc, Settings};
use xoff_fabric::topology::{AnyTopology, Link, Node, NodeKind, Topology, TopologyError};
use xoff_fabric::{BuildError, Cut, Flow, Network, Recording, Schedule, Simulation, network_env};

const PAYLOAD: u64 = 952;
/// 100 packets alone: 100 frames of 80 ns, one more at the switch, an ACK of 4 ns on two links, and 4 us of propagation.
const ALONE: Time = Time(100 * 80_000 + 80_000 + 2 * 4_000 + 4_000_000);

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.packets.mtu = Bytes(1_000);
    settings.packets.header = Bytes(48);
    settings.packets.ack = Bytes(50);
    settings.packets.gap = Bytes(0);
    settings
}

/// Hosts with a NIC on each of so many switches that nothing joins: `nics[i]` NICs at host i.
fn planes(nics: &[u32]) -> Topology {
    let (hosts, switches) = (nics.len() as u32, nics.iter().copied().max().unwrap_or(0));
    let node = |name: String, kind, tier| Node { name, kind, tier };
    let nodes = (0..hosts).map(|h| node(format!("h{h}"), NodeKind::Host, 0));
    let nodes = nodes.chain((0..switches).map(|s| node(format!("s{s}"), NodeKind::Switch, 1))).collect();
    let link = |(h, s)| {
        let (rate, delay) = (Rate::from_gbps(100), Time::from_us(1));
        Link {
            a: NodeId(h),
            b: NodeId(hosts + s),
            rate_ab: rate,
            rate_ba: rate,
            delay_ab: delay,
            delay_ba: delay,
        }
    };
    let ends = (0..hosts).flat_map(|h| (0..nics[h as usize]).map(move |s| (h, s)));
    Topology { nodes, links: ends.map(link).collect(), ..Topology::default() }
}

fn built(name: &str, params: serde_json::Value) -> Topology {
    AnyTopology::read(name, params).expect("known").expect("valid").build().expect("a topology")
}

fn network(
    topology: Topology,
    settings: Settings,
    flows: Vec<Flow>,
    nics: Vec<Option<NicChoice>>,
) -> Result<Network, BuildError> {
    let router = Router::new(&topology, &Routing::default(), 1)?;
    let none = scheme("none", json!({}), Time::from_us(1));
    let env = network_env(&topology, &router, &settings, &none.signals())?;
    let schedule = Schedule { nics, ..Schedule::default() };
    Network::along(topology, &router, env, settings, none, flows, schedule, 1)
}

fn run(
    topology: Topology,
    settings: Settings,
    flows: Vec<Flow>,
    nics: &[u32],
) -> (Simulation, Vec<Option<Time>>) {
    let nics = nics.iter().map(|&nic| Some(NicChoice::Nic(nic))).collect();
    let net = network(topology, settings, flows, nics).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    sim.run(&mut |_| true).expect("no failure");
    let fct = sim.records().outcomes().iter().map(|f| f.fct).collect();
    (sim, fct)
}

/// The number of each flow's NIC at its sender.
fn nics_of(net: &Network) -> Vec<usize> {
    let adjacency = net.topology.adjacency();
    let nic = |f: FlowId| {
        let first = net.data_path(f)[0];
        adjacency.ports_of(net.flows.src(f)).iter().position(|&p| p == first).expect("its port")
    };
    FlowId::all(net.flows.len()).map(nic).collect()
}

#[test]
fn each_nic_has_its_whole_line_rate() {
    let two = || vec![flow(0, 1, 100 * PAYLOAD); 2];
    let (sim, fct) = run(planes(&[2, 2]), settings(), two(), &[0, 1]);
    assert_eq!(fct, [Some(ALONE); 2]);
    assert_eq!(sim.network().ideal_fct(FlowId(0)), Some(ALONE));
    assert_eq!(sim.network().ideal_fct(FlowId(1)), Some(ALONE));
    // Links: h0-s0, h0-s1, h1-s0, h1-s1. Flow 1 goes from h0's second port to h1's, and its ACKs come back there.
    assert_eq!(
        (sim.network().data_path(FlowId(1)), sim.network().ack_path(FlowId(1)).iter().collect::<Vec<_>>()),
        (&[PortId(2), PortId(7)][..], vec![PortId(6), PortId(3)])
    );
    for host_port in [0, 2] {
        assert_eq!(sim.port(PortId(host_port)).tx_packets, 100);
        // 100 ACKs of each NIC's own flow.
        assert_eq!(sim.port(PortId(host_port + 4)).tx_packets, 100);
    }
    // On one NIC the two take turns. Flow 0 sends a frame before flow 1 starts and is then first in line, so its last frame is
    // number 198 of 200, and flow 1 has the last two.
    let (sim, fct) = run(planes(&[2, 2]), settings(), two(), &[0, 0]);
    let more = |frames: u64| Some(Time(ALONE.0 + frames * 80_000));
    assert_eq!(fct, [more(98), more(100)]);
    assert_eq!((sim.port(PortId(0)).tx_packets, sim.port(PortId(2)).tx_packets), (200, 0));
}

#[test]
fn a_pause_stops_its_own_rail_alone() {
    // h0 and h1 send to h2 by NIC 0 and pause there; h0 sends to h2 by NIC 1 as well.
    let pfc = FlowControl::Pfc(Pfc { xoff: Some(Bytes(10_000)), ..Pfc::default() });
    let settings = Settings { flow_control: pfc, ..settings() };
    let flows = vec![flow(0, 2, 100 * PAYLOAD), flow(1, 2, 100 * PAYLOAD), flow(0, 2, 100 * PAYLOAD)];
    let (sim, fct) = run(planes(&[2, 2, 2]), settings, flows, &[0, 0, 1]);
    let paused: Vec<bool> = sim.records().outcomes().iter().map(|f| f.paused > Time::ZERO).collect();
    assert_eq!(paused, [true, true, false]);
    assert_eq!(fct[2], Some(ALONE));
    assert!(fct[0] > Some(ALONE) && fct[1] > Some(ALONE));
}

#[test]
fn each_nic_has_credits_of_its_own() {
    let all = [
        FlowControl::Cbfc(Cbfc { buffer: Some(Bytes(8_192)), undersized: true, ..Cbfc::default() }),
        FlowControl::Credit(LinkCredits { credits: Some(512), ..LinkCredits::default() }),
    ];
    for flow_control in all {
        let settings = Settings { flow_control, ..settings() };
        let flows = |n| vec![flow(0, 1, 100 * PAYLOAD); n];
        let (_, single) = run(planes(&[1, 1]), settings.clone(), flows(1), &[0]);
        let (_, own) = run(planes(&[2, 2]), settings.clone(), flows(2), &[0, 1]);
        // Credits that are too few hold each flow back as much as if it were alone. The times of CBFC's updates are drawn for
        // each port.
        let ns = |fct: Option<Time>| fct.map_or(0, |t| t.ps() / 1_000);
        assert!(single[0] > Some(ALONE));
        if matches!(settings.flow_control, FlowControl::Credit(_)) {
            assert_eq!(own, [single[0]; 2]);
        }
        assert!(own.iter().all(|&fct| ns(fct).abs_diff(ns(single[0])) < ns(single[0]) / 10));
        let (_, shared) = run(planes(&[2, 2]), settings, flows(2), &[1, 1]);
        assert!(ns(shared[1]) > ns(own[1]) * 3 / 2);
    }
}

#[test]
fn connections_take_nics_in_turn_by_hash_or_by_number() {
    let flows = || (0..32).map(|i| flow(0, 1 + i % 2, PAYLOAD)).chain([flow(1, 0, PAYLOAD)]).collect();
    let with = |nic| {
        let mut settings = settings();
        settings.host.nic = nic;
        nics_of(&network(planes(&[4, 4, 4]), settings, flows(), vec![]).expect("a network"))
    };
    // In turn over the connections of a host, whoever receives.
    let in_turn: Vec<usize> = (0..32).map(|i| i % 4).chain([0]).collect();
    assert_eq!(with(NicChoice::RoundRobin), in_turn);
    assert_eq!(with(NicChoice::Nic(3)), [3; 33]);
    let hashed = with(NicChoice::Hash);
    assert_eq!(hashed, with(NicChoice::Hash));
    assert!((0..4).all(|nic| hashed.contains(&nic)), "{hashed:?}");
    assert_ne!(hashed, in_turn);
    // A flow's own choice goes before that of the settings, and its connection's first flow decides.
    let nics = vec![Some(NicChoice::Nic(2)), None, Some(NicChoice::Nic(1))];
    let connections = vec![Some(0), None, Some(0)];
    let topology = planes(&[4, 4]);
    let router = Router::new(&topology, &Routing::default(), 1).expect("routing");
    let none = scheme("none", json!({}), Time::from_us(1));
    let env = network_env(&topology, &router, &settings(), &none.signals()).expect("paths");
    let schedule = Schedule { nics, connections, ..Schedule::default() };
    let flows = vec![flow(0, 1, PAYLOAD); 3];
    let net =
        Network::along(topology, &router, env, settings(), none, flows, schedule, 1).expect("a network");
    assert_eq!(nics_of(&net), [2, 0, 2]);
}

#[test]
fn a_receiver_with_fewer_nics_takes_them_in_turn() {
    // Three NICs at h0 and two at h1 on a common switch: 0 to 0, 1 to 1, 2 to 0.
    let mut topology = planes(&[3, 2]);
    topology.links.iter_mut().for_each(|link| link.b = NodeId(2));
    let flows = vec![flow(0, 1, PAYLOAD); 3];
    let net = network(topology, settings(), flows, vec![]).expect("a network");
    // Ports of h0: 0, 2, 4; of the switch towards h1: 7, 9.
    let paths: Vec<_> = (0..3).map(|f| net.data_path(FlowId(f)).to_vec()).collect();
    assert_eq!(paths, [[0, 7], [2, 9], [4, 7]].map(|path| path.map(PortId)));
}

#[test]
fn nics_that_cannot_reach_each_other_are_refused() {
    let error = planes(&[2, 3]).validate();
    let (a, b) = ("h1".to_string(), "h0".to_string());
    assert_eq!(error, Err(TopologyError::NicsDisconnected { a, nic_a: 2, b, nic_b: 0 }));
    assert_eq!(
        error.unwrap_err().to_string(),
        "the topology has no path between NIC 2 of the host `h1` and NIC 0 of `h0`: expected links between the switches \
         of the two, or as many NICs at each host as there are planes"
    );
    let router = Router::new(planes(&[2, 3]), &Routing::default(), 1).expect("routing");
    let (from, to) = router.ends(NodeId(1), NodeId(0), 2).expect("NICs");
    assert_eq!((from, to), (HostNic { host: NodeId(1), nic: 2 }, HostNic { host: NodeId(0), nic: 0 }));
    let (from_name, to_name) = ("h1".to_string(), "h0".to_string());
    assert_eq!(
        router.path_between(from, to, 0, &mut Vec::new()),
        Err(RoutingError::NicUnreachable { from: from_name, nic_from: 2, to: to_name, nic_to: 0 })
    );
    let nics = vec![Some(NicChoice::Nic(5))];
    let error = network(planes(&[2, 2]), settings(), vec![flow(0, 1, 1)], nics).err().expect("no NIC 5");
    assert_eq!(
        error.to_string(),
        "routing is asked for a path by NIC 5 of host `h0`: expected a number from 0 to 1, one of its 2 NICs"
    );
}

#[test]
fn rails_join_nics_of_one_number_and_planes_share_hosts_alone() {
    // Two groups of two leaves: host0 and host1 on leaf0 and leaf1, host2 and host3 on leaf2 and leaf3.
    let rails = built("leaf_spine", json!({"leaves": 4, "spines": 1, "hosts_per_leaf": 2, "rails": 2}));
    assert_eq!(rails.hosts().len(), 4);
    let names: Vec<String> = (0..8).map(|l| rails.port_name(PortId::of_link(l)[0])).collect();
    assert_eq!(names[2..6], ["host1->leaf0", "host1->leaf1", "host2->leaf2", "host2->leaf3"]);
    // In two planes the second has numbers of its own.
    let planes = built("leaf_spine", json!({"leaves": 2, "spines": 1, "hosts_per_leaf": 1, "planes": 2}));
    let names: Vec<String> =
        (0..planes.links.len()).map(|l| planes.port_name(PortId::of_link(l)[0])).collect();
    let hosts = ["host0->leaf0", "host0->leaf2", "host1->leaf1", "host1->leaf3"];
    let trunks = ["leaf0->spine0", "leaf1->spine0", "leaf2->spine1", "leaf3->spine1"];
    assert_eq!(names, [hosts, trunks].concat());
    // k = 4: 8 edge switches in 4 pods make 4 groups of two rails, with two hosts each.
    let tree = built("fat_tree", json!({"k": 4, "rails": 2, "planes": 2}));
    assert_eq!((tree.hosts().len(), tree.nodes.len(), tree.links.len()), (8, 8 + 2 * 20, 8 * 4 + 2 * 32));
    let nics: Vec<String> = (0..4).map(|l| tree.port_name(PortId::of_link(l)[0])).collect();
    assert_eq!(nics, ["host0->edge0", "host0->edge1", "host0->edge8", "host0->edge9"]);
    let refused = |name, params| {
        let topology = AnyTopology::read(name, params).expect("known").expect("valid");
        topology.build().err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(
        refused("leaf_spine", json!({"leaves": 4, "rails": 3})),
        "`rails` is 3, and there are 4 leaves: expected a divisor of their number: NIC i of a host goes to switch i of its \
         group"
    );
    assert_eq!(
        refused("fat_tree", json!({"planes": 65})),
        "`planes` makes 65 NICs for each host: expected at most 64"
    );
    assert_eq!(refused("fat_tree", json!({"rails": 0})), "`rails` is 0: expected at least 1");
}

#[test]
fn every_routing_keeps_to_the_nics_planes() {
    let t = built("fat_tree", json!({"k": 4, "planes": 2}));
    let adjacency = t.adjacency();
    // Switches of plane p are those that its edge switches reach; names count on.
    let plane = |port: PortId| {
        let name = &t.nodes[t.node_of(port).index()].name;
        let digits = name.trim_start_matches(|c: char| c.is_alphabetic());
        let per_plane = if name.starts_with("core") { 4 } else { 8 };
        digits.parse::<u32>().expect("a number") / per_plane
    };
    for name in ["ecmp", "spanning_trees", "d_mod_k", "static_routes"] {
        let routing = Routing::read(name, json!({})).expect("known").expect("valid");
        let router = Router::new(&t, &routing, 1).expect(name);
        assert_eq!(router.max_hops(), 6, "{name}");
        for (nic, key) in [(0, 0), (1, 0), (0, 9), (1, 9)] {
            let (from, to) = router.ends(NodeId(0), NodeId(15), nic).expect("NICs");
            let mut path = Vec::new();
            router.path_between(from, to, key, &mut path).expect(name);
            assert_eq!(Some(path[0]), adjacency.nic_port(NodeId(0), nic), "{name}");
            assert!(path.len() == 6 && path[1..].iter().all(|&p| plane(p) == nic), "{name}: {path:?}");
        }
    }
    let ns3 = Routing::read("ecmp", json!({"hash": "ns3_hpcc"})).expect("known").expect("valid");
    assert!(Router::new(&t, &ns3, 1).is_err());
}

#[test]
fn threads_do_not_change_what_several_nics_do() {
    let topology = built("leaf_spine", json!({"leaves": 6, "spines": 3, "hosts_per_leaf": 3, "rails": 2}));
    let hosts = topology.hosts();
    let pairs = hosts.iter().flat_map(|&a| hosts.iter().filter(move |&&b| b != a).map(move |&b| (a, b)));
    let flows: Vec<Flow> = pairs.map(|(a, b)| flow(a.0, b.0, 40 * PAYLOAD)).collect();
    let on = |parts: usize| -> Records {
        let mut settings = settings();
        settings.host.nic = NicChoice::RoundRobin;
        settings.flow_control = FlowControl::Pfc(Pfc { xoff: Some(Bytes(20_000)), ..Pfc::default() });
        let net = network(topology.clone(), settings, flows.clone(), vec![]).expect("a network");
        let cut = if parts == 1 { Cut::single(&net) } else { Cut::into(&net, parts, None) };
        assert_eq!(cut.partitions(), parts);
        // A host is with all of its leaves: no link of a host is cut.
        let joined = |l: &Link| net.is_host(l.a) && cut.partition_of(l.a) != cut.partition_of(l.b);
        assert!(!net.topology.links.iter().any(joined));
        let recording = Recording { pauses: true, ..Recording::default() };
        let mut sim = Simulation::cut(net, cut, None, recording, None);
        sim.run(&mut |_| true).expect("no failure");
        sim.into_records().1
    };
    let (one, three) = (on(1), on(3));
    assert!(!one.pauses.is_empty() && one.flows.iter().all(|f| f.fct.is_some()));
    assert_eq!(format!("{:?}", one.flows), format!("{:?}", three.flows));
    assert_eq!(format!("{:?}", one.pauses), format!("{:?}", three.pauses));
}
