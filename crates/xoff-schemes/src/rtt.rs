//! The shared parts of schemes that use round-trip times: samples of the time, one per segment, their gradient, and how a
//! flow starts (TIMELY: Mittal et al., SIGCOMM 2015, sections 3.1, 4.2 and 4.3; ECN or Delay: Zhu et al., CoNEXT 2016).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use crate::signals::Mark;
use crate::traits::{Ack, Carry, FlowEnv};

/// How a segment's packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// Each packet waits for its time.
    Packet,
    /// A segment goes back to back, and the next one waits for its time.
    Segment,
}

/// The rate at which a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// C/(n + 1), with C the line rate and n the other flows that the same host is sending.
    Share,
    /// The line rate.
    Line,
}

/// What a sample with the mark of an undetermined port does if it would lower the rate. Only ternary detection sets
/// that mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Undetermined {
    /// The rate stays (TCD, section 5.2).
    Hold,
    /// The rate falls as without the mark.
    #[default]
    Cut,
}

impl Start {
    /// The rate at which a flow starts.
    pub(crate) fn rate(self, env: &FlowEnv) -> Rate {
        match self {
            Start::Share => Rate(env.line_rate.0 / (u64::from(env.active_flows) + 1)),
            Start::Line => env.line_rate,
        }
    }
}

/// The rate at which a flow starts: `given`, or as `start` says; not above line rate.
pub(crate) fn initial_rate(given: Option<Rate>, start: Start, env: &FlowEnv) -> Rate {
    given.unwrap_or_else(|| start.rate(env)).min(env.line_rate)
}

/// Refuses an initial rate that is zero, or given beside a rule for it.
pub(crate) fn check_start(given: Option<Rate>, start: Option<Start>) -> Result<(), Violation> {
    match (given, start) {
        (Some(_), Some(_)) => Err(Violation::new("start", "stands beside `initial_rate`", "one of them")),
        (Some(rate), None) => crate::check::rate("initial_rate", rate),
        (None, _) => Ok(()),
    }
}

/// Refuses thresholds that are not in order.
pub(crate) fn check_thresholds(t_low: Time, t_high: Time) -> Result<(), Violation> {
    if t_low < t_high {
        return Ok(());
    }
    Err(Violation::new("t_low", format!("is {t_low}"), format!("a time below `t_high`, {t_high}")))
}

/// Refuses a D_minRTT of zero, or one given beside the base RTT.
pub(crate) fn check_min_rtt(given: Option<Time>, base: bool) -> Result<(), Violation> {
    match given {
        Some(_) if base => {
            Err(Violation::new("min_rtt", "stands beside `base_min_rtt = true`", "one of them"))
        }
        Some(time) => crate::check::time("min_rtt", time),
        None => Ok(()),
    }
}

/// Refuses a step of nothing: no rate would rise again.
pub(crate) fn check_delta(given: Option<Rate>) -> Result<(), Violation> {
    given.map_or(Ok(()), |delta| crate::check::rate("delta", delta))
}

/// Refuses a segment of no byte, or one too large to go back to back.
pub(crate) fn check_segment(segment: Bytes) -> Result<(), Violation> {
    if segment > Bytes(1_000_000) {
        return Err(Violation::new("segment", format!("is {segment}"), "at most 1MB"));
    }
    crate::check::bytes("segment", segment)
}

/// Packets of a segment of about `segment` bytes: at least one.
fn packets(segment: Bytes, payload: u64) -> u64 {
    segment.0.div_ceil(payload).max(1)
}

/// Payload of a segment of about `segment` bytes, in whole packets.
pub(crate) fn whole_packets(segment: Bytes, payload: u64) -> u64 {
    packets(segment, payload) * payload
}

/// Parameters of a [`Sampler`].
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Payload bytes of a segment, rounded up to whole packets.
    pub segment: Bytes,
    /// Subtracts a full packet's time at line rate from each sample.
    pub deduct_serialization: bool,
    /// Minimum time between two samples; a segment that completes earlier gives no sample.
    pub gap: Time,
    /// Weight of a new difference.
    pub alpha: f64,
    /// What the gradient is divided by: D_minRTT.
    pub min_rtt: Time,
}

/// A sample of the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The round-trip time, in picoseconds.
    pub rtt: f64,
    /// Smoothed difference between samples over D_minRTT, without unit.
    pub gradient: f64,
    /// Whether the round-trip time is below the previous one.
    pub fell: bool,
    /// Time since the previous sample; `None` for the first.
    pub elapsed: Option<Time>,
    /// The mark of the sample's ACK.
    pub mark: Mark,
}

impl Sample {
    /// Whether pauses alone may have made the round-trip time grow: the time is between the thresholds, in picoseconds,
    /// and the packet met an undetermined port and no congested one (TCD, section 5.2.3).
    pub fn masked(&self, t_low: f64, t_high: f64) -> bool {
        self.mark == Mark::Ue && self.gradient > 0.0 && self.rtt > t_low && self.rtt < t_high
    }
}

/// Turns ACKs into samples: when a segment completes, the round-trip time of its last packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// Packets of a segment.
    segment: u64,
    /// The current segment ends before this packet.
    next_end: u64,
    deducted: Time,
    gap: Time,
    alpha: f64,
    min_rtt: f64,
    /// Time and value of the latest sample.
    last: Option<(Time, f64)>,
    /// Smoothed difference, in picoseconds.
    difference: f64,
}

impl Sampler {
    /// A sampler of a flow that has just started.
    pub fn new(sampling: &Sampling, env: &FlowEnv) -> Self {
        let segment = packets(sampling.segment, env.payload);
        let own = env.line_rate.time_for(env.frame);
        Sampler {
            segment,
            next_end: segment,
            deducted: if sampling.deduct_serialization { own } else { Time::ZERO },
            gap: sampling.gap,
            alpha: sampling.alpha,
            min_rtt: sampling.min_rtt.0.max(1) as f64,
            last: None,
            difference: 0.0,
        }
    }

    /// Carries the end of the segment and the moment of the latest sample forward.
    pub fn carry(&mut self, carry: &Carry) {
        self.next_end += carry.packets;
        self.last = self.last.map(|(at, rtt)| (at + carry.time, rtt));
    }

    /// The sample that an ACK completes, if any.
    #[inline]
    pub fn take(&mut self, ack: &Ack<'_>) -> Option<Sample> {
        let rtt = ack.rtt?;
        if ack.packet + 1 < self.next_end {
            return None;
        }
        while self.next_end <= ack.packet + 1 {
            self.next_end += self.segment;
        }
        let elapsed = self.last.map(|(at, _)| ack.now - at);
        if elapsed.is_some_and(|elapsed| elapsed < self.gap) {
            return None;
        }
        let rtt = rtt.saturating_sub(self.deducted).0.max(1) as f64;
        let difference = self.last.map_or(0.0, |(_, before)| rtt - before);
        self.difference = (1.0 - self.alpha) * self.difference + self.alpha * difference;
        self.last = Some((ack.now, rtt));
        Some(Sample {
            rtt,
            gradient: self.difference / self.min_rtt,
            fell: difference < 0.0,
            elapsed,
            mark: ack.mark,
        })
    }
}
