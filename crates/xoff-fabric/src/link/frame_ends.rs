//! Ends of frames that change nothing, in runs in which the end of every frame is an event.
//!
//! Where simultaneous events come in the order in which they were scheduled, the end of a frame has a place among them, which decides
//! whether the port is free for a packet that comes at the same time. Most frames end at a switch's port for which nothing waits.
//! Such an end is no event: its place is reserved, and it becomes an event only when something waits for the port. A run counts every
//! end as an event, so that counts do not depend on which of them were.

use xoff_engine::Time;

use super::Links;
use super::flow_control::LinkControl;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::PortId;
use crate::network::Network;
use crate::settings::{Order, UetOf};

/// The end of a port's last frame is over, or an event.
const SETTLED: u64 = u64::MAX;
/// The ends of a host's frames are always events: its NIC may have something to send.
const ALWAYS_EVENT: u64 = u64::MAX - 1;

/// Ends of frames that are no events.
pub(crate) struct FrameEnds {
    /// By port: the reserved place of the end of the frame on the wire, [`SETTLED`] or [`ALWAYS_EVENT`].
    places: Vec<u64>,
    /// The time of the first of them after the last window.
    earliest: Time,
}

impl FrameEnds {
    /// No frames; `None` if each end of a frame is an event, or none is. With credits and link-level retry the end does more than to
    /// free the port, and so it does if switches mark packets then.
    pub fn new<C: LinkControl>(net: &Network, has_retries: bool) -> Option<Box<FrameEnds>> {
        let quirks = &net.settings.quirks;
        let are_plain = !C::HAS_CREDITS && !has_retries && quirks.uet != UetOf::Htsim;
        let of = |port| if net.is_host(net.topology.node_of(port)) { ALWAYS_EVENT } else { SETTLED };
        (are_plain && quirks.order == Order::Scheduled).then(|| {
            Box::new(FrameEnds { places: net.topology.port_ids().map(of).collect(), earliest: Time::NEVER })
        })
    }
}

impl<C: LinkControl> Links<C> {
    /// Schedules the end of the frame that has just begun on the wire of a port.
    #[inline]
    pub(super) fn schedule_end(&mut self, ctx: &mut Ctx, port_id: PortId) {
        let port = &mut self.ports[port_id.index()];
        port.armed = true;
        let (node, at) = (port.node, port.busy_until);
        if let Some(ends) = &mut self.ends {
            let place = &mut ends.places[port_id.index()];
            if *place != ALWAYS_EVENT {
                debug_assert_eq!(*place, SETTLED, "one frame at a time");
                *place = ctx.events.reserve();
                return;
            }
        }
        ctx.schedule(node, at, key(kind::PORT_READY, port_id.0), 0);
    }

    /// Frees a port whose frame has ended before the current event.
    #[inline]
    pub fn settle_end(&mut self, ctx: &mut Ctx, port_id: PortId) {
        if C::HAS_CREDITS {
            return;
        }
        let Some(ends) = &mut self.ends else { return };
        let (place, port) = (&mut ends.places[port_id.index()], &mut self.ports[port_id.index()]);
        if *place >= ALWAYS_EVENT || port.busy_until > ctx.now {
            return;
        }
        if port.busy_until < ctx.now || ctx.events.is_past(*place) {
            *place = SETTLED;
            port.armed = false;
            ctx.counters.count(port.busy_until, key(kind::PORT_READY, port_id.0));
        }
    }

    /// Something waits for a busy port: the end of its frame is an event.
    #[inline]
    pub fn await_end(&mut self, ctx: &mut Ctx, port_id: PortId) {
        let Some(ends) = &mut self.ends else { return };
        let place = &mut ends.places[port_id.index()];
        if *place < ALWAYS_EVENT {
            let at = self.ports[port_id.index()].busy_until;
            ctx.events.push_at(*place, at, key(kind::PORT_READY, port_id.0), 0);
            *place = SETTLED;
        }
    }

    /// Frees all ports whose frames have ended before `limit`, the end of a window.
    pub fn settle_ends(&mut self, ctx: &mut Ctx, limit: Time) {
        let Some(ends) = &mut self.ends else { return };
        ends.earliest = Time::NEVER;
        for (number, place) in (0u32..).zip(&mut ends.places).filter(|(_, place)| **place < ALWAYS_EVENT) {
            let port = &mut self.ports[number as usize];
            let at = port.busy_until;
            if at >= limit {
                ends.earliest = ends.earliest.min(at);
                continue;
            }
            *place = SETTLED;
            port.armed = false;
            ctx.counters.count(at, key(kind::PORT_READY, number));
            ctx.now = ctx.now.max(at);
        }
    }

    /// The time of the first end of a frame that is no event, between windows; [`Time::NEVER`] if there is none.
    pub fn earliest_end(&self) -> Time {
        self.ends.as_ref().map_or(Time::NEVER, |ends| ends.earliest)
    }

    /// Makes each end of a frame an event. Nothing has been sent so far.
    pub fn make_ends_events(&mut self) {
        self.ends = None;
    }
}
