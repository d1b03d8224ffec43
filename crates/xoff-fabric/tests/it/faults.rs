//! Links that go down, slow down or lose frames; what it costs by hand.

use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::fault::{Broken, Cause, Convergence, Fault, FrameLoss};
use xoff_fabric::ids::{FlowId, NodeId, PortId};
use xoff_fabric::network::Flow;
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::{Cbfc, FlowControl, LinkCredits, Settings};
use xoff_fabric::topology::{Link, Node, NodeKind, Topology};
use xoff_fabric::{Cut, Network, Recording, Schedule, Simulation, Stop, network_env};

use crate::common::{chain, flow, scheme};

const RATE: Rate = Rate::from_gbps(100);
const DELAY: Time = Time::from_us(1);

/// Frames of 1,000 B with 952 B of payload, ACKs of 50 B, no gap: at 100 Gbps 80 ns and 4 ns. Senders wait 100 us for an ACK.
pub fn round() -> Settings {
    let mut settings = Settings::default();
    settings.packets.mtu = Bytes(1_000);
    settings.packets.header = Bytes(48);
    settings.packets.ack = Bytes(50);
    settings.packets.gap = Bytes(0);
    settings.host.retransmit_timeout = Time::from_us(100);
    settings
}

pub fn fault(what: Broken, from: Time, until: Time) -> Fault {
    Fault { what, from, until, event: 0 }
}

pub fn network(
    topology: Topology,
    settings: Settings,
    flows: Vec<Flow>,
    faults: Vec<Fault>,
    convergence: Convergence,
) -> Network {
    let router = Router::new(topology.clone(), &Routing::default(), 1).expect("routes");
    let none = scheme("none", json!({}), DELAY);
    let env = network_env(&topology, &router, &settings, &none.signals()).expect("connected");
    let net = Network::along(topology, &router, env, settings, none, flows, Schedule::default(), 1);
    net.expect("a network").with_faults(&router, faults, convergence, &[]).expect("faults")
}

pub fn run(net: Network, duration: Option<Time>) -> (Simulation, Stop) {
    let mut sim = Simulation::new(net, None, Recording::default(), duration);
    let stop = sim.run(&mut |_| true).expect("a run");
    (sim, stop)
}

/// h0 - s0 - s1 - h1: links 0 and 1 lead to the hosts, link 2 between the switches.
pub fn line() -> Topology {
    chain(2, &[0, 1], RATE, DELAY)
}

fn down(link: u32, from: Time, until: Time) -> Fault {
    fault(Broken::Link(link), from, until)
}

fn lost(sim: &Simulation, cause: Cause) -> u64 {
    let losses = sim.records().losses.as_ref().expect("losses");
    losses.iter().filter(|(key, _)| key.cause == cause).map(|(_, loss)| loss.packets).sum()
}

#[test]
fn a_flow_on_a_dead_path_waits_for_the_timeout_that_finds_the_link_up() {
    // Ten packets leave h0 every 80 ns; packet i is on the wire of s0 from 1,000 + 80 (i + 1) ns. The link s0 - s1 goes down at
    // 1.5 us: packets 0 to 5 are on it then, and 6 to 9 come later. All are lost. The sender tries again at 100 us, at
    // 200 us, ...; the first try with the link up takes 9 frames, three links of 1,080 ns there and of 1,004 ns back.
    let alone = 9 * 80 + 3 * 1_080 + 3 * 1_004;
    for (until_us, tries) in [(50, 1), (99, 1), (150, 2), (250, 3)] {
        let faults = vec![down(2, Time::from_ns(1_500), Time::from_us(until_us))];
        let net = network(line(), round(), vec![flow(0, 1, 9_520)], faults, Convergence::None);
        let (sim, stop) = run(net, None);
        let outcome = &sim.records().outcomes()[0];
        let expected = Time::from_ns(tries * 100_000 + alone);
        assert_eq!((stop, outcome.fct), (Stop::FlowsDone, Some(expected)), "{until_us} us");
        assert_eq!((outcome.packets_sent, lost(&sim, Cause::LinkDown)), (10 * (tries + 1), 10 * tries));
        assert_eq!(outcome.retransmitted_bytes, 9_520 * tries);
        assert_eq!(sim.buffered_bytes(), (0, 0));
    }
}

#[test]
fn a_frame_is_lost_if_its_link_is_down_at_any_time_until_it_arrives() {
    // One packet is on the link s0 - s1 from 1,080 to 2,160 ns. An outage takes it if it touches that time; at 1,080 ns, the packet
    // comes to s0 before the link comes up.
    for (from, until, arrives) in [
        (1_000, 1_079, true),
        (1_079, 1_080, false),
        (1_080, 1_081, false),
        (1_500, 1_501, false),
        (2_160, 2_161, false),
        (2_161, 2_162, true),
    ] {
        let faults = vec![down(2, Time::from_ns(from), Time::from_ns(until))];
        let net = network(line(), round(), vec![flow(0, 1, 952)], faults, Convergence::None);
        let (sim, _) = run(net, None);
        let tries = if arrives { 0 } else { 100_000 };
        let expected = Time::from_ns(tries + 3 * 1_080 + 3 * 1_004);
        assert_eq!(sim.records().outcomes()[0].fct, Some(expected), "down from {from} to {until} ns");
    }
}

#[test]
fn a_host_keeps_what_it_has_to_send_while_its_link_is_down() {
    // h0's own link is down from 10 ns to 5 us: packet 0 is on it and is lost. The host sends on at 5 us; of packets 1 to 9,
    // which come out of order, the first to arrive asks for packet 0: it leaves h0 at 5 us, its NACK is back after
    // 3 x 1,080 + 3 x 1,004 = 6,252 ns, and everything from packet 0 on is sent again from 11,252 ns.
    let faults = vec![down(0, Time::from_ns(10), Time::from_us(5))];
    let net = network(line(), round(), vec![flow(0, 1, 9_520)], faults, Convergence::None);
    let (sim, _) = run(net, None);
    let expected = Time::from_ns(11_252 + 9 * 80 + 6_252);
    assert_eq!(sim.records().outcomes()[0].fct, Some(expected));
    assert_eq!((lost(&sim, Cause::LinkDown), sim.records().outcomes()[0].packets_sent), (1, 20));
}

/// h0 - l0, l1 - h1, and two spines between the leaves: links 0, 1, then l0 - a, l0 - b, l1 - a, l1 - b.
pub fn two_spines() -> Topology {
    two_spines_of(1)
}

/// The same with so many hosts on each leaf: those of l0, then those of l1.
pub fn two_spines_of(hosts: u32) -> Topology {
    let node = |name: String, kind| Node { name, kind, tier: 0 };
    let (l0, l1, a, b) = (2 * hosts, 2 * hosts + 1, 2 * hosts + 2, 2 * hosts + 3);
    let named = |host: u32| node(format!("h{host}"), NodeKind::Host);
    let switches = ["l0", "l1", "a", "b"].map(|name| node(name.into(), NodeKind::Switch));
    let link = |(a, b)| Link {
        a: NodeId(a),
        b: NodeId(b),
        rate_ab: RATE,
        rate_ba: RATE,
        delay_ab: DELAY,
        delay_ba: DELAY,
    };
    let own = (0..2 * hosts).map(|host| (host, if host < hosts { l0 } else { l1 }));
    let links = own.chain([(l0, a), (l0, b), (l1, a), (l1, b)]).map(link).collect();
    Topology { nodes: (0..2 * hosts).map(named).chain(switches).collect(), links, ..Topology::default() }
}

/// The link of the flow's path from its first switch.
pub fn first_trunk(flows: &[Flow]) -> u32 {
    let net = network(two_spines(), round(), flows.to_vec(), vec![], Convergence::None);
    net.data_path(FlowId(0))[1].link() as u32
}

#[test]
fn a_connection_moves_to_the_other_path_once_routing_has_converged() {
    // The first link between switches goes down at 1 us, for ever; the first packet is on the wire of l0 at 1,080 ns. Routing
    // knows at 51 us, and the timeout of 100 us sends everything by the other spine: four links each way.
    let flows = vec![flow(0, 1, 9_520)];
    let link = first_trunk(&flows);
    let faults = || vec![down(link, DELAY, Time::NEVER)];
    let converges = Convergence::After(Time::from_us(50));
    let (sim, _) = run(network(two_spines(), round(), flows.clone(), faults(), converges), None);
    let expected = Time::from_ns(100_000 + 9 * 80 + 4 * 1_080 + 4 * 1_004);
    assert_eq!(sim.records().outcomes()[0].fct, Some(expected));
    let path = sim.network().data_path_at(FlowId(0), Time::from_us(51));
    assert!(path.len() == 4 && path.iter().all(|port| port.link() as u32 != link), "{path:?}");
    let before = Time(Time::from_us(51).ps() - 1);
    assert_eq!(sim.network().data_path_at(FlowId(0), before), sim.network().data_path(FlowId(0)));

    // If routing learns of it only at 250 us, the timeouts at 100 us and 200 us are in vain.
    let converges = Convergence::After(Time::from_us(249));
    let (sim, _) = run(network(two_spines(), round(), flows.clone(), faults(), converges), None);
    assert_eq!(sim.records().outcomes()[0].fct, Some(expected + Time::from_us(200)));

    // Never: the run ends, and says that it does so for nothing happens any more.
    let (sim, stop) = run(network(two_spines(), round(), flows, faults(), Convergence::None), None);
    assert_eq!((stop, sim.records().outcomes()[0].fct), (Stop::Stuck, None));
    assert!(sim.now() < Time::from_ms(60), "{}", sim.now());
}

#[test]
fn sprayed_packets_avoid_a_dead_link_once_routing_has_converged() {
    // With two paths every second packet is lost at first; after convergence none is, and the flow completes.
    let settings = Settings {
        host: xoff_fabric::settings::Host {
            transport: xoff_fabric::settings::Transport::Unordered,
            ..round().host
        },
        ..round()
    };
    let routing: Routing =
        serde_json::from_value(json!({ "name": "ecmp", "choice": "per_packet" })).expect("routing");
    let topology = two_spines();
    let router = Router::new(topology.clone(), &routing, 1).expect("routes");
    let none = scheme("none", json!({}), DELAY);
    let env = network_env(&topology, &router, &settings, &none.signals()).expect("connected");
    let flows = vec![flow(0, 1, 95_200)];
    let net = Network::along(topology, &router, env, settings, none, flows, Schedule::default(), 1);
    let faults = vec![down(2, Time::ZERO, Time::NEVER)];
    let converges = Convergence::After(Time::from_us(50));
    let net = net.expect("a network").with_faults(&router, faults, converges, &[]).expect("faults");
    let (sim, stop) = run(net, None);
    assert_eq!(stop, Stop::FlowsDone);
    // 100 packets: spraying sends as many by each path, of which one is dead. Data by the other one arrive, and of their 50 ACKs
    // some take the dead way back; only data is counted here.
    let losses = sim.records().losses.as_ref().expect("losses");
    let data: u64 = losses.iter().filter(|(key, _)| key.is_data).map(|(_, loss)| loss.packets).sum();
    assert_eq!(data, 50);
}

#[test]
fn a_slower_link_takes_longer_from_the_next_frame_on() {
    // The link s0 - s1 has 25 Gbps from 1.2 us on: packets 0 and 1 begin there at 1,080 and 1,160 ns and take 80 ns each; packet
    // 2 begins at 1,240 ns and takes 320 ns, as all behind it. The tenth ends at 1,240 + 8 x 320 = 3,800 ns, takes a
    // delay, and 1,080 ns to h1. Its ACK takes 1,004 ns, 16 + 1,000 ns on the slow link, and 1,004 ns.
    let slow = Broken::Rate { link: 2, rate: Rate::from_gbps(25) };
    let faults = vec![fault(slow, Time::from_ns(1_200), Time::NEVER)];
    let net = network(line(), round(), vec![flow(0, 1, 9_520)], faults, Convergence::None);
    let (sim, _) = run(net, None);
    let expected = Time::from_ns(3_800 + 1_000 + 1_080 + 1_004 + 1_016 + 1_004);
    assert_eq!(sim.records().outcomes()[0].fct, Some(expected));
}

#[test]
fn a_packet_that_cuts_through_does_not_leave_a_slower_link_before_it_has_come() {
    // All links have 100 Gbps, but s0 - s1 has 25 Gbps. A packet of 1,000 B cuts through s0 after 64 B, 5.12 ns: the next link is
    // slower. There it takes 320 ns, and s1 holds it until 240 ns have passed, so that its 80 ns on the faster link end with its
    // last bit: it is at h1 after 5.12 + 240 + 80 + 3 x 1,000 ns. Its ACK, no longer than the header, takes 1,004, 1,016 and 1,004 ns.
    // If the link s1 - h1 is as slow, the packet goes on after its header, 20.48 ns, takes 320 ns, and the ACK twice 1,016 ns. If that
    // link is so only until 1.5 us, when the packet, which began at 1,005.12 ns, is on its way to s1, it waits there as if it had never been.
    let held = 5_120 + 1_000 * (240 + 80 + 3_000 + 1_004 + 1_016 + 1_004);
    let at_once = 5_120 + 20_480 + 1_000 * (320 + 3_000 + 1_016 + 1_016 + 1_004);
    let cases = [
        (Time::ZERO, held),
        (Time::NEVER, at_once),
        (Time::from_ns(1_500), held),
        (Time::from_us(9), at_once),
    ];
    for (until, expected) in cases {
        let mut settings = round();
        settings.flow_control = FlowControl::Credit(LinkCredits::default());
        let slow = |link: u32| Broken::Rate { link, rate: Rate::from_gbps(25) };
        let faults = vec![fault(slow(2), Time::ZERO, Time::NEVER), fault(slow(1), Time::ZERO, until)];
        let net = network(line(), settings, vec![flow(0, 1, 952)], faults, Convergence::None);
        let (sim, _) = run(net, None);
        assert_eq!(sim.records().outcomes()[0].fct, Some(Time(expected)), "{until}");
    }
}

#[test]
fn go_back_n_loses_a_round_trip_with_each_lost_packet() {
    // A packet that is lost on h0's link is asked for by the next packet, 80 ns behind it, and goes again D = 80 + 6,252 ns after
    // its first try, as do all behind it. NACKs at least D - 40 ns apart: one a loss. With a share p lost, N packets meet
    // N p / (1 - p) losses; one NACK in 1 / p is lost too on the same link, which costs another D. N = 200,000, p = 0.01: 2,020
    // losses, standard deviation 45. Time without losses: N x 80 ns = 16 ms; losses add 2,020 x 1.01 x 6,332 ns = 12.92 ms.
    let (packets, p) = (200_000u64, 0.01);
    let mut settings = round();
    settings.host.nack_interval = Time::from_ns(6_332 - 40);
    let loss = Broken::Frames { link: 0, loss: FrameLoss::Share(p) };
    let faults = vec![fault(loss, Time::ZERO, Time::NEVER)];
    let net = network(line(), settings, vec![flow(0, 1, 952 * packets)], faults, Convergence::None);
    let (sim, _) = run(net, None);
    let fct = sim.records().outcomes()[0].fct.expect("complete").secs();
    let losses = packets as f64 * p / (1.0 - p);
    let expected = packets as f64 * 80e-9 + losses * 1.01 * 6_332e-9;
    let sigma = losses.sqrt() * 6_332e-9;
    assert!((fct - expected).abs() < 4.0 * sigma, "{fct} s, expected {expected} s, sigma {sigma} s");
    // Of all frames on the link, data there and ACKs back, a share p is lost.
    let ports = PortId::of_link(0).map(|port| sim.port(port).tx_packets);
    let (sent, lost) = (ports[0] + ports[1], lost(&sim, Cause::BitErrors));
    let sigma = (sent as f64 * p * (1.0 - p)).sqrt();
    assert!((lost as f64 - sent as f64 * p).abs() < 5.0 * sigma, "{lost} of {sent}");
}

#[test]
fn credits_of_lost_packets_come_back() {
    let controls = [
        FlowControl::Credit(LinkCredits::default()),
        FlowControl::Cbfc(Cbfc::default()),
        FlowControl::Pfc(Default::default()),
    ];
    for flow_control in controls {
        let mut settings = round();
        settings.flow_control = flow_control;
        let loss = Broken::Frames { link: 2, loss: FrameLoss::Share(0.02) };
        let us = Time::from_us;
        let faults = vec![
            fault(loss, Time::ZERO, Time::from_us(1_500)),
            down(2, us(20), us(60)),
            down(0, us(150), us(151)),
            fault(Broken::Switch(NodeId(3)), us(300), us(420)),
        ];
        let net = network(line(), settings, vec![flow(0, 1, 9_520_000)], faults, Convergence::None);
        let mut sim = Simulation::new(net, None, Recording::default(), Some(Time::from_ms(20)));
        sim.run_to_duration();
        sim.run(&mut |_| true).expect("a run");
        let name = sim.network().settings.flow_control.name();
        assert_eq!(sim.records().outcomes()[0].acked_bytes, 9_520_000, "{name}");
        assert_eq!(sim.buffered_bytes(), (0, 0), "{name}");
        for port in sim.network().topology.port_ids() {
            if let Some((sending, receiving)) = sim.credits(port, 0) {
                assert_eq!(
                    (sending.sent(), receiving.occupied()),
                    (receiving.received(), 0),
                    "{name} {port}"
                );
            }
        }
    }
}

#[test]
fn threads_agree_on_faults_at_their_borders() {
    let us = Time::from_us;
    let all = || {
        let ber = Broken::Frames { link: 3, loss: FrameLoss::BitErrorRate(1e-6) };
        vec![
            down(2, us(10), us(30)),
            down(4, us(20), us(200)),
            fault(ber, us(5), us(300)),
            fault(Broken::Rate { link: 5, rate: Rate::from_gbps(10) }, us(40), us(90)),
            fault(Broken::Switch(NodeId(5)), us(100), us(130)),
            fault(Broken::PauseStorm { port: PortId(2), priorities: 1 }, us(250), us(290)),
            fault(Broken::Receiver { host: NodeId(1), rate: None, buffer: 20_000 }, us(320), us(350)),
        ]
    };
    let on = |threads: usize, one_order: bool| {
        let flows = vec![flow(0, 1, 2_000_000), flow(1, 0, 2_000_000), flow(0, 1, 500_000)];
        let mut net = network(two_spines(), round(), flows, all(), Convergence::After(us(25)));
        net.one_order = one_order;
        let cut = Cut::into(&net, threads, None);
        assert_eq!(cut.partitions(), threads);
        let mut sim = Simulation::cut(net, cut, None, Recording::default(), None);
        let stop = sim.run(&mut |_| true).expect("a run");
        (sim, stop)
    };
    let (one, stop) = on(1, false);
    assert!(one.counters().drops > 0 && stop == Stop::FlowsDone, "{stop:?}");
    for (threads, one_order) in [(1, true), (2, false), (3, false)] {
        let (other, end) = on(threads, one_order);
        assert_eq!((one.counters(), stop), (other.counters(), end), "{threads} threads, {one_order}");
        assert_eq!(one.records().outcomes(), other.records().outcomes());
        assert_eq!(one.records().losses, other.records().losses);
    }
}
