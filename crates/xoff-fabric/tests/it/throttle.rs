//! PFT at NICs, by hand.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, PortId};
use xoff_fabric::settings::{
    AckClass, Cbfc, CounterWidth, FlowControl, Forwarding, Host, LinkCredits, Packets, Pfc, Settings, Switch,
};
use xoff_fabric::{Flow, Recording, Simulation, Stop};
use xoff_schemes::{AnyThrottle, ThrottleState};

/// Frames of 1600 B, 100 flits of 16 B, and switches that store and forward.
fn frames_of_100_flits(flow_control: FlowControl) -> Settings {
    Settings {
        packets: Packets { mtu: Bytes(1600), ..Packets::default() },
        switch: Switch { forwarding: Some(Forwarding::StoreAndForward), ..Switch::default() },
        flow_control,
        ..Settings::default()
    }
}

/// Two hosts send to a third over one switch at 100 Gbps.
fn two_to_one(flow_control: FlowControl, throttle: Option<serde_json::Value>) -> Simulation {
    let throttle =
        throttle.map(|params| AnyThrottle::read("pft", params).expect("known").expect("valid").resolve());
    let settings = Settings { throttle, ..frames_of_100_flits(flow_control) };
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let recording = Recording { throttles: true, pauses: true, ..Recording::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![endless(0, 2, 0), endless(1, 2, 0)];
    let mut sim = simulate(topology, settings, none, flows, recording, Some(Time::from_us(500)));
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    sim
}

fn credits() -> FlowControl {
    FlowControl::Credit(LinkCredits { credits: Some(4096), ..LinkCredits::default() })
}

#[test]
fn used_credits_make_a_port_congested_at_the_moment() {
    // FT: congested when c > 592 flits. A host sends a frame of 100 flits each 128 ns, and none comes back before 2.26 us:
    // the sixth makes c = 600, at 5 x 128 ns. FI with m = n = 0, k = 3: f(c) = c + 3, so that the frame takes 604 times as
    // long from then on: c is 0 long before the next one.
    let pft = json!({"threshold": "fixed", "interval": "fixed", "m": 0, "n": 0, "k": 3, "threshold_enter": 592,
                     "threshold_escape": 592});
    let sim = two_to_one(credits(), Some(pft));
    let rows: Vec<_> = sim.records().throttles.iter().filter(|r| r.port == PortId(0)).collect();
    assert_eq!((rows[0].time, rows[0].state), (Time(5 * 128_000), ThrottleState::Congested));
    // The first frame of both hosts comes to the switch at 1.128 us; h0's leaves at 1.256 us, its flit's symbol takes 1.28 ns
    // and 1 us: at 2.25728 us c = 500, below 592.
    assert_eq!((rows[1].time, rows[1].state), (Time(2_257_280), ThrottleState::Normal));
}

#[test]
fn a_throttled_port_waits_for_no_credits() {
    // Without a throttle both hosts fill the switch's buffers, 4096 flits each, and wait for credits; the receiver's link is
    // busy: from 1.128 us to 500 us 3898 frames of 128 ns begin. With AT-RI a congested host sends with a probability of
    // 0.422 at c = 592 and 0.344 at 672, so that two of them use no less than 0.687 of the link, and no buffer fills.
    let free = two_to_one(credits(), None);
    let held = two_to_one(credits(), Some(json!({"random_bits": 28, "m": 18})));
    assert!(free.records().pauses.iter().any(|p| p.port == PortId(0)), "it waited for credits");
    assert!(held.records().pauses.iter().all(|p| p.port != PortId(0)), "it was held back before");
    assert!(used(&free, 0) > 3_900 && used(&held, 0) < 2_000, "{} {}", used(&free, 0), used(&held, 0));
    assert_eq!(received(&free), 3_898);
    assert!(received(&held) as f64 > 0.687 * 3_898.0, "{}", received(&held));
}

/// Frames that reached the receiver.
fn received(sim: &Simulation) -> u64 {
    sim.port(PortId(5)).tx_packets
}

/// Credits that a host's port uses at the end.
fn used(sim: &Simulation, port: u32) -> u64 {
    sim.credits(PortId(port), 0).expect("credits").0.used()
}

#[test]
fn intervals_that_do_not_change_give_their_share_of_the_link() {
    // Two idle cycles after each flit, whatever c > 0 is: a host sends a frame each 3 x 128 = 384 ns from 0 on, and never
    // waits for credits. Both hosts' frames are at the switch 1.128 us later; h0's go at once and h1's 128 ns later. Up to
    // 500 us 1300 frames of h0 begin (1.128 us + 1299 x 384 ns = 499.944 us) and 1299 of h1 (1.256 us + 1298 x 384 ns).
    // A frame's credits come back 2 us, two frames and a flit's symbol of 1.28 ns after it began, 2.25728 us for h0 and
    // 2.38528 us for h1: h0's of the last six frames (1297 to 1302, the first at 498.048 us) have not, and h1's of seven.
    let pft = json!({"threshold": "fixed", "interval": "fixed", "m": 0, "n": 40, "k": 2, "threshold_enter": 0,
                     "threshold_escape": 0});
    let sim = two_to_one(credits(), Some(pft));
    assert_eq!(received(&sim), 1_300 + 1_299);
    assert_eq!((used(&sim, 0), used(&sim, 2)), (600, 700));
}

#[test]
fn a_host_that_holds_back_its_data_sends_the_acks_that_it_owes() {
    // h0 sends two full frames to h1, 128 ns each, and h1 sends 1 B to h0: 63 B, 5.04 ns. Beyond one credit, h0's next frame
    // would take 100,000 times as long, so that it waits until all credits are back. Those of the first frame are at 2.25728
    // us: the switch has sent it on by 1.256 us, and the symbol takes 1.28 ns and 1 us. h1's frame is there before, at 2 x
    // 5.04 ns + 2 us = 2.01008 us.
    // As a control packet the ACK of 66 B goes at once: over two links, 5.28 ns and 1 us each, it is at h1 at 4.02064 us. The
    // second frame, over two links, is at h1 at 4.51328 us, and its ACK at h0 at 6.52384 us.
    // In the data's class the ACK waits too, until 2.25728 us, and goes before the frame: it is at h1 at 4.26784 us. It takes five
    // credits, which are back when the switch has sent it on, at 3.26784 us, and 1.00128 us later: the second frame goes at
    // 4.26912 us, is at h1 at 6.52512 us, and its ACK at h0 at 8.53568 us.
    for (ack_class, ends) in
        [(AckClass::Control, [6_523_840, 4_020_640]), (AckClass::Data, [8_535_680, 4_267_840])]
    {
        let pft = json!({"threshold": "fixed", "threshold_enter": 1, "threshold_escape": 1, "interval": "fixed",
                         "k": 100_000});
        let settings = Settings {
            host: Host { ack_class, ..Host::default() },
            throttle: Some(AnyThrottle::read("pft", pft).expect("known").expect("valid").resolve()),
            ..frames_of_100_flits(credits())
        };
        let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
        let none = scheme("none", json!({}), Time::ZERO);
        let flows = vec![flow(0, 1, 2 * (1_600 - 62)), flow(1, 0, 1)];
        let mut sim = simulate(topology, settings, none, flows, Recording::default(), None);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        let found: Vec<_> = sim.records().outcomes().iter().map(|f| f.fct.map(Time::ps)).collect();
        assert_eq!(found, ends.map(Some), "{ack_class:?}");
    }
}

#[test]
fn acks_that_wait_for_the_wire_follow_each_other_while_data_is_held_back() {
    // h0's second frame to h1 has the wire from 2.25728 to 2.38528 us, as above, and data is held back before and after. In that
    // time messages of 1 B from h2 and h3 arrive, 2.01008 us after they began at 0.30 and 0.31 us. Their ACKs go one behind
    // the other at 2.38528 and 2.39056 us, and are at h2 and h3 2.01056 us later.
    let pft = json!({"threshold": "fixed", "threshold_enter": 1, "threshold_escape": 1, "interval": "fixed", "k": 100_000});
    let throttle = AnyThrottle::read("pft", pft).expect("known").expect("valid").resolve();
    let settings = Settings { throttle: Some(throttle), ..frames_of_100_flits(credits()) };
    let topology = chain(1, &[0, 0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let none = scheme("none", json!({}), Time::ZERO);
    let small = |src, ns| Flow { start: Time::from_ns(ns), ..flow(src, 0, 1) };
    let flows = vec![flow(0, 1, 2 * (1_600 - 62)), small(2, 300), small(3, 310)];
    let mut sim = simulate(topology, settings, none, flows, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    let ends: Vec<_> = sim.records().outcomes()[1..].iter().map(|f| f.fct.map(|fct| f.start + fct)).collect();
    assert_eq!(ends, [2_385_280, 2_390_560].map(|ack| Some(Time(ack + 2_010_560))));
}

#[test]
fn under_pfc_a_pause_counts_as_a_full_buffer() {
    // Xoff of 100 KB is 6250 flits: RI with m = 18 stops a paused port, as PAUSE does; when it may send again it is
    // congested by the windows for a while, but c = 0 holds nothing back.
    let pfc = || FlowControl::Pfc(Pfc { xoff: Some(Bytes(100_000)), ..Pfc::default() });
    let free = two_to_one(pfc(), None);
    let held = two_to_one(pfc(), Some(json!({})));
    let first = |sim: &Simulation| sim.records().pauses.iter().find(|p| p.port == PortId(0)).map(|p| p.start);
    assert_eq!(first(&free), first(&held), "the same up to the first pause");
    assert!(!held.records().throttles.is_empty());
    assert_eq!(received(&free), received(&held));
}

#[test]
fn a_flow_alone_is_not_held_back() {
    // c stays far below the thresholds: the flow has its ideal FCT at any rate, also where a cycle of 700 MHz carries no whole
    // number of bytes, and where 12 bits grant less than the buffer has: what is never granted is not in use.
    for gbps in [10, 25, 40, 100, 400] {
        let throttle = AnyThrottle::read("pft", json!({})).expect("known").expect("valid").resolve();
        let settings = Settings {
            flow_control: FlowControl::Cbfc(Cbfc {
                update_period: Time(103_000_000),
                counters: CounterWidth::TwelveBit,
                ..Cbfc::default()
            }),
            throttle: Some(throttle),
            ..Settings::default()
        };
        let topology = chain(1, &[0, 0], Rate::from_gbps(gbps), Time(700_000));
        let none = scheme("none", json!({}), Time::ZERO);
        let flows = vec![flow(0, 1, 4_243)];
        let end = Some(Time::from_ms(1));
        let mut sim = simulate(topology, settings, none, flows, Recording::default(), end);
        assert!(sim.run(&mut |_| true).is_ok());
        assert_eq!(sim.records().outcomes()[0].fct, sim.network().ideal_fct(FlowId(0)), "{gbps} Gbps");
    }
}
