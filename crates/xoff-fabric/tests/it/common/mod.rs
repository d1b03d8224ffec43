//! Small networks for tests.

pub mod credit_load;

use xoff_engine::{Bytes, MessageSize, Rate, Time};
use xoff_fabric::ids::NodeId;
use xoff_fabric::network::{Flow, Network};
use xoff_fabric::routing::{Router, Routing};
use xoff_fabric::settings::{Settings, Switch};
use xoff_fabric::topology::{Link, Node, NodeKind, Topology};
use xoff_fabric::{BuildError, Recording, Schedule, Simulation, network_env};
use xoff_schemes::AnyScheme;

/// The scheme called `name` with parameters in JSON, resolved for a 100 Gbps network.
pub fn scheme(name: &str, params: serde_json::Value, base_rtt: Time) -> AnyScheme {
    let scheme = AnyScheme::read(name, params).expect("a known scheme").expect("valid parameters");
    scheme.resolve(&xoff_schemes::NetworkEnv { line_rate: Rate::from_gbps(100), base_rtt })
}

/// A chain of switches with hosts on chosen ones: `hosts[i]` is the switch of host i; all links alike.
pub fn chain(switches: u32, hosts: &[u32], rate: Rate, delay: Time) -> Topology {
    let n = hosts.len() as u32;
    let host = |i: usize| Node { name: format!("h{i}"), kind: NodeKind::Host, tier: 0 };
    let switch = |i: u32| Node { name: format!("s{i}"), kind: NodeKind::Switch, tier: 1 };
    let nodes = (0..hosts.len()).map(host).chain((0..switches).map(switch)).collect();
    let link = |a, b| Link { a, b, rate_ab: rate, rate_ba: rate, delay_ab: delay, delay_ba: delay };
    let access = hosts.iter().enumerate().map(|(i, s)| link(NodeId(i as u32), NodeId(n + s)));
    let trunk = (1..switches).map(|s| link(NodeId(n + s - 1), NodeId(n + s)));
    Topology { nodes, links: access.chain(trunk).collect(), ..Topology::default() }
}

/// A finite flow that starts at time zero.
pub fn flow(src: u32, dst: u32, size: u64) -> Flow {
    Flow::new(NodeId(src), NodeId(dst), size.into(), Time::ZERO, 0)
}

/// A flow that starts at `start_us` and never ends.
pub fn endless(src: u32, dst: u32, start_us: u64) -> Flow {
    Flow { size: MessageSize::ENDLESS, start: Time::from_us(start_us), ..flow(src, dst, 1) }
}

/// A simulation with default routing.
pub fn simulate(
    topology: Topology,
    settings: Settings,
    scheme: AnyScheme,
    flows: Vec<Flow>,
    recording: Recording,
    duration: Option<Time>,
) -> Simulation {
    let net = Network::build(topology, &Routing::default(), settings, scheme, flows, 1).expect("a network");
    Simulation::new(net, None, recording, duration)
}

/// A network in which nothing breaks, under no control.
pub fn whole(topology: Topology, settings: Settings, flows: Vec<Flow>) -> Network {
    let none = scheme("none", serde_json::json!({}), Time::from_us(1));
    Network::build(topology, &Routing::default(), settings, none, flows, 1).expect("a network")
}

/// A network of `flows` that wait for each other, under no control, with frames that take round times: one of 1,000 B has 952 B
/// of payload, an ACK 50 B, and at 100 Gbps a byte takes 80 ps.
pub fn round_packets(
    topology: Topology,
    flows: Vec<Flow>,
    schedule: Schedule,
) -> Result<Network, BuildError> {
    round_packets_by(Switch::default(), topology, flows, schedule)
}

/// The same with switches of one kind.
pub fn round_packets_by(
    switch: Switch,
    topology: Topology,
    flows: Vec<Flow>,
    schedule: Schedule,
) -> Result<Network, BuildError> {
    let none = scheme("none", serde_json::json!({}), Time::from_us(1));
    round_packets_under(none, Settings { switch, ..Settings::default() }, topology, flows, schedule)
}

/// The same under a scheme, with settings but those of packets.
pub fn round_packets_under(
    scheme: AnyScheme,
    mut settings: Settings,
    topology: Topology,
    flows: Vec<Flow>,
    schedule: Schedule,
) -> Result<Network, BuildError> {
    settings.packets.mtu = Bytes(1_000);
    settings.packets.header = Bytes(48);
    settings.packets.ack = Bytes(50);
    settings.packets.gap = Bytes(0);
    let router = Router::new(&topology, &Routing::default(), 1)?;
    let env = network_env(&topology, &router, &settings, &scheme.signals())?;
    Network::along(topology, &router, env, settings, scheme, flows, schedule, 1)
}

/// Hosts on switches in a row, by number of the switch; 100 Gbps and 1 us a link.
pub fn star(hosts: &[u32]) -> Topology {
    chain(hosts.iter().max().map_or(1, |s| s + 1), hosts, Rate::from_gbps(100), Time::from_us(1))
}
