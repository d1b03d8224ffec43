//! Hosts with several NICs: which NICs talk to each other, and whether a path connects them.
//!
//! A connection is bound to a NIC at each end: NIC k of its sender, and NIC k mod n of a receiver with n NICs. So rail i
//! talks to rail i, plane i to plane i, and a host with one NIC to all NICs of another host.

use super::adjacency::Adjacency;
use super::builder::at_least;
use super::error::TopologyError;
use super::{NodeId, NodeKind, PortId, Topology};

/// Maximum number of NICs of a host.
pub const MAX_NICS: u32 = 64;

/// The number of the NIC that talks to NIC `nic` of another host, at a host with this number of `nics`, at least one.
pub const fn peer_nic(nic: u32, nics: u32) -> u32 {
    nic % nics
}

/// NICs of a built topology's hosts: `planes` disjoint copies of the fabric, and in each copy a NIC for each of `rails`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nics {
    pub planes: u32,
    pub rails: u32,
}

impl Nics {
    /// The NICs that `planes` and `rails` make.
    pub(super) fn new(planes: u32, rails: u32) -> Result<Nics, TopologyError> {
        at_least("planes", planes, 1)?;
        at_least("rails", rails, 1)?;
        let nics = u64::from(planes) * u64::from(rails);
        if nics > u64::from(MAX_NICS) {
            return Err(TopologyError::TooManyNics { key: if rails > 1 { "rails" } else { "planes" }, nics });
        }
        Ok(Nics { planes, rails })
    }

    /// The number of groups of `switches`, with one switch for each rail in a group; errors call the switches `what`.
    pub(super) fn groups(self, switches: u32, what: &str) -> Result<u32, TopologyError> {
        if switches.is_multiple_of(self.rails) {
            return Ok(switches / self.rails);
        }
        Err(TopologyError::Rails { rails: self.rails, switches: format!("{switches} {what}") })
    }

    /// The numbers of the switches to which the NICs of a host in a group go, with `switches` in each plane.
    pub(super) fn switches(self, group: u32, switches: u32) -> impl Iterator<Item = u32> {
        let first = group * self.rails;
        (0..self.planes)
            .flat_map(move |plane| (0..self.rails).map(move |rail| plane * switches + first + rail))
    }
}

impl Topology {
    /// Refuses a NIC that no path connects with its peer at another host.
    pub(super) fn validate_nics(&self, adjacency: &Adjacency, hosts: &[NodeId]) -> Result<(), TopologyError> {
        let component = self.components();
        let nics = |host: NodeId| adjacency.ports_of(host);
        let at = |port: PortId| component[port.link()];
        // Checking the first host with the maximum number of NICs is enough: hosts that are connected with this host NIC by
        // NIC are connected with each other NIC by NIC.
        let max = hosts.iter().map(|&host| nics(host).len()).max();
        let Some(&first) = hosts.iter().find(|&&host| Some(nics(host).len()) == max) else { return Ok(()) };
        for &other in hosts.iter().filter(|&&host| host != first) {
            let count = nics(other).len() as u32;
            for (nic_a, &port) in (0..).zip(nics(first)) {
                let nic_b = peer_nic(nic_a, count);
                if at(port) != at(nics(other)[nic_b as usize]) {
                    let name = |node: NodeId| self.nodes[node.index()].name.clone();
                    let (a, b) = (name(first), name(other));
                    return Err(if max == Some(1) {
                        TopologyError::Disconnected { a, b }
                    } else {
                        TopologyError::NicsDisconnected { a, nic_a, b, nic_b }
                    });
                }
            }
        }
        Ok(())
    }

    /// By link: the lowest number of a link that is connected with the link through switches.
    fn components(&self) -> Vec<u32> {
        let mut root: Vec<u32> = (0..self.links.len() as u32).collect();
        fn find(root: &mut [u32], mut link: u32) -> u32 {
            while root[link as usize] != link {
                root[link as usize] = root[root[link as usize] as usize];
                link = root[link as usize];
            }
            link
        }
        let mut at_node = vec![u32::MAX; self.nodes.len()];
        for port in self.port_ids() {
            let node = self.node_of(port).index();
            if self.nodes[node].kind == NodeKind::Host {
                continue;
            }
            let known = std::mem::replace(&mut at_node[node], port.link() as u32);
            if known != u32::MAX {
                let (a, b) = (find(&mut root, known), find(&mut root, port.link() as u32));
                root[a.max(b) as usize] = a.min(b);
            }
        }
        (0..root.len() as u32).map(|link| find(&mut root, link)).collect()
    }
}
