//! Congestion points: the part of a scheme at an egress queue of a switch, and what it sees of the queue.

use xoff_engine::{Bytes, Rate, Time};

use super::messages::Cnm;
use super::random::MarkingRandom;

/// What a congestion point or a detector knows of its egress queue.
#[derive(Clone, Debug)]
pub struct PortEnv {
    /// The congestion point's number, unique in the network.
    pub point: u32,
    /// The port's line rate.
    pub rate: Rate,
    /// Propagation delay of the port's link.
    pub delay: Time,
    /// Payload of a full data packet, in bytes.
    pub payload: u64,
    /// A full data packet on the wire, in bytes.
    pub frame: u64,
    /// Whether the neighbour is a host.
    pub to_host: bool,
    /// Bytes between the thresholds at which the neighbour pauses and resumes this port; `None` if flow control has no
    /// such thresholds.
    pub hysteresis: Option<Bytes>,
    /// Longest time between two credit updates of the neighbour; `None` if flow control has no such period.
    pub credit_period: Option<Time>,
    /// The queue's random numbers.
    pub random: MarkingRandom,
}

/// An egress queue at the moment of a call.
#[derive(Clone, Copy, Debug)]
pub struct QueueView {
    /// Now.
    pub now: Time,
    /// Bytes queued: after a packet was added at enqueue, after it was removed at dequeue.
    pub bytes: u64,
}

/// What a congestion point sees of a data packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketView {
    /// The packet's flow.
    pub flow: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// A data packet that carries a label and joins an egress queue.
#[derive(Clone, Copy, Debug)]
pub struct Labelled {
    /// The packet's flow.
    pub flow: u32,
    /// Bytes on the wire.
    pub bytes: u64,
    /// The label that the packet has so far.
    pub label: u8,
    /// When the packet left its sender.
    pub sent_at: Time,
    /// Bytes of all classes that have come to the port since the beginning, the packet included.
    pub arrived: u64,
}

/// Congestion point: an egress queue of a switch that sends messages of its own.
pub trait CongestionPoint {
    /// A data packet joins the queue.
    fn on_enqueue(&mut self, _queue: &QueueView, _packet: &PacketView) {}
    /// A data packet leaves the queue for the wire.
    fn on_dequeue(&mut self, _queue: &QueueView, _packet: &PacketView) {}
    /// A data packet joins the queue, after [`Self::on_enqueue`], in a scheme that declares
    /// [`Signals::label`](crate::Signals::label). Returns the label that the packet goes on with; messages go into `out`.
    fn on_label(&mut self, _queue: &QueueView, packet: &Labelled, _out: &mut Vec<Cnm>) -> u8 {
        packet.label
    }
    /// The time of [`Self::next_timer`] has come: messages go into `out`.
    fn on_timer(&mut self, _queue: &QueueView, _out: &mut Vec<Cnm>) {}
    /// When to call [`Self::on_timer`]; [`Time::NEVER`] for not at all. Read after each call.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
}
