//! What is recorded of detection: marks, and the states of egress queues that their detectors tell.

use xoff_engine::Time;
use xoff_schemes::{Detector, Mark, PortState};

use crate::packet::PacketId;
use crate::part::Part;
use crate::port::DATA;
use crate::records::Records;
use crate::topology::PortId;

/// A mark that a packet was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkRecord {
    /// When.
    pub time: Time,
    /// Where: the egress port.
    pub port: PortId,
    /// The packet's flow.
    pub flow: u32,
    /// Offset of its first payload byte in the flow.
    pub seq: u64,
    /// The mark.
    pub mark: Mark,
}

/// A queue's state from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRecord {
    /// Since when.
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
    /// Counts one.
    #[inline]
    pub fn count(&mut self, mark: Mark) {
        self.ce += u64::from(mark == Mark::Ce);
        self.ue += u64::from(mark == Mark::Ue);
    }

    /// Whether there are any.
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
    /// Makes room for the states of the ports that are recorded, whose first rows say how they begin.
    pub(crate) fn begin_states(&mut self, ports: u32, priorities: usize) {
        if self.recording.states.is_empty() {
            return;
        }
        self.states_now = vec![None; ports as usize * priorities];
        for &port in &self.recording.states {
            for priority in 0..priorities {
                let state = PortState::default();
                self.states_now[port as usize * priorities + priority] = Some(state);
                self.states.push(StateRecord { time: Time::ZERO, port, priority: priority as u8, state });
            }
        }
    }
}

impl Part {
    /// A packet has been given a mark.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_mark(&mut self, egress: PortId, id: PacketId, mark: Mark) {
        self.records.marks_at[egress as usize].count(mark);
        if self.records.recording.marks {
            let (time, packet) = (self.now, &self.packets[id]);
            let row = MarkRecord { time, port: egress, flow: packet.flow, seq: packet.seq, mark };
            self.records.marks.push(row);
        }
    }

    /// Adds a row where the state of a queue has changed that is recorded.
    pub(crate) fn note_state(&mut self, egress: PortId, class: u8) {
        let queue = self.data_queue(egress, class) as usize;
        let state = self.detectors[queue].state();
        let now = &mut self.records.states_now[queue];
        if let (Some(last), Some(state)) = (*now, state)
            && last != state
        {
            *now = Some(state);
            let row = StateRecord { time: self.now, port: egress, priority: class - DATA, state };
            self.records.states.push(row);
        }
    }
}
