//! Nodes by name.

use std::collections::HashMap;

pub use xoff_engine::Nearest;

use super::{NodeId, Topology};

/// Nodes by name, for more than one look-up.
#[derive(Clone, Debug)]
pub struct NameIndex<'t> {
    topology: &'t Topology,
    by_name: HashMap<&'t str, NodeId>,
}

impl<'t> NameIndex<'t> {
    /// The node called `name`; `None` if there is no such node.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }
    /// The node's name that is nearest to `name`.
    pub fn nearest(&self, name: &str) -> Nearest {
        Nearest::of(name, self.topology.nodes.iter().map(|n| n.name.as_str()))
    }
}

impl Topology {
    /// The node called `name`, found by a search of all nodes; for more than one look-up see [`Topology::names`].
    pub fn node_by_name(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|n| n.name == name).map(NodeId::at)
    }
    /// All nodes by name.
    pub fn names(&self) -> NameIndex<'_> {
        let by_name = self
            .nodes
            .iter()
            .zip(NodeId::all(self.nodes.len()))
            .map(|(n, id)| (n.name.as_str(), id))
            .collect();
        NameIndex { topology: self, by_name }
    }
}
