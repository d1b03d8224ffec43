//! TIMELY's update when a segment completes: Algorithm 1 of SIGCOMM 2015 with two additions from its authors' snippet,
//! the scaling by time and the bound on a single cut.

use xoff_engine::{Rate, Time};

use super::{Timely, Undetermined};
use crate::rtt::{Sampler, Sampling};
use crate::traits::{Ack, Carry, FlowEnv};

/// State of a flow's sender.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentLaw {
    sampler: Sampler,
    /// Thresholds and D_minRTT, in picoseconds.
    t_low: f64,
    t_high: f64,
    min_rtt: f64,
    beta: f64,
    delta: f64,
    hai_after: u32,
    hai_factor: f64,
    least_factor: f64,
    time_scaling: bool,
    holds: bool,
    /// Consecutive samples below the previous one.
    falls: u32,
    min: f64,
    max: f64,
    /// The rate, in bits a second.
    rate: f64,
}

impl SegmentLaw {
    pub(super) fn new(params: &Timely, env: &FlowEnv) -> Self {
        let min_rtt = params.min_rtt(env);
        let sampling = Sampling {
            segment: params.segment(),
            deduct_serialization: params.deduct_serialization.unwrap_or(true),
            gap: Time::ZERO,
            alpha: params.alpha,
            min_rtt,
        };
        let min = params.min_rate.min(env.line_rate);
        SegmentLaw {
            sampler: Sampler::new(&sampling, env),
            t_low: params.t_low.0 as f64,
            t_high: params.t_high.0 as f64,
            min_rtt: min_rtt.0.max(1) as f64,
            beta: params.beta,
            delta: params.delta(env.line_rate).0 as f64,
            hai_after: params.hai_after,
            hai_factor: params.hai_factor,
            least_factor: params.least_factor(),
            time_scaling: params.time_scaling.unwrap_or(true),
            holds: params.undetermined == Some(Undetermined::Hold),
            falls: 0,
            min: min.0 as f64,
            max: env.line_rate.0 as f64,
            rate: params.initial_rate(env).max(min).0 as f64,
        }
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(sample) = self.sampler.take(ack) else { return };
        self.falls = if sample.fell { self.falls.saturating_add(1) } else { 0 };
        let share = match sample.elapsed {
            Some(elapsed) if self.time_scaling => (elapsed.0 as f64 / self.min_rtt).min(1.0),
            _ => 1.0,
        };
        let (rtt, before) = (sample.rtt, self.rate);
        let rate = if rtt < self.t_low {
            before + self.delta * share
        } else if rtt > self.t_high {
            before * (1.0 - share * self.beta * (1.0 - self.t_high / rtt))
        } else if sample.gradient <= 0.0 {
            let steps = if self.falls >= self.hai_after { self.hai_factor } else { 1.0 };
            before + steps * self.delta * share
        } else if self.holds && sample.masked(self.t_low, self.t_high) {
            before
        } else {
            before * (1.0 - self.beta * sample.gradient)
        };
        self.rate = rate.max(before * self.least_factor).clamp(self.min, self.max);
    }

    pub(super) fn carry(&mut self, carry: &Carry) {
        self.sampler.carry(carry);
    }

    #[inline]
    pub(super) fn rate(&self) -> Rate {
        Rate((self.rate + 0.5) as u64)
    }
}
