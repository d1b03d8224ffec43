//! PFT at NICs, by hand.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, PortId};
use xoff_fabric::settings::{
    Cbfc, CounterWidth, FlowControl, Forwarding, LinkCredits, Packets, Pfc, Settings, Switch,
};
use xoff_fabric::{Recording, Simulation, Stop};
use xoff_schemes::{AnyThrottle, ThrottleState};

/// Two hosts send to a third over one switch at 100 Gbps, in frames of 1600 B: 100 flits of 16 B.
fn two_to_one(flow_control: FlowControl, throttle: Option<serde_json::Value>) -> Simulation {
    let throttle =
        throttle.map(|params| AnyThrottle::read("pft", params).expect("known").expect("valid").resolve());
    let settings = Settings {
        packets: Packets { mtu: Bytes(1600), ..Packets::default() },
        switch: Switch { forwarding: Some(Forwarding::StoreAndForward), ..Switch::default() },
        flow_control,
        throttle,
        ..Settings::default()
    };
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
fn a_throttled_port_uses_fewer_credits_at_some_cost_of_throughput() {
    // Without a throttle both hosts fill the switch's buffers, 4096 flits each, and wait for credits; the receiver's link is
    // busy: from 1.128 us to 500 us 3898 frames of 128 ns begin. With AT-RI a congested host sends with a probability of
    // 0.422 at c = 592 and 0.344 at 672, so that two of them use no less than 0.69 of the link, and no buffer fills.
    let received = |sim: &Simulation| sim.port(PortId(5)).tx_packets;
    let free = two_to_one(credits(), None);
    let held = two_to_one(credits(), Some(json!({"random_bits": 28, "m": 18})));
    assert!(free.records().pauses.iter().any(|p| p.port == PortId(0)), "it waited for credits");
    assert!(held.records().pauses.iter().all(|p| p.port != PortId(0)), "it was held back before");
    let used = |sim: &Simulation| sim.credits(PortId(0), 0).expect("credits").0.used();
    assert!(used(&free) > 3_900 && used(&held) < 2_000, "{} {}", used(&free), used(&held));
    assert_eq!(received(&free), 3_898);
    let share = received(&held) as f64 / 3_898.0;
    assert!((0.69..0.95).contains(&share), "{share}");
}

#[test]
fn control_packets_are_not_held_back() {
    // P(send) is 0 beyond 1024 flits with m = 18, b = 28: with a fixed threshold of 1 and escape of 1 a host stops at the
    // eleventh frame, until credits come back. The receiver's ACKs, and its own, go all the same: flows go on.
    let pft = json!({"threshold": "fixed", "threshold_enter": 1, "threshold_escape": 1});
    let sim = two_to_one(credits(), Some(pft));
    assert!(sim.records().flows.iter().all(|f| f.acked_bytes > 1_000_000));
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
    assert_eq!(sim_share(&free), sim_share(&held));
}

/// Frames that reached the receiver.
fn sim_share(sim: &Simulation) -> u64 {
    sim.port(PortId(5)).tx_packets
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
        assert_eq!(sim.records().flows[0].fct, sim.network().ideal_fct(FlowId(0)), "{gbps} Gbps");
    }
}
