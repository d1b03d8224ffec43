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
    /// Credits of each ingress port that its priorities share, beside the `credits` that are reserved for each of them (Omni-Path's dedicated and
    /// shared credits): a priority that uses more than its reserved credits takes them from here.
    #[serde(skip_serializing_if = "is_zero")]
    pub shared_credits: u32,
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
            shared_credits: 0,
            undersized: false,
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl FlowControlKind for LinkCredits {
    const NAME: &'static str = "credit";
    const HAS_CREDITS: bool = true;

    fn shared_credits(&self) -> u64 {
        self.shared_credits.into()
    }

    fn validate(&self) -> Vec<Violation> {
        let credits = self.credits.and_then(|n| number_within("credits", n.into(), 1, MAX_CREDITS));
        let whole = self.unit == CreditUnit::Packet && self.granularity == CreditGranularity::Flit;
        let granularity = whole.then(|| {
            let found = "is \"flit\", and a credit stands for a whole packet (`unit = \"packet\"`)";
            Violation::new("granularity", found, "\"packet\", or `unit = \"flit\"`")
        });
        let shared = number_within("shared_credits", self.shared_credits.into(), 0, MAX_CREDITS);
        let shared_flits =
            (self.shared_credits > 0 && self.granularity == CreditGranularity::Flit).then(|| {
                let found = format!("is {}, and `granularity` is \"flit\"", self.shared_credits);
                Violation::new("shared_credits", found, "`granularity = \"packet\"`, or 0")
            });
        let flit = size_within("flit", self.flit, 1, MAX_FRAME);
        credits.into_iter().chain(shared).chain(shared_flits).chain(granularity).chain(flit).collect()
    }
}
