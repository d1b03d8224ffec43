//! Link credits of HPC fabrics: they come back one by one, beside the data, as each packet leaves its buffer (PFT, section
//! III.A).

use xoff_engine::Time;

use super::counters::{ReceivingEnd, SendingEnd, Unit};
use super::credits::Credits;
use super::{Accounting, Ctx, LinkControl, Links, Network, Overflow, PacketId, PortId, QueueId};
use crate::settings::CounterWidth;
use crate::settings::{CreditUnit, FlowControl, LinkCredits};

/// Link credits.
pub(crate) struct LinkCredit {
    credits: Credits,
    /// Bytes of the symbol in which credits come back.
    symbol: u64,
}

impl LinkCredit {
    /// Sends credits of an ingress queue back at a time.
    #[inline]
    fn give_back(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, credits: u64, at: Time) {
        links.signal_peer(ctx, queue, credits as u32, at, links.control.symbol);
    }
}

impl LinkControl for LinkCredit {
    const HAS_CREDITS: bool = true;

    fn new(net: &Network) -> Self {
        let params = match &net.settings.flow_control {
            FlowControl::Credit(params) => params.clone(),
            _ => LinkCredits::default(),
        };
        let unit = match params.unit {
            CreditUnit::Flit => Unit::of_bytes(params.flit.0),
            CreditUnit::Packet => Unit::Packet,
        };
        LinkCredit { credits: Credits::new(net, unit, CounterWidth::Wide), symbol: params.flit.0 }
    }

    #[inline(always)]
    fn passes(links: &mut Links<Self>, queue: QueueId, egress: QueueId, size: u64, leaving: u64) -> bool {
        links.control.credits.passes(queue, egress, size, leaving)
    }

    #[inline(always)]
    fn admit(
        links: &mut Links<Self>,
        _: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    ) -> Result<(), Overflow> {
        accounting.charge(queue, size)?;
        links.control.credits.receive(queue, size);
        Ok(())
    }

    #[inline(always)]
    fn release(_: &mut Links<Self>, _: &mut Ctx, accounting: &mut Accounting, queue: QueueId, size: u64) {
        accounting.release(queue, size);
    }

    #[inline(always)]
    fn on_left(links: &mut Links<Self>, ctx: &mut Ctx, egress: PortId, queue: QueueId, size: u64) {
        let port = &links.ports[egress as usize];
        let left_at = port.busy_until - port.gap;
        let credits = &mut links.control.credits;
        let number = credits.unit.credits(size);
        credits.receiving[queue.index()].free(number);
        Self::give_back(links, ctx, queue, number, left_at);
    }

    #[inline]
    fn on_consumed(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) {
        let credits = &mut links.control.credits;
        let number = credits.unit.credits(size);
        let end = &mut credits.receiving[queue.index()];
        end.receive(number);
        end.free(number);
        let now = ctx.now;
        Self::give_back(links, ctx, queue, number, now);
    }

    #[inline(always)]
    fn may_send(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) -> bool {
        let enough = links.control.credits.may_send(queue, size);
        if !enough {
            links.stop(ctx, queue);
        }
        enough
    }

    #[inline(always)]
    fn on_sent(links: &mut Links<Self>, _: &mut Ctx, queue: QueueId, size: u64) {
        links.control.credits.spend(queue, size);
    }

    fn on_frame(_: &mut Links<Self>, ctx: &mut Ctx, _: PortId, id: PacketId) {
        ctx.packets.remove(id);
    }

    fn on_frame_sent(_: &mut Links<Self>, _: &mut Ctx, _: PortId, _: PacketId) {}

    /// Credits come back to an egress queue.
    #[inline]
    fn on_event(links: &mut Links<Self>, ctx: &mut Ctx, _: &mut Accounting, _: u32, index: u32, arg: u32) {
        let queue = QueueId(index);
        let credits = &mut links.control.credits;
        credits.sending[queue.index()].restore(arg.into());
        let resumes = links.stops[queue.index()].is_stopped() && credits.has_awaited(queue);
        links.credited(ctx, queue, resumes);
    }

    fn used_credits(links: &Links<Self>, port: PortId) -> Option<u64> {
        Some(links.control.credits.used(port, links.priorities))
    }

    fn is_blocked(here: &Links<Self>, there: &Links<Self>, _: &Accounting, queue: QueueId) -> bool {
        !here.control.credits.would_fit(queue, &there.control.credits, here.priorities)
    }

    fn counters<'a>(
        here: &'a Links<Self>,
        there: &'a Links<Self>,
        queue: QueueId,
    ) -> Option<(&'a SendingEnd, &'a ReceivingEnd)> {
        let other = queue.other_end(here.priorities).index();
        Some((&here.control.credits.sending[queue.index()], &there.control.credits.receiving[other]))
    }
}
