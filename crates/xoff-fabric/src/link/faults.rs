//! Links that are down or lose frames: what becomes of a frame that begins on a wire.

use rand::Rng;
use xoff_engine::{Domain, Time, stream};
use xoff_schemes::int::{MAX_INT_HOPS, PackedRecord};

use super::Links;
use super::flow_control::LinkControl;
use super::port::DEAD;
use crate::ctx::Ctx;
use crate::fault::{Cause, FrameLoss};
use crate::ids::{PortId, QueueId};
use crate::packet::{DATA, Frame, Kind, NO_FLOW, PacketId, is_by_hop};

/// A packet that has passed so many links while routing changed ends.
const MAX_LINKS: u8 = 128;

/// Why a frame is lost, and the fault to blame.
pub(super) type Loss = (Cause, Option<u32>);

/// A number from 0 up to 1, of 53 random bits.
fn uniform(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

impl<C: LinkControl> Links<C> {
    /// Gives a packet that leaves its host the route that its connection has now; returns when it arrives, given that it would
    /// have arrived at `arrival` on its first route.
    pub(super) fn take_route(
        &mut self,
        ctx: &mut Ctx,
        port_id: PortId,
        id: PacketId,
        frame: Frame,
        arrival: Time,
    ) -> Time {
        let packet = &ctx.packets[id];
        let port = &self.ports[port_id.index()];
        if packet.flow == NO_FLOW || is_by_hop(packet.position) || !ctx.net.is_host(port.node) {
            return arrival;
        }
        let route = ctx.net.route_at(packet.flow, ctx.simulated());
        let second = if matches!(frame.kind, Kind::Data | Kind::Rts) { route.data(1) } else { route.ack(1) };
        ctx.packets[id].position = second;
        if !C::HAS_CREDITS {
            return arrival;
        }
        // The lead of cut-through is in `arrival` already, and the next link may be another one.
        let port = &self.ports[port_id.index()];
        let last_bit = port.busy_until - port.gap + port.delay;
        self.counts_as_arrived(ctx, port_id, id, frame, last_bit)
    }

    /// Why a frame that has just begun on the wire of a port will not arrive; `None` if it arrives.
    pub(super) fn loss(
        &mut self,
        ctx: &mut Ctx,
        port_id: PortId,
        id: PacketId,
        frame: Frame,
    ) -> Option<Loss> {
        if let Some(fault) = self.cut_off(ctx, port_id) {
            return Some((Cause::LinkDown, Some(fault)));
        }
        let packet = &ctx.packets[id];
        if ctx.net.faults.is_some() && is_by_hop(packet.position) {
            let is_last = ctx.net.is_host(ctx.net.topology.node_of(port_id.peer()));
            if packet.links >= MAX_LINKS || (usize::from(packet.hops) >= MAX_INT_HOPS && !is_last) {
                return Some((Cause::HopLimit, None));
            }
        }
        self.damage(ctx, port_id, |errors| errors.probability(frame.size()))
    }

    /// The fault that takes a link down before a frame that has just begun on the wire of a port has arrived.
    pub(super) fn cut_off(&self, ctx: &Ctx, port_id: PortId) -> Option<u32> {
        let plan = ctx.net.faults.as_deref()?;
        let port = &self.ports[port_id.index()];
        let arrival = port.busy_until - port.gap + port.delay;
        plan.outage(port_id.link(), ctx.simulated(), arrival + ctx.carried).map(|outage| outage.fault)
    }

    /// Draws whether errors on the link of a port spoil what has just begun on its wire; `share` gives the probability.
    pub(super) fn damage(
        &mut self,
        ctx: &Ctx,
        port_id: PortId,
        share: impl Fn(FrameLoss) -> f64,
    ) -> Option<Loss> {
        let net = &ctx.net;
        let random = &mut self.frame_losses;
        let mut is_hit = |errors| {
            let of_port = || stream(net.seed, Domain::Faults, port_id.0.into());
            uniform(random.entry(port_id).or_insert_with(of_port)) < share(errors)
        };
        if net.settings.link.errors().is_some_and(&mut is_hit) {
            return Some((Cause::BitErrors, None));
        }
        let mut of_events = net.faults.iter().flat_map(|plan| plan.losses(port_id.link(), ctx.simulated()));
        let hit = of_events.find(|&(_, errors)| is_hit(errors));
        hit.map(|(fault, _)| (Cause::BitErrors, Some(fault)))
    }

    /// Ends a frame that is lost on the wire of a port.
    #[cold]
    pub(super) fn lose_on_wire(
        &mut self,
        ctx: &mut Ctx,
        port: PortId,
        id: PacketId,
        frame: Frame,
        (cause, fault): Loss,
    ) {
        if C::HAS_CREDITS && frame.class >= DATA {
            let queue = self.queue_id(port, frame.class);
            C::on_lost(self, queue, frame.size());
        }
        ctx.lose((port, port.peer()), id, cause, fault);
    }

    /// The port's link goes down: all stops end, and no class may send. What flow control asks of the node is in
    /// [`Links::effects`].
    pub fn take_down(&mut self, ctx: &mut Ctx, port: PortId) {
        C::on_link_down(self, ctx, port);
        self.forget_retries(ctx, port);
        self.ports[port.index()].paused = !super::port::DROPS | DEAD;
    }

    /// The port's link comes up. Queues that lack credits stay stopped.
    pub fn bring_up(&mut self, port: PortId) {
        let mut paused = 0;
        for priority in 0..self.priorities as u8 {
            let queue = QueueId::new(port, priority, self.priorities);
            paused |= u16::from(self.stops[queue.index()].is_stopped()) << (DATA + priority);
        }
        self.ports[port.index()].paused = paused;
    }

    /// The port's link has another rate.
    pub fn set_rate(&mut self, port: PortId, rate: xoff_engine::Rate) {
        self.ports[port.index()].set_rate(rate, PackedRecord::speed_code(rate));
    }
}
