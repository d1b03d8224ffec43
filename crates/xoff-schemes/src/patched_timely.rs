//! Patched TIMELY (Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY, CoNEXT 2016, section
//! 4.3), which SQCC prints as its Algorithm 2.
//!
//! Between TIMELY's thresholds the gradient only says how much of a step up and of a cut is made, by a weight w; the
//! cut depends on the distance of the round-trip time from a reference. So there is one fixed point, with equal rates:
//! q* = N δ q'/(β C) + q' (SQCC, Eq. 6). [`Law`] serves SQCC too.
//!
//! Eq. 1 of SQCC compares q/C with the thresholds and Algorithm 2 the round-trip time, which includes the base RTT:
//! the algorithm applies.
//!
//! # Reordering
//!
//! Segments are counted in packets, as in [`crate::timely`]: a swapped pair of ACKs gives one sample.
//!
//! # Idle
//!
//! The source says nothing of idle connections; xoff keeps the state. The rate, the latest round-trip time and the
//! smoothed difference stay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use crate::check;
use crate::detector::tcd::Tcd;
use crate::rtt::{self, Pacing, Sample, Sampler, Sampling, Start, Undetermined};
use crate::signals::Signals;
use crate::traits::{Ack, Carry, FlowEnv, NetworkEnv, NoOp, PortEnv, ReactionPoint, Scheme};

/// Parameters of patched TIMELY.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PatchedTimely {
    /// Weight α of a new difference in the smoothed one, without unit, above 0 and at most 1. Default 0.875 (CoNEXT
    /// 2016; SQCC, section IV).
    pub alpha: f64,
    /// Multiplicative decrease β, without unit, above 0 and at most 1. Default 0.008 (CoNEXT 2016; SQCC, section IV).
    pub beta: f64,
    /// Round-trip time T_low below which the rate always rises. Default 50 us (CoNEXT 2016; SQCC, section IV).
    pub t_low: Time,
    /// Round-trip time T_high above which the rate always falls. Default 500 us (CoNEXT 2016; SQCC, section IV).
    pub t_high: Time,
    /// Reference RTT_ref of the error, (RTT - RTT_ref)/RTT_ref. Default T_low (SQCC, section II.A).
    pub rtt_ref: Option<Time>,
    /// D_minRTT, by which the gradient is divided. Default 20 us (CoNEXT 2016), unless `base_min_rtt`.
    pub min_rtt: Option<Time>,
    /// Takes the flow's base RTT for D_minRTT. Default false.
    pub base_min_rtt: bool,
    /// Step δ of additive increase, in bits a second. Default 10 Mb/s for each 10 Gb/s of line rate (SQCC, section
    /// IV: 10 Mb/s at 10 Gb/s).
    pub delta: Option<Rate>,
    /// Minimum time between two updates; a segment that completes earlier makes none. Default D_minRTT (SQCC, Eq. 3).
    pub update_gap: Option<Time>,
    /// Payload bytes of a segment, at whose end the rate is updated; rounded up to whole packets, so that 1 B is a
    /// packet, and at most 1 MB. Default 16 KB (CoNEXT 2016).
    pub segment: Bytes,
    /// Whether the packets of a segment go back to back or each in its time. Default `packet` (CoNEXT 2016's
    /// validation).
    pub pacing: Pacing,
    /// Takes a full packet's time at line rate off each sample (TIMELY, section 3.1). Default true.
    pub deduct_serialization: bool,
    /// The minimum rate, in bits a second. Default 1 Mb/s, a tenth of the share of each of 1000 flows at 10 Gb/s.
    pub min_rate: Rate,
    /// The rate at which a flow starts, in bits a second. Default: as `start` says.
    pub initial_rate: Option<Rate>,
    /// The rate at which a flow starts. Default `share` (CoNEXT 2016).
    pub start: Option<Start>,
    /// What a sample with the mark of an undetermined port does, while the gradient is positive and the round-trip time
    /// is between the thresholds, as in TCD's rule for TIMELY. Default `cut`; with `hold` the scenario's detector marks
    /// data packets, by default TCD.
    pub undetermined: Undetermined,
}

impl Default for PatchedTimely {
    fn default() -> Self {
        PatchedTimely {
            alpha: 0.875,
            beta: 0.008,
            t_low: Time::from_us(50),
            t_high: Time::from_us(500),
            rtt_ref: None,
            min_rtt: None,
            base_min_rtt: false,
            delta: None,
            update_gap: None,
            segment: Bytes(16_000),
            pacing: Pacing::Packet,
            deduct_serialization: true,
            min_rate: Rate::from_mbps(1),
            initial_rate: None,
            start: None,
            undetermined: Undetermined::Cut,
        }
    }
}

impl PatchedTimely {
    /// RTT_ref.
    fn reference(&self) -> Time {
        self.rtt_ref.unwrap_or(self.t_low)
    }

    /// δ, 1/1000 of the line rate by default.
    pub(crate) fn delta(&self, line_rate: Rate) -> Rate {
        self.delta.unwrap_or(Rate(line_rate.0 / 1_000))
    }

    /// Packets that go back to back, in payload bytes; 0 for none.
    pub(crate) fn burst(&self, env: &FlowEnv) -> u64 {
        match self.pacing {
            Pacing::Packet => 0,
            Pacing::Segment => rtt::whole_packets(self.segment, env.payload),
        }
    }
}

/// The law by which rates move, without what SQCC changes: its steps, lower threshold and error.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    sampler: Sampler,
    /// T_high in picoseconds.
    t_high: f64,
    beta: f64,
    holds: bool,
    min: f64,
    max: f64,
    /// The rate, in bits a second.
    rate: f64,
}

impl Law {
    /// A flow that has just started.
    pub fn new(params: &PatchedTimely, env: &FlowEnv) -> Self {
        let min_rtt =
            if params.base_min_rtt { env.base_rtt } else { params.min_rtt.unwrap_or(Time::from_us(20)) };
        let sampling = Sampling {
            segment: params.segment,
            deduct_serialization: params.deduct_serialization,
            gap: params.update_gap.unwrap_or(min_rtt),
            alpha: params.alpha,
            min_rtt,
        };
        let initial = rtt::initial_rate(params.initial_rate, params.start.unwrap_or(Start::Share), env);
        let min = params.min_rate.min(env.line_rate);
        Law {
            sampler: Sampler::new(&sampling, env),
            t_high: params.t_high.0 as f64,
            beta: params.beta,
            holds: params.undetermined == Undetermined::Hold,
            min: min.0 as f64,
            max: env.line_rate.0 as f64,
            rate: initial.max(min).0 as f64,
        }
    }

    /// Carries what is known of earlier samples forward.
    pub fn carry(&mut self, carry: &Carry) {
        self.sampler.carry(carry);
    }

    /// The sample that an ACK completes, if it does.
    #[inline]
    pub fn sample(&mut self, ack: &Ack<'_>) -> Option<Sample> {
        self.sampler.take(ack)
    }

    /// Takes in a sample, with T_low in picoseconds, δ in bits a second, and the error of a round-trip time in
    /// picoseconds.
    ///
    /// A round-trip time of exactly T_high counts as above it: SQCC's error is infinite there. A cut takes at most the
    /// whole rate, and the minimum rate bounds what is left.
    #[inline]
    pub fn update(&mut self, sample: &Sample, t_low: f64, delta: f64, error: impl FnOnce(f64) -> f64) {
        let rtt = sample.rtt;
        let rate = if rtt < t_low {
            self.rate + delta
        } else if rtt >= self.t_high {
            self.rate * (1.0 - self.beta * (1.0 - self.t_high / rtt))
        } else if self.holds && sample.masked(t_low, self.t_high) {
            self.rate
        } else {
            let weight = weight(sample.gradient);
            delta * (1.0 - weight) + self.rate * (1.0 - self.beta * error(rtt) * weight).max(0.0)
        };
        self.rate = rate.clamp(self.min, self.max);
    }

    /// The current rate.
    #[inline]
    pub fn rate(&self) -> Rate {
        Rate((self.rate + 0.5) as u64)
    }
}

/// The weight w of the cut at a gradient (SQCC, Eq. 5): 0 up to -1/4, 1 from 1/4 on, linear in between.
#[inline]
pub fn weight(gradient: f64) -> f64 {
    (2.0 * gradient + 0.5).clamp(0.0, 1.0)
}

/// Patched TIMELY's sender.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchedTimelySender {
    law: Law,
    /// T_low and RTT_ref in picoseconds.
    t_low: f64,
    reference: f64,
    delta: f64,
    burst: u64,
}

impl ReactionPoint for PatchedTimelySender {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(sample) = self.law.sample(ack) else { return };
        let reference = self.reference;
        self.law.update(&sample, self.t_low, self.delta, |rtt| (rtt - reference) / reference);
    }
    fn carry(&mut self, carry: &Carry) -> bool {
        self.law.carry(carry);
        true
    }
    fn repeats(&self, earlier: &Self, carry: &Carry) -> bool {
        carry.leads(earlier, self)
    }
    #[inline]
    fn rate(&self) -> Rate {
        self.law.rate()
    }
    fn burst(&self) -> u64 {
        self.burst
    }
}

impl Scheme for PatchedTimely {
    const NAME: &'static str = "patched_timely";
    const TITLE: &'static str = "Patched TIMELY: TIMELY with a fixed point, by a reference round-trip time";
    const SOURCE: &'static str =
        "Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY, CoNEXT 2016";
    type Reaction = PatchedTimelySender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Tcd;

    fn validate(&self) -> Result<(), Violation> {
        check::above("alpha", self.alpha, 0.0, 1.0)?;
        check::above("beta", self.beta, 0.0, 1.0)?;
        check::time("t_low", self.t_low)?;
        rtt::check_thresholds(self.t_low, self.t_high)?;
        check::time("rtt_ref", self.reference())?;
        rtt::check_min_rtt(self.min_rtt, self.base_min_rtt)?;
        rtt::check_delta(self.delta)?;
        rtt::check_segment(self.segment)?;
        check::rate("min_rate", self.min_rate)?;
        rtt::check_start(self.initial_rate, self.start)
    }
    fn resolve(self, env: &NetworkEnv) -> Self {
        let min_rtt = (!self.base_min_rtt).then(|| self.min_rtt.unwrap_or(Time::from_us(20)));
        PatchedTimely {
            rtt_ref: Some(self.reference()),
            min_rtt,
            delta: Some(self.delta(env.line_rate)),
            update_gap: self.update_gap.or(min_rtt),
            start: self.start.or(self.initial_rate.is_none().then_some(Start::Share)),
            ..self
        }
    }
    fn signals(&self) -> Signals {
        let ecn = self.undetermined == Undetermined::Hold;
        Signals { timestamp: true, acks: true, ecn, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> PatchedTimelySender {
        PatchedTimelySender {
            law: Law::new(self, env),
            t_low: self.t_low.0 as f64,
            reference: self.reference().0 as f64,
            delta: self.delta(env.line_rate).0 as f64,
            burst: self.burst(env),
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
