//! PCN: photonic congestion notification (Cheng et al., Re-architecting Congestion Management in Lossless Ethernet,
//! NSDI 2020), by the rules of its first author's simulator.
//!
//! - The congestion point is a detector, NP-ECN ([`crate::detector::np_ecn`]).
//! - The receiver examines each flow every T, counted from the flow's first packet. If packets came, the receiver
//!   answers with one CNP, which says whether the flow is congested, by the share of packets that came marked, and at
//!   which rate it is received.
//! - A CNP of a congested flow sets the sender to just below the receiving rate, at once. Other CNPs raise the rate:
//!   gently at first, then by a growing share of what is missing to the line rate. Without CNPs the rate stays.
//!
//! A receiving rate counts wire bytes. With a single packet in the period, the rate is the packet over the mean time
//! between arrivals, which halves the weight of each earlier time.
//!
//! # Reordering
//!
//! The receiver counts packets and bytes and times between arrivals, whatever their order; the sender does not look at
//! ACKs.
//!
//! # Idle
//!
//! A period without packets has no CNP, and without CNPs the sender's rate and weight stay (the first author's
//! simulator has no timer at the sender). The receiver's mean time between arrivals starts anew after [`Pcn::idle`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time, Violation};

use crate::check;
use crate::detector::np_ecn::NpEcn;
use crate::signals::{Mark, Signals};
use crate::traits::{Arrival, Cnp, FlowEnv, NoOp, NotificationPoint, PortEnv, ReactionPoint, Scheme};

/// The receiving rate in a CNP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateField {
    /// In bits a second.
    #[default]
    Exact,
    /// 16 bits of Mb/s, rounded down: at most 65.535 Gb/s. As in the first author's simulator.
    Mbps16,
}

/// Parameters of PCN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pcn {
    /// Minimum weight of the line rate in an increase, and share by which a decrease stays below the receiving rate,
    /// without unit, above 0 and below 1. Default 1/128 (the simulator's).
    pub w_min: f64,
    /// Maximum weight of the line rate in an increase, without unit, from `w_min` to 1. Default 1/2 (the paper's, after
    /// those who cite it); the simulator has 1/4.
    pub w_max: f64,
    /// T: period of the receiver's CNPs. Default 50 us.
    pub period: Time,
    /// Share of marked packets in a period from which a flow is congested, without unit, above 0 and at most 1. Default
    /// 0.95.
    pub congested_share: f64,
    /// Time between two packets after which the mean time between arrivals restarts at T. Default 10 ms.
    pub idle: Time,
    /// Width of the receiving rate in a CNP. Default `exact`.
    pub rate_field: RateField,
    /// The minimum rate, in bits a second. Default none (the simulator has none).
    pub min_rate: Option<Rate>,
}

impl Default for Pcn {
    fn default() -> Self {
        Pcn {
            w_min: 1.0 / 128.0,
            w_max: 0.5,
            period: Time::from_us(50),
            congested_share: 0.95,
            idle: Time::from_ms(10),
            rate_field: RateField::Exact,
            min_rate: None,
        }
    }
}

/// PCN's sender.
#[derive(Clone, Debug)]
pub struct Sender {
    rate: f64,
    line: f64,
    min: f64,
    w: f64,
    w_min: f64,
    w_max: f64,
}

impl Sender {
    /// The weight of the line rate in the next increase.
    pub fn weight(&self) -> f64 {
        self.w
    }
}

impl ReactionPoint for Sender {
    fn on_cnp(&mut self, _now: Time, cnp: &Cnp) {
        if cnp.mark == Mark::Ce {
            let received = cnp.rate.map_or(self.line, |r| r.0 as f64);
            self.rate = self.rate.min(received * (1.0 - self.w_min)).max(self.min);
            self.w = self.w_min;
        } else {
            self.rate = (self.rate * (1.0 - self.w) + self.line * self.w).min(self.line);
            self.w = self.w * (1.0 - self.w) + self.w_max * self.w;
        }
    }
    #[inline]
    fn rate(&self) -> Rate {
        Rate((self.rate + 0.5) as u64)
    }
}

/// PCN's receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    period: Time,
    idle: Time,
    congested_share: f64,
    field: RateField,
    /// Arrival of the first packet, from which periods count.
    first: Option<Time>,
    last: Option<Time>,
    /// Mean time between arrivals, in ps.
    mean_gap: f64,
    packets: u64,
    marked: u64,
    bytes: u64,
    due: Time,
}

impl Receiver {
    fn receiving_rate(&self) -> Rate {
        // A single packet does not give a rate over the period: the mean time between arrivals does.
        let time = if self.packets > 1 { self.period.0 as f64 } else { self.mean_gap };
        let rate = self.bytes as f64 * 8e12 / time;
        match self.field {
            RateField::Exact => Rate((rate + 0.5) as u64),
            RateField::Mbps16 => Rate::from_mbps(((rate / 1e6) as u64).min(u64::from(u16::MAX))),
        }
    }
}

impl NotificationPoint for Receiver {
    #[inline]
    fn on_data(&mut self, arrival: &Arrival) -> Option<Cnp> {
        let (now, period) = (arrival.now, self.period.0);
        let first = *self.first.get_or_insert(now);
        let gap = self.last.map(|last| now - last).filter(|gap| *gap < self.idle);
        self.mean_gap = gap.map_or(period as f64, |gap| (self.mean_gap + gap.0 as f64) / 2.0);
        self.last = Some(now);
        if self.packets == 0 {
            // A packet at the end of a period still counts for it.
            let periods = (now - first).0.div_ceil(period).max(1);
            self.due = first.saturating_add(Time(period.saturating_mul(periods)));
        }
        self.packets += 1;
        self.marked += u64::from(arrival.mark == Mark::Ce);
        self.bytes += arrival.frame;
        None
    }

    fn on_timer(&mut self, now: Time) -> Option<Cnp> {
        if now < self.due || self.packets == 0 {
            return None;
        }
        let congested = self.marked as f64 >= self.congested_share * self.packets as f64;
        let mark = if congested { Mark::Ce } else { Mark::None };
        let cnp = Cnp { mark, rate: Some(self.receiving_rate()) };
        (self.packets, self.marked, self.bytes) = (0, 0, 0);
        self.due = Time::NEVER;
        Some(cnp)
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.due
    }
}

impl Scheme for Pcn {
    const NAME: &'static str = "pcn";
    const TITLE: &'static str = "PCN: rate from what the receiver gets, on marks that PAUSE does not cause";
    const SOURCE: &'static str =
        "Cheng et al., Re-architecting Congestion Management in Lossless Ethernet, NSDI 2020";
    type Reaction = Sender;
    /// Boxed, so that a connection under another scheme takes no memory for it.
    type Notification = Box<Receiver>;
    type Congestion = NoOp;
    type DefaultDetector = NpEcn;

    fn validate(&self) -> Result<(), Violation> {
        check::above("w_max", self.w_max, 0.0, 1.0)?;
        check::above("w_min", self.w_min, 0.0, self.w_max)?;
        if self.w_min >= 1.0 {
            return Err(Violation::new("w_min", format!("is {}", self.w_min), "a number below 1"));
        }
        check::above("congested_share", self.congested_share, 0.0, 1.0)?;
        check::time("period", self.period)?;
        check::time("idle", self.idle)?;
        self.min_rate.map_or(Ok(()), |r| check::rate("min_rate", r))
    }

    fn signals(&self) -> Signals {
        Signals { ecn: true, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> Sender {
        let line = env.line_rate.0 as f64;
        Sender {
            rate: line,
            line,
            // A rate of zero would never end.
            min: self.min_rate.map_or(1.0, |r| r.0 as f64).min(line),
            w: self.w_min,
            w_min: self.w_min,
            w_max: self.w_max,
        }
    }
    fn notification(&self, _: &FlowEnv) -> Box<Receiver> {
        Box::new(Receiver {
            period: self.period,
            idle: self.idle,
            congested_share: self.congested_share,
            field: self.rate_field,
            first: None,
            last: None,
            mean_gap: 0.0,
            packets: 0,
            marked: 0,
            bytes: 0,
            due: Time::NEVER,
        })
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
