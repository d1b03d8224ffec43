//! What comes back to a connection's sender: ACKs, NACKs, CNPs, CNMs, and the timers that wait for them.

use xoff_engine::Time;
use xoff_schemes::int::IntStack;
use xoff_schemes::{Ack, Cnp, IntPath, Mark, ReactionPoint, Signals};

use super::Hosts;
use super::nic::NicScheduler;
use super::sender::Sender;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::ConnectionId;
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::packet::{Kind, Packet, PacketId, Packets};

/// What an ACK that has reached its sender tells the reaction point, whose clock shows `clock`, and whose stream is ahead of the connection's.
#[inline]
pub(super) fn ack_of<'a>(
    packets: &'a Packets,
    net: &Network,
    id: PacketId,
    (now, clock): (Time, Time),
    newly_acked: u64,
    (snd_nxt, next_packet): (u64, u32),
    (bytes_ahead, packets_ahead): (u64, u64),
) -> Ack<'a> {
    let packet = &packets[id];
    Ack {
        now: clock,
        seq: packet.seq + bytes_ahead,
        newly_acked,
        snd_nxt: snd_nxt + bytes_ahead,
        packet: u64::from(packet.number) + packets_ahead,
        next_packet: u64::from(next_packet) + packets_ahead,
        rtt: net.signals.timestamp.then(|| now - packet.sent_at),
        mark: packet.mark,
        flow_count: packet.flow_count,
        label: packet.label,
        int: IntStack {
            records: packets.int_records(id, packet.hops),
            last_hop_first: net.signals.int == IntPath::Ack,
            unit_shift: packets.int_shift(),
            path_id: packet.path_id,
        },
    }
}

/// Whether a scheme with `signals` is told of an ACK that brings a mark back, or none.
#[inline(always)] // runs for every ACK
pub(super) fn matters(signals: &Signals, mark: Mark) -> bool {
    signals.acks && (mark != Mark::None || !signals.marked_acks_only)
}

impl<N: NicScheduler> Hosts<N> {
    /// An ACK, NACK, CNP or CNM has arrived at its connection's source.
    #[inline(always)] // runs for every packet
    pub(super) fn feedback<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, id: PacketId) {
        if N::OWN_TRANSPORT {
            return N::on_feedback(self, ctx, links, id);
        }
        if self.sl_reactions.is_some() {
            self.sl_feedback(ctx, links, id);
        }
        // Only single fields of the copy are read. A reference to the copy would make the compiler write all of it to memory.
        let packet = ctx.packets[id];
        let connection = ctx.net.connections.of(packet.flow);
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else {
            return ctx.packets.remove(id); // the flow has completed
        };
        match packet.kind {
            Kind::Ack => {
                let newly_acked = on_ack(sender, &packet, ctx);
                if ctx.probes.on_acks {
                    ctx.probes.on_ack(ctx.now, packet.flow, newly_acked);
                }
                let done = sender.is_idle();
                if done && newly_acked == 0 {
                    return ctx.packets.remove(id); // all was acknowledged before
                }
                // A connection with more messages to come learns from each ACK.
                let learns = N::DONE_AFTER_REACTION || !done || ctx.net.connections.is_shared(connection);
                if learns && matters(&ctx.net.signals, packet.mark) {
                    tell(sender, ctx, id, newly_acked);
                }
                let first = newly_acked == packet.seq;
                if sender.others.has_sent() {
                    self.complete_messages(ctx, links, connection, id);
                }
                if N::DONE_AFTER_REACTION {
                    return N::on_acked(self, ctx, links, connection, id, first, done);
                }
                if done {
                    return self.connection_done(ctx, links, connection, id);
                }
            }
            Kind::Nack => {
                if sender.is_idle() {
                    return ctx.packets.remove(id); // ACKs of everything have overtaken this NACK
                }
                let (newly_acked, lost) = on_nack(sender, &ctx.packets[id], ctx);
                if ctx.probes.on_acks {
                    ctx.probes.on_ack(ctx.now, packet.flow, newly_acked);
                }
                if sender.is_idle() {
                    return self.connection_done(ctx, links, connection, id);
                }
                if sender.selective.is_some() && matters(&ctx.net.signals, packet.mark) {
                    // The receiver took the packet: for the reaction point, this NACK is an ACK.
                    tell(sender, ctx, id, newly_acked);
                }
                if lost {
                    sender.reaction.on_loss(ctx.now);
                }
                if sender.others.has_sent() {
                    self.complete_messages(ctx, links, connection, id);
                }
                if lost && ctx.net.signals.credits.is_some() {
                    self.request_credits(ctx, links, connection, true);
                }
            }
            Kind::Cnp => {
                let now = ctx.now;
                if let Some(message) = sender.open_message(packet.flow) {
                    message.cnps += 1;
                }
                if sender.is_idle() {
                    sender.catch_up(now);
                }
                sender.reaction.on_cnp(now, &Cnp { mark: packet.mark, rate: packet.rate() });
                ctx.probes.on_notification(now, packet.flow, Kind::Cnp, None);
            }
            Kind::Cnm => {
                let now = ctx.now;
                if sender.is_idle() {
                    sender.catch_up(now);
                }
                sender.reaction.on_cnm(now, &packet.message(connection.0));
                ctx.probes.on_notification(now, sender.message.flow, Kind::Cnm, Some(packet.point));
            }
            Kind::Credit => return self.credit_arrival(ctx, links, connection, id),
            Kind::Data | Kind::Trimmed | Kind::Rts | Kind::Pull | Kind::Pfc | Kind::CreditUpdate => {}
        }
        ctx.packets.remove(id);
        let Some(sender) = self.senders[connection.index()].as_deref() else { return };
        if sender.is_idle() {
            return; // the connection's timers wait until it sends again
        }
        let nic = sender.nic;
        self.sync_reaction(ctx, links, connection);
        N::after_feedback(self, ctx, links, nic);
    }

    /// The event of a reaction point's timer.
    pub fn reaction_timer<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return };
        let now = ctx.now;
        if sender.timer_at != now {
            return;
        }
        sender.timer_at = Time::NEVER;
        if sender.is_idle() {
            return;
        }
        if sender.reaction.next_timer() <= now {
            sender.reaction.on_timer(now);
        }
        self.sync_reaction(ctx, links, connection);
    }

    /// Sends unacknowledged data again after a timeout without progress, and asks for credits again; scheduled only if packets
    /// may be sent again or need credits.
    pub fn retransmit_timer<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        let timeout = ctx.net.settings.host.retransmit_timeout;
        let now = ctx.now;
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return };
        if sender.timeout_at != now || sender.is_idle() {
            return;
        }
        let mut next = sender.progress_at + timeout;
        let silent = next <= now;
        if silent {
            next = now + timeout;
            if sender.stream.in_flight() > 0 && ctx.net.may_retransmit() {
                match &mut sender.selective {
                    Some(selective) => selective.on_timeout(),
                    None => sender.go_back(sender.stream.snd_una, &ctx.net.wire),
                }
                sender.reaction.on_timeout(now);
            }
        }
        sender.timeout_at = next;
        let nic = sender.nic;
        let node = self.nics[nic as usize].host;
        ctx.schedule(node, next, key(kind::RETRANSMIT_TIMER, connection.0), 0);
        if ctx.net.signals.credits.is_some() && sender.has_more() && silent {
            self.request_credits(ctx, links, connection, true);
        }
        self.sync_reaction(ctx, links, connection);
        N::after_feedback(self, ctx, links, nic);
    }
}

/// Tells a sender's reaction point of an ACK, or of a NACK of a packet that the receiver took.
#[inline(always)] // runs for every ACK
fn tell(sender: &mut Sender, ctx: &Ctx, id: PacketId, newly_acked: u64) {
    let next = (sender.stream.snd_nxt, sender.stream.next_packet);
    let now = (ctx.now, sender.reaction.clock(ctx.now));
    let ahead = sender.reaction.stream_ahead();
    sender.reaction.on_ack(&ack_of(&ctx.packets, &ctx.net, id, now, newly_acked, next, ahead));
}

/// Takes an ACK into account; returns how many bytes it newly acknowledges.
#[inline(always)] // runs for every packet
pub(super) fn on_ack(sender: &mut Sender, packet: &Packet, ctx: &Ctx) -> u64 {
    let stream = &mut sender.stream;
    if let Some(selective) = &mut sender.selective {
        let newly_acked = selective.on_ack(packet.seq, packet.number, stream);
        if newly_acked > 0 {
            sender.progress_at = ctx.now;
        }
        return newly_acked;
    }
    let newly_acked = packet.seq.saturating_sub(stream.snd_una);
    if newly_acked > 0 {
        sender.skip_to(packet.seq, ctx.net.wire.payload);
        sender.stream.snd_una = packet.seq;
        sender.progress_at = ctx.now;
    }
    newly_acked
}

/// Takes a NACK into account; returns how many bytes it newly acknowledges, and whether packets count as lost.
#[cold]
fn on_nack(sender: &mut Sender, packet: &Packet, ctx: &Ctx) -> (u64, bool) {
    if let Some(selective) = &mut sender.selective {
        let newly_acked = selective.on_ack(packet.seq, packet.number, &mut sender.stream);
        if newly_acked > 0 {
            sender.progress_at = ctx.now;
        }
        return (newly_acked, selective.on_gap(packet.number));
    }
    let newly_acked = packet.seq.saturating_sub(sender.stream.snd_una);
    if newly_acked > 0 {
        // A timeout may have taken the sender further back than the receiver was.
        sender.skip_to(packet.seq, ctx.net.wire.payload);
        sender.stream.snd_una = packet.seq;
        sender.progress_at = ctx.now;
    }
    let lost = packet.seq < sender.stream.snd_nxt && packet.seq >= sender.stream.snd_una && !sender.is_idle();
    if lost {
        sender.go_back(packet.seq, &ctx.net.wire);
    }
    (newly_acked, lost)
}
