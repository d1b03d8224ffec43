//! The k shortest paths between two switches (Yen, "Finding the K Shortest Loopless Paths in a Network", Management Science 1971), of
//! which each connection takes one by its hash: what Jellyfish routes by (Singla et al., NSDI 2012, Section 5), since equal-cost
//! paths alone are few in a random graph.
//!
//! Paths of any graph may wait for each other in a circle. With a lane for each link between switches, a packet that has passed n of them
//! goes on by lane n, so that lanes only rise and no circle is left.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::choice::{Choice, Mixing};
use super::lanes::{LaneLink, LaneRule, Lanes, MAX_LANES};
use super::params::KShortest;
use super::switches::{SwitchGraph, UNREACHED};
use super::{End, RoutingError};
use crate::path::topology::{NodeKind, PortId, Topology};

/// Ports between two switches.
type Path = Vec<PortId>;

/// The paths of a network, made when a connection first asks for them.
#[derive(Clone, Debug)]
pub(super) struct KPaths {
    k: usize,
    /// Maximum number of links between two switches.
    max_links: usize,
    choice: Mixing,
    /// By sending switch, then receiving switch.
    paths: Box<[OnceLock<Box<[Path]>>]>,
    /// By port: the switch at the other end.
    to: Box<[u32]>,
}

/// Maximum number of paths of a pair of switches.
pub const MAX_PATHS: u32 = 64;

impl KPaths {
    /// The paths, and the lanes that they take.
    pub fn new(
        topology: &Topology,
        graph: &SwitchGraph,
        params: &KShortest,
        choice: Mixing,
    ) -> Result<(KPaths, Option<Lanes>), RoutingError> {
        let is_host = |port: PortId| topology.nodes[topology.node_of(port).index()].kind == NodeKind::Host;
        let link = |port: PortId| {
            let between = !is_host(port) && !is_host(port.peer());
            LaneLink { dimension: between.into(), crosses: false }
        };
        let to = topology.port_ids().map(|port| graph.switch(topology.node_of(port.peer()))).collect();
        let lanes = (params.lanes > 1).then(|| Lanes::new(topology, params.lanes, LaneRule::ByHop, link));
        // On one lane the length of a path makes no difference to the lanes.
        let max_links = if params.lanes > 1 { usize::from(params.lanes) } else { usize::MAX };
        let pairs = graph.len() * graph.len();
        let paths = (0..pairs).map(|_| OnceLock::new()).collect();
        let all = KPaths { k: params.k as usize, max_links, choice, paths, to };
        all.check_lengths(graph, params.lanes)?;
        Ok((all, lanes))
    }

    /// Refuses shortest paths that have more links than there are lanes.
    fn check_lengths(&self, graph: &SwitchGraph, lanes: u8) -> Result<(), RoutingError> {
        if lanes == 1 {
            return Ok(());
        }
        let far = |to: u32| graph.distances(to).into_iter().filter(|&d| d != UNREACHED).max();
        let longest = (0..graph.len() as u32).filter_map(far).max().unwrap_or(0);
        if longest > u32::from(lanes) {
            return Err(RoutingError::FewLanes { lanes, links: longest, max: MAX_LANES });
        }
        Ok(())
    }

    /// Appends the ports of one of the paths between two switches, by the flow's hash; `None` if there is no path.
    pub fn path(
        &self,
        graph: &SwitchGraph,
        from: End,
        to: End,
        key: u64,
        out: &mut Vec<PortId>,
    ) -> Option<()> {
        if from.switch == to.switch {
            return Some(());
        }
        let hash = self.choice.flow(from.address(), to.address(), key);
        let paths = self.between(graph, from.switch, to.switch);
        let pick = self.choice.at(hash, graph.node(from.switch), paths.len().max(1));
        out.extend_from_slice(paths.get(pick)?);
        Some(())
    }

    /// Maximum number of links between any two of these switches.
    pub fn longest(&self, graph: &SwitchGraph, switches: &[u32]) -> usize {
        if self.max_links != usize::MAX {
            return self.max_links;
        }
        let pairs = switches.iter().flat_map(|&from| switches.iter().map(move |&to| (from, to)));
        let paths =
            pairs.filter(|(from, to)| from != to).flat_map(|(from, to)| self.between(graph, from, to));
        paths.map(Vec::len).max().unwrap_or(0)
    }

    /// The paths between two switches, shortest first.
    pub fn between(&self, graph: &SwitchGraph, from: u32, to: u32) -> &[Path] {
        self.paths[from as usize * graph.len() + to as usize]
            .get_or_init(|| self.search(graph, from, to).into())
    }

    /// Yen's search: each further path leaves a known one at some switch, by a link that no known path with the same
    /// beginning takes.
    fn search(&self, graph: &SwitchGraph, from: u32, to: u32) -> Vec<Path> {
        let Some(first) = self.shortest(graph, from, to, &BTreeSet::new(), &[]) else { return Vec::new() };
        let mut known = vec![first];
        let mut candidates: BTreeSet<(usize, Path)> = BTreeSet::new();
        while known.len() < self.k {
            let last = known[known.len() - 1].clone();
            let mut passed = Vec::new();
            let mut at = from;
            for (place, &port) in last.iter().enumerate() {
                let root = &last[..place];
                let taken =
                    known.iter().filter(|path| path.starts_with(root)).filter_map(|path| path.get(place));
                let taken: BTreeSet<PortId> = taken.copied().collect();
                if let Some(spur) = self.shortest(graph, at, to, &taken, &passed) {
                    let path: Path = root.iter().copied().chain(spur).collect();
                    if path.len() <= self.max_links && !known.contains(&path) {
                        candidates.insert((path.len(), path));
                    }
                }
                passed.push(at);
                at = self.to[port.index()];
            }
            let Some((_, next)) = candidates.pop_first() else { break };
            known.push(next);
        }
        known
    }

    /// A shortest path between two switches that begins with none of these ports and passes none of these switches.
    fn shortest(
        &self,
        graph: &SwitchGraph,
        from: u32,
        to: u32,
        without: &BTreeSet<PortId>,
        passed: &[u32],
    ) -> Option<Path> {
        let mut came_by: Vec<Option<(u32, PortId)>> = vec![None; graph.len()];
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            if at == to {
                break;
            }
            for &(port, there) in graph.links(at) {
                let barred = at == from && without.contains(&port);
                if !barred && there != from && !passed.contains(&there) && came_by[there as usize].is_none() {
                    came_by[there as usize] = Some((at, port));
                    reached.push(there);
                }
            }
        }
        let steps = std::iter::successors(came_by[to as usize], |&(at, _)| came_by[at as usize]);
        let mut path: Path = steps.map(|(_, port)| port).collect();
        path.reverse();
        (!path.is_empty()).then_some(path)
    }
}
