//! Sizes of packets on the wire.

use xoff_schemes::Signals;
use xoff_schemes::int::MAX_INT_HOPS;

use super::Settings;

/// Sizes on the wire, in bytes, with the scheme's signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireSizes {
    /// Payload of a full data packet.
    pub payload: u64,
    /// Headers and signals of a data packet.
    pub data_overhead: u64,
    /// An ACK when the receiver of data sends it.
    pub ack: u64,
    /// Bytes by which an ACK grows at each switch.
    pub ack_growth: u64,
    /// A CNP or CNM.
    pub cnp: u64,
    /// A PFC frame.
    pub pfc: u64,
    /// A credit update of one priority.
    pub update: u64,
    /// Bytes for which the wire stays taken after each frame.
    pub gap: u64,
    /// Payload that may be in flight whatever the window: enough for `host.ack_every` packets; none if data needs credits.
    pub min_window: u64,
    /// Data packets for one ACK: `host.ack_every`, or no number of them if credits acknowledge data.
    pub ack_every: u32,
    /// A receiver's credit in the mean, and a sender's request for credits.
    pub credit: u64,
}

impl WireSizes {
    /// The sizes that `settings` give with `signals`.
    pub fn new(settings: &Settings, signals: &Signals) -> Self {
        let p = &settings.packets;
        let hops = u64::from(p.int_hops);
        let data_overhead = p.header.0 + signals.data_bytes(hops);
        let payload = p.payload.map_or_else(|| p.mtu.0.saturating_sub(data_overhead), |b| b.0);
        let ack_every = settings.host.ack_every;
        let (min_window, ack_every) = match signals.credits {
            None => (u64::from(ack_every.saturating_sub(1)) * payload + 1, ack_every),
            Some(_) => (0, u32::MAX),
        };
        WireSizes {
            payload,
            min_window,
            ack_every,
            credit: signals.credits.map_or(0, |credits| credits.size.into()),
            data_overhead,
            ack: p.ack.0 + signals.ack_bytes(hops),
            ack_growth: signals.ack_bytes_per_hop(),
            cnp: p.cnp.0,
            pfc: p.pfc.0,
            update: settings.flow_control.update_size().0,
            gap: p.gap.0,
        }
    }

    /// A full data packet on the wire.
    pub fn frame(&self) -> u64 {
        self.payload + self.data_overhead
    }

    /// Maximum bytes that one frame of data, ACK or notification takes on the wire, with its gap.
    pub fn largest(&self) -> u64 {
        let ack = self.ack + self.ack_growth * MAX_INT_HOPS as u64;
        self.frame().max(ack).max(self.cnp) + self.gap
    }

    /// Bytes that one PFC frame of each of `priorities` takes on the wire, with gaps.
    pub fn pfc_frames(&self, priorities: u8) -> u64 {
        (self.pfc + self.gap) * u64::from(priorities)
    }
}
