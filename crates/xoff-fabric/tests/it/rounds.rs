//! Rounds: a fast-forwarded run skips what is the same again although messages begin and end, and is the run with every packet, to the picosecond.
//!
//! Hosts of a ring on one switch pass on what they get, by two channels, and so by two connections that share a port: a message begins as soon as the one of
//! the same channel has come from the host before. A frame of 1,000 B carries 952 B and takes 80 ns at 100 Gbps, so a host's two messages of 100 packets take
//! at least 16 us.

use crate::common::{flow, round_packets_under, scheme, star};
use serde_json::json;
use xoff_engine::{Rate, Time};
use xoff_fabric::ids::{NodeId, PortId};
use xoff_fabric::network::dependencies::{Dependency, Hold, Milestone, Step, Waiter};
use xoff_fabric::network::{Flow, Schedule};
use xoff_fabric::observe::records::FlowOutcome;
use xoff_fabric::settings::{FlowControl, LinkCredits, Settings};
use xoff_fabric::{Approximate, Recording, Simulation};

const HOSTS: u32 = 3;
const SIZE: u64 = 100 * 952;

/// A program of a ring, and what is different from it.
struct Ring {
    channels: u32,
    /// Messages of a host by a channel.
    laps: u32,
    /// The size of the messages of a lap.
    size: fn(u32) -> u64,
    /// Messages of a lap wait for the last ACK of one of their connection of an earlier lap, if of any, and not for others to arrive.
    waits_for: Option<fn(u32) -> Option<u32>>,
    /// Host 0 waits for nothing: it has all of its messages at the begin, and they wait behind each other.
    has_source: bool,
    /// The rate of host 2's link, by which host 1 sends.
    last_rate: Rate,
    /// Time from the arrival of a message to the start of the next one, by lap.
    delay: fn(u32) -> Time,
    /// Other messages, on connections of their own, and in which lap host 0 sends another one as soon as it gets one.
    others: Vec<Flow>,
    another_in: Option<u32>,
    /// Both messages of a host wait for both of the host before, so that they start at the same time; from this lap on that of the second channel has the
    /// smaller number.
    swaps_in: Option<u32>,
    /// Hosts compute for so long before each message, one message after the other.
    computes: Option<Time>,
    scheme: &'static str,
    settings: Settings,
    duration: Option<Time>,
}

impl Default for Ring {
    fn default() -> Ring {
        Ring {
            channels: 2,
            laps: 400,
            size: |_| SIZE,
            waits_for: None,
            has_source: false,
            last_rate: Rate::from_gbps(100),
            delay: |_| Time::ZERO,
            others: Vec::new(),
            another_in: None,
            swaps_in: None,
            computes: None,
            scheme: "none",
            settings: Settings::default(),
            duration: None,
        }
    }
}

impl Ring {
    /// The number of the message of a lap that a host sends by a channel.
    fn number(&self, lap: u32, host: u32, channel: u32) -> u32 {
        (lap * HOSTS + host) * self.channels + channel
    }

    /// The lap, host and channel of all of its messages, in order of their numbers.
    fn messages(&self) -> impl Iterator<Item = (u32, u32, u32)> + use<> {
        let channels = self.channels;
        let of = move |lap| {
            (0..HOSTS).flat_map(move |host| (0..channels).map(move |channel| (lap, host, channel)))
        };
        (0..self.laps).flat_map(of)
    }

    fn run(&self, is_fast: bool) -> Simulation {
        self.run_by(is_fast.then_some(Approximate::Never))
    }

    /// With every packet, or skipping rounds that are the same, or approximate ones as well.
    fn run_by(&self, skips: Option<Approximate>) -> Simulation {
        let (mut flows, mut connections) = (Vec::new(), Vec::new());
        let (mut dependencies, mut steps) = (Vec::new(), Vec::new());
        for (lap, host, channel) in self.messages() {
            flows.push(flow(host, (host + 1) % HOSTS, (self.size)(lap)));
            let is_swapped = self.swaps_in.is_some_and(|swap| lap >= swap);
            connections.push(Some(if is_swapped { self.channels - 1 - channel } else { channel }));
            let before = self.waits_for.unwrap_or(|lap| lap.checked_sub(1));
            let Some(before) = before(lap) else { continue };
            if self.has_source && host == 0 {
                continue;
            }
            let on = match self.waits_for {
                Some(_) => Milestone::Sent(self.number(before, host, channel)),
                None => Milestone::Delivered(self.number(before, (host + HOSTS - 1) % HOSTS, channel)),
            };
            let then = Waiter::Flow(self.number(lap, host, channel));
            let delay = (self.delay)(lap);
            if self.swaps_in.is_some() {
                let other = self.number(before, (host + HOSTS - 1) % HOSTS, self.channels - 1 - channel);
                dependencies.push(Dependency { on: Milestone::Delivered(other), then, delay });
            }
            let Some(time) = self.computes else {
                dependencies.push(Dependency { on, then, delay });
                continue;
            };
            let step = steps.len() as u32;
            let hold = Some(Hold { processor: host, time });
            steps.push(Step { host: NodeId(host), start: Time::ZERO, hold });
            dependencies.push(Dependency { on, then: Waiter::Step(step), delay });
            dependencies.push(Dependency { on: Milestone::Step(step), then, delay: time });
        }
        if let Some(lap) = self.another_in {
            let on = Milestone::Delivered(self.number(lap, HOSTS - 1, 0));
            let then = Waiter::Flow(flows.len() as u32);
            dependencies.push(Dependency { on, then, delay: Time::ZERO });
            flows.push(flow(0, 2, 10 * 952));
        }
        flows.extend(&self.others);
        connections.resize(flows.len(), None);
        let schedule = Schedule { steps, dependencies, connections, ..Schedule::default() };
        let scheme = scheme(self.scheme, json!({}), Time::from_us(4));
        let mut topology = star(&[0; HOSTS as usize]);
        (topology.links[2].rate_ab, topology.links[2].rate_ba) = (self.last_rate, self.last_rate);
        let net = round_packets_under(scheme, self.settings.clone(), topology, flows, schedule);
        let mut sim = Simulation::new(net.expect("a network"), None, Recording::default(), self.duration);
        if let Some(approximate) = skips {
            sim.fast_forward(0.01, 1);
            sim.approximate(approximate);
            sim.recall_no_messages();
        }
        sim.run(&mut |_| true).expect("no loss");
        sim
    }

    /// Asserts that the fast run is the plain one, and that it took `times` fewer events; returns it.
    fn assert_same(&self, times: u64) -> Simulation {
        let [plain, fast] = [false, true].map(|is_fast| self.run(is_fast));
        let outcomes = |sim: &Simulation| -> Vec<FlowOutcome> {
            let told = |flow: &FlowOutcome| FlowOutcome { skipped: Time::ZERO, ..*flow };
            sim.records().outcomes().iter().map(told).collect()
        };
        for (number, (plain, fast)) in outcomes(&plain).iter().zip(outcomes(&fast)).enumerate() {
            assert_eq!(*plain, fast, "message {number}");
        }
        assert_eq!(sent(&plain), sent(&fast));
        assert_eq!((plain.now(), &plain.records().steps), (fast.now(), &fast.records().steps));
        let totals = |sim: &Simulation| (sim.counters().flows_done, sim.counters().delivered_bytes);
        assert_eq!(totals(&plain), totals(&fast));
        let all = fast.forwarded().expect("fast-forwarded");
        assert_eq!((all.error, all.approximate, all.recalled, all.uncertain_from), (0.0, 0, 0, None));
        let events = [&plain, &fast].map(|sim| sim.counters().events);
        assert!(events[1] * times <= events[0], "{events:?}");
        fast
    }
}

/// By port: packets and bytes that it has sent.
fn sent(sim: &Simulation) -> Vec<(u64, u64)> {
    let port = |port: PortId| (sim.port(port).tx_packets, sim.port(port).tx_bytes);
    sim.network().topology.port_ids().map(port).collect()
}

/// When the last message of a run ended.
fn end(sim: &Simulation) -> Time {
    let last = |flow: &FlowOutcome| flow.start + flow.fct.expect("complete");
    sim.records().outcomes().iter().map(last).max().expect("messages")
}

/// Settings with credits on links.
fn with_credits() -> Settings {
    Settings { flow_control: FlowControl::Credit(LinkCredits::default()), ..Settings::default() }
}

#[test]
fn rounds_in_which_messages_begin_and_end_are_skipped() {
    // Some thirty laps of 400 are simulated. Both messages of a host end after the 200 frames of a lap, 16 us, and what they wait for: ACKs of 4 ns for each
    // packet of a port, 0.8 us a lap.
    let ring = Ring::default();
    let fast = ring.assert_same(8);
    let flows = &fast.records().outcomes();
    let end = end(&fast);
    assert!(end > Time::from_us(16) * 400 && end < Time::from_us(17) * 400, "{end:?}");
    // Of a message in the midst of the jump, and of that alone, all was carried forward.
    let skipped = |lap| {
        let flow = flows[ring.number(lap, 0, 0) as usize];
        (flow.skipped, flow.fct.expect("complete"))
    };
    assert!(skipped(0).0 < skipped(0).1);
    assert_eq!(skipped(200).0, skipped(200).1);
    let jump = fast.forwarded().expect("fast-forwarded").skipped();
    assert!(jump > Time::from_us(16) * 350, "{jump:?}");
}

#[test]
fn messages_of_another_size_end_the_rounds() {
    // Lap 200 has one packet more. The rounds before and those after are skipped, each but for the first ones.
    Ring { size: |lap| SIZE + if lap == 200 { 952 } else { 0 }, ..Ring::default() }.assert_same(4);
    Ring { size: |lap| SIZE + 952 * u64::from(lap / 200), ..Ring::default() }.assert_same(3);
}

#[test]
fn messages_that_wait_are_told_apart_by_their_sizes() {
    // Four messages of a connection have started at any time, three of which wait. From lap 200 on each has one packet more: it starts as one of lap 196 is
    // over, and there is a time in which the same messages start again and again and others are sent.
    let size = |lap| SIZE + 952 * u64::from(lap / 200);
    Ring { waits_for: Some(|lap| lap.checked_sub(4)), size, ..Ring::default() }.assert_same(3);
}

#[test]
fn messages_that_all_wait_from_the_beginning_become_fewer() {
    // Host 0 sends all to host 1, which passes on each message to host 2, and that one to host 0.
    Ring { has_source: true, ..Ring::default() }.assert_same(4);
    // In the second half messages are larger: those that have begun to send are, long after all have started.
    let size = |lap| SIZE + 952 * u64::from(lap / 200);
    Ring { has_source: true, size, ..Ring::default() }.assert_same(2);
}

#[test]
fn messages_that_wait_may_come_to_an_end() {
    // 200 messages of a connection have started at the begin, and one more starts with each other one that ends: the last one as the last but one ends, so that
    // it does not follow at once.
    let waits_for: fn(u32) -> Option<u32> = |lap| lap.checked_sub(200).map(|later| 2 * later);
    Ring { waits_for: Some(waits_for), ..Ring::default() }.assert_same(2);
    // A round has two messages of a connection, one of which has a packet more in one lap.
    Ring { waits_for: Some(waits_for), size: |lap| SIZE + 952 * u64::from(lap == 150), ..Ring::default() }
        .assert_same(2);
    Ring { waits_for: Some(waits_for), size: |lap| SIZE + 952 * u64::from(lap == 151), ..Ring::default() }
        .assert_same(2);
}

#[test]
fn messages_that_wait_at_a_slow_host_become_more() {
    // By the link of host 2 a message takes twice as long, so that every other one comes to wait at host 1, whose port waits for credits.
    let last_rate = Rate::from_gbps(50);
    let fast =
        Ring { has_source: true, last_rate, settings: with_credits(), ..Ring::default() }.assert_same(2);
    let waits = |flow: &FlowOutcome| flow.skipped > Time::from_us(100);
    assert!(fast.records().outcomes().iter().any(waits));
}

#[test]
fn messages_that_start_at_another_time_end_the_rounds() {
    // From lap 200 on each message starts a picosecond later, or the messages of lap 200 alone do.
    Ring { delay: |lap| Time(u64::from(lap >= 200)), ..Ring::default() }.assert_same(3);
    Ring { delay: |lap| Time(u64::from(lap == 200)), ..Ring::default() }.assert_same(3);
}

#[test]
fn simultaneous_messages_start_in_the_order_of_their_numbers() {
    // Up to lap 200 a host's message of the first channel sends the first packet, and that of the second channel from then on. The rounds before and those after
    // are skipped.
    Ring { swaps_in: Some(200), ..Ring::default() }.assert_same(3);
}

#[test]
fn another_message_of_the_program_ends_the_rounds() {
    Ring { another_in: Some(200), ..Ring::default() }.assert_same(3);
}

#[test]
fn rounds_end_where_a_message_of_the_scenario_starts() {
    let others = [2_000, 4_000].map(|us| Flow { start: Time::from_us(us), ..flow(0, 2, 10 * 952) });
    Ring { others: others.to_vec(), ..Ring::default() }.assert_same(2);
}

#[test]
fn a_long_message_beside_is_carried_forward() {
    // 3,000 packets from host 0 to host 2 take a third of host 0's port, and end before the ring does.
    let fast = Ring { others: vec![flow(0, 2, 3_000 * 952)], ..Ring::default() }.assert_same(3);
    let long = fast.records().flows.iter().last().expect("messages");
    assert!(long.skipped > Time::ZERO, "{long:?}");
}

#[test]
fn a_run_that_ends_in_the_midst_says_how_far_messages_are() {
    // In jumps, and shortly before the ring would be over.
    let fast = Ring { duration: Some(Time::from_us(3_000)), ..Ring::default() }.assert_same(4);
    assert!(fast.records().outcomes().iter().any(|flow| flow.started && flow.fct.is_none()));
}

#[test]
fn steps_that_compute_are_called_as_before() {
    // Hosts compute for 3 us before each message; that of the other channel waits for it.
    let fast = Ring { computes: Some(Time::from_us(3)), ..Ring::default() }.assert_same(6);
    assert_eq!(fast.records().steps.len(), 399 * 6);
}

#[test]
fn ports_that_are_stopped_in_rounds_count_it() {
    // Without congestion control, a third host's data make host 0 wait: hosts 0 and 2 send to host 1, whose link has half of the rate.
    let fast = Ring { others: vec![flow(2, 1, 20_000 * 952)], settings: with_credits(), ..Ring::default() }
        .assert_same(1);
    assert!(
        fast.records().outcomes().iter().any(|flow| flow.paused > Time::ZERO && flow.skipped > Time::ZERO)
    );
}

#[test]
fn rounds_of_schemes_that_learn_from_acks_are_heard_again() {
    let ring = Ring { scheme: "swift", waits_for: Some(|lap| lap.checked_sub(2)), ..Ring::default() };
    ring.assert_same(4);
}

#[test]
fn rounds_of_schemes_with_a_state_of_their_own_are_alike() {
    // PowerTCP hears the queues of switches. Two channels share a port evenly, so that a lap takes as long as any other, but for part of a packet: the end is within
    // the tolerance, all messages pass all ports once, and the run vouches for nothing from the first jump on.
    let ring = Ring { scheme: "powertcp", ..Ring::default() };
    let [plain, never, fast] =
        [None, Some(Approximate::Never), Some(Approximate::Always)].map(|skips| ring.run_by(skips));
    let all = fast.forwarded().expect("fast-forwarded");
    assert!(all.approximate > 0 && all.approximate == all.jumps() && all.recalled == 0, "{all:?}");
    assert!(all.error <= 0.005, "{}", all.error);
    assert_eq!(all.uncertain_from, all.jumps_by_start().first().map(|jump| jump.start));
    let ends = [&plain, &fast].map(|sim| end(sim).0 as f64);
    assert!((ends[1] / ends[0] - 1.0).abs() < 0.01, "{ends:?}");
    assert_eq!(sent(&plain), sent(&fast));
    assert_eq!(plain.counters().delivered_bytes, fast.counters().delivered_bytes);
    let events = [&plain, &fast, &never].map(|sim| sim.counters().events);
    assert!(events[1] * 4 < events[0] && events[2] == events[0], "{events:?}");
}

#[test]
fn rounds_that_are_alike_are_skipped_by_default_where_messages_do_not_meet() {
    // One channel, so that each port carries one message at a time. As above, but that the run would vouch for what meets nothing, if it had not skipped by rounds
    // that are not the same.
    let ring = Ring { channels: 1, scheme: "powertcp", ..Ring::default() };
    let [plain, fast] = [None, Some(Approximate::Apart)].map(|skips| ring.run_by(skips));
    let all = fast.forwarded().expect("fast-forwarded");
    assert!(all.approximate > 0 && all.approximate == all.jumps() && all.recalled == 0, "{all:?}");
    assert_eq!(all.uncertain_from, all.jumps_by_start().first().map(|jump| jump.start));
    let ends = [&plain, &fast].map(|sim| end(sim).0 as f64);
    assert!((ends[1] / ends[0] - 1.0).abs() < 0.01, "{ends:?}");
    assert_eq!(sent(&plain), sent(&fast));
}

#[test]
fn ports_count_what_messages_carry_and_not_what_one_round_did() {
    // Under FNCC three channels share a port unevenly, by a packet or so in the round that is gone through. In the end all packets of all messages and all ACKs have
    // passed all ports, as in the run with every packet.
    let ring = Ring { channels: 3, scheme: "fncc", ..Ring::default() };
    let [plain, fast] = [None, Some(Approximate::Always)].map(|skips| ring.run_by(skips));
    assert!(fast.forwarded().expect("fast-forwarded").approximate > 0);
    assert_eq!(sent(&plain), sent(&fast));
    let ends = [&plain, &fast].map(|sim| end(sim).0 as f64);
    assert!((ends[1] / ends[0] - 1.0).abs() < 0.01, "{ends:?}");
}
