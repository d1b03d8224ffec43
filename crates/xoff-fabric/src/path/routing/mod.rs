//! The paths of data packets and their ACKs through the network.
//!
//! A path is the sequence of egress ports from the sending host's to the last switch's. It is computed once per
//! connection, so that a packet needs no look-up at each hop. Hosts never forward.
//!
//! FNCC writes telemetry of a data packet's path into the ACK as the ACK passes the same switches, and so depends on
//! symmetric paths (Section 3.1, Observation 2). FNCC's two methods are here: ECMP whose choice is symmetric, and
//! several spanning trees. Asymmetric ECMP shows what happens without symmetric paths.

mod choice;
mod d_mod_k;
mod dependencies;
pub(crate) mod detours;
mod dimension_order;
mod dragonfly;
mod ecmp;
mod ends;
mod error;
mod k_shortest;
mod lane_params;
mod lanes;
mod metric;
mod metrics;
mod next_hops;
mod params;
mod path_choice;
mod slowest;
mod static_routes;
mod switches;
mod trees;
mod weights;

pub use dependencies::Dependencies;
pub use detours::{Course, Detours, Way};
pub(crate) use ends::End;
pub use ends::HostNic;
pub use error::RoutingError;
pub use lanes::{Lanes, MAX_LANES};
pub use next_hops::NextHops;
pub use params::{
    DModK, DimensionOrder, Dragonfly, DragonflyVariant, Ecmp, EcmpHash, KShortest, Routing, SpanningTrees,
    StaticRoute, StaticRoutes,
};
pub use path_choice::{Candidate, Load, PathChoice, Spray};
pub use slowest::LinkTime;
pub(crate) use switches::{SwitchGraph, UNREACHED};
pub use trees::{MAX_TREE_ENTRIES, MAX_TREES};

use choice::Mixing;
use dragonfly::GroupRoutes;
use ecmp::EcmpTable;
use k_shortest::KPaths;
use metric::Metric;
use static_routes::StaticTable;
use trees::Trees;

use std::fmt;
use std::sync::Arc;

use xoff_engine::Time;

use crate::path::topology::{NodeId, NodeKind, PortId, Topology};

/// A topology's paths under one kind of routing.
#[derive(Clone, Debug)]
pub struct Router {
    topology: Arc<Topology>,
    graph: SwitchGraph,
    ways: Ways,
    choice: PathChoice,
    /// `None` if one lane is enough.
    lanes: Option<Lanes>,
    detours: Option<Detours>,
    metric: Metric,
    flowlet_gap: Time,
}

/// Paths by rules from outside of this room, such as those of another simulator. Data and ACKs take paths of their own.
pub(crate) trait PathTable: fmt::Debug + Send + Sync {
    /// Appends the ports between the two switches that the packets of the pair's flow number `key` pass, or the ACKs that
    /// answer packets the other way; `None` if there is no way.
    fn path(
        &self,
        graph: &SwitchGraph,
        from: End,
        to: End,
        key: u64,
        ack: bool,
        out: &mut Vec<PortId>,
    ) -> Option<()>;
}

/// What decides between switches.
#[derive(Clone, Debug)]
enum Ways {
    Ecmp(EcmpTable<Mixing>),
    /// From outside of this room.
    Table(Arc<dyn PathTable>),
    Trees(Trees),
    Static(StaticTable),
    DModK(d_mod_k::DModK),
    Groups(GroupRoutes),
    Grid(dimension_order::DimensionOrder),
    KShortest(KPaths),
}

impl Default for Router {
    /// The router of a network without nodes.
    fn default() -> Self {
        let graph = SwitchGraph::default();
        let ways = Ways::Ecmp(EcmpTable::new(&graph, &Topology::default(), &Ecmp::default(), Mixing::new(0)));
        Router::by_ways(Arc::default(), graph, ways)
    }
}

impl Router {
    /// Prepares `routing` on a topology that [`Topology::validate`] accepts, by this room's own rules: an [`Ecmp`] with another
    /// simulator's hash is made by [`Router::by_table`]. The choices among equal paths depend only on `seed`.
    ///
    /// # Errors
    /// [`RoutingError`] if a parameter of `routing` does not fit the topology.
    pub(crate) fn by_own_rules(
        topology: Arc<Topology>,
        routing: &Routing,
        seed: u64,
    ) -> Result<Router, RoutingError> {
        let graph = SwitchGraph::new(&topology);
        let mixing = Mixing::new(seed);
        let (mut lanes, mut detours, mut metric) = (None, None, Metric::default());
        let ways = match routing {
            Routing::Ecmp(params) => {
                params.check()?;
                Ways::Ecmp(EcmpTable::new(&graph, &topology, params, mixing))
            }
            Routing::SpanningTrees(params) => Ways::Trees(Trees::new(&topology, &graph, params, mixing)?),
            Routing::StaticRoutes(params) => {
                Ways::Static(StaticTable::new(&topology, &graph, params, mixing)?)
            }
            Routing::DModK(_) => Ways::DModK(d_mod_k::DModK::new(&topology, &graph)?),
            Routing::DimensionOrder(_) => {
                let routes = dimension_order::DimensionOrder::new(&topology, &graph, mixing)?;
                lanes = routes.1;
                Ways::Grid(routes.0)
            }
            Routing::KShortest(params) => {
                let paths = KPaths::new(&topology, &graph, params, mixing)?;
                lanes = paths.1;
                Ways::KShortest(paths.0)
            }
            Routing::Dragonfly(params) => {
                let (routes, taken) = GroupRoutes::new(&topology, &graph, params, mixing)?;
                (lanes, metric) = (Some(taken), routes.metric.clone());
                detours = Detours::new(&topology, &metric, params);
                Ways::Groups(routes)
            }
        };
        let (choice, flowlet_gap) = (routing.choice(), routing.flowlet_gap());
        Ok(Router { choice, flowlet_gap, lanes, detours, metric, ..Router::by_ways(topology, graph, ways) })
    }

    /// A router on one lane, whose connections have one path each.
    fn by_ways(topology: Arc<Topology>, graph: SwitchGraph, ways: Ways) -> Router {
        let choice = PathChoice::default();
        let (metric, flowlet_gap) = (Metric::default(), Time::ZERO);
        Router { topology, graph, ways, choice, lanes: None, detours: None, metric, flowlet_gap }
    }

    /// Lets a table decide that is made of the graph of switches.
    pub(crate) fn by_table(
        topology: Arc<Topology>,
        table: impl FnOnce(&Topology, &SwitchGraph) -> Result<Arc<dyn PathTable>, RoutingError>,
    ) -> Result<Router, RoutingError> {
        let graph = SwitchGraph::new(&topology);
        let ways = Ways::Table(table(&topology, &graph)?);
        Ok(Router::by_ways(topology, graph, ways))
    }

    /// The NICs that talk to each other when `src` sends by its NIC `nic`: that one, and its
    /// [`peer_nic`](crate::path::topology::peer_nic) at `dst`.
    ///
    /// # Errors
    /// [`RoutingError`] if a node is not a host with links, or `src` has no such NIC.
    pub fn ends(&self, src: NodeId, dst: NodeId, nic: u32) -> Result<(HostNic, HostNic), RoutingError> {
        let nics = self.nics(src)?;
        self.nics(dst)?;
        if nic >= nics {
            return Err(RoutingError::NoSuchNic { host: self.name(src), nic, nics });
        }
        Ok(self.graph.ends(src, dst, nic))
    }

    /// The number of a host's NICs, at least one.
    ///
    /// # Errors
    /// [`RoutingError`] if the node is not a host with links.
    pub fn nics(&self, host: NodeId) -> Result<u32, RoutingError> {
        match self.topology.nodes.get(host.index()) {
            None => Err(RoutingError::NoSuchNode { node: host }),
            Some(n) if n.kind != NodeKind::Host => Err(RoutingError::NotAHost { node: n.name.clone() }),
            Some(n) => match self.graph.nics(host) {
                0 => Err(RoutingError::NotConnected { host: n.name.clone() }),
                nics => Ok(nics),
            },
        }
    }

    /// Appends to `out` the egress ports that packets from host `src` to host `dst` pass between the first NICs of the two;
    /// see [`Router::path_between`].
    pub fn path(
        &self,
        src: NodeId,
        dst: NodeId,
        flow_key: u64,
        out: &mut Vec<PortId>,
    ) -> Result<(), RoutingError> {
        let (src, dst) = self.ends(src, dst, 0)?;
        self.way(src, dst, flow_key, false, out)
    }

    /// Appends to `out` the egress ports that packets from the NIC `src` to the NIC `dst` pass, from the sender's port to
    /// the last switch's port to the receiver. `flow_key` tells the pair's flows apart, as the UDP source port does.
    ///
    /// # Errors
    /// [`RoutingError`] if there is no path; `out` is unchanged then.
    pub fn path_between(
        &self,
        src: HostNic,
        dst: HostNic,
        flow_key: u64,
        out: &mut Vec<PortId>,
    ) -> Result<(), RoutingError> {
        self.way(src, dst, flow_key, false, out)
    }

    /// Does the work of [`Router::path_between`], for data or for the ACKs of data in the other direction.
    fn way(
        &self,
        src: HostNic,
        dst: HostNic,
        flow_key: u64,
        ack: bool,
        out: &mut Vec<PortId>,
    ) -> Result<(), RoutingError> {
        let (first, last) = (self.nic_port(src)?, self.nic_port(dst)?.peer());
        if src.host == dst.host {
            return Err(RoutingError::SameHost { host: self.name(src.host) });
        }
        let before = out.len();
        out.push(first);
        if first != last {
            let end = |nic| self.graph.switch_of(nic).map(|switch| End { nic, switch });
            let (Some(from), Some(to)) = (end(src), end(dst)) else {
                out.truncate(before);
                return Err(self.unreachable(src, dst));
            };
            let found = match &self.ways {
                Ways::Ecmp(table) => table.path(&self.graph, from, to, flow_key, out),
                Ways::Table(table) => table.path(&self.graph, from, to, flow_key, ack, out),
                Ways::Trees(trees) => trees.path(&self.topology, &self.graph, from, to, flow_key, out),
                Ways::Static(table) => table.path(&self.graph, from, to, flow_key, out),
                Ways::Groups(routes) => routes.path(&self.graph, from, to, flow_key, out),
                Ways::Grid(routes) => routes.path(&self.graph, from, to, flow_key, out),
                Ways::KShortest(paths) => paths.path(&self.graph, from, to, flow_key, out),
                Ways::DModK(tree) => {
                    let next = |port: PortId| self.graph.switch(self.topology.node_of(port.peer()));
                    tree.path(next, from, to, out)
                }
            };
            if found.is_none() {
                out.truncate(before);
                return Err(self.unreachable(src, dst));
            }
            out.push(last);
        }
        Ok(())
    }

    /// Appends the egress ports that the ACKs of the flow from `src` to `dst` pass between the first NICs of the two; see
    /// [`Router::ack_path_between`].
    pub fn ack_path(
        &self,
        src: NodeId,
        dst: NodeId,
        flow_key: u64,
        out: &mut Vec<PortId>,
    ) -> Result<(), RoutingError> {
        let (src, dst) = self.ends(src, dst, 0)?;
        self.way(dst, src, flow_key, true, out)
    }

    /// Appends the egress ports that the ACKs of the flow from the NIC `src` to the NIC `dst` pass, the receiver's first.
    /// ACKs are routed as packets from `dst` to `src`: under symmetric routing they take the data's path backwards, under
    /// asymmetric ECMP a path of their own.
    pub fn ack_path_between(
        &self,
        src: HostNic,
        dst: HostNic,
        flow_key: u64,
        out: &mut Vec<PortId>,
    ) -> Result<(), RoutingError> {
        self.way(dst, src, flow_key, true, out)
    }

    /// This routing without the links that are `dead`; `None` if it cannot do without a link, since it is not ECMP.
    pub(crate) fn without(&self, dead: &[u32]) -> Option<Router> {
        let Ways::Ecmp(table) = &self.ways else { return None };
        let graph = self.graph.without(dead);
        let ways = Ways::Ecmp(table.on(&graph, &self.topology));
        let topology = self.topology.clone();
        Some(Router {
            choice: self.choice,
            flowlet_gap: self.flowlet_gap,
            ..Router::by_ways(topology, graph, ways)
        })
    }

    /// Who chooses among equal-cost paths, and when.
    pub fn choice(&self) -> PathChoice {
        self.choice
    }

    /// The virtual lanes that routing takes; `None` if one is enough.
    pub fn lanes(&self) -> Option<&Lanes> {
        self.lanes.as_ref()
    }

    /// The ways by intermediate groups; `None` if packets take the shortest paths alone.
    fn detours(&self) -> Option<Detours> {
        self.detours.clone()
    }

    /// What makes a path short.
    fn metric(&self) -> &Metric {
        &self.metric
    }

    /// The equal-cost next hops of all switches; `None` if each connection has one path.
    pub fn next_hops(&self) -> Option<NextHops> {
        self.choice.is_by_next_hops().then(|| NextHops::new(&self.topology, self, self.choice))
    }

    /// Whether every ACK takes its data's path backwards, whatever the topology.
    pub fn is_symmetric(&self) -> bool {
        self.choice == PathChoice::PerConnection && self.connections_are_symmetric()
    }

    /// Whether every ACK takes its data's path backwards, given that each connection has one path.
    fn connections_are_symmetric(&self) -> bool {
        match &self.ways {
            Ways::Ecmp(table) => table.symmetric(),
            Ways::Table(_) | Ways::DModK(_) | Ways::Groups(_) | Ways::Grid(_) | Ways::KShortest(_) => false,
            Ways::Trees(_) => true,
            Ways::Static(table) => table.symmetric(),
        }
    }

    fn nic_port(&self, nic: HostNic) -> Result<PortId, RoutingError> {
        let nics = self.nics(nic.host)?;
        let no_such = || RoutingError::NoSuchNic { host: self.name(nic.host), nic: nic.nic, nics };
        self.graph.nic_port(nic).ok_or_else(no_such)
    }

    fn name(&self, node: NodeId) -> String {
        self.topology.nodes[node.index()].name.clone()
    }

    fn unreachable(&self, from: HostNic, to: HostNic) -> RoutingError {
        let switches = self.graph.switch_of(from).zip(self.graph.switch_of(to));
        let connected = switches.is_some_and(|(a, b)| self.graph.distances(b)[a as usize] != UNREACHED);
        let several = self.graph.nics(from.host) > 1 || self.graph.nics(to.host) > 1;
        let (nic_from, nic_to) = (from.nic, to.nic);
        let (from, to) = (self.name(from.host), self.name(to.host));
        match (connected, several) {
            (true, _) => RoutingError::TooLong { from, to },
            (false, false) => RoutingError::Unreachable { from, to },
            (false, true) => RoutingError::NicUnreachable { from, nic_from, to, nic_to },
        }
    }
}

/// Turns a sequence of egress ports into the sequence of the reversed path.
fn reverse(path: &mut [PortId]) {
    path.reverse();
    for port in path {
        *port = port.peer();
    }
}
