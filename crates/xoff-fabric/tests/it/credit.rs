//! Credit-based flow control, virtual output queues and cut-through, by hand.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, PortId};
use xoff_fabric::network::Flow;
use xoff_fabric::settings::{
    AckClass, Cbfc, CreditUnit, FlowControl, Forwarding, LinkCredits, Packets, Settings, Switch,
};
use xoff_fabric::topology::{Link, Topology};
use xoff_fabric::{Recording, Simulation, Stop};

const GBPS: u64 = 40;
/// Picoseconds a byte at 40 Gbps.
const BYTE: u64 = 200;
/// 1024 B frames: 16 blocks of 64 B, 64 flits of 16 B.
const FRAME: u64 = 1024;

fn settings(flow_control: FlowControl) -> Settings {
    let packets = Packets { mtu: Bytes(FRAME), header: Bytes(24), ..Packets::default() };
    Settings { packets, flow_control, ..Settings::default() }
}

fn cbfc(buffer: u64, period_us: u64) -> FlowControl {
    FlowControl::Cbfc(Cbfc {
        buffer: Some(Bytes(buffer)),
        update_period: Time::from_us(period_us),
        undersized: true,
        ..Cbfc::default()
    })
}

fn run(topology: Topology, settings: Settings, flows: Vec<Flow>, duration: Time) -> Simulation {
    let none = scheme("none", json!({}), Time::ZERO);
    let recording = Recording { pauses: true, ..Recording::default() };
    let mut sim = simulate(topology, settings, none, flows, recording, Some(duration));
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    sim
}

/// Throughput of the link h0 -> s0 as a share of its rate, over 10 ms. The link to h1 is ten times as fast and has no delay,
/// so that what is left of its own stalls does not count.
fn throughput(flow_control: FlowControl, delay_us: u64) -> f64 {
    let mut topology = chain(1, &[0, 0], Rate::from_gbps(GBPS), Time::from_us(delay_us));
    let fast = Rate::from_gbps(10 * GBPS);
    topology.links[1] = Link {
        rate_ab: fast,
        rate_ba: fast,
        delay_ab: Time::ZERO,
        delay_ba: Time::ZERO,
        ..topology.links[1]
    };
    let sim = run(topology, settings(flow_control), vec![endless(0, 1, 0)], Time::from_ms(10));
    (sim.port(PortId(0)).tx_bytes * BYTE) as f64 / Time::from_ms(10).0 as f64
}

/// What a link under CBFC carries, as a share of its rate, with a buffer of B bytes and an update every T_c.
///
/// In each period the sender gets as much as has left the buffer by then. Let r be the time in which a place comes back
/// beyond the period: propagation there and back and the packet itself in the switch. Where the sender stalls for r or
/// longer, the buffer is empty when the update is made, and each period carries B: B / (C T_c). Where it stalls for
/// s < r, the last C (r - s) bytes of a period are still under way then, so that the next one carries B - C (r - s); that
/// is C (T_c - s) as well, hence s = (T_c + r - B/C) / 2 and the share is 1 - s / T_c. With B > C (T_c + r) it never stalls.
fn share(buffer: f64, period: f64, around: f64) -> f64 {
    let whole = buffer * BYTE as f64 / 1e6; // B/C in us
    let stall = (period + around - whole) / 2.0;
    if stall <= 0.0 {
        1.0
    } else if stall < around {
        1.0 - stall / period
    } else {
        whole / period
    }
}

#[test]
fn a_link_carries_what_its_buffer_and_update_period_allow() {
    // r = 2 t_p and a frame of 204.8 ns on the link, which leaves the switch with its last bit. C T_c is 250 KB at 50 us.
    for (buffer, period, delay) in [
        (65_536u64, 50u64, 1u64), // 26 %
        (131_072, 50, 1),         // 52 %
        (131_072, 50, 10),        // 52 %: the delay does not count yet
        (240_640, 50, 1),         // 96 %
        (250_880, 50, 10),        // stalls for 10 us of 50
        (300_032, 50, 10),        // for 5 us
        (349_952, 50, 10),        // hardly
        (400_000, 50, 10),        // full rate
        (102_400, 20, 1),         // C T_c is 100 KB, and 2 us more are 110 KB
        (112_640, 20, 1),         // full rate
    ] {
        let expected = share(buffer as f64, period as f64, 2.0 * delay as f64 + 0.2048);
        let measured = throughput(cbfc(buffer, period), delay);
        assert!(
            (measured - expected).abs() < 0.01,
            "B {buffer}, T_c {period} us, t_p {delay} us: {measured}, not {expected}"
        );
    }
}

#[test]
fn the_computed_buffer_keeps_a_link_busy_and_a_smaller_one_does_not() {
    // A full frame short of C (T_c + 2 t_p) the link stalls once a period.
    let auto = FlowControl::Cbfc(Cbfc { update_period: Time::from_us(20), ..Cbfc::default() });
    assert!(throughput(auto, 1) > 0.9999);
    assert!(throughput(cbfc(20 * 5_000 + 10_000 - 1_024, 20), 1) < 0.9999);
}

#[test]
fn link_credits_come_back_one_by_one() {
    // A place is taken when a frame begins at h0 and is back a whole round later: frame 204.8 ns, propagation 1 us, frame
    // through the switch 204.8 ns (store-and-forward), the symbol of 16 B 3.2 ns, propagation 1 us: 2.4128 us. With K
    // places for frames that makes K frames in 2.4128 us, of the 11.78 that the link could carry.
    let credits = |unit, credits| {
        FlowControl::Credit(LinkCredits {
            unit,
            credits: Some(credits),
            undersized: true,
            ..LinkCredits::default()
        })
    };
    let store = |fc| {
        let switch = Switch { forwarding: Some(Forwarding::StoreAndForward), ..Switch::default() };
        let topology = chain(1, &[0, 0], Rate::from_gbps(GBPS), Time::from_us(1));
        let settings = Settings { switch, ..settings(fc) };
        let sim = run(topology, settings, vec![endless(0, 1, 0)], Time::from_ms(1));
        (sim.port(PortId(0)).tx_packets, sim)
    };
    let frames_in_1_ms = |k: f64| k * 1e6 / 2412.8;
    for k in [1u32, 4, 11] {
        for fc in [credits(CreditUnit::Packet, k), credits(CreditUnit::Flit, k * 64)] {
            let (sent, sim) = store(fc);
            assert!((sent as f64 - frames_in_1_ms(k.into())).abs() <= f64::from(k) + 1.0, "{k}: {sent}");
            assert!(!sim.records().pauses.is_empty(), "it waited for credits");
        }
    }
    // 12 frames and more never stall: 1 ms holds 4882 frames and the beginning of another.
    let (sent, sim) = store(credits(CreditUnit::Packet, 12));
    assert_eq!((sent, sim.records().pauses.len()), (4_883, 0));
}

#[test]
fn a_place_is_free_when_the_last_bit_has_left_whatever_follows_it() {
    // h0's one frame passes s0 to h1 by 1.5 us. Its receiver waits for a second packet before it answers, so no ACK of it gets
    // in the way. h1's frame to h2 is answered by an ACK of 50 KB: from 3.5 us on it holds the link from s0 to h1 for 10 us.
    // s0 tells h0 every 5 us what is free, so at least once between 4 and 9 us, over a link on which nothing else is.
    let one = Flow { source_rate: Rate(1_000), ..endless(0, 1, 0) };
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(GBPS), Time::from_us(1));
    let mut settings = settings(cbfc(65_536, 5));
    (settings.packets.ack, settings.host.ack_every) = (Bytes(50_000), 2);
    let sim = run(topology, settings, vec![one, flow(1, 2, 1000)], Time::from_us(12));
    let (sending, receiving) = sim.credits(PortId(0), 0).expect("credits");
    assert_eq!((sending.sent(), receiving.received(), receiving.occupied(), sending.used()), (16, 16, 0, 0));
    assert!(sim.port(PortId(3)).tx_bytes >= 51_024, "the ACK is on the wire");
}

#[test]
fn a_gap_behind_a_frame_keeps_no_place() {
    // One place for a frame: as without a gap it is free 2.4128 us after the frame began, though the wires stay taken for 200
    // ns behind each frame.
    let credits = LinkCredits {
        unit: CreditUnit::Packet,
        credits: Some(1),
        undersized: true,
        ..LinkCredits::default()
    };
    let mut settings = settings(FlowControl::Credit(credits));
    settings.switch.forwarding = Some(Forwarding::StoreAndForward);
    settings.packets.gap = Bytes(1_000);
    let topology = chain(1, &[0, 0], Rate::from_gbps(GBPS), Time::from_us(1));
    let sim = run(topology, settings, vec![endless(0, 1, 0)], Time::from_ms(1));
    assert_eq!(sim.port(PortId(0)).tx_packets, 1_000_000_000 / 2_412_800 + 1);
}

#[test]
fn an_ack_that_grows_takes_credits_for_what_it_becomes() {
    // FNCC's ACKs leave their receiver with 70 B, s1 with 78 and s0 with 86: 5, 5 and 6 flits of 16 B. Data packets are one
    // flit each, so that ACKs come faster than a link of 11 credits lets them go. The second one at s0 finds 5.
    let credits = LinkCredits { credits: Some(11), undersized: true, ..LinkCredits::default() };
    let mut settings = settings(FlowControl::Credit(credits));
    (settings.packets.mtu, settings.packets.header) = (Bytes(16), Bytes(1));
    settings.host.ack_class = AckClass::Data;
    let topology = chain(2, &[0, 1], Rate::from_gbps(GBPS), Time::from_us(1));
    let fncc = scheme("fncc", json!({}), Time::from_us(10));
    let flows = vec![flow(0, 1, 15 * 40)];
    let mut sim = simulate(topology, settings, fncc, flows, Recording::default(), Some(Time::from_ms(1)));
    sim.run_to_duration();
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    assert!(sim.records().outcomes()[0].fct.is_some());
    // Port 1 is s0's to h0: 40 ACKs of 6 flits, or fewer where the window was smaller than a packet.
    let (sending, receiving) = sim.credits(PortId(1), 0).expect("credits");
    assert_eq!((sending.sent(), receiving.received(), sending.available()), (240, 240, 11));
}

#[test]
fn a_header_is_all_that_a_hop_costs_with_cut_through() {
    // Three switches and four links of 1 us. A frame of 1024 B is sent on as soon as 64 B are there: 12.8 ns at each
    // switch, then 204.8 ns on the last link. The ACK, 66 B, is cut as well: 3 x 12.8 ns and 13.2 ns.
    let topology = chain(3, &[0, 2], Rate::from_gbps(GBPS), Time::from_us(1));
    let none = scheme("none", json!({}), Time::ZERO);
    let fct = |forwarding| {
        let switch = Switch { forwarding, ..Switch::default() };
        let fc = FlowControl::Cbfc(Cbfc::default());
        let settings = Settings { switch, ..settings(fc) };
        let flows = vec![flow(0, 1, 1000)];
        let mut sim = simulate(topology.clone(), settings, none.clone(), flows, Recording::default(), None);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        (sim.records().outcomes()[0].fct, sim.network().ideal_fct(FlowId(0)), sim.network().env.base_rtt)
    };
    let cut = Time(8_000_000 + 3 * 12_800 + 204_800 + 3 * 12_800 + 13_200);
    assert_eq!(fct(None), (Some(cut), Some(cut), cut));
    // Store-and-forward: 4 x 204.8 ns and 4 x 13.2 ns.
    let whole = Time(8_000_000 + 4 * (204_800 + 13_200));
    assert_eq!(fct(Some(Forwarding::StoreAndForward)), (Some(whole), Some(whole), whole));
}

#[test]
fn cut_through_from_a_slow_to_a_fast_link_waits_for_the_rest() {
    // 10 Gbps in, 40 Gbps out: a frame of 1024 B takes 819.2 ns in and 204.8 ns out, so that it may start 204.8 ns before
    // its last bit is there. It arrives when that bit has crossed both links: 819.2 ns + 2 us. Back from 40 to 10 Gbps the
    // ACK goes on after its header, 64 B in 12.8 ns, and takes 66 B x 0.8 ns = 52.8 ns on the slow link.
    let mut topology = chain(1, &[0, 0], Rate::from_gbps(GBPS), Time::from_us(1));
    (topology.links[0].rate_ab, topology.links[0].rate_ba) = (Rate::from_gbps(10), Rate::from_gbps(10));
    let none = scheme("none", json!({}), Time::ZERO);
    let settings = settings(FlowControl::Cbfc(Cbfc::default()));
    let mut sim = simulate(topology, settings, none, vec![flow(0, 1, 1000)], Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    let expected = Some(Time(4_000_000 + 819_200 + 12_800 + 52_800));
    assert_eq!((sim.records().outcomes()[0].fct, sim.network().ideal_fct(FlowId(0))), (expected, expected));
}

#[test]
fn an_output_serves_its_inputs_in_turn_however_many_flows_they_have() {
    // Three flows come in by the link from s0 and one from h3, all to h4 on s1: at s1 two inputs, which get half of the
    // link each. First in, first out, h3's share would be what it adds to the queue, as fast as it may.
    let topology = chain(2, &[0, 0, 0, 1, 1], Rate::from_gbps(GBPS), Time::from_us(1));
    let flows = vec![endless(0, 4, 0), endless(1, 4, 0), endless(2, 4, 0), endless(3, 4, 0)];
    let sim = run(topology, settings(FlowControl::Cbfc(Cbfc::default())), flows, Time::from_ms(10));
    let acked: Vec<u64> = sim.records().outcomes().iter().map(|f| f.acked_bytes).collect();
    let all: u64 = acked.iter().sum();
    let share = |i: usize| acked[i] as f64 / all as f64;
    assert!((share(3) - 0.5).abs() < 0.01, "{acked:?}");
    for i in 0..3 {
        assert!((share(i) - 1.0 / 6.0).abs() < 0.01, "{acked:?}");
    }
}

#[test]
fn credits_hold_up_who_only_shares_the_way() {
    // h0 -> h2 and h1 -> h3 share the link s0 -> s1; h4 and h5 on s1 also send to h2, whose link three flows share. s1's
    // buffer for the shared link fills with h0's packets, so h1's, whose own link is free, wait with them: head-of-line
    // blocking across the two flows of one input, though not among outputs.
    let topology = chain(2, &[0, 0, 1, 1, 1, 1], Rate::from_gbps(GBPS), Time::from_us(1));
    let flows = vec![endless(0, 2, 0), endless(1, 3, 0), endless(4, 2, 0), endless(5, 2, 0)];
    let sim = run(topology, settings(FlowControl::Cbfc(Cbfc::default())), flows, Time::from_ms(10));
    let rate = |i: usize| sim.records().outcomes()[i].acked_bytes as f64 * 8.0 / 10e-3 / 1e9;
    // Each input of h2's link gets a third of 40 Gbps; h0 and h1 take turns at s0, so that h1 goes as slowly as h0.
    assert!((rate(0) - 13.0).abs() < 0.4, "{}", rate(0));
    assert!((rate(1) - rate(0)).abs() < 0.4, "{} {}", rate(1), rate(0));
}

#[test]
fn credits_on_their_way_back_count_in_their_time() {
    // Nothing stalls, so that no credit's arrival is an event of its own. A limit of events ends the run at the beginning of the microsecond in which it
    // is exceeded: a run up to there has no more events, and one of a microsecond more has.
    let sim = |duration: u64| {
        let flow_control =
            FlowControl::Credit(LinkCredits { credits: Some(12_800), ..LinkCredits::default() });
        let topology = chain(2, &[0, 1], Rate::from_gbps(GBPS), Time::from_us(2));
        let none = scheme("none", json!({}), Time::ZERO);
        let flows = vec![endless(0, 1, 0)];
        let recording = Recording::default();
        simulate(topology, settings(flow_control), none, flows, recording, Some(Time(duration)))
    };
    let events = |duration: u64| {
        let mut sim = sim(duration);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
        sim.counters().events
    };
    let us = 1_000_000;
    for limit in [1_000, 2_000, 5_000] {
        let mut limited = sim(1_000 * us);
        limited.limit_events(limit);
        assert_eq!(limited.run(&mut |_| true), Ok(Stop::Events));
        let at = limited.now().0;
        assert!(events(at - 1) <= limit && limit < events(at + us - 1), "{limit}: at {at} ps");
    }
}
