//! Swift: a window from the delay's distance to a target (Kumar et al., SIGCOMM 2020).
//!
//! A window of packets, real-valued, grows by `ai` a round trip while the delay is below a target, and is cut at most
//! once a round trip by the share of the delay that is above the target. The target grows with the hops of the path and
//! as the window shrinks, so that many flows at a queue do not all wait for too short a queue, and unequal flows grow
//! alike. Below one packet the window becomes a gap: one packet each RTT/cwnd.
//!
//! The paper keeps two such windows, one on the delay of the fabric and one on that of the receiving host, and sends by
//! the smaller. The second window exists if `endpoint_target` is given. Receiving hosts are modelled by one constant
//! delay before their ACKs (`host.processing_delay`), so the paper's average over its samples changes nothing and is
//! left out; the echo of that delay is taken to fit into the timestamp's bytes.
//!
//! Reading: the moment of the last cut is noted if the window became *smaller*. The paper's listing notes the moment if
//! the window is not larger, so that a window held at its minimum would never be cut again.
//!
//! The paper publishes neither `ai`, `beta`, `max_mdf`, the hop's share nor the constants of flow scaling; the defaults
//! are those of the Swift in the simulator of Bolt's authors (NSDI 2023) at 100 Gb/s, except for the base target.
//!
//! # Reordering
//!
//! Round trips are counted in time, not in packets: a cut needs a round-trip time since the last cut. So an ACK out of
//! order neither ends a round trip early nor delays its end. Each ACK's delay counts as it comes, as in the paper, and
//! each acknowledged packet makes the window grow once.
//!
//! # Idle
//!
//! The paper says nothing of idle connections; xoff keeps the state. Window, gap, round-trip time and the moment of the
//! last cut stay, so the first delay above the target after an idleness of a round trip cuts at once.

mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time, Violation};

use crate::check;
use crate::detector::tcd::Tcd;
use crate::rtt::Undetermined;
use crate::signals::{Mark, Signals};
use crate::traits::{Ack, Carry, FlowEnv, NetworkEnv, NoOp, PortEnv, ReactionPoint, Scheme};
use window::{FlowScaling, Law, Window};

/// Parameters of Swift. Windows are in full packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Swift {
    /// Increase a round trip below the target, in packets. Default 1 (Bolt's authors).
    pub ai: f64,
    /// Share of the delay's relative excess by which the window is cut: β, without unit. Default 0.8 (Bolt's authors).
    pub beta: f64,
    /// The maximum cut, as a share of the window, above 0 and below 1. Default 0.5 (Bolt's authors).
    pub max_mdf: f64,
    /// Target delay of a path without hops and a large window, as a time. Default: 5 us above the largest base RTT, and
    /// at least 10 us (Bolt's authors at an RTT of 5 to 8 us); a target below the base RTT would starve flows.
    pub base_target: Option<Time>,
    /// Added to the target for each switch on the path: ħ, as a time (Swift, section 3.3). Default 1 us (Bolt's
    /// authors).
    pub per_hop: Time,
    /// The maximum that flow scaling adds to the target, as a time; 0 turns it off (Swift, section 3.3). Default 100 us
    /// (Bolt's authors).
    pub fs_range: Time,
    /// Window up to which flow scaling adds all of `fs_range`, in packets. Default 0.1 (Bolt's authors).
    pub fs_min: f64,
    /// Window from which on flow scaling adds nothing, in packets. Default 256 (Bolt's authors).
    pub fs_max: f64,
    /// The minimum window, in packets. Default 0.001 (Swift, section 3.5).
    pub min_cwnd: f64,
    /// The maximum window, in packets. Default 256 (Bolt's authors, at 100 Gb/s), but at least the bandwidth-delay product of
    /// the flow's NIC and `initial_cwnd`: one flow alone must be able to fill a link.
    pub max_cwnd: Option<f64>,
    /// Window of a new flow, in packets. Default: the bandwidth-delay product of its NIC, as for RDMA flows; the paper
    /// gives none.
    pub initial_cwnd: Option<f64>,
    /// Weight of the latest sample in the RTT that spaces cuts, and packets below a window of one; without unit, above
    /// 0 and at most 1. The delay that is compared with the target is never averaged. Default 1, the latest alone.
    pub rtt_gain: f64,
    /// Timeouts in a row after which the window falls to `min_cwnd`: RETX_RESET_THRESHOLD, a number (Swift, Algorithm
    /// 1). Default 5 (Broadcom's htsim; the paper gives none).
    pub retx_reset: u32,
    /// Target of the delay at the receiving host, as a time, for a second window (Swift, section 3.2). Default: none,
    /// which leaves that window out and counts the host's delay as the fabric's.
    pub endpoint_target: Option<Time>,
    /// What an ACK with the mark of an undetermined port does to the fabric's window if its delay is not below the
    /// target, after TCD's rule for delay-based schemes. Default `cut`; with `hold` the scenario's detector marks data
    /// packets, by default TCD.
    pub undetermined: Undetermined,
}

impl Default for Swift {
    fn default() -> Self {
        Swift {
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            base_target: None,
            per_hop: Time::from_us(1),
            fs_range: Time::from_us(100),
            fs_min: 0.1,
            fs_max: 256.0,
            min_cwnd: 0.001,
            max_cwnd: None,
            initial_cwnd: None,
            rtt_gain: 1.0,
            retx_reset: 5,
            endpoint_target: None,
            undetermined: Undetermined::Cut,
        }
    }
}

impl Swift {
    /// Refuses windows of flow scaling if flow scaling is off.
    fn check_scaling(&self) -> Result<(), Violation> {
        let default = Swift::default();
        let set = [("fs_min", self.fs_min != default.fs_min), ("fs_max", self.fs_max != default.fs_max)];
        match set.into_iter().find(|(_, set)| *set && self.fs_range == Time::ZERO) {
            Some((key, _)) => {
                Err(Violation::new(key, "has no meaning with `fs_range = \"0us\"`", "to be left out"))
            }
            None => Ok(()),
        }
    }
}

/// The default base target in a network of this base RTT.
fn default_base_target(base_rtt: Time) -> Time {
    base_rtt.saturating_add(Time::from_us(5)).max(Time::from_us(10))
}

/// The window on the receiving host's delay.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Endpoint {
    window: Window,
    /// Picoseconds, like `delay`.
    target: f64,
    delay: f64,
}

/// Swift's sender.
#[derive(Clone, Debug, PartialEq)]
pub struct SwiftSender {
    law: Law,
    scaling: FlowScaling,
    /// Target without flow scaling, in picoseconds.
    target: f64,
    fabric: Window,
    endpoint: Option<Endpoint>,
    holds: bool,
    rtt_gain: f64,
    /// Picoseconds; the base RTT before the first sample.
    rtt: f64,
    sampled: bool,
    retx_reset: u32,
    timeouts: u32,
    line_rate: Rate,
    payload: f64,
    /// Bits.
    frame: f64,
    rate: Rate,
    window: u64,
}

/// Minimum of the maximum window by default, in packets.
const MAX_CWND: f64 = 256.0;

impl SwiftSender {
    fn new(params: &Swift, env: &FlowEnv) -> Self {
        let payload = env.payload.max(1) as f64;
        let bdp = env.line_rate.bytes_in(env.base_rtt) as f64 / payload;
        let default_max = MAX_CWND.max(bdp).max(params.initial_cwnd.unwrap_or(0.0));
        let law = Law {
            ai: params.ai,
            beta: params.beta,
            max_mdf: params.max_mdf,
            min: params.min_cwnd,
            max: params.max_cwnd.unwrap_or(default_max).max(params.min_cwnd),
        };
        let size = params.initial_cwnd.unwrap_or(bdp).clamp(law.min, law.max);
        let window = Window { size, cut_at: None };
        let base = params.base_target.unwrap_or_else(|| default_base_target(env.base_rtt));
        let mut sender = SwiftSender {
            law,
            scaling: FlowScaling::new(params),
            target: base.0 as f64 + f64::from(env.hops) * params.per_hop.0 as f64,
            fabric: window,
            endpoint: params.endpoint_target.map(|target| Endpoint {
                window,
                target: target.0 as f64,
                delay: env.ack_delay.0 as f64,
            }),
            holds: params.undetermined == Undetermined::Hold,
            rtt_gain: params.rtt_gain,
            rtt: env.base_rtt.0.max(1) as f64,
            sampled: false,
            retx_reset: params.retx_reset,
            timeouts: 0,
            line_rate: env.line_rate,
            payload,
            frame: env.frame as f64 * 8.0,
            rate: env.line_rate,
            window: 0,
        };
        sender.state();
        sender
    }

    /// The target of the fabric's delay with the current window.
    pub fn target(&self) -> Time {
        Time((self.target + self.scaling.at(self.fabric.size) + 0.5) as u64)
    }

    /// The current window, in packets: the smaller of the fabric's and the endpoint's.
    pub fn cwnd(&self) -> f64 {
        self.endpoint.map_or(self.fabric.size, |e| e.window.size.min(self.fabric.size))
    }

    /// Sets window and rate from cwnd. A window of a packet or more limits bytes in flight, unpaced; a smaller window
    /// is a packet each RTT/cwnd.
    #[inline]
    fn state(&mut self) {
        let cwnd = self.cwnd();
        if cwnd >= 1.0 {
            self.window = (cwnd * self.payload) as u64;
            self.rate = self.line_rate;
        } else {
            self.window = 1;
            let rate = (self.frame * cwnd * 1e12 / self.rtt + 0.5) as u64;
            self.rate = Rate(rate.max(1)).min(self.line_rate);
        }
    }

    #[inline]
    fn rtt(&self) -> Time {
        Time(self.rtt as u64)
    }

    /// Cuts both windows by the maximum, if their last cuts are a round trip old.
    fn cut_by_max(&mut self, now: Time) {
        let (law, rtt) = (self.law, self.rtt());
        for window in [Some(&mut self.fabric), self.endpoint.as_mut().map(|e| &mut e.window)] {
            if let Some(window) = window.filter(|w| w.may_cut(now, rtt)) {
                window.set(&law, now, window.size * (1.0 - law.max_mdf));
            }
        }
        self.state();
    }
}

impl ReactionPoint for SwiftSender {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.timeouts = 0;
        let Some(sample) = ack.rtt else { return };
        let (now, acked) = (ack.now, ack.newly_acked as f64 / self.payload);
        let gain = if self.sampled { self.rtt_gain } else { 1.0 };
        self.sampled = true;
        self.rtt = ((1.0 - gain) * self.rtt + gain * sample.0 as f64).max(1.0);
        let rtt = self.rtt();
        let mut delay = sample.0 as f64;
        if let Some(endpoint) = &mut self.endpoint {
            delay -= endpoint.delay;
            endpoint.window.follow(&self.law, now, rtt, acked, endpoint.delay, endpoint.target);
        }
        let target = self.target + self.scaling.at(self.fabric.size);
        if !(self.holds && ack.mark == Mark::Ue && delay >= target) {
            self.fabric.follow(&self.law, now, rtt, acked, delay, target);
        }
        self.state();
    }

    fn on_loss(&mut self, now: Time) {
        self.timeouts = 0;
        self.cut_by_max(now);
    }

    fn carry(&mut self, carry: &Carry) -> bool {
        let rtt = self.rtt().max(carry.longest_rtt);
        self.fabric.carry(carry, rtt);
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.window.carry(carry, rtt);
        }
        true
    }
    fn repeats(&self, earlier: &Self, carry: &Carry) -> bool {
        carry.leads(earlier, self)
    }

    fn on_timeout(&mut self, now: Time) {
        self.timeouts += 1;
        if self.timeouts < self.retx_reset {
            return self.cut_by_max(now);
        }
        let law = self.law;
        self.fabric.set(&law, now, law.min);
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.window.set(&law, now, law.min);
        }
        self.state();
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.rate
    }
    #[inline]
    fn window(&self) -> u64 {
        self.window
    }
}

impl Scheme for Swift {
    const NAME: &'static str = "swift";
    const TITLE: &'static str = "Swift: window from the delay's distance to a target";
    const SOURCE: &'static str = "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM 2020";
    type Reaction = SwiftSender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Tcd;

    fn validate(&self) -> Result<(), Violation> {
        for (key, value) in [("ai", self.ai), ("beta", self.beta), ("fs_min", self.fs_min)] {
            check::above(key, value, 0.0, 1e6)?;
        }
        if !(self.max_mdf > 0.0 && self.max_mdf < 1.0) {
            let found = format!("is {}", self.max_mdf);
            return Err(Violation::new("max_mdf", found, "a number above 0 and below 1"));
        }
        check::above("fs_max", self.fs_max, self.fs_min, 1e6)?;
        self.check_scaling()?;
        check::above("min_cwnd", self.min_cwnd, 0.0, 1e6)?;
        self.max_cwnd.map_or(Ok(()), |cwnd| check::within("max_cwnd", cwnd, self.min_cwnd, 1e6))?;
        if let Some(cwnd) = self.initial_cwnd {
            check::within("initial_cwnd", cwnd, self.min_cwnd, self.max_cwnd.unwrap_or(1e6))?;
        }
        check::above("rtt_gain", self.rtt_gain, 0.0, 1.0)?;
        self.base_target.map_or(Ok(()), |t| check::time("base_target", t))?;
        if self.retx_reset == 0 {
            return Err(Violation::new("retx_reset", "is 0", "1 timeout or more"));
        }
        self.endpoint_target.map_or(Ok(()), |t| check::time("endpoint_target", t))
    }
    fn resolve(mut self, env: &NetworkEnv) -> Self {
        self.base_target = self.base_target.or_else(|| Some(default_base_target(env.base_rtt)));
        self
    }
    fn signals(&self) -> Signals {
        let ecn = self.undetermined == Undetermined::Hold;
        Signals { timestamp: true, acks: true, ecn, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> SwiftSender {
        SwiftSender::new(self, env)
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
