//! PFT: proactive flow throttling at endpoints (Qi et al., PFT: A Congestion Avoidance Method based on Proactive Flow
//! Throttling at Endpoints).
//!
//! One controller serves a NIC port and all its traffic, and sees only used credits c. It is Normal or Congested
//! ([`state`]): by a fixed threshold on c (FT, Algorithm 1), or by the number of cycles of a window in which c was beyond a
//! threshold (AT, Algorithm 2). While Congested the interval between flits grows with c (section III.C):
//!
//! ```text
//! f(c) = (c << m >> n) + k
//! FI:  f(c) idle cycles after each flit: injection rate 1 / (1 + f(c))
//! RI:  a flit may go in a cycle if a random number r of b bits is at least f(c): injection rate max(0, 1 - f(c) / 2^b)
//! ```
//!
//! Packets go as a whole here: the next packet may begin when the flits of the last packet would have left, each flit at
//! the rate of its moment (with RI, at the mean rate). That is exact even if c changes in between.
//!
//! Readings. Algorithm 2 calls thresholds and windows alike: `c > T_e` is c > t_e. Its counters keep their values when
//! the state changes, so that with T_e' = T_s' the state Congested ends in the cycle in which it begins; [`Reading`]
//! offers the algorithm repaired and as printed. FT needs t_e >= t_s; AT does not, and the best setting of the paper,
//! 0x250 and 0x2a0, has t_e < t_s. Windows, counts and b are not in the paper: see their defaults. "The larger the n, the
//! smaller the injection rate" (section III.D) contradicts Equation 1, which is used here.

mod gate;
pub mod state;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Time, Violation};

use crate::check;
use crate::traits::{ThrottleEnv, ThrottleParams};
pub use gate::PftGate;
use gate::{Detection, Law};
use state::{Average, Limits};

/// What determines the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// AT: how many cycles of a window used credits were beyond a threshold (Algorithm 2).
    #[default]
    Average,
    /// FT: used credits at the moment (Algorithm 1).
    Fixed,
}

/// How flits are held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// RI: in each cycle with a probability.
    #[default]
    Random,
    /// FI: by a number of cycles.
    Fixed,
}

/// How Algorithm 2 is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Windows follow one another without a gap, and both counters begin anew with each window and each state.
    #[default]
    Repaired,
    /// Line by line: the counters keep their values when the state changes, and one cycle between two windows does not
    /// count.
    Literal,
}

/// Parameters of PFT. The defaults are the paper's best setting: AT-RI with m = 18, n = 0, k = 0, 0x250 and 0x2a0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pft {
    /// What determines the state: `average` (AT) or `fixed` (FT). Default `average`.
    pub threshold: Threshold,
    /// How flits are held back: `random` (RI) or `fixed` (FI). Default `random`.
    pub interval: Interval,
    /// Bits by which used credits are shifted left: m in Equation 1, without unit, at most 40. Default 18 with
    /// `random`, 0 with `fixed` (section III.D).
    pub m: Option<u32>,
    /// Bits by which they are then shifted right: n in Equation 1, without unit, at most 40. Default 0 with `random`,
    /// 10 with `fixed`, in the middle of the 8 to 12 that section III.D recommends.
    pub n: Option<u32>,
    /// What is added: k in Equation 1, in cycles or in units of the random number. Default 0.
    pub k: u64,
    /// t_e: used credits above which the port becomes Congested, in the unit of flow control. Default 592 (0x250,
    /// section IV.C).
    pub threshold_enter: Option<u64>,
    /// t_s: used credits below which it becomes Normal, at most `threshold_enter` with `fixed`. Default 672 (0x2a0,
    /// section IV.C) with `average`, 592 with `fixed`.
    pub threshold_escape: Option<u64>,
    /// `average` only: T_e, the window of the Normal state, in cycles, from 2 to 1,000,000. Default 1024, 1.46 us (not
    /// in the paper).
    pub enter_window: Option<u64>,
    /// `average` only: T_e', the cycles of that window above `threshold_enter` that make it Congested, below the
    /// window. Default 512 (not in the paper).
    pub enter_count: Option<u64>,
    /// `average` only: T_s, the window of the Congested state, in cycles, from 2 to 1,000,000. Default 1024 (not in the
    /// paper).
    pub escape_window: Option<u64>,
    /// `average` only: T_s', the cycles of that window below `threshold_escape` that make it Normal, below the window.
    /// Default 512 (not in the paper).
    pub escape_count: Option<u64>,
    /// `average` only: how Algorithm 2 is read. Default `repaired`.
    pub reading: Option<Reading>,
    /// `random` only: b, the random number's width in bits, from 1 to 40. Default 28 (not in the paper: with it m =
    /// 15 to 22 all have a visible effect up to 4096 credits, as section III.D says of them).
    pub random_bits: Option<u32>,
    /// The core's clock in MHz, from 1 to 100,000: windows count its cycles. Default 700 (section IV.B).
    pub clock_mhz: Option<u32>,
    /// Bytes of a flit, of which one may go in a cycle: a packet takes as many cycles as it has flits, and 1 + f(c)
    /// times as many while held back by `fixed`. Default what the link carries in a cycle, so that with f(c) = 0
    /// nothing is held back; a flit of 16 B at 700 MHz would hold back 100 Gb/s to 89.6.
    pub flit: Option<Bytes>,
}

/// Maximum bits of a shift or a random number.
const MAX_BITS: u32 = 40;
/// The longest window, in cycles.
const LONGEST_WINDOW: u64 = 1_000_000;
/// The fastest clock, in MHz.
const FASTEST_CLOCK: u32 = 100_000;

impl Pft {
    fn shifts(&self) -> (u32, u32) {
        let (m, n) = match self.interval {
            Interval::Random => (18, 0),
            Interval::Fixed => (0, 10),
        };
        (self.m.unwrap_or(m), self.n.unwrap_or(n))
    }

    fn limits(&self) -> Limits {
        let escape = match self.threshold {
            Threshold::Average => 672,
            Threshold::Fixed => 592,
        };
        Limits {
            enter: self.threshold_enter.unwrap_or(592),
            escape: self.threshold_escape.unwrap_or(escape),
            enter_window: self.enter_window.unwrap_or(1_024),
            enter_count: self.enter_count.unwrap_or(512),
            escape_window: self.escape_window.unwrap_or(1_024),
            escape_count: self.escape_count.unwrap_or(512),
        }
    }

    fn clock_mhz(&self) -> u32 {
        self.clock_mhz.unwrap_or(700)
    }

    fn law(&self) -> Law {
        let (m, n) = self.shifts();
        let bits = match self.interval {
            Interval::Random => Some(self.random_bits.unwrap_or(28)),
            Interval::Fixed => None,
        };
        Law { m, n, k: self.k, bits }
    }

    /// Share of the line rate at which a Congested port with `used` credits injects (Figure 1).
    pub fn injection_rate(&self, used: u64) -> f64 {
        let (allowed, of) = self.law().share(used);
        allowed as f64 / of as f64
    }

    /// Refuses parameters that the chosen strategies do not use.
    fn check_unused(&self) -> Result<(), Violation> {
        let windows = [
            ("enter_window", self.enter_window.is_some()),
            ("enter_count", self.enter_count.is_some()),
            ("escape_window", self.escape_window.is_some()),
            ("escape_count", self.escape_count.is_some()),
            ("reading", self.reading.is_some()),
        ];
        let refuse = |key: &'static str, with: &str| {
            Err(Violation::new(key, format!("has no meaning with `{with}`"), "to be left out"))
        };
        if self.threshold == Threshold::Fixed
            && let Some((key, _)) = windows.iter().find(|(_, given)| *given)
        {
            return refuse(key, "threshold = \"fixed\"");
        }
        if self.interval == Interval::Fixed && self.random_bits.is_some() {
            return refuse("random_bits", "interval = \"fixed\"");
        }
        Ok(())
    }

    fn check_windows(&self) -> Result<(), Violation> {
        let l = self.limits();
        for (window_key, window, count_key, count) in [
            ("enter_window", l.enter_window, "enter_count", l.enter_count),
            ("escape_window", l.escape_window, "escape_count", l.escape_count),
        ] {
            bounds(window_key, window, 2, LONGEST_WINDOW)?;
            if count == 0 || count >= window {
                let expected = format!("1 to {}, fewer cycles than `{window_key}`", window - 1);
                return Err(Violation::new(count_key, format!("is {count}"), expected));
            }
        }
        if self.threshold == Threshold::Fixed && l.escape > l.enter {
            let expected = format!("at most `threshold_enter`, {}, with `threshold = \"fixed\"`", l.enter);
            return Err(Violation::new("threshold_escape", format!("is {}", l.escape), expected));
        }
        Ok(())
    }
}

/// Refuses a number outside `min..=max`.
fn bounds(key: &'static str, value: u64, min: u64, max: u64) -> Result<(), Violation> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(Violation::new(key, format!("is {value}"), format!("a number from {min} to {max}")))
}

impl ThrottleParams for Pft {
    const NAME: &'static str = "pft";
    const TITLE: &'static str = "PFT: holds back injection by used credits alone";
    const SOURCE: &'static str =
        "Qi et al., PFT: A Congestion Avoidance Method based on Proactive Flow Throttling at Endpoints";
    type Throttle = PftGate;

    fn validate(&self) -> Result<(), Violation> {
        self.check_unused()?;
        let (m, n) = self.shifts();
        for (key, bits) in [("m", m), ("n", n)] {
            bounds(key, bits.into(), 0, MAX_BITS.into())?;
        }
        self.random_bits.map_or(Ok(()), |b| bounds("random_bits", b.into(), 1, MAX_BITS.into()))?;
        self.check_windows()?;
        bounds("clock_mhz", self.clock_mhz().into(), 1, FASTEST_CLOCK.into())?;
        self.flit.map_or(Ok(()), |flit| check::bytes("flit", flit))
    }

    fn idle_up_to(&self) -> u64 {
        self.limits().enter
    }

    fn resolve(mut self) -> Self {
        let (l, (m, n)) = (self.limits(), self.shifts());
        (self.m, self.n) = (Some(m), Some(n));
        (self.threshold_enter, self.threshold_escape) = (Some(l.enter), Some(l.escape));
        self.clock_mhz = Some(self.clock_mhz());
        if self.threshold == Threshold::Average {
            (self.enter_window, self.enter_count) = (Some(l.enter_window), Some(l.enter_count));
            (self.escape_window, self.escape_count) = (Some(l.escape_window), Some(l.escape_count));
            self.reading = self.reading.or(Some(Reading::default()));
        }
        self.random_bits = self.law().bits;
        self
    }

    fn throttle(&self, env: &ThrottleEnv) -> PftGate {
        let limits = self.limits();
        let detection = match self.threshold {
            Threshold::Fixed => {
                Detection::Fixed { enter: limits.enter, escape: limits.escape, congested: false }
            }
            Threshold::Average => Detection::Average(Average::new(self.reading.unwrap_or_default(), limits)),
        };
        PftGate {
            rate: env.rate,
            clock_mhz: self.clock_mhz().into(),
            flit: self.flit.map(|b| b.0),
            law: self.law(),
            detection,
            used: 0,
            cycle: 0,
            now: Time::ZERO,
            work: 0,
        }
    }
}
