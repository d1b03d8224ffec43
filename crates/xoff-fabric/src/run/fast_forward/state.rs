//! The state of a network at a moment, but for its time.

use std::hash::{DefaultHasher, Hash, Hasher};

use xoff_engine::{Rate, Time};

use super::super::any_partition::AnyPartition;
use super::steady::learns_from_acks;
use crate::host::forward::Pulse;

/// The state of a network at a moment, but for its time.
#[derive(PartialEq, Hash)]
pub(super) struct State {
    version: [u64; 4],
    /// By connection under way.
    phases: Vec<Phase>,
    /// Of all else: see [`super::Signature`].
    signature: u64,
}

/// Where a connection is in what it repeats.
#[derive(PartialEq, Hash)]
struct Phase {
    in_flight: u64,
    sent_ago: Time,
    acked_ago: Time,
    rate: Rate,
    window: u64,
    notified: u32,
    repairs: bool,
    /// By how much its next packet is not there yet, or has been there; `None` if all of the message is.
    ready_in: Option<i64>,
}

impl State {
    /// The state at a time on the network's clock, before which all events are handled, and how many things were looked at.
    pub fn of(partition: &dyn AnyPartition, pulses: &[Pulse], now: Time) -> (State, u64) {
        // Points that hear again what comes are asked for their windows then.
        let learns = learns_from_acks(partition.network());
        let phase = |pulse: &Pulse| Phase {
            in_flight: pulse.sent.saturating_sub(pulse.acked),
            sent_ago: now.saturating_sub(pulse.sent_at),
            acked_ago: now.saturating_sub(pulse.acked_at),
            rate: pulse.rate,
            window: if learns { 0 } else { pulse.window },
            notified: pulse.notified,
            repairs: pulse.repairs,
            ready_in: pulse.ready_at.map(|at| at.0.wrapping_sub(now.0) as i64),
        };
        let signature = partition.signature(now);
        let state = State {
            version: partition.version(),
            phases: pulses.iter().map(phase).collect(),
            signature: signature.hash,
        };
        (state, signature.size + pulses.len() as u64)
    }

    /// The same, whichever messages connections send, and however many have begun and ended.
    pub fn between_messages(partition: &dyn AnyPartition, pulses: &[Pulse], now: Time) -> (State, u64) {
        let (state, size) = State::of(partition, pulses, now);
        let [_, _, drops, chances] = state.version;
        (State { version: [0, 0, drops, chances], ..state }, size)
    }

    /// The state as one number.
    pub fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        Hash::hash(self, &mut hasher);
        hasher.finish()
    }
}
