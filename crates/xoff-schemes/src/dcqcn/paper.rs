//! DCQCN's sender as published (SIGCOMM 2015, section 3.1).
//!
//! A CNP cuts the rate with the current α, then raises α. From then on a timer and a counter of sent bytes step
//! the rate up, each with a count of its own since the last CNP: fast recovery while both have seen fewer than F
//! steps, hyper increase once both have seen F, additive increase in between. A step uses the counts before
//! the step, so that each alone makes F steps of fast recovery.
//!
//! α decays once for each `alpha_timer` without a CNP. Nothing reads α between CNPs, so α is brought up to
//! date at the next CNP and needs no timer. The increase timer stops at line rate: a flow that is not held back
//! costs no event.

use xoff_engine::{Bytes, Rate, Time};

use super::Undetermined;
use super::rates::{Rates, decayed};
use crate::signals::Mark;
use crate::traits::Sent;

/// Parameters with their defaults filled in; see [`super::Dcqcn`].
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub g: f64,
    pub initial_alpha: f64,
    pub alpha_timer: Time,
    pub increase_timer: Time,
    pub byte_counter: Bytes,
    pub f: u32,
    pub r_ai: Rate,
    pub r_hai: Rate,
    pub hyper: bool,
    pub clamp_target: bool,
    pub undetermined: Undetermined,
}

/// State of a flow's sender.
#[derive(Clone, Debug)]
pub struct Sender {
    settings: Settings,
    rates: Rates,
    alpha: f64,
    /// The moment from which α decays; [`Time::NEVER`] before the first CNP.
    alpha_since: Time,
    timer_steps: u32,
    byte_steps: u32,
    increase_at: Time,
    counted_bytes: u64,
}

impl Sender {
    pub(super) fn new(settings: Settings, rates: Rates) -> Self {
        Sender {
            alpha: settings.initial_alpha,
            settings,
            rates,
            alpha_since: Time::NEVER,
            timer_steps: 0,
            byte_steps: 0,
            increase_at: Time::NEVER,
            counted_bytes: 0,
        }
    }

    /// Current and target rate.
    #[inline]
    pub fn rates(&self) -> &Rates {
        &self.rates
    }

    /// The congestion estimate α at `now`.
    pub fn alpha(&self, now: Time) -> f64 {
        let periods = now.saturating_sub(self.alpha_since).0 / self.settings.alpha_timer.0.max(1);
        decayed(self.alpha, self.settings.g, periods)
    }

    #[inline]
    pub(super) fn on_send(&mut self, sent: &Sent) {
        if self.rates.at_line_rate() {
            return;
        }
        self.counted_bytes += sent.frame;
        if self.counted_bytes >= self.settings.byte_counter.0 {
            // Bytes beyond the threshold count for the next step; one packet makes one step at most.
            self.counted_bytes = (self.counted_bytes - self.settings.byte_counter.0).min(sent.frame);
            self.raise();
            self.byte_steps += 1;
            if self.rates.at_line_rate() {
                self.increase_at = Time::NEVER;
            }
        }
    }

    pub(super) fn on_cnp(&mut self, now: Time, mark: Mark) {
        // A timer at the same moment comes first, whatever the order of the calls.
        self.advance(now);
        match (mark, self.settings.undetermined) {
            (Mark::None, _) | (Mark::Ue, Undetermined::Ignore) => return,
            (Mark::Ue, Undetermined::Hold) => {
                self.alpha = self.alpha(now);
                self.rates.hold();
            }
            (Mark::Ce, _) => {
                let alpha = self.alpha(now);
                let follow = self.settings.clamp_target || self.timer_steps > 0 || self.byte_steps > 0;
                self.rates.cut(alpha, follow);
                self.alpha = (1.0 - self.settings.g) * alpha + self.settings.g;
            }
        }
        self.alpha_since = now;
        (self.timer_steps, self.byte_steps, self.counted_bytes) = (0, 0, 0);
        self.arm(now);
    }

    /// A switch grants a rate.
    pub(super) fn grant(&mut self, now: Time, rate: Rate) {
        self.advance(now);
        self.rates.grant(rate);
        (self.timer_steps, self.byte_steps, self.counted_bytes) = (0, 0, 0);
        self.arm(now);
    }

    /// Makes the steps of the increase timer up to `now`.
    pub(super) fn advance(&mut self, now: Time) {
        while self.increase_at <= now && self.increase_at != Time::NEVER {
            self.raise();
            self.timer_steps += 1;
            self.arm(self.increase_at);
        }
    }

    #[inline]
    pub(super) fn next_timer(&self) -> Time {
        self.increase_at
    }

    fn arm(&mut self, from: Time) {
        let recovered = self.rates.at_line_rate();
        self.increase_at =
            if recovered { Time::NEVER } else { from.saturating_add(self.settings.increase_timer) };
    }

    fn raise(&mut self) {
        let Settings { f, r_ai, r_hai, hyper, .. } = self.settings;
        let (fewer, more) = (self.timer_steps.min(self.byte_steps), self.timer_steps.max(self.byte_steps));
        let step = if more < f {
            0.0
        } else if fewer < f || !hyper {
            r_ai.0 as f64
        } else {
            f64::from(fewer - f + 1) * r_hai.0 as f64
        };
        self.rates.raise(step);
    }
}
