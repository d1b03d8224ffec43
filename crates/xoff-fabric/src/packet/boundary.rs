//! The boundary of a partition of the network, and the packets that have left the partition.

use std::sync::Arc;

use super::Transit;
use crate::ids::NodeId;
use crate::link::port::AWAY;

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
    /// Its messages, if partitions have all nodes and divide the messages.
    pub share: Option<Share>,
}

/// The messages and steps of a partition that has all nodes beside others that have them too.
#[derive(Clone)]
pub(crate) struct Share {
    /// By message, then step of the schedule: the number of its partition.
    pub of: Arc<[PartitionId]>,
    /// This partition.
    pub number: PartitionId,
}

impl Share {
    /// Whether a message or step is in the partition; steps have numbers above all messages.
    #[inline]
    pub fn has(&self, item: usize) -> bool {
        self.of[item] == self.number
    }
}

impl Boundary {
    /// Whether a node is in this partition.
    #[inline]
    pub fn owns(&self, node: NodeId) -> bool {
        self.partition_of[node.index()] == self.number
    }

    /// Whether a message or step of a node is in this partition; steps have numbers above all messages.
    #[inline]
    pub fn owns_item(&self, item: usize, node: NodeId) -> bool {
        self.share.as_ref().map_or_else(|| self.owns(node), |share| share.has(item))
    }

    /// The packets that have left for the partition that [`Port::arrivals`](crate::link::port::Port::arrivals) names.
    #[inline]
    pub fn outbox(&mut self, arrivals: u32) -> &mut Transit {
        &mut self.outboxes[(arrivals - AWAY) as usize]
    }

    /// Number of packets that have left.
    pub fn departed(&self) -> usize {
        self.outboxes.iter().map(Transit::len).sum()
    }
}
