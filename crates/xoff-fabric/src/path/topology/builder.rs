//! Building a topology from nodes and links.

use xoff_engine::{Rate, Time};

use super::error::TopologyError;
use super::shape::Shape;
use super::size::Size;
use super::{Link, Node, NodeId, NodeKind, Topology};

/// A topology that is being built. Nodes and links are numbered in the order in which they are added.
pub(super) struct Builder(Topology);

impl Builder {
    /// A builder for a topology of a size.
    pub(super) fn new(size: Size) -> Builder {
        Builder(Topology {
            nodes: Vec::with_capacity((size.hosts + size.switches) as usize),
            links: Vec::with_capacity(size.links as usize),
            shape: Shape::Any,
        })
    }

    /// Adds a node.
    pub(super) fn node(&mut self, name: String, kind: NodeKind) -> NodeId {
        self.0.nodes.push(Node { name, kind, tier: 0 });
        NodeId::at(self.0.nodes.len() - 1)
    }

    /// Adds `count` nodes called `prefix` and a number that counts from `first`; returns the first one.
    pub(super) fn nodes(&mut self, prefix: &str, first: u32, count: u32, kind: NodeKind) -> NodeId {
        let id = NodeId::at(self.0.nodes.len());
        for i in 0..count {
            self.node(format!("{prefix}{}", u64::from(first) + u64::from(i)), kind);
        }
        id
    }

    /// Adds a link with the same rate and delay in both directions.
    pub(super) fn link(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Time) {
        self.0.links.push(Link { a, b, rate_ab: rate, rate_ba: rate, delay_ab: delay, delay_ba: delay });
    }

    /// Adds any link; if only one end is a host, that end becomes `a`.
    pub(super) fn any_link(&mut self, link: Link) {
        let is_host = |n: NodeId| self.0.nodes[n.index()].kind == NodeKind::Host;
        self.0.links.push(if is_host(link.b) && !is_host(link.a) {
            Link {
                a: link.b,
                b: link.a,
                rate_ab: link.rate_ba,
                rate_ba: link.rate_ab,
                delay_ab: link.delay_ba,
                delay_ba: link.delay_ab,
            }
        } else {
            link
        });
    }

    /// Says what is known of the structure.
    pub(super) fn shape(&mut self, shape: Shape) {
        self.0.shape = shape;
    }

    /// The finished and valid topology.
    pub(super) fn finish(mut self) -> Result<Topology, TopologyError> {
        self.0.validate()?;
        self.0.set_tiers();
        Ok(self.0)
    }
}

/// Refuses a count below `min`.
pub(super) fn at_least(key: &'static str, got: u32, min: u32) -> Result<(), TopologyError> {
    if got < min { Err(TopologyError::TooFew { key, got, min }) } else { Ok(()) }
}
