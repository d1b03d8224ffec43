//! Sizes on the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xoff_engine::violation::{number_within, size_within, time_within};
use xoff_engine::{Bytes, Time, Violation};
use xoff_schemes::IntFormat;
use xoff_schemes::int::MAX_INT_HOPS;

use super::{MAX_FRAME, MAX_TIME};

/// Sizes on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Packets {
    /// A full data frame on the wire, with every header and the scheme's signals. The payload of a full packet is
    /// what remains.
    pub mtu: Bytes,
    /// Payload of a full data packet. If it is given, headers and signals are added to it and `mtu` follows.
    pub payload: Option<Bytes>,
    /// Headers of a data packet without signals: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4.
    pub header: Bytes,
    /// An ACK without signals: a data packet's headers and AETH 4.
    pub ack: Bytes,
    /// A CNP (from a receiver) or CNM (from a switch).
    pub cnp: Bytes,
    /// A PAUSE or RESUME frame (IEEE 802.1Qbb: the minimum Ethernet frame).
    pub pfc: Bytes,
    /// Bytes for which the wire stays taken after each frame: 20 B for Ethernet's preamble and minimum gap, or 0, as in most
    /// published simulations.
    pub gap: Bytes,
    /// Width of INT's counters.
    pub int_format: IntFormat,
    /// Multiplier of INT's units: sent bytes count in units of 128 B times this, queued bytes in units of 80 B times this. A
    /// power of two, at most 128.
    pub int_multi: u8,
    /// Maximum number of hops whose telemetry fits into INT.
    pub int_hops: u8,
    /// Period at which a switch refreshes the table that FNCC's ACKs read (FNCC, section 4.1, which gives no value);
    /// 0 reads live counters. Live, the records of different hops cover different moments of a packet or two, and
    /// the largest of several such noisy rates is too high: flows settle 5 to 10 % below eta. A table of 1 us
    /// averages over some packets at all hops.
    pub int_refresh: Time,
}

impl Default for Packets {
    fn default() -> Self {
        Packets {
            mtu: Bytes(1518),
            payload: None,
            header: Bytes(62),
            ack: Bytes(66),
            cnp: Bytes(66),
            pfc: Bytes(64),
            gap: Bytes(0),
            int_format: IntFormat::Hardware,
            int_multi: 1,
            int_hops: 5,
            int_refresh: Time::from_us(1),
        }
    }
}

impl Packets {
    /// What is wrong with the sizes by themselves. [`super::Settings::validate`] compares them with a scheme's signals.
    pub fn validate(&self) -> Vec<Violation> {
        let sizes = [
            ("header", self.header, 1),
            ("ack", self.ack, 1),
            ("cnp", self.cnp, 1),
            ("pfc", self.pfc, 1),
            ("gap", self.gap, 0),
            ("mtu", self.mtu, 1),
        ];
        let mut all: Vec<Violation> =
            sizes.into_iter().filter_map(|(key, size, min)| size_within(key, size, min, MAX_FRAME)).collect();
        all.extend(self.payload.and_then(|payload| size_within("payload", payload, 1, MAX_FRAME)));
        all.extend(number_within("int_hops", self.int_hops.into(), 1, MAX_INT_HOPS as u64));
        all.extend(time_within("int_refresh", self.int_refresh, Time::ZERO, MAX_TIME));
        if !self.int_multi.is_power_of_two() {
            let found = format!("is {}", self.int_multi);
            all.push(Violation::new("int_multi", found, "a power of two from 1 to 128"));
        }
        all
    }
}
