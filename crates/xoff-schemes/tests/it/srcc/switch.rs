//! The switch: thresholds, flows and messages.

use super::*;

/// A switch of four ports with one priority.
fn switch(value: Value) -> Box<dyn SwitchPoint> {
    let env = SwitchEnv { ports: 4, priorities: 1, frame: 1_000, base_rtt: us(30) };
    params(value).switch(&env).expect("a point")
}

/// A packet of flow 1 from port 0 to port 3 over one link of 4 us; `queued` bytes wait at the egress with it, whose
/// ingress is paused above 500,000 B.
fn packet(now: Time, queued: u64) -> Joining {
    Joining {
        now,
        flow: 1,
        bytes: 1_000,
        hops: 1,
        ingress: IngressView { queue: 0, bytes: 0, xoff: Some(500_000), feeds: 1, delay: us(4) },
        egress: EgressView { queue: 3, point: 33, bytes: queued, rate: GBPS_100 },
    }
}

fn from_port(queue: u32, flow: u32, p: Joining) -> Joining {
    Joining { flow, ingress: IngressView { queue, ..p.ingress }, ..p }
}

fn to_port(queue: u32, flow: u32, p: Joining) -> Joining {
    Joining { flow, egress: EgressView { queue, point: 30 + queue, ..p.egress }, ..p }
}

fn see(point: &mut Box<dyn SwitchPoint>, packet: Joining) -> Vec<Cnm> {
    let mut out = vec![];
    point.on_enqueue(&packet, &mut out);
    out
}

/// Whether the packet `p` is congested at `length` and not at a byte less, in a switch that `before` has prepared. An
/// uncongested packet of another flow goes before it, so that a congested one is told.
fn congested_above(value: &Value, before: &[Joining], p: Joining, length: u64) {
    for (bytes, told) in [(length, 0), (length + 1, 1)] {
        let mut point = switch(value.clone());
        for packet in before {
            see(&mut point, *packet);
        }
        let p = Joining { egress: EgressView { bytes, ..p.egress }, ..p };
        assert_eq!(see(&mut point, p).len(), told, "{bytes} B");
    }
}

/// An uncongested packet of another flow from port 0.
fn calm(now: Time) -> Joining {
    to_port(2, 99, packet(now, 1_000))
}

#[test]
fn the_literal_threshold_is_equation_6() {
    // Two ports that feed the egress: 500,000 - 1 x 4 us x 12.5 kB/us x (2 - 1) = 450,000 B.
    let literal = json!({ "threshold": "literal" });
    let two = [calm(us(1)), from_port(1, 2, packet(us(1), 1_000))];
    congested_above(&literal, &two, packet(us(2), 0), 450_000);
    // Alone, m - 1 = 0: Q_PFC. The other port counts for a base RTT, 30 us.
    congested_above(&literal, &[calm(us(1))], packet(us(2), 0), 500_000);
    congested_above(&literal, &two, packet(us(30), 0), 450_000);
    congested_above(&literal, &two, packet(us(31), 0), 500_000);
    // Three hops: 500,000 - 150,000. Factor 2: 500,000 - 300,000.
    let far = Joining { hops: 3, ..packet(us(2), 0) };
    congested_above(&literal, &two, far, 350_000);
    congested_above(&json!({ "threshold": "literal", "rtt_factor": 2.0 }), &two, far, 200_000);
    // An ingress that feeds two egress queues has half of it for each: 250,000 - 50,000.
    let mut halved = packet(us(2), 0);
    halved.ingress.feeds = 2;
    congested_above(&literal, &two, halved, 200_000);
    // Q_PFC given: 300,000 - 50,000.
    congested_above(&json!({ "threshold": "literal", "q_pfc": "300KB" }), &two, packet(us(2), 0), 250_000);
}

#[test]
fn the_literal_threshold_stops_at_the_floor() {
    // Eleven ports: 500,000 - 10 x 50,000 = 0, which the floor of two frames, or the one given, lifts.
    let env = SwitchEnv { ports: 12, priorities: 1, frame: 1_000, base_rtt: us(30) };
    for (floor, least) in [(json!({}), 2_000), (json!({ "floor": "30KB" }), 30_000)] {
        for (bytes, told) in [(least, 0), (least + 1, 1)] {
            let mut value = json!({ "threshold": "literal" });
            value.as_object_mut().expect("a table").extend(floor.as_object().expect("a table").clone());
            let mut point = params(value).switch(&env).expect("a point");
            for port in 0..11 {
                // Uncongested, as the queue is short.
                see(&mut point, from_port(port, 10 + port, packet(us(1), 1_000)));
            }
            assert_eq!(see(&mut point, packet(us(2), bytes)).len(), told, "{bytes} B");
        }
    }
}

#[test]
fn a_switch_of_many_ports_takes_memory_by_its_traffic() {
    // A table of 200,000 x 200,000 ports would take 640 GB.
    let env = SwitchEnv { ports: 200_000, priorities: 1, frame: 1_000, base_rtt: us(30) };
    let mut point = params(json!({ "threshold": "literal" })).switch(&env).expect("a point");
    see(&mut point, calm(us(1)));
    see(&mut point, from_port(199_999, 2, packet(us(1), 1_000)));
    // Ports 0 and 199,999 feed port 3: 450,000 B.
    assert_eq!([450_000, 450_001].map(|bytes| see(&mut point, packet(us(2), bytes)).len()), [0, 1]);
}

#[test]
fn the_dynamic_threshold_follows_the_growth_of_the_queue() {
    let dynamic = json!({});
    // One packet in a long time: with a time constant of 1 us the rate is 1,000 B/us, below the line's 12,500: Q_PFC.
    congested_above(&dynamic, &[calm(us(50))], packet(us(51), 0), 500_000);
    // 25 packets at once on top of nothing: 26 with the last, 26,000 B/us, 13,500 above the line. In the 4 us of the
    // message's way the queue grows by 54,000 B.
    let burst = |n: u32| -> Vec<Joining> {
        let packets = (0..n).map(|i| from_port(1, 10 + i, packet(us(60), 1_000)));
        [calm(us(50))].into_iter().chain(packets).collect()
    };
    congested_above(&dynamic, &burst(25), packet(us(60), 0), 446_000);
    // Over two links 108,000 B, and the same over one with factor 2.
    congested_above(&dynamic, &burst(25), Joining { hops: 2, ..packet(us(60), 0) }, 392_000);
    congested_above(&json!({ "rtt_factor": 2.0 }), &burst(25), packet(us(60), 0), 392_000);
    // Over 2 us they are half the rate: 13,000 B/us, 500 above the line: 2,000 B.
    congested_above(&json!({ "rate_time": "2us" }), &burst(25), packet(us(60), 0), 498_000);
    // 200 packets, 201 with the last: 188,500 above the line make 754,000 B: the floor.
    congested_above(&dynamic, &burst(200), packet(us(60), 0), 2_000);
    // A floor above Q_PFC/M does not lift the threshold beyond it.
    congested_above(&json!({ "floor": "1MB" }), &burst(200), packet(us(60), 0), 500_000);
    // 1 us later e^-1 of the 25 is left: 9,197 + 1,000 B/us are below the line.
    congested_above(&dynamic, &burst(25), packet(us(61), 0), 500_000);
}

#[test]
fn a_fixed_threshold_looks_at_nothing_else() {
    let fixed = json!({ "threshold": "fixed", "fixed_threshold": "200KB" });
    congested_above(&fixed, &[calm(us(1))], packet(us(2), 0), 200_000);
    let mut elsewhere = Joining { hops: 3, ..packet(us(2), 0) };
    (elsewhere.ingress.feeds, elsewhere.ingress.xoff) = (4, None);
    congested_above(&fixed, &[calm(us(1))], elsewhere, 200_000);
}

#[test]
fn without_any_threshold_of_flow_control_nothing_is_congested() {
    let mut point = switch(json!({}));
    see(&mut point, calm(us(1)));
    let mut p = packet(us(2), 1_000_000_000);
    p.ingress.xoff = None;
    assert_eq!(see(&mut point, p), []);
}

#[test]
fn a_congested_flow_is_told_while_its_ingress_has_uncongested_packets() {
    // The window is 3 x 30 us: an uncongested packet at 10 us counts up to 100 us, not at it.
    for (at, told) in [(us(99), 1), (us(100), 0)] {
        let mut point = switch(json!({}));
        see(&mut point, calm(us(10)));
        assert_eq!(see(&mut point, packet(at, 600_000)).len(), told, "{at}");
    }
    // 2 RTT: up to 70 us.
    for (at, told) in [(us(69), 1), (us(70), 0)] {
        let mut point = switch(json!({ "window_rtts": 2.0 }));
        see(&mut point, calm(us(10)));
        assert_eq!(see(&mut point, packet(at, 600_000)).len(), told, "{at}");
    }
    // Fig. 4a: no uncongested packet came in by this port, though one did by another.
    let mut point = switch(json!({}));
    see(&mut point, from_port(1, 99, calm(us(10))));
    assert_eq!(see(&mut point, packet(us(20), 600_000)), []);
    // Fig. 4b: one did.
    see(&mut point, calm(us(21)));
    assert_eq!(see(&mut point, packet(us(22), 600_000)).len(), 1);
}

#[test]
fn packets_of_the_congested_queue_itself_count_unless_told_otherwise() {
    for (sharing, told) in [("any_queue", 1), ("other_queue", 0)] {
        let mut point = switch(json!({ "sharing": sharing }));
        see(&mut point, packet(us(10), 1_000)); // to the same queue, while that was short
        assert_eq!(see(&mut point, packet(us(11), 600_000)).len(), told, "{sharing}");
    }
    // A packet to another queue counts however many to the own one came after it.
    let mut point = switch(json!({ "sharing": "other_queue" }));
    see(&mut point, calm(us(10)));
    for at in [11, 12, 13] {
        see(&mut point, packet(us(at), 1_000));
    }
    assert_eq!(see(&mut point, packet(us(14), 600_000)).len(), 1);
    // For the other queue, the own one's packets are those that count.
    assert_eq!(see(&mut point, to_port(2, 99, packet(us(14), 600_000))).len(), 1);
    // The latest packet was to the congested queue, the one before to another, out of the window.
    let mut point = switch(json!({ "sharing": "other_queue" }));
    see(&mut point, calm(us(10)));
    see(&mut point, packet(us(95), 1_000));
    assert_eq!(see(&mut point, packet(us(101), 600_000)), []);
}

#[test]
fn the_target_is_the_egress_rate_over_its_flows_of_the_window() {
    let mut point = switch(json!({}));
    see(&mut point, calm(us(1)));
    for flow in 2..=5 {
        see(&mut point, from_port(1, flow, packet(us(flow.into()), 1_000)));
    }
    // Flows 1 to 5 go to port 3: 100/5 = 20 Gb/s. Flow 99 goes elsewhere.
    let message = Cnm { flow: 1, point: 33, rate: Rate::from_gbps(20), queue: None };
    assert_eq!(see(&mut point, packet(us(10), 600_000)), [message]);
    // At 92 us flow 2, seen at 2 us, no longer counts: 100/4 = 25 Gb/s. Port 0's uncongested packet must be newer.
    see(&mut point, calm(us(90)));
    let message = Cnm { rate: Rate::from_gbps(25), ..message };
    assert_eq!(see(&mut point, packet(us(92), 600_000)), [message]);
    // At 130 us it is flow 1 alone, which was seen at 92 us; the target is the line rate.
    see(&mut point, calm(us(130)));
    let message = Cnm { rate: GBPS_100, ..message };
    assert_eq!(see(&mut point, packet(us(130), 600_000)), [message]);
}

#[test]
fn the_window_of_shared_ports_and_that_of_the_count_are_apart() {
    // T of 1 RTT = 30 us, and flows count for 3: at 40 us flows 1 to 5, last seen before 10 us, all count, but port 0's
    // uncongested packet of 1 us is too old, and nobody is told; with one of 39 us the target is 100/5 = 20 Gb/s.
    let mut point = switch(json!({ "window_rtts": 1.0 }));
    see(&mut point, calm(us(1)));
    for flow in 2..=5 {
        see(&mut point, from_port(1, flow, packet(us(flow.into()), 1_000)));
    }
    assert_eq!(see(&mut point, packet(us(40), 600_000)), []);
    see(&mut point, calm(us(41)));
    let message = Cnm { flow: 1, point: 33, rate: Rate::from_gbps(20), queue: None };
    assert_eq!(see(&mut point, packet(us(42), 600_000)), [message]);
    // The other way round: T of 3 RTT tells flow 1 at 40 us, when by a count of 1 RTT it is alone.
    let mut point = switch(json!({ "count_rtts": 1.0 }));
    see(&mut point, calm(us(1)));
    for flow in 2..=5 {
        see(&mut point, from_port(1, flow, packet(us(flow.into()), 1_000)));
    }
    assert_eq!(see(&mut point, packet(us(40), 600_000)), [Cnm { rate: GBPS_100, ..message }]);
}

#[test]
fn a_flow_is_told_once_an_interval() {
    let mut point = switch(json!({ "cnm_interval": "20us" }));
    see(&mut point, calm(us(1)));
    let told = |point: &mut Box<dyn SwitchPoint>, at| see(point, packet(at, 600_000)).len();
    assert_eq!(
        [us(2), us(3), us(21), us(22), us(41), us(42)].map(|t| told(&mut point, t)),
        [1, 0, 0, 1, 0, 1]
    );
    // By default once a base RTT; another flow has its own clock.
    let mut point = switch(json!({}));
    see(&mut point, calm(us(1)));
    assert_eq!([us(2), us(31), us(32)].map(|t| told(&mut point, t)), [1, 0, 1]);
    assert_eq!(see(&mut point, Joining { flow: 7, ..packet(us(32), 600_000) }).len(), 1);
}

#[test]
fn the_flow_table_learns_ports_and_forgets() {
    let mut point = switch(json!({ "flow_timeout": "200us" }));
    assert_eq!(point.previous_hop(us(0), 1), None);
    see(&mut point, from_port(2, 1, packet(us(1), 1_000)));
    see(&mut point, from_port(1, 5, packet(us(2), 1_000)));
    see(&mut point, from_port(0, 6, packet(us(3), 1_000)));
    assert_eq!([1, 5, 6, 7].map(|f| point.previous_hop(us(4), f)), [Some(2), Some(1), Some(0), None]);
    assert_eq!(point.max_flows(), 3);
    see(&mut point, from_port(1, 5, packet(us(100), 1_000)));
    // 200 us after its last packet, at 1 us, flow 1 goes; flow 6 at 203 us; flow 5 was seen again.
    assert_eq!(point.previous_hop(us(200), 1), Some(2));
    assert_eq!([1, 5, 6].map(|f| point.previous_hop(us(203), f)), [None, Some(1), None]);
    // Two new flows make three: the table never held more.
    see(&mut point, from_port(2, 8, packet(us(210), 1_000)));
    see(&mut point, from_port(2, 9, packet(us(210), 1_000)));
    assert_eq!(point.max_flows(), 3);
    see(&mut point, from_port(2, 10, packet(us(210), 1_000)));
    assert_eq!(point.max_flows(), 4);
    // A timeout shorter than the window, 90 us, is the window.
    let mut point = switch(json!({ "flow_timeout": "1us" }));
    see(&mut point, packet(us(0), 1_000));
    assert_eq!([us(89), us(90)].map(|t| point.previous_hop(t, 1)), [Some(0), None]);
}

#[test]
fn a_flow_that_moves_to_another_queue_counts_there_alone() {
    let mut point = switch(json!({}));
    see(&mut point, calm(us(1)));
    see(&mut point, Joining { flow: 2, ..packet(us(2), 1_000) });
    see(&mut point, to_port(1, 2, packet(us(3), 1_000)));
    // Flow 1 is alone at port 3, flow 2 at port 1.
    assert_eq!(see(&mut point, packet(us(4), 600_000))[0].rate, GBPS_100);
    assert_eq!(see(&mut point, to_port(1, 2, packet(us(4), 600_000)))[0].rate, GBPS_100);
}

#[test]
fn a_rate_is_never_zero() {
    // 100 bit/s over 200 flows would be half a bit a second.
    let mut point = switch(json!({}));
    see(&mut point, calm(ns(1)));
    let slow = |flow, bytes| {
        let p = Joining { flow, ..packet(ns(2), bytes) };
        Joining { egress: EgressView { rate: Rate(100), ..p.egress }, ..p }
    };
    for flow in 200..400 {
        see(&mut point, slow(flow, 1_000));
    }
    assert_eq!(see(&mut point, slow(1, 600_000))[0].rate, Rate(1));
}
