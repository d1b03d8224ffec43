//! What a run records: outcomes of flows, totals of ports, pauses, and samples in time.
//!
//! Records cost ordinary packets nothing: samples are taken by events of their own, and everything else is written only
//! when something rare happens.

use std::sync::Arc;

use xoff_engine::Time;
use xoff_schemes::{Mark, PortState};

use super::breakdown::BreakdownRecord;
use super::capture::{PacketFilter, PacketRecords};
use super::detection::{MarkRecord, Marks, StateRecord};
use super::losses::{Losses, WatchdogRecord};
use super::outcomes::{Ends, Outcomes};
use super::port_counts::PortCounts;
use super::probe::{Hooks, Probe};
use super::rows::{
    NotificationRecord, OwnRow, PauseRecord, PrioritySample, QueueSample, RateSample, RootRecord,
    ThrottleRecord, UtilizationSample, VariableSample, Waited,
};
use crate::ids::{ConnectionId, FlowId, NodeId, PortId};
use crate::network::Network;
use crate::packet::{Kind, Packet};

/// What to record beyond flows and ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Sampling interval; `None` for no samples.
    pub interval: Option<Time>,
    /// Ports whose queues are sampled.
    pub queues: Vec<PortId>,
    /// Ports whose transmission rate is sampled.
    pub utilization: Vec<PortId>,
    /// Flows whose rates are sampled, ascending.
    pub rates: Vec<FlowId>,
    /// Flows of which the variables of their reaction points are sampled, ascending.
    pub variables: Vec<FlowId>,
    /// Record each pause.
    pub pauses: bool,
    /// Record each CNP and CNM at its receiver.
    pub notifications: bool,
    /// Record congestion roots, and with them the flows that head-of-line blocking held up. The number is the backlog
    /// in bytes that makes a queue a root; `None` for no record.
    pub roots: Option<u64>,
    /// Record each mark that a packet is given.
    pub marks: bool,
    /// Ports whose queues' states are recorded.
    pub states: Vec<PortId>,
    /// Record each change of a throttle's state.
    pub throttles: bool,
    /// Record where each flow's time went.
    pub breakdown: bool,
    /// Record the order in which each connection's packets come.
    pub reordering: bool,
    /// Packets to record.
    pub packets: Option<PacketFilter>,
}

impl Recording {
    /// This recording, limited to the ports that a partition owns.
    pub(crate) fn of(&self, owned: impl Fn(PortId) -> bool) -> Recording {
        let own = |ports: &[PortId]| ports.iter().copied().filter(|&p| owned(p)).collect();
        Recording {
            queues: own(&self.queues),
            utilization: own(&self.utilization),
            states: own(&self.states),
            ..self.clone()
        }
    }
}

/// The order of the data packets of a connection as they came to the receiver, apart from those that were sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReorderingRecord {
    /// The connection.
    pub connection: ConnectionId,
    /// Packets that came.
    pub packets: u64,
    /// Packets that came after one with a higher number.
    pub reordered: u64,
    /// Sum of their extents: of packets since the first one with a higher number.
    pub extents: u64,
    /// The maximum extent.
    pub max_extent: u64,
    /// Maximum time since the first packet with a higher number came.
    pub max_late: Time,
    /// Maximum payload bytes that had come and waited for a packet before them.
    pub buffer: u64,
}

/// The outcome of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowOutcome {
    /// Whether the flow started.
    pub started: bool,
    /// When the flow started.
    pub start: Time,
    /// Time from its start to the last ACK at its sender; `None` if it did not complete.
    pub fct: Option<Time>,
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
    /// Data packets sent.
    pub packets_sent: u64,
    /// Payload bytes sent again.
    pub retransmitted_bytes: u64,
    /// CNPs received.
    pub cnps: u64,
    /// Marks on the data packets that arrived.
    pub marks: Marks,
    /// Time for which its sender's port was paused while it was active.
    pub paused: Time,
    /// Whether it waited behind a PAUSE, and none of its hops was a congestion root in that time; only with
    /// [`Recording::roots`].
    pub hol_blocked: bool,
    /// Time of it that was not simulated, in a fast-forwarded run: carried forward, or all of it if it was recalled.
    pub skipped: Time,
    /// Whether it was not simulated: it took the time of messages like it, in a fast-forwarded run.
    pub recalled: bool,
}

/// Counts of a run, by port unless said otherwise.
#[derive(Default)]
pub struct Totals {
    /// PAUSE frames sent.
    pub pause_frames: PortCounts<u64>,
    /// RESUME frames sent.
    pub resume_frames: PortCounts<u64>,
    /// Updates of credits sent.
    pub credit_updates: PortCounts<u64>,
    /// Packets marked at the port's egress.
    pub marks: PortCounts<Marks>,
    /// Packets whose mark at the port's egress hung on a random number; counted only in a fast-forwarded run.
    pub chances: PortCounts<u64>,
    /// Packets that left a queue at the port's egress that was close to being marked, or beyond; counted only in a fast-forwarded run.
    pub close_calls: PortCounts<u64>,
    /// Packets dropped at the port's ingress.
    pub drops: PortCounts<u64>,
    /// CNMs sent, in the whole network.
    pub cnms_sent: u64,
    /// CNMs lost at switches that had forgotten the flow, in the whole network.
    pub cnms_lost: u64,
    /// By switch with a table of flows: the maximum number of flows in the table.
    pub flow_tables: Vec<(NodeId, u64)>,
}

/// Samples in time, one row for each port or flow and interval.
#[derive(Default)]
pub struct Samples {
    /// Queues.
    pub queues: Vec<QueueSample>,
    /// Queues of switches by priority; empty if the network has one.
    pub priorities: Vec<PrioritySample>,
    /// By queue: maximum bytes since the last sample; empty unless queues are sampled by priority.
    pub(super) peaks: Vec<u64>,
    /// Flows' rates.
    pub rates: Vec<RateSample>,
    /// Variables of flows' reaction points.
    pub variables: Vec<VariableSample>,
    /// Ports' transmission.
    pub utilization: Vec<UtilizationSample>,
    /// Names of variables, each once.
    pub(super) names: Vec<Arc<str>>,
    /// Flows under way whose rates or variables are sampled.
    pub(super) flows: Vec<FlowId>,
    /// By entry of [`Recording::utilization`]: bits sent at the last sample.
    pub(super) sent: Vec<f64>,
}

/// What one partition knows, until [`Records::merge`] puts the partitions' knowledge together.
#[derive(Default)]
pub(crate) struct Partial {
    /// Steps whose time is known.
    pub steps_done: Vec<(u32, Time)>,
    /// What senders know of their flows.
    pub ends: Ends,
    /// By receivers: flows and their packets that came marked.
    pub marked_flows: Vec<(FlowId, Marks)>,
    /// Flows that waited behind a PAUSE, once for each.
    pub waited: Vec<Waited>,
    /// The number of those flows, once the blocked ones are known.
    pub waits: usize,
    /// By queue: the state of the last row if the queue's states are recorded; empty if none are.
    pub states: Vec<Option<PortState>>,
}

/// All that a partition recorded, and at the end what all partitions did.
#[derive(Default)]
pub struct Records {
    pub(crate) recording: Recording,
    pub(crate) partial: Partial,
    /// By flow; empty before the end.
    pub flows: Outcomes,
    /// By step of [`crate::Schedule`]: when it was done, or was to be; [`Time::NEVER`] if that is not known. Empty before
    /// the end.
    pub steps: Vec<Time>,
    /// Counts.
    pub totals: Totals,
    /// Samples.
    pub samples: Samples,
    /// Pauses that have ended.
    pub pauses: Vec<PauseRecord>,
    /// Notifications.
    pub notifications: Vec<NotificationRecord>,
    /// Congestion roots.
    pub roots: Vec<RootRecord>,
    /// Marks.
    pub marks: Vec<MarkRecord>,
    /// States of queues.
    pub states: Vec<StateRecord>,
    /// States of throttles.
    pub throttles: Vec<ThrottleRecord>,
    /// Parts of flows' times.
    pub breakdown: Vec<BreakdownRecord>,
    /// Order of the packets of each connection. Empty before the end.
    pub reordering: Vec<ReorderingRecord>,
    /// Packets. Empty before the end.
    pub packets: PacketRecords,
    /// Rows of probes from outside.
    pub own: Vec<OwnRow>,
    /// Packets that were lost; `None` unless something may break.
    pub losses: Option<Losses>,
    /// What PFC watchdogs did.
    pub watchdog: Vec<WatchdogRecord>,
}

impl Records {
    /// Records without rows, with room for the outcomes of so many `flows`.
    pub(crate) fn new(recording: Recording, net: &Network, flows: usize) -> Self {
        let ports = net.topology.ports() as usize;
        let totals = Totals {
            pause_frames: PortCounts::new(ports),
            resume_frames: PortCounts::new(ports),
            credit_updates: PortCounts::new(ports),
            marks: PortCounts::new(ports),
            chances: PortCounts::new(ports),
            close_calls: PortCounts::new(ports),
            drops: PortCounts::new(ports),
            ..Totals::default()
        };
        let priorities = u32::from(net.settings.switch.priorities);
        let by_priority = priorities > 1 && recording.interval.is_some() && !recording.queues.is_empty();
        let peaks =
            if by_priority { vec![0; (net.topology.ports() * priorities) as usize] } else { Vec::new() };
        let samples = Samples { sent: vec![0.0; recording.utilization.len()], peaks, ..Samples::default() };
        let breaks =
            net.faults.is_some() || net.settings.switch.watchdog.is_some() || net.settings.link.loses();
        let losses = breaks.then(Losses::new);
        let ends = Ends::with_room(flows, net.flows.starts(), net.flows.sizes(), net.wire.payload);
        let partial = Partial { ends, ..Partial::default() };
        let mut records = Records { partial, totals, samples, recording, losses, ..Records::default() };
        records.begin_states(net.topology.ports(), net.settings.switch.priorities.into());
        records
    }

    /// A place behind the messages that have ended so far, for [`Records::outcomes_so_far`]; 0 after the end of the run.
    pub fn ended_so_far(&self) -> usize {
        self.partial.ends.place()
    }

    /// The messages that have ended since a place, which is 0 or was one of [`Records::ended_so_far`], with their outcomes, in the order of
    /// their ends; none after the end of the run.
    pub fn outcomes_so_far(&self, since: usize) -> impl Iterator<Item = (FlowId, FlowOutcome)> {
        self.partial.ends.after(since)
    }

    /// The outcomes of all flows by number; none before the end. In a run of many flows [`Records::flows`] takes less memory.
    pub fn outcomes(&self) -> Vec<FlowOutcome> {
        self.flows.iter().collect()
    }

    /// Number of rows of all samples.
    pub fn sampled_rows(&self) -> usize {
        let Samples { queues, priorities, rates, variables, utilization, .. } = &self.samples;
        queues.len() + priorities.len() + rates.len() + variables.len() + utilization.len()
    }

    /// Number of rows of congestion roots and of the flows that waited behind pauses.
    pub fn root_rows(&self) -> usize {
        self.roots.len() + self.partial.waited.len() + self.partial.waits
    }

    /// Number of packets recorded.
    pub fn packet_rows(&self) -> usize {
        self.packets.rows().len()
    }

    /// Number of rows of everything that grows with time: samples, pauses, notifications, roots, flows that waited, marks,
    /// states of queues and throttles, packets, parts of flows' times, and rows of probes from outside.
    pub fn rows(&self) -> usize {
        let events = self.pauses.len()
            + self.notifications.len()
            + self.marks.len()
            + self.states.len()
            + self.throttles.len()
            + self.breakdown.len()
            + self.own.len()
            + self.watchdog.len()
            + self.losses.as_ref().map_or(0, Losses::len)
            + self.packet_rows();
        self.sampled_rows() + events + self.root_rows()
    }

    /// Whether congestion roots are recorded.
    pub fn watches_roots(&self) -> bool {
        self.recording.roots.is_some()
    }

    /// A step is done at time `at`, which may be in the future.
    pub(crate) fn step_done(&mut self, step: u32, at: Time) {
        self.partial.steps_done.push((step, at));
    }

    pub(crate) fn pause(&mut self, pause: PauseRecord) {
        if self.recording.pauses {
            self.pauses.push(pause);
        }
    }

    /// Time between samples; `None` if there are none.
    pub fn interval(&self) -> Option<Time> {
        self.recording.interval
    }

    /// A receiver has done with a flow.
    pub(crate) fn flow_received(&mut self, flow: FlowId, marks: Marks) {
        if marks.any() {
            self.partial.marked_flows.push((flow, marks));
        }
    }
}

impl Probe for Records {
    fn hooks(&self) -> Hooks {
        Hooks::SIGNALS | Hooks::FLOWS
    }

    fn on_mark(&mut self, now: Time, egress: PortId, packet: &Packet, mark: Mark) {
        self.totals.marks.at(egress).count(mark);
        if self.recording.marks {
            self.marks.push(MarkRecord { time: now, port: egress, flow: packet.flow, seq: packet.seq, mark });
        }
    }

    fn on_drop(&mut self, _: Time, port: PortId, packet: &Packet) {
        match packet.kind {
            Kind::Cnm => self.totals.cnms_lost += 1,
            _ => *self.totals.drops.at(port) += 1,
        }
    }

    fn on_notification(&mut self, now: Time, flow: FlowId, kind: Kind, point: Option<u32>) {
        if self.recording.notifications {
            self.notifications.push(NotificationRecord { time: now, kind, flow, point });
        }
    }

    fn on_control_frame(&mut self, _: Time, port: PortId, kind: Kind) {
        match kind {
            Kind::Pfc => *self.totals.pause_frames.at(port) += 1,
            Kind::CreditUpdate => *self.totals.credit_updates.at(port) += 1,
            _ => self.totals.cnms_sent += 1,
        }
    }

    fn on_flow_start(&mut self, _: Time, flow: FlowId) {
        if self.samples_rates_of(flow) || self.samples_variables_of(flow) {
            self.samples.flows.push(flow);
        }
    }

    fn on_flow_end(&mut self, _: Time, flow: FlowId, outcome: &FlowOutcome) {
        self.partial.ends.push(flow, outcome);
    }

    fn finish(&mut self, _: Time, _: &mut Records) {}
}
