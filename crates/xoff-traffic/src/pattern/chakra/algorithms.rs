//! The algorithm of each kind of collective in a trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::collective::{CollectiveAlgorithm, CollectiveKind};

/// Algorithms of collectives; `None` for the first one that docs/collectives.md lists for the operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChakraAlgorithms {
    /// All-reduce.
    pub all_reduce: Option<CollectiveAlgorithm>,
    /// All-gather.
    pub all_gather: Option<CollectiveAlgorithm>,
    /// Reduce-scatter.
    pub reduce_scatter: Option<CollectiveAlgorithm>,
    /// All-to-all.
    pub all_to_all: Option<CollectiveAlgorithm>,
    /// Broadcast.
    pub broadcast: Option<CollectiveAlgorithm>,
    /// Reduce.
    pub reduce: Option<CollectiveAlgorithm>,
    /// Scatter.
    pub scatter: Option<CollectiveAlgorithm>,
    /// Gather.
    pub gather: Option<CollectiveAlgorithm>,
}

impl ChakraAlgorithms {
    /// The algorithm of an operation.
    pub(super) fn of(&self, kind: CollectiveKind) -> Option<CollectiveAlgorithm> {
        match kind {
            CollectiveKind::AllReduce => self.all_reduce,
            CollectiveKind::AllGather => self.all_gather,
            CollectiveKind::ReduceScatter => self.reduce_scatter,
            CollectiveKind::AllToAll => self.all_to_all,
            CollectiveKind::Broadcast => self.broadcast,
            CollectiveKind::Reduce => self.reduce,
            CollectiveKind::Scatter => self.scatter,
            CollectiveKind::Gather => self.gather,
            CollectiveKind::AllToAllV | CollectiveKind::Barrier => None,
        }
    }
}
