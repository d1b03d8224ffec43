//! RCCC, Ultra Ethernet's receiver-credit-based congestion control (UE Specification 1.0, section 3.6.14): a receiver
//! paces credits to its senders, so that what they send together fits its link.
//!
//! A sender says in each packet how many bytes it wants ([`Credit::demand`]); its receiver answers with PULLs, one after
//! the other for all its senders in turn ([`Pacer`]). Before the first answer a sender speculates with 1.5
//! bandwidth-delay products. Credit counts in quanta of 256 B; a PULL brings at most 64 of them.
//!
//! On an oversubscribed network the receiver's link is not the bottleneck: [`RateControl`] then slows the pacer by the
//! share of marked and of trimmed packets.
//!
//! Sizes and gains are those of the Ultra Ethernet Consortium's public simulator. The scheme needs
//! `host.transport = "uet"`.

mod credit;
mod pacer;
mod rate_control;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::Violation;

use crate::check;
use crate::detector::red::Red;
use crate::none::LineRate;
use crate::signals::Signals;
use crate::traits::{FlowEnv, NoOp, PortEnv, Scheme};
use crate::uet::Uet;
pub use credit::{Credit, QUANTUM};
pub use pacer::{Pacer, Pull};
pub use rate_control::RateControl;

/// RCCC's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rccc {
    /// Share of the receiver's link that PULLs grant.
    pub pull_rate: f64,
    /// Quanta of 256 B that a PULL brings at most.
    pub pull_quanta: u32,
    /// The ratio of hosts' rates to uplinks of their switch. Above 1, the receiver slows its PULLs by marks and trimmed
    /// packets, down to 0.9 / this.
    pub oversubscription: f64,
}

impl Default for Rccc {
    fn default() -> Self {
        Rccc { pull_rate: 0.99, pull_quanta: 64, oversubscription: 1.0 }
    }
}

impl Rccc {
    /// Refuses values that make no sense.
    pub(crate) fn check(&self) -> Result<(), Violation> {
        check::within("pull_rate", self.pull_rate, 0.01, 1.0)?;
        check::within("oversubscription", self.oversubscription, 1.0, 1e6)?;
        if self.pull_quanta == 0 || self.pull_quanta > 65_536 {
            return Err(Violation::new("pull_quanta", format!("is {}", self.pull_quanta), "1 to 65536"));
        }
        Ok(())
    }
}

impl Scheme for Rccc {
    const NAME: &'static str = "rccc";
    const TITLE: &'static str = "RCCC: Ultra Ethernet's credits from receivers";
    const SOURCE: &'static str = "Ultra Ethernet Specification 1.0, section 3.6.14 (2025)";
    type Reaction = LineRate;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        self.check()
    }
    fn signals(&self) -> Signals {
        Signals { ecn: true, ..Signals::default() }
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
    fn uet(&self) -> Option<Uet> {
        Some(Uet { nscc: None, rccc: Some(self.clone()) })
    }
}
