//! What can be wrong with a topology.

use std::fmt;

use xoff_engine::{Nearest, Rate, Time, Violation};

use super::nics::MAX_NICS;
use super::validate::{MAX_DELAY, MAX_LINKS, MAX_NODES, MAX_RATE};
use crate::ids::NodeId;

/// Why a topology is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopologyError {
    /// A count below its minimum.
    TooFew {
        /// The parameter.
        key: &'static str,
        /// Its value.
        got: u32,
        /// The minimum.
        min: u32,
    },
    /// A count above its maximum.
    TooMany {
        /// The parameter.
        key: &'static str,
        /// Its value.
        got: u32,
        /// The maximum.
        max: u32,
    },
    /// Too few or too many dimensions of a grid.
    Dimensions {
        /// Their number.
        got: usize,
        /// The maximum.
        max: usize,
    },
    /// A fat-tree's switches must have an even number of ports.
    Arity {
        /// Ports per switch, as asked for.
        k: u32,
    },
    /// More nodes or links than the maximum.
    TooLarge {
        /// Nodes asked for.
        nodes: u128,
        /// Links asked for.
        links: u128,
    },
    /// A link's rate is zero or beyond any real one.
    Rate {
        /// Where the direction begins.
        from: String,
        /// Where it ends.
        to: String,
        /// The rate.
        rate: Rate,
    },
    /// A link's delay is beyond any real one.
    Delay {
        /// Where the direction begins.
        from: String,
        /// Where it ends.
        to: String,
        /// The delay.
        delay: Time,
    },
    /// A link names a node that does not exist.
    UnknownNode {
        /// The link's place in the list, from 0.
        link: usize,
        /// Which end of it: `a` or `b`.
        end: char,
        /// The unknown name.
        name: String,
        /// The nearest valid name.
        nearest: Nearest,
    },
    /// A link's end is not the index of a node.
    NoSuchNode {
        /// The link's index.
        link: usize,
        /// The node's index.
        node: NodeId,
        /// Number of nodes.
        nodes: usize,
    },
    /// Two nodes have the same name.
    DuplicateNode {
        /// The name.
        name: String,
    },
    /// A node's name is empty.
    EmptyName {
        /// The node's index.
        node: usize,
    },
    /// A link from a node to itself.
    SelfLoop {
        /// The link's index.
        link: usize,
        /// The node.
        name: String,
    },
    /// A host with no link, or with too many.
    HostLinks {
        /// The host.
        host: String,
        /// The number of its links.
        links: usize,
    },
    /// A network without hosts.
    NoHosts,
    /// Two hosts without a path between them.
    Disconnected {
        /// One host.
        a: String,
        /// The other.
        b: String,
    },
    /// A NIC without a path to its peer at another host.
    NicsDisconnected {
        /// One host.
        a: String,
        /// The number of its NIC.
        nic_a: u32,
        /// The other host.
        b: String,
        /// The number of its NIC.
        nic_b: u32,
    },
    /// More NICs per host than the maximum.
    TooManyNics {
        /// The parameter.
        key: &'static str,
        /// NICs asked for.
        nics: u64,
    },
    /// Leaves or edge switches that do not make whole groups of rails.
    Rails {
        /// Rails asked for.
        rails: u32,
        /// The switches that are divided into groups, such as "8 leaves".
        switches: String,
    },
    /// A graph in a file that was not read before the topology was built.
    Unread {
        /// The file.
        file: String,
    },
    /// A graph that names a file and lists nodes or links as well.
    FileAndLists {
        /// The file.
        file: String,
    },
    /// A graph's file that cannot be read.
    File {
        /// The file.
        file: String,
        /// What the reader said.
        reason: String,
    },
    /// A graph's text that is no graph.
    Text {
        /// What the parser said.
        reason: String,
    },
}

impl TopologyError {
    /// The wrong parameter of the topology, what is wrong with it, and the expected value. The key is empty if no single
    /// parameter is wrong.
    pub fn violation(&self) -> Violation {
        use TopologyError as E;
        let (key, found, expected) = match self {
            E::TooFew { key, got, min } => (key.to_string(), format!("is {got}"), format!("at least {min}")),
            E::TooMany { key, got, max } => (key.to_string(), format!("is {got}"), format!("at most {max}")),
            E::Dimensions { got, max } => (
                "dimensions".into(),
                format!("has {got} numbers"),
                format!("1 to {max}, one for each dimension, such as [4, 4]"),
            ),
            E::Arity { k } => {
                let even = k.saturating_add(1).clamp(2, 1024) & !1;
                let expected = format!("an even number of ports per switch, such as {even}");
                ("k".into(), format!("is {k}"), expected)
            }
            E::TooLarge { nodes, links } => (
                String::new(),
                format!("makes {nodes} nodes and {links} links"),
                format!("at most {MAX_NODES} nodes and {MAX_LINKS} links"),
            ),
            E::Rate { from, to, rate } => (
                String::new(),
                format!("has the rate {rate} on `{from}->{to}`"),
                format!("a rate from 1bps to {MAX_RATE}"),
            ),
            E::Delay { from, to, delay } => (
                String::new(),
                format!("has the delay {delay} on `{from}->{to}`"),
                format!("at most {MAX_DELAY}"),
            ),
            E::UnknownNode { link, end, name, nearest } => (
                format!("links.{link}.{end}"),
                format!("names the unknown node `{name}`"),
                format!("a name from `nodes`, `hosts` or `switches`{nearest}"),
            ),
            E::NoSuchNode { link, node, nodes } => (
                format!("links.{link}"),
                format!("ends at node number {node}"),
                format!("a number below {nodes}, the number of nodes"),
            ),
            E::DuplicateNode { name } => (
                String::new(),
                format!("has two nodes called `{name}`"),
                "a name of its own for each node".into(),
            ),
            E::EmptyName { node } => (
                String::new(),
                format!("has an empty name, that of node number {node}"),
                "a name such as \"host0\"".into(),
            ),
            E::SelfLoop { link, name } => (
                format!("links.{link}"),
                format!("connects `{name}` to itself"),
                "two different nodes".into(),
            ),
            E::HostLinks { host, links } => (
                String::new(),
                format!("has the host `{host}` with {links} links"),
                format!("1 to {MAX_NICS} links for each host, to switches or to another host"),
            ),
            E::NicsDisconnected { a, nic_a, b, nic_b } => (
                String::new(),
                format!("has no path between NIC {nic_a} of the host `{a}` and NIC {nic_b} of `{b}`"),
                "links between the switches of the two, or as many NICs at each host as there are planes"
                    .into(),
            ),
            E::TooManyNics { key, nics } => {
                (key.to_string(), format!("makes {nics} NICs for each host"), format!("at most {MAX_NICS}"))
            }
            E::Rails { rails, switches } => (
                "rails".into(),
                format!("is {rails}, and there are {switches}"),
                "a divisor of their number: NIC i of a host goes to switch i of its group".into(),
            ),
            E::NoHosts => {
                (String::new(), "has no hosts".into(), "`hosts = [...]` or nodes of the kind \"host\"".into())
            }
            E::Disconnected { a, b } => (
                String::new(),
                format!("has no path between the hosts `{a}` and `{b}`"),
                "links between the switches that connect all hosts".into(),
            ),
            E::Unread { file } => {
                ("file".into(), format!("names `{file}`, which was not read"), "the graph itself".into())
            }
            E::FileAndLists { file } => (
                "file".into(),
                format!("names `{file}`, and nodes or links are listed as well"),
                "either `file`, or `nodes`, `hosts`, `switches` and `links`".into(),
            ),
            E::File { file, reason } => (
                "file".into(),
                format!("names `{file}`, which cannot be read: {}", reason.trim_end()),
                "a TOML or JSON file with nodes and links, named relative to the scenario".into(),
            ),
            E::Text { reason } => {
                (String::new(), format!("is no graph: {reason}"), "TOML or JSON with nodes and links".into())
            }
        };
        Violation::new(key, found, expected)
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let violation = self.violation();
        if violation.key.is_empty() { write!(f, "the topology {violation}") } else { violation.fmt(f) }
    }
}

impl std::error::Error for TopologyError {}
