//! Episodes that are recalled in a fast-forwarded run although their messages meet, by hand.
//!
//! Hosts 0 and 2 send 100 packets each to host 1 at the same time, 10 us after both got the last ACK of the messages before. Frames of
//! 1,000 B take 80 ns, ACKs of 50 B 4 ns, and each link has 1 us. The port to host 1 is busy from 1.08 us on for 200 x 80 ns; the last
//! two packets, one of each message, arrive at 18 and 18.08 us, and their ACKs 2.008 us later: 20.008 and 20.088 us after the start. So
//! an episode takes 30.088 us with the pause after it.

use crate::common::{flow, round_packets, star};
use crate::recall::recalled;
use xoff_engine::Time;
use xoff_fabric::network::dependencies::{Dependency, Milestone, Waiter};
use xoff_fabric::network::{Flow, Schedule};
use xoff_fabric::{Recording, Simulation};

const SIZE: u64 = 100 * 952;
const PAUSE: Time = Time::from_us(10);
const EPISODE: Time = Time(30_088_000);

/// Two messages for each of `count` episodes, and what they wait for.
pub fn episodes(count: u32) -> (Vec<Flow>, Vec<Dependency>) {
    let flows = [flow(0, 1, SIZE), flow(2, 1, SIZE)].repeat(count as usize);
    let after = |then: u32| [then / 2 * 2 - 2, then / 2 * 2 - 1].map(|on| (on, then));
    let wait = |(on, then)| Dependency { on: Milestone::Sent(on), then: Waiter::Flow(then), delay: PAUSE };
    (flows, (2..2 * count).flat_map(after).map(wait).collect())
}

/// A run of messages on one connection for each pair of hosts, fast-forwarded or plain.
fn run(
    flows: &[Flow],
    dependencies: &[Dependency],
    recording: Recording,
    end: Option<Time>,
    fast: bool,
) -> Simulation {
    let (dependencies, connections) = (dependencies.to_vec(), vec![Some(0); flows.len()]);
    let schedule = Schedule { dependencies, connections, anywhere: true, ..Schedule::default() };
    let net = round_packets(star(&[0; 4]), flows.to_vec(), schedule).expect("a network");
    let mut sim = Simulation::new(net, None, recording, end);
    if fast {
        sim.fast_forward(0.01, 1);
    }
    sim.run(&mut |_| true).expect("no loss");
    sim
}

fn fast(flows: &[Flow], dependencies: &[Dependency]) -> Simulation {
    run(flows, dependencies, Recording::default(), None, true)
}

/// The messages of some episodes.
pub fn of(episodes: impl Iterator<Item = usize>) -> Vec<usize> {
    episodes.flat_map(|episode| [2 * episode, 2 * episode + 1]).collect()
}

fn uncertain(sim: &Simulation) -> Option<Time> {
    sim.forwarded().expect("fast-forwarded").uncertain_from
}

#[test]
fn an_episode_that_was_the_same_twice_comes_again() {
    // The first episode begins with ports that have yet to serve any class. The next two are the same, 16 are recalled, one is simulated
    // again, and the rest are recalled.
    let (flows, dependencies) = episodes(24);
    let sim = fast(&flows, &dependencies);
    assert_eq!(recalled(&sim), of((3..19).chain(20..24)));
    assert_eq!((uncertain(&sim), sim.forwarded().expect("fast-forwarded").error), (None, 0.0));
    for (number, flow) in sim.records().outcomes().iter().enumerate() {
        assert_eq!(flow.start, EPISODE * (number as u64 / 2), "{number}");
        let first = number % 2 == 0;
        assert_eq!(flow.fct, Some(Time(if first { 20_008_000 } else { 20_088_000 })), "{number}");
        assert_eq!((flow.acked_bytes, flow.packets_sent), (SIZE, 100));
    }
    let port = sim.network().data_path(xoff_fabric::ids::FlowId(0))[1];
    assert_eq!((sim.port(port).tx_packets, sim.port(port).tx_bytes), (4_800, 4_800_000));
}

#[test]
fn an_episode_for_which_messages_lack_is_simulated() {
    // In the twelfth episode host 2 has nothing to send: host 0's packets have the port for themselves, 101 x 80 ns + 2 us + 2.008 us.
    let (mut flows, mut dependencies) = episodes(12);
    flows.pop();
    dependencies.retain(|dependency| dependency.then != Waiter::Flow(23));
    let sim = fast(&flows, &dependencies);
    assert_eq!(recalled(&sim), of(3..11));
    assert_eq!(uncertain(&sim), None);
    assert_eq!(sim.records().outcomes()[22].fct, Some(Time(12_088_000)));
}

#[test]
fn a_message_that_the_known_episode_does_not_have_is_uncertain() {
    // Host 3 sends to host 1 as soon as the sixth episode's first message has arrived, 18 us after the episode's begin. The second message,
    // which is recalled, may wait for it. Nothing is recalled after that.
    let (mut flows, mut dependencies) = episodes(12);
    flows.push(flow(3, 1, SIZE));
    dependencies.push(Dependency { on: Milestone::Delivered(10), then: Waiter::Flow(24), delay: Time::ZERO });
    let sim = fast(&flows, &dependencies);
    assert_eq!(uncertain(&sim), Some(EPISODE * 5 + Time::from_us(18)));
    assert_eq!(recalled(&sim), of(3..6));
}

#[test]
fn a_message_that_starts_later_than_the_known_episode_has_it_is_uncertain() {
    // The sixth episode's second message starts 0.5 us later than the first, so soon that the first one's host cannot know. From its
    // time in the known episode on, the first one has the port for itself.
    let (flows, mut dependencies) = episodes(12);
    let late = |dependency: &&mut Dependency| dependency.then == Waiter::Flow(11);
    dependencies.iter_mut().filter(late).for_each(|dependency| dependency.delay += Time::from_ns(500));
    let sim = fast(&flows, &dependencies);
    assert_eq!(uncertain(&sim), Some(EPISODE * 5));
    assert_eq!(recalled(&sim), [6, 7, 8, 9, 10]);
}

#[test]
fn a_start_that_is_known_to_come_keeps_an_episode_from_being_recalled() {
    // A message of host 3 starts by itself 10 us after the sixth episode's begin. That is known when the episode begins, which is simulated, and
    // it keeps none of the episodes before from being recalled. After it the ports of host 3 have served a class, which is another state:
    // two episodes are simulated in it.
    let (mut flows, dependencies) = episodes(12);
    let start = EPISODE * 5 + Time::from_us(10);
    flows.push(Flow { start, ..flow(3, 1, SIZE) });
    let [plain, sim] = [false, true].map(|fast| run(&flows, &dependencies, Recording::default(), None, fast));
    assert_eq!(uncertain(&sim), None);
    assert_eq!(recalled(&sim), of((3..5).chain(8..12)));
    for (fast, plain) in sim.records().outcomes().iter().zip(&plain.records().outcomes()) {
        assert_eq!((fast.start, fast.fct), (plain.start, plain.fct));
    }
}

#[test]
fn pauses_come_again_with_their_episodes() {
    // Senders are paused from 500 kB of a message on: messages of 20,000 packets, which meet for 3.2 ms. Pauses, frames, times and what ports
    // have sent are those of the run with every packet.
    let (mut flows, dependencies) = episodes(8);
    flows.iter_mut().for_each(|flow| flow.size = (20_000 * 952).into());
    let recording = Recording { pauses: true, ..Recording::default() };
    let [plain, fast] = [false, true].map(|fast| run(&flows, &dependencies, recording.clone(), None, fast));
    assert_eq!(recalled(&fast), of(3..8));
    assert_eq!(uncertain(&fast), None);
    let of_ports = |sim: &Simulation| {
        let ports = sim.network().topology.port_ids();
        ports
            .map(|port| {
                let (frames, counts) = (&sim.records().totals.pause_frames, sim.port(port));
                (frames.of(port), sim.paused(port, 0), counts.tx_packets, counts.tx_bytes)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(of_ports(&fast), of_ports(&plain));
    let of_flows = |sim: &Simulation| {
        sim.records().outcomes().iter().map(|flow| (flow.start, flow.fct, flow.paused)).collect::<Vec<_>>()
    };
    assert_eq!(of_flows(&fast), of_flows(&plain));
    let begins = |sim: &Simulation| {
        sim.records()
            .pauses
            .iter()
            .filter(|pause| !pause.is_over_jump)
            .map(|pause| (pause.port, pause.start, pause.end))
            .collect::<Vec<_>>()
    };
    assert!(begins(&fast).len() > 100 && begins(&fast).iter().all(|pause| begins(&plain).contains(pause)));
}

#[test]
fn a_run_that_ends_in_a_recalled_episode_has_a_part_of_it() {
    // The run ends 15 us after the fifth episode's begin: 15 / 20.008 of 95,200 B are 71,371, 74 packets of 952 B and a part; by
    // 15 / 20.088 also 74.
    let (flows, dependencies) = episodes(8);
    let end = EPISODE * 4 + Time::from_us(15);
    let sim = run(&flows, &dependencies, Recording::default(), Some(end), true);
    assert_eq!(recalled(&sim), of(3..5));
    for flow in &sim.records().outcomes()[8..10] {
        assert_eq!((flow.fct, flow.skipped, flow.packets_sent), (None, Time::from_us(15), 74));
    }
    assert_eq!(uncertain(&sim), None);
}
