//! Flows that start when others have ended.

use crate::common::{flow, round_packets as network, star};
use xoff_engine::Time;
use xoff_fabric::ids::{FlowId, NodeId};
use xoff_fabric::network::Flow;
use xoff_fabric::network::dependencies::{Dependency, DependencyError, Milestone, Schedule, Step, Waiter};
use xoff_fabric::topology::Topology;
use xoff_fabric::{BuildError, Cut, Recording, Simulation, Stop};

/// Payload of a full packet: a frame of 1,000 B has 48 B of headers.
const PAYLOAD: u64 = 952;
const US: Time = Time::from_us(1);

fn run(topology: Topology, flows: Vec<Flow>, schedule: Schedule) -> Simulation {
    let net = network(topology, flows, schedule).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    sim
}

fn starts(sim: &Simulation) -> Vec<u64> {
    sim.records().outcomes().iter().map(|f| f.start.ps()).collect()
}

fn after(on: Milestone, then: Waiter, delay: Time) -> Dependency {
    Dependency { on, then, delay }
}

/// One packet over two links with a switch in between: 2 x (80 ns + 1 us).
const THERE: u64 = 2 * (80_000 + 1_000_000);
/// Its ACK back: 2 x (4 ns + 1 us).
const BACK: u64 = 2 * (4_000 + 1_000_000);

#[test]
fn an_answer_starts_with_the_last_byte_of_the_question_and_the_delay() {
    // A question of two packets: the second follows 80 ns behind the first. 500 ns later the answer leaves.
    let answer = after(Milestone::Delivered(0), Waiter::Flow(1), Time(500_000));
    let schedule = Schedule { dependencies: vec![answer], ..Schedule::default() };
    let sim = run(star(&[0, 0]), vec![flow(0, 1, 2 * PAYLOAD), flow(1, 0, PAYLOAD)], schedule);
    assert_eq!(starts(&sim), [0, THERE + 80_000 + 500_000]);
    // Its completion time counts from there: one packet and its ACK.
    assert_eq!(sim.records().outcomes()[1].fct, Some(Time(THERE + BACK)));
}

#[test]
fn the_next_message_starts_when_the_last_is_acknowledged() {
    let next = after(Milestone::Sent(0), Waiter::Flow(1), Time::ZERO);
    let schedule = Schedule { dependencies: vec![next], ..Schedule::default() };
    let sim = run(star(&[0, 0, 0]), vec![flow(0, 1, PAYLOAD), flow(0, 2, PAYLOAD)], schedule);
    assert_eq!(starts(&sim), [0, THERE + BACK]);
}

#[test]
fn who_waits_for_several_waits_for_the_last_of_them_and_for_its_own_start() {
    // Hosts 0 and 1 send one packet and three to host 2 at the same time. Over its link go four, one behind the other:
    // the last, one of host 1's, arrives 3 x 80 ns after the first, which is host 0's as its ingress port is the first.
    let flows = vec![flow(0, 2, PAYLOAD), flow(1, 2, 3 * PAYLOAD), flow(2, 0, 1)];
    let on = |f, delay| after(Milestone::Delivered(f), Waiter::Flow(2), delay);
    let schedule =
        Schedule { dependencies: vec![on(0, Time::ZERO), on(1, Time::ZERO)], ..Schedule::default() };
    assert_eq!(starts(&run(star(&[0, 0, 0]), flows.clone(), schedule))[2], THERE + 3 * 80_000);
    // A delay of 1 ms behind the first to come makes that one decide.
    let dependencies = vec![on(0, Time::from_us(1_000)), on(1, Time::ZERO)];
    let schedule = Schedule { dependencies, ..Schedule::default() };
    let start = starts(&run(star(&[0, 0, 0]), flows.clone(), schedule))[2];
    assert_eq!(start, THERE + 1_000_000_000);
    // And it starts no earlier than it is to.
    let mut late = flows;
    late[2].start = Time::from_us(50);
    let schedule = Schedule { dependencies: vec![on(0, Time::ZERO)], ..Schedule::default() };
    assert_eq!(starts(&run(star(&[0, 0, 0]), late, schedule))[2], 50_000_000);
}

#[test]
fn steps_join_and_fork_and_tell_when_they_came() {
    // Step 0 comes at 3 us and lets two flows go; step 1 comes 200 ns after both ACKs; step 2 1 us after step 1, and
    // lets the last flow go. The two flows share the sender's link: the second ACK comes 80 ns behind the first.
    let steps = [3, 0, 0].map(|us| Step { host: NodeId(0), start: Time::from_us(us), hold: None }).to_vec();
    let flows = vec![flow(0, 1, PAYLOAD), flow(0, 1, PAYLOAD), flow(0, 1, PAYLOAD)];
    let dependencies = vec![
        after(Milestone::Step(0), Waiter::Flow(0), Time::ZERO),
        after(Milestone::Step(0), Waiter::Flow(1), Time::ZERO),
        after(Milestone::Sent(0), Waiter::Step(1), Time(200_000)),
        after(Milestone::Sent(1), Waiter::Step(1), Time(200_000)),
        after(Milestone::Step(1), Waiter::Step(2), US),
        after(Milestone::Step(2), Waiter::Flow(2), Time::ZERO),
    ];
    let sim = run(star(&[0, 0]), flows, Schedule { steps, dependencies, ..Schedule::default() });
    let joined = 3_000_000 + THERE + 80_000 + BACK + 200_000;
    assert_eq!(sim.records().steps, [3_000_000, joined, joined + 1_000_000].map(Time));
    assert_eq!(starts(&sim), [3_000_000, 3_000_000, joined + 1_000_000]);
}

#[test]
fn a_step_whose_milestones_never_come_has_no_time() {
    let steps = vec![Step { host: NodeId(0), start: Time::ZERO, hold: None }];
    let dependencies = vec![after(Milestone::Sent(1), Waiter::Step(0), Time::ZERO)];
    let schedule = Schedule { steps, dependencies, background: vec![false, true], ..Schedule::default() };
    let long = flow(0, 1, 1_000 * PAYLOAD);
    let sim = run(star(&[0, 0, 0]), vec![flow(2, 1, PAYLOAD), long], schedule);
    assert_eq!(sim.records().steps, [Time::NEVER]);
}

#[test]
fn a_run_does_not_wait_for_background_flows() {
    // 1,000 packets take 80 us; the run ends in the microsecond in which the other's ACK comes.
    let flows = vec![flow(0, 1, 1_000 * PAYLOAD), flow(2, 0, PAYLOAD)];
    let schedule = Schedule { background: vec![true, false], ..Schedule::default() };
    let sim = run(star(&[0, 0, 0]), flows.clone(), schedule);
    assert_eq!(sim.now(), Time((THERE + BACK).div_ceil(1_000_000) * 1_000_000));
    assert_eq!((sim.records().outcomes()[0].fct, sim.counters().flows_done), (None, 1));
    // Where all are, it waits for all.
    let schedule = Schedule { background: vec![true, true], ..Schedule::default() };
    assert_eq!(run(star(&[0, 0, 0]), flows, schedule).counters().flows_done, 2);
}

#[test]
fn flows_of_a_connection_take_one_path_and_others_their_own() {
    // Two leaves, four spines: of 32 flows between the same hosts ECMP uses more than one spine.
    let leaf_spine = xoff_fabric::topology::AnyTopology::read(
        "leaf_spine",
        serde_json::json!({"leaves": 2, "spines": 4, "hosts_per_leaf": 1}),
    );
    let topology = leaf_spine.expect("known").expect("valid").build().expect("a topology");
    let hosts = topology.hosts();
    let flows = vec![flow(hosts[0].0, hosts[1].0, PAYLOAD); 32];
    let paths = |connections| {
        let schedule = Schedule { connections, ..Schedule::default() };
        let net = network(topology.clone(), flows.clone(), schedule).expect("a network");
        let mut paths: Vec<_> = (0..32).map(|f| net.data_path(FlowId(f)).to_vec()).collect();
        paths.sort();
        paths.dedup();
        paths.len()
    };
    assert!(paths(vec![]) > 1);
    assert_eq!(paths(vec![Some(7); 32]), 1);
}

#[test]
fn what_cannot_be_waited_for_is_refused() {
    let flows = || vec![flow(0, 1, 1), flow(1, 2, 1), flow(2, 0, 1)];
    let steps = || vec![Step { host: NodeId(2), start: Time::ZERO, hold: None }];
    let refused = |dependencies: Vec<Dependency>| {
        let schedule = Schedule { dependencies, steps: steps(), ..Schedule::default() };
        match network(star(&[0, 0, 0]), flows(), schedule) {
            Err(BuildError::Dependency(error)) => error,
            other => panic!("{:?}", other.map(|_| ())),
        }
    };
    let zero = Time::ZERO;
    // Flow 1 starts at h1; the last ACK of flow 0 comes to h0.
    let elsewhere = refused(vec![after(Milestone::Sent(0), Waiter::Flow(1), zero)]);
    assert_eq!(
        elsewhere.to_string(),
        "flow 1 at h1 waits for the last ACK of flow 0, which h0 alone knows: expected something that ends at h1"
    );
    for (on, then) in [
        (Milestone::Delivered(0), Waiter::Flow(2)),
        (Milestone::Step(0), Waiter::Flow(0)),
        (Milestone::Sent(1), Waiter::Step(0)),
    ] {
        assert!(matches!(refused(vec![after(on, then, zero)]), DependencyError::Elsewhere { .. }));
    }
    for (on, then, what, number, count) in [
        (Milestone::Delivered(3), Waiter::Flow(0), "flow", 3, 3),
        (Milestone::Sent(0), Waiter::Flow(9), "flow", 9, 3),
        (Milestone::Step(1), Waiter::Flow(2), "step", 1, 1),
        (Milestone::Delivered(1), Waiter::Step(4), "step", 4, 1),
    ] {
        assert_eq!(refused(vec![after(on, then, zero)]), DependencyError::Unknown { what, number, count });
    }
    // 0 -> 1 -> 2 -> 0, and the step waits for flow 1 without being waited for.
    let around = [0, 1, 2].map(|f| after(Milestone::Delivered(f), Waiter::Flow((f + 1) % 3), zero));
    let step = after(Milestone::Delivered(1), Waiter::Step(0), zero);
    let cycle = refused([around.to_vec(), vec![step]].concat());
    assert!(matches!(&cycle, DependencyError::Cycle(item) if item.starts_with("flow")), "{cycle}");
    assert!(cycle.to_string().contains("waits for itself"));
}

#[test]
fn closed_loops_come_to_the_same_on_any_number_of_threads() {
    // A token goes 50 times around six hosts on three switches, in both directions, while host 0 sends to all.
    let hosts = [0, 1, 2, 0, 1, 2];
    let n = hosts.len() as u32;
    let mut flows: Vec<Flow> = (1..n).map(|dst| flow(0, dst, 200 * PAYLOAD)).collect();
    let first = flows.len() as u32;
    let mut dependencies = Vec::new();
    for i in 0..100 * n {
        let (hop, back) = (i / 2, i % 2 == 1);
        let place = if back { (n - hop % n) % n } else { hop % n };
        let next = if back { (place + n - 1) % n } else { (place + 1) % n };
        flows.push(flow(place, next, 1 + u64::from(i % 7) * 500));
        if i >= 2 {
            let (on, then) = (Milestone::Delivered(first + i - 2), Waiter::Flow(first + i));
            dependencies.push(after(on, then, Time(u64::from(i % 5) * 100_000)));
        }
    }
    let schedule = Schedule { dependencies, ..Schedule::default() };
    let outcome = |parts: usize| {
        let net = network(star(&hosts), flows.clone(), schedule.clone()).expect("a network");
        let cut = Cut::into(&net, parts, None);
        assert_eq!(cut.partitions(), parts);
        let mut sim = Simulation::cut(net, cut, None, Recording::default(), None);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        (sim.counters().fingerprint, sim.counters().events, sim.now(), sim.records().outcomes().clone())
    };
    let alone = outcome(1);
    // Each of 50 rounds has 6 hops, each of them at least two links of 1 us.
    assert!(alone.2 > Time(50 * 6 * 2_000_000));
    assert_eq!(alone, outcome(2));
    assert_eq!(alone, outcome(3));
}
