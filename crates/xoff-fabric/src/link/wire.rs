//! Transmission onto the wire: the one place where packets leave a node.
//!
//! A frame takes an idle port's wire for its serialization time; its arrival at the other end, a propagation delay after
//! its last bit, is known at once.

use xoff_engine::Time;

use super::Links;
use super::flow_control::LinkControl;
use super::port::AWAY;
use crate::ctx::Ctx;
use crate::ids::PortId;
use crate::link::arrival_key;
use crate::packet::{DATA, Frame, PacketId};

impl<C: LinkControl> Links<C> {
    /// Puts a packet on the wire of an idle port.
    #[inline(always)] // runs for every packet
    pub fn put_on_wire(&mut self, ctx: &mut Ctx, port_id: PortId, id: PacketId, frame: Frame) {
        let (class, size) = (frame.class, frame.size());
        debug_assert_eq!(u64::from(ctx.packets[id].size), size, "the packet has not changed");
        let port = &mut self.ports[port_id.index()];
        debug_assert_eq!(port.paused & (1 << class), 0, "nothing of a paused class is sent");
        let (mut arrival, place) = (port.start(ctx.now, size), port.arrivals);
        if C::HAS_CREDITS {
            if class >= DATA {
                let queue = self.queue_id(port_id, class);
                C::on_sent(self, ctx, queue, size);
            }
            arrival = self.counts_as_arrived(ctx, port_id, id, frame, arrival);
        }
        if self.wire_hooks {
            if self.only_ends {
                self.schedule_end(ctx, port_id);
            } else {
                let Some(arrives) = self.run_wire_hooks(ctx, port_id, id, frame, arrival) else { return };
                arrival = arrives;
            }
        }
        self.schedule_arrival(ctx, port_id, arrival, place, id);
    }

    /// Whether a frame of flow control may go onto the wire of its port without its node, which would do nothing else: the port of
    /// a switch is quiet, and nobody follows or numbers frames. Where faults make a switch drop packets, which may bring about several
    /// frames at a time, `wire_hooks` is set.
    #[inline]
    pub(super) fn sends_own_at_once(&self, ctx: &Ctx, port_id: PortId) -> bool {
        let port = &self.ports[port_id.index()];
        let is_followed = self.wire_hooks || ctx.net.settings.quirks.marking_stream.is_some();
        port.is_quiet(ctx.now) && !is_followed && !ctx.net.is_host(port.node)
    }

    /// Schedules the arrival of a packet that is on the wire.
    #[inline(always)] // runs for every packet
    pub fn schedule_arrival(&mut self, ctx: &mut Ctx, port: PortId, arrival: Time, place: u32, id: PacketId) {
        if place >= AWAY {
            let key = arrival_key(self.ports[port.index()].to_switch, port.peer());
            return send_to_partition(ctx, place, arrival, key, id);
        }
        ctx.events.arrive(&mut ctx.packets, place, arrival, id);
    }

    /// When a packet that has just begun on a wire counts as arrived: with its last bit, at time `last_bit`, or earlier if it cuts
    /// through the switch at the other end.
    #[inline(always)] // runs for every packet, with credits
    pub(super) fn counts_as_arrived(
        &self,
        ctx: &Ctx,
        port_id: PortId,
        id: PacketId,
        frame: Frame,
        last_bit: Time,
    ) -> Time {
        let port = &self.ports[port_id.index()];
        let next = |at| ctx.net.next_rate(&ctx.packets[id], port_id, at + ctx.carried);
        self.cut_through.arrival(ctx.now, port, frame, last_bit, next)
    }

    /// Runs everything that a packet on the wire needs only in some runs: arbiters, cut-through, queues to carry, probes, faults, and
    /// the event of the transmission's end. `arrival` is that of the last bit; returns when the packet counts as arrived, or `None`
    /// if it is lost on its way and is gone.
    #[inline(never)]
    fn run_wire_hooks(
        &mut self,
        ctx: &mut Ctx,
        port_id: PortId,
        id: PacketId,
        frame: Frame,
        mut arrival: Time,
    ) -> Option<Time> {
        let (class, size) = (frame.class, frame.size());
        if !self.arbiters.is_empty() && class >= DATA {
            self.arbiters[port_id.index()].sent(class, size);
        }
        let mut loss = None;
        if ctx.net.faults.is_some() {
            arrival = self.take_route(ctx, port_id, id, frame, arrival);
        }
        if ctx.net.faults.is_some() || ctx.net.settings.link.errors().is_some() {
            loss = self.loss(ctx, port_id, id, frame);
        }
        if self.retries(loss) && !self.send_numbered(ctx, port_id, id, arrival, loss.take().is_some()) {
            self.schedule_ready(ctx, port_id);
            return None;
        }
        if !C::HAS_CREDITS {
            arrival = self.counts_as_arrived(ctx, port_id, id, frame, arrival);
        }
        if let Some(carried) = &self.carried {
            carried.write(self.ports[port_id.index()].node, &self.ports, &mut ctx.packets, id);
        }
        if ctx.probes.on_wire {
            let stopped = self.stopped_for(ctx.now, port_id, class);
            let arrives = (arrival, loss.is_none());
            ctx.probes.on_depart(ctx.now, &ctx.net, &mut ctx.packets, (port_id, id), arrives, stopped);
        }
        if self.ready_events {
            self.schedule_ready(ctx, port_id);
        }
        if let Some(loss) = loss {
            self.lose_on_wire(ctx, port_id, id, frame, loss);
            return None;
        }
        Some(arrival)
    }

    /// Schedules the end of the frame that has just begun on the wire of a port, of which link-level retry hears.
    pub(super) fn schedule_ready(&mut self, ctx: &mut Ctx, port_id: PortId) {
        self.begin_frame(port_id);
        self.schedule_end(ctx, port_id);
    }
}

/// Hands a packet to another partition, where it arrives at `time`; `place` is that of its port's arrivals.
#[inline(never)]
fn send_to_partition(ctx: &mut Ctx, place: u32, time: Time, key: u32, id: PacketId) {
    ctx.packets.send_to_partition(id, time, key, ctx.boundary.outbox(place));
}
