//! RED as ECN switches have it for DCQCN: on the momentary queue length, as a packet leaves (Floyd and Jacobson,
//! ToN 1993, without its average; DCQCN, SIGCOMM 2015, section 3.1, Figure 5).

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Stream};

use super::DetectorParams;
use crate::check;
use crate::seams::{Detector, ParamError, PortEnv, QueueView};
use crate::signals::Mark;

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
}

impl Default for Red {
    fn default() -> Self {
        Red { k_min: None, k_max: None, p_max: 0.2 }
    }
}

/// RED at an egress queue.
#[derive(Clone, Debug)]
pub struct RedMarker {
    k_min: u64,
    k_max: u64,
    /// Probability for each byte above `k_min`.
    slope: f64,
    stream: Stream,
}

impl Detector for RedMarker {
    #[inline]
    fn on_dequeue(&mut self, queue: &QueueView) -> Mark {
        if queue.bytes <= self.k_min {
            return Mark::None;
        }
        if queue.bytes > self.k_max {
            return Mark::Ce;
        }
        let probability = (queue.bytes - self.k_min) as f64 * self.slope;
        let uniform = (self.stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        if uniform < probability { Mark::Ce } else { Mark::None }
    }
}

impl DetectorParams for Red {
    const NAME: &'static str = "red";
    const TITLE: &'static str = "RED: marks by the momentary queue length";
    const SOURCE: &'static str =
        "Floyd and Jacobson, Random Early Detection Gateways for Congestion Avoidance, ToN 1993";
    type Detector = RedMarker;

    fn validate(&self) -> Result<(), ParamError> {
        match (self.k_min, self.k_max) {
            (Some(k_min), Some(k_max)) if k_min > k_max => {
                let message = format!("`k_min` is {k_min}: expected at most `k_max`, {k_max}");
                return Err(ParamError::new("k_min", message));
            }
            (Some(_), None) => {
                let message = "`k_min` without `k_max`: expected both or neither";
                return Err(ParamError::new("k_min", message));
            }
            (None, Some(_)) => {
                let message = "`k_max` without `k_min`: expected both or neither";
                return Err(ParamError::new("k_max", message));
            }
            _ => {}
        }
        check::within("p_max", self.p_max, 0.0, 1.0)
    }

    fn detector(&self, env: &PortEnv) -> RedMarker {
        let scaled = |bytes_at_25g: u128| {
            (bytes_at_25g * u128::from(env.rate.0) / u128::from(Rate::from_gbps(25).0)) as u64
        };
        let k_min = self.k_min.map_or_else(|| scaled(100_000), |k| k.0);
        let k_max = self.k_max.map_or_else(|| scaled(400_000), |k| k.0).max(k_min);
        let slope = self.p_max / (k_max - k_min).max(1) as f64;
        RedMarker { k_min, k_max, slope, stream: env.stream.clone() }
    }
}
