//! The receiver: when the next credit goes (Algorithm 1).

use std::collections::VecDeque;

use rand::Rng;
use xoff_engine::{Stream, Time};

use super::ExpressPass;
use crate::traits::{Arrival, Cnp, Credit, FlowEnv, NotificationPoint};

/// Maximum number of credits whose fate is not known; the oldest of more counts as lost.
const MAX_OUT: usize = 1 << 15;

/// A receiver that sends credits to one flow.
#[derive(Clone, Debug)]
pub struct CreditPacer {
    params: ExpressPass,
    /// The most credits a second that the link lets through.
    max_rate: f64,
    base_rtt: Time,
    random: Stream,
    /// Credits a second; 0 while the sender wants none.
    rate: f64,
    w: f64,
    /// The last period raised the rate.
    was_increased: bool,
    /// When the next credit goes; `NEVER` while the sender wants none.
    next_at: Time,
    /// Number of the next credit.
    number: u16,
    /// Credits whose fate is not known, each with the time at which it went.
    out: VecDeque<(u16, Time)>,
    /// Time from a credit to its data.
    rtt: Time,
    /// When the period began.
    period_from: Time,
    /// Credits whose fate became known in the period, and those of them that were lost.
    known: u32,
    lost: u32,
    /// When data came last, or the sender asked.
    heard_at: Time,
}

impl CreditPacer {
    /// A receiver that was not asked yet.
    pub fn new(params: &ExpressPass, env: &FlowEnv) -> CreditPacer {
        let bits = 8 * (params.credit.0 + env.frame);
        CreditPacer {
            params: params.clone(),
            max_rate: env.line_rate.bps() as f64 / bits as f64,
            base_rtt: env.base_rtt,
            random: env.stream.clone(),
            rate: 0.0,
            w: params.w_init,
            was_increased: false,
            next_at: Time::NEVER,
            number: 0,
            out: VecDeque::new(),
            rtt: env.base_rtt,
            period_from: Time::ZERO,
            known: 0,
            lost: 0,
            heard_at: Time::ZERO,
        }
    }

    /// Credits a second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The weight of the maximum rate in an increase.
    pub fn w(&self) -> f64 {
        self.w
    }

    /// The most credits a second that the link lets through.
    pub fn max_rate(&self) -> f64 {
        self.max_rate
    }

    /// Data has brought back the number of its credit: those before it that brought none are lost.
    fn learn(&mut self, now: Time, number: u16) {
        if !self.out.iter().any(|&(credit, _)| credit == number) {
            return; // of a credit that went before the sender asked anew
        }
        while let Some((credit, sent_at)) = self.out.pop_front() {
            self.known += 1;
            if credit == number {
                self.rtt = Time((self.rtt.0 * 4 + (now - sent_at).0) / 5);
                return;
            }
            self.lost += 1;
        }
    }

    /// Ends a period that is a round trip long (Algorithm 1).
    fn update(&mut self, now: Time) {
        if self.known == 0 || now - self.period_from < self.rtt {
            return;
        }
        let p = &self.params;
        let loss = f64::from(self.lost) / f64::from(self.known);
        if loss <= p.target_loss {
            if self.was_increased {
                self.w = (self.w + p.w_max) / 2.0;
            }
            self.rate = (1.0 - self.w) * self.rate + self.w * self.max_rate * (1.0 + p.target_loss);
        } else {
            self.rate *= (1.0 - loss) * (1.0 + p.target_loss);
            self.w = (self.w / 2.0).max(p.w_min);
        }
        self.was_increased = loss <= p.target_loss;
        self.rate = self.rate.max((1.0 / self.rtt.secs()).min(self.max_rate));
        (self.known, self.lost, self.period_from) = (0, 0, now);
    }

    /// A random number from 0 to below 1.
    fn uniform(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The bytes of the next credit.
    fn size(&mut self) -> u16 {
        let (mean, spread) = (self.params.credit.0 as u16, self.params.credit_spread.0 as u16);
        mean - spread + (self.uniform() * f64::from(2 * spread + 1)) as u16
    }

    /// The time to the next credit.
    fn gap(&mut self) -> Time {
        let varied = 1.0 + self.params.jitter * (2.0 * self.uniform() - 1.0);
        Time((1e12 / self.rate * varied) as u64)
    }

    fn stop(&mut self) {
        (self.rate, self.next_at) = (0.0, Time::NEVER);
    }
}

impl NotificationPoint for CreditPacer {
    fn on_data(&mut self, arrival: &Arrival) -> Option<Cnp> {
        self.heard_at = arrival.now;
        self.learn(arrival.now, arrival.credit);
        if self.next_at != Time::NEVER {
            self.update(arrival.now);
        }
        None
    }

    fn on_request(&mut self, now: Time, wants: bool) {
        if !wants {
            return self.stop();
        }
        self.heard_at = now;
        if self.next_at != Time::NEVER {
            return;
        }
        (self.rate, self.w) = (self.params.initial_rate * self.max_rate, self.params.w_init);
        (self.was_increased, self.rtt) = (false, self.base_rtt);
        (self.known, self.lost, self.period_from) = (0, 0, now);
        self.out.clear();
        self.next_at = now;
    }

    fn credit(&mut self, now: Time) -> Option<Credit> {
        if now < self.next_at {
            return None;
        }
        if now.saturating_sub(self.heard_at) > self.params.timeout {
            self.stop();
            return None;
        }
        let number = self.number;
        self.number = number.wrapping_add(1);
        if self.out.len() == MAX_OUT {
            self.out.pop_front();
            (self.known, self.lost) = (self.known + 1, self.lost + 1);
        }
        self.out.push_back((number, now));
        self.next_at = now.saturating_add(self.gap().max(Time(1)));
        Some(Credit { number, size: self.size() })
    }

    fn next_timer(&self) -> Time {
        self.next_at
    }
}
