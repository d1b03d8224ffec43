//! Steps that take processors, and schedules on an ideal network.

use crate::common::{flow, round_packets, star};
use xoff_engine::Time;
use xoff_fabric::ids::NodeId;
use xoff_fabric::network::Flow;
use xoff_fabric::network::dependencies::{
    Dependency, DependencyError, Hold, Milestone, Schedule, Step, Waiter,
};
use xoff_fabric::network::ideal_steps;
use xoff_fabric::{BuildError, Cut, Recording, Simulation, Stop, needs_one_partition};

const PAYLOAD: u64 = 952;
const US: u64 = 1_000_000;
/// A full packet over two links of 100 Gbps and 1 us with a switch in between, and its ACK of 50 B back.
const THERE: u64 = 2 * (80_000 + US);
const BACK: u64 = 2 * (4_000 + US);

/// A step of `host` that takes a processor for some microseconds.
fn work(host: u32, processor: u32, us: u64) -> Step {
    Step { host: NodeId(host), start: Time::ZERO, hold: Some(Hold { processor, time: Time::from_us(us) }) }
}

fn after(on: Milestone, then: Waiter, delay_us: u64) -> Dependency {
    Dependency { on, then, delay: Time::from_us(delay_us) }
}

fn run(flows: Vec<Flow>, schedule: Schedule) -> Simulation {
    let net = round_packets(star(&[0, 0, 0]), flows, schedule).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    sim
}

fn steps(sim: &Simulation) -> Vec<u64> {
    sim.records().steps.iter().map(|t| t.ps()).collect()
}

#[test]
fn a_processor_serves_one_at_a_time_in_the_order_in_which_they_are_ready() {
    // All of host 0, processor 0: step 0 is ready at once and keeps it up to 10 us. Step 1 follows the end of step 0 (10 us),
    // step 2 is ready at 4 us: so step 2 comes first, from 10 to 13 us, then step 1. Processor 1 is free for step 3 at once.
    let mut all = vec![work(0, 0, 10), work(0, 0, 1), work(0, 0, 3), work(0, 1, 5)];
    all[2].start = Time::from_us(4);
    let dependencies = vec![after(Milestone::Step(0), Waiter::Step(1), 10)];
    let sim = run(vec![flow(1, 2, 1)], Schedule { steps: all, dependencies, ..Schedule::default() });
    assert_eq!(steps(&sim), [0, 13 * US, 10 * US, 0]);
}

#[test]
fn of_steps_that_are_ready_together_the_first_comes_first() {
    let sim = run(
        vec![flow(1, 2, 1)],
        Schedule { steps: vec![work(0, 0, 2), work(0, 0, 3), work(0, 0, 4)], ..Schedule::default() },
    );
    assert_eq!(steps(&sim), [0, 2 * US, 5 * US]);
    // The last one keeps the processor up to 9 us, when all flows have long ended: the run waits for it, and ends with the
    // microsecond that begins then.
    assert_eq!(sim.now(), Time::from_us(10));
}

#[test]
fn messages_and_steps_that_take_processors_wait_for_each_other() {
    // Step 0 takes 2 us, then flow 0 goes. With its arrival step 1 is ready at host 1, whose processor step 2 has had since 0,
    // for 6 us; it then takes 1 us, and the answer goes.
    let flows = vec![flow(0, 1, PAYLOAD), flow(1, 0, PAYLOAD)];
    let dependencies = vec![
        after(Milestone::Step(0), Waiter::Flow(0), 2),
        after(Milestone::Delivered(0), Waiter::Step(1), 0),
        after(Milestone::Step(1), Waiter::Flow(1), 1),
    ];
    let all = vec![work(0, 0, 2), work(1, 1, 1), work(1, 1, 6)];
    let sim = run(flows, Schedule { steps: all, dependencies, ..Schedule::default() });
    // The message is there at 2 us + 2.16 us, before 6 us.
    assert_eq!(steps(&sim), [0, 6 * US, 0]);
    let starts: Vec<u64> = sim.records().outcomes().iter().map(|f| f.start.ps()).collect();
    assert_eq!(starts, [2 * US, 7 * US]);
    assert_eq!(sim.now(), Time((7 * US + THERE + BACK).div_ceil(US) * US));
}

#[test]
fn on_an_ideal_network_messages_do_not_meet() {
    // Hosts 0 and 1 send 100 packets each to host 2 at the same time. Alone either takes 101 packets' times and 2 us. A step
    // joins both arrivals, another both ACKs.
    let flows = vec![flow(0, 2, 100 * PAYLOAD), flow(1, 2, 100 * PAYLOAD), flow(2, 0, PAYLOAD)];
    let plain = |host| Step { host, start: Time::ZERO, hold: None };
    let dependencies = vec![
        after(Milestone::Delivered(0), Waiter::Step(0), 0),
        after(Milestone::Delivered(1), Waiter::Step(0), 0),
        after(Milestone::Sent(1), Waiter::Step(1), 0),
        after(Milestone::Step(0), Waiter::Flow(2), 5),
        after(Milestone::Sent(2), Waiter::Step(2), 0),
    ];
    let all = vec![plain(NodeId(2)), plain(NodeId(1)), work(2, 0, 1)];
    let schedule = Schedule { steps: all, dependencies, ..Schedule::default() };
    let sim = run(flows, schedule);
    let alone = 101 * 80_000 + 2 * US;
    let ideal: Vec<u64> = ideal_steps(sim.network()).iter().map(|t| t.ps()).collect();
    assert_eq!(ideal, [alone, alone + BACK, alone + 5 * US + THERE + BACK]);
    // In the run they share host 2's link: 200 packets behind each other.
    assert_eq!(steps(&sim)[0], 201 * 80_000 + 2 * US);
}

#[test]
fn a_lone_chain_takes_its_ideal_time() {
    // A token around three hosts, with work of a microsecond or more in between, so that ACKs have left: nothing meets
    // anything.
    let flows: Vec<Flow> = (0..30).map(|i| flow(i % 3, (i + 1) % 3, 1 + u64::from(i) * 700)).collect();
    let all: Vec<Step> = (0..30).map(|i| work((i + 1) % 3, (i + 1) % 3, u64::from(1 + i % 4))).collect();
    let mut dependencies = Vec::new();
    for i in 0..30u32 {
        dependencies.push(after(Milestone::Delivered(i), Waiter::Step(i), 0));
        if i < 29 {
            dependencies.push(after(Milestone::Step(i), Waiter::Flow(i + 1), u64::from(1 + i % 4)));
        }
    }
    let sim = run(flows, Schedule { steps: all, dependencies, ..Schedule::default() });
    assert_eq!(sim.records().steps, ideal_steps(sim.network()));
}

#[test]
fn a_processor_is_of_one_host() {
    let schedule = Schedule { steps: vec![work(0, 0, 1), work(1, 0, 1)], ..Schedule::default() };
    match round_packets(star(&[0, 0, 0]), vec![flow(0, 1, 1)], schedule) {
        Err(BuildError::Dependency(error @ DependencyError::Processor { number: 0, .. })) => {
            assert!(error.to_string().contains("taken at h0 and at h1"), "{error}");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
}

#[test]
fn a_schedule_may_ask_that_hosts_know_of_each_other_and_then_has_one_part() {
    // Flow 1 of host 1 starts with the last ACK of flow 0 at host 0, in no time.
    let dependencies = vec![after(Milestone::Sent(0), Waiter::Flow(1), 0)];
    let schedule = Schedule { dependencies, anywhere: true, ..Schedule::default() };
    let sim = run(vec![flow(0, 2, PAYLOAD), flow(1, 2, PAYLOAD)], schedule);
    assert_eq!(sim.records().outcomes()[1].start, Time(THERE + BACK));
    assert_eq!(needs_one_partition(sim.network()), Some("across_hosts = true"));
    assert_eq!(Cut::into(sim.network(), 2, None).partitions(), 1);
}

#[test]
fn processors_come_to_the_same_on_any_number_of_threads() {
    // Six hosts on three switches; each message makes work at its receiver, on one of two processors a host, and the work lets
    // the next message go. All hosts begin at once, so that processors are waited for.
    let hosts = [0, 1, 2, 0, 1, 2];
    let (n, rounds) = (hosts.len() as u32, 40);
    let (mut flows, mut all, mut dependencies) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        for host in 0..n {
            let (number, to) = (round * n + host, (host + 1 + round % (n - 1)) % n);
            flows.push(flow(host, to, 1 + u64::from(number % 5) * 900));
            all.push(work(to, 2 * to + number % 2, u64::from(number % 3)));
            dependencies.push(after(Milestone::Delivered(number), Waiter::Step(number), 0));
            if round + 1 < rounds {
                dependencies.push(after(Milestone::Step(number), Waiter::Flow((round + 1) * n + to), 1));
            }
        }
    }
    let schedule = Schedule { steps: all, dependencies, ..Schedule::default() };
    let outcome = |parts: usize| {
        let net = round_packets(star(&hosts), flows.clone(), schedule.clone()).expect("a network");
        let cut = Cut::into(&net, parts, None);
        assert_eq!(cut.partitions(), parts);
        let mut sim = Simulation::cut(net, cut, None, Recording::default(), None);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        (sim.counters().fingerprint, sim.now(), sim.records().steps.clone())
    };
    let alone = outcome(1);
    assert!(alone.2.iter().all(|at| *at < Time::NEVER));
    assert_eq!(alone, outcome(2));
    assert_eq!(alone, outcome(3));
}
