//! How Swift's windows follow delays, and how its target follows a window.

use xoff_engine::Time;

use super::Swift;
use crate::traits::Carry;

/// Flow scaling: how much the target grows as a window shrinks (Swift, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FlowScaling {
    /// Picoseconds: a / sqrt(window) + b, between 0 and the range.
    a: f64,
    b: f64,
    range: f64,
}

impl FlowScaling {
    pub(super) fn new(params: &Swift) -> Self {
        let range = params.fs_range.0 as f64;
        let a = range / (1.0 / params.fs_min.sqrt() - 1.0 / params.fs_max.sqrt());
        FlowScaling { a, b: -a / params.fs_max.sqrt(), range }
    }
    #[inline]
    pub(super) fn at(&self, window: f64) -> f64 {
        (self.a / window.sqrt() + self.b).clamp(0.0, self.range)
    }
}

/// How a window follows a delay (Swift, Algorithm 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Law {
    pub ai: f64,
    pub beta: f64,
    pub max_mdf: f64,
    pub min: f64,
    pub max: f64,
}

/// A window and its last cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// Packets.
    pub size: f64,
    pub cut_at: Option<Time>,
}

impl Window {
    pub(super) fn may_cut(&self, now: Time, rtt: Time) -> bool {
        self.cut_at.is_none_or(|at| now.saturating_sub(at) >= rtt)
    }

    /// Carries the moment of the last cut forward, unless that cut is old enough for the next one whatever the round-trip time,
    /// which is at most `rtt`.
    pub(super) fn carry(&mut self, carry: &Carry, rtt: Time) {
        if !self.may_cut(carry.next, rtt) {
            self.cut_at = self.cut_at.map(|at| at + carry.time);
        }
    }

    /// Takes in a delay, in picoseconds like `target`, that an ACK of `acked` packets brings.
    #[inline]
    pub(super) fn follow(&mut self, law: &Law, now: Time, rtt: Time, acked: f64, delay: f64, target: f64) {
        if delay < target {
            let step = law.ai * acked;
            self.set(law, now, self.size + if self.size >= 1.0 { step / self.size } else { step });
        } else if self.may_cut(now, rtt) {
            let share = (1.0 - law.beta * (delay - target) / delay).max(1.0 - law.max_mdf);
            self.set(law, now, self.size * share);
        }
    }

    #[inline]
    pub(super) fn set(&mut self, law: &Law, now: Time, size: f64) {
        let size = size.clamp(law.min, law.max);
        if size < self.size {
            self.cut_at = Some(now);
        }
        self.size = size;
    }
}
