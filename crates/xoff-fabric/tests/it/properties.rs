//! What holds for any small network and traffic: nothing is lost, nothing is out of order, buffers stay in bounds.
//!
//! Beside what is asserted here, these runs pass the fabric's own assertions: one frame on a wire at a time, nothing
//! sent while paused, each flow in order, and integer subtraction that may not go below zero.

use crate::common::{self, chain, flow, simulate};
use proptest::prelude::*;
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, NodeId, PortId};
use xoff_fabric::observe::capture::PacketFilter;
use xoff_fabric::settings::{
    AckClass, Cbfc, Clock, CounterWidth, CreditGranularity, CreditUnit, FlowControl, Forwarding, Host,
    LinkCredits, NicTimer, Order, Pfc, Queueing, Quirks, Scheduling, Settings, Switch,
};
use xoff_fabric::topology::{Link, Topology};
use xoff_fabric::{
    Cut, Flow, Network, Recording, Simulation, network_env, routing::Router, routing::Routing,
};
use xoff_schemes::AnyScheme;
use xoff_schemes::detector::AnyDetector;
use xoff_schemes::throttle::AnyThrottle;

/// Up to three switches in a chain or a triangle, some joined by two links, with hosts here and there, mixed rates,
/// one to eight priorities, flow control by PFC or credits, queues at inputs or outputs, cut-through or not, and flows
/// among them. Three switches cannot deadlock: between two of them each path has
/// one link only.
#[derive(Clone, Debug)]
struct Case {
    topology: Topology,
    settings: Settings,
    flows: Vec<Flow>,
}

/// PFC or credits, some of them too few to keep a link busy.
fn flow_controls() -> impl Strategy<Value = FlowControl> {
    let pfc = (10_000u64..60_000, 64u16..2000).prop_map(|(xoff, quanta)| {
        FlowControl::Pfc(Pfc { xoff: Some(Bytes(xoff)), quanta, ..Pfc::default() })
    });
    let dynamic = (64u16..2000)
        .prop_map(|quanta| FlowControl::Pfc(Pfc { alpha: Some(0.25), quanta, ..Pfc::default() }));
    let buffer = prop::sample::select(vec![None, Some(1_536u64), Some(5_000), Some(40_000), Some(400_000)]);
    // Long periods: the runs are of hundreds of milliseconds.
    let cbfc =
        (buffer, 100u64..400, any::<bool>(), any::<bool>()).prop_map(|(buffer, period, wide, on_change)| {
            FlowControl::Cbfc(Cbfc {
                buffer: buffer.map(Bytes),
                update_period: Time::from_us(period),
                on_change,
                counters: if wide { CounterWidth::Wide } else { CounterWidth::TwelveBit },
                undersized: true,
                ..Cbfc::default()
            })
        });
    let kinds = prop::sample::select(vec![
        (CreditUnit::Packet, CreditGranularity::Packet),
        (CreditUnit::Flit, CreditGranularity::Packet),
        (CreditUnit::Flit, CreditGranularity::Flit),
    ]);
    let credit = (kinds, 96u32..5000).prop_map(|((unit, granularity), credits)| {
        FlowControl::Credit(LinkCredits {
            unit,
            granularity,
            credits: Some(credits),
            undersized: true,
            ..LinkCredits::default()
        })
    });
    prop_oneof![pfc, dynamic, cbfc, credit]
}

fn cases() -> impl Strategy<Value = Case> {
    let hosts =
        (1u32..4).prop_flat_map(|switches| (Just(switches), prop::collection::vec(0..switches, 2..7)));
    let flows = prop::collection::vec((0u32..100, 1u32..100, 1u64..200_000, 0u64..50, 0u8..8), 1..12);
    let rates = prop::collection::vec(prop::sample::select(vec![10u64, 25, 40, 100, 400]), 12);
    // A shorter pause than 64 quanta would end before a refresh that waits for a frame: scenarios refuse it.
    let ways = prop::sample::select(vec![
        (Queueing::Output, Forwarding::StoreAndForward),
        (Queueing::VirtualOutput, Forwarding::StoreAndForward),
        (Queueing::Output, Forwarding::CutThrough),
        (Queueing::VirtualOutput, Forwarding::CutThrough),
    ]);
    let settings = (flow_controls(), any::<bool>(), any::<bool>(), 1u32..5, ways);
    let throttle = prop::sample::select(vec![
        None,
        Some(json!({})),
        Some(json!({"threshold": "fixed", "threshold_enter": 100, "threshold_escape": 100})),
    ]);
    let more = (1u8..=8, any::<bool>(), any::<bool>(), throttle);
    (hosts, flows, rates, settings, more).prop_map(|((switches, hosts), flows, rates, s, more)| {
        let (priorities, triangle, double, throttle) = more;
        let pft = |params| AnyThrottle::read("pft", params).expect("known").expect("valid").resolve();
        let mut topology = chain(switches, &hosts, Rate::from_gbps(100), Time(700_000));
        let (first, trunk) = (hosts.len() as u32, hosts.len());
        if double && switches > 1 {
            topology.links.push(topology.links[trunk]);
        }
        if triangle && switches == 3 {
            topology.links.push(Link { a: NodeId(first), b: NodeId(first + 2), ..topology.links[trunk] });
        }
        for (link, gbps) in topology.links.iter_mut().zip(&rates) {
            (link.rate_ab, link.rate_ba) = (Rate::from_gbps(*gbps), Rate::from_gbps(*gbps));
        }
        let (flow_control, ack_data, strict, ack_every, (queueing, forwarding)) = s;
        let dynamic = matches!(flow_control, FlowControl::Pfc(Pfc { alpha: Some(_), .. }));
        let settings = Settings {
            flow_control,
            throttle: throttle.map(pft),
            switch: Switch {
                priorities,
                scheduling: if strict { Scheduling::Strict } else { Scheduling::RoundRobin },
                buffer: dynamic.then_some(Bytes(4_000_000)),
                queueing: Some(queueing),
                forwarding: Some(forwarding),
                ..Switch::default()
            },
            host: Host {
                ack_every,
                ack_class: if ack_data { AckClass::Data } else { AckClass::Control },
                ..Host::default()
            },
            ..Settings::default()
        };
        let n = hosts.len() as u32;
        let flows = flows.into_iter().map(move |(src, hop, size, start, priority)| {
            let src = src % n;
            let dst = (src + 1 + hop % (n - 1)) % n;
            Flow { start: Time::from_us(start), priority: priority % priorities, ..flow(src, dst, size) }
        });
        let mut flows: Vec<Flow> = flows.collect();
        flows.sort_by_key(|f| f.start);
        Case { topology, settings, flows }
    })
}

fn network(case: &Case, name: &str, seed_of_marking: u64) -> Network {
    let scheme = AnyScheme::read(name, json!({})).expect("known").expect("valid");
    let router = Router::new(&case.topology, &Routing::default(), 1).expect("routes");
    let env = network_env(&case.topology, &router, &case.settings, &scheme.signals()).expect("connected");
    let scheme = scheme.resolve(&env);
    let net = Network::build(
        case.topology.clone(),
        &Routing::default(),
        case.settings.clone(),
        scheme,
        case.flows.clone(),
        seed_of_marking,
    );
    net.expect("a network")
}

/// Switches with `buffer` bytes that lose what does not fit.
fn lose_packets(settings: &mut Settings, buffer: u64) {
    settings.flow_control = FlowControl::None;
    settings.throttle = None;
    settings.switch.buffer = Some(Bytes(buffer));
    settings.lossy = true;
    settings.host.ack_class = AckClass::Control;
}

/// What the ns-3 HPCC simulator does otherwise, of which credits and throttles are no part.
fn as_ns3(settings: &mut Settings) {
    settings.flow_control = FlowControl::Pfc(Pfc { xoff: Some(Bytes(30_000)), ..Pfc::default() });
    settings.throttle = None;
    settings.quirks =
        Quirks { clock: Clock::Ns3, order: Order::Scheduled, nic: NicTimer::Ns3, ..Quirks::default() };
}

fn marking(name: &str) -> AnyDetector {
    let red = json!({ "k_min": "5KB", "k_max": "20KB", "p_max": 0.5 });
    let params = match name {
        "red" => red,
        "np_ecn" => json!({ "rule": "red", "red": red }),
        _ => json!({ "red": red, "max_on": "20us" }),
    };
    AnyDetector::read(name, params).expect("known").expect("valid")
}

fn run(case: &Case, name: &str, seed_of_marking: u64) -> Simulation {
    // Long enough for every flow, and for what is still on its way after the last.
    run_until(case, name, seed_of_marking, Time::from_ms(400))
}

fn run_until(case: &Case, name: &str, seed_of_marking: u64, end: Time) -> Simulation {
    let (net, red) = (network(case, name, seed_of_marking), marking("red"));
    let detector = net.signals.ecn.then_some(&red);
    let mut sim = Simulation::new(net, detector, Recording::default(), Some(end));
    sim.run_to_duration();
    sim.run(&mut |_| true).expect("no loss");
    sim
}

/// Flows whose timers have the same period may send at the same moments without end, so that each fills the memory in which
/// the other's next packet is lost. Those flows must go on sending, and each must be done where it is alone.
fn keep_each_other_out(
    case: &Case,
    scheme: &str,
    sim: &Simulation,
    open: &[usize],
) -> Result<(), TestCaseError> {
    prop_assert!(open.len() > 1, "{}: flow {} is alone and not done", scheme, open[0]);
    let before = run_until(case, scheme, 1, Time::from_ms(390));
    for &i in open {
        let sent = |sim: &Simulation| sim.records().outcomes()[i].packets_sent;
        prop_assert!(sent(&before) < sent(sim), "{}: flow {} has stopped to send", scheme, i);
        let alone = Case { flows: vec![case.flows[i]], ..case.clone() };
        let alone = run(&alone, scheme, 1);
        let outcome = &alone.records().outcomes()[0];
        prop_assert!(outcome.fct.is_some(), "{}: flow {} is done where it is alone", scheme, i);
        prop_assert_eq!(Some(outcome.acked_bytes), case.flows[i].size.bytes());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn packets_and_bytes_are_conserved(case in cases(), scheme in prop::sample::select(AnyScheme::NAMES)) {
        let sim = run(&case, scheme, 1);
        for (flow, outcome) in case.flows.iter().zip(&sim.records().outcomes()) {
            prop_assert!(outcome.fct.is_some(), "{} of {} B is done", scheme, flow.size.bytes().unwrap_or(0));
            prop_assert_eq!(Some(outcome.acked_bytes), flow.size.bytes());
            let packets = flow.size.bytes().unwrap_or(0).div_ceil(sim.network().wire.payload);
            prop_assert_eq!(outcome.packets_sent, packets, "each packet is sent once");
        }
        if !matches!(case.settings.flow_control, FlowControl::Cbfc(_)) {
            // Updates of credits never end.
            prop_assert_eq!(sim.packets_in_flight(), 0);
        }
        prop_assert_eq!(sim.buffered_bytes(), (0, 0));
        prop_assert_eq!(sim.open_receptions(), 0);
        for port in case.topology.port_ids() {
            for priority in 0..case.settings.switch.priorities {
                if let Some((sending, receiving)) = sim.credits(port, priority) {
                    // Everything that was sent has come, and its places and credits are back.
                    prop_assert_eq!(sending.sent(), receiving.received());
                    let most = receiving.limit(CounterWidth::TwelveBit) - receiving.received();
                    prop_assert!(receiving.occupied() == 0 && sending.available() >= most, "{:?} {:?}", sending, receiving);
                }
            }
        }
    }

    #[test]
    fn lossy_networks_deliver_everything(
        case in cases(),
        scheme in prop::sample::select(AnyScheme::NAMES),
        buffer in 10_000u64..100_000,
        timeout_us in 20u64..400,
    ) {
        let mut case = case;
        // ACKs in the data's class can be lost to the same full memory each time: go-back-N may then never end.
        lose_packets(&mut case.settings, buffer);
        // A flow that sends again before all that is under way can have passed the slowest link may send without end, and
        // what its receiver waits for find a full memory each time.
        let slowest = case.topology.links.iter().map(|l| l.rate_ab).min().expect("links");
        let bytes: u64 = case.flows.iter().filter_map(|f| f.size.bytes()).sum();
        case.settings.host.retransmit_timeout =
            slowest.time_for(bytes * 11 / 10) + Time::from_us(timeout_us);
        let sim = run(&case, scheme, 1);
        let open: Vec<usize> = (0..case.flows.len()).filter(|&i| sim.records().outcomes()[i].fct.is_none()).collect();
        if !open.is_empty() {
            return keep_each_other_out(&case, scheme, &sim, &open);
        }
        for (flow, outcome) in case.flows.iter().zip(&sim.records().outcomes()) {
            prop_assert_eq!(Some(outcome.acked_bytes), flow.size.bytes());
        }
        prop_assert_eq!(sim.open_receptions(), 0);
        prop_assert_eq!(sim.packets_in_flight(), 0);
        prop_assert_eq!(sim.buffered_bytes(), (0, 0));
        let drops: u64 = sim.records().totals.drops.iter().sum();
        prop_assert_eq!(drops, sim.counters().drops);
    }

    #[test]
    fn no_flow_beats_its_ideal(case in cases(), scheme in prop::sample::select(AnyScheme::NAMES)) {
        let sim = run(&case, scheme, 1);
        for i in 0..case.flows.len() {
            // Without telemetry in its packets a flow alone can be no slower than with it.
            prop_assert!(sim.records().outcomes()[i].fct >= sim.network().ideal_fct(FlowId::at(i)));
        }
    }

    #[test]
    fn the_parts_of_a_flows_time_sum_to_it_and_recording_them_changes_nothing(
        case in cases(),
        scheme in prop::sample::select(AnyScheme::NAMES),
        way in prop::sample::select(vec!["lossless", "lossy", "ns3"]),
        details in (0u64..900_000, prop::sample::select(vec![0u64, 20]), prop::sample::select(vec![1u64, 400])),
        stop_us in prop::sample::select(vec![7u64, 60, 400_000]),
    ) {
        let mut case = case;
        let (delay, gap, source_gbps) = details;
        case.settings.host.processing_delay = Time(delay);
        case.settings.packets.gap = Bytes(gap);
        if let Some(flow) = case.flows.last_mut() {
            flow.source_rate = Rate::from_gbps(source_gbps);
        }
        match way {
            "lossless" => {}
            "lossy" => lose_packets(&mut case.settings, 20_000),
            _ => as_ns3(&mut case.settings),
        }
        let on = |breakdown: bool| {
            let (net, red) = (network(&case, scheme, 1), marking("red"));
            let detector = net.signals.ecn.then_some(&red);
            let recording = Recording { breakdown, ..Recording::default() };
            let mut sim = Simulation::new(net, detector, recording, Some(Time::from_us(stop_us)));
            sim.run(&mut |_| true).expect("no loss");
            sim
        };
        let (with, without) = (on(true), on(false));
        prop_assert_eq!(with.counters(), without.counters());
        prop_assert_eq!(&with.records().outcomes(), &without.records().outcomes());
        prop_assert!(without.records().breakdown.is_empty());
        let mut sums = vec![Time::ZERO; case.flows.len()];
        for row in &with.records().breakdown {
            prop_assert!(row.time > Time::ZERO);
            sums[row.flow.index()] += row.time;
        }
        for (outcome, sum) in with.records().outcomes().iter().zip(sums) {
            let until_the_end = with.now().saturating_sub(outcome.start);
            let whole = if outcome.started { outcome.fct.unwrap_or(until_the_end) } else { Time::ZERO };
            prop_assert_eq!(sum, whole);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_run(case in cases(), scheme in prop::sample::select(AnyScheme::NAMES)) {
        let (a, b) = (run(&case, scheme, 7), run(&case, scheme, 7));
        prop_assert_eq!(a.counters(), b.counters());
        prop_assert_eq!(&a.records().outcomes(), &b.records().outcomes());
    }

    #[test]
    fn the_number_of_threads_changes_nothing(
        case in cases(),
        scheme in prop::sample::select(AnyScheme::NAMES),
        delays in prop::collection::vec(prop::sample::select(vec![0u64, 1, 80, 333_333, 700_000, 1_300_000]), 12),
        interval in prop::sample::select(vec![None, Some(170_003u64), Some(1_000_000), Some(20_000_000)]),
        lossy in any::<bool>(),
        most_rows in prop::sample::select(vec![500, usize::MAX]),
        detector in prop::sample::select(vec!["red", "np_ecn", "tcd"]),
    ) {
        let mut case = case;
        // Links of any delay, none included, of which the first few lead to hosts.
        for (link, delay) in case.topology.links.iter_mut().rev().zip(&delays) {
            (link.delay_ab, link.delay_ba) = (Time(*delay), Time(delay / 2));
        }
        if lossy {
            lose_packets(&mut case.settings, 30_000);
        }
        let ports: Vec<PortId> = case.topology.port_ids().rev().collect();
        let recording = Recording {
            interval: interval.map(Time),
            queues: ports.clone(),
            utilization: ports,
            rates: FlowId::all(case.flows.len()).collect(),
            pauses: true,
            notifications: true,
            roots: Some(5_000),
            marks: true,
            states: case.topology.port_ids().collect(),
            throttles: true,
            variables: FlowId::all(case.flows.len()).collect(),
            // What looks at each packet takes it off the quick way through a switch, which is to be tested too.
            reordering: true,
            breakdown: case.flows.len().is_multiple_of(2),
            packets: case.flows.len().is_multiple_of(3).then(|| PacketFilter {
                ports: case.topology.port_ids().collect(),
                from: Time(2_000_000),
                until: Time(9_000_000),
            }),
        };
        let on = |threads: usize, one_order: bool| {
            let (mut net, chosen) = (network(&case, scheme, 1), marking(detector));
            net.one_order = one_order;
            let detector = net.signals.ecn.then_some(&chosen);
            let cut = Cut::into(&net, threads, None);
            let used = cut.partitions();
            let mut sim = Simulation::cut(net, cut, detector, recording.clone(), Some(Time::from_ms(20)));
            sim.limit_rows(most_rows);
            let end = sim.run(&mut |_| true);
            (used, end, sim)
        };
        let (_, end, one) = on(1, false);
        for (threads, one_order) in [(1, true), (2, false), (3, false)] {
            let (used, other_end, other) = on(threads, one_order);
            prop_assert!(used <= threads);
            prop_assert_eq!(&end, &other_end);
            if end.is_err() {
                continue;
            }
            prop_assert_eq!(one.now(), other.now());
            prop_assert_eq!(one.counters(), other.counters());
            let (a, b) = (one.records(), other.records());
            prop_assert_eq!(&a.flows, &b.flows);
            prop_assert_eq!(a.packets.rows().len(), b.packets.rows().len());
            for (packet, same) in a.packets.rows().iter().zip(b.packets.rows()) {
                prop_assert_eq!((packet.time, packet.port, packet.kind), (same.time, same.port, same.kind));
                prop_assert_eq!((packet.flow, packet.seq, packet.inbound), (same.flow, same.seq, same.inbound));
                prop_assert_eq!(a.packets.int(packet), b.packets.int(same));
            }
            prop_assert_eq!(&a.samples.queues, &b.samples.queues);
            prop_assert_eq!(&a.samples.utilization, &b.samples.utilization);
            prop_assert_eq!(&a.samples.rates, &b.samples.rates);
            prop_assert_eq!(&a.pauses, &b.pauses);
            prop_assert_eq!(&a.notifications, &b.notifications);
            prop_assert_eq!((&a.roots, &a.totals.flow_tables), (&b.roots, &b.totals.flow_tables));
            prop_assert_eq!((&a.marks, &a.states, &a.totals.marks), (&b.marks, &b.states, &b.totals.marks));
            let frames = |r: &xoff_fabric::observe::Records| (r.totals.drops.clone(), r.totals.pause_frames.clone(), r.totals.cnms_sent);
            prop_assert_eq!(frames(a), frames(b));
            prop_assert_eq!((&a.totals.credit_updates, &a.throttles), (&b.totals.credit_updates, &b.throttles));
            prop_assert_eq!(&a.breakdown, &b.breakdown);
            prop_assert_eq!(one.packets_in_flight(), other.packets_in_flight());
            prop_assert_eq!(one.buffered_bytes(), other.buffered_bytes());
            prop_assert_eq!(one.open_receptions(), other.open_receptions());
        }
    }
}

#[test]
fn another_seed_gives_another_run() {
    // Otherwise the property above would hold for a fingerprint that sees nothing.
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time(700_000));
    let flows = vec![flow(0, 2, 2_000_000), flow(1, 2, 2_000_000)];
    let case = Case {
        topology,
        settings: Settings { switch: Switch { priorities: 2, ..Switch::default() }, ..Settings::default() },
        flows,
    };
    let (a, b) = (run(&case, "dcqcn", 1), run(&case, "dcqcn", 2));
    assert_ne!(a.counters().fingerprint, b.counters().fingerprint);
    assert_ne!(a.records().outcomes(), b.records().outcomes());
}

#[test]
fn the_ack_of_the_last_byte_ends_the_flow_however_few_acks_there_are() {
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    let host = Host { ack_every: 1000, ..Host::default() };
    let settings = Settings { host, ..Settings::default() };
    let none = common::scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, settings, none, vec![flow(0, 1, 100_000)], Recording::default(), None);
    sim.run(&mut |_| true).expect("no loss");
    assert_eq!(sim.records().outcomes()[0].acked_bytes, 100_000);
    // 69 data packets on two links and one ACK on two.
    assert_eq!(sim.counters().packet_hops, 2 * 69 + 2);
}
