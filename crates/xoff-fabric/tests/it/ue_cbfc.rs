//! Ultra Ethernet's credits: how fast a link is with few of them, and that none is lost, by hand.

use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::PortId;
use xoff_fabric::network::Flow;
use xoff_fabric::settings::{FlowControl, Llr, Settings, UeCbfc};
use xoff_fabric::topology::Topology;
use xoff_fabric::{Recording, Simulation, Stop};

use crate::common::{chain, flow, whole};
use crate::faults::{round, run};

const RATE: Rate = Rate::from_gbps(100);
const DELAY: Time = Time::from_us(1);

fn settings(params: UeCbfc) -> Settings {
    Settings { flow_control: FlowControl::UeCbfc(params), ..round() }
}

/// A run to its duration, so that all messages of flow control have come.
fn long_run(topology: Topology, settings: Settings, flows: Vec<Flow>) -> Simulation {
    let count = flows.len() as u64;
    let net = whole(topology, settings, flows);
    let mut sim = Simulation::new(net, None, Recording::default(), Some(Time::from_ms(20)));
    sim.run_to_duration();
    assert_eq!(sim.run(&mut |_| true).expect("a run"), Stop::Duration);
    assert_eq!((sim.counters().flows_done, sim.counters().drops), (count, 0));
    sim
}

#[test]
fn few_credits_limit_the_rate_to_their_cells_in_a_round_trip() {
    // A frame of 1,000 B takes four cells of 256 B; 32 cells hold eight. A frame that begins at h0 at time 0 is in the switch at
    // 1,080 ns, has left it at 1,160 ns, and the count, 8 B, is back at 1,160 + 0.64 + 1,000 ns: eight frames each 2,160.64 ns,
    // 29.6 Gbps. The 80th frame leaves after nine rounds and seven frames; two links of 1,080 ns and two of 1,004 ns for its ACK.
    let topology = || chain(1, &[0, 0], RATE, DELAY);
    let few = UeCbfc { buffer: Some(Bytes(32 * 256)), undersized: true, ..UeCbfc::default() };
    let flows = || vec![flow(0, 1, 952 * 80)];
    let (sim, stop) = run(whole(topology(), settings(few), flows()), None);
    let expected = Time(9 * 2_160_640 + 7 * 80_000 + 2 * 1_080_000 + 2 * 1_004_000);
    assert_eq!((stop, sim.records().outcomes()[0].fct), (Stop::FlowsDone, Some(expected)));
    // With the default buffer the link never waits.
    let net = whole(topology(), settings(UeCbfc::default()), flows());
    let (sim, _) = run(net, None);
    assert_eq!(sim.records().outcomes()[0].fct, Some(Time::from_ns(80 * 80 + 1_000 + 1_080 + 2_008)));
}

#[test]
fn credits_are_neither_lost_nor_made() {
    // An incast of three hosts, on links that spoil every third frame or so and repair it, and with frames of 112 B of which half
    // are spoiled, and 6 % of the messages of 64 bits: at the end, what was sent has come and is free again at both ends.
    let topology = || chain(2, &[0, 0, 0, 1], RATE, DELAY);
    let flows = || (0..3).map(|src| flow(src, 3, 64 * 1_000)).collect::<Vec<_>>();
    for (mtu, ber) in [(1_000, None), (1_000, Some(5e-5)), (112, Some(1e-3))] {
        let mut settings = settings(UeCbfc { cell: Bytes(64), ..UeCbfc::default() });
        settings.packets.mtu = Bytes(mtu);
        (settings.link.ber, settings.link.llr) = (ber, ber.map(|_| Llr::default()));
        let sim = long_run(topology(), settings, flows());
        let ports = sim.network().topology.ports();
        let mut all = 0;
        for port in (0..ports).map(PortId) {
            let (sender, receiver) = sim.credits(port, 0).expect("credits");
            assert_eq!((sender.sent(), sender.used()), (receiver.received(), 0), "{ber:?}");
            assert_eq!((receiver.freed(), receiver.occupied()), (receiver.received(), 0), "{ber:?}");
            all += sender.sent();
        }
        // Three links each: a frame of 1,000 B has 952 B of payload, 67 and a last one of 216 + 48 B, 67 x 16 + 5 cells of 64 B.
        let of_flow = if mtu == 1_000 { 67 * 16 + 5 } else { 1_000 * 2 };
        assert_eq!(all, 3 * 3 * of_flow);
    }
}
