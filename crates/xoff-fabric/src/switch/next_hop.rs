//! The choice of a packet's next hop at a switch, for packets without a fixed path.
//!
//! Packets that their sender sprays carry the number of one of the equal-cost paths, which each switch follows. If the
//! path choice adapts (`path/routing/path_choice/`), it picks among the equal-cost next hops by their loads, with a stream of
//! random numbers of the ingress port.

use xoff_engine::random::mix;
use xoff_engine::{Domain, Stream, stream};

use super::Switches;
use crate::ctx::Ctx;
use crate::ids::{NodeId, PortId};
use crate::link::Links;
use crate::network::Network;
use crate::packet::{DATA, Kind, PacketId};
use crate::path::routing::NextHops;

/// Number of the first ingress port's stream: the numbers below are those of connections' streams.
const FIRST_STREAM: u64 = 1 << 40;

/// By ingress port: the stream for path choices; empty unless switches choose at random.
pub(super) fn ties(net: &Network) -> Vec<Stream> {
    match &net.paths.next_hops {
        Some(hops) if hops.choice().adapts() || hops.detours().is_some() => {
            let ports = 0..u64::from(net.topology.ports());
            ports.map(|port| stream(net.seed, Domain::Routing, FIRST_STREAM + port)).collect()
        }
        _ => Vec::new(),
    }
}

impl Switches {
    /// Takes in what a packet carries that has come to a switch, and chooses its next hop.
    #[inline(never)]
    pub(super) fn read_and_route<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        node: NodeId,
        id: PacketId,
    ) -> PortId {
        if let Some(known) = &mut self.known_loads {
            known.learn(ctx.now, &ctx.packets, links, node, ctx.packets[id].ingress, id);
        }
        self.next_hop(ctx, links, node, id)
    }

    /// Chooses the port by which a packet leaves a switch, and the packet's lane. Data carries an identity of its path, the
    /// exclusive or of all its egress ports; HPCC's pathID is the exclusive or of the switches' numbers (section 4.1), but
    /// ports tell parallel links apart too.
    pub(super) fn next_hop<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        node: NodeId,
        id: PacketId,
    ) -> PortId {
        let egress = self.choose_egress(ctx, links, node, id);
        let packet = &mut ctx.packets[id];
        packet.links = packet.links.saturating_add(1);
        if packet.kind == Kind::Data {
            packet.path_id ^= mix(u64::from(egress.0)) as u16;
        }
        if packet.class >= DATA
            && let Some(lanes) = &ctx.net.paths.lanes
        {
            let class = DATA + lanes.next_priority(packet.ingress, egress, packet.class - DATA);
            packet.lane_change = class.wrapping_sub(packet.class);
            packet.class = class;
        }
        egress
    }

    fn choose_egress<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, node: NodeId, id: PacketId) -> PortId {
        let simulated = ctx.simulated();
        let packet = &mut ctx.packets[id];
        let Some(end) = packet.destination() else { return packet.ingress };
        let Some(hops) = &ctx.net.paths.next_hops else {
            let place = packet.point;
            packet.point = place.wrapping_add(1);
            return ctx.net.paths.ports.at(place);
        };
        if packet.kind == Kind::Data && hops.detours().is_some() {
            return self.next_on_course(ctx, links, node, id, end);
        }
        let now = ctx.net.faults.as_ref().and_then(|plan| plan.next_hops(simulated));
        let candidates = match now.unwrap_or(hops).towards(node, end) {
            Ok(last) => return last,
            // Where links that are down leave no way, the old one leads to one of them.
            Err([]) => hops.towards(node, end).err().unwrap_or_default(),
            Err(candidates) => candidates,
        };
        // ACKs and notifications are small: they follow their path numbers.
        if hops.choice().adapts() && packet.kind == Kind::Data {
            let load = |port: PortId| {
                let port = &links.ports[port.index()];
                (port.queued_bytes, port.busy_until > ctx.now)
            };
            let random = &mut self.ties[packet.ingress.index()];
            return hops.choice().at_switch(candidates, load, random).unwrap_or(packet.ingress);
        }
        if hops.choice().hashes() && !candidates.is_empty() {
            let salted = mix(ctx.net.seed ^ mix(u64::from(node.0)));
            let hash = mix(salted ^ (u64::from(packet.flow.0) << 32 | u64::from(packet.path_number())));
            return candidates[(hash % candidates.len() as u64) as usize].0;
        }
        let mut number = u64::from(packet.path_number());
        let port = NextHops::by_number(candidates, &mut number);
        if packet.kind != Kind::Cnm {
            packet.point = number as u32;
        }
        port.unwrap_or(packet.ingress)
    }
}
