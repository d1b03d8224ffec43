//! Runs without a duration in which nothing moves any more, although something is always due: samples, or updates of credits.

use crate::common::{flow, scheme, star};
use serde_json::json;
use xoff_engine::{Bytes, Time};
use xoff_fabric::network::dependencies::{Dependency, Milestone, Schedule, Waiter};
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::{Cbfc, FlowControl, Settings};
use xoff_fabric::{Cut, Network, Recording, Simulation, Stop, network_env};

/// A packet of 952 B from host 0 to host 1, and two messages that wait for each other; or one that starts at `late`.
fn simulation(
    flow_control: FlowControl,
    recording: Recording,
    late: Option<Time>,
    partitions: usize,
) -> Simulation {
    let mut settings = Settings { flow_control, ..Settings::default() };
    settings.packets.mtu = Bytes(1_000);
    settings.packets.header = Bytes(48);
    settings.packets.gap = Bytes(0);
    let mut flows = vec![flow(0, 1, 952), flow(0, 1, 952)];
    let mut dependencies = vec![];
    if let Some(late) = late {
        flows[1].start = late;
    } else {
        flows.push(flow(1, 0, 952));
        let after = |on, then| Dependency {
            on: Milestone::Delivered(on),
            then: Waiter::Flow(then),
            delay: Time::ZERO,
        };
        dependencies.extend([after(2, 1), after(1, 2)]);
    }
    let topology = star(&[0, 1]);
    let router = Router::new(&topology, &Routing::default(), 1).expect("routes");
    let none = scheme("none", json!({}), Time::from_us(1));
    let env = network_env(&topology, &router, &settings, &none.signals()).expect("an environment");
    let schedule = Schedule { dependencies, ..Schedule::default() };
    let net = Network::along(topology, &router, env, settings, none, flows, schedule, 1).expect("a network");
    let cut = Cut::into(&net, partitions, None);
    Simulation::cut(net, cut, None, recording, None)
}

fn sampled(us: u64) -> Recording {
    Recording { interval: Some(Time::from_us(us)), ..Recording::default() }
}

/// The packet takes three links, 3 x (80 ns + 1 us) = 3.24 us: the fourth microsecond is the last with payload.
const SINCE: Stop = Stop::StandsStill { since: Time::from_us(4) };

#[test]
fn a_run_with_nothing_left_but_samples_ends() {
    // The first look is after 100 us without payload, on any number of threads.
    for partitions in [1, 2] {
        let mut sim = simulation(FlowControl::None, sampled(50), None, partitions);
        assert_eq!((sim.run(&mut |_| true), sim.now()), (Ok(SINCE), Time::from_us(104)));
    }
    // Without samples nothing at all is left.
    let mut sim = simulation(FlowControl::None, Recording::default(), None, 1);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Stalled));
}

#[test]
fn a_run_in_which_only_credits_are_updated_ends_after_a_second() {
    // Looks come after 100, 200, 400 us and so on, at 100 (2^n - 1) us: the first after a second is that of n = 14.
    for partitions in [1, 2] {
        let cbfc = Cbfc { update_period: Time::from_us(40), ..Cbfc::default() };
        let mut sim = simulation(FlowControl::Cbfc(cbfc), Recording::default(), None, partitions);
        assert_eq!((sim.run(&mut |_| true), sim.now()), (Ok(SINCE), Time::from_us(1_638_304)));
    }
}

#[test]
fn what_is_yet_to_come_is_waited_for() {
    for (flow_control, late) in
        [(FlowControl::None, 300_000), (FlowControl::Cbfc(Cbfc::default()), 2_500_000)]
    {
        let mut sim = simulation(flow_control, sampled(10_000), Some(Time::from_us(late)), 1);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        assert!(sim.now() > Time::from_us(late));
    }
}
