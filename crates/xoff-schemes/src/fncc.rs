//! FNCC: Fast Notification Congestion Control (Xu et al., arXiv 2024), sections 3.2 and 4, Algorithms 1 to 3.
//!
//! HPCC's sender with two changes. Switches write the load of the data path's egress ports into ACKs on their way back,
//! so that the load is younger when it arrives. And when the path's last hop is the congested one, the sender sets its
//! window at once to the share that it will get in the end (last-hop congestion speedup, LHCS), which the sender knows
//! because the receiver writes its number of concurrent flows N into the ACKs.
//!
//! Readings, where the paper leaves room: hops are told apart by their momentary u' and not by the average U, from
//! which only the multiplicative decrease is computed; the search for the worst hop starts anew at every ACK (Algorithm
//! 2; Algorithm 3 would keep an old maximum for ever); and an ACK that fires LHCS is spared the decrease of Equation 6
//! (see [`Fncc::lhcs_bypass`]).
//!
//! # Reordering
//!
//! Round trips and older records are handled as in [`crate::hpcc`]. Records are stamped on ACKs here, so what counts is
//! the order of the ACKs on the return path: an ACK of an older packet that was stamped later is taken in. If a hop is
//! skipped, LHCS uses the previous u' of the hop. The paper's paths are symmetric, one for each flow (Figure 5), on
//! which nothing overtakes.
//!
//! # Idle
//!
//! The paper says nothing of connections that are idle; xoff keeps the state, as in [`crate::hpcc`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use crate::check;
use crate::detector::red::Red;
use crate::hpcc::{Hpcc, InFlight, Window};
use crate::signals::{IntPath, Signals};
use crate::traits::{Ack, FlowEnv, NoOp, PortEnv, ReactionPoint, Scheme};

/// Parameters of FNCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fncc {
    /// Target utilization η, without unit, above 0 and at most 1. Default 0.95 (FNCC, section 3.2.2).
    pub eta: f64,
    /// Additive steps, one a round trip, before the next multiplicative one: maxStage, without unit. Default 0,
    /// which the simulations of HPCC's authors used; HPCC's paper prints 5.
    pub max_stage: u32,
    /// Additive increase W_AI, in bytes. Default 80 B (HPCC, section 5.1), which is 50 Mb/s at a base RTT of
    /// 12.8 us.
    pub w_ai: Bytes,
    /// The minimum rate, in bits a second. Default 100 Mb/s (the simulator of HPCC's authors).
    pub min_rate: Rate,
    /// Reacts to each ACK, from a reference window that is updated once a round trip (FNCC, section 3.2.2).
    /// Without it only the first ACK of each round trip counts. Default true.
    pub fast_react: bool,
    /// Last-hop congestion speedup (FNCC, Algorithm 2). Default true.
    pub lhcs: bool,
    /// u' above which the last hop counts as congested: α, without unit, above 0 and at most 10. Default 1.05
    /// (FNCC, section 3.2.2).
    pub alpha: f64,
    /// Part of the fair share that LHCS grants, so that the queue drains: β, without unit, above 0 and at most 1.
    /// Default 0.9 (FNCC, section 3.2.2).
    pub beta: f64,
    /// When LHCS fires, the window is the share itself. False is the order of Algorithm 3 as printed: the share
    /// becomes the reference window, and the same ACK divides it by U/η once more, so that flows start from half
    /// of what section 5.4.2 reports. Default true.
    pub lhcs_bypass: bool,
}

impl Default for Fncc {
    fn default() -> Self {
        let Hpcc { eta, max_stage, w_ai, min_rate, fast_react, .. } = Hpcc::default();
        Fncc {
            eta,
            max_stage,
            w_ai,
            min_rate,
            fast_react,
            lhcs: true,
            alpha: 1.05,
            beta: 0.9,
            lhcs_bypass: true,
        }
    }
}

impl Fncc {
    /// The parameters of HPCC's window.
    fn hpcc(&self) -> Hpcc {
        Hpcc {
            eta: self.eta,
            max_stage: self.max_stage,
            w_ai: self.w_ai,
            min_rate: self.min_rate,
            ..Hpcc::default()
        }
    }
}

/// Last-hop congestion speedup: function `UpdateWc` of Algorithm 2.
#[derive(Clone, Copy, Debug)]
struct Speedup {
    alpha: f64,
    /// β times the base RTT, in picoseconds.
    beta_rtt: f64,
    bypass: bool,
}

impl Speedup {
    /// The window to take, in bytes, if the last hop is the worst and congested.
    #[inline]
    fn window(&self, in_flight: &InFlight, flow_count: u16) -> Option<f64> {
        let worst = in_flight.bottleneck();
        let fires = worst.is_last && worst.utilization > self.alpha;
        fires.then(|| worst.bytes_per_ps * self.beta_rtt / f64::from(flow_count.max(1)))
    }
}

/// FNCC's sender.
#[derive(Clone, Debug)]
pub struct FnccSender {
    in_flight: InFlight,
    window: Window,
    fast_react: bool,
    speedup: Option<Speedup>,
}

impl ReactionPoint for FnccSender {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let due = self.window.is_due(ack.packet);
        if !due && !self.fast_react {
            return;
        }
        if self.in_flight.measure(ack) {
            match self.speedup.and_then(|s| Some((s, s.window(&self.in_flight, ack.flow_count)?))) {
                Some((speedup, share)) if speedup.bypass => self.window.set(share),
                Some((_, share)) => {
                    self.window.set_reference(share);
                    self.window.compute(self.in_flight.average(), due);
                }
                None => self.window.compute(self.in_flight.average(), due),
            }
        }
        if due {
            self.window.begin_round(ack.next_packet);
        }
    }
    fn on_busy(&mut self, now: Time) {
        self.in_flight.on_busy(now);
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

impl Scheme for Fncc {
    const NAME: &'static str = "fncc";
    const TITLE: &'static str =
        "FNCC: HPCC with telemetry on ACKs and a jump to the fair share at the last hop";
    const SOURCE: &'static str =
        "Xu et al., FNCC: Fast Notification Congestion Control in Data Center Networks, arXiv 2024";
    type Reaction = FnccSender;
    type Notification = NoOp;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        self.hpcc().validate()?;
        check::above("alpha", self.alpha, 0.0, 10.0)?;
        check::above("beta", self.beta, 0.0, 1.0)
    }
    fn signals(&self) -> Signals {
        Signals {
            int: IntPath::Ack,
            flow_count: true,
            symmetric_paths: true,
            acks: true,
            ..Signals::default()
        }
    }
    fn reaction(&self, env: &FlowEnv) -> FnccSender {
        let base_rtt = env.base_rtt.max(Time(1));
        FnccSender {
            in_flight: InFlight::new(base_rtt),
            window: Window::new(&self.hpcc(), env),
            fast_react: self.fast_react,
            speedup: self.lhcs.then_some(Speedup {
                alpha: self.alpha,
                beta_rtt: self.beta * base_rtt.0 as f64,
                bypass: self.lhcs_bypass,
            }),
        }
    }
    fn notification(&self, _: &FlowEnv) -> NoOp {
        NoOp
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
