//! PFC, queues and saturation, by hand.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::PortId;
use xoff_fabric::link::buffer::{LinkEnds, headroom};
use xoff_fabric::observe::Full;
use xoff_fabric::observe::capture::PacketFilter;
use xoff_fabric::packet::Kind;
use xoff_fabric::settings::{FlowControl, Forwarding, Host, Packets, Pfc, Scheduling, Settings, Switch};
use xoff_fabric::{Failure, Recording, Stop};

const FRAME: u64 = 1518;
const FRAME_PS: u64 = FRAME * 80;

fn pfc(pfc: Pfc) -> Settings {
    Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() }
}

/// h0 and h1 send to h2 through one switch, 100 Gbps, 1 us.
fn two_to_one(settings: Settings, duration_ns: u64, recording: Recording) -> xoff_fabric::Simulation {
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let flows = vec![endless(0, 2, 0), endless(1, 2, 0)];
    let none = scheme("none", json!({}), Time::ZERO);
    simulate(topology, settings, none, flows, recording, Some(Time::from_ns(duration_ns)))
}

#[test]
fn a_pause_stops_the_peer_after_its_frame() {
    // Frames arrive in pairs every 121.44 ns from a_1 = 1.12144 us on; the port sends one of each pair, h0's first.
    // After pair k h1 has ceil(k/2) frames in the switch. Xoff is 10 frames, so pair 21 crosses it, at
    // a_21 = a_1 + 20 x 121.44 ns = 3.55024 us. The PAUSE takes 64 x 80 ps and 1 us: h1 stops at 4.55536 us, in its
    // 38th frame (37.5 frame times), which it finishes. The switch has the last bit at 38 x 121.44 ns + 1 us =
    // 5.61472 us, 2.06448 us after the decision: within 2 MTU/C + 2 t_p = 2.24288 us.
    let xoff = Bytes(10 * FRAME);
    let (h1, to_h1) = (PortId(2), PortId(3)); // link 1
    let packets = PacketFilter { ports: vec![to_h1], from: Time::ZERO, until: Time::from_us(6) };
    let recording = Recording { pauses: true, packets: Some(packets), ..Recording::default() };
    let mut sim = two_to_one(pfc(Pfc { xoff: Some(xoff), ..Pfc::default() }), 6_000, recording);
    sim.run(&mut |_| true).expect("no loss");
    let pause = sim.records().pauses.iter().find(|p| p.port == h1).expect("h1 was paused");
    let decision = Time(1_121_440 + 20 * FRAME_PS);
    assert_eq!(pause.start, decision + Time(5_120 + 1_000_000));
    assert_eq!(sim.port(h1).tx_packets, 38);
    let rows = sim.records().packets.rows();
    let pause_frame = rows.iter().find(|row| row.kind == Kind::Pfc).expect("a PAUSE left the switch");
    let last_bit = rows.iter().rfind(|row| row.inbound).expect("frames came").time;
    assert_eq!((pause_frame.time, last_bit), (decision, Time(38 * FRAME_PS + 1_000_000)));
    assert!(last_bit - decision <= Time(2 * FRAME_PS + 2_000_000));
}

#[test]
fn a_pause_is_read_with_its_last_bit_where_switches_cut_through() {
    // h0 at one switch and h1 at the next one send to h2 there, so that the second switch pauses the first one. Data go on
    // after 24 B, but a PAUSE ends at the neighbour: it stops the port there with the last of its 64 B, 64 x 80 ps and 1 us after it
    // began, not with the 24th, 1.92 ns and 1 us after.
    let topology = chain(2, &[0, 1, 1], Rate::from_gbps(100), Time::from_us(1));
    let (to_second, to_first) = (PortId(6), PortId(7)); // link 3
    let switch = Switch {
        forwarding: Some(Forwarding::CutThrough),
        cut_through_after: Bytes(24),
        ..Switch::default()
    };
    let settings = Settings { switch, ..pfc(Pfc { xoff: Some(Bytes(10 * FRAME)), ..Pfc::default() }) };
    let packets = PacketFilter { ports: vec![to_first], from: Time::ZERO, until: Time::from_us(10) };
    let recording = Recording { pauses: true, packets: Some(packets), ..Recording::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![endless(0, 2, 0), endless(1, 2, 0)];
    let mut sim = simulate(topology, settings, none, flows, recording, Some(Time::from_us(10)));
    sim.run(&mut |_| true).expect("no loss");
    let pause =
        sim.records().pauses.iter().find(|p| p.port == to_second).expect("the first switch was paused");
    let frame = sim.records().packets.rows().iter().find(|row| row.kind == Kind::Pfc).expect("a PAUSE left");
    assert_eq!(pause.start, frame.time + Time(64 * 80 + 1_000_000));
}

#[test]
fn the_response_time_delays_pause_and_resume() {
    // h0 sends frames of 1,000 B at 100 Gbps; they are at the switch at 1.08 us + 80 ns k, and leave it for h1 at 30 Gbps, every
    // 266.667 ns. When frame k has come, k - floor(0.3 k) are behind the one on the wire: 11, more than Xoff, from k = 15 on,
    // at 2.28 us. The PAUSE (5.12 ns and 1 us) is at h0 at 3.28512 us. A response of 100 quanta of 512 bit is 512 ns: h0
    // stops at 3.28512 us in its frame 41, or at 3.79712 us in its frame 47. Of 42 frames 4, which is Xon, are left when
    // frame 37 begins on the second link, at 1.08 us + 37 x 266.667 ns = 10.946679 us; of 48, when 43 begins, at 12.546681 us.
    // The RESUME takes as long as the PAUSE, with the response: no ACK has the wire at those times, as ACKs pass the switch at
    // 3.084 us + a multiple of 266.667 ns, and 29.48 and 35.48 of those would have to pass.
    for (response_quanta, response, frames, resume) in
        [(0, 0, 42, 10_946_679), (100, 512_000, 48, 12_546_681)]
    {
        let mut topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
        topology.links[1].rate_ba = Rate::from_gbps(30);
        let thresholds = Pfc { xoff: Some(Bytes(10_000)), xon: Some(Bytes(4_000)), ..Pfc::default() };
        let packets = Packets { mtu: Bytes(1_000), header: Bytes(48), ack: Bytes(50), ..Packets::default() };
        let settings = Settings { packets, ..pfc(Pfc { response_quanta, ..thresholds }) };
        let recording = Recording { pauses: true, ..Recording::default() };
        let none = scheme("none", json!({}), Time::ZERO);
        let end = Some(Time(resume + 1_005_120 + response));
        let mut sim = simulate(topology, settings, none, vec![endless(0, 1, 0)], recording, end);
        sim.run(&mut |_| true).expect("no loss");
        let pauses: Vec<_> = sim.records().pauses.iter().map(|p| (p.port, p.start, p.end)).collect();
        let times = (Time(3_285_120 + response), Time(resume + 1_005_120 + response));
        assert_eq!(pauses, [(PortId(0), times.0, times.1)], "{response_quanta} quanta");
        // The next frame begins with the end of the pause.
        assert_eq!(sim.port(PortId(0)).tx_packets, frames + 1);
    }
}

/// h1's priority 0 gets nothing of h2's link, which h0 and h3 fill with priority 1, and whatever the network has in the PAUSE's
/// way is there; 6 us with this headroom.
fn slowest_pause(headroom: Option<Bytes>) -> Result<Stop, Failure> {
    let topology = chain(1, &[0, 0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let settings = Settings {
        switch: Switch { priorities: 2, scheduling: Scheduling::Strict, ..Switch::default() },
        ..pfc(Pfc { xoff: Some(Bytes(10 * FRAME)), headroom, ..Pfc::default() })
    };
    let high = |src| xoff_fabric::Flow { priority: 1, ..endless(src, 2, 0) };
    let back = xoff_fabric::Flow { start: Time(1_214_000), ..flow(2, 1, FRAME - 62) };
    let flows = vec![high(0), endless(1, 2, 0), high(3), back];
    let none = scheme("none", json!({}), Time::ZERO);
    let (recording, end) = (Recording::default(), Some(Time::from_us(6)));
    simulate(topology, settings, none, flows, recording, end).run(&mut |_| true)
}

#[test]
fn the_computed_headroom_is_enough_and_less_than_a_frame_more_than_needed() {
    // None of h1's frames leaves. The 11th is the first above Xoff, at 1.12144 us + 10 x 121.44 ns = 2.33584 us. A frame of h2
    // for h1, sent at 1.214 us, has just begun on the wire to h1, at 2.33544 us, so that the PAUSE leaves at 2.45688 us and
    // is at h1 1.00512 us later, at 3.462 us, in h1's 29th frame (28.5 frame times). 29 - 10 frames are above Xoff:
    // 28,842 B, which must fit exactly. Computed are 2 t_p C + 3 MTU + PAUSE frames of two priorities + 1 B = 25,000 +
    // 4,554 + 128 + 1 = 29,683 B.
    let needed = 19 * FRAME;
    assert_eq!(slowest_pause(Some(Bytes(needed))), Ok(Stop::Duration));
    let Err(Failure::Drop { node, port, priority, at, full, .. }) = slowest_pause(Some(Bytes(needed - 1)))
    else {
        panic!("a byte less must overflow");
    };
    assert_eq!((node.as_str(), port.as_str(), priority), ("s0", "s0->h1", 0));
    assert_eq!((at, full), (Time(29 * FRAME_PS + 1_000_000), Full::Headroom { size: needed - 1, needed }));
    assert_eq!(slowest_pause(None), Ok(Stop::Duration));
    let (rate, delay) = (Rate::from_gbps(100), Time::from_us(1));
    let ends = LinkEnds { rate_in: rate, delay_in: delay, rate_out: rate, delay_out: delay, retries: 0 };
    let computed = headroom(&ends, FRAME, 2 * 64, 0);
    assert_eq!(computed, 29_683);
    assert!(needed <= computed && computed < needed + FRAME);
}

/// h0's priority 1 takes all of h2's link, so h1's priority 0 never drains and no RESUME ever comes for it: 20 us with
/// thresholds of 10 frames and pauses of 100 quanta, 512 ns at 100 Gbps.
fn starved(refresh: bool) -> xoff_fabric::Simulation {
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let settings = Settings {
        switch: Switch { priorities: 2, scheduling: Scheduling::Strict, ..Switch::default() },
        ..pfc(Pfc {
            xoff: Some(Bytes(10 * FRAME)),
            quanta: 100,
            refresh,
            headroom: Some(Bytes(10_000_000)),
            ..Pfc::default()
        })
    };
    let mut first = endless(0, 2, 0);
    first.priority = 1;
    let recording = Recording { pauses: true, ..Recording::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![first, endless(1, 2, 0)];
    let mut sim = simulate(topology, settings, none, flows, recording, Some(Time::from_us(20)));
    sim.run(&mut |_| true).expect("no loss");
    sim
}

#[test]
fn without_a_resume_a_pause_ends_with_its_quanta() {
    // Without refresh h1 goes on after exactly 512 ns.
    let sim = starved(false);
    let pause = sim.records().pauses.iter().find(|p| p.port == PortId(2)).expect("h1 was paused");
    assert_eq!((pause.end - pause.start, pause.frames), (Time(512_000), 1));
}

#[test]
fn an_expired_pause_is_followed_by_another() {
    // Each time h1 goes on, its next frame is above Xoff still and makes another PAUSE. A PAUSE is taken as expired 512 ns
    // after it was sent; frames come at most 121.44 ns apart while h1 sends, and while it is stopped those on the 1 us
    // link still come: one PAUSE follows the other within 512 + 2 x 121.44 ns or, when the link ran empty, within 512 ns +
    // 121.44 ns + 2 us of round trip. In the 15 us from the first on these are at least 5.
    let sim = starved(false);
    let to_h1 = PortId(3); // link 1, end b
    let frames = sim.records().totals.pause_frames.of(to_h1);
    assert!(frames >= 5, "{frames}");
}

#[test]
fn only_one_frame_of_each_priority_waits_for_the_wire() {
    // Pauses of 4 quanta (20.48 ns) in all 8 priorities ask for 8 frames each 10.24 ns, four times what the wire can
    // take. The port back to a host carries nothing else but some ACKs: with one for 1,000 packets none in this time.
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let settings = Settings {
        switch: Switch { priorities: 8, ..Switch::default() },
        host: Host { ack_every: 1000, ..Host::default() },
        ..pfc(Pfc {
            xoff: Some(Bytes(2 * FRAME)),
            quanta: 4,
            headroom: Some(Bytes(10_000_000)),
            ..Pfc::default()
        })
    };
    let flows = (0..16u8).map(|i| xoff_fabric::Flow { priority: i / 2, ..endless(u32::from(i % 2), 2, 0) });
    let none = scheme("none", json!({}), Time::ZERO);
    let duration = Some(Time::from_us(100));
    let mut sim = simulate(topology, settings, none, flows.collect(), Recording::default(), duration);
    sim.run(&mut |_| true).expect("no loss");
    for to_host in [PortId(1), PortId(3)] {
        assert!(sim.records().totals.pause_frames.of(to_host) > 1_000);
        assert!(sim.port(to_host).max_queued_bytes <= 8 * 64, "{}", sim.port(to_host).max_queued_bytes);
    }
}

#[test]
fn a_pause_waits_for_those_of_the_other_priorities() {
    // 100 Gbps and 1 us up to the switch, 1 Gbps on to h1, PFC frames of 1,000 B (80 ns). h0's NIC sends a packet of 63 B in
    // each of priorities 7 to 1, and then full frames in priority 0. All cross Xoff, which is 1 B: priority 0 by its
    // first frame, 40 + 121 ns after the first of the others, whose seven PAUSE take the wire until 560 ns after theirs.
    // Its own has left 80 ns later; 1 us later h0 ends the frame that it has begun, whose end is 1 us on its way. Above
    // Xoff there are at least 1,518 B - 1 B + 12.5 B/ns x (560 + 80 - 161 + 2,000) ns = 32,500 B, less the 330 B or so that
    // leave meanwhile, and at most a frame more.
    // A headroom for one PFC frame, 3 x 1,518 + 1,000 + 25,000 + 1 = 30,555 B, is not enough; for eight it is 37,555 B.
    let run = |headroom| {
        let mut topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
        let slow = &mut topology.links[1];
        (slow.rate_ab, slow.rate_ba) = (Rate::from_gbps(1), Rate::from_gbps(1));
        let settings = Settings {
            packets: Packets { pfc: Bytes(1_000), ..Packets::default() },
            switch: Switch { priorities: 8, scheduling: Scheduling::Strict, ..Switch::default() },
            ..pfc(Pfc { xoff: Some(Bytes(1)), headroom, ..Pfc::default() })
        };
        let single = |priority| xoff_fabric::Flow { priority, ..flow(0, 1, 1) };
        let flows = (1..8).rev().map(single).chain([endless(0, 1, 0)]).collect();
        let none = scheme("none", json!({}), Time::ZERO);
        let duration = Some(Time::from_us(100));
        simulate(topology, settings, none, flows, Recording::default(), duration).run(&mut |_| true)
    };
    let Err(Failure::Drop { priority: 0, full, .. }) = run(Some(Bytes(30_555))) else {
        panic!("room for one PFC frame must overflow");
    };
    assert!(matches!(full, Full::Headroom { size: 30_555, needed } if needed < 30_555 + FRAME), "{full:?}");
    assert_eq!(run(Some(Bytes(37_555))), Ok(Stop::Duration));
    assert_eq!(run(None), Ok(Stop::Duration), "computed, it is for eight");
}

#[test]
fn a_loss_says_where_pauses_end_by_themselves() {
    // A headroom of 7,000 B overflows in any case; what is said of it follows the settings.
    let message = |refresh, expires| {
        let (xoff, headroom) = (Some(Bytes(10 * FRAME)), Some(Bytes(7_000)));
        let settings = pfc(Pfc { xoff, headroom, refresh, expires, ..Pfc::default() });
        two_to_one(settings, 200_000, Recording::default())
            .run(&mut |_| true)
            .expect_err("a loss")
            .to_string()
    };
    let remark = "with `flow_control.refresh = false` a pause ends";
    assert!(message(false, true).contains(remark), "{}", message(false, true));
    for (refresh, expires) in [(true, true), (false, false)] {
        assert!(message(refresh, expires).ends_with("B are there"), "{}", message(refresh, expires));
    }
}

#[test]
fn refreshed_pauses_last_until_the_resume() {
    // With refresh: every 256 ns another PAUSE, so h1 stays stopped to the end of the run.
    let sim = starved(true);
    let pauses: Vec<_> = sim.records().pauses.iter().filter(|p| p.port == PortId(2)).collect();
    assert_eq!((pauses.len(), pauses[0].end), (1, Time::from_us(20)));
    // From its start on, a refresh each 256 ns.
    let expected = 1 + (pauses[0].end - pauses[0].start).0 / 256_000;
    assert_eq!(u64::from(pauses[0].frames), expected);
}

#[test]
fn incast_saturates_the_bottleneck_exactly() {
    // Eight senders of 1 MB: the bottleneck is busy from the first frame's arrival to the last, whatever PFC does
    // upstream. Each flow has 686 full frames and one of 1,184 B payload (1,246 B). The last ACK is back after the
    // first frame's way to the switch, all bytes, one link and the ACK's two links.
    let topology = chain(1, &[0; 9], Rate::from_gbps(100), Time::from_us(1));
    let settings = pfc(Pfc { xoff: Some(Bytes(20_000)), ..Pfc::default() });
    let flows = (0..8).map(|h| flow(h, 8, 1_000_000)).collect();
    let none = scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, settings, none, flows, Recording::default(), None);
    sim.run(&mut |_| true).expect("no loss");
    assert!(sim.records().totals.pause_frames.iter().sum::<u64>() > 0, "PFC had to act");
    let bytes = 8 * (686 * FRAME + 1_246);
    let expected = FRAME_PS + 1_000_000 + bytes * 80 + 1_000_000 + 2 * (66 * 80 + 1_000_000);
    let last = sim.records().outcomes().iter().filter_map(|f| f.fct).max();
    assert_eq!(last, Some(Time(expected)));
}

#[test]
fn two_line_rate_flows_grow_the_queue_at_line_rate() {
    // Without flow control: after pair k, k frames wait (2 k came, k left). At 10 us, 8.87856 us after the first
    // pair, pair 74 is the last: 74 frames = 112,332 B, and C t = 12.5 B/ns x (10,000 - 1,000) ns = 112,500 B.
    let settings = Settings { flow_control: FlowControl::None, ..Settings::default() };
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let queue = PortId(5); // link 2 (h2), end b: the switch's port to h2
    let recording =
        Recording { interval: Some(Time::from_us(10)), queues: vec![queue], ..Recording::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![endless(0, 2, 0), endless(1, 2, 0)];
    let mut sim = simulate(topology, settings, none, flows, recording, Some(Time::from_us(10)));
    sim.run(&mut |_| true).expect("no loss");
    let sample = sim.records().samples.queues[0];
    assert_eq!((sample.time, sample.bytes, sample.max_bytes), (Time::from_us(10), 74 * FRAME, 74 * FRAME));
}

#[test]
fn a_lossy_network_delivers_each_byte_once() {
    // 100 KB of memory for two line-rate flows of 2 MB: packets are lost, and all bytes arrive all the same, each byte once. How
    // the sender goes back is in `transports.rs`.
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let settings = Settings {
        flow_control: FlowControl::None,
        switch: Switch { buffer: Some(Bytes(100_000)), ..Switch::default() },
        lossy: true,
        ..Settings::default()
    };
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![flow(0, 2, 2_000_000), flow(1, 2, 2_000_000)];
    let mut sim = simulate(topology, settings, none, flows, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    assert!(sim.counters().drops > 0);
    assert_eq!(sim.counters().delivered_bytes, 4_000_000);
    for outcome in &sim.records().outcomes() {
        assert_eq!(outcome.acked_bytes, 2_000_000);
        assert!(outcome.fct.is_some());
    }
    assert!(sim.records().outcomes().iter().any(|f| f.retransmitted_bytes > 0));
}

/// An endless flow that is told to stop just after it has gone back: its last packet must lie beyond all that its
/// receiver may have, or the receiver counts the flow as open for ever.
#[test]
fn a_flow_that_stops_after_going_back_is_complete_at_its_receiver_too() {
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    for stop_us in 20..60 {
        let settings = Settings {
            flow_control: FlowControl::None,
            switch: Switch { buffer: Some(Bytes(20_000)), ..Switch::default() },
            // Longer than a round trip for ACKs of every packet, shorter than for one ACK of 40.
            host: Host { ack_every: 40, retransmit_timeout: Time::from_us(5), ..Host::default() },
            lossy: true,
            ..Settings::default()
        };
        let mut stopped = endless(0, 2, 0);
        stopped.stop = Time::from_us(stop_us);
        let none = scheme("none", json!({}), Time::ZERO);
        let flows = vec![stopped, flow(1, 2, 300_000)];
        let limit = Some(Time::from_ms(50));
        let mut sim = simulate(topology.clone(), settings, none, flows, Recording::default(), limit);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone), "stopped at {stop_us} us");
        assert!(sim.records().outcomes()[0].retransmitted_bytes > 0);
        assert_eq!(sim.open_receptions(), 0, "stopped at {stop_us} us");
    }
}

/// A lossy network of 16-fold ACKs with an impatient timer: NACKs come when the timer has already gone further back.
#[test]
fn windows_and_timers_together_never_hang() {
    let topology = chain(1, &[0; 5], Rate::from_gbps(100), Time(1_500_000));
    for (timeout_us, buffer) in [(7, 20_000), (10, 40_000), (20, 40_000), (20, 80_000)] {
        let settings = Settings {
            flow_control: FlowControl::None,
            switch: Switch { buffer: Some(Bytes(buffer)), ..Switch::default() },
            host: Host { ack_every: 16, retransmit_timeout: Time::from_us(timeout_us), ..Host::default() },
            lossy: true,
            ..Settings::default()
        };
        let hpcc = scheme("hpcc", json!({}), Time(6_300_000));
        let flows = (0..4).map(|h| flow(h, 4, 200_000)).collect();
        let limit = Some(Time::from_ms(100));
        let mut sim = simulate(topology.clone(), settings, hpcc, flows, Recording::default(), limit);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone), "{timeout_us} us, {buffer} B");
    }
}

/// Nothing is lost, so nothing is sent twice. A source of 1 Mbps makes a packet each 11.6 ms; its ACK is back after
/// 2.9 ms (2 x 1.2 ms of serialization, the ACK's, and propagation), before 3.2 ms of silence. Counted from the ACK on, the
/// third period would end 9.6 ms later, with the next packet (sent after 8.7 ms) still on its way.
#[test]
fn without_loss_nothing_is_sent_again() {
    let topology = chain(1, &[0, 0], Rate::from_mbps(10), Time::from_us(100));
    let mut settings = Settings { flow_control: FlowControl::None, lossy: true, ..Settings::default() };
    settings.host.retransmit_timeout = Time::from_us(3_200);
    let mut slow = flow(0, 1, 250_432);
    slow.source_rate = Rate::from_mbps(1);
    let none = scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, settings, none, vec![slow], Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    assert_eq!(sim.records().outcomes()[0].retransmitted_bytes, 0);
}
