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

/// Packets whose lines have been asked for, until these lines have come and can be read: four packets later at switches, and two later at
/// hosts, which handle a packet for longer. At hosts what a packet needs takes two steps.
pub(super) struct Following {
    at_switches: Delay<4>,
    at_hosts: [Delay<2>; 2],
}

impl Following {
    pub const NONE: Following = Following { at_switches: Delay::NONE, at_hosts: [const { Delay::NONE }; 2] };
}

/// Packets that come out in the order in which they went in, `LEN` packets later.
struct Delay<const LEN: usize> {
    packets: [PacketId; LEN],
    next: usize,
}

impl<const LEN: usize> Delay<LEN> {
    const NONE: Self = Delay { packets: [NO_PACKET; LEN], next: 0 };

    #[inline(always)] // runs for every packet of a large network
    fn pass(&mut self, id: PacketId) -> PacketId {
        let this = self.next;
        self.next = (this + 1) % LEN;
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

    /// Fetches what `node`, whose turn begins, and the nodes of the next turns use first.
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
        if self.ctx.net.is_host(node) {
            self.hosts.fetch_first_sender(node);
            for first in events.fifos(node.0).filter_map(|(_, first)| self.ctx.packets.get(first)) {
                self.hosts.fetch_end(&self.ctx.net, first);
                self.fetch_behind(true, first.next);
            }
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
    /// packet's own line has come.
    #[inline(always)]
    fn fetch_behind(&self, is_host: bool, id: PacketId) {
        let Some(packet) = self.ctx.packets.get(id) else { return };
        let is_data = packet.kind == Kind::Data;
        let has_telemetry = if is_host {
            self.hosts.fetch_end_address(&self.ctx.net, packet);
            !is_data
        } else {
            fetch_ahead(&self.ctx.net.paths.ports, packet.position);
            is_data == (self.ctx.net.signals.int == IntPath::Data)
        };
        self.ctx.packets.prefetch_telemetry_if(has_telemetry, id);
        self.ctx.packets.prefetch(packet.next);
    }

    /// The current switch handles a packet, behind which `following` comes by the same link. Fetches what a packet needs that was
    /// `following` some packets ago.
    #[inline(always)] // runs for every packet
    pub(super) fn fetch_hops(&mut self, following: PacketId) {
        let id = self.following.at_switches.pass(following);
        self.fetch_behind(false, id);
    }

    /// The current host handles a packet: as [`Self::fetch_hops`] does for a switch.
    #[inline(always)] // runs for every packet
    pub(super) fn fetch_ends(&mut self, following: PacketId) {
        let [first, second] = &mut self.following.at_hosts;
        let id = first.pass(following);
        let earlier = second.pass(id);
        self.fetch_behind(true, id);
        if let Some(packet) = self.ctx.packets.get(earlier) {
            self.hosts.fetch_end(&self.ctx.net, packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_out_as_many_later_as_they_are_to_wait() {
        let mut delay = Delay::<3>::NONE;
        let out: Vec<PacketId> = (0..6).map(|id| delay.pass(id)).collect();
        assert_eq!(out, [NO_PACKET, NO_PACKET, NO_PACKET, 0, 1, 2]);
    }
}
