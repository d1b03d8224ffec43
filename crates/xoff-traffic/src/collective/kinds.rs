//! Which collective operations and algorithms there are, and which go together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A collective operation among n ranks. Its size counts as in nccl-tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// Each rank has the whole size and gets the sum over all ranks.
    AllReduce,
    /// Each rank has an n-th of the size and gets all of it.
    AllGather,
    /// Each rank has the whole size and gets the sum of an n-th.
    ReduceScatter,
    /// The root has the whole size, and each rank gets it.
    Broadcast,
    /// Each rank has the whole size, and the root gets the sum.
    Reduce,
    /// Each rank has the whole size, an n-th of it for each rank.
    AllToAll,
    /// As all-to-all, with a size for each pair of ranks.
    AllToAllV,
    /// The root has the whole size, and each rank gets an n-th of it.
    Scatter,
    /// Each rank has an n-th of the size, and the root gets all.
    Gather,
    /// Nobody continues before all have come; messages of one byte.
    Barrier,
}

/// An algorithm for a collective operation among n ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CollectiveAlgorithm {
    /// Around a ring, or along a chain for broadcast and reduce.
    Ring,
    /// Two complementary binary trees, each for half of the data, up and down.
    DoubleBinaryTree,
    /// A binomial tree.
    Tree,
    /// Recursive halving, and doubling for an all-reduce (Rabenseifner).
    HalvingDoubling,
    /// Recursive doubling.
    RecursiveDoubling,
    /// Bruck's algorithm; for a barrier, dissemination.
    Bruck,
    /// Steps, in each of which a rank sends to one rank and receives from one.
    Pairwise,
    /// All messages at once, to the next rank first.
    Spread,
    /// From each rank straight to each other one.
    Direct,
    /// First within each host, then across hosts among the ranks of equal place, then within each host.
    Hierarchical,
}

use CollectiveAlgorithm as A;
use CollectiveKind as K;

impl CollectiveKind {
    /// Every operation.
    pub const ALL: [CollectiveKind; 10] = [
        K::AllReduce,
        K::AllGather,
        K::ReduceScatter,
        K::Broadcast,
        K::Reduce,
        K::AllToAll,
        K::AllToAllV,
        K::Scatter,
        K::Gather,
        K::Barrier,
    ];

    /// Its algorithms, the default first.
    pub const fn algorithms(self) -> &'static [CollectiveAlgorithm] {
        match self {
            K::AllReduce => &[
                A::Ring,
                A::DoubleBinaryTree,
                A::Tree,
                A::HalvingDoubling,
                A::RecursiveDoubling,
                A::Direct,
                A::Hierarchical,
            ],
            K::AllGather => &[A::Ring, A::RecursiveDoubling, A::Bruck, A::Direct, A::Hierarchical],
            K::ReduceScatter => &[A::Ring, A::HalvingDoubling, A::Direct, A::Hierarchical],
            K::Broadcast | K::Reduce => &[A::Ring, A::Tree, A::Hierarchical],
            K::AllToAll => &[A::Spread, A::Pairwise, A::Bruck, A::Hierarchical],
            K::AllToAllV => &[A::Spread, A::Pairwise],
            K::Scatter | K::Gather => &[A::Direct, A::Tree],
            K::Barrier => &[A::Bruck],
        }
    }

    /// Whether one rank has a part of its own, the root.
    pub const fn has_root(self) -> bool {
        matches!(self, K::Broadcast | K::Reduce | K::Scatter | K::Gather)
    }

    /// Name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            K::AllReduce => "all_reduce",
            K::AllGather => "all_gather",
            K::ReduceScatter => "reduce_scatter",
            K::Broadcast => "broadcast",
            K::Reduce => "reduce",
            K::AllToAll => "all_to_all",
            K::AllToAllV => "all_to_all_v",
            K::Scatter => "scatter",
            K::Gather => "gather",
            K::Barrier => "barrier",
        }
    }
}

impl CollectiveAlgorithm {
    /// Name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            A::Ring => "ring",
            A::DoubleBinaryTree => "double_binary_tree",
            A::Tree => "tree",
            A::HalvingDoubling => "halving_doubling",
            A::RecursiveDoubling => "recursive_doubling",
            A::Bruck => "bruck",
            A::Pairwise => "pairwise",
            A::Spread => "spread",
            A::Direct => "direct",
            A::Hierarchical => "hierarchical",
        }
    }
}
