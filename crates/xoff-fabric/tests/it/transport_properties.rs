//! What holds for every transport and choice of paths, on any small network: each byte is delivered once, packets are
//! conserved, every message completes, and the number of threads changes nothing.

use crate::common::flow;
use proptest::prelude::*;
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::NodeId;
use xoff_fabric::routing::{Ecmp, PathChoice, Router, Routing};
use xoff_fabric::settings::{
    Cbfc, FlowControl, Forwarding, LinkCredits, Pfc, Queueing, Settings, Switch, Transport,
};
use xoff_fabric::topology::{Link, Node, NodeKind, Topology};
use xoff_fabric::{Cut, Flow, Network, Recording, Schedule, Simulation, network_env};
use xoff_schemes::AnyScheme;
use xoff_schemes::detector::AnyDetector;

/// Up to three leaves with hosts and up to three spines, each leaf with one or two links to each spine, whose rates and delays
/// differ; messages between the hosts, of which some share a connection.
#[derive(Clone, Debug)]
struct Case {
    topology: Topology,
    settings: Settings,
    routing: Routing,
    flows: Vec<Flow>,
    connections: Vec<Option<u32>>,
}

fn leaf_spine(leaves: u32, spines: u32, links: u32, rates: &[u64], delays: &[u64]) -> Topology {
    let hosts = 2 * leaves;
    let node = |name: &str, number: u32, kind, tier| Node { name: format!("{name}{number}"), kind, tier };
    let nodes = (0..hosts)
        .map(|h| node("h", h, NodeKind::Host, 0))
        .chain((0..leaves).map(|l| node("leaf", l, NodeKind::Switch, 1)))
        .chain((0..spines).map(|s| node("spine", s, NodeKind::Switch, 2)))
        .collect();
    let access = (0..hosts).map(|h| (h, hosts + h / 2));
    let fabric = (0..leaves).flat_map(move |l| (0..spines).map(move |s| (hosts + l, hosts + leaves + s)));
    let ends = access.chain(fabric.flat_map(|pair| std::iter::repeat_n(pair, links as usize)));
    let link = |(number, (a, b)): (usize, (u32, u32))| {
        let (rate, delay) =
            (Rate::from_gbps(rates[number % rates.len()]), Time(delays[number % delays.len()]));
        Link { a: NodeId(a), b: NodeId(b), rate_ab: rate, rate_ba: rate, delay_ab: delay, delay_ba: delay }
    };
    Topology { nodes, links: ends.enumerate().map(link).collect(), ..Topology::default() }
}

fn cases() -> impl Strategy<Value = Case> {
    let network = (
        1u32..=3,
        1u32..=3,
        1u32..=2,
        prop::collection::vec(prop::sample::select(vec![25u64, 40, 100]), 7),
        prop::collection::vec(prop::sample::select(vec![100_000u64, 333_333, 1_000_000, 4_000_000]), 5),
    );
    let messages =
        prop::collection::vec((0u32..6, 1u32..6, 1u64..60_000, 0u64..30, prop::option::of(0u32..2)), 1..10);
    let transport =
        prop::sample::select(vec![Transport::GoBackN, Transport::SelectiveRepeat, Transport::Unordered]);
    let choice =
        prop::sample::select(vec![PathChoice::PerConnection, PathChoice::PerPacket, PathChoice::Adaptive]);
    let controls = vec![
        FlowControl::Pfc(Pfc { xoff: Some(Bytes(20_000)), ..Pfc::default() }),
        FlowControl::Cbfc(Cbfc { update_period: Time::from_us(20), ..Cbfc::default() }),
        FlowControl::Credit(LinkCredits::default()),
    ];
    let ways = vec![
        None,
        Some((Queueing::VirtualOutput, Forwarding::CutThrough)),
        Some((Queueing::Output, Forwarding::StoreAndForward)),
    ];
    // Lossless, or with a memory of some packets.
    let lossy = prop::option::of(8_000u64..40_000);
    let settings =
        (prop::sample::select(controls), prop::sample::select(ways), lossy, 1u32..4, any::<bool>());
    (network, messages, (transport, choice), settings).prop_map(|(network, messages, choices, settings)| {
        let (leaves, spines, links, rates, delays) = network;
        let topology = leaf_spine(leaves, spines, links, &rates, &delays);
        let (flow_control, way, lossy, ack_every, bdp_cap) = settings;
        let hosts = 2 * leaves;
        let mut messages: Vec<(Flow, Option<u32>)> = messages
            .into_iter()
            .map(|(src, hop, size, start, connection)| {
                let src = src % hosts;
                let dst = (src + 1 + hop % (hosts - 1)) % hosts;
                (Flow { start: Time::from_us(start), ..flow(src, dst, size) }, connection)
            })
            .collect();
        messages.sort_by_key(|(flow, _)| flow.start);
        let (flows, connections): (Vec<Flow>, Vec<_>) = messages.into_iter().unzip();
        let (transport, choice) = choices;
        let mut all = Settings { flow_control, ..Settings::default() };
        if let Some((queueing, forwarding)) = way {
            all.switch =
                Switch { queueing: Some(queueing), forwarding: Some(forwarding), ..Switch::default() };
        }
        all.host.transport = transport;
        all.host.bdp_cap = bdp_cap && transport != Transport::GoBackN;
        all.host.ack_every = ack_every;
        if let Some(buffer) = lossy {
            (all.flow_control, all.lossy, all.switch.buffer) = (FlowControl::None, true, Some(Bytes(buffer)));
        }
        // What is sent again before all that is under way can have passed the slowest link may meet a full memory each time.
        let bytes: u64 = flows.iter().filter_map(|f| f.size.bytes()).sum();
        all.host.retransmit_timeout = Rate::from_gbps(25).time_for(bytes * 11 / 10) + Time::from_us(60);
        all.host.nack_interval = Time::from_us(20);
        let routing = Routing::Ecmp(Ecmp { choice, ..Ecmp::default() });
        Case { topology, settings: all, routing, flows, connections }
    })
}

fn network(case: &Case, name: &str) -> Network {
    let scheme = AnyScheme::read(name, json!({})).expect("known").expect("valid");
    let router = Router::new(&case.topology, &case.routing, 1).expect("routes");
    let env = network_env(&case.topology, &router, &case.settings, &scheme.signals()).expect("connected");
    let schedule = Schedule { connections: case.connections.clone(), ..Schedule::default() };
    let (settings, flows) = (case.settings.clone(), case.flows.clone());
    let net = Network::along(
        case.topology.clone(),
        &router,
        env,
        settings,
        scheme.resolve(&env),
        flows,
        schedule,
        1,
    );
    net.expect("a network")
}

/// Runs on so many threads for a time.
fn run(case: &Case, name: &str, threads: usize, time: Time) -> Simulation {
    let net = network(case, name);
    let red = json!({ "k_min": "5KB", "k_max": "20KB", "p_max": 0.5 });
    let red = AnyDetector::read("red", red).expect("known").expect("valid");
    let detector = net.signals.ecn.then_some(&red);
    let cut = Cut::into(&net, threads, None);
    let recording = Recording { breakdown: true, marks: true, pauses: true, ..Recording::default() };
    let mut sim = Simulation::cut(net, cut, detector, recording, Some(time));
    sim.run_to_duration();
    sim.run(&mut |_| true).expect("no loss but where it is allowed");
    sim
}

/// Schemes of rates, of windows, with marks, round-trip times, telemetry and messages of switches.
const SCHEMES: [&str; 6] = ["none", "dcqcn", "dctcp", "swift", "hpcc", "rocc"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_is_delivered_once(case in cases(), scheme in prop::sample::select(SCHEMES.to_vec())) {
        // Long enough for every message, and for what is on its way after the last.
        let sim = run(&case, scheme, 1, Time::from_ms(20));
        let total: u64 = case.flows.iter().filter_map(|f| f.size.bytes()).sum();
        prop_assert_eq!(sim.counters().delivered_bytes, total);
        let payload = sim.network().wire.payload;
        let in_order = matches!(&case.routing, Routing::Ecmp(Ecmp { choice: PathChoice::PerConnection, .. }));
        let once = !case.settings.lossy && (in_order || case.settings.host.transport == Transport::Unordered);
        let mut sums = vec![Time::ZERO; case.flows.len()];
        for row in &sim.records().breakdown {
            sums[row.flow.index()] += row.time;
        }
        for ((flow, outcome), sum) in case.flows.iter().zip(&sim.records().outcomes()).zip(sums) {
            let size = flow.size.bytes().unwrap_or(0);
            prop_assert_eq!(outcome.fct, Some(sum), "{} of {} B: the parts of its time", scheme, size);
            prop_assert_eq!(outcome.acked_bytes, size);
            let again = outcome.packets_sent - size.div_ceil(payload);
            prop_assert!(again * payload >= outcome.retransmitted_bytes);
            prop_assert!(outcome.retransmitted_bytes >= again.saturating_sub(1).min(1));
            prop_assert!(!once || again == 0, "nothing is lost or asked for");
        }
        prop_assert_eq!((sim.open_receptions(), sim.buffered_bytes()), (0, (0, 0)));
        if !matches!(case.settings.flow_control, FlowControl::Cbfc(_)) {
            // Each packet that was put on a wire has arrived, and nothing is under way. Updates of credits never end.
            prop_assert_eq!(sim.packets_in_flight(), 0);
            let sent: u64 = case.topology.port_ids().map(|port| sim.port(port).tx_packets).sum();
            let pauses: u64 = sim.records().totals.pause_frames.iter().sum();
            prop_assert_eq!(sim.counters().packet_hops, sent);
            prop_assert!(pauses <= sent);
        }
        for port in case.topology.port_ids() {
            if let Some((sending, receiving)) = sim.credits(port, 0) {
                prop_assert_eq!((sending.sent(), receiving.occupied()), (receiving.received(), 0));
            }
        }
        prop_assert_eq!(sim.records().totals.drops.iter().sum::<u64>(), sim.counters().drops);
    }

    #[test]
    fn threads_change_nothing(case in cases(), scheme in prop::sample::select(SCHEMES.to_vec())) {
        let time = Time::from_us(400); // most of the messages, and what is sent again
        let (one, three) = (run(&case, scheme, 1, time), run(&case, scheme, 3, time));
        prop_assert_eq!(one.counters(), three.counters());
        let (a, b) = (one.records(), three.records());
        prop_assert_eq!((&a.flows, &a.totals.drops, &a.marks), (&b.flows, &b.totals.drops, &b.marks));
        prop_assert_eq!((&a.pauses, &a.breakdown, a.totals.cnms_sent), (&b.pauses, &b.breakdown, b.totals.cnms_sent));
    }
}
