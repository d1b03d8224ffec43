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
    /// Number of the credit that the packet took; 0 without [`Signals::credits`](crate::Signals::credits).
    pub credit: u16,
}

/// A credit that a receiver sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Its number, which data bring back.
    pub number: u16,
    /// Bytes on the wire.
    pub size: u16,
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
    /// The sender asks for credits, or `wants` no more, in a scheme that declares
    /// [`Signals::credits`](crate::Signals::credits).
    fn on_request(&mut self, _now: Time, _wants: bool) {}
    /// The time of [`Self::next_timer`] has come, in a scheme that declares [`Signals::credits`](crate::Signals::credits), in
    /// place of [`Self::on_timer`]: a credit may go back.
    fn credit(&mut self, _now: Time) -> Option<Credit> {
        None
    }
    /// When to call [`Self::on_timer`]; [`Time::NEVER`] for not at all. Read after each call.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
}

/// A point with much state is boxed, so that those of other schemes take no more room.
impl<N: NotificationPoint> NotificationPoint for Box<N> {
    fn on_data(&mut self, arrival: &Arrival) -> Option<Cnp> {
        (**self).on_data(arrival)
    }
    fn on_timer(&mut self, now: Time) -> Option<Cnp> {
        (**self).on_timer(now)
    }
    fn on_request(&mut self, now: Time, wants: bool) {
        (**self).on_request(now, wants);
    }
    fn credit(&mut self, now: Time) -> Option<Credit> {
        (**self).credit(now)
    }
    fn next_timer(&self) -> Time {
        (**self).next_timer()
    }
}
