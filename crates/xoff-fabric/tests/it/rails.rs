//! Networks of several NICs a host: rails, and NICs with two ports (Alibaba HPN); and tiers with less capacity than the one below.

use serde_json::json;
use xoff_fabric::ids::NodeId;
use xoff_fabric::network::Flow;
use xoff_fabric::routing::{Ecmp, PathChoice, Router, Routing};
use xoff_fabric::topology::{AnyTopology, Topology};

use crate::dragonfly::{built, carried, counts, names, offer, settings};

/// The path between two hosts' NICs of one number.
fn path(t: &Topology, from: u32, to: u32, nic: u32) -> Vec<String> {
    let router = Router::new(t, &Routing::default(), 1).expect("routes");
    let (a, b) = router.ends(NodeId(from), NodeId(to), nic).expect("a NIC");
    let mut path = Vec::new();
    router.path_between(a, b, 0, &mut path).expect("a path");
    names(t, &path)
}

#[test]
fn a_rail_stays_on_its_leaf_inside_of_a_group() {
    // 2 groups of 4 hosts with 8 NICs: 8 x 8 links to 16 leaves. With spines of each rail 8 x 4 of them, with shared ones 4; each leaf
    // has a link to 4 either way.
    let own = built("rail_optimized", json!({}));
    let shared = built("rail_optimized", json!({ "spine": "shared" }));
    assert_eq!((counts(&own), counts(&shared)), ((8, 48, 128), (8, 20, 128)));
    for t in [&own, &shared] {
        assert_eq!(path(t, 0, 3, 5), ["host0->rail5leaf0", "rail5leaf0->host3"]);
        let across = path(t, 0, 4, 5);
        assert_eq!((across.len(), across[3].as_str()), (4, "rail5leaf1->host4"));
    }
    assert!(path(&own, 0, 4, 5)[1].starts_with("rail5leaf0->rail5spine"));
    assert!(path(&shared, 0, 4, 5)[1].starts_with("rail5leaf0->spine"));
    // Without spines there are rails only.
    let none = built("rail_optimized", json!({ "spine": "none", "groups": 1 }));
    assert_eq!(counts(&none), (4, 8, 32));
    assert_eq!(path(&none, 0, 3, 7), ["host0->rail7leaf0", "rail7leaf0->host3"]);
    let error = AnyTopology::read("rail_optimized", json!({ "spine": "none" }))
        .expect("known")
        .expect("valid")
        .build();
    assert_eq!(error.expect_err("two groups").to_string(), "`groups` is 2: expected at most 1");
}

#[test]
fn the_two_ports_of_a_nic_lead_to_two_switches_and_planes() {
    // 2 segments of 4 hosts with 2 NICs of 2 ports: 8 x 4 links to 8 switches, each linked with the 4 aggregation switches of
    // its plane.
    let two = built("hpn", json!({}));
    assert_eq!(counts(&two), (8, 8 + 8, 32 + 32));
    // NIC 3 is port 1 of rail 1, of plane 1.
    let way = path(&two, 0, 5, 3);
    assert_eq!((way[0].as_str(), way[3].as_str()), ("host0->s0r1t1", "s1r1t1->host5"));
    assert!(way[1].starts_with("s0r1t1->p1agg"), "{way:?}");
    // With one plane all switches have the same 4.
    let one = built("hpn", json!({ "dual_plane": false }));
    assert_eq!(counts(&one), (8, 8 + 4, 32 + 32));
    assert!(path(&one, 0, 5, 3)[1].starts_with("s0r1t1->agg"));
    // Inside of a segment a rail stays on its switch.
    assert_eq!(path(&two, 0, 1, 2), ["host0->s0r1t0", "s0r1t0->host1"]);
    // 32 rails make 64 NICs, and 33 too many.
    let many = AnyTopology::read("hpn", json!({ "rails": 33 })).expect("known").expect("valid").build();
    assert!(many.expect_err("66 NICs").to_string().ends_with("expected at most 64"));
}

#[test]
fn an_oversubscribed_core_carries_its_share() {
    // k = 4 with one core switch behind each of 2 aggregation switches: 16 hosts, 8 + 8 + 2 switches, 16 + 16 + 8 links. A pod's 4
    // hosts have 2 links out of it: half a line each, if packets go by both alike.
    let t = built("fat_tree", json!({ "k": 4, "cores_per_agg": 1 }));
    assert_eq!(counts(&t), (16, 18, 40));
    let spray = Routing::Ecmp(Ecmp { choice: PathChoice::PerPacket, ..Ecmp::default() });
    let flows = |offered| -> Vec<Flow> { (0..16).map(|h| offer(h, (h + 4) % 16, offered)).collect() };
    let share = carried(&t, &spray, settings(1), flows(0.44));
    assert!((share - 0.44).abs() < 0.02, "{share}");
    let share = carried(&t, &spray, settings(1), flows(0.9));
    assert!((0.44..0.5).contains(&share), "{share}");
    // Links of the core at twice the rate make up for it.
    let faster = built("fat_tree", json!({ "k": 4, "cores_per_agg": 1, "core_rate": "200Gbps" }));
    let share = carried(&faster, &spray, settings(1), flows(0.8));
    assert!((0.76..0.8).contains(&share), "{share}");
}
