//! A probe from outside: how many packets find a long egress queue. The example of CONTRIBUTING.md.

use std::collections::BTreeMap;

use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::Recording;
use xoff_fabric::ids::{PortId, QueueId};
use xoff_fabric::observe::{Hooks, OwnRow, Probe, Records};
use xoff_fabric::packet::Packet;
use xoff_fabric::settings::Settings;

use crate::common::{chain, flow, scheme, simulate};

/// Counts data packets by egress queue of a switch that has more than `bytes` with them.
struct LongQueues {
    bytes: u64,
    packets: BTreeMap<QueueId, u32>,
}

impl Probe for LongQueues {
    fn hooks(&self) -> Hooks {
        Hooks::QUEUES
    }

    fn on_enqueue(&mut self, _: Time, queue: QueueId, _: &Packet, bytes: u64) {
        if bytes > self.bytes {
            *self.packets.entry(queue).or_default() += 1;
        }
    }

    fn finish(&mut self, now: Time, records: &mut Records) {
        let row = |(queue, count): (&QueueId, &u32)| OwnRow {
            name: "long_queue",
            time: now,
            subject: queue.0,
            value: f64::from(*count),
        };
        records.own.extend(self.packets.iter().map(row));
    }
}

/// Frames of 1,000 B come each 80 ns and leave each 200 ns, the link to h1 having 40 Gbps. The first goes at once. The second
/// waits alone; the third, at 160 ns, makes 2,000 B. The second leaves at 200 ns, the fourth, at 240 ns, makes 2,000 B
/// again, and the fifth, at 320 ns, 3,000 B. So three packets find more than 1,500 B, in the queue of link 1's switch end.
#[test]
fn three_of_five_packets_find_a_long_queue() {
    let mut topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    (topology.links[1].rate_ab, topology.links[1].rate_ba) = (Rate::from_gbps(40), Rate::from_gbps(40));
    let mut settings = Settings::default();
    (settings.packets.mtu, settings.packets.header) = (Bytes(1_000), Bytes(48));
    settings.packets.gap = Bytes(0);
    let queue = QueueId::new(PortId(3), 0, settings.switch.priorities.into());
    let none = scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, settings, none, vec![flow(0, 1, 5 * 952)], Recording::default(), None);
    sim.add_probe(|_| Box::new(LongQueues { bytes: 1_500, packets: BTreeMap::new() }));
    sim.run(&mut |_| true).expect("no loss");
    let rows: Vec<_> = sim.records().own.iter().map(|row| (row.name, row.subject, row.value)).collect();
    assert_eq!(rows, [("long_queue", queue.0, 3.0)]);
}
