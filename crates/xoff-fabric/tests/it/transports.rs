//! Transports where packets are lost, by hand.
//!
//! h0 sends to h1 through one switch, at 100 Gbps to it and 30 Gbps from it, 1 us a link. A frame of 1,000 B has 952 B of payload
//! and takes 80 ns to the switch and 266.667 ns from it; an ACK or NACK of 50 B takes 4 ns a link, so 2.008 us from h1 to h0.
//! The switch holds two frames beside the one on the wire. Packets 0 to 7 leave h0 one after the other and are at the switch
//! at 1.08 us + 80 ns each: packet 0 passes, 1 and 2 wait, and 3 finds no room. Packet 1 leaves at 1.346667 us, so that 4
//! (1.4 us) takes its place, and 5 and 6 find none; packet 2 leaves at 1.613334 us, so that 7 (1.64 us) finds room. Lost are
//! 3, 5 and 6. Packets 4 and 7 begin on the second link at 1.880001 and 2.146668 us, and are at h1 1.266667 us later: at
//! 3.146668 and 3.413335 us. What h1 says of them is at h0 at 5.154668 and 5.421335 us.

use crate::common::{chain, flow, scheme};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, NodeId, PortId};
use xoff_fabric::network::Flow;
use xoff_fabric::network::dependencies::{Dependency, Milestone, Step, Waiter};
use xoff_fabric::observe::capture::PacketFilter;
use xoff_fabric::observe::records::FlowOutcome;
use xoff_fabric::observe::{Hooks, OwnRow, Probe, Records};
use xoff_fabric::packet::{Kind, Packet};
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::{FlowControl, Host, Settings, Transport};
use xoff_fabric::topology::Topology;
use xoff_fabric::{Network, Recording, Schedule, Simulation, network_env};

const PAYLOAD: u64 = 952;

fn topology() -> Topology {
    let mut topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    topology.links[1].rate_ba = Rate::from_gbps(30); // from the switch to h1
    topology
}

fn settings(transport: Transport) -> Settings {
    let mut settings = Settings { flow_control: FlowControl::None, lossy: true, ..Settings::default() };
    settings.packets.mtu = Bytes(1_000);
    settings.packets.header = Bytes(48);
    settings.packets.ack = Bytes(50);
    settings.switch.buffer = Some(Bytes(2_000));
    settings.host.transport = transport;
    settings.host.retransmit_timeout = Time::from_us(20);
    settings
}

/// Runs messages, all of one connection, to their end; what is still on its way then arrives too.
fn run(settings: Settings, flows: Vec<Flow>, recording: Recording) -> Simulation {
    let schedule = Schedule { connections: vec![Some(0); flows.len()], ..Schedule::default() };
    run_as(settings, flows, schedule, recording)
}

/// As [`run`], with a schedule.
fn run_as(settings: Settings, flows: Vec<Flow>, schedule: Schedule, recording: Recording) -> Simulation {
    let mut sim = prepare(settings, flows, schedule, recording);
    sim.run(&mut |_| true).expect("losses are allowed");
    sim
}

fn prepare(settings: Settings, flows: Vec<Flow>, schedule: Schedule, recording: Recording) -> Simulation {
    let router = Router::new(topology(), &Routing::default(), 1).expect("routes");
    let none = scheme("none", json!({}), Time::from_us(1));
    let env = network_env(&topology(), &router, &settings, &none.signals()).expect("connected");
    let net = Network::along(topology(), &router, env, settings, none, flows, schedule, 1);
    let mut sim = Simulation::new(net.expect("a network"), None, recording, Some(Time::from_ms(1)));
    sim.run_to_duration();
    sim
}

/// What became of a message: losses, packets sent, bytes sent again, and the completion time.
type Outcome = (u64, u64, u64, Option<Time>);

/// What became of one message of some packets.
fn one(transport: Transport, packets: u64) -> Outcome {
    outcome(settings(transport), packets)
}

fn outcome(settings: Settings, packets: u64) -> Outcome {
    let sim = run(settings, vec![flow(0, 1, packets * PAYLOAD)], Recording::default());
    let outcome = sim.records().outcomes()[0];
    assert_eq!(sim.counters().delivered_bytes, packets * PAYLOAD, "each byte once");
    assert_eq!((sim.open_receptions(), sim.packets_in_flight(), sim.buffered_bytes()), (0, 0, (0, 0)));
    (sim.counters().drops, outcome.packets_sent, outcome.retransmitted_bytes, outcome.fct)
}

#[test]
fn selective_repeat_sends_exactly_the_missing_packets_again() {
    // The NACK of packet 4 names packet 3, which goes at 5.154668 us; that of packet 7 adds 5 and 6, which go at 5.421335 and
    // 5.501335 us. They find the switch empty: 3 is on the second link from 6.234668 us on, 5 from 6.501335 us and 6 from
    // 6.768002 us. Packet 6 is at h1 at 8.034669 us, and its ACK at h0 at 10.042669 us.
    let three = 3 * PAYLOAD;
    assert_eq!(one(Transport::SelectiveRepeat, 8), (3, 11, three, Some(Time(10_042_669))));
}

#[test]
fn a_packet_that_closes_a_gap_is_acknowledged_at_once() {
    // As above, with ACKs for four packets each: packet 6 closes the last gap, and 7, kept behind it, is the message's last.
    // Its ACK goes at once; otherwise the message would wait for the timeout.
    let settings = Settings {
        host: Host { ack_every: 4, ..settings(Transport::SelectiveRepeat).host },
        ..settings(Transport::SelectiveRepeat)
    };
    let sim = run(settings, vec![flow(0, 1, 8 * PAYLOAD)], Recording::default());
    assert_eq!(sim.records().outcomes()[0].fct, Some(Time(10_042_669)));
}

#[test]
fn an_unordered_message_is_delivered_whatever_the_one_before_it_lacks() {
    // Packets 0 to 6 are one message and 7 is the next one of the same connection. Packet 7 is at h1 at 3.413335 us, when 3, 5
    // and 6 are missing. Unordered, its message is delivered then; selective repeat delivers it with packet 6, at 8.034669 us.
    for (transport, delivered) in [(Transport::Unordered, 3_413_335), (Transport::SelectiveRepeat, 8_034_669)]
    {
        let schedule = Schedule {
            connections: vec![Some(0); 2],
            steps: vec![Step { host: NodeId(1), start: Time::ZERO, hold: None }],
            dependencies: vec![Dependency {
                on: Milestone::Delivered(1),
                then: Waiter::Step(0),
                delay: Time::ZERO,
            }],
            ..Schedule::default()
        };
        let messages = vec![flow(0, 1, 7 * PAYLOAD), flow(0, 1, PAYLOAD)];
        let sim = run_as(settings(transport), messages, schedule, Recording::default());
        assert_eq!(sim.records().steps, [Time(delivered)], "{transport:?}");
    }
}

/// Counts what a probe hears of losses, answers and messages.
#[derive(Default)]
struct Heard {
    drops: u32,
    answers: u32,
    acked: u64,
    started: Vec<(FlowId, Time)>,
    ended: Vec<(FlowId, Time)>,
}

impl Probe for Heard {
    fn hooks(&self) -> Hooks {
        Hooks::SIGNALS | Hooks::FLOWS | Hooks::ACKS
    }

    fn on_drop(&mut self, _: Time, _: PortId, _: &Packet) {
        self.drops += 1;
    }

    fn on_ack(&mut self, _: Time, _: FlowId, bytes: u64) {
        self.answers += 1;
        self.acked += bytes;
    }

    fn on_flow_start(&mut self, now: Time, flow: FlowId) {
        self.started.push((flow, now));
    }

    fn on_flow_end(&mut self, now: Time, flow: FlowId, _: &FlowOutcome) {
        self.ended.push((flow, now));
    }

    fn finish(&mut self, _: Time, records: &mut Records) {
        let mut row = |name, time, subject, value| records.own.push(OwnRow { name, time, subject, value });
        row("acked", Time::ZERO, 0, self.acked as f64);
        row("answers", Time::ZERO, 0, self.answers.into());
        row("drops", Time::ZERO, 0, self.drops.into());
        self.ended.iter().for_each(|&(flow, at)| row("ended", at, flow.0, 1.0));
        self.started.iter().for_each(|&(flow, at)| row("started", at, flow.0, 1.0));
    }
}

#[test]
fn a_probe_hears_of_losses_answers_and_messages() {
    // As in the first test: 3 packets are lost, and each of the 5 + 3 that arrive is answered. The last ACK ends the message.
    let mut sim = prepare(
        settings(Transport::SelectiveRepeat),
        vec![flow(0, 1, 8 * PAYLOAD)],
        Schedule::default(),
        Recording::default(),
    );
    sim.add_probe(|_| Box::new(Heard::default()));
    sim.run(&mut |_| true).expect("losses are allowed");
    let rows: Vec<_> = sim.records().own.iter().map(|row| (row.name, row.time, row.value)).collect();
    let expected = [
        ("acked", Time::ZERO, 8.0 * PAYLOAD as f64),
        ("answers", Time::ZERO, 8.0),
        ("drops", Time::ZERO, 3.0),
        ("ended", Time(10_042_669), 1.0),
        ("started", Time::ZERO, 1.0),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn go_back_n_sends_all_from_the_gap_on_again() {
    // The NACK of packet 4 sends h0 back to packet 3 at 5.154668 us; for packet 7 there is none, as the gap is the same.
    // Packets 3 to 7 meet the switch as 0 to 4 did: the fourth of them, 6, is lost, and 7 makes a NACK. It is on the second
    // link from 6.234668 us + 3 x 266.667 ns = 7.034669 us on, and its NACK at h0 3.274667 us later, at 10.309336 us. Packets
    // 6 and 7 go again: 6 is on the second link at 11.389336 us, 7 at 11.656003 us, and the ACK at h0 at 14.930670 us. Sent
    // again are 5 + 2 packets.
    assert_eq!(one(Transport::GoBackN, 8), (4, 15, 7 * PAYLOAD, Some(Time(14_930_670))));
}

#[test]
fn a_gap_is_named_again_after_an_interval() {
    // Packets 4 and 7, which name the same gap, are at h1 266.667 ns apart. With an interval of 266.668 ns packet 7 makes no
    // NACK, as above. With 266.667 ns it does, which is at h0 at 5.421335 us. By then 3 to 6 have gone again since 5.154668 us,
    // and after 6, from 5.474668 us on, 3 to 7 go once more. Of those nine the switch, which sends one each 266.667 ns, loses
    // the fourth (6 finds 4 and 5 waiting), the sixth and the seventh (4 and 5 find 5 and 3) and the last (7 finds 3 and 6).
    // Sent on are 3, 4, 5, 3 and 6, 6 from 6.234668 us + 4 x 266.667 ns on: it is at h1 at 8.568003 us, and its ACK at h0 at
    // 10.576003 us. Nothing behind 7 tells of it: it goes 20 us later, and its ACK is back 4.354667 us after that. Lost are
    // 3 + 4 packets, and sent again 4 + 5 + 1.
    let with = |interval| {
        let mut settings = settings(Transport::GoBackN);
        settings.host.nack_interval = Time(interval);
        outcome(settings, 8)
    };
    assert_eq!(with(266_668), one(Transport::GoBackN, 8));
    assert_eq!(with(266_667), (7, 18, 10 * PAYLOAD, Some(Time(34_930_670))));
}

#[test]
fn unordered_delivery_waits_for_the_timeout() {
    // No NACK tells of a gap. The last ACK, of packet 7, is at h0 at 5.421335 us; 20 us later 3, 5 and 6 go, 80 ns apart.
    // Packet 3 is on the second link from 26.501335 us on, 6 two frames later, from 27.034669 us on; its ACK is at h0
    // 1.266667 + 2.008 us later.
    let three = 3 * PAYLOAD;
    assert_eq!(one(Transport::Unordered, 8), (3, 11, three, Some(Time(30_309_336))));
}

#[test]
fn the_loss_of_the_last_packet_takes_a_timeout() {
    // Of packets 0 to 3 the last is lost. Packet 2 begins on the second link at 1.613334 us, and its ACK is at h0 at 4.888001
    // us. Packet 3 goes 20 us later, is on the second link 1.08 us after that, at h1 1.266667 us later, and its ACK at h0 at
    // 29.242668 us.
    for transport in [Transport::GoBackN, Transport::SelectiveRepeat, Transport::Unordered] {
        assert_eq!(one(transport, 4), (1, 5, PAYLOAD, Some(Time(29_242_668))), "{transport:?}");
    }
}

#[test]
fn packets_sent_again_count_for_their_own_message() {
    // Messages of four packets each follow each other on one connection, as packets 0 to 3 and 4 to 7: of the first one
    // packet 3 is lost, of the second 5 and 6. With go-back-N 3 to 7 go again, and 6 and 7 once more: one packet of the first
    // message and 4 + 2 of the second.
    for (transport, again) in
        [(Transport::SelectiveRepeat, [1, 2]), (Transport::Unordered, [1, 2]), (Transport::GoBackN, [1, 6])]
    {
        let messages = vec![flow(0, 1, 4 * PAYLOAD), flow(0, 1, 4 * PAYLOAD)];
        let sim = run(settings(transport), messages, Recording::default());
        for (outcome, packets) in sim.records().outcomes().iter().zip(again) {
            assert_eq!(outcome.retransmitted_bytes, packets * PAYLOAD, "{transport:?}");
            assert_eq!(outcome.packets_sent, 4 + packets, "{transport:?}");
            assert_eq!(outcome.acked_bytes, 4 * PAYLOAD, "{transport:?}");
        }
        assert_eq!(
            (sim.open_receptions(), sim.counters().delivered_bytes),
            (0, 8 * PAYLOAD),
            "{transport:?}"
        );
    }
}

#[test]
fn a_capped_sender_has_less_than_a_product_and_a_packet_in_flight() {
    // A message of 200 packets meets a switch with room for all. Uncapped, h0 sends at 100 Gbps what the second link takes at
    // 30: when its last packet has left, about 70 % of the message is on its way. The base RTT is that of the path, 80 ns +
    // 266.667 ns + 2 us + 2.008 us = 4.354667 us, and the product with 100 Gbps 54,433 B: packets go while less is in
    // flight, so that there are at most 58 x 952 B = 55,216 B. With room for two frames packets are lost, and what is
    // acknowledged beyond a missing packet still counts as in flight: the difference between the next packet's number and the
    // last one that is acknowledged with all before it.
    for (bdp_cap, transport, room) in [
        (true, Transport::SelectiveRepeat, None),
        (true, Transport::Unordered, None),
        (false, Transport::Unordered, None),
        (true, Transport::SelectiveRepeat, Some(Bytes(2_000))),
        (true, Transport::Unordered, Some(Bytes(2_000))),
    ] {
        let mut settings = settings(transport);
        settings.switch.buffer = room;
        settings.host.bdp_cap = bdp_cap;
        let packets = PacketFilter { ports: vec![PortId(0)], from: Time::ZERO, until: Time::from_ms(1) };
        let recording = Recording { packets: Some(packets), ..Recording::default() };
        let sim = run(settings, vec![flow(0, 1, 200 * PAYLOAD)], recording);
        let (mut sent, mut acked, mut max) = (0, 0, 0);
        for row in sim.records().packets.rows() {
            match row.kind {
                Kind::Data => sent = sent.max(row.seq + PAYLOAD),
                _ => acked = acked.max(row.seq),
            }
            max = max.max(sent - acked);
        }
        assert_eq!((sent, acked), (200 * PAYLOAD, 200 * PAYLOAD));
        if bdp_cap {
            assert_eq!(max, 58 * PAYLOAD, "{transport:?}");
        } else {
            assert!(max > 100 * PAYLOAD, "{max}");
        }
        assert_eq!(sim.records().outcomes()[0].retransmitted_bytes > 0, room.is_some());
    }
}
