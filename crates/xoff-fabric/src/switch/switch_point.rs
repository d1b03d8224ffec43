//! Points of whole switches: what they are told about each packet, and the messages that they send.
//!
//! A message goes back hop by hop, at each switch by the port that the switch's point has learned from the flow's data. A
//! flow's path is fixed, since a scheme with such points excludes a choice for each packet; so the message takes the data
//! path backwards, which [`Switches::send_cnm`] computes. A switch whose point has forgotten the flow loses the message.

use xoff_schemes::{Cnm, EgressView, IngressView, Joining, SwitchEnv, SwitchPoint};

use super::Switches;
use crate::ctx::Ctx;
use crate::ids::{NodeId, PortId, QueueId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::packet::{DATA, Kind, PacketId};
use crate::settings::FlowControl;

/// A switch's point, with what the fabric counts for the point.
struct OneSwitch {
    state: Box<dyn SwitchPoint>,
    /// By ingress queue: the egress ports that hold packets of the queue, each with the number of these packets.
    fed: Vec<Vec<(PortId, u32)>>,
}

/// Counts one more packet of an ingress queue for an egress port.
fn feed(fed: &mut Vec<(PortId, u32)>, egress: PortId) {
    match fed.iter_mut().find(|(port, _)| *port == egress) {
        Some((_, packets)) => *packets += 1,
        None => fed.push((egress, 1)),
    }
}

/// Counts one packet fewer of an ingress queue for an egress port.
fn unfeed(fed: &mut Vec<(PortId, u32)>, egress: PortId) {
    if let Some(place) = fed.iter().position(|&(port, _)| port == egress) {
        fed[place].1 -= 1;
        if fed[place].1 == 0 {
            fed.swap_remove(place);
        }
    }
}

/// The points of a partition's switches.
pub(crate) struct SwitchPoints {
    /// By node; `None` for hosts and for nodes of other partitions.
    switches: Vec<Option<OneSwitch>>,
    /// By port: its number among its node's ports.
    number: Vec<u32>,
    priorities: usize,
    /// Messages being sent; kept so that its allocation is used again.
    out: Vec<Cnm>,
}

impl SwitchPoints {
    /// A point for each switch that is `owned`; `None` if the scheme has no such points.
    pub(crate) fn new(net: &Network, owned: impl Fn(NodeId) -> bool) -> Option<Box<SwitchPoints>> {
        if !net.signals.switch_point {
            return None;
        }
        let priorities = usize::from(net.settings.switch.priorities);
        let mut ports = vec![0; net.topology.nodes.len()];
        let number = net.topology.port_ids().map(|port| {
            let of_node: &mut u32 = &mut ports[net.topology.node_of(port).index()];
            *of_node += 1;
            *of_node - 1
        });
        let number = number.collect();
        let switch = |node: usize| {
            if net.is_host(NodeId::at(node)) || !owned(NodeId::at(node)) {
                return None;
            }
            let env = SwitchEnv {
                ports: ports[node],
                priorities: priorities as u32,
                frame: net.wire.frame(),
                base_rtt: net.env.base_rtt,
            };
            let queues = ports[node] as usize * priorities;
            Some(OneSwitch { state: net.scheme.switch(&env)?, fed: vec![Vec::new(); queues] })
        };
        let switches = (0..net.topology.nodes.len()).map(switch).collect();
        Some(Box::new(SwitchPoints { switches, number, priorities, out: Vec::new() }))
    }

    /// By switch that has a point: maximum number of flows in the point's table.
    pub(crate) fn max_flows(&self) -> impl Iterator<Item = (NodeId, u64)> {
        let switches = self.switches.iter().enumerate();
        switches.filter_map(|(node, s)| Some((NodeId::at(node), s.as_ref()?.state.max_flows())))
    }

    /// A switch's point, and the switch's own number of a port's and priority's ingress queue.
    fn place(&mut self, node: NodeId, ingress: PortId, priority: usize) -> Option<(&mut OneSwitch, usize)> {
        let queue = self.number[ingress.index()] as usize * self.priorities + priority;
        Some((self.switches[node.index()].as_mut()?, queue))
    }
}

impl Switches {
    /// Tells a switch's point of a packet that joins an egress queue, which has `bytes` with the packet, and sends the
    /// point's messages.
    pub(super) fn switch_point_enqueue<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        egress: PortId,
        id: PacketId,
        class: u8,
        bytes: u64,
    ) {
        let Some(mut points) = self.switch_points.take() else { return };
        let mut out = std::mem::take(&mut points.out);
        let packet = &ctx.packets[id];
        let (priority, priorities) = (class - DATA, links.priorities);
        let (port, ingress) = (&links.ports[egress.index()], packet.ingress);
        let number = points.number[egress.index()];
        if let Some((switch, from)) = points.place(port.node, ingress, priority.into()) {
            feed(&mut switch.fed[from], egress);
            let queue = QueueId::new(ingress, priority, priorities);
            let buffer = &self.accounting.buffers[queue.index()];
            let xoff = match ctx.net.settings.flow_control {
                FlowControl::None => None,
                _ => Some(self.accounting.memories[port.node.index()].xoff(buffer)),
            };
            let connection = ctx.net.connections.of(packet.flow);
            let joining = Joining {
                now: ctx.now,
                flow: connection.0,
                bytes: u64::from(packet.size),
                // The packet's position has moved on to the port after this one.
                hops: ctx.net.links_up_to_next(packet) - 1,
                ingress: IngressView {
                    queue: from as u32,
                    bytes: buffer.occupancy(),
                    xoff,
                    feeds: switch.fed[from].len() as u32,
                    delay: ctx.net.topology.delay(ingress.peer()),
                },
                egress: EgressView {
                    queue: number * priorities as u32 + u32::from(priority),
                    point: QueueId::new(egress, priority, priorities).0,
                    bytes,
                    rate: port.rate,
                },
            };
            switch.state.on_enqueue(&joining, &mut out);
        }
        for message in out.drain(..) {
            self.send_cnm(ctx, links, egress, &message);
        }
        points.out = out;
        self.switch_points = Some(points);
    }

    /// Counts a packet that leaves its egress queue.
    pub(super) fn switch_point_dequeue<C>(
        &mut self,
        ctx: &Ctx,
        links: &Links<C>,
        egress: PortId,
        id: PacketId,
        class: u8,
    ) {
        let Some(points) = self.switch_points.as_mut() else { return };
        let (node, ingress) = (links.ports[egress.index()].node, ctx.packets[id].ingress);
        if let Some((switch, from)) = points.place(node, ingress, usize::from(class - DATA)) {
            unfeed(&mut switch.fed[from], egress);
        }
    }

    /// Whether a message that has arrived at a switch is lost because the switch's point has forgotten the flow.
    #[cold]
    #[inline(never)]
    pub(super) fn loses_message<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        egress: PortId,
        id: PacketId,
    ) -> bool {
        let Some(points) = self.switch_points.as_mut() else { return false };
        debug_assert_eq!(ctx.packets[id].kind, Kind::Cnm);
        let node = links.ports[egress.index()].node;
        let Some(switch) = points.switches[node.index()].as_mut() else { return false };
        let connection = ctx.net.connections.of(ctx.packets[id].flow);
        match switch.state.previous_hop(ctx.now, connection.0) {
            Some(port) => {
                debug_assert_eq!(port, points.number[egress.index()], "the table and the path agree");
                false
            }
            None => {
                ctx.probes.on_drop(ctx.now, egress, &ctx.packets[id]);
                true
            }
        }
    }
}
