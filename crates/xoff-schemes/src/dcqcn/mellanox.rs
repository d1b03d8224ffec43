//! DCQCN as NVIDIA (Mellanox) NICs ship it, after the simulator of HPCC's authors (`cc_mode` 1).
//!
//! Marks come back on every ACK and only set two flags. From the first mark on, α is updated each `alpha_timer`
//! by whether a mark came since the last update, and a pending cut is made each `decrease_timer`; the latter runs
//! 1 ns behind the former, so that of two at the same moment α comes first. A cut restarts the increase timer,
//! whose steps are fast recovery (F of them), one additive increase, then hyper increases. There is no byte
//! counter.
//!
//! α matters to cuts alone and is brought up to date there. The cut's timer runs only while a cut is pending, and the
//! increase timer stops at line rate: a flow that is not held back costs no event.

use xoff_engine::{Rate, Time};

use super::rates::{Rates, decayed};
use crate::signals::Mark;
use crate::traits::Ack;

/// Parameters with their defaults filled in; see [`super::Dcqcn`].
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub g: f64,
    pub initial_alpha: f64,
    pub alpha_timer: Time,
    pub decrease_timer: Time,
    pub increase_timer: Time,
    pub f: u32,
    pub r_ai: Rate,
    pub r_hai: Rate,
    pub hyper: bool,
    pub clamp_target: bool,
}

/// How far the decrease timer runs behind the α timer.
const DECREASE_OFFSET: Time = Time::from_ns(1);

/// State of a flow's sender.
#[derive(Clone, Debug)]
pub struct Sender {
    settings: Settings,
    rates: Rates,
    alpha: f64,
    marked_since_update: bool,
    /// The next update of α; [`Time::NEVER`] before the first mark.
    alpha_at: Time,
    /// The moment from which the decrease timer counts its periods.
    decrease_origin: Time,
    /// When the pending cut is made; [`Time::NEVER`] without one.
    cut_at: Time,
    stage: u32,
    increase_at: Time,
}

impl Sender {
    pub(super) fn new(settings: Settings, rates: Rates) -> Self {
        Sender {
            alpha: settings.initial_alpha,
            settings,
            rates,
            marked_since_update: false,
            alpha_at: Time::NEVER,
            decrease_origin: Time::NEVER,
            cut_at: Time::NEVER,
            stage: 0,
            increase_at: Time::NEVER,
        }
    }

    /// Current and target rate.
    #[inline]
    pub fn rates(&self) -> &Rates {
        &self.rates
    }

    /// The congestion estimate α as of the last mark or cut.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Ack<'_>) {
        // Timers that are due come before the ACK, whatever the order of the calls.
        self.advance(ack.now);
        if ack.mark == Mark::Ce {
            self.on_mark(ack.now);
        }
    }

    fn on_mark(&mut self, now: Time) {
        if self.alpha_at == Time::NEVER {
            // The first mark starts both timers and does not count for the first update of α.
            self.alpha_at = now.saturating_add(self.settings.alpha_timer);
            self.decrease_origin = now + DECREASE_OFFSET;
        } else {
            // A mark at the moment of an update still counts for it.
            self.update_alpha(Time(now.0.saturating_sub(1)));
            self.marked_since_update = true;
        }
        if self.cut_at == Time::NEVER {
            let period = self.settings.decrease_timer.0.max(1);
            let periods = now.saturating_sub(self.decrease_origin).0 / period + 1;
            self.cut_at = self.decrease_origin.saturating_add(Time(period.saturating_mul(periods)));
        }
    }

    /// Makes cuts and increases up to `now`. Of two at the same moment the increase comes first, as its timer was set
    /// earlier, which is always so if the increase timer is a multiple of the decrease timer's period.
    pub(super) fn advance(&mut self, now: Time) {
        loop {
            let next = self.next_timer();
            if next > now || next == Time::NEVER {
                return;
            }
            if self.increase_at == next { self.increase(next) } else { self.cut(next) }
        }
    }

    /// A switch grants a rate.
    pub(super) fn grant(&mut self, now: Time, rate: Rate) {
        self.advance(now);
        self.rates.grant(rate);
        self.stage = 0;
        self.arm(now);
    }

    #[inline]
    pub(super) fn next_timer(&self) -> Time {
        self.cut_at.min(self.increase_at)
    }

    /// Makes the updates of α up to `now`: the first by the flag, the others without a mark.
    fn update_alpha(&mut self, now: Time) {
        if self.alpha_at > now {
            return;
        }
        let Settings { g, alpha_timer, .. } = self.settings;
        let further = (now - self.alpha_at).0 / alpha_timer.0.max(1);
        let seen = if self.marked_since_update { g } else { 0.0 };
        self.alpha = decayed((1.0 - g) * self.alpha + seen, g, further);
        self.marked_since_update = false;
        self.alpha_at += alpha_timer * (further + 1);
    }

    fn cut(&mut self, at: Time) {
        self.update_alpha(at);
        self.rates.cut(self.alpha, self.settings.clamp_target || self.stage > 0);
        self.stage = 0;
        self.cut_at = Time::NEVER;
        self.arm(at);
    }

    fn increase(&mut self, at: Time) {
        let Settings { f, r_ai, r_hai, hyper, .. } = self.settings;
        let step = if self.stage < f {
            0
        } else if self.stage == f || !hyper {
            r_ai.0
        } else {
            r_hai.0
        };
        self.rates.raise(step as f64);
        self.stage += 1;
        self.arm(at);
    }

    fn arm(&mut self, from: Time) {
        let recovered = self.rates.at_line_rate();
        self.increase_at =
            if recovered { Time::NEVER } else { from.saturating_add(self.settings.increase_timer) };
    }
}
