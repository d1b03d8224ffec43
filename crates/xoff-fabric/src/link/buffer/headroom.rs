//! Headroom: the bytes that arrive above a threshold until the peer has stopped (IEEE 802.1Qbb's delay budget).

use xoff_engine::{Rate, Time};

use crate::ids::PortId;
use crate::network::Network;
use crate::path::topology::Topology;
use crate::settings::{LinkSettings, Pfc, WireSizes};

/// What the size of a headroom depends on.
#[derive(Clone, Copy, Debug)]
pub struct LinkEnds {
    /// Rate at which the peer sends to us.
    pub rate_in: Rate,
    /// Propagation delay from the peer to us.
    pub delay_in: Time,
    /// Our rate to the peer.
    pub rate_out: Rate,
    /// Propagation delay to the peer.
    pub delay_out: Time,
    /// Bytes more that may arrive since frames and PAUSE are sent again ([`LinkSettings::retry_headroom`]).
    pub retries: u64,
}

/// Bytes that can arrive above Xoff: the frame that crosses the threshold, then what the peer sends until it stops. The
/// peer stops after our frame on the wire, the PAUSE frame with those of other priorities before it (`pfc_frames` bytes
/// in all), both propagation delays, the peer's response time and the peer's frame on the wire. With equal ends these
/// are 2 MTU/C + 2 t_p, after the terms of IEEE 802.1Qbb's delay budget.
pub fn headroom(ends: &LinkEnds, mtu: u64, pfc_frames: u64, response_quanta: u32) -> u64 {
    let until_stopped = ends.rate_out.serialization(mtu)
        + ends.rate_out.serialization(pfc_frames)
        + ends.delay_out
        + ends.rate_in.serialization(mtu)
        + ends.delay_in
        + quanta_time(u64::from(response_quanta), ends.rate_in);
    mtu + ends.rate_in.bytes_in(until_stopped) + 1 + ends.retries
}

/// The headroom in bytes that `pfc` gives to a port and priority: set in bytes, set as a multiple of rate times delay, or
/// computed by [`headroom`].
pub fn pfc_headroom(pfc: &Pfc, ends: &LinkEnds, mtu: u64, pfc_frames: u64) -> u64 {
    match (pfc.headroom, pfc.headroom_bdp) {
        (Some(bytes), _) => bytes.0,
        (None, Some(times)) => ends.rate_in.bytes_in(ends.delay_in) * u64::from(times),
        (None, None) => headroom(ends, mtu, pfc_frames, pfc.response_quanta),
    }
}

/// The time of pause quanta: 512 bit times each, at the port's rate.
pub fn quanta_time(quanta: u64, rate: Rate) -> Time {
    rate.time_for(quanta * 64)
}

impl LinkEnds {
    /// The link of an ingress port.
    pub fn of(net: &Network, ingress: PortId) -> LinkEnds {
        LinkEnds::at(&net.topology, &net.settings.link, &net.wire, ingress)
    }

    /// The link of an ingress port in a topology.
    pub fn at(topology: &Topology, link: &LinkSettings, wire: &WireSizes, ingress: PortId) -> LinkEnds {
        LinkEnds {
            rate_in: topology.rate(ingress.peer()),
            delay_in: topology.delay(ingress.peer()),
            rate_out: topology.rate(ingress),
            delay_out: topology.delay(ingress),
            retries: link.retry_headroom(topology, ingress.peer(), wire),
        }
    }
}
