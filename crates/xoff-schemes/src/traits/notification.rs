//! Notification points: the receiver's part of a scheme.

use xoff_engine::Time;

use super::messages::Cnp;
use crate::signals::Mark;

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
    /// The time of [`Self::next_timer`] has come; a CNP may go back.
    fn on_timer(&mut self, _now: Time) -> Option<Cnp> {
        None
    }
    /// When to call [`Self::on_timer`]; [`Time::NEVER`] for not at all. Read after each call.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
}
