//! InfiniBand's credit-based flow control: every update period, each port tells its peer by messages on the wire, one for
//! each virtual lane, up to which count the peer may send.

use std::hash::{Hash, Hasher};

use rand::Rng;
use xoff_engine::{Domain, Time, stream};

use super::credits::Credits;
use super::sizing::BLOCK;
use super::{Accounting, Ctx, Effect, LinkControl, Links, Network, PacketId, PortId, QueueId};
use crate::event::{key, kind};
use crate::packet::{Kind, Packet};
use crate::settings::{self, FlowControl};

/// A packet on the wire of an egress port, whose credits become free when it has left.
#[derive(Clone, Copy, Default, Hash)]
struct Leaving {
    /// The ingress queue by which the packet came in.
    queue: QueueId,
    /// None once they are free.
    credits: u32,
    /// When the packet's last bit leaves.
    at: Time,
}

/// Credit-based flow control with updates.
pub(crate) struct Cbfc {
    credits: Credits,
    params: settings::Cbfc,
    /// By egress port: the last packet that took the wire.
    leaving: Vec<Leaving>,
    /// By queue: an update waits for the wire.
    waiting: Vec<bool>,
    /// By node: where the node's ports begin in `ports`; the last entry is the end of `ports`.
    first: Vec<u32>,
    /// Ports by node.
    ports: Vec<PortId>,
}

impl Cbfc {
    /// Sends updates of a port for all virtual lanes, except those for which one waits.
    #[inline]
    fn send_updates(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId) {
        for priority in 0..links.priorities as u8 {
            let queue = QueueId::new(port, priority, links.priorities);
            if std::mem::replace(&mut links.control.waiting[queue.index()], true) {
                continue;
            }
            let update = Packet::credit_update(port, priority, ctx.net.wire.update, ctx.now);
            let (frame, id) = (update.frame(), ctx.packets.insert(update));
            if links.sends_own_at_once(ctx, port) {
                Self::on_frame_sent(links, ctx, port, id);
                links.put_on_wire(ctx, port, id, frame);
            } else {
                links.effects.push(Effect::Send(port, id));
            }
        }
    }

    /// Sends updates of a port that has nothing else to send.
    fn update_if_idle(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId) {
        let p = &links.ports[port.index()];
        if p.is_idle(ctx.now) && p.backlog == 0 && !p.is_dead() {
            Self::send_updates(links, ctx, port);
        }
    }
}

impl LinkControl for Cbfc {
    const HAS_CREDITS: bool = true;

    #[inline(always)]
    fn credits(&self) -> Option<&Credits> {
        Some(&self.credits)
    }

    #[inline(always)]
    fn credits_mut(&mut self) -> Option<&mut Credits> {
        Some(&mut self.credits)
    }

    fn new(net: &Network) -> Self {
        let params = match &net.settings.flow_control {
            FlowControl::Cbfc(params) => params.clone(),
            _ => settings::Cbfc::default(),
        };
        let topology = &net.topology;
        let mut first = vec![0u32; topology.nodes.len() + 1];
        topology.port_ids().for_each(|port| first[topology.node_of(port).index() + 1] += 1);
        for node in 1..first.len() {
            first[node] += first[node - 1];
        }
        let mut ports: Vec<PortId> = topology.port_ids().collect();
        ports.sort_by_key(|&port| topology.node_of(port));
        let queues = ports.len() * usize::from(net.settings.switch.priorities);
        Cbfc {
            credits: Credits::new(net, BLOCK, params.counters),
            params,
            leaving: vec![Leaving::default(); ports.len()],
            waiting: vec![false; queues],
            first,
            ports,
        }
    }

    fn hash_state(links: &Links<Self>, now: Time, hasher: &mut impl Hasher) {
        let Cbfc { credits, leaving, waiting, .. } = &links.control;
        credits.hash_used(hasher);
        for (egress, leaving) in leaving.iter().enumerate().filter(|(_, leaving)| leaving.credits > 0) {
            (egress, Leaving { at: leaving.at.saturating_sub(now), ..*leaving }).hash(hasher);
        }
        for (queue, _) in waiting.iter().enumerate().filter(|(_, waits)| **waits) {
            queue.hash(hasher);
        }
    }

    fn describe_update(links: &Links<Self>, update: &Packet) -> u64 {
        let queue = QueueId::new(update.ingress.peer(), update.link_priority(), links.priorities);
        let Cbfc { credits, params, .. } = &links.control;
        credits.sending[queue.index()].granted(update.credit_limit(), params.counters)
    }

    /// Schedules the first update of each port, each at a random time within the first period.
    fn begin(links: &mut Links<Self>, ctx: &mut Ctx, ports: &[PortId]) {
        let period = links.control.params.update_period;
        for &port in ports {
            let phase = stream(ctx.net.seed, Domain::Credit, port.0.into()).next_u64() % period.0.max(1);
            let node = links.ports[port.index()].node;
            ctx.schedule(node, Time(phase), key(kind::LINK_CONTROL_PERIOD, port.0), 0);
        }
    }

    #[inline(always)]
    fn passes(
        links: &mut Links<Self>,
        _: &mut Ctx,
        queue: QueueId,
        egress: QueueId,
        size: u64,
        leaving: u64,
    ) -> bool {
        links.control.credits.passes(queue, egress, size, leaving)
    }

    #[inline(always)]
    fn on_left(links: &mut Links<Self>, ctx: &mut Ctx, egress: PortId, queue: QueueId, size: u64) {
        let port = &links.ports[egress.index()];
        let at = port.busy_until - port.gap;
        let control = &mut links.control;
        let credits = control.credits.unit.credits(size) as u32;
        let leaving = Leaving { queue, credits, at };
        let before = std::mem::replace(&mut control.leaving[egress.index()], leaving);
        control.credits.receiving[before.queue.index()].free(before.credits.into());
        if control.params.on_change {
            let port = queue.port(links.priorities);
            ctx.schedule(links.ports[port.index()].node, at, key(kind::LINK_CONTROL_APPLY, port.0), 0);
        }
    }

    fn on_dropped(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) {
        let control = &mut links.control;
        let credits = control.credits.unit.credits(size);
        control.credits.receiving[queue.index()].free(credits);
        if control.params.on_change {
            Self::update_if_idle(links, ctx, queue.port(links.priorities));
        }
    }

    fn on_frame_dropped(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId, id: PacketId) {
        let queue = QueueId::new(port, ctx.packets[id].link_priority(), links.priorities);
        links.control.waiting[queue.index()] = false;
    }

    #[inline]
    fn on_consumed(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) {
        let control = &mut links.control;
        let credits = control.credits.unit.credits(size);
        let end = &mut control.credits.receiving[queue.index()];
        end.receive(credits);
        end.free(credits);
        if control.params.on_change {
            Self::update_if_idle(links, ctx, queue.port(links.priorities));
        }
    }

    #[inline(always)]
    fn may_send(links: &mut Links<Self>, ctx: &mut Ctx, queue: QueueId, size: u64) -> bool {
        let enough = links.control.credits.may_send(queue, size);
        if !enough {
            links.stop(ctx, queue);
        }
        enough
    }

    /// An update has come in by `port`, whose egress it concerns.
    fn on_frame(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId, id: PacketId) {
        let (limit, priority) = (ctx.packets[id].credit_limit(), ctx.packets[id].link_priority());
        ctx.packets.remove(id);
        let queue = QueueId::new(port, priority, links.priorities);
        let width = links.control.params.counters;
        let credits = &mut links.control.credits;
        credits.sending[queue.index()].update(limit, width);
        links.credits_came(ctx, queue);
    }

    /// An update goes onto the wire; its limit counts all places that are free now.
    fn on_frame_sent(links: &mut Links<Self>, ctx: &mut Ctx, port: PortId, id: PacketId) {
        let queue = QueueId::new(port, ctx.packets[id].link_priority(), links.priorities);
        let node = links.ports[port.index()].node.index();
        let control = &mut links.control;
        control.waiting[queue.index()] = false;
        // Frees the places of packets that have left since the last look.
        for &egress in &control.ports[control.first[node] as usize..control.first[node + 1] as usize] {
            // The last data packet has left the buffer by now, even if the wire has since taken a control packet.
            let leaving = &mut control.leaving[egress.index()];
            let left = if leaving.at <= ctx.now { std::mem::take(&mut leaving.credits) } else { 0 };
            control.credits.receiving[leaving.queue.index()].free(left.into());
        }
        ctx.packets[id].seq = control.credits.receiving[queue.index()].message(control.params.counters);
        ctx.probes.on_control_frame(ctx.now, port, Kind::CreditUpdate);
    }

    /// The period of a port's updates is over, or a place in its buffer is free.
    fn on_event(links: &mut Links<Self>, ctx: &mut Ctx, _: &mut Accounting, event: u32, index: u32, _: u32) {
        let port = PortId(index);
        if event == kind::LINK_CONTROL_APPLY {
            return Self::update_if_idle(links, ctx, port);
        }
        let next = ctx.now + links.control.params.update_period;
        ctx.schedule(links.ports[port.index()].node, next, key(kind::LINK_CONTROL_PERIOD, port.0), 0);
        Self::send_updates(links, ctx, port);
    }
}
