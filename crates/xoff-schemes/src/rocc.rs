//! RoCC: Robust Congestion Control for RDMA (Taheri et al., CoNEXT 2020), sections 3 and 6.
//!
//! Each egress queue computes a fair rate with a proportional-integral controller every T and sends the rate, in a
//! message of its own (CNM), to the flows with packets in the queue. A sender obeys the tightest of its congestion
//! points and doubles its rate if no further message comes.
//!
//! Readings: the controller starts at its maximum rate; its rate is kept with fractions and rounded down to
//! units in messages, which carry whole units; queue lengths are whole units. All queues compute at the
//! multiples of T. The flow table holds the flows with a packet in the queue (the paper's default), and an empty
//! table sends nothing.
//!
//! # Reordering
//!
//! The sender does not look at ACKs. Messages of one congestion point take effect in the order in which they come.
//!
//! # Idle
//!
//! The limiter's timer does not depend on packets: on each expiry the paper's host doubles the rate, and removes the
//! limiter once the rate is above the NIC's. So an idle connection returns to line rate. The congestion point forgets a
//! flow with its last packet in the queue.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use crate::check;
use crate::detector::red::Red;
use crate::signals::Signals;
use crate::traits::{
    Cnm, CongestionPoint, FlowEnv, NoOp, PacketView, PortEnv, QueueView, ReactionPoint, Scheme,
};

/// Parameters of RoCC. Defaults of omitted ones depend on each port's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rocc {
    /// Period T of the controller. Default 40 us (RoCC, parameter table).
    pub interval: Time,
    /// Unit ΔF of rates, in bits a second. Default 10 Mb/s (RoCC, parameter table).
    pub rate_unit: Rate,
    /// Unit ΔQ of queue lengths, in bytes. Default 600 B (RoCC, parameter table).
    pub queue_unit: Bytes,
    /// The minimum fair rate F_min, in bits a second; the maximum is the port's line rate. Default 100 Mb/s (RoCC,
    /// parameter table).
    pub min_rate: Rate,
    /// Queue length Q_ref that the controller holds, in bytes. Default 150 KB at 40 Gb/s, else 300 KB for each
    /// 100 Gb/s of the port (RoCC, parameter table, extended linearly).
    pub q_ref: Option<Bytes>,
    /// Growth of the queue within T that halves the rate: Q_mid, in bytes. Default 300 KB at 40 Gb/s, else 600 KB
    /// for each 100 Gb/s of the port.
    pub q_mid: Option<Bytes>,
    /// Queue length that sets the rate to its minimum: Q_max, in bytes. Default 360 KB at 40 Gb/s, else 660 KB for
    /// each 100 Gb/s of the port.
    pub q_max: Option<Bytes>,
    /// Integral gain before tuning, in rate units for each queue unit: α~. Default 0.3 at 40 Gb/s, else 0.45
    /// (RoCC, parameter table).
    pub alpha: Option<f64>,
    /// Proportional gain before tuning, in rate units for each queue unit: β~. Default 1.5 at 40 Gb/s, else 2.25
    /// (RoCC, parameter table).
    pub beta: Option<f64>,
    /// Time that a sender's NIC takes to obey a message. Default 15 us (RoCC, section 6).
    pub cnp_delay: Time,
    /// Time without a message after which a sender doubles its rate. Default 55 us (the authors' simulator; the paper
    /// names no number).
    pub rise_interval: Time,
}

impl Default for Rocc {
    fn default() -> Self {
        Rocc {
            interval: Time::from_us(40),
            rate_unit: Rate::from_mbps(10),
            queue_unit: Bytes(600),
            min_rate: Rate::from_mbps(100),
            q_ref: None,
            q_mid: None,
            q_max: None,
            alpha: None,
            beta: None,
            cnp_delay: Time::from_us(15),
            rise_interval: Time::from_us(55),
        }
    }
}

/// The divisor of both gains at fair rate `f` below a maximum rate of `f_max`: 1 down to half of it, then
/// doubled each time the rate halves, and 32 from a thirty-second part down (RoCC, section 3).
pub fn gain_divisor(f: f64, f_max: f64) -> f64 {
    let mut level = 2.0;
    while level < 64.0 && f * level < f_max {
        level *= 2.0;
    }
    level / 2.0
}

/// RoCC's congestion point: controller and flow table of an egress queue. Rates and queue lengths in units.
#[derive(Clone, Debug)]
pub struct FairRate {
    point: u32,
    interval: Time,
    rate_unit: u64,
    queue_unit: u64,
    f: f64,
    f_min: f64,
    f_max: f64,
    q_ref: f64,
    q_mid: f64,
    q_max: f64,
    alpha: f64,
    beta: f64,
    q_old: f64,
    /// Packets in the queue of each flow that has any, by flow.
    table: Vec<(u32, u32)>,
    next: Time,
}

impl FairRate {
    /// The fair rate, rounded down to whole units.
    pub fn rate(&self) -> Rate {
        Rate(self.rate_unit.saturating_mul((self.f as u64).max(1)))
    }

    fn compute(&mut self, bytes: u64) {
        let q = (bytes / self.queue_unit) as f64;
        let growth = q - self.q_old;
        let high = self.f > self.f_max / 8.0;
        if q >= self.q_max && high {
            self.f = self.f_min;
        } else if growth >= self.q_mid && high {
            self.f /= 2.0;
        } else {
            let divisor = gain_divisor(self.f, self.f_max);
            self.f -= self.alpha / divisor * (q - self.q_ref) + self.beta / divisor * growth;
        }
        self.f = self.f.clamp(self.f_min, self.f_max);
        self.q_old = q;
    }
}

impl CongestionPoint for FairRate {
    fn on_enqueue(&mut self, queue: &QueueView, packet: &PacketView) {
        match self.table.binary_search_by_key(&packet.flow, |e| e.0) {
            Ok(i) => self.table[i].1 += 1,
            Err(i) => self.table.insert(i, (packet.flow, 1)),
        }
        if self.next == Time::NEVER {
            let periods = queue.now.0 / self.interval.0 + 1;
            self.next = Time(self.interval.0.saturating_mul(periods));
        }
    }

    fn on_dequeue(&mut self, _: &QueueView, packet: &PacketView) {
        if let Ok(i) = self.table.binary_search_by_key(&packet.flow, |e| e.0) {
            self.table[i].1 -= 1;
            if self.table[i].1 == 0 {
                self.table.remove(i);
            }
        }
    }

    fn on_timer(&mut self, queue: &QueueView, out: &mut Vec<Cnm>) {
        if queue.now < self.next {
            return;
        }
        self.compute(queue.bytes);
        let (point, rate) = (self.point, self.rate());
        out.extend(self.table.iter().map(|&(flow, _)| Cnm { flow, point, rate, queue: None }));
        // An empty queue at the maximum rate stays there: the clock stops until a packet comes.
        let rests = self.table.is_empty() && self.q_old == 0.0 && self.f >= self.f_max;
        self.next = if rests { Time::NEVER } else { self.next.saturating_add(self.interval) };
    }

    fn next_timer(&self) -> Time {
        self.next
    }
}

/// The limiter of a flow that has a message from a congestion point.
#[derive(Clone, Copy, Debug)]
struct Limiter {
    rate: Rate,
    point: u32,
    rise_at: Time,
}

/// RoCC's sender.
#[derive(Clone, Debug)]
pub struct RoccSender {
    line_rate: Rate,
    cnp_delay: Time,
    rise_interval: Time,
    /// Messages that the NIC has not yet obeyed, each with the time at which it will.
    arrived: VecDeque<(Time, Cnm)>,
    limiter: Option<Limiter>,
}

impl RoccSender {
    fn obey(&mut self, now: Time, cnm: &Cnm) {
        let accepted = self.limiter.is_none_or(|l| l.point == cnm.point || cnm.rate <= l.rate);
        if accepted {
            let rise_at = now.saturating_add(self.rise_interval);
            self.limit(Limiter { rate: cnm.rate.max(Rate(1)), point: cnm.point, rise_at });
        }
    }

    /// Installs `limiter`, or none if its rate is at or above line rate.
    fn limit(&mut self, limiter: Limiter) {
        self.limiter = (limiter.rate < self.line_rate).then_some(limiter);
    }

    /// Obeys messages and raises the rate up to `now`; of two at the same moment the message comes first, and
    /// restarts the rise's timer if it is accepted.
    fn advance(&mut self, now: Time) {
        loop {
            let next = self.next_timer();
            if next > now || next == Time::NEVER {
                return;
            }
            match self.arrived.front().copied() {
                Some((at, cnm)) if at == next => {
                    self.arrived.pop_front();
                    self.obey(at, &cnm);
                }
                _ => {
                    if let Some(Limiter { rate, point, .. }) = self.limiter {
                        let rate = Rate(rate.0.saturating_mul(2));
                        let rise_at = next.saturating_add(self.rise_interval);
                        self.limit(Limiter { rate, point, rise_at });
                    }
                }
            }
        }
    }
}

impl ReactionPoint for RoccSender {
    fn on_cnm(&mut self, now: Time, cnm: &Cnm) {
        self.arrived.push_back((now.saturating_add(self.cnp_delay), *cnm));
        self.advance(now);
    }
    fn on_busy(&mut self, now: Time) {
        self.advance(now);
    }
    fn on_timer(&mut self, now: Time) {
        self.advance(now);
    }
    fn next_timer(&self) -> Time {
        let obey = self.arrived.front().map_or(Time::NEVER, |(at, _)| *at);
        obey.min(self.limiter.map_or(Time::NEVER, |l| l.rise_at))
    }
    fn rate(&self) -> Rate {
        self.limiter.map_or(self.line_rate, |l| l.rate)
    }
}

impl Scheme for Rocc {
    const NAME: &'static str = "rocc";
    const TITLE: &'static str = "RoCC: fair rate from a controller in each switch queue";
    const SOURCE: &'static str = "Taheri et al., RoCC: Robust Congestion Control for RDMA, CoNEXT 2020";
    type Reaction = RoccSender;
    type Notification = NoOp;
    type Congestion = FairRate;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        check::time("interval", self.interval)?;
        check::rate("rate_unit", self.rate_unit)?;
        check::bytes("queue_unit", self.queue_unit)?;
        check::time("rise_interval", self.rise_interval)?;
        for (key, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            gain.map_or(Ok(()), |g| check::within(key, g, 0.0, 1e6))?;
        }
        let unit = self.rate_unit;
        if self.min_rate < unit {
            let expected = format!("at least `rate_unit`, {unit}");
            return Err(Violation::new("min_rate", format!("is {}", self.min_rate), expected));
        }
        for (key, lower, name) in [("q_ref", self.q_ref, "Q_ref"), ("q_mid", self.q_mid, "Q_mid")] {
            if let (Some(lower), Some(q_max)) = (lower, self.q_max)
                && lower > q_max
            {
                let expected = format!("{name} up to `q_max`, {q_max}");
                return Err(Violation::new(key, format!("is {lower}"), expected));
            }
        }
        Ok(())
    }

    fn signals(&self) -> Signals {
        Signals { congestion_point: true, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> RoccSender {
        RoccSender {
            line_rate: env.line_rate,
            cnp_delay: self.cnp_delay,
            rise_interval: self.rise_interval,
            arrived: VecDeque::new(),
            limiter: None,
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, env: &PortEnv) -> FairRate {
        let at_40g = env.rate == Rate::from_gbps(40);
        let queue_unit = self.queue_unit.0.max(1);
        let rate_unit = self.rate_unit.0.max(1);
        let queue = |given: Option<Bytes>, kb_at_40g: f64, kb_at_100g: f64| {
            let default = if at_40g { kb_at_40g * 1e3 } else { kb_at_100g * 1e-8 * env.rate.0 as f64 };
            given.map_or(default, |bytes| bytes.0 as f64) / queue_unit as f64
        };
        let gain = |given: Option<f64>, g40: f64, g100: f64| given.unwrap_or(if at_40g { g40 } else { g100 });
        let f_max = (env.rate.0 as f64 / rate_unit as f64).max(1.0);
        FairRate {
            point: env.point,
            interval: self.interval.max(Time(1)),
            rate_unit,
            queue_unit,
            f: f_max,
            f_min: (self.min_rate.0 as f64 / rate_unit as f64).min(f_max),
            f_max,
            q_ref: queue(self.q_ref, 150.0, 300.0),
            q_mid: queue(self.q_mid, 300.0, 600.0),
            q_max: queue(self.q_max, 360.0, 660.0),
            alpha: gain(self.alpha, 0.3, 0.45),
            beta: gain(self.beta, 1.5, 2.25),
            q_old: 0.0,
            table: Vec::new(),
            next: Time::NEVER,
        }
    }
}
