//! How a flow's identity becomes a choice among equal-cost links.

use rand::Rng;
use xoff_engine::random::mix;
use xoff_engine::{Domain, stream};

use crate::path::topology::NodeId;

/// A hash of flows, and how switches choose by it.
pub(super) trait Choice {
    /// The hash of the flow with this key from one address to another.
    fn flow(&self, from: u32, to: u32, key: u64) -> u64;
    /// The number, below `ways`, that the switch `node` picks for a flow with this hash; `ways` is at least 1.
    fn at(&self, hash: u64, node: NodeId, ways: usize) -> usize;
}

/// A hash of 64 bits, mixed again with each switch's number. If all switches took the same bits of one hash, they would
/// pick alike, and the second tier would use only a part of its links (hash polarization).
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixing {
    salt: u64,
}

impl Mixing {
    pub(super) fn new(seed: u64) -> Mixing {
        Mixing { salt: stream(seed, Domain::Routing, 0).next_u64() }
    }
}

impl Choice for Mixing {
    fn flow(&self, from: u32, to: u32, key: u64) -> u64 {
        mix(mix(self.salt ^ (u64::from(from) << 32 | u64::from(to))) ^ key)
    }
    fn at(&self, hash: u64, node: NodeId, ways: usize) -> usize {
        (mix(hash ^ mix(u64::from(node.0))) % ways as u64) as usize
    }
}
