//! The boundary of a partition of the network, and the packets that have left the partition.

use std::sync::Arc;

use super::Transit;
use crate::ids::NodeId;

/// Number of a partition.
pub(crate) type PartitionId = u16;

/// A partition's view of the other partitions.
pub(crate) struct Boundary {
    /// This partition.
    pub number: PartitionId,
    /// By node: its partition.
    pub partition_of: Arc<[PartitionId]>,
    /// By partition: packets that have left for it.
    pub outboxes: Vec<Transit>,
}

impl Boundary {
    /// Whether a node is in this partition.
    #[inline]
    pub fn owns(&self, node: NodeId) -> bool {
        self.partition_of[node.index()] == self.number
    }

    /// The packets that have left for the partition of a node.
    pub fn outbox(&mut self, node: NodeId) -> &mut Transit {
        &mut self.outboxes[usize::from(self.partition_of[node.index()])]
    }

    /// Number of packets that have left.
    pub fn departed(&self) -> usize {
        self.outboxes.iter().map(Transit::len).sum()
    }
}
