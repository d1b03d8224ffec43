//! Numbers of nodes, ports, queues, messages and connections, with the arithmetic that leads from one to another.

use bytemuck::Zeroable;

/// Defines a number that is an index of lists, and no other type's number.
macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Zeroable)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The number at this place in lists.
            #[inline]
            pub const fn at(index: usize) -> $name {
                $name(index as u32)
            }

            /// The place in lists by this number.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The numbers of a list with `count` entries, in order.
            #[inline]
            pub fn all(count: usize) -> impl DoubleEndedIterator<Item = $name> + ExactSizeIterator + Clone {
                (0..count as u32).map($name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index_type! {
    /// A node's index in [`crate::path::topology::Topology::nodes`].
    NodeId
}

impl From<u32> for NodeId {
    fn from(number: u32) -> NodeId {
        NodeId(number)
    }
}

impl From<NodeId> for u32 {
    fn from(node: NodeId) -> u32 {
        node.0
    }
}

/// The node that is `count` places behind in the list.
impl std::ops::Add<u32> for NodeId {
    type Output = NodeId;
    #[inline]
    fn add(self, count: u32) -> NodeId {
        NodeId(self.0 + count)
    }
}

index_type! {
    /// A port's number: link `l` has port `2 l` at its end `a` and `2 l + 1` at its end `b`, so that the two ports of a
    /// link differ in the last bit. A port is both the egress towards its peer and the ingress from it.
    PortId
}

impl PortId {
    /// The number of ports that this number of `links` has.
    #[inline]
    pub const fn count(links: usize) -> u32 {
        2 * links as u32
    }

    /// The ports at the ends `a` and `b` of a link, by the link's index in [`crate::path::topology::Topology::links`].
    #[inline]
    pub const fn of_link(link: usize) -> [PortId; 2] {
        let a = PortId(2 * link as u32);
        [a, a.peer()]
    }

    /// The index of the port's link in [`crate::path::topology::Topology::links`].
    #[inline]
    pub const fn link(self) -> usize {
        (self.0 / 2) as usize
    }

    /// Whether the port is at its link's end `a`; otherwise it is at the end `b`.
    #[inline]
    pub const fn is_at_a(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The port at the other end of the link.
    #[inline]
    pub const fn peer(self) -> PortId {
        PortId(self.0 ^ 1)
    }
}

index_type! {
    /// A message's number: its index in [`crate::network::Network::flows`].
    FlowId
}

impl FlowId {
    /// The message behind this one in the list.
    #[inline]
    pub const fn next(self) -> FlowId {
        FlowId(self.0 + 1)
    }

    /// The message's connection if every message has a connection to itself: both have the same number.
    #[inline]
    pub const fn own_connection(self) -> ConnectionId {
        ConnectionId(self.0)
    }
}

index_type! {
    /// A connection's number: its index in [`crate::network::Paths::routes`].
    ConnectionId
}

impl ConnectionId {
    /// The connection's message if every message has a connection to itself: both have the same number.
    #[inline]
    pub const fn own_message(self) -> FlowId {
        FlowId(self.0)
    }
}

/// A port's queue of one data priority. Ingress and egress are counted alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u32);

impl QueueId {
    /// The queue of `priority` at `port`, in a network with this number of `priorities`.
    #[inline]
    pub const fn new(port: PortId, priority: u8, priorities: usize) -> QueueId {
        QueueId(port.0 * priorities as u32 + priority as u32)
    }

    /// The queues of all `priorities` at `port`.
    pub fn all_at(port: PortId, priorities: usize) -> impl Iterator<Item = QueueId> {
        (0..priorities as u8).map(move |priority| QueueId::new(port, priority, priorities))
    }

    /// The queue's place in lists by queue.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The queue's port.
    #[inline]
    pub const fn port(self, priorities: usize) -> PortId {
        // Most networks have one priority, and divisions are slow.
        if priorities == 1 { PortId(self.0) } else { PortId(self.0 / priorities as u32) }
    }

    /// The queue's data priority.
    #[inline]
    pub const fn priority(self, priorities: usize) -> u8 {
        if priorities == 1 { 0 } else { (self.0 % priorities as u32) as u8 }
    }

    /// The queue of the same priority at the other end of the link.
    #[inline]
    pub const fn other_end(self, priorities: usize) -> QueueId {
        if priorities == 1 {
            return QueueId(PortId(self.0).peer().0);
        }
        QueueId::new(self.port(priorities).peer(), self.priority(priorities), priorities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_lists() {
        // A list of three entries has the numbers 0, 1 and 2, and the last entry's place is 2.
        let all: Vec<FlowId> = FlowId::all(3).collect();
        assert_eq!(all, [FlowId(0), FlowId(1), FlowId(2)]);
        assert_eq!((FlowId::at(2), FlowId(2).index(), FlowId(2).to_string()), (all[2], 2, "2".to_string()));
        assert_eq!(size_of::<[FlowId; 3]>(), 12, "as small as the number");
    }

    #[test]
    fn nodes_of_a_kind_are_counted_from_the_first() {
        // Four hosts from node 3 on are nodes 3 to 6.
        let hosts: Vec<NodeId> = (0..4).map(|host| NodeId(3) + host).collect();
        assert_eq!(hosts, [NodeId(3), NodeId(4), NodeId(5), NodeId(6)]);
    }

    #[test]
    fn a_port_knows_its_link_its_end_and_its_peer() {
        // Link 3 has port 6 at its end `a` and port 7 at its end `b`; links 0 to 3 have the ports 0 to 7.
        let [a, b] = PortId::of_link(3);
        assert_eq!((a, b, PortId::count(4)), (PortId(6), PortId(7), 8));
        assert_eq!((a.link(), b.link()), (3, 3));
        assert_eq!((a.is_at_a(), b.is_at_a()), (true, false));
        assert_eq!((a.peer(), b.peer()), (b, a));
    }

    #[test]
    fn a_message_leads_to_the_next_one_and_to_a_connection_of_its_own() {
        assert_eq!(FlowId(7).next(), FlowId(8));
        assert_eq!((FlowId(7).own_connection(), ConnectionId(7).own_message()), (ConnectionId(7), FlowId(7)));
    }

    #[test]
    fn a_queue_knows_its_port_priority_and_other_end() {
        // Three priorities: port 5 has the queues 15, 16 and 17; its peer is port 4 with 12, 13 and 14.
        let queue = QueueId::new(PortId(5), 1, 3);
        assert_eq!((queue.0, queue.port(3), queue.priority(3)), (16, PortId(5), 1));
        assert_eq!(queue.other_end(3), QueueId(13));
        assert!(QueueId::all_at(PortId(5), 3).eq([15, 16, 17].map(QueueId)));
        // One priority: ports and queues have the same numbers.
        let alone = QueueId::new(PortId(5), 0, 1);
        assert_eq!(
            (alone.0, alone.port(1), alone.priority(1), alone.other_end(1)),
            (5, PortId(5), 0, QueueId(4))
        );
    }
}
