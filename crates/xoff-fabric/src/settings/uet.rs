//! Settings of Ultra Ethernet's transport, and of switches that trim packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{number_within, size_within, time_within};
use xoff_engine::{Bytes, Time, Violation};

use super::{MAX_FRAME, MAX_TIME, Transport};

/// How a sender chooses the entropy values (EVs) of its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntropyChoice {
    /// Each EV once in a round.
    Oblivious,
    /// Rounds that pass over EVs of congested paths.
    Bitmap,
    /// EVs that came back unmarked, from a ring of eight, or else random ones (REPS: Bonato et al., 2024).
    Reps,
    /// EVs that came back unmarked, however many, or else random ones.
    RepsLegacy,
    /// EVs that came back unmarked, or else those of `bitmap`.
    #[default]
    Mixed,
}

/// Ultra Ethernet's transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Uet {
    /// A receiver sends an ACK after this many bytes on the wire.
    pub ack_bytes: Bytes,
    /// A receiver holds back an ACK for at most this time; 0 for no limit, with which a sender whose window has shrunk may
    /// wait for its retransmission timer.
    pub ack_delay: Time,
    /// Path choice `entropy`: how senders choose entropy values.
    pub entropy: EntropyChoice,
    /// Path choice `entropy`: number of a connection's entropy values, a power of two.
    pub paths: u32,
    /// The base RTT of the network, which flows start with; without it, the maximum over all pairs of hosts, or the flow's own
    /// under `base_rtt = "per_pair"`. Constants of `nscc` follow from the network's in either case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_rtt: Option<Time>,
    /// Under `uet = "htsim"` in [quirks]: NACKs lower the base RTT too.
    pub base_rtt_from_nacks: bool,
}

impl Default for Uet {
    fn default() -> Self {
        Uet {
            ack_bytes: Bytes(16_384),
            ack_delay: Time::from_us(10),
            entropy: EntropyChoice::Mixed,
            paths: 64,
            network_rtt: None,
            base_rtt_from_nacks: true,
        }
    }
}

impl Uet {
    /// Whether all settings are the defaults.
    pub fn is_default(&self) -> bool {
        *self == Uet::default()
    }

    /// What is wrong with the settings under a transport.
    pub(super) fn validate(&self, transport: Transport) -> Vec<Violation> {
        if transport != Transport::Uet && !self.is_default() {
            let found = "has settings, and `transport` is another";
            return vec![Violation::new("ack_bytes", found, "`transport = \"uet\"`, or no [host.uet]")];
        }
        let mut all: Vec<Violation> =
            size_within("ack_bytes", self.ack_bytes, 1, 1 << 30).into_iter().collect();
        all.extend(time_within("ack_delay", self.ack_delay, Time::ZERO, MAX_TIME));
        all.extend(
            self.network_rtt.and_then(|rtt| time_within("network_rtt", rtt, Time::from_ns(1), MAX_TIME)),
        );
        all.extend(number_within("paths", self.paths.into(), 1, 65_536));
        if !self.paths.is_power_of_two() {
            let found = format!("is {}", self.paths);
            all.push(Violation::new("paths", found, "a power of two from 1 to 65536"));
        }
        all
    }
}

/// Which packet is trimmed, or dropped, where a data packet finds no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Victim {
    /// The packet that arrives.
    #[default]
    Arriving,
    /// By a fair coin, the packet that arrives or the last one of the queue (NDP: Handley et al., SIGCOMM 2017, section 3.1).
    Either,
}

impl Victim {
    /// Whether it is the default.
    pub fn is_default(&self) -> bool {
        *self == Victim::default()
    }
}

/// Switches that trim packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Trimming {
    /// Bytes on the wire of a trimmed packet.
    pub size: Bytes,
}

impl Default for Trimming {
    fn default() -> Self {
        Trimming { size: Bytes(64) }
    }
}

impl Trimming {
    /// What is wrong with the settings.
    pub(super) fn validate(&self) -> Vec<Violation> {
        size_within("size", self.size, 1, MAX_FRAME).into_iter().collect()
    }
}
