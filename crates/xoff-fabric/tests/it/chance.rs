//! Marks that hang on chance keep fast-forward from skipping packets, by hand: in a queue between RED's thresholds the next packet may
//! be the first that is marked, however many before it were not.
//!
//! Frames of 1,000 B carry 952 B and take 80 ns at 100 Gbps.

use crate::common::{flow, round_packets, scheme, star};
use crate::recall::{one_after_the_other, recalled};
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::network::{Flow, Schedule};
use xoff_fabric::routing::{Ecmp, PathChoice, Routing};
use xoff_fabric::run::fast_forward::{FastForwarded, Held};
use xoff_fabric::settings::{Settings, Transport};
use xoff_fabric::topology::{AnyTopology, Topology};
use xoff_fabric::{Network, Recording, Simulation};
use xoff_schemes::detector::AnyDetector;
use xoff_schemes::detector::red::Red;

/// RED from `k_min` up to 400 KB that hardly ever marks: one packet in 10^9 at 400 KB.
fn red(k_min: u64) -> AnyDetector {
    let (k_min, k_max) = (Some(Bytes(k_min)), Some(Bytes(400_000)));
    Red { k_min, k_max, p_max: 1e-9, ..Red::default() }.into()
}

/// A fast run whose switches mark from `k_min` on.
fn run(topology: Topology, flows: Vec<Flow>, schedule: Schedule, k_min: u64) -> Simulation {
    let net = round_packets(topology, flows, schedule).expect("a network");
    let mut sim = Simulation::new(net, Some(&red(k_min)), Recording::default(), None);
    sim.fast_forward(0.01, 1);
    sim.run(&mut |_| true).expect("no loss");
    sim
}

fn held(all: &FastForwarded) -> bool {
    all.held.iter().any(|(why, _)| *why == Held::Chance)
}

#[test]
fn no_time_is_carried_forward_while_marks_hang_on_chance() {
    // Host 0 fills the link to host 2 for 8.4 ms. The 100 packets that host 1 sends meanwhile stay in the queue for as long: some
    // 100 KB that repeat exactly, with a mark for one of 10^9 packets.
    let flows = vec![flow(0, 2, 100_000_000), flow(1, 2, 95_200)];
    let of = |k_min| run(star(&[0; 3]), flows.clone(), Schedule::default(), k_min);
    let (above, below) = (of(50_000), of(200_000));
    let [above, below] = [&above, &below].map(|sim| sim.forwarded().expect("fast-forwarded"));
    assert!(above.jumps() == 0 && held(above), "{above:?}");
    assert!(below.jumps() > 0 && !held(below), "{below:?}");
}

#[test]
fn messages_whose_marks_hang_on_chance_are_not_recalled() {
    // Host 1's link has 50 Gbps, so that half of each message's 100 packets wait at the switch in the end: 50 KB.
    let mut topology = star(&[0; 2]);
    let link = &mut topology.links[1];
    (link.rate_ab, link.rate_ba) = (Rate::from_gbps(50), Rate::from_gbps(50));
    let count = 10;
    let of = |k_min| {
        let (dependencies, connections) = (one_after_the_other(count), vec![Some(0); count as usize]);
        let schedule = Schedule { dependencies, connections, ..Schedule::default() };
        run(topology.clone(), vec![flow(0, 1, 95_200); count as usize], schedule, k_min)
    };
    // A queue is close to being marked beyond a quarter of the length at which marks begin: 45 KB of 180, and 55 KB of 220.
    assert!(recalled(&of(20_000)).is_empty());
    assert!(recalled(&of(180_000)).is_empty());
    assert_eq!(recalled(&of(220_000)), (3..10).collect::<Vec<_>>());
}

#[test]
fn no_time_is_carried_forward_where_packets_draw_their_ways() {
    // 10 MB from switch to switch by one of two ways: those that are chosen anew for each packet hang on random numbers.
    let of = |choice| {
        let leaf_spine = serde_json::json!({"leaves": 2, "spines": 2, "hosts_per_leaf": 1, "rate": "100Gbps", "delay": "1us"});
        let topology = AnyTopology::read("leaf_spine", leaf_spine).expect("known").expect("valid");
        let routing = Routing::Ecmp(Ecmp { choice, ..Ecmp::default() });
        let mut settings = Settings::default();
        settings.host.transport = Transport::Unordered;
        let none = scheme("none", serde_json::json!({}), Time::ZERO);
        let topology = topology.build().expect("a network of two leaves");
        let hosts = topology.hosts();
        let message = Flow { src: hosts[0], dst: hosts[1], ..flow(0, 1, 10_000_000) };
        let net = Network::build(topology, &routing, settings, none, vec![message], 1);
        let mut sim = Simulation::new(net.expect("a network"), None, Recording::default(), None);
        sim.fast_forward(0.01, 1);
        sim.run(&mut |_| true).expect("no loss");
        sim.forwarded().expect("fast-forwarded").clone()
    };
    let (drawn, fixed) = (of(PathChoice::PerPacket), of(PathChoice::PerConnection));
    assert!(drawn.jumps() == 0 && held(&drawn), "{drawn:?}");
    assert!(fixed.jumps() > 0 && !held(&fixed), "{fixed:?}");
}
