//! Behaviour of other simulators that differs from xoff's.

use bytemuck::Zeroable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::{Rate, Time};

/// How transmission times are calculated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Zeroable)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Clock {
    /// In picoseconds, exact.
    #[default]
    Exact,
    /// Cut to whole nanoseconds as in ns-3: 1090 B at 100 Gbps take 87 ns instead of 87.2.
    Ns3,
}

impl Clock {
    /// Transmission time of a frame of `bytes` at `rate`.
    #[inline]
    pub fn serialization(self, rate: Rate, bytes: u64) -> Time {
        match self {
            Clock::Exact => rate.serialization(bytes),
            Clock::Ns3 => rate.ns3_time(bytes),
        }
    }
}

/// The order of simultaneous events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By kind of event and by flow or port, arrivals by ingress port.
    #[default]
    ByPort,
    /// In the order in which they were scheduled, the end of a transmission before its arrival.
    Scheduled,
}

/// When a NIC with nothing to send checks its flows again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NicTimer {
    /// When the next of its flows may send.
    #[default]
    NextToSend,
    /// As in the simulator of HPCC's authors: at the earliest pacing time of all flows with data left, whether their window
    /// lets them send or not, and if that time is past, only when something else happens; once the timer is set, only a
    /// change of rate moves it.
    Ns3,
}

/// Which rate sets the gap after a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacingGap {
    /// The current rate: a change of rate moves the next packet.
    #[default]
    RateInForce,
    /// The rate when the packet was sent.
    RateWhenSent,
}

/// What the base RTT is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RttOf {
    /// The time of a full frame to the receiver and of its ACK back.
    #[default]
    FrameAndAck,
    /// The time of a full packet's payload to the receiver, without headers, and of propagation alone back.
    Payload,
}

/// Whose transport of Ultra Ethernet runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UetOf {
    /// xoff's own, by the specification.
    #[default]
    Specification,
    /// As in the Ultra Ethernet Consortium's simulator (uet-htsim): the base RTT is the minimum over packets of all sizes and
    /// over NACKs, no timer ends an ACK's delay, requests to send are not limited without NSCC, and switches mark packets
    /// at the end of their transmission.
    Htsim,
}

/// What other simulators do differently, for comparison with them; the defaults are xoff's own behaviour.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// How transmission times are calculated.
    pub clock: Clock,
    /// The order of simultaneous events.
    pub order: Order,
    /// When a NIC with nothing to send checks its flows again.
    pub nic: NicTimer,
    /// Which rate sets the gap after a packet.
    pub gap: PacingGap,
    /// What the base RTT is made of.
    pub base_rtt: RttOf,
    /// Whose transport of Ultra Ethernet runs.
    pub uet: UetOf,
    /// RED draws from ns-3's random streams (seed 1, run 1), beginning with this stream: a new stream for each number, also
    /// for ACKs in data queues. Each PAUSE and RESUME that a switch makes takes a stream too, for a number in its header.
    /// Without it each queue has a stream of its own.
    pub marking_stream: Option<u32>,
}
