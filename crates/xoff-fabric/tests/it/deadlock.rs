//! Deadlock of PFC and of credits on a ring of four switches, and what is none.

use crate::common::{endless, flow, scheme};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{NodeId, PortId};
use xoff_fabric::routing::{Routing, StaticRoute, StaticRoutes};
use xoff_fabric::settings::{Cbfc, FlowControl, LinkCredits, Pfc, Settings};
use xoff_fabric::topology::{Link, Node, NodeKind, Topology};
use xoff_fabric::{Flow, Network, Recording, Simulation, Stop};

/// Host i on switch i; switch i joined to switch i + 1 mod 4. Links 0 to 3 are the hosts', 4 to 7 the ring's.
fn ring() -> Topology {
    let node = |name: String, kind, tier| Node { name, kind, tier };
    let hosts = (0..4).map(|i| node(format!("host{i}"), NodeKind::Host, 0));
    let switches = (0..4).map(|i| node(format!("ring{i}"), NodeKind::Switch, 1));
    let (rate, delay) = (Rate::from_gbps(100), Time::from_us(1));
    let link = |a, b| Link { a, b, rate_ab: rate, rate_ba: rate, delay_ab: delay, delay_ba: delay };
    let access = (0..4).map(|i| link(NodeId(i), NodeId(4 + i)));
    let trunk = (0..4).map(|i| link(NodeId(4 + i), NodeId(4 + (i + 1) % 4)));
    Topology {
        nodes: hosts.chain(switches).collect(),
        links: access.chain(trunk).collect(),
        ..Topology::default()
    }
}

/// Routes over so many links of the ring clockwise.
fn clockwise_routes(links: u32) -> Routing {
    let route = |i: u32| StaticRoute {
        from: format!("host{i}"),
        to: format!("host{}", (i + links) % 4),
        via: (0..=links).map(|hop| format!("ring{}", (i + hop) % 4)).collect(),
    };
    Routing::StaticRoutes(StaticRoutes { routes: (0..4).map(route).collect(), ..StaticRoutes::default() })
}

/// Each flow so many links clockwise: every switch's queue holds what the one before it waits for.
fn clockwise(links: u32, flow_control: FlowControl, flows: Vec<Flow>, duration: Option<Time>) -> Simulation {
    let settings = Settings { flow_control, ..Settings::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let net = Network::build(ring(), &clockwise_routes(links), settings, none, flows, 1).expect("a network");
    Simulation::new(net, None, Recording::default(), duration)
}

fn pfc() -> FlowControl {
    FlowControl::Pfc(Pfc { xoff: Some(Bytes(100_000)), ..Pfc::default() })
}

/// CBFC, whose updates never end, and link credits, with which nothing at all is left to happen.
fn credits() -> [FlowControl; 2] {
    let cbfc = Cbfc { buffer: Some(Bytes(100_032)), ..Cbfc::default() };
    [
        FlowControl::Cbfc(cbfc),
        FlowControl::Credit(LinkCredits { credits: Some(4096), ..LinkCredits::default() }),
    ]
}

#[test]
fn a_deadlock_in_one_part_of_a_fast_forwarded_run_is_found() {
    // Hosts 8 and 9 have a switch of their own, 10, which hangs on the ring. Their message takes no link of the ring, and 8 ms.
    let mut topology = ring();
    let Link { rate_ab: rate, delay_ab: delay, .. } = topology.links[0];
    let node = |name: &str, kind, tier| Node { name: name.into(), kind, tier };
    topology.nodes.push(node("host4", NodeKind::Host, 0));
    topology.nodes.push(node("host5", NodeKind::Host, 0));
    topology.nodes.push(node("aside", NodeKind::Switch, 1));
    let link = |a, b| Link { a, b, rate_ab: rate, rate_ba: rate, delay_ab: delay, delay_ba: delay };
    topology.links.extend([(8, 10), (9, 10), (4, 10)].map(|(a, b)| link(NodeId(a), NodeId(b))));
    let mut flows: Vec<Flow> = (0..4).map(|i| flow(i, (i + 3) % 4, 100_000_000)).collect();
    flows.push(flow(8, 9, 100_000_000));
    let settings = Settings { flow_control: pfc(), ..Settings::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let net = Network::build(topology, &clockwise_routes(3), settings, none, flows, 1).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    sim.fast_forward(0.01, 2);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Deadlock));
    assert_eq!(sim.deadlock(), [8, 10, 12, 14].map(PortId));
    // The run is simulated as a whole, and ends once the fifth message is through.
    assert!(sim.now() > Time::from_ms(8) && sim.counters().flows_done == 1, "{}", sim.now());
    assert_eq!(sim.forwarded().map(|all| all.parts.len()), Some(1));
}

#[test]
fn a_run_in_deadlock_ends_and_names_the_ring() {
    // Three flows share each link of the ring. A switch gives its host's flow half of it, or more, and so the two that come
    // along the ring less than the three quarters that come: they grow until all four stop the one before.
    let flows: Vec<Flow> = (0..4).map(|i| flow(i, (i + 3) % 4, 100_000_000)).collect();
    let [cbfc, credit] = credits();
    for flow_control in [pfc(), cbfc, credit] {
        let mut sim = clockwise(3, flow_control, flows.clone(), None);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::Deadlock));
        // Links 4 to 7, ends a: ring0->ring1, ring1->ring2, ring2->ring3, ring3->ring0.
        assert_eq!(sim.deadlock(), [8, 10, 12, 14].map(PortId));
        assert!(sim.counters().flows_done < 4);
        // Four flows of 25 Gbps each fill thresholds of 100 KB in some 32 us: 100 KB at the 25 Gbps by which a queue grows. The
        // test comes 100 us after the last payload, or at once if nothing is left to happen.
        assert!(sim.now() < Time::from_us(300), "{}", sim.now());
    }
}

#[test]
fn turns_at_the_outputs_keep_a_short_circle_open() {
    // Two flows share each link. First in, first out, the host, which sends at full rate, takes more than its half of it,
    // and what comes along the ring grows. In turns it has just the half that comes: nothing grows.
    let flows: Vec<Flow> = (0..4).map(|i| flow(i, (i + 2) % 4, 10_000_000)).collect();
    let [cbfc, credit] = credits();
    for (flow_control, end) in [(pfc(), Stop::Deadlock), (cbfc, Stop::FlowsDone), (credit, Stop::FlowsDone)] {
        assert_eq!(clockwise(2, flow_control, flows.clone(), None).run(&mut |_| true), Ok(end));
    }
}

#[test]
fn a_congested_network_that_moves_is_no_deadlock() {
    // Three of the four flows leave the circle open: ring3->ring0 carries only flow 2, and drains.
    let flows: Vec<Flow> = (0..3).map(|i| endless(i, (i + 2) % 4, 0)).collect();
    let [cbfc, credit] = credits();
    for flow_control in [pfc(), cbfc, credit] {
        let mut sim = clockwise(2, flow_control, flows.clone(), Some(Time::from_us(300)));
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
        let stopped: u64 = (0..16).map(|port| sim.paused(PortId(port), 0).0).sum();
        assert!(stopped > 0, "flow control had to act");
        assert!(sim.deadlock().is_empty());
    }
}

#[test]
fn a_run_with_a_duration_reaches_it_whatever_stands_still() {
    // The ring stands still from some 40 us on; flows elsewhere would go on.
    let flows: Vec<Flow> = (0..4).map(|i| endless(i, (i + 3) % 4, 0)).collect();
    let duration = Time::from_us(2_000);
    let mut sim = clockwise(3, pfc(), flows, Some(duration));
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    assert_eq!((sim.now(), sim.deadlock()), (duration, [8, 10, 12, 14].map(PortId).to_vec()));
}

#[test]
fn a_resume_under_way_is_no_deadlock() {
    // Links of the ring of 1, 200, 400 and 400 us carry PAUSE and RESUME so late that at times all four queues are stopped and
    // all four ingresses over their thresholds, while a RESUME that an ingress sent before its last PAUSE is still under way.
    // The queue that it frees sends a frame, so all flows complete.
    let mut topology = ring();
    for (link, us) in [(5, 200), (6, 400), (7, 400)] {
        let link = &mut topology.links[link];
        (link.delay_ab, link.delay_ba) = (Time::from_us(us), Time::from_us(us));
    }
    for link in &mut topology.links {
        (link.rate_ab, link.rate_ba) = (Rate::from_gbps(10), Rate::from_gbps(10));
    }
    let route = |i: u32| StaticRoute {
        from: format!("host{i}"),
        to: format!("host{}", (i + 2) % 4),
        via: (0..=2).map(|hop| format!("ring{}", (i + hop) % 4)).collect(),
    };
    let routes = StaticRoutes { routes: (0..4).map(route).collect(), ..StaticRoutes::default() };
    let pfc = Pfc { xoff: Some(Bytes(20_000)), xon: Some(Bytes(10_000)), ..Pfc::default() };
    let settings = Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() };
    let starts = [(2u32, 37, 505_000u64), (3, 169, 573_000), (1, 203, 697_000), (0, 290, 691_000)];
    let flows = starts.map(|(i, us, bytes)| Flow { start: Time::from_us(us), ..flow(i, (i + 2) % 4, bytes) });
    let none = scheme("none", json!({}), Time::ZERO);
    let net = Network::build(topology, &Routing::StaticRoutes(routes), settings, none, flows.to_vec(), 1);
    let mut sim = Simulation::new(net.expect("a network"), None, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
}

#[test]
fn a_pause_of_milliseconds_is_no_deadlock() {
    // host0 - ring0 - ring1 - host1, the last link at 10 Mbps: a frame of 1518 B takes 1518 * 8 / 10^7 s = 1.2144 ms there.
    // Thresholds of 100 KB stop ring0 and host0 from 16 us on, nearly all the time: between two frames the network is tested
    // after 100 us, 300 us and 700 us without payload. 300 KB of payload, 1456 B a frame, are 207 frames, 206 of them full:
    // no less than 206 * 1.2144 ms = 250.2 ms, and no more than one frame longer.
    let mut topology = ring();
    topology.links[1].rate_ab = Rate::from_mbps(10);
    topology.links[1].rate_ba = Rate::from_mbps(10);
    let settings = Settings { flow_control: pfc(), ..Settings::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![flow(0, 1, 300_000)];
    let net = Network::build(topology, &Routing::default(), settings, none, flows, 1).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    let bounds = Time::from_us(250_100)..Time::from_us(251_500);
    assert!(bounds.contains(&sim.now()), "{}", sim.now());
    // ring1 drains its last 100 KB, 66 frames in 80 ms, without a PAUSE; before that ring0's egress to ring1, port 8, was
    // stopped nearly all the time: 250 - 80 ms.
    let stopped = sim.paused(PortId(8), 0);
    assert!((Time::from_us(165_000)..Time::from_us(175_000)).contains(&stopped), "{stopped}");
}
