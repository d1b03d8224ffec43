//! Detectors, by which an egress queue marks packets.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use xoff_engine::{Rate, Violation};

use super::congestion::{PacketView, PortEnv, QueueView};
use crate::signals::Mark;

/// The state that a detector sees its queue in (TCD, section 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PortState {
    /// Continuously ON, without a queue that grows.
    #[default]
    NonCongestion = 0,
    /// Continuously ON, with a queue that is not caused by OFF.
    Congestion = 1,
    /// Stopped a short time ago, which masks the queue's input.
    Undetermined = 2,
    /// Was undetermined and has been ON for longer than max(T_on): watched until the queue says which of the first two
    /// states applies.
    Released = 3,
}

impl PortState {
    /// All states, in the order of their numbers.
    pub const ALL: [PortState; 4] =
        [PortState::NonCongestion, PortState::Congestion, PortState::Undetermined, PortState::Released];

    /// The state's name in result tables.
    pub fn name(self) -> &'static str {
        match self {
            PortState::NonCongestion => "non_congestion",
            PortState::Congestion => "congestion",
            PortState::Undetermined => "undetermined",
            PortState::Released => "released",
        }
    }
}

/// Detector: the part of an egress queue that says *congested* by marking packets.
pub trait Detector {
    /// A data packet leaves the queue. Returns the mark that the packet earns here; a greater mark that it already has
    /// stays.
    fn on_dequeue(&mut self, queue: &QueueView, packet: &PacketView) -> Mark;
    /// Whether the mark of a packet that leaves the queue now hangs on a random number, or on how many packets have left before it.
    fn is_by_chance(&self, _queue: &QueueView) -> bool {
        false
    }
    /// Queue length in bytes up to which the queue's own length marks nothing; `None` if the detector does not say.
    fn unmarked_bytes(&self) -> Option<u64> {
        None
    }
    /// The queue may not send from now on (PAUSE, or no credit).
    fn on_pause(&mut self, _queue: &QueueView) {}
    /// The queue may send again; `packets` counts the packets in it that are to leave it by [`Detector::on_dequeue`].
    fn on_resume(&mut self, _queue: &QueueView, _packets: &dyn Fn() -> u64) {}
    /// The queue's state, if the detector tells states apart.
    fn state(&self) -> Option<PortState> {
        None
    }
}

/// A detector's parameters: they parse from a scenario, carry their documentation into the schema, and make the
/// detector of each egress queue.
pub trait DetectorParams: Clone + Default + Serialize + DeserializeOwned + JsonSchema {
    /// The name in scenarios.
    const NAME: &'static str;
    /// One line that says what the detector is.
    const TITLE: &'static str;
    /// Where the detector is published.
    const SOURCE: &'static str;
    /// Whether the detector's queues have states to record.
    const HAS_STATES: bool = false;
    /// Whether the detector differs from plain marking only if flow control stops queues.
    const NEEDS_PAUSES: bool = false;
    /// Whether a packet that passes an idle port, whose queue is empty, may be marked or changes what the detector knows.
    const SEES_EMPTY_QUEUES: bool = true;
    /// The detector itself.
    type Detector: Detector;

    /// Refuses values that make no sense.
    fn validate(&self) -> Result<(), Violation> {
        Ok(())
    }
    /// Refuses a switch port's rate for which there are no parameters.
    fn accepts(&self, _rate: Rate) -> Result<(), Violation> {
        Ok(())
    }
    /// The detector of an egress queue, at a rate that is accepted. Fills in defaults that depend on the port.
    fn detector(&self, env: &PortEnv) -> Self::Detector;
}
