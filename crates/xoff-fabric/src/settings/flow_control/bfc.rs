//! Backpressure Flow Control (BFC).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{number_within, time_within};
use xoff_engine::{Time, Violation};

use super::FlowControlKind;
use crate::settings::MAX_TIME;

/// Backpressure Flow Control (BFC): back-pressure by flow, from switch to switch (Goyal, Shah, Sharma, Alizadeh, Anderson:
/// Backpressure Flow Control, arXiv 1909.09923v1, 2019). Switches and hosts hold single flows back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bfc {
    /// Queues of a port and priority of a switch: flows have one each while there are free ones.
    pub queues: u32,
    /// Virtual flows: connections share one if their numbers are equal modulo this.
    pub virtual_flows: u32,
    /// Time between two lists of paused flows; without it, half of the round-trip time of the slowest link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Time>,
    /// Flows of a queue that may go on in a period.
    pub resumes: u32,
}

impl Default for Bfc {
    fn default() -> Self {
        Bfc { queues: 32, virtual_flows: 16_384, period: None, resumes: 1 }
    }
}

impl FlowControlKind for Bfc {
    const NAME: &'static str = "bfc";

    fn validate(&self) -> Vec<Violation> {
        let queues = number_within("queues", self.queues.into(), 1, 1_024);
        let flows = number_within("virtual_flows", self.virtual_flows.into(), 1, 1 << 30);
        let period = self.period.and_then(|period| time_within("period", period, Time::from_ns(1), MAX_TIME));
        let resumes = number_within("resumes", self.resumes.into(), 1, 1_024);
        [queues, flows, period, resumes].into_iter().flatten().collect()
    }
}
