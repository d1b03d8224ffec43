//! Columns of the ports' table for buffer sizing: the headroom or credits that flow control has at each port's ingress.

use xoff_fabric::Simulation;
use xoff_fabric::run::buffer_sizing::{CreditRoom, Headroom};
use xoff_fabric::topology::PortId;

use super::columns::Columns;

/// Adds the columns of each port's delay, headroom and credits.
pub(super) fn add(columns: Columns, sim: &Simulation) -> Columns {
    let net = sim.network();
    let ports = net.topology.port_ids();
    let headroom = |of: fn(Headroom) -> u64| {
        let value = move |port: PortId| sim.headroom(port).map(of);
        ports.clone().map(value)
    };
    let credits = |of: fn(CreditRoom) -> u64| {
        let value = move |port: PortId| net.credit_room(port).map(of);
        ports.clone().map(value)
    };
    columns
        .u64(
            "delay_ps",
            "propagation delay of its link, ps",
            ports.clone().map(|p| net.topology.delay(p).ps()),
        )
        .u64_or_null(
            "xoff_bytes",
            "PFC's static threshold for what comes in by this port, of each priority; null: a host's port, or no such threshold",
            ports.clone().map(|port| sim.headroom(port)?.xoff),
        )
        .u64_or_null(
            "headroom_bytes",
            "memory above Xoff for what comes in by this port, of each priority; null: a host's port, or no PFC",
            headroom(|h| h.bytes),
        )
        .u64_or_null(
            "needed_headroom_bytes",
            "what can arrive above Xoff until the neighbour stops; null as above",
            headroom(|h| h.needed),
        )
        .u64_or_null(
            "max_headroom_bytes",
            "maximum bytes of the headroom used by any one priority; null as above",
            headroom(|h| h.max_used),
        )
        .u64_or_null(
            "credits",
            "credits for what comes in by this port, of each priority; null: flow control has none",
            credits(|c| c.credits),
        )
        .u64_or_null(
            "needed_credits",
            "credits with which the link never stalls by itself; null as above",
            credits(|c| c.needed),
        )
}
