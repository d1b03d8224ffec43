//! Equal-cost next hops of each switch towards each other switch, for packets whose paths are chosen packet by packet.

use std::collections::HashMap;

use super::switches::UNREACHED;
use super::{Candidate, HostNic, PathChoice, Router};
use crate::ids::{NodeId, PortId};
use crate::path::topology::Topology;

/// By switch and destination switch: the egress ports that lead nearer, each with the number of shortest paths behind it.
#[derive(Clone, Debug)]
pub struct NextHops {
    choice: PathChoice,
    /// By node: the index of the node among switches.
    index: Vec<u32>,
    /// By port: the node of the port.
    node_of: Vec<NodeId>,
    switches: usize,
    /// By switch: its row in `list_of` if it has hosts, since packets go to no other switch.
    row_of: Vec<u32>,
    /// By row of the destination switch, then switch: the number of the switch's list of candidates.
    list_of: Vec<u32>,
    /// By list: where it begins in `candidates`; the last entry is the end of all.
    first: Vec<u32>,
    /// The distinct lists of candidates: egress ports, each with the number of shortest paths behind it. A switch of a fat-tree
    /// has few of them, whatever the number of switches.
    candidates: Vec<Candidate>,
}

impl NextHops {
    /// The next hops of a router whose packets' paths are chosen by `choice`.
    pub(super) fn new(topology: &Topology, router: &Router, choice: PathChoice) -> NextHops {
        let graph = &router.graph;
        let switches = graph.len();
        let index = NodeId::all(topology.nodes.len()).map(|node| graph.switch(node)).collect();
        let node_of = topology.port_ids().map(|port| topology.node_of(port)).collect();
        let has_hosts = hosted(topology, router);
        let (mut row_of, mut list_of) = (vec![u32::MAX; switches], Vec::new());
        let (mut first, mut candidates) = (vec![0], Vec::new());
        let (mut known, mut list) = (HashMap::new(), Vec::new());
        for (row, to) in (0..switches as u32).filter(|&to| has_hosts[to as usize]).enumerate() {
            row_of[to as usize] = row as u32;
            let distance = graph.distances(to);
            let nearer = |at: u32| {
                let left = distance[at as usize];
                let links = graph.links(at).iter().copied();
                let distance = &distance;
                links.filter(move |&(_, next)| left != UNREACHED && distance_is(distance, next, left))
            };
            // Shortest paths from each switch, counted from the destination outwards.
            let mut order: Vec<u32> = (0..switches as u32).collect();
            order.sort_by_key(|&at| distance[at as usize]);
            let mut paths = vec![0u32; switches];
            paths[to as usize] = 1;
            for &at in order.iter().filter(|&&at| at != to) {
                paths[at as usize] =
                    nearer(at).fold(0, |sum: u32, (_, next)| sum.saturating_add(paths[next as usize]));
            }
            for at in 0..switches as u32 {
                list.clear();
                list.extend(nearer(at).map(|(port, next)| (port, paths[next as usize])));
                let number = known.get(&list).copied().unwrap_or_else(|| {
                    candidates.extend_from_slice(&list);
                    first.push(candidates.len() as u32);
                    let number = first.len() as u32 - 2;
                    known.insert(list.clone(), number);
                    number
                });
                list_of.push(number);
            }
        }
        NextHops { choice, index, node_of, switches, row_of, list_of, first, candidates }
    }

    /// Who chooses among the next hops.
    pub fn choice(&self) -> PathChoice {
        self.choice
    }

    /// The next hop from a switch to the host's port `end`: `Ok` with the last port if the host is attached to the switch,
    /// otherwise `Err` with the candidates, each with the number of shortest paths behind it.
    #[inline]
    pub fn towards(&self, switch: NodeId, end: PortId) -> Result<PortId, &[Candidate]> {
        let last = end.peer();
        let to = self.node_of[last.index()];
        if to == switch {
            return Ok(last);
        }
        let row = self.row_of[self.index[to.index()] as usize] as usize;
        let list = self.list_of[row * self.switches + self.index[switch.index()] as usize] as usize;
        Err(&self.candidates[self.first[list] as usize..self.first[list + 1] as usize])
    }

    /// Links of the longest of the shortest paths between two hosts of different switches.
    pub(crate) fn max_links(&self) -> usize {
        let switches: Vec<NodeId> =
            (0..self.index.len()).map(NodeId::at).filter(|n| self.index[n.index()] != u32::MAX).collect();
        let mut longest = 2;
        for &row in self.row_of.iter().filter(|row| **row != u32::MAX) {
            let list = |node: NodeId| {
                let list =
                    self.list_of[row as usize * self.switches + self.index[node.index()] as usize] as usize;
                &self.candidates[self.first[list] as usize..self.first[list + 1] as usize]
            };
            for &from in &switches {
                let (mut at, mut links) = (from, 2);
                while let Some(&(port, _)) = list(at).first() {
                    at = self.node_of[port.peer().index()];
                    links += 1;
                }
                longest = longest.max(links);
            }
        }
        longest
    }

    /// The number of shortest paths from the host's port `start` to the host's port `end`.
    pub fn paths(&self, start: PortId, end: PortId) -> u32 {
        if start.peer() == end {
            return 1; // two hosts with a link between them
        }
        let first = self.node_of[start.peer().index()];
        match self.towards(first, end) {
            Ok(_) => 1,
            Err(candidates) => {
                candidates.iter().fold(0u32, |sum, &(_, paths)| sum.saturating_add(paths)).max(1)
            }
        }
    }
}

/// By switch: whether a host is attached to it.
fn hosted(topology: &Topology, router: &Router) -> Vec<bool> {
    let mut hosted = vec![false; router.graph.len()];
    for host in topology.hosts() {
        for nic in 0..router.graph.nics(host) {
            if let Some(switch) = router.graph.switch_of(HostNic { host, nic }) {
                hosted[switch as usize] = true;
            }
        }
    }
    hosted
}

/// Whether a switch is one link nearer than `left` links.
fn distance_is(distance: &[u32], switch: u32, left: u32) -> bool {
    distance[switch as usize] != UNREACHED && distance[switch as usize] + 1 == left
}
