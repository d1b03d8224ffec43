//! A connection's reaction point, with the limits that the point has set last.
//!
//! A NIC reads limits several times for each packet, and a point changes them only when it is called: they are read once after
//! each call, so that not every read has to find out which scheme the point is of.

use xoff_engine::{Rate, Time};
use xoff_schemes::{Ack, AnyReaction, Cnm, Cnp, ReactionPoint, SendLimits, Sent};

/// A reaction point and its limits.
#[derive(Debug)]
pub(crate) struct LimitedReaction {
    point: AnyReaction,
    limits: SendLimits,
}

impl LimitedReaction {
    pub fn new(point: AnyReaction) -> Self {
        LimitedReaction { limits: point.limits(), point }
    }

    /// Calls the point, and reads its limits.
    fn call(&mut self, call: impl FnOnce(&mut AnyReaction)) {
        call(&mut self.point);
        self.limits = self.point.limits();
    }
}

impl ReactionPoint for LimitedReaction {
    #[inline(always)] // runs for every packet
    fn on_send(&mut self, sent: &Sent) {
        self.point.send_and_limit(sent, &mut self.limits);
    }

    #[inline(always)] // runs for every packet
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.point.ack_and_limit(ack, &mut self.limits);
    }

    fn on_cnp(&mut self, now: Time, cnp: &Cnp) {
        self.call(|point| point.on_cnp(now, cnp));
    }

    fn on_cnm(&mut self, now: Time, cnm: &Cnm) {
        self.call(|point| point.on_cnm(now, cnm));
    }

    fn on_loss(&mut self, now: Time) {
        self.call(|point| point.on_loss(now));
    }

    fn on_timeout(&mut self, now: Time) {
        self.call(|point| point.on_timeout(now));
    }

    fn on_idle(&mut self, now: Time) {
        self.call(|point| point.on_idle(now));
    }

    fn on_busy(&mut self, now: Time) {
        self.call(|point| point.on_busy(now));
    }

    fn on_timer(&mut self, now: Time) {
        self.call(|point| point.on_timer(now));
    }

    #[inline(always)] // runs for every packet
    fn next_timer(&self) -> Time {
        self.limits.next_timer
    }

    #[inline(always)] // runs for every packet
    fn rate(&self) -> Rate {
        self.limits.rate
    }

    #[inline(always)] // runs for every packet
    fn window(&self) -> u64 {
        self.limits.window
    }

    fn burst(&self) -> u64 {
        self.point.burst()
    }
}
