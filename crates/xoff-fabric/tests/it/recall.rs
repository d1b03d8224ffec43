//! Messages that are recalled in a fast-forwarded run, by hand.
//!
//! Frames of 1,000 B carry 952 B and take 80 ns at 100 Gbps, ACKs of 50 B take 4 ns, and each link has 1 us. A message of 12,500
//! packets that is alone takes 12,501 x 80 ns + 2 x 1 us, and an ACK of 2 x (4 ns + 1 us): 1,004.088 us.

use crate::common::{flow, round_packets, star};
use xoff_engine::Time;
use xoff_fabric::ids::PortId;
use xoff_fabric::network::dependencies::{Dependency, Milestone, Waiter};
use xoff_fabric::network::{Flow, Schedule};
use xoff_fabric::{Recording, Simulation};

pub const SIZE: u64 = 12_500 * 952;
pub const ALONE: Time = Time(1_004_088_000);

/// Each of `count` messages starts with the last ACK of the one before.
pub fn one_after_the_other(count: u32) -> Vec<Dependency> {
    let after =
        |then| Dependency { on: Milestone::Sent(then - 1), then: Waiter::Flow(then), delay: Time::ZERO };
    (1..count).map(after).collect()
}

/// A run with `count` messages from host 0 to host 1 on one connection, each after the last ACK of the one before, and
/// others on connections of their own.
fn chain(count: u32, others: &[Flow], recording: Recording, duration: Option<Time>) -> Simulation {
    let mut flows = vec![flow(0, 1, SIZE); count as usize];
    let mut connections = vec![Some(0); flows.len()];
    flows.extend(others);
    connections.resize(flows.len(), None);
    let schedule = Schedule { dependencies: one_after_the_other(count), connections, ..Schedule::default() };
    let net = round_packets(star(&[0, 0, 0]), flows, schedule).expect("a network");
    let mut sim = Simulation::new(net, None, recording, duration);
    sim.fast_forward(0.01, 1);
    sim.run(&mut |_| true).expect("no loss");
    sim
}

/// The messages that were recalled.
pub fn recalled(sim: &Simulation) -> Vec<usize> {
    let outcomes = sim.records().outcomes();
    let flows = outcomes.iter().enumerate();
    flows.filter(|(_, flow)| flow.recalled).map(|(number, _)| number).collect()
}

#[test]
fn messages_in_a_row_take_the_time_of_the_first_three() {
    // The first three are simulated, 16 are recalled, one is simulated again, and the others are recalled.
    let sim = chain(40, &[], Recording::default(), None);
    assert_eq!(recalled(&sim), (3..19).chain(20..40).collect::<Vec<_>>());
    for (number, flow) in sim.records().outcomes().iter().enumerate() {
        assert_eq!((flow.start, flow.fct), (ALONE * number as u64, Some(ALONE)), "{number}");
        assert_eq!((flow.acked_bytes, flow.packets_sent), (SIZE, 12_500));
    }
    let all = sim.forwarded().expect("fast-forwarded");
    assert_eq!((all.recalled, all.error, all.uncertain_from), (36, 0.0, None));
    // Ports count all packets: data at the host and the switch, ACKs on their way back.
    let sent = |port: &PortId| (sim.port(*port).tx_packets, sim.port(*port).tx_bytes);
    let net = sim.network();
    let flow = xoff_fabric::ids::FlowId(0);
    assert!(net.data_path(flow).iter().all(|port| sent(port) == (500_000, 500_000_000)));
    assert!(net.ack_path(flow).iter().all(|port| sent(&port) == (500_000, 25_000_000)));
    assert_eq!(sim.counters().delivered_bytes, 40 * SIZE);
}

#[test]
fn no_message_is_recalled_by_its_like_after_messages_have_met() {
    // Host 2 sends to host 1 from 5.1 ms on, while the sixth message is recalled: it is at the switch's port 1 us later. It is still there
    // when the seventh message comes. After that two messages are simulated that have the network for themselves, one episode each, and
    // the last three are recalled as episodes.
    let other = Flow { start: Time::from_us(5_100), ..flow(2, 1, SIZE) };
    let sim = chain(12, &[other], Recording::default(), None);
    assert_eq!(recalled(&sim), [3, 4, 5, 9, 10, 11]);
    assert_eq!(sim.forwarded().expect("fast-forwarded").uncertain_from, Some(Time::from_us(5_101)));
}

#[test]
fn a_message_that_comes_when_the_last_byte_has_left_meets_nobody() {
    // The sixth message's last packet leaves the switch by 5 x 1,004.088 us + 12,501 x 80 ns + 1 us = 6,021.52 us; 1 us on the
    // link and an ACK later it is over. A message of host 2 that starts then, and is 1 us later at the switch, does not meet it,
    // but the seventh message, which starts with the last ACK.
    let at = |start_ns: u64, size: u64| {
        let sim = chain(
            8,
            &[Flow { start: Time::from_ns(start_ns), ..flow(2, 1, size) }],
            Recording::default(),
            None,
        );
        (recalled(&sim), sim.forwarded().expect("fast-forwarded").uncertain_from)
    };
    // One packet takes 80 ns: it is gone when the seventh message comes, at 6,024.528 us + 1 us. That one is simulated, since
    // no time is known of host 2's message, which is still under way.
    assert_eq!(at(6_021_600, 952), (vec![3, 4, 5, 7], None));
    assert_eq!(at(6_020_000, 952), (vec![3, 4, 5], Some(Time::from_ns(6_021_000))));
}

#[test]
fn a_message_behind_a_recalled_one_is_uncertain() {
    // Another message on the connection starts at 5.5 ms, while the sixth one is recalled: it should wait for 0.52 ms, but there are
    // no packets to wait for.
    let count = 12;
    let start = Time::from_us(5_500);
    let mut flows = vec![flow(0, 1, SIZE); count];
    flows.push(Flow { start, ..flow(0, 1, 952) });
    let connections = vec![Some(0); flows.len()];
    let schedule = Schedule { dependencies: one_after_the_other(12), connections, ..Schedule::default() };
    let net = round_packets(star(&[0, 0]), flows, schedule).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    sim.fast_forward(0.01, 1);
    sim.run(&mut |_| true).expect("no loss");
    assert_eq!(recalled(&sim), [3, 4, 5]);
    assert_eq!(sim.forwarded().expect("fast-forwarded").uncertain_from, Some(start));
}

/// A run of a star with two hosts, of messages on two connections, numbers of even and odd place each on one.
fn two_connections(flows: Vec<Flow>, dependencies: Vec<Dependency>, fast: bool) -> Simulation {
    let connections = (0..flows.len() as u32).map(|number| Some(number % 2)).collect();
    let schedule = Schedule { dependencies, connections, ..Schedule::default() };
    let net = round_packets(star(&[0, 0]), flows, schedule).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    if fast {
        sim.fast_forward(0.01, 1);
    }
    sim.run(&mut |_| true).expect("no loss");
    sim
}

#[test]
fn a_message_that_follows_last_acks_is_recalled() {
    // Two hosts send to each other, 30 messages each, and each message begins as soon as the one of the other host before it has come: 2 us before
    // the last ACK of the one before it on its connection. Three of a connection are simulated, or one or two more, 16 are recalled, and so on: at least 40 of 60.
    let flows: Vec<Flow> =
        (0..60).map(|i| if i % 2 == 0 { flow(0, 1, SIZE) } else { flow(1, 0, SIZE) }).collect();
    // The message after the next one of the same host waits for the next one, which is the other host's: 2 for 1, 3 for 0, 4 for 3, 5 for 2.
    // Delays that differ by some picoseconds keep the state of the network from being the same again.
    let after = |then: u32| Dependency {
        on: Milestone::Delivered(if then.is_multiple_of(2) { then - 1 } else { then - 3 }),
        then: Waiter::Flow(then),
        delay: Time(u64::from(then * then % 97)),
    };
    let run = |fast| two_connections(flows.clone(), (2..60).map(after).collect(), fast);
    let (plain, fast) = (run(false), run(true));
    let (plain, fast_flows) = (&plain.records().outcomes(), &fast.records().outcomes());
    let overlaps =
        (2..60).filter(|&i| plain[i].start < plain[i - 2].start + plain[i - 2].fct.expect("complete"));
    assert_eq!(overlaps.count(), 58);
    assert!(recalled(&fast).len() >= 40, "{:?}", recalled(&fast));
    assert_eq!(fast.forwarded().expect("fast-forwarded").uncertain_from, None);
    for (plain, fast) in plain.iter().zip(fast_flows) {
        let times = [plain, fast].map(|flow| flow.fct.expect("complete").0);
        assert!(times[0].abs_diff(times[1]) * 500 < times[0], "{times:?}");
    }
}

#[test]
fn a_message_that_follows_data_of_its_connection_is_not_recalled() {
    // The first two messages of a connection start at once, and each later one with the last ACK of the last but one: then the one ahead of it has just begun.
    // The connection's packets follow each other without a gap, 1 ms for a message. Message n starts at (n - 1) ms + 4.088 us and is over at (n + 1) ms + 4.088 us: 2 ms. As
    // all of a message's like take this time, but half of it waits for data that a recalled message would not have, none is recalled.
    let after =
        |then| Dependency { on: Milestone::Sent(then - 4), then: Waiter::Flow(then), delay: Time::ZERO };
    let flows: Vec<Flow> =
        (0..60).map(|i| if i % 2 == 0 { flow(0, 1, SIZE) } else { flow(1, 0, 952) }).collect();
    // Odd ones are one packet each, and only there so that even ones are of one connection.
    let dependencies = (4..60).filter(|then| then % 2 == 0).map(after).collect();
    let sim = two_connections(flows, dependencies, true);
    assert!(recalled(&sim).is_empty(), "{:?}", recalled(&sim));
    for (number, flow) in sim.records().outcomes().iter().enumerate().skip(6).step_by(2) {
        let fct = flow.fct.expect("complete");
        assert!(fct.0.abs_diff(Time::from_us(2_000).0) < 5_000_000, "{number}: {fct:?}");
    }
    assert_eq!(sim.forwarded().expect("fast-forwarded").uncertain_from, None);
}

#[test]
fn acks_that_are_not_there_are_an_error() {
    // Host 1 sends 6,250 packets to host 0, while the sixth message is recalled, whose ACKs of 50 B for each 1,000 B would
    // have taken 5 % of its ports: more than the tolerance, so that the run vouches only for what was over before. At the second
    // port they go into the gaps that those at the first one make, but for one base RTT: 5 % of 4.168 us in 504.088 us. And its last
    // ACK would have waited for a frame of 80 ns at each of two ports.
    let (start, back) = (Time::from_us(5_100), flow(1, 0, SIZE / 2));
    let sim = chain(12, &[Flow { start, ..back }], Recording::default(), None);
    let all = sim.forwarded().expect("fast-forwarded");
    let expected = 0.05 * (1.0 + 4.168 / 504.088) + 0.16 / 504.088;
    assert!((all.error - expected).abs() < 1e-12, "{}", all.error);
    // The sixth message, which began at 5 x 1,004.088 us, would have met ACKs too.
    assert_eq!(all.uncertain_from, Some(ALONE * 5));
    // Nothing more is recalled.
    assert_eq!(recalled(&sim), [3, 4, 5]);
}

#[test]
fn samples_look_at_messages_so_that_none_is_recalled() {
    let recording = Recording { interval: Some(Time::from_us(500)), ..Recording::default() };
    assert!(recalled(&chain(8, &[], recording, None)).is_empty());
}

#[test]
fn a_run_that_ends_during_a_recalled_message_has_a_part_of_it() {
    // The fourth message starts at 3 x 1,004.088 us, and the run ends after a half of its time: 6,250 packets.
    let half = ALONE * 3 + ALONE / 2;
    let sim = chain(8, &[], Recording::default(), Some(half));
    let flow = sim.records().outcomes()[3];
    assert!(flow.recalled && flow.fct.is_none());
    assert_eq!(flow.skipped, ALONE / 2);
    assert_eq!((flow.acked_bytes, flow.packets_sent), (SIZE / 2, 6_250));
    let port = sim.network().data_path(xoff_fabric::ids::FlowId(3))[1];
    assert_eq!(sim.port(port).tx_packets, 3 * 12_500 + 6_250);
}

#[test]
fn what_is_skipped_is_at_most_the_run() {
    // After the message, twenty steps of 3 us each take a processor one after the other, and nothing follows the last one.
    use xoff_fabric::network::dependencies::{Hold, Step};
    let flows = vec![flow(0, 1, SIZE)];
    let hold = Some(Hold { processor: 0, time: Time::from_us(3) });
    let after =
        |step: u32| Dependency { on: Milestone::Delivered(0), then: Waiter::Step(step), delay: Time::ZERO };
    let schedule = Schedule {
        steps: vec![Step { host: flows[0].dst, start: Time::ZERO, hold }; 20],
        dependencies: (0..20).map(after).collect(),
        ..Schedule::default()
    };
    let net = round_packets(star(&[0, 0]), flows, schedule).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    sim.fast_forward(0.01, 1);
    sim.run(&mut |_| true).expect("no loss");
    let (skipped, end) = (sim.forwarded().expect("fast-forwarded").skipped(), sim.now());
    assert!(Time::from_us(900) < skipped && skipped < end, "{skipped:?} of {end:?}");
}
