//! Credits that are taken and given back flit by flit, by hand.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::PortId;
use xoff_fabric::path::topology::Topology;
use xoff_fabric::settings::{
    CreditGranularity, FlowControl, Forwarding, LinkCredits, Packets, Settings, Switch,
};
use xoff_fabric::{Recording, Simulation, Stop};
use xoff_schemes::{AnyThrottle, ThrottleState};

const FLIT: u64 = 1_280;

/// Hosts at one switch, 100 Gbps and 1 us a link, in frames of `mtu` bytes and flits of 16 B, each 1.28 ns. Store-and-forward.
fn run(
    (hosts, flows): (u32, Vec<xoff_fabric::network::Flow>),
    mtu: u64,
    credits: (CreditGranularity, u32),
    throttle: Option<serde_json::Value>,
) -> Simulation {
    let topology = chain(1, &vec![0; hosts as usize], Rate::from_gbps(100), Time::from_us(1));
    run_on((topology, flows), mtu, credits, throttle)
}

/// As [`run`], in a network of its own.
fn run_on(
    (topology, flows): (Topology, Vec<xoff_fabric::network::Flow>),
    mtu: u64,
    (granularity, credits): (CreditGranularity, u32),
    throttle: Option<serde_json::Value>,
) -> Simulation {
    let throttle =
        throttle.map(|params| AnyThrottle::read("pft", params).expect("known").expect("valid").resolve());
    let credits =
        LinkCredits { granularity, credits: Some(credits), undersized: true, ..LinkCredits::default() };
    let settings = Settings {
        packets: Packets { mtu: Bytes(mtu), header: Bytes(48), ack: Bytes(64), ..Packets::default() },
        switch: Switch { forwarding: Some(Forwarding::StoreAndForward), ..Switch::default() },
        flow_control: FlowControl::Credit(credits),
        throttle,
        ..Settings::default()
    };
    let recording = Recording { throttles: true, pauses: true, ..Recording::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, settings, none, flows, recording, Some(Time::from_us(100)));
    sim.run_to_duration();
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    sim
}

#[test]
fn a_throttle_sees_every_flit_leave_and_come_back() {
    // FT: congested when c > 592 flits. Two hosts send frames of 100 flits to a third, back to back, and nothing comes back before
    // 2 us: the 593rd flit begins to leave at 592 x 1.28 ns, and makes c = 593. FI with f(c) = c + 3: after the sixth frame the
    // next one has to wait for long.
    let pft = || {
        json!({"threshold": "fixed", "interval": "fixed", "m": 0, "n": 0, "k": 3, "threshold_enter": 592,
               "threshold_escape": 592})
    };
    let changes = |granularity| {
        let flows = vec![endless(0, 2, 0), endless(1, 2, 0)];
        let sim = run((3, flows), 1_600, (granularity, 4_096), Some(pft()));
        let rows = sim.records().throttles.iter().filter(|r| r.port == PortId(0));
        rows.take(2).map(|r| (r.time, r.state)).collect::<Vec<_>>()
    };
    // h0's first frame is at the switch at 1.128 us and leaves at once. Its first flit has left 1.28 ns later; a symbol of 1.28 ns
    // and 1 us bring the credit back: at 2.13056 us. Of the 600 in use nine have to come back for c < 592.
    let first = Time(1_128_000 + 2 * FLIT + 1_000_000);
    assert_eq!(
        changes(CreditGranularity::Flit),
        [(Time(592 * FLIT), ThrottleState::Congested), (first + Time(8 * FLIT), ThrottleState::Normal)]
    );
    // All at once: the sixth frame begins at 640 ns, and the first one's credits come when its last bit has left, 99 flits later.
    assert_eq!(
        changes(CreditGranularity::Packet),
        [(Time(500 * FLIT), ThrottleState::Congested), (first + Time(99 * FLIT), ThrottleState::Normal)]
    );
}

#[test]
fn a_packet_begins_when_the_last_of_its_credits_is_there() {
    // 150 credits, and two frames of 100 flits from a host to another. The second one lacks 50 at 128 ns. The first credit is
    // back at 2.13056 us, as above, the 50th 49 flits later. The frame then takes all 100 credits: a flit's would do by wormhole.
    let start = |granularity| {
        let sim = run((2, vec![flow(0, 1, 2 * (1_600 - 48))]), 1_600, (granularity, 150), None);
        let stalls: Vec<_> = sim.records().pauses.iter().filter(|p| p.port == PortId(0)).collect();
        assert_eq!((stalls.len(), stalls[0].start), (1, Time(128_000)));
        // The last ACK: the frame over two links, and 64 B back over two.
        let fct = sim.records().outcomes()[0].fct.expect("complete");
        let (there, back) = (2 * (128_000 + 1_000_000), 2 * (64 * 80 + 1_000_000));
        assert_eq!(fct, stalls[0].end + Time(there + back));
        stalls[0].end
    };
    let first = Time(1_128_000 + 2 * FLIT + 1_000_000);
    assert_eq!(start(CreditGranularity::Flit), first + Time(49 * FLIT));
    assert_eq!(start(CreditGranularity::Packet), first + Time(99 * FLIT));
}

#[test]
fn credits_of_two_packets_add_up() {
    // 100 credits: two frames of 40 flits and one of 100, which lacks 80 at 102.4 ns and has to wait for those of both. The first frame
    // is at the switch at 1.0512 us, the second leaves it right behind the first: the 80th credit comes 79 flits after the first one.
    let of = |flits: u64| flow(0, 1, 16 * flits - 48);
    let sim = run((2, vec![of(40), of(40), of(100)]), 1_600, (CreditGranularity::Flit, 100), None);
    let stalls: Vec<_> = sim.records().pauses.iter().filter(|p| p.port == PortId(0)).collect();
    let first = Time(1_051_200 + 2 * FLIT + 1_000_000);
    assert_eq!(
        stalls.iter().map(|p| (p.start, p.end)).collect::<Vec<_>>(),
        [(Time(102_400), first + Time(79 * FLIT))]
    );
    let (sending, receiving) = sim.credits(PortId(0), 0).expect("credits");
    assert_eq!((sending.used(), sending.sent(), receiving.occupied()), (0, 180, 0));
}

#[test]
fn flits_of_a_slower_link_have_left_before_their_credits_come_back() {
    // A host at 310 Gbps and one at 320, 1 ns away: a byte takes 25.8 and 25 ps. Were each rounded up to 26 ps, a frame of 65,000 flits
    // of 1 B would take 12.6 ns longer than it does, and its last credits would be back before their flits had left.
    let pft = json!({"threshold": "fixed", "interval": "fixed", "m": 0, "n": 12, "k": 0, "threshold_enter": 592,
                     "threshold_escape": 592});
    let credits =
        LinkCredits { granularity: CreditGranularity::Flit, flit: Bytes(1), ..LinkCredits::default() };
    let settings = Settings {
        packets: Packets { mtu: Bytes(65_000), header: Bytes(48), ack: Bytes(64), ..Packets::default() },
        flow_control: FlowControl::Credit(credits),
        throttle: Some(AnyThrottle::read("pft", pft).expect("known").expect("valid").resolve()),
        ..Settings::default()
    };
    let mut topology = chain(1, &[0, 0], Rate::from_gbps(320), Time::from_ns(1));
    (topology.links[0].rate_ab, topology.links[0].rate_ba) = (Rate::from_gbps(310), Rate::from_gbps(310));
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![flow(0, 1, 20 * (65_000 - 48))];
    let mut sim = simulate(topology, settings, none, flows, Recording::default(), Some(Time::from_us(1_000)));
    sim.run_to_duration();
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    let (sending, receiving) = sim.credits(PortId(0), 0).expect("credits");
    assert_eq!((sending.used(), sending.sent(), receiving.occupied()), (0, 20 * 65_000, 0));
}

#[test]
fn a_credit_that_comes_as_a_packet_wants_to_go_comes_after() {
    // Two hosts send two frames of 100 flits each over a link between two switches: its frames begin at 128 ns and a delay, and each 128
    // ns from then on. The first one's credits are back from 128 ns, a flit, a symbol and two delays after its begin on. With 400 - k
    // credits the fourth frame lacks k at 384 ns, and by the delay the k-th comes just then, third among simultaneous events: the
    // frame stops for no time, whether the credit is the first one, whose arrival is an event, or a later one.
    for k in [1, 2, 50] {
        let delay = Time((384_000 - 128_000 - 2 * FLIT - (k - 1) * FLIT) / 2);
        let topology = chain(2, &[0, 0, 1], Rate::from_gbps(100), delay);
        let flows = vec![flow(0, 2, 2 * (1_600 - 48)), flow(1, 2, 2 * (1_600 - 48))];
        let sim = run_on((topology, flows), 1_600, (CreditGranularity::Flit, 400 - k as u32), None);
        let [trunk, _] = PortId::of_link(3);
        let stalls: Vec<_> = sim.records().pauses.iter().filter(|p| p.port == trunk).collect();
        let at = Time(128_000 + 384_000) + delay;
        assert_eq!(stalls.iter().map(|p| (p.start, p.end)).collect::<Vec<_>>(), [(at, at)], "{k}");
    }
}

/// When the second of two frames of 64 B, 4 flits, begins: what it loses against a run without a throttle, and 5.12 ns.
fn second_frame(granularity: CreditGranularity, throttle: serde_json::Value) -> Time {
    let fct = |throttle| {
        let sim = run((2, vec![flow(0, 1, 2 * 16)]), 64, (granularity, 4_096), throttle);
        sim.records().outcomes()[0].fct.expect("complete")
    };
    fct(Some(throttle)) - fct(None) + Time(4 * FLIT)
}

#[test]
fn the_interval_grows_with_each_flit_that_leaves() {
    // FI, f(c) = c: a flit goes at 1/(1 + c) of the rate, always congested once c > 0. At 0, 1.28, 2.56 and 3.84 ns c is 1 to 4.
    // Of the 5.12 ns of the frame are then over: 1.28/2 + 1.28/3 + 1.28/4, 1.38667 ns. The other 3.73333 ns go at 1/5: 18.66667
    // ns after 3.84 ns, at 22.507 ns.
    let pft = || {
        json!({"threshold": "fixed", "interval": "fixed", "m": 0, "n": 0, "k": 0, "threshold_enter": 0,
               "threshold_escape": 0})
    };
    assert_eq!(second_frame(CreditGranularity::Flit, pft()), Time(22_507));
    // With c = 4 from the beginning: 5 x 5.12 ns.
    assert_eq!(second_frame(CreditGranularity::Packet, pft()), Time(25_600));
}

#[test]
fn a_held_back_packet_goes_in_the_midst_of_the_credits_that_come_back() {
    // RI, b = 1 and f(c) = c: a flit goes at full rate with c = 0, at half of it with c = 1, and not at all with more. With c = 1,
    // up to 1.28 ns, 0.64 of the 5.12 ns are over. The frame is at the switch at 1.00512 us; its credits are back from 2.00768 us
    // on, 1.28 ns apart: c is 1 at 2.01024 us and 0 at 2.01152 us. In between 0.64 ns more are over; 3.84 ns are left.
    let pft = || {
        json!({"threshold": "fixed", "interval": "random", "random_bits": 1, "m": 0, "n": 0, "threshold_enter": 0,
               "threshold_escape": 0})
    };
    assert_eq!(second_frame(CreditGranularity::Flit, pft()), Time(2_011_520 + 3_840));
    // All at once: with c = 4 nothing goes up to 2.01152 us, and then all of the 5.12 ns.
    assert_eq!(second_frame(CreditGranularity::Packet, pft()), Time(2_011_520 + 5_120));
}
