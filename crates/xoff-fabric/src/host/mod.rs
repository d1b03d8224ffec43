//! Hosts: connections with their reaction points, the NICs that arbitrate between them, and receivers.
//!
//! A connection may send when it has data, fewer bytes in flight than its window, and its pacing time has come; then the
//! NIC gives the connection a turn. The room owns senders ([`sender`]), receivers ([`receiver`]), what is sent again and in which
//! order data may arrive ([`transport`]), NICs behind the seam [`nic::NicScheduler`], what slows NICs, hosts' ports and
//! priorities ([`nic_costs`], [`throttle`], [`sl_reaction`]), and programs whose messages wait for each other ([`program`]), and messages
//! that are not simulated ([`recall`]). It touches
//! packets, links, and what every handler's context holds.

mod credits;
mod emission;
mod faults;
mod feedback;
mod fetch;
pub(crate) mod forward;
mod message;
pub(crate) mod nic;
mod nic_costs;
mod other_messages;
pub(crate) mod paced;
mod pacing;
mod program;
mod reaction;
pub(crate) mod recall;
mod receiver;
pub(crate) mod replay;
mod reports;
pub(crate) mod rounds;
pub(crate) mod sender;
mod sl_reaction;
pub(crate) mod start;
mod throttle;
pub(crate) mod transport;
pub(crate) mod uet;

use crate::ctx::Ctx;
use crate::ids::{ConnectionId, FlowId, NodeId, PortId, QueueId};
use crate::link::flow_control::LinkControl;
use crate::link::{Effect, Links};
use crate::network::Network;
use crate::network::dependencies::Milestone;
use crate::network::dependency_tracker::DependencyTracker;
use crate::observe::{Probes, Resumed};
use crate::packet::DATA;
use faults::StoppedHosts;
pub(crate) use faults::TAKE;
use nic::{Nic, NicId, NicScheduler};
use nic_costs::NicCosts;
use receiver::Receiver;
use sender::Sender;
use sl_reaction::SlReactions;
use throttle::Throttles;
use xoff_engine::Time;

/// The hosts of a partition.
pub(crate) struct Hosts<N: NicScheduler> {
    /// What all NICs share, if they have a transport of their own.
    shared: N::Shared,
    /// By NIC; the first NIC of a node has the node's number.
    pub nics: Vec<Nic<N>>,
    /// By port: its NIC; empty if every host has one NIC.
    nic_of_port: Vec<NicId>,
    /// By connection: present from its first message to its last ACK.
    pub senders: Vec<Option<Box<Sender>>>,
    /// By connection: its place in its NIC's pacing heap.
    pub pacing_places: Vec<u32>,
    /// By connection: present from its first data to its last.
    receivers: Vec<Option<Box<Receiver>>>,
    /// What NICs take time for beside their wires; `None` if nothing costs time.
    costs: Option<Box<NicCosts>>,
    /// What slows hosts' ports; `None` if nothing does.
    throttles: Option<Box<Throttles>>,
    /// What slows hosts' priorities; `None` unless the scheme has such reaction points.
    sl_reactions: Option<Box<SlReactions>>,
    /// What messages and steps wait for; `None` if nothing waits.
    program: Option<Box<DependencyTracker>>,
    /// What has become of messages, with the times, for the caller of a live run; `None` unless the run is live.
    news: Option<Vec<(Time, Milestone)>>,
    /// Messages that are recalled; `None` unless the run is fast-forwarded.
    recall: Option<Box<recall::Recall>>,
    /// What has happened to messages and steps since somebody began to listen: see [`rounds`].
    heard: Option<Vec<rounds::Happening>>,
    /// There are costs of NICs, throttles or shared reaction points.
    slows: bool,
    /// Data that leave need more than their reaction point and NIC: a choice of their path, or a note for probes of the wire.
    emission_hooks: bool,
    /// Some hosts take no data now.
    holds: bool,
    /// These hosts.
    stopped: StoppedHosts,
    /// After the run: see [`Hosts::open_receptions`].
    left_open: u32,
}

impl<N: NicScheduler> Hosts<N> {
    /// Hosts without traffic.
    pub fn new(net: &Network, probes: &Probes, owned: impl Fn(NodeId) -> bool) -> Self {
        let connections = net.connections.count(net.flows.len());
        let (nics, nic_of_port) = nic::all(net, &owned);
        let throttles = net.settings.throttle.as_ref().map(|t| Throttles::new(t, net, &owned));
        let sl_reactions = SlReactions::new(net, &owned);
        let costs = NicCosts::new(&net.settings.host, nics.len());
        let slows = costs.is_some() || throttles.is_some() || sl_reactions.is_some();
        Hosts {
            shared: N::shared(net),
            nics,
            nic_of_port,
            costs,
            senders: (0..connections).map(|_| None).collect(),
            pacing_places: vec![pacing::ABSENT; connections],
            receivers: (0..connections).map(|_| None).collect(),
            throttles,
            sl_reactions,
            program: DependencyTracker::new(&net.dependencies, &net.flows, net.flows.len()),
            news: None,
            recall: None,
            heard: None,
            slows,
            emission_hooks: net.paths.next_hops.is_some()
                || net.paths.lanes.is_some()
                || net.signals.label
                || net.signals.credits.is_some()
                || probes.on_wire,
            holds: false,
            stopped: StoppedHosts::default(),
            left_open: 0,
        }
    }

    /// The NIC of a host's port.
    #[inline(always)] // runs for every packet
    fn nic_of<C>(&self, links: &Links<C>, port: PortId) -> NicId {
        if self.nic_of_port.is_empty() {
            links.ports[port.index()].node.0
        } else {
            self.nic_of_port[port.index()]
        }
    }

    /// Keeps what becomes of messages from now on, for [`Hosts::take_news`].
    pub fn keep_news(&mut self) {
        self.news = Some(Vec::new());
    }

    /// Whether something has become of a message since the last [`Hosts::take_news`].
    pub fn has_news(&self) -> bool {
        self.news.as_ref().is_some_and(|news| !news.is_empty())
    }

    /// What has become of messages since the last call, in the order in which it has.
    pub fn take_news(&mut self) -> Vec<(Time, Milestone)> {
        self.news.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Makes room for this number of connections.
    pub fn grow(&mut self, connections: usize) {
        self.senders.resize_with(connections, || None);
        self.receivers.resize_with(connections, || None);
        self.pacing_places.resize(connections, pacing::ABSENT);
        N::grow(&mut self.shared, connections);
    }

    /// Forgets connections and NICs after the run, except how many connections they have left open.
    pub fn end(&mut self) {
        self.left_open = self.open_receptions();
        self.nics = Vec::new();
        (self.senders, self.receivers, self.pacing_places) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// Connections with a message that their receivers count as incomplete, of all hosts.
    pub fn open_receptions(&self) -> u32 {
        self.left_open + self.nics.iter().map(|nic| nic.counts.open_in).sum::<u32>()
    }

    /// Carries out the effects of flow control on hosts' ports.
    #[cold]
    #[inline(never)]
    pub fn settle<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>) {
        let mut effects = std::mem::take(&mut links.effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::Send(port, id) => {
                    let nic = self.nic_of(links, port);
                    self.enqueue(ctx, links, nic, id);
                }
                Effect::Stopped(queue) => {
                    let port = queue.port(links.priorities);
                    self.on_port_changed(ctx, links, port);
                    self.throttle_pause(ctx, links, port);
                }
                Effect::Resumed(queue, since) => {
                    let port = queue.port(links.priorities);
                    self.on_port_changed(ctx, links, port);
                    let nic = self.nic_of(links, port);
                    if ctx.probes.on_stops {
                        self.report_stop(ctx, links, queue, since);
                    }
                    self.throttle_pause(ctx, links, port);
                    N::kick(self, ctx, links, nic);
                }
                Effect::FlowResumed(port) => {
                    let nic = self.nic_of(links, port);
                    N::on_flow_resumed(self, ctx, links, nic);
                }
                Effect::Credited { port, resumes } => {
                    self.throttle_credits(ctx, links, port);
                    if !resumes {
                        // The throttle may now let the NIC send earlier.
                        let nic = self.nic_of(links, port);
                        N::kick(self, ctx, links, nic);
                    }
                }
            }
        }
        if links.effects.is_empty() {
            links.effects = effects; // keeps the allocation
        }
    }

    /// The wire of a host's port is free; only if each transmission ends with an event.
    pub fn port_ready<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, port: PortId) {
        links.ports[port.index()].armed = false;
        let nic = self.nic_of(links, port);
        N::kick(self, ctx, links, nic);
    }

    /// Tells probes that a stop which began at `since` is over, with the messages that have waited behind it: a host has
    /// no queue of data packets that could tell.
    pub fn report_stop<C>(&self, ctx: &mut Ctx, links: &Links<C>, queue: QueueId, since: Time) {
        let (port, class) = (queue.port(links.priorities), links.class_of(queue));
        let nic = self.nic_of(links, port);
        let waiting = self.messages_waiting(ctx, nic, class - DATA);
        let (now, bytes) = (ctx.now, links.queues[links.place(port, class)].bytes);
        ctx.probes.on_resume(&Resumed { now, queue, since, bytes, waiting: &waiting });
    }

    /// Messages of a NIC that have a packet to send now and wait only for the wire.
    fn messages_waiting(&self, ctx: &Ctx, nic: NicId, priority: u8) -> Vec<FlowId> {
        let waits = |connection: ConnectionId| {
            let sender = self.senders[connection.index()].as_deref()?;
            let waits = sender.priority == priority
                && sender.may_send(ctx.net.wire.min_window)
                && sender.only_waits_for_wire(ctx.now);
            waits.then_some(sender.message.flow)
        };
        self.nics[nic as usize].scheduler.waiting().into_iter().filter_map(waits).collect()
    }
}
