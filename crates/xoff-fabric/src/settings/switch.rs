//! Settings of switches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{number_within, size_within};
use xoff_engine::{Bytes, Violation};

use super::{FlowControl, MAX_FRAME};

/// How an egress port chooses among its data priorities. Control packets always go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// A packet of each backlogged priority in turn.
    #[default]
    RoundRobin,
    /// The highest backlogged priority number first.
    Strict,
    /// By `weights`, with the lanes in `high_priority` before the others, as in InfiniBand's arbitration among virtual
    /// lanes.
    Weighted,
}

/// Where packets wait in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queueing {
    /// At the output, first in, first out, in a memory that all ports share.
    Output,
    /// At the input, in a virtual output queue for each output; an output serves its inputs round robin.
    VirtualOutput,
}

/// When a switch sends a packet on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Forwarding {
    /// When its last bit has arrived.
    StoreAndForward,
    /// When its header has arrived, if the output is free and has credits for the whole packet.
    CutThrough,
}

/// Switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Switch {
    /// Data priorities in use, numbered from 0; at most 8.
    pub priorities: u8,
    /// How an egress port chooses among its data priorities.
    pub scheduling: Scheduling,
    /// Weighted scheduling: what each priority may send in its turn, in units of 64 B, from 1 to 255. Priorities that are not
    /// listed have 1.
    pub weights: Vec<u8>,
    /// Weighted scheduling: priorities that go before the others, up to `high_limit`.
    pub high_priority: Vec<u8>,
    /// Weighted scheduling: after more than this many times 4096 B of high priority, a packet of low priority goes, if one
    /// waits; 255 for never (InfiniBand's limit of high priority).
    pub high_limit: u8,
    /// Packet memory of each switch; without it, only flow control's thresholds bound the queues. Excludes credits,
    /// whose buffers belong to links.
    pub buffer: Option<Bytes>,
    /// Where packets wait. Without it, in virtual output queues if flow control is by credits (`cbfc`, `credit`), otherwise
    /// at the output.
    pub queueing: Option<Queueing>,
    /// When a packet is sent on. Without it, by cut-through if flow control is by credits, otherwise after all of it has
    /// arrived (store-and-forward).
    pub forwarding: Option<Forwarding>,
    /// Cut-through: bytes of a packet that must have arrived before it is sent on.
    pub cut_through_after: Bytes,
}

impl Default for Switch {
    fn default() -> Self {
        Switch {
            priorities: 1,
            scheduling: Scheduling::RoundRobin,
            weights: Vec::new(),
            high_priority: Vec::new(),
            high_limit: 255,
            buffer: None,
            queueing: None,
            forwarding: None,
            cut_through_after: Bytes(64),
        }
    }
}

impl Switch {
    /// Where packets wait under `flow_control`.
    pub fn queueing(&self, flow_control: &FlowControl) -> Queueing {
        let usual = if flow_control.has_credits() { Queueing::VirtualOutput } else { Queueing::Output };
        self.queueing.unwrap_or(usual)
    }

    /// When a packet is sent on under `flow_control`.
    pub fn forwarding(&self, flow_control: &FlowControl) -> Forwarding {
        let usual =
            if flow_control.has_credits() { Forwarding::CutThrough } else { Forwarding::StoreAndForward };
        self.forwarding.unwrap_or(usual)
    }

    /// What is wrong with the settings by themselves. [`super::Settings::validate`] compares them with other tables.
    pub fn validate(&self) -> Vec<Violation> {
        let mut all: Vec<Violation> =
            number_within("priorities", self.priorities.into(), 1, 8).into_iter().collect();
        if let Some(zero) = self.weights.iter().position(|&weight| weight == 0) {
            let found = format!("has a 0, for priority {zero}");
            all.push(Violation::new("weights", found, "numbers from 1 to 255"));
        }
        if self.weights.len() > self.priorities.into() {
            let found = format!("has {} numbers for {} priorities", self.weights.len(), self.priorities);
            all.push(Violation::new("weights", found, format!("at most {}", self.priorities)));
        }
        if let Some(lane) = self.high_priority.iter().find(|&&lane| lane >= self.priorities) {
            let found = format!("names priority {lane}, and `priorities` is {}", self.priorities);
            all.push(Violation::new("high_priority", found, format!("numbers below {}", self.priorities)));
        }
        all.extend(size_within("cut_through_after", self.cut_through_after, 1, MAX_FRAME));
        all
    }
}
