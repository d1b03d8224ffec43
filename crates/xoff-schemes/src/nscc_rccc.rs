//! NSCC and RCCC together: a packet goes if both the sender's window and the receiver's credit let it go (UE
//! Specification 1.0, section 3.6.12).
//!
//! A packet that was trimmed at the last hop does not shrink the window: there the receiver's credit is in charge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::Violation;

use crate::detector::red::Red;
use crate::none::LineRate;
use crate::nscc::Nscc;
use crate::rccc::Rccc;
use crate::signals::Signals;
use crate::traits::{FlowEnv, NoOp, PortEnv, Scheme};
use crate::uet::Uet;

/// The parameters of both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NsccRccc {
    /// The sender's window, as in scheme `nscc`.
    pub nscc: Nscc,
    /// The receiver's credit, as in scheme `rccc`.
    pub rccc: Rccc,
}

impl Scheme for NsccRccc {
    const NAME: &'static str = "nscc_rccc";
    const TITLE: &'static str = "NSCC and RCCC: Ultra Ethernet's window and credits together";
    const SOURCE: &'static str = "Ultra Ethernet Specification 1.0, section 3.6.12 (2025)";
    type Reaction = LineRate;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        self.nscc.check().map_err(|violation| violation.inside("nscc"))?;
        self.rccc.check().map_err(|violation| violation.inside("rccc"))
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
        Some(Uet { nscc: Some(self.nscc.clone()), rccc: Some(self.rccc.clone()) })
    }
}
