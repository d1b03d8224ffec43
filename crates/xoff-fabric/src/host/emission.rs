//! A connection's next packet goes onto the wire of its NIC.

use xoff_engine::Time;
use xoff_schemes::{Outgoing, ReactionPoint, Sent};

use super::Hosts;
use super::nic::{NicId, NicScheduler};
use super::sender::SendState;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::{ConnectionId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::{Frame, Kind, LAST, Packet, PacketId, RESENT};
use crate::path::routing::Spray;

impl<N: NicScheduler> Hosts<N> {
    /// Takes note of anything that may have changed a connection's rate, window, data or timer.
    #[inline]
    pub fn sync_reaction<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        if ctx.probes.on_flows {
            self.on_held(ctx, links, connection);
        }
        self.sync_timer(ctx, connection);
        N::on_change(self, ctx, links, connection);
    }

    /// Schedules the reaction point's next timer if it is earlier than the scheduled one. Timers of a connection without
    /// traffic wait until traffic comes: see [`super::sender::Sender::catch_up`].
    #[inline]
    fn sync_timer(&mut self, ctx: &mut Ctx, connection: ConnectionId) {
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return };
        let timer = sender.reaction.next_timer();
        if timer < sender.timer_at {
            sender.timer_at = timer;
            let (node, at) = (self.nics[sender.nic as usize].host, timer.max(ctx.now));
            ctx.schedule(node, at, key(kind::REACTION_TIMER, connection.0), 0);
        }
    }

    /// Sends the next packet of a connection that has left the round robin, if data and window still allow a packet.
    /// Returns whether a packet was sent.
    #[inline]
    pub fn send_data<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        port: PortId,
        class: u8,
    ) -> bool {
        let min_window = ctx.net.wire.min_window;
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return false };
        sender.state = SendState::Idle;
        if !sender.may_send(min_window) {
            return false;
        }
        self.emit(ctx, links, connection, port, class);
        if self.senders[connection.index()].as_deref().is_some_and(|s| s.may_send(min_window)) {
            N::after_emission(self, ctx, links, connection);
        }
        true
    }

    /// Puts a connection's next packet on the wire.
    #[inline(always)] // runs for every packet
    pub fn emit<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        port: PortId,
        class: u8,
    ) {
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return };
        N::before_emission(sender, ctx.now);
        let segment = sender.next_segment(&ctx.net.wire);
        let made_at = if self.emission_hooks { sender.data_ready_at() } else { Time::ZERO };
        let frame = segment.payload + ctx.net.wire.data_overhead;
        let mut packet = Packet::data(
            sender.message.flow,
            segment.offset,
            segment.number,
            segment.payload,
            frame,
            class,
            port,
            ctx.now,
        );
        packet.position = sender.position;
        packet.flags = if segment.last { LAST } else { 0 } | if segment.again { RESENT } else { 0 };
        if sender.stream.snd_nxt == sender.stream.snd_una {
            // Nothing was in flight: the silence that the retransmission timer waits for begins now.
            sender.progress_at = ctx.now;
        }
        if let Some(selective) = &mut sender.selective {
            packet.flow = selective.on_send(&segment, packet.flow, &mut sender.stream);
        } else {
            sender.stream.snd_nxt += segment.payload;
            sender.stream.next_packet = segment.number.wrapping_add(1);
        }
        if segment.again {
            sender.count_again(packet.flow, segment.payload, frame);
        } else {
            sender.message.count(frame);
        }
        let end = segment.offset + segment.payload;
        sender.pacing.on_send(ctx.now, segment.payload, frame, end, sender.reaction.rate());
        sender.reaction.on_send(&Sent { now: ctx.now, payload: segment.payload, frame });
        let (id, nic) = (ctx.packets.insert(packet), sender.nic);
        if self.emission_hooks {
            if ctx.net.signals.label {
                let left = sender.left_from(segment.offset);
                ctx.packets[id].label = sender.reaction.label(&Outgoing { left });
            }
            if ctx.net.signals.credits.is_some()
                && let Some(number) = sender.reaction.spend_credit()
            {
                ctx.packets[id].flow_count = number;
                ctx.counters.credits.used += 1;
            }
            choose_path(ctx, sender.spray.as_deref_mut(), id);
            self.record_emission(ctx, links, connection, port, id, made_at);
        }
        links.put_on_wire(ctx, port, id, Frame::new(Kind::Data, class, frame));
        if self.slows {
            self.slow_down(ctx, links, nic, port, class, (segment.payload, frame));
        }
        self.sync_timer(ctx, connection);
        if segment.last
            && let Some(sender) = self.senders[connection.index()].as_deref_mut()
        {
            sender.advance_message();
            if ctx.net.signals.credits.is_some() && !sender.has_more() {
                self.request_credits(ctx, links, connection, false);
            }
        }
    }

    /// Tells what follows packets and messages of a packet that its source made at `made_at`.
    #[cold]
    fn record_emission<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        port: PortId,
        id: PacketId,
        made_at: Time,
    ) {
        if let Some(offers) = &mut ctx.packets.offers {
            offers.put(id, made_at);
        }
        if ctx.probes.on_flows {
            self.on_emission(ctx, links, connection, port, id);
        }
    }

    /// Counts a packet of `payload` and `frame` bytes, which has just begun on its wire, at what slows the NIC, the port and its
    /// priorities.
    #[cold]
    fn slow_down<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
        port: PortId,
        class: u8,
        (payload, frame): (u64, u64),
    ) {
        if let Some(costs) = &mut self.costs {
            costs.on_packet(ctx.now, nic);
        }
        if let Some(throttles) = &mut self.throttles {
            throttles.on_send(ctx, links, port, frame);
        }
        if self.sl_reactions.is_some() {
            self.sl_sent(ctx, nic, class, payload, frame);
        }
    }
}

/// Lets each switch choose the next hop of a data packet, or its lane, or sprays the packet.
#[cold]
pub(super) fn choose_path(ctx: &mut Ctx, spray: Option<&mut Spray>, id: PacketId) {
    let packet = &mut ctx.packets[id];
    let path = ctx.net.data_path(packet.flow);
    let (start, end) = (path[0], path[path.len() - 1].peer());
    let Some(hops) = &ctx.net.paths.next_hops else {
        if ctx.net.paths.lanes.is_some() {
            packet.follows_path_to(end);
        }
        return;
    };
    let number = spray.map_or(0, |spray| hops.choice().at_sender(hops.paths(start, end), spray, ctx.now));
    packet.goes_to(end, number);
}
