//! Link-level retry: what it delivers on links with errors, and how fast, by hand.

use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::fault::{Broken, Cause, Convergence, Fault, FrameLoss};
use xoff_fabric::ids::PortId;
use xoff_fabric::link::llr::RetryCounts;
use xoff_fabric::network::Flow;
use xoff_fabric::settings::{Cbfc, FlowControl, Forwarding, LinkCredits, Llr, Settings, UeCbfc};
use xoff_fabric::topology::Topology;
use xoff_fabric::{Cut, Network, Recording, Simulation, Stop};

use crate::common::{chain, flow, whole};
use crate::faults::{fault, network, round, run};

const RATE: Rate = Rate::from_gbps(100);
const DELAY: Time = Time::from_us(1);

/// h0 - s0 - h1: link 0 leads from h0 to the switch, link 1 from h1.
fn line() -> Topology {
    chain(1, &[0, 0], RATE, DELAY)
}

fn with_llr(llr: Llr) -> Settings {
    let mut settings = round();
    settings.link.llr = Some(llr);
    settings
}

fn counts(sim: &Simulation, port: u32) -> RetryCounts {
    sim.retries(PortId(port)).expect("LLR")
}

/// A run of flows that all complete.
fn complete(topology: Topology, settings: Settings, flows: Vec<Flow>) -> Simulation {
    let (sim, stop) = run(whole(topology, settings, flows), None);
    assert_eq!(stop, Stop::FlowsDone);
    sim
}

#[test]
fn goodput_is_that_of_go_back_n() {
    // A frame of 1,000 B takes 80 ns. From its first bit to the arrival of its ACK or NACK, an ordered set of 8 B, pass
    // 80 + 1,000 + 0.64 + 1,000 = 2,080.64 ns, and the frame that is on the wire then ends at 27 x 80 = 2,160 ns: an error costs N = 27
    // frames. If the frame is spoiled again when it is sent again, the NACK follows from the next whole frame, 1 / (1 - p)
    // frames later on average, which happens p / (1 - p) times. So a frame takes as many times of a frame as
    // E = 1 + p (N + p / (1 - p) (N + 1 / (1 - p))); nearly (1 - p + p N) / (1 - p). At p = 0.01: 1.2728, a goodput of 78.6 %.
    let (frames, n) = (60_000_u64, 27.0);
    for (ber, p) in [(1.256_296e-6, 0.01), (6.411_6e-6, 0.05), (1.317_0e-5, 0.1)] {
        let loss = FrameLoss::BitErrorRate(ber);
        assert!((loss.probability(1_000) / p - 1.0).abs() < 1e-3, "{}", loss.probability(1_000));
        let errors = fault(Broken::Frames { link: 0, loss }, Time::ZERO, Time::NEVER);
        let flows = vec![flow(0, 1, 952 * frames)];
        let (sim, stop) =
            run(network(line(), with_llr(Llr::default()), flows, vec![errors], Convergence::None), None);
        assert_eq!(stop, Stop::FlowsDone);
        let fct = sim.records().outcomes()[0].fct.expect("complete").secs();
        let expected = 1.0 + p * (n + p / (1.0 - p) * (n + 1.0 / (1.0 - p)));
        let measured = fct / (frames as f64 * 80e-9);
        assert!((measured / expected - 1.0).abs() < 0.03, "p = {p}: {measured}, expected {expected}");
        // Each frame on the wire is taken, spoiled or discarded.
        let c = counts(&sim, 0);
        assert_eq!((c.frames, c.frames + c.replayed), (frames, frames + c.corrupt + c.discarded));
        assert!((c.corrupt as f64 / (c.frames + c.replayed) as f64 / p - 1.0).abs() < 0.1, "{c:?}");
        assert_eq!(sim.counters().drops, 0);
    }
}

#[test]
fn a_small_replay_buffer_limits_the_rate_to_its_bytes_in_a_round_trip() {
    // Eight frames of 1,000 B fit. The ACK of a frame is back 2,080.64 ns after the frame's first bit, see above, and the ninth frame
    // leaves then: 8,000 B each 2,080.64 ns, 30.76 Gbps of 100. The 80th frame leaves after nine rounds and seven frames,
    // 9 x 2,080.64 + 7 x 80 ns, takes two links of 1,080 ns, and its ACK two of 1,004 ns.
    let small = Llr { replay_buffer: Some(Bytes(8_000)), ..Llr::default() };
    let sim = complete(line(), with_llr(small), vec![flow(0, 1, 952 * 80)]);
    assert_eq!(sim.records().outcomes()[0].fct, Some(Time(18_725_760 + 560_000 + 2_160_000 + 2_008_000)));
    let c = counts(&sim, 0);
    // Nine times the wire is free from 640 ns to 2,080.64 ns; after the last frame until its round's first ACK.
    assert_eq!((c.max_bytes, c.replayed, c.full), (8_000, 0, Time(10 * 1_440_640)));
    // The default is large enough: bytes of 2,080.64 ns and two frames are 26,008 + 2,000, and 27 frames are under way.
    let sim = complete(line(), with_llr(Llr::default()), vec![flow(0, 1, 952 * 80)]);
    assert_eq!(sim.records().outcomes()[0].fct, Some(Time::from_ns(80 * 80 + 1_000 + 1_080 + 2_008)));
    let c = counts(&sim, 0);
    assert_eq!((c.max_bytes, c.full), (27_000, Time::ZERO));
}

#[test]
fn without_llr_losses_reach_the_transport() {
    // A hundredth of 2,000 packets is lost on each of two links, and ACKs too: about 40 packets, and the transport sends again.
    let mut settings = round();
    settings.link.frame_loss = Some(0.01);
    let sim = complete(line(), settings.clone(), vec![flow(0, 1, 952 * 2_000)]);
    let losses = sim.records().losses.as_ref().expect("losses");
    let lost: u64 = losses.iter().filter(|(key, _)| key.is_data).map(|(_, loss)| loss.packets).sum();
    assert!(losses.keys().all(|key| key.cause == Cause::BitErrors && key.fault.is_none()));
    let outcome = &sim.records().outcomes()[0];
    assert!(lost > 20 && outcome.packets_sent > 2_000 && outcome.retransmitted_bytes > 0, "{lost}");
    // With LLR the same links lose nothing, and nothing is sent again by the transport.
    settings.link.llr = Some(Llr::default());
    let sim = complete(line(), settings, vec![flow(0, 1, 952 * 2_000)]);
    let outcome = &sim.records().outcomes()[0];
    assert_eq!((outcome.packets_sent, outcome.retransmitted_bytes, sim.counters().drops), (2_000, 0, 0));
    assert!(counts(&sim, 0).replayed > 100);
}

/// All flow controls, with switches that store and forward.
fn controls() -> [FlowControl; 5] {
    [
        FlowControl::default(),
        FlowControl::Cbfc(Cbfc::default()),
        FlowControl::UeCbfc(UeCbfc::default()),
        FlowControl::Credit(LinkCredits::default()),
        FlowControl::None,
    ]
}

/// Three senders to one receiver behind two switches, with a bit error in each third frame or so, and `faults`.
fn incast(control: FlowControl, faults: Vec<Fault>) -> Network {
    let mut settings = with_llr(Llr::default());
    settings.flow_control = control;
    settings.switch.forwarding = Some(Forwarding::StoreAndForward);
    settings.link.ber = Some(5e-5);
    let topology = chain(2, &[0, 0, 0, 1], RATE, DELAY);
    let flows = (0..3).map(|src| flow(src, 3, 952 * 400)).collect();
    network(topology, settings, flows, faults, Convergence::None)
}

#[test]
fn nothing_is_lost_or_overtaken_under_any_flow_control() {
    for control in controls() {
        let name = control.name();
        let recording = Recording { reordering: true, ..Recording::default() };
        let mut sim = Simulation::new(incast(control, Vec::new()), None, recording, None);
        let stop = sim.run(&mut |_| true).expect("a run");
        // A network that loses nothing sends nothing again: a lost or doubled packet would leave a flow open.
        assert_eq!((stop, sim.counters().drops), (Stop::FlowsDone, 0), "{name}");
        for outcome in &sim.records().outcomes() {
            assert_eq!((outcome.packets_sent, outcome.retransmitted_bytes), (400, 0), "{name}");
        }
        assert!(sim.records().reordering.iter().all(|r| (r.packets, r.reordered) == (400, 0)), "{name}");
        assert!((0..3).all(|sender| counts(&sim, 2 * sender).corrupt > 100), "{name}");
        assert_eq!((sim.buffered_bytes(), sim.data_packets_in_network()), ((0, 0), 0), "{name}");
    }
}

#[test]
fn the_number_of_partitions_changes_nothing() {
    // The link between the switches, and so between the partitions, is slower for some time.
    let slower = Broken::Rate { link: 4, rate: Rate::from_gbps(10) };
    let faults = vec![fault(slower, Time::from_us(20), Time::from_us(60))];
    for control in controls() {
        let one = |parts| {
            let net = incast(control.clone(), faults.clone());
            let cut = Cut::into(&net, parts, None);
            assert_eq!(cut.partitions(), parts);
            let mut sim = Simulation::cut(net, cut, None, Recording::default(), None);
            sim.run(&mut |_| true).expect("a run");
            let all: Vec<RetryCounts> = (0..10).map(|port| counts(&sim, port)).collect();
            (sim.counters().fingerprint, all)
        };
        assert_eq!(one(1), one(2), "{}", control.name());
    }
}

#[test]
fn a_timer_goes_back_if_an_answer_is_lost() {
    // Frames of 112 B have 896 bits: at 1e-3 59 % are spoiled, and 6.2 % of the ordered sets of 64 bits. A single packet is on the
    // link at a time, so that no later ACK makes up for a lost one.
    let mut settings = with_llr(Llr::default());
    settings.packets.mtu = Bytes(112);
    settings.link.ber = Some(1e-3);
    let flows = (0..200).map(|i| Flow { start: Time::from_us(50 * i), ..flow(0, 1, 64) }).collect();
    let sim = complete(line(), settings, flows);
    let c = counts(&sim, 0);
    assert!(c.timeouts > 0 && c.corrupt > 200, "{c:?}");
    assert_eq!((c.frames, c.replayed), (200, c.corrupt + c.discarded));
    assert_eq!(sim.counters().drops, 0);
}

#[test]
fn a_frame_that_comes_again_is_discarded() {
    // The replay timer, 1.5 us, is shorter than the round trip of 2,080.64 ns: at 1.5 us the only frame is sent again, and at 3 us its
    // ACK has come. The receiver discards the second one.
    let hasty = Llr { timeout: Some(Time::from_ns(1_500)), ..Llr::default() };
    let sim = complete(line(), with_llr(hasty), vec![flow(0, 1, 952)]);
    let c = counts(&sim, 0);
    assert_eq!((c.frames, c.replayed, c.discarded, c.timeouts), (1, 1, 1, 1));
    assert_eq!(sim.records().outcomes()[0].fct, Some(Time::from_ns(2 * 1_080 + 2 * 1_004)));
}

#[test]
fn an_answer_takes_the_rate_that_its_link_has_then() {
    // The frame is at the switch after 80 + 1,000 ns. From 0.5 us on the link has 1 Gbps, at which the answer's 8 B take 64 ns: it is at
    // h0 after 1,080 + 64 + 1,000 = 2,144 ns. A timer of 2,143 ns does not wait for it. At 100 Gbps, the rate when the frame was sent, it
    // would be there after 2,080.64 ns.
    let slower = fault(Broken::Rate { link: 0, rate: Rate::from_gbps(1) }, Time::from_ns(500), Time::NEVER);
    for (timeout, timeouts) in [(2_143, 1), (2_145, 0)] {
        let llr = Llr { timeout: Some(Time::from_ns(timeout)), ..Llr::default() };
        let flows = vec![flow(0, 1, 952)];
        let net = network(line(), with_llr(llr), flows, vec![slower.clone()], Convergence::None);
        let (sim, stop) = run(net, None);
        assert_eq!((stop, counts(&sim, 0).timeouts), (Stop::FlowsDone, timeouts), "{timeout} ns");
    }
}

#[test]
fn a_link_that_goes_down_loses_what_llr_keeps() {
    // As in `faults`: ten packets leave h0 every 80 ns, the link s0 - s1 is down from 1.5 us to 150 us, and all are lost. The second
    // try of the transport, at 200 us, finds it up.
    let topology = chain(2, &[0, 1], RATE, DELAY);
    let alone = 9 * 80 + 3 * 1_080 + 3 * 1_004;
    let down = fault(Broken::Link(2), Time::from_ns(1_500), Time::from_us(150));
    let flows = vec![flow(0, 1, 9_520)];
    let net = network(
        topology.clone(),
        with_llr(Llr::default()),
        flows.clone(),
        vec![down.clone()],
        Convergence::None,
    );
    let (sim, stop) = run(net, None);
    assert_eq!(
        (stop, sim.records().outcomes()[0].fct),
        (Stop::FlowsDone, Some(Time::from_ns(200_000 + alone)))
    );
    assert_eq!(sim.counters().drops, 20);
    // With errors as well, packets that wait to be sent again are lost when the link goes down: each packet comes in once, or is
    // counted as lost.
    let loss = FrameLoss::Share(0.5);
    let errors = fault(Broken::Frames { link: 2, loss }, Time::ZERO, Time::NEVER);
    for from in [2_000, 3_000, 5_000, 9_000] {
        let down = fault(Broken::Link(2), Time::from_ns(from), Time::from_us(150));
        for control in controls() {
            let name = control.name();
            let mut settings = with_llr(Llr::default());
            settings.switch.forwarding = Some(Forwarding::StoreAndForward);
            settings.flow_control = control;
            let faults = vec![down.clone(), errors.clone()];
            let net = network(topology.clone(), settings, flows.clone(), faults, Convergence::None);
            let (sim, stop) = run(net, None);
            assert_eq!(stop, Stop::FlowsDone, "{name}");
            assert_eq!((sim.buffered_bytes(), sim.data_packets_in_network()), ((0, 0), 0), "{name}");
            assert!(sim.records().losses.iter().flatten().all(|(key, _)| key.cause == Cause::LinkDown));
        }
    }
}
