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
use crate::packet::{Kind, PacketId};

/// Number of the first ingress port's stream: the numbers below are those of connections' streams.
const FIRST_STREAM: u64 = 1 << 40;

/// By ingress port: the stream for path choices; empty unless the path choice adapts.
pub(super) fn ties(net: &Network) -> Vec<Stream> {
    match &net.paths.next_hops {
        Some(hops) if hops.choice().adapts() => {
            let ports = 0..u64::from(net.topology.ports());
            ports.map(|port| stream(net.seed, Domain::Routing, FIRST_STREAM + port)).collect()
        }
        _ => Vec::new(),
    }
}

impl Switches {
    /// Chooses the port by which a packet leaves a switch. Data carries an identity of its path, the exclusive or of all its
    /// egress ports; HPCC's pathID is the exclusive or of the switches' numbers (section 4.1), but ports tell parallel links
    /// apart too.
    #[inline(never)]
    pub(super) fn next_hop<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        node: NodeId,
        id: PacketId,
    ) -> PortId {
        let egress = self.choose_egress(ctx, links, node, id);
        let packet = &mut ctx.packets[id];
        packet.links += 1;
        if packet.kind == Kind::Data {
            packet.path_id ^= mix(u64::from(egress.0)) as u16;
        }
        egress
    }

    fn choose_egress<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, node: NodeId, id: PacketId) -> PortId {
        let packet = &mut ctx.packets[id];
        let (Some(hops), Some(end)) = (&ctx.net.paths.next_hops, packet.destination()) else {
            return packet.ingress;
        };
        let candidates = match hops.towards(node, end) {
            Ok(last) => return last,
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
        if hops.choice().hashes() {
            let salted = mix(ctx.net.seed ^ mix(u64::from(node.0)));
            let hash = mix(salted ^ (u64::from(packet.flow.0) << 32 | u64::from(packet.path_number())));
            return candidates[(hash % candidates.len() as u64) as usize].0;
        }
        // Each candidate has a share of the remaining paths; a number beyond all of them wraps.
        let paths: u64 = candidates.iter().map(|&(_, paths)| u64::from(paths)).sum();
        let mut number = u64::from(packet.path_number()) % paths.max(1);
        for &(port, paths) in candidates {
            if number < u64::from(paths) {
                if packet.kind != Kind::Cnm {
                    packet.point = number as u32;
                }
                return port;
            }
            number -= u64::from(paths);
        }
        packet.ingress
    }
}
