//! θ-PowerTCP: PowerTCP from round-trip times alone (Addanki, Michel, Schmid, NSDI 2022), section 3.5 and Algorithm 2.
//!
//! With q = b (RTT - τ) and a link that always sends at b, normalized power is (dRTT/dt + 1) RTT / τ. It is averaged over τ
//! at each ACK, and the window follows once a round trip, by the law of [`super::window`].
//!
//! Readings, where the paper leaves room:
//! - The listing notes the round-trip time and its moment at each ACK (lines 7 and 8), and returns early from the window's
//!   update alone: so power is measured at each ACK, though the authors' module for Linux measures it once a round trip.
//! - A flow's first ACK has no earlier one: it is only noted. Of several ACKs at one moment the first counts.
//! - When round-trip times fall faster than time passes, power would be negative; it then counts as 0.
//! - The average begins at 1. Bounds of the window and the number of flows N are PowerTCP's.
//!
//! τ is the largest base RTT of the network unless the scenario says otherwise, so a flow on a shorter path leaves a queue
//! that makes up for the difference.
//!
//! # Reordering
//!
//! A round trip is counted in packets. Each ACK's round-trip time counts as it comes.
//!
//! # Idle
//!
//! The paper says nothing of connections that are idle; xoff keeps the state. The gradient at the first ACK after idleness
//! is over all of the idle time, with full weight, so power is then about RTT / τ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time, Violation};

use super::PowerTcp;
use super::window::{Law, OldWindow, PowerWindow};
use crate::detector::red::Red;
use crate::signals::Signals;
use crate::traits::{Ack, Carry, FlowEnv, NoOp, PortEnv, ReactionPoint, Scheme};

/// Parameters of θ-PowerTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ThetaPowerTcp {
    /// Weight of the new window: γ, without unit, above 0 and at most 1. Default 0.9 (PowerTCP, section 3.3).
    pub gamma: f64,
    /// Flows that are expected to share a NIC: N, a number. The additive increase β is the NIC's bandwidth-delay product
    /// over N (PowerTCP, section 3.3). Default 10 (the authors' module for Linux; the paper gives none).
    pub expected_flows: f64,
    /// The minimum rate, in bits a second. Default 100 Mb/s (the simulator of HPCC's authors, which the authors extend).
    pub min_rate: Rate,
}

impl Default for ThetaPowerTcp {
    fn default() -> Self {
        let PowerTcp { gamma, expected_flows, min_rate, .. } = PowerTcp::default();
        ThetaPowerTcp { gamma, expected_flows, min_rate }
    }
}

/// Normalized power from round-trip times: function `NormPower` of Algorithm 2 with its state. Times in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayPower {
    base_rtt: f64,
    /// The last round-trip time and its moment.
    last: Option<(Time, f64)>,
    average: f64,
}

impl DelayPower {
    /// Nothing measured yet, on a path with `base_rtt` as τ; the average starts at 1.
    pub fn new(base_rtt: Time) -> Self {
        DelayPower { base_rtt: base_rtt.0.max(1) as f64, last: None, average: 1.0 }
    }

    /// Takes in a round-trip time. Returns `false` if there is nothing to compare the time with.
    #[inline]
    pub fn measure(&mut self, now: Time, rtt: Time) -> bool {
        let rtt = rtt.0 as f64;
        let Some((at, before)) = self.last else {
            self.last = Some((now, rtt));
            return false;
        };
        let elapsed = now.saturating_sub(at).0 as f64;
        if elapsed > 0.0 {
            self.last = Some((now, rtt));
            let power = (((rtt - before) / elapsed + 1.0) * rtt / self.base_rtt).max(0.0);
            let weight = (elapsed / self.base_rtt).min(1.0);
            self.average = (1.0 - weight) * self.average + weight * power;
        }
        true
    }

    /// The averaged normalized power, without unit.
    pub fn average(&self) -> f64 {
        self.average
    }
}

/// θ-PowerTCP's sender.
#[derive(Clone, Debug, PartialEq)]
pub struct ThetaSender {
    power: DelayPower,
    window: PowerWindow,
    /// The round trip ends with an ACK of this packet or a later one.
    last_update_packet: u64,
}

impl ReactionPoint for ThetaSender {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(rtt) = ack.rtt else { return };
        let measured = self.power.measure(ack.now, rtt);
        if measured && ack.packet >= self.last_update_packet {
            self.window.update(ack.packet, self.power.average());
            self.window.remember(ack.packet, ack.next_packet);
            self.last_update_packet = ack.next_packet;
        }
    }
    fn carry(&mut self, carry: &Carry) -> bool {
        self.power.last = self.power.last.map(|(at, rtt)| (at + carry.time, rtt));
        self.window.carry(carry);
        self.last_update_packet += carry.packets;
        true
    }
    fn repeats(&self, earlier: &Self, carry: &Carry) -> bool {
        carry.leads(earlier, self)
    }
    #[inline]
    fn rate(&self) -> Rate {
        self.window.rate()
    }
    #[inline]
    fn window(&self) -> u64 {
        self.window.bytes()
    }
}

impl Scheme for ThetaPowerTcp {
    const NAME: &'static str = "theta_powertcp";
    const TITLE: &'static str = "θ-PowerTCP: window from power, by round-trip times";
    const SOURCE: &'static str = PowerTcp::SOURCE;
    type Reaction = ThetaSender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        let ThetaPowerTcp { gamma, expected_flows, min_rate } = *self;
        PowerTcp { gamma, expected_flows, min_rate, ..PowerTcp::default() }.validate()
    }
    fn signals(&self) -> Signals {
        Signals { timestamp: true, acks: true, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> ThetaSender {
        let ThetaPowerTcp { gamma, expected_flows, min_rate } = *self;
        let law = Law { gamma, expected_flows, old_window: OldWindow::RoundTrip, min_rate };
        ThetaSender {
            power: DelayPower::new(env.base_rtt),
            window: PowerWindow::new(&law, env),
            last_update_packet: 0,
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
