//! How collectives are carried out: channels, chunks, protocol, and the links within a host.
//!
//! Source of the protocols: NCCL (src/include/device.h and src/graph/tuning.cc, release 2.23). LL has lines of 16 B, of
//! which 8 B are data and the others flags; LL128 stores 8 B of flag with each 120 B of data; Simple stores data alone and synchronizes after each chunk. The
//! latency of a step is NCCL's `hwLat`, which its choice of algorithm and protocol adds for each step: that of NVLink for ranks
//! of one host, that of the network for others, for rings and for trees. Reading: NCCL measured these latencies with its own
//! network's latency in them, which a simulated network adds again; `step_latency` sets another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Bytes, Rate, Time};

use super::CollectiveAlgorithm;
use crate::error::{Fault, Misfit};

/// Maximum number of channels.
pub(super) const MAX_CHANNELS: u32 = 64;

/// How data go over the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// As they are, and no latency is added to a step.
    #[default]
    None,
    /// NCCL's Simple: as they are, with a latency for each step (network: 14 us; within a host: 3.4 us, 4 us for trees).
    Simple,
    /// NCCL's LL: half of the bytes are flags (network: 2.7 us a step, 5 us for trees; within a host: 0.6 us).
    Ll,
    /// NCCL's LL128: 120 of 128 bytes are data (network: 4 us a step, 8.5 us for trees; within a host: 1.9 us, 1.25 us for
    /// trees).
    Ll128,
}

impl Protocol {
    /// The bytes on the wire for `data` bytes.
    pub const fn bytes(self, data: u64) -> u64 {
        match self {
            Protocol::None | Protocol::Simple => data,
            Protocol::Ll => data.div_ceil(8) * 16,
            Protocol::Ll128 => data.div_ceil(120) * 128,
        }
    }

    /// The latency of a step, among ranks of one host or between hosts.
    pub fn latency(self, algorithm: CollectiveAlgorithm, within: bool) -> Time {
        let tree = matches!(algorithm, CollectiveAlgorithm::Tree | CollectiveAlgorithm::DoubleBinaryTree);
        Time::from_ns(match (self, within, tree) {
            (Protocol::None, ..) => 0,
            (Protocol::Simple, false, _) => 14_000,
            (Protocol::Simple, true, false) => 3_400,
            (Protocol::Simple, true, true) => 4_000,
            (Protocol::Ll, false, false) => 2_700,
            (Protocol::Ll, false, true) => 5_000,
            (Protocol::Ll, true, _) => 600,
            (Protocol::Ll128, false, false) => 4_000,
            (Protocol::Ll128, false, true) => 8_500,
            (Protocol::Ll128, true, false) => 1_900,
            (Protocol::Ll128, true, true) => 1_250,
        })
    }
}

/// How a collective is carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CollectiveSettings {
    /// Channels: parallel rings or trees, each for an equal part of the data and with connections of its own, from 1 to 64.
    pub channels: u32,
    /// Maximum bytes of a message: a rank forwards a chunk when that chunk has arrived. Without it, a message is not divided.
    pub chunk: Option<Bytes>,
    /// How data go over the wire: NCCL's protocols add bytes and a latency.
    pub protocol: Protocol,
    /// Time between the arrival of a message from another host and what its receiver does next; without it, the protocol's.
    pub step_latency: Option<Time>,
    /// NICs of a host: channel c of the rank with place p on its host sends by NIC (p + c) modulo this number. Without it, as the pattern or `host.nic` says.
    pub nics: Option<u32>,
    /// Rate at which a rank sends to ranks of its host (NVLink), without the network; without it, such messages take only
    /// `local_delay`.
    pub local_rate: Option<Rate>,
    /// Delay of messages among ranks of one host.
    pub local_delay: Time,
    /// Time between the arrival of a message from a rank of the same host and what its receiver does next; without it, the
    /// protocol's.
    pub local_step_latency: Option<Time>,
    /// The algorithm between hosts if the collective's algorithm is `hierarchical`; without it, the operation's default.
    pub across: Option<CollectiveAlgorithm>,
}

impl Default for CollectiveSettings {
    fn default() -> Self {
        CollectiveSettings {
            channels: 1,
            chunk: None,
            protocol: Protocol::None,
            step_latency: None,
            nics: None,
            local_rate: None,
            local_delay: Time::ZERO,
            local_step_latency: None,
            across: None,
        }
    }
}

impl CollectiveSettings {
    /// Refuses values out of bounds.
    pub(crate) fn check(&self) -> Result<(), Misfit> {
        if !(1..=MAX_CHANNELS).contains(&self.channels) {
            let expected = format!("a number from 1 to {MAX_CHANNELS}");
            return Err(Fault::bounds(self.channels, expected).at("channels"));
        }
        if self.chunk == Some(Bytes(0)) {
            return Err(Fault::bounds(Bytes(0), "a size above 0").at("chunk"));
        }
        if self.nics == Some(0) {
            return Err(Fault::bounds(0, "a number from 1").at("nics"));
        }
        if self.local_rate == Some(Rate(0)) {
            return Err(Fault::bounds(Rate(0), "a rate above 0").at("local_rate"));
        }
        let longest = Time::from_us(1_000_000_000);
        let times = [
            (self.step_latency.unwrap_or_default(), "step_latency"),
            (self.local_delay, "local_delay"),
            (self.local_step_latency.unwrap_or_default(), "local_step_latency"),
        ];
        match times.into_iter().find(|(time, _)| *time > longest) {
            Some((time, key)) => Err(Fault::bounds(time, format!("at most {longest}")).at(key)),
            None => Ok(()),
        }
    }

    /// Time between the arrival of a message and what its receiver does next.
    pub(super) fn latency(&self, algorithm: CollectiveAlgorithm, within: bool) -> Time {
        let own = if within { self.local_step_latency } else { self.step_latency };
        own.unwrap_or_else(|| self.protocol.latency(algorithm, within))
    }
}
