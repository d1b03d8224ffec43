//! Fetching ahead, in networks that do not fit into the nearest caches: what the nodes and packets that come next are about to use.
//!
//! An address that lies in memory can be followed only after that memory has come. Such chains are followed step by step, with some turns
//! of nodes, or some packets, between two steps.

use xoff_engine::{fetch_ahead, fetch_whole_ahead};
use xoff_schemes::IntPath;

use super::partition::Partition;
use crate::host::nic::NicScheduler;
use crate::ids::{NodeId, PortId, QueueId};
use crate::link::flow_control::LinkControl;
use crate::packet::{DATA, Kind, NO_PACKET, PacketId};

/// Packets at switches whose lines have been asked for, until these lines have come and can be read: each comes out four packets later.
pub(super) struct Following {
    packets: [PacketId; 4],
    next: usize,
}

impl Following {
    pub const NONE: Following = Following { packets: [NO_PACKET; 4], next: 0 };

    #[inline(always)] // runs for every packet of a large network
    fn pass(&mut self, id: PacketId) -> PacketId {
        let this = self.next;
        self.next = (this + 1) % self.packets.len();
        std::mem::replace(&mut self.packets[this], id)
    }
}

impl<C: LinkControl, N: NicScheduler> Partition<C, N> {
    /// Fetches the ports of the two nodes whose turns come first in a window: no turn before these fetches them.
    pub(super) fn fetch_first_nodes(&self) {
        for node in [1, 2].into_iter().filter_map(|turns| self.ctx.events.turn_ahead(turns)) {
            self.fetch_ports(NodeId(node));
        }
    }

    /// Fetches what `node`, whose turn begins, and the nodes of the next turns use first. Each port's last packet on the wire is one to which the
    /// next one is linked.
    #[inline]
    pub(super) fn fetch_nodes(&self, node: NodeId) {
        let events = &self.ctx.events;
        events.fetch_turns();
        let turn = |turns| events.turn_ahead(turns).map(NodeId);
        if let Some(third) = turn(3)
            && self.ctx.net.is_host(third)
        {
            self.hosts.fetch_nic(third);
        }
        if let Some(second) = turn(2) {
            self.fetch_ports(second);
        }
        if let Some(next) = turn(1) {
            self.fetch_first(next);
        }
        let is_host = self.ctx.net.is_host(node);
        if is_host {
            self.hosts.fetch_first_sender(node);
        }
        for (port, first) in events.fifos(node.0) {
            if let Some(last) = events.last_of(self.links.ports[port as usize].arrivals) {
                self.ctx.packets.prefetch(last);
            }
            let Some(first) = self.ctx.packets.get(first) else { continue };
            if is_host {
                self.hosts.fetch_end(&self.ctx.net, first);
            }
            self.fetch_behind(is_host, first.next);
        }
    }

    /// Fetches the ports of a node, their queues and ingress buffers of the first priority, and the first packets that come to these ports;
    /// of a host also the order of its connections.
    fn fetch_ports(&self, node: NodeId) {
        for (port, packet) in self.ctx.events.fifos(node.0) {
            self.ctx.packets.prefetch(packet);
            fetch_whole_ahead(&self.links.ports, port);
            fetch_ahead(&self.links.queues, self.links.place(PortId(port), DATA) as u32);
            let queue = QueueId::new(PortId(port), 0, self.links.priorities);
            fetch_ahead(&self.switches.accounting.buffers, queue.0);
        }
        if self.ctx.net.is_host(node) {
            self.hosts.fetch_order(node);
        }
    }

    /// Fetches what a node's ports and first packets lead to: the FIFOs of the neighbours, detectors, the first packets of queues, and what
    /// the packets that come first need.
    fn fetch_first(&self, node: NodeId) {
        let is_host = self.ctx.net.is_host(node);
        if is_host {
            self.hosts.fetch_first_sender_address(node);
        }
        for (port, first) in self.ctx.events.fifos(node.0) {
            self.ctx.events.fetch_slot(self.links.ports[port as usize].arrivals);
            if !is_host {
                self.switches.fetch_detector(QueueId::new(PortId(port), 0, self.links.priorities));
                self.ctx.packets.prefetch(self.links.queues[self.links.place(PortId(port), DATA)].first());
            }
            self.fetch_behind(is_host, first);
        }
    }

    /// Fetches what a packet needs at the switch or host that it comes to, and the line of the packet that comes behind it by the same link. The
    /// packet's own line has come, but for the first packets of a window and of a turn, for which this waits.
    #[inline(always)]
    fn fetch_behind(&self, is_host: bool, id: PacketId) {
        let Some(packet) = self.ctx.packets.get(id) else { return };
        let is_data = packet.kind == Kind::Data;
        let has_telemetry = if is_host {
            self.hosts.fetch_end_address(&self.ctx.net, packet);
            !is_data
        } else {
            self.ctx.net.paths.ports.fetch(packet.position);
            is_data == (self.ctx.net.signals.int == IntPath::Data)
        };
        self.ctx.packets.prefetch_telemetry_if(has_telemetry, id);
        self.ctx.packets.prefetch(packet.next);
    }

    /// The current switch handles a packet, behind which `following` comes by the same link. Fetches what a packet needs that was
    /// `following` some packets ago.
    #[inline(always)] // runs for every packet of a large network
    pub(super) fn fetch_hops(&mut self, following: PacketId) {
        let id = self.following.pass(following);
        self.fetch_behind(false, id);
    }

    /// The current host handles a packet, behind which `following` comes by the same link, most often as the next packet. Fetches the receiver
    /// or sender that `following` comes to, what the packet behind that one needs, and the line of the third.
    #[inline(always)] // runs for every packet of a large network
    pub(super) fn fetch_ends(&self, following: PacketId) {
        let Some(packet) = self.ctx.packets.get(following) else { return };
        self.hosts.fetch_end(&self.ctx.net, packet);
        self.fetch_behind(true, packet.next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_out_four_later() {
        let mut following = Following::NONE;
        let out: Vec<PacketId> = (0..7).map(|id| following.pass(id)).collect();
        assert_eq!(out, [NO_PACKET, NO_PACKET, NO_PACKET, NO_PACKET, 0, 1, 2]);
    }
}
