//! Dragonflies: their size, their paths and lanes, and how much they carry under each routing.

use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, NodeId};
use xoff_fabric::network::Flow;
use xoff_fabric::routing::{Dependencies, Dragonfly, DragonflyVariant, Router, Routing};
use xoff_fabric::settings::{FlowControl, Pfc, Settings, Transport};
use xoff_fabric::topology::{AnyTopology, NodeKind, Topology};
use xoff_fabric::{Network, Recording, Simulation};
use xoff_schemes::AnyScheme;

const VARIANTS: [DragonflyVariant; 4] =
    [DragonflyVariant::Min, DragonflyVariant::Valiant, DragonflyVariant::UgalL, DragonflyVariant::UgalG];

fn built(name: &str, params: serde_json::Value) -> Topology {
    AnyTopology::read(name, params).expect("known").expect("valid").build().expect("a network")
}

/// The example of Kim et al., Fig. 5: p = 2, a = 4, h = 2, so 9 groups, 36 routers and 72 hosts.
fn example() -> Topology {
    built("dragonfly", json!({}))
}

fn routing(variant: DragonflyVariant) -> Routing {
    Routing::Dragonfly(Dragonfly { variant, ..Dragonfly::default() })
}

fn names(t: &Topology, path: &[xoff_fabric::ids::PortId]) -> Vec<String> {
    path.iter().map(|&port| t.port_name(port)).collect()
}

/// The share of their line rate that hosts get of `offered`, if host h sends to `to(h)` for 400 us.
fn carried(t: &Topology, variant: DragonflyVariant, offered: f64, to: impl Fn(u32) -> u32) -> f64 {
    let hosts = t.hosts().len() as u32;
    let mut settings = Settings {
        flow_control: FlowControl::Pfc(Pfc { xoff: Some(Bytes(60_000)), ..Pfc::default() }),
        ..Settings::default()
    };
    settings.switch.priorities = routing(variant).lanes();
    settings.host.transport = Transport::Unordered;
    let wire = xoff_fabric::network::WireSizes::new(&settings, &Default::default());
    let share = wire.payload as f64 / wire.frame() as f64;
    let stop = Time::from_us(400);
    let flow = |src: u32| Flow {
        src: NodeId(src),
        dst: NodeId(to(src)),
        size: None,
        start: Time::ZERO,
        stop: Some(stop),
        source_rate: Some(Rate((offered * share * 100e9) as u64)),
        priority: 0,
    };
    let scheme = AnyScheme::read("none", json!({})).expect("known").expect("valid");
    let flows: Vec<Flow> = (0..hosts).filter(|&h| to(h) != h).map(flow).collect();
    let net = Network::build(t.clone(), &routing(variant), settings, scheme, flows, 1).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), Some(stop));
    sim.run(&mut |_| true).expect("no loss");
    assert!(sim.deadlock().is_empty(), "{variant:?}");
    let delivered = sim.counters().delivered_bytes as f64;
    delivered / share / (f64::from(hosts) * 100e9 / 8.0 * stop.secs())
}

#[test]
fn explore() {
    let t = example();
    for variant in VARIANTS {
        let now = std::time::Instant::now();
        let adv: Vec<f64> =
            [0.1, 0.2, 0.3, 0.4, 0.45, 0.5].map(|o| carried(&t, variant, o, |h| (h + 8) % 72)).to_vec();
        // a fixed random-like permutation
        let uni: Vec<f64> =
            [0.3, 0.5, 0.8, 0.9].map(|o| carried(&t, variant, o, |h| (h * 29 + 17) % 72)).to_vec();
        println!("{variant:?}: {adv:.3?} {uni:.3?} {:?}", now.elapsed());
    }
}

#[test]
fn lanes_break_all_circles_of_links() {
    for t in [example(), built("dragonfly_plus", json!({}))] {
        for variant in VARIANTS {
            let router = Router::new(&t, &routing(variant), 1).expect("a dragonfly");
            let on_lanes = router.dependencies(1).expect("paths");
            assert_eq!(on_lanes.cycle(), [], "{variant:?}");
        }
        let _ = Dependencies::default();
    }
}
