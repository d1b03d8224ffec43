//! The traits between a scheme and a simulator: reaction, notification and congestion points, detectors, throttles.
//!
//! Every implementation is a pure state machine. Time is an argument, randomness comes from a stream that the machine
//! is given, and the machine states what it wants instead of doing it: a rate, a window, the time of its next timer, a
//! message to send. So a scheme can be tested without a network and used in any.
//!
//! This folder names no scheme, no detector and no throttle; they depend on it, never the other way round.

mod carry;
mod congestion;
mod detector;
mod messages;
mod notification;
mod random;
mod reaction;
mod scheme;
mod switch;
mod throttle;

pub use carry::Carry;
pub use congestion::{CongestionPoint, Labelled, PacketView, PortEnv, QueueView};
pub use detector::{Detector, DetectorParams, PortState};
pub use messages::{Cnm, Cnp, QueueReport};
pub use notification::{Arrival, Credit, NotificationPoint};
pub use random::MarkingRandom;
pub use reaction::{Ack, FlowEnv, Outgoing, ReactionPoint, SendLimits, Sent, SlEnv};
pub(crate) use scheme::sends_messages;
pub use scheme::{NetworkEnv, NoOp, Scheme};
pub use switch::{EgressView, IngressView, Joining, SwitchEnv, SwitchPoint};
pub use throttle::{Changes, Throttle, ThrottleEnv, ThrottleParams, ThrottleState};
