//! Schemes that learn from ACKs, in exact jumps: their senders come out of a jump as they would have without it.
//!
//! Frames of 1,000 B carry 952 B and take 80 ns at 100 Gbps, ACKs of 50 B take 4 ns, and each link has 1 us: a packet and its ACK take
//! 2 x 80 + 2 x 4 ns and four links, 4.168 us.

use serde_json::{Value, json};
use xoff_engine::{Bytes, Time};
use xoff_fabric::network::Flow;
use xoff_fabric::settings::{FlowControl, LinkCredits, Pfc, Settings};
use xoff_fabric::{Recording, Simulation, Stop};

use crate::common::{flow, scheme, simulate, star};

/// Messages among five hosts on a switch, plain and fast; the fast run skips something, and only by exact jumps that it vouches for.
/// All messages and ports must be the same in both.
fn assert_same(name: &str, params: &Value, flow_control: &FlowControl, flows: &[Flow]) -> [Simulation; 2] {
    let sims = [false, true].map(|fast| {
        let mut settings = Settings { flow_control: flow_control.clone(), ..Settings::default() };
        settings.packets.mtu = Bytes(1_000);
        settings.packets.header = Bytes(48);
        settings.packets.ack = Bytes(50);
        settings.packets.gap = Bytes(0);
        let of = scheme(name, params.clone(), Time::from_us(4));
        let mut sim = simulate(star(&[0; 5]), settings, of, flows.to_vec(), Recording::default(), None);
        if fast {
            sim.fast_forward(0.01, 1);
        }
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        sim
    });
    let of = |sim: &Simulation| -> Vec<_> {
        let flows = &sim.records().outcomes();
        flows.iter().map(|flow| (flow.start, flow.fct, flow.packets_sent, flow.marks)).collect()
    };
    assert_eq!(of(&sims[0]), of(&sims[1]), "{name}");
    assert_eq!(sims[0].now(), sims[1].now(), "{name}");
    for port in sims[0].network().topology.port_ids() {
        let [plain, fast] = [0, 1].map(|i| (sims[i].port(port).tx_bytes, sims[i].port(port).tx_packets));
        assert_eq!(plain, fast, "{name}: {port:?}");
    }
    let all = sims[1].forwarded().expect("fast-forwarded");
    assert!(
        all.jumps() > 0 && all.approximate == 0 && all.uncertain_from.is_none(),
        "{name}: {:?}",
        all.held
    );
    sims
}

fn skipped(sim: &Simulation) -> Time {
    sim.skipped_between(Time::ZERO, sim.now())
}

fn pfc() -> FlowControl {
    FlowControl::Pfc(Pfc { xoff: Some(Bytes(200_000)), ..Pfc::default() })
}

#[test]
fn what_senders_have_learned_by_the_end_of_a_jump_decides_what_comes_after() {
    // Host 1 sends 40 MB to host 0 alone for 2 ms, 480 round trips: meanwhile Swift's window grows by a packet in each, from some 50 packets to its
    // maximum of 256, and DCTCP's share of marks falls from 1 by a sixteenth in each, to nothing; neither changes what is on the wires. Then
    // host 2 sends 10 MB to host 0 too, and both have to give way, by windows and shares of that moment.
    let flows = [flow(1, 0, 40_000_000), Flow { start: Time::from_ms(2), ..flow(2, 0, 10_000_000) }];
    let schemes = [
        ("swift", json!({})),
        ("dctcp", json!({})),
        // It counts round trips by offsets, the others by packets.
        ("dctcp", json!({ "form": "rate" })),
        ("theta_powertcp", json!({})),
        ("patched_timely", json!({})),
        ("ib_cc", json!({ "becn": "ack" })),
        // It counts its receiver's messages, 1 and then 2.
        ("sqcc", json!({})),
    ];
    for (name, params) in schemes {
        let [_, fast] = assert_same(name, &params, &pfc(), &flows);
        // Less than 0.2 of the 2 ms are needed to see that all repeats.
        assert!(skipped(&fast) > Time::from_us(1_800), "{name}: {}", skipped(&fast));
    }
}

#[test]
fn senders_learn_in_cycles_of_credits_too() {
    // Four senders take turns at host 0's link and wait for credits three quarters of the time, at no constant pace. θ-PowerTCP's windows are
    // far below what credits let each have in flight at first.
    let flows: Vec<Flow> = (1..5).map(|src| flow(src, 0, 20_000_000)).collect();
    let credits = FlowControl::Credit(LinkCredits::default());
    for name in ["swift", "dctcp", "ib_cc"] {
        let params = if name == "ib_cc" { json!({ "becn": "ack" }) } else { json!({}) };
        let [plain, fast] = assert_same(name, &params, &credits, &flows);
        assert!(fast.counters().events * 3 < plain.counters().events, "{name}");
    }
}

#[test]
fn a_window_that_comes_to_bind_ends_a_jump() {
    // Of an initial window of ten packets Swift has ten in flight, and its window grows by a packet in each round trip of 4.168 us: the pace
    // changes with each. From 52.1 packets on, 4.168 us / 80 ns, the link is full, and further growth changes nothing.
    let params = json!({ "initial_cwnd": 10.0 });
    let [_, fast] = assert_same("swift", &params, &pfc(), &[flow(1, 0, 40_000_000)]);
    let first = fast.forwarded().expect("fast-forwarded").jumps_by_start()[0].start;
    assert!(first > Time::from_ns(42 * 4_168), "{first}");
}
