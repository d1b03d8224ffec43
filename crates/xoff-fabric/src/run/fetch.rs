//! Fetching what the next nodes need into the cache, while the current node handles its events.
//!
//! A large network does not fit into a core's own caches: each window touches all of it, and whatever a node needs has left the
//! caches since the window before. Which nodes come next is known, and so are the packets that arrive at each of them. What
//! they need hangs together in chains (a FIFO's first packet, the packet behind it, its path, its connection), and each link of a
//! chain can only be fetched once the link before it has come. So a node is prepared in as many steps as there are turns ahead
//! of its own: by then the links that a step follows have come.

use xoff_engine::{EntityQueues, TURNS_AHEAD, fetch_far_ahead};

use super::partition::Partition;
use crate::host::nic::NicScheduler;
use crate::ids::{NodeId, PortId, QueueId};
use crate::link::flow_control::LinkControl;
use crate::packet::{BY_HOP, DATA, Packet};

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// Prepares the nodes whose turns come next, if fetching is worth its cost.
    #[inline]
    pub(super) fn fetch_coming(&self) {
        let Some(queues) = self.ctx.events.fetched() else { return };
        if let Some(node) = queues.coming(TURNS_AHEAD) {
            self.fetch_ports(queues, node);
        }
        for step in 1..TURNS_AHEAD {
            if let Some(node) = queues.coming(TURNS_AHEAD - step) {
                self.fetch_arrivals(queues, node, step);
            }
        }
    }

    /// Fetches a node's ports, with their queues, and the first packet that arrives at each.
    #[inline]
    fn fetch_ports(&self, queues: &EntityQueues, node: u32) {
        for (port, packet) in queues.fifos(node) {
            let port = PortId(port);
            fetch_far_ahead(&self.links.ports, port.index());
            fetch_far_ahead(&self.links.queues, self.links.place(port, DATA));
            let queue = QueueId::new(port, 0, self.links.priorities);
            fetch_far_ahead(&self.switches.accounting.buffers, queue.index());
            if let Some(packet) = packet {
                self.ctx.packets.prefetch_far(packet);
            }
        }
    }

    /// Follows each of a node's FIFOs to its packet number `step`, from 1, and fetches what that packet needs and the packet
    /// behind it.
    #[inline]
    fn fetch_arrivals(&self, queues: &EntityQueues, node: u32, step: usize) {
        let packets = &self.ctx.packets;
        let is_host = self.ctx.net.is_host(NodeId(node));
        let behind = |packet: &Packet| Some(packet.next).filter(|_| packet.next_at < self.handled_until);
        for (_, mut next) in queues.fifos(node) {
            for place in 1..=step {
                let Some(packet) = next.map(|id| &packets[id]) else { break };
                next = behind(packet);
                match (place < step, is_host) {
                    (true, true) => self.hosts.fetch_end(&self.ctx, packet),
                    (true, false) => {}
                    (false, true) => self.hosts.fetch_slot(&self.ctx, packet),
                    (false, false) => self.fetch_next_hop(packet),
                }
                if place == step {
                    next.into_iter().for_each(|id| packets.prefetch_far(id));
                }
            }
        }
    }

    /// Fetches a packet's next egress port.
    #[inline]
    fn fetch_next_hop(&self, packet: &Packet) {
        if packet.position & BY_HOP == 0 {
            fetch_far_ahead(&self.ctx.net.paths.ports, packet.position as usize);
        }
    }
}
