//! Priority-based Flow Control (IEEE 802.1Qbb).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::number_within;
use xoff_engine::{Bytes, Rate, Time, Violation};

use super::FlowControlKind;

/// Maximum share of the free memory; hardware offers up to 8.
const MAX_ALPHA: f64 = 128.0;
/// Maximum threshold or headroom: beyond every switch's memory, and a million ports' sum fits into 64 bits.
const MAX_SIZE: Bytes = Bytes(1_000_000_000_000);

/// Priority-based Flow Control (IEEE 802.1Qbb).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pfc {
    /// Static threshold: PAUSE when a port's ingress bytes of a priority exceed this. Default, unless `alpha` is given: what the
    /// port's link brings in 40 us, which is 500 KB at 100 Gb/s (FNCC, section 5.1) and grows with the rate as the ECN thresholds
    /// of HPCC's authors do, so that marks begin before PAUSE. With `switch.buffer` not more than the port's equal part of the
    /// memory beside all headrooms, (buffer - headrooms) / (ports times priorities), which is the bound of DCQCN's paper
    /// (SIGCOMM 2015, section 4), but at least two frames.
    pub xoff: Option<Bytes>,
    /// Static threshold: RESUME when those bytes fall to this; without it, two frames below `xoff`.
    pub xon: Option<Bytes>,
    /// Dynamic threshold: PAUSE when ingress bytes reach this share of the free shared memory. Needs
    /// `switch.buffer`; excludes `xoff`. Powers of two are what hardware offers (0.125 is common).
    pub alpha: Option<f64>,
    /// Dynamic threshold: a port that is faster than the hosts' ports has twice the share for each started doubling of the
    /// rate, up to all free memory.
    pub alpha_by_rate: bool,
    /// Dynamic threshold: RESUME this far below the threshold.
    pub resume_offset: Bytes,
    /// Dynamic threshold: memory reserved for each port and priority.
    pub reserve: Bytes,
    /// Memory of each port and priority above its threshold, for packets that arrive until the peer stops; without
    /// it, computed from the link: 2 t_p C + 3 MTU + a PAUSE frame of each priority + response time.
    pub headroom: Option<Bytes>,
    /// Headroom as a multiple, from 1 to 1000, of rate times propagation delay of the link's incoming direction, rounded
    /// down, in place of `headroom`. It ignores the size of frames: on short links the headroom may be too small.
    pub headroom_bdp: Option<u32>,
    /// How long a peer may take to obey a PAUSE, in quanta of 512 bit times; counts into the headroom and
    /// delays the stop.
    pub response_quanta: u32,
    /// Pause time of a PAUSE frame in quanta of 512 bit times at the port's rate.
    pub quanta: u16,
    /// Send PAUSE again at half its time while the threshold is still exceeded. Without it the peer goes on when the
    /// time is over, and the next packet above the threshold makes another PAUSE: the packets that arrive until that PAUSE
    /// works may exceed the rest of the headroom, which ends the run.
    pub refresh: bool,
    /// A pause ends by itself after its quanta; otherwise only by a RESUME.
    pub expires: bool,
}

impl Default for Pfc {
    fn default() -> Self {
        Pfc {
            xoff: None,
            xon: None,
            alpha: None,
            alpha_by_rate: false,
            resume_offset: Bytes(3 * 1024),
            reserve: Bytes(4 * 1024),
            headroom: None,
            headroom_bdp: None,
            response_quanta: 0,
            quanta: u16::MAX,
            refresh: true,
            expires: true,
        }
    }
}

impl FlowControlKind for Pfc {
    const NAME: &'static str = "pfc";

    fn stops_expire(&self) -> bool {
        self.expires && !self.refresh
    }

    fn stop_bytes(&self, buffer: Option<Bytes>, line_rate: Rate) -> u64 {
        match (self.xoff, self.alpha) {
            (Some(xoff), _) => xoff.0,
            (None, Some(_)) => buffer.map_or(0, |bytes| bytes.0),
            (None, None) => Pfc::default_xoff(line_rate),
        }
    }

    fn hysteresis(&self, frame: u64) -> Option<Bytes> {
        if self.has_default_xoff() {
            return Some(Bytes(2 * frame));
        }
        let Some(xoff) = self.xoff else { return Some(self.resume_offset) };
        let xon = self.xon.map_or(xoff.0.saturating_sub(2 * frame), |xon| xon.0);
        Some(Bytes(xoff.0.saturating_sub(xon)))
    }

    /// The thresholds are static or dynamic, and no key belongs to the other kind.
    fn validate(&self) -> Vec<Violation> {
        let mut all: Vec<Violation> = Vec::new();
        let sizes = [
            ("xoff", self.xoff),
            ("xon", self.xon),
            ("resume_offset", Some(self.resume_offset)),
            ("reserve", Some(self.reserve)),
            ("headroom", self.headroom),
        ];
        for (key, size) in sizes {
            if let Some(size) = size.filter(|size| *size > MAX_SIZE) {
                all.push(Violation::new(key, format!("is {size}"), format!("at most {MAX_SIZE}")));
            }
        }
        all.extend(number_within("quanta", self.quanta.into(), 1, u16::MAX.into()));
        all.extend(number_within("response_quanta", self.response_quanta.into(), 0, u16::MAX.into()));
        all.extend(self.headroom_bdp.and_then(|n| number_within("headroom_bdp", n.into(), 1, 1_000)));
        if self.headroom.is_some() && self.headroom_bdp.is_some() {
            all.push(Violation::new("headroom_bdp", "stands beside `headroom`", "one of them"));
        }
        match (self.xoff, self.alpha) {
            (Some(_), Some(_)) => {
                let found = "is a dynamic threshold beside `xoff`, a static one";
                all.push(Violation::new("alpha", found, "one of them"));
            }
            (xoff, None) => self.validate_static(xoff, &mut all),
            (None, Some(alpha)) => self.validate_dynamic(alpha, &mut all),
        }
        all
    }
}

impl Pfc {
    /// Whether each port has the default Xoff of its link's rate.
    pub fn has_default_xoff(&self) -> bool {
        self.xoff.is_none() && self.alpha.is_none()
    }

    /// The default Xoff, in bytes, of a port whose link brings `rate`, if memory does not bound it.
    pub fn default_xoff(rate: Rate) -> u64 {
        rate.bytes_in(Time::from_us(40))
    }

    /// The default Xoff `xoff` of a port whose part of the memory is `share`, with frames of at most `frame`; all in bytes.
    pub fn bounded_xoff(xoff: u64, share: u64, frame: u64) -> u64 {
        xoff.min(share.max(2 * frame))
    }

    fn validate_static(&self, xoff: Option<Bytes>, all: &mut Vec<Violation>) {
        if xoff == Some(Bytes(0)) {
            all.push(Violation::new("xoff", "is zero", "a size such as \"500KB\""));
        }
        match (self.xon, xoff) {
            (Some(_), None) => {
                all.push(Violation::new("xon", "stands without `xoff`", "both or neither"));
            }
            (Some(xon), Some(xoff)) if xon > xoff => {
                let found = format!("is {xon}, above `xoff`, {xoff}");
                all.push(Violation::new("xon", found, format!("at most {xoff}")));
            }
            _ => {}
        }
        let defaults = Pfc::default();
        for (key, differs) in [
            ("resume_offset", self.resume_offset != defaults.resume_offset),
            ("reserve", self.reserve != defaults.reserve),
            ("alpha_by_rate", self.alpha_by_rate),
        ] {
            if differs {
                let expected = "`alpha` in place of `xoff`, or no such key";
                let found = if xoff.is_some() {
                    "has no meaning with `xoff`"
                } else {
                    "has no meaning without `alpha`"
                };
                all.push(Violation::new(key, found, expected));
            }
        }
    }

    fn validate_dynamic(&self, alpha: f64, all: &mut Vec<Violation>) {
        if !(alpha > 0.0 && alpha <= MAX_ALPHA) {
            let expected = format!("a number above 0 and at most {MAX_ALPHA}");
            all.push(Violation::new("alpha", format!("is {alpha}"), expected));
        }
        if self.xon.is_some() {
            all.push(Violation::new("xon", "has no meaning with `alpha`", "`resume_offset`"));
        }
    }
}
