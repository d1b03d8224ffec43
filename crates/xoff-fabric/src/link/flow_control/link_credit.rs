//! Link credits of HPC fabrics: they come back one by one, beside the data, as each packet leaves its buffer (PFT, section
//! III.A), with its last bit or flit by flit.

use std::hash::Hasher;

use xoff_engine::Time;

use super::counters::Unit;
use super::credits::Credits;
use super::flits::Flits;
use super::returning::{Arrival, Returning};
use super::{Accounting, Ctx, LinkControl, Links, Network, PortId, QueueId};
use crate::event::{key, kind};
use crate::link::port::AWAY;
use crate::settings::{CounterWidth, CreditGranularity, CreditUnit, FlowControl, LinkCredits, Order};

/// Link credits.
pub(crate) struct LinkCredit {
    credits: Credits,
    /// Bytes of the symbol in which credits come back.
    symbol: u64,
    /// Credits on their way back; `None` if each arrival of credits is an event.
    returning: Option<Returning>,
    /// `None` if the credits of a packet are taken and given back all at once.
    flits: Option<Box<Flits>>,
}

impl LinkCredit {
    /// Sends credits of an ingress queue back to the peer at time `at`, or those of a packet that leaves by the port `left_by` flit
    /// by flit, if credits do so.
    #[inline]
    fn give_back(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        queue: QueueId,
        credits: u64,
        at: Time,
        left_by: Option<PortId>,
    ) {
        let symbol = links.control.symbol;
        let Some(returning) = &mut links.control.returning else {
            return Self::give_back_by_event(links, ctx, queue, credits, at, left_by);
        };
        let port = &links.ports[queue.port(links.priorities).index()];
        if port.arrivals >= AWAY {
            return links.signal_peer(ctx, queue, credits as u32, at, symbol);
        }
        let there = queue.other_end(links.priorities);
        let is_stopped = links.stops[there.index()].is_stopped();
        if is_stopped && links.control.credits.missing(there) <= credits {
            return links.signal_peer(ctx, queue, credits as u32, at, symbol);
        }
        let Some(arrival) = Arrival::new(port.symbol_arrival(at, symbol), credits) else {
            return links.signal_peer(ctx, queue, credits as u32, at, symbol);
        };
        if returning.is_full(there) {
            let credits = &mut links.control.credits;
            returning.make_room(there, |arrival| take_in(credits, ctx, there, arrival));
        }
        returning.push(there, arrival);
        if is_stopped {
            Self::await_credits(links, ctx, there);
        }
    }

    /// Sends credits back whose arrival is an event.
    #[cold]
    #[inline(never)]
    fn give_back_by_event(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        queue: QueueId,
        credits: u64,
        at: Time,
        left_by: Option<PortId>,
    ) {
        let (message, at) = match (&links.control.flits, left_by) {
            (Some(flits), Some(egress)) => (flits.message(credits, egress), ctx.now + flits.step(egress)),
            _ => (credits as u32, at),
        };
        links.signal_peer(ctx, queue, message, at, links.control.symbol);
    }

    /// Turns the arrival that lets a stopped egress queue go on into an event, if the credits are on their way.
    #[cold]
    fn await_credits(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId) {
        let LinkCredit { credits, returning, flits, .. } = &mut links.control;
        let missing = credits.missing(queue);
        let at = match (returning, flits) {
            (Some(returning), _) => returning.event_for(queue, missing),
            (None, Some(flits)) => flits.event_for(ctx.now, queue, missing),
            (None, None) => None,
        };
        if let Some(at) = at {
            ctx.schedule(links.node_of(queue), at, key(kind::LINK_CONTROL_APPLY, queue.0), 0);
        }
    }

    /// Takes in the credits that have arrived at an egress queue before the current event, or with it.
    #[inline]
    fn collect(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId) {
        let LinkCredit { credits, returning, .. } = &mut links.control;
        let key = key(kind::LINK_CONTROL_APPLY, queue.0);
        // Simultaneous events come by key.
        let limit = if key <= ctx.key { ctx.now + Time(1) } else { ctx.now };
        let Some(returning) = returning else { return Self::collect_flits(links, limit, queue) };
        while let Some(arrival) = returning.pop_before(queue, limit) {
            take_in(credits, ctx, queue, arrival);
        }
    }

    /// Takes in the credits that have come back to an egress queue flit by flit before `limit`.
    #[cold]
    #[inline(never)]
    fn collect_flits(links: &mut Links<Self>, limit: Time, queue: QueueId) {
        let LinkCredit { credits, flits, .. } = &mut links.control;
        if let (Some(flits), Some(last)) = (flits, limit.0.checked_sub(1)) {
            flits.collect(Time(last), queue, credits);
        }
    }
}

/// Credits have arrived at an egress queue.
#[inline]
fn take_in(credits: &mut Credits, ctx: &mut Ctx, queue: QueueId, arrival: Arrival) {
    credits.sending[queue.index()].restore(arrival.credits());
    if !arrival.is_event() {
        ctx.counters.count(arrival.at(), key(kind::LINK_CONTROL_APPLY, queue.0));
    }
}

impl LinkControl for LinkCredit {
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
            FlowControl::Credit(params) => params.clone(),
            _ => LinkCredits::default(),
        };
        let unit = match params.unit {
            CreditUnit::Flit => Unit::of_bytes(params.flit.0),
            CreditUnit::Packet => Unit::PACKET,
        };
        let credits = Credits::new(net, unit, CounterWidth::Wide);
        let flits =
            (params.granularity == CreditGranularity::Flit).then(|| Box::new(Flits::new(net, params.flit.0)));
        // Throttles follow every credit, and only an event has a place in the order of scheduling.
        let followed = net.settings.throttle.is_some() || net.settings.quirks.order == Order::Scheduled;
        // Credits that come back to one lane may let another one go on.
        let returning = (!followed && flits.is_none() && !credits.is_shared())
            .then(|| Returning::new(credits.sending.len()));
        LinkCredit { credits, symbol: params.flit.0, returning, flits }
    }

    fn hash_state(links: &Links<Self>, now: Time, hasher: &mut impl Hasher) {
        links.control.credits.hash_used(hasher);
        if let Some(flits) = &links.control.flits {
            flits.hash_state(now, hasher);
        }
    }

    /// An event without credits only says that a queue waits for some that are on their way.
    fn describe(_links: &Links<Self>, _kind: u32, _index: u32, arg: u32) -> Option<u64> {
        (arg > 0).then_some(arg.into())
    }

    fn visit_returning(links: &Links<Self>, visit: impl FnMut(QueueId, Time, u32)) {
        if let Some(returning) = &links.control.returning {
            returning.visit(visit);
        }
    }

    fn earliest(links: &Links<Self>) -> Time {
        links.control.returning.as_ref().map_or(Time::NEVER, Returning::earliest)
    }

    fn end_window(links: &mut Links<Self>, ctx: &mut Ctx, limit: Time, late: bool) {
        let LinkCredit { credits, returning, flits, .. } = &mut links.control;
        match returning {
            Some(returning) => returning.end_window(limit, late, |queue, arrival| {
                take_in(credits, ctx, queue, arrival);
                ctx.now = ctx.now.max(arrival.at());
            }),
            None => flits.iter_mut().for_each(|flits| flits.collect_all(limit - Time(1), credits)),
        }
    }

    fn end_late(links: &mut Links<Self>, ctx: &mut Ctx) {
        let LinkCredit { credits, returning: Some(returning), .. } = &mut links.control else { return };
        returning.take_passed(|queue, arrival| {
            take_in(credits, ctx, queue, arrival);
            ctx.now = ctx.now.max(arrival.at());
        });
    }

    #[inline(always)]
    fn passes(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        queue: QueueId,
        egress: QueueId,
        size: u64,
        leaving: u64,
    ) -> bool {
        if links.control.credits.passes(queue, egress, size, leaving) {
            return true;
        }
        Self::collect(links, ctx, egress);
        links.control.credits.passes(queue, egress, size, leaving)
    }

    #[inline(always)]
    fn on_left(links: &mut Links<Self>, ctx: &mut Ctx, egress: PortId, queue: QueueId, size: u64) {
        let port = &links.ports[egress.index()];
        let left_at = port.busy_until - port.gap;
        let credits = &mut links.control.credits;
        let number = credits.unit.credits(size);
        credits.receiving[queue.index()].free(number);
        Self::give_back(links, ctx, queue, number, left_at, Some(egress));
    }

    fn on_dropped(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) {
        let credits = &mut links.control.credits;
        let number = credits.unit.credits(size);
        credits.receiving[queue.index()].free(number);
        let now = ctx.now;
        Self::give_back(links, ctx, queue, number, now, None);
    }

    #[inline]
    fn on_consumed(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) {
        let credits = &mut links.control.credits;
        let number = credits.unit.credits(size);
        let end = &mut credits.receiving[queue.index()];
        end.receive(number);
        end.free(number);
        let now = ctx.now;
        Self::give_back(links, ctx, queue, number, now, None);
    }

    #[inline(always)]
    fn may_send(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) -> bool {
        if links.control.credits.may_send(queue, size) {
            return true;
        }
        Self::collect(links, ctx, queue);
        if links.control.credits.may_send(queue, size) {
            return true;
        }
        links.stop(ctx, queue);
        Self::await_credits(links, ctx, queue);
        false
    }

    fn used_credits(links: &Links<Self>, port: PortId, at: Time) -> Option<u64> {
        let LinkCredit { credits, flits, .. } = &links.control;
        Some(match flits {
            Some(flits) => flits.used(credits, port, Credits::queues(port, links.priorities), at),
            None => credits.used(port, links.priorities),
        })
    }

    fn on_followed_departure(links: &mut Links<Self>, ctx: &Ctx, port: PortId, size: u64) {
        let LinkCredit { credits, flits, .. } = &mut links.control;
        if let Some(flits) = flits {
            flits.depart(ctx.now, port, credits.unit.credits(size));
        }
    }

    fn next_credit_change(links: &Links<Self>, port: PortId, after: Time) -> Option<Time> {
        let flits = links.control.flits.as_ref()?;
        flits.next_change(port, Credits::queues(port, links.priorities), after)
    }

    fn credit_bounds(links: &Links<Self>, port: PortId, from: Time) -> Option<(u64, u64)> {
        let flits = links.control.flits.as_ref()?;
        Some(flits.bounds(&links.control.credits, port, Credits::queues(port, links.priorities), from))
    }

    /// Credits come back to an egress queue: those of which `arg` tells, and those that lie in [`Returning`].
    #[inline]
    fn on_event(links: &mut Links<Self>, ctx: &mut Ctx, _: &mut Accounting, _: u32, index: u32, arg: u32) {
        let queue = QueueId(index);
        let LinkCredit { credits, flits, .. } = &mut links.control;
        match flits {
            Some(flits) => flits.arrive(ctx.now, queue, arg),
            None => credits.sending[queue.index()].restore(arg.into()),
        }
        Self::collect(links, ctx, queue);
        if links.stops[queue.index()].is_stopped() && !links.control.credits.has_awaited(queue) {
            Self::await_credits(links, ctx, queue);
        }
        links.credits_came(ctx, queue);
    }
}
