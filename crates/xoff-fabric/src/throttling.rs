//! Injection throttles at hosts: when the next data packet of a NIC may go, by the credits that the port uses.
//!
//! A throttle is told of every change of its port's used credits: those of packets on their way to the neighbour, or in
//! its buffer as far as the host knows. Without credits, under PFC, a host knows no more than whether it is paused: then
//! as many credits of 16 B count as used as the neighbour's threshold holds, and none while it is not.

use xoff_engine::Time;
use xoff_schemes::{AnyGate, AnyThrottle, Changes, Throttle, ThrottleEnv, ThrottleState};

use crate::network::Network;
use crate::part::Part;
use crate::port::DATA;
use crate::settings::FlowControl;
use crate::topology::{NodeId, PortId};

/// What a credit stands for where there are none: a flit of 16 B.
const FLIT: u64 = 16;

/// A throttle's state from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleRecord {
    /// Since when.
    pub time: Time,
    /// The host's port.
    pub port: PortId,
    /// The state.
    pub state: ThrottleState,
}

/// The throttles of a part's hosts.
pub(crate) struct Throttles {
    /// By port; none at switches and in other parts.
    gates: Vec<Option<AnyGate>>,
    /// Credits that count as used while a port is paused, where flow control has none.
    paused: u64,
    /// Changes of state in one call, kept for its memory.
    changes: Changes,
}

impl Throttles {
    /// A throttle at each host's port that is `owned`.
    pub fn new(params: &AnyThrottle, net: &Network, owned: impl Fn(NodeId) -> bool) -> Box<Throttles> {
        let gate = |port| {
            let node = net.topology.node_of(port);
            let env = ThrottleEnv { rate: net.topology.rate(port) };
            (net.is_host(node) && owned(node)).then(|| params.throttle(&env))
        };
        let threshold = match &net.settings.flow_control {
            FlowControl::Pfc(pfc) => pfc.xoff.or(net.settings.switch.buffer).map_or(0, |bytes| bytes.0),
            _ => 0,
        };
        let gates = (0..net.topology.ports()).map(gate).collect();
        Box::new(Throttles { gates, paused: threshold / FLIT, changes: Changes::new() })
    }
}

impl Part {
    /// A host's port uses another number of credits.
    pub(crate) fn throttle_credits(&mut self, port: PortId) {
        let Some(mut throttles) = self.throttles.take() else { return };
        if let Some(gate) = &mut throttles.gates[port as usize] {
            let first = self.data_queue(port, DATA);
            let used = match &self.credits {
                Some(credits) => {
                    (first..first + self.priorities as u32).map(|queue| credits.sending(queue).used()).sum()
                }
                None if self.ports[port as usize].paused != 0 => throttles.paused,
                None => 0,
            };
            gate.used_credits(self.now, used, &mut throttles.changes);
            self.note_throttle(port, &mut throttles.changes);
        }
        self.throttles = Some(throttles);
    }

    /// A data packet of `bytes` goes from a host's port, and with it its credits.
    pub(crate) fn throttle_sent(&mut self, port: PortId, bytes: u64) {
        let Some(mut throttles) = self.throttles.take() else { return };
        if let Some(gate) = &mut throttles.gates[port as usize] {
            gate.on_send(self.now, bytes, &mut throttles.changes);
            self.note_throttle(port, &mut throttles.changes);
        }
        self.throttles = Some(throttles);
        if self.credits.is_some() {
            self.throttle_credits(port);
        }
    }

    /// When the next data packet may go from a host's port: now, later, or not before its used credits change.
    #[inline]
    pub(crate) fn throttled_until(&mut self, port: PortId) -> Time {
        if self.throttles.is_none() { self.now } else { self.gate_until(port) }
    }

    fn gate_until(&mut self, port: PortId) -> Time {
        let Some(mut throttles) = self.throttles.take() else { return self.now };
        let mut until = self.now;
        if let Some(gate) = &mut throttles.gates[port as usize] {
            until = gate.ready_at(self.now, &mut throttles.changes);
            self.note_throttle(port, &mut throttles.changes);
        }
        self.throttles = Some(throttles);
        if self.breakdown.is_some() {
            self.note_throttle_until(port, until);
        }
        until
    }

    /// Takes all throttles to the end of a run.
    pub(crate) fn close_throttles(&mut self) {
        if self.throttles.is_some() {
            for port in 0..self.net.topology.ports() {
                self.throttled_until(port);
            }
        }
    }

    fn note_throttle(&mut self, port: PortId, changes: &mut Changes) {
        if self.records.recording.throttles {
            let rows = changes.iter().map(|&(time, state)| ThrottleRecord { time, port, state });
            self.records.throttles.extend(rows);
        }
        changes.clear();
    }
}
