//! Connections that carry several messages, by hand. Frames of 1,000 B hold 952 B and take 80 ns at 100 Gbps, ACKs of 50 B
//! 4 ns, and each link 1 us, unless a test says otherwise.

use crate::common::{endless, flow, scheme, star};
use proptest::prelude::*;
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::FlowId;
use xoff_fabric::network::dependencies::{Dependency, Milestone, Waiter};
use xoff_fabric::network::{Flow, Network};
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::{FlowControl, Settings, Transport};
use xoff_fabric::{Cut, Recording, Schedule, Simulation, Stop, network_env};
use xoff_schemes::{AnyDetector, AnyScheme};

const PAYLOAD: u64 = 952;
const FRAME: u64 = 80_000;
/// One packet over two links with a switch in between, and its ACK back.
const THERE: u64 = 2 * (80_000 + 1_000_000);
const BACK: u64 = 2 * (4_000 + 1_000_000);

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.packets.mtu = Bytes(1_000);
    settings.packets.header = Bytes(48);
    settings.packets.ack = Bytes(50);
    settings.packets.gap = Bytes(0);
    settings
}

fn none() -> AnyScheme {
    scheme("none", json!({}), Time::ZERO)
}

fn at(us: u64, flow: Flow) -> Flow {
    Flow { start: Time::from_us(us), ..flow }
}

/// Hosts on one switch.
fn network(
    hosts: usize,
    settings: Settings,
    scheme: AnyScheme,
    flows: Vec<Flow>,
    schedule: Schedule,
) -> Network {
    let topology = star(&vec![0; hosts]);
    let router = Router::new(&topology, &Routing::default(), 1).expect("routes");
    let env = network_env(&topology, &router, &settings, &scheme.signals()).expect("connected");
    let scheme = scheme.resolve(&env);
    Network::along(topology, &router, env, settings, scheme, flows, schedule, 1).expect("a network")
}

fn run(net: Network, detector: Option<&AnyDetector>, recording: Recording) -> Simulation {
    let mut sim = Simulation::new(net, detector, recording, None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    sim
}

fn fcts(sim: &Simulation) -> Vec<u64> {
    sim.records().outcomes().iter().map(|f| f.fct.expect("complete").0).collect()
}

fn sharing(connections: &[Option<u32>]) -> Schedule {
    Schedule { connections: connections.to_vec(), ..Schedule::default() }
}

/// Two messages of one connection from h0 to h2 under a scheme that marks, the second of two packets at `later_us`, beside one
/// from h1.
fn two_messages(
    (name, params): (&str, serde_json::Value),
    detector: &AnyDetector,
    (packets, later_us): (u64, u64),
    connections: [Option<u32>; 3],
) -> Simulation {
    let flows = vec![
        flow(0, 2, packets * PAYLOAD),
        flow(1, 2, packets * PAYLOAD),
        at(later_us, flow(0, 2, 2 * PAYLOAD)),
    ];
    let scheme = AnyScheme::read(name, params).expect("known").expect("valid");
    run(network(3, settings(), scheme, flows, sharing(&connections)), Some(detector), Recording::default())
}

/// Completion time of two packets of which the second leaves when a frame's time at `rate` has passed.
fn paced(rate: Rate) -> u64 {
    rate.serialization(1_000).0 + THERE + BACK
}

#[test]
fn dcqcn_s_second_message_starts_at_the_rate_that_its_timers_have_reached() {
    // 20 packets from each of h0 and h1 meet at h2's port: every packet that leaves more than 2,000 B behind it is marked. The
    // first such packet brings a CNP within 10 us; those of the marks after it become one CNP 50 us later, when the message
    // is complete and its connection idle. With alpha = 1 the two cut the rate from 100 to 50 to 25 Gbps, with 50 as the target.
    // Each 55 us halve the gap. At 180 us two periods are over (60 us + 110 us < 180 us < 50 us + 165 us): 50 - 25 / 4 Gbps.
    // At 240 us a third is (60 us + 165 us < 240 us < 50 us + 220 us): 50 - 25 / 8 Gbps.
    let red = AnyDetector::read("red", json!({"k_min": "2KB", "k_max": "2KB", "p_max": 1.0}));
    let red = red.expect("known").expect("valid");
    for (later, mbps) in [(180, 43_750), (240, 46_875)] {
        let sim = two_messages(("dcqcn", json!({})), &red, (20, later), [Some(0), None, Some(0)]);
        assert_eq!(sim.records().outcomes()[0].cnps, 1, "{later} us");
        assert_eq!(fcts(&sim)[2], paced(Rate::from_mbps(mbps)), "{later} us");
    }
    // With a connection to itself the second message starts at line rate, and so does one after 100 ms: from the sixth
    // period on the target rises by 40 Mbps to the line rate, which takes 1,250 of 1,818 periods, and some 40 halvings leave less
    // than a bit per second.
    for (later, connections) in [(180, [None; 3]), (100_000, [Some(0), None, Some(0)])] {
        let sim = two_messages(("dcqcn", json!({})), &red, (20, later), connections);
        assert_eq!(fcts(&sim)[2], paced(Rate::from_gbps(100)), "{later} us");
    }
}

#[test]
fn ib_cc_s_second_message_starts_with_the_index_that_is_left() {
    // h0 and h1 send 6 packets each, all of which have left before the first ACK is back. A pair of packets comes each frame time
    // to h2's port, and one leaves just before: the one that leaves at frame time n has n - 1 behind it up to n = 6, and 11 - n
    // from there on. More than 2,000 B are behind those of n = 4 to 8, of which h0's are 4, 6 and 8: 3 are marked, and their
    // ACKs, that of the last packet not among them, raise the index to 3. Entry i of the table delays by i packets' times, so
    // that a packet goes each 1 + i frame times. The index falls by one each 153.6 us from the first BECN on, which is there
    // before 10 us. At 400 us two periods are over (307.2 us + 10 us < 400 us < 460.8 us), at 250 us one is.
    let fecn = AnyDetector::read("fecn", json!({"threshold": "2KB"})).expect("known").expect("valid");
    let multipliers: Vec<u16> = (0..20).map(|i| 8 * i).collect();
    let params = json!({"cct": "list", "multipliers": multipliers, "ccti_timer": "153.6us"});
    let run = |later, connections| two_messages(("ib_cc", params.clone()), &fecn, (6, later), connections);
    let sim = run(400, [Some(0), None, Some(0)]);
    let marked = sim.records().outcomes()[0].marks.ce;
    assert_eq!(marked, 3);
    let at_index = |index: u64| paced(Rate(100_000_000_000 / (1 + index)));
    assert_eq!(fcts(&sim)[2], at_index(marked - 2));
    assert_eq!(fcts(&run(250, [Some(0), None, Some(0)]))[2], at_index(marked - 1));
    assert_eq!(fcts(&run(400, [None; 3]))[2], FRAME + THERE + BACK);
    // All three are gone after 3 * 153.6 us = 460.8 us and 10 us.
    assert_eq!(fcts(&run(700, [Some(0), None, Some(0)]))[2], FRAME + THERE + BACK);
}

#[test]
fn messages_of_a_connection_go_one_after_the_other() {
    // Three messages of 2, 1 and 3 packets at once; the last is shorter by 902 B: a frame of 98 B, 7,840 ps. They leave as one
    // stream, beginning at 0, 2 and 3 frame times. The small frame takes 7,840 ps where a full one takes 80,000 on the
    // sender's link and on the switch's; it waits for nothing there, as it is last.
    let flows = vec![flow(0, 1, 2 * PAYLOAD), flow(0, 1, PAYLOAD), flow(0, 1, 2 * PAYLOAD + 50)];
    let recording = Recording { breakdown: true, ..Recording::default() };
    let together = sharing(&[Some(0); 3]);
    let sim = run(network(2, settings(), none(), flows.clone(), together), None, recording);
    let whole = THERE + BACK;
    let small = 2 * (7_840 + 1_000_000) + BACK + (FRAME - 7_840);
    assert_eq!(fcts(&sim), [FRAME + whole, 2 * FRAME + whole, 5 * FRAME + small]);
    for (outcome, (packets, size)) in
        sim.records().outcomes().iter().zip([(2, 2 * PAYLOAD), (1, PAYLOAD), (3, 2 * PAYLOAD + 50)])
    {
        assert_eq!((outcome.start, outcome.packets_sent), (Time::ZERO, packets));
        assert_eq!((outcome.acked_bytes, outcome.retransmitted_bytes), (size, 0));
    }
    for (flow, fct) in fcts(&sim).into_iter().enumerate() {
        let rows = sim.records().breakdown.iter().filter(|row| row.flow == FlowId::at(flow));
        assert_eq!(rows.map(|row| row.time.0).sum::<u64>(), fct, "message {flow}");
    }
    // On two connections the messages take turns. The first packets of the first message go before the second connection joins
    // the round robin, behind the first one: 0, 0, 1, 0.
    let flows = vec![flow(0, 1, 3 * PAYLOAD), flow(0, 1, PAYLOAD)];
    let apart = sharing(&[Some(0), Some(1)]);
    let sim = run(network(2, settings(), none(), flows, apart), None, Recording::default());
    assert_eq!(fcts(&sim), [3 * FRAME + whole, 2 * FRAME + whole]);
}

#[test]
fn milestones_are_those_of_each_message() {
    // Messages of two packets and of one on a connection. Flow 2 follows the last byte of the first message, flow 3 the last
    // ACK of it, flow 4 the last byte of the second; flow 5 is a message for the connection after it was idle.
    let after = |on, flow| Dependency { on, then: Waiter::Flow(flow), delay: Time::ZERO };
    let mut schedule = sharing(&[Some(0), Some(0), None, None, None, Some(0)]);
    schedule.dependencies = vec![
        after(Milestone::Delivered(0), 2),
        after(Milestone::Sent(0), 3),
        after(Milestone::Delivered(1), 4),
        after(Milestone::Sent(1), 5),
    ];
    let flows = vec![
        flow(0, 1, 2 * PAYLOAD),
        flow(0, 1, PAYLOAD),
        flow(1, 0, 1),
        flow(0, 2, 1),
        flow(1, 2, 1),
        flow(0, 1, PAYLOAD),
    ];
    let sim = run(network(3, settings(), none(), flows, schedule), None, Recording::default());
    let starts: Vec<u64> = sim.records().outcomes().iter().map(|f| f.start.0).collect();
    let (first, second) = (FRAME, 2 * FRAME);
    // The ACKs of flow 2's byte may meet those of the connection: flow 3 and 5 start when the first two messages' ACKs come,
    // of which the second goes 80 ns behind the first; flow 2's frame of 49 B, 3,920 ps, goes between them.
    assert_eq!(starts[..3], [0, 0, first + THERE]);
    assert_eq!(starts[4], second + THERE);
    assert_eq!(starts[3], first + THERE + BACK);
    assert_eq!(starts[5], second + THERE + BACK);
    assert_eq!(sim.records().outcomes()[5].fct, Some(Time(THERE + BACK)));
}

#[test]
fn nothing_of_a_message_that_waits_behind_another_is_acknowledged() {
    // 100 packets leave in 8 us, and then 50. Packet i leaves at i frame times, and its ACK is back 4.168 us later: by 5 us those of
    // packets 0 to 10 are, and the second message has not begun.
    let flows = vec![flow(0, 1, 100 * PAYLOAD), flow(0, 1, 50 * PAYLOAD)];
    let recording = Recording {
        interval: Some(Time::from_us(1)),
        rates: vec![FlowId::at(0), FlowId::at(1)],
        ..Recording::default()
    };
    let start = |duration| {
        let net = network(2, settings(), none(), flows.clone(), sharing(&[Some(0); 2]));
        let mut sim = Simulation::new(net, None, recording.clone(), duration);
        sim.run(&mut |_| true).expect("no loss");
        sim
    };
    let sim = start(Some(Time::from_us(5)));
    let outcome = |flow: usize| {
        let outcome = &sim.records().outcomes()[flow];
        (outcome.fct, outcome.acked_bytes, outcome.packets_sent)
    };
    assert_eq!(outcome(0), (None, 11 * PAYLOAD, 5_000 / 80 + 1));
    assert_eq!(outcome(1), (None, 0, 0));
    // The goodput of all samples is the message.
    let sim = start(None);
    for (number, flow) in flows.iter().enumerate() {
        let rows = sim.records().samples.rates.iter().filter(|row| row.flow == FlowId::at(number));
        let bytes: f64 = rows.map(|row| row.goodput_bps * row.interval.secs() / 8.0).sum();
        assert!((bytes - flow.size.bytes().expect("finite") as f64).abs() < 1e-3, "{number}: {bytes}");
    }
}

#[test]
fn an_endless_message_gives_its_connection_to_the_next_when_it_is_stopped() {
    // 10 us are 125 frames; the message ends with one more. The next one, which has waited since 1 us, has two packets. The
    // third is stopped while it waits, and has one packet of its 100.
    let mut flows = vec![endless(0, 1, 0), at(1, flow(0, 1, 2 * PAYLOAD)), at(2, flow(0, 1, 100 * PAYLOAD))];
    flows[0].stop = Time::from_us(10);
    flows[2].stop = Time::from_us(5);
    let sim = run(network(2, settings(), none(), flows, sharing(&[Some(0); 3])), None, Recording::default());
    let packets: Vec<u64> = sim.records().outcomes().iter().map(|f| f.packets_sent).collect();
    assert_eq!(packets, [126, 2, 1]);
    let last = |n: u64| (n - 1) * FRAME + THERE + BACK;
    assert_eq!(fcts(&sim), [last(126), last(128) - 1_000_000, last(129) - 2_000_000]);
}

/// A lossy network: h0 and h1 send to h2 behind a buffer of 20 frames.
fn lossy(transport: Transport, ack_every: u32) -> Settings {
    let mut settings = settings();
    settings.flow_control = FlowControl::None;
    settings.lossy = true;
    settings.switch.buffer = Some(Bytes(20_000));
    settings.host.transport = transport;
    settings.host.ack_every = ack_every;
    settings.host.retransmit_timeout = Time::from_us(30);
    settings.host.nack_interval = Time::from_us(5);
    settings
}

/// What a connection's messages must have when all are complete.
fn assert_delivered(sim: &Simulation, sizes: &[u64], exact: bool) {
    for (number, (outcome, &size)) in sim.records().outcomes().iter().zip(sizes).enumerate() {
        assert_eq!(outcome.acked_bytes, size, "message {number}");
        let sent = outcome.packets_sent * PAYLOAD;
        if exact {
            assert_eq!(sent, size + outcome.retransmitted_bytes, "message {number}");
        } else {
            // What it goes back over need not all be sent again: an ACK may come first.
            assert!((size..=size + outcome.retransmitted_bytes).contains(&sent), "message {number}");
        }
    }
    assert_eq!(sim.buffered_bytes(), (0, 0));
}

#[test]
fn what_is_lost_goes_again_across_the_boundaries_of_messages() {
    // Messages of 3 packets: 40 frames of each of h0 and h1 meet a buffer of 20, so that a gap in one message is seen, or timed
    // out, when later ones have gone. Each message has its bytes once, and they complete in the order in which they stand.
    for transport in [Transport::GoBackN, Transport::SelectiveRepeat, Transport::Unordered] {
        let flows = |src| (0..20).map(move |_| flow(src, 2, 3 * PAYLOAD));
        let net = network(
            3,
            lossy(transport, 1),
            none(),
            flows(0).chain(flows(1)).collect(),
            sharing(&[Some(0); 40]),
        );
        let sim = run(net, None, Recording::default());
        assert_delivered(&sim, &[3 * PAYLOAD; 40], transport != Transport::GoBackN);
        let again = sim.records().outcomes().iter().filter(|f| f.retransmitted_bytes > 0).count();
        assert!(again >= 3, "{transport:?}: {again} messages went again");
        if transport != Transport::Unordered {
            let fcts = fcts(&sim);
            assert!(fcts[..20].is_sorted() && fcts[20..].is_sorted(), "{transport:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    /// Messages of any size and start on a few connections, with and without losses: all are delivered, and the outcomes do not
    /// depend on the number of threads.
    #[test]
    fn all_messages_are_delivered_whatever_the_threads(
        messages in prop::collection::vec((0u32..3, 1u32..3, 1u64..30_000, 0u64..40, 0u32..3), 2..40),
        transport in prop::sample::select(vec![Transport::GoBackN, Transport::SelectiveRepeat, Transport::Unordered]),
        ack_every in 1u32..5,
        loses in any::<bool>(),
        name in prop::sample::select(vec!["none", "dcqcn", "hpcc", "timely", "swift"]),
    ) {
        let mut messages = messages;
        messages.sort_by_key(|m| m.3);
        let flows: Vec<Flow> =
            messages.iter().map(|&(src, step, size, us, _)| at(us, flow(src, (src + step) % 3, size))).collect();
        let connections: Vec<_> = messages.iter().map(|m| (m.4 > 0).then_some(m.4)).collect();
        let settings = if loses { lossy(transport, ack_every) } else { self::settings() };
        let red = AnyDetector::read("red", json!({"k_min": "2KB", "k_max": "8KB", "p_max": 0.5}));
        let red = red.expect("known").expect("valid");
        let outcomes = |threads| {
            let scheme = AnyScheme::read(name, json!({})).expect("known").expect("valid");
            let net = network(3, settings.clone(), scheme, flows.clone(), sharing(&connections));
            let detector = Some(&red).filter(|_| net.signals.ecn);
            let cut = Cut::into(&net, threads, None);
            let recording = Recording { breakdown: true, ..Recording::default() };
            let mut sim = Simulation::cut(net, cut, detector, recording, Some(Time::from_ms(100)));
            assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
            (sim.records().outcomes().clone(), sim.records().breakdown.clone(), sim.counters().fingerprint)
        };
        let (all, breakdown, fingerprint) = outcomes(1);
        for (outcome, flow) in all.iter().zip(&flows) {
            prop_assert_eq!(Some(outcome.acked_bytes), flow.size.bytes());
        }
        for (number, outcome) in all.iter().enumerate() {
            let rows = breakdown.iter().filter(|row| row.flow == FlowId::at(number));
            prop_assert_eq!(Some(Time(rows.map(|row| row.time.0).sum())), outcome.fct);
        }
        prop_assert_eq!((all, breakdown, fingerprint), outcomes(3));
    }
}
