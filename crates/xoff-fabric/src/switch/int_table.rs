//! The counters that FNCC's ACKs read at a switch: live, or of the last refresh.

use xoff_engine::SparseList;
use xoff_schemes::int::PortReading;

use super::Switches;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::PortId;
use crate::link::Links;

/// A snapshot of ports' counters.
#[derive(Default)]
pub(super) struct IntTable {
    /// By port of a switch of the partition; empty if ACKs read live counters.
    readings: SparseList<PortReading>,
    /// The switches' ports of the partition: no ACK reads those of hosts.
    ports: Vec<PortId>,
}

impl Switches {
    /// The reading for an ACK that arrived by `port`: the counters of the data path's egress, which is `port` (FNCC,
    /// Algorithm 1, line 8).
    #[inline]
    pub(super) fn int_reading<C>(&self, ctx: &Ctx, links: &Links<C>, port: PortId) -> PortReading {
        self.int_table.readings.get(port.index()).copied().unwrap_or_else(|| live_reading(ctx, links, port))
    }

    /// Takes the periodic snapshot of the counters of `ports`, which are the partition's own (FNCC, section 4.1).
    pub fn refresh_int_table<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, ports: &[PortId]) {
        let IntTable { readings, ports: refreshed } = &mut self.int_table;
        if readings.is_empty() {
            *readings = SparseList::zeros(links.ports.len());
            let at_switch = |port: &PortId| !ctx.net.is_host(links.ports[port.index()].node);
            refreshed.extend(ports.iter().copied().filter(at_switch));
        }
        for &port in refreshed.iter() {
            readings[port.index()] = live_reading(ctx, links, port);
        }
        let next = ctx.now + ctx.net.settings.packets.int_refresh;
        ctx.events.push_common(next, key(kind::INT_REFRESH, 0));
    }
}

/// A port's counters now.
#[inline]
fn live_reading<C>(ctx: &Ctx, links: &Links<C>, port: PortId) -> PortReading {
    let port = &links.ports[port.index()];
    PortReading {
        at: ctx.now,
        // The frame on the wire counts with the part that has left: whole frames would make the rate between two readings
        // jump by a frame's share.
        tx_bytes: port.sent_by(ctx.now),
        queue_bytes: port.queued_bytes,
        rate: port.rate,
    }
}
