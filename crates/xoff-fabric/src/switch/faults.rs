//! Ports whose link is down: what waits for them is dropped, and what comes for them too.

use xoff_engine::Time;

use super::Switches;
use crate::ctx::Ctx;
use crate::fault::Cause;
use crate::ids::{PortId, QueueId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::{CHARGED, DATA, Frame, Kind, MAC_CONTROL, PacketId};

impl Switches {
    /// Drops a packet that has arrived and goes to a port whose link is down, or to a queue that a watchdog empties; returns
    /// whether it did.
    #[cold]
    pub(super) fn refuses<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) -> bool {
        let Some((cause, fault)) = self.refusal(ctx, links, egress, frame.class) else { return false };
        let ingress = ctx.packets[id].ingress;
        self.count_storm_loss(links, egress, cause, frame);
        ctx.lose((egress, ingress), id, cause, fault);
        true
    }

    /// Why packets of a class do not go to a port, with the fault to blame.
    fn refusal<C>(
        &mut self,
        ctx: &Ctx,
        links: &Links<C>,
        egress: PortId,
        class: u8,
    ) -> Option<(Cause, Option<u32>)> {
        if links.ports[egress.index()].is_dead() {
            let plan = ctx.net.faults.as_deref()?;
            // A packet that comes with the end of the outage finds the link down, too.
            let now = ctx.simulated();
            let outage = plan.outage(egress.link(), now.saturating_sub(Time(1)), now);
            return Some((Cause::LinkDown, outage.map(|outage| outage.fault)));
        }
        let drops = class >= DATA && self.drops_storm(links.queue_id(egress, class));
        drops.then_some((Cause::Watchdog, None))
    }

    /// A packet of the switch's own joins an egress queue, unless the port's link is down.
    #[cold]
    pub(super) fn enqueue_own<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) {
        if !links.ports[egress.index()].is_dead() {
            return self.enqueue(ctx, links, egress, id, frame);
        }
        if frame.class == MAC_CONTROL {
            C::on_frame_dropped(links, ctx, egress, id);
        }
        let fault = self.refusal(ctx, links, egress, frame.class).and_then(|(_, fault)| fault);
        let ingress = ctx.packets[id].ingress;
        ctx.lose((egress, ingress), id, Cause::LinkDown, fault);
    }

    /// Drops a packet that the switch has taken in and that would wait for a port whose link is down.
    #[cold]
    #[inline(never)]
    pub(super) fn drop_waiting<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        frame: Frame,
    ) {
        let Some(why) = self.refusal(ctx, links, egress, frame.class) else { return };
        self.drop_admitted(ctx, links, egress, id, frame, why);
        if !links.effects.is_empty() {
            self.settle(ctx, links);
        }
    }

    /// Drops a packet of a port, and frees its place in the switch.
    fn drop_admitted<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        frame: Frame,
        (cause, fault): (Cause, Option<u32>),
    ) {
        let packet = ctx.packets[id];
        if frame.class == MAC_CONTROL {
            C::on_frame_dropped(links, ctx, egress, id);
        }
        self.count_storm_loss(links, egress, cause, frame);
        ctx.lose((egress, packet.ingress), id, cause, fault);
        if packet.flags & CHARGED != 0 {
            let queue = QueueId::new(packet.ingress, packet.ingress_class() - DATA, links.priorities);
            C::release(links, ctx, &mut self.accounting, queue, frame.size());
            C::on_dropped(links, ctx, queue, frame.size());
        }
    }

    /// Drops all packets of a class that wait for a port.
    pub(super) fn flush<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        class: u8,
        why: (Cause, Option<u32>),
    ) {
        while links.ports[egress.index()].backlog & (1 << class) != 0 {
            let id = self.first(links, egress, class);
            let frame = ctx.packets[id].frame();
            self.take(ctx, links, egress, frame);
            if self.queue_hooks && frame.kind == Kind::Data {
                self.on_dequeue(ctx, links, egress, id, class);
            }
            self.drop_admitted(ctx, links, egress, id, frame, why);
        }
        if !links.effects.is_empty() {
            self.settle(ctx, links);
        }
    }

    /// The link of a port goes down.
    pub fn link_down<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, port: PortId) {
        self.forget_storms(ctx, links, port);
        links.take_down(ctx, port);
        self.settle(ctx, links);
        let Some(why) = self.refusal(ctx, links, port, MAC_CONTROL) else { return };
        for class in 0..links.classes as u8 {
            self.flush(ctx, links, port, class, why);
        }
    }

    /// The link of a port comes up.
    pub fn link_up<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, port: PortId) {
        links.bring_up(port);
        C::on_link_up(links, ctx, &mut self.accounting, port);
        self.settle(ctx, links);
        self.kick(ctx, links, port);
    }
}
