//! How long paths are: what INT needs room for, and what the base RTT follows from.

use std::collections::BTreeSet;

use xoff_engine::{Rate, Time};

use super::switches::UNREACHED;
use super::{Router, Ways};
use crate::path::topology::{NodeId, NodeKind, peer};

/// The most switches from which representative pairs go to all others.
const MOST_ORIGINS: usize = 256;

/// Hosts of one switch whose links are alike.
struct Alike {
    link: (Rate, Rate, Time, Time),
    first: NodeId,
    second: Option<NodeId>,
}

impl Router {
    /// The most links on any path between two hosts, over all choices: 6 in a fat-tree, and the diameter of the
    /// network under ECMP. With listed routes an upper bound, since it counts ECMP's way for listed pairs too. One
    /// less is the number of switches, and of hops that INT needs room for.
    pub fn max_hops(&self) -> usize {
        let hosted = self.hosted();
        let switches: Vec<u32> = hosted.iter().map(|(s, _)| *s).collect();
        let shortest = || {
            let longest_to = |&to: &u32| {
                let distance = self.graph.distances(to);
                switches.iter().map(|&s| distance[s as usize]).filter(|&d| d != UNREACHED).max()
            };
            switches.iter().filter_map(longest_to).max().unwrap_or(0) as usize
        };
        let between = match &self.ways {
            Ways::Ecmp(_) | Ways::Ns3Hpcc(_) | Ways::DModK(_) => shortest(),
            Ways::Trees(trees) => trees.longest(&self.topology, &self.graph, &switches),
            Ways::Static(table) => table.longest().max(shortest()),
        };
        let several =
            |(_, hosts): &(u32, Vec<Alike>)| hosts.len() > 1 || hosts.iter().any(|h| h.second.is_some());
        match hosted.len() {
            0 => usize::from(!self.representative_pairs().is_empty()),
            1 if !several(&hosted[0]) => 0,
            _ => between + 2,
        }
    }

    /// Ordered pairs of hosts among which every length of path occurs: for each two switches with hosts, and within
    /// each, one pair for every combination of differing host links. With more than 256 such switches, only pairs of
    /// which one is at one of 256 evenly chosen switches. Pairs with a listed route come beside them.
    pub fn representative_pairs(&self) -> Vec<(NodeId, NodeId)> {
        let hosted = self.hosted();
        let count = hosted.len();
        let origins = count.min(MOST_ORIGINS);
        let mut chosen = vec![false; count];
        for i in 0..origins {
            chosen[i * count / origins] = true;
        }
        let mut pairs = Vec::new();
        for (i, (_, from)) in hosted.iter().enumerate() {
            for (j, (_, to)) in hosted.iter().enumerate().filter(|(j, _)| chosen[i] || chosen[*j]) {
                for (x, a) in from.iter().enumerate() {
                    for (y, b) in to.iter().enumerate() {
                        let other = if i == j && x == y { a.second } else { Some(b.first) };
                        pairs.extend(other.map(|b| (a.first, b)));
                    }
                }
            }
        }
        pairs.extend(self.linked_directly());
        if let Ways::Static(table) = &self.ways {
            let present: BTreeSet<_> = pairs.iter().copied().collect();
            let listed: BTreeSet<_> = table.pairs().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
            pairs.extend(listed.difference(&present));
        }
        pairs
    }

    /// Pairs of hosts with a link between them and no switch.
    fn linked_directly(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        let host = |n: NodeId| self.topology.nodes[n as usize].kind == NodeKind::Host;
        let ends = self.topology.links.iter().map(|l| (l.a, l.b));
        ends.filter(move |&(a, b)| host(a) && host(b)).flat_map(|(a, b)| [(a, b), (b, a)])
    }

    /// The switches with hosts, and those in groups of like links.
    fn hosted(&self) -> Vec<(u32, Vec<Alike>)> {
        let mut groups: Vec<Vec<Alike>> = (0..self.graph.len()).map(|_| Vec::new()).collect();
        for host in self.topology.hosts() {
            let attached = self.graph.host_port(host).zip(self.graph.switch_of_host(host));
            let Some((port, switch)) = attached else { continue };
            let t = &self.topology;
            let link = (t.rate(port), t.rate(peer(port)), t.delay(port), t.delay(peer(port)));
            let group = &mut groups[switch as usize];
            match group.iter_mut().find(|g| g.link == link) {
                None => group.push(Alike { link, first: host, second: None }),
                Some(alike) => alike.second = alike.second.or(Some(host)),
            }
        }
        groups.into_iter().zip(0..).map(|(g, s)| (s, g)).filter(|(_, g)| !g.is_empty()).collect()
    }
}
