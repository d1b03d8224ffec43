//! Networks built in code, without a scenario file: nodes and links, then flows.

use std::sync::Arc;

use xoff_engine::{Bytes, Rate, Time, Violation};
use xoff_fabric::ids::FlowId;
use xoff_fabric::network::{Flow, WireSizes};
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::{FlowControl, Settings};
use xoff_fabric::topology::{Link, Node, NodeId, NodeKind, Topology, TopologyError, TopologyKind};
use xoff_fabric::{BuildError, Network, Recording, Schedule, Simulation, network_env};
use xoff_schemes::AnyScheme;
use xoff_schemes::detector::AnyDetector;

use crate::scenario::MAX_PATH;

/// Why a network cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// The nodes and links do not form a network.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Settings or routing cannot be used; at least one violation.
    #[error("{}", .0.iter().map(Violation::to_string).collect::<Vec<_>>().join("; "))]
    Settings(Vec<Violation>),
    /// A parameter of the scheme or the detector cannot be used.
    #[error(transparent)]
    Parameter(#[from] Violation),
    /// A flow cannot be sent.
    #[error("flow {flow} {violation}")]
    Flow {
        /// The flow's index in the order in which the flows were added, from 0.
        flow: usize,
        /// What is wrong.
        violation: Violation,
    },
    /// The flows have no paths, or the network exceeds one of the simulator's limits.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Builds a network node by node, and the flows on it.
///
/// Names, links, settings, routing and flows are checked. Whether buffers, credits and pauses suit the links is only checked
/// for scenarios: [`crate::ScenarioBuilder`] with a [`xoff_fabric::topology::Graph`] gives the same network with those
/// checks.
///
/// Without further settings all hosts send at line rate, and switches have PFC with the default threshold of each link, which is
/// what a scenario without these tables has.
///
/// ```
/// use xoff::prelude::*;
///
/// let mut net = NetworkBuilder::new();
/// let (a, b, switch) = (net.host("a"), net.host("b"), net.switch("s"));
/// for host in [a, b] {
///     net.link(host, switch, Rate::from_gbps(100), Time::from_us(1));
/// }
/// let flow = net.flow(a, b, Bytes(1_000_000), Time::ZERO);
/// let mut simulation = net.simulation()?;
/// simulation.run(&mut |_| true)?;
/// // 1 MB takes 80 us on a link of 100 Gbps, and more with headers.
/// let fct = simulation.records().flows.of(flow).fct.expect("the flow is complete");
/// assert!(fct > Time::from_us(80) && fct < Time::from_us(100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct NetworkBuilder {
    topology: Topology,
    flows: Vec<Flow>,
    routing: Routing,
    settings: Settings,
    scheme: AnyScheme,
    detector: Option<AnyDetector>,
    recording: Recording,
    duration: Option<Time>,
    seed: u64,
}

impl Default for NetworkBuilder {
    fn default() -> Self {
        NetworkBuilder {
            topology: Topology::default(),
            flows: Vec::new(),
            routing: Routing::default(),
            settings: Settings::default(),
            scheme: AnyScheme::None(Default::default()),
            detector: None,
            recording: Recording::default(),
            duration: None,
            seed: 1,
        }
    }
}

impl NetworkBuilder {
    /// A builder of a network without nodes.
    pub fn new() -> Self {
        NetworkBuilder::default()
    }

    /// Adds a host.
    pub fn host(&mut self, name: impl Into<String>) -> NodeId {
        self.node(name.into(), NodeKind::Host)
    }

    /// Adds a switch.
    pub fn switch(&mut self, name: impl Into<String>) -> NodeId {
        self.node(name.into(), NodeKind::Switch)
    }

    fn node(&mut self, name: String, kind: NodeKind) -> NodeId {
        self.topology.nodes.push(Node { name, kind, tier: 0 });
        NodeId::at(self.topology.nodes.len() - 1)
    }

    /// Adds a link with one rate and one propagation delay for both directions.
    pub fn link(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Time) -> &mut Self {
        self.any_link(Link { a, b, rate_ab: rate, rate_ba: rate, delay_ab: delay, delay_ba: delay })
    }

    /// Adds a link whose directions may differ.
    pub fn any_link(&mut self, link: Link) -> &mut Self {
        self.topology.links.push(link);
        self
    }

    /// Adds a message of `size` payload bytes from one host to another, in priority 0. Returns its number: its index in
    /// [`xoff_fabric::observe::records::Records::flows`] if flows are added in the order of their start.
    pub fn flow(&mut self, src: NodeId, dst: NodeId, size: Bytes, start: Time) -> FlowId {
        self.any_flow(Flow::new(src, dst, size.0.into(), start, 0))
    }

    /// Adds any flow, and returns its number as [`NetworkBuilder::flow`] does.
    pub fn any_flow(&mut self, flow: Flow) -> FlowId {
        self.flows.push(flow);
        FlowId::at(self.flows.len() - 1)
    }

    /// Sets how packets find their path. The default is ECMP.
    pub fn routing(&mut self, routing: Routing) -> &mut Self {
        self.routing = routing;
        self
    }

    /// Sets flow control between neighbours.
    pub fn flow_control(&mut self, flow_control: FlowControl) -> &mut Self {
        self.settings.flow_control = flow_control;
        self
    }

    /// All settings of packets, hosts, switches and flow control, which the caller may change.
    pub fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Sets congestion control.
    pub fn scheme(&mut self, scheme: AnyScheme) -> &mut Self {
        self.scheme = scheme;
        self
    }

    /// Sets the detector that marks packets. The default is the one that the scheme asks for.
    pub fn detector(&mut self, detector: AnyDetector) -> &mut Self {
        self.detector = Some(detector);
        self
    }

    /// Sets what the simulation records beside flows and ports.
    pub fn recording(&mut self, recording: Recording) -> &mut Self {
        self.recording = recording;
        self
    }

    /// Sets the end of the simulation. By default it ends when the last flow is complete.
    pub fn duration(&mut self, duration: Time) -> &mut Self {
        self.duration = Some(duration);
        self
    }

    /// Sets the seed of all random streams. The default is 1.
    pub fn seed(&mut self, seed: u64) -> &mut Self {
        self.seed = seed;
        self
    }

    /// Checks the network and builds it.
    ///
    /// # Errors
    /// The first fault of the network.
    pub fn build(&self) -> Result<Network, NetworkError> {
        // The ends of links are known to be nodes before the links are listed by the names of their ends.
        self.topology.validate()?;
        let pipeline = self.settings.switch.pipeline_delay;
        let topology = Arc::new(self.topology.listed().build()?.with_pipelines(pipeline));
        self.scheme.validate()?;
        let mut settings = self.settings.clone();
        if let Some(throttle) = settings.throttle.take() {
            throttle.validate()?;
            settings.throttle = Some(throttle.resolve());
        }
        if let Some(payload) = settings.packets.payload {
            let wire = WireSizes::new(&settings, &self.scheme.signals());
            settings.packets.mtu = Bytes(payload.0.saturating_add(wire.data_overhead));
        }
        let mut violations = settings.validate(&self.scheme);
        violations.extend(self.routing.validate().into_iter().map(|v| v.inside("routing")));
        if !violations.is_empty() {
            return Err(NetworkError::Settings(violations));
        }
        self.check_flows(&topology, settings.switch.priorities / self.routing.lanes(false).max(1))?;
        let mut routing = self.routing.clone();
        routing.resolve();
        let router = Router::new(topology.clone(), &routing, self.seed).map_err(BuildError::from)?;
        let links = router.max_hops();
        if links > MAX_PATH {
            let found = format!("has a path of {links} links");
            let violation = Violation::new("topology", found, format!("at most {MAX_PATH}"));
            return Err(NetworkError::Settings(vec![violation]));
        }
        let env = network_env(&topology, &router, &settings, &self.scheme.signals())?;
        let scheme = self.scheme.clone().resolve(&env);
        let mut flows = self.flows.clone();
        flows.sort_by_key(|flow| flow.start);
        let schedule = Schedule::default();
        Ok(Network::along(topology, &router, env, settings, scheme, flows, schedule, self.seed)?)
    }

    fn check_flows(&self, topology: &Topology, priorities: u8) -> Result<(), NetworkError> {
        let is_host =
            |node: NodeId| topology.nodes.get(node.index()).is_some_and(|node| node.kind == NodeKind::Host);
        for (flow, f) in self.flows.iter().enumerate() {
            let violation = if !is_host(f.src) {
                Violation::new("src", format!("is node {}", f.src), "a host")
            } else if !is_host(f.dst) || f.src == f.dst {
                Violation::new("dst", format!("is node {}", f.dst), "a host other than the sender")
            } else if f.size == 0.into() {
                Violation::new("size", "is zero", "at least a byte")
            } else if f.size.is_endless() && f.stop == Time::NEVER && self.duration.is_none() {
                Violation::new("size", "is missing", "this, `stop` or a duration")
            } else if f.priority >= priorities {
                Violation::new("priority", format!("is {}", f.priority), format!("below {priorities}"))
            } else {
                continue;
            };
            return Err(NetworkError::Flow { flow, violation });
        }
        Ok(())
    }

    /// A simulation of the network at time zero, on one thread.
    ///
    /// # Errors
    /// The first fault of the network.
    pub fn simulation(&self) -> Result<Simulation, NetworkError> {
        let net = self.build()?;
        let detector = match (&self.detector, net.signals.ecn) {
            (Some(detector), true) => {
                detector.validate()?;
                Some(detector.clone().serve(&net.scheme.detector()))
            }
            (None, true) => Some(net.scheme.detector()),
            (_, false) => None,
        };
        Ok(Simulation::new(net, detector.as_ref(), self.recording.clone(), self.duration))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (NetworkBuilder, NodeId, NodeId) {
        let mut net = NetworkBuilder::new();
        let (a, b, switch) = (net.host("a"), net.host("b"), net.switch("s"));
        net.link(a, switch, Rate::from_gbps(100), Time::from_us(1));
        net.link(switch, b, Rate::from_gbps(100), Time::from_us(1));
        (net, a, b)
    }

    #[test]
    fn a_lone_flow_takes_its_ideal_time() {
        let (mut net, a, b) = pair();
        let flow = net.flow(a, b, Bytes(1_000_000), Time::ZERO);
        let mut simulation = net.simulation().expect("a network");
        simulation.run(&mut |_| true).expect("a run");
        let fct = simulation.records().flows.of(flow).fct;
        assert_eq!(fct, simulation.network().ideal_fct(flow));
    }

    #[test]
    fn what_a_file_may_not_say_is_refused() {
        let (mut net, a, b) = pair();
        net.settings().switch.priorities = 0;
        let error = net.build().err().expect("no priorities").to_string();
        assert_eq!(error, "`switch.priorities` is 0: expected a number from 1 to 8");
        net.settings().switch.priorities = 1;
        net.flow(a, a, Bytes(1), Time::ZERO);
        let error = net.build().err().expect("a flow to itself").to_string();
        assert_eq!(error, "flow 0 `dst` is node 0: expected a host other than the sender");
        let (mut net, ..) = pair();
        net.host("c");
        let error = net.build().err().expect("a host without a link").to_string();
        assert!(error.contains("host `c` with 0 links"), "{error}");
        let _ = b;
    }
}
