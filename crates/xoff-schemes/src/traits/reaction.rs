//! Reaction points: the sender's part of a scheme.

use xoff_engine::{Domain, Rate, Stream, Time, stream};

use super::carry::Carry;
use super::messages::{Cnm, Cnp};
use crate::int::IntStack;
use crate::signals::Mark;

/// What a flow's reaction point and notification point know of their surroundings.
#[derive(Clone, Debug)]
pub struct FlowEnv {
    /// The flow's number.
    pub flow: u32,
    /// Now: for a reaction point the start of the flow, for a notification point the arrival of the flow's first data.
    pub now: Time,
    /// Line rate of the flow's NIC at the point's host: the sender's for a reaction point, the receiver's for a notification point.
    pub line_rate: Rate,
    /// Round-trip time of a full packet and its ACK through empty queues: the largest over all pairs of hosts, or
    /// this flow's own if the scenario says so.
    pub base_rtt: Time,
    /// Payload of a full data packet, in bytes.
    pub payload: u64,
    /// A full data packet on the wire, in bytes.
    pub frame: u64,
    /// Switches on the data path.
    pub hops: u8,
    /// Time that the receiving host takes before it sends an ACK; the base RTT includes it.
    pub ack_delay: Time,
    /// Other connections with something to send at the same NIC when this one started.
    pub active_flows: u32,
    /// The flow's own random stream.
    pub stream: Stream,
}

impl FlowEnv {
    /// A flow with one switch on its path and full Ethernet frames, alone on its host. Callers overwrite the fields
    /// that differ.
    pub fn new(flow: u32, line_rate: Rate, base_rtt: Time, seed: u64) -> Self {
        FlowEnv {
            flow,
            now: Time::ZERO,
            line_rate,
            base_rtt,
            payload: 1_456,
            frame: 1_518,
            hops: 1,
            ack_delay: Time::ZERO,
            active_flows: 0,
            stream: stream(seed, Domain::Reaction, u64::from(flow)),
        }
    }
}

/// What a reaction point that all flows of a host and service level share knows of its surroundings.
#[derive(Clone, Debug)]
pub struct SlEnv {
    /// Line rate of the host's NIC.
    pub line_rate: Rate,
}

/// A data packet whose transmission the NIC has begun.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Beginning of transmission.
    pub now: Time,
    /// Payload bytes.
    pub payload: u64,
    /// Bytes on the wire.
    pub frame: u64,
}

/// A data packet that is about to get its label.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// Payload bytes of the connection from the packet's first byte to the end of the last message that waits; `u64::MAX`
    /// if a message has no end.
    pub left: u64,
}

/// An ACK at its sender.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Moment of arrival.
    pub now: Time,
    /// All payload bytes before this offset have arrived.
    pub seq: u64,
    /// Bytes that this ACK acknowledges for the first time.
    pub newly_acked: u64,
    /// Offset of the next byte to be sent.
    pub snd_nxt: u64,
    /// Number of the data packet that this ACK answers, or of the newest one if it answers several. The sender counts
    /// packets from 0 in the order of their first transmission. If packets or ACKs overtake each other, an ACK may have
    /// a lower number than the one before.
    pub packet: u64,
    /// Number of the next packet to be sent. A round trip that begins now ends with an ACK of this packet or a later
    /// one.
    pub next_packet: u64,
    /// Time since the acknowledged packet was sent; `None` without [`Signals::timestamp`](crate::Signals::timestamp).
    pub rtt: Option<Time>,
    /// The greatest mark among the packets acknowledged.
    pub mark: Mark,
    /// The receiver's number of concurrent flows; 0 without [`Signals::flow_count`](crate::Signals::flow_count).
    pub flow_count: u16,
    /// The label with which the packet came to its receiver; 0 without [`Signals::label`](crate::Signals::label).
    pub label: u8,
    /// Telemetry; empty without [`Signals::int`](crate::Signals::int).
    pub int: IntStack<'a>,
}

/// How fast a reaction point lets a flow send, until the next call of the point.
#[derive(Clone, Copy, Debug)]
pub struct SendLimits {
    /// See [`ReactionPoint::rate`].
    pub rate: Rate,
    /// See [`ReactionPoint::window`].
    pub window: u64,
    /// See [`ReactionPoint::next_timer`].
    pub next_timer: Time,
}

impl SendLimits {
    /// The limits that a reaction point sets now.
    #[inline]
    pub fn of(point: &impl ReactionPoint) -> SendLimits {
        SendLimits { rate: point.rate(), window: point.window(), next_timer: point.next_timer() }
    }
}

/// Reaction point: decides how fast a flow sends. `rate` and `window` both apply; the NIC reads them after each call.
pub trait ReactionPoint {
    /// A data packet's transmission begins.
    fn on_send(&mut self, _sent: &Sent) {}
    /// The label of a data packet that is sent, in a scheme that declares [`Signals::label`](crate::Signals::label).
    fn label(&self, _packet: &Outgoing) -> u8 {
        0
    }
    /// An ACK has arrived.
    fn on_ack(&mut self, _ack: &Ack<'_>) {}
    /// A CNP has arrived.
    fn on_cnp(&mut self, _now: Time, _cnp: &Cnp) {}
    /// A switch's message has arrived.
    fn on_cnm(&mut self, _now: Time, _cnm: &Cnm) {}
    /// A credit has come, and the connection has a packet to send, in a scheme that declares
    /// [`Signals::credits`](crate::Signals::credits).
    fn on_credit(&mut self, _now: Time, _number: u16) {}
    /// A data packet takes a credit, after [`Self::on_send`]: returns the credit's number, or `None` if the packet goes without.
    fn spend_credit(&mut self) -> Option<u16> {
        None
    }
    /// Packets count as lost and are sent again: packets were lost, or later ones overtook them where paths are chosen by
    /// packet and the transport takes data in order.
    fn on_loss(&mut self, _now: Time) {}
    /// Nothing was acknowledged for the retransmission timeout, and everything in flight is sent again (lossy networks
    /// only). By default handled as a loss.
    fn on_timeout(&mut self, now: Time) {
        self.on_loss(now);
    }
    /// The connection has nothing left to send and nothing in flight. The point is kept for the next message, and its
    /// timers run on: [`Self::on_timer`] is still called. By default all state stays as it is. Not called for a point
    /// that several flows share.
    fn on_idle(&mut self, _now: Time) {}
    /// The connection has a message to send again, after [`Self::on_idle`].
    fn on_busy(&mut self, _now: Time) {}
    /// The time of [`Self::next_timer`] has come.
    fn on_timer(&mut self, _now: Time) {}
    /// When to call [`Self::on_timer`]; [`Time::NEVER`] for not at all. Read after each call.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// The pacing rate of the flow's wire bytes.
    fn rate(&self) -> Rate;
    /// Maximum payload bytes in flight; `u64::MAX` for no limit. A packet may be sent while fewer are in flight.
    fn window(&self) -> u64 {
        u64::MAX
    }
    /// Payload bytes that are sent back to back between two pacing gaps; 0 for a gap after each packet. Read once, when
    /// the flow starts. A burst ends where the flow's offset passes a multiple of this number.
    fn burst(&self) -> u64 {
        0
    }
    /// Carries the point forward: its moments, offsets and packet numbers grow by what `carry` has, but for a moment that
    /// makes no difference any more to what the point hears. Whatever the point would have done then, it does so much later.
    /// Returns whether the point can be carried; by default it cannot.
    fn carry(&mut self, _carry: &Carry) -> bool {
        false
    }
    /// Whether the point is what an `earlier` state of it is after [`Self::carry`], to the last bit: [`Carry::leads`] says it. By
    /// default it is not told.
    fn repeats(&self, _earlier: &Self, _carry: &Carry) -> bool
    where
        Self: Sized,
    {
        false
    }
    /// Tells the point's own variables by name, such as `probe("alpha", self.alpha)`: always the same names in the same
    /// order. Called only for flows whose variables are recorded, each time that these are sampled.
    fn variables(&self, _now: Time, _probe: &mut dyn FnMut(&str, f64)) {}
}
