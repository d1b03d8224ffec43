//! Nodes by name, and what was probably meant where there is no such node.

use std::collections::HashMap;
use std::fmt;

use super::{NodeId, Topology};

/// The valid name nearest to a wrong one, as the end of a message: nothing where none is near.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearest(pub Option<String>);

impl Nearest {
    /// The nearest of `valid` to `name` by edit distance with transpositions; none where more than a third of its
    /// letters differ, because a suggestion that far off misleads.
    pub fn of<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> Nearest {
        let most = (name.chars().count() / 3).max(1);
        let near = valid.into_iter().map(|v| (strsim::damerau_levenshtein(name, v), v));
        // The first of equally near names, so that the message does not depend on anything but the order of nodes.
        let best = near.filter(|(d, _)| *d <= most).min_by_key(|(d, _)| *d);
        Nearest(best.map(|(_, v)| v.to_string()))
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}

/// Nodes by name, for whoever looks up more than one.
#[derive(Clone, Debug)]
pub struct NameIndex<'t> {
    topology: &'t Topology,
    by_name: HashMap<&'t str, NodeId>,
}

impl<'t> NameIndex<'t> {
    /// The node called `name`.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }
    /// The node's name that is nearest to `name`.
    pub fn nearest(&self, name: &str) -> Nearest {
        Nearest::of(name, self.topology.nodes.iter().map(|n| n.name.as_str()))
    }
}

impl Topology {
    /// The node called `name`, by a look at every node; for more than one look-up see [`Topology::names`].
    pub fn node_by_name(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|n| n.name == name).map(|n| n as NodeId)
    }
    /// All nodes by name.
    pub fn names(&self) -> NameIndex<'_> {
        let by_name = self.nodes.iter().zip(0..).map(|(n, id)| (n.name.as_str(), id)).collect();
        NameIndex { topology: self, by_name }
    }
}
