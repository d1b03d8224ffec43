//! Paths chosen by packet: what collisions cost and spraying saves, what each transport makes of packets that overtake each
//! other, and that flow control, base RTT and ideal FCT hold for it.

use crate::common::{chain, flow};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, NodeId};
use xoff_fabric::network::Flow;
use xoff_fabric::routing::{Ecmp, PathChoice, Router, Routing};
use xoff_fabric::settings::{
    Cbfc, FlowControl, Forwarding, LinkCredits, Pfc, Queueing, Settings, Switch, Transport,
};
use xoff_fabric::topology::{AnyTopology, Link, Topology};
use xoff_fabric::{BuildError, Network, Recording, Schedule, Simulation, Stop, network_env};
use xoff_schemes::AnyScheme;
use xoff_schemes::detector::AnyDetector;

const CHOICES: [PathChoice; 3] = [PathChoice::PerConnection, PathChoice::PerPacket, PathChoice::Adaptive];

fn ecmp(choice: PathChoice) -> Routing {
    Routing::Ecmp(Ecmp { choice, ..Ecmp::default() })
}

/// Sixteen hosts at 100 Gbps, four switches at the top: between two pods there are four paths.
fn fat_tree() -> Topology {
    let topology = AnyTopology::read("fat_tree", json!({"k": 4, "rate": "100Gbps", "delay": "500ns"}));
    topology.expect("known").expect("valid").build().expect("a fat-tree")
}

/// Each host sends to the one half of the network further on: every flow crosses the top.
fn permutation(size: u64) -> Vec<Flow> {
    (0..16).map(|src| flow(src, (src + 8) % 16, size)).collect()
}

fn pfc() -> FlowControl {
    FlowControl::Pfc(Pfc { xoff: Some(Bytes(200_000)), ..Pfc::default() })
}

fn with_transport(transport: Transport) -> Settings {
    let mut settings = Settings { flow_control: pfc(), ..Settings::default() };
    settings.host.transport = transport;
    settings
}

fn network(
    topology: Topology,
    choice: PathChoice,
    settings: Settings,
    name: &str,
    flows: Vec<Flow>,
) -> Result<Network, BuildError> {
    let router = Router::new(&topology, &ecmp(choice), 1)?;
    let scheme = AnyScheme::read(name, json!({})).expect("known").expect("valid");
    let env = network_env(&topology, &router, &settings, &scheme.signals())?;
    let scheme = scheme.resolve(&env);
    Network::build(topology, &ecmp(choice), settings, scheme, flows, 1)
}

/// Runs flows of the fat-tree to their end.
fn run(choice: PathChoice, settings: Settings, name: &str, flows: Vec<Flow>) -> Simulation {
    let net = network(fat_tree(), choice, settings, name, flows).expect("a network");
    let red = json!({ "k_min": "100KB", "k_max": "400KB", "p_max": 0.2 });
    let red = AnyDetector::read("red", red).expect("known").expect("valid");
    let detector = net.signals.ecn.then_some(&red);
    let mut sim = Simulation::new(net, detector, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone), "{name} {choice:?}");
    sim
}

fn worst_slowdown(sim: &Simulation) -> f64 {
    let outcomes = sim.records().outcomes();
    let flows = outcomes.iter().enumerate();
    let slowdown = |(flow, outcome): (usize, &xoff_fabric::observe::records::FlowOutcome)| {
        let ideal = sim.network().ideal_fct(FlowId::at(flow)).expect("finite");
        outcome.fct.expect("complete").0 as f64 / ideal.0 as f64
    };
    flows.map(slowdown).fold(0.0, f64::max)
}

/// The maximum number of flows with one link on their paths.
fn collisions(net: &Network) -> u64 {
    let mut flows = vec![0; net.topology.ports() as usize];
    for flow in FlowId::all(net.flows.len()) {
        net.data_path(flow).iter().for_each(|&port| flows[port.index()] += 1);
    }
    flows.into_iter().max().unwrap_or(0)
}

#[test]
fn collisions_cost_a_flow_its_share_and_spraying_none() {
    // 8 MB are 5,495 packets of 1456 B, 8,340,690 B on the wire with their 62 B of headers, 667.3 us at 100 Gbps. Where k
    // flows share a link, the last of them is done when the link has carried all of k x 8 MB; alone a flow takes 667.3 us and
    // 6 links' propagation there and back of 6 us and less than 1 us of frames: a slowdown of k x 667.3 / 674.3 at the best.
    // Sprayed, every link carries exactly what its hosts send: the fat-tree has room for all, and random choices only make
    // queues of some tens of packets at its links, a few percent of the 5,495.
    for name in ["none", "dcqcn", "hpcc", "swift"] {
        let worst = CHOICES.map(|choice| {
            let sim = run(choice, with_transport(Transport::Unordered), name, permutation(8_000_000));
            assert!(sim.records().outcomes().iter().all(|f| f.retransmitted_bytes == 0));
            if choice == PathChoice::PerConnection {
                let shared = collisions(sim.network());
                assert!(shared >= 2, "a hash of 16 flows onto 16 links");
                assert!(worst_slowdown(&sim) > shared as f64 * 667.3 / 674.3, "{name}");
            }
            worst_slowdown(&sim)
        });
        println!("{name}: worst slowdown {worst:.3?} for {CHOICES:?}");
        let [_, sprayed, adaptive] = worst;
        if name == "none" {
            assert!(sprayed < 1.06 && adaptive < 1.06, "{worst:?}");
        }
        assert!(sprayed < worst[0] && adaptive < worst[0], "{name}: {worst:?}");
    }
}

#[test]
fn packets_that_overtake_each_other_are_sent_again_as_the_transport_wants_it() {
    // Nothing is lost. Go-back-N refuses what comes too early and sends it again with all that follows; selective repeat keeps
    // it, and sends what was overtaken again for nothing; unordered delivery takes everything as it comes.
    for choice in [PathChoice::PerPacket, PathChoice::Adaptive] {
        let again = [Transport::GoBackN, Transport::SelectiveRepeat, Transport::Unordered].map(|transport| {
            let sim = run(choice, with_transport(transport), "none", permutation(1_000_000));
            assert_eq!(sim.counters().delivered_bytes, 16_000_000, "each byte once");
            assert_eq!(sim.counters().drops, 0);
            sim.records().outcomes().iter().map(|flow| flow.retransmitted_bytes).sum::<u64>()
        });
        println!("{choice:?}: {again:?} B sent again");
        assert!(again[0] > again[1] && again[1] > again[2], "{choice:?}: {again:?}");
        assert_eq!(again[2], 0);
    }
    // On one path per connection no transport has anything to send again.
    for transport in [Transport::GoBackN, Transport::SelectiveRepeat, Transport::Unordered] {
        let sim = run(PathChoice::PerConnection, with_transport(transport), "none", permutation(100_000));
        assert!(sim.records().outcomes().iter().all(|flow| flow.retransmitted_bytes == 0));
    }
}

#[test]
fn credits_are_conserved_and_come_back_whatever_the_path() {
    // Each flow crosses the tree upwards and then downwards, so that links cannot wait for each other in a circle, and the
    // runs end. In the end each link's receiver has got what its sender sent, and holds nothing.
    let cbfc = FlowControl::Cbfc(Cbfc { update_period: Time::from_us(3), ..Cbfc::default() });
    for flow_control in [cbfc, FlowControl::Credit(LinkCredits::default()), pfc()] {
        for (queueing, forwarding) in [
            (Queueing::VirtualOutput, Forwarding::CutThrough),
            (Queueing::VirtualOutput, Forwarding::StoreAndForward),
            (Queueing::Output, Forwarding::CutThrough),
        ] {
            for choice in [PathChoice::PerPacket, PathChoice::Adaptive] {
                let mut settings = with_transport(Transport::Unordered);
                settings.flow_control = flow_control.clone();
                settings.switch =
                    Switch { queueing: Some(queueing), forwarding: Some(forwarding), ..settings.switch };
                let net = network(fat_tree(), choice, settings, "none", permutation(300_000));
                let mut sim = Simulation::new(
                    net.expect("a network"),
                    None,
                    Recording::default(),
                    Some(Time::from_ms(1)),
                );
                sim.run_to_duration();
                assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
                assert!(sim.records().outcomes().iter().all(|f| f.fct.is_some()), "{choice:?}");
                assert!(
                    worst_slowdown(&sim) < 1.5,
                    "{} {choice:?} {}",
                    flow_control.name(),
                    worst_slowdown(&sim)
                );
                assert_eq!((sim.buffered_bytes(), sim.open_receptions()), ((0, 0), 0));
                for port in sim.network().topology.port_ids() {
                    if let Some((sending, receiving)) = sim.credits(port, 0) {
                        assert_eq!(sending.sent(), receiving.received());
                        assert_eq!((receiving.occupied(), sending.used()), (0, 0));
                    }
                }
            }
        }
    }
}

#[test]
fn a_fat_tree_has_no_circle_of_links_whatever_the_path() {
    for choice in CHOICES {
        let router = Router::new(fat_tree(), &ecmp(choice), 1).expect("routes");
        assert!(router.dependencies(1).expect("paths").cycle().is_empty(), "{choice:?}");
    }
    // In a ring of four switches the two ways to the opposite one close a circle in either direction, of four links.
    let mut ring = chain(4, &[0, 1, 2, 3], Rate::from_gbps(100), Time::from_us(1));
    ring.links.push(Link { a: NodeId(7), b: NodeId(4), ..ring.links[4] });
    let router = Router::new(&ring, &ecmp(PathChoice::PerPacket), 1).expect("routes");
    assert_eq!(router.dependencies(1).expect("paths").cycle().len(), 4);
}

#[test]
fn a_flow_alone_is_as_fast_on_all_paths_as_on_one() {
    // Its packets never meet, since all paths are alike.
    for choice in CHOICES {
        for size in [1, 1456, 300_000] {
            let sim = run(choice, with_transport(Transport::Unordered), "none", vec![flow(0, 15, size)]);
            assert_eq!(
                sim.records().outcomes()[0].fct,
                sim.network().ideal_fct(FlowId(0)),
                "{choice:?} {size}"
            );
        }
    }
}

/// Two switches with a host each and two links between them, 100 Gbps; a link's delay is `there` one way, `back` the other.
fn two_links(delays: [(u64, u64); 2]) -> Topology {
    let mut topology = chain(2, &[0, 1], Rate::from_gbps(100), Time::from_us(1));
    topology.links.push(topology.links[2]);
    for (link, (there, back)) in topology.links[2..].iter_mut().zip(delays) {
        (link.delay_ab, link.delay_ba) = (Time::from_us(there), Time::from_us(back));
    }
    topology
}

#[test]
fn the_base_rtt_is_that_of_the_slowest_way_there_and_the_slowest_back() {
    // One link is slow there, the other one back. A connection has 1 + 5 us on either; its packets may take 5 us there, and
    // their ACKs 5 us back on the other link.
    let base = |choice| {
        let settings = with_transport(Transport::Unordered);
        let net = network(two_links([(1, 5), (5, 1)]), choice, settings, "none", vec![flow(0, 1, 1_000)]);
        net.expect("a network").env.base_rtt
    };
    for choice in [PathChoice::PerPacket, PathChoice::Adaptive] {
        assert_eq!(base(choice), base(PathChoice::PerConnection) + Time::from_us(4));
    }
}

#[test]
fn packets_reach_a_host_on_the_other_end_of_their_senders_link() {
    let link = |rate| Link {
        a: NodeId(0),
        b: NodeId(1),
        rate_ab: rate,
        rate_ba: rate,
        delay_ab: Time::from_us(1),
        delay_ba: Time::from_us(1),
    };
    let mut topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    topology.nodes.truncate(2);
    topology.links = vec![link(Rate::from_gbps(100))];
    for choice in CHOICES {
        let settings = with_transport(Transport::Unordered);
        let net = network(topology.clone(), choice, settings, "none", vec![flow(0, 1, 10_000)]);
        let mut sim = Simulation::new(net.expect("a network"), None, Recording::default(), None);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        assert_eq!(sim.records().outcomes()[0].fct, sim.network().ideal_fct(FlowId(0)));
    }
}

#[test]
fn what_cuts_through_to_a_faster_link_never_runs_out_of_bits() {
    // Hosts at 100 Gbps, two links of 400 Gbps between the switches. A frame of 1518 B begins on such a link when the rest of it
    // comes in time: 121.44 - 30.36 = 91.08 ns after it began on the host's. Were it to begin after its header, it would be
    // at the other switch before its last bit is at the first one, and the flow faster than the ideal.
    let mut topology = two_links([(1, 1), (1, 1)]);
    for link in &mut topology.links[2..] {
        (link.rate_ab, link.rate_ba) = (Rate::from_gbps(400), Rate::from_gbps(400));
    }
    for choice in CHOICES {
        let mut settings = with_transport(Transport::Unordered);
        settings.switch.forwarding = Some(Forwarding::CutThrough);
        let net = network(topology.clone(), choice, settings, "none", vec![flow(0, 1, 100_000)]);
        let mut sim = Simulation::new(net.expect("a network"), None, Recording::default(), None);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        assert_eq!(sim.records().outcomes()[0].fct, sim.network().ideal_fct(FlowId(0)), "{choice:?}");
    }
}

#[test]
fn schemes_that_take_a_flow_to_have_one_path_exclude_a_choice_by_packet() {
    for (name, reason) in [("fncc", "reads the load of its data's path"), ("srcc", "keep one path")] {
        for choice in [PathChoice::PerPacket, PathChoice::Adaptive] {
            let built = network(fat_tree(), choice, with_transport(Transport::Unordered), name, vec![]);
            let Err(error @ BuildError::Choice(_)) = built else { panic!("{name} {choice:?}") };
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}

#[test]
fn flowlets_take_paths_of_their_own_and_keep_their_order() {
    // A connection that sends 20 messages of 10 packets, 100 us apart, over four paths: with a gap of 50 us each message is a
    // flowlet, which goes by one path, and 20 messages leave a path out with a probability of at most 4 x 0.75^20 = 0.013. With a
    // gap of 1 ms all are one flowlet.
    let run = |connections: &[Option<u32>], gap: u64| {
        let routing =
            Ecmp { choice: PathChoice::Flowlet, flowlet_gap: Some(Time::from_us(gap)), ..Ecmp::default() };
        let flows: Vec<Flow> =
            (0..20).map(|n| Flow { start: Time::from_us(100 * n), ..flow(0, 15, 14_560) }).collect();
        let schedule = Schedule { connections: connections.to_vec(), ..Schedule::default() };
        let routing = Routing::Ecmp(routing);
        let router = Router::new(fat_tree(), &routing, 1).expect("routes");
        let scheme = AnyScheme::read("none", json!({})).expect("known").expect("valid");
        let settings = with_transport(Transport::Unordered);
        let env = network_env(&fat_tree(), &router, &settings, &scheme.signals()).expect("paths");
        let net = Network::along(fat_tree(), &router, env, settings, scheme, flows, schedule, 1)
            .expect("a network");
        let mut sim =
            Simulation::new(net, None, Recording { reordering: true, ..Recording::default() }, None);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        let t = sim.network().topology.clone();
        let cores = t.port_ids().filter(|&p| {
            ["agg0->", "agg1->"].iter().any(|agg| t.port_name(p).starts_with(agg))
                && t.port_name(p).contains("->core")
        });
        let used = cores.filter(|&p| sim.port(p).tx_packets >= 10).count();
        (used, sim.records().reordering[0])
    };
    let (paths, order) = run(&[Some(0); 20], 50);
    assert_eq!((paths, order.packets, order.reordered), (4, 200, 0));
    let (paths, order) = run(&[Some(0); 20], 1_000);
    assert_eq!((paths, order.reordered, order.buffer), (1, 0, 0));
    // On connections of their own each message is a flowlet too, whatever the gap, and draws its path from its connection's
    // own random numbers.
    let (paths, order) = run(&[], 1_000);
    assert_eq!((paths, order.reordered), (4, 0));
}

#[test]
fn sprayed_packets_overtake_each_other_by_what_the_record_says() {
    // Between two switches two links of one rate and delays that differ by 4 us, 33 frames of 121.44 ns at 100 Gbps. The first packet that
    // was sent after one on the long link comes a frame later, and until that one comes, 32 frames later, a packet comes by one
    // of the links in each frame's time. Of these only the ones by the short link, every second, wait for it.
    let t = two_links([(1, 1), (5, 5)]);
    let net = network(
        t,
        PathChoice::PerPacket,
        with_transport(Transport::Unordered),
        "none",
        vec![flow(0, 1, 2_912_000)],
    );
    let recording = Recording { reordering: true, ..Recording::default() };
    let mut sim = Simulation::new(net.expect("a network"), None, recording, None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    let order = sim.records().reordering[0];
    assert_eq!(order.packets, 2_000);
    assert!(order.reordered.abs_diff(1_000) < 20, "{order:?}");
    let mean = order.extents as f64 / order.reordered as f64;
    assert!((30.0..33.0).contains(&mean) && order.max_extent <= 34, "{order:?}");
    assert!((16 * 1_456..=18 * 1_456).contains(&order.buffer), "{order:?}");
    assert!(order.max_late <= Time::from_us(4) + Time::from_ns(300), "{order:?}");
}
