//! Building a network of a router: paths for every connection, the base RTT, and checks that the parts fit together.
//!
//! `run/assemble.rs` makes the router too.

use std::sync::Arc;

use xoff_engine::{Rate, Violation};
use xoff_schemes::{AnyScheme, IntPath, NetworkEnv, Signals};

use super::dependencies::{Dependencies, DependencyError, Schedule};
use super::nics::NicAssignment;
use super::route::{MOST_HOPS, PathPorts};
use super::{Connections, Flow, Flows, Network, Paths, Route, UnloadedTimes, WireSizes, choice_violation};
use crate::event::MAX_INDEX;
use crate::ids::ConnectionId;
use crate::path::routing::{HostNic, Lanes, Router, RoutingError};
use crate::path::topology::{NodeKind, Topology};
use crate::settings::Settings;

/// Why no network can be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Routing finds no path.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// The scheme or a setting requires that a connection has one path.
    #[error("routing {0}")]
    Choice(Violation),
    /// Flows wait for each other in a way that is not possible.
    #[error(transparent)]
    Dependency(#[from] DependencyError),
    /// INT has no room for a path.
    #[error(
        "a path passes {hops} switches, and INT has room for {room}: raise `packets.int_hops` (at most 8)"
    )]
    TooManyHops {
        /// Switches on the longest path.
        hops: usize,
        /// Maximum number of switches.
        room: u8,
    },
    /// Routing converges, and has no path without a link.
    #[error(
        "routing converges after links go down, and only `ecmp` with its own hash finds paths without a link"
    )]
    NoDetour,
    /// Routing converges, and connections are added during the run.
    #[error(
        "routing converges after links go down, and finds ways around them only for connections that are known at the beginning; \
         expected `convergence = \"none\"` in [routing], a `choice` by packet, or no links that go down"
    )]
    NoDetourLater,
    /// A message without data, which would never be complete.
    #[error("flow {flow} has a size of 0 bytes: expected at least 1")]
    NoData {
        /// The flow's number.
        flow: usize,
    },
    /// The network is in use elsewhere, so that nothing can be added to it.
    #[error("the network is in use elsewhere, and takes no messages")]
    Held,
    /// More entities than an event's key can name.
    #[error("{count} {what} are too many: at most {limit}")]
    TooMany {
        /// The kind of entities.
        what: &'static str,
        /// The number of entities.
        count: usize,
        /// The maximum number of entities.
        limit: u32,
    },
}

/// What is known about the network before its scheme's defaults are filled in: the hosts' line rate, and the maximum base
/// RTT over all pairs of hosts and all paths that they may take, with the sizes on the wire that `signals` require.
///
/// # Errors
/// [`BuildError::Routing`] if a pair of hosts has no path.
pub fn network_env(
    topology: &Topology,
    router: &Router,
    settings: &Settings,
    signals: &Signals,
) -> Result<NetworkEnv, BuildError> {
    let wire = WireSizes::new(settings, signals);
    let times = UnloadedTimes::new(topology, &wire, settings);
    let base_rtt = router.slowest_round_trip(&times.by_link())?;
    let host_ports =
        topology.port_ids().filter(|&p| topology.nodes[topology.node_of(p).index()].kind == NodeKind::Host);
    let line_rate = host_ports.map(|p| topology.rate(p)).max().unwrap_or(Rate::from_gbps(100));
    Ok(NetworkEnv { line_rate, base_rtt: base_rtt + settings.host.processing_delay })
}

/// The room for all paths is estimated by so many of them: a list that is moved as it grows leaves behind memory that the run does not use.
const SAMPLE: usize = 256;

/// The paths of flows, each pair and key computed once.
pub(super) struct PathWriter<'a> {
    router: &'a Router,
    pub ports: PathPorts,
    pub longest: usize,
}

impl<'a> PathWriter<'a> {
    /// Appends paths to `ports`.
    pub fn new(router: &'a Router, ports: PathPorts) -> PathWriter<'a> {
        PathWriter { router, ports, longest: 0 }
    }

    pub fn route(&mut self, (src, dst): (HostNic, HostNic), number: u64) -> Result<Route, BuildError> {
        let first = self.ports.len();
        let ports = self.ports.list_mut();
        self.router.path_between(src, dst, number, ports)?;
        let links = ports.len() - first;
        if !self.router.is_symmetric() {
            self.router.ack_path_between(src, dst, number, ports)?;
            let (data, ack) = ports[first..].split_at(links);
            // Where the ACKs go back all the same, their path need not be kept.
            if ack.iter().copied().eq(data.iter().rev().map(|port| port.peer())) {
                ports.truncate(first + links);
            }
        }
        let apart = ports.len() - first - links;
        let ack_links = if apart > 0 { apart } else { links };
        self.longest = self.longest.max(links).max(ack_links);
        Ok(Route {
            first: first as u32,
            links: links as u8,
            ack_links: ack_links as u8,
            has_ack_path: apart > 0,
        })
    }
}

impl Network {
    /// Builds a network of parts that exist already: `router` of the same topology and seed, `env` from [`network_env`], and
    /// a scheme with resolved parameters. Flows may wait for others, as `schedule` says; flows that wait for no other must be
    /// sorted by start.
    ///
    /// # Errors
    /// [`BuildError`] if the parts do not fit together.
    #[allow(clippy::too_many_arguments)]
    pub fn along(
        topology: impl Into<Arc<Topology>>,
        router: &Router,
        env: NetworkEnv,
        settings: Settings,
        scheme: AnyScheme,
        flows: impl Into<Flows>,
        schedule: Schedule,
        seed: u64,
    ) -> Result<Network, BuildError> {
        let (topology, mut flows) = (topology.into(), flows.into());
        let signals = scheme.signals();
        let queues = topology.ports() as usize * usize::from(settings.switch.priorities);
        let by_port = settings.link.llr.is_some() || signals.credits.is_some();
        let retries = if by_port { queues + topology.ports() as usize } else { 0 };
        let entities = (flows.len() + schedule.steps.len().max(retries)).max(queues);
        if entities > MAX_INDEX as usize {
            return Err(BuildError::TooMany {
                what: "flows and steps, or queues and ports",
                count: entities,
                limit: MAX_INDEX,
            });
        }
        if let Some(flow) = flows.iter().position(|flow| flow.size == 0.into()) {
            return Err(BuildError::NoData { flow });
        }
        let lanes = router.lanes().cloned();
        if let Some(lanes) = &lanes {
            let (count, priorities) = (lanes.count(), settings.switch.priorities);
            if priorities == 0 || !priorities.is_multiple_of(count) {
                return Err(RoutingError::Lanes { lanes: count, priorities }.into());
            }
            let of_lane = |flow: Flow| Flow { priority: flow.priority * count, ..flow };
            flows = flows.iter().map(of_lane).collect();
        }
        if let Some(violation) =
            choice_violation(router.choice(), lanes.as_ref().map_or(1, Lanes::count), &scheme, &settings)
        {
            return Err(BuildError::Choice(violation));
        }
        let mut paths = PathWriter::new(router, PathPorts::default());
        let connections = Connections::new(&flows, &schedule.connections);
        let mut nics = NicAssignment::new(seed);
        let count = connections.count(flows.len());
        let mut routes = Vec::with_capacity(count);
        for connection in ConnectionId::all(count) {
            let first = connections.first_message(connection);
            let choice = schedule.nics.get(first.index()).copied().flatten().unwrap_or(settings.host.nic);
            let (ends, number) = nics.next(router, &flows.of(first), choice)?;
            routes.push(paths.route(ends, number)?);
            if routes.len() == SAMPLE {
                paths.ports.make_room(SAMPLE, count - SAMPLE);
            }
        }
        let hops = paths.longest.saturating_sub(1);
        if signals.int != IntPath::Off && hops > usize::from(settings.packets.int_hops) {
            return Err(BuildError::TooManyHops { hops, room: settings.packets.int_hops });
        }
        let mut ports = std::mem::take(&mut paths.ports);
        ports.list_mut().shrink_to_fit();
        if ports.len() > MOST_HOPS as usize {
            let limit = MOST_HOPS;
            return Err(BuildError::TooMany { what: "hops of all paths", count: ports.len(), limit });
        }
        let wire = WireSizes::new(&settings, &signals);
        let plain = WireSizes::new(&settings, &Signals::default());
        let dependencies = Dependencies::new(&schedule, &flows, &topology)?;
        // If all flows were background, the run would end before it began; so none is.
        let all = schedule.background.iter().all(|b| *b);
        let background = if all { Vec::new() } else { schedule.background };
        let loses = settings.lossy || settings.switch.watchdog.is_some() || settings.link.loses();
        Ok(Network {
            topology,
            loses,
            faults: None,
            settings,
            scheme,
            signals,
            wire,
            plain,
            seed,
            first_other: flows.len() as u32,
            planned: flows.len(),
            flows,
            dependencies,
            background,
            connections,
            paths: Paths { ports, routes, next_hops: router.next_hops(), lanes },
            env,
            one_order: false,
        })
    }
}
