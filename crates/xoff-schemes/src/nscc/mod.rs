//! NSCC, Ultra Ethernet's network-signal-based congestion control at the sender (UE Specification 1.0, section 3.6.13):
//! a window by two signals, ECN marks and queueing delay.
//!
//! Marked or not, above or below the target delay `D`: four cases.
//!
//! | | delay >= D | delay < D |
//! |---|---|---|
//! | not marked | fair increase | proportional increase by `D - delay`, or fast increase while no delay is seen |
//! | marked | multiplicative decrease by the mean delay | nothing |
//!
//! *Quick adapt* sets the window to what came back in a round trip if that is little and packets were trimmed or late.
//! Constants scale with the network's bandwidth-delay product, from a reference of 100 Gb/s x 12 us.
//!
//! The constants and the order of the steps are those of the Ultra Ethernet Consortium's public simulator, as far as the
//! specification leaves them to the implementer. [`Trigger`] has the one reading that differs from it.
//!
//! The scheme needs `host.transport = "uet"`: an ACK of that transport tells how many bytes have newly arrived, and
//! NACKs tell of trimmed packets. A window counts bytes on the wire.

mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Time, Violation};

use crate::check;
use crate::detector::red::Red;
use crate::none::LineRate;
use crate::signals::Signals;
use crate::traits::{FlowEnv, NoOp, PortEnv, Scheme};
use crate::uet::Uet;
pub use window::{NsccEnv, Sample, Window};

/// When a NACK's trigger of quick adapt ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// With the period in which the NACK came.
    #[default]
    Period,
    /// With the next quick adapt: a NACK may then act long after the loss. So does the Ultra Ethernet Consortium's simulator.
    Kept,
}

/// NSCC's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nscc {
    /// Target queueing delay D; without it, three quarters of the network's base RTT if switches trim, otherwise the base
    /// RTT.
    pub target_delay: Option<Time>,
    /// Window at the start, in full packets; without it, the maximum window, 1.5 bandwidth-delay products.
    pub initial_window: Option<u32>,
    /// Fast increase, fair increase and so on are scaled to the network; this many packets for each acknowledged window are
    /// the fair increase.
    pub fair_increase: f64,
    /// Gain of the proportional increase.
    pub alpha: f64,
    /// Packets that the window grows by in each round trip, whatever the signals.
    pub eta: f64,
    /// Share of an acknowledged byte by which fast increase lets the window grow.
    pub fast_increase: f64,
    /// Gain of the multiplicative decrease.
    pub gamma: f64,
    /// Maximum share of the window that one decrease takes away.
    pub max_cut: f64,
    /// Gain of the mean delay.
    pub delay_gain: f64,
    /// Quick adapt acts if less than the maximum window / 2^this came back in a round trip.
    pub qa_gate: u8,
    /// When a NACK's trigger of quick adapt ends.
    pub qa_trigger: Trigger,
}

impl Default for Nscc {
    fn default() -> Self {
        Nscc {
            target_delay: None,
            initial_window: None,
            fair_increase: 5.0,
            alpha: 4.0,
            eta: 0.15,
            fast_increase: 0.25,
            gamma: 0.8,
            max_cut: 0.5,
            delay_gain: 0.0125,
            qa_gate: 3,
            qa_trigger: Trigger::Period,
        }
    }
}

impl Nscc {
    /// Refuses values that make no sense; keys begin with `prefix`.
    pub(crate) fn check(&self) -> Result<(), Violation> {
        if self.target_delay == Some(Time::ZERO) {
            return Err(Violation::new("target_delay", "is 0", "a time above 0, or no `target_delay`"));
        }
        if self.initial_window == Some(0) {
            return Err(Violation::new("initial_window", "is 0", "1 packet or more, or no `initial_window`"));
        }
        check::within("fair_increase", self.fair_increase, 0.0, 1e6)?;
        check::within("alpha", self.alpha, 0.0, 1e6)?;
        check::within("eta", self.eta, 0.0, 1e6)?;
        check::within("fast_increase", self.fast_increase, 0.0, 1e6)?;
        check::within("gamma", self.gamma, 0.0, 1.0)?;
        check::within("max_cut", self.max_cut, 0.0, 1.0)?;
        check::within("delay_gain", self.delay_gain, 0.0, 1.0)?;
        if self.qa_gate > 31 {
            return Err(Violation::new("qa_gate", format!("is {}", self.qa_gate), "0 to 31"));
        }
        Ok(())
    }
}

impl Scheme for Nscc {
    const NAME: &'static str = "nscc";
    const TITLE: &'static str = "NSCC: Ultra Ethernet's window from marks and delay";
    const SOURCE: &'static str = "Ultra Ethernet Specification 1.0, section 3.6.13 (2025)";
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
        Some(Uet { nscc: Some(self.clone()), rccc: None })
    }
}
