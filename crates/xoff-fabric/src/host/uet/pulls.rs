//! A receiver's PULLs.

use xoff_engine::{Domain, Time, stream};
use xoff_schemes::Mark;
use xoff_schemes::rccc::{Pacer, RateControl};
use xoff_schemes::uet::max_window;

use super::headers::Header;
use super::receiver::goes_back;
use super::{Pulls, UetNic};
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::host::Hosts;
use crate::host::nic::NicId;
use crate::ids::FlowId;
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::{CONTROL, Kind, LAST_HOP, Packet, PacketId};

/// Number of the first host's stream for its rate control.
const FIRST_STREAM: u64 = 1 << 42;
/// PULLs take EVs in turn, below this number.
const PULL_PATHS: u32 = 128;

impl Hosts<UetNic> {
    /// A packet has arrived that says what its sender wants; `again` says that it was here before.
    pub(super) fn uet_want<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        packet: &Packet,
        header: &Header,
        again: bool,
    ) {
        let Some(rccc) = ctx.net.scheme.uet().and_then(|control| control.rccc) else { return };
        let nic = self.uet_nic_at(ctx, links, packet.flow);
        let own = &mut self.nics[nic as usize];
        let rate = links.ports[own.port.index()].rate;
        let (net, rtt) = (&ctx.net, ctx.net.uet_rtt());
        let is_alone = net.scheme.uet().is_some_and(|control| control.nscc.is_none());
        let host = own.host;
        let pulls = own.scheduler.pulls.get_or_insert_with(|| {
            let random = stream(net.seed, Domain::Routing, FIRST_STREAM + u64::from(host.0));
            let slows = rccc.oversubscription > 1.0 && is_alone;
            let control = slows.then(|| RateControl::new(rccc.oversubscription, rtt, random));
            Box::new(Pulls { pacer: Pacer::new(&rccc, rate), control, armed: Time::NEVER, ev: 0 })
        });
        let trimmed = packet.kind == Kind::Trimmed;
        if let Some(control) = &mut pulls.control {
            let before_last = trimmed && packet.flags & LAST_HOP == 0;
            control.on_packet(ctx.now, packet.mark == Mark::Ce, before_last);
        }
        pulls.pacer.on_target(packet.flow.0, header.quanta, max_window(rate, rtt));
        if trimmed && !again {
            pulls.pacer.on_trim(packet.flow.0, header.frame.into());
        }
        self.uet_arm_pull(ctx, links, nic);
    }

    /// Sends a PULL if its time has come, or arms the event at that time.
    fn uet_arm_pull<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        let own = &mut self.nics[nic as usize];
        let Some(pulls) = own.scheduler.pulls.as_deref_mut() else { return };
        let Some(at) = pulls.pacer.next_at() else { return };
        if at <= ctx.now {
            return self.uet_send_pull(ctx, links, nic);
        }
        if at != pulls.armed {
            pulls.armed = at;
            ctx.schedule(own.host, at, key(kind::REACTION_TIMER, nic), 0);
        }
    }

    /// The event of a PULL's time.
    pub(super) fn uet_pull<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        let Some(pulls) = self.nics[nic as usize].scheduler.pulls.as_deref_mut() else { return };
        if pulls.armed != ctx.now {
            return;
        }
        pulls.armed = Time::NEVER;
        self.uet_arm_pull(ctx, links, nic);
    }

    fn uet_send_pull<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        let net = ctx.net.clone();
        let own = &mut self.nics[nic as usize];
        let Some(pulls) = own.scheduler.pulls.as_deref_mut() else { return };
        let slowed = pulls.control.as_ref().map_or(1.0, RateControl::rate);
        if let Some(pull) = pulls.pacer.pull(ctx.now, slowed) {
            let ev = pulls.ev;
            pulls.ev = (ev + 1) % PULL_PATHS;
            let mut packet =
                Packet::data(FlowId(pull.flow), 0, 0, 0, net.wire.ack, CONTROL, own.port, ctx.now);
            packet.kind = Kind::Pull;
            goes_back(&net, &mut packet, ev);
            let id: PacketId = ctx.packets.insert(packet);
            self.shared.headers.put(id, Header { ev, quanta: pull.total, ..Header::default() });
            self.enqueue(ctx, links, nic, id);
        }
        self.uet_arm_pull(ctx, links, nic);
    }
}
