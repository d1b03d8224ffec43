//! What makes a path short: few links or, in networks of groups, few links between groups first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::switches::{SwitchGraph, UNREACHED};
use crate::path::topology::{Shape, Topology};

/// A link between two groups counts as more than all links inside of groups on any path.
const BETWEEN_GROUPS: u32 = 1 << 16;

/// How far apart switches are.
#[derive(Clone, Debug, Default)]
pub(super) struct Metric {
    /// By switch: its group; empty if all links count alike.
    groups: Vec<u32>,
}

impl Metric {
    /// Links between groups count first, in a network of groups; `None` in others.
    pub fn by_groups(topology: &Topology, graph: &SwitchGraph) -> Option<Metric> {
        let Shape::Groups(of_node) = &topology.shape else { return None };
        let groups = (0..graph.len() as u32).map(|s| of_node[graph.node(s).index()]).collect();
        Some(Metric { groups })
    }

    /// The number of groups; 0 if all links count alike.
    pub fn groups(&self) -> u32 {
        self.groups.iter().max().map_or(0, |&last| last + 1)
    }

    /// The group of a switch, in a network of groups.
    pub fn group(&self, switch: u32) -> u32 {
        self.groups[switch as usize]
    }

    /// The switches of a group.
    pub fn members(&self, group: u32) -> impl Iterator<Item = u32> {
        (0..).zip(&self.groups).filter(move |&(_, &of)| of == group).map(|(switch, _)| switch)
    }

    /// What a link between two switches adds to a distance.
    pub fn cost(&self, a: u32, b: u32) -> u32 {
        let groups = self.groups.get(a as usize).zip(self.groups.get(b as usize));
        if groups.is_some_and(|(a, b)| a != b) { BETWEEN_GROUPS + 1 } else { 1 }
    }

    /// The number of links in a distance.
    pub fn links(&self, distance: u32) -> u32 {
        if self.groups.is_empty() { distance } else { distance % BETWEEN_GROUPS }
    }

    /// By switch: the distance to the nearest of `targets`, or [`UNREACHED`].
    pub fn distances(&self, graph: &SwitchGraph, targets: &[u32]) -> Vec<u32> {
        if let ([target], true) = (targets, self.groups.is_empty()) {
            return graph.distances(*target);
        }
        let mut distance = vec![UNREACHED; graph.len()];
        let mut reached = BinaryHeap::new();
        for &target in targets {
            distance[target as usize] = 0;
            reached.push(Reverse((0, target)));
        }
        while let Some(Reverse((far, at))) = reached.pop() {
            if far > distance[at as usize] {
                continue;
            }
            for &(_, next) in graph.links(at) {
                let through = far + self.cost(at, next);
                if through < distance[next as usize] {
                    distance[next as usize] = through;
                    reached.push(Reverse((through, next)));
                }
            }
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::topology::{Dragonfly, TopologyKind};

    #[test]
    fn one_link_between_groups_is_nearer_than_two() {
        // The dragonfly with a = 4, h = 2 and 9 groups: g0r0 has links to groups 1 and 2, and g1r0 one to group 0 and one to
        // group 2. From g0r0 to g2r1, whose links lead to groups 3 and 4: the link from g0r0 to g2r0 and one inside of group 2.
        let topology = Dragonfly::default().build().expect("a dragonfly");
        let graph = SwitchGraph::new(&topology);
        let metric = Metric::by_groups(&topology, &graph).expect("groups");
        let at = |name: &str| graph.switch(topology.node_by_name(name).expect("a router"));
        let to = metric.distances(&graph, &[at("g2r1")]);
        assert_eq!(to[at("g0r0") as usize], BETWEEN_GROUPS + 2);
        // From g0r3: to g0r0, to g2r0, to g2r1. The way of two links between groups, by group 8, would have as many links.
        assert_eq!(to[at("g0r3") as usize], BETWEEN_GROUPS + 3);
        assert_eq!((metric.links(to[at("g0r3") as usize]), metric.groups()), (3, 9));
        // Towards a group: one link less.
        let members: Vec<u32> = metric.members(2).collect();
        assert_eq!(metric.distances(&graph, &members)[at("g0r3") as usize], BETWEEN_GROUPS + 2);
    }
}
