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

/// The value of [`Port::end`] if the end of a port's last frame is over, or an event. A value between this and [`ALWAYS_EVENT`] is
/// the reserved place of the end of the frame on the wire.
const SETTLED: u64 = 0;
/// The value of [`Port::end`] of a host's port: the ends of its frames are always events, since its NIC may have something to send.
const ALWAYS_EVENT: u64 = u64::MAX;

/// Whether a value of [`Port::end`] is a reserved place.
#[inline]
fn is_reserved(end: u64) -> bool {
    end.wrapping_sub(1) < ALWAYS_EVENT - 1
}

/// Ends of frames that are no events.
pub(crate) struct FrameEnds {
    /// The time of the first of them after the last window.
    earliest: Time,
}

impl FrameEnds {
    /// No frames; `None` if each end of a frame is an event, or none is. With credits and link-level retry the end does more than to
    /// free the port, and so it does if switches mark packets then.
    pub fn new<C: LinkControl>(net: &Network, has_retries: bool) -> Option<FrameEnds> {
        let quirks = &net.settings.quirks;
        let are_plain = !C::HAS_CREDITS && !has_retries && quirks.uet != UetOf::Htsim;
        (are_plain && quirks.order == Order::Scheduled).then_some(FrameEnds { earliest: Time::NEVER })
    }

    /// The value of [`Port::end`] of a port that has sent nothing.
    pub fn of_port(of_host: bool) -> u64 {
        if of_host { ALWAYS_EVENT } else { SETTLED }
    }
}

impl<C: LinkControl> Links<C> {
    /// Schedules the end of the frame that has just begun on the wire of a port.
    #[inline(always)] // runs for every packet in such runs, at hosts and at switches each in a place of its own
    pub fn schedule_end(&mut self, ctx: &mut Ctx, port_id: PortId) {
        let port = &mut self.ports[port_id.index()];
        port.armed = true;
        let (node, at) = (port.node, port.busy_until);
        if self.ends.is_some() && port.end != ALWAYS_EVENT {
            debug_assert_eq!(port.end, SETTLED, "one frame at a time");
            port.end = ctx.events.reserve();
            return;
        }
        ctx.schedule(node, at, key(kind::PORT_READY, port_id.0), 0);
    }

    /// Frees a port whose frame has ended before the current event. Whether it has is unpredictable, so no branch asks.
    #[inline]
    pub fn settle_end(&mut self, ctx: &mut Ctx, port_id: PortId) {
        if C::HAS_CREDITS {
            return;
        }
        if self.ends.is_none() {
            return;
        }
        let port = &mut self.ports[port_id.index()];
        let (at, is_past) = (port.busy_until, ctx.events.is_past(port.end));
        let is_over = is_reserved(port.end) & ((at < ctx.now) | ((at == ctx.now) & is_past));
        port.end = if is_over { SETTLED } else { port.end };
        port.armed &= !is_over;
        ctx.counters.count_if(is_over, at, key(kind::PORT_READY, port_id.0));
    }

    /// Something waits for a busy port: the end of its frame is an event.
    #[inline]
    pub fn await_end(&mut self, ctx: &mut Ctx, port_id: PortId) {
        let port = &mut self.ports[port_id.index()];
        if self.ends.is_some() && is_reserved(port.end) {
            ctx.events.push_at(port.end, port.busy_until, key(kind::PORT_READY, port_id.0), 0);
            port.end = SETTLED;
        }
    }

    /// Frees all ports whose frames have ended before `limit`, the end of a window.
    pub fn settle_ends(&mut self, ctx: &mut Ctx, limit: Time) {
        let Some(ends) = &mut self.ends else { return };
        ends.earliest = Time::NEVER;
        for (number, port) in (0u32..).zip(&mut *self.ports).filter(|(_, port)| is_reserved(port.end)) {
            let at = port.busy_until;
            if at >= limit {
                ends.earliest = ends.earliest.min(at);
                continue;
            }
            port.end = SETTLED;
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
