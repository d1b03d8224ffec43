//! Tracks of a trace and their numbers.

use xoff_fabric::ids::{FlowId, NodeId};
use xoff_fabric::topology::PortId;

/// A track, by its content.
#[derive(Clone, Copy)]
pub(super) enum Track {
    Node(NodeId),
    Port(PortId),
    Queue(PortId),
    Pause(PortId, u8),
    Root(PortId, u8),
    Flows,
    Flow(FlowId),
    FlowCounter(FlowId, Counter),
}

/// A counter of a flow.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Counter {
    Sent,
    Goodput,
    Rate,
    Window,
}

impl Counter {
    pub(super) const ALL: [Counter; 4] = [Counter::Sent, Counter::Goodput, Counter::Rate, Counter::Window];

    pub(super) fn name(self) -> &'static str {
        match self {
            Counter::Sent => "sent",
            Counter::Goodput => "goodput",
            Counter::Rate => "the scheme's rate",
            Counter::Window => "the scheme's window",
        }
    }
}

impl Track {
    /// The track's number in the trace. Its upper half is the kind of track, its lower half a number among tracks of that
    /// kind.
    pub(super) fn id(self) -> u64 {
        let (kind, number) = match self {
            Track::Node(node) => (1, node.0.into()),
            Track::Port(port) => (2, port.0.into()),
            Track::Queue(port) => (3, port.0.into()),
            Track::Pause(port, priority) => (4, u64::from(port.0) << 3 | u64::from(priority)),
            Track::Root(port, priority) => (5, u64::from(port.0) << 3 | u64::from(priority)),
            Track::Flows => (6, 0),
            Track::Flow(flow) => (7, flow.0.into()),
            Track::FlowCounter(flow, counter) => (8, u64::from(flow.0) << 2 | counter as u64),
        };
        kind << 40 | number
    }
}
