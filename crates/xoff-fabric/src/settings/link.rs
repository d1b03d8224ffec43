//! Errors on links, and what repairs them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{size_within, time_within};
use xoff_engine::{Bytes, Time, Violation};

use super::{Forwarding, MAX_TIME, NicTimer, Settings, WireSizes};
use crate::fault::FrameLoss;
use crate::ids::PortId;
use crate::path::topology::Topology;

/// Maximum bytes of a replay buffer.
const MAX_REPLAY_BUFFER: u64 = 1 << 30;

/// The chance of a run of retries for which headroom has no room.
const RARE: f64 = 1e-12;

/// The chance of a retry within a round trip that headroom assumes if only events spoil frames.
const EVENTS: f64 = 0.1;

/// Link-level retry (LLR) of Ultra Ethernet 1.0, between the two ends of each link: frames are numbered, the sender keeps each
/// one until it is acknowledged, and sends again from the first one that did not arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Llr {
    /// Memory of each port for frames that are not acknowledged. A port sends nothing new while a largest frame finds no room
    /// in it. Without it, as much as keeps the port's link busy.
    pub replay_buffer: Option<Bytes>,
    /// Time without progress after which a port sends again all that is not acknowledged, since an ACK or NACK may be lost.
    /// Without it, twice the longest that the link needs to acknowledge a full replay buffer.
    pub timeout: Option<Time>,
    /// Bytes of an ACK or NACK, a control ordered set between the frames of the other direction, where it delays nothing.
    pub control: Bytes,
}

impl Default for Llr {
    fn default() -> Self {
        Llr { replay_buffer: None, timeout: None, control: Bytes(8) }
    }
}

/// What the LLR of a port has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlrSizing {
    /// From the first bit of a largest frame to the arrival of its ACK.
    pub round_trip: Time,
    /// Bytes with which the port never waits for ACKs if none is lost.
    pub needed: u64,
    /// Bytes of the replay buffer.
    pub replay_buffer: u64,
    /// The replay timer.
    pub timeout: Time,
    /// Bytes of a largest frame, with the gap after it.
    pub frame: u64,
}

impl LlrSizing {
    /// The LLR of the link that leaves `port`.
    pub fn of(topology: &Topology, port: PortId, llr: &Llr, wire: &WireSizes) -> LlrSizing {
        let rate = topology.rate(port);
        let frame = wire.largest().max(wire.pfc).max(wire.update);
        let propagation = topology.delay(port) + topology.delay(port.peer());
        let back = topology.rate(port.peer()).serialization(llr.control.0);
        let round_trip = rate.serialization(frame) + propagation + back;
        // A frame more than are under way may begin, and the last one under way may have just begun.
        let needed = rate.bytes_in(round_trip) + 2 * frame;
        let replay_buffer = llr.replay_buffer.map_or(needed, |bytes| bytes.0);
        let longest = round_trip + rate.serialization(replay_buffer);
        LlrSizing { round_trip, needed, replay_buffer, timeout: llr.timeout.unwrap_or(longest * 2), frame }
    }
}

/// All links: errors on them, and their repair.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkSettings {
    /// Probability that a bit is wrong, which spoils its frame: one of b bytes with probability 1 - (1 - ber)^(8 b). For all the run
    /// and in both directions; `[[event]]` has errors for a time, of one link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ber: Option<f64>,
    /// Probability that a frame is lost, whatever its size; in place of `ber`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_loss: Option<f64>,
    /// Link-level retry (LLR) of Ultra Ethernet: `llr = {}`, or `{ replay_buffer = "64KB", timeout = "10us" }`. Without it, a frame
    /// with an error is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llr: Option<Llr>,
}

impl LinkSettings {
    /// Whether all settings are the defaults.
    pub fn is_default(&self) -> bool {
        *self == LinkSettings::default()
    }

    /// The errors of all links; `None` if there are none.
    pub fn errors(&self) -> Option<FrameLoss> {
        self.ber.map(FrameLoss::BitErrorRate).or(self.frame_loss.map(FrameLoss::Share))
    }

    /// Whether frames are lost by errors that nothing repairs.
    pub fn loses(&self) -> bool {
        self.errors().is_some() && self.llr.is_none()
    }

    /// Bytes that LLR may bring above a threshold of PFC on the link that leaves `port`, beside those that a link without errors
    /// brings: what waits in the replay buffer when the sender obeys a PAUSE, and what the link carries while the PAUSE waits for
    /// retries of the other direction. As many retries in a row count as happen with a chance of 1e-12, each a round trip.
    pub fn retry_headroom(&self, topology: &Topology, port: PortId, wire: &WireSizes) -> u64 {
        let Some(llr) = &self.llr else { return 0 };
        let sizing = LlrSizing::of(topology, port, llr, wire);
        let chance = match self.errors() {
            Some(FrameLoss::BitErrorRate(_)) => self.errors().map_or(0.0, |e| e.probability(sizing.needed)),
            Some(FrameLoss::Share(share)) => {
                1.0 - libm::pow(1.0 - share, sizing.needed as f64 / sizing.frame as f64)
            }
            None => EVENTS,
        };
        let retries = libm::ceil(libm::log(RARE) / libm::log(chance.min(0.9))).max(1.0) as u64;
        let round = topology.rate(port).bytes_in(sizing.round_trip) + sizing.frame;
        sizing.replay_buffer.saturating_add(round.saturating_mul(retries))
    }

    /// What is wrong with the settings by themselves.
    pub fn validate(&self) -> Vec<Violation> {
        let mut all = Vec::new();
        if self.ber.is_some() && self.frame_loss.is_some() {
            all.push(Violation::new("frame_loss", "stands beside `ber`", "one of them"));
        }
        for (key, value) in [("ber", self.ber), ("frame_loss", self.frame_loss)] {
            if let Some(value) = value.filter(|v| !(*v > 0.0 && *v < 1.0)) {
                all.push(Violation::new(key, format!("is {value}"), "a number above 0 and below 1"));
            }
        }
        if let Some(llr) = &self.llr {
            let buffer = llr.replay_buffer;
            let found = [
                buffer.and_then(|bytes| size_within("replay_buffer", bytes, 1, MAX_REPLAY_BUFFER)),
                llr.timeout.and_then(|time| time_within("timeout", time, Time::from_ns(1), MAX_TIME)),
                size_within("control", llr.control, 1, 64),
            ];
            all.extend(found.into_iter().flatten().map(|violation| violation.inside("llr")));
        }
        all
    }

    /// What is wrong with the settings beside other tables.
    pub(super) fn validate_beside(&self, settings: &Settings, all: &mut Vec<Violation>) {
        if self.is_default() {
            return;
        }
        if settings.quirks.nic == NicTimer::Ns3 {
            let found = "is `ns3`, whose NIC knows nothing of errors on links and of their repair";
            all.push(Violation::new("quirks.nic", found, "`next_to_send`, or no [link]"));
        }
        let cuts = settings.switch.forwarding(&settings.flow_control) == Forwarding::CutThrough;
        if self.llr.is_some() && cuts {
            let found = "is by cut-through, and a receiver with `llr` in [link] checks a frame before it lets it go on";
            all.push(Violation::new("switch.forwarding", found, "`forwarding = \"store_and_forward\"`"));
        }
    }
}
