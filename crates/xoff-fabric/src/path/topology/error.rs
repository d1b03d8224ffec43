//! What can be wrong with a topology.

use xoff_engine::{Rate, Time};

use super::names::Nearest;
use super::validate::{MAX_DELAY, MAX_LINKS, MAX_NODES, MAX_RATE};

/// Why a topology is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A count below the least that makes sense.
    #[error("`{key}` is {got}: at least {least} needed")]
    TooFew {
        /// The parameter.
        key: &'static str,
        /// Its value.
        got: u32,
        /// The least.
        least: u32,
    },
    /// A fat-tree's switches must have an even number of ports.
    #[error("`k` is {k}: a fat-tree needs an even number of ports per switch, at least 2")]
    Arity {
        /// Ports per switch, as asked for.
        k: u32,
    },
    /// More than the caps allow.
    #[error(
        "{nodes} nodes and {links} links asked for: at most {MAX_NODES} nodes and {MAX_LINKS} links possible"
    )]
    TooLarge {
        /// Nodes asked for.
        nodes: u128,
        /// Links asked for.
        links: u128,
    },
    /// A link's rate is zero or beyond any real one.
    #[error("rate {rate} from `{from}` to `{to}`: must be between 1bps and {MAX_RATE}")]
    Rate {
        /// Where the direction begins.
        from: String,
        /// Where it ends.
        to: String,
        /// The rate.
        rate: Rate,
    },
    /// A link's delay is beyond any real one.
    #[error("delay {delay} from `{from}` to `{to}`: must be at most {MAX_DELAY}")]
    Delay {
        /// Where the direction begins.
        from: String,
        /// Where it ends.
        to: String,
        /// The delay.
        delay: Time,
    },
    /// A link names a node that does not exist.
    #[error("links[{link}].{end} names the unknown node `{name}`{nearest}")]
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
    #[error("link {link} ends at node number {node}: there are {nodes} nodes")]
    NoSuchNode {
        /// The link's index.
        link: usize,
        /// The node's index.
        node: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// Two nodes have the same name.
    #[error("the node name `{name}` is used twice")]
    DuplicateNode {
        /// The name.
        name: String,
    },
    /// A node's name is empty.
    #[error("node number {node} has an empty name")]
    EmptyName {
        /// The node's index.
        node: usize,
    },
    /// A link from a node to itself.
    #[error("links[{link}] connects `{name}` to itself")]
    SelfLoop {
        /// The link's index.
        link: usize,
        /// The node.
        name: String,
    },
    /// A host with no link, or with several.
    #[error("host `{host}` has {links} links: a host has exactly one")]
    HostLinks {
        /// The host.
        host: String,
        /// Its links.
        links: usize,
    },
    /// A network in which nobody sends.
    #[error("the network has no hosts")]
    NoHosts,
    /// Two hosts without a path between them.
    #[error("no path connects the hosts `{a}` and `{b}`")]
    Disconnected {
        /// One host.
        a: String,
        /// The other.
        b: String,
    },
    /// A graph in a file that was not read before the topology was built.
    #[error("the graph in `{file}` was not read")]
    Unread {
        /// The file.
        file: String,
    },
    /// A graph that names a file and lists nodes or links as well.
    #[error("`file = \"{file}\"` excludes `nodes`, `hosts`, `switches` and `links` beside it")]
    FileAndLists {
        /// The file.
        file: String,
    },
    /// A graph's file that cannot be read.
    #[error("cannot read the graph in `{file}`: {reason}")]
    File {
        /// The file.
        file: String,
        /// What the reader said.
        reason: String,
    },
    /// A graph's text that is no graph.
    #[error("the text is no graph: {reason}")]
    Text {
        /// What the parser said.
        reason: String,
    },
}
