//! A packet's arrival at a switch: its next hop, and whether it passes at once.

use xoff_schemes::IntPath;
use xoff_schemes::int::PortReading;

use super::Switches;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::fault::Cause;
use crate::ids::{NodeId, PortId, QueueId};
use crate::link::Links;
use crate::link::buffer::Overflow;
use crate::link::flow_control::LinkControl;
use crate::link::port::{DEAD, DROPS, Port};
use crate::observe::Failure;
use crate::packet::{CHARGED, DATA, Frame, Kind, MAC_CONTROL, PacketId, is_by_hop};

impl Switches {
    /// A packet's last bit has arrived at a switch, or its header if switches cut through. Where `node` is not given it is looked up.
    #[inline(always)] // runs for every packet
    pub fn arrival<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        node: Option<NodeId>,
        ingress: PortId,
        id: PacketId,
    ) {
        ctx.counters.packet_hops += 1;
        let packet = &mut ctx.packets[id];
        if packet.class == MAC_CONTROL {
            return self.link_frame_arrival(ctx, links, ingress, id);
        }
        packet.ingress = ingress;
        let frame = packet.frame();
        let position = packet.position;
        if is_by_hop(position) {
            return self.arrival_by_hop(ctx, links, node, ingress, id);
        }
        packet.position = position.wrapping_add(1);
        let egress = ctx.net.paths.ports.at(position);
        self.go_on(ctx, links, node, (ingress, frame.class), egress, id, frame);
    }

    /// The same for a packet whose next hop or lane the switch chooses.
    #[inline(never)]
    fn arrival_by_hop<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        node: Option<NodeId>,
        ingress: PortId,
        id: PacketId,
    ) {
        let class = ctx.packets[id].class;
        let node = node.unwrap_or_else(|| links.ports[ingress.index()].node);
        let egress = self.read_and_route(ctx, links, node, id);
        let frame = ctx.packets[id].frame();
        self.go_on(ctx, links, Some(node), (ingress, class), egress, id, frame);
    }

    /// A packet that came by an ingress port in a class goes on to its egress port.
    #[inline(always)] // runs for every packet
    #[allow(clippy::too_many_arguments)] // where from, where to, and what
    fn go_on<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        node: Option<NodeId>,
        (ingress, class): (PortId, u8),
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) {
        let (size, kind) = (frame.size(), frame.kind);
        // Control and data interleave unpredictably: defer this branch.
        let queue = QueueId::new(ingress, class.saturating_sub(DATA), links.priorities);
        links.settle_end(ctx, egress);
        let port = &links.ports[egress.index()];
        // The egress port is about to be used, unlike the ingress port.
        let node = node.unwrap_or(port.node);
        debug_assert_eq!(node, port.node, "a packet leaves the switch that it has come to");
        // Control packets are not charged, but near a threshold they take the slow path like data: testing costs more.
        let passes =
            self.fast_path & port.is_quiet(ctx.now) && self.accounting.lets_through(node, queue, size);
        if C::HAS_CREDITS {
            if passes && self.pass_by_credits(ctx, links, queue, egress, id, frame) {
                return;
            }
        } else if passes {
            return if self.hooked_kinds >> kind as u8 & 1 != 0 {
                self.pass_with_hooks(ctx, links, egress, id, frame)
            } else {
                self.pass(ctx, links, egress, id, kind, size)
            };
        }
        if self.may_refuse {
            return self.join_if_it_may(ctx, links, queue, (ingress, egress), id, frame);
        }
        self.join(ctx, links, queue, (ingress, egress), id, frame);
    }

    /// A packet joins its egress queue, unless its link is down, a watchdog drops it or the queue is full.
    #[cold]
    #[inline(never)]
    fn join_if_it_may<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        queue: QueueId,
        ports: (PortId, PortId),
        id: PacketId,
        frame: Frame,
    ) {
        // With credits, `enqueue` asks whether the link is down.
        let refuses = !C::HAS_CREDITS && links.ports[ports.1.index()].paused & (DEAD | DROPS) != 0;
        if refuses && self.refuses(ctx, links, ports.1, id, frame) {
            return;
        }
        if frame.kind == Kind::Credit && !links.admits_credit(ctx, ports.1, id) {
            return;
        }
        if let Some(frame) = self.make_room(ctx, links, ports.1, id, frame) {
            self.join(ctx, links, queue, ports, id, frame);
        }
    }

    /// A credit that has waited for its port's limit goes on.
    #[cold]
    pub fn enqueue_credit<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
    ) {
        let frame = ctx.packets[id].frame();
        self.enqueue_own(ctx, links, egress, id, frame);
    }

    /// A packet joins its egress queue and counts in its ingress queue's account.
    #[inline(always)] // runs for many packets
    fn join<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        queue: QueueId,
        (ingress, egress): (PortId, PortId),
        id: PacketId,
        frame: Frame,
    ) {
        if frame.class >= DATA {
            ctx.packets[id].flags |= CHARGED;
            if let Err(overflow) = C::admit(links, ctx, &mut self.accounting, queue, frame.size()) {
                return self.no_room(ctx, links, ingress, id, overflow);
            }
            if !links.effects.is_empty() {
                self.settle(ctx, links);
            }
        } else if frame.kind == Kind::Cnm && self.loses_message(ctx, links, egress, id) {
            return ctx.packets.remove(id);
        }
        self.enqueue(ctx, links, egress, id, frame);
    }

    /// A packet goes straight through: its port is quiet, and no threshold is near.
    #[inline(always)] // runs for most packets
    fn pass<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        kind: Kind,
        size: u64,
    ) {
        let port = &mut links.ports[egress.index()];
        self.stamp_passing(ctx, port, id, kind);
        let (arrival, place) = (port.start(ctx.now, size), port.arrivals);
        if links.wire_hooks {
            links.schedule_end(ctx, egress);
        }
        links.schedule_arrival(ctx, egress, arrival, place, id);
    }

    /// Writes the telemetry of a packet that passes a quiet port, if it is data that carries some.
    #[inline(always)] // runs for most packets
    fn stamp_passing(&self, ctx: &mut Ctx, port: &Port, id: PacketId, kind: Kind) {
        if self.int == IntPath::Data {
            let (at, tx_bytes) = (ctx.now, port.tx_bytes);
            let reading = || PortReading { at, tx_bytes, queue_bytes: 0, rate: port.rate };
            ctx.packets.stamp_if(kind == Kind::Data, id, port.speed_code, reading);
        }
    }

    /// A packet goes straight through if its egress queue has the credits, which control packets do not need; returns whether
    /// it does. A switch's message takes the slow path, which may lose it.
    #[inline(always)] // runs for most packets
    #[allow(clippy::too_many_arguments)] // where from, where to, and what
    fn pass_by_credits<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        queue: QueueId,
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) -> bool {
        if frame.class < DATA {
            if frame.kind == Kind::Cnm {
                return false;
            }
            self.leave_at_once(ctx, links, egress, id, frame);
            return true;
        }
        let leaving = self.size_when_leaving(ctx, frame);
        let egress_queue = links.queue_id(egress, frame.class);
        if !C::passes(links, ctx, queue, egress_queue, frame.size(), leaving) {
            return false;
        }
        self.leave_at_once(ctx, links, egress, id, frame);
        C::on_left(links, ctx, egress, queue, frame.size());
        true
    }

    /// A packet that has its credits goes onto the wire of a quiet port. Inlined for data and for control packets, so that whether a
    /// packet needs credits, which is unpredictable, is asked once.
    #[inline(always)]
    fn leave_at_once<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) {
        if self.hooked_kinds >> frame.kind as u8 & 1 != 0 {
            return self.pass_with_hooks(ctx, links, egress, id, frame);
        }
        self.stamp_passing(ctx, &links.ports[egress.index()], id, frame.kind);
        links.put_on_wire(ctx, egress, id, frame);
    }

    /// A packet goes straight through and needs more than telemetry on data.
    #[inline(never)]
    fn pass_with_hooks<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) {
        if self.queue_hooks && frame.kind == Kind::Data {
            self.on_enqueue(ctx, links, egress, id, frame.class, frame.size());
        }
        self.depart(ctx, links, egress, id, frame);
    }

    /// A frame of the neighbour's flow control, which ends at this switch, has arrived.
    #[cold]
    fn link_frame_arrival<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        ingress: PortId,
        id: PacketId,
    ) {
        C::on_frame(links, ctx, ingress, id);
        if !links.effects.is_empty() {
            self.settle(ctx, links);
        }
    }

    /// Ends the run for lack of room, or counts the loss if loss is allowed.
    #[cold]
    fn no_room<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        ingress: PortId,
        id: PacketId,
        overflow: Overflow,
    ) {
        let packet = ctx.packets[id];
        if ctx.net.loses {
            return ctx.lose((ingress, ingress), id, Cause::Buffer, None);
        }
        let node = links.ports[ingress.index()].node;
        let failure = Failure::Drop {
            at: ctx.now,
            node: ctx.net.topology.nodes[node.index()].name.clone(),
            port: ctx.net.topology.port_name(ingress),
            priority: packet.ingress_class() - DATA,
            size: u64::from(packet.size),
            occupancy: overflow.occupancy,
            used: self.accounting.memories[node.index()].used(),
            full: overflow.full,
            unrefreshed: ctx.net.settings.flow_control.stops_expire(),
        };
        ctx.fail(key(kind::SWITCH_ARRIVAL, ingress.0), failure);
    }
}
