//! The switches and the links between them, without the hosts.

use super::HostNic;
use crate::path::topology::{NodeId, NodeKind, PortId, Topology, peer_nic};

/// Distance to a switch that cannot be reached.
pub(crate) const UNREACHED: u32 = u32::MAX;

const NONE: u32 = u32::MAX;

/// The graph in which paths are searched. There are far more hosts than switches, and no path leads through a host, so
/// the tables have only switches, by an index of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct SwitchGraph {
    /// Node of each switch.
    switches: Vec<NodeId>,
    /// Index of each node that is a switch.
    index: Vec<u32>,
    /// Where each node's NICs begin in `nics`; the last entry is the end of `nics`. Switches have no NICs.
    nic_start: Vec<u32>,
    /// Port and switch of each NIC, in the order of links; [`NONE`] for the switch if the link leads to a host.
    nics: Vec<(PortId, u32)>,
    /// Where each switch's links begin in `links`; the last entry is the end of `links`.
    start: Vec<u32>,
    /// Egress port and the switch at the link's other end, in the order of links.
    links: Vec<(PortId, u32)>,
}

impl SwitchGraph {
    pub(crate) fn new(topology: &Topology) -> SwitchGraph {
        let adjacency = topology.adjacency();
        let is_host = |n: NodeId| topology.nodes[n.index()].kind == NodeKind::Host;
        let nodes = NodeId::all(topology.nodes.len());
        let switches: Vec<NodeId> = nodes.clone().filter(|&n| !is_host(n)).collect();
        let mut index = vec![NONE; topology.nodes.len()];
        for (i, &s) in switches.iter().enumerate() {
            index[s.index()] = i as u32;
        }
        let mut links = Vec::new();
        let mut start = vec![0];
        for &s in &switches {
            let between = |&p: &PortId| (p, index[topology.node_of(p.peer()).index()]);
            links.extend(adjacency.ports_of(s).iter().map(between).filter(|&(_, to)| to != NONE));
            start.push(links.len() as u32);
        }
        let (mut nics, mut nic_start) = (Vec::new(), vec![0]);
        for node in nodes {
            if is_host(node) {
                let attached = |&port: &PortId| (port, index[topology.node_of(port.peer()).index()]);
                nics.extend(adjacency.ports_of(node).iter().map(attached));
            }
            nic_start.push(nics.len() as u32);
        }
        SwitchGraph { switches, index, nic_start, nics, start, links }
    }

    /// The graph without the links that are `dead`, between switches; hosts keep theirs.
    pub(crate) fn without(&self, dead: &[u32]) -> SwitchGraph {
        let (mut links, mut start) = (Vec::with_capacity(self.links.len()), vec![0]);
        for switch in 0..self.len() as u32 {
            let is_dead = |port: &PortId| dead.contains(&(port.link() as u32));
            links.extend(self.links(switch).iter().filter(|(port, _)| !is_dead(port)));
            start.push(links.len() as u32);
        }
        SwitchGraph { links, start, ..self.clone() }
    }
    /// Number of switches.
    pub(crate) fn len(&self) -> usize {
        self.switches.len()
    }
    /// The node of a switch.
    pub(crate) fn node(&self, switch: u32) -> NodeId {
        self.switches[switch as usize]
    }
    /// The index of a node that is a switch.
    pub(crate) fn switch(&self, node: NodeId) -> u32 {
        self.index[node.index()]
    }
    /// Port and switch of each of a host's NICs.
    fn nics_of(&self, host: NodeId) -> &[(PortId, u32)] {
        let host = host.index();
        &self.nics[self.nic_start[host] as usize..self.nic_start[host + 1] as usize]
    }
    /// The number of a host's NICs; 0 for a switch.
    pub(crate) fn nics(&self, host: NodeId) -> u32 {
        self.nics_of(host).len() as u32
    }
    /// The port of a NIC; `None` if the host has no NIC of this number.
    pub(crate) fn nic_port(&self, nic: HostNic) -> Option<PortId> {
        self.nics_of(nic.host).get(nic.nic as usize).map(|&(port, _)| port)
    }
    /// The switch to which a NIC is attached; `None` if its link leads to another host.
    pub(crate) fn switch_of(&self, nic: HostNic) -> Option<u32> {
        self.nics_of(nic.host).get(nic.nic as usize).map(|&(_, switch)| switch).filter(|&s| s != NONE)
    }
    /// The NICs of a host that are attached to a switch.
    pub(crate) fn nics_at(&self, host: NodeId, switch: u32) -> impl Iterator<Item = HostNic> {
        let nics = (0..).zip(self.nics_of(host)).filter(move |(_, nic)| nic.1 == switch);
        nics.map(move |(nic, _)| HostNic { host, nic })
    }
    /// The NICs that talk to each other when `src` sends by its NIC `nic`.
    pub(crate) fn ends(&self, src: NodeId, dst: NodeId, nic: u32) -> (HostNic, HostNic) {
        let peer = peer_nic(nic, self.nics(dst).max(1));
        (HostNic { host: src, nic }, HostNic { host: dst, nic: peer })
    }
    /// The links of a switch to other switches: egress port and the other switch.
    pub(crate) fn links(&self, switch: u32) -> &[(PortId, u32)] {
        let s = switch as usize;
        &self.links[self.start[s] as usize..self.start[s + 1] as usize]
    }
    /// By switch: the lowest switch that is connected with it.
    pub(crate) fn components(&self) -> Vec<u32> {
        let mut component = vec![NONE; self.len()];
        for first in 0..self.len() as u32 {
            let mut reached = vec![first];
            while let Some(at) = reached.pop() {
                if component[at as usize] == NONE {
                    component[at as usize] = first;
                    reached.extend(self.links(at).iter().map(|&(_, to)| to));
                }
            }
        }
        component
    }
    /// Links on the shortest way from each switch to `target`, or [`UNREACHED`].
    pub(crate) fn distances(&self, target: u32) -> Vec<u32> {
        let mut distance = vec![UNREACHED; self.len()];
        let mut queue = Vec::with_capacity(self.len());
        distance[target as usize] = 0;
        queue.push(target);
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            next += 1;
            for &(_, to) in self.links(at) {
                if distance[to as usize] == UNREACHED {
                    distance[to as usize] = distance[at as usize] + 1;
                    queue.push(to);
                }
            }
        }
        distance
    }
}
