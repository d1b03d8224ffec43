//! Packets are recorded at both ends of a link with their times, and that they are changes nothing.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::FlowId;
use xoff_fabric::observe::capture::{PacketFilter, PacketRecord};
use xoff_fabric::packet::{Kind, LAST};
use xoff_fabric::settings::{FlowControl, Pfc, Settings};
use xoff_fabric::topology::PortId;
use xoff_fabric::{Flow, Recording, Simulation, Stop};

/// All that is recorded of these flows at these ports of a chain of two hosts and a switch, 100 Gbps and 1 us a link.
/// Ports 0 and 1 are those of the first host's link, the host's own first; 2 and 3 those of the second's.
fn two_hosts(flows: Vec<Flow>, packets: Option<PacketFilter>, duration: Option<Time>) -> Simulation {
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    let recording = Recording { packets, ..Recording::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, Settings::default(), none, flows, recording, duration);
    sim.run(&mut |_| true).expect("no loss");
    sim
}

fn at(ports: &[PortId]) -> PacketFilter {
    PacketFilter { ports: ports.to_vec(), from: Time::ZERO, until: Time::NEVER }
}

type Seen = (u64, PortId, bool, Kind);

fn seen(sim: &Simulation) -> Vec<Seen> {
    let rows = sim.records().packets.rows().iter();
    rows.map(|r| (r.time.ps(), r.port, r.inbound, r.kind)).collect()
}

const DATA: Kind = Kind::Data;
const ACK: Kind = Kind::Ack;

/// One byte of payload and 62 B of headers take 63 x 80 ps = 5,040 ps on a link of 100 Gbps, an ACK of 66 B 5,280 ps, and
/// the light 1,000,000 ps. The switch sends on what it has whole, in no time.
const ONE_BYTE: [Seen; 8] = [
    (0, PortId(0), false, DATA),
    (1_005_040, PortId(1), true, DATA),
    (1_005_040, PortId(3), false, DATA),
    (2_010_080, PortId(2), true, DATA),
    (2_010_080, PortId(2), false, ACK),
    (3_015_360, PortId(3), true, ACK),
    (3_015_360, PortId(1), false, ACK),
    (4_020_640, PortId(0), true, ACK),
];

#[test]
fn a_packet_is_seen_where_it_leaves_and_where_it_comes_in() {
    let sim = two_hosts(vec![flow(0, 1, 1)], Some(at(&[0, 1, 2, 3].map(PortId))), None);
    assert_eq!(seen(&sim), ONE_BYTE);
    let rows = sim.records().packets.rows();
    let data = rows[0];
    assert_eq!((data.size, data.payload, data.seq, data.flags & LAST), (63, 1, 0, LAST));
    assert_eq!((data.links, data.priority(), data.flow), (1, Some(0), FlowId(0)));
    assert_eq!((rows[3].links, rows[4].links, rows[7].links), (2, 1, 2));
    // All before offset 1 has arrived; ACKs go before data, and remember when their packet was sent.
    assert_eq!((rows[4].seq, rows[4].size, rows[4].priority()), (1, 66, None));
    assert!(rows.iter().all(|row| row.sent_at == Time::ZERO));
}

#[test]
fn only_the_ports_and_the_time_that_are_asked_for_are_recorded() {
    let of = |ports: &[PortId]| ONE_BYTE.iter().filter(|s| ports.contains(&s.1)).copied().collect::<Vec<_>>();
    for ports in [&[PortId(0)][..], &[PortId(3)], &[PortId(1), PortId(2)]] {
        let sim = two_hosts(vec![flow(0, 1, 1)], Some(at(ports)), None);
        assert_eq!(seen(&sim), of(ports), "ports {ports:?}");
    }
    // From the data's arrival at the switch on, and before its arrival at the host.
    let (from, until) = (Time(1_005_040), Time(2_010_080));
    let sim = two_hosts(
        vec![flow(0, 1, 1)],
        Some(PacketFilter { from, until, ..at(&[0, 1, 2, 3].map(PortId)) }),
        None,
    );
    assert_eq!(seen(&sim), ONE_BYTE[1..3]);
}

#[test]
fn what_is_on_its_way_when_the_run_ends_has_not_arrived() {
    let sim = two_hosts(vec![flow(0, 1, 1)], Some(at(&[0, 1, 2, 3].map(PortId))), Some(Time(2_010_079)));
    assert_eq!(seen(&sim), ONE_BYTE[..3]);
    // The end itself belongs to the run.
    let sim = two_hosts(vec![flow(0, 1, 1)], Some(at(&[0, 1, 2, 3].map(PortId))), Some(Time(2_010_080)));
    assert_eq!(seen(&sim), ONE_BYTE[..5]);
}

#[test]
fn a_pause_is_a_row_of_its_priority() {
    // Two senders at line rate into one port, and a threshold of ten frames: PAUSE, and RESUME when it is over.
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let pfc = FlowControl::Pfc(Pfc { xoff: Some(Bytes(15_000)), ..Pfc::default() });
    let settings = Settings { flow_control: pfc, ..Settings::default() };
    let run = |packets: Option<PacketFilter>| {
        let none = scheme("none", json!({}), Time::ZERO);
        let recording = Recording { packets, ..Recording::default() };
        let flows = vec![flow(0, 2, 100_000), flow(1, 2, 100_000)];
        let mut sim = simulate(topology.clone(), settings.clone(), none, flows, recording, None);
        sim.run(&mut |_| true).expect("no loss");
        sim
    };
    let sim = run(Some(at(&[PortId(1)])));
    let rows = sim.records().packets.rows();
    let pfc: Vec<_> = rows.iter().filter(|r| r.kind == Kind::Pfc).collect();
    assert!(pfc.iter().all(|r| (r.priority(), r.size, r.inbound, r.port) == (Some(0), 64, false, PortId(1))));
    let (pauses, resumes): (Vec<&PacketRecord>, Vec<_>) = pfc.iter().copied().partition(|r| r.seq > 0);
    assert_eq!(pauses.len() as u64, sim.records().totals.pause_frames.of(PortId(1)));
    assert!(!pauses.is_empty() && pauses.iter().all(|r| r.seq == u64::from(u16::MAX)), "{pfc:?}");
    assert!(!resumes.is_empty(), "{pfc:?}");
    // Nothing of it is another run's without the record: the same events in the same order, and the same flows.
    let bare = run(None);
    assert_eq!(sim.counters(), bare.counters());
    assert_eq!(sim.records().outcomes(), bare.records().outcomes());
    assert!(bare.records().packets.rows().is_empty());
}

#[test]
fn a_run_ends_when_it_has_recorded_as_many_packets_as_it_may() {
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    let none = scheme("none", json!({}), Time::ZERO);
    let recording = Recording { packets: Some(at(&[PortId(0)])), ..Recording::default() };
    let flows = vec![endless(0, 1, 0)];
    let mut sim = simulate(topology, Settings::default(), none, flows, recording, Some(Time::from_ms(100)));
    sim.limit_rows(1000);
    assert_eq!(sim.run(&mut |_| true).expect("no loss"), Stop::Rows);
    // 1000 packets of 121.44 ns are there after 121.44 us, fewer as ACKs count too; the run ends with its microsecond.
    let rows = sim.records().packet_rows();
    assert!((1000..1030).contains(&rows), "{rows} rows");
    assert!(sim.now() <= Time::from_us(122), "{}", sim.now());
}
