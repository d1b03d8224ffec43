//! Whose turn it is at a NIC, and a packet that goes.

use xoff_engine::Time;
use xoff_schemes::uet::max_window;

use super::UetNic;
use super::headers::Header;
use super::sender::Out;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::host::Hosts;
use crate::host::nic::NicId;
use crate::ids::{ConnectionId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::{CONTROL, DATA, Kind, LAST, Packet, RESENT};

/// The classes that go before data.
const CONTROL_CLASSES: u16 = (1 << DATA) - 1;

/// Control packets that go for each data packet while both wait.
const CONTROL_FOR_DATA: u32 = 10;

impl Hosts<UetNic> {
    /// Puts a connection into its NIC's round robin if it may send.
    pub(super) fn uet_make_ready<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        let Some(nic) = self.uet_queue(ctx, connection) else { return };
        self.uet_kick(ctx, links, nic);
    }

    /// Puts a connection that may send, and does not wait yet, into its NIC's round robin.
    fn uet_queue(&mut self, ctx: &Ctx, connection: ConnectionId) -> Option<NicId> {
        let sender = self.shared.senders[connection.index()].as_deref_mut()?;
        let wire = &ctx.net.wire;
        let frame = sender.next_frame(wire.payload, wire.data_overhead)?;
        if sender.is_ready || !sender.permits(frame) {
            return None;
        }
        sender.is_ready = true;
        self.nics[sender.nic as usize].scheduler.ready.push_back(connection);
        Some(sender.nic)
    }

    /// Sends the next packet of a NIC, or sees to it when the wire is free.
    pub(super) fn uet_kick<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        let port_id = self.nics[nic as usize].port;
        if links.ports[port_id.index()].is_idle(ctx.now) {
            self.uet_send_next(ctx, links, nic, port_id);
        }
        self.uet_rearm(ctx, links, nic);
    }

    /// Arms the wake-up at the end of the packet on the wire if something waits.
    pub(super) fn uet_rearm<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        let own = &mut self.nics[nic as usize];
        let port = &links.ports[own.port.index()];
        let waits = port.sendable() != 0 || !own.scheduler.ready.is_empty();
        let at = port.busy_until;
        if waits && at > ctx.now && at < own.scheduler.wake_at {
            own.scheduler.wake_at = at;
            ctx.schedule(own.host, at, key(kind::NIC_WAKE, nic), 0);
        }
    }

    fn uet_send_next<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
        port_id: PortId,
    ) {
        let control = links.ports[port_id.index()].sendable() & CONTROL_CLASSES;
        let scheduler = &mut self.nics[nic as usize].scheduler;
        if control != 0 && (scheduler.control_run < CONTROL_FOR_DATA || scheduler.ready.is_empty()) {
            scheduler.control_run += 1;
            let class = links.choose(port_id, control);
            return self.send_queued(ctx, links, port_id, class);
        }
        for _ in 0..self.nics[nic as usize].scheduler.ready.len() {
            let Some(connection) = self.nics[nic as usize].scheduler.ready.pop_front() else { break };
            let Some(sender) = self.shared.senders[connection.index()].as_deref_mut() else { continue };
            if links.ports[port_id.index()].paused & 1 << (DATA + sender.priority) != 0 {
                self.nics[nic as usize].scheduler.ready.push_back(connection);
                continue;
            }
            sender.is_ready = false;
            let wire = &ctx.net.wire;
            let frame = sender.next_frame(wire.payload, wire.data_overhead);
            if frame.is_some_and(|frame| sender.permits(frame)) {
                self.nics[nic as usize].scheduler.control_run = 0;
                self.uet_emit(ctx, links, connection, port_id);
                self.uet_queue(ctx, connection);
                return;
            }
        }
        let control = links.ports[port_id.index()].sendable() & CONTROL_CLASSES;
        if control != 0 {
            let class = links.choose(port_id, control);
            self.send_queued(ctx, links, port_id, class);
        }
    }

    /// Puts a connection's next packet onto the wire: the first to be sent again, or else a new one.
    fn uet_emit<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        port: PortId,
    ) {
        let net = ctx.net.clone();
        let (wire, now) = (&net.wire, ctx.now);
        let Some(sender) = self.shared.senders[connection.index()].as_deref_mut() else { return };
        let nic = &mut self.nics[sender.nic as usize];
        let again = sender.out.again.first_key_value().map(|(&psn, &out)| (psn, out));
        let is_again = again.is_some();
        let (psn, out) = again.unwrap_or_else(|| {
            let payload = sender.left.min(wire.payload);
            let frame = (payload + wire.data_overhead) as u16;
            (sender.out.next, Out { at: now, frame, payload: payload as u16 })
        });
        let (frame, payload) = (u64::from(out.frame), u64::from(out.payload));
        let last = !is_again && payload == sender.left;
        if is_again {
            sender.message.retransmitted += payload;
        } else {
            sender.left -= payload;
            sender.out.next += 1;
        }
        sender.out.send(psn, Out { at: now, ..out });
        let is_request = payload == 0;
        if is_request {
            sender.message.wire_sent += frame;
        } else {
            sender.message.count(frame);
        }
        let (max, mtu) = (max_window(links.ports[port.index()].rate, sender.base_rtt), wire.frame());
        let mut asks = is_again || last;
        let mut quanta = 0;
        if let Some(credit) = &mut sender.credit {
            credit.spend(frame);
            asks |= !credit.is_open();
        }
        if let Some(window) = &sender.window {
            asks |= sender.out.in_flight + mtu >= window.bytes();
        }
        if sender.credit.is_some() {
            quanta = sender.demand(wire.payload, wire.data_overhead, max, mtu, nic.scheduler.ready.len() + 1);
        }
        let ev = sender.entropy.next(now);
        let header = Header { ev, frame: out.frame, asks, quanta, ..Header::default() };
        let (flow, class) = (sender.message.flow, DATA + sender.priority);
        let offset = u64::from(psn) * wire.payload;
        let mut packet = Packet::data(flow, offset, psn, payload, frame, class, port, now);
        packet.flags = if last { LAST } else { 0 } | if is_again { RESENT } else { 0 };
        if is_request {
            (packet.kind, packet.class) = (Kind::Rts, CONTROL);
        }
        if net.paths.next_hops.is_some() {
            let path = net.data_path(flow);
            packet.goes_to(path[path.len() - 1].peer(), ev);
        } else {
            packet.position = net.route(flow).data(1);
        }
        let counts = &mut ctx.counters.uet;
        counts.retransmitted += u64::from(is_again);
        counts.sent += u64::from(!is_again);
        let frame = packet.frame();
        let id = ctx.packets.insert(packet);
        self.shared.headers.put(id, header);
        links.put_on_wire(ctx, port, id, frame);
        self.uet_arm_timeout(ctx, connection);
    }

    /// Schedules the retransmission timer of the oldest packet that is out, unless it is.
    pub(super) fn uet_arm_timeout(&mut self, ctx: &mut Ctx, connection: ConnectionId) {
        let Some(sender) = self.shared.senders[connection.index()].as_deref_mut() else { return };
        if sender.armed != Time::NEVER || !ctx.net.may_retransmit() {
            return;
        }
        if let Some((sent_at, _)) = sender.out.oldest() {
            let at = (sent_at + ctx.net.settings.host.retransmit_timeout).max(ctx.now);
            sender.armed = at;
            let node = self.nics[sender.nic as usize].host;
            ctx.schedule(node, at, key(kind::RETRANSMIT_TIMER, connection.0), 0);
        }
    }
}

impl super::sender::UetSender {
    /// What the receiver is told that the sender wants, in quanta since the start.
    pub(super) fn demand(&self, payload: u64, overhead: u64, max: u64, mtu: u64, flows: usize) -> u64 {
        let Some(credit) = &self.credit else { return 0 };
        let backlog = self.backlog(payload, overhead);
        let wanted = self.window.as_ref().map_or(backlog, |window| backlog.min(window.bytes() + mtu));
        credit.demand(wanted, max, flows, mtu)
    }
}
