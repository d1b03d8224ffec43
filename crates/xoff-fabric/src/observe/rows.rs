//! The rows of records: samples, pauses, congestion roots, notifications, states of throttles, and rows of probes from
//! outside.

use std::sync::Arc;

use xoff_engine::{Rate, Time};
use xoff_schemes::ThrottleState;

use crate::ids::{FlowId, PortId};
use crate::packet::Kind;

/// A sample of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// Time of the sample.
    pub time: Time,
    /// Egress port.
    pub port: PortId,
    /// Bytes in all classes of the port, without the frame on the wire.
    pub bytes: u64,
    /// Maximum number of bytes since the last sample.
    pub max_bytes: u64,
}

/// A sample of the data of one priority in a switch's egress queue, in a network with several priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrioritySample {
    /// Time of the sample.
    pub time: Time,
    /// Egress port.
    pub port: PortId,
    /// Data priority.
    pub priority: u8,
    /// Bytes of that priority, without the frame on the wire.
    pub bytes: u64,
    /// Maximum number of bytes since the last sample.
    pub max_bytes: u64,
}

/// A flow's rates over the interval before a sample.
///
/// A flow's first interval begins with the flow, and its last one ends with the flow or with the run. So the rows cover the
/// flow's life: their rates times their intervals add up to the bytes that it sent and that were acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Time of the sample, at the end of the interval.
    pub time: Time,
    /// Length of the interval.
    pub interval: Time,
    /// The flow.
    pub flow: FlowId,
    /// Bits per second on its sender's wire.
    pub sent_bps: f64,
    /// Acknowledged payload bits per second.
    pub goodput_bps: f64,
    /// The scheme's rate at the time of the sample.
    pub rate: Rate,
    /// The scheme's window in bytes at the time of the sample.
    pub window: u64,
}

/// A sample of a variable that a flow's reaction point states.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableSample {
    /// Time of the sample.
    pub time: Time,
    /// The flow.
    pub flow: FlowId,
    /// The variable's name.
    pub name: Arc<str>,
    /// The variable's value.
    pub value: f64,
}

/// A port's transmission over the interval before a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UtilizationSample {
    /// Time of the sample.
    pub time: Time,
    /// Egress port.
    pub port: PortId,
    /// Bits sent per second.
    pub tx_bps: f64,
}

/// A time for which an egress was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRecord {
    /// The egress port that was stopped.
    pub port: PortId,
    /// The priority.
    pub priority: u8,
    /// Start of the stop.
    pub start: Time,
    /// End of the stop; the end of the run if the stop was still in force.
    pub end: Time,
    /// Number of PAUSE frames that caused or prolonged the stop.
    pub frames: u32,
    /// Time was carried forward during the stop, in a fast-forwarded run: that time is not counted, and the stop stands for all stops
    /// that would have come meanwhile.
    pub is_over_jump: bool,
}

/// A time for which an egress queue was a congestion root: see [`super::congestion_roots`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootRecord {
    /// The egress port.
    pub port: PortId,
    /// The priority.
    pub priority: u8,
    /// When the queue became a root.
    pub start: Time,
    /// When it stopped being a root; the end of the run if it was still a root.
    pub end: Time,
    /// Maximum number of bytes queued in that time.
    pub max_bytes: u64,
}

/// A flow that had packets waiting behind a PAUSE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waited {
    pub flow: FlowId,
    pub start: Time,
    pub end: Time,
}

/// A notification at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationRecord {
    /// Arrival.
    pub time: Time,
    /// [`Kind::Cnp`] or [`Kind::Cnm`].
    pub kind: Kind,
    /// The flow.
    pub flow: FlowId,
    /// The congestion point of a CNM; `None` for a CNP.
    pub point: Option<u32>,
}

/// A change of a throttle's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleRecord {
    /// When the state begins.
    pub time: Time,
    /// The host's port.
    pub port: PortId,
    /// The state.
    pub state: ThrottleState,
}

/// A row of a probe from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnRow {
    /// The probe's name for the quantity.
    pub name: &'static str,
    /// Time of the row.
    pub time: Time,
    /// The number of a port, queue, node or flow, as the probe defines.
    pub subject: u32,
    /// The quantity's value.
    pub value: f64,
}
