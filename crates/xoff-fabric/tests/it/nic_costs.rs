//! What a NIC takes time for beside its wire, by hand. Frames of 1,000 B hold 952 B and take 80 ns at 100 Gbps, ACKs of 50 B
//! 4 ns, and each link 1 us; the switches store and forward.

use std::sync::{Arc, Mutex};

use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::FlowId;
use xoff_fabric::network::{Flow, Network};
use xoff_fabric::observe::breakdown::{Cause, Leg};
use xoff_fabric::observe::{Hooks, Probe, Records};
use xoff_fabric::packet::Kind;
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::{Forwarding, Host, NicTimer, Settings, Transport};
use xoff_fabric::{Recording, Schedule, Simulation, Stop, network_env};
use xoff_schemes::{AnyDetector, AnyScheme};

use crate::common::{flow, scheme, star};

const PAYLOAD: u64 = 952;
/// One packet over two links with a switch in between, and its ACK back.
const THERE: u64 = 2 * (80_000 + 1_000_000);
const BACK: u64 = 2 * (4_000 + 1_000_000);

fn settings(host: Host) -> Settings {
    let mut settings = Settings { host, ..Settings::default() };
    settings.packets.mtu = Bytes(1_000);
    settings.packets.header = Bytes(48);
    settings.packets.ack = Bytes(50);
    settings.packets.gap = Bytes(0);
    settings.switch.forwarding = Some(Forwarding::StoreAndForward);
    settings
}

/// Three hosts on one switch.
fn network(host: Host, scheme: AnyScheme, flows: Vec<Flow>, connections: &[Option<u32>]) -> Network {
    let (topology, settings) = (star(&[0; 3]), settings(host));
    let router = Router::new(&topology, &Routing::default(), 1).expect("routes");
    let env = network_env(&topology, &router, &settings, &scheme.signals()).expect("connected");
    let schedule = Schedule { connections: connections.to_vec(), ..Schedule::default() };
    let scheme = scheme.resolve(&env);
    Network::along(topology, &router, env, settings, scheme, flows, schedule, 1).expect("a network")
}

fn none() -> AnyScheme {
    scheme("none", json!({}), Time::ZERO)
}

/// The completion times of flows under no control.
fn fcts(host: Host, flows: Vec<Flow>, connections: &[Option<u32>]) -> Vec<u64> {
    let mut sim =
        Simulation::new(network(host, none(), flows, connections), None, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    sim.records().outcomes().iter().map(|f| f.fct.expect("complete").0).collect()
}

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

#[test]
fn a_source_makes_data_while_the_doorbell_is_on_its_way() {
    // Two full packets at 1 Gbps: the second one's data are there 952 * 8 = 7,616 ns after the start, long after the doorbell's
    // 500 ns, which so delays nothing but the first packet.
    let host = Host { doorbell_delay: ns(500), ..Host::default() };
    let slow = Flow { source_rate: Rate::from_gbps(1), ..flow(0, 1, 2 * PAYLOAD) };
    assert_eq!(fcts(host.clone(), vec![slow], &[]), [7_616_000 + THERE + BACK]);
    // A doorbell that takes longer than the source is what both packets wait for: they go one behind the other.
    let late = Host { doorbell_delay: ns(9_000), ..host };
    assert_eq!(fcts(late, vec![slow], &[]), [9_000_000 + 80_000 + THERE + BACK]);
}

#[test]
fn a_message_begins_when_its_doorbell_has_reached_the_nic() {
    // 500 ns, then one packet there and its ACK back. The second message comes 40 ns later: 30 B, a frame of 78 B that takes
    // 6.24 ns. The doorbells' delays run side by side: at 540 ns the first frame takes the wire until 580 ns, and the second ends at
    // the switch 6.24 ns after the first, but leaves only when the first has left. It ends at the receiver 6.24 ns after the first.
    let host = Host { doorbell_delay: ns(500), ..Host::default() };
    let late = Flow { start: ns(40), ..flow(0, 1, 30) };
    let found = fcts(host, vec![flow(0, 1, PAYLOAD), late], &[]);
    // ACKs of 4 ns follow data 6.24 ns apart, so that they do not meet.
    let first = 500_000 + THERE + BACK;
    assert_eq!(found, [first, first + 6_240 - 40_000]);
}

#[test]
fn a_message_behind_others_of_its_connection_rings_when_it_starts() {
    // The first message takes ten frames, 800 ns from 500 ns on. The doorbell of the second one, at 0, is long there: its frame
    // follows at once, at 1.3 us. The third one rings at 1.2 us: its frame begins at 1.7 us.
    let host = Host { doorbell_delay: ns(500), ..Host::default() };
    let late = Flow { start: ns(1_200), ..flow(0, 1, PAYLOAD) };
    let flows = vec![flow(0, 1, 10 * PAYLOAD), flow(0, 1, PAYLOAD), late];
    let begins = [500_000 + 9 * 80_000, 1_300_000, 500_000];
    assert_eq!(fcts(host, flows, &[Some(0); 3]), begins.map(|begin| begin + THERE + BACK));
}

#[test]
fn small_messages_go_at_the_message_rate_of_their_nic() {
    // One message each 200 ns, where the wire takes a frame in 80 ns: message k begins at k x 200 ns, be it on a connection of its
    // own, on one connection with all others, or to another host. Another NIC has its own message rate.
    let host = Host { message_interval: ns(200), ..Host::default() };
    let messages = || (0..10).map(|_| flow(0, 1, PAYLOAD)).collect::<Vec<_>>();
    let expected: Vec<u64> = (0..10).map(|k| k * 200_000 + THERE + BACK).collect();
    assert_eq!(fcts(host.clone(), messages(), &[]), expected);
    assert_eq!(fcts(host.clone(), messages(), &[Some(0); 10]), expected);
    let to_both = (0..10).map(|k| flow(0, 1 + k % 2, PAYLOAD)).collect();
    assert_eq!(fcts(host.clone(), to_both, &[]), expected);
    let other_nic = vec![flow(0, 1, PAYLOAD), flow(2, 1, 30)];
    assert_eq!(fcts(host, other_nic, &[])[1], 2 * (6_240 + 1_000_000) + BACK);
}

#[test]
fn a_message_interval_below_the_time_of_a_message_has_no_effect() {
    // One message each 50 ns, and the wire takes a frame in 80 ns: message k begins at k x 80 ns, as it does without a cost.
    let host = Host { message_interval: ns(50), ..Host::default() };
    let messages = (0..10).map(|_| flow(0, 1, PAYLOAD)).collect();
    let expected: Vec<u64> = (0..10).map(|k| k * 80_000 + THERE + BACK).collect();
    assert_eq!(fcts(host, messages, &[Some(0); 10]), expected);
}

#[test]
fn packets_go_at_the_packet_rate_of_their_nic() {
    // One packet each 100 ns, where the wire takes a frame in 80 ns: packet k of a message begins at k x 100 ns. Two connections
    // share the NIC's rate in turn. The first one sends a packet before the second one starts, at the same time, and is the next
    // in turn: packets 0, 1, 3, 5 and 7 are its own, and 2, 4, 6, 8 and 9 the other's.
    let host = || Host { packet_interval: ns(100), ..Host::default() };
    let begin = |k: u64| k * 100_000 + THERE + BACK;
    assert_eq!(fcts(host(), vec![flow(0, 1, 10 * PAYLOAD)], &[]), [begin(9)]);
    let two = vec![flow(0, 1, 5 * PAYLOAD), flow(0, 2, 5 * PAYLOAD)];
    assert_eq!(fcts(host(), two, &[]), [begin(7), begin(9)]);
    // One packet each 60 ns: the wire is slower.
    let host = Host { packet_interval: ns(60), ..Host::default() };
    assert_eq!(fcts(host, vec![flow(0, 1, 10 * PAYLOAD)], &[]), [9 * 80_000 + THERE + BACK]);
}

#[test]
fn acks_do_not_wait_for_the_packet_rate() {
    // h0 sends a packet each 5 us to h1 from 0 on. h1's packet comes to h0 at 2.16 us, and its ACK goes back at once, though
    // h0's next packet waits until 5 us.
    let host = Host { packet_interval: Time::from_us(5), ..Host::default() };
    let found = fcts(host, vec![flow(0, 1, 2 * PAYLOAD), flow(1, 0, PAYLOAD)], &[]);
    assert_eq!(found, [5_000_000 + THERE + BACK, THERE + BACK]);
}

#[test]
fn a_lone_message_takes_its_unloaded_time() {
    // The time against which slowdowns are told includes the doorbell and the cap of packets; 100 ns and 500 ns: packet 9 begins
    // at 500 + 900 ns. With an ACK for each fourth packet nothing changes, the last one being acknowledged at once.
    for (interval, ack_every) in [(100, 1), (100, 4), (60, 4), (0, 1)] {
        let (doorbell_delay, packet_interval) = (ns(500), ns(interval));
        let host = Host { doorbell_delay, packet_interval, ack_every, ..Host::default() };
        let flows = vec![flow(0, 1, 10 * PAYLOAD)];
        let unloaded = network(host.clone(), none(), flows.clone(), &[]).unloaded(FlowId(0)).expect("finite");
        let ideal = unloaded.sent;
        let expected = 500_000 + 9 * interval.max(80) * 1_000 + THERE + BACK;
        assert_eq!((fcts(host, flows, &[]), ideal.0), (vec![expected], expected), "{interval} {ack_every}");
        assert_eq!(unloaded.delivered.0, expected - BACK);
    }
}

#[test]
fn the_breakdown_says_what_a_nic_took_time_for() {
    // Three packets each 100 ns from 500 ns on: the doorbell is time in which the source's data is not ready, and 2 x (100 - 80) ns
    // are held back as by a throttle. The frames take the wire for 3 x 80 ns, of which the last is the way of the last packet.
    let host = Host { doorbell_delay: ns(500), packet_interval: ns(100), ..Host::default() };
    let recording = Recording { breakdown: true, ..Recording::default() };
    let net = network(host, none(), vec![flow(0, 1, 3 * PAYLOAD)], &[]);
    let mut sim = Simulation::new(net, None, recording, None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    let rows = sim.records().breakdown.iter().filter(|row| row.leg == Leg::Sender);
    let mut spent: Vec<_> = rows.map(|row| (row.cause.name(), row.time.0)).collect();
    spent.sort_unstable();
    let expected =
        [(Cause::Serialization, 2 * 80_000), (Cause::Source, 500_000), (Cause::Throttled, 2 * 20_000)];
    assert_eq!(spent, expected.map(|(cause, time)| (cause.name(), time)));
}

/// When CNPs come to their senders.
#[derive(Clone, Default)]
struct Cnps(Arc<Mutex<Vec<u64>>>);

impl Probe for Cnps {
    fn hooks(&self) -> Hooks {
        Hooks::SIGNALS
    }

    fn on_notification(&mut self, now: Time, _: FlowId, kind: Kind, _: Option<u32>) {
        if kind == Kind::Cnp {
            self.0.lock().expect("one thread").push(now.0);
        }
    }

    fn finish(&mut self, _: Time, _: &mut Records) {}
}

#[test]
fn a_cnp_is_made_after_its_delay() {
    // h0 and h1 send to h2 from 0 on. Their first frames are at the switch at 1.08 us: h0's goes on at once and h1's at 1.16 us, when
    // nothing waits behind it; then the second ones come. h0's second frame leaves at 1.24 us with h1's behind it, so that RED
    // from 1 B on marks it, and h1's second one 80 ns later with the third ones behind it. They are at h2 at 2.32 and 2.40 us. Each is the
    // first marked one of its connection: DCQCN's receiver sends a CNP of 66 B, which takes 5.28 ns and 1 us on each of two links.
    let mark = AnyDetector::read("red", json!({"k_min": "1B", "k_max": "1B", "p_max": 1.0}))
        .expect("known")
        .expect("valid");
    for delay in [0, 3_000] {
        let host = Host { cnp_delay: ns(delay), ..Host::default() };
        let dcqcn = AnyScheme::read("dcqcn", json!({})).expect("known").expect("valid");
        let flows = vec![flow(0, 2, 50 * PAYLOAD), flow(1, 2, 50 * PAYLOAD)];
        let cnps = Cnps::default();
        let mut sim =
            Simulation::new(network(host, dcqcn, flows, &[]), Some(&mark), Recording::default(), None);
        sim.add_probe(|_| Box::new(cnps.clone()));
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        let seen = cnps.0.lock().expect("one thread").clone();
        let back = delay * 1_000 + 2 * (5_280 + 1_000_000);
        assert_eq!(seen, [2_320_000 + back, 2_400_000 + back]);
    }
}

#[test]
fn costs_that_a_transport_or_nic_does_not_know_are_refused() {
    let all = Host {
        doorbell_delay: ns(1),
        message_interval: ns(1),
        packet_interval: ns(1),
        cnp_delay: ns(1),
        ..Host::default()
    };
    let keys = |settings: &Settings, scheme: &AnyScheme| -> Vec<String> {
        let found = settings.validate(scheme).into_iter();
        found.map(|violation| violation.key.to_string()).collect()
    };
    assert_eq!(keys(&settings(all.clone()), &none()), [""; 0]);
    let mut ns3 = settings(all.clone());
    ns3.quirks.nic = NicTimer::Ns3;
    let three = ["host.doorbell_delay", "host.message_interval", "host.packet_interval"];
    assert_eq!(keys(&ns3, &none()), three);
    let nscc = AnyScheme::read("nscc", json!({})).expect("known").expect("valid");
    let mut uet = settings(Host { transport: Transport::Uet, ..all });
    uet.flow_control = xoff_fabric::settings::FlowControl::None;
    uet.lossy = true;
    let found = keys(&uet, &nscc);
    assert_eq!(found, [three.as_slice(), &["host.cnp_delay"]].concat());
}
