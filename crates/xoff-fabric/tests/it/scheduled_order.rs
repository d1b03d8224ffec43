//! Runs in which simultaneous events come in the order in which they were scheduled.

use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::Recording;
use xoff_fabric::ids::PortId;
use xoff_fabric::settings::{Order, Quirks, Settings};

use crate::common::{chain, flow, scheme, simulate};

/// The most that waits at the port to h1 when h0 sends two packets of 1,000 B to h1.
fn most_queued(order: Order) -> u64 {
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    let mut settings = Settings { quirks: Quirks { order, ..Quirks::default() }, ..Settings::default() };
    (settings.packets.mtu, settings.packets.header, settings.packets.gap) =
        (Bytes(1_000), Bytes(48), Bytes(0));
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![flow(0, 1, 2 * 952)];
    let mut sim = simulate(topology, settings, none, flows, Recording::default(), None);
    sim.run(&mut |_| true).expect("no loss");
    sim.port(PortId(3)).max_queued_bytes
}

#[test]
fn a_packet_that_comes_as_the_wire_is_freed_waits_if_it_was_scheduled_before_the_wires_end() {
    // A frame of 1,000 B takes T = 80 ns. The first packet is at the switch at T + 1 us, and takes the wire to h1 until 2T + 1 us, when the
    // second one comes. The second one left h0 at T, when its arrival was scheduled; the end of the first one's frame was scheduled when
    // that frame began, at T + 1 us. So the second one comes first, finds the wire taken, and waits for no time, with its 1,000 B.
    assert_eq!(most_queued(Order::Scheduled), 1_000);
    // By port, a port whose frame has ended is free.
    assert_eq!(most_queued(Order::ByPort), 0);
}
