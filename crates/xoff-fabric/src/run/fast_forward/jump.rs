//! A jump of a partition, and what the partition tells before.

use std::hash::{DefaultHasher, Hash, Hasher};

use xoff_engine::Time;

use super::super::partition::Partition;
use crate::ctx::Ctx;
use crate::event::{kind, kind_of};
use crate::host::forward::{Pace, Pulse};
use crate::host::nic::NicScheduler;
use crate::link::flow_control::LinkControl;

/// A jump.
pub(crate) struct Jump<'a> {
    pub time: Time,
    /// The connections under way.
    pub paces: &'a [Pace],
    /// The packets that each of them carries forward.
    pub packets: &'a [u64],
    /// The counts that are extrapolated, as they were some time ago, and that time.
    pub counts: Option<(Time, &'a [u64])>,
}

/// Whether events with this key come from outside the network.
fn is_external(key: u32) -> bool {
    matches!(kind_of(key), kind::FLOW_START | kind::FLOW_STOP | kind::SAMPLE)
}

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// What changes when a message starts, stops or completes, or a packet is lost; and last, when a mark hangs on chance.
    pub(crate) fn version_now(&self) -> [u64; 4] {
        let Ctx { changes, counters, probes, .. } = &self.ctx;
        [*changes, counters.flows_done, counters.drops, probes.chances.unwrap_or_default()]
    }

    pub(crate) fn pulses_now(&mut self) -> Vec<Pulse> {
        self.hosts.pulses(&self.ctx)
    }

    /// A number that tells apart what is on wires, waits at ports, is paused, and has come to receivers without an ACK: by the times
    /// from `now` on, and by messages in place of packets.
    pub(crate) fn signature_at(&self, now: Time) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (fifo, time, first) in self.ctx.events.first_arrivals() {
            let (mut time, mut id) = (time, first);
            while time != Time::NEVER {
                let packet = &self.ctx.packets[id];
                (fifo, time.saturating_sub(now), packet.flow.0, packet.kind as u8).hash(&mut hasher);
                (time, id) = (packet.next_at, packet.next);
            }
        }
        for port in self.links.ports.iter() {
            (port.busy_until.saturating_sub(now), port.queued_bytes, port.backlog).hash(&mut hasher);
            (port.paused, port.turn()).hash(&mut hasher);
        }
        for queue in self.links.queues.iter() {
            for id in queue.packets(&self.ctx.packets) {
                let packet = &self.ctx.packets[id];
                (packet.flow.0, packet.kind as u8, packet.size).hash(&mut hasher);
            }
        }
        self.ctx.packets.live().hash(&mut hasher);
        self.hosts.hash_receivers(&mut hasher);
        hasher.finish()
    }

    /// When the next thing comes from outside the network, on the network's clock.
    pub(crate) fn next_external(&self) -> Time {
        self.ctx.events.first_of(is_external)
    }

    /// The counts that a jump extrapolates, always in the same order.
    fn visit_counts(&mut self, mut visit: impl FnMut(&mut u64)) {
        let totals = &mut self.ctx.probes.records.totals;
        totals.pause_frames.iter_mut().for_each(&mut visit);
        totals.credit_updates.iter_mut().for_each(&mut visit);
        for marks in &mut totals.marks {
            visit(&mut marks.ce);
            visit(&mut marks.ue);
        }
        visit(&mut totals.cnms_sent);
        self.links.stops.iter_mut().for_each(|stop| visit(&mut stop.total_mut().0));
        self.hosts.visit_counts(&self.ctx, visit);
    }

    pub(crate) fn counts_now(&mut self) -> Vec<u64> {
        let mut counts = Vec::new();
        self.visit_counts(|count| counts.push(*count));
        counts
    }

    /// Carries time forward.
    pub(crate) fn carry_forward(&mut self, jump: &Jump<'_>) {
        let Jump { time, paces, packets, counts } = *jump;
        if let Some((over, before)) = counts {
            let mut before = before.iter();
            let factor = |n: u64| (u128::from(n) * u128::from(time.0) / u128::from(over.0.max(1))) as u64;
            self.visit_counts(|count| {
                let earlier = before.next().copied().unwrap_or(*count);
                *count += factor(count.saturating_sub(earlier));
            });
        }
        for (pace, &packets) in paces.iter().zip(packets) {
            self.hosts.carry(&mut self.ctx, pace, packets, time);
            self.carry_ports(pace, packets);
        }
        let Partition { ctx, links, hosts, .. } = self;
        ctx.events.bring_forward(time, is_external);
        ctx.carried += time;
        ctx.jumped_at = Some(ctx.now);
        hosts.carry_clocks(ctx, links, paces, time);
    }

    /// Counts a connection's data and ACKs at the ports of their paths.
    fn carry_ports(&mut self, pace: &Pace, packets: u64) {
        let net = &self.ctx.net;
        let (flow, ports) = (net.connections.first_message(pace.connection), self.links.ports.len());
        for &port in net.data_path(flow) {
            self.carried_ports.add(ports, port, packets, net.wire.frame());
        }
        let acks = packets / u64::from(net.settings.host.ack_every.max(1));
        for (hop, &port) in net.ack_path(flow).iter().enumerate() {
            let size = net.wire.ack + net.wire.ack_growth * hop as u64;
            self.carried_ports.add(ports, port, acks, size);
        }
    }
}
