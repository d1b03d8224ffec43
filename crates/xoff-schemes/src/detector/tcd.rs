//! TCD: ternary congestion detection (Zhang et al., Congestion Detection in Lossless Networks, SIGCOMM 2021).
//!
//! [`super::ternary`] holds the states; this file holds their numbers and the marks. If thresholds stop the port (PFC),
//! max(T_on) follows from the link (Equation 3, section 4.3):
//!
//! ```text
//! max(T_on) = (2 (B_1 - B_0) + tau C) / (2 epsilon C) + tau,   tau = 2 MTU / C + 2 t_p
//! ```
//!
//! If a lack of credits stops the port and credits are updated in periods (InfiniBand), max(T_on) is the period T_c: no
//! ON is longer while a port waits for each update (Equation 5 ff., section 4.4). OFF lasts from the moment at which
//! the next packet lacks credits to the update that lets it go.
//!
//! TCD wraps the marking of the scheme that it serves, RED on Ethernet and FECN on InfiniBand. In FECN's place its
//! marks have two bits: CE for a congested port, UE for an undetermined one.
//!
//! Paper and released simulator differ. [`Rules`] are the rules of either, and these are their numbers for links of 40
//! Gbps and 4 us: `max_on` 100.4 us by the equation, 97 us in the simulator's settings; `low` is not in the paper, and
//! two frames in the simulator; growth is any in the paper, 0.9 MTU in the simulator. If the paper has no number, the
//! threshold of the marking that TCD wraps is taken: no packet is marked CE up to K_min, or up to FECN's threshold.
//! FECN's threshold is many packets long, so with FECN `low` is two frames with the paper's rules too.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time, Violation};

use super::fecn::{Fecn, FecnMarker};
use super::red::{Red, RedMarker};
use super::ternary::{Limits, Rules, Ternary};
use crate::check;
use crate::signals::Mark;
use crate::traits::{Detector, DetectorParams, PacketView, PortEnv, PortState, QueueView};

/// Parameters of TCD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tcd {
    /// Whose rules: the paper's, or those of the simulator that its authors released. Default `paper`.
    pub rules: Rules,
    /// max(T_on): an egress that was stopped within this time is undetermined. Default by Equation 3 from the link and
    /// its flow control; if credits are updated in periods, the period over `share` (section 4.4).
    pub max_on: Option<Time>,
    /// Equation 3: the minimum congestion degree epsilon of a flow that TCD is to detect, as a share of the link's
    /// rate, above 0 and at most 1. Default 0.05 (section 4.2).
    pub epsilon: f64,
    /// Equation 3: response time tau until a stop or a go takes effect. Default 2 MTU/C + 2 t_p of the link (section
    /// 4.3).
    pub tau: Option<Time>,
    /// Equation 3: B_1 - B_0, the distance between the lengths that pause and resume the sender, in bytes. Default that
    /// of PFC: Xoff less Xon, or `resume_offset` with dynamic thresholds.
    pub hysteresis: Option<Bytes>,
    /// Equation 3: the share of the link's rate that the priority may expect, above 0 and at most 1; max(T_on) is
    /// divided by it. Default 1 (section 4.5: "according to the expected proportion").
    pub share: f64,
    /// Period T at which the length of a queue is examined after it was undetermined. Default max(T_on) (section 4.3).
    pub period: Option<Time>,
    /// Queue length up to which a queue that was undetermined is not congested, in bytes. Default RED's K_min with the
    /// paper's rules, two frames with FECN or with the rules of the released simulator.
    pub low: Option<Bytes>,
    /// `paper` only: queue length above which growth means congestion, in bytes. Default RED's K_min or FECN's
    /// threshold: the paper says "the threshold", and up to there nothing is marked.
    pub high: Option<Bytes>,
    /// The minimum growth of the queue in a period that counts as growth, in bytes; with 0 a queue that has not fallen
    /// counts (section 4.1: "otherwise, the port transits to the congestion state"). Default 1 B with the paper's rules
    /// (section 4.2: "if the queue length increases"), 0.9 of a frame's payload with those of the released simulator.
    pub rise: Option<Bytes>,
    /// RED, if TCD wraps RED: it decides on CE while the port is not undetermined. Default: the
    /// scheme's own marking, RED or FECN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub red: Option<Red>,
    /// FECN, if TCD wraps FECN in place of RED.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fecn: Option<Fecn>,
}

impl Default for Tcd {
    fn default() -> Self {
        Tcd {
            rules: Rules::Paper,
            max_on: None,
            epsilon: 0.05,
            tau: None,
            hysteresis: None,
            share: 1.0,
            period: None,
            low: None,
            high: None,
            rise: None,
            red: None,
            fecn: None,
        }
    }
}

impl Tcd {
    /// Wraps FECN with these parameters, unless the scenario gives the marking to wrap.
    pub(super) fn wrap_fecn(mut self, fecn: &Fecn) -> Self {
        if self.red.is_none() && self.fecn.is_none() {
            self.fecn = Some(fecn.clone());
        }
        self
    }

    /// Wraps RED, unless the scenario gives the marking to wrap.
    pub(super) fn wrap_red(mut self) -> Self {
        if self.red.is_none() && self.fecn.is_none() {
            self.red = Some(Red::default());
        }
        self
    }

    /// max(T_on) at a port, given or by Equation 3.
    pub fn max_on(&self, port: &PortEnv) -> Time {
        if let Some(given) = self.max_on {
            return given;
        }
        if let Some(period) = port.credit_period {
            return Time((period.0 as f64 / self.share + 0.5) as u64);
        }
        let bits_per_ps = port.rate.0 as f64 / 1e12;
        let frame = Bytes(port.frame);
        let tau = self.tau.unwrap_or_else(|| port.rate.serialization(frame.0) * 2 + port.delay * 2).0 as f64;
        let band = self.hysteresis.or(port.hysteresis).unwrap_or(Bytes(2 * frame.0)).0 as f64 * 8.0;
        let expected = (2.0 * band + tau * bits_per_ps) / (2.0 * self.epsilon * bits_per_ps) + tau;
        Time((expected / self.share + 0.5) as u64)
    }
}

/// The marking that TCD wraps.
#[derive(Clone, Debug)]
enum Own {
    Red(RedMarker),
    Fecn(FecnMarker),
}

impl Own {
    fn on_dequeue(&mut self, queue: &QueueView, packet: &PacketView) -> Mark {
        match self {
            Own::Red(red) => red.on_dequeue(queue, packet),
            Own::Fecn(fecn) => fecn.on_dequeue(queue, packet),
        }
    }

    fn is_by_chance(&self, queue: &QueueView) -> bool {
        match self {
            Own::Red(red) => red.is_by_chance(queue),
            Own::Fecn(fecn) => fecn.is_by_chance(queue),
        }
    }

    fn unmarked_bytes(&self) -> Option<u64> {
        match self {
            Own::Red(red) => red.unmarked_bytes(),
            Own::Fecn(fecn) => fecn.unmarked_bytes(),
        }
    }
}

/// TCD at an egress queue.
#[derive(Clone, Debug)]
pub struct TcdMarker {
    ternary: Ternary,
    own: Own,
}

impl TcdMarker {
    /// The numbers of the queue's state machine.
    pub fn limits(&self) -> &Limits {
        self.ternary.limits()
    }
}

impl Detector for TcdMarker {
    #[inline]
    fn on_dequeue(&mut self, queue: &QueueView, packet: &PacketView) -> Mark {
        let own = &mut self.own;
        self.ternary.on_dequeue(queue.now, queue.bytes, || own.on_dequeue(queue, packet))
    }
    fn is_by_chance(&self, queue: &QueueView) -> bool {
        self.own.is_by_chance(queue)
    }
    fn unmarked_bytes(&self) -> Option<u64> {
        self.own.unmarked_bytes()
    }
    fn on_resume(&mut self, queue: &QueueView, _packets: &dyn Fn() -> u64) {
        self.ternary.on_resume(queue.now, queue.bytes);
    }
    fn state(&self) -> Option<PortState> {
        Some(self.ternary.state())
    }
}

impl DetectorParams for Tcd {
    const NAME: &'static str = "tcd";
    const TITLE: &'static str = "TCD: tells congestion from pauses, marks CE and UE";
    const SOURCE: &'static str = "Zhang et al., Congestion Detection in Lossless Networks, SIGCOMM 2021";
    const HAS_STATES: bool = true;
    const NEEDS_PAUSES: bool = true;
    type Detector = TcdMarker;

    fn validate(&self) -> Result<(), Violation> {
        check::above("epsilon", self.epsilon, 0.0, 1.0)?;
        check::above("share", self.share, 0.0, 1.0)?;
        for (key, time) in [("max_on", self.max_on), ("tau", self.tau), ("period", self.period)] {
            time.map_or(Ok(()), |t| check::time(key, t))?;
        }
        self.check_unused()?;
        if let (Some(low), Some(high)) = (self.low, self.high)
            && low > high
        {
            return Err(Violation::new("low", format!("is {low}"), format!("at most `high`, {high}")));
        }
        match (&self.red, &self.fecn) {
            (Some(_), Some(_)) => {
                Err(Violation::new("fecn", "stands beside `red`", "one of them, as TCD wraps one marking"))
            }
            (Some(red), None) => red.validate().map_err(|v| v.inside("red")),
            (None, Some(fecn)) => fecn.validate().map_err(|v| v.inside("fecn")),
            (None, None) => Ok(()),
        }
    }

    fn accepts(&self, rate: Rate) -> Result<(), Violation> {
        self.red.as_ref().map_or(Ok(()), |red| red.accepts(rate).map_err(|v| v.inside("red")))
    }

    fn detector(&self, env: &PortEnv) -> TcdMarker {
        let max_on = self.max_on(env);
        let two_frames = 2 * env.frame;
        let (own, threshold, low) = match &self.fecn {
            Some(fecn) => (Own::Fecn(fecn.detector(env)), fecn.threshold.0, two_frames),
            None => {
                let red = self.red.clone().unwrap_or_default().detector(env);
                let k_min = red.k_min();
                (Own::Red(red), k_min, k_min)
            }
        };
        let (low, rise) = match self.rules {
            Rules::Paper => (low, 1),
            Rules::Code => (two_frames, env.payload * 9 / 10),
        };
        let low = self.low.map_or_else(|| self.high.map_or(low, |high| low.min(high.0)), |b| b.0);
        let limits = Limits {
            max_on,
            period: self.period.unwrap_or(max_on),
            low,
            high: self.high.map_or_else(|| threshold.max(low), |b| b.0),
            rise: self.rise.map_or(rise, |b| b.0),
        };
        TcdMarker { ternary: Ternary::new(self.rules, limits), own }
    }
}

impl Tcd {
    /// Refuses parameters that have no meaning beside the others.
    fn check_unused(&self) -> Result<(), Violation> {
        if self.rules == Rules::Code && self.high.is_some() {
            let found = "has no meaning with `rules = \"code\"`";
            return Err(Violation::new("high", found, "to be left out"));
        }
        if self.max_on.is_none() {
            return Ok(());
        }
        let default = Tcd::default();
        for (key, set) in [
            ("epsilon", self.epsilon != default.epsilon),
            ("tau", self.tau.is_some()),
            ("hysteresis", self.hysteresis.is_some()),
            ("share", self.share != default.share),
        ] {
            if set {
                return Err(Violation::new(key, "has no meaning beside `max_on`", "one of the two"));
            }
        }
        Ok(())
    }
}
