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

/// When the credits of a packet change hands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CreditGranularity {
    /// All at once: they are taken when the packet begins to leave, and come back when its last bit has left the next buffer.
    #[default]
    Packet,
    /// Flit by flit: a credit is taken when its flit begins to leave, and comes back when the flit has left the next buffer.
    Flit,
}

/// Link credits of HPC fabrics: the sender has as many credits as its neighbour's input buffer has places, spends
/// credits with each packet, and gets them back when the packet has left that buffer (PFT, section III.A).
///
/// Credits travel back beside the data, as symbols that take no room on the wire, and arrive a flit's time and the
/// propagation delay after the packet or its flit has left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkCredits {
    /// What a credit stands for.
    pub unit: CreditUnit,
    /// When a packet's credits are taken and given back: all at once (`packet`), or one by one as its flits leave (`flit`), so that
    /// a throttle sees every number in between. PFT takes a credit "each time the transmitter sends a packet" and compares the
    /// used ones with thresholds in every cycle (sections III.A and III.B). Either way a packet begins only when there are
    /// credits for all of it: virtual cut-through, not wormhole.
    pub granularity: CreditGranularity,
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
        LinkCredits {
            unit: CreditUnit::Flit,
            granularity: CreditGranularity::Packet,
            flit: Bytes(16),
            credits: None,
            undersized: false,
        }
    }
}

impl FlowControlKind for LinkCredits {
    const NAME: &'static str = "credit";
    const HAS_CREDITS: bool = true;

    fn validate(&self) -> Vec<Violation> {
        let credits = self.credits.and_then(|n| number_within("credits", n.into(), 1, MAX_CREDITS));
        let whole = self.unit == CreditUnit::Packet && self.granularity == CreditGranularity::Flit;
        let granularity = whole.then(|| {
            let found = "is \"flit\", and a credit stands for a whole packet (`unit = \"packet\"`)";
            Violation::new("granularity", found, "\"packet\", or `unit = \"flit\"`")
        });
        let flit = size_within("flit", self.flit, 1, MAX_FRAME);
        credits.into_iter().chain(granularity).chain(flit).collect()
    }
}
