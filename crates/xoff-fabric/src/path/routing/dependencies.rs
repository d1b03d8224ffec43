//! Whether paths can lead to a deadlock (Dally and Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection
//! Networks, IEEE Transactions on Computers 1987): if flow control holds a link's packets until the next link takes them,
//! a network never deadlocks as long as no link waits for itself over other links.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use super::{HostNic, NextHops, Router, RoutingError};
use crate::path::topology::PortId;

/// Which link waits for which: if a path passes two links one after the other, the first waits for the second. A link's
/// number is that of the egress port at its beginning.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    graph: DiGraphMap<PortId, ()>,
}

impl Dependencies {
    /// Adds the dependencies of a path, in the form that [`Router::path`] gives.
    pub fn add(&mut self, path: &[PortId]) {
        for pair in path.windows(2) {
            self.graph.add_edge(pair[0], pair[1], ());
        }
    }

    /// Links that wait for each other in a circle, ascending; empty if there is no circle.
    pub fn cycle(&self) -> Vec<PortId> {
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
            return self.dependencies_by_hop(&hops);
        }
        let hosts = self.topology.hosts();
        let (mut dependencies, mut path) = (Dependencies::default(), Vec::new());
        for &src in &hosts {
            for &dst in hosts.iter().filter(|&&dst| dst != src) {
                for (nic, flow) in (0..self.nics(src)?).flat_map(|nic| (0..flows).map(move |f| (nic, f))) {
                    let (from, to) = self.ends(src, dst, nic)?;
                    path.clear();
                    self.path_between(from, to, flow, &mut path)?;
                    dependencies.add(&path);
                    path.clear();
                    self.ack_path_between(from, to, flow, &mut path)?;
                    dependencies.add(&path);
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
}
