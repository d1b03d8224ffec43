//! What comes back to a connection's sender: ACKs, NACKs and PULLs.

use xoff_engine::Time;
use xoff_schemes::Mark;
use xoff_schemes::nscc::Sample;
use xoff_schemes::uet::max_window;

use super::UetNic;
use super::entropy::PathNews;
use super::headers::Header;
use super::sender::UetSender;
use crate::ctx::Ctx;
use crate::host::Hosts;
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::{Kind, Packet, PacketId};
use crate::settings::UetOf;

impl Hosts<UetNic> {
    /// An ACK, NACK or PULL has arrived at its sender.
    pub(super) fn uet_feedback<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, id: PacketId) {
        let (packet, header) = (ctx.packets[id], self.shared.headers.of(id));
        ctx.packets.remove(id);
        match packet.kind {
            Kind::Ack => ctx.counters.uet.acks += 1,
            Kind::Nack => ctx.counters.uet.nacks += 1,
            Kind::Pull => ctx.counters.uet.pulls += 1,
            _ => return,
        }
        let connection = ctx.net.connections.of(packet.flow);
        let Some(sender) = self.shared.senders[connection.index()].as_deref_mut() else { return };
        if let Some(credit) = &mut sender.credit {
            credit.on_feedback();
        }
        match packet.kind {
            Kind::Ack => {
                sender.on_ack(ctx, &packet, &header);
                if sender.is_done() {
                    return self.uet_done(ctx, links, connection);
                }
            }
            Kind::Nack => sender.on_nack(ctx, &packet, &header),
            _ => {
                let rate = links.ports[self.nics[sender.nic as usize].port.index()].rate;
                let max = max_window(rate, sender.base_rtt);
                if let Some(credit) = &mut sender.credit {
                    credit.on_pull(header.quanta, max);
                }
            }
        }
        self.uet_make_ready(ctx, links, connection);
        self.uet_arm_timeout(ctx, connection);
    }
}

impl UetSender {
    fn on_ack(&mut self, ctx: &mut Ctx, packet: &Packet, header: &Header) {
        let now = ctx.now;
        let news = self.out.receive(header.received);
        self.out.arrived(header.cumulative, header.base, header.bitmap);
        let marked = packet.mark == Mark::Ce;
        let path = if marked { PathNews::Marked } else { PathNews::Good };
        self.entropy.learn(Some(header.ev), path, now);
        let rtt = now - packet.sent_at;
        // A short packet takes less time than a full one; its RTT is no base for delays of full ones.
        let is_full = u64::from(header.frame) == ctx.net.wire.frame();
        if is_full || ctx.net.settings.quirks.uet == UetOf::Htsim {
            self.base_rtt = self.base_rtt.min(rtt);
        }
        if let Some(window) = &mut self.window {
            window.on_ack(&Sample {
                now,
                bytes: news,
                delay: rtt.saturating_sub(self.base_rtt),
                marked,
                in_flight: self.out.in_flight,
                base_rtt: self.base_rtt,
            });
        }
        if ctx.probes.on_acks && news > 0 {
            ctx.probes.on_ack(now, packet.flow, news);
        }
    }

    fn on_nack(&mut self, ctx: &mut Ctx, packet: &Packet, header: &Header) {
        let (now, uet) = (ctx.now, &ctx.net.settings.host.uet);
        let path = if header.last_hop { PathNews::Good } else { PathNews::Trimmed };
        self.entropy.learn(Some(header.ev), path, now);
        let rtt = now - packet.sent_at;
        if ctx.net.settings.quirks.uet == UetOf::Htsim && uet.base_rtt_from_nacks {
            self.base_rtt = self.base_rtt.min(rtt);
        }
        let is_current = self.out.sent.get(&packet.number).is_some_and(|out| out.at == packet.sent_at);
        let Some(bytes) = is_current.then(|| self.out.lose(packet.number)).flatten() else { return };
        let spares = header.last_hop && self.credit.is_some();
        if let Some(window) = &mut self.window {
            window.on_nack(
                &Sample {
                    now,
                    bytes,
                    delay: Time::ZERO,
                    marked: false,
                    in_flight: self.out.in_flight,
                    base_rtt: self.base_rtt,
                },
                spares,
            );
        }
    }
}
