//! Checks that every topology must pass.

use std::collections::HashSet;

use xoff_engine::{Rate, Time};

use super::adjacency::Adjacency;
use super::error::TopologyError;
use super::nics::MAX_NICS;
use super::{Node, NodeId, NodeKind, Topology};

/// Maximum number of nodes of a topology.
pub const MAX_NODES: u32 = 2_000_000;
/// Maximum number of links of a topology.
pub const MAX_LINKS: u32 = 10_000_000;
/// Maximum rate of a link: beyond every announced Ethernet and InfiniBand rate.
pub const MAX_RATE: Rate = Rate(10_000_000_000_000);
/// Maximum propagation delay of a link: ten light seconds, far beyond any cable, and short enough that sums
/// along the longest path fit into [`Time`].
pub const MAX_DELAY: Time = Time(10_000_000_000_000);

/// Refuses more nodes or links than the maximum. The counts are 128 bits wide, so that products of three 32-bit
/// parameters are exact and the message names the numbers that were asked for.
pub(super) fn check_size(nodes: u128, links: u128) -> Result<(), TopologyError> {
    if nodes > u128::from(MAX_NODES) || links > u128::from(MAX_LINKS) {
        return Err(TopologyError::TooLarge { nodes, links });
    }
    Ok(())
}

impl Topology {
    /// Checks that the network can be simulated: names are unique and not empty, there is a host, each host has a link and
    /// at most [`MAX_NICS`], every NIC of a host is connected with its peer at every other host ([`super::peer_nic`]), no
    /// link connects a node to itself, rates are from 1 bps to [`MAX_RATE`], delays do not exceed [`MAX_DELAY`], and the
    /// numbers of nodes and links do not exceed [`MAX_NODES`] and [`MAX_LINKS`].
    ///
    /// # Errors
    /// The first [`TopologyError`] that is found.
    pub fn validate(&self) -> Result<(), TopologyError> {
        check_size(self.nodes.len() as u128, self.links.len() as u128)?;
        self.validate_names()?;
        self.validate_links()?;
        self.validate_hosts()
    }

    fn validate_names(&self) -> Result<(), TopologyError> {
        let mut seen = HashSet::with_capacity(self.nodes.len());
        for (i, Node { name, .. }) in self.nodes.iter().enumerate() {
            if name.is_empty() {
                return Err(TopologyError::EmptyName { node: i });
            }
            if !seen.insert(name.as_str()) {
                return Err(TopologyError::DuplicateNode { name: name.clone() });
            }
        }
        Ok(())
    }

    fn validate_links(&self) -> Result<(), TopologyError> {
        for (i, link) in self.links.iter().enumerate() {
            let nodes = self.nodes.len();
            for node in [link.a, link.b] {
                if node.index() >= nodes {
                    return Err(TopologyError::NoSuchNode { link: i, node, nodes });
                }
            }
            let name = |node: NodeId| self.nodes[node.index()].name.clone();
            if link.a == link.b {
                return Err(TopologyError::SelfLoop { link: i, name: name(link.a) });
            }
            let ways = [
                (link.a, link.b, link.rate_ab, link.delay_ab),
                (link.b, link.a, link.rate_ba, link.delay_ba),
            ];
            for (from, to, rate, delay) in ways {
                if rate < Rate(1) || rate > MAX_RATE {
                    return Err(TopologyError::Rate { from: name(from), to: name(to), rate });
                }
                if delay > MAX_DELAY {
                    return Err(TopologyError::Delay { from: name(from), to: name(to), delay });
                }
            }
        }
        Ok(())
    }

    fn validate_hosts(&self) -> Result<(), TopologyError> {
        let adjacency = self.adjacency();
        let hosts = self.hosts();
        if hosts.is_empty() {
            return Err(TopologyError::NoHosts);
        }
        for &host in &hosts {
            let links = adjacency.ports_of(host).len();
            if links == 0 || links > MAX_NICS as usize {
                return Err(TopologyError::HostLinks { host: self.nodes[host.index()].name.clone(), links });
            }
        }
        self.validate_nics(&adjacency, &hosts)
    }

    /// Number of links from the nearest of `sources` to every node; `u32::MAX` if there is no path.
    fn distances(&self, adjacency: &Adjacency, sources: &[NodeId]) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.nodes.len()];
        let mut queue = sources.to_vec();
        for &s in sources {
            distance[s.index()] = 0;
        }
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            for &port in adjacency.ports_of(node) {
                let to = self.node_of(port.peer());
                if distance[to.index()] == u32::MAX {
                    distance[to.index()] = distance[node.index()] + 1;
                    queue.push(to);
                }
            }
        }
        distance
    }

    /// Sets every node's tier to its distance from the nearest host, at most 255.
    pub(super) fn set_tiers(&mut self) {
        let distance = self.distances(&self.adjacency(), &self.hosts());
        for (node, d) in self.nodes.iter_mut().zip(distance) {
            node.tier = if node.kind == NodeKind::Host { 0 } else { u8::try_from(d).unwrap_or(u8::MAX) };
        }
    }
}
