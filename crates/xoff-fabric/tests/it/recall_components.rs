//! Which messages keep others from being recalled, by hand: those of one component.
//!
//! Host 0 sends 30 messages of 12,500 packets to host 1, each after the last ACK of the one before; each takes 1,004.088 us
//! ([`super::recall`]). Hosts 2 and 3 send to host 4, and meet at the port to host 4.

use crate::common::{flow, round_packets, round_packets_by, star};
use crate::recall::{ALONE, SIZE, one_after_the_other, recalled};
use xoff_engine::{Bytes, Time};
use xoff_fabric::network::dependencies::{Dependency, Milestone, Waiter};
use xoff_fabric::network::{Flow, Schedule};
use xoff_fabric::settings::Switch;
use xoff_fabric::{Recording, Simulation};

const COUNT: usize = 30;

/// A fast run of host 0's messages and the `others`, which are messages 30 and 31, with `more` dependencies.
fn fast(others: [Flow; 2], more: &[Dependency], switch: Switch) -> Simulation {
    let mut flows = vec![flow(0, 1, SIZE); COUNT];
    flows.extend(others);
    let mut connections = vec![Some(0); COUNT];
    connections.resize(flows.len(), None);
    let mut dependencies = one_after_the_other(COUNT as u32);
    dependencies.extend(more);
    let schedule = Schedule { dependencies, connections, anywhere: true, ..Schedule::default() };
    let net = round_packets_by(switch, star(&[0; 5]), flows, schedule).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    sim.fast_forward(0.01, 1);
    sim.run(&mut |_| true).expect("no loss");
    sim
}

/// When a run says that it is uncertain.
fn uncertain(sim: &Simulation) -> Option<Time> {
    sim.forwarded().expect("fast-forwarded").uncertain_from
}

#[test]
fn messages_that_meet_elsewhere_leave_others_to_be_recalled() {
    // The messages from host 0 share no port with the others, which are there for 21 ms: 16 of them are recalled after the first
    // three, and 10 after the one that is simulated again.
    let others = [flow(2, 4, 20 * SIZE), flow(3, 4, SIZE)];
    let sim = fast(others, &[], Switch::default());
    assert_eq!(recalled(&sim), (3..19).chain(20..30).collect::<Vec<_>>());
    assert_eq!(uncertain(&sim), None);
    let fcts = |sim: &Simulation| sim.records().outcomes().iter().map(|flow| flow.fct).collect::<Vec<_>>();
    assert_eq!(fcts(&sim)[..COUNT], [Some(ALONE); COUNT]);
    // The others take as long as without host 0 and without fast-forward.
    let net = round_packets(star(&[0; 5]), others.to_vec(), Schedule::default()).expect("a network");
    let mut plain = Simulation::new(net, None, Recording::default(), None);
    plain.run(&mut |_| true).expect("no loss");
    assert_eq!(fcts(&sim)[COUNT..], fcts(&plain));
}

#[test]
fn messages_that_wait_for_others_are_of_their_component() {
    // Host 2 starts when message 7 is acknowledged, at 8 x 1,004.088 us = 8,032.704 us, as does message 8 before it. Host 3's
    // message comes to their port at 8,041 us. How the two share the port hangs on when host 2 began, and so on recalled messages.
    let others = [flow(2, 4, SIZE), Flow { start: Time::from_us(8_040), ..flow(3, 4, SIZE) }];
    let after = Dependency { on: Milestone::Sent(7), then: Waiter::Flow(30), delay: Time::ZERO };
    let sim = fast(others, &[after], Switch::default());
    assert_eq!(uncertain(&sim), Some(Time::from_us(8_041)));
    // When the two are over, messages 10 and 11 have the network for themselves, one episode each; 16 others are recalled as their
    // like, one is simulated again, and the last one is recalled.
    assert_eq!(recalled(&sim), (3..=8).chain(12..28).chain([29]).collect::<Vec<_>>());
}

#[test]
fn ports_that_share_memory_are_of_one_component() {
    let others = [flow(2, 4, 20 * SIZE), flow(3, 4, SIZE)];
    let sim = fast(others, &[], Switch { buffer: Some(Bytes(32_000_000)), ..Switch::default() });
    // The others are there until message 20. Messages 21 and 22 are the first that have the network for themselves, one episode each.
    assert_eq!((recalled(&sim), uncertain(&sim)), ((23..30).collect(), None));
}
