//! What a message takes by its route: time, and a share of the links on which its ACKs come back.

use xoff_engine::Time;

use crate::ids::PortId;
use crate::network::{Network, Route};

/// Time of a message's first packet to each port of its path, at the earliest.
pub(super) fn ways(net: &Network, path: &[PortId]) -> Vec<Time> {
    let hop = |way: &mut Time, &port: &PortId| {
        let before = *way;
        *way += net.topology.delay(port);
        Some(before)
    };
    path.iter().scan(Time::ZERO, hop).collect()
}

/// Time from the moment when a packet has left its host to its arrival, where nothing else is on its way.
pub(in super::super) fn latency(net: &Network, route: &Route, now: Time) -> Time {
    let path = net.data_ports(route);
    let delays = path.iter().fold(Time::ZERO, |sum, &port| sum + net.topology.delay(port));
    let frame = |port: &PortId| net.rate_at(*port, now).serialization(net.wire.frame());
    path.iter().skip(1).fold(delays, |sum, port| sum + frame(port))
}

/// Share of a link's time that the ACKs of a message on a route take whose data fill a link of the same rate.
pub(super) fn ack_load(net: &Network, route: &Route) -> f64 {
    let ack = net.wire.ack + net.wire.ack_growth * u64::from(route.ack_links);
    ack as f64 / (net.wire.frame() * u64::from(net.settings.host.ack_every.max(1))) as f64
}
