//! From when on a fast run is the plain run again, by hand.
//!
//! Hosts 0 and 1 send each other 20 messages of 1,000 packets, each after the last ACK of its sender's one before. Frames of 1,000 B carry 952 B and
//! take 80 ns at 100 Gbps; ACKs of the other direction take some of that, a little more or less of each message, so that most messages are
//! recalled with an estimated error. They are over before 2 ms. Later, hosts 2 and 3 send 100 packets each to host 4: up to 50 KB wait there, as
//! host 3 has 50 Gbps, and from 40 KB on whether RED marks a packet hangs on chance (for one packet of 10^9 at 400 KB).

use crate::common::{flow, round_packets_under, scheme, star};
use crate::recall::recalled;
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::NodeId;
use xoff_fabric::network::dependencies::{Dependency, Milestone, Step, Waiter};
use xoff_fabric::network::{Flow, Schedule};
use xoff_fabric::settings::Settings;
use xoff_fabric::{Recording, Simulation};
use xoff_schemes::AnyScheme;
use xoff_schemes::detector::red::Red;

const COUNT: u32 = 20;
const LATE: u64 = 100 * 952;
const K_MIN: u64 = 40_000;
/// The last ACK of host 0's messages.
const LAST: Milestone = Milestone::Sent(COUNT - 1);

/// Messages of a host, each after the last ACK of the one before.
fn chain(first: u32) -> impl Iterator<Item = Dependency> {
    let after = |n| Dependency { on: Milestone::Sent(n - 1), then: Waiter::Flow(n), delay: Time::ZERO };
    (first + 1..first + COUNT).map(after)
}

/// The messages of hosts 0 and 1 are on one connection each.
fn schedule(steps: Vec<Step>, dependencies: Vec<Dependency>, flows: usize) -> Schedule {
    let of = |flow| (flow < 2 * COUNT as usize).then_some(0);
    let connections = (0..flows).map(of).collect();
    Schedule { steps, dependencies, connections, anywhere: true, ..Schedule::default() }
}

/// The messages of hosts 0 and 1, and others that start `late`.
fn flows(late: &[Flow]) -> Vec<Flow> {
    let one = |src: u32, dst: u32| vec![flow(src, dst, 1_000 * 952); COUNT as usize];
    [one(0, 1), one(1, 0), late.to_vec()].concat()
}

/// A run, which is fast or not, of both hosts' messages, those that start `late`, and more dependencies.
fn run(is_fast: bool, late: &[Flow], more: &[Dependency]) -> Simulation {
    let flows = flows(late);
    let dependencies = chain(0).chain(chain(COUNT)).chain(more.iter().copied()).collect();
    let schedule = schedule(Vec::new(), dependencies, flows.len());
    simulate(is_fast, flows, schedule)
}

/// A run, which is fast or not.
fn simulate(is_fast: bool, flows: Vec<Flow>, schedule: Schedule) -> Simulation {
    let none = scheme("none", json!({}), Time::from_us(4));
    simulate_under(none, Settings::default(), K_MIN, is_fast, flows, schedule)
}

/// The same under a scheme, with settings, where marks hang on chance from `k_min` bytes on.
fn simulate_under(
    scheme: AnyScheme,
    settings: Settings,
    k_min: u64,
    is_fast: bool,
    flows: Vec<Flow>,
    schedule: Schedule,
) -> Simulation {
    let mut topology = star(&[0; 5]);
    let slow = &mut topology.links[3];
    (slow.rate_ab, slow.rate_ba) = (Rate::from_gbps(50), Rate::from_gbps(50));
    let net = round_packets_under(scheme, settings, topology, flows, schedule).expect("a network");
    let red = Red { k_min: Some(Bytes(k_min)), k_max: Some(Bytes(400_000)), p_max: 1e-9, ..Red::default() };
    let mut sim = Simulation::new(net, Some(&red.into()), Recording::default(), None);
    if is_fast {
        sim.fast_forward(0.01, 1);
    }
    sim.run(&mut |_| true).expect("no loss");
    sim
}

/// Two messages that start at a time and meet at the port to host 4.
fn meeting(start: Time) -> [Flow; 2] {
    [2, 3].map(|host| Flow { start, ..flow(host, 4, LATE) })
}

/// From when on a run does not vouch for single messages. It has recalled some, with an estimated error.
fn uncertain(sim: &Simulation) -> Option<Time> {
    let all = sim.forwarded().expect("fast-forwarded");
    assert!(all.error > 0.0 && all.error < 0.01 && recalled(sim).len() > 20, "{all:?}");
    all.uncertain_from
}

/// When the two hosts' messages are over in the plain run.
fn end() -> Time {
    let sim = run(false, &[], &[]);
    let end = sim.records().outcomes().iter().map(|flow| flow.start + flow.fct.expect("complete")).max();
    end.expect("40 messages")
}

#[test]
fn what_begins_long_after_all_has_ended_is_not_touched_by_errors() {
    let late = meeting(Time::from_ms(3));
    let (plain, fast) = (run(false, &late, &[]), run(true, &late, &[]));
    assert_eq!(uncertain(&fast), None);
    let fcts = |sim: &Simulation| {
        sim.records().outcomes()[2 * COUNT as usize..].iter().map(|flow| flow.fct).collect::<Vec<_>>()
    };
    assert_eq!(fcts(&fast), fcts(&plain));
}

#[test]
fn what_begins_before_all_is_surely_over_may_be_touched_by_errors() {
    // The messages are over by 1.01 times their end at most, and nothing is left of them two base RTTs of 4 us later. 40 KB wait for host 4 some
    // 6.4 us after the late messages' packets came there.
    let end = end();
    let surely = Time(end.0 + end.0 / 100);
    let before = run(true, &meeting(surely - Time::from_us(1)), &[]);
    let from = uncertain(&before).expect("in doubt");
    assert!(from > end && from < surely + Time::from_us(12), "{from} {surely}");
    let after = run(true, &meeting(surely + Time::from_us(15)), &[]);
    assert_eq!(uncertain(&after), None);
}

#[test]
fn what_waits_for_a_message_is_as_wrong_as_that_is() {
    // Host 2's message waits until 2 ms after the last message of host 0, and all is at rest meanwhile.
    let two_ms = Time::from_ms(2);
    let late = [flow(2, 4, LATE), Flow { start: end() + two_ms, ..flow(3, 4, LATE) }];
    let after = Dependency { on: LAST, then: Waiter::Flow(2 * COUNT), delay: two_ms };
    assert!(uncertain(&run(true, &late, &[after])).is_some());
}

#[test]
fn what_waits_for_a_message_and_something_else_is_as_wrong_as_that_message() {
    // Host 2's message waits for 2 ms after the last message of host 0, and for one of its own that starts at 2.5 ms: it is no event before that.
    let two_ms = Time::from_ms(2);
    let own = Flow { start: Time::from_us(2_500), ..flow(2, 3, 952) };
    let late = [own, flow(2, 4, LATE), Flow { start: end() + two_ms, ..flow(3, 4, LATE) }];
    let after = |on, delay| Dependency { on, then: Waiter::Flow(2 * COUNT + 1), delay };
    let more = [after(LAST, two_ms), after(Milestone::Sent(2 * COUNT), Time::ZERO)];
    assert!(uncertain(&run(true, &late, &more)).is_some());
}

#[test]
fn queues_that_might_have_been_longer_keep_a_run_from_beginning_anew() {
    // 16 frames of 1,000 B and four times the longest queue are more than 10 KB, whatever waited: the plain run may have drawn other random numbers.
    let of = |k_min| {
        let flows = flows(&meeting(Time::from_ms(3)));
        let schedule = schedule(Vec::new(), chain(0).chain(chain(COUNT)).collect(), flows.len());
        let none = scheme("none", json!({}), Time::from_us(4));
        uncertain(&simulate_under(none, Settings::default(), k_min, true, flows, schedule)).is_some()
    };
    assert_eq!([10_000, K_MIN].map(of), [true, false]);
}

#[test]
fn a_step_starts_as_stated_if_it_waits_for_nothing() {
    // Host 2's message waits for a step that comes at 3 ms, and in the second run waits for the last message of host 0 too.
    let flows = flows(&[flow(2, 4, LATE), Flow { start: Time::from_ms(3), ..flow(3, 4, LATE) }]);
    for waits in [false, true] {
        let step = Step { host: NodeId(2), start: Time::from_ms(3), hold: None };
        let last = Dependency { on: LAST, then: Waiter::Step(0), delay: Time::from_ms(1) };
        let then = Dependency { on: Milestone::Step(0), then: Waiter::Flow(2 * COUNT), delay: Time::ZERO };
        let more = [Some(then), waits.then_some(last)];
        let dependencies = chain(0).chain(chain(COUNT)).chain(more.into_iter().flatten()).collect();
        let schedule = schedule(vec![step], dependencies, flows.len());
        let sim = simulate(true, flows.clone(), schedule);
        assert_eq!(uncertain(&sim).is_some(), waits);
    }
}

#[test]
fn what_may_be_remembered_keeps_a_run_from_beginning_anew() {
    // Marks that hang on chance take random numbers. Those of the first message, which waits for host 3's link, are the plain run's; but so much later, after
    // messages with errors, nobody looks which ones were drawn when.
    let flows = [vec![flow(2, 3, LATE)], meeting(Time::from_ms(3)).to_vec()].concat();
    assert!(uncertain(&run(true, &flows, &[])).is_some());
}

#[test]
fn an_approximate_jump_is_past_as_well() {
    // Host 0's application makes 33.333 Gbps, so that packets come at no whole number of ps. The message is over after 2.4 ms.
    let made = Flow { source_rate: Rate::from_mbps(33_333), ..flow(0, 4, 10_000_000) };
    let of = |late: Time| {
        let flows = [vec![made], meeting(late).to_vec()].concat();
        let sim = simulate(true, flows, Schedule::default());
        let all = sim.forwarded().expect("fast-forwarded");
        assert!(all.approximate > 0, "{all:?}");
        all.uncertain_from
    };
    assert_eq!(of(Time::from_ms(3)), None);
    assert!(of(Time::from_us(2_410)).is_some(), "sooner than 1 % later");
}

#[test]
fn receivers_that_count_from_a_first_packet_on_remember_when_that_came() {
    // Nothing is marked, so that DCQCN does what no scheme does; but with `periodic`, CNPs go at whole periods after each connection's first packet.
    let of = |np: &str| {
        let flows = flows(&meeting(Time::from_ms(3)));
        let schedule = schedule(Vec::new(), chain(0).chain(chain(COUNT)).collect(), flows.len());
        let dcqcn = scheme("dcqcn", json!({ "np": np }), Time::from_us(4));
        uncertain(&simulate_under(dcqcn, Settings::default(), K_MIN, true, flows, schedule)).is_some()
    };
    assert_eq!(["immediate", "periodic"].map(of), [false, true]);
}

#[test]
fn a_message_of_which_too_little_is_known_may_have_waited_longer() {
    // Only host 0 sends its messages, with an ACK for ten packets. Host 2 sends 10,000 packets to host 0, where host 1's ACKs take 0.5 % of the port.
    // Messages 3 to 18 are recalled, until 1.6 ms, and their ACKs are not there; message 19 is simulated.
    let of = |start_us: u64| {
        let stranger = Flow { start: Time::from_us(start_us), ..flow(2, 0, 10_000 * 952) };
        let chained = vec![flow(0, 1, 1_000 * 952); COUNT as usize];
        let flows = [chained, vec![stranger], meeting(Time::from_ms(4)).to_vec()].concat();
        let connections = (0..flows.len()).map(|flow| (flow < COUNT as usize).then_some(0)).collect();
        let schedule = Schedule { dependencies: chain(0).collect(), connections, ..Schedule::default() };
        let mut settings = Settings::default();
        settings.host.ack_every = 10;
        let none = scheme("none", json!({}), Time::from_us(4));
        let sim = simulate_under(none, settings, K_MIN, true, flows, schedule);
        let all = sim.forwarded().expect("fast-forwarded");
        assert!(
            all.error > 0.0 && all.error < 0.01 && recalled(&sim) == (3..19).collect::<Vec<_>>(),
            "{all:?}"
        );
        all.uncertain_from.is_some()
    };
    assert_eq!([1_550, 1_600].map(of), [true, false]);
}
