//! Fast-forward beside what breaks, by hand: jumps end before a failure and begin again after it.
//!
//! Frames of 1,000 B carry 952 B and take 80 ns at 100 Gbps, ACKs of 50 B take 4 ns, and each link has 1 us.

use xoff_engine::{Rate, Time};
use xoff_fabric::fault::{Broken, Convergence, Fault, FrameLoss};
use xoff_fabric::ids::{FlowId, NodeId, PortId};
use xoff_fabric::network::dependencies::Dependency;
use xoff_fabric::network::{Flow, Schedule};
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::run::fast_forward::{Held, Span};
use xoff_fabric::settings::{Watchdog, WatchdogAction};
use xoff_fabric::{Network, Recording, Simulation, network_env};

use crate::common::{chain, flow, scheme, star};
use crate::episodes::{episodes, of};
use crate::faults::{fault, first_trunk, line, network, round, two_spines, two_spines_of};
use crate::recall::{ALONE, SIZE, one_after_the_other, recalled};

/// Packets of 10 ms.
const PACKETS: u64 = 125_000;

/// A run of one message of `packets`, fast or not.
fn run(net: Network, fast: bool, duration: Option<Time>) -> Simulation {
    let mut sim = Simulation::new(net, None, Recording::default(), duration);
    if fast {
        sim.fast_forward(0.01, 1);
    }
    sim.run(&mut |_| true).expect("a run");
    sim
}

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// The jumps of a run.
fn spans(sim: &Simulation) -> Vec<Span> {
    sim.forwarded().expect("fast-forwarded").jumps_by_start()
}

/// By pair of neighbouring times: whether there is a jump between them. No jump is over one of them.
fn jumps_between(sim: &Simulation, times: &[Time]) -> Vec<bool> {
    let spans = spans(sim);
    let end = |span: &Span| span.start + span.length;
    for time in times {
        assert!(spans.iter().all(|span| span.start > *time || end(span) < *time), "{time}: {spans:?}");
    }
    let has = |pair: &[Time]| spans.iter().any(|span| span.start > pair[0] && end(span) < pair[1]);
    times.windows(2).map(has).collect()
}

#[test]
fn a_slower_link_makes_its_packets_slow_from_the_picosecond_on() {
    // h0's own link has 50 Gbps from 3,000.04 to 5,000 us. 37,501 frames begin before that, the last one at 3,000 us. 12,500 begin each
    // 160 ns from 3,000.08 us on, the last one at 4,999.92 us, so that the next one begins at 5,000.08 us, and the other 74,999 each 80 ns. The
    // last one begins 74,998 x 80 ns later, passes three links of 1,080 ns, and its ACK three of 1,004 ns. The run ends with it, long before
    // another failure.
    let (from, until) = (ns(3_000_040), ns(5_000_000));
    let slow = fault(Broken::Rate { link: 0, rate: Rate::from_gbps(50) }, from, until);
    let later = fault(Broken::Link(1), Time::from_ms(20), Time::from_ms(30));
    let net = network(line(), round(), vec![flow(0, 1, PACKETS * 952)], vec![slow, later], Convergence::None);
    let sim = run(net, true, None);
    let expected = ns(5_000_080 + 74_998 * 80 + 3 * 1_080 + 3 * 1_004);
    assert_eq!(sim.records().outcomes()[0].fct, Some(expected));
    assert_eq!(sim.now(), Time(expected.0.next_multiple_of(1_000_000)));
    assert_eq!(jumps_between(&sim, &[Time::ZERO, from, until, expected]), [true; 3]);
    assert!(sim.counters().events < 20_000, "{}", sim.counters().events);
    let all = sim.forwarded().expect("fast-forwarded");
    assert_eq!((all.error, all.approximate, all.uncertain_from), (0.0, 0, None));
}

#[test]
fn a_link_that_goes_down_loses_the_frames_that_are_on_it() {
    // The first link between switches goes down at 3 ms for ever, and routing knows at 3.05 ms. Frame i is on the link from 1,080 + 80 i
    // to 2,160 + 80 i ns: those from 37,473 on are lost, up to the last one that leaves h0 before 3.05 ms, 38,124. The first one begins on
    // the link at 2,998.92 us, and the last one comes to the dead port at 3,051 us.
    let flows = vec![flow(0, 1, PACKETS * 952)];
    let change = Time::from_ms(3);
    let converges = Convergence::After(Time::from_us(50));
    let dead = || vec![fault(Broken::Link(first_trunk(&flows)), change, Time::NEVER)];
    let of = |fast| run(network(two_spines(), round(), flows.clone(), dead(), converges), fast, None);
    let (plain, fast) = (of(false), of(true));
    let losses = fast.records().losses.iter().flatten();
    let lost: Vec<_> = losses.filter(|(key, _)| key.is_data).map(|(_, loss)| *loss).collect();
    let sums = (lost.iter().map(|loss| loss.packets).sum::<u64>(), lost.iter().map(|loss| loss.first).min());
    assert_eq!(sums, (38_124 - 37_473 + 1, Some(ns(2_998_920))));
    assert_eq!(lost.iter().map(|loss| loss.last).max(), Some(ns(3_051_000)));
    assert_eq!(plain.records().losses, fast.records().losses);
    // All else as in the run in which every packet is simulated; of the links between switches, the other one carries the rest.
    let [a, b] = [&plain, &fast].map(|sim| sim.records().outcomes()[0]);
    assert_eq!(
        (a.fct, a.packets_sent, a.retransmitted_bytes),
        (b.fct, b.packets_sent, b.retransmitted_bytes)
    );
    assert!(b.fct.is_some() && b.retransmitted_bytes >= 652 * 952);
    for port in PortId::all(12) {
        let sent = |sim: &Simulation| (sim.port(port).tx_packets, sim.port(port).tx_bytes);
        assert_eq!(sent(&plain), sent(&fast), "{port:?}");
    }
    let known = change + Time::from_us(50);
    assert_eq!(jumps_between(&fast, &[Time::ZERO, change, known, plain.now()]), [true, false, true]);
    assert!(fast.counters().events * 20 < plain.counters().events);
    assert_eq!(fast.forwarded().expect("fast-forwarded").uncertain_from, None);
}

#[test]
fn a_jump_ends_before_the_first_frame_that_a_failure_spoils() {
    // Links of 10 us. The one between the switches is down from 3 ms to 3.01 ms. Frame i is on it from 10,080 + 80 i to 20,160 + 80 i ns. The first one
    // that is lost is 37,248, which would arrive at 3 ms and begins at 2,989.92 us, and the last one 37,499, which comes to s0 with the end of the outage.
    let topology = chain(2, &[0, 1], Rate::from_gbps(100), Time::from_us(10));
    let down = || vec![fault(Broken::Link(2), Time::from_ms(3), Time::from_us(3_010))];
    let flows = vec![flow(0, 1, PACKETS * 952)];
    let of_run = |fast| {
        let net = network(topology.clone(), round(), flows.clone(), down(), Convergence::None);
        run(net, fast, Some(Time::from_ms(4)))
    };
    let [plain, fast] = [false, true].map(of_run);
    let losses = fast.records().losses.iter().flatten();
    let (_, lost) = losses.clone().find(|(key, _)| key.is_data).expect("data is lost");
    assert_eq!((lost.packets, lost.first, lost.last), (252, ns(2_989_920), ns(3_010_000)));
    assert_eq!(plain.records().losses, fast.records().losses);
    assert!(fast.forwarded().expect("fast-forwarded").jumps() > 0);
}

#[test]
fn no_time_is_carried_forward_while_frames_are_lost_by_chance() {
    // From 3 to 5 ms each frame of the host's link is lost with a probability of 10^-9, which hits none of 25,000 with this seed.
    let lossy = Broken::Frames { link: 0, loss: FrameLoss::Share(1e-9) };
    let (from, until) = (Time::from_ms(3), Time::from_ms(5));
    let faults = vec![fault(lossy, from, until)];
    let net = network(line(), round(), vec![flow(0, 1, PACKETS * 952)], faults, Convergence::None);
    let sim = run(net, true, None);
    let expected = ns(124_999 * 80 + 3 * 1_080 + 3 * 1_004);
    assert_eq!(sim.records().outcomes()[0].fct, Some(expected));
    assert_eq!(jumps_between(&sim, &[Time::ZERO, from, until, expected]), [true, false, true]);
    let held = &sim.forwarded().expect("fast-forwarded").held;
    let broken = held.iter().find(|(why, _)| *why == Held::Broken).expect("held").1;
    assert!(broken > Time::from_us(1_900) && broken <= Time::from_us(2_000), "{broken}");
}

#[test]
fn the_same_frames_are_lost_by_chance() {
    // From 3 to 3.1 ms each frame of the host's link is lost with a probability of 1 %: of 1,250 frames some ten are.
    let lossy = || Broken::Frames { link: 0, loss: FrameLoss::Share(0.01) };
    let (from, until) = (Time::from_ms(3), Time::from_us(3_100));
    let [plain, fast] = [false, true].map(|fast| {
        let faults = vec![fault(lossy(), from, until)];
        run(network(line(), round(), vec![flow(0, 1, PACKETS * 952)], faults, Convergence::None), fast, None)
    });
    assert_eq!(plain.records().losses, fast.records().losses);
    assert_eq!(times(&plain), times(&fast));
    let lost: u64 = fast.records().losses.iter().flatten().map(|(_, loss)| loss.packets).sum();
    assert!((3..40).contains(&lost), "{lost}");
    assert_eq!(jumps_between(&fast, &[Time::ZERO, from, until, fast.now()]), [true, false, true]);
}

/// A run of messages that wait for others, on one connection for each pair of hosts, with a fault that routing never knows of.
fn run_in_turn(flows: Vec<Flow>, dependencies: Vec<Dependency>, what: Fault, fast: bool) -> Simulation {
    let topology = star(&[0; 4]);
    let router = Router::new(topology.clone(), &Routing::default(), 1).expect("routes");
    let none = scheme("none", serde_json::json!({}), Time::from_us(1));
    let env = network_env(&topology, &router, &round(), &none.signals()).expect("connected");
    let connections = vec![Some(0); flows.len()];
    let schedule = Schedule { dependencies, connections, anywhere: true, ..Schedule::default() };
    let net = Network::along(topology, &router, env, round(), none, flows, schedule, 1).expect("a network");
    run(net.with_faults(&router, vec![what], Convergence::None, &[]).expect("faults"), fast, None)
}

/// Messages of a size one after the other from host 0 to host 1 on one connection, with a fault.
fn chain_of(count: u32, size: u64, what: Fault, fast: bool) -> Simulation {
    run_in_turn(vec![flow(0, 1, size); count as usize], one_after_the_other(count), what, fast)
}

/// When messages started, and how long they took.
fn times(sim: &Simulation) -> Vec<(Time, Option<Time>)> {
    sim.records().outcomes().iter().map(|flow| (flow.start, flow.fct)).collect()
}

#[test]
fn messages_are_recalled_by_those_of_the_same_network() {
    // A message takes 1,004.088 us, and 2 x 12,500 x 80 ns and 8 ns of its ACK where the host's link has 50 Gbps, with the last frame's 80 ns
    // and all else as before: 2,004.092 us. The link has 50 Gbps from 10.5 ms to 30.5 ms. Messages 0 to 2 are simulated, 3 to 9 are recalled, and
    // message 10 meets the change. Three of the slow ones are simulated, and the next ones recalled, until one meets the second change; after it
    // again three are simulated.
    let slow_down = || {
        let slow = Broken::Rate { link: 0, rate: Rate::from_gbps(50) };
        fault(slow, Time::from_us(10_500), Time::from_us(30_500))
    };
    let [plain, fast] = [false, true].map(|fast| chain_of(40, SIZE, slow_down(), fast));
    assert_eq!(times(&plain), times(&fast));
    let slow = ALONE + Time::from_ns(12_500 * 80 + 4);
    let is_slow: Vec<usize> = (0..40).filter(|&number| times(&fast)[number].1 == Some(slow)).collect();
    let (first, last) = (is_slow[0], *is_slow.last().expect("slow ones"));
    assert_eq!((first, last), (11, 19));
    let expected: Vec<usize> = (3..10).chain(14..20).chain(24..40).collect();
    assert_eq!(recalled(&fast), expected);
    for port in PortId::all(4) {
        let sent = |sim: &Simulation| (sim.port(port).tx_packets, sim.port(port).tx_bytes);
        assert_eq!(sent(&plain), sent(&fast), "{port:?}");
    }
}

#[test]
fn a_run_does_not_end_while_a_recalled_message_is_under_way() {
    // A run with a fault ends if no payload has arrived for 10 ms. Of five messages of 20 ms each the last two are recalled, and their payload
    // arrives all at once.
    let far = || fault(Broken::Link(1), Time::from_us(1), Time::from_us(2));
    let [plain, fast] = [false, true].map(|fast| chain_of(5, 20 * SIZE, far(), fast));
    assert_eq!(times(&plain), times(&fast));
    assert!(recalled(&fast).contains(&4) && times(&fast)[4].1 > Some(Time::from_ms(20)));
}

#[test]
fn episodes_come_again_only_in_the_same_network() {
    // An episode takes 30.088 us with the pause after it. The link to host 1 has 50 Gbps from 305 us on, or from 285 us on. The tenth one, from 270.792 to
    // 290.88 us, is recalled in the first case and simulated in the second; the eleventh one, from 300.88 us on, is recalled in neither. From
    // then on each takes 160 ns for each of 200 frames. Two of them are the same before the next ones are recalled.
    for (us, last, first) in [(305, 10, 13), (285, 9, 12)] {
        let slow =
            || fault(Broken::Rate { link: 1, rate: Rate::from_gbps(50) }, Time::from_us(us), Time::NEVER);
        let (flows, dependencies) = episodes(24);
        let of_run = |fast| run_in_turn(flows.clone(), dependencies.clone(), slow(), fast);
        let [plain, fast] = [false, true].map(of_run);
        assert_eq!(times(&plain), times(&fast));
        assert_eq!(recalled(&fast), of((3..last).chain(first..24)), "{us}");
        assert_eq!(fast.forwarded().expect("fast-forwarded").uncertain_from, None);
    }
}

#[test]
fn messages_that_a_detour_brings_together_have_met() {
    // Host h0 sends 3 MB to h2, which its source makes at 4 Gbps, in 6 ms, and h1 sends messages of 4,000 packets to h3, one after the other, by the
    // other spine. The first link of the long one goes down at 2 ms, and from 2.02 ms on it goes by the other spine too. Then the short ones wait for
    // some of its packets, for no PAUSE, and all take the same time but for 0.1 %; yet none is recalled until the long one is over.
    let topology = two_spines_of(2);
    let long = Flow { source_rate: Rate::from_gbps(4), ..flow(0, 2, 3_000_000) };
    let net = |seed, faults| {
        let router = Router::new(topology.clone(), &Routing::default(), seed).expect("routes");
        let none = scheme("none", serde_json::json!({}), Time::from_us(1));
        let env = network_env(&topology, &router, &round(), &none.signals()).expect("connected");
        let mut flows = vec![flow(1, 3, 4_000 * 952); 30];
        let (mut connections, dependencies) = (vec![Some(0); 30], one_after_the_other(30));
        flows.push(long);
        connections.push(None);
        let schedule = Schedule { dependencies, connections, ..Schedule::default() };
        let net = Network::along(topology.clone(), &router, env, round(), none, flows, schedule, 1);
        let converges = Convergence::After(Time::from_us(20));
        net.expect("a network").with_faults(&router, faults, converges, &[]).expect("faults")
    };
    // By link between switches: that of the long message, if the short ones take the other one.
    let apart = |seed| {
        let net = net(seed, Vec::new());
        let [long, short] = [30, 0].map(|flow| net.data_path(FlowId(flow))[1].link() as u32);
        (long != short).then_some((seed, long))
    };
    let (seed, link) = (1..20).find_map(apart).expect("a hash that keeps them apart");
    let dead = || vec![fault(Broken::Link(link), Time::from_ms(2), Time::NEVER)];
    let [plain, fast] = [false, true].map(|fast| run(net(seed, dead()), fast, None));
    assert_eq!(times(&plain), times(&fast));
    let alone = times(&fast)[1].1;
    let (start, fct) = times(&fast)[30];
    let beside = |&number: &usize| {
        let at = times(&fast)[number].0;
        number < 30 && at > Time::from_us(2_020) && at < start + fct.expect("complete")
    };
    let others: Vec<usize> = (0..30).filter(beside).collect();
    assert!(
        others.len() > 5 && others[1..].iter().all(|&number| times(&fast)[number].1 > alone),
        "{others:?}"
    );
    assert!(recalled(&fast).contains(&4) && !recalled(&fast).iter().any(beside), "{:?}", recalled(&fast));
}

#[test]
fn a_receiver_that_has_stopped_keeps_time_from_being_carried_forward() {
    // Host 1 takes nothing from 3 to 5 ms. Its NIC keeps 100,000 B, then the network fills up under PFC, and all goes on after it.
    let stop = Broken::Receiver { host: NodeId(1), rate: None, buffer: 100_000 };
    let (from, until) = (Time::from_ms(3), Time::from_ms(5));
    let [plain, fast] = [false, true].map(|fast| chain_of(12, SIZE, fault(stop.clone(), from, until), fast));
    assert_eq!(times(&plain), times(&fast));
    assert!(times(&fast)[2].1 > Some(ALONE + Time::from_us(1_900)), "{:?}", times(&fast)[2]);
    assert!(!jumps_between(&fast, &[Time::ZERO, from, until, plain.now()])[1]);
}

#[test]
fn a_watchdog_counts_simulated_time() {
    // Host 1 takes nothing from 6 to 8 ms, in the midst of a message of 100 ms. Its NIC keeps 100 frames of 1,000 B, and the next one is there 8.08 us
    // after the first at the latest. The PAUSE stops the switch's queue 1 us and some ns later. It is in a storm 500 us after that, and obeys
    // again 3 ms after the RESUME. That comes within some microseconds of 8 ms if the watchdog has dropped what came; if it lets the queue send, the
    // NIC has 1.5 ms of data by then, which the host takes in 1.5 ms, at twice the link's rate while more comes.
    let stop = Broken::Receiver { host: NodeId(1), rate: None, buffer: 100_000 };
    let (from, until) = (Time::from_ms(6), Time::from_ms(8));
    for (action, most_us) in [(WatchdogAction::Drop, 20), (WatchdogAction::Forward, 1_520)] {
        let [plain, fast] = [false, true].map(|fast| {
            let mut settings = round();
            let (detection, restoration) = (Time::from_us(500), Time::from_ms(3));
            settings.switch.watchdog = Some(Watchdog { detection, restoration, action });
            let (flows, stops) = (vec![flow(0, 1, 100 * SIZE)], vec![fault(stop.clone(), from, until)]);
            run(network(star(&[0, 0]), settings, flows, stops, Convergence::None), fast, None)
        });
        assert_eq!(plain.records().watchdog, fast.records().watchdog);
        let [storm] = &fast.records().watchdog[..] else { panic!("{:?}", fast.records().watchdog) };
        assert!(
            storm.stopped > from + Time::from_us(8) && storm.stopped < from + Time::from_us(12),
            "{storm:?}"
        );
        assert_eq!(storm.detected, storm.stopped + Time::from_us(500));
        let restored = storm.restored.expect("restored");
        let soonest = until + Time::from_ms(3);
        assert!(restored > soonest && restored < soonest + Time::from_us(most_us), "{storm:?}");
        assert_eq!(plain.records().outcomes()[0].fct, fast.records().outcomes()[0].fct);
        let jumps = jumps_between(&fast, &[Time::ZERO, from, until, restored, plain.now()]);
        assert_eq!(jumps, [true, false, false, true]);
    }
}
