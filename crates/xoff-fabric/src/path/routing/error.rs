//! What can be wrong with routing.

use crate::path::topology::Nearest;

/// Why there is no routing or no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoutingError {
    /// The two hosts are not connected through switches.
    #[error("no path leads from host `{from}` to host `{to}`")]
    Unreachable {
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
    },
    /// The two hosts are connected, but farther apart than ECMP's tables count.
    #[error("the path from host `{from}` to host `{to}` passes more than 65534 links between switches")]
    TooLong {
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
    },
    /// A path's end is not the index of a node.
    #[error("there is no node number {node}")]
    NoSuchNode {
        /// The index.
        node: u32,
    },
    /// A path's end is a switch.
    #[error("`{node}` is a switch: only hosts send and receive")]
    NotAHost {
        /// The switch.
        node: String,
    },
    /// A host without its one link.
    #[error("host `{host}` does not have exactly one link")]
    NotConnected {
        /// The host.
        host: String,
    },
    /// A path from a host to itself.
    #[error("host `{host}` cannot send to itself")]
    SameHost {
        /// The host.
        host: String,
    },
    /// No spanning tree, or more than memory allows.
    #[error("`trees` is {trees}: must be between 1 and {most} in this network")]
    TreeCount {
        /// Trees asked for.
        trees: u32,
        /// The most possible.
        most: u32,
    },
    /// Roots that no tree would have.
    #[error("{roots} roots for {trees} trees: at most one root a tree")]
    TooManyRoots {
        /// Roots given.
        roots: usize,
        /// Trees asked for.
        trees: u32,
    },
    /// A name that no node has.
    #[error("{key} names the unknown node `{name}`{nearest}")]
    UnknownNode {
        /// The parameter and its place in the list.
        key: String,
        /// The unknown name.
        name: String,
        /// The nearest valid name.
        nearest: Nearest,
    },
    /// A switch where a host is needed, or the other way round.
    #[error("{key} names `{name}`, which is not a {expected}")]
    WrongKind {
        /// The parameter and its place in the list.
        key: String,
        /// The node.
        name: String,
        /// What is needed: `host` or `switch`.
        expected: &'static str,
    },
    /// A listed path between nodes that no link connects.
    #[error("routes[{route}] goes from `{a}` to `{b}`, which no link connects")]
    NotLinked {
        /// The route's place in the list.
        route: usize,
        /// One node.
        a: String,
        /// The next one.
        b: String,
    },
    /// A listed path that comes by a switch twice.
    #[error("routes[{route}] passes `{switch}` twice")]
    Loop {
        /// The route's place in the list.
        route: usize,
        /// The switch.
        switch: String,
    },
    /// A pair that is listed twice.
    #[error("routes[{route}] is a second route from `{from}` to `{to}`")]
    DuplicateRoute {
        /// The second one's place in the list.
        route: usize,
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
    },
    /// A parameter that has no effect beside another.
    #[error("`{key}` has no meaning {why}")]
    Unneeded {
        /// The parameter.
        key: &'static str,
        /// Beside what, and why.
        why: &'static str,
    },
    /// A network in which the way down from a switch is not the only one, or not there.
    #[error("`d_mod_k` needs a fat-tree: {why}")]
    NotAFatTree {
        /// What is not as in one.
        why: String,
    },
    /// A hash that the pairs without a listed route cannot have.
    #[error("pairs without a route of their own have no other hash than `own`")]
    FallbackHash,
    /// A node whose name gives no id.
    #[error("the name of node `{node}` does not end in a number from 0 to 65535, its id in that simulator")]
    NoNumber {
        /// The node.
        node: String,
    },
    /// Two nodes whose names give the same id.
    #[error("the nodes `{a}` and `{b}` both have the number {number}, which is their id in that simulator")]
    SameNumber {
        /// One node.
        a: String,
        /// The other.
        b: String,
        /// The number.
        number: u16,
    },
    /// Two links between the same switches, of which that simulator's tables know one.
    #[error("two links connect `{a}` and `{b}`: that simulator's routing knows one between two nodes")]
    ParallelLinks {
        /// One switch.
        a: String,
        /// The other.
        b: String,
    },
}
