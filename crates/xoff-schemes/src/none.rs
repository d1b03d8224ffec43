//! No congestion control: every flow sends at line rate and flow control alone keeps the network lossless.
//!
//! # Reordering and idle
//!
//! There is no state: neither reordering nor idleness changes anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::Rate;

use crate::detector::red::Red;
use crate::signals::Signals;
use crate::traits::{FlowEnv, NoOp, PortEnv, ReactionPoint, Scheme};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoControl {}

/// Sends at line rate.
#[derive(Clone, Debug)]
pub struct LineRate(Rate);

impl LineRate {
    /// A flow at the line rate of its NIC.
    pub(crate) fn new(env: &FlowEnv) -> LineRate {
        LineRate(env.line_rate)
    }
}

impl ReactionPoint for LineRate {
    fn rate(&self) -> Rate {
        self.0
    }
}

impl Scheme for NoControl {
    const NAME: &'static str = "none";
    const TITLE: &'static str = "no congestion control: flow control alone";
    const SOURCE: &'static str = "IEEE 802.1Qbb";
    type Reaction = LineRate;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn signals(&self) -> Signals {
        Signals::default()
    }
    fn reaction(&self, env: &FlowEnv) -> LineRate {
        LineRate::new(env)
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
