//! A jump of a partition, and what the partition tells before.

use xoff_engine::Time;

use super::super::partition::Partition;
use crate::ctx::Ctx;
use crate::event::{kind, kind_of};
use crate::host::forward::{Pace, Pulse};
use crate::host::nic::NicScheduler;
use crate::ids::PortId;
use crate::link::flow_control::LinkControl;
use crate::settings::FlowControl;

/// A jump.
pub(crate) struct Jump<'a> {
    pub time: Time,
    /// The connections under way.
    pub paces: &'a [Pace],
    /// The packets that each of them carries forward.
    pub packets: &'a [u64],
    /// The counts that are extrapolated, as they were some time ago.
    pub since: Option<Since<'a>>,
}

/// Counts of a partition at a moment.
#[derive(Default)]
pub(crate) struct Counts {
    all: Vec<u64>,
    /// Marks on packets, at all ports.
    pub marks: u64,
    /// By port: packets and bytes that it has sent. Empty if they were not asked for.
    ports: Vec<(u64, u64)>,
}

/// Counts some time ago.
#[derive(Clone, Copy)]
pub(crate) struct Since<'a> {
    pub ago: Time,
    pub counts: &'a Counts,
    /// Everything repeats in that time, and a jump is over whole periods.
    pub repeats: bool,
}

/// Whether events with this key come from outside the network.
pub(super) fn is_external(key: u32) -> bool {
    matches!(kind_of(key), kind::FLOW_START | kind::FLOW_STOP | kind::SAMPLE)
}

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// What changes when a message starts, stops or completes, when something breaks or is whole again, or when a packet is lost; and last,
    /// when a mark hangs on chance.
    pub(crate) fn version_now(&self) -> [u64; 4] {
        let Ctx { changes, counters, probes, net, .. } = &self.ctx;
        let broken = net.changes_until(self.ctx.simulated()) as u64;
        [changes + broken, counters.flows_done, counters.drops, probes.chances.unwrap_or_default()]
    }

    pub(crate) fn pulses_now(&mut self) -> Vec<Pulse> {
        self.hosts.pulses(&self.ctx)
    }

    /// When the next thing comes from outside the network, on the network's clock. Not all that breaks, and nothing that routing learns, is an
    /// event; and a link that goes down spoils frames that began before.
    pub(crate) fn next_external(&self) -> Time {
        self.next_of(|_| true)
    }

    /// The same of events with these keys alone.
    pub(super) fn next_of(&self, is_one: impl Fn(u32) -> bool) -> Time {
        let Ctx { net, events, carried, .. } = &self.ctx;
        let effect = net.next_effect(self.ctx.simulated());
        events.first_of(|key| is_external(key) && is_one(key)).min(effect.before(*carried))
    }

    /// The counts that a jump extrapolates, always in the same order.
    fn visit_counts(&mut self, mut visit: impl FnMut(&mut u64)) {
        let totals = &mut self.ctx.probes.records.totals;
        totals.pause_frames.iter_mut().for_each(&mut visit);
        totals.resume_frames.iter_mut().for_each(&mut visit);
        totals.credit_updates.iter_mut().for_each(&mut visit);
        for marks in totals.marks.iter_mut() {
            visit(&mut marks.ce);
            visit(&mut marks.ue);
        }
        visit(&mut totals.cnms_sent);
        self.links.stops.iter_mut().for_each(|stop| visit(&mut stop.total_mut().0));
        self.hosts.visit_counts(visit);
    }

    /// The counts, with those of ports if `with_ports`.
    pub(crate) fn counts_now(&mut self, with_ports: bool) -> Counts {
        let mut all = Vec::new();
        self.visit_counts(|count| all.push(*count));
        let ports = self.links.ports.iter().take(if with_ports { usize::MAX } else { 0 });
        let ports = ports.map(|port| (port.tx_packets, port.tx_bytes)).collect();
        Counts { all, marks: self.marks_now(), ports }
    }

    /// Marks on packets so far, at all ports.
    pub(crate) fn marks_now(&self) -> u64 {
        self.ctx.probes.records.totals.marks.iter().map(|marks| marks.ce + marks.ue).sum()
    }

    /// Carries time forward.
    pub(crate) fn carry_forward(&mut self, jump: &Jump<'_>) {
        let Jump { time, paces, packets, since } = *jump;
        match since {
            Some(since) if since.repeats => self.extrapolate(&since, time),
            Some(since) => {
                let before = self.control_frames();
                self.extrapolate(&since, time);
                self.carry_control_frames(&before);
            }
            None => {}
        }
        for (pace, &packets) in paces.iter().zip(packets) {
            self.hosts.carry(&mut self.ctx, pace, packets, time);
        }
        match since.filter(|since| since.repeats) {
            Some(since) => self.repeat_ports(&since, time),
            None => paces.iter().zip(packets).for_each(|(pace, &packets)| self.carry_ports(pace, packets)),
        }
        let Partition { ctx, links, hosts, .. } = self;
        ctx.events.bring_forward(time, is_external);
        ctx.carried += time;
        ctx.jumped_at = Some(ctx.now);
        hosts.carry_clocks(ctx, links, paces, time);
    }

    /// Adds to the counts what they would gain in a `time` as they did before.
    fn extrapolate(&mut self, since: &Since<'_>, time: Time) {
        let by_clock = self.updates_by_clock(time).filter(|_| !since.repeats);
        let has_others = by_clock.is_some_and(|(_, has_others)| has_others);
        let known = by_clock.map(|(each, _)| {
            let so_far = &self.ctx.probes.records.totals.credit_updates;
            so_far.iter().map(|updates| updates + each).collect::<Vec<_>>()
        });
        let mut before = since.counts.all.iter();
        let factor = |n: u64| (u128::from(n) * u128::from(time.0) / u128::from(since.ago.0.max(1))) as u64;
        self.visit_counts(|count| {
            let earlier = before.next().copied().unwrap_or(*count);
            *count += factor(count.saturating_sub(earlier));
        });
        if let Some(known) = known {
            let totals = &mut self.ctx.probes.records.totals.credit_updates;
            for (updates, known) in totals.iter_mut().zip(known) {
                *updates = if has_others { known.max(*updates) } else { known };
            }
        }
    }

    /// The updates of credits that each port sends by the clock in a `time` carried forward, where nothing has broken, and whether others come beside
    /// them. There are too few in the time before to tell.
    fn updates_by_clock(&self, time: Time) -> Option<(u64, bool)> {
        let Ctx { net, carried, .. } = &self.ctx;
        let FlowControl::Cbfc(params) = &net.settings.flow_control else { return None };
        let periods = |until: Time| until.0 / params.update_period.0;
        let each = (periods(*carried + time) - periods(*carried)) * self.links.priorities as u64;
        (net.changes_until(self.ctx.simulated()) == 0).then_some((each, params.on_change))
    }

    /// By port: the PAUSE and RESUME frames, and the updates of credits, that it has sent.
    fn control_frames(&self) -> Vec<[u64; 2]> {
        let totals = &self.ctx.probes.records.totals;
        let stops = totals.pause_frames.iter().zip(totals.resume_frames.iter());
        stops
            .zip(totals.credit_updates.iter())
            .map(|((pauses, resumes), updates)| [pauses + resumes, updates])
            .collect()
    }

    /// Counts at each port the frames that have been added to those `before`.
    fn carry_control_frames(&mut self, before: &[[u64; 2]]) {
        let (now, wire, ports) = (self.control_frames(), &self.ctx.net.wire, self.links.ports.len());
        for (place, (now, before)) in now.iter().zip(before).enumerate() {
            let [stops, updates] = [now[0] - before[0], now[1] - before[1]];
            if stops + updates > 0 {
                let bytes = stops * wire.pfc + updates * wire.update;
                self.carried_ports.add(ports, PortId(place as u32), stops + updates, bytes);
            }
        }
    }

    /// Counts at each port what it sends in a period, in all periods of a `time`.
    fn repeat_ports(&mut self, since: &Since<'_>, time: Time) {
        let periods = time.0 / since.ago.0.max(1);
        let ports = self.links.ports.len();
        for (place, (port, before)) in self.links.ports.iter().zip(&since.counts.ports).enumerate() {
            let sent = (port.tx_packets - before.0, port.tx_bytes - before.1);
            if sent.0 > 0 {
                self.carried_ports.add(ports, PortId(place as u32), sent.0 * periods, sent.1 * periods);
            }
        }
    }

    /// Counts a connection's data and ACKs at the ports of their paths.
    fn carry_ports(&mut self, pace: &Pace, packets: u64) {
        let net = &self.ctx.net;
        let (flow, ports) = (net.connections.first_message(pace.connection), self.links.ports.len());
        let now = self.ctx.simulated();
        for &port in net.data_path_at(flow, now) {
            self.carried_ports.add(ports, port, packets, packets * net.wire.frame());
        }
        let acks = packets / u64::from(net.settings.host.ack_every.max(1));
        for (hop, port) in net.ack_path_at(flow, now).iter().enumerate() {
            let size = net.wire.ack + net.wire.ack_growth * hop as u64;
            self.carried_ports.add(ports, port, acks, acks * size);
        }
    }
}
