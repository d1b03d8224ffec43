//! Equal-cost next hops of each switch towards each other switch, for packets whose paths are chosen packet by packet.

use std::collections::HashMap;

use xoff_engine::Time;

use super::detours::{Detours, towards_groups};
use super::metric::Metric;
use super::switches::{SwitchGraph, UNREACHED};
use super::{Candidate, HostNic, PathChoice, Router};
use crate::ids::{NodeId, PortId};
use crate::path::topology::Topology;

/// By switch and destination switch: the egress ports that lead nearer, each with the number of shortest paths behind it. If
/// packets may go by other groups, also by switch and group.
#[derive(Clone, Debug)]
pub struct NextHops {
    choice: PathChoice,
    detours: Option<Detours>,
    flowlet_gap: Time,
    /// By node: the index of the node among switches.
    index: Vec<u32>,
    /// By port: the node of the port.
    node_of: Vec<NodeId>,
    switches: usize,
    /// By switch: its row in `list_of` if it has hosts, since packets go to no other switch.
    row_of: Vec<u32>,
    /// The first group's row in `list_of`; the other groups follow.
    group_row: usize,
    /// By row of the destination switch or group, then switch: the number of the switch's list of candidates.
    list_of: Vec<u32>,
    lists: Lists,
}

/// The distinct lists of candidates: egress ports, each with the number of shortest paths behind it. A switch of a fat-tree
/// has few of them, whatever the number of switches.
#[derive(Clone, Debug)]
struct Lists {
    /// By list: where it begins in `candidates`; the last entry is the end of all.
    first: Vec<u32>,
    candidates: Vec<Candidate>,
    known: HashMap<Vec<Candidate>, u32>,
}

impl Lists {
    /// The number of a list.
    fn number(&mut self, list: &[Candidate]) -> u32 {
        if let Some(&number) = self.known.get(list) {
            return number;
        }
        self.candidates.extend_from_slice(list);
        self.first.push(self.candidates.len() as u32);
        let number = self.first.len() as u32 - 2;
        self.known.insert(list.to_vec(), number);
        number
    }

    #[inline]
    fn list(&self, number: u32) -> &[Candidate] {
        let list = number as usize;
        &self.candidates[self.first[list] as usize..self.first[list + 1] as usize]
    }

    /// Appends to `list_of` the number of each switch's list towards what lies at these distances.
    fn add_row(&mut self, graph: &SwitchGraph, metric: &Metric, distance: &[u32], list_of: &mut Vec<u32>) {
        let switches = graph.len();
        let nearer = |at: u32| {
            let left = distance[at as usize];
            let links = graph.links(at).iter().copied();
            links.filter(move |&(_, next)| {
                let behind = distance[next as usize];
                left != UNREACHED && behind != UNREACHED && behind + metric.cost(at, next) == left
            })
        };
        // Shortest paths from each switch, counted from the destination outwards.
        let mut order: Vec<u32> = (0..switches as u32).collect();
        order.sort_by_key(|&at| distance[at as usize]);
        let mut paths = vec![0u32; switches];
        for &at in &order {
            paths[at as usize] = if distance[at as usize] == 0 {
                1
            } else {
                nearer(at).fold(0, |sum: u32, (_, next)| sum.saturating_add(paths[next as usize]))
            };
        }
        let mut list = Vec::new();
        for at in 0..switches as u32 {
            list.clear();
            list.extend(nearer(at).map(|(port, next)| (port, paths[next as usize])));
            list_of.push(self.number(&list));
        }
    }
}

/// The candidate that has this number among all paths, of which each candidate has a share; a number beyond all of them wraps.
/// The number becomes that of the path among those behind the candidate.
#[inline]
pub(super) fn share(candidates: &[Candidate], number: &mut u64) -> Option<PortId> {
    let paths: u64 = candidates.iter().map(|&(_, paths)| u64::from(paths)).sum();
    *number %= paths.max(1);
    for &(port, paths) in candidates {
        if *number < u64::from(paths) {
            return Some(port);
        }
        *number -= u64::from(paths);
    }
    None
}

impl NextHops {
    /// The next hops of a router whose packets' paths are chosen by `choice`.
    pub(super) fn new(topology: &Topology, router: &Router, choice: PathChoice) -> NextHops {
        let graph = &router.graph;
        let switches = graph.len();
        let index = NodeId::all(topology.nodes.len()).map(|node| graph.switch(node)).collect();
        let node_of = topology.port_ids().map(|port| topology.node_of(port)).collect();
        let has_hosts = hosted(topology, router);
        let metric = router.metric();
        let (mut row_of, mut list_of) = (vec![u32::MAX; switches], Vec::new());
        let mut lists = Lists { first: vec![0], candidates: Vec::new(), known: HashMap::new() };
        let targets = (0..switches as u32).filter(|&to| has_hosts[to as usize]);
        for (row, to) in targets.enumerate() {
            row_of[to as usize] = row as u32;
            lists.add_row(graph, metric, &metric.distances(graph, &[to]), &mut list_of);
        }
        let group_row = list_of.len() / switches.max(1);
        let detours = router.detours();
        if detours.is_some() {
            for distances in towards_groups(graph, metric) {
                lists.add_row(graph, metric, &distances, &mut list_of);
            }
        }
        lists.known = HashMap::new();
        let flowlet_gap = router.flowlet_gap;
        NextHops { choice, detours, flowlet_gap, index, node_of, switches, row_of, group_row, list_of, lists }
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
        Err(self.lists.list(self.list_of[row * self.switches + self.index[switch.index()] as usize]))
    }

    /// The next hops from a switch to a group that it does not belong to.
    #[inline]
    pub fn towards_group(&self, switch: NodeId, group: u32) -> &[Candidate] {
        let row = self.group_row + group as usize;
        self.lists.list(self.list_of[row * self.switches + self.index[switch.index()] as usize])
    }

    /// A flowlet ends when no packet has left for this time.
    pub fn flowlet_gap(&self) -> Time {
        self.flowlet_gap
    }

    /// The ways by other groups; `None` if packets take the shortest paths alone.
    #[inline]
    pub fn detours(&self) -> Option<&Detours> {
        self.detours.as_ref()
    }

    /// The node of a port.
    #[inline]
    pub fn node_of(&self, port: PortId) -> NodeId {
        self.node_of[port.index()]
    }

    /// The candidate that has this number among all paths; the number becomes that of the path among those behind it.
    #[inline]
    pub fn by_number(candidates: &[Candidate], number: &mut u64) -> Option<PortId> {
        share(candidates, number)
    }

    /// Links of the longest of the shortest paths between two hosts of different switches.
    pub(crate) fn max_links(&self) -> usize {
        let switches: Vec<NodeId> =
            (0..self.index.len()).map(NodeId::at).filter(|n| self.index[n.index()] != u32::MAX).collect();
        let mut longest = 2;
        for &row in self.row_of.iter().filter(|row| **row != u32::MAX) {
            let list = |node: NodeId| {
                let row = row as usize * self.switches;
                self.lists.list(self.list_of[row + self.index[node.index()] as usize])
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
