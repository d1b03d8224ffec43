//! Queues at links between groups, which packets carry to the other switches of the group.
//!
//! Each packet that leaves a switch carries the queues at the switch's links between groups, in the order of ports (piggyback
//! routing: Jiang, Kim and Dally, "Indirect Adaptive Routing on Large Scale Interconnection Networks", ISCA 2009,
//! Section 3.3). It takes no bytes on the wire: there, a bit for each link in the header.

use super::port::Port;
use crate::ids::{NodeId, PortId};
use crate::network::Network;
use crate::packet::{PacketId, Packets};
use crate::path::routing::DragonflyVariant;

/// The links between groups whose queues packets carry.
pub(crate) struct CarriedLoads {
    /// By node: its ports at links between groups.
    pub ports: Vec<Vec<PortId>>,
}

impl CarriedLoads {
    /// The links of a network; `None` if packets carry no queues.
    pub fn new(net: &Network) -> Option<Box<CarriedLoads>> {
        let detours = net.paths.next_hops.as_ref()?.detours()?;
        if detours.variant != DragonflyVariant::UgalG {
            return None;
        }
        let mut ports = vec![Vec::new(); net.topology.nodes.len()];
        for port in net.topology.port_ids() {
            let (node, peer) = (net.topology.node_of(port), net.topology.node_of(port.peer()));
            if !net.is_host(node) && !net.is_host(peer) && detours.group(node) != detours.group(peer) {
                ports[node.index()].push(port);
            }
        }
        Some(Box::new(CarriedLoads { ports }))
    }

    /// The number of queues that each packet carries.
    pub fn each(&self) -> usize {
        self.ports.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Writes the queues of a node into a packet that leaves the node.
    pub fn write(&self, node: NodeId, ports: &[Port], packets: &mut Packets, id: PacketId) {
        let Some(loads) = &mut packets.loads else { return };
        for (load, port) in loads.of_mut(id).iter_mut().zip(&self.ports[node.index()]) {
            *load = u32::try_from(ports[port.index()].queued_bytes).unwrap_or(u32::MAX);
        }
    }
}
