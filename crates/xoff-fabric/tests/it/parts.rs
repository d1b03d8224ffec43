//! Parts of a fast-forwarded run that cannot affect each other, by hand.
//!
//! Frames of 1,000 B carry 952 B and take 80 ns at 100 Gbps, ACKs of 50 B take 4 ns, and each link has 1 us.

use crate::common::{endless, flow, round_packets, round_packets_by, scheme, simulate, star};
use crate::fast_forward::alone;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, NodeId, PortId};
use xoff_fabric::network::{Flow, Schedule};
use xoff_fabric::routing::{Routing, StaticRoute, StaticRoutes};
use xoff_fabric::run::fast_forward::{FastForwarded, Span};
use xoff_fabric::settings::{Settings, Switch};
use xoff_fabric::topology::{Link, Node, NodeKind, Topology};
use xoff_fabric::{Network, Recording, Simulation, Stop};

/// A simulation of `flows` among hosts at switches of a chain.
fn simulation(hosts: &[u32], flows: Vec<Flow>, recording: Recording) -> Simulation {
    let net = round_packets(star(hosts), flows, Schedule::default()).expect("a network");
    Simulation::new(net, None, recording, None)
}

fn forwarded(sim: &Simulation) -> &FastForwarded {
    sim.forwarded().expect("fast-forwarded")
}

/// Messages from host 2 to host 3, of which no two have one size: one each 40 us.
fn unlike(count: u64) -> impl Iterator<Item = Flow> {
    (0..count).map(|i| Flow { start: Time::from_us(40 * i), ..flow(2, 3, 952 * (10 + i % 40) + 480 + i) })
}

#[test]
fn a_message_is_carried_forward_whatever_begins_in_another_part() {
    // Host 0 needs 8.4 ms for 100 MB. In that time host 2 begins 200 messages, one each 40 us: of the whole network no jump is longer.
    let flows: Vec<Flow> = [flow(0, 1, 100_000_000)].into_iter().chain(unlike(200)).collect();
    for threads in [1, 2] {
        let mut sim = simulation(&[0; 4], flows.clone(), Recording::default());
        sim.fast_forward(0.01, threads);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
        let all = forwarded(&sim);
        assert_eq!((all.parts.len(), all.approximate, all.uncertain_from), (2, 0, None));
        let longest = all.jumps_by_start().iter().map(|span: &Span| span.length).max();
        assert!(longest > Some(Time::from_ms(8)), "{longest:?}");
        for (flow, outcome) in flows.iter().zip(&sim.records().outcomes()) {
            let size = flow.size.bytes().expect("finite");
            assert_eq!((outcome.fct, outcome.start), (Some(alone(size)), flow.start), "{size}");
        }
        // Each port counts the packets of its own part, those that were skipped too: 100 MB are 105,042 full packets and a last one.
        let sent = |port: PortId| sim.port(port).tx_packets;
        let path = |flow: u32| sim.network().data_path(FlowId(flow)).to_vec();
        assert_eq!(path(0).into_iter().map(sent).collect::<Vec<_>>(), [105_043; 2]);
        let packets: u64 =
            flows[1..].iter().map(|flow| flow.size.bytes().expect("finite").div_ceil(952)).sum();
        assert_eq!(path(1).into_iter().map(sent).collect::<Vec<_>>(), [packets; 2]);
        // Both count what arrived: no part has the other's messages too.
        let bytes: u64 = flows.iter().filter_map(|flow| flow.size.bytes()).sum();
        assert_eq!((sim.counters().delivered_bytes, sim.counters().flows_done), (bytes, 201));
        assert_eq!((sim.now(), sim.threads()), (Time::from_us(8_408), threads));
    }
}

#[test]
fn parts_have_the_events_of_the_whole_where_nothing_is_skipped() {
    // Messages of 11 and more packets, each of another size, are too short for a jump and too unlike for recall.
    let flows: Vec<Flow> = (0..60)
        .flat_map(|i: u64| {
            let at = |time| Time::from_us(time) + Time(i * 4_321);
            let pair = [flow(0, 1, 10_000 + 100 * i), flow(3, 2, 11_050 + 100 * i)];
            let [a, b] = pair;
            [Flow { start: at(9 * i), ..a }, Flow { start: at(9 * i + 1), ..b }]
        })
        .collect();
    let mut plain = simulation(&[0; 4], flows.clone(), Recording::default());
    plain.run(&mut |_| true).expect("no loss");
    let mut fast = simulation(&[0; 4], flows, Recording::default());
    fast.fast_forward(0.01, 1);
    fast.run(&mut |_| true).expect("no loss");
    let all = forwarded(&fast);
    assert_eq!((all.parts.len(), all.jumps(), all.recalled), (2, 0, 0));
    assert_eq!((fast.now(), fast.counters()), (plain.now(), plain.counters()));
    assert_eq!(fast.records().outcomes(), plain.records().outcomes());
}

#[test]
fn what_the_run_does_not_wait_for_goes_on_to_its_end() {
    // 10 MB are 10,504 full packets and one of 192 B: 10,505 x 80 ns + 19.2 ns + 2 x 4 ns + 4 us = 844.427 us, so the run ends at 845 us.
    // By then the endless message has begun 10,563 packets, the last at 844.960 us.
    assert_eq!(alone(10_000_000), Time(844_427_200));
    let flows = vec![endless(0, 1, 0), flow(2, 3, 10_000_000)];
    let schedule = Schedule { background: vec![true, false], ..Schedule::default() };
    let net = round_packets(star(&[0; 4]), flows, schedule).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    sim.fast_forward(0.01, 1);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    assert_eq!((forwarded(&sim).parts.len(), sim.now()), (2, Time::from_us(845)));
    assert!(forwarded(&sim).jumps() >= 2, "{:?}", forwarded(&sim));
    assert_eq!(sim.records().outcomes()[0].packets_sent, 10_563);
    // ACKs come 4.168 us after their packets began: those of the 10,511 that began by 840.832 us.
    assert_eq!(sim.records().outcomes()[0].acked_bytes, 10_511 * 952);
}

#[test]
fn messages_of_one_part_are_uncertain_and_those_of_another_are_not() {
    // TIMELY sends in bursts, whose state is its own, so that a jump makes uncertain what comes after it in its part. Host 0 sends for 1.6 ms and longer, and
    // jumps; host 2's messages of up to 50 packets are too short for that, and too unlike to be recalled.
    let flows: Vec<Flow> = [flow(0, 1, 20_000_000)].into_iter().chain(unlike(40)).collect();
    let timely = scheme("timely", serde_json::json!({}), Time::from_us(4));
    let mut sim = simulate(star(&[0; 4]), Settings::default(), timely, flows, Recording::default(), None);
    sim.fast_forward(0.01, 1);
    sim.run(&mut |_| true).expect("no loss");
    let all = forwarded(&sim);
    assert_eq!(
        (all.parts.len(), all.approximate > 0, all.uncertain_from),
        (2, true, all.jumps_by_start().first().map(|s| s.start))
    );
    let is_uncertain = |flow| sim.is_uncertain(FlowId(flow), &sim.records().flows.of(FlowId(flow)));
    assert!(is_uncertain(0));
    let last = &sim.records().outcomes()[40];
    assert!(Some(last.start) > all.uncertain_from, "{last:?}");
    assert!((1..=40).all(|flow| !is_uncertain(flow)));
}

#[test]
fn a_run_in_parts_ends_at_its_duration_in_all_of_them() {
    // After 5 ms host 0 has begun 62,500 packets and is not done; host 2 is done after 0.8 ms.
    let flows = vec![flow(0, 1, 100_000_000), flow(2, 3, 10_000_000)];
    let net = round_packets(star(&[0; 4]), flows, Schedule::default()).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), Some(Time::from_ms(5)));
    sim.fast_forward(0.01, 1);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    assert_eq!((forwarded(&sim).parts.len(), sim.now()), (2, Time::from_ms(5)));
    // One more begins with the end itself.
    let [long, short] = [0, 1].map(|flow| sim.records().outcomes()[flow]);
    assert_eq!((long.fct, long.packets_sent), (None, 62_501));
    assert_eq!((short.fct, short.packets_sent), (Some(alone(10_000_000)), 10_505));
}

#[test]
fn a_run_in_parts_whose_last_message_completes_with_its_duration_ends_with_the_message() {
    // 844.4272 us, see above: the run ends with the microsecond, 845 us, which is its duration too.
    let run = |fast: bool| {
        let flows = vec![flow(0, 1, 10_000_000), flow(2, 3, 5_000_000)];
        let net = round_packets(star(&[0; 4]), flows, Schedule::default()).expect("a network");
        let mut sim = Simulation::new(net, None, Recording::default(), Some(Time::from_us(845)));
        if fast {
            sim.fast_forward(0.01, 1);
        }
        (sim.run(&mut |_| true), sim.now())
    };
    assert_eq!(run(false), (Ok(Stop::FlowsDone), Time::from_us(845)));
    assert_eq!(run(true), run(false));
}

#[test]
fn the_limit_of_events_is_that_of_the_whole_run() {
    let other = |flow: Flow| Flow { src: NodeId(0), dst: NodeId(1), ..flow };
    let mut flows: Vec<Flow> = unlike(40).chain(unlike(40).map(other)).collect();
    flows.sort_by_key(|flow| flow.start);
    let run = |fast: bool| {
        let mut sim = simulation(&[0; 4], flows.clone(), Recording::default());
        sim.limit_events(3_000);
        if fast {
            sim.fast_forward(0.01, 1);
        }
        let stop = sim.run(&mut |_| true);
        (stop, sim.now(), sim.counters().events)
    };
    let plain = run(false);
    // Each part alone has fewer events than that.
    assert_eq!(plain.0, Ok(Stop::Events));
    assert_eq!(run(true), plain);
}

#[test]
fn messages_are_of_one_part_if_they_can_affect_each_other() {
    let parts = |hosts: &[u32], flows: [Flow; 2], switch: Switch, recording: Recording| {
        let net = round_packets_by(switch, star(hosts), flows.to_vec(), Schedule::default());
        let mut sim = Simulation::new(net.expect("a network"), None, recording, None);
        sim.fast_forward(0.01, 1);
        sim.run(&mut |_| true).expect("no loss");
        forwarded(&sim).parts.len()
    };
    let [none, whole] = [Switch::default(), Switch { buffer: Some(Bytes(32_000_000)), ..Switch::default() }];
    let sampled = Recording { interval: Some(Time::from_us(10)), ..Recording::default() };
    let apart = [flow(0, 1, 100_000), flow(2, 3, 100_000)];
    assert_eq!(parts(&[0; 4], apart, none.clone(), Recording::default()), 2, "one switch, but four links");
    assert_eq!(parts(&[0; 4], apart, whole, Recording::default()), 1, "the switch's memory");
    assert_eq!(parts(&[0; 4], apart, none.clone(), sampled), 1, "samples of all ports at a time");
    let [a, _] = apart;
    let at_host = [a, flow(1, 2, 100_000)];
    assert_eq!(parts(&[0; 4], at_host, none.clone(), Recording::default()), 1, "host 1");
    // Two switches with a link between them.
    let across = [flow(0, 2, 100_000), flow(3, 1, 100_000)];
    assert_eq!(parts(&[0, 0, 1, 1], across, none.clone(), Recording::default()), 1, "the link");
    assert_eq!(
        parts(&[0, 0, 1, 1], apart, none.clone(), Recording::default()),
        2,
        "none of them takes the link"
    );
    // A part of its own takes 20 packet-hops for each of the eight ports: 80 packets over two links.
    for (packets, count) in [(79, 1), (80, 2)] {
        let small = [flow(0, 1, 952 * packets), flow(2, 3, 952)];
        assert_eq!(parts(&[0; 4], small, none.clone(), Recording::default()), count, "{packets} packets");
    }
}

/// The parts of a fast run on nodes of which the first are hosts.
fn parts_on(hosts: u32, switches: u32, links: &[(u32, u32)], routes: &[&[u32]], flows: Vec<Flow>) -> usize {
    let name = |node: u32| format!("n{node}");
    let kind = |node| if node < hosts { NodeKind::Host } else { NodeKind::Switch };
    let node = |number| Node { name: name(number), kind: kind(number), tier: u8::from(number >= hosts) };
    let (rate, delay) = (Rate::from_gbps(100), Time::from_us(1));
    let link = |&(a, b): &(u32, u32)| Link {
        a: NodeId(a),
        b: NodeId(b),
        rate_ab: rate,
        rate_ba: rate,
        delay_ab: delay,
        delay_ba: delay,
    };
    let topology = Topology {
        nodes: (0..hosts + switches).map(node).collect(),
        links: links.iter().map(link).collect(),
        ..Topology::default()
    };
    let route = |way: &&[u32]| StaticRoute {
        from: name(way[0]),
        to: name(way[way.len() - 1]),
        via: way[1..way.len() - 1].iter().copied().map(name).collect(),
    };
    let routes = StaticRoutes { routes: routes.iter().map(route).collect(), ..StaticRoutes::default() };
    let none = scheme("none", serde_json::json!({}), Time::ZERO);
    let routing = Routing::StaticRoutes(routes);
    let net = Network::build(topology, &routing, Settings::default(), none, flows, 1).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    sim.fast_forward(0.01, 1);
    sim.run(&mut |_| true).expect("no loss");
    forwarded(&sim).parts.len()
}

#[test]
fn messages_in_both_directions_of_a_link_are_of_one_part() {
    // Switches 4 and 5 with hosts 0 and 1, and 2 and 3, are joined by 6 and by 7. Data go by 6 and ACKs by 7, so that no port has
    // packets of both messages. But a switch that pauses one message's data sends the frame where the other's data go.
    let links = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6), (4, 7), (5, 7)];
    let flows = || vec![flow(0, 2, 200_000), flow(3, 1, 200_000)];
    let [data, acks]: [&[u32]; 2] = [&[0, 4, 6, 5, 2], &[2, 5, 7, 4, 0]];
    assert_eq!(parts_on(4, 4, &links, &[data, acks, &[3, 5, 6, 4, 1], &[1, 4, 7, 5, 3]], flows()), 1);
    // Where the other message's data and ACKs go by a switch of their own, 8, the two share no link.
    let links = [&links[..], &[(4, 8), (5, 8)]].concat();
    assert_eq!(parts_on(4, 5, &links, &[data, acks, &[3, 5, 8, 4, 1], &[1, 4, 8, 5, 3]], flows()), 2);
}

#[test]
fn messages_from_one_host_by_two_ports_are_of_one_part() {
    // Host 0 has a link to switch 3 and one to switch 4, which have hosts 1 and 2, and its messages take its ports in turn. No port has
    // packets of both, but both are that host's.
    let links = [(0, 3), (0, 4), (1, 3), (2, 4), (3, 4)];
    let flows = vec![flow(0, 1, 200_000), flow(0, 2, 200_000)];
    assert_eq!(parts_on(3, 2, &links, &[&[0, 3, 1], &[1, 3, 0], &[0, 4, 2], &[2, 4, 0]], flows), 1);
}
