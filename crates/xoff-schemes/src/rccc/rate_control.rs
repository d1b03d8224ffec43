//! A receiver's rate control on an oversubscribed network.

use rand::Rng;
use xoff_engine::{Stream, Time};

/// Share of marked packets above which the rate falls.
const GATE: f64 = 0.3;

/// The share of its pacer's rate that a receiver grants.
#[derive(Clone, Debug)]
pub struct RateControl {
    random: Stream,
    period: Time,
    min: f64,
    rate: f64,
    /// Mean share of marked packets.
    marked_share: f64,
    /// Periods in a row without a mark.
    quiet: u32,
    ends_at: Time,
    packets: u64,
    marked: u64,
    trimmed: u64,
}

impl RateControl {
    /// The control of a receiver behind an oversubscription, with periods of 1.5 times `rtt` in the mean.
    pub fn new(oversubscription: f64, rtt: Time, random: Stream) -> RateControl {
        let min = 0.9 / oversubscription;
        RateControl {
            random,
            period: Time(rtt.0 / 2 * 3),
            min,
            rate: 1.0,
            marked_share: 0.0,
            quiet: 0,
            ends_at: Time::ZERO,
            packets: 0,
            marked: 0,
            trimmed: 0,
        }
    }

    /// The share of the pacer's rate.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// A packet has arrived, whole or trimmed before the last hop.
    pub fn on_packet(&mut self, now: Time, marked: bool, trimmed: bool) {
        if now >= self.ends_at {
            self.end_period(now);
        }
        self.packets += 1;
        self.marked += u64::from(marked);
        self.trimmed += u64::from(trimmed);
    }

    fn end_period(&mut self, now: Time) {
        let uniform = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        self.ends_at = now + Time((self.period.0 as f64 * (0.75 + 0.5 * uniform)) as u64);
        if self.packets == 0 {
            return;
        }
        let share = self.marked as f64 / self.packets as f64;
        self.marked_share += 0.5 * (share - self.marked_share);
        self.rate -= self.trimmed as f64 / self.packets as f64;
        if self.marked_share > GATE {
            self.rate *= 1.0 - 0.5 * (self.marked_share - GATE);
        } else {
            self.rate += 0.01 * f64::from(1u32 << self.quiet.min(7));
        }
        self.quiet = if self.marked == 0 { self.quiet + 1 } else { 0 };
        self.rate = self.rate.clamp(self.min, 1.0);
        (self.packets, self.marked, self.trimmed) = (0, 0, 0);
    }
}
