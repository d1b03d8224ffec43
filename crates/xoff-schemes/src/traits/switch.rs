//! The point of a whole switch, for schemes that look at more than one egress queue.

use xoff_engine::{Rate, Time};

use super::messages::Cnm;

/// What the point of a switch knows of the switch.
#[derive(Clone, Debug)]
pub struct SwitchEnv {
    /// The switch's ports, which have the numbers 0 to `ports` - 1 here.
    pub ports: u32,
    /// Data priorities. Queue `port * priorities + priority` is the queue of a port and priority, ingress and egress
    /// alike.
    pub priorities: u32,
    /// A full data packet on the wire, in bytes.
    pub frame: u64,
    /// The largest base RTT over all pairs of hosts.
    pub base_rtt: Time,
}

/// The port and priority by which a packet came into a switch.
#[derive(Clone, Copy, Debug)]
pub struct IngressView {
    /// The ingress queue's number in the switch.
    pub queue: u32,
    /// Bytes in the switch that came in by this queue, the packet included.
    pub bytes: u64,
    /// Bytes above which PAUSE is sent to the peer now; `None` if nothing is ever paused.
    pub xoff: Option<u64>,
    /// Egress queues that hold packets from this ingress queue, the packet's own included.
    pub feeds: u32,
    /// Propagation delay of the link.
    pub delay: Time,
}

/// The egress queue that a packet joins.
#[derive(Clone, Copy, Debug)]
pub struct EgressView {
    /// The egress queue's number in the switch.
    pub queue: u32,
    /// The egress queue's number as a congestion point, unique in the network.
    pub point: u32,
    /// Bytes queued, the packet included.
    pub bytes: u64,
    /// The port's line rate.
    pub rate: Rate,
}

/// A data packet that joins an egress queue, with what the switch knows of the packet's way.
#[derive(Clone, Copy, Debug)]
pub struct Joining {
    /// Now.
    pub now: Time,
    /// The packet's flow.
    pub flow: u32,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Links that the packet has travelled from its sender.
    pub hops: u8,
    /// Where the packet came in.
    pub ingress: IngressView,
    /// Where the packet goes.
    pub egress: EgressView,
}

/// The congestion point of a whole switch, which sees all ports and sends messages of its own.
///
/// A message travels from switch to switch. The point of each switch says where the message goes next, by what the
/// point has learned from the flow's data.
pub trait SwitchPoint: Send {
    /// A data packet joins an egress queue: messages go into `out`.
    fn on_enqueue(&mut self, packet: &Joining, out: &mut Vec<Cnm>);
    /// The port by which a message to the flow's sender goes on, which is the port by which the flow's data comes in.
    /// `None` if the switch does not know the flow, or no longer: the message is then lost.
    fn previous_hop(&mut self, now: Time, flow: u32) -> Option<u32>;
    /// Maximum number of flows known at once so far.
    fn max_flows(&self) -> u64;
}
