//! Observation of a run: records, packets at ports, where flows' time goes, congestion roots, deadlock.
//!
//! The room owns what is recorded. Other rooms tell it what happens, through [`Probes`]; it reads packets and the network.
//! It has no effect on a run, schedules nothing that others see, and draws no random number.

pub mod breakdown;
pub mod capture;
pub mod congestion_roots;
mod counters;
pub(crate) mod deadlock;
pub mod detection;
mod failure;
pub mod losses;
mod merge;
mod outcomes;
mod port_counts;
mod probe;
pub mod records;
mod reordering;
pub mod rows;
mod sampling;

pub(crate) use counters::fingerprint;
pub use counters::{Counters, CreditCounters, UetCounters};
pub use failure::{Failure, Full};
pub use outcomes::Outcomes;
pub use port_counts::PortCounts;
pub use probe::{Departure, Hooks, Probe, Resumed};
pub use records::{Recording, Records};
pub use rows::OwnRow;
pub(crate) use sampling::{RatesNow, Sampled};

use xoff_engine::Time;
use xoff_schemes::Mark;

use crate::fault::Cause;
use crate::ids::{FlowId, PortId, QueueId};
use crate::network::Network;
use crate::packet::{Kind, Packet, PacketId, Packets};
use breakdown::Breakdown;
use capture::Capture;
use congestion_roots::{RootWatch, Sent};
use records::FlowOutcome;
use reordering::Reordering;
use rows::PauseRecord;

/// The probes that listen to a partition of the network.
pub(crate) struct Probes {
    /// Outcomes, totals and samples.
    pub records: Records,
    /// Which queues are congestion roots; `None` unless that is recorded.
    roots: Option<Box<RootWatch>>,
    /// Packets at ports; `None` unless these are recorded.
    capture: Option<Box<Capture>>,
    /// Order of packets at receivers; `None` unless that is recorded.
    reordering: Option<Box<Reordering>>,
    /// What holds flows at their senders; `None` unless that is recorded.
    pub breakdown: Option<Box<Breakdown>>,
    /// Probes from outside.
    own: Vec<Box<dyn Probe>>,
    /// A probe listens to queues at switches.
    pub on_queues: bool,
    /// A probe listens to packets that begin on a wire.
    pub on_wire: bool,
    /// A probe listens to what holds flows at their senders.
    pub on_flows: bool,
    /// A probe listens to queues that are stopped and go on, with the messages that wait in them.
    pub on_stops: bool,
    /// Someone listens to each ACK at its sender.
    pub on_acks: bool,
    /// Packets whose marks hung on random numbers; counted only if the run is fast-forwarded.
    pub chances: Option<u64>,
    /// What probes from outside want to hear.
    own_hooks: Hooks,
}

impl Probes {
    /// The probes that `recording` asks for, at the ports that are `owned`, whose hosts send about so many `flows`.
    pub fn new(net: &Network, recording: &Recording, owned: impl Fn(PortId) -> bool, flows: usize) -> Probes {
        let ports = net.topology.ports();
        let roots = recording.roots.map(|growth| Box::new(RootWatch::new(growth, net)));
        let capture = recording.packets.as_ref().map(|filter| Capture::new(filter, ports));
        let breakdown = recording
            .breakdown
            .then(|| Breakdown::new(net.flows.len(), net.topology.nodes.len(), ports as usize));
        let reordering = recording.reordering.then(Box::<Reordering>::default);
        let records = Records::new(recording.of(owned), net, flows);
        Probes {
            on_queues: roots.is_some() || records.samples_priorities(),
            on_stops: roots.is_some(),
            on_wire: roots.is_some() || capture.is_some() || breakdown.is_some() || reordering.is_some(),
            on_flows: breakdown.is_some(),
            chances: None,
            records,
            roots,
            capture,
            reordering,
            breakdown,
            own: Vec::new(),
            on_acks: false,
            own_hooks: Hooks::NONE,
        }
    }

    /// Adds a probe from outside.
    pub fn add(&mut self, probe: Box<dyn Probe>) {
        let hooks = probe.hooks();
        self.on_queues |= hooks.has(Hooks::QUEUES);
        self.on_stops |= hooks.has(Hooks::STOPS);
        self.on_wire |= hooks.has(Hooks::WIRE);
        self.on_acks |= hooks.has(Hooks::ACKS);
        self.own_hooks = self.own_hooks | hooks;
        self.own.push(probe);
    }

    /// The probes behind the trait [`Probe`].
    fn all(&mut self) -> (impl Iterator<Item = &mut dyn Probe>, &mut Records) {
        let roots = self.roots.as_deref_mut().map(|probe| probe as &mut dyn Probe);
        let capture = self.capture.as_deref_mut().map(|probe| probe as &mut dyn Probe);
        let reordering = self.reordering.as_deref_mut().map(|probe| probe as &mut dyn Probe);
        let own = self.own.iter_mut().map(|probe| &mut **probe as &mut dyn Probe);
        (roots.into_iter().chain(capture).chain(reordering).chain(own), &mut self.records)
    }

    /// See [`Probe::on_enqueue`].
    pub fn on_enqueue(&mut self, now: Time, queue: QueueId, packets: &mut Packets, id: PacketId, bytes: u64) {
        let size = packets[id].size.into();
        self.records.note_peak(queue, bytes);
        if let (Some(roots), Some(offers)) = (&mut self.roots, &mut packets.offers) {
            let leaves = roots.enqueue(queue, size, bytes, offers.of(id), now);
            offers.put(id, leaves);
        }
        self.all().0.for_each(|probe| probe.on_enqueue(now, queue, &packets[id], bytes));
    }

    /// See [`Probe::on_dequeue`].
    pub fn on_dequeue(&mut self, now: Time, queue: QueueId, packet: &Packet, bytes: u64) {
        self.all().0.for_each(|probe| probe.on_dequeue(now, queue, packet, bytes));
    }

    /// Tells the records and, if these want to hear of `hooks`, the probes from outside.
    #[inline]
    fn tell(&mut self, hooks: Hooks, event: impl Fn(&mut dyn Probe)) {
        event(&mut self.records);
        if self.own_hooks.has(hooks) {
            self.own.iter_mut().for_each(|probe| event(&mut **probe));
        }
    }

    /// See [`Probe::on_mark`].
    #[cold]
    #[inline(never)]
    pub fn on_mark(&mut self, now: Time, egress: PortId, packet: &Packet, mark: Mark) {
        self.tell(Hooks::SIGNALS, |probe| probe.on_mark(now, egress, packet, mark));
    }

    /// See [`Probe::on_drop`].
    pub fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.tell(Hooks::SIGNALS, |probe| probe.on_drop(now, port, packet));
    }

    /// A packet was lost, at an egress port or on its link, or at the switch that it entered by an `ingress` port.
    #[cold]
    pub fn on_loss(
        &mut self,
        now: Time,
        (port, ingress): (PortId, PortId),
        packet: &Packet,
        cause: Cause,
        fault: Option<u32>,
    ) {
        if let Some(losses) = &mut self.records.losses {
            losses::count(losses, now, port, packet, (cause, fault));
        }
        self.on_drop(now, ingress, packet);
    }

    /// See [`Probe::on_notification`].
    pub fn on_notification(&mut self, now: Time, flow: FlowId, kind: Kind, point: Option<u32>) {
        self.tell(Hooks::SIGNALS, |probe| probe.on_notification(now, flow, kind, point));
    }

    /// See [`Probe::on_control_frame`].
    pub fn on_control_frame(&mut self, now: Time, port: PortId, kind: Kind) {
        self.tell(Hooks::SIGNALS, |probe| probe.on_control_frame(now, port, kind));
    }

    /// See [`Probe::on_flow_start`].
    pub fn on_flow_start(&mut self, now: Time, flow: FlowId) {
        self.tell(Hooks::FLOWS, |probe| probe.on_flow_start(now, flow));
    }

    /// See [`Probe::on_flow_end`].
    pub fn on_flow_end(&mut self, now: Time, flow: FlowId, outcome: &FlowOutcome) {
        self.tell(Hooks::FLOWS, |probe| probe.on_flow_end(now, flow, outcome));
    }

    /// See [`Probe::on_ack`]; only if [`Probes::on_acks`].
    #[cold]
    pub fn on_ack(&mut self, now: Time, flow: FlowId, bytes: u64) {
        self.tell(Hooks::ACKS, |probe| probe.on_ack(now, flow, bytes));
    }

    /// See [`Probe::on_stop`].
    pub fn on_stop(&mut self, now: Time, queue: QueueId) {
        if self.on_stops {
            self.all().0.for_each(|probe| probe.on_stop(now, queue));
        }
    }

    /// An egress queue may send again: records the stop. [`Probes::on_resume`] tells probes what waited in the queue.
    pub fn stop_ended(&mut self, stop: PauseRecord) {
        self.records.pause(stop);
    }

    /// See [`Probe::on_resume`]; called only if [`Probes::on_stops`].
    pub fn on_resume(&mut self, resumed: &Resumed<'_>) {
        let (probes, records) = self.all();
        probes.for_each(|probe| probe.on_resume(resumed, records));
    }

    /// See [`Probe::on_depart`]; called only if [`Probes::on_wire`]. With the time of arrival goes whether the packet will
    /// arrive. The port and class have been stopped for a total of `stopped`.
    #[cold]
    pub fn on_depart(
        &mut self,
        now: Time,
        net: &Network,
        packets: &mut Packets,
        (port, id): (PortId, PacketId),
        (arrival, arrives): (Time, bool),
        stopped: Time,
    ) {
        if self.breakdown.is_some() {
            breakdown::on_depart(packets, port, id, now, arrival, stopped);
        }
        let Packet { kind, class, size, .. } = packets[id];
        if let (Some(roots), Some(offers)) = (&mut self.roots, &mut packets.offers) {
            let held =
                roots.depart(Sent { port, kind, class, size: size.into(), stopped }, offers.of(id), now);
            if kind == Kind::Data {
                offers.put(id, arrival.saturating_sub(held));
            }
        }
        let arrival = if arrives { arrival } else { Time::NEVER };
        let departure = Departure { now, port, id, packet: &packets[id], arrival, net, packets };
        self.all().0.for_each(|probe| probe.on_depart(&departure));
    }

    /// The run has ended: writes the probes' findings.
    pub fn finish(&mut self, now: Time) {
        let (probes, records) = self.all();
        probes.for_each(|probe| probe.finish(now, records));
    }

    /// Number of rows of everything that grows with time.
    pub fn rows(&self) -> usize {
        self.records.rows() + self.capture.as_ref().map_or(0, |capture| capture.len())
    }
}
