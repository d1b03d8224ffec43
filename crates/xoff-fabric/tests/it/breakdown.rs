//! Where flows' time goes, by hand to the picosecond.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::FlowId;
use xoff_fabric::observe::breakdown::{Cause, Leg};
use xoff_fabric::settings::{
    CreditUnit, FlowControl, Forwarding, Host, LinkCredits, Packets, Pfc, Settings, Switch,
};
use xoff_fabric::topology::Topology;
use xoff_fabric::{Flow, Recording, Simulation};
use xoff_schemes::AnyScheme;
use xoff_schemes::throttle::AnyThrottle;

use Cause::{
    InFlight, Paused, Processing, Propagation, Queueing, Recovery, Serialization, Source, Throttled, Window,
};
use Leg::{Ack, Data, Sender};

/// 1518 B less 62 B of headers.
const PAYLOAD: u64 = 1456;
/// A full frame at 100 Gbps, 80 ps a byte, and an ACK of 66 B.
const FRAME: u64 = 121_440;
const ACK: u64 = 5_280;
const US: u64 = 1_000_000;

type Row = (Leg, Cause, &'static str, u64);

fn run(topology: Topology, settings: Settings, scheme: AnyScheme, flows: Vec<Flow>) -> Simulation {
    let recording = Recording { breakdown: true, ..Recording::default() };
    let mut sim = simulate(topology, settings, scheme, flows, recording, Some(Time::from_ms(10)));
    sim.run(&mut |_| true).expect("no loss");
    sim
}

fn none() -> AnyScheme {
    scheme("none", json!({}), Time::ZERO)
}

/// 100 Gbps and 1 us everywhere.
fn links(switches: u32, hosts: &[u32]) -> Topology {
    chain(switches, hosts, Rate::from_gbps(100), Time::from_us(1))
}

/// A flow's rows are these, and they sum to its completion time.
fn assert_rows(sim: &Simulation, flow: FlowId, expected: &[Row]) {
    let of_flow = sim.records().breakdown.iter().filter(|r| r.flow == flow);
    let rows: Vec<_> =
        of_flow.map(|r| (r.leg, r.cause, sim.network().topology.port_name(r.port), r.time.0)).collect();
    let expected: Vec<_> = expected.iter().map(|&(l, c, p, t)| (l, c, p.to_string(), t)).collect();
    assert_eq!(rows, expected);
    let sum: u64 = rows.iter().map(|row| row.3).sum();
    assert_eq!(sim.records().outcomes()[flow.index()].fct, Some(Time(sum)));
}

/// The way of a packet of `frame` ps over s0 and of its ACK, without any wait.
fn way(from: [&'static str; 2], to: [&'static str; 2], frame: u64) -> Vec<Row> {
    let [out, back] = from;
    let [down, up] = to;
    let link = |leg, port, time| [(leg, Serialization, port, time), (leg, Propagation, port, US)];
    let data = [link(Data, out, frame), link(Data, down, frame)].concat();
    [data, link(Ack, up, ACK).to_vec(), link(Ack, back, ACK).to_vec()].concat()
}

const H0: [&str; 2] = ["h0->s0", "s0->h0"];
const H1: [&str; 2] = ["s0->h1", "h1->s0"];

#[test]
fn a_lone_packet_is_serialized_and_propagated_and_nothing_else() {
    // One byte: a frame of 63 B, 5,040 ps, on two links, its ACK on two, 1 us each: 4,020,640 ps in all.
    let sim = run(links(1, &[0, 0]), Settings::default(), none(), vec![flow(0, 1, 1)]);
    assert_rows(&sim, FlowId(0), &way(H0, H1, 5_040));
}

#[test]
fn the_packets_before_the_last_are_serialization_at_the_sender() {
    // Three full packets: two are sent before the last.
    let sim = run(links(1, &[0, 0]), Settings::default(), none(), vec![flow(0, 1, 3 * PAYLOAD)]);
    let sender = vec![(Sender, Serialization, "h0->s0", 2 * FRAME)];
    assert_rows(&sim, FlowId(0), &[sender, way(H0, H1, FRAME)].concat());
    // With a gap of 20 B, 1,600 ps, after each frame, which the last one does not wait for.
    let packets = Packets { gap: Bytes(20), ..Packets::default() };
    let settings = Settings { packets, ..Settings::default() };
    let sim = run(links(1, &[0, 0]), settings, none(), vec![flow(0, 1, 3 * PAYLOAD)]);
    let sender = vec![(Sender, Serialization, "h0->s0", 2 * (FRAME + 1_600))];
    assert_rows(&sim, FlowId(0), &[sender, way(H0, H1, FRAME)].concat());
}

#[test]
fn the_receivers_delay_is_processing() {
    let host = Host { processing_delay: Time(700_000), ..Host::default() };
    let settings = Settings { host, ..Settings::default() };
    let sim = run(links(1, &[0, 0]), settings, none(), vec![flow(0, 1, PAYLOAD)]);
    let mut expected = way(H0, H1, FRAME);
    expected.insert(4, (Ack, Processing, "h1->s0", 700_000));
    assert_rows(&sim, FlowId(0), &expected);
}

#[test]
fn a_packet_behind_another_queues_at_the_shared_port() {
    // Both come to s0 at once; h0's goes first, and h1's waits for its frame.
    let flows = vec![flow(0, 2, PAYLOAD), flow(1, 2, PAYLOAD)];
    let sim = run(links(1, &[0, 0, 0]), Settings::default(), none(), flows);
    let to = ["s0->h2", "h2->s0"];
    assert_rows(&sim, FlowId(0), &way(H0, to, FRAME));
    let mut expected = way(["h1->s0", "s0->h1"], to, FRAME);
    expected.insert(2, (Data, Queueing, "s0->h2", FRAME));
    assert_rows(&sim, FlowId(1), &expected);
}

#[test]
fn flows_of_a_host_queue_for_its_wire() {
    // Flow 0 starts first, and stands in line again for its second packet before flow 1 comes: 0 0 1 0 1 1. Before its third
    // flow 0 has sent two and waited for one of flow 1; flow 1 has waited for three and sent two.
    let flows = vec![flow(0, 1, 3 * PAYLOAD), flow(0, 2, 3 * PAYLOAD)];
    let sim = run(links(1, &[0, 0, 0]), Settings::default(), none(), flows);
    let own = (Sender, Serialization, "h0->s0", 2 * FRAME);
    let sender = vec![own, (Sender, Queueing, "h0->s0", FRAME)];
    assert_rows(&sim, FlowId(0), &[sender, way(H0, H1, FRAME)].concat());
    let sender = vec![own, (Sender, Queueing, "h0->s0", 3 * FRAME)];
    assert_rows(&sim, FlowId(1), &[sender, way(H0, ["s0->h2", "h2->s0"], FRAME)].concat());
}

/// PAUSE at more than two frames, RESUME at none.
fn tight_pfc() -> Settings {
    let pfc = Pfc { xoff: Some(Bytes(2 * 1518)), ..Pfc::default() };
    Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() }
}

#[test]
fn a_stopped_sender_is_paused() {
    // The link to h1 has 10 Gbps: ten frame times u a frame. The fourth packet comes to s0 at 4u + 1 us, and PAUSE, 5,120
    // ps and 1 us later, finds the 21st frame on the wire, until 21u = 2,550,240. s0 holds nothing more when that one's
    // transmission begins at u + 1 us + 200u = 25,409,440; RESUME takes 1,005,120, so the last packet leaves at 26,414,560.
    // It meets an empty queue at s0: the 21st is through at 26,623,840, before it comes at 27,536,000.
    let mut topology = links(1, &[0, 0]);
    topology.links[1].rate_ba = Rate::from_gbps(10);
    let sim = run(topology, tight_pfc(), none(), vec![flow(0, 1, 22 * PAYLOAD)]);
    let sender = vec![
        (Sender, Serialization, "h0->s0", 2_550_240),
        (Sender, Paused, "h0->s0", 26_414_560 - 2_550_240),
    ];
    let mut expected = [sender, way(H0, H1, FRAME)].concat();
    expected[4] = (Data, Serialization, "s0->h1", 10 * FRAME);
    assert_rows(&sim, FlowId(0), &expected);
}

#[test]
fn a_victim_is_paused_where_its_packet_waits() {
    // As above with a switch more: h0 - s0 - s1 - h1, and the victim goes from h2 at s0 to h3 at s1. s1 stops s0 at
    // 5u + 2 us + 1,005,120 = 3,612,320, after which all 21 packets are at s1. The victim's leaves h2 at 3 us and comes to s0
    // at 3 us + u + 1 us = 4,121,440. s1 has sent enough at 2u + 2 us + 200u = 26,530,880, and s0 may go on 1,005,120 later.
    let mut topology = links(2, &[0, 1, 0, 1]);
    topology.links[1].rate_ba = Rate::from_gbps(10);
    let victim = Flow { start: Time::from_us(3), ..flow(2, 3, PAYLOAD) };
    let sim = run(topology, tight_pfc(), none(), vec![flow(0, 1, 21 * PAYLOAD), victim]);
    let link = |leg, port, time| vec![(leg, Serialization, port, time), (leg, Propagation, port, US)];
    let expected = [
        link(Data, "h2->s0", FRAME),
        vec![(Data, Paused, "s0->s1", 27_536_000 - 4_121_440)],
        link(Data, "s0->s1", FRAME),
        link(Data, "s1->h3", FRAME),
        link(Ack, "h3->s1", ACK),
        link(Ack, "s1->s0", ACK),
        link(Ack, "s0->h2", ACK),
    ];
    assert_rows(&sim, FlowId(1), &expected.concat());
}

#[test]
fn a_window_of_a_packet_shows_in_each_round_trip() {
    // Swift with a window of one packet: with a timestamp of 8 B a frame holds 1448 B and an ACK has 74 B, 5,920 ps. A round
    // trip takes 2 x 121,440 + 2 x 5,920 + 4 us = 4,254,720 ps, of which the window is full for all but the frame's own time.
    let swift = scheme("swift", json!({ "initial_cwnd": 1.0, "max_cwnd": 1.0 }), Time::from_us(5));
    let sim = run(links(1, &[0, 0]), Settings::default(), swift, vec![flow(0, 1, 3 * 1448)]);
    let sender = vec![
        (Sender, Serialization, "h0->s0", 2 * FRAME),
        (Sender, Window, "h0->s0", 2 * (4_254_720 - FRAME)),
    ];
    let mut expected = [sender, way(H0, H1, FRAME)].concat();
    expected[6].3 = 5_920;
    expected[8].3 = 5_920;
    assert_rows(&sim, FlowId(0), &expected);
}

#[test]
fn a_low_rate_shows_in_each_gap() {
    // TIMELY at 1 Gbps, without steps: each of the 21 packets before the last takes 12,144,000 ps, of which its frame is on the
    // wire for a hundredth. Its ACK comes before the next packet goes.
    let params = json!({ "pacing": "packet", "segment": "15928B", "initial_rate": "1Gbps", "delta": "0bps" });
    let timely = scheme("timely", params, Time::from_us(5));
    let sim = run(links(1, &[0, 0]), Settings::default(), timely, vec![flow(0, 1, 22 * 1448)]);
    let sender = vec![
        (Sender, Serialization, "h0->s0", 21 * FRAME),
        (Sender, Cause::Rate, "h0->s0", 21 * (12_144_000 - FRAME)),
    ];
    let mut expected = [sender, way(H0, H1, FRAME)].concat();
    expected[6].3 = 5_920;
    expected[8].3 = 5_920;
    assert_rows(&sim, FlowId(0), &expected);
}

#[test]
fn a_slow_source_is_no_fault_of_the_network() {
    // 1456 B at 1 Gbps: a packet each 11,648,000 ps.
    let slow = Flow { source_rate: Rate::from_gbps(1), ..flow(0, 1, 3 * PAYLOAD) };
    let sim = run(links(1, &[0, 0]), Settings::default(), none(), vec![slow]);
    let sender = vec![
        (Sender, Serialization, "h0->s0", 2 * FRAME),
        (Sender, Source, "h0->s0", 2 * (11_648_000 - FRAME)),
    ];
    assert_rows(&sim, FlowId(0), &[sender, way(H0, H1, FRAME)].concat());
}

#[test]
fn cut_through_counts_the_header_and_credits_count_as_a_pause() {
    // One credit for a packet on each link. The header of the first is at s0 at 64 x 80 + 1 us = 1,005,120, it has left there
    // a frame time u later, and its credit comes back 16 x 80 + 1 us after that: h0 sends the second at u + 2,006,400. The
    // credit to h1 has come back by then. Of each link but the last its header's time shows: 5,120 ps, of ACKs (66 B) too.
    let credit = LinkCredits {
        unit: CreditUnit::Packet,
        credits: Some(1),
        undersized: true,
        ..LinkCredits::default()
    };
    let settings = Settings { flow_control: FlowControl::Credit(credit), ..Settings::default() };
    let sim = run(links(1, &[0, 0]), settings.clone(), none(), vec![flow(0, 1, 2 * PAYLOAD)]);
    let sender = vec![(Sender, Serialization, "h0->s0", FRAME), (Sender, Paused, "h0->s0", 2_006_400)];
    let mut expected = [sender, way(H0, H1, FRAME)].concat();
    expected[2].3 = 5_120;
    expected[6].3 = 5_120;
    assert_rows(&sim, FlowId(0), &expected);
    // Store-and-forward: the first has left s0 at 2u + 1 us.
    let switch = Switch { forwarding: Some(Forwarding::StoreAndForward), ..Switch::default() };
    let settings = Settings { switch, ..settings };
    let sim = run(links(1, &[0, 0]), settings, none(), vec![flow(0, 1, 2 * PAYLOAD)]);
    let sender =
        vec![(Sender, Serialization, "h0->s0", FRAME), (Sender, Paused, "h0->s0", FRAME + 2_001_280)];
    assert_rows(&sim, FlowId(0), &[sender, way(H0, H1, FRAME)].concat());
}

#[test]
fn a_throttle_holds_back_what_it_says() {
    // The numbers of `used_credits_make_a_port_congested_at_the_moment` in throttle.rs: frames of 1600 B, 128 ns; after the sixth
    // PFT holds the next one back for far longer than the credits take to come back, at 2,257,280 ps, which frees the port.
    let pft = json!({"threshold": "fixed", "interval": "fixed", "m": 0, "n": 0, "k": 3, "threshold_enter": 592,
                     "threshold_escape": 592});
    let settings = Settings {
        packets: Packets { mtu: Bytes(1600), ..Packets::default() },
        switch: Switch { forwarding: Some(Forwarding::StoreAndForward), ..Switch::default() },
        flow_control: FlowControl::Credit(LinkCredits { credits: Some(4096), ..LinkCredits::default() }),
        throttle: Some(AnyThrottle::read("pft", pft).expect("known").expect("valid").resolve()),
        ..Settings::default()
    };
    let flows = vec![flow(0, 2, 7 * 1538), flow(1, 2, 7 * 1538)];
    let sim = run(links(1, &[0, 0, 0]), settings, none(), flows);
    let at_sender: Vec<_> = sim
        .records()
        .breakdown
        .iter()
        .filter(|r| r.flow == FlowId(0) && r.leg == Sender)
        .map(|r| (r.cause, r.time.0))
        .collect();
    assert_eq!(at_sender, [(Serialization, 768_000), (Throttled, 2_257_280 - 768_000)]);
}

#[test]
fn a_loss_costs_what_it_takes_to_learn_of_it() {
    // The switch holds one packet: of three that come at once the first goes on, the second waits, the third is lost. Its
    // sender starts again after 100 us.
    let host = Host { retransmit_timeout: Time::from_us(100), ..Host::default() };
    let settings = Settings {
        lossy: true,
        host,
        switch: Switch { buffer: Some(Bytes(1518)), ..Switch::default() },
        flow_control: FlowControl::None,
        ..Settings::default()
    };
    let flows = vec![flow(0, 3, PAYLOAD), flow(1, 3, PAYLOAD), flow(2, 3, PAYLOAD)];
    let sim = run(links(1, &[0, 0, 0, 0]), settings, none(), flows);
    assert_eq!(sim.counters().drops, 1);
    let sender =
        vec![(Sender, Serialization, "h2->s0", FRAME), (Sender, Recovery, "h2->s0", 100 * US - FRAME)];
    let way = way(["h2->s0", "s0->h2"], ["s0->h3", "h3->s0"], FRAME);
    assert_rows(&sim, FlowId(2), &[sender, way].concat());
}

#[test]
fn a_flow_that_does_not_complete_shows_what_held_it() {
    // The run ends at 1.5 us. Flow 0 has sent its packet, which is on its way; the endless flow 1 has its wire for itself.
    let recording = Recording { breakdown: true, ..Recording::default() };
    let flows = vec![flow(0, 2, PAYLOAD), endless(1, 2, 0)];
    let end = Some(Time(1_500_000));
    let mut sim = simulate(links(1, &[0, 0, 0]), Settings::default(), none(), flows, recording, end);
    sim.run(&mut |_| true).expect("no loss");
    let rows: Vec<_> = sim.records().breakdown.iter().map(|r| (r.flow, r.leg, r.cause, r.time.0)).collect();
    let expected = [
        (FlowId(0), Sender, Serialization, FRAME),
        (FlowId(0), Sender, InFlight, 1_500_000 - FRAME),
        (FlowId(1), Sender, Serialization, 1_500_000),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    let flows = vec![flow(0, 1, PAYLOAD)];
    let recording = Recording::default();
    let mut sim = simulate(links(1, &[0, 0]), Settings::default(), none(), flows, recording, None);
    sim.run(&mut |_| true).expect("no loss");
    assert!(sim.records().breakdown.is_empty());
}
