//! PFC deadlock on a ring of four switches, and what is none.

mod common;

use common::{endless, flow, scheme};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::routing::{Routing, StaticRoute, StaticRoutes};
use xoff_fabric::settings::{FlowControl, Pfc, Settings};
use xoff_fabric::topology::{Link, Node, NodeKind, Topology};
use xoff_fabric::{Flow, Network, Recording, Simulation, Stop};

/// Host i on switch i; switch i joined to switch i + 1 mod 4. Links 0 to 3 are the hosts', 4 to 7 the ring's.
fn ring() -> Topology {
    let node = |name: String, kind, tier| Node { name, kind, tier };
    let hosts = (0..4).map(|i| node(format!("host{i}"), NodeKind::Host, 0));
    let switches = (0..4).map(|i| node(format!("ring{i}"), NodeKind::Switch, 1));
    let (rate, delay) = (Rate::from_gbps(100), Time::from_us(1));
    let link = |a, b| Link { a, b, rate_ab: rate, rate_ba: rate, delay_ab: delay, delay_ba: delay };
    let access = (0..4).map(|i| link(i, 4 + i));
    let trunk = (0..4).map(|i| link(4 + i, 4 + (i + 1) % 4));
    Topology { nodes: hosts.chain(switches).collect(), links: access.chain(trunk).collect() }
}

/// Each flow two links clockwise: every switch's queue holds what the one before it waits for.
fn clockwise(flows: Vec<Flow>, duration: Option<Time>) -> Simulation {
    let route = |i: u32| StaticRoute {
        from: format!("host{i}"),
        to: format!("host{}", (i + 2) % 4),
        via: (0..3).map(|hop| format!("ring{}", (i + hop) % 4)).collect(),
    };
    let routes = StaticRoutes { routes: (0..4).map(route).collect(), ..StaticRoutes::default() };
    let pfc = Pfc { xoff: Some(Bytes(100_000)), ..Pfc::default() };
    let settings = Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let net =
        Network::build(ring(), &Routing::StaticRoutes(routes), settings, none, flows, 1).expect("a network");
    Simulation::new(net, None, Recording::default(), duration)
}

#[test]
fn a_run_in_deadlock_ends_and_names_the_ring() {
    // Two flows share each link of the ring: queues grow at the rate of one flow until all four pause the one before.
    let flows = (0..4).map(|i| flow(i, (i + 2) % 4, 100_000_000)).collect();
    let mut sim = clockwise(flows, None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Deadlock));
    // Links 4 to 7, ends a: ring0->ring1, ring1->ring2, ring2->ring3, ring3->ring0.
    assert_eq!(sim.deadlock(), [8, 10, 12, 14]);
    assert!(sim.counters().flows_done < 4);
}

#[test]
fn a_congested_network_that_moves_is_no_deadlock() {
    // Three of the four flows leave the circle open: ring3->ring0 carries only flow 2, and drains.
    let flows: Vec<Flow> = (0..3).map(|i| endless(i, (i + 2) % 4, 0)).collect();
    let mut sim = clockwise(flows, Some(Time::from_us(300)));
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    assert!(sim.records().pause_frames.iter().sum::<u64>() > 0, "PFC had to act");
    assert!(sim.deadlock().is_empty());
}
