//! Receivers: data that arrives, cumulative and selective ACKs, and CNPs.
//!
//! The transport ([`super::transport`]) decides what a receiver takes in which order, and what it asks for again.

use xoff_engine::Time;
use xoff_schemes::{AnyNotification, Arrival, Cnp, FlowEnv, IntPath, Mark, NotificationPoint};

use super::Hosts;
use super::nic::{NicId, NicScheduler};
use super::transport::{Reception, Verdict};
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::{ConnectionId, FlowId, PortId, QueueId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::observe::Records;
use crate::observe::detection::Marks;
use crate::packet::{CONTROL, DATA, Kind, LAST, Packet, PacketId};
use crate::settings::{AckClass, FlowCount};

/// A connection at its receiver.
pub(crate) struct Receiver {
    reception: Reception,
    /// Data packets since the last ACK.
    unacked: u32,
    /// The maximum mark since the last ACK.
    mark: Mark,
    /// The message whose data came last.
    flow: FlowId,
    /// Marks on that message's data packets.
    marks: Marks,
    pub(super) notification: AnyNotification,
    /// When the event of the notification point's timer comes, on the network's clock.
    pub(super) timer_at: Time,
    /// Messages that have begun to arrive and are not complete.
    open: u32,
}

impl Receiver {
    /// It is to notify its sender at some time.
    pub fn has_timer(&self) -> bool {
        self.notification.next_timer() != Time::NEVER
    }

    /// The notification point's timer is to come next, or now if its time is past: returns when, on the network's clock.
    pub(super) fn set_timer(&mut self, ctx: &Ctx) -> Time {
        self.timer_at = ctx.on_network_clock(self.notification.next_timer()).max(ctx.now);
        self.timer_at
    }

    /// No timer is pending.
    pub(super) fn forget_timer(&mut self) {
        self.timer_at = Time::NEVER;
    }

    /// Data packets since the last ACK, and the maximum mark among them.
    pub fn unacked(&self) -> (u32, Mark) {
        (self.unacked, self.mark)
    }

    /// What has arrived.
    pub fn reception_mut(&mut self) -> &mut Reception {
        &mut self.reception
    }

    /// Marks of the message whose data came last.
    pub fn marks_mut(&mut self) -> &mut Marks {
        &mut self.marks
    }

    /// Writes the marks of the message whose data came last.
    pub fn report(&self, records: &mut Records) {
        records.flow_received(self.flow, self.marks);
    }
}

impl<N: NicScheduler> Hosts<N> {
    /// A packet's last bit has arrived at a host.
    #[inline(always)] // runs for every packet
    pub fn arrival<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        ingress: PortId,
        id: PacketId,
    ) {
        ctx.counters.packet_hops += 1;
        let packet = &ctx.packets[id];
        let (kind, class, size) = (packet.kind, packet.class, packet.size.into());
        if C::HAS_CREDITS && class >= DATA {
            let queue = QueueId::new(ingress, class - DATA, links.priorities);
            if !self.holds || kind != Kind::Data || !self.keeps_credits(links, queue) {
                C::on_consumed(links, ctx, queue, size);
            }
            if !links.effects.is_empty() {
                self.settle(ctx, links);
            }
        }
        match kind {
            Kind::Data | Kind::Trimmed | Kind::Rts if N::OWN_TRANSPORT => {
                N::on_data(self, ctx, links, ingress, id)
            }
            Kind::Data => self.data_arrival(ctx, links, ingress, id),
            Kind::Rts => self.request_arrival(ctx, links, ingress, id),
            Kind::Pfc | Kind::CreditUpdate => {
                C::on_frame(links, ctx, ingress, id);
                if !links.effects.is_empty() {
                    self.settle(ctx, links);
                }
            }
            _ => self.feedback(ctx, links, id),
        }
    }

    #[inline(always)] // runs for every packet
    fn data_arrival<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        ingress: PortId,
        id: PacketId,
    ) {
        let packet = ctx.packets[id];
        let connection = ctx.net.connections.of(packet.flow);
        let nic = self.nic_of(links, ingress);
        if self.receivers[connection.index()].is_none() {
            if self.holds && self.stopped.has(links.ports[ingress.index()].node) {
                return self.hold(ctx, links, ingress, id);
            }
            self.open_receiver(ctx, connection, nic);
        }
        let Some(receiver) = self.receivers[connection.index()].as_deref_mut() else { return };
        // Notification points compare times, some of them from before time was carried forward.
        let arrival = Arrival {
            now: ctx.simulated(),
            payload: u64::from(packet.payload),
            frame: u64::from(packet.size),
            mark: packet.mark,
            credit: packet.flow_count,
        };
        let cnp = receiver.notification.on_data(&arrival);
        if receiver.notification.next_timer() < receiver.timer_at.saturating_add(ctx.carried) {
            let at = receiver.set_timer(ctx);
            let node = links.ports[ingress.index()].node;
            ctx.schedule(node, at, key(kind::NOTIFICATION_TIMER, connection.0), 0);
        }
        if receiver.flow != packet.flow {
            receiver.report(&mut ctx.probes.records);
            (receiver.flow, receiver.marks) = (packet.flow, Marks::default());
        }
        receiver.marks.count(packet.mark);
        let verdict = receiver.reception.on_data(&ctx.packets[id], &ctx.net, ctx.now);
        let last = packet.flags & LAST != 0;
        let (taken, answer) = match verdict {
            Verdict::Taken { in_order } => {
                receiver.unacked += 1;
                receiver.mark = receiver.mark.max(packet.mark);
                let now = last || !in_order || receiver.unacked >= ctx.net.wire.ack_every;
                (true, now.then_some(Kind::Ack))
            }
            Verdict::Kept => {
                receiver.mark = receiver.mark.max(packet.mark);
                (true, Some(Kind::Nack))
            }
            Verdict::Again => (false, Some(Kind::Ack)), // its ACK may have been lost
            Verdict::Gap => (false, Some(Kind::Nack)),
            Verdict::Refused => (false, None),
        };
        if taken {
            ctx.counters.delivered_bytes += u64::from(packet.payload);
            if receiver.reception.bounds_messages(last) {
                self.count_messages(ctx, connection, nic, id);
            }
        }
        if let Some(cnp) = cnp {
            self.send_cnp(ctx, links, packet.flow, nic, &cnp);
        }
        match answer {
            Some(kind) => self.answer(ctx, links, connection, id, nic, kind),
            None => ctx.packets.remove(id),
        }
    }

    /// Counts the messages that begin, and those that are complete, with a data packet that the receiver has taken.
    fn count_messages(&mut self, ctx: &mut Ctx, connection: ConnectionId, nic: NicId, id: PacketId) {
        let Some(receiver) = self.receivers[connection.index()].as_deref_mut() else { return };
        let begun = receiver.reception.begun();
        if begun > 0 {
            let counts = &mut self.nics[nic as usize].counts;
            counts.open_in += u32::from(receiver.open == 0);
            receiver.open += begun;
        }
        for flow in receiver.reception.complete(&ctx.packets[id]) {
            self.message_complete(ctx, connection, nic, flow);
        }
    }

    /// Opens a connection's receiver at the connection's first data.
    #[cold]
    pub(super) fn open_receiver(&mut self, ctx: &mut Ctx, connection: ConnectionId, nic: NicId) {
        let flow = ctx.net.connections.first_message(connection);
        let line_rate = ctx.net.topology.rate(ctx.net.ack_path(flow).first());
        let env = FlowEnv { now: ctx.now, line_rate, ..ctx.net.flow_env(connection) };
        let notification = ctx.net.scheme.notification(&env);
        self.receivers[connection.index()] = Some(Box::new(Receiver {
            reception: Reception::new(&ctx.net, flow),
            unacked: 0,
            mark: Mark::None,
            flow,
            marks: Marks::default(),
            notification,
            timer_at: Time::NEVER,
            open: 1,
        }));
        let counts = &mut self.nics[nic as usize].counts;
        counts.open_in += 1;
        counts.seen_in += 1;
    }

    /// All of a message has arrived. A connection without other messages counts into N for one more base RTT.
    fn message_complete(&mut self, ctx: &mut Ctx, connection: ConnectionId, nic: NicId, flow: FlowId) {
        let Some(receiver) = self.receivers[connection.index()].as_deref_mut() else { return };
        receiver.open -= 1;
        if receiver.open == 0 {
            let counts = &mut self.nics[nic as usize].counts;
            counts.open_in -= 1;
            if ctx.net.signals.flow_count {
                counts.recent_in.push_back(ctx.now + ctx.net.env.base_rtt);
            }
        }
        self.message_delivered(ctx, flow);
    }

    /// The number of concurrent flows N (FNCC, section 3.2.3), in the 16 bits that an ACK has for it.
    fn flow_count(&mut self, ctx: &Ctx, nic: NicId) -> u16 {
        let counts = &mut self.nics[nic as usize].counts;
        let n = match ctx.net.settings.host.flow_count {
            FlowCount::AllOpenQps => counts.seen_in,
            FlowCount::Recent => {
                while counts.recent_in.front().is_some_and(|&until| until <= ctx.now) {
                    counts.recent_in.pop_front();
                }
                counts.open_in + counts.recent_in.len() as u32
            }
        };
        n.min(u32::from(u16::MAX)) as u16
    }

    /// Turns a data packet into the ACK or NACK for all that has arrived; telemetry on data goes back with it.
    #[inline(always)] // runs for every packet
    fn answer<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        id: PacketId,
        nic: NicId,
        kind: Kind,
    ) {
        let flow_count = if ctx.net.signals.flow_count { self.flow_count(ctx, nic) } else { 0 };
        let Some(receiver) = self.receivers[connection.index()].as_deref_mut() else { return };
        receiver.unacked = 0;
        let packet = &mut ctx.packets[id];
        packet.kind = kind;
        packet.seq = receiver.reception.expected();
        packet.mark = std::mem::replace(&mut receiver.mark, Mark::None);
        packet.flow_count = flow_count;
        packet.flags = 0;
        packet.size = ctx.net.wire.ack as u16;
        packet.payload = 0;
        goes_back(&ctx.net, packet);
        if ctx.net.settings.host.ack_class != AckClass::Data {
            packet.class = CONTROL;
        }
        if ctx.net.signals.int == IntPath::Ack {
            packet.hops = 0;
        }
        let done = receiver.open == 0 && !ctx.net.connections.is_shared(connection);
        if done && !ctx.net.may_retransmit() {
            // Nothing of the connection can come any more.
            receiver.report(&mut ctx.probes.records);
            self.receivers[connection.index()] = None;
        }
        let delay = ctx.net.settings.host.processing_delay;
        if delay == Time::ZERO {
            self.enqueue(ctx, links, nic, id);
        } else {
            let (node, at) = (self.nics[nic as usize].host, ctx.now + delay);
            ctx.schedule(node, at, key(kind::ACK_READY, nic), id);
        }
    }

    /// Sends a CNP to a message's source, before any ACK.
    fn send_cnp<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        flow: FlowId,
        nic: NicId,
        cnp: &Cnp,
    ) {
        let mut packet = Packet::cnp(flow, ctx.net.wire.cnp, cnp.mark, cnp.rate, ctx.now);
        goes_back(&ctx.net, &mut packet);
        let id = ctx.packets.insert(packet);
        let delay = ctx.net.settings.host.cnp_delay;
        if delay == Time::ZERO {
            self.enqueue(ctx, links, nic, id);
        } else {
            let (node, at) = (self.nics[nic as usize].host, ctx.now + delay);
            ctx.schedule(node, at, key(kind::ACK_READY, nic), id);
        }
    }

    /// The event of a notification point's timer.
    pub fn notification_timer<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        let Some(receiver) = self.receivers[connection.index()].as_deref_mut() else { return };
        if receiver.timer_at != ctx.now {
            return;
        }
        receiver.timer_at = Time::NEVER;
        let now = ctx.simulated();
        let due = receiver.notification.next_timer() <= now;
        let needs_credits = ctx.net.signals.credits.is_some();
        let cnp = if due && !needs_credits { receiver.notification.on_timer(now) } else { None };
        let credit = if due && needs_credits { receiver.notification.credit(now) } else { None };
        let (flow, expected) = (receiver.flow, receiver.reception.expected());
        if receiver.has_timer() {
            let (node, at) = (ctx.net.ends(connection).dst, receiver.set_timer(ctx));
            ctx.schedule(node, at, key(kind::NOTIFICATION_TIMER, connection.0), 0);
        }
        if let Some(cnp) = cnp {
            let nic = self.nic_of(links, ctx.net.ack_path(flow).first());
            self.send_cnp(ctx, links, flow, nic, &cnp);
        }
        if let Some(credit) = credit {
            self.send_credit(ctx, links, flow, expected, credit);
        }
    }
}

/// Sends a receiver's packet back to its flow's source: along the ACK path or, if packets have no path, by next hops.
#[inline(always)] // runs for every packet
pub(super) fn goes_back(net: &Network, packet: &mut Packet) {
    packet.position = net.route(packet.flow).ack(1);
    if let Some(hops) = &net.paths.next_hops {
        debug_assert!(hops.choice().is_by_next_hops());
        // The packet's number spreads a flow's packets; the flow's number keeps all flows' first packets off one path.
        let (end, number) = (net.data_path(packet.flow)[0], packet.number.wrapping_add(packet.flow.0));
        packet.goes_to(end, number);
    } else if net.paths.lanes.is_some() {
        packet.follows_path_to(net.data_path(packet.flow)[0]);
    }
    if packet.class >= DATA && net.paths.lanes.is_some() {
        packet.class = DATA + net.flows.priority(packet.flow); // the first lane
    }
}
