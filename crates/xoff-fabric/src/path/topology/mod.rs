//! The graph of hosts, switches and links, and the topologies with a name in scenarios.

mod adjacency;
mod builder;
mod chain;
mod dragonfly;
mod dragonfly_plus;
mod dumbbell;
mod error;
mod fat_tree;
mod graph;
mod grid;
mod hpn;
mod hyperx;
mod jellyfish;
mod leaf_spine;
mod names;
mod nics;
mod rail_optimized;
mod registry;
#[cfg(test)]
mod ring;
mod shape;
mod size;
mod star;
mod torus;
mod validate;

pub use adjacency::Adjacency;
pub use chain::{Chain, Join};
pub use dragonfly::Dragonfly;
pub use dragonfly_plus::DragonflyPlus;
pub use dumbbell::Dumbbell;
pub use error::TopologyError;
pub use fat_tree::FatTree;
pub use graph::{Graph, GraphLink, GraphNode, GraphNodeKind};
pub use hpn::Hpn;
pub use hyperx::HyperX;
pub use jellyfish::Jellyfish;
pub use leaf_spine::LeafSpine;
pub use names::{NameIndex, Nearest};
pub use nics::{MAX_NICS, peer_nic};
pub use rail_optimized::{RailOptimized, RailSpines};
pub use registry::{AnyTopology, TopologyInfo, TopologyKind, catalogue};
pub use shape::{Grid, Shape};
pub use size::Size;
pub use star::Star;
pub use torus::Torus;
pub use validate::{MAX_DELAY, MAX_LINKS, MAX_NODES, MAX_RATE};

pub use crate::ids::{NodeId, PortId};

use std::sync::Arc;

use xoff_engine::{Rate, Time};

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// Sends and receives flows, and forwards nothing. Each of its links is a NIC; NICs are numbered from 0 in the order of
    /// links.
    Host,
    /// Forwards packets.
    Switch,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// Distance from the hosts in a tiered network: 0 for hosts, 1 for the switches next to them.
    pub tier: u8,
}

/// A full-duplex link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Rate from `a` to `b`.
    pub rate_ab: Rate,
    /// Rate from `b` to `a`.
    pub rate_ba: Rate,
    /// Propagation delay from `a` to `b`.
    pub delay_ab: Time,
    /// Propagation delay from `b` to `a`.
    pub delay_ba: Time,
}

/// A network's nodes and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Links between them.
    pub links: Vec<Link>,
    /// What is known of their structure.
    pub shape: Shape,
}

impl From<&Topology> for Arc<Topology> {
    fn from(topology: &Topology) -> Arc<Topology> {
        Arc::new(topology.clone())
    }
}

impl Topology {
    /// The network with switches whose pipelines take so long: each direction of a link that leads into a switch is longer by it.
    pub fn with_pipelines(mut self, delay: Time) -> Self {
        let is_switch = |nodes: &[Node], node: NodeId| nodes[node.index()].kind == NodeKind::Switch;
        for link in &mut self.links {
            let (a, b) = (is_switch(&self.nodes, link.a), is_switch(&self.nodes, link.b));
            link.delay_ab += if b { delay } else { Time::ZERO };
            link.delay_ba += if a { delay } else { Time::ZERO };
        }
        self
    }

    /// The node of a port.
    pub fn node_of(&self, port: PortId) -> NodeId {
        let link = &self.links[port.link()];
        if port.is_at_a() { link.a } else { link.b }
    }
    /// Rate of the direction that leaves `port`.
    pub fn rate(&self, port: PortId) -> Rate {
        let link = &self.links[port.link()];
        if port.is_at_a() { link.rate_ab } else { link.rate_ba }
    }
    /// Propagation delay of the direction that leaves `port`.
    pub fn delay(&self, port: PortId) -> Time {
        let link = &self.links[port.link()];
        if port.is_at_a() { link.delay_ab } else { link.delay_ba }
    }
    /// The shortest propagation delay of all links; zero without links.
    pub fn min_delay(&self) -> Time {
        self.port_ids().map(|port| self.delay(port)).min().unwrap_or(Time::ZERO)
    }
    /// Number of ports.
    pub fn ports(&self) -> u32 {
        PortId::count(self.links.len())
    }
    /// All ports, in order.
    pub fn port_ids(&self) -> impl DoubleEndedIterator<Item = PortId> + ExactSizeIterator + Clone {
        PortId::all(self.ports() as usize)
    }
    /// The hosts, in order.
    pub fn hosts(&self) -> Vec<NodeId> {
        NodeId::all(self.nodes.len()).filter(|&n| self.nodes[n.index()].kind == NodeKind::Host).collect()
    }
}
