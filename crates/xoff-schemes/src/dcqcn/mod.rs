//! DCQCN: ECN-based rate control for RoCEv2 (Zhu et al., SIGCOMM 2015), and the form that NVIDIA (Mellanox) NICs
//! ship, as in the simulator of HPCC's authors.
//!
//! - [`paper`]: CNPs cut the rate at once; a timer and a byte counter raise it.
//! - [`mellanox`]: marks come back on ACKs; three timers update α, cut and raise.
//! - [`notification`]: the receiver's CNPs, for the paper's form.
//!
//! Both start at line rate without a window. The congestion point is a detector of its own, RED in both sources.
//!
//! # Reordering
//!
//! CNPs and marks count when they come; nothing is compared with the order of packets. Of the marks on ACKs only
//! whether one came in a period counts.
//!
//! # Idle
//!
//! Rate, α and timers belong to the QP (section 3.1), and the sources tie the timers to CNPs and time alone, not to
//! packets. So they run on: α decays, a pending cut is made, and the rate recovers up to line rate. The byte counter
//! counts sent bytes, so it does not change. Adapters that drop a QP's state after a while are not modelled.

pub mod mellanox;
pub mod notification;
pub mod paper;
pub mod rates;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use crate::check;
use crate::detector::red::Red;
use crate::signals::Signals;
use crate::traits::{Ack, Cnm, Cnp, FlowEnv, NetworkEnv, NoOp, PortEnv, ReactionPoint, Scheme, Sent};
use notification::CnpPacer;

/// Which of the two algorithms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// The published algorithm (SIGCOMM 2015, section 3).
    #[default]
    Paper,
    /// NVIDIA (Mellanox) firmware as in the simulator of HPCC's authors.
    Mellanox,
}

/// When a receiver sends CNPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Np {
    /// At once for the first marked packet, then at the end of each interval that has brought another one
    /// (SIGCOMM 2015, section 3.1).
    Immediate,
    /// At the end of each interval with a marked packet, counted from the flow's first packet (the simulators
    /// that descend from the authors').
    Periodic,
}

/// What a sender does on a CNP that reports an undetermined port, which only ternary detection sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Undetermined {
    /// Restarts recovery from the current rate and leaves rate and α as they are (TCD's released simulator).
    Hold,
    /// Nothing at all (TCD, section 4, read literally).
    Ignore,
}

/// Parameters of DCQCN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dcqcn {
    /// Which of the two algorithms. Default `paper`.
    pub variant: Variant,
    /// Gain g of the congestion estimate α, without unit, above 0 and at most 1. Default 1/256 (both sources).
    pub g: f64,
    /// α at a flow's first CNP, without unit, from 0 to 2. Default 1 (both sources); 0.5 in the simulator on which TCD
    /// builds.
    pub initial_alpha: f64,
    /// Period of the updates of α: in `paper` the time without a CNP after which α decays, in `mellanox` unconditional.
    /// Default 55 us in `paper` (SIGCOMM 2015, section 3.1), 1 us in `mellanox`.
    pub alpha_timer: Option<Time>,
    /// `mellanox` only: period at which a pending cut is made. Default 4 us.
    pub decrease_timer: Option<Time>,
    /// Period of the increase timer. Default 55 us in `paper`, 300 us in `mellanox`.
    pub increase_timer: Option<Time>,
    /// `paper` only: bytes sent for one step of the byte counter. Default 10 MB.
    pub byte_counter: Option<Bytes>,
    /// Steps of fast recovery: F, without unit. Default 5 in `paper`, 1 in `mellanox`.
    pub f: Option<u32>,
    /// Step R_AI of additive increase, in bits a second. Default 1 Mb/s for each Gb/s of line rate in `paper`: the paper's 40
    /// Mb/s at 40 Gb/s (SIGCOMM 2015), in proportion to the rate as the steps of HPCC's authors are; in `mellanox` 5 Mb/s for
    /// each 25 Gb/s (HPCC's authors).
    pub r_ai: Option<Rate>,
    /// Step R_HAI of hyper increase, in bits a second. Default five times R_AI's default in `paper` (200 Mb/s at 40 Gb/s in the
    /// simulators' settings, the paper has no number), 50 Mb/s for each 25 Gb/s of line rate in `mellanox` (HPCC's authors).
    pub r_hai: Option<Rate>,
    /// Hyper increase follows additive increase. Default true.
    pub hyper: bool,
    /// The minimum rate, in bits a second. Default 100 Mb/s.
    pub min_rate: Rate,
    /// Every cut sets the target rate to the rate before the cut; otherwise only a cut that follows an increase does.
    /// Default true in `paper`, false in `mellanox`.
    pub clamp_target: Option<bool>,
    /// Limits the bytes in flight to the NIC's bandwidth-delay product times rate over line rate (`dcqcn_vwin`
    /// of HPCC's authors). Default false.
    pub window: bool,
    /// `mellanox` only: rates are whole bits a second, halves rounded down, as in the simulator of HPCC's authors.
    /// Default false.
    pub whole_bits: bool,
    /// `paper` only: when the receiver sends CNPs. Default `immediate`.
    pub np: Option<Np>,
    /// `paper` only: minimum time between two CNPs of a flow. Default 50 us (SIGCOMM 2015, section 3.1).
    pub cnp_interval: Option<Time>,
    /// `paper` only: what a CNP that reports an undetermined port does. Default `hold`.
    pub undetermined: Option<Undetermined>,
}

impl Default for Dcqcn {
    fn default() -> Self {
        Dcqcn {
            variant: Variant::Paper,
            g: 1.0 / 256.0,
            initial_alpha: 1.0,
            alpha_timer: None,
            decrease_timer: None,
            increase_timer: None,
            byte_counter: None,
            f: None,
            r_ai: None,
            r_hai: None,
            hyper: true,
            min_rate: Rate::from_mbps(100),
            clamp_target: None,
            window: false,
            whole_bits: false,
            np: None,
            cnp_interval: None,
            undetermined: None,
        }
    }
}

impl Dcqcn {
    /// The paper's settings, with defaults filled in.
    fn paper(&self, line_rate: Rate) -> paper::Settings {
        paper::Settings {
            g: self.g,
            initial_alpha: self.initial_alpha,
            alpha_timer: self.alpha_timer.unwrap_or(Time::from_us(55)),
            increase_timer: self.increase_timer.unwrap_or(Time::from_us(55)),
            byte_counter: self.byte_counter.unwrap_or(Bytes(10_000_000)),
            f: self.f.unwrap_or(5),
            // 40 and 200 Mb/s at 40 Gb/s.
            r_ai: self.r_ai.unwrap_or(Rate(line_rate.0 / 1_000)),
            r_hai: self.r_hai.unwrap_or(Rate(line_rate.0 / 200)),
            hyper: self.hyper,
            clamp_target: self.clamp_target.unwrap_or(true),
            undetermined: self.undetermined.unwrap_or(Undetermined::Hold),
        }
    }

    /// The settings of `mellanox`, with defaults filled in.
    fn mellanox(&self, line_rate: Rate) -> mellanox::Settings {
        mellanox::Settings {
            g: self.g,
            initial_alpha: self.initial_alpha,
            alpha_timer: self.alpha_timer.unwrap_or(Time::from_us(1)),
            decrease_timer: self.decrease_timer.unwrap_or(Time::from_us(4)),
            increase_timer: self.increase_timer.unwrap_or(Time::from_us(300)),
            f: self.f.unwrap_or(1),
            // 5 and 50 Mb/s for each 25 Gb/s.
            r_ai: self.r_ai.unwrap_or(Rate(line_rate.0 / 5_000)),
            r_hai: self.r_hai.unwrap_or(Rate(line_rate.0 / 500)),
            hyper: self.hyper,
            clamp_target: self.clamp_target.unwrap_or(false),
        }
    }

    /// Rule and interval of the receiver's CNPs in the paper's form, with defaults filled in.
    fn cnps(&self) -> (Np, Time) {
        (self.np.unwrap_or(Np::Immediate), self.cnp_interval.unwrap_or(Time::from_us(50)))
    }

    /// Refuses parameters that the chosen variant does not have.
    fn check_variant(&self) -> Result<(), Violation> {
        let (name, foreign): (_, &[(&'static str, bool)]) = match self.variant {
            Variant::Paper => (
                "paper",
                &[("decrease_timer", self.decrease_timer.is_some()), ("whole_bits", self.whole_bits)],
            ),
            Variant::Mellanox => (
                "mellanox",
                &[
                    ("byte_counter", self.byte_counter.is_some()),
                    ("np", self.np.is_some()),
                    ("cnp_interval", self.cnp_interval.is_some()),
                    ("undetermined", self.undetermined.is_some()),
                ],
            ),
        };
        match foreign.iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(Violation::new(
                *key,
                format!("has no meaning with `variant = \"{name}\"`"),
                "to be left out",
            )),
            None => Ok(()),
        }
    }
}

/// DCQCN's sender.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// The published algorithm.
    Paper(paper::Sender),
    /// NVIDIA (Mellanox) firmware.
    Mellanox(mellanox::Sender),
}

impl ReactionPoint for Reaction {
    #[inline]
    fn on_send(&mut self, sent: &Sent) {
        if let Reaction::Paper(sender) = self {
            sender.on_send(sent);
        }
    }
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if let Reaction::Mellanox(sender) = self {
            sender.on_ack(ack);
        }
    }
    fn on_cnp(&mut self, now: Time, cnp: &Cnp) {
        if let Reaction::Paper(sender) = self {
            sender.on_cnp(now, cnp.mark);
        }
    }
    /// For schemes with DCQCN as their base: the current rate falls to what a switch grants, the target rate and α
    /// stay, and recovery restarts.
    fn on_cnm(&mut self, now: Time, cnm: &Cnm) {
        match self {
            Reaction::Paper(sender) => sender.grant(now, cnm.rate),
            Reaction::Mellanox(sender) => sender.grant(now, cnm.rate),
        }
    }
    fn on_busy(&mut self, now: Time) {
        self.on_timer(now);
    }
    fn on_timer(&mut self, now: Time) {
        match self {
            Reaction::Paper(sender) => sender.advance(now),
            Reaction::Mellanox(sender) => sender.advance(now),
        }
    }
    #[inline]
    fn next_timer(&self) -> Time {
        match self {
            Reaction::Paper(sender) => sender.next_timer(),
            Reaction::Mellanox(sender) => sender.next_timer(),
        }
    }
    #[inline]
    fn rate(&self) -> Rate {
        match self {
            Reaction::Paper(sender) => sender.rates().rate(),
            Reaction::Mellanox(sender) => sender.rates().rate(),
        }
    }
    #[inline]
    fn window(&self) -> u64 {
        match self {
            Reaction::Paper(sender) => sender.rates().window(),
            Reaction::Mellanox(sender) => sender.rates().window(),
        }
    }
    fn variables(&self, now: Time, probe: &mut dyn FnMut(&str, f64)) {
        match self {
            Reaction::Paper(sender) => {
                probe("alpha", sender.alpha(now));
                probe("target_bps", sender.rates().target().bps() as f64);
            }
            Reaction::Mellanox(sender) => probe("target_bps", sender.rates().target().bps() as f64),
        }
    }
}

impl Scheme for Dcqcn {
    const NAME: &'static str = "dcqcn";
    const TITLE: &'static str = "DCQCN: rate from congestion notification packets on ECN marks";
    const SOURCE: &'static str =
        "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015";
    type Reaction = Reaction;
    type Notification = CnpPacer;
    type Congestion = NoOp;
    type DefaultDetector = Red;

    fn validate(&self) -> Result<(), Violation> {
        self.check_variant()?;
        check::above("g", self.g, 0.0, 1.0)?;
        check::within("initial_alpha", self.initial_alpha, 0.0, 2.0)?;
        check::rate("min_rate", self.min_rate)?;
        let times = [
            ("alpha_timer", self.alpha_timer),
            ("decrease_timer", self.decrease_timer),
            ("increase_timer", self.increase_timer),
            ("cnp_interval", self.cnp_interval),
        ];
        for (key, time) in times {
            time.map_or(Ok(()), |t| check::time(key, t))?;
        }
        for (key, rate) in [("r_ai", self.r_ai), ("r_hai", self.r_hai)] {
            rate.map_or(Ok(()), |r| check::rate(key, r))?;
        }
        self.byte_counter.map_or(Ok(()), |b| check::bytes("byte_counter", b))
    }

    fn resolve(mut self, env: &NetworkEnv) -> Self {
        match self.variant {
            Variant::Paper => {
                let s = self.paper(env.line_rate);
                let (np, interval) = self.cnps();
                self.alpha_timer = Some(s.alpha_timer);
                self.increase_timer = Some(s.increase_timer);
                self.byte_counter = Some(s.byte_counter);
                self.f = Some(s.f);
                (self.r_ai, self.r_hai) = (Some(s.r_ai), Some(s.r_hai));
                self.clamp_target = Some(s.clamp_target);
                self.undetermined = Some(s.undetermined);
                (self.np, self.cnp_interval) = (Some(np), Some(interval));
            }
            Variant::Mellanox => {
                let s = self.mellanox(env.line_rate);
                self.alpha_timer = Some(s.alpha_timer);
                self.decrease_timer = Some(s.decrease_timer);
                self.increase_timer = Some(s.increase_timer);
                self.f = Some(s.f);
                (self.r_ai, self.r_hai) = (Some(s.r_ai), Some(s.r_hai));
                self.clamp_target = Some(s.clamp_target);
            }
        }
        self
    }

    fn signals(&self) -> Signals {
        Signals { ecn: true, acks: self.variant == Variant::Mellanox, ..Signals::default() }
    }
    fn reaction(&self, env: &FlowEnv) -> Reaction {
        let rates = rates::Rates::new(env, self.min_rate, self.window, self.whole_bits);
        match self.variant {
            Variant::Paper => Reaction::Paper(paper::Sender::new(self.paper(env.line_rate), rates)),
            Variant::Mellanox => {
                Reaction::Mellanox(mellanox::Sender::new(self.mellanox(env.line_rate), rates))
            }
        }
    }
    fn notification(&self, _: &FlowEnv) -> CnpPacer {
        match self.variant {
            Variant::Paper => {
                let (np, interval) = self.cnps();
                CnpPacer::new(np, interval)
            }
            Variant::Mellanox => CnpPacer::silent(),
        }
    }
    fn congestion(&self, _: &PortEnv) -> NoOp {
        NoOp
    }
}
