//! A connection at its receiver: what has arrived, and when an ACK goes.
//!
//! An ACK goes at once for a connection's first packet, a marked one, one whose sender asks for it, or one that is here
//! already; otherwise after `host.uet.ack_bytes`, or `host.uet.ack_delay` after the first packet that was not
//! acknowledged. If a sender has asked while packets were missing, another ACK goes once none is.

use std::collections::BTreeSet;

use xoff_engine::{MessageSize, Time};
use xoff_schemes::Mark;

use super::UetNic;
use super::headers::Header;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::host::Hosts;
use crate::ids::{ConnectionId, FlowId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::observe::detection::Marks;
use crate::packet::{CONTROL, Kind, LAST_HOP, Packet, PacketId};
use crate::settings::UetOf;

/// Bits of an ACK's bitmap.
const BITS: u32 = 64;

/// A connection at its receiver.
#[derive(Default)]
pub(super) struct UetReceiver {
    /// All PSNs before this one have arrived.
    cumulative: u32,
    /// PSNs beyond that have arrived.
    beyond: BTreeSet<u32>,
    /// Bytes on the wire, each packet once.
    received: u64,
    /// Of these, since the last ACK.
    unacked: u64,
    /// Payload bytes of the message that have arrived.
    payload: u64,
    /// The sender has asked for an ACK while packets were missing.
    asked: bool,
    pub marks: Marks,
    /// When the pending ACK goes at the latest, and what it answers.
    held: Option<(Time, Packet, Header)>,
}

impl UetReceiver {
    fn has(&self, psn: u32) -> bool {
        psn < self.cumulative || self.beyond.contains(&psn)
    }

    fn add(&mut self, psn: u32) {
        self.beyond.insert(psn);
        while self.beyond.remove(&self.cumulative) {
            self.cumulative += 1;
        }
    }

    /// What an ACK says that answers `psn`, `at_once` or after some bytes.
    fn says(&self, psn: u32, at_once: bool) -> (u32, u64) {
        let base = if at_once { psn } else { psn.saturating_sub(BITS - 1).max(self.cumulative + 1) };
        let bits = self.beyond.range(base..base.saturating_add(BITS)).map(|seen| 1u64 << (seen - base));
        (base, bits.fold(0, |all, bit| all | bit))
    }
}

impl Hosts<UetNic> {
    /// A data packet, whole or trimmed, or an RTS has arrived.
    pub(super) fn uet_data<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        _ingress: PortId,
        id: PacketId,
    ) {
        let (packet, header) = (ctx.packets[id], self.shared.headers.of(id));
        ctx.packets.remove(id);
        let connection = ctx.net.connections.of(packet.flow);
        let is_first = self.shared.receivers[connection.index()].is_none();
        if is_first {
            self.uet_open(ctx, links, connection, packet.flow);
        }
        let Some(receiver) = self.shared.receivers[connection.index()].as_deref_mut() else { return };
        let psn = packet.number;
        let again = receiver.has(psn);
        let marked = packet.mark == Mark::Ce;
        if packet.kind == Kind::Trimmed {
            if again {
                self.uet_ack(ctx, links, connection, &packet, &header, true);
            } else {
                self.uet_answer(
                    ctx,
                    links,
                    &packet,
                    &Header { last_hop: packet.flags & LAST_HOP != 0, ..header },
                    Kind::Nack,
                );
            }
            return self.uet_want(ctx, links, &packet, &header, again);
        }
        receiver.marks.count(packet.mark);
        let mut whole = false;
        if !again {
            receiver.add(psn);
            receiver.received += u64::from(header.frame);
            receiver.unacked += u64::from(header.frame);
            receiver.payload += u64::from(packet.payload);
            whole =
                packet.payload > 0 && MessageSize::from(receiver.payload) == ctx.net.flows.size(packet.flow);
            ctx.counters.delivered_bytes += u64::from(packet.payload);
        }
        receiver.asked |= header.asks;
        let mut at_once = is_first || marked || again || header.asks;
        if receiver.asked && receiver.beyond.is_empty() {
            receiver.asked = false;
            at_once = true;
        }
        if at_once || receiver.unacked >= ctx.net.settings.host.uet.ack_bytes.0 {
            self.uet_ack(ctx, links, connection, &packet, &header, marked || header.asks);
        } else {
            self.uet_hold(ctx, links, connection, &packet, &header);
        }
        self.uet_want(ctx, links, &packet, &header, again);
        if whole {
            let nic = self.uet_nic_at(ctx, links, packet.flow);
            self.nics[nic as usize].counts.open_in -= 1;
            self.message_delivered(ctx, packet.flow);
        }
    }

    fn uet_open<C: LinkControl>(
        &mut self,
        ctx: &Ctx,
        links: &Links<C>,
        connection: ConnectionId,
        flow: FlowId,
    ) {
        self.shared.receivers[connection.index()] = Some(Box::default());
        let nic = self.uet_nic_at(ctx, links, flow);
        let counts = &mut self.nics[nic as usize].counts;
        counts.open_in += 1;
        counts.seen_in += 1;
    }

    /// The receiver's NIC.
    pub(super) fn uet_nic_at<C: LinkControl>(&self, ctx: &Ctx, links: &Links<C>, flow: FlowId) -> u32 {
        self.nic_of(links, ctx.net.ack_path(flow).first())
    }

    /// Holds back an ACK until more packets have come or its time has.
    fn uet_hold<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        connection: ConnectionId,
        packet: &Packet,
        header: &Header,
    ) {
        let delay = ctx.net.settings.host.uet.ack_delay;
        if delay == Time::ZERO || ctx.net.settings.quirks.uet == UetOf::Htsim {
            return;
        }
        let nic = self.uet_nic_at(ctx, links, packet.flow);
        let Some(receiver) = self.shared.receivers[connection.index()].as_deref_mut() else { return };
        let known = receiver.held.map(|(at, ..)| at);
        let at = known.unwrap_or(ctx.now + delay);
        receiver.held = Some((at, *packet, *header));
        if known.is_none() {
            let node = self.nics[nic as usize].host;
            ctx.schedule(node, at, key(kind::NOTIFICATION_TIMER, connection.0), 0);
        }
    }

    /// The event of the timer that ends an ACK's delay.
    pub(super) fn uet_ack_timer<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        let held = self.shared.receivers[connection.index()].as_deref().and_then(|receiver| receiver.held);
        if let Some((at, packet, header)) = held
            && at == ctx.now
        {
            self.uet_ack(ctx, links, connection, &packet, &header, false);
        }
    }

    /// Sends an ACK of all that has arrived; its bitmap begins `at` the packet that it answers, or 63 PSNs before.
    fn uet_ack<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        packet: &Packet,
        header: &Header,
        at: bool,
    ) {
        let Some(receiver) = self.shared.receivers[connection.index()].as_deref_mut() else { return };
        let (base, bitmap) = receiver.says(packet.number, at);
        receiver.unacked = 0;
        receiver.held = None;
        let (cumulative, received) = (receiver.cumulative, receiver.received);
        let header = Header { base, bitmap, cumulative, received, ..*header };
        self.uet_answer(ctx, links, packet, &header, Kind::Ack);
    }

    /// Sends an ACK or NACK of a packet, by its EV.
    fn uet_answer<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        packet: &Packet,
        header: &Header,
        kind: Kind,
    ) {
        let net = ctx.net.clone();
        let nic = self.uet_nic_at(ctx, links, packet.flow);
        let mut answer =
            Packet { kind, class: CONTROL, size: net.wire.ack as u16, payload: 0, flags: 0, ..*packet };
        answer.seq = u64::from(header.cumulative) * net.wire.payload;
        answer.hops = 0;
        goes_back(&net, &mut answer, header.ev);
        let id = ctx.packets.insert(answer);
        self.shared.headers.put(id, *header);
        self.enqueue(ctx, links, nic, id);
    }
}

/// Sends a receiver's packet back to its flow's source: by next hops with this EV, or along the ACK path.
pub(super) fn goes_back(net: &Network, packet: &mut Packet, ev: u32) {
    if net.paths.next_hops.is_some() {
        packet.goes_to(net.data_path(packet.flow)[0], ev);
    } else {
        packet.position = net.route(packet.flow).ack(1);
    }
}
