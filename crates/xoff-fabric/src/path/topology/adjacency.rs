//! A topology's ports, node by node.

use std::collections::HashMap;

use super::{NodeId, PortId, Topology};

/// The ports of every node, computed once from a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// Where each node's ports begin in `ports`; the last entry is the end of `ports`.
    start: Vec<u32>,
    ports: Vec<PortId>,
}

impl Adjacency {
    /// The ports at `node`, in the order of their links.
    #[inline]
    pub fn ports_of(&self, node: NodeId) -> &[PortId] {
        let node = node.index();
        &self.ports[self.start[node] as usize..self.start[node + 1] as usize]
    }
    /// The port of a host's NIC; `None` if the host has no NIC of this number.
    pub fn nic_port(&self, host: NodeId, nic: u32) -> Option<PortId> {
        self.ports_of(host).get(nic as usize).copied()
    }
}

impl Topology {
    /// The ports of every node. All link ends must be nodes, as [`Topology::validate`] checks.
    pub fn adjacency(&self) -> Adjacency {
        let mut start = vec![0u32; self.nodes.len() + 1];
        for port in self.port_ids() {
            start[self.node_of(port).index() + 1] += 1;
        }
        for n in 0..self.nodes.len() {
            start[n + 1] += start[n];
        }
        let mut free = start.clone();
        let mut ports = vec![PortId::default(); self.ports() as usize];
        for port in self.port_ids() {
            let slot = &mut free[self.node_of(port).index()];
            ports[*slot as usize] = port;
            *slot += 1;
        }
        Adjacency { start, ports }
    }

    /// A port's name, made of its node's and its peer's names: `switch1->switch2`, with `#2` for the second of parallel
    /// links and `#3` for the third. Searches all earlier links; for all names see [`Topology::port_names`].
    pub fn port_name(&self, port: PortId) -> String {
        let link = port.link();
        let ends = |l: usize| self.ends(l);
        self.name_of_port(port, 1 + (0..link).filter(|&l| ends(l) == ends(link)).count())
    }

    /// The names of all ports, as [`Topology::port_name`] gives them.
    pub fn port_names(&self) -> Vec<String> {
        self.each_port_name().collect()
    }

    /// The names of all ports, as [`Topology::port_name`] gives them, one after the other.
    pub fn each_port_name(&self) -> impl Iterator<Item = String> {
        let mut parallel: HashMap<(NodeId, NodeId), usize> = HashMap::new();
        (0..self.links.len()).flat_map(move |link| {
            let number = *parallel.entry(self.ends(link)).and_modify(|n| *n += 1).or_insert(1);
            PortId::of_link(link).map(|port| self.name_of_port(port, number))
        })
    }

    fn ends(&self, link: usize) -> (NodeId, NodeId) {
        let link = &self.links[link];
        (link.a.min(link.b), link.a.max(link.b))
    }

    fn name_of_port(&self, port: PortId, number: usize) -> String {
        let name = |p: PortId| &self.nodes[self.node_of(p).index()].name;
        let (from, to) = (name(port), name(port.peer()));
        if number == 1 { format!("{from}->{to}") } else { format!("{from}->{to}#{number}") }
    }
}
