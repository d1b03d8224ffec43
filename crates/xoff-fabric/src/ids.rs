//! Numbers of nodes, ports, queues, messages and connections, with the arithmetic that leads from one to another.

/// A node's index in [`crate::path::topology::Topology::nodes`].
pub type NodeId = u32;

/// A port's number: link `l` has port `2 l` at its end `a` and `2 l + 1` at its end `b`, so that the two ports of a
/// link differ in the last bit. A port is both the egress towards its peer and the ingress from it.
pub type PortId = u32;

/// A message's number: its index in [`crate::network::Network::flows`].
pub type FlowId = u32;

/// A connection's number: its index in [`crate::network::Paths::routes`].
pub type ConnectionId = u32;

/// The port at the other end of the link.
#[inline]
pub const fn peer(port: PortId) -> PortId {
    port ^ 1
}

/// A port's queue of one data priority. Ingress and egress are counted alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u32);

impl QueueId {
    /// The queue of `priority` at `port`, in a network with this number of `priorities`.
    #[inline]
    pub const fn new(port: PortId, priority: u8, priorities: usize) -> QueueId {
        QueueId(port * priorities as u32 + priority as u32)
    }

    /// The queue's place in lists by queue.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The queue's port.
    #[inline]
    pub const fn port(self, priorities: usize) -> PortId {
        self.0 / priorities as u32
    }

    /// The queue's data priority.
    #[inline]
    pub const fn priority(self, priorities: usize) -> u8 {
        (self.0 % priorities as u32) as u8
    }

    /// The queue of the same priority at the other end of the link.
    #[inline]
    pub const fn other_end(self, priorities: usize) -> QueueId {
        QueueId::new(peer(self.port(priorities)), self.priority(priorities), priorities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_knows_its_port_priority_and_other_end() {
        // Three priorities: port 5 has the queues 15, 16 and 17; its peer is port 4 with 12, 13 and 14.
        let queue = QueueId::new(5, 1, 3);
        assert_eq!((queue.0, queue.port(3), queue.priority(3)), (16, 5, 1));
        assert_eq!(queue.other_end(3), QueueId(13));
    }
}
