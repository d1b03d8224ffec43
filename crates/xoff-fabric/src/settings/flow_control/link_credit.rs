//! Link credits of HPC fabrics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{number_within, size_within};
use xoff_engine::{Bytes, Violation};

use super::FlowControlKind;
use crate::settings::{MAX_CREDITS, MAX_FRAME};

/// What a link credit stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CreditUnit {
    /// A flit of a packet.
    #[default]
    Flit,
    /// A whole packet, of whatever size.
    Packet,
}

/// Link credits of HPC fabrics: the sender has as many credits as its neighbour's input buffer has places, spends
/// credits with each packet, and gets them back when the packet has left that buffer (PFT, section III.A).
///
/// Credits travel back beside the data, as symbols that take no room on the wire, and arrive a flit's time and the
/// propagation delay after the packet has left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkCredits {
    /// What a credit stands for.
    pub unit: CreditUnit,
    /// Size of a flit. A link of 100 Gbps carries 16 B in a cycle of 700 MHz.
    pub flit: Bytes,
    /// Credits of each ingress port and priority, 4096 flits of 16 B being 64 KiB; without it, as many as keep the link
    /// busy during a round trip, see `undersized`.
    pub credits: Option<u32>,
    /// Allow so few credits that a link stalls although nothing is in its way.
    pub undersized: bool,
}

impl Default for LinkCredits {
    fn default() -> Self {
        LinkCredits { unit: CreditUnit::Flit, flit: Bytes(16), credits: None, undersized: false }
    }
}

impl FlowControlKind for LinkCredits {
    const NAME: &'static str = "credit";
    const HAS_CREDITS: bool = true;

    fn validate(&self) -> Vec<Violation> {
        let credits = self.credits.and_then(|n| number_within("credits", n.into(), 1, MAX_CREDITS));
        credits.into_iter().chain(size_within("flit", self.flit, 1, MAX_FRAME)).collect()
    }
}
