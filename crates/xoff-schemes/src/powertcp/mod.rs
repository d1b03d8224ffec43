//! PowerTCP: a window from power, the product of current and voltage (Addanki, Michel, Schmid, NSDI 2022), Algorithm 1.
//!
//! For each link on the path, telemetry as HPCC's gives the *current* λ = dq/dt + μ, which is what arrives at the queue, and
//! the *voltage* ν = q + b τ. Power λ ν over base power b² τ is 1 on a link that is full, with no queue. The greatest such
//! share on the path is averaged over the base RTT τ, and each ACK sets
//! w = γ (w_old / power + β) + (1 - γ) w, paced at w / τ. With n flows the queue settles at n β (Appendix A).
//!
//! [`theta`] is the version without telemetry, from round-trip times; [`window`] serves both.
//!
//! Readings, where the paper leaves room:
//! - w_old is remembered once a round trip, as section 3.3 says ("remembering current window size once per RTT"), when the
//!   first ACK of a packet comes that was sent after the last such moment; so do both implementations of the authors. The
//!   window at which the acknowledged packet was sent, which Equation 7 has, is [`OldWindow::Packet`].
//! - Line 20 of the listing compares power with normalized power; both sides are meant to be normalized.
//! - The average begins at 1, and an interval counts as τ at most, as in HPCC. A link whose current is below zero, which
//!   rounded counters can show, has no power.
//! - The window stays between `min_rate` times τ and the NIC's bandwidth-delay product, with which a flow begins. The paper
//!   bounds nothing; the authors' module for Linux has this maximum.
//! - N, the flows that share a NIC, is 10 as in that module: the paper gives no number.
//!
//! # Reordering
//!
//! A round trip is counted in packets, and a record that is older than the one in memory is skipped, as in
//! [`crate::hpcc`]: its link keeps its power. The average and the window follow at every ACK.
//!
//! # Idle
//!
//! The paper says nothing of connections that are idle; xoff keeps the state. The first ACK after idleness measures the
//! current over all of the idle time, with full weight. Telemetry whose counters may have wrapped around is forgotten, as in
//! [`crate::hpcc`].

pub mod theta;
pub mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time, Violation, as_double};

use self::window::{Law, OldWindow, PowerWindow};
use crate::check;
use crate::detector::red::Red;
use crate::int::{IntMemory, MAX_INT_HOPS};
use crate::signals::{IntPath, Signals};
use crate::traits::{Ack, FlowEnv, NoOp, PortEnv, ReactionPoint, Scheme};

/// Parameters of PowerTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PowerTcp {
    /// Weight of the new window: γ, without unit, above 0 and at most 1. Default 0.9 (PowerTCP, section 3.3).
    pub gamma: f64,
    /// Flows that are expected to share a NIC: N, a number. The additive increase β is the NIC's bandwidth-delay product
    /// over N (PowerTCP, section 3.3). Default 10 (the authors' module for Linux; the paper gives none).
    pub expected_flows: f64,
    /// Which earlier window the law starts from. Default `round_trip` (PowerTCP, section 3.3).
    pub old_window: OldWindow,
    /// The minimum rate, in bits a second. Default 100 Mb/s (the simulator of HPCC's authors, which the authors extend).
    pub min_rate: Rate,
}

impl Default for PowerTcp {
    fn default() -> Self {
        PowerTcp {
            gamma: 0.9,
            expected_flows: 10.0,
            old_window: OldWindow::RoundTrip,
            min_rate: Rate::from_mbps(100),
        }
    }
}

/// Normalized power of a path: function `NormPower` of Algorithm 1 with its state.
#[derive(Clone, Debug)]
pub struct Power {
    memory: IntMemory,
    /// Normalized power of each hop.
    hops: [f64; MAX_INT_HOPS],
    average: f64,
    base_rtt: f64,
}

impl Power {
    /// Nothing measured yet, on a path with `base_rtt` as τ; the average starts at 1.
    pub fn new(base_rtt: Time) -> Self {
        Power {
            memory: IntMemory::default(),
            hops: [0.0; MAX_INT_HOPS],
            average: 1.0,
            base_rtt: base_rtt.0.max(1) as f64,
        }
    }

    /// Takes in an ACK's telemetry. Returns `false` if there is nothing to compare the telemetry with: at a flow's first
    /// ACK, and after a change of the path.
    ///
    /// A hop keeps its power if its record shows the same moment as before or an earlier one.
    #[inline]
    pub fn measure(&mut self, ack: &Ack<'_>) -> bool {
        let Power { memory, hops, base_rtt, .. } = self;
        // Below all powers, so that a path without any has an interval too.
        let (mut peak, mut elapsed_at_peak) = (-1.0, 0.0);
        let compared = memory.compare(&ack.int, ack.now, ack.packet, |i, change| {
            let Some(power) = hops.get_mut(i) else { return };
            let elapsed = as_double(change.elapsed.0);
            let capacity = change.bytes_per_ps * elapsed;
            if capacity > 0.0 {
                let arrived = as_double(change.tx_bytes) + as_double(change.queue_after)
                    - as_double(change.queue_before);
                let voltage = 1.0 + as_double(change.queue_after) / (change.bytes_per_ps * *base_rtt);
                *power = (arrived / capacity * voltage).max(0.0);
            }
            if *power > peak {
                (peak, elapsed_at_peak) = (*power, elapsed);
            }
        });
        if compared == 0 {
            self.hops = [0.0; MAX_INT_HOPS];
            return false;
        }
        let weight = (elapsed_at_peak / self.base_rtt).min(1.0);
        self.average = (1.0 - weight) * self.average + weight * peak;
        true
    }

    /// The averaged normalized power, without unit.
    #[inline]
    pub fn average(&self) -> f64 {
        self.average
    }
}

/// PowerTCP's sender.
#[derive(Clone, Debug)]
pub struct PowerTcpSender {
    power: Power,
    window: PowerWindow,
}

impl ReactionPoint for PowerTcpSender {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if self.power.measure(ack) {
            self.window.update(ack.packet, self.power.average());
        }
        self.window.remember(ack.packet, ack.next_packet);
    }
    fn on_busy(&mut self, now: Time) {
        self.power.memory.forget_if_wrapped(now);
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

impl Scheme for PowerTcp {
    const NAME: &'static str = "powertcp";
    const TITLE: &'static str = "PowerTCP: window from power, by in-network telemetry";
    const SOURCE: &'static str =
        "Addanki, Michel, Schmid, PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI 2022";
    type Reaction = PowerTcpSender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        check::above("gamma", self.gamma, 0.0, 1.0)?;
        check::within("expected_flows", self.expected_flows, 1.0, 1e6)?;
        check::rate("min_rate", self.min_rate)
    }
    fn signals(&self) -> Signals {
        Signals { int: IntPath::Data, acks: true, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> PowerTcpSender {
        let law = Law {
            gamma: self.gamma,
            expected_flows: self.expected_flows,
            old_window: self.old_window,
            min_rate: self.min_rate,
        };
        PowerTcpSender { power: Power::new(env.base_rtt), window: PowerWindow::new(&law, env) }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
