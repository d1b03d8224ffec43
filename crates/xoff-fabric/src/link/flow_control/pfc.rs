//! PAUSE and RESUME frames (IEEE 802.1Qbb): ingress accounting sends them, and the peer's egress obeys.
//!
//! A PAUSE waits for the frame on the wire, goes before anything else, travels the link, and stops the peer after
//! the frame that the peer is sending. A pause ends by a RESUME (quanta 0) or when its quanta have passed; its sender
//! repeats the PAUSE at half that time while the threshold is still exceeded. While a frame of a priority waits for the
//! wire, a new PAUSE or RESUME of that priority changes the waiting frame: two frames of a priority never wait.

use std::hash::{Hash, Hasher};

use bytemuck::Zeroable;
use xoff_engine::{SparseList, Time};

use super::{Accounting, Ctx, Effect, LinkControl, Links, Network, Overflow, PacketId, PortId, QueueId};
use crate::event::{key, kind};
use crate::link::buffer::quanta_time;
use crate::packet::{Kind, Packet};
use crate::settings::{self, FlowControl, FlowControlKind};

/// PFC of one queue: as egress, what its peer asked for; as ingress, what it asked of its peer. Zeros are the beginning.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
struct QueueState {
    /// When the egress's pause expires.
    until: Time,
    /// When the ingress repeats its PAUSE or, if it does not repeat, regards the pause as expired.
    refresh_at: Time,
    /// A frame of the ingress waits for the wire.
    is_waiting: bool,
    /// That frame.
    frame: PacketId,
    /// When the last RESUME of the ingress takes effect at the peer.
    freed_at: Time,
}

/// Priority-based Flow Control.
pub(crate) struct Pfc {
    params: settings::Pfc,
    /// By queue.
    queues: SparseList<QueueState>,
}

impl Pfc {
    /// Tells the peer of an ingress queue to pause.
    #[cold]
    fn pause(links: &mut Links<Self>, ctx: &mut Ctx, accounting: &mut Accounting, queue: QueueId) {
        let params = &links.control.params;
        let (quanta, refresh, expires) = (params.quanta, params.refresh, params.expires);
        accounting.set_pausing(queue, true);
        let port = queue.port(links.priorities);
        if expires {
            // The peer counts quanta by the rate at which it sends.
            let pause = quanta_time(u64::from(quanta), ctx.net.topology.rate(port.peer()));
            let next = ctx.now + if refresh { pause / 2 } else { pause }.max(Time(1));
            links.control.queues[queue.index()].refresh_at = next;
            ctx.schedule(links.ports[port.index()].node, next, key(kind::LINK_CONTROL_PERIOD, queue.0), 0);
        }
        Self::send(links, ctx, queue, quanta);
    }

    /// Tells the peer of an ingress queue to go on.
    #[cold]
    fn unpause(links: &mut Links<Self>, ctx: &mut Ctx, accounting: &mut Accounting, queue: QueueId) {
        accounting.set_pausing(queue, false);
        links.control.queues[queue.index()].refresh_at = Time::NEVER;
        Self::send(links, ctx, queue, 0);
    }

    fn send(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, quanta: u16) {
        let state = &mut links.control.queues[queue.index()];
        if state.is_waiting {
            ctx.packets[state.frame].seq = u64::from(quanta);
            return;
        }
        let (port, priority) = (queue.port(links.priorities), queue.priority(links.priorities));
        let id = ctx.packets.insert(Packet::pfc(port, priority, quanta, ctx.net.wire.pfc, ctx.now));
        (state.is_waiting, state.frame) = (true, id);
        links.effects.push(Effect::Send(port, id));
    }

    /// Repeats a PAUSE that is still in force. If the settings say not to repeat, forgets the PAUSE: the peer goes on, and
    /// the next packet above the threshold causes another PAUSE.
    fn refresh(links: &mut Links<Self>, ctx: &mut Ctx, accounting: &mut Accounting, queue: QueueId) {
        let is_pausing = accounting.buffers[queue.index()].is_pausing();
        if !is_pausing || links.control.queues[queue.index()].refresh_at != ctx.now {
            return;
        }
        if links.control.params.refresh {
            Self::pause(links, ctx, accounting, queue);
        } else {
            accounting.set_pausing(queue, false);
        }
    }

    /// Whether the link of an egress `queue` was down since the frame came that is to take effect now.
    fn is_stale(links: &Links<Self>, ctx: &Ctx, queue: QueueId) -> bool {
        let Some(plan) = &ctx.net.faults else { return false };
        let port = queue.port(links.priorities);
        let response = u64::from(links.control.params.response_quanta);
        let response = quanta_time(response, links.ports[port.index()].rate);
        plan.outage(port.link(), ctx.simulated().saturating_sub(response), ctx.simulated()).is_some()
    }

    /// Stops an egress queue for `quanta`, or frees it if that is 0.
    fn apply(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, quanta: u64) {
        if quanta == 0 {
            return links.resume(ctx, queue);
        }
        let port = &links.ports[queue.port(links.priorities).index()];
        let until = ctx.now + quanta_time(quanta, port.rate);
        links.control.queues[queue.index()].until = until;
        if links.control.params.expires {
            ctx.schedule(port.node, until, key(kind::LINK_CONTROL_EXPIRY, queue.0), 0);
        }
        let stop = &mut links.stops[queue.index()];
        stop.count_frame();
        if !stop.is_stopped() {
            links.stop(ctx, queue);
        }
    }
}

impl LinkControl for Pfc {
    /// Times at which a pause ends or is repeated may have moved since their events were scheduled.
    fn describe(_links: &Links<Self>, event: u32, _index: u32, arg: u32) -> Option<u64> {
        (event == kind::LINK_CONTROL_APPLY).then_some(arg.into())
    }

    fn hash_state(links: &Links<Self>, now: Time, hasher: &mut impl Hasher) {
        for (place, queue) in links.control.queues.iter().enumerate() {
            let QueueState { until, refresh_at, is_waiting, freed_at, .. } = *queue;
            let times = [until, refresh_at, freed_at].map(|at| match at {
                Time::NEVER => Time::ZERO,
                at => at.saturating_sub(now),
            });
            if is_waiting || times != [Time::ZERO; 3] {
                (place, is_waiting, times).hash(hasher);
            }
        }
    }

    fn new(net: &Network) -> Self {
        let params = match &net.settings.flow_control {
            FlowControl::Pfc(pfc) => pfc.clone(),
            _ => settings::Pfc::default(),
        };
        let queues = net.topology.ports() as usize * usize::from(net.settings.switch.priorities);
        Pfc { params, queues: SparseList::zeros(queues) }
    }

    #[inline(always)]
    fn admit(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    ) -> Result<(), Overflow> {
        if accounting.charge(queue, size)? {
            Self::pause(links, ctx, accounting, queue);
        }
        Ok(())
    }

    #[inline(always)]
    fn release(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        accounting: &mut Accounting,
        queue: QueueId,
        size: u64,
    ) {
        if accounting.release(queue, size) {
            Self::unpause(links, ctx, accounting, queue);
        }
    }

    #[cold]
    fn on_frame(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId, id: PacketId) {
        let (quanta, priority) = (ctx.packets[id].quanta(), ctx.packets[id].link_priority());
        ctx.packets.remove(id);
        let queue = QueueId::new(port, priority, links.priorities);
        // A RESUME takes as long as a PAUSE, so that one never overtakes the other.
        let port = &links.ports[port.index()];
        let response = quanta_time(u64::from(links.control.params.response_quanta), port.rate);
        if response == Time::ZERO {
            Self::apply(links, ctx, queue, quanta);
        } else {
            let at = ctx.now + response;
            ctx.schedule(port.node, at, key(kind::LINK_CONTROL_APPLY, queue.0), quanta as u32);
        }
    }

    #[cold]
    fn on_frame_sent(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId, id: PacketId) {
        let packet = &ctx.packets[id];
        let queue = QueueId::new(port, packet.link_priority(), links.priorities);
        let state = &mut links.control.queues[queue.index()];
        state.is_waiting = false;
        if packet.quanta() > 0 {
            return ctx.probes.on_control_frame(ctx.now, port, Kind::Pfc);
        }
        *ctx.probes.records.totals.resume_frames.at(port) += 1;
        let response = u64::from(links.control.params.response_quanta);
        let response = quanta_time(response, ctx.net.topology.rate(port.peer()));
        state.freed_at = links.ports[port.index()].symbol_arrival(ctx.now, packet.size.into()) + response;
    }

    fn on_event(
        links: &mut Links<Self>,
        ctx: &mut Ctx,
        accounting: &mut Accounting,
        event: u32,
        index: u32,
        arg: u32,
    ) {
        let queue = QueueId(index);
        if event == kind::LINK_CONTROL_APPLY && Self::is_stale(links, ctx, queue) {
            return;
        }
        match event {
            kind::LINK_CONTROL_APPLY => Self::apply(links, ctx, queue, u64::from(arg)),
            kind::LINK_CONTROL_PERIOD => Self::refresh(links, ctx, accounting, queue),
            _ => {
                // A later PAUSE may have prolonged the pause.
                if links.control.queues[queue.index()].until == ctx.now {
                    links.resume(ctx, queue);
                }
            }
        }
    }

    fn on_frame_dropped(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId, id: PacketId) {
        let queue = QueueId::new(port, ctx.packets[id].link_priority(), links.priorities);
        links.control.queues[queue.index()].is_waiting = false;
    }

    /// Pauses end on both sides: a link that comes up again begins without any.
    fn on_link_down(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId) {
        for priority in 0..links.priorities as u8 {
            let queue = QueueId::new(port, priority, links.priorities);
            let state = &mut links.control.queues[queue.index()];
            (state.until, state.refresh_at, state.freed_at) = (Time::ZERO, Time::NEVER, Time::ZERO);
            links.resume(ctx, queue);
        }
    }

    /// An ingress queue that is over its threshold, from before the link went down, says so.
    fn on_link_up(links: &mut Links<Self>, ctx: &mut Ctx, accounting: &mut Accounting, port: PortId) {
        for priority in 0..links.priorities as u8 {
            let queue = QueueId::new(port, priority, links.priorities);
            let pausing = accounting.is_over(queue);
            accounting.set_pausing(queue, pausing);
            if pausing {
                Self::pause(links, ctx, accounting, queue);
            }
        }
    }

    /// The queue was paused, the ingress that paused it is still over its threshold, and no earlier RESUME is on its way, which
    /// would let a packet go before the PAUSE behind it. A pause that is not repeated ends by itself.
    fn is_blocked(
        here: &Links<Self>,
        there: &Links<Self>,
        accounting: &Accounting,
        queue: QueueId,
        now: Time,
    ) -> bool {
        let ingress = queue.other_end(here.priorities).index();
        !here.control.params.stops_expire()
            && accounting.buffers[ingress].is_pausing()
            && there.control.queues[ingress].freed_at <= now
    }
}
