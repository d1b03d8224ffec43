//! Receivers' credits, for schemes that declare them: requests of senders, credits of receivers, and data that goes with them.
//!
//! A connection with something to send asks its receiver, whose notification point says when a credit goes. A credit that
//! reaches its sender lets one packet go, or none if there is nothing to send. The sender stops the credits with its last packet.

use xoff_engine::Time;
use xoff_schemes::{Credit, NotificationPoint, ReactionPoint};

use super::Hosts;
use super::emission::choose_path;
use super::feedback::{ack_of, on_ack};
use super::nic::NicScheduler;
use super::receiver::goes_back;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::{ConnectionId, FlowId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::{Packet, PacketId};

impl<N: NicScheduler> Hosts<N> {
    /// A sender asks for credits, or `wants` no more.
    #[cold]
    pub(super) fn request_credits<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        wants: bool,
    ) {
        let Some(sender) = self.senders[connection.index()].as_deref() else { return };
        let (nic, flow) = (sender.nic, sender.message.flow);
        let port = self.nics[nic as usize].port;
        let mut packet = Packet::request(flow, wants, ctx.net.wire.credit, port, ctx.now);
        packet.position = sender.position;
        let id = ctx.packets.insert(packet);
        choose_path(ctx, None, id);
        self.enqueue(ctx, links, nic, id);
    }

    /// A sender's request has come to its receiver.
    #[cold]
    pub(super) fn request_arrival<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        ingress: PortId,
        id: PacketId,
    ) {
        let packet = ctx.packets[id];
        ctx.packets.remove(id);
        let (connection, wants) = (ctx.net.connections.of(packet.flow), packet.number > 0);
        let node = links.ports[ingress.index()].node;
        if self.receivers[connection.index()].is_none() {
            if !wants || (self.holds && self.stopped.has(node)) {
                return;
            }
            let nic = self.nic_of(links, ingress);
            self.open_receiver(ctx, connection, nic);
        }
        let Some(receiver) = self.receivers[connection.index()].as_deref_mut() else { return };
        receiver.notification.on_request(ctx.simulated(), wants);
        if receiver.notification.next_timer() < receiver.timer_at.saturating_add(ctx.carried) {
            let at = receiver.set_timer(ctx);
            ctx.schedule(node, at, key(kind::NOTIFICATION_TIMER, connection.0), 0);
        }
    }

    /// A receiver sends a credit, which says that all bytes before `expected` have arrived.
    #[cold]
    pub(super) fn send_credit<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        flow: FlowId,
        expected: u64,
        credit: Credit,
    ) {
        ctx.counters.credits.sent += 1;
        let port = ctx.net.ack_path(flow).first();
        let mut packet = Packet::credit(flow, expected, credit, ctx.now);
        goes_back(&ctx.net, &mut packet);
        let id = ctx.packets.insert(packet);
        if links.admits_credit(ctx, port, id) {
            self.enqueue_credit(ctx, links, port, id);
        }
    }

    /// A credit that the limit of a host's port lets go.
    #[cold]
    pub fn enqueue_credit<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        port: PortId,
        id: PacketId,
    ) {
        let nic = self.nic_of(links, port);
        self.enqueue(ctx, links, nic, id);
    }

    /// A credit has come to its sender.
    #[cold]
    pub(super) fn credit_arrival<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        id: PacketId,
    ) {
        let packet = ctx.packets[id];
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else {
            return ctx.packets.remove(id);
        };
        let now: Time = ctx.now;
        // The ACK of a message's last packet completes the message.
        if !sender.others.has_sent() && packet.seq < sender.message.end {
            let newly_acked = on_ack(sender, &packet, ctx);
            if ctx.probes.on_acks && newly_acked > 0 {
                ctx.probes.on_ack(now, packet.flow, newly_acked);
            }
            let next = (sender.stream.snd_nxt, sender.stream.next_packet);
            let times = (now, sender.reaction.clock(now));
            sender.reaction.on_ack(&ack_of(&ctx.packets, &ctx.net, id, times, newly_acked, next, (0, 0)));
        }
        ctx.packets.remove(id);
        if sender.stream.snd_nxt < sender.message.end && sender.data_ready_at() <= now {
            sender.reaction.on_credit(now, packet.number as u16);
        }
        let nic = sender.nic;
        self.sync_reaction(ctx, links, connection);
        N::after_feedback(self, ctx, links, nic);
    }
}
