//! Delay AIMD: a window that grows by a step in a round trip and shrinks to a share when the delay was too long.
//!
//! Additive increase and multiplicative decrease are those of Chiu and Jain (1989); the sign of congestion is a
//! round-trip time above a target. Replace it by your own: [`DelayAimd`] is the scheme with its parameters,
//! [`DelayAimdSender`] its reaction point.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff::engine::{Bytes, Rate, Time, Violation};
use xoff::schemes::detector::red::Red;
use xoff::schemes::{Ack, FlowEnv, NetworkEnv, NoOp, PortEnv, ReactionPoint, Scheme, Signals};

/// Parameters of delay AIMD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DelayAimd {
    /// Round-trip time above which a round trip counts as congested. Default: 1.25 times the base RTT.
    pub target: Option<Time>,
    /// What the window grows by in a round trip below it, in bytes. Default 3000 B, about two packets.
    pub step: Bytes,
    /// Share of the window that is left after a round trip above it, without unit, above 0 and below 1. Default 0.8.
    pub cut: f64,
}

impl Default for DelayAimd {
    fn default() -> Self {
        DelayAimd { target: None, step: Bytes(3000), cut: 0.8 }
    }
}

/// The target where none is given: 1.25 times the base RTT.
fn default_target(base_rtt: Time) -> Time {
    Time(base_rtt.ps() * 5 / 4)
}

/// Delay AIMD's sender.
#[derive(Clone, Debug)]
pub struct DelayAimdSender {
    target: Time,
    step: f64,
    cut: f64,
    window: f64,
    min: f64,
    max: f64,
    line_rate: Rate,
    /// The round trip ends with an ACK of this packet or a later one.
    round_end: u64,
    /// The delay was above its target in this round trip.
    congested: bool,
}

impl ReactionPoint for DelayAimdSender {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.congested |= ack.rtt.is_some_and(|rtt| rtt > self.target);
        if ack.packet < self.round_end {
            return;
        }
        let window = if self.congested { self.window * self.cut } else { self.window + self.step };
        self.window = window.clamp(self.min, self.max);
        self.round_end = ack.next_packet;
        self.congested = false;
    }
    fn rate(&self) -> Rate {
        self.line_rate
    }
    fn window(&self) -> u64 {
        self.window as u64
    }
}

impl Scheme for DelayAimd {
    const NAME: &'static str = "delay_aimd";
    const TITLE: &'static str = "Delay AIMD: window from the round-trip time, once a round trip";
    const SOURCE: &'static str =
        "Chiu and Jain, Analysis of the Increase and Decrease Algorithms for Congestion Avoidance, 1989";
    type Reaction = DelayAimdSender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        if self.cut > 0.0 && self.cut < 1.0 {
            return Ok(());
        }
        Err(Violation::new("cut", format!("is {}", self.cut), "a number above 0 and below 1"))
    }
    fn resolve(mut self, env: &NetworkEnv) -> Self {
        self.target = self.target.or(Some(default_target(env.base_rtt)));
        self
    }
    /// The sender's clock in data, which ACKs bring back.
    fn signals(&self) -> Signals {
        Signals { timestamp: true, acks: true, ..Signals::default() }
    }
    /// Begins with the NIC's bandwidth-delay product.
    fn reaction(&self, env: &FlowEnv) -> DelayAimdSender {
        let max = env.line_rate.bytes_in(env.base_rtt).max(env.payload) as f64;
        DelayAimdSender {
            target: self.target.unwrap_or(default_target(env.base_rtt)),
            step: self.step.0 as f64,
            cut: self.cut,
            window: max,
            min: env.payload as f64,
            max,
            line_rate: env.line_rate,
            round_end: 0,
            congested: false,
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
