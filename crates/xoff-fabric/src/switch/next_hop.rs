//! The choice of a packet's next hop at a switch, for packets without a fixed path.
//!
//! Packets that their sender sprays carry the number of one of the equal-cost paths, which each switch follows. Where the
//! path choice adapts (`path/routing/path_choice/`), the switch lets it pick among the equal-cost next hops by what waits
//! at them, with a stream of random numbers of the ingress port.

use xoff_engine::random::mix;
use xoff_engine::{Domain, Stream, stream};

use super::Switches;
use crate::ctx::Ctx;
use crate::ids::{NodeId, PortId};
use crate::link::Links;
use crate::network::Network;
use crate::packet::{Kind, PacketId};

/// Streams of ingress ports are numbered from here on, apart from those of connections.
const FIRST_STREAM: u64 = 1 << 40;

/// By ingress port: the stream for path choices; empty unless these adapt.
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
    /// Chooses the port by which a packet leaves a switch. Telemetry on data takes the path's identity along: the port is
    /// added to those before it by exclusive or, as HPCC's pathID does it with the numbers of switches (section 4.1). Ports
    /// tell parallel links apart too.
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
            packet.path_id ^= mix(u64::from(egress)) as u16;
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
        // ACKs and notifications are small: they follow the numbers of their paths.
        if hops.choice().adapts() && packet.kind == Kind::Data {
            let load = |port: PortId| {
                let port = &links.ports[port as usize];
                (port.queued_bytes, port.busy_until > ctx.now)
            };
            let random = &mut self.ties[packet.ingress as usize];
            return hops.choice().at_switch(candidates, load, random).unwrap_or(packet.ingress);
        }
        // Each candidate has so many of the remaining paths; a number beyond all of them wraps.
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
