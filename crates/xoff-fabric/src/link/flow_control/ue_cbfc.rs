//! Ultra Ethernet's credit-based flow control: as each packet leaves its buffer, the receiver tells its peer by a control ordered
//! set how many cells it has freed since the beginning.
//!
//! Readings that were not checked against the specification's text: a message follows each packet, it takes no room on the wire, and
//! bit errors may spoil it, as they may a frame of so many bytes. A receiver repeats its count after a time; a repetition is
//! simulated only if the message before it was lost, since it changes nothing otherwise.

use super::counters::Unit;
use super::credits::Credits;
use super::{Accounting, Ctx, LinkControl, Links, Network, PortId, QueueId};
use crate::event::{key, kind};
use crate::settings::{self, CounterWidth, FlowControl};

/// Credits of Ultra Ethernet.
pub(crate) struct UeCbfc {
    credits: Credits,
    params: settings::UeCbfc,
}

impl UeCbfc {
    /// Frees the cells of a packet that has left the buffer of an ingress queue, and tells the peer.
    fn free(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, credits: u64) {
        links.control.credits.receiving[queue.index()].free(credits);
        Self::tell(links, ctx, queue);
    }

    /// Tells the peer how many cells of an ingress queue are free again since the beginning.
    fn tell(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId) {
        let (bytes, repeat) = (links.control.params.message.0, links.control.params.repeat);
        let port = queue.port(links.priorities);
        if links.damage(ctx, port, |errors| errors.of_ordered_set(bytes)).is_some() {
            let node = links.node_of(queue);
            return ctx.schedule(node, ctx.now + repeat, key(kind::LINK_CONTROL_PERIOD, queue.0), 0);
        }
        let freed = links.control.credits.receiving[queue.index()].freed() as u32;
        links.signal_peer(ctx, queue, freed, ctx.now, bytes);
    }
}

impl LinkControl for UeCbfc {
    const HAS_CREDITS: bool = true;

    #[inline(always)]
    fn credits(&self) -> Option<&Credits> {
        Some(&self.credits)
    }

    #[inline(always)]
    fn credits_mut(&mut self) -> Option<&mut Credits> {
        Some(&mut self.credits)
    }

    fn new(net: &Network) -> Self {
        let params = match &net.settings.flow_control {
            FlowControl::UeCbfc(params) => params.clone(),
            _ => settings::UeCbfc::default(),
        };
        UeCbfc { credits: Credits::new(net, Unit::of_bytes(params.cell.0), CounterWidth::Wide), params }
    }

    /// A count of freed cells that comes to an egress queue tells how many are new.
    fn describe(links: &Links<Self>, event: u32, index: u32, arg: u32) -> Option<u64> {
        let known = || links.control.credits.sending[index as usize].known_freed() as u32;
        let new = if event == kind::LINK_CONTROL_APPLY { arg.wrapping_sub(known()) } else { arg };
        Some(new.into())
    }

    #[inline(always)]
    fn passes(
        links: &mut Links<Self>,
        _: &mut Ctx,
        queue: QueueId,
        egress: QueueId,
        size: u64,
        leaving: u64,
    ) -> bool {
        links.control.credits.passes(queue, egress, size, leaving)
    }

    /// The cells are free when the packet's last bit has left.
    fn on_left(links: &mut Links<Self>, ctx: &mut Ctx, egress: PortId, queue: QueueId, size: u64) {
        let port = &links.ports[egress.index()];
        let (node, at) = (port.node, port.busy_until - port.gap);
        let credits = links.control.credits.unit.credits(size) as u32;
        ctx.schedule(node, at, key(kind::LINK_CONTROL_EXPIRY, queue.0), credits);
    }

    fn on_dropped(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) {
        let credits = links.control.credits.unit.credits(size);
        Self::free(links, ctx, queue, credits);
    }

    fn on_consumed(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) {
        let credits = links.control.credits.unit.credits(size);
        links.control.credits.receiving[queue.index()].receive(credits);
        Self::free(links, ctx, queue, credits);
    }

    #[inline(always)]
    fn may_send(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) -> bool {
        let enough = links.control.credits.may_send(queue, size);
        if !enough {
            links.stop(ctx, queue);
        }
        enough
    }

    /// Cells become free, a count is told again, or a count has come to an egress queue.
    fn on_event(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        _: &mut Accounting,
        event: u32,
        index: u32,
        arg: u32,
    ) {
        let queue = QueueId(index);
        match event {
            kind::LINK_CONTROL_EXPIRY => return Self::free(links, ctx, queue, arg.into()),
            kind::LINK_CONTROL_PERIOD => return Self::tell(links, ctx, queue),
            _ => {}
        }
        links.control.credits.sending[queue.index()].freed(arg);
        links.credits_came(ctx, queue);
    }
}
