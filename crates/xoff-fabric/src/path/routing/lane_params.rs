//! The parameters of routing on virtual lanes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::number_within;
use xoff_engine::{Bytes, Time, Violation};

use super::k_shortest::MAX_PATHS;
use super::{MAX_LANES, PathChoice, RoutingError};

/// Which paths packets take between groups (Kim et al., ISCA 2008, Section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DragonflyVariant {
    /// Minimal: by one link between groups.
    #[default]
    Min,
    /// By a random intermediate group, drawn for each packet.
    Valiant,
    /// For each packet, minimal or by an intermediate group, by the queues of the source's router.
    UgalL,
    /// For each packet, minimal or by an intermediate group, by the queues at the links between groups, which packets
    /// carry along inside of their group.
    UgalG,
}

impl DragonflyVariant {
    /// Whether packets may go by an intermediate group.
    pub fn detours(self) -> bool {
        self != DragonflyVariant::Min
    }
    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            DragonflyVariant::Min => "min",
            DragonflyVariant::Valiant => "valiant",
            DragonflyVariant::UgalL => "ugal_l",
            DragonflyVariant::UgalG => "ugal_g",
        }
    }
    /// Who chooses among paths, and when.
    pub fn choice(self) -> PathChoice {
        match self {
            DragonflyVariant::Min => PathChoice::PerConnection,
            DragonflyVariant::Valiant => PathChoice::PerPacket,
            DragonflyVariant::UgalL | DragonflyVariant::UgalG => PathChoice::Adaptive,
        }
    }
}

/// Routing in dragonflies, with a virtual lane for each group that a path passes (Kim et al., ISCA 2008, Section 4.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dragonfly {
    /// Which paths packets take: `min` takes 2 virtual lanes for each priority of traffic, the others 3.
    pub variant: DragonflyVariant,
    /// `ugal_l` and `ugal_g`: bytes by which queue times links of the minimal path may exceed those of the other path before
    /// a packet takes the other path.
    /// Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<Bytes>,
    /// `ugal_g`: what a router knows of the queue of another one counts as empty after this time. Default 20 us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forget_after: Option<Time>,
}

/// The default of [`Dragonfly::forget_after`]: some round trips inside of a group.
const FORGET_AFTER: Time = Time::from_us(20);

impl Dragonfly {
    /// Refuses keys that belong to other variants.
    pub(super) fn check(&self) -> Result<(), RoutingError> {
        let (key, why) = match self.variant {
            DragonflyVariant::Min | DragonflyVariant::Valiant if self.bias.is_some() => {
                ("bias", "unless `variant` is `ugal_l` or `ugal_g`: others compare no queues")
            }
            variant if variant != DragonflyVariant::UgalG && self.forget_after.is_some() => {
                ("forget_after", "unless `variant` is `ugal_g`: others know their own queues alone")
            }
            _ => return Ok(()),
        };
        Err(RoutingError::Unneeded { key, why })
    }

    pub(super) fn resolve(&mut self) {
        if matches!(self.variant, DragonflyVariant::UgalL | DragonflyVariant::UgalG) {
            self.bias = Some(self.bias());
        }
        if self.variant == DragonflyVariant::UgalG {
            self.forget_after = Some(self.forget_after());
        }
    }

    /// The bias in use.
    pub(crate) fn bias(&self) -> Bytes {
        self.bias.unwrap_or(Bytes(0))
    }

    /// The time in use after which a queue is forgotten.
    pub(crate) fn forget_after(&self) -> Time {
        self.forget_after.unwrap_or(FORGET_AFTER)
    }

    /// The number of virtual lanes for each priority of traffic.
    pub fn lanes(&self) -> u8 {
        if self.variant.detours() { 3 } else { 2 }
    }
}

/// Dimension order on a torus or a HyperX: to the receiver's place in the first dimension, then in the second, and so on. A torus
/// takes 2 virtual lanes for each priority of traffic, so that its rings never deadlock (Dally and Seitz 1987). No parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DimensionOrder {}

/// Each flow takes one of the k shortest paths between its switches, by a hash (Jellyfish: Singla et al., NSDI 2012, Section 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KShortest {
    /// Paths between two switches, at most; from 1 to 64.
    pub k: u32,
    /// Virtual lanes for each priority of traffic, one for each link between switches, so that paths never deadlock; paths
    /// with more links are left out. From 1 to 8; 1 takes paths of any length, which may deadlock.
    pub lanes: u8,
}

impl Default for KShortest {
    fn default() -> Self {
        KShortest { k: 8, lanes: 4 }
    }
}

impl KShortest {
    pub(super) fn check(&self) -> Option<Violation> {
        number_within("k", self.k.into(), 1, MAX_PATHS.into())
            .or_else(|| number_within("lanes", self.lanes.into(), 1, MAX_LANES.into()))
    }
}
