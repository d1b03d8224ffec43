//! NICs that babble PAUSE, PFC watchdogs, and receivers that stop.

use serde_json::json;
use xoff_engine::{Rate, Time};
use xoff_fabric::Stop;
use xoff_fabric::fault::{Broken, Cause, Convergence, Fault};
use xoff_fabric::ids::{NodeId, PortId};
use xoff_fabric::network::Flow;
use xoff_fabric::settings::{FlowControl, LinkCredits, Settings, Watchdog, WatchdogAction};
use xoff_fabric::topology::{AnyTopology, Topology};

use crate::common::{chain, endless, flow};
use crate::faults::{fault, network, round, run};

const RATE: Rate = Rate::from_gbps(100);

fn storm(port: u32, from: Time, until: Time) -> Fault {
    fault(Broken::PauseStorm { port: PortId(port), priorities: 1 }, from, until)
}

/// h0 - s0 - h1: link 1 has port 2 at h1 and port 3 at s0.
fn line() -> Topology {
    chain(1, &[0, 0], RATE, Time::from_us(1))
}

#[test]
fn a_storm_delays_a_flow_by_the_time_for_which_its_port_stands_still() {
    // Frames of 80 ns: packet i is on the wire of s0 from 1,080 + 80 i ns. The NIC babbles from 3 us to 13 us. Its PAUSE of 64 B
    // takes 5.12 ns and a delay: s0 stops at 4,005.12 ns, after the packet that began at 3,960 ns (i = 36) and would have sent the
    // next one at 4,040 ns. The RESUME of 13 us works at 14,005.12 ns: 9,965.12 ns later. One of 100 packets.
    let faults = vec![storm(2, Time::from_us(3), Time::from_us(13))];
    let mut settings = round();
    settings.host.retransmit_timeout = Time::from_ms(1);
    let net = network(line(), settings, vec![flow(0, 1, 95_200)], faults, Convergence::None);
    assert_eq!(net.wire.pfc, 64);
    let (sim, _) = run(net, None);
    let alone = Time::from_ns(99 * 80 + 2 * 1_080 + 2 * 1_004);
    assert_eq!(sim.records().outcomes()[0].fct, Some(alone + Time(9_965_120)));
    // Pause times of 65,535 quanta are 335 us at 100 Gbps: the PAUSE was not repeated.
    assert_eq!(sim.records().totals.pause_frames.of(PortId(2)), 1);
    assert_eq!(sim.counters().drops, 0);
}

/// A fat-tree of 16 hosts whose last host's NIC babbles from 100 us on; host 12 sends to it, and hosts 1 and 5 to elsewhere.
fn fat_tree(watchdog: Option<Watchdog>) -> xoff_fabric::Simulation {
    let params = json!({ "k": 4, "hosts_per_edge": 2, "rate": "100Gbps", "delay": "1us" });
    let topology =
        AnyTopology::read("fat_tree", params).expect("known").expect("valid").build().expect("a network");
    let mut settings = Settings::default();
    settings.switch.watchdog = watchdog;
    let babbler = NodeId(15);
    let port = topology.port_ids().find(|&port| topology.node_of(port) == babbler).expect("a NIC");
    let flows =
        vec![endless(0, 15, 0), endless(4, 15, 0), endless(8, 15, 0), endless(1, 14, 0), endless(5, 14, 0)];
    let faults = vec![storm(port.0, Time::from_us(100), Time::NEVER)];
    let net = network(topology, settings, flows, faults, Convergence::None);
    let (sim, stop) = run(net, Some(Time::from_ms(3)));
    assert_eq!(stop, Stop::Duration);
    sim
}

/// Payload acknowledged of the two victims, whose receiver has 100 Gbps: 37.5 MB in 3 ms, less headers.
fn victims(sim: &xoff_fabric::Simulation) -> u64 {
    sim.records().outcomes()[3..].iter().map(|flow| flow.acked_bytes).sum()
}

#[test]
fn a_babbling_nic_stops_victims_until_a_watchdog_drops_what_waits_for_it() {
    // 300 Gbps are offered to host 15, whose link stands still from 101 us on: its edge switch fills up to Xoff, 500 KB an input,
    // within some 100 us, then the switches before it. The victims share the links to host 14's edge switch, which is host 15's,
    // and stop: they have had 100 us and a few hundred at most, of 3 ms.
    let without = victims(&fat_tree(None));
    let whole = 37_500_000;
    assert!(without < whole / 5, "{without} B");
    // A watchdog with a detection time of 200 us finds the storm at 101.00512 + 200 us, and soon after it finds the queues that
    // stood still behind it, which drop the victims' packets too, for the restoration time of 400 us. At some 750 us all of them
    // obey again, and senders that have lost all go on at their next timeout, 1 ms after the last: by 1.5 ms at the
    // latest the victims fill their link, for half of the run.
    let watchdog =
        Watchdog { detection: Time::from_us(200), restoration: Time::from_us(400), ..Watchdog::default() };
    let sim = fat_tree(Some(watchdog.clone()));
    let with = victims(&sim);
    assert!(with > whole / 2, "{with} B");
    let first = sim
        .records()
        .watchdog
        .iter()
        .find(|storm| sim.network().topology.port_name(storm.port).ends_with("->host15"));
    let first = first.expect("a storm at the babbler's port");
    assert_eq!((first.stopped, first.detected), (Time(101_005_120), Time(301_005_120)));
    assert_eq!(first.restored, None, "the NIC babbles to the end");
    let dropped =
        sim.records().losses.as_ref().expect("losses").iter().filter(|(key, _)| key.cause == Cause::Watchdog);
    let by_cause: u64 = dropped.map(|(_, loss)| loss.packets).sum();
    let by_storm: u64 = sim.records().watchdog.iter().map(|storm| storm.packets).sum();
    assert!(by_cause > 0 && by_cause == by_storm, "{by_cause} and {by_storm}");
    // Forwarding loses nothing, and the babbler's host takes the data after all; its incast of three now holds the victims back as
    // any other one does under PFC.
    let sim = fat_tree(Some(Watchdog { action: WatchdogAction::Forward, ..watchdog }));
    assert_eq!(sim.counters().drops, 0);
    assert!(victims(&sim) > 2 * without && sim.records().outcomes()[0].acked_bytes > whole / 10);
}

#[test]
fn a_queue_obeys_pause_again_after_the_restoration_time() {
    // The NIC babbles from 3 us to 60 us. The watchdog acts 20 us after the stop at 4,005.12 ns. The RESUME of 60 us works at
    // 61,005.12 ns, and 30 us later the queue obeys again.
    let mut settings = round();
    let (detection, restoration) = (Time::from_us(20), Time::from_us(30));
    settings.switch.watchdog = Some(Watchdog { detection, restoration, action: WatchdogAction::Drop });
    let faults = vec![storm(2, Time::from_us(3), Time::from_us(60))];
    let net = network(line(), settings, vec![flow(0, 1, 952_000)], faults, Convergence::None);
    let (sim, stop) = run(net, None);
    assert_eq!(stop, Stop::FlowsDone);
    let [storm] = sim.records().watchdog[..] else { panic!("{:?}", sim.records().watchdog) };
    assert_eq!((storm.stopped, storm.detected), (Time(4_005_120), Time(24_005_120)));
    assert_eq!(storm.restored, Some(Time(91_005_120)));
    // 37 of 1,000 packets had gone (see above). The rest come at 80 ns each up to 1,080 + 80 x 999 = 81,000 ns, wait and are dropped.
    assert_eq!(storm.packets, 963);
}

#[test]
fn a_run_that_a_storm_keeps_from_its_end_ends_and_says_so() {
    let faults = vec![storm(2, Time::ZERO, Time::NEVER)];
    let net = network(line(), round(), vec![flow(0, 1, 95_200)], faults, Convergence::None);
    let (sim, stop) = run(net, None);
    assert_eq!((stop, sim.records().outcomes()[0].acked_bytes), (Stop::Stuck, 0));
    assert!(sim.now() < Time::from_ms(60), "{}", sim.now());
}

#[test]
fn a_receiver_that_stops_pauses_its_neighbour_and_then_takes_what_it_held() {
    // h1 takes no data from 10 us to 50 us, and keeps 20,000 B before it sends PAUSE. Nothing is lost, and everything arrives.
    let stopped = Broken::Receiver { host: NodeId(1), rate: None, buffer: 20_000 };
    let faults = vec![fault(stopped, Time::from_us(10), Time::from_us(50))];
    let mut settings = round();
    settings.host.retransmit_timeout = Time::from_ms(1);
    let net = network(line(), settings, vec![flow(0, 1, 952_000)], faults, Convergence::None);
    let (sim, stop) = run(net, None);
    let outcome = &sim.records().outcomes()[0];
    assert_eq!((stop, outcome.retransmitted_bytes, sim.counters().drops), (Stop::FlowsDone, 0, 0));
    // The 21st frame of 1,000 B is one too many: it comes 21 x 80 ns after the first one that is held. The first data of the
    // time arrives after 10 us, a multiple of 80 ns later: PAUSE at 10 us + 1,680 ns at the latest.
    assert_eq!(sim.records().totals.pause_frames.of(PortId(2)), 1);
    let paused = sim.paused(PortId(3), 0);
    // The RESUME goes when half of the buffer is left: of some 21 + 27 held frames (27 come during the 2,165 ns in which the
    // PAUSE takes effect), 10 are left after 38 x 40 ns. Stopped from 12.7 us to 52.5 us, give or take a frame.
    assert!(paused > Time::from_us(39) && paused < Time::from_us(41), "{paused}");
    assert_eq!(sim.packets_in_flight(), 0);
}

/// h1 takes 25 of 100 Gbps and keeps 20,000 B: a frame of 1,000 B each 320 ns.
fn slow(from: Time, until: Time) -> Fault {
    fault(Broken::Receiver { host: NodeId(1), rate: Some(Rate::from_gbps(25)), buffer: 20_000 }, from, until)
}

fn patient(flow_control: FlowControl) -> Settings {
    let mut settings = round();
    settings.host.retransmit_timeout = Time::from_ms(1);
    settings.flow_control = flow_control;
    settings
}

/// When 1,000 frames are done that a slow receiver takes: the first one arrives after two links, each 1 us and 80 ns; 1,000 times
/// 320 ns later the last one is taken; its ACK takes twice 1 us and 4 ns.
const SLOW_FCT: Time = Time::from_ns(2_160 + 320_000 + 2_008);

#[test]
fn a_slow_receiver_takes_frames_at_its_rate_and_pauses_its_neighbour() {
    // The RESUME goes with 10 frames left, which last 3.2 us; data comes again after 2.2 us. So the receiver always has some.
    // With credits, the switch lets the first frame through after 64 B, 80 - 5.12 ns sooner.
    let credits = FlowControl::Credit(LinkCredits::default());
    for (flow_control, pauses, sooner) in
        [(Settings::default().flow_control, true, 0), (credits, false, 74_880)]
    {
        let faults = vec![slow(Time::ZERO, Time::NEVER)];
        let net =
            network(line(), patient(flow_control), vec![flow(0, 1, 952_000)], faults, Convergence::None);
        let (sim, stop) = run(net, None);
        let outcome = &sim.records().outcomes()[0];
        assert_eq!((stop, outcome.fct), (Stop::FlowsDone, Some(SLOW_FCT - Time(sooner))));
        assert_eq!((outcome.retransmitted_bytes, sim.counters().drops, sim.packets_in_flight()), (0, 0, 0));
        assert_eq!(sim.records().totals.pause_frames.of(PortId(2)) > 0, pauses);
    }
}

#[test]
fn a_slow_receiver_drops_what_it_has_no_room_for_without_flow_control() {
    let mut settings = patient(FlowControl::None);
    settings.lossy = true;
    let faults = vec![slow(Time::ZERO, Time::NEVER)];
    let net = network(line(), settings, vec![flow(0, 1, 952_000)], faults, Convergence::None);
    let (sim, stop) = run(net, None);
    assert_eq!(stop, Stop::FlowsDone);
    // Of 100 Gbps it takes a quarter: at least half of the frames behind the first 20 find no room before the sender goes back.
    let losses = sim.records().losses.as_ref().expect("losses");
    let dropped: u64 =
        losses.iter().filter(|(key, _)| key.cause == Cause::Receiver).map(|(_, loss)| loss.packets).sum();
    assert!(dropped > 20, "{dropped}");
    assert_eq!(dropped, sim.counters().drops);
}

#[test]
fn a_slow_receiver_that_stops_and_goes_on_is_slow_again_and_then_is_not() {
    // From 50 to 90 us it takes nothing: 40 us more, and up to one frame's 320 ns that it begins anew.
    let stop = || {
        let stopped = Broken::Receiver { host: NodeId(1), rate: None, buffer: 20_000 };
        fault(stopped, Time::from_us(50), Time::from_us(90))
    };
    let done = |faults: Vec<Fault>| {
        let settings = patient(Settings::default().flow_control);
        let net = network(line(), settings, vec![flow(0, 1, 952_000)], faults, Convergence::None);
        let (sim, end) = run(net, None);
        assert_eq!((end, sim.counters().drops, sim.packets_in_flight()), (Stop::FlowsDone, 0, 0));
        sim.records().outcomes()[0].fct.expect("done")
    };
    let fct = done(vec![slow(Time::ZERO, Time::NEVER), stop()]);
    let expected = SLOW_FCT + Time::from_us(40);
    assert!(fct >= expected && fct <= expected + Time::from_ns(320), "{fct}");
    // Slow up to 100 us, it has taken (100 - 2.16 - 40) / 0.32 = 180 frames, one more or less. Of the 820 left it holds up to 48, for
    // which it needs 40 ns each; the others follow at the link's rate: 820 frames take 65.6 us on the wire, and the pipeline
    // of PAUSE and RESUME costs up to 3 us more.
    let fct = done(vec![slow(Time::ZERO, Time::from_us(100)), stop()]);
    let least = Time::from_us(100) + Time::from_ns(772 * 80 + 2_008);
    assert!(fct >= least && fct <= least + Time::from_us(7), "{fct}");
}

#[test]
fn a_receiver_that_becomes_slow_while_it_goes_on_stays_slow() {
    // h1 takes nothing up to 100 us, and holds one frame since 2.16 us. At 100 us it takes that frame, and looks for the next one
    // 40 ns later. From 20 ns on it is slow: it finds nothing more, and stays slow. 1,000 frames that begin at 200 us take their
    // time at a slow receiver.
    let stopped = Broken::Receiver { host: NodeId(1), rate: None, buffer: 20_000 };
    let faults = vec![
        fault(stopped, Time::ZERO, Time::from_us(100)),
        slow(Time::from_us(100) + Time::from_ns(20), Time::NEVER),
    ];
    let late = Flow { start: Time::from_us(200), ..flow(0, 1, 952_000) };
    let settings = patient(Settings::default().flow_control);
    let net = network(line(), settings, vec![flow(0, 1, 952), late], faults, Convergence::None);
    let (sim, stop) = run(net, None);
    let fcts: Vec<_> = sim.records().outcomes().iter().map(|flow| flow.fct).collect();
    assert_eq!((stop, fcts), (Stop::FlowsDone, vec![Some(Time::from_ns(100_000 + 2_008)), Some(SLOW_FCT)]));
}
