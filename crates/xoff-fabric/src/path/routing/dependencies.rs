//! Whether paths can lead to a deadlock (Dally and Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection
//! Networks, IEEE Transactions on Computers 1987): if flow control holds a link's packets until the next link takes them,
//! a network never deadlocks as long as no link waits for itself over other links.

use std::collections::BTreeSet;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use super::{Detours, HostNic, Lanes, NextHops, Router, RoutingError};
use crate::path::topology::PortId;

/// Which link waits for which: if a path passes two links one after the other, the first waits for the second. A link's
/// number is that of the egress port at its beginning. Each virtual lane of a link has buffers of its own, and waits by itself.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    graph: DiGraphMap<(PortId, u8), ()>,
}

impl Dependencies {
    /// Adds the dependencies of a path on one lane, in the form that [`Router::path`] gives.
    pub fn add(&mut self, path: &[PortId]) {
        for pair in path.windows(2) {
            self.graph.add_edge((pair[0], 0), (pair[1], 0), ());
        }
    }

    /// Adds the dependencies of a path with the lane of each link.
    pub fn add_on_lanes(&mut self, path: &[(PortId, u8)]) {
        for pair in path.windows(2) {
            self.graph.add_edge(pair[0], pair[1], ());
        }
    }

    /// Links that wait for each other in a circle, ascending; empty if there is no circle.
    pub fn cycle(&self) -> Vec<PortId> {
        let mut links: Vec<PortId> = self.cycle_on_lanes().into_iter().map(|(port, _)| port).collect();
        links.dedup();
        links
    }

    /// Lanes of links that wait for each other in a circle, ascending; empty if there is no circle.
    pub fn cycle_on_lanes(&self) -> Vec<(PortId, u8)> {
        // A path never passes a link twice in a row, so a circle has at least two links.
        let circle = tarjan_scc(&self.graph).into_iter().find(|links| links.len() > 1);
        let mut links = circle.unwrap_or_default();
        links.sort_unstable();
        links
    }
}

impl Router {
    /// The dependencies of data and ACKs between all pairs of hosts, with `flows` flows from each NIC; if paths are chosen
    /// by packet, the dependencies of all paths that a packet may take.
    ///
    /// # Errors
    /// [`RoutingError`] if two hosts have no path.
    pub fn dependencies(&self, flows: u64) -> Result<Dependencies, RoutingError> {
        if let Some(hops) = self.next_hops() {
            return match (hops.detours(), self.lanes()) {
                (Some(detours), Some(lanes)) => self.dependencies_by_detour(&hops, detours, lanes),
                _ => self.dependencies_by_hop(&hops),
            };
        }
        let hosts = self.topology.hosts();
        let (mut dependencies, mut path) = (Dependencies::default(), Vec::new());
        for &src in &hosts {
            for &dst in hosts.iter().filter(|&&dst| dst != src) {
                for (nic, flow) in (0..self.nics(src)?).flat_map(|nic| (0..flows).map(move |f| (nic, f))) {
                    let (from, to) = self.ends(src, dst, nic)?;
                    let mut add = |path: &[PortId]| match self.lanes() {
                        Some(lanes) => dependencies.add_on_lanes(&lanes.along(path)),
                        None => dependencies.add(path),
                    };
                    path.clear();
                    self.path_between(from, to, flow, &mut path)?;
                    add(&path);
                    path.clear();
                    self.ack_path_between(from, to, flow, &mut path)?;
                    add(&path);
                }
            }
        }
        Ok(dependencies)
    }

    /// The dependencies between the links to each switch and the next hops there, towards each host.
    fn dependencies_by_hop(&self, hops: &NextHops) -> Result<Dependencies, RoutingError> {
        let hosts = self.topology.hosts();
        let mut dependencies = Dependencies::default();
        let mut add = |before: PortId, end: PortId| {
            let switch = self.topology.node_of(before.peer());
            match hops.towards(switch, end) {
                Ok(last) => dependencies.add(&[before, last]),
                Err(next) => next.iter().for_each(|&(port, _)| dependencies.add(&[before, port])),
            }
        };
        for &dst in &hosts {
            for &src in hosts.iter().filter(|&&src| src != dst) {
                for nic in 0..self.nics(src)? {
                    let (from, to) = self.ends(src, dst, nic)?;
                    let (start, end) = (self.nic_port(from)?, self.nic_port(to)?);
                    if start.peer() != end {
                        add(start, end);
                    }
                }
            }
            for nic in 0..self.nics(dst)? {
                let end = self.nic_port(HostNic { host: dst, nic })?;
                for switch in 0..self.graph.len() as u32 {
                    if let Err(next) = hops.towards(self.graph.node(switch), end) {
                        next.iter().for_each(|&(port, _)| add(port, end));
                    }
                }
            }
        }
        Ok(dependencies)
    }

    /// The dependencies of all paths that packets may take, directly and by each other group.
    fn dependencies_by_detour(
        &self,
        hops: &NextHops,
        detours: &Detours,
        lanes: &Lanes,
    ) -> Result<Dependencies, RoutingError> {
        let hosts = self.topology.hosts();
        let mut dependencies = Dependencies::default();
        for &dst in &hosts {
            // A packet on a lane of the link that begins at a port, with the group that the packet has yet to reach.
            let (mut seen, mut reached) = (BTreeSet::new(), Vec::new());
            let mut end = None;
            for &src in hosts.iter().filter(|&&src| src != dst) {
                let (from, to) = self.ends(src, dst, 0)?;
                let (start, last) = (self.nic_port(from)?, self.nic_port(to)?);
                end = Some(last);
                let group = |port: PortId| detours.group(self.topology.node_of(port.peer()));
                let (here, there) = (group(start), group(last));
                let others = (0..detours.groups).filter(|&via| here != there && via != here && via != there);
                reached.extend(others.map(Some).chain([None]).map(|via| (start, 0, via)));
            }
            let Some(end) = end else { continue };
            while let Some((port, lane, mut via)) = reached.pop() {
                if !seen.insert((port, lane, via)) {
                    continue;
                }
                let switch = self.topology.node_of(port.peer());
                via = via.filter(|&group| detours.group(switch) != group);
                let mut go = |next: PortId| {
                    let on = lanes.next(port.peer(), next, lane);
                    dependencies.add_on_lanes(&[(port, lane), (next, on)]);
                    on
                };
                let candidates = match via {
                    Some(group) => hops.towards_group(switch, group),
                    None => match hops.towards(switch, end) {
                        Err(candidates) => candidates,
                        Ok(last) => {
                            go(last);
                            continue;
                        }
                    },
                };
                for &(next, _) in candidates {
                    reached.push((next, go(next), via));
                }
            }
        }
        Ok(dependencies)
    }
}
