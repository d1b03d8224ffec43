//! SQCC: Stable Queue Congestion Control (Tang et al., 2023), Algorithm 3.
//!
//! Patched TIMELY with three changes, each of which can be turned on alone:
//! - the error of the cut grows without bound towards T_high (Eq. 16),
//! - the step δ = C k / N² falls with the number N of flows to the receiver (Eq. 25),
//! - the threshold T_low = k seg/C rises with N, with k = ⌊lg N⌋ (Eq. 25).
//!
//! The receiver writes N into each ACK. Readings, where the paper leaves room: lg is the decimal logarithm, since
//! only that gives the paper's own values (N = 500: T_low 100 us and δ 0.08 Mb/s); k is at least 1, or fewer than ten
//! flows would have no threshold at all; seg/C, 50 us at 10 Gb/s, is `t_low` itself and not the pacing unit.
//!
//! # Reordering
//!
//! Segments are counted in packets, as in [`crate::timely`]: a swapped pair of ACKs gives one sample. N is read from
//! the ACK that gives the sample.
//!
//! # Idle
//!
//! The paper says nothing of idle connections; xoff keeps the state. The rate, the latest round-trip time, the smoothed
//! difference and N stay, and N follows the first sample after idleness.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use crate::check;
use crate::detector::tcd::Tcd;
use crate::patched_timely::{Law, PatchedTimely};
use crate::rtt::{Pacing, Start, Undetermined};
use crate::signals::Signals;
use crate::traits::{Ack, Carry, FlowEnv, NetworkEnv, NoOp, PortEnv, ReactionPoint, Scheme};

/// How far a round-trip time is above its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorFunction {
    /// T_high (RTT - T_low) / (T_low (T_high - RTT)) (SQCC, Eq. 16).
    #[default]
    Sqcc,
    /// (RTT - T_low) / T_low (patched TIMELY; SQCC, Eq. 9).
    PatchedTimely,
}

/// Parameters of SQCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sqcc {
    /// The error of the cut. Default `sqcc` (Eq. 16).
    pub error: ErrorFunction,
    /// The step δ follows N: δ = C k / N² (Eq. 25). Without it δ stays at `delta`. Default true.
    pub adapt_delta: bool,
    /// The threshold T_low follows N: k times `t_low` (Eq. 25). Without it k is 1, also in δ, which then is C / N²
    /// (Eq. 22). Default true.
    pub adapt_t_low: bool,
    /// `adapt_t_low` only: base of the logarithm in k = ⌊lg N⌋, without unit, from 2 to 1000. Default 10, with which
    /// Eq. 25 gives the values of section IV.
    pub log_base: Option<u32>,
    /// `adapt_delta` only: capacity C of the bottleneck in δ, in bits a second. Default the sender's line rate.
    pub capacity: Option<Rate>,
    /// Weight α of a new difference in the smoothed one, without unit, above 0 and at most 1. Default 0.875 (section
    /// IV).
    pub alpha: f64,
    /// Multiplicative decrease β, without unit, above 0 and at most 1. Default 0.008 (section IV).
    pub beta: f64,
    /// Threshold T_low at k = 1, below which the rate always rises: seg/C in the paper. Default 50 us (section IV).
    pub t_low: Time,
    /// Round-trip time T_high from which on the rate falls as in TIMELY. Default 500 us (section IV).
    pub t_high: Time,
    /// D_minRTT, by which the gradient is divided. Default 20 us (CoNEXT 2016; SQCC has no value), unless
    /// `base_min_rtt`.
    pub min_rtt: Option<Time>,
    /// Takes the flow's base RTT for D_minRTT. Default false.
    pub base_min_rtt: bool,
    /// Step δ without `adapt_delta`, in bits a second. Default 10 Mb/s for each 10 Gb/s of line rate (section IV: 10
    /// Mb/s at 10 Gb/s).
    pub delta: Option<Rate>,
    /// Minimum time between two updates; a segment that completes earlier makes none. Default D_minRTT (Eq. 3).
    pub update_gap: Option<Time>,
    /// Payload bytes of a segment, at whose end the rate is updated; rounded up to whole packets, so that 1 B is a
    /// packet, and at most 1 MB. Default 1 B: the paper's 62.5 KB would make T_low 50 us, but sent back to back they
    /// do not give its queues.
    pub segment: Bytes,
    /// Whether the packets of a segment go back to back or each in its time. Default `packet`.
    pub pacing: Pacing,
    /// Takes a full packet's time at line rate off each sample (TIMELY, section 3.1). Default true.
    pub deduct_serialization: bool,
    /// The minimum rate, in bits a second. Default 1 Mb/s, a tenth of the share of each of 1000 flows at 10 Gb/s.
    pub min_rate: Rate,
    /// The rate at which a flow starts, in bits a second. Default: as `start` says.
    pub initial_rate: Option<Rate>,
    /// The rate at which a flow starts. Default `share` (CoNEXT 2016; SQCC does not say).
    pub start: Option<Start>,
    /// What a sample with the mark of an undetermined port does, while the gradient is positive and the round-trip time
    /// is between the thresholds, as in TCD's rule for TIMELY. Default `cut`; with `hold` the scenario's detector marks
    /// data packets, by default TCD.
    pub undetermined: Undetermined,
}

/// Base of the logarithm in Eq. 25.
const LOG_BASE: u32 = 10;

impl Default for Sqcc {
    fn default() -> Self {
        let PatchedTimely { alpha, beta, t_low, t_high, pacing, min_rate, .. } = PatchedTimely::default();
        Sqcc {
            error: ErrorFunction::Sqcc,
            adapt_delta: true,
            adapt_t_low: true,
            log_base: None,
            capacity: None,
            alpha,
            beta,
            t_low,
            t_high,
            min_rtt: None,
            base_min_rtt: false,
            delta: None,
            update_gap: None,
            segment: Bytes(1),
            pacing,
            deduct_serialization: true,
            min_rate,
            initial_rate: None,
            start: None,
            undetermined: Undetermined::Cut,
        }
    }
}

impl Sqcc {
    /// Refuses parameters that have no meaning beside the parts that are on.
    fn check_use(&self) -> Result<(), Violation> {
        let foreign = [
            ("log_base", !self.adapt_t_low && self.log_base.is_some(), "adapt_t_low = false"),
            ("capacity", !self.adapt_delta && self.capacity.is_some(), "adapt_delta = false"),
            ("delta", self.adapt_delta && self.delta.is_some(), "adapt_delta = true"),
        ];
        match foreign.into_iter().find(|(_, foreign, _)| *foreign) {
            Some((key, _, with)) => {
                Err(Violation::new(key, format!("has no meaning with `{with}`"), "to be left out"))
            }
            None => Ok(()),
        }
    }

    /// The part that is patched TIMELY's.
    fn patched(&self) -> PatchedTimely {
        PatchedTimely {
            alpha: self.alpha,
            beta: self.beta,
            t_low: self.t_low,
            t_high: self.t_high,
            rtt_ref: None,
            min_rtt: self.min_rtt,
            base_min_rtt: self.base_min_rtt,
            delta: self.delta,
            update_gap: self.update_gap,
            segment: self.segment,
            pacing: self.pacing,
            deduct_serialization: self.deduct_serialization,
            min_rate: self.min_rate,
            initial_rate: self.initial_rate,
            start: self.start,
            undetermined: self.undetermined,
        }
    }
}

/// The parameters that depend on the number of flows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Adaptation {
    delta: bool,
    t_low: bool,
    log_base: u32,
    /// C, in bits a second.
    capacity: f64,
    /// T_low at k = 1, in picoseconds.
    unit: f64,
}

impl Adaptation {
    /// k for N flows: at least 1.
    fn k(&self, flows: u16) -> f64 {
        if self.t_low { f64::from(u32::from(flows.max(1)).ilog(self.log_base).max(1)) } else { 1.0 }
    }
}

/// SQCC's sender.
#[derive(Clone, Debug, PartialEq)]
pub struct SqccSender {
    law: Law,
    error: ErrorFunction,
    adaptation: Adaptation,
    /// The number of flows that `t_low` and `delta` are for.
    flows: u16,
    /// T_low and T_high in picoseconds.
    t_low: f64,
    t_high: f64,
    delta: f64,
    burst: u64,
}

impl SqccSender {
    /// Sets T_low and δ for N flows (Eq. 25).
    fn adapt(&mut self, flows: u16) {
        self.flows = flows;
        let (k, n) = (self.adaptation.k(flows), f64::from(flows.max(1)));
        if self.adaptation.t_low {
            self.t_low = k * self.adaptation.unit;
        }
        if self.adaptation.delta {
            self.delta = self.adaptation.capacity * k / (n * n);
        }
    }
}

impl ReactionPoint for SqccSender {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(sample) = self.law.sample(ack) else { return };
        if ack.flow_count != self.flows {
            self.adapt(ack.flow_count);
        }
        let (t_low, t_high) = (self.t_low, self.t_high);
        let error = self.error;
        self.law.update(&sample, t_low, self.delta, |rtt| match error {
            ErrorFunction::Sqcc => t_high * (rtt - t_low) / (t_low * (t_high - rtt)),
            ErrorFunction::PatchedTimely => (rtt - t_low) / t_low,
        });
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

impl Scheme for Sqcc {
    const NAME: &'static str = "sqcc";
    const TITLE: &'static str =
        "SQCC: patched TIMELY with an unbounded error and steps by the number of flows";
    const SOURCE: &'static str = "Tang et al., SQCC: Stable Queue Congestion Control";
    type Reaction = SqccSender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Tcd;

    fn validate(&self) -> Result<(), Violation> {
        self.check_use()?;
        self.patched().validate()?;
        if let Some(base) = self.log_base.filter(|base| !(2..=1_000).contains(base)) {
            let found = format!("is {base}");
            return Err(Violation::new("log_base", found, "a whole number from 2 to 1000"));
        }
        self.capacity.map_or(Ok(()), |rate| check::rate("capacity", rate))
    }
    fn resolve(self, env: &NetworkEnv) -> Self {
        let PatchedTimely { min_rtt, delta, update_gap, start, .. } = self.patched().resolve(env);
        Sqcc {
            min_rtt,
            update_gap,
            start,
            delta: delta.filter(|_| !self.adapt_delta),
            capacity: self.adapt_delta.then(|| self.capacity.unwrap_or(env.line_rate)),
            log_base: self.adapt_t_low.then(|| self.log_base.unwrap_or(LOG_BASE)),
            ..self
        }
    }
    fn signals(&self) -> Signals {
        Signals {
            timestamp: true,
            flow_count: self.adapt_delta || self.adapt_t_low,
            acks: true,
            ecn: self.undetermined == Undetermined::Hold,
            ..Signals::default()
        }
    }
    fn reaction(&self, env: &FlowEnv) -> SqccSender {
        let patched = self.patched();
        SqccSender {
            law: Law::new(&patched, env),
            error: self.error,
            adaptation: Adaptation {
                delta: self.adapt_delta,
                t_low: self.adapt_t_low,
                log_base: self.log_base.unwrap_or(LOG_BASE),
                capacity: self.capacity.unwrap_or(env.line_rate).0 as f64,
                unit: self.t_low.0 as f64,
            },
            flows: 0,
            t_low: self.t_low.0 as f64,
            t_high: self.t_high.0 as f64,
            delta: patched.delta(env.line_rate).0 as f64,
            burst: patched.burst(env),
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
