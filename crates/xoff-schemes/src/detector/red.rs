//! RED as in ECN switches for DCQCN: by the momentary queue length, as a packet leaves (Floyd and Jacobson,
//! ToN 1993, without its average; DCQCN, SIGCOMM 2015, section 3.1, Figure 5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Violation};

use crate::check;
use crate::signals::Mark;
use crate::traits::{Detector, DetectorParams, MarkingRandom, PacketView, PortEnv, QueueView};

/// Parameters of RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Red {
    /// Queue length up to which nothing is marked, in bytes. Given together with `k_max`. Default 100 KB for each
    /// 25 Gb/s of the port (production values, after HPCC's authors).
    pub k_min: Option<Bytes>,
    /// Queue length above which everything is marked, in bytes. Given together with `k_min`. Default 400 KB for
    /// each 25 Gb/s of the port (production values, after HPCC's authors).
    pub k_max: Option<Bytes>,
    /// Probability of a mark at `k_max`, towards which it rises linearly from `k_min`; without unit, from 0 to 1.
    /// Default 0.2 (production value, after HPCC's authors).
    pub p_max: f64,
    /// Thresholds by the port's rate, in place of `k_min` and `k_max`; the rate of every switch port must be
    /// listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RedAtRate>,
    /// Queue length for each 10 Gb/s of the port up to which nothing is marked, and above which everything is, in
    /// bytes: DCTCP's K, in place of `k_min`, `k_max` and `rates`. Default: none, but 30 KB under `dctcp` if the
    /// scenario names no detector (HPCC's authors).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Bytes>,
    /// Ports that lead to hosts mark nothing, as where receivers grant credit for them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spares_hosts: bool,
}

impl Default for Red {
    fn default() -> Self {
        Red { k_min: None, k_max: None, p_max: P_MAX, rates: Vec::new(), step: None, spares_hosts: false }
    }
}

const P_MAX: f64 = 0.2;

/// RED's thresholds at ports of one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedAtRate {
    /// The port's rate, in bits a second.
    pub rate: Rate,
    /// Queue length up to which nothing is marked, in bytes.
    pub k_min: Bytes,
    /// Queue length above which everything is marked, in bytes.
    pub k_max: Bytes,
    /// Probability of a mark at `k_max`; `None` for the detector's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_max: Option<f64>,
}

/// RED at an egress queue.
#[derive(Clone, Debug)]
pub struct RedMarker {
    k_min: u64,
    k_max: u64,
    /// Probability for each byte above `k_min`.
    slope: f64,
    random: MarkingRandom,
}

impl RedMarker {
    /// Queue length up to which nothing is marked, in bytes.
    pub fn k_min(&self) -> u64 {
        self.k_min
    }
}

impl Detector for RedMarker {
    #[inline]
    fn on_dequeue(&mut self, queue: &QueueView, _packet: &PacketView) -> Mark {
        if queue.bytes <= self.k_min {
            return Mark::None;
        }
        if queue.bytes > self.k_max {
            return Mark::Ce;
        }
        let probability = (queue.bytes - self.k_min) as f64 * self.slope;
        if self.random.next_uniform() < probability { Mark::Ce } else { Mark::None }
    }
    fn is_by_chance(&self, queue: &QueueView) -> bool {
        queue.bytes > self.k_min && queue.bytes <= self.k_max && self.slope > 0.0
    }
    fn unmarked_bytes(&self) -> Option<u64> {
        Some(if self.slope > 0.0 { self.k_min } else { self.k_max })
    }
}

impl DetectorParams for Red {
    const NAME: &'static str = "red";
    const TITLE: &'static str = "RED: marks by the momentary queue length";
    const SOURCE: &'static str =
        "Floyd and Jacobson, Random Early Detection Gateways for Congestion Avoidance, ToN 1993";
    // Up to `k_min`, which is at least 0, nothing is marked and no random number drawn.
    const SEES_EMPTY_QUEUES: bool = false;
    type Detector = RedMarker;

    fn validate(&self) -> Result<(), Violation> {
        match (self.k_min, self.k_max) {
            (Some(k_min), Some(k_max)) if k_min > k_max => {
                let expected = format!("at most `k_max`, {k_max}");
                return Err(Violation::new("k_min", format!("is {k_min}"), expected));
            }
            (Some(_), None) => {
                return Err(Violation::new("k_min", "without `k_max`", "both or neither"));
            }
            (None, Some(_)) => {
                return Err(Violation::new("k_max", "without `k_min`", "both or neither"));
            }
            _ => {}
        }
        check::within("p_max", self.p_max, 0.0, 1.0)?;
        self.validate_step()?;
        self.validate_rates()
    }

    fn accepts(&self, rate: Rate) -> Result<(), Violation> {
        if self.rates.is_empty() || self.rates.iter().any(|r| r.rate == rate) {
            return Ok(());
        }
        let listed: Vec<String> = self.rates.iter().map(|r| r.rate.to_string()).collect();
        let expected = format!("one beside {}", listed.join(", "));
        Err(Violation::new("rates", format!("has no entry for {rate}"), expected))
    }

    fn detector(&self, env: &PortEnv) -> RedMarker {
        let spared = self.spares_hosts && env.to_host;
        let (k_min, k_max) = if spared { (u64::MAX, u64::MAX) } else { self.thresholds(env.rate) };
        let listed = self.rates.iter().find(|r| r.rate == env.rate);
        let p_max = listed.and_then(|r| r.p_max).unwrap_or(self.p_max);
        let slope = p_max / (k_max - k_min).max(1) as f64;
        RedMarker { k_min, k_max, slope, random: env.random.clone() }
    }
}

impl Red {
    /// Everything above `step` bytes for each 10 Gb/s of the port is marked, and nothing else.
    pub fn step(step: Bytes) -> Self {
        Red { step: Some(step), ..Red::default() }
    }

    /// Queue lengths, in bytes, at a port of `rate`: up to the first nothing is marked, above the second everything.
    pub fn thresholds(&self, rate: Rate) -> (u64, u64) {
        let scaled = |bytes: u64, gbps: u64| {
            let all = u128::from(bytes) * u128::from(rate.0) / u128::from(Rate::from_gbps(gbps).0);
            u64::try_from(all).unwrap_or(u64::MAX)
        };
        let step = self.step.map(|k| Bytes(scaled(k.0, 10)));
        let listed = self.rates.iter().find(|r| r.rate == rate);
        let k_min =
            listed.map(|r| r.k_min).or(self.k_min).or(step).map_or_else(|| scaled(100_000, 25), |k| k.0);
        let k_max =
            listed.map(|r| r.k_max).or(self.k_max).or(step).map_or_else(|| scaled(400_000, 25), |k| k.0);
        (k_min, k_max.max(k_min))
    }

    fn validate_step(&self) -> Result<(), Violation> {
        let Some(step) = self.step else { return Ok(()) };
        check::bytes("step", step)?;
        let others = [
            ("k_min", self.k_min.is_some()),
            ("rates", !self.rates.is_empty()),
            ("p_max", self.p_max != P_MAX),
        ];
        match others.iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(Violation::new(*key, "beside `step`", "one of the two")),
            None => Ok(()),
        }
    }

    fn validate_rates(&self) -> Result<(), Violation> {
        let wrong = |found: String, expected: &str| Err(Violation::new("rates", found, expected));
        if !self.rates.is_empty() && self.k_min.is_some() {
            return Err(Violation::new("k_min", "beside `rates`", "one of the two"));
        }
        for (i, at) in self.rates.iter().enumerate() {
            let (rate, k_min, k_max) = (at.rate, at.k_min, at.k_max);
            if self.rates[..i].iter().any(|r| r.rate == rate) {
                return wrong(format!("has {rate} twice"), "each rate once");
            }
            if k_min > k_max {
                let found = format!("has `k_min` {k_min} at {rate}");
                return wrong(found, &format!("at most `k_max`, {k_max}"));
            }
            if let Some(p_max) = at.p_max.filter(|p| !(0.0..=1.0).contains(p)) {
                return wrong(format!("has `p_max` {p_max} at {rate}"), "a number from 0 to 1");
            }
        }
        let unused = !self.rates.is_empty() && self.rates.iter().all(|r| r.p_max.is_some());
        if unused && self.p_max != P_MAX {
            let expected = "none, since each of `rates` has its own";
            return Err(Violation::new("p_max", "has no effect", expected));
        }
        Ok(())
    }
}
