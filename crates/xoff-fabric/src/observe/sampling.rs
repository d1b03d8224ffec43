//! Periodic samples of queues, of ports' transmission, and of flows' rates.

use std::sync::Arc;

use xoff_engine::{Rate, Time};

use super::records::{Records, Samples};
use super::rows::{PrioritySample, QueueSample, RateSample, UtilizationSample, VariableSample};
use crate::ids::{FlowId, PortId, QueueId};

/// A flow's counts at its last sample, or at its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampled {
    at: Time,
    wire_sent: u64,
    acked: u64,
}

impl Sampled {
    /// A flow that starts at `at`.
    pub fn new(at: Time) -> Self {
        Sampled { at, wire_sent: 0, acked: 0 }
    }
}

/// A flow's counts and rates now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RatesNow {
    /// Bytes on its sender's wire so far.
    pub wire_sent: u64,
    /// Payload bytes acknowledged so far.
    pub acked: u64,
    /// The scheme's rate.
    pub rate: Rate,
    /// The scheme's window in bytes.
    pub window: u64,
}

impl Records {
    /// Whether a flow's rates are sampled.
    pub(crate) fn samples_rates_of(&self, flow: FlowId) -> bool {
        self.recording.interval.is_some() && self.recording.rates.binary_search(&flow).is_ok()
    }

    /// Adds a row of the flow's rates since its last one, unless no time has passed.
    pub(crate) fn sample_rates(&mut self, now: Time, flow: FlowId, last: &mut Sampled, rates: &RatesNow) {
        let interval = now - last.at;
        if interval == Time::ZERO {
            return;
        }
        let bps = |bytes: u64| bytes as f64 * 8.0 / interval.secs();
        self.samples.rates.push(RateSample {
            time: now,
            interval,
            flow,
            sent_bps: bps(rates.wire_sent - last.wire_sent),
            goodput_bps: bps(rates.acked - last.acked),
            rate: rates.rate,
            window: rates.window,
        });
        *last = Sampled { at: now, wire_sent: rates.wire_sent, acked: rates.acked };
    }

    /// Whether the variables of a flow's reaction point are sampled.
    pub(crate) fn samples_variables_of(&self, flow: FlowId) -> bool {
        self.recording.interval.is_some() && self.recording.variables.binary_search(&flow).is_ok()
    }

    /// Adds a row of each variable that `tell` states, unless the flow has its rows of this moment.
    pub(crate) fn sample_variables(
        &mut self,
        now: Time,
        flow: FlowId,
        tell: impl FnOnce(&mut dyn FnMut(&str, f64)),
    ) {
        let Samples { variables, names, .. } = &mut self.samples;
        if variables.iter().rev().take_while(|row| row.time == now).any(|row| row.flow == flow) {
            return;
        }
        tell(&mut |name, value| {
            let known = names.iter().find(|known| ***known == *name).cloned();
            let name = known.unwrap_or_else(|| {
                let new: Arc<str> = name.into();
                names.push(new.clone());
                new
            });
            variables.push(VariableSample { time: now, flow, name, value });
        });
    }

    /// Samples queues; `queued` gives a port's bytes and their maximum since the last sample.
    pub(crate) fn sample_queues(&mut self, now: Time, mut queued: impl FnMut(PortId) -> (u64, u64)) {
        for &port in &self.recording.queues {
            let (bytes, max_bytes) = queued(port);
            self.samples.queues.push(QueueSample { time: now, port, bytes, max_bytes });
        }
    }

    /// Whether the queues of switches are sampled by priority too.
    pub(crate) fn samples_priorities(&self) -> bool {
        !self.samples.peaks.is_empty()
    }

    /// Data has joined an egress queue, which has `bytes` with it.
    pub(crate) fn note_peak(&mut self, queue: QueueId, bytes: u64) {
        if let Some(peak) = self.samples.peaks.get_mut(queue.index()) {
            *peak = bytes.max(*peak);
        }
    }

    /// Samples an egress queue of a switch, which has `bytes` of a priority.
    pub(crate) fn sample_priority(
        &mut self,
        time: Time,
        (port, priority): (PortId, u8),
        queue: QueueId,
        bytes: u64,
    ) {
        let max_bytes = std::mem::replace(&mut self.samples.peaks[queue.index()], bytes).max(bytes);
        self.samples.priorities.push(PrioritySample { time, port, priority, bytes, max_bytes });
    }

    /// Samples transmission; `sent` gives the bits that a port has sent.
    pub(crate) fn sample_transmission(&mut self, now: Time, sent: impl Fn(PortId) -> f64) {
        let Some(interval) = self.recording.interval else { return };
        for (&port, last) in self.recording.utilization.iter().zip(&mut self.samples.sent) {
            let sent = sent(port);
            let tx_bps = (sent - *last) / interval.secs();
            *last = sent;
            self.samples.utilization.push(UtilizationSample { time: now, port, tx_bps });
        }
    }

    /// Takes out the flows whose rates or variables are sampled; the caller puts those that are still under way back with
    /// [`Records::put_sampled_flows`].
    pub(crate) fn take_sampled_flows(&mut self) -> Vec<FlowId> {
        std::mem::take(&mut self.samples.flows)
    }

    /// See [`Records::take_sampled_flows`].
    pub(crate) fn put_sampled_flows(&mut self, flows: Vec<FlowId>) {
        self.samples.flows = flows;
    }
}
