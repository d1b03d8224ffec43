//! Topologies against their definitions, with counts and names worked out by hand.

use serde_json::json;
use xoff_engine::{Rate, Time};
use xoff_fabric::ids::{NodeId, PortId};
use xoff_fabric::topology::{
    AnyTopology, Chain, Dumbbell, FatTree, Graph, Join, LeafSpine, Link, MAX_RATE, Nearest, Node, NodeKind,
    Star, Topology, TopologyError, TopologyKind, catalogue,
};

fn count(t: &Topology, kind: NodeKind) -> usize {
    t.nodes.iter().filter(|n| n.kind == kind).count()
}

fn links_between(t: &Topology, a: &str, b: &str) -> usize {
    t.port_names().iter().filter(|n| n.split('#').next() == Some(&format!("{a}->{b}"))).count()
}

fn tier(t: &Topology, name: &str) -> Option<u8> {
    t.node_by_name(name).map(|n| t.nodes[n.index()].tier)
}

fn graph(text: &str) -> Result<Topology, TopologyError> {
    Graph::from_text(text).and_then(|g| g.build())
}

#[test]
fn the_default_dumbbell_is_fncc_figure_10() {
    let t = Dumbbell::default().build().unwrap();
    // N = 2 senders, one receiver, M = 3 switches; a tree of 6 nodes has 5 links.
    let names: Vec<_> = t.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["sender0", "sender1", "receiver0", "switch1", "switch2", "switch3"]);
    let ports = t.port_names();
    let forward: Vec<_> = ports.iter().step_by(2).map(String::as_str).collect();
    let links = [
        "sender0->switch1",
        "sender1->switch1",
        "receiver0->switch3",
        "switch1->switch2",
        "switch2->switch3",
    ];
    assert_eq!(forward, links);
    assert_eq!(ports[1], "switch1->sender0");
    // All links 100 Gbps with 1.5 us (Section 5).
    assert!(t.port_ids().all(|p| t.rate(p) == Rate(100_000_000_000) && t.delay(p) == Time(1_500_000)));
}

#[test]
fn a_dumbbells_trunk_rate_is_that_of_the_links_between_switches_only() {
    let t = Dumbbell { trunk_rate: Some(Rate::from_gbps(40)), receivers: 2, ..Dumbbell::default() };
    let t = t.build().unwrap();
    for (name, port) in t.port_names().iter().zip(t.port_ids()) {
        let trunk = name.matches("switch").count() == 2;
        assert_eq!(t.rate(port), Rate::from_gbps(if trunk { 40 } else { 100 }), "{name}");
    }
    assert_eq!(links_between(&t, "receiver1", "switch3"), 1);
}

#[test]
fn a_chain_attaches_the_second_sender_where_it_joins() {
    // M = 4: the middle is switch2, of two the one nearer to sender0.
    for (join, switch, receivers) in
        [(Join::First, "switch1", 2), (Join::Middle, "switch2", 2), (Join::Last, "switch4", 1)]
    {
        let t = Chain { switches: 4, join, ..Chain::default() }.build().unwrap();
        assert_eq!(links_between(&t, "sender0", "switch1"), 1);
        assert_eq!(links_between(&t, "sender1", switch), 1);
        assert_eq!(count(&t, NodeKind::Host), 2 + receivers);
        for r in 0..receivers {
            assert_eq!(links_between(&t, &format!("receiver{r}"), "switch4"), 1);
        }
    }
}

#[test]
fn a_star_has_one_switch() {
    let t = Star { hosts: 5, ..Star::default() }.build().unwrap();
    assert_eq!((count(&t, NodeKind::Host), count(&t, NodeKind::Switch), t.links.len()), (5, 1, 5));
    assert_eq!(links_between(&t, "switch1", "host4"), 1);
}

#[test]
fn fat_trees_have_the_counts_of_al_fares() {
    // k^3/4 hosts, 5 k^2/4 switches, 3 k^3/4 links: k = 2: 2, 5, 6; k = 4: 16, 20, 48; k = 8: 128, 80, 384;
    // k = 10 (TCD): 250, 125, 750.
    for (k, hosts, switches, links) in [(2, 2, 5, 6), (4, 16, 20, 48), (8, 128, 80, 384), (10, 250, 125, 750)]
    {
        let t = FatTree { k, ..FatTree::default() }.build().unwrap();
        assert_eq!(
            (count(&t, NodeKind::Host), count(&t, NodeKind::Switch), t.links.len()),
            (hosts, switches, links)
        );
        let adjacency = t.adjacency();
        for (n, node) in t.nodes.iter().enumerate().filter(|(_, n)| n.kind == NodeKind::Switch) {
            assert_eq!(adjacency.ports_of(NodeId::at(n)).len(), k as usize, "{}", node.name);
        }
    }
}

#[test]
fn a_fat_trees_core_groups_reach_every_pod_once() {
    // k = 4, pod p has edge 2p, 2p+1 and agg 2p, 2p+1. Agg 0 of each pod connects to core 0 and 1, agg 1 to 2 and 3.
    let t = FatTree { k: 4, ..FatTree::default() }.build().unwrap();
    for pod in 0..4 {
        for (i, cores) in [(0, [0, 1]), (1, [2, 3])] {
            let agg = format!("agg{}", 2 * pod + i);
            for core in 0..4 {
                let linked = usize::from(cores.contains(&core));
                assert_eq!(links_between(&t, &agg, &format!("core{core}")), linked);
            }
            for edge in 0..8 {
                let linked = usize::from(edge / 2 == pod);
                assert_eq!(links_between(&t, &format!("edge{edge}"), &agg), linked);
            }
        }
    }
    // Hosts 2e and 2e+1 on edge e.
    assert_eq!(links_between(&t, "host5", "edge2"), 1);
    assert_eq!(
        ["host5", "edge2", "agg7", "core3"].map(|n| tier(&t, n)),
        [Some(0), Some(1), Some(2), Some(3)]
    );
}

#[test]
fn a_fat_trees_tiers_have_their_own_rates_and_delays() {
    let t = FatTree {
        k: 4,
        hosts_per_edge: Some(6),
        host_rate: Some(Rate::from_gbps(25)),
        core_rate: Some(Rate::from_gbps(400)),
        edge_delay: Some(Time::from_ns(600)),
        ..FatTree::default()
    };
    let t = t.build().unwrap();
    // 8 edge switches with 6 hosts each; 16 links in each of the two upper tiers as without oversubscription.
    assert_eq!((count(&t, NodeKind::Host), t.links.len()), (48, 48 + 16 + 16));
    for (name, p) in t.port_names().iter().zip(t.port_ids()) {
        let (rate, delay) = match (name.contains("host"), name.contains("core")) {
            (true, _) => (25, 1500),
            (_, true) => (400, 1500),
            _ => (100, 600),
        };
        assert_eq!((t.rate(p), t.delay(p)), (Rate::from_gbps(rate), Time::from_ns(delay)), "{name}");
    }
}

#[test]
fn a_leaf_spine_connects_every_pair_as_often_as_asked() {
    // SRCC, Section II-B: 4 leaves with 16 hosts, 8 spines: 64 hosts, 64 + 32 links of 4 us.
    let t = LeafSpine::default().build().unwrap();
    assert_eq!((count(&t, NodeKind::Host), count(&t, NodeKind::Switch), t.links.len()), (64, 12, 96));
    assert!(t.port_ids().all(|p| t.delay(p) == Time::from_us(4)));
    assert_eq!(links_between(&t, "host63", "leaf3"), 1);

    let t = LeafSpine { leaves: 2, spines: 2, hosts_per_leaf: 1, links_per_pair: 3, ..LeafSpine::default() };
    let t = t.build().unwrap();
    // Hosts take links 0 and 1; leaf0-spine0 links 2 to 4, so ports 4 to 9.
    let names: Vec<_> = (4..10).map(|p| t.port_name(PortId(p))).collect();
    let parallel = ["leaf0->spine0", "spine0->leaf0", "leaf0->spine0#2", "spine0->leaf0#2"];
    assert_eq!(names[..4], parallel);
    assert_eq!(names[4..], ["leaf0->spine0#3", "spine0->leaf0#3"]);
    assert_eq!(t.port_names(), t.port_ids().map(|p| t.port_name(p)).collect::<Vec<_>>());
    assert_eq!(["leaf0", "spine1"].map(|n| tier(&t, n)), [Some(1), Some(2)]);
}

const TWO_HOSTS: &str = r#"
    hosts = ["h0", "h1"]
    switches = ["s"]
    links = [
        { a = "h0", b = "s", rate = "100Gbps", delay = "1us" },
        { a = "s", b = "h1", rate = "40Gbps", delay = "2us", rate_back = "25Gbps", delay_back = "3us" },
    ]"#;

#[test]
fn a_graphs_directions_survive_the_host_becoming_the_first_end() {
    let t = graph(TWO_HOSTS).unwrap();
    let port = |name: &str| PortId::at(t.port_names().iter().position(|n| n == name).unwrap());
    assert_eq!((t.rate(port("s->h1")), t.delay(port("s->h1"))), (Rate::from_gbps(40), Time::from_us(2)));
    assert_eq!((t.rate(port("h1->s")), t.delay(port("h1->s"))), (Rate::from_gbps(25), Time::from_us(3)));
    // Link 1 has ports 2 and 3; its end `a` is the host.
    assert_eq!((t.port_name(PortId(2)), t.port_name(PortId(2).peer())), ("h1->s".into(), "s->h1".into()));
    let adjacency = t.adjacency();
    assert_eq!(adjacency.ports_of(NodeId(2)), [PortId(1), PortId(3)]);
    assert_eq!((adjacency.nic_port(NodeId(1), 0), adjacency.nic_port(NodeId(1), 1)), (Some(PortId(2)), None));
}

#[test]
fn a_graph_reads_the_same_from_json_and_from_lists_of_nodes() {
    let json = r#" { "nodes": [{"name": "h0", "kind": "host"}, {"name": "h1", "kind": "host"}],
        "switches": ["s"],
        "links": [{"a": "h0", "b": "s", "rate": "100Gbps", "delay": "1us"},
                  {"a": "h1", "b": "s", "rate": "25Gbps", "delay": "3us", "rate_back": "40Gbps", "delay_back": "2us"}]
        }"#;
    assert_eq!(graph(json), graph(TWO_HOSTS));
}

#[test]
fn a_graphs_file_is_read_once_and_alone() {
    let by_file = |file: &str| Graph { file: Some(file.into()), ..Graph::default() };
    let read = |file: &str| match file {
        "net.toml" => Ok(TWO_HOSTS.to_string()),
        "nested.toml" => Ok("file = \"net.toml\"".to_string()),
        "broken.json" => Ok("{\"hosts\": [1]}".to_string()),
        _ => Err("no such file".to_string()),
    };
    assert_eq!(by_file("net.toml").resolve(read), Graph::from_text(TWO_HOSTS));
    assert_eq!(by_file("net.toml").build(), Err(TopologyError::Unread { file: "net.toml".into() }));
    let reason = |file: &str| match by_file(file).resolve(read) {
        Err(TopologyError::File { file: named, reason }) if named == file => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("missing.toml"), "no such file");
    assert!(reason("nested.toml").contains("net.toml"));
    assert!(reason("broken.json").contains("line 1"));
    let both = Graph { hosts: vec!["h".into()], ..by_file("net.toml") };
    assert_eq!(both.resolve(read), Err(TopologyError::FileAndLists { file: "net.toml".into() }));
    assert!(matches!(Graph::from_text("hosts = 3"), Err(TopologyError::Text { .. })));
}

#[test]
fn a_graph_names_what_is_wrong() {
    let link =
        |a: &str, b: &str| format!("{{ a = \"{a}\", b = \"{b}\", rate = \"1Gbps\", delay = \"1us\" }}");
    let with = |hosts: &str, links: &[String]| {
        graph(&format!(
            "hosts = {hosts}\nswitches = [\"switch1\", \"switch2\"]\nlinks = [{}]",
            links.join(",")
        ))
        .unwrap_err()
    };
    let h = "[\"h0\", \"h1\"]";
    assert_eq!(
        with(h, &[link("h0", "switch1"), link("h1", "swich1")]).to_string(),
        "`links[1].b` names the unknown node `swich1`: expected a name from `nodes`, `hosts` or `switches`; did you mean \
         `switch1`?"
    );
    assert_eq!(
        with(h, &[link("elsewhere", "switch1")]),
        TopologyError::UnknownNode { link: 0, end: 'a', name: "elsewhere".into(), nearest: Nearest(None) }
    );
    assert_eq!(with("[\"switch1\"]", &[]), TopologyError::DuplicateNode { name: "switch1".into() });
    assert_eq!(with("[\"\"]", &[]), TopologyError::EmptyName { node: 0 });
    assert_eq!(
        with(h, &[link("h0", "switch1"), link("switch2", "switch2")]),
        TopologyError::SelfLoop { link: 1, name: "switch2".into() }
    );
    assert_eq!(
        with(h, &[link("h0", "switch1"), link("h1", "switch1"), link("h1", "switch2")]),
        TopologyError::NicsDisconnected { a: "h1".into(), nic_a: 1, b: "h0".into(), nic_b: 0 }
    );
    let links: Vec<String> =
        std::iter::repeat_n(link("h1", "switch1"), 65).chain([link("h0", "switch1")]).collect();
    assert_eq!(with(h, &links), TopologyError::HostLinks { host: "h1".into(), links: 65 });
    assert_eq!(with(h, &[link("h0", "switch1")]), TopologyError::HostLinks { host: "h1".into(), links: 0 });
    assert_eq!(with("[]", &[link("switch1", "switch2")]), TopologyError::NoHosts);
    assert_eq!(
        with(h, &[link("h0", "switch1"), link("h1", "switch2")]),
        TopologyError::Disconnected { a: "h0".into(), b: "h1".into() }
    );
    // Hosts forward nothing: h0 and h1 share no path through h2, whose second NIC does not reach h0 either.
    assert_eq!(
        with("[\"h0\", \"h1\", \"h2\"]", &[link("h0", "h2"), link("h1", "h2")]),
        TopologyError::NicsDisconnected { a: "h2".into(), nic_a: 1, b: "h0".into(), nic_b: 0 }
    );
}

#[test]
fn rates_and_delays_beyond_any_real_ones_are_refused() {
    let star = |rate, delay| Star { hosts: 1, rate, delay }.build();
    let (from, to) = ("host0".to_string(), "switch1".to_string());
    for rate in [Rate(0), Rate(MAX_RATE.0 + 1), Rate::UNLIMITED] {
        let (from, to) = (from.clone(), to.clone());
        assert_eq!(star(rate, Time::ZERO), Err(TopologyError::Rate { from, to, rate }));
    }
    assert!(star(Rate(1), Time::ZERO).is_ok() && star("10Tbps".parse().unwrap(), Time::ZERO).is_ok());
    let delay = Time(10_000_000_000_001);
    assert_eq!(star(MAX_RATE, delay), Err(TopologyError::Delay { from, to, delay }));
}

#[test]
fn counts_that_make_no_network_are_refused() {
    let few = |key, got, min| Err(TopologyError::TooFew { key, got, min });
    let d = Dumbbell::default();
    assert_eq!(Dumbbell { switches: 0, ..d.clone() }.build(), few("switches", 0, 1));
    assert_eq!(Dumbbell { senders: 0, ..d.clone() }.build(), few("senders", 0, 1));
    assert_eq!(Dumbbell { receivers: 0, ..d }.build(), few("receivers", 0, 1));
    assert_eq!(Star { hosts: 0, ..Star::default() }.build(), few("hosts", 0, 1));
    // There is a hop behind the first switch with two switches, and one behind a middle switch with three.
    for (join, least) in [(Join::First, 2), (Join::Middle, 3), (Join::Last, 1)] {
        let chain = |switches| Chain { switches, join, ..Chain::default() }.build();
        assert_eq!(chain(least - 1), few("switches", least - 1, least));
        assert!(chain(least).is_ok());
    }
    let l = LeafSpine::default();
    assert_eq!(LeafSpine { leaves: 0, ..l.clone() }.build(), few("leaves", 0, 1));
    assert_eq!(LeafSpine { spines: 0, ..l.clone() }.build(), few("spines", 0, 1));
    assert_eq!(LeafSpine { hosts_per_leaf: 0, ..l.clone() }.build(), few("hosts_per_leaf", 0, 1));
    assert_eq!(LeafSpine { links_per_pair: 0, ..l }.build(), few("links_per_pair", 0, 1));
    for k in [0, 1, 3, 7] {
        assert_eq!(FatTree { k, ..FatTree::default() }.build(), Err(TopologyError::Arity { k }));
    }
    assert_eq!(
        FatTree { hosts_per_edge: Some(0), ..FatTree::default() }.build(),
        few("hosts_per_edge", 0, 1)
    );
}

#[test]
fn absurd_sizes_are_counted_and_not_built() {
    let refused = |t: Result<Topology, TopologyError>| match t {
        Err(TopologyError::TooLarge { nodes, links }) => (nodes, links),
        other => panic!("{:?}", other.map(|t| t.nodes.len())),
    };
    // k = 200: 200^3/4 = 2,000,000 hosts and 5 * 200^2/4 = 50,000 switches; three times 2,000,000 links.
    let tree = |k, hosts_per_edge| FatTree { k, hosts_per_edge, ..FatTree::default() }.build();
    assert_eq!(refused(tree(200, None)), (2_050_000, 6_000_000));
    // k = 2m with m = 2^31 - 1: edges 2 m^2, each with 2^32 - 1 = 2m + 1 hosts: 4 m^3 + 2 m^2 hosts, 5 m^2
    // switches, and 2 m^2 * m links in each of the two upper tiers.
    let m = (1u128 << 31) - 1;
    let hosts = 4 * m * m * m + 2 * m * m;
    assert_eq!(refused(tree(u32::MAX - 1, Some(u32::MAX))), (hosts + 5 * m * m, hosts + 4 * m * m * m));
    // n = 2^32 - 1 of each: n^2 + 2n nodes, n^2 + n^3 links.
    let n = u32::MAX;
    let wide = u128::from(n);
    let leaf_spine =
        LeafSpine { leaves: n, spines: n, hosts_per_leaf: n, links_per_pair: n, ..LeafSpine::default() };
    assert_eq!(refused(leaf_spine.build()), (wide * wide + 2 * wide, wide * wide + wide * wide * wide));
    let dumbbell = Dumbbell { switches: n, senders: n, receivers: n, ..Dumbbell::default() };
    assert_eq!(refused(dumbbell.build()), (3 * wide, 3 * wide - 1));
    assert_eq!(refused(Star { hosts: n, ..Star::default() }.build()), (wide + 1, wide));
    for join in [Join::First, Join::Middle] {
        assert_eq!(refused(Chain { switches: n, join, ..Chain::default() }.build()), (wide + 4, wide + 3));
    }
}

#[test]
fn a_topology_made_by_hand_is_checked_for_its_indices() {
    let node = |name: &str| Node { name: name.into(), kind: NodeKind::Host, tier: 0 };
    let rate = Rate::from_gbps(1);
    let link = |b| Link {
        a: NodeId(0),
        b,
        rate_ab: rate,
        rate_ba: rate,
        delay_ab: Time::ZERO,
        delay_ba: Time::ZERO,
    };
    let pair =
        |b| Topology { nodes: vec![node("x"), node("y")], links: vec![link(b)], ..Topology::default() };
    assert_eq!(pair(NodeId(1)).validate(), Ok(()));
    assert_eq!(
        pair(NodeId(2)).validate(),
        Err(TopologyError::NoSuchNode { link: 0, node: NodeId(2), nodes: 2 })
    );
}

#[test]
fn every_topology_is_listed_read_and_built_by_its_name() {
    let names = [
        "dumbbell",
        "chain",
        "star",
        "fat_tree",
        "leaf_spine",
        "rail_optimized",
        "hpn",
        "dragonfly",
        "dragonfly_plus",
        "torus",
        "hyperx",
        "jellyfish",
        "graph",
    ];
    assert_eq!(AnyTopology::NAMES, names);
    for (info, name) in catalogue().iter().zip(AnyTopology::NAMES) {
        assert_eq!(info.name, *name);
        // Serde's name of the variant is the registry's.
        let read = AnyTopology::read(name, info.defaults.clone()).unwrap().unwrap();
        let mut tagged = info.defaults.clone();
        tagged["name"] = json!(name);
        assert_eq!(serde_json::to_value(&read).unwrap(), tagged);
        assert_eq!(serde_json::from_value::<AnyTopology>(tagged).unwrap(), read);
        assert_eq!(read.name(), *name);
        // Every parameter of the schema says what it is.
        let properties = info.schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), info.defaults.as_object().unwrap().len());
        assert!(properties.values().all(|p| p["description"].is_string()), "{name}");
        assert_eq!(read.build().is_ok(), *name != "graph");
    }
    assert!(AnyTopology::read("klein_bottle", json!({})).is_none());
    let error = AnyTopology::read("star", json!({ "host": 4 })).unwrap().unwrap_err().to_string();
    assert!(error.contains("unknown field `host`") && error.contains("`hosts`"), "{error}");
}

#[test]
fn names_are_found_and_guessed() {
    let t = FatTree { k: 4, ..FatTree::default() }.build().unwrap();
    let names = t.names();
    // Hosts are nodes 0 to 15, edge0 is node 16.
    assert_eq!((names.find("host3"), t.node_by_name("edge0")), (Some(NodeId(3)), Some(NodeId(16))));
    assert_eq!((names.find("edge8"), t.node_by_name("edge8")), (None, None));
    assert_eq!(names.nearest("cor2"), Nearest(Some("core2".into())));
    assert_eq!(names.nearest("whatever"), Nearest(None));
}

#[test]
fn each_switch_takes_its_pipeline_delay() {
    // h0 - s0 - s1 - h1 with frames of 1,000 B and ACKs of 50 B at 100 Gbps and 1 us a link: 3 x 1,080 + 3 x 1,004 ns. With 400 ns in
    // each of two switches, there and back, 4 x 400 ns more; hosts have no pipeline.
    for (pipeline, more) in [(0, 0), (400, 1_600)] {
        let mut settings = crate::faults::round();
        settings.switch.pipeline_delay = xoff_engine::Time::from_ns(pipeline);
        let none = crate::common::scheme("none", serde_json::json!({}), xoff_engine::Time::from_us(1));
        let line = crate::common::star(&[0, 1]);
        let flows = vec![crate::common::flow(0, 1, 952)];
        let mut sim = crate::common::simulate(line, settings, none, flows, Default::default(), None);
        sim.run(&mut |_| true).expect("a run");
        let expected = xoff_engine::Time::from_ns(3 * 1_080 + 3 * 1_004 + more);
        assert_eq!(sim.records().outcomes()[0].fct, Some(expected), "{pipeline} ns");
    }
}
