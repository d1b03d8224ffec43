//! No congestion control: every flow sends at line rate and flow control alone keeps the network lossless.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::Rate;

use crate::seams::{FlowEnv, PortEnv, ReactionPoint, Scheme, Silent};
use crate::signals::Signals;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct None {}

/// Sends at line rate.
#[derive(Clone, Debug)]
pub struct LineRate(Rate);

impl ReactionPoint for LineRate {
    fn rate(&self) -> Rate {
        self.0
    }
}

impl Scheme for None {
    const NAME: &'static str = "none";
    const TITLE: &'static str = "no congestion control: flow control alone";
    const SOURCE: &'static str = "IEEE 802.1Qbb";
    type Reaction = LineRate;
    type Notification = Silent;
    type Congestion = Silent;

    fn signals(&self) -> Signals {
        Signals::default()
    }
    fn reaction(&self, env: &FlowEnv) -> LineRate {
        LineRate(env.line_rate)
    }
    fn notification(&self, _: &FlowEnv) -> Silent {
        Silent
    }
    fn congestion(&self, _: &PortEnv) -> Silent {
        Silent
    }
}
