//! A packet's way through one switch, with the NICs on both sides: two packet-hops there, two for its ACK.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::NodeId;
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::{FlowControl, Pfc, Settings};
use xoff_fabric::topology::{Link, Node, NodeKind, Topology};
use xoff_fabric::{Flow, Network, Recording, Simulation, Stop};
use xoff_schemes::{AnyScheme, NetworkEnv};

/// Packets of each run.
const PACKETS: u64 = 2_000;
const LINE: Rate = Rate::from_gbps(100);

/// `hosts` hosts on one switch, node number `hosts`.
fn star(hosts: u32) -> Topology {
    let delay = Time::from_us(1);
    let node = |name: String, kind, tier| Node { name, kind, tier };
    let mut nodes: Vec<Node> = (0..hosts).map(|i| node(format!("h{i}"), NodeKind::Host, 0)).collect();
    nodes.push(node("switch".into(), NodeKind::Switch, 1));
    let link =
        |a| Link { a, b: NodeId(hosts), rate_ab: LINE, rate_ba: LINE, delay_ab: delay, delay_ba: delay };
    Topology { nodes, links: NodeId::all(hosts as usize).map(link).collect(), ..Topology::default() }
}

/// `senders` flows to the last host that share the packets; each makes its data at `rate`.
fn network(scheme: &str, senders: u32, rate: Rate, settings: &Settings) -> Network {
    let (size, payload) = (PACKETS / u64::from(senders), 1_000);
    let flow = |src| Flow {
        source_rate: rate,
        ..Flow::new(src, NodeId(senders), (size * payload).into(), Time::ZERO, 0)
    };
    let scheme = AnyScheme::read(scheme, serde_json::json!({})).expect("a scheme").expect("its defaults");
    let scheme = scheme.resolve(&NetworkEnv { line_rate: LINE, base_rtt: Time::from_us(5) });
    let flows: Vec<_> = NodeId::all(senders as usize).map(flow).collect();
    let routing = Routing::default();
    Network::build(star(senders + 1), &routing, settings.clone(), scheme, flows, 1).expect("a network")
}

/// Runs of networks that are made outside of the clock; the items are packet-hops.
fn runs(bencher: Bencher<'_, '_>, network: impl Fn() -> Network + Sync) {
    let simulation = || Simulation::new(network(), None, Recording::default(), None);
    let mut first = simulation();
    assert_eq!(first.run(&mut |_| true), Ok(Stop::FlowsDone));
    let hops = ItemsCount::new(first.counters().packet_hops);
    bencher
        .counter(hops)
        .with_inputs(simulation)
        .bench_local_values(|mut simulation| black_box(simulation.run(&mut |_| true)).is_ok());
}

/// Each packet finds every port idle: its source makes one every 0.8 us.
#[divan::bench(args = ["none", "hpcc", "dcqcn"])]
fn idle(bencher: Bencher<'_, '_>, scheme: &str) {
    runs(bencher, || network(scheme, 1, Rate::from_gbps(10), &Settings::default()));
}

/// Eight senders at line rate to one receiver: each packet joins a queue, and nothing is stopped.
#[divan::bench(args = ["none", "hpcc", "dcqcn"])]
fn busy(bencher: Bencher<'_, '_>, scheme: &str) {
    let settings = Settings { flow_control: FlowControl::None, ..Settings::default() };
    runs(bencher, || network(scheme, 8, Rate::UNLIMITED, &settings));
}

/// The same with PAUSE, which stops each sender again and again.
#[divan::bench(args = ["none"])]
fn paused(bencher: Bencher<'_, '_>, scheme: &str) {
    let pfc = Pfc { xoff: Some(Bytes(20_000)), ..Pfc::default() };
    let settings = Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() };
    runs(bencher, || network(scheme, 8, Rate::UNLIMITED, &settings));
}

fn main() {
    divan::main();
}
