//! What an `[[event]]` may break, by name or at random.

use rand::Rng;
use xoff_engine::spelling::nearest;
use xoff_engine::{Stream, Violation};
use xoff_fabric::topology::{Adjacency, NodeId, NodeKind, PortId, Topology};

use super::error::one_of;

/// Names that a message lists.
const LISTED: usize = 16;

/// Any target, drawn each time.
const RANDOM: &str = "random";
/// Any link between switches, drawn each time.
const RANDOM_TRUNK: &str = "random_trunk";

/// The nodes and links of a network.
pub(super) struct Targets<'t> {
    topology: &'t Topology,
    adjacency: Adjacency,
    ports: Vec<String>,
    trunks: Vec<u32>,
    switches: Vec<NodeId>,
    hosts: Vec<NodeId>,
}

fn pick<T: Copy>(list: &[T], random: &mut Stream) -> Option<T> {
    let place = (u128::from(random.next_u64()) * list.len() as u128) >> 64;
    list.get(place as usize).copied()
}

impl<'t> Targets<'t> {
    pub fn new(topology: &'t Topology) -> Targets<'t> {
        let is_switch = |node: NodeId| topology.nodes[node.index()].kind == NodeKind::Switch;
        let links = topology.links.iter().zip(0u32..);
        Targets {
            trunks: links.filter(|(l, _)| is_switch(l.a) && is_switch(l.b)).map(|(_, link)| link).collect(),
            switches: NodeId::all(topology.nodes.len()).filter(|&node| is_switch(node)).collect(),
            hosts: topology.hosts(),
            ports: topology.port_names(),
            adjacency: topology.adjacency(),
            topology,
        }
    }

    /// The link of a port called `name`, or a random one.
    pub fn link(&self, name: &str, random: &mut Stream) -> Result<u32, Violation> {
        let all: Vec<u32>;
        let list = match name {
            RANDOM => {
                all = (0..self.topology.links.len() as u32).collect();
                &all
            }
            RANDOM_TRUNK => &self.trunks,
            _ => {
                let port = self.ports.iter().position(|port| port == name);
                let names = self.ports.iter().map(String::as_str).chain([RANDOM, RANDOM_TRUNK]);
                return port
                    .map(|port| PortId::at(port).link() as u32)
                    .ok_or_else(|| unknown("link", name, names));
            }
        };
        let found = || format!("is \"{name}\", and no link joins two switches");
        pick(list, random).ok_or_else(|| Violation::new("link", found(), "a link by one of its ports"))
    }

    fn node(
        &self,
        key: &'static str,
        name: &str,
        list: &[NodeId],
        random: &mut Stream,
    ) -> Result<NodeId, Violation> {
        if name == RANDOM {
            let none = || Violation::new(key, "is \"random\", and there is none", "a network with one");
            return pick(list, random).ok_or_else(none);
        }
        let of = |node: &NodeId| self.topology.nodes[node.index()].name.as_str();
        let found = list.iter().copied().find(|node| of(node) == name);
        found.ok_or_else(|| unknown(key, name, list.iter().map(of).chain([RANDOM])))
    }

    /// The switch called `name`, or a random one.
    pub fn switch(&self, name: &str, random: &mut Stream) -> Result<NodeId, Violation> {
        self.node("switch", name, &self.switches, random)
    }

    /// The host called `name`, or a random one.
    pub fn host(&self, name: &str, random: &mut Stream) -> Result<NodeId, Violation> {
        self.node("host", name, &self.hosts, random)
    }

    /// The ports of a host's NICs.
    pub fn ports_of(&self, host: NodeId) -> Vec<PortId> {
        self.adjacency.ports_of(host).to_vec()
    }
}

/// A name that no target has.
fn unknown<'a>(key: &'static str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Violation {
    let found = format!("names the unknown {key} {name:?}");
    let expected = if names.clone().count() <= LISTED {
        one_of(name, names).trim_start_matches("expected ").to_string()
    } else {
        let near = nearest(name, names.clone());
        let meant = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        format!("a name such as `{}`, or \"{RANDOM}\"{meant}", names.clone().next().unwrap_or_default())
    };
    Violation::new(key, found, expected)
}
