//! Several spanning trees, in each of which the path between two nodes is unique in both directions.
//!
//! FNCC, Section 3.1, Observation 2 and Fig. 6, after TCP-Bolt (Stephens et al., "Practical DCB for improved data
//! center networks", INFOCOM 2014). A flow and its ACKs are hashed to one tree.
//!
//! Each tree consists of shortest paths from one root. TCP-Bolt's trees share no link, but a fat-tree has too few links
//! for that (k = 4: 32 links between 20 switches, and a tree takes 19); here each switch takes the link towards the root
//! that the fewest earlier trees use. With a core switch of a fat-tree as root, the path in the tree between any two
//! hosts is also a shortest path.

use xoff_engine::random::mix;

use super::choice::{Choice, Mixing};
use super::params::SpanningTrees;
use super::switches::{SwitchGraph, UNREACHED};
use super::{End, RoutingError};
use crate::path::topology::{NodeId, NodeKind, PortId, Topology};

/// Maximum number of spanning trees.
pub const MAX_TREES: u32 = 4096;
/// Maximum of switches times spanning trees, at 8 bytes each.
pub const MAX_TREE_ENTRIES: u32 = 1 << 27;

#[derive(Clone, Debug)]
pub(super) struct Trees {
    choice: Mixing,
    trees: Vec<Tree>,
}

#[derive(Clone, Debug)]
struct Tree {
    /// For each switch, egress port towards the root; `PortId(u32::MAX)` for the root and for switches that it does not reach.
    up: Box<[PortId]>,
    /// For each switch, number of links to the root, or [`UNREACHED`].
    depth: Box<[u32]>,
}

impl Trees {
    pub(super) fn new(
        topology: &Topology,
        graph: &SwitchGraph,
        params: &SpanningTrees,
        choice: Mixing,
    ) -> Result<Trees, RoutingError> {
        let trees = params.trees;
        let max = MAX_TREES.min(MAX_TREE_ENTRIES / graph.len().max(1) as u32);
        if trees == 0 || trees > max {
            return Err(RoutingError::TreeCount { trees, max });
        }
        let roots = roots(topology, graph, params)?;
        let mut used = vec![0u32; topology.links.len()];
        // Without switches there are no roots, and the only path is a link between two hosts.
        let roots = roots.iter().cycle().take(trees as usize);
        let trees =
            roots.zip(0..).map(|(&root, number)| Tree::new(graph, root, number, choice, &mut used)).collect();
        Ok(Trees { choice, trees })
    }

    /// Appends the ports between the two switches; `None` if there is no path.
    pub(super) fn path(
        &self,
        topology: &Topology,
        graph: &SwitchGraph,
        from: End,
        to: End,
        key: u64,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        let (a, b) = if from.host() <= to.host() { (from, to) } else { (to, from) };
        let hash = self.choice.flow(a.address(), b.address(), key);
        // Trees of other planes do not reach the two switches.
        let spans = |tree: &usize| self.trees[*tree].reaches(from.switch);
        let count = (0..self.trees.len()).filter(spans).count();
        let tree = self.choice.at(hash, NodeId(u32::MAX), count.max(1));
        let tree = (0..self.trees.len()).filter(spans).nth(tree)?;
        self.path_in(tree, topology, graph, from.switch, to.switch, out)
    }

    /// Number of trees.
    pub(super) fn len(&self) -> usize {
        self.trees.len()
    }

    /// Appends the ports between two switches in one of the trees; `None` if there is no path.
    pub(super) fn path_in(
        &self,
        tree: usize,
        topology: &Topology,
        graph: &SwitchGraph,
        from: u32,
        to: u32,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        let tree = self.trees.get(tree)?;
        let above = |s: u32| graph.switch(topology.node_of(tree.up[s as usize].peer()));
        tree.path(above, from, to, out)
    }

    /// Maximum number of links between two of `switches` in any of the trees.
    pub(super) fn longest(&self, topology: &Topology, graph: &SwitchGraph, switches: &[u32]) -> usize {
        let in_tree = |tree: &Tree| {
            let above = |s: u32| graph.switch(topology.node_of(tree.up[s as usize].peer()));
            let mut path = Vec::new();
            let mut links = |a: u32, b: u32| {
                path.clear();
                tree.path(above, a, b, &mut path).map_or(0, |()| path.len())
            };
            let switches: Vec<u32> = switches.iter().copied().filter(|&s| tree.reaches(s)).collect();
            // In a tree, the node farthest from any node is one end of a longest path.
            let first = *switches.first()?;
            let end = switches.iter().copied().max_by_key(|&s| links(first, s))?;
            switches.iter().map(|&s| links(end, s)).max()
        };
        self.trees.iter().filter_map(in_tree).max().unwrap_or(0)
    }
}

impl Tree {
    fn new(graph: &SwitchGraph, root: u32, number: u64, choice: Mixing, used: &mut [u32]) -> Tree {
        let depth = graph.distances(root);
        let salt = choice.flow(graph.node(root).0, u32::MAX, number);
        let mut up = vec![PortId(u32::MAX); graph.len()];
        for s in 0..graph.len() as u32 {
            let mine = depth[s as usize];
            let nearer =
                |&&(_, to): &&(PortId, u32)| mine != UNREACHED && mine != 0 && depth[to as usize] == mine - 1;
            let uses = |&&(port, _): &&(PortId, u32)| (used[port.link()], mix(salt ^ u64::from(port.0)));
            if let Some(&(port, _)) = graph.links(s).iter().filter(nearer).min_by_key(uses) {
                up[s as usize] = port;
                used[port.link()] += 1;
            }
        }
        Tree { up: up.into(), depth: depth.into() }
    }

    /// Whether the tree spans the part of the network that a switch is in.
    fn reaches(&self, switch: u32) -> bool {
        self.depth[switch as usize] != UNREACHED
    }

    /// Appends the ports from one switch up to the switch where the two branches meet, and down to the other switch.
    fn path(
        &self,
        above: impl Fn(u32) -> u32,
        mut from: u32,
        mut to: u32,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        if !self.reaches(from) || !self.reaches(to) {
            return None;
        }
        // The ports down are found from below, so they are collected apart and appended in reverse order.
        let mut down = Vec::new();
        while from != to {
            if self.depth[from as usize] >= self.depth[to as usize] {
                out.push(self.up[from as usize]);
                from = above(from);
            } else {
                down.push(self.up[to as usize].peer());
                to = above(to);
            }
        }
        out.extend(down.into_iter().rev());
        Some(())
    }
}

/// The roots of the trees, as indices of switches.
fn roots(topology: &Topology, graph: &SwitchGraph, params: &SpanningTrees) -> Result<Vec<u32>, RoutingError> {
    if params.roots.len() > params.trees as usize {
        return Err(RoutingError::TooManyRoots { roots: params.roots.len(), trees: params.trees });
    }
    if params.roots.is_empty() {
        let tier = |s: &u32| topology.nodes[graph.node(*s).index()].tier;
        let all = 0..graph.len() as u32;
        let top = all.clone().map(|s| tier(&s)).max();
        let top: Vec<u32> = all.filter(|s| Some(tier(s)) == top).collect();
        let count = top.len().min(params.trees as usize);
        return Ok((0..count).map(|i| top[i * top.len() / count]).collect());
    }
    let names = topology.names();
    let find = |(i, name): (usize, &String)| {
        let key = format!("roots[{i}]");
        let Some(node) = names.find(name) else {
            return Err(RoutingError::UnknownNode { key, name: name.clone(), nearest: names.nearest(name) });
        };
        if topology.nodes[node.index()].kind != NodeKind::Switch {
            return Err(RoutingError::WrongKind { key, name: name.clone(), expected: "switch" });
        }
        Ok(graph.switch(node))
    };
    params.roots.iter().enumerate().map(find).collect()
}
