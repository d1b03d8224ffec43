//! HPCC's sender as in its authors' simulator (`cc_mode` 3): the sender steers the rate in whole bits a second, and the
//! window follows as W R / C, rounded down.
//!
//! The control law is Algorithm 1's. The numbers differ from those of the window by roundings alone: rates cut to
//! bit/s, T to nanoseconds, the window to bytes, and the order of floating-point operations.

use std::hint::select_unpredictable;

use xoff_engine::{Rate, Time, as_double};

use super::Hpcc;
use crate::int::IntMemory;
use crate::traits::{Ack, FlowEnv};

/// State of a flow's sender.
#[derive(Clone, Debug)]
pub struct RateSender {
    memory: IntMemory,
    eta: f64,
    max_stage: u32,
    fast_react: bool,
    /// Additive increase, bit/s.
    r_ai: u64,
    min: u64,
    max: u64,
    base_rtt_ns: u64,
    /// Window at line rate, in bytes.
    full_window: u64,
    /// U.
    utilization: f64,
    stage: u32,
    /// The reference rate, bit/s.
    reference: u64,
    rate: u64,
    /// The round trip ends with an ACK of this packet or a later one.
    last_update_packet: u64,
}

impl RateSender {
    pub(super) fn new(params: &Hpcc, env: &FlowEnv) -> Self {
        let line = env.line_rate.0;
        RateSender {
            memory: IntMemory::default(),
            eta: params.eta,
            max_stage: params.max_stage,
            fast_react: params.fast_react,
            r_ai: params.additive_rate(env.base_rtt),
            min: params.min_rate.0.min(line),
            max: line,
            base_rtt_ns: (env.base_rtt.0 / 1_000).max(1),
            full_window: env.line_rate.bytes_in(env.base_rtt).max(1),
            utilization: 1.0,
            stage: 0,
            reference: line,
            rate: line,
            last_update_packet: 0,
        }
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Ack<'_>) {
        let due = ack.packet >= self.last_update_packet;
        if !due && !self.fast_react {
            return;
        }
        let (max, window) = (self.max as f64, self.full_window as f64);
        let (mut peak, mut tau) = (0.0, 0);
        let compared = self.memory.compare(&ack.int, ack.now, ack.packet, |_, change| {
            let ns = change.elapsed.0 / 1_000;
            let line = (change.bytes_per_ps * 8e12 + 0.5) as i64;
            if ns == 0 || line == 0 {
                return;
            }
            let line = line as f64;
            let sent = as_double(change.tx_bytes * 8) / (as_double(ns) * 1e-9);
            let mut load = sent / line;
            // Most ports are idle: the term of an empty queue, zero, costs no two divisions.
            if change.queue_bytes != 0 {
                load += as_double(change.queue_bytes) * max / line / window;
            }
            let more = load > peak;
            (peak, tau) = (select_unpredictable(more, load, peak), select_unpredictable(more, ns, tau));
        });
        if compared > 0 {
            self.steer(peak, tau, due);
        }
        if due {
            self.last_update_packet = ack.next_packet;
        }
    }

    pub(super) fn on_busy(&mut self, now: Time) {
        self.memory.forget_if_wrapped(now);
    }

    /// Takes in a load of `peak`, measured over `tau` nanoseconds; `update` makes the rate the new reference.
    fn steer(&mut self, peak: f64, tau: u64, update: bool) {
        let rtt = self.base_rtt_ns;
        let tau = tau.min(rtt);
        let (rest, part) = (as_double(rtt - tau), as_double(tau));
        self.utilization = (self.utilization * rest + peak * part) / as_double(rtt);
        let excess = self.utilization / self.eta;
        let (rate, stage) = if excess >= 1.0 || self.stage >= self.max_stage {
            ((self.reference as f64 / excess) as u64, 0)
        } else {
            (self.reference, self.stage + 1)
        };
        self.rate = rate.saturating_add(self.r_ai).clamp(self.min, self.max);
        if update {
            (self.reference, self.stage) = (self.rate, stage);
        }
    }

    #[inline]
    pub(super) fn rate(&self) -> Rate {
        Rate(self.rate)
    }

    #[inline]
    pub(super) fn window(&self) -> u64 {
        let window = match self.full_window.checked_mul(self.rate) {
            Some(product) => product / self.max,
            None => (u128::from(self.full_window) * u128::from(self.rate) / u128::from(self.max)) as u64,
        };
        window.max(1)
    }
}

impl Hpcc {
    /// The additive increase as a rate: `r_ai`, or `w_ai` a base RTT. In bit/s.
    fn additive_rate(&self, base_rtt: Time) -> u64 {
        self.r_ai.map_or_else(|| (self.w_ai.0 as f64 * 8e12 / base_rtt.0.max(1) as f64) as u64, |r| r.0)
    }
}
