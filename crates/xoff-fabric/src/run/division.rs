//! Division of a run by its messages: into parts that cannot affect each other, so that each may be simulated by itself.
//!
//! Messages are of one part if data or ACKs of both take one link, in whatever direction, or come to one host; if they pass one
//! switch whose ports share its memory; or if one waits for the other, by however many others. This is known before the run, from all
//! messages' paths.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use petgraph::unionfind::UnionFind;
use xoff_engine::Time;
use xoff_schemes::IntPath;

use super::cut::needs_one_partition;
use crate::ids::{ConnectionId, FlowId, PortId};
use crate::network::Network;
use crate::observe::Recording;
use crate::packet::{PartitionId, Share};

/// Maximum number of parts.
const MAX_PARTS: usize = 64;

/// Each part has a place for each port and each connection of the network, of some 750 B and 100 B; so many places there are at most in
/// all.
const MAX_PORTS: usize = 1 << 17;
const MAX_CONNECTIONS: usize = 1 << 22;

/// Packet-hops for each port of the network that messages have at least for a part of their own: to make a part takes 1.3 us a port,
/// and a packet-hop 60 ns.
const MIN_HOPS: u64 = 20;

/// How a run's messages are divided.
#[derive(Debug)]
pub(super) struct Division {
    /// By message, then step of the schedule: its part.
    of: Arc<[PartitionId]>,
    /// Number of messages in [`Self::of`].
    messages: usize,
    /// By port: the part whose packets pass it; the first one if none do.
    ports: Vec<PartitionId>,
    /// By part: the number of messages that the run waits for.
    awaited: Vec<u64>,
}

/// Whether what happens at one place of the network is known only there, and when something comes there. Samples are of all ports at a
/// time; updates of credits, refreshed telemetry, and what schemes do at switches, come from time to time at all ports.
fn is_local(net: &Network, recording: &Recording) -> bool {
    let settings = &net.settings;
    let refreshes = net.signals.int == IntPath::Ack && settings.packets.int_refresh > Time::ZERO;
    let ticks = refreshes || net.signals.congestion_point || net.signals.switch_point;
    !ticks
        && recording.interval.is_none()
        && settings.flow_control.update_period().is_none()
        && net.paths.next_hops.is_none()
        && net.faults.is_none()
        && settings.switch.watchdog.is_none()
        && settings.link.errors().is_none()
        && needs_one_partition(net).is_none()
}

impl Division {
    /// The division of a network's messages; `None` if they are all of one part.
    pub fn of(net: &Network, recording: &Recording) -> Option<Division> {
        let connections = net.connections.count(net.flows.len());
        let ports = net.topology.ports() as usize;
        let most = MAX_PARTS.min(MAX_PORTS / ports.max(1)).min(MAX_CONNECTIONS / connections.max(1));
        if most < 2 || connections < 2 || !is_local(net, recording) {
            return None;
        }
        let sets = Self::sets(net, connections);
        let weights = Self::weights(net, &sets);
        // The largest have a part each, and the others one together.
        let mut sets_by_weight: Vec<usize> = (0..weights.len()).filter(|&set| weights[set] > 0).collect();
        sets_by_weight.sort_by_key(|&set| (Reverse(weights[set]), set));
        let is_large = |set: &&usize| weights[**set] >= MIN_HOPS * ports as u64;
        let large = sets_by_weight.iter().filter(is_large).count().min(most - 1);
        if large == 0 || sets_by_weight.len() < 2 {
            return None;
        }
        let mut part = vec![0; weights.len()];
        for (number, &set) in sets_by_weight.iter().enumerate() {
            part[set] = number.min(large) as PartitionId;
        }
        let division = Self::new(net, &sets, &part);
        // A run ends no sooner than its steps have given their processors back, whose messages it may not wait for.
        let steps = &division.of[net.flows.len()..];
        let is_awaited = |part: &PartitionId| division.awaited[usize::from(*part)] > 0;
        (division.all_awaited() > 0 && steps.iter().all(is_awaited)).then_some(division)
    }

    /// By connection, then link and node: a number that it shares with all that belong to it.
    fn sets(net: &Network, connections: usize) -> Vec<u32> {
        let topology = &net.topology;
        let links = topology.ports() as usize;
        let mut sets = UnionFind::<u32>::new(connections + links + topology.nodes.len());
        let whole = net.shares_memory();
        for connection in ConnectionId::all(connections) {
            let flow = net.connections.first_message(connection);
            for port in net.data_path(flow).iter().copied().chain(net.ack_path(flow).iter()) {
                sets.union(connection.0, (connections + port.index().min(port.peer().index())) as u32);
                for node in [topology.node_of(port), topology.node_of(port.peer())] {
                    if whole || net.is_host(node) {
                        sets.union(connection.0, (connections + links + node.index()) as u32);
                    }
                }
            }
        }
        let mut first = HashMap::new();
        for (flow, program) in FlowId::all(net.flows.len()).zip(net.dependencies.components()) {
            let connection = net.connections.of(flow).0;
            sets.union(*first.entry(program).or_insert(connection), connection);
        }
        sets.into_labeling()
    }

    /// By number of a set: packet-hops of its messages, and at least one for each.
    fn weights(net: &Network, sets: &[u32]) -> Vec<u64> {
        let mut weights = vec![0_u64; sets.len()];
        for flow in FlowId::all(net.flows.len()) {
            // A message without an end outweighs all others.
            let packets =
                net.flows.size(flow).bytes().map_or(1 << 40, |size| size.div_ceil(net.wire.payload));
            let weight = &mut weights[sets[net.connections.of(flow).index()] as usize];
            *weight = weight.saturating_add(packets.max(1).saturating_mul(net.data_path(flow).len() as u64));
        }
        weights
    }

    fn new(net: &Network, sets: &[u32], part: &[PartitionId]) -> Division {
        let connections = net.connections.count(net.flows.len());
        let of_flow = |flow: FlowId| part[sets[net.connections.of(flow).index()] as usize];
        let programs = net.dependencies.components();
        let mut of: Vec<PartitionId> = FlowId::all(net.flows.len()).map(of_flow).collect();
        let known: HashMap<u32, PartitionId> = programs.iter().copied().zip(of.iter().copied()).collect();
        let steps = programs.iter().skip(of.len());
        let steps: Vec<PartitionId> =
            steps.map(|program| known.get(program).copied().unwrap_or_default()).collect();
        let mut awaited = vec![0; 1 + of.iter().copied().max().map_or(0, usize::from)];
        for flow in FlowId::all(net.flows.len()).filter(|flow| !net.is_background(*flow)) {
            awaited[usize::from(of[flow.index()])] += 1;
        }
        of.extend(steps);
        let of_port = |port: PortId| part[sets[connections + port.index().min(port.peer().index())] as usize];
        let ports = net.topology.port_ids().map(of_port).collect();
        Division { of: of.into(), messages: net.flows.len(), ports, awaited }
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.awaited.len()
    }

    /// The number of messages of a part that the run waits for.
    pub fn awaited(&self, part: usize) -> u64 {
        self.awaited[part]
    }

    /// The number of messages of all parts that the run waits for.
    pub fn all_awaited(&self) -> u64 {
        self.awaited.iter().sum()
    }

    /// The part of a message.
    pub fn part_of(&self, flow: FlowId) -> usize {
        usize::from(self.of[flow.index()])
    }

    /// The part of a step of the schedule.
    pub fn part_of_step(&self, step: u32) -> usize {
        usize::from(self.of[self.messages + step as usize])
    }

    /// The part whose packets pass a port; the first one if none do.
    pub fn part_of_port(&self, port: PortId) -> usize {
        usize::from(self.ports[port.index()])
    }

    /// The messages and steps of a part.
    pub fn share(&self, number: PartitionId) -> Share {
        Share { of: self.of.clone(), number }
    }
}
