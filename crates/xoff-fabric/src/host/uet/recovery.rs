//! Timeouts and requests to send (RTS).
//!
//! A timeout takes one packet: the one that was sent first of those that nothing has come back of. If window and credit do
//! not let it go again, an RTS asks for an ACK, and for credit, at most one in a round trip.

use xoff_engine::Time;

use super::UetNic;
use super::entropy::PathNews;
use super::headers::Header;
use super::sender::Out;
use crate::ctx::Ctx;
use crate::host::Hosts;
use crate::ids::ConnectionId;
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::{CONTROL, Kind, Packet};
use crate::settings::UetOf;
use xoff_schemes::uet::max_window;

impl Hosts<UetNic> {
    /// The event of a connection's retransmission timer.
    pub(super) fn uet_timeout<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        let now = ctx.now;
        let Some(sender) = self.shared.senders[connection.index()].as_deref_mut() else { return };
        if sender.armed != now {
            return;
        }
        sender.armed = Time::NEVER;
        let timeout = ctx.net.settings.host.retransmit_timeout;
        if let Some((at, psn)) = sender.out.oldest()
            && at + timeout <= now
            && let Some(bytes) = sender.out.lose(psn)
        {
            sender.entropy.learn(None, PathNews::Silent, now);
            if let Some(window) = &mut sender.window {
                window.on_timeout(bytes);
            }
            if !sender.permits(bytes) {
                self.uet_request(ctx, links, connection);
            }
            self.uet_make_ready(ctx, links, connection);
        }
        self.uet_arm_timeout(ctx, connection);
    }

    /// Sends an RTS, unless one went less than a round trip ago.
    fn uet_request<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, connection: ConnectionId) {
        let net = ctx.net.clone();
        let now = ctx.now;
        let Some(sender) = self.shared.senders[connection.index()].as_deref_mut() else { return };
        let nic = sender.nic;
        // That simulator's interval is 0 without NSCC.
        let limited = net.settings.quirks.uet != UetOf::Htsim || sender.window.is_some();
        let recent = sender.requested_at.is_some_and(|at| now < at + net.uet_rtt());
        if limited && recent {
            return;
        }
        sender.requested_at = Some(now);
        sender.requests += 1;
        let (psn, size) = (sender.out.next, net.wire.ack);
        sender.out.next += 1;
        sender.out.send(psn, Out { at: now, frame: size as u16, payload: 0 });
        ctx.counters.uet.requests += 1;
        let own = &self.nics[nic as usize];
        let rate = links.ports[own.port.index()].rate;
        let (max, mtu) = (max_window(rate, sender.base_rtt), net.wire.frame());
        let quanta =
            sender.demand(net.wire.payload, net.wire.data_overhead, max, mtu, own.scheduler.ready.len() + 1);
        let ev = sender.entropy.next(now);
        let flow = sender.message.flow;
        let mut packet =
            Packet::data(flow, u64::from(psn) * net.wire.payload, psn, 0, size, CONTROL, own.port, now);
        packet.kind = Kind::Rts;
        if net.paths.next_hops.is_some() {
            let path = net.data_path(flow);
            packet.goes_to(path[path.len() - 1].peer(), ev);
        } else {
            packet.position = net.route(flow).data(1);
        }
        let id = ctx.packets.insert(packet);
        let header = Header { ev, frame: size as u16, asks: true, quanta, ..Header::default() };
        self.shared.headers.put(id, header);
        self.enqueue(ctx, links, nic, id);
    }
}
