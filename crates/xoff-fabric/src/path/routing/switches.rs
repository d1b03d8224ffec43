//! The switches and the links between them, without the hosts.

use crate::path::topology::{NodeId, NodeKind, PortId, Topology, peer};

/// Distance to a switch that cannot be reached.
pub(super) const UNREACHED: u32 = u32::MAX;

const NONE: u32 = u32::MAX;

/// The graph in which paths are searched. Hosts are far more than switches and lead nowhere, so tables here count
/// switches only, by an index of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct SwitchGraph {
    /// Node of each switch.
    switches: Vec<NodeId>,
    /// Index of each node that is a switch; of a host's, that of the switch to which it is attached.
    index: Vec<u32>,
    /// Port of each node that is a host with exactly one link.
    host_ports: Vec<PortId>,
    /// Where each switch's links begin in `links`; one entry more than there are switches.
    start: Vec<u32>,
    /// Egress port and switch at its other end, in the order of links.
    links: Vec<(PortId, u32)>,
}

impl SwitchGraph {
    pub(super) fn new(topology: &Topology) -> SwitchGraph {
        let adjacency = topology.adjacency();
        let is_host = |n: NodeId| topology.nodes[n as usize].kind == NodeKind::Host;
        let nodes = 0..topology.nodes.len() as NodeId;
        let switches: Vec<NodeId> = nodes.clone().filter(|&n| !is_host(n)).collect();
        let mut index = vec![NONE; topology.nodes.len()];
        for (i, &s) in switches.iter().enumerate() {
            index[s as usize] = i as u32;
        }
        let mut links = Vec::new();
        let mut start = vec![0];
        for &s in &switches {
            let between = |&p: &PortId| (p, index[topology.node_of(peer(p)) as usize]);
            links.extend(adjacency.ports_of(s).iter().map(between).filter(|&(_, to)| to != NONE));
            start.push(links.len() as u32);
        }
        let mut host_ports = vec![NONE; topology.nodes.len()];
        for host in nodes.filter(|&n| is_host(n)) {
            if let Some(port) = adjacency.host_port(host) {
                let at = topology.node_of(peer(port));
                host_ports[host as usize] = port;
                if !is_host(at) {
                    index[host as usize] = index[at as usize];
                }
            }
        }
        SwitchGraph { switches, index, host_ports, start, links }
    }

    /// Number of switches.
    pub(super) fn len(&self) -> usize {
        self.switches.len()
    }
    /// The node of a switch.
    pub(super) fn node(&self, switch: u32) -> NodeId {
        self.switches[switch as usize]
    }
    /// The index of a node that is a switch.
    pub(super) fn switch(&self, node: NodeId) -> u32 {
        self.index[node as usize]
    }
    /// The switch to which a host is attached; none where that is another host.
    pub(super) fn switch_of_host(&self, host: NodeId) -> Option<u32> {
        Some(self.index[host as usize]).filter(|&s| s != NONE)
    }
    /// The port of a host with exactly one link.
    pub(super) fn host_port(&self, host: NodeId) -> Option<PortId> {
        Some(self.host_ports[host as usize]).filter(|&p| p != NONE)
    }
    /// The links of a switch to other switches: egress port and the other switch.
    pub(super) fn links(&self, switch: u32) -> &[(PortId, u32)] {
        let s = switch as usize;
        &self.links[self.start[s] as usize..self.start[s + 1] as usize]
    }
    /// Links on the shortest way from each switch to `target`, or [`UNREACHED`].
    pub(super) fn distances(&self, target: u32) -> Vec<u32> {
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
