//! The variant of TIMELY in the ns-3 HPCC simulator (the simulator of HPCC's authors, Li et al., SIGCOMM 2019;
//! `cc_mode` 7).
//!
//! A reading of TIMELY with three differences from the paper: an update with the first ACK of each round trip,
//! hyperactive increase after increases in a row of any kind, and whole nanoseconds and bits a second.

use xoff_engine::Rate;

use super::Timely;
use crate::traits::{Ack, Carry, FlowEnv};

/// State of a flow's sender.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundLaw {
    /// Thresholds and D_minRTT, in nanoseconds.
    t_low: u64,
    t_high: u64,
    min_rtt: f64,
    alpha: f64,
    beta: f64,
    delta: u64,
    hai_delta: u64,
    hai_after: u32,
    least_factor: f64,
    min: u64,
    max: u64,
    rate: u64,
    /// Smoothed difference of the round-trip time, and its latest value, in nanoseconds.
    difference: f64,
    last_rtt: u64,
    /// Increases in a row, as many as matter.
    increases: u32,
    /// The round trip ends with an ACK of this packet or a later one; 0 before the first sample.
    last_update_packet: u64,
}

impl RoundLaw {
    pub(super) fn new(params: &Timely, env: &FlowEnv) -> Self {
        let delta = params.delta(env.line_rate).0;
        let line = env.line_rate.0;
        let min = params.min_rate.0.min(line);
        RoundLaw {
            t_low: params.t_low.0 / 1_000,
            t_high: params.t_high.0 / 1_000,
            min_rtt: (params.min_rtt(env).0 / 1_000).max(1) as f64,
            alpha: params.alpha,
            beta: params.beta,
            delta,
            hai_delta: (delta as f64 * params.hai_factor) as u64,
            hai_after: params.hai_after,
            least_factor: params.least_factor(),
            min,
            max: line,
            rate: params.initial_rate(env).0.max(min),
            difference: 0.0,
            last_rtt: 0,
            increases: 0,
            last_update_packet: 0,
        }
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(rtt) = ack.rtt else { return };
        if ack.packet < self.last_update_packet {
            return;
        }
        let rtt = rtt.0 / 1_000;
        if self.last_update_packet != 0 {
            self.update(rtt);
        }
        self.last_update_packet = ack.next_packet;
        self.last_rtt = rtt;
    }

    /// Takes in a sample that is not the first.
    fn update(&mut self, rtt: u64) {
        let difference = rtt as f64 - self.last_rtt as f64;
        self.difference = (1.0 - self.alpha) * self.difference + self.alpha * difference;
        let gradient = self.difference / self.min_rtt;
        let factor = if rtt < self.t_low {
            None
        } else if rtt > self.t_high {
            Some(1.0 - self.beta * (1.0 - self.t_high as f64 / rtt as f64))
        } else if gradient <= 0.0 {
            None
        } else {
            Some(1.0 - self.beta * gradient)
        };
        let rate = match factor {
            None => {
                let step = if self.increases < self.hai_after { self.delta } else { self.hai_delta };
                self.increases = self.increases.saturating_add(1).min(self.hai_after);
                self.rate.saturating_add(step)
            }
            Some(factor) => {
                self.increases = 0;
                (self.rate as f64 * factor.max(self.least_factor)) as u64
            }
        };
        self.rate = rate.clamp(self.min, self.max);
    }

    pub(super) fn carry(&mut self, carry: &Carry) {
        // 0 says that there was no sample yet.
        if self.last_update_packet > 0 {
            self.last_update_packet += carry.packets;
        }
    }

    #[inline]
    pub(super) fn rate(&self) -> Rate {
        Rate(self.rate)
    }
}
