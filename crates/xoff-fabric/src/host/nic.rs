//! Host NICs: which packet goes next.
//!
//! CNPs, CNMs and ACKs wait in queues of their own and go before data. Which connection's data goes, and when a NIC with
//! nothing to send looks again, is the seam [`NicScheduler`]: [`super::paced::PacedNic`] is xoff's own,
//! [`crate::compat::ns3`] has that of another simulator.

use std::collections::VecDeque;

use xoff_engine::Time;

use super::Hosts;
use super::sender::{SendState, Sender};
use crate::ctx::Ctx;
use crate::ids::{ConnectionId, FlowId, NodeId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::packet::{DATA, Kind, MAC_CONTROL, PacketId};
use crate::settings::AckClass;

/// Number of a NIC: the host's number for its first NIC, a number above all nodes' for a further NIC.
pub(crate) type NicId = u32;

/// Messages and connections of a NIC.
#[derive(Default)]
pub(crate) struct Counts {
    /// Connections of this NIC with something to send or to be acknowledged.
    pub open_out: u32,
    /// Connections with an incomplete message to this NIC.
    pub open_in: u32,
    /// Connections that ever delivered data to this NIC.
    pub seen_in: u32,
    /// When recently completed messages stop counting into N (FNCC's number of concurrent flows), earliest first. None where ACKs do not
    /// bring N.
    pub recent_in: VecDeque<Time>,
}

/// A host's NIC.
pub(crate) struct Nic<N> {
    pub host: NodeId,
    pub port: PortId,
    pub counts: Counts,
    pub scheduler: N,
}

/// Decides when a NIC sends which connection's data. Each NIC has a scheduler's state of its own; handlers change the
/// host's other state too, so they are associated functions that take [`Hosts`].
pub(crate) trait NicScheduler: Sized + Send + 'static {
    /// The last ACK of a connection still sets its rate before the connection completes.
    const DONE_AFTER_REACTION: bool = false;

    /// The NIC has a transport of its own: both ends of its connections are in [`NicScheduler::Shared`], and messages, data,
    /// feedback and timers come to it.
    const OWN_TRANSPORT: bool = false;
    /// What all NICs of a partition share.
    type Shared: Send;

    /// The state that all NICs of a partition share, without traffic.
    fn shared(net: &Network) -> Self::Shared;

    /// Makes room in that state for this number of connections.
    fn grow(_shared: &mut Self::Shared, _connections: usize) {}

    /// Fetches into the cache in which order connections come.
    fn fetch_order(&self) {}

    /// The connection whose pacing time comes first, for fetching that connection ahead. `None` if no connection waits for such a time, or if
    /// the NIC does not know.
    fn first_paced(&self) -> Option<ConnectionId> {
        None
    }

    /// A message starts; only if [`NicScheduler::OWN_TRANSPORT`], as for the five that follow.
    fn start<C: LinkControl>(_hosts: &mut Hosts<Self>, _ctx: &mut Ctx, _links: &mut Links<C>, _flow: FlowId) {
    }

    /// Data has arrived.
    fn on_data<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _ingress: PortId,
        _id: PacketId,
    ) {
    }

    /// Something has come back to a message's sender.
    fn on_feedback<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _id: PacketId,
    ) {
    }

    /// A timer's event; `kind` is that of a reaction point, a notification point or retransmission.
    fn on_timer<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _kind: u32,
        _index: u32,
    ) {
    }

    /// The rates of messages are sampled.
    fn on_sample(_hosts: &mut Hosts<Self>, _ctx: &mut Ctx) {}

    /// The run ends.
    fn on_close<C: LinkControl>(_hosts: &mut Hosts<Self>, _ctx: &mut Ctx, _links: &Links<C>) {}

    /// The state of a NIC without traffic, in a network with this number of `priorities`.
    fn new(priorities: usize) -> Self;

    /// Connections that wait in the NIC, in any order.
    fn waiting(&self) -> Vec<ConnectionId>;

    /// Whose turn is next in the NIC, and when: numbers that are the same wherever the NIC is in time, if the same follows from `now` on.
    /// None of a NIC in which nothing waits.
    fn turns(&self, _now: Time) -> Vec<u64> {
        Vec::new()
    }

    /// A connection that was idle has something to send.
    fn on_start<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _connection: ConnectionId,
    ) {
    }

    /// A connection's rate, window or data may have changed.
    fn on_change<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    );

    /// A connection is about to send a packet.
    fn before_emission(_sender: &mut Sender, _now: Time) {}

    /// A connection has sent a packet and may send another.
    fn after_emission<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _connection: ConnectionId,
    ) {
    }

    /// The packet `id`, an ACK, has arrived. It is its connection's `first` ACK, or the connection is `done` with it. Called
    /// only if [`NicScheduler::DONE_AFTER_REACTION`].
    fn on_acked<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _connection: ConnectionId,
        _id: PacketId,
        _first: bool,
        _done: bool,
    ) {
    }

    /// Feedback has come to a connection of the NIC.
    fn after_feedback<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _nic: NicId,
    ) {
    }

    /// The neighbour of the NIC lets a flow go on that it held back; only if [`LinkControl::QUEUES_FLOWS`].
    fn on_flow_resumed<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _nic: NicId,
    ) {
    }

    /// The shared reaction points of the NIC's priorities may let the next packet go earlier.
    fn rearm<C: LinkControl>(_hosts: &mut Hosts<Self>, _ctx: &mut Ctx, _links: &mut Links<C>, _nic: NicId) {}

    /// The NIC may have something to send: now, or when its wire is free.
    fn kick<C: LinkControl>(hosts: &mut Hosts<Self>, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId);

    /// The event of the NIC's timer, with the event's argument.
    fn wake<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
        arg: u32,
    );

    /// A packet of the NIC's own is about to go onto the idle wire, past the scheduler.
    fn before_own_packet<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _nic: NicId,
    ) {
    }

    /// A connection that was in `state` has ended.
    fn forget(
        _hosts: &mut Hosts<Self>,
        _connection: ConnectionId,
        _nic: NicId,
        _priority: u8,
        _state: SendState,
    ) {
    }
}

/// The NICs of all `owned` hosts and the NIC of each port; the second list is empty if every host has one NIC. A node that
/// is a switch or not owned has unused NICs, so that a NIC has the same number in every partition: events name it.
pub(super) fn all<N: NicScheduler>(
    net: &Network,
    owned: impl Fn(NodeId) -> bool,
) -> (Vec<Nic<N>>, Vec<NicId>) {
    let topology = &net.topology;
    let priorities = usize::from(net.settings.switch.priorities);
    let nic =
        |host, port, priorities| Nic { host, port, counts: Counts::default(), scheduler: N::new(priorities) };
    let nodes = topology.nodes.len();
    let mut nics: Vec<Nic<N>> = NodeId::all(nodes).map(|node| nic(node, PortId(0), 0)).collect();
    let mut of_port: Vec<NicId> = topology.port_ids().map(|port| topology.node_of(port).0).collect();
    let mut seen = vec![false; nodes];
    for port in topology.port_ids() {
        let node = topology.node_of(port);
        if !net.is_host(node) {
            continue;
        }
        let own = nic(node, port, if owned(node) { priorities } else { 0 });
        if std::mem::replace(&mut seen[node.index()], true) {
            of_port[port.index()] = nics.len() as NicId;
            nics.push(own);
        } else {
            nics[node.index()] = own;
        }
    }
    if nics.len() == nodes {
        of_port = Vec::new();
    }
    (nics, of_port)
}

impl<N: NicScheduler> Hosts<N> {
    /// A NIC has a packet of its own (ACK, CNP, NACK, frame of flow control) to send.
    pub fn enqueue<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId, id: PacketId) {
        let port_id = self.nics[nic as usize].port;
        let packet = &ctx.packets[id];
        let (class, size) = (packet.class, u64::from(packet.size));
        let port = &mut links.ports[port_id.index()];
        port.recent_max_bytes = port.recent_max_bytes.max(port.queued_bytes + size);
        let first = port.is_idle(ctx.now) && port.backlog == 0 && port.paused & 1 << class == 0;
        let plain = !links.wire_hooks && self.throttles.is_none();
        if first && plain && (class < DATA || !C::HAS_CREDITS) {
            // Nothing waits before this packet: it goes at once.
            N::before_own_packet(self, ctx, links, nic);
            links.choose(port_id, 1 << class);
            self.send_own(ctx, links, port_id, id);
            return N::rearm(self, ctx, links, nic);
        }
        port.backlog |= 1 << class;
        port.queued_bytes += size;
        if ctx.probes.on_flows {
            let stopped = links.stopped_for(ctx.now, port_id, class);
            crate::observe::breakdown::on_wait(&mut ctx.packets, id, stopped);
        }
        let place = links.place(port_id, class);
        links.queues[place].push(id, size, &mut ctx.packets);
        N::kick(self, ctx, links, nic);
    }

    /// Sends the first packet of a class's queue.
    #[inline]
    pub fn send_queued<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        port_id: PortId,
        class: u8,
    ) {
        let place = links.place(port_id, class);
        let queue = &mut links.queues[place];
        let id = queue.pop(&ctx.packets);
        let port = &mut links.ports[port_id.index()];
        port.queued_bytes -= u64::from(ctx.packets[id].size);
        if queue.is_empty() {
            port.backlog &= !(1 << class);
        }
        self.send_own(ctx, links, port_id, id);
    }

    /// Puts a packet of a host's own on the wire.
    #[inline(always)] // runs for every packet
    fn send_own<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        port_id: PortId,
        id: PacketId,
    ) {
        let frame = ctx.packets[id].frame();
        if frame.class == MAC_CONTROL {
            C::on_frame_sent(links, ctx, port_id, id);
        }
        // A host's link never leaves the partition, so the packet is still here.
        links.put_on_wire(ctx, port_id, id, frame);
        if frame.class >= DATA
            && let Some(throttles) = &mut self.throttles
        {
            throttles.on_send(ctx, links, port_id, frame.size());
        }
        if frame.kind == Kind::Ack && ctx.net.settings.host.ack_class == AckClass::ControlAtHost {
            let packet = &mut ctx.packets[id];
            packet.class = DATA + ctx.net.flows.priority(packet.flow);
        }
    }
}
