//! The sender of a flow, or of all flows of a host and priority: index into the table, timer, rate.

use xoff_engine::{Rate, Time};

use super::Undetermined;
use super::table::Table;
use crate::signals::Mark;
use crate::traits::{Ack, Carry, Cnp, ReactionPoint};

/// Parameters of the sender, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub table: Table,
    pub increase: u16,
    pub limit: u16,
    pub min: u16,
    pub timer: Time,
    pub undetermined: Undetermined,
    /// Whether BECNs come with ACKs.
    pub becn_on_acks: bool,
}

/// InfiniBand CC's sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Sender {
    settings: Settings,
    line_rate: Rate,
    ccti: u16,
    /// When the timer expires; [`Time::NEVER`] while it does not run.
    expires: Time,
    rate: Rate,
}

impl Sender {
    pub(super) fn new(settings: Settings, line_rate: Rate) -> Self {
        let ccti = settings.min;
        let mut sender = Sender { settings, line_rate, ccti, expires: Time::NEVER, rate: line_rate };
        sender.set(ccti);
        sender
    }

    /// The index into the table.
    pub fn ccti(&self) -> u16 {
        self.ccti
    }

    fn set(&mut self, ccti: u16) {
        self.ccti = ccti;
        self.rate = self.settings.table.entry(ccti).rate(self.line_rate);
    }

    fn becn(&mut self, now: Time, mark: Mark) {
        self.advance(now);
        let s = &self.settings;
        let after = now + s.timer;
        match mark {
            Mark::None => {}
            Mark::Ue => {
                if s.undetermined == Undetermined::Hold && self.expires != Time::NEVER {
                    self.expires = after;
                }
            }
            Mark::Ce => {
                let raised = self.ccti.saturating_add(s.increase).min(s.limit);
                if raised > s.min && self.expires == Time::NEVER {
                    self.expires = after;
                }
                self.set(raised);
            }
        }
    }

    /// Makes the timer's steps up to `now`.
    fn advance(&mut self, now: Time) {
        while self.expires <= now {
            let (min, lower) = (self.settings.min, self.ccti.saturating_sub(1));
            self.set(lower.max(min));
            self.expires = if self.ccti > min { self.expires + self.settings.timer } else { Time::NEVER };
        }
    }
}

impl ReactionPoint for Sender {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if self.settings.becn_on_acks && ack.mark != Mark::None {
            self.becn(ack.now, ack.mark);
        }
    }
    fn carry(&mut self, carry: &Carry) -> bool {
        if self.expires != Time::NEVER {
            self.expires += carry.time;
        }
        true
    }
    fn repeats(&self, earlier: &Self, carry: &Carry) -> bool {
        carry.leads(earlier, self)
    }
    fn on_cnp(&mut self, now: Time, cnp: &Cnp) {
        self.becn(now, cnp.mark);
    }
    fn on_busy(&mut self, now: Time) {
        self.advance(now);
    }
    fn on_timer(&mut self, now: Time) {
        self.advance(now);
    }
    #[inline]
    fn next_timer(&self) -> Time {
        self.expires
    }
    #[inline]
    fn rate(&self) -> Rate {
        self.rate
    }
}
