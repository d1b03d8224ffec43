//! SRCC: Sub-RTT Congestion Control for Lossless Datacenter Networks (Hu et al., IEEE Transactions on Industrial
//! Informatics 2024), section III.
//!
//! A switch whose egress queue exceeds a threshold sends a message (CNM) straight to the senders of the flows that fill
//! it and share their ingress port with uncongested flows, and they set their rate to the target in it at once.
//!
//! - [`switch`]: threshold, identification of flows, and the messages.
//! - [`table`]: the flow table, by which messages find their way and flows are counted.
//! - [`sender`]: the minimum of the targets, beside a base scheme that recovers the rate.
//!
//! Readings, where the paper leaves room or contradicts itself:
//!
//! - Section III-B prints the condition for a shared ingress the wrong way round; the discussion of Fig. 8(b) needs
//!   *shared if an uncongested packet came less than T ago*.
//! - Eq. 6 is below zero for a handful of flows, and its text names the derivative of the queue, which is what Eq. 5
//!   says with the sum of arrival rates less C. So `dynamic` is Eq. 5 with measured arrivals, between a floor and
//!   Q_PFC/M; `literal` is Eq. 6, clamped in the same way, with m as the ingress ports that fed the queue in the last
//!   base RTT.
//! - M counts the egress queues that hold packets of the packet's ingress, the packet's own among them; Q_PFC is that
//!   ingress' Xoff at that moment; d is its link's propagation delay.
//! - An uncongested packet is one that finds its egress queue within its own threshold.
//! - The target, the average rate "normalized to the bottleneck bandwidth", is C over the number of flows that the
//!   egress saw recently. T says who shares a port (section III-B) and not who counts here, so the count has a window of its
//!   own, `count_rtts`.
//! - Section III-E gives no rule for what a message does to the scheme under SRCC, which is "friendly compatible" with it. DCQCN's
//!   own paper knows no rate cut but that of a CNP. So `composition` has both: `cut` lowers DCQCN's current rate to the target
//!   and keeps its target rate (with `dcqcn.clamp_target` the next CNP lowers the target rate to what the message left), and
//!   `cap` leaves DCQCN alone: the lower of its rate and the target holds.
//! - The paper does not say how often a flow is sent a message, for how long a target holds, when a table forgets and
//!   how a rate recovers: once a base RTT, for three, after `flow_timeout`, and as the base scheme does.
//! - The 8-bit flow id of the CNM and the 16-bit one of the table stand for the flow itself: no two flows share one.
//!
//! # Reordering
//!
//! Senders obey messages in the order in which they come. Switches look at each packet as it comes: a flow that takes
//! several paths is learned by each switch on them, and a switch's message goes back by the port of the flow's latest
//! packet.
//!
//! # Idle
//!
//! The paper says nothing of idle connections; xoff keeps the state. Targets end `target_timeout` after their last
//! message, the base scheme recovers the rate as it does for a flow that sends, and switches forget the flow after
//! `flow_timeout`.

pub mod sender;
pub mod switch;
pub mod table;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Time, Violation};

use crate::check;
use crate::dcqcn::Dcqcn;
use crate::dcqcn::notification::CnpPacer;
use crate::detector::red::Red;
use crate::signals::Signals;
use crate::traits::{FlowEnv, NetworkEnv, NoOp, PortEnv, Scheme, SwitchEnv, SwitchPoint};
use sender::{Doubling, SrccSender};
use switch::{Quota, SrccSwitch};

/// The length from which an egress queue is congested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// Q_PFC/M less what the queue grows by, at the measured arrival rate, until a message takes effect (section III-C,
    /// Eq. 5).
    #[default]
    Dynamic,
    /// Q_PFC/M less what m - 1 ports at line rate bring in that time (section III-C, Eq. 6).
    Literal,
    /// Constant (section V-B, Fig. 8a).
    Fixed,
}

/// Which uncongested packets show that a congested flow shares its ingress port with victims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// All packets that came in by that port, also packets of the congested queue before it was congested (section
    /// III-B: one time for each ingress port).
    #[default]
    AnyQueue,
    /// Packets to other egress queues: only they can be blocked behind the flow (section III-B, Fig. 4a, where a flow
    /// that has its ports for itself is left alone).
    OtherQueue,
}

/// The end-to-end scheme under SRCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// DCQCN: a message cuts its current rate, and it recovers as after a CNP.
    #[default]
    Dcqcn,
    /// None: the rate doubles each `rise_interval` without a message.
    None,
}

/// What a message does to the scheme under SRCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Composition {
    /// It lowers the base's current rate, from which the base recovers (section III-E: "resets the target sending rate").
    #[default]
    Cut,
    /// Nothing: the sender takes the minimum of the base's rate and the targets in force.
    Cap,
}

/// Parameters of SRCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Srcc {
    /// Congestion threshold Q_cth of an egress queue. Default `dynamic` (SRCC, section III-C).
    pub threshold: Threshold,
    /// `fixed` only, and required there: the threshold, in bytes (SRCC, Fig. 8a: 40 % and 60 % of a buffer).
    pub fixed_threshold: Option<Bytes>,
    /// The PFC threshold Q_PFC of Eq. 4, in bytes. Default: Xoff of the packet's ingress port, at that moment if Xoff
    /// is dynamic.
    pub q_pfc: Option<Bytes>,
    /// The minimum threshold, in bytes. Default two full frames; the paper gives none, and Eq. 6 falls below zero.
    pub floor: Option<Bytes>,
    /// One-way delays N_TTL d that the queue goes on growing for, without unit. Default 1, the message's way (SRCC,
    /// section III-C); 2 counts the way of the slower data too.
    pub rtt_factor: Option<f64>,
    /// `dynamic` only: time constant of the measured arrival rate. Default 1 us; the paper gives none.
    pub rate_time: Option<Time>,
    /// Time window T within which an uncongested packet counts, in base RTTs. Default 3 (SRCC, section V-B, Fig. 8b).
    pub window_rtts: f64,
    /// Time after a flow's last packet for which the flow counts in the target C/n, in base RTTs. Default 3; the paper gives
    /// none.
    pub count_rtts: f64,
    /// Which uncongested packets count. Default `any_queue` (SRCC, section III-B).
    pub sharing: Sharing,
    /// Minimum time between two messages of a switch to a flow. Default one base RTT; the paper gives none.
    pub cnm_interval: Option<Time>,
    /// Time after a flow's last packet at which a switch's table forgets it, at least `count_rtts`. Default 10 ms;
    /// the paper gives none.
    pub flow_timeout: Time,
    /// Time for which a target limits its flow after the last message of its congestion point. Default three base RTTs;
    /// the paper gives none.
    pub target_timeout: Option<Time>,
    /// The end-to-end scheme by which a rate recovers (SRCC, section III-E). Default `dcqcn`.
    pub base: Base,
    /// `base = "dcqcn"` only: what a message does to the base. Default `cut`; the paper gives no rule.
    pub composition: Option<Composition>,
    /// `base = "dcqcn"` only: its parameters. Default those of scheme `dcqcn`.
    pub dcqcn: Option<Dcqcn>,
    /// `base = "none"` only: time without a message after which a rate doubles. Default one base RTT; the paper has
    /// none.
    pub rise_interval: Option<Time>,
}

impl Default for Srcc {
    fn default() -> Self {
        Srcc {
            threshold: Threshold::Dynamic,
            fixed_threshold: None,
            q_pfc: None,
            floor: None,
            rtt_factor: None,
            rate_time: None,
            window_rtts: 3.0,
            count_rtts: 3.0,
            sharing: Sharing::AnyQueue,
            cnm_interval: None,
            flow_timeout: Time::from_ms(10),
            target_timeout: None,
            base: Base::Dcqcn,
            composition: None,
            dcqcn: None,
            rise_interval: None,
        }
    }
}

impl Srcc {
    /// Refuses parameters that have no meaning beside the others.
    fn check_use(&self) -> Result<(), Violation> {
        let threshold = match self.threshold {
            Threshold::Dynamic => "dynamic",
            Threshold::Literal => "literal",
            Threshold::Fixed => "fixed",
        };
        let fixed = self.threshold == Threshold::Fixed;
        let by_threshold = [
            ("fixed_threshold", !fixed && self.fixed_threshold.is_some()),
            ("q_pfc", fixed && self.q_pfc.is_some()),
            ("floor", fixed && self.floor.is_some()),
            ("rtt_factor", fixed && self.rtt_factor.is_some()),
            ("rate_time", self.threshold != Threshold::Dynamic && self.rate_time.is_some()),
        ];
        let dcqcn = self.base == Base::Dcqcn;
        let base = if dcqcn { "dcqcn" } else { "none" };
        let by_base = [
            ("rise_interval", dcqcn && self.rise_interval.is_some()),
            ("composition", !dcqcn && self.composition.is_some()),
            ("dcqcn", !dcqcn && self.dcqcn.is_some()),
        ];
        let threshold =
            by_threshold.map(|(key, foreign)| (key, foreign, format!("threshold = \"{threshold}\"")));
        let base = by_base.map(|(key, foreign)| (key, foreign, format!("base = \"{base}\"")));
        match threshold.into_iter().chain(base).find(|(_, foreign, _)| *foreign) {
            Some((key, _, with)) => {
                Err(Violation::new(key, format!("has no meaning with `{with}`"), "to be left out"))
            }
            None => Ok(()),
        }
    }

    /// DCQCN's parameters, if DCQCN is the base.
    fn dcqcn(&self) -> Option<Dcqcn> {
        (self.base == Base::Dcqcn).then(|| self.dcqcn.clone().unwrap_or_default())
    }
}

impl Scheme for Srcc {
    const NAME: &'static str = "srcc";
    const TITLE: &'static str = "SRCC: target rates straight from switches to the flows that block others";
    const SOURCE: &'static str = "Hu et al., SRCC: Sub-RTT Congestion Control for Lossless Datacenter Networks, IEEE \
                                  Transactions on Industrial Informatics 2024";
    type Reaction = SrccSender;
    type Notification = CnpPacer;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        self.check_use()?;
        if self.threshold == Threshold::Fixed && self.fixed_threshold.is_none() {
            let found = "is \"fixed\" without a length";
            return Err(Violation::new("threshold", found, "`fixed_threshold` as well"));
        }
        let sizes = [("fixed_threshold", self.fixed_threshold), ("q_pfc", self.q_pfc), ("floor", self.floor)];
        for (key, size) in sizes {
            size.map_or(Ok(()), |b| check::bytes(key, b))?;
        }
        self.rtt_factor.map_or(Ok(()), |f| check::within("rtt_factor", f, 0.0, 100.0))?;
        check::above("window_rtts", self.window_rtts, 0.0, 1e6)?;
        check::above("count_rtts", self.count_rtts, 0.0, 1e6)?;
        check::time("flow_timeout", self.flow_timeout)?;
        let times = [
            ("rate_time", self.rate_time),
            ("cnm_interval", self.cnm_interval),
            ("target_timeout", self.target_timeout),
            ("rise_interval", self.rise_interval),
        ];
        for (key, time) in times {
            time.map_or(Ok(()), |t| check::time(key, t))?;
        }
        self.dcqcn.as_ref().map_or(Ok(()), |d| d.validate().map_err(|v| v.inside("dcqcn")))
    }

    fn resolve(mut self, env: &NetworkEnv) -> Self {
        let base_rtt = env.base_rtt.max(Time(1));
        if self.threshold != Threshold::Fixed {
            self.rtt_factor = self.rtt_factor.or(Some(1.0));
        }
        if self.threshold == Threshold::Dynamic {
            self.rate_time = self.rate_time.or(Some(Time::from_us(1)));
        }
        self.cnm_interval = self.cnm_interval.or(Some(base_rtt));
        self.target_timeout = self.target_timeout.or(Some(base_rtt * 3));
        if self.base == Base::None {
            self.rise_interval = self.rise_interval.or(Some(base_rtt));
        }
        if self.base == Base::Dcqcn {
            self.composition = self.composition.or(Some(Composition::Cut));
        }
        self.dcqcn = self.dcqcn().map(|dcqcn| dcqcn.resolve(env));
        self
    }

    fn signals(&self) -> Signals {
        let base = self.dcqcn().map_or(Signals::default(), |dcqcn| dcqcn.signals());
        let by_xoff = self.threshold != Threshold::Fixed && self.q_pfc.is_none();
        Signals { switch_point: true, pause_threshold: by_xoff, ..base }
    }
    fn reaction(&self, env: &FlowEnv) -> SrccSender {
        let base = match self.dcqcn() {
            Some(dcqcn) => sender::BaseSender::Dcqcn(dcqcn.reaction(env)),
            None => {
                let interval = self.rise_interval.unwrap_or(env.base_rtt).max(Time(1));
                sender::BaseSender::None(Doubling::new(env.line_rate, interval))
            }
        };
        SrccSender::new(
            base,
            self.composition.unwrap_or_default(),
            self.target_timeout.unwrap_or(env.base_rtt * 3),
        )
    }
    fn notification(&self, env: &FlowEnv) -> CnpPacer {
        self.dcqcn().map_or_else(CnpPacer::silent, |dcqcn| dcqcn.notification(env))
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
    fn switch(&self, env: &SwitchEnv) -> Option<Box<dyn SwitchPoint>> {
        let rtts = |count: f64| Time((env.base_rtt.0 as f64 * count) as u64).max(Time(1));
        let (window, count_window) = (rtts(self.window_rtts), rtts(self.count_rtts));
        let quota = match self.threshold {
            Threshold::Dynamic => Quota::Dynamic { time: self.rate_time.unwrap_or(Time::from_us(1)) },
            Threshold::Literal => Quota::Literal { recent: env.base_rtt },
            Threshold::Fixed => Quota::Fixed { bytes: self.fixed_threshold.map_or(u64::MAX, |b| b.0) },
        };
        Some(Box::new(SrccSwitch::new(
            env,
            switch::Settings {
                quota,
                q_pfc: self.q_pfc.map(|b| b.0),
                floor: self.floor.map_or(2 * env.frame, |b| b.0),
                rtt_factor: self.rtt_factor.unwrap_or(1.0),
                window,
                count_window,
                sharing: self.sharing,
                cnm_interval: self.cnm_interval.unwrap_or(env.base_rtt),
                flow_timeout: self.flow_timeout.max(count_window),
            },
        )))
    }
}
