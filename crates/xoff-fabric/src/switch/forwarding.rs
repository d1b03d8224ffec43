//! Forwarding: from an egress queue of a switch onto the wire.

use xoff_schemes::IntPath;
use xoff_schemes::int::PortReading;

use super::Switches;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::{PortId, QueueId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::observe::breakdown;
use crate::packet::{CHARGED, DATA, Frame, Kind, PacketId};

impl Switches {
    /// A packet joins an egress queue, or goes straight to the wire if no packet is before it.
    #[inline]
    pub fn enqueue<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) {
        let (kind, class, size) = (frame.kind, frame.class, frame.size());
        links.settle_end(ctx, egress);
        let port = &mut links.ports[egress.index()];
        let idle = port.is_idle(ctx.now);
        let mut may_send = port.paused & (1 << class) == 0;
        let by_flow = C::QUEUES_FLOWS && class >= DATA;
        let first = !by_flow && port.sendable() == 0 && port.backlog & (1 << class) == 0;
        if idle && may_send && first && self.may_leave(ctx, links, egress, frame) {
            if self.queue_hooks && kind == Kind::Data {
                self.on_enqueue(ctx, links, egress, id, class, size);
            }
            return self.forward(ctx, links, egress, id, frame);
        }
        let port = &mut links.ports[egress.index()];
        // The class may have just been stopped for lack of credits.
        may_send &= port.paused & (1 << class) == 0;
        if C::HAS_CREDITS && !may_send && port.is_dead() {
            return self.drop_waiting(ctx, links, egress, id, frame);
        }
        port.backlog |= 1 << class;
        port.queued_bytes += size;
        port.recent_max_bytes = port.recent_max_bytes.max(port.queued_bytes);
        if may_send && !port.armed && !idle {
            port.armed = true;
            let (node, at) = (port.node, port.busy_until);
            ctx.schedule(node, at, key(kind::PORT_READY, egress.0), 0);
        } else if may_send && !idle {
            links.await_end(ctx, egress);
        }
        let ingress = ctx.packets[id].ingress;
        self.push(ctx, links, egress, class, ingress, id, size);
        if self.queue_hooks && kind == Kind::Data {
            self.on_enqueue(ctx, links, egress, id, class, 0);
        }
        if by_flow && !links.effects.is_empty() {
            // The class was stopped, and this packet is of a flow that may go on.
            self.settle(ctx, links);
        }
        if idle && may_send {
            self.send_next(ctx, links, egress);
        }
    }

    /// A packet that came in by `ingress` joins the queue of a port and class.
    #[inline(always)] // runs for every packet
    #[allow(clippy::too_many_arguments)] // where from, where to, and what
    fn push<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        class: u8,
        ingress: PortId,
        id: PacketId,
        size: u64,
    ) {
        if ctx.probes.on_flows {
            let stopped = links.stopped_for(ctx.now, egress, class);
            breakdown::on_wait(&mut ctx.packets, id, stopped);
        }
        let place = links.place(egress, class);
        if C::QUEUES_FLOWS && class >= DATA {
            links.queues[place].bytes += size;
            let (queue, class) = (links.queue_id(egress, class), ctx.packets[id].ingress_class());
            return C::push(links, ctx, queue, links.queue_id(ingress, class), id, size);
        }
        match &mut self.voqs {
            Some(voqs) if class >= DATA => {
                links.queues[place].bytes += size;
                voqs.push(egress, (class - DATA).into(), ingress, id, &mut ctx.packets);
            }
            _ => links.queues[place].push(id, size, &mut ctx.packets),
        }
    }

    /// A port has finished a frame and another waits.
    #[inline(always)] // runs for every packet
    pub fn port_ready<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, egress: PortId) {
        let port = &mut links.ports[egress.index()];
        port.armed = false;
        if port.busy_until > ctx.now {
            // A resumed class went ahead in the meantime.
            return self.arm(ctx, links, egress);
        }
        if !self.marked_late.is_empty() {
            self.mark_late(ctx, links, egress);
        }
        self.send_next(ctx, links, egress);
    }

    /// Wakes a busy port at the end of its frame if something waits for it.
    #[inline(always)] // runs for every packet that waits
    fn arm<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, egress: PortId) {
        let port = &mut links.ports[egress.index()];
        if port.sendable() == 0 {
            return;
        }
        if port.armed {
            return links.await_end(ctx, egress);
        }
        port.armed = true;
        let (node, at) = (port.node, port.busy_until);
        ctx.schedule(node, at, key(kind::PORT_READY, egress.0), 0);
    }

    /// Sends the next packet of an idle port, if one may go.
    #[inline(always)] // runs for every packet
    fn send_next<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, egress: PortId) {
        loop {
            let sendable = links.ports[egress.index()].sendable();
            if sendable == 0 {
                return;
            }
            let class = links.choose(egress, sendable);
            let id = if C::QUEUES_FLOWS && class >= DATA {
                match self.first_of_flows(ctx, links, egress, class) {
                    Some(id) => id,
                    None => continue,
                }
            } else {
                self.first(links, egress, class)
            };
            let frame = ctx.packets[id].frame();
            if !self.may_leave(ctx, links, egress, frame) {
                continue;
            }
            self.take(ctx, links, egress, frame);
            self.forward(ctx, links, egress, id, frame);
            return self.arm(ctx, links, egress);
        }
    }

    /// The packet whose turn it is among the queues by flow of a class; if all are held back, the class is stopped.
    fn first_of_flows<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        class: u8,
    ) -> Option<PacketId> {
        let queue = links.queue_id(egress, class);
        let first = C::first(links, queue);
        if first.is_none() {
            links.stop(ctx, queue);
            if !links.effects.is_empty() {
                self.settle(ctx, links);
            }
        }
        first
    }

    /// The first packet of a class's queue.
    #[inline(always)] // runs for every packet
    pub(super) fn first<C>(&self, links: &Links<C>, egress: PortId, class: u8) -> PacketId {
        match &self.voqs {
            Some(voqs) if class >= DATA => voqs.head(egress, (class - DATA).into()),
            _ => links.queues[links.place(egress, class)].first(),
        }
    }

    /// The bytes with which a packet leaves: an ACK that gets telemetry grows.
    #[inline(always)] // runs for every packet, with credits
    pub(super) fn size_when_leaving(&self, ctx: &Ctx, frame: Frame) -> u64 {
        let grows = self.int == IntPath::Ack && frame.kind == Kind::Ack;
        if grows { frame.size() + ctx.net.wire.ack_growth } else { frame.size() }
    }

    /// Whether a packet has the credits that it needs; if not, its class is stopped.
    #[inline(always)] // runs for every packet
    fn may_leave<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        frame: Frame,
    ) -> bool {
        if !C::HAS_CREDITS || frame.class < DATA {
            return true;
        }
        let (queue, leaving) = (links.queue_id(egress, frame.class), self.size_when_leaving(ctx, frame));
        let may_send = C::may_send(links, ctx, queue, leaving);
        if !may_send && !links.effects.is_empty() {
            self.settle(ctx, links);
        }
        may_send
    }

    /// Takes the first packet out of its class's queue.
    #[inline(always)] // runs for every packet
    pub(super) fn take<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        frame: Frame,
    ) {
        let (class, size) = (frame.class, frame.size());
        let place = links.place(egress, class);
        let by_flow = C::QUEUES_FLOWS && class >= DATA;
        if by_flow {
            C::take(links, links.queue_id(egress, class));
        }
        let queue = &mut links.queues[place];
        match &mut self.voqs {
            _ if by_flow => queue.bytes -= size,
            Some(voqs) if class >= DATA => {
                voqs.pop(egress, (class - DATA).into(), &ctx.packets);
                queue.bytes -= size;
            }
            _ => _ = queue.pop(&ctx.packets),
        }
        let port = &mut links.ports[egress.index()];
        port.queued_bytes -= size;
        if queue.is_empty() {
            port.backlog &= !(1 << class);
        }
    }

    /// A port may send again, or has something new to send.
    pub fn kick<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, egress: PortId) {
        links.settle_end(ctx, egress);
        if links.ports[egress.index()].is_idle(ctx.now) {
            self.send_next(ctx, links, egress);
        } else {
            self.arm(ctx, links, egress);
        }
    }

    /// A packet leaves its queue for the wire: memory is released, marks and telemetry are written.
    #[inline(always)] // runs for every packet
    fn forward<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) {
        let packet = &mut ctx.packets[id];
        let ingress = packet.ingress;
        if packet.flags & CHARGED != 0 {
            packet.flags &= !CHARGED;
            let queue =
                QueueId::new(ingress, frame.class.wrapping_sub(packet.lane_change) - DATA, links.priorities);
            C::release(links, ctx, &mut self.accounting, queue, frame.size());
            let frames = if links.effects.is_empty() { 0 } else { self.carry_out(ctx, links) };
            self.depart(ctx, links, egress, id, frame);
            if frames > 0 {
                // A RESUME gets its number after the mark of the packet that it follows from.
                self.hooks.number_frames(frames);
            }
            if C::HAS_CREDITS {
                C::on_left(links, ctx, egress, queue, frame.size());
            }
            return;
        }
        self.depart(ctx, links, egress, id, frame);
    }

    /// A packet goes onto the wire: marks and telemetry are written.
    #[inline(always)] // runs for every packet
    pub fn depart<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        mut frame: Frame,
    ) {
        let class = frame.class;
        match frame.kind {
            Kind::Data => {
                if self.marks {
                    self.mark(ctx, links, egress, id, class);
                }
                if self.queue_hooks {
                    self.on_dequeue(ctx, links, egress, id, class);
                }
                if self.int == IntPath::Data {
                    let port = &links.ports[egress.index()];
                    let (tx_bytes, queue_bytes) = (port.tx_bytes, port.queued_bytes);
                    let reading = || PortReading { at: ctx.now, tx_bytes, queue_bytes, rate: port.rate };
                    ctx.packets.stamp(id, port.speed_code, reading);
                }
            }
            Kind::Ack if self.int == IntPath::Ack => {
                let ingress = ctx.packets[id].ingress;
                let reading = self.int_reading(ctx, links, ingress);
                let code = links.ports[ingress.index()].speed_code;
                ctx.packets.stamp(id, code, || reading);
                let packet = &mut ctx.packets[id];
                packet.size += ctx.net.wire.ack_growth as u16;
                frame = packet.frame();
            }
            Kind::Pfc | Kind::CreditUpdate => C::on_frame_sent(links, ctx, egress, id),
            Kind::Ack if class >= DATA && self.hooks.marks_acks => {
                self.on_ack_dequeue(ctx, links, egress, id, class)
            }
            _ => {}
        }
        links.put_on_wire(ctx, egress, id, frame);
    }
}
