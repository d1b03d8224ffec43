//! Ultra Ethernet's transport (UE Specification 1.0, section 3.5), `host.transport = "uet"`: unordered delivery with
//! selective ACKs, NACKs of trimmed packets, and paths by entropy values (EVs).
//!
//! Its ends share nothing with those of the other transports, so it is a NIC of its own behind [`NicScheduler`]:
//!
//! - [`sender`]: which packets are out, NSCC's window and RCCC's credit, whose permission each packet needs, and
//!   [`recovery`]: NACKs, timeouts and requests to send (RTS).
//! - [`receiver`]: what has arrived, when an ACK goes, and PULLs.
//! - [`nic`]: whose turn it is.
//! - [`entropy`]: the choice of EVs, a file each.
//!
//! A packet's headers beyond those that all packets have are in [`Headers`], by packet id: the transport runs in one
//! partition.

pub(crate) mod entropy;
mod feedback;
mod headers;
mod nic;
mod pulls;
mod receiver;
mod recovery;
mod report;
mod sender;
mod start;

use std::collections::VecDeque;

use xoff_engine::Time;
use xoff_schemes::rccc::{Pacer, RateControl};

use super::Hosts;
use super::nic::{NicId, NicScheduler};
use crate::ctx::Ctx;
use crate::event::kind;
use crate::ids::{ConnectionId, FlowId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::network::Network;
use crate::packet::PacketId;
use headers::Headers;
use receiver::UetReceiver;
use sender::UetSender;

/// The state of a NIC.
pub(crate) struct UetNic {
    /// The earliest pending wake-up.
    wake_at: Time,
    /// Connections that may send, in turn.
    ready: VecDeque<ConnectionId>,
    /// Control packets sent since the last data packet.
    control_run: u32,
    /// PULLs to the host's senders; `None` before the first, and without RCCC.
    pulls: Option<Box<Pulls>>,
}

/// A host's PULLs.
struct Pulls {
    pacer: Pacer,
    /// Slows the pacer on an oversubscribed network.
    control: Option<RateControl>,
    /// The pending event.
    armed: Time,
    /// EV of the next PULL.
    ev: u32,
}

/// What all NICs of a run share: both ends of each connection, and packets' headers.
#[derive(Default)]
pub(crate) struct UetEnds {
    /// By connection: present until all of its message is acknowledged.
    senders: Vec<Option<Box<UetSender>>>,
    /// By connection: present from its first packet on.
    receivers: Vec<Option<Box<UetReceiver>>>,
    headers: Headers,
}

impl NicScheduler for UetNic {
    const OWN_TRANSPORT: bool = true;
    type Shared = UetEnds;

    fn new(_priorities: usize) -> Self {
        UetNic { wake_at: Time::NEVER, ready: VecDeque::new(), control_run: 0, pulls: None }
    }

    fn shared(net: &Network) -> UetEnds {
        let connections = net.connections.count(net.flows.len());
        UetEnds {
            senders: (0..connections).map(|_| None).collect(),
            receivers: (0..connections).map(|_| None).collect(),
            headers: Headers::default(),
        }
    }

    fn grow(shared: &mut UetEnds, connections: usize) {
        shared.senders.resize_with(connections, || None);
        shared.receivers.resize_with(connections, || None);
    }

    fn waiting(&self) -> Vec<ConnectionId> {
        self.ready.iter().copied().collect()
    }

    fn start<C: LinkControl>(hosts: &mut Hosts<Self>, ctx: &mut Ctx, links: &mut Links<C>, flow: FlowId) {
        hosts.uet_start(ctx, links, flow);
    }

    fn on_data<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        ingress: PortId,
        id: PacketId,
    ) {
        hosts.uet_data(ctx, links, ingress, id);
    }

    fn on_feedback<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        id: PacketId,
    ) {
        hosts.uet_feedback(ctx, links, id);
    }

    fn on_timer<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        kind: u32,
        index: u32,
    ) {
        match kind {
            kind::REACTION_TIMER => hosts.uet_pull(ctx, links, index),
            kind::NOTIFICATION_TIMER => hosts.uet_ack_timer(ctx, links, ConnectionId(index)),
            _ => hosts.uet_timeout(ctx, links, ConnectionId(index)),
        }
    }

    fn on_sample(hosts: &mut Hosts<Self>, ctx: &mut Ctx) {
        hosts.uet_sample(ctx);
    }

    fn on_close<C: LinkControl>(hosts: &mut Hosts<Self>, ctx: &mut Ctx, links: &Links<C>) {
        hosts.uet_close(ctx, links);
    }

    fn on_change<C: LinkControl>(
        _hosts: &mut Hosts<Self>,
        _ctx: &mut Ctx,
        _links: &mut Links<C>,
        _connection: ConnectionId,
    ) {
    }

    fn kick<C: LinkControl>(hosts: &mut Hosts<Self>, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        hosts.uet_kick(ctx, links, nic);
    }

    fn rearm<C: LinkControl>(hosts: &mut Hosts<Self>, ctx: &mut Ctx, links: &mut Links<C>, nic: NicId) {
        hosts.uet_rearm(ctx, links, nic);
    }

    fn wake<C: LinkControl>(
        hosts: &mut Hosts<Self>,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        nic: NicId,
        _arg: u32,
    ) {
        let scheduler = &mut hosts.nics[nic as usize].scheduler;
        if scheduler.wake_at == ctx.now {
            scheduler.wake_at = Time::NEVER;
            hosts.uet_kick(ctx, links, nic);
        }
    }
}
