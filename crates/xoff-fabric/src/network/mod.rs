//! What stays the same during a run: topology, settings, sizes on the wire, messages, connections and their paths.
//!
//! The room owns the network of a run, and how it is built ([`build`]). Nothing in it changes during a run, except that a live
//! run adds messages to it ([`growth`]).

mod build;
mod connections;
pub mod dependencies;
pub(crate) mod dependency_tracker;
mod detours;
mod flows;
mod growth;
mod nics;
mod path_choice;
mod replay;
mod route;
mod unloaded;

pub use build::{BuildError, network_env};
pub use connections::Connections;
pub use dependencies::Schedule;
pub use flows::{FlowColumns, Flows};
pub use growth::Growth;
pub use path_choice::choice_violation;
pub use replay::ideal_steps;
pub use route::{Path, PathPorts, Route};
pub use unloaded::UnloadedFct;
pub(crate) use unloaded::UnloadedTimes;
pub(crate) use unloaded::{lead, uniform};

use std::sync::Arc;

use xoff_engine::{MessageSize, Rate, Time};
use xoff_schemes::{AnyScheme, FlowEnv, IntPath, NetworkEnv, Signals};

use crate::fault::FaultPlan;
use crate::ids::{ConnectionId, FlowId, NodeId, PortId};
use crate::packet::Packet;
use crate::path::routing::{Lanes, NextHops};
use crate::path::topology::{NodeKind, Topology};
pub use crate::settings::WireSizes;
use crate::settings::{BaseRtt, FlowControl, Settings, Transport};
use dependencies::Dependencies;
use unloaded::UnloadedFlow;

/// A message that a host sends to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Sending host.
    pub src: NodeId,
    /// Receiving host.
    pub dst: NodeId,
    /// Payload bytes; an endless flow sends until `stop` or the end of the run.
    pub size: MessageSize,
    /// Start time; for a dependent flow, the earliest.
    pub start: Time,
    /// When the flow stops sending; [`Time::NEVER`] if it sends all its bytes.
    pub stop: Time,
    /// Payload rate at which its source makes data; [`Rate::UNLIMITED`] if all data is ready at the start.
    pub source_rate: Rate,
    /// Data priority; if routing takes several virtual lanes, in a [`Network`] that of the first lane: see
    /// [`Network::traffic_priority`].
    pub priority: u8,
}

impl Flow {
    /// A flow from one host to another that has all its data at its `start`, and is stopped by nothing but the end of the run.
    pub fn new(src: NodeId, dst: NodeId, size: MessageSize, start: Time, priority: u8) -> Flow {
        Flow { src, dst, size, start, stop: Time::NEVER, source_rate: Rate::UNLIMITED, priority }
    }
}

/// The ways of all connections' packets.
pub struct Paths {
    /// Egress ports of all paths.
    pub ports: PathPorts,
    /// By connection: where its paths lie in `ports`.
    pub routes: Vec<Route>,
    /// The equal-cost next hops of all switches, if packets choose their way as they go.
    pub next_hops: Option<NextHops>,
    /// The virtual lanes that routing takes, if one is not enough.
    pub lanes: Option<Lanes>,
}

/// A network with its traffic, ready to be simulated.
pub struct Network {
    /// Nodes and links.
    pub topology: Arc<Topology>,
    /// Settings.
    pub settings: Settings,
    /// The scheme of every flow and queue.
    pub scheme: AnyScheme,
    /// What the scheme needs on the wire.
    pub signals: Signals,
    /// Sizes on the wire.
    pub wire: WireSizes,
    /// Sizes on the wire without any of the scheme's signals, for the ideal FCT.
    pub plain: WireSizes,
    /// Seed of every random stream.
    pub seed: u64,
    /// All flows; those that wait for no other are sorted by start.
    pub flows: Flows,
    /// Number of the first event of a flow's kind that is no flow's: of a step, a fault or a timer. The number of flows, unless
    /// flows are added during the run.
    pub(crate) first_other: u32,
    /// The number of flows that were known when the run began.
    pub(crate) planned: usize,
    /// Which flows wait for which.
    pub dependencies: Dependencies,
    /// By flow: whether the run may end without it; empty if the run waits for all.
    pub background: Vec<bool>,
    /// Which connection each flow belongs to.
    pub connections: Connections,
    /// The ways of all connections' packets.
    pub paths: Paths,
    /// What breaks during the run; `None` if nothing does.
    pub faults: Option<Box<FaultPlan>>,
    /// Packets may be lost.
    pub loses: bool,
    /// Maximum rate of a host's link, and maximum unloaded RTT over all pairs of hosts.
    pub env: NetworkEnv,
    /// Handles the events of all nodes in one order, although the links would let each node handle its events alone.
    /// Results are the same; for tests.
    pub one_order: bool,
}

impl Network {
    /// A flow's paths.
    #[inline]
    pub fn route(&self, flow: FlowId) -> &Route {
        &self.paths.routes[self.connections.of(flow).index()]
    }

    /// A flow's paths at a time, if its packets have paths.
    pub(crate) fn route_at(&self, flow: FlowId, at: Time) -> &Route {
        let other = self.faults.as_ref().and_then(|plan| plan.route(self.connections.of(flow), at));
        other.unwrap_or_else(|| self.route(flow))
    }

    /// The egress ports of a flow's data path at a time, if its packets have paths.
    pub fn data_path_at(&self, flow: FlowId, at: Time) -> &[PortId] {
        self.data_ports(self.route_at(flow, at))
    }

    /// The egress ports of a flow's ACK path at a time, if its packets have paths.
    pub(crate) fn ack_path_at(&self, flow: FlowId, at: Time) -> Path<'_> {
        self.ack_ports(self.route_at(flow, at))
    }

    /// The number of times up to `at` at which something broke, was whole again, or became known to routing.
    pub(crate) fn changes_until(&self, at: Time) -> usize {
        self.faults.as_ref().map_or(0, |plan| plan.changes_until(at))
    }

    /// When the latest of these changes was; zero if there was none.
    pub(crate) fn unchanged_since(&self, at: Time) -> Time {
        self.faults.as_ref().map_or(Time::ZERO, |plan| plan.unchanged_since(at))
    }

    /// When the next such change after a time comes; [`Time::NEVER`] if none does.
    pub(crate) fn next_change(&self, after: Time) -> Time {
        self.faults.as_ref().map_or(Time::NEVER, |plan| plan.next_change(after))
    }

    /// From when on frames may begin on a wire that the next such change after a time spoils.
    pub(crate) fn next_effect(&self, after: Time) -> Time {
        self.faults.as_ref().map_or(Time::NEVER, |plan| plan.next_effect(after))
    }

    /// Whether nothing changes from a time to another one, both included, and nothing is broken that takes random numbers or keeps times
    /// of its own.
    pub(crate) fn is_calm(&self, from: Time, until: Time) -> bool {
        self.faults.as_ref().is_none_or(|plan| plan.is_calm(from, until))
    }

    /// Whether something is broken at a time that takes random numbers, or keeps times of its own.
    pub(crate) fn is_restless(&self, at: Time) -> bool {
        self.faults.as_ref().is_some_and(|plan| plan.is_restless(at))
    }

    /// All routes that a connection has in a run.
    pub(crate) fn routes_of(&self, connection: ConnectionId) -> impl Iterator<Item = &Route> {
        let detours = self.faults.iter().flat_map(move |plan| plan.detours(connection));
        std::iter::once(&self.paths.routes[connection.index()]).chain(detours)
    }

    /// The egress ports of a route's data path.
    pub(crate) fn data_ports(&self, route: &Route) -> &[PortId] {
        self.paths.ports.data(route)
    }

    /// The egress ports of a route's ACK path.
    pub(crate) fn ack_ports(&self, route: &Route) -> Path<'_> {
        self.paths.ports.ack(route)
    }

    /// The egress ports of a flow's data path, first to last; while all links are up.
    pub fn data_path(&self, flow: FlowId) -> &[PortId] {
        self.data_ports(self.route(flow))
    }

    /// The egress ports of a flow's ACK path, first to last.
    pub fn ack_path(&self, flow: FlowId) -> Path<'_> {
        self.ack_ports(self.route(flow))
    }

    /// The number of links from the host that a packet comes from up to the one that its node has chosen for it. Where packets
    /// have paths, a message of a switch counts as one of the receiver of the data that it is about.
    pub(crate) fn links_up_to_next(&self, packet: &Packet) -> u8 {
        if packet.destination().is_some() {
            return packet.links;
        }
        // The position has moved on to the link behind.
        let mut place = packet.position.wrapping_sub(1);
        let mut links = 1;
        while !self.is_host(self.topology.node_of(self.paths.ports.at(place))) {
            place = place.wrapping_sub(1);
            links += 1;
        }
        links
    }

    /// Whether the run may end without a flow.
    #[inline]
    pub fn is_background(&self, flow: FlowId) -> bool {
        !self.background.is_empty() && self.background[flow.index()]
    }

    /// The number of flows that the run waits for.
    pub fn awaited(&self) -> u64 {
        (self.flows.len() - self.background.iter().filter(|b| **b).count()) as u64
    }

    /// Whether a packet may be sent more than once: packets may be lost, or paths are chosen by packet and receivers ask for
    /// packets that others have overtaken. Under unordered delivery, receivers of a lossless network ask for none.
    #[inline]
    pub fn may_retransmit(&self) -> bool {
        self.loses
            || (self.paths.next_hops.is_some()
                && !matches!(self.settings.host.transport, Transport::Unordered | Transport::Uet))
    }

    /// Whether the rate and window of the scheme, and its timers, are all its state while nothing notifies its senders. What a scheme
    /// learns from each ACK, or computes at switches, is known to the scheme alone.
    pub fn has_known_state(&self) -> bool {
        !(self.signals.acks || self.signals.congestion_point || self.signals.switch_point)
    }

    /// Whether what passes one port of a switch may change what the switch does at another one: they share its memory.
    pub(crate) fn shares_memory(&self) -> bool {
        let dynamic = matches!(&self.settings.flow_control, FlowControl::Pfc(pfc) if pfc.alpha.is_some());
        dynamic || self.settings.lossy || self.settings.switch.buffer.is_some()
    }

    /// The data priority of a flow's traffic, whatever lanes it takes.
    pub fn traffic_priority(&self, flow: FlowId) -> u8 {
        self.flows.priority(flow) / self.paths.lanes.as_ref().map_or(1, Lanes::count)
    }

    /// The base RTT of the network in Ultra Ethernet's transport.
    pub fn uet_rtt(&self) -> Time {
        self.settings.host.uet.network_rtt.unwrap_or(self.env.base_rtt)
    }

    /// Whether a node is a host.
    pub fn is_host(&self, node: NodeId) -> bool {
        self.topology.nodes[node.index()].kind == NodeKind::Host
    }

    /// The rate at a time of the direction that leaves a port.
    pub(crate) fn rate_at(&self, port: PortId, at: Time) -> Rate {
        match &self.faults {
            Some(plan) => plan.rate(&self.topology, port, at),
            None => self.topology.rate(port),
        }
    }

    /// The rate at which a packet on the link of `port` leaves the switch at the link's end, by what links do at a time; the maximum
    /// of all ports that the switch may choose.
    pub(crate) fn next_rate(&self, packet: &Packet, port: PortId, at: Time) -> Rate {
        let rate = |port| self.rate_at(port, at);
        match (packet.destination(), &self.paths.next_hops) {
            (Some(end), Some(hops)) => match hops.towards(self.topology.node_of(port.peer()), end) {
                Ok(last) => rate(last),
                Err(candidates) => {
                    let rates = candidates.iter().map(|&(port, _)| rate(port));
                    rates.max().unwrap_or_else(|| rate(end.peer()))
                }
            },
            (Some(_), None) => rate(self.paths.ports.at(packet.point)),
            (None, _) => rate(self.paths.ports.at(packet.position)),
        }
    }

    /// A message of a connection, with the connection's ends and priority.
    #[inline]
    pub fn ends(&self, connection: ConnectionId) -> Flow {
        self.flows.of(self.connections.first_message(connection))
    }

    /// Payload bytes that may be in flight whatever the window: enough for `host.ack_every` packets.
    #[inline]
    pub fn min_window(&self) -> u64 {
        self.wire.min_window
    }

    /// What a connection's reaction and notification points know; the sender counts `active_flows`.
    pub fn flow_env(&self, connection: ConnectionId) -> FlowEnv {
        let flow = self.connections.first_message(connection);
        let path = self.data_path(flow);
        let base_rtt = match self.settings.host.base_rtt {
            BaseRtt::Max => self.env.base_rtt,
            BaseRtt::PerPair => {
                let times = UnloadedTimes::new(&self.topology, &self.wire, &self.settings);
                times.round_trip(path, self.ack_path(flow)) + self.settings.host.processing_delay
            }
        };
        FlowEnv {
            payload: self.wire.payload,
            frame: self.wire.frame(),
            hops: path.len() as u8 - 1,
            ack_delay: self.settings.host.processing_delay,
            ..FlowEnv::new(connection.0, self.topology.rate(path[0]), base_rtt, self.seed)
        }
    }

    /// Time from a flow's start to its sender's last ACK when it has the network for itself and sends at line rate
    /// without any signal on the wire; `None` for an endless flow.
    pub fn ideal_fct(&self, flow: FlowId) -> Option<Time> {
        Some(self.unloaded(flow)?.sent)
    }

    /// When a flow that starts at zero reaches its milestones under the conditions of [`Network::ideal_fct`]; `None` for an
    /// endless flow.
    pub fn unloaded(&self, flow: FlowId) -> Option<UnloadedFct> {
        let size = self.flows.size(flow).bytes()?;
        let host = &self.settings.host;
        let flow = UnloadedFlow {
            topology: &self.topology,
            wire: &self.plain,
            data: Path::of(self.data_path(flow)),
            ack: self.ack_path(flow),
            ack_every: u64::from(host.ack_every),
            processing_delay: host.processing_delay,
            doorbell_delay: host.doorbell_delay,
            packet_interval: host.packet_interval,
            header: self.settings.switch.cut_through(&self.settings.flow_control),
        };
        Some(flow.times(size))
    }

    /// Whether switches write telemetry on data.
    pub fn int_on_data(&self) -> bool {
        self.signals.int == IntPath::Data
    }
}
