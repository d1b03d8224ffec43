//! What can be wrong with routing.

use std::fmt;

use xoff_engine::{Nearest, Violation};

use super::PathChoice;
use super::detours::MAX_GROUPS;
use crate::ids::NodeId;

/// Why there is no routing or no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoutingError {
    /// The two hosts are not connected through switches.
    Unreachable {
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
    },
    /// The two hosts are connected, but farther apart than ECMP's tables can count.
    TooLong {
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
    },
    /// A path's end is not the index of a node.
    NoSuchNode {
        /// The index.
        node: NodeId,
    },
    /// A path's end is a switch.
    NotAHost {
        /// The switch.
        node: String,
    },
    /// Two NICs that no path connects.
    NicUnreachable {
        /// Sender.
        from: String,
        /// The number of its NIC.
        nic_from: u32,
        /// Receiver.
        to: String,
        /// The number of its NIC.
        nic_to: u32,
    },
    /// A host without a link.
    NotConnected {
        /// The host.
        host: String,
    },
    /// A path by a NIC that its host does not have.
    NoSuchNic {
        /// The host.
        host: String,
        /// The NIC's number.
        nic: u32,
        /// The number of the host's NICs.
        nics: u32,
    },
    /// A host with several NICs, although the ns-3 HPCC simulator's tables know one NIC for each host.
    SeveralNics {
        /// The host.
        host: String,
    },
    /// A path from a host to itself.
    SameHost {
        /// The host.
        host: String,
    },
    /// The number of spanning trees is 0, or more than memory allows.
    TreeCount {
        /// Trees asked for.
        trees: u32,
        /// The maximum.
        max: u32,
    },
    /// More roots than trees.
    TooManyRoots {
        /// Roots given.
        roots: usize,
        /// Trees asked for.
        trees: u32,
    },
    /// A name that no node has.
    UnknownNode {
        /// The parameter and its place in the list.
        key: String,
        /// The unknown name.
        name: String,
        /// The nearest valid name.
        nearest: Nearest,
    },
    /// A switch where a host is needed, or the other way round.
    WrongKind {
        /// The parameter and its place in the list.
        key: String,
        /// The node.
        name: String,
        /// What is needed: `host` or `switch`.
        expected: &'static str,
    },
    /// A listed path between nodes that no link connects.
    NotLinked {
        /// The route's place in the list.
        route: usize,
        /// One node.
        a: String,
        /// The next one.
        b: String,
    },
    /// A listed path that passes a switch twice.
    Loop {
        /// The route's place in the list.
        route: usize,
        /// The switch.
        switch: String,
    },
    /// A pair that is listed twice.
    DuplicateRoute {
        /// The second one's place in the list.
        route: usize,
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
    },
    /// A parameter that has no effect beside another one.
    Unneeded {
        /// The parameter.
        key: &'static str,
        /// The other parameter, and why.
        why: &'static str,
    },
    /// A network in which the path down from a switch is not unique, or does not exist.
    NotAFatTree {
        /// What differs from a fat-tree.
        why: String,
    },
    /// A routing that knows one structure of networks, in another network.
    WrongTopology {
        /// The routing.
        routing: &'static str,
        /// What it needs.
        expected: &'static str,
    },
    /// Paths by an intermediate group in a network of too few or too many groups.
    Groups {
        /// The variant.
        variant: &'static str,
        /// The number of groups.
        groups: u32,
    },
    /// Virtual lanes that do not fit into the priorities of switches.
    Lanes {
        /// Lanes for each priority of traffic.
        lanes: u8,
        /// Priorities of switches.
        priorities: u8,
    },
    /// Switches that are farther apart than there are virtual lanes.
    FewLanes {
        /// Lanes for each priority of traffic.
        lanes: u8,
        /// Links between the switches.
        links: u32,
        /// The maximum number of lanes.
        max: u8,
    },
    /// A hash that the pairs without a listed route cannot have.
    FallbackHash,
    /// A choice of paths that the pairs without a listed route cannot have.
    FallbackChoice(PathChoice),
    /// A node whose name gives no id.
    NoNumber {
        /// The node.
        node: String,
    },
    /// Two nodes whose names give the same id.
    SameNumber {
        /// One node.
        a: String,
        /// The other.
        b: String,
        /// The number.
        number: u16,
    },
    /// Two links between the same switches, although the ns-3 HPCC simulator's tables know one.
    ParallelLinks {
        /// One switch.
        a: String,
        /// The other.
        b: String,
    },
}

impl RoutingError {
    /// The wrong parameter of routing, what is wrong with it, and the expected value. The key is empty if no single
    /// parameter is wrong.
    pub fn violation(&self) -> Violation {
        use RoutingError as E;
        let whole = |found: String, expected: &str| (String::new(), found, expected.to_string());
        let hash = |found: String, expected: &str| ("hash".to_string(), found, expected.to_string());
        let route = |route: &usize, found: String, expected: &str| {
            (format!("routes.{route}"), found, expected.to_string())
        };
        let (key, found, expected) = match self {
            E::Unreachable { from, to } => {
                whole(format!("has no path from host `{from}` to host `{to}`"), "hosts that links connect")
            }
            E::TooLong { from, to } => whole(
                format!("has a path from host `{from}` to host `{to}` of more links than can be counted"),
                "at most 65534 links between switches",
            ),
            E::NoSuchNode { node } => whole(
                format!("is asked for a path of node number {node}, which does not exist"),
                "a host's number",
            ),
            E::NotAHost { node } => whole(
                format!("is asked for a path of the switch `{node}`"),
                "hosts, which alone send and receive",
            ),
            E::NotConnected { host } => {
                whole(format!("has the host `{host}` with no link"), "a link for each host")
            }
            E::NicUnreachable { from, nic_from, to, nic_to } => whole(
                format!("has no path from NIC {nic_from} of host `{from}` to NIC {nic_to} of host `{to}`"),
                "NICs that links connect",
            ),
            E::NoSuchNic { host, nic, nics } => {
                let expected = match nics {
                    1 => "0, the number of its only NIC".to_string(),
                    _ => format!("a number from 0 to {}, one of its {nics} NICs", nics - 1),
                };
                (String::new(), format!("is asked for a path by NIC {nic} of host `{host}`"), expected)
            }
            E::SeveralNics { host } => hash(
                format!(
                    "is `ns3_hpcc`, which knows one address for each host, and `{host}` has several NICs"
                ),
                "one link for each host, or `hash = \"own\"`",
            ),
            E::SameHost { host } => {
                whole(format!("is asked for a path from host `{host}` to itself"), "two different hosts")
            }
            E::TreeCount { trees, max } => {
                ("trees".into(), format!("is {trees}"), format!("a number from 1 to {max}"))
            }
            E::TooManyRoots { roots, trees } => (
                "roots".into(),
                format!("has {roots} switches for {trees} trees"),
                format!("at most one for each tree, or `trees = {roots}`"),
            ),
            E::UnknownNode { key, name, nearest } => (
                dotted(key),
                format!("names the unknown node `{name}`"),
                format!("a node of the topology{nearest}"),
            ),
            E::WrongKind { key, name, expected } => {
                (dotted(key), format!("names `{name}`, which is no {expected}"), format!("a {expected}"))
            }
            E::NotLinked { route: r, a, b } => {
                let found = format!("goes from `{a}` to `{b}`, which no link connects");
                route(r, found, "every switch of the path in `via`")
            }
            E::Loop { route: r, switch } => route(r, format!("passes `{switch}` twice"), "each switch once"),
            E::DuplicateRoute { route: r, from, to } => {
                route(r, format!("is a second route from `{from}` to `{to}`"), "one")
            }
            E::Unneeded { key, why } => {
                (key.to_string(), format!("has no meaning {why}"), "no such key".into())
            }
            E::NotAFatTree { why } => {
                let expected = "`fat_tree` or `leaf_spine` in [topology], or another routing";
                ("name".into(), format!("is `d_mod_k`, which needs a fat-tree: {why}"), expected.into())
            }
            E::WrongTopology { routing, expected } => (
                "name".into(),
                format!("is `{routing}`, which does not know this [topology]"),
                (*expected).into(),
            ),
            E::Groups { variant, groups } => (
                "variant".into(),
                format!("is `{variant}`, which leads by a third group, and there are {groups} groups"),
                format!("`min`, or 3 to {MAX_GROUPS} `groups` in [topology]"),
            ),
            E::Lanes { lanes, priorities } => (
                "name".into(),
                format!(
                    "takes {lanes} virtual lanes for each priority of traffic, and `priorities` in [switch] is {priorities}"
                ),
                format!("`priorities = {lanes}` in [switch], or a multiple of it"),
            ),
            E::FewLanes { lanes, links, max } => {
                let enough =
                    if links <= &u32::from(*max) { format!("{links} to {max}, or ") } else { String::new() };
                let found = format!("is {lanes}, and there are switches {links} links apart");
                ("lanes".into(), found, format!("{enough}1 for paths of any length, which may deadlock"))
            }
            E::FallbackHash => {
                ("fallback.hash".into(), "is not `own`".into(), "`hash` under `name = \"ecmp\"` alone".into())
            }
            E::FallbackChoice(choice) => (
                "fallback.choice".into(),
                format!("is `{}`, and listed routes are paths of whole connections", choice.name()),
                "`per_connection`, or `choice` under `name = \"ecmp\"` alone".into(),
            ),
            E::NoNumber { node } => hash(
                format!(
                    "is `ns3_hpcc`, which needs a number at the end of each node's name, and `{node}` has none"
                ),
                "names such as \"h0\", with a number from 0 to 65535",
            ),
            E::SameNumber { a, b, number } => hash(
                format!("is `ns3_hpcc`, which takes {number} for the id of both `{a}` and `{b}`"),
                "a number of its own at the end of each node's name",
            ),
            E::ParallelLinks { a, b } => hash(
                format!(
                    "is `ns3_hpcc`, which knows one link between two switches, and `{a}` and `{b}` have two"
                ),
                "one, or `hash = \"own\"`",
            ),
        };
        Violation::new(key, found, expected)
    }
}

/// A key with dots in place of brackets.
fn dotted(key: &str) -> String {
    key.replace('[', ".").replace(']', "")
}

impl fmt::Display for RoutingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let violation = self.violation();
        if violation.key.is_empty() { write!(f, "routing {violation}") } else { violation.fmt(f) }
    }
}

impl std::error::Error for RoutingError {}
