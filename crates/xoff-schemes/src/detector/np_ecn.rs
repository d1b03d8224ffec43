//! NP-ECN, non-PAUSE ECN: packets that a PAUSE has delayed are not marked (PCN: Cheng et al., Re-architecting
//! Congestion Management in Lossless Ethernet, NSDI 2020, after its first author's simulator).
//!
//! When flow control resumes the queue, a counter is set to the number of packets in it. Each of these leaves unmarked
//! and lowers the counter by one; a packet that leaves while the counter is zero may be marked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Violation};

use super::red::{Red, RedMarker};
use crate::signals::Mark;
use crate::traits::{Detector, DetectorParams, PacketView, PortEnv, QueueView};

/// When a packet that no PAUSE has held up is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// If another packet stays behind in the queue (PCN).
    #[default]
    Backlog,
    /// If RED marks the packet (the baseline of TCD's released simulator).
    Red,
}

/// Parameters of NP-ECN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NpEcn {
    /// When a packet that no PAUSE has held up is marked. Default `backlog`.
    pub rule: Rule,
    /// RED's parameters, with `rule = "red"` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub red: Option<Red>,
}

/// NP-ECN at an egress queue.
#[derive(Clone, Debug)]
pub struct NpEcnMarker {
    /// `None`: a backlog is enough.
    red: Option<RedMarker>,
    /// Packets still in the queue that were there when it was resumed.
    held_up: u64,
}

impl Detector for NpEcnMarker {
    #[inline]
    fn on_dequeue(&mut self, queue: &QueueView, packet: &PacketView) -> Mark {
        // RED draws for every packet, so that its random numbers do not depend on pauses.
        let mark = match &mut self.red {
            None if queue.bytes > 0 => Mark::Ce,
            None => Mark::None,
            Some(red) => red.on_dequeue(queue, packet),
        };
        if self.held_up > 0 {
            self.held_up -= 1;
            return Mark::None;
        }
        mark
    }
    fn is_by_chance(&self, queue: &QueueView) -> bool {
        self.red.as_ref().is_some_and(|red| red.is_by_chance(queue))
    }
    fn unmarked_bytes(&self) -> Option<u64> {
        self.red.as_ref().map_or(Some(0), RedMarker::unmarked_bytes)
    }
    fn on_resume(&mut self, _queue: &QueueView, packets: &dyn Fn() -> u64) {
        self.held_up = packets();
    }
}

impl DetectorParams for NpEcn {
    const NAME: &'static str = "np_ecn";
    const TITLE: &'static str = "NP-ECN: marks no packet that a PAUSE has held up";
    const SOURCE: &'static str =
        "Cheng et al., Re-architecting Congestion Management in Lossless Ethernet, NSDI 2020";
    const NEEDS_PAUSES: bool = true;
    type Detector = NpEcnMarker;

    fn validate(&self) -> Result<(), Violation> {
        match (self.rule, &self.red) {
            (Rule::Backlog, Some(_)) => {
                let found = "has no meaning with `rule = \"backlog\"`";
                Err(Violation::new("red", found, "`rule = \"red\"`"))
            }
            (_, Some(red)) => red.validate().map_err(|v| v.inside("red")),
            (_, None) => Ok(()),
        }
    }

    fn accepts(&self, rate: Rate) -> Result<(), Violation> {
        self.red.as_ref().map_or(Ok(()), |red| red.accepts(rate).map_err(|v| v.inside("red")))
    }

    fn detector(&self, env: &PortEnv) -> NpEcnMarker {
        let red = match self.rule {
            Rule::Backlog => None,
            Rule::Red => Some(self.red.clone().unwrap_or_default().detector(env)),
        };
        NpEcnMarker { red, held_up: 0 }
    }
}
