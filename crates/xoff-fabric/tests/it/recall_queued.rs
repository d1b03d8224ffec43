//! Messages that wait behind others on their connection are recalled under schemes with a state of their own, by hand.
//!
//! Host 2 sends messages of 1,000 packets to host 0, each after the last ACK of the one before, and host 0 sends each of them on to host 1 as soon as it is
//! there. Frames of 1,000 B carry 952 B and take 80 ns at 100 Gbps, but 160 ns on host 1's link of 50 Gbps: a message takes some 85 us to come and 160 us to
//! go on, and each waits about 75 us longer than the one before it.

use crate::common::{flow, round_packets_under, scheme, star};
use crate::faults::fault;
use xoff_engine::{Rate, Time};
use xoff_fabric::fault::{Broken, Convergence};
use xoff_fabric::network::Schedule;
use xoff_fabric::network::dependencies::{Dependency, Milestone, Waiter};
use xoff_fabric::observe::records::FlowOutcome;
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::Settings;
use xoff_fabric::{Recording, Simulation};

const COUNT: u32 = 100;
const SIZE: u64 = 1_000 * 952;

/// A run, which is fast or not, and in which host 1's link has half of its rate for half a millisecond from a time on.
fn run(is_fast: bool, duration: Option<Time>, slower_from: Option<Time>) -> Simulation {
    let mut topology = star(&[0; 3]);
    let slow = &mut topology.links[1];
    (slow.rate_ab, slow.rate_ba) = (Rate::from_gbps(50), Rate::from_gbps(50));
    let flows = [vec![flow(2, 0, SIZE); COUNT as usize], vec![flow(0, 1, SIZE); COUNT as usize]].concat();
    let after = |on, then| Dependency { on, then: Waiter::Flow(then), delay: Time::ZERO };
    let chain = (1..COUNT).map(|n| after(Milestone::Sent(n - 1), n));
    let on = (0..COUNT).map(|n| after(Milestone::Delivered(n), COUNT + n));
    let dependencies = chain.chain(on).collect();
    let connections = vec![Some(0); 2 * COUNT as usize];
    let schedule = Schedule { dependencies, connections, ..Schedule::default() };
    let swift = scheme("swift", serde_json::json!({}), Time::from_us(4));
    let router = Router::new(&topology, &Routing::default(), 1).expect("a star");
    let net = round_packets_under(swift, Settings::default(), topology, flows, schedule);
    let slower = slower_from.map(|from| {
        fault(Broken::Rate { link: 1, rate: Rate::from_gbps(25) }, from, from + Time::from_us(500))
    });
    let net =
        net.expect("a network").with_faults(&router, slower.into_iter().collect(), Convergence::None, &[]);
    let mut sim = Simulation::new(net.expect("faults"), None, Recording::default(), duration);
    if is_fast {
        sim.fast_forward(0.01, 1);
    }
    sim.run(&mut |_| true).expect("no loss");
    sim
}

/// What became of the messages that host 0 sends on, and whether each was recalled.
fn sent_on(sim: &Simulation) -> Vec<FlowOutcome> {
    sim.records().outcomes().iter().copied().skip(COUNT as usize).collect()
}

#[test]
fn messages_that_wait_behind_others_are_recalled_in_their_turn() {
    let (plain, fast) = (run(false, None, None), run(true, None, None));
    let [plain, fast_on] = [&plain, &fast].map(sent_on);
    let recalled = fast_on.iter().filter(|message| message.recalled).count();
    assert_eq!(recalled, 16, "until one is simulated again, behind which more than 16 wait by then");
    let fct = |message: &FlowOutcome| message.fct.expect("complete").0 as f64;
    for (number, (a, b)) in plain.iter().zip(&fast_on).enumerate() {
        assert!((fct(b) / fct(a) - 1.0).abs() < 0.001, "{number}: {a:?} {b:?}");
    }
    // What is simulated behind recalled ones waits for its turn, and none is out of order.
    let ends: Vec<f64> = fast_on.iter().map(|message| message.start.0 as f64 + fct(message)).collect();
    assert!(ends.windows(2).all(|pair| pair[1] - pair[0] > 160e6), "{ends:?}");
    let waits: Vec<f64> = fast_on.windows(2).map(|pair| fct(&pair[1]) - fct(&pair[0])).collect();
    assert!(waits.iter().all(|wait| (70e6..80e6).contains(wait)), "{waits:?}");
    let all = fast.forwarded().expect("fast-forwarded");
    // ACKs of one message of a connection at a time take 5 % of a port, however many wait.
    assert!(all.error < 0.1, "{all:?}");
    assert!(all.uncertain_from.is_some());
}

#[test]
fn a_message_that_is_held_back_as_the_run_ends_has_sent_nothing() {
    // At 2.7 ms, messages are held back that start from 2.61 ms on, and have their turns from 4.76 ms on.
    let end = Some(Time::from_us(2_700));
    let [plain, fast] = [false, true].map(|is_fast| sent_on(&run(is_fast, end, None)));
    let of = |message: &FlowOutcome| (message.started, message.fct.is_some(), message.acked_bytes > 0);
    assert_eq!(fast.iter().map(of).collect::<Vec<_>>(), plain.iter().map(of).collect::<Vec<_>>());
    let last = fast.iter().rfind(|message| message.started).expect("some start");
    assert!(!last.recalled && last.acked_bytes == 0 && last.start > Time::from_us(2_600), "{last:?}");
}

#[test]
fn none_is_recalled_whose_turn_comes_after_a_link_is_slower() {
    // The link is slower from 3 to 3.5 ms. A message's turn is known as it starts: one that starts before and has its turn after that is simulated, also if
    // the link is whole again by then.
    let from = Time::from_ms(3);
    let [plain, fast] = [false, true].map(|is_fast| sent_on(&run(is_fast, None, Some(from))));
    let end = |message: &FlowOutcome| message.start + message.fct.expect("complete");
    let late = fast.iter().filter(|message| message.recalled && message.start < from && end(message) > from);
    assert_eq!(late.count(), 0);
    assert!(fast.iter().any(|message| message.recalled && message.start < from));
    for (a, b) in plain.iter().zip(&fast) {
        let error = end(b).0 as f64 / end(a).0 as f64 - 1.0;
        assert!(error.abs() < 0.01, "{a:?} {b:?}");
    }
}
