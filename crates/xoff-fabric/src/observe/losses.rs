//! Packets that were lost, by cause, place and message; and what PFC watchdogs did.

use std::collections::BTreeMap;

use xoff_engine::Time;

use crate::fault::Cause;
use crate::ids::{FlowId, PortId};
use crate::packet::{Kind, Packet};

/// What lost packets have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossKey {
    /// Why they were lost.
    pub cause: Cause,
    /// The fault to blame, by its place in [`crate::fault::FaultPlan::faults`]; `None` if none is.
    pub fault: Option<u32>,
    /// The egress port at which, or behind which, they were lost; the ingress port if a buffer was full or a receiver had
    /// stopped.
    pub port: PortId,
    /// Their message; [`crate::packet::NO_FLOW`] for frames of flow control.
    pub flow: FlowId,
    /// They carried payload.
    pub is_data: bool,
}

/// Lost packets with the same [`LossKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Their number.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// When the first one was lost, or began on the wire on which it was lost.
    pub first: Time,
    /// The same of the last one.
    pub last: Time,
}

/// The packets that were lost.
pub type Losses = BTreeMap<LossKey, Loss>;

/// Counts a packet that was lost at a port.
pub(super) fn count(
    losses: &mut Losses,
    now: Time,
    port: PortId,
    packet: &Packet,
    why: (Cause, Option<u32>),
) {
    let (cause, fault) = why;
    let is_data = packet.kind == Kind::Data;
    let key = LossKey { cause, fault, port, flow: packet.flow, is_data };
    let loss = losses.entry(key).or_insert(Loss { packets: 0, bytes: 0, first: now, last: now });
    loss.packets += 1;
    loss.bytes += u64::from(packet.size);
    loss.last = now;
}

/// Adds another partition's losses.
pub(super) fn add(losses: &mut Losses, other: Losses) {
    for (key, more) in other {
        let loss = losses.entry(key).or_insert(Loss { packets: 0, bytes: 0, ..more });
        loss.packets += more.packets;
        loss.bytes += more.bytes;
        (loss.first, loss.last) = (loss.first.min(more.first), loss.last.max(more.last));
    }
}

/// A storm that a PFC watchdog found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchdogRecord {
    /// The egress port that was stopped.
    pub port: PortId,
    /// The priority.
    pub priority: u8,
    /// Since when the queue was stopped.
    pub stopped: Time,
    /// When the watchdog acted.
    pub detected: Time,
    /// When it let the queue go back to obeying PAUSE; `None` if the run ended before.
    pub restored: Option<Time>,
    /// Packets dropped.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}
