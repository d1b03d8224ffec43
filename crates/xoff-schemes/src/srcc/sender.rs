//! SRCC's sender (section III-E): a message sets the rate at once, the minimum of several targets counts, and a base
//! scheme, to which a message is a cut or nothing ([`Composition`]), recovers the rate.

use xoff_engine::{Rate, Time};

use super::Composition;
use crate::dcqcn;
use crate::traits::{Ack, Cnm, Cnp, ReactionPoint, Sent};

/// A rate that doubles after a while without a message.
#[derive(Clone, Debug)]
pub struct Doubling {
    rate: Rate,
    line_rate: Rate,
    interval: Time,
    rise_at: Time,
}

impl Doubling {
    pub(super) fn new(line_rate: Rate, interval: Time) -> Self {
        Doubling { rate: line_rate, line_rate, interval, rise_at: Time::NEVER }
    }

    fn on_cnm(&mut self, now: Time, rate: Rate) {
        self.advance(now);
        self.rate = self.rate.min(rate);
        self.arm(now);
    }

    fn advance(&mut self, now: Time) {
        while self.rise_at <= now && self.rise_at != Time::NEVER {
            self.rate = Rate(self.rate.0.saturating_mul(2)).min(self.line_rate);
            self.arm(self.rise_at);
        }
    }

    fn arm(&mut self, from: Time) {
        let recovered = self.rate >= self.line_rate;
        self.rise_at = if recovered { Time::NEVER } else { from.saturating_add(self.interval) };
    }
}

/// The base scheme of a flow.
#[derive(Clone, Debug)]
pub(super) enum BaseSender {
    /// DCQCN.
    Dcqcn(dcqcn::Reaction),
    /// None.
    None(Doubling),
}

/// A congestion point's target.
#[derive(Clone, Copy, Debug)]
struct Target {
    point: u32,
    rate: Rate,
    until: Time,
}

/// SRCC's sender.
#[derive(Clone, Debug)]
pub struct SrccSender {
    base: BaseSender,
    composition: Composition,
    timeout: Time,
    /// Targets in force, one for each congestion point.
    targets: Vec<Target>,
    /// The minimum of their rates.
    min: Rate,
    /// When the first target ends.
    until: Time,
}

impl SrccSender {
    pub(super) fn new(base: BaseSender, composition: Composition, timeout: Time) -> Self {
        SrccSender {
            base,
            composition,
            timeout,
            targets: Vec::new(),
            min: Rate(u64::MAX),
            until: Time::NEVER,
        }
    }

    /// Drops the targets that have ended by `now`.
    fn age(&mut self, now: Time) {
        if self.until <= now {
            self.targets.retain(|t| t.until > now);
            self.summarize();
        }
    }

    fn summarize(&mut self) {
        self.min = self.targets.iter().map(|t| t.rate).min().unwrap_or(Rate(u64::MAX));
        self.until = self.targets.iter().map(|t| t.until).min().unwrap_or(Time::NEVER);
    }
}

impl ReactionPoint for SrccSender {
    #[inline]
    fn on_send(&mut self, sent: &Sent) {
        if let BaseSender::Dcqcn(base) = &mut self.base {
            base.on_send(sent);
        }
    }
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if let BaseSender::Dcqcn(base) = &mut self.base {
            base.on_ack(ack);
        }
    }
    fn on_cnp(&mut self, now: Time, cnp: &Cnp) {
        if let BaseSender::Dcqcn(base) = &mut self.base {
            base.on_cnp(now, cnp);
        }
    }
    fn on_cnm(&mut self, now: Time, cnm: &Cnm) {
        match (&mut self.base, self.composition) {
            (BaseSender::Dcqcn(base), Composition::Cut) => base.on_cnm(now, cnm),
            (BaseSender::Dcqcn(_), Composition::Cap) => {}
            (BaseSender::None(base), _) => base.on_cnm(now, cnm.rate),
        }
        let target = Target { point: cnm.point, rate: cnm.rate, until: now.saturating_add(self.timeout) };
        self.targets.retain(|t| t.point != cnm.point && t.until > now);
        self.targets.push(target);
        self.summarize();
    }
    fn on_busy(&mut self, now: Time) {
        self.on_timer(now);
    }
    fn on_timer(&mut self, now: Time) {
        self.age(now);
        match &mut self.base {
            BaseSender::Dcqcn(base) => base.on_timer(now),
            BaseSender::None(base) => base.advance(now),
        }
    }
    #[inline]
    fn next_timer(&self) -> Time {
        let base = match &self.base {
            BaseSender::Dcqcn(base) => base.next_timer(),
            BaseSender::None(base) => base.rise_at,
        };
        base.min(self.until)
    }
    #[inline]
    fn rate(&self) -> Rate {
        let base = match &self.base {
            BaseSender::Dcqcn(base) => base.rate(),
            BaseSender::None(base) => base.rate,
        };
        base.min(self.min)
    }
    #[inline]
    fn window(&self) -> u64 {
        match &self.base {
            BaseSender::Dcqcn(base) => base.window(),
            BaseSender::None(_) => u64::MAX,
        }
    }
}
