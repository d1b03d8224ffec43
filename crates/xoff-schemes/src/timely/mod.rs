//! TIMELY: RTT-based congestion control (Mittal et al., SIGCOMM 2015), Algorithm 1.
//!
//! - [`segment`]: as in its authors' published snippet, with an update when a segment completes.
//! - [`ns3_hpcc`]: the variant of the ns-3 HPCC simulator, with an update a round trip.
//!
//! Between two thresholds the sign of the smoothed gradient of the round-trip time decides: the rate rises by a step or
//! falls in proportion to the gradient; outside the thresholds the round-trip time itself decides. There is no window,
//! and switches do not help. A packet with an undetermined mark of ternary detection may be passed over (TCD, section
//! 5.2).
//!
//! # Reordering
//!
//! Segments and round trips are counted in packets. A segment completes with the first ACK of its last packet or of a
//! later one, and that ACK's round-trip time is the sample; ACKs of older packets that come afterwards give none. So a
//! swapped pair of ACKs gives one sample. A packet that took a longer path has a longer round-trip time, which TIMELY
//! takes for a queue.
//!
//! # Idle
//!
//! The paper says nothing of idle connections; xoff keeps the state. The rate, the latest round-trip time and the
//! smoothed difference stay, so the first sample after idleness is compared with the last one before. The time in
//! between scales a step by 1 at most.

pub mod ns3_hpcc;
pub mod segment;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use crate::check;
use crate::detector::tcd::Tcd;
pub use crate::rtt::Undetermined;
use crate::rtt::{self, Pacing, Start};
use crate::signals::Signals;
use crate::traits::{Ack, Carry, FlowEnv, NetworkEnv, NoOp, PortEnv, ReactionPoint, Scheme};

/// When the rate is updated, and in which numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// When a segment completes (SIGCOMM 2015, section 4; the authors' snippet).
    #[default]
    Segment,
    /// Once a round trip, in whole nanoseconds and bits a second (the variant of the ns-3 HPCC simulator, `cc_mode` 7).
    Ns3Hpcc,
}

/// Parameters of TIMELY.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Timely {
    /// When the rate is updated, and in which numbers. Default `segment`.
    pub form: Form,
    /// Weight α of a new difference in the smoothed one, without unit, above 0 and at most 1. Default 0.875 (the
    /// setting of the CoNEXT 2016 study and of the simulators; the authors' snippet recommends 0.02).
    pub alpha: f64,
    /// Multiplicative decrease β, without unit, above 0 and at most 2. Default 0.8 (SIGCOMM 2015, section 4.3); with
    /// ternary detection 1.6 (TCD, section 5.2).
    pub beta: f64,
    /// Round-trip time T_low below which the rate always rises. Default 50 us (SIGCOMM 2015, section 4.4). The
    /// authors' snippet recommends 0 with packets paced one by one.
    pub t_low: Time,
    /// Round-trip time T_high above which the rate always falls. Default 500 us (SIGCOMM 2015, section 4.4; the
    /// authors' snippet recommends 1 ms).
    pub t_high: Time,
    /// D_minRTT, by which the gradient is divided. Default 20 us (CoNEXT 2016 and the simulators), unless
    /// `base_min_rtt`.
    pub min_rtt: Option<Time>,
    /// Takes the flow's base RTT for D_minRTT. Default false.
    pub base_min_rtt: bool,
    /// Step δ of additive increase, in bits a second. Default 10 Mb/s for each 10 Gb/s of line rate (the authors'
    /// snippet; 10 Mb/s at 10 Gb/s in SIGCOMM 2015).
    pub delta: Option<Rate>,
    /// Updates in a row with a falling round-trip time before steps grow by `hai_factor`; in form `ns3_hpcc`,
    /// increases in a row. Without unit. Default 5 (SIGCOMM 2015, section 4.3.1).
    pub hai_after: u32,
    /// How many times δ a step of hyperactive increase is, without unit, from 1, which turns it off, to 1000.
    /// Default 5 (SIGCOMM 2015, section 4.3.1).
    pub hai_factor: f64,
    /// The minimum factor of a decrease, without unit, from 0 to 1. Default 0.5 in form `segment` (the authors'
    /// snippet), 0 in `ns3_hpcc`.
    pub least_factor: Option<f64>,
    /// The minimum rate, in bits a second. Default 100 Mb/s (1 % of 10 Gb/s in the simulators before HPCC's).
    pub min_rate: Rate,
    /// The rate at which a flow starts, in bits a second. Default: as `start` says.
    pub initial_rate: Option<Rate>,
    /// The rate at which a flow starts. Default `share` in form `segment` (the CoNEXT 2016 study), `line` in
    /// `ns3_hpcc`.
    pub start: Option<Start>,
    /// Limits the bytes in flight to the NIC's bandwidth-delay product times rate over line rate (`timely_vwin` of
    /// HPCC's authors). Default false.
    pub window: bool,
    /// Form `segment` only: payload bytes of a segment, rounded up to whole packets; at most 1 MB. Default 16 KB
    /// (SIGCOMM 2015, section 5).
    pub segment: Option<Bytes>,
    /// Form `segment` only: whether the packets of a segment go back to back or each in its time. Default `segment`
    /// (SIGCOMM 2015, section 3.2).
    pub pacing: Option<Pacing>,
    /// Form `segment` only: scales steps, and cuts above T_high, by the time since the last update over D_minRTT
    /// if that is below 1 (the authors' snippet; Algorithm 1 in print does not). Default true.
    pub time_scaling: Option<bool>,
    /// Form `segment` only: subtracts a full packet's time at line rate from each sample, so that a segment's own
    /// length does not count (SIGCOMM 2015, section 3.1). Default true.
    pub deduct_serialization: Option<bool>,
    /// Form `segment` only: what a sample with the mark of an undetermined port does, while the gradient is positive
    /// and the round-trip time is between the thresholds. Default `cut`; with `hold` the scenario's detector marks data
    /// packets, by default TCD.
    pub undetermined: Option<Undetermined>,
}

impl Default for Timely {
    fn default() -> Self {
        Timely {
            form: Form::Segment,
            alpha: 0.875,
            beta: 0.8,
            t_low: Time::from_us(50),
            t_high: Time::from_us(500),
            min_rtt: None,
            base_min_rtt: false,
            delta: None,
            hai_after: 5,
            hai_factor: 5.0,
            least_factor: None,
            min_rate: Rate::from_mbps(100),
            initial_rate: None,
            start: None,
            window: false,
            segment: None,
            pacing: None,
            time_scaling: None,
            deduct_serialization: None,
            undetermined: None,
        }
    }
}

impl Timely {
    /// D_minRTT for a flow.
    fn min_rtt(&self, env: &FlowEnv) -> Time {
        if self.base_min_rtt { env.base_rtt } else { self.min_rtt.unwrap_or(Time::from_us(20)) }
    }

    /// δ, 1/1000 of the line rate by default.
    fn delta(&self, line_rate: Rate) -> Rate {
        self.delta.unwrap_or(Rate(line_rate.0 / 1_000))
    }

    fn segment(&self) -> Bytes {
        self.segment.unwrap_or(Bytes(16_000))
    }

    fn least_factor(&self) -> f64 {
        self.least_factor.unwrap_or(match self.form {
            Form::Segment => 0.5,
            Form::Ns3Hpcc => 0.0,
        })
    }

    fn initial_rate(&self, env: &FlowEnv) -> Rate {
        let start = self.start.unwrap_or(match self.form {
            Form::Segment => Start::Share,
            Form::Ns3Hpcc => Start::Line,
        });
        rtt::initial_rate(self.initial_rate, start, env)
    }

    /// Refuses parameters that the form `ns3_hpcc` does not use.
    fn check_form(&self) -> Result<(), Violation> {
        let foreign = [
            ("segment", self.segment.is_some()),
            ("pacing", self.pacing.is_some()),
            ("time_scaling", self.time_scaling.is_some()),
            ("deduct_serialization", self.deduct_serialization.is_some()),
            ("undetermined", self.undetermined.is_some()),
        ];
        match foreign.iter().find(|(_, given)| *given && self.form == Form::Ns3Hpcc) {
            Some((key, _)) => {
                Err(Violation::new(*key, "has no meaning with `form = \"ns3_hpcc\"`", "to be left out"))
            }
            None => Ok(()),
        }
    }
}

/// The window that follows the rate, if there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Follower {
    /// Window at line rate, in bytes.
    full: u64,
    line: u64,
}

impl Follower {
    fn of(rate: Rate, follower: Option<Follower>) -> u64 {
        let Some(Follower { full, line }) = follower else { return u64::MAX };
        ((u128::from(full) * u128::from(rate.0) / u128::from(line)) as u64).max(1)
    }
}

/// TIMELY's sender.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelySender {
    law: Law,
    follower: Option<Follower>,
    burst: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Law {
    Segment(segment::SegmentLaw),
    Ns3Hpcc(ns3_hpcc::RoundLaw),
}

impl ReactionPoint for TimelySender {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        match &mut self.law {
            Law::Segment(law) => law.on_ack(ack),
            Law::Ns3Hpcc(law) => law.on_ack(ack),
        }
    }
    fn carry(&mut self, carry: &Carry) -> bool {
        match &mut self.law {
            Law::Segment(law) => law.carry(carry),
            Law::Ns3Hpcc(law) => law.carry(carry),
        }
        true
    }
    fn repeats(&self, earlier: &Self, carry: &Carry) -> bool {
        carry.leads(earlier, self)
    }
    #[inline]
    fn rate(&self) -> Rate {
        match &self.law {
            Law::Segment(law) => law.rate(),
            Law::Ns3Hpcc(law) => law.rate(),
        }
    }
    #[inline]
    fn window(&self) -> u64 {
        Follower::of(self.rate(), self.follower)
    }
    fn burst(&self) -> u64 {
        self.burst
    }
}

impl Scheme for Timely {
    const NAME: &'static str = "timely";
    const TITLE: &'static str = "TIMELY: rate from the gradient of the round-trip time";
    const SOURCE: &'static str =
        "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015";
    type Reaction = TimelySender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Tcd;

    fn validate(&self) -> Result<(), Violation> {
        self.check_form()?;
        check::above("alpha", self.alpha, 0.0, 1.0)?;
        check::above("beta", self.beta, 0.0, 2.0)?;
        rtt::check_thresholds(self.t_low, self.t_high)?;
        rtt::check_min_rtt(self.min_rtt, self.base_min_rtt)?;
        rtt::check_delta(self.delta)?;
        check::within("hai_factor", self.hai_factor, 1.0, 1_000.0)?;
        check::within("least_factor", self.least_factor(), 0.0, 1.0)?;
        check::rate("min_rate", self.min_rate)?;
        rtt::check_start(self.initial_rate, self.start)?;
        rtt::check_segment(self.segment())
    }
    fn resolve(self, env: &NetworkEnv) -> Self {
        let own = self.form == Form::Segment;
        Timely {
            min_rtt: (!self.base_min_rtt).then(|| self.min_rtt.unwrap_or(Time::from_us(20))),
            delta: Some(self.delta(env.line_rate)),
            least_factor: Some(self.least_factor()),
            start: self.start.or(match (self.initial_rate, self.form) {
                (Some(_), _) => None,
                (None, Form::Segment) => Some(Start::Share),
                (None, Form::Ns3Hpcc) => Some(Start::Line),
            }),
            segment: own.then(|| self.segment()),
            pacing: own.then(|| self.pacing.unwrap_or(Pacing::Segment)),
            time_scaling: own.then(|| self.time_scaling.unwrap_or(true)),
            deduct_serialization: own.then(|| self.deduct_serialization.unwrap_or(true)),
            undetermined: own.then(|| self.undetermined.unwrap_or(Undetermined::Cut)),
            ..self
        }
    }
    fn signals(&self) -> Signals {
        Signals {
            timestamp: true,
            acks: true,
            ecn: self.undetermined == Some(Undetermined::Hold),
            ..Signals::default()
        }
    }
    fn reaction(&self, env: &FlowEnv) -> TimelySender {
        let burst = match (self.form, self.pacing) {
            (Form::Segment, Some(Pacing::Segment)) => rtt::whole_packets(self.segment(), env.payload),
            _ => 0,
        };
        let full = env.line_rate.bytes_in(env.base_rtt).max(1);
        TimelySender {
            law: match self.form {
                Form::Segment => Law::Segment(segment::SegmentLaw::new(self, env)),
                Form::Ns3Hpcc => Law::Ns3Hpcc(ns3_hpcc::RoundLaw::new(self, env)),
            },
            follower: self.window.then_some(Follower { full, line: env.line_rate.0 }),
            burst,
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
