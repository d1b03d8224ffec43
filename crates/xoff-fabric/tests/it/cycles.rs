//! Cycles by hand: connections that share links send at no constant pace, and yet the state of the network comes again.
//!
//! Frames of 1,000 B carry 952 B and take 80 ns at 100 Gbps, ACKs of 50 B take 4 ns, and each link has 1 us.

use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::network::Flow;
use xoff_fabric::run::fast_forward::FastForwarded;
use xoff_fabric::settings::{Bfc, FlowControl, Host, LinkCredits, Pfc, Settings, UeCbfc};
use xoff_fabric::{Recording, Simulation, Stop};

use crate::common::{endless, flow, scheme, simulate, star};

const TOLERANCE: f64 = 0.01;

/// Flows of five hosts on a switch under a flow control and a scheme, plain and fast.
fn both(by: &FlowControl, name: &str, flows: &[Flow], end: Option<Time>) -> [Simulation; 2] {
    [false, true].map(|fast| {
        let mut settings = Settings { flow_control: by.clone(), ..Settings::default() };
        settings.packets.mtu = Bytes(1_000);
        settings.packets.header = Bytes(48);
        settings.packets.ack = Bytes(50);
        settings.packets.gap = Bytes(0);
        let of = scheme(name, json!({}), Time::from_us(4));
        let recording = Recording { pauses: true, ..Recording::default() };
        let mut sim = simulate(star(&[0; 5]), settings, of, flows.to_vec(), recording, end);
        if fast {
            sim.fast_forward(TOLERANCE, 1);
        }
        let stop = sim.run(&mut |_| true).expect("no loss");
        assert!(matches!(stop, Stop::FlowsDone | Stop::Duration), "{stop:?}");
        sim
    })
}

/// Hosts 1 to 4 send `size` bytes each to host 0.
fn incast(size: u64) -> Vec<Flow> {
    (1..5).map(|src| flow(src, 0, size)).collect()
}

/// Both senders are paused and let go in turn: at no constant pace, so that only cycles can be carried forward.
fn pauses() -> FlowControl {
    FlowControl::Pfc(Pfc { xoff: Some(Bytes(20_000)), ..Pfc::default() })
}

fn credits() -> FlowControl {
    FlowControl::Credit(LinkCredits::default())
}

fn forwarded(sim: &Simulation) -> &FastForwarded {
    sim.forwarded().expect("fast-forwarded")
}

/// All that must be the same in both: times of messages, ends of the runs, what ports have sent, and how long they were stopped.
fn assert_same([plain, fast]: &[Simulation; 2]) {
    let times = |sim: &Simulation| -> Vec<_> {
        sim.records()
            .outcomes()
            .iter()
            .map(|flow| (flow.start, flow.fct, flow.acked_bytes, flow.packets_sent))
            .collect()
    };
    assert_eq!(times(plain), times(fast));
    assert_eq!(plain.now(), fast.now());
    for port in plain.network().topology.port_ids() {
        let of = |sim: &Simulation| (sim.port(port).tx_bytes, sim.port(port).tx_packets, sim.paused(port, 0));
        assert_eq!(of(plain), of(fast), "{port:?}");
    }
}

#[test]
fn an_incast_that_waits_for_credits_is_carried_forward() {
    // Four senders take turns at host 0's link, which sends a frame each 80 ns: 4 x 42,017 frames of 40 MB take 13.4 ms, and all
    // end in the last 4 x 80 ns. Each sender stalls for credits three quarters of the time, so that no pace is constant.
    let sims = both(&credits(), "none", &incast(40_000_000), None);
    assert_same(&sims);
    let [plain, fast] = &sims;
    let link = Time(4 * 40_000_000_u64.div_ceil(952) * 80_000);
    let fct = fast.records().outcomes().iter().map(|flow| flow.fct.expect("complete")).max().expect("four");
    assert!(fct > link && fct < link + Time::from_us(10), "{fct:?}");
    let all = forwarded(fast);
    assert!(all.approximate == 0 && all.error == 0.0 && all.uncertain_from.is_none(), "{all:?}");
    assert!(fast.counters().events * 100 < plain.counters().events, "{}", fast.counters().events);
}

#[test]
fn counts_of_freed_cells_repeat_by_what_is_new_in_them() {
    // Under Ultra Ethernet's credits, messages tell counts since the beginning, which never come again; what is new in them does.
    let by = FlowControl::UeCbfc(UeCbfc::default());
    let sims = both(&by, "none", &incast(40_000_000), None);
    assert_same(&sims);
    let all = forwarded(&sims[1]);
    assert!(all.jumps() > 0 && all.approximate == 0 && all.uncertain_from.is_none(), "{all:?}");
    assert!(sims[1].counters().events * 100 < sims[0].counters().events);
}

#[test]
fn pauses_that_come_again_are_carried_forward() {
    // Two senders at 100 Gbps fill the ingress buffers of the link to host 0, which holds both back by PAUSE and RESUME. They share it: 2 x
    // 105,043 frames of 100 MB take 16.8 ms.
    let flows = vec![flow(1, 0, 100_000_000), flow(2, 0, 100_000_000)];
    let sims = both(&pauses(), "none", &flows, None);
    assert_same(&sims);
    let [plain, fast] = &sims;
    let frames = |sim: &Simulation| sim.records().totals.pause_frames.clone();
    assert_eq!(frames(plain), frames(fast));
    // Both ports of the switch to which the senders lead pause them.
    assert!(frames(plain).iter().sum::<u64>() > 2_000, "{:?}", frames(plain));
    let all = forwarded(fast);
    assert!(all.jumps() > 0 && all.approximate == 0 && all.uncertain_from.is_none(), "{all:?}");
    assert!(fast.counters().events * 10 < plain.counters().events, "{}", fast.counters().events);
}

#[test]
fn flows_that_are_held_back_one_by_one_are_carried_forward() {
    // BFC's neighbours hear of flows that are to wait each 1.08 us: half of two delays and two frames. Host 1 and host 2 fill the link to
    // host 0, and how long each is held back comes again. Host 3's message begins at 9 ms, and meets lists at the same times as in the plain run.
    let late = Flow { start: Time::from_ms(9), ..flow(3, 0, 1_000_000) };
    let flows = vec![flow(1, 0, 100_000_000), flow(2, 0, 100_000_000), late];
    let by = FlowControl::Bfc(Bfc::default());
    let sims = both(&by, "none", &flows, None);
    assert_same(&sims);
    let all = forwarded(&sims[1]);
    assert!(all.jumps() > 0 && all.approximate == 0 && all.uncertain_from.is_none(), "{all:?}");
    assert!(all.jumps_by_start().iter().all(|span| span.length.0 % 1_080_000 == 0), "{all:?}");
    assert!(sims[1].counters().events * 5 < sims[0].counters().events, "{}", sims[1].counters().events);
}

#[test]
fn lists_of_flows_to_hold_back_go_at_multiples_of_simulated_time() {
    // Host 1 has the link to host 0 for itself, sends a frame each 80 ns, and is carried forward, by no multiple of BFC's 1.08 us. Host 2's message of
    // 4.2 ms begins at 5 ms.
    let late = Flow { start: Time::from_ms(5), ..flow(2, 0, 50_000_000) };
    let by = FlowControl::Bfc(Bfc::default());
    let sims = both(&by, "none", &[flow(1, 0, 100_000_000), late], None);
    assert_same(&sims);
    let spans = forwarded(&sims[1]).jumps_by_start();
    let early: u64 =
        spans.iter().filter(|span| span.start < Time::from_ms(5)).map(|span| span.length.0).sum();
    assert!(early > 4_000_000_000 && !early.is_multiple_of(1_080_000), "{spans:?}");
}

#[test]
fn a_cycle_ends_before_what_comes_from_outside() {
    // Host 3's message starts at 9 ms, in the midst of the 16.8 ms for which the two others repeat the same.
    let late = Flow { start: Time::from_ms(9), ..flow(3, 0, 1_000_000) };
    let flows = vec![flow(1, 0, 100_000_000), flow(2, 0, 100_000_000), late];
    let sims = both(&pauses(), "none", &flows, None);
    assert_same(&sims);
    let spans = forwarded(&sims[1]).jumps_by_start();
    let at = Time::from_ms(9);
    assert!(spans.iter().any(|span| span.start + span.length < at), "{spans:?}");
    assert!(spans.iter().all(|span| span.start + span.length <= at || span.start > at), "{spans:?}");
}

#[test]
fn endless_messages_are_carried_to_the_end_of_the_run() {
    // 20 ms at 80 ns a frame are 250,000, less the first microseconds.
    let flows: Vec<Flow> = (1..3).map(|src| endless(src, 0, 0)).collect();
    let sims = both(&pauses(), "none", &flows, Some(Time::from_ms(20)));
    assert_same(&sims);
    let acked: u64 = sims[1].records().outcomes().iter().map(|flow| flow.acked_bytes).sum();
    assert!(acked / 952 > 249_900 && acked / 952 <= 250_000, "{acked}");
    assert!(sims[1].counters().events * 10 < sims[0].counters().events);
}

#[test]
fn a_scheme_with_a_state_of_its_own_has_no_cycle() {
    // TIMELY's rates stay at the line rate where credits hold everybody back, but it sends in bursts that end at multiples of an offset, and
    // how senders share a link may hang on that.
    let sims = both(&credits(), "timely", &incast(20_000_000), None);
    assert_same(&sims);
    let all = forwarded(&sims[1]);
    assert!(all.jumps() == 0 && all.uncertain_from.is_none(), "{all:?}");
}

#[test]
fn what_a_source_has_yet_to_make_is_no_cycle() {
    // Three sources of 40 Gbps each share a link: 952 B each 190.4 ns, not at whole picoseconds for 9.973 Gbps.
    let made = |src, bps| Flow { source_rate: Rate(bps), ..flow(src, 0, 20_000_000) };
    let flows = vec![made(1, 40_000_000_000), made(2, 9_973_000_000), made(3, 70_000_000_000)];
    let sims = both(&credits(), "none", &flows, None);
    assert_same(&sims);
}

#[test]
fn acks_for_several_packets_are_in_the_state() {
    // An ACK for each five packets: what a receiver has yet to acknowledge is part of what repeats.
    for acks in [1, 5] {
        let run = |fast: bool| {
            let mut settings = Settings { flow_control: credits(), ..Settings::default() };
            settings.host = Host { ack_every: acks, ..Host::default() };
            settings.packets.mtu = Bytes(1_000);
            settings.packets.gap = Bytes(0);
            let none = scheme("none", json!({}), Time::from_us(1));
            let mut sim =
                simulate(star(&[0; 5]), settings, none, incast(20_000_000), Recording::default(), None);
            if fast {
                sim.fast_forward(TOLERANCE, 1);
            }
            sim.run(&mut |_| true).expect("no loss");
            sim
        };
        let sims = [run(false), run(true)];
        assert_same(&sims);
        assert!(forwarded(&sims[1]).jumps() > 0);
    }
}
