//! What a run records: outcomes of flows, totals of ports, pauses, and samples in time.
//!
//! Nothing here touches the path of a packet: samples are taken by events of their own, and the rest is written
//! where something rare happens.

use xoff_engine::{Rate, Time};
use xoff_schemes::ReactionPoint;

use crate::event::{key, kind};
use crate::network::Network;
use crate::packet::Kind;
use crate::part::Part;
use crate::topology::PortId;

/// What to record beyond flows and ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Sampling interval; none for no samples.
    pub interval: Option<Time>,
    /// Ports whose queues are sampled.
    pub queues: Vec<PortId>,
    /// Ports whose transmission rate is sampled.
    pub utilization: Vec<PortId>,
    /// Flows whose rates are sampled, ascending.
    pub rates: Vec<u32>,
    /// Record each pause.
    pub pauses: bool,
    /// Record each CNP and CNM at its receiver.
    pub notifications: bool,
}

/// How a flow fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowOutcome {
    /// Whether it started at all.
    pub started: bool,
    /// From its start to the last ACK at its sender; none if it did not complete.
    pub fct: Option<Time>,
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
    /// Data packets sent.
    pub packets_sent: u64,
    /// Payload bytes sent again.
    pub retransmitted_bytes: u64,
    /// CNPs received.
    pub cnps: u64,
    /// Data packets that arrived marked CE.
    pub marked_ce: u64,
    /// Time for which its sender's port was paused while it was active.
    pub paused: Time,
}

/// A queue at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// When.
    pub time: Time,
    /// Egress port.
    pub port: PortId,
    /// Bytes in all its classes, without the frame on the wire.
    pub bytes: u64,
    /// Most bytes since the last sample.
    pub max_bytes: u64,
}

/// A flow's rates over the interval that ends at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// When.
    pub time: Time,
    /// The flow.
    pub flow: u32,
    /// Bits on its sender's wire, a second.
    pub sent_bps: f64,
    /// Payload bits acknowledged, a second.
    pub goodput_bps: f64,
    /// The scheme's rate at that moment.
    pub rate: Rate,
    /// The scheme's window in bytes at that moment.
    pub window: u64,
}

/// A port's transmission over the interval that ends at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UtilizationSample {
    /// When.
    pub time: Time,
    /// Egress port.
    pub port: PortId,
    /// Bits sent, a second.
    pub tx_bps: f64,
}

/// A time for which an egress was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRecord {
    /// The egress port that was stopped.
    pub port: PortId,
    /// The priority.
    pub priority: u8,
    /// Since when.
    pub start: Time,
    /// Until when; the end of the run if it still stood.
    pub end: Time,
    /// PAUSE frames that made it.
    pub frames: u32,
}

/// A notification at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationRecord {
    /// Arrival.
    pub time: Time,
    /// CNP or CNM.
    pub kind: Kind,
    /// The flow.
    pub flow: u32,
    /// The congestion point of a CNM.
    pub point: Option<u32>,
}

/// All that a part recorded.
pub struct Records {
    recording: Recording,
    /// By flow.
    pub flows: Vec<FlowOutcome>,
    /// By port: PAUSE frames sent.
    pub pause_frames: Vec<u64>,
    /// By port: packets marked CE at its egress.
    pub marked_ce: Vec<u64>,
    /// By ingress port: packets dropped.
    pub drops: Vec<u64>,
    /// CNMs sent.
    pub cnms_sent: u64,
    /// Samples of queues.
    pub queues: Vec<QueueSample>,
    /// Samples of flows' rates.
    pub rates: Vec<RateSample>,
    /// Samples of ports' transmission.
    pub utilization: Vec<UtilizationSample>,
    /// Pauses that have ended.
    pub pauses: Vec<PauseRecord>,
    /// Notifications.
    pub notifications: Vec<NotificationRecord>,
    /// Flows under way whose rates are sampled.
    sampled_flows: Vec<u32>,
    /// By entry of `recording.utilization`: bytes sent at the last sample.
    sampled_tx: Vec<u64>,
}

impl Records {
    /// Nothing recorded yet.
    pub(crate) fn new(recording: Recording, net: &Network) -> Self {
        let ports = net.topology.ports() as usize;
        Records {
            flows: vec![FlowOutcome::default(); net.flows.len()],
            pause_frames: vec![0; ports],
            marked_ce: vec![0; ports],
            drops: vec![0; ports],
            cnms_sent: 0,
            queues: Vec::new(),
            rates: Vec::new(),
            utilization: Vec::new(),
            pauses: Vec::new(),
            notifications: Vec::new(),
            sampled_flows: Vec::new(),
            sampled_tx: vec![0; recording.utilization.len()],
            recording,
        }
    }

    pub(crate) fn flow_started(&mut self, flow: u32) {
        if self.recording.rates.binary_search(&flow).is_ok() {
            self.sampled_flows.push(flow);
        }
    }

    pub(crate) fn pause(&mut self, port: PortId, priority: u8, start: Time, end: Time, frames: u32) {
        if self.recording.pauses {
            self.pauses.push(PauseRecord { port, priority, start, end, frames });
        }
    }

    pub(crate) fn notification(&mut self, time: Time, kind: Kind, flow: u32, point: Option<u32>) {
        if self.recording.notifications {
            self.notifications.push(NotificationRecord { time, kind, flow, point });
        }
    }

    pub(crate) fn go_back(&mut self, flow: u32, bytes: u64) {
        self.flows[flow as usize].retransmitted_bytes += bytes;
    }
}

impl Part {
    /// Schedules the sample after `now`.
    pub(crate) fn schedule_sample(&mut self, now: Time) {
        if let Some(interval) = self.records.recording.interval {
            self.events.push(now + interval, key(kind::SAMPLE, 0), 0);
        }
    }

    /// Samples what is asked for.
    pub(crate) fn sample(&mut self) {
        let (now, records) = (self.now, &mut self.records);
        let Some(interval) = records.recording.interval else { return };
        let seconds = interval.secs();
        for &port_id in &records.recording.queues {
            let port = &mut self.ports[port_id as usize];
            let (bytes, max_bytes) = (port.queued_bytes, port.recent_max_bytes);
            port.fold_max();
            records.queues.push(QueueSample { time: now, port: port_id, bytes, max_bytes });
        }
        for (&port_id, last) in records.recording.utilization.iter().zip(&mut records.sampled_tx) {
            let sent = self.ports[port_id as usize].sent_by(now);
            let tx_bps = (sent - *last) as f64 * 8.0 / seconds;
            *last = sent;
            records.utilization.push(UtilizationSample { time: now, port: port_id, tx_bps });
        }
        let (senders, rates, outcomes) = (&mut self.senders, &mut records.rates, &records.flows);
        records.sampled_flows.retain(|&flow| {
            let Some(sender) = senders[flow as usize].as_deref_mut() else {
                // Completed since the last sample: its last bytes still count.
                debug_assert!(outcomes[flow as usize].fct.is_some());
                return false;
            };
            let (sent, acked) = std::mem::replace(&mut sender.sampled, (sender.wire_sent, sender.snd_una));
            rates.push(RateSample {
                time: now,
                flow,
                sent_bps: (sender.wire_sent - sent) as f64 * 8.0 / seconds,
                goodput_bps: (sender.snd_una - acked) as f64 * 8.0 / seconds,
                rate: sender.reaction.rate(),
                window: sender.reaction.window(),
            });
            true
        });
        self.schedule_sample(now);
    }

    /// Writes what is still open at the end of a run: flows under way and pauses that stand.
    pub(crate) fn close_records(&mut self) {
        for flow in 0..self.net.flows.len() as u32 {
            self.record_flow(flow, false);
        }
        self.close_pauses();
        self.ports.iter_mut().for_each(crate::port::Port::fold_max);
    }
}
