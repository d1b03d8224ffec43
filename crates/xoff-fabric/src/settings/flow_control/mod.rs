//! Flow control between neighbours: PAUSE frames, or one of two kinds of credits.

mod cbfc;
mod link_credit;
mod pfc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Time, Violation};

pub use cbfc::{Cbfc, CounterWidth};
pub use link_credit::{CreditUnit, LinkCredits};
pub use pfc::Pfc;

/// Flow control between neighbours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum FlowControl {
    /// None: queues grow up to `switch.buffer`.
    None,
    /// Priority-based Flow Control.
    Pfc(Pfc),
    /// InfiniBand's credit-based flow control.
    Cbfc(Cbfc),
    /// Link credits of HPC fabrics.
    Credit(LinkCredits),
}

impl FlowControl {
    /// Its name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            FlowControl::None => "none",
            FlowControl::Pfc(_) => "pfc",
            FlowControl::Cbfc(_) => "cbfc",
            FlowControl::Credit(_) => "credit",
        }
    }

    /// Time between two updates of credits; `None` if flow control sends no updates.
    pub fn update_period(&self) -> Option<Time> {
        match self {
            FlowControl::Cbfc(cbfc) => Some(cbfc.update_period),
            _ => None,
        }
    }

    /// Whether the sender needs a credit for each packet.
    pub fn has_credits(&self) -> bool {
        matches!(self, FlowControl::Cbfc(_) | FlowControl::Credit(_))
    }

    /// Whether a pause ends by itself.
    pub fn expires(&self) -> bool {
        matches!(self, FlowControl::Pfc(Pfc { expires: true, .. }))
    }

    /// Bytes between the thresholds that stop the sender and let it go on, with frames of at most `mtu` bytes; `None`
    /// without PFC.
    pub fn hysteresis(&self, mtu: u64) -> Option<Bytes> {
        match self {
            FlowControl::None | FlowControl::Cbfc(_) | FlowControl::Credit(_) => None,
            FlowControl::Pfc(Pfc { xoff: Some(xoff), xon, .. }) => {
                let xon = xon.map_or(xoff.0.saturating_sub(2 * mtu), |xon| xon.0);
                Some(Bytes(xoff.0.saturating_sub(xon)))
            }
            FlowControl::Pfc(pfc) => Some(pfc.resume_offset),
        }
    }
}

impl FlowControl {
    /// What is wrong with the settings of the chosen kind by themselves.
    pub fn validate(&self) -> Vec<Violation> {
        match self {
            FlowControl::None => Vec::new(),
            FlowControl::Pfc(pfc) => pfc.validate(),
            FlowControl::Cbfc(cbfc) => cbfc.validate(),
            FlowControl::Credit(credits) => credits.validate(),
        }
    }
}

impl Default for FlowControl {
    fn default() -> Self {
        FlowControl::Pfc(Pfc { xoff: Some(Bytes(500_000)), ..Pfc::default() })
    }
}
