//! Fast-forward by hand: what a jump must not change, to the picosecond.
//!
//! Frames of 1,000 B carry 952 B and take 80 ns at 100 Gbps, ACKs of 50 B take 4 ns, and each link has 1 us.

use crate::common::{
    chain, endless, flow, round_packets, round_packets_by, round_packets_under, scheme, simulate, star,
};
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, PortId};
use xoff_fabric::network::{Flow, Schedule};
use xoff_fabric::run::fast_forward::Held;
use xoff_fabric::settings::{Cbfc, FlowControl, Host, Pfc, Settings, Switch};
use xoff_fabric::{Recording, Simulation, Stop};

const TOLERANCE: f64 = 0.01;

/// Hosts on one switch, and a run of `flows`, fast-forwarded or not.
fn run(hosts: usize, flows: Vec<Flow>, recording: Recording, end: Option<Time>, fast: bool) -> Simulation {
    let net = round_packets(star(&vec![0; hosts]), flows, Schedule::default()).expect("a network");
    let mut sim = Simulation::new(net, None, recording, end);
    if fast {
        sim.fast_forward(TOLERANCE, 1);
    }
    let stop = sim.run(&mut |_| true).expect("no loss");
    assert!(matches!(stop, Stop::FlowsDone | Stop::Duration), "{stop:?}");
    sim
}

fn fct(sim: &Simulation, flow: usize) -> Time {
    sim.records().outcomes()[flow].fct.expect("complete")
}

/// Time from the start of a message of `size` bytes that has both links for itself to its last ACK.
pub fn alone(size: u64) -> Time {
    // The last packet follows the last full one on the second link, at which that one is still under way.
    let (full, rest) = (size / 952, size % 952);
    assert!(full > 0 && rest > 0);
    Time((full + 1) * 80_000 + (rest + 48) * 80 + 2_000_000 + 2 * 4_000 + 2_000_000)
}

#[test]
fn a_message_alone_ends_to_the_picosecond() {
    // 1 GiB are 1,127,880 full packets and one of 64 B: 1,127,881 x 80 ns, 112 B in 8.96 ns, an ACK of 2 x 4 ns, and 4 us.
    assert_eq!(alone(1 << 30), Time(90_234_496_960));
    let sim = run(2, vec![flow(0, 1, 1 << 30)], Recording::default(), None, true);
    assert_eq!(fct(&sim, 0), Time(90_234_496_960));
    assert_eq!(sim.now(), Time::from_us(90_235), "the microsecond in which the last ACK comes");
    let outcome = sim.records().outcomes()[0];
    assert_eq!((outcome.acked_bytes, outcome.packets_sent), (1 << 30, 1_127_881));
    // Ports count what was skipped: the host's, and the switch's towards the receiver and, with ACKs, the sender.
    let [data, acks] = [1_127_880 * 1_000 + 112, 1_127_881 * 50];
    let sent = |port: u32| (sim.port(PortId(port)).tx_packets, sim.port(PortId(port)).tx_bytes);
    let path = sim.network().data_path(FlowId(0)).to_vec();
    assert_eq!(path.iter().map(|p| sent(p.0)).collect::<Vec<_>>(), vec![(1_127_881, data); 2]);
    let back = sim.network().ack_path(FlowId(0)).iter().collect::<Vec<_>>();
    assert_eq!(back.iter().map(|p| sent(p.0)).collect::<Vec<_>>(), vec![(1_127_881, acks); 2]);
    let all = sim.forwarded().expect("fast-forwarded");
    assert!(all.error == 0.0 && all.approximate == 0 && all.uncertain_from.is_none(), "{all:?}");
    // Four events a packet would be more than four million.
    assert!(sim.counters().events < 5_000, "{} events", sim.counters().events);
}

#[test]
fn a_jump_begins_once_the_state_was_seen_to_repeat() {
    // Looks are at whole microseconds. What repeats is a packet each 80 ns with its ACK or, with an ACK for five packets, all of them
    // in 400 ns: so much later a jump begins, and of so much it is a multiple.
    for (acks, period) in [(1, 80_000), (5, 400_000)] {
        let mut settings =
            Settings { host: Host { ack_every: acks, ..Host::default() }, ..Settings::default() };
        settings.packets.mtu = Bytes(1_000);
        settings.packets.header = Bytes(48);
        settings.packets.ack = Bytes(50);
        settings.packets.gap = Bytes(0);
        let none = scheme("none", serde_json::json!({}), Time::from_us(1));
        let flows = vec![flow(0, 1, 10_000_000)];
        let mut sim = simulate(star(&[0, 0]), settings, none, flows, Recording::default(), None);
        sim.fast_forward(TOLERANCE, 1);
        sim.run(&mut |_| true).expect("no loss");
        let spans = sim.forwarded().expect("fast-forwarded").jumps_by_start();
        assert!(!spans.is_empty());
        for span in &spans {
            assert_eq!((span.start.0 % 1_000_000, span.length.0 % period), (period, 0), "{span:?}");
        }
        assert_eq!(fct(&sim, 0), alone(10_000_000));
    }
}

/// Host 0 sends 100 MB to host 1 and needs 8.4 ms. Host 2 sends 10,000 B to host 3 at 3 ms: it meets nobody. The switch's ports share
/// its memory, so that the two are of one part.
fn long_beside_small() -> Simulation {
    let small = Flow { start: Time::from_ms(3), ..flow(2, 3, 10_000) };
    let switch = Switch { buffer: Some(Bytes(32_000_000)), ..Switch::default() };
    let flows = vec![flow(0, 1, 100_000_000), small];
    let net = round_packets_by(switch, star(&[0; 4]), flows, Schedule::default()).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    sim.fast_forward(TOLERANCE, 1);
    sim.run(&mut |_| true).expect("no loss");
    sim
}

#[test]
fn a_message_that_starts_while_others_are_steady_starts_in_time() {
    let sim = long_beside_small();
    assert_eq!(sim.records().outcomes()[1].start, Time::from_ms(3));
    assert_eq!([fct(&sim, 0), fct(&sim, 1)], [alone(100_000_000), alone(10_000)]);
    let spans = sim.forwarded().expect("fast-forwarded").jumps_by_start();
    let ends = |span: &xoff_fabric::run::fast_forward::Span| span.start + span.length;
    assert!(
        spans.len() >= 2 && spans.iter().all(|s| s.start > Time::from_ms(3) || ends(s) < Time::from_ms(3))
    );
}

#[test]
fn samples_in_the_middle_come_in_time_and_are_whole() {
    // A sample each ms of a message that takes 8.4 ms. The host's port is always busy: 100 Gbps on the wire. The ACKs that are
    // there after 1 ms are those of the 12,448 packets that began by 995.832 us, 4.168 us before; from then on 12,500 a ms.
    let host = PortId(0);
    let recording = Recording {
        interval: Some(Time::from_ms(1)),
        queues: vec![host],
        utilization: vec![host],
        rates: vec![FlowId(0)],
        ..Recording::default()
    };
    let sim = run(2, vec![flow(0, 1, 100_000_000)], recording, None, true);
    let samples = &sim.records().samples;
    let times: Vec<u64> = samples.utilization.iter().map(|s| s.time.0 / 1_000_000_000).collect();
    assert_eq!(times, (1..=8).collect::<Vec<_>>());
    assert!(
        samples.utilization.iter().all(|s| (s.tx_bps / 1e11 - 1.0).abs() < 1e-9),
        "{:?}",
        samples.utilization
    );
    assert_eq!(samples.queues.len(), 8);
    let goodput: Vec<u64> =
        samples.rates.iter().map(|s| (s.goodput_bps * 1e-3 / 8.0 / 952.0).round() as u64).collect();
    assert_eq!(goodput[..8], [12_448, 12_500, 12_500, 12_500, 12_500, 12_500, 12_500, 12_500]);
    assert!(sim.forwarded().expect("fast-forwarded").jumps() >= 8);
}

#[test]
fn an_endless_message_stops_in_time() {
    // It sends a packet each 80 ns from 10 us on. At 5 ms it has sent 62,375, and the next packet is its last.
    let stopped = Flow { stop: Time::from_ms(5), ..endless(0, 1, 10) };
    let sim = run(2, vec![stopped], Recording::default(), None, true);
    let outcome = sim.records().outcomes()[0];
    assert_eq!((outcome.packets_sent, outcome.acked_bytes), (62_376, 62_376 * 952));
    assert!(sim.counters().events < 5_000);
}

#[test]
fn the_run_ends_with_its_duration() {
    let sim = run(2, vec![endless(0, 1, 0)], Recording::default(), Some(Time::from_ms(4)), true);
    assert_eq!(sim.now(), Time::from_ms(4));
    // 50,000 packets begin before 4 ms and one at 4 ms. The ACKs of those that began by 3,995.832 us are there.
    let outcome = sim.records().outcomes()[0];
    assert_eq!((outcome.packets_sent, outcome.acked_bytes), (50_001, 49_948 * 952));
}

#[test]
fn messages_that_share_a_link_end_as_they_do_without_jumps() {
    // Hosts 0 and 1 send 20,000 packets each to host 2, whose link is busy from the first packet (1.08 us) to the last: the
    // later message ends 40,000 x 80 ns, two links' delays and an ACK of 2.008 us after it.
    let flows = || vec![flow(0, 2, 20_000 * 952), flow(1, 2, 20_000 * 952)];
    let of = |fast| {
        let sim = run(3, flows(), Recording::default(), None, fast);
        [fct(&sim, 0), fct(&sim, 1)]
    };
    let fast = of(true);
    assert_eq!(fast, of(false));
    assert_eq!(fast[0].max(fast[1]), Time(80_000 + 1_000_000 + 40_000 * 80_000 + 1_000_000 + 2_008_000));
}

#[test]
fn messages_and_ports_say_how_much_of_them_was_carried_forward() {
    // All jumps are over the long message, and whole packets of it, each 80 ns. The other one is over after 4.9 us, in which no jump fits.
    let sim = long_beside_small();
    let all = sim.forwarded().expect("fast-forwarded");
    assert_eq!(
        [sim.records().outcomes()[0].skipped, sim.records().outcomes()[1].skipped],
        [all.skipped(), Time::ZERO]
    );
    let packets = all.skipped().0 / 80_000;
    assert!(packets > 90_000, "{all:?}");
    let skipped = |flow: u32| {
        let path = sim.network().data_path(FlowId(flow)).iter().map(|&port| sim.skipped_bytes(port));
        let back = sim.network().ack_path(FlowId(flow)).iter().map(|port| sim.skipped_bytes(port));
        path.chain(back).collect::<Vec<_>>()
    };
    assert_eq!(skipped(0), [packets * 1_000, packets * 1_000, packets * 50, packets * 50]);
    assert_eq!(skipped(1), [0; 4]);
    // What is carried forward between two times: of two jumps or more, a half of the first one, all, and none.
    let jumps = all.jumps_by_start();
    let (first, half) = (jumps[0], Time(jumps[0].length.0 / 2));
    let between = |from, to| sim.skipped_between(from, to);
    assert_eq!(between(Time::ZERO, first.start + half), half);
    assert_eq!(between(first.start + half, jumps[1].start), first.length - half);
    assert_eq!(between(Time::ZERO, sim.now()), all.skipped());
    assert_eq!(between(Time::from_ms(3), Time(3_004_900_000)), Time::ZERO);
}

#[test]
fn a_pause_over_a_jump_says_so_and_is_the_last_of_those_it_stands_for() {
    // Two hosts send to a third, and the switch stops them again and again: links of 10 ns, and room for four packets of each. The state
    // repeats exactly, and so the pause that lasts when a jump ends is one of the plain run; those before it have no rows.
    let run = |fast: bool| {
        let pfc = Pfc { xoff: Some(Bytes(4_000)), ..Pfc::default() };
        let mut settings = Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() };
        settings.packets.mtu = Bytes(1_000);
        settings.packets.header = Bytes(48);
        settings.packets.ack = Bytes(50);
        settings.packets.gap = Bytes(0);
        let topology = chain(1, &[0; 3], Rate::from_gbps(100), Time::from_ns(10));
        let none = scheme("none", serde_json::json!({}), Time::from_us(1));
        let flows = vec![flow(0, 2, 20_000_000), flow(1, 2, 20_000_000)];
        let recording = Recording { pauses: true, ..Recording::default() };
        let mut sim = simulate(topology, settings, none, flows, recording, None);
        if fast {
            sim.fast_forward(TOLERANCE, 1);
        }
        sim.run(&mut |_| true).expect("no loss");
        sim
    };
    let (plain, fast) = (run(false), run(true));
    assert_eq!([fct(&fast, 0), fct(&fast, 1)], [fct(&plain, 0), fct(&plain, 1)]);
    let jumps = fast.forwarded().expect("fast-forwarded").jumps_by_start();
    let ends: Vec<Time> = jumps.iter().map(|jump| jump.start + jump.length).collect();
    let pauses = &fast.records().pauses;
    let over: Vec<_> = pauses.iter().filter(|pause| pause.is_over_jump).collect();
    assert!(!over.is_empty(), "{jumps:?}");
    for pause in pauses {
        let lasts = ends.iter().any(|&end| pause.start < end && end <= pause.end);
        assert_eq!(pause.is_over_jump, lasts, "{pause:?}");
        let same = plain
            .records()
            .pauses
            .iter()
            .any(|p| (p.port, p.start, p.end) == (pause.port, pause.start, pause.end));
        assert!(same, "{pause:?} is none of the plain run");
    }
    assert!(pauses.len() * 10 < plain.records().pauses.len(), "pauses in a jump have no rows");
}

#[test]
fn steps_and_messages_that_wait_come_in_time() {
    use xoff_fabric::network::dependencies::{Dependency, Milestone, Waiter};
    // Host 0 sends 10 MB to host 1, which answers with as much 700 us after the last byte has come: the answer's start.
    let schedule = Schedule {
        dependencies: vec![Dependency {
            on: Milestone::Delivered(0),
            then: Waiter::Flow(1),
            delay: Time::from_us(700),
        }],
        ..Schedule::default()
    };
    let net = round_packets(star(&[0, 0]), vec![flow(0, 1, 10_000_000), flow(1, 0, 10_000_000)], schedule);
    let mut sim = Simulation::new(net.expect("a network"), None, Recording::default(), None);
    sim.fast_forward(TOLERANCE, 1);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    // Delivered is the last ACK less its way of 2.008 us.
    let delivered = alone(10_000_000) - Time(2_008_000);
    assert_eq!(sim.records().outcomes()[1].start, delivered + Time::from_us(700));
    assert_eq!([fct(&sim, 0), fct(&sim, 1)], [alone(10_000_000); 2]);
    assert!(sim.forwarded().expect("fast-forwarded").skipped() > Time::from_us(1_500));
}

#[test]
fn a_jump_whose_own_error_exceeds_the_tolerance_does_not_come() {
    // A process makes 952 B each 763.66 ns, at 9.973 Gbps: only 9,973 packets take a whole number of picoseconds, so no jump of
    // less than 7.6 ms is of whole packets, and each is wrong by up to half a packet, 381.83 ns. A sample ends each jump, and a
    // look at the network, 1 us or more, passes before. Between samples 30 us apart at most 29 us are left: 1.3 % of them are
    // more than the tolerance. Between samples 80 us apart it is 0.5 %.
    let of = |interval| {
        let slow = Flow { source_rate: Rate(9_973_000_000), ..endless(0, 1, 0) };
        let interval = Some(Time::from_us(interval));
        let recording = Recording { interval, queues: vec![PortId(0)], ..Recording::default() };
        let sim = run(2, vec![slow], recording, Some(Time::from_us(800)), true);
        sim.forwarded().expect("fast-forwarded").clone()
    };
    let (near, far) = (of(30), of(80));
    assert_eq!(near.jumps(), 0, "{near:?}");
    assert!(
        near.held.iter().any(|(why, time)| *why == Held::Drift && *time > Time::from_us(100)),
        "{near:?}"
    );
    assert!(far.jumps() > 0 && far.approximate == far.jumps(), "{far:?}");
    assert!((0.0048..TOLERANCE).contains(&far.error), "{far:?}");
}

#[test]
fn after_two_messages_have_met_nothing_is_approximated() {
    // TIMELY sends in bursts, whose state is its own, so its jumps are approximate. Hosts 0 and 1 send 500 KB each to host 2, whose link is busy with
    // them for 1 MB / 100 Gbps = 80 us and longer. From 1 ms on host 3 sends 20 MB to host 4, which takes 1.6 ms and meets
    // nobody. If host 1 sends to host 5 instead, nobody meets. The switch's ports share its memory, so that all are of one part.
    let of = |dst| {
        let timely = scheme("timely", serde_json::json!({}), Time::from_us(2));
        let last = Flow { start: Time::from_ms(1), ..flow(3, 4, 20_000_000) };
        let flows = vec![flow(0, 2, 500_000), flow(1, dst, 500_000), last];
        let star = chain(1, &[0; 6], Rate::from_gbps(100), Time::from_ns(500));
        let mut settings = Settings::default();
        settings.switch.buffer = Some(Bytes(32_000_000));
        let mut sim = simulate(star, settings, timely, flows, Recording::default(), None);
        sim.fast_forward(TOLERANCE, 1);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        sim.forwarded().expect("fast-forwarded").clone()
    };
    let (apart, met) = (of(5), of(2));
    assert!(apart.approximate > 0, "{apart:?}");
    assert_eq!(met.jumps(), 0, "{met:?}");
    assert!(
        met.held.iter().any(|(why, time)| *why == Held::Competing && *time > Time::from_ms(1)),
        "{met:?}"
    );
}

#[test]
fn credits_come_at_their_times_after_a_network_was_idle() {
    // An update of credits is due each 4.096 us at each port, and a message of 320,600 B takes some seven and a half times as long: how many
    // updates come between its packets hangs on when it starts. A sample each 20 us leaves no room to see updates repeat.
    let settings = Settings { flow_control: FlowControl::Cbfc(Cbfc::default()), ..Settings::default() };
    let starts = [0, 1_234_567_890, 2_468_013_579, 3_333_333_333];
    let flows: Vec<Flow> = starts.iter().map(|&at| Flow { start: Time(at), ..flow(0, 1, 320_600) }).collect();
    let fcts = |fast: bool| {
        let none = scheme("none", serde_json::json!({}), Time::from_us(1));
        let recording = Recording { interval: Some(Time::from_us(20)), ..Recording::default() };
        let mut sim = simulate(star(&[0, 0]), settings.clone(), none, flows.clone(), recording, None);
        if fast {
            sim.fast_forward(TOLERANCE, 1);
        }
        sim.run(&mut |_| true).expect("no loss");
        (0..starts.len()).map(|flow| fct(&sim, flow)).collect::<Vec<_>>()
    };
    let plain = fcts(false);
    assert!(plain.iter().any(|fct| *fct != plain[0]), "updates come between other packets: {plain:?}");
    assert_eq!(fcts(true), plain);
}

#[test]
fn ports_count_updates_of_credits_in_approximate_jumps() {
    // 80 MB are 84,034 packets of 80 ns, 6.7 ms; updates every 4.099,999 us, between ever other packets, so that no state comes again. Each of the four ports of the two
    // links sends some 1,640 updates meanwhile, beside its packets or their ACKs. What is extrapolated may differ by an update in each jump.
    let update_period = Time(4_099_999);
    let run = |(update_period, on_change): (Time, bool), fast: bool| {
        let cbfc = Cbfc { update_period, on_change, ..Cbfc::default() };
        let settings = Settings { flow_control: FlowControl::Cbfc(cbfc), ..Settings::default() };
        let none = scheme("none", serde_json::json!({}), Time::from_us(1));
        let flows = vec![flow(0, 1, 80_000_000)];
        let net = round_packets_under(none, settings, star(&[0, 0]), flows, Schedule::default());
        let mut sim = Simulation::new(net.expect("a network"), None, Recording::default(), None);
        if fast {
            sim.fast_forward(TOLERANCE, 1);
        }
        sim.run(&mut |_| true).expect("no loss");
        sim
    };
    let [plain, fast] = [false, true].map(|fast| run((update_period, false), fast));
    let all = fast.forwarded().expect("fast-forwarded");
    assert!(all.approximate > 0 && all.skipped() > Time::from_ms(3), "{all:?}");
    for port in plain.network().topology.port_ids() {
        let [before, after] = [&plain, &fast].map(|sim| {
            let updates = sim.records().totals.credit_updates.of(port);
            // A packet or an ACK is all else that a port sends.
            (updates, sim.port(port).tx_packets - updates, sim.port(port).tx_bytes - 8 * updates)
        });
        let updates = plain.now().0 / update_period.0;
        assert!(
            before.0.abs_diff(updates) <= 1 && after.0.abs_diff(updates) <= 1 + all.jumps(),
            "{before:?} {after:?}"
        );
        assert_eq!((before.1, before.2), (after.1, after.2), "{port:?}");
    }
    // Where others come beside them, none of those that the clock brings is lost, even if none came in the time from which the others are extrapolated.
    let update_period = Time(39_999_999);
    let fast = run((update_period, true), true);
    let all = fast.forwarded().expect("fast-forwarded");
    assert!(all.approximate > 0, "{all:?}");
    let least = fast.now().0 / update_period.0 - 1 - all.jumps();
    let updates = &fast.records().totals.credit_updates;
    assert!(updates.iter().all(|updates| updates >= least), "{least} {updates:?}");
}
