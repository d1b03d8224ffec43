//! The seams between a scheme and a simulator: reaction, notification and congestion points, and detectors.
//!
//! Every one is a pure state machine. Time comes in as an argument, randomness from a stream that it is given,
//! and what it wants is stated, not done: a rate, a window, the time of its next timer, a message to send. So a
//! scheme can be tested without a network and used in any.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xoff_engine::{Bytes, Domain, Rate, SharedNs3Streams, Stream, Time, stream};

use crate::detector::AnyDetector;
use crate::detector::red::Red;
use crate::int::IntStack;
use crate::signals::{Mark, Signals};

/// What a flow's reaction and notification point know of their surroundings.
#[derive(Clone, Debug)]
pub struct FlowEnv {
    /// The flow's number.
    pub flow: u32,
    /// Now: for a reaction point the flow's start, for a notification point its first data's arrival.
    pub now: Time,
    /// Line rate of the sender's NIC.
    pub line_rate: Rate,
    /// Round-trip time of a full packet and its ACK through empty queues: the largest over all pairs of hosts, or
    /// this flow's own where the scenario says so.
    pub base_rtt: Time,
    /// Payload of a full data packet, in bytes.
    pub payload: u64,
    /// A full data packet on the wire, in bytes.
    pub frame: u64,
    /// Switches on the data path.
    pub hops: u8,
    /// Time that the receiving host takes before it sends an ACK; the base RTT has it in it.
    pub ack_delay: Time,
    /// Other flows that the same host was sending when this one started.
    pub active_flows: u32,
    /// The flow's own random stream.
    pub stream: Stream,
}

impl FlowEnv {
    /// A flow that has one switch on its way, sends full Ethernet frames and is its host's only one; what else is known
    /// of it is set on top.
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

/// A data packet that the NIC has begun to send.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Beginning of transmission.
    pub now: Time,
    /// Payload bytes.
    pub payload: u64,
    /// Bytes on the wire.
    pub frame: u64,
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
    /// Time since the acknowledged packet was sent; only with [`Signals::timestamp`].
    pub rtt: Option<Time>,
    /// The greatest mark among the packets acknowledged.
    pub mark: Mark,
    /// The receiver's number of concurrent flows; only with [`Signals::flow_count`], else 0.
    pub flow_count: u16,
    /// Telemetry; empty without [`Signals::int`].
    pub int: IntStack<'a>,
}

/// A congestion notification packet, from a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cnp {
    /// The mark that it reports; [`Mark::None`] where a scheme also reports the absence of congestion.
    pub mark: Mark,
    /// A rate that the receiver measured or asks for, where the scheme sends one.
    pub rate: Option<Rate>,
}

/// A congestion notification message, from a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cnm {
    /// The flow that it is for.
    pub flow: u32,
    /// The congestion point, unique in the network.
    pub point: u32,
    /// The rate that the congestion point grants.
    pub rate: Rate,
}

/// Reaction point: decides how fast a flow sends. `rate` and `window` both count; the NIC asks after each call.
pub trait ReactionPoint {
    /// A data packet goes out.
    fn on_send(&mut self, _sent: &Sent) {}
    /// An ACK has come.
    fn on_ack(&mut self, _ack: &Ack<'_>) {}
    /// A CNP has come.
    fn on_cnp(&mut self, _now: Time, _cnp: &Cnp) {}
    /// A switch's message has come.
    fn on_cnm(&mut self, _now: Time, _cnm: &Cnm) {}
    /// Packets were lost and are sent again (lossy networks only).
    fn on_loss(&mut self, _now: Time) {}
    /// Nothing was acknowledged for the retransmission timeout, and everything in flight is sent again (lossy networks
    /// only). By default a loss like any other.
    fn on_timeout(&mut self, now: Time) {
        self.on_loss(now);
    }
    /// The moment of [`Self::next_timer`] has come.
    fn on_timer(&mut self, _now: Time) {}
    /// When to call [`Self::on_timer`]; [`Time::NEVER`] for not at all. Asked after each call.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// The pacing rate of the flow's wire bytes.
    fn rate(&self) -> Rate;
    /// The most payload bytes in flight; `u64::MAX` for no limit. A packet may go while fewer are in flight.
    fn window(&self) -> u64 {
        u64::MAX
    }
    /// Payload bytes that go back to back between two pacing gaps; 0 for a gap after each packet. Asked once, when
    /// the flow starts. A burst ends where the flow's offset passes a multiple of it.
    fn burst(&self) -> u64 {
        0
    }
}

/// A data packet at its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Moment of arrival.
    pub now: Time,
    /// Payload bytes.
    pub payload: u64,
    /// Bytes on the wire.
    pub frame: u64,
    /// The packet's mark.
    pub mark: Mark,
}

/// Notification point: decides what a receiver sends back beyond its ACKs.
pub trait NotificationPoint {
    /// A data packet has arrived; a CNP may go back.
    fn on_data(&mut self, _arrival: &Arrival) -> Option<Cnp> {
        None
    }
    /// The moment of [`Self::next_timer`] has come; a CNP may go back.
    fn on_timer(&mut self, _now: Time) -> Option<Cnp> {
        None
    }
    /// When to call [`Self::on_timer`]; [`Time::NEVER`] for not at all. Asked after each call.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
}

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
    /// The neighbour is a host.
    pub to_host: bool,
    /// Bytes between the thresholds at which the neighbour stops this port and lets it go on; none where flow control
    /// has no such thresholds.
    pub hysteresis: Option<Bytes>,
    /// Longest time between two credit updates of the neighbour; none where flow control has no such period.
    pub credit_period: Option<Time>,
    /// The queue's own random stream.
    pub stream: Stream,
    /// What a detector draws from instead where a run is to be compared with one of ns-3.
    pub ns3_streams: Option<SharedNs3Streams>,
}

/// An egress queue at the moment of a call.
#[derive(Clone, Copy, Debug)]
pub struct QueueView {
    /// Now.
    pub now: Time,
    /// Bytes queued: after a packet was added at enqueue, after it was removed at dequeue.
    pub bytes: u64,
}

/// A data packet that passes a congestion point.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// Its flow.
    pub flow: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// What a reaction point knows of its surroundings that all flows of a host and priority share.
#[derive(Clone, Debug)]
pub struct LaneEnv {
    /// Line rate of the host's NIC.
    pub line_rate: Rate,
}

/// Congestion point: an egress queue of a switch that sends messages of its own.
pub trait CongestionPoint {
    /// A data packet joins the queue.
    fn on_enqueue(&mut self, _queue: &QueueView, _packet: &Passing) {}
    /// A data packet leaves the queue for the wire.
    fn on_dequeue(&mut self, _queue: &QueueView, _packet: &Passing) {}
    /// The moment of [`Self::next_timer`] has come: messages go into `out`.
    fn on_timer(&mut self, _queue: &QueueView, _out: &mut Vec<Cnm>) {}
    /// When to call [`Self::on_timer`]; [`Time::NEVER`] for not at all. Asked after each call.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
}

/// What the point of a whole switch knows of it.
#[derive(Clone, Debug)]
pub struct SwitchEnv {
    /// The switch's ports. They have the numbers 0 to `ports` - 1 here.
    pub ports: u32,
    /// Data priorities. Queue `port * priorities + priority` is that of a port and priority, ingress and egress alike.
    pub priorities: u32,
    /// A full data packet on the wire, in bytes.
    pub frame: u64,
    /// The largest base RTT over all pairs of hosts.
    pub base_rtt: Time,
}

/// The port and priority by which a packet came into a switch.
#[derive(Clone, Copy, Debug)]
pub struct IngressView {
    /// Its number in the switch.
    pub queue: u32,
    /// Bytes in the switch that came in here, with the packet.
    pub bytes: u64,
    /// Bytes above which PAUSE is sent to the peer now; none where nothing is ever paused.
    pub xoff: Option<u64>,
    /// Egress queues that hold packets that came in here, with the packet's own.
    pub feeds: u32,
    /// Propagation delay of the link.
    pub delay: Time,
}

/// The egress queue that a packet joins.
#[derive(Clone, Copy, Debug)]
pub struct EgressView {
    /// Its number in the switch.
    pub queue: u32,
    /// Its number as a congestion point, unique in the network.
    pub point: u32,
    /// Bytes queued, with the packet.
    pub bytes: u64,
    /// The port's line rate.
    pub rate: Rate,
}

/// A data packet that joins an egress queue, with what its switch knows of the way that it takes.
#[derive(Clone, Copy, Debug)]
pub struct Joining {
    /// Now.
    pub now: Time,
    /// Its flow.
    pub flow: u32,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Links that it has travelled from its sender.
    pub hops: u8,
    /// Where it came in.
    pub ingress: IngressView,
    /// Where it goes.
    pub egress: EgressView,
}

/// The congestion point of a whole switch, which sees all its ports and sends messages of its own.
///
/// A message goes from switch to switch as each one's point says, by what it learned from the flow's data.
pub trait SwitchPoint: Send {
    /// A data packet joins an egress queue: messages go into `out`.
    fn on_enqueue(&mut self, packet: &Joining, out: &mut Vec<Cnm>);
    /// The port by which a message to the flow's sender goes on: the one by which the flow's data comes in. None if
    /// the switch does not know the flow (any more); the message is lost then.
    fn previous_hop(&mut self, now: Time, flow: u32) -> Option<u32>;
    /// Most flows that it ever knew at once.
    fn most_flows(&self) -> u64;
}

/// The state that a detector sees its queue in (TCD, section 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PortState {
    /// Continuously ON, without a queue that grows.
    #[default]
    NonCongestion = 0,
    /// Continuously ON, with a queue that is not caused by OFF.
    Congestion = 1,
    /// Stopped a short time ago: its input is masked by that.
    Undetermined = 2,
    /// Was undetermined and has been ON for longer than max(T_on): watched until its queue says which of the first two
    /// it is.
    Released = 3,
}

impl PortState {
    /// All states, in the order of their numbers.
    pub const ALL: [PortState; 4] =
        [PortState::NonCongestion, PortState::Congestion, PortState::Undetermined, PortState::Released];

    /// Its name in result tables.
    pub fn name(self) -> &'static str {
        match self {
            PortState::NonCongestion => "non_congestion",
            PortState::Congestion => "congestion",
            PortState::Undetermined => "undetermined",
            PortState::Released => "released",
        }
    }
}

/// Detector: the part of an egress queue that says *congested* by marking packets.
pub trait Detector {
    /// A data packet leaves the queue; the mark that it earns here (a greater one that it has stays).
    fn on_dequeue(&mut self, queue: &QueueView, packet: &Passing) -> Mark;
    /// The queue may not send from now on (PAUSE, or no credit).
    fn on_pause(&mut self, _queue: &QueueView) {}
    /// The queue may send again; `packets` counts those in it.
    fn on_resume(&mut self, _queue: &QueueView, _packets: &dyn Fn() -> u64) {}
    /// Its state, where it tells states apart.
    fn state(&self) -> Option<PortState> {
        None
    }
}

/// For schemes without a notification point or a congestion point of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;
impl NotificationPoint for Silent {}
impl CongestionPoint for Silent {}

/// A parameter outside of what its scheme allows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParamError {
    /// The parameter's key.
    pub key: &'static str,
    /// What is wrong and what was expected.
    pub message: String,
}

impl ParamError {
    /// An error at `key`.
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        ParamError { key, message: message.into() }
    }
}

/// What is known of the whole network when defaults are filled in.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkEnv {
    /// The hosts' line rate (the greatest of them).
    pub line_rate: Rate,
    /// The largest base RTT over all pairs of hosts.
    pub base_rtt: Time,
}

/// A scheme: a named set of congestion, notification and reaction point with its parameters.
///
/// The parameters are the type that implements this trait: they parse from a scenario, carry their documentation
/// into the schema, and make the points of each flow and queue.
pub trait Scheme: Clone + Default + Serialize + DeserializeOwned + schemars::JsonSchema {
    /// The name in scenarios.
    const NAME: &'static str;
    /// One line on what it is.
    const TITLE: &'static str;
    /// Where it is published.
    const SOURCE: &'static str;
    /// Its reaction point.
    type Reaction: ReactionPoint;
    /// Its notification point.
    type Notification: NotificationPoint;
    /// Its congestion point.
    type Congestion: CongestionPoint;

    /// Refuses values that make no sense.
    fn validate(&self) -> Result<(), ParamError> {
        Ok(())
    }
    /// Fills in defaults that depend on the network or on another parameter, so that a manifest shows them all.
    fn resolve(self, _env: &NetworkEnv) -> Self {
        self
    }
    /// What it needs on the wire.
    fn signals(&self) -> Signals;
    /// The detector of a scenario that has none, where the scheme wants marks: RED by default.
    fn detector(&self) -> AnyDetector {
        AnyDetector::Red(Red::default())
    }
    /// The reaction point of a new flow. The parameters are resolved.
    fn reaction(&self, env: &FlowEnv) -> Self::Reaction;
    /// The reaction point that all flows of a host and priority share, beside their own, where the scheme has one. Its
    /// rate paces their packets as if they were one flow's; its window counts for nothing. It hears of every ACK, CNP and
    /// CNM that comes for one of them, and not of losses, which are a flow's own.
    fn lane(&self, _env: &LaneEnv) -> Option<Self::Reaction> {
        None
    }
    /// The notification point of a new flow.
    fn notification(&self, env: &FlowEnv) -> Self::Notification;
    /// The congestion point of an egress queue.
    fn congestion(&self, env: &PortEnv) -> Self::Congestion;
    /// The point of a whole switch; made for schemes that declare [`Signals::switch_point`].
    fn switch(&self, _env: &SwitchEnv) -> Option<Box<dyn SwitchPoint>> {
        None
    }
}
