//! Messages of switches (CNMs) to the sources of flows.

use xoff_schemes::Cnm;

use super::Switches;
use crate::ctx::Ctx;
use crate::ids::{ConnectionId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::{BY_HOP, Kind, Packet};

impl Switches {
    /// Sends a switch's message to the source of a connection: back along the connection's path or, if packets have no fixed
    /// path, by the next hops to that host.
    pub(super) fn send_cnm<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        message: &Cnm,
    ) {
        let net = ctx.net.clone();
        let connection = ConnectionId(message.flow);
        let flow = net.connections.first_message(connection);
        let size = net.wire.cnp;
        let mut packet = Packet::cnm(flow, message, size, egress, ctx.now);
        let frame = packet.frame();
        if net.paths.next_hops.is_some() {
            // The congestion point's number selects the path.
            packet.position = net.data_path(flow)[0].0 | BY_HOP;
            ctx.probes.on_control_frame(ctx.now, egress, Kind::Cnm);
            let id = ctx.packets.insert(packet);
            let node = links.ports[egress.index()].node;
            let out = self.next_hop(ctx, links, node, id);
            return self.enqueue_own(ctx, links, out, id, frame);
        }
        let path = net.data_path_at(flow, ctx.simulated());
        let Some(hop) = path.iter().position(|&p| p == egress) else { return };
        // Walking back from the receiver, the switch of the path's link `hop` sends on the link before it.
        let place = net.route_at(flow, ctx.simulated()).back((path.len() - hop) as u32);
        packet.position = place.wrapping_add(1);
        ctx.probes.on_control_frame(ctx.now, egress, Kind::Cnm);
        let id = ctx.packets.insert(packet);
        let out = net.paths.ports.at(place);
        self.enqueue_own(ctx, links, out, id, frame);
    }
}
