//! Records of detection: marks, and the states of egress queues that their detectors report.

use xoff_engine::Time;
use xoff_schemes::{Mark, PortState};

use super::records::Records;
use crate::ids::{FlowId, PortId, QueueId};

/// A mark that a packet was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkRecord {
    /// When the packet was marked.
    pub time: Time,
    /// The egress port.
    pub port: PortId,
    /// The packet's flow.
    pub flow: FlowId,
    /// Offset of its first payload byte in its connection.
    pub seq: u64,
    /// The mark.
    pub mark: Mark,
}

/// A change of a queue's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRecord {
    /// When the state begins.
    pub time: Time,
    /// Egress port.
    pub port: PortId,
    /// Data priority.
    pub priority: u8,
    /// The state.
    pub state: PortState,
}

/// Marks by code point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Congestion encountered.
    pub ce: u64,
    /// Undetermined.
    pub ue: u64,
}

impl Marks {
    /// Counts a mark.
    #[inline]
    pub fn count(&mut self, mark: Mark) {
        self.ce += u64::from(mark == Mark::Ce);
        self.ue += u64::from(mark == Mark::Ue);
    }

    /// Whether any mark was counted.
    pub fn any(&self) -> bool {
        self.ce > 0 || self.ue > 0
    }
}

impl std::ops::AddAssign for Marks {
    fn add_assign(&mut self, other: Marks) {
        self.ce += other.ce;
        self.ue += other.ue;
    }
}

impl Records {
    /// Prepares the states of the recorded ports, and adds a first row for each of their queues.
    pub(crate) fn begin_states(&mut self, ports: u32, priorities: usize) {
        if self.recording.states.is_empty() {
            return;
        }
        self.partial.states = vec![None; ports as usize * priorities];
        for &port in &self.recording.states {
            for priority in 0..priorities {
                let state = PortState::default();
                let queue = QueueId::new(port, priority as u8, priorities);
                self.partial.states[queue.index()] = Some(state);
                self.states.push(StateRecord { time: Time::ZERO, port, priority: priority as u8, state });
            }
        }
    }

    /// Whether any queue's states are recorded.
    #[inline]
    pub(crate) fn records_states(&self) -> bool {
        !self.partial.states.is_empty()
    }

    /// Adds a row if the state of a queue has changed and is recorded.
    pub(crate) fn state(&mut self, time: Time, queue: QueueId, priorities: usize, state: Option<PortState>) {
        let now = &mut self.partial.states[queue.index()];
        if let (Some(last), Some(state)) = (*now, state)
            && last != state
        {
            *now = Some(state);
            let (port, priority) = (queue.port(priorities), queue.priority(priorities));
            self.states.push(StateRecord { time, port, priority, state });
        }
    }
}
