//! Lanes that share a pool of credits beside their reserved ones, by hand. Frames of 1,000 B take 80 ns at 100 Gbps and four cells of
//! 256 B, ACKs of 50 B take 4 ns, and each link 1 us; the switches store and forward.
//!
//! A frame that begins at h0 at time 0 is in the switch at 1,080 ns and has left it at 1,160 ns, and the message of 8 B that frees its
//! cells is back at 1,160 + 0.64 + 1,000 ns.

use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{NodeId, PortId};
use xoff_fabric::network::{Flow, Network};
use xoff_fabric::routing::{DimensionOrder, Routing};
use xoff_fabric::settings::{
    Cbfc, CounterWidth, CreditGranularity, CreditUnit, FlowControl, Forwarding, LinkCredits, Settings, UeCbfc,
};
use xoff_fabric::topology::AnyTopology;
use xoff_fabric::{Recording, Simulation, Stop};

use crate::common::{chain, flow, scheme, whole};
use crate::faults::{round, run};

const RATE: Rate = Rate::from_gbps(100);
const DELAY: Time = Time::from_us(1);
/// A frame, its cells back and the way back of its ACK.
const ROUND: u64 = 2_160_640;
const THERE_AND_BACK: u64 = 2 * 1_080_000 + 2 * 1_004_000;

fn settings(flow_control: FlowControl) -> Settings {
    let mut settings = Settings { flow_control, ..round() };
    settings.switch.forwarding = Some(Forwarding::StoreAndForward);
    settings.switch.priorities = 2;
    settings
}

/// Cells for so many frames of each lane, and for so many that both share.
fn cells(reserved: u64, shared: u64) -> FlowControl {
    let (buffer, shared_buffer) = (Some(Bytes(reserved * 1_024)), Bytes(shared * 1_024));
    FlowControl::UeCbfc(UeCbfc { buffer, shared_buffer, undersized: true, ..UeCbfc::default() })
}

fn frames(src: u32, dst: u32, priority: u8, frames: u64) -> Flow {
    Flow { priority, ..flow(src, dst, 952 * frames) }
}

/// The completion times of flows from h0 over one switch.
fn fcts(flow_control: FlowControl, flows: Vec<Flow>) -> Vec<u64> {
    let (sim, stop) = run(whole(chain(1, &[0, 0], RATE, DELAY), settings(flow_control), flows), None);
    assert_eq!(stop, Stop::FlowsDone);
    sim.records().outcomes().iter().map(|f| f.fct.expect("complete").0).collect()
}

/// When the last of `frames` frames completes, of which so many go in each round trip of `round`.
fn limited(frames: u64, in_round: u64, round: u64) -> u64 {
    (frames - 1) / in_round * round + (frames - 1) % in_round * 80_000 + THERE_AND_BACK
}

#[test]
fn a_lane_alone_has_its_reserved_credits_and_the_pool() {
    // Four frames of its own: four in each round trip, 14.8 Gbps. Four more of the pool: eight. A round trip holds 2,160.64 / 80 = 27.008
    // frames: with 4 + 24 the link never waits, and with 4 + 23 it does for 0.64 ns in each round.
    for lane in 0..2 {
        let flows = || vec![frames(0, 1, lane, 80)];
        assert_eq!(fcts(cells(4, 0), flows()), [limited(80, 4, ROUND)]);
        assert_eq!(fcts(cells(4, 4), flows()), [limited(80, 8, ROUND)]);
        assert_eq!(fcts(cells(4, 23), flows()), [limited(80, 27, ROUND)]);
        assert_eq!(fcts(cells(4, 24), flows()), [79 * 80_000 + THERE_AND_BACK]);
        assert_eq!(fcts(cells(28, 0), flows()), [79 * 80_000 + THERE_AND_BACK]);
    }
}

#[test]
fn every_kind_of_credits_has_a_pool() {
    // Link credits: a frame takes 63 flits of 16 B, or one credit, and the symbol of 16 B takes 1.28 ns: 8 frames each 2,161.28 ns.
    let credit = |unit, of_frame: u32| {
        let (credits, shared_credits) = (Some(4 * of_frame), 4 * of_frame);
        FlowControl::Credit(LinkCredits {
            unit,
            credits,
            shared_credits,
            undersized: true,
            ..LinkCredits::default()
        })
    };
    let flows = || vec![frames(0, 1, 1, 80)];
    for (unit, of_frame) in [(CreditUnit::Flit, 63), (CreditUnit::Packet, 1)] {
        assert_eq!(fcts(credit(unit, of_frame), flows()), [limited(80, 8, 2_161_280)]);
    }
    // InfiniBand's credits come by updates, so the pool is as good as a buffer that is larger by it for a lane alone.
    let cbfc = |reserved: u64, shared: u64| {
        let (buffer, shared_buffer) = (Some(Bytes(reserved * 1_024)), Bytes(shared * 1_024));
        FlowControl::Cbfc(Cbfc { buffer, shared_buffer, undersized: true, ..Cbfc::default() })
    };
    let whole = fcts(cbfc(8, 0), flows());
    assert_eq!(fcts(cbfc(4, 4), flows()), whole);
    assert!(fcts(cbfc(4, 0), flows()) > whole);
}

#[test]
fn two_lanes_share_the_pool() {
    // Two frames of each lane, and four that both share: eight in each round trip together, and the NIC sends one of each lane in
    // turn. So the lanes' last frames are the 79th and the 80th.
    let flows = vec![frames(0, 1, 0, 40), frames(0, 1, 1, 40)];
    assert_eq!(fcts(cells(2, 4), flows), [limited(79, 8, ROUND), limited(80, 8, ROUND)]);
    // Without a pool each lane has four of its own: the same in this case.
    let flows = vec![frames(0, 1, 0, 40), frames(0, 1, 1, 40)];
    assert_eq!(fcts(cells(4, 0), flows), [limited(79, 8, ROUND), limited(80, 8, ROUND)]);
}

#[test]
fn a_lane_that_stands_still_leaves_the_other_its_reserved_credits() {
    // Lane 0 leads to h2, whose link of 1 Mbps takes a frame in 8 ms: after 100 us its frames fill its two reserved places and
    // the whole pool. Lane 1 has two frames in each round trip, as if there were no pool.
    let mut topology = chain(1, &[0, 0, 0], RATE, DELAY);
    (topology.links[2].rate_ab, topology.links[2].rate_ba) = (Rate(1_000_000), Rate(1_000_000));
    let late = Flow { start: Time::from_us(100), ..frames(0, 1, 1, 20) };
    let net = whole(topology, settings(cells(2, 6)), vec![frames(0, 2, 0, 40), late]);
    let (sim, _) = run(net, Some(Time::from_us(500)));
    let (sender, _) = sim.credits(PortId(0), 0).expect("credits");
    assert_eq!(sender.used(), 4 * (2 + 6), "lane 0 holds all that it can");
    let fct = sim.records().outcomes()[1].fct.expect("complete").0;
    assert_eq!(fct, limited(20, 2, ROUND));
}

#[test]
fn a_place_that_the_other_lane_frees_lets_a_waiting_lane_go_on() {
    // Lane 1 has the whole pool, seven frames and its own one, of 0 to 640 ns. Lane 0 starts at 700 ns with one frame of its own, and
    // its second one waits for the pool, which gets its next place when lane 1's first frame has left, at 2,160.64 ns; lane 1 has
    // no more to send by then. Its third one follows 80 ns later, as the next place becomes free.
    let late = Flow { start: Time::from_ns(700), ..frames(0, 1, 0, 3) };
    let found = fcts(cells(1, 7), vec![frames(0, 1, 1, 8), late]);
    assert_eq!(found, [limited(8, 8, ROUND), ROUND + 80_000 - 700_000 + THERE_AND_BACK]);
}

#[test]
fn reserved_credits_keep_lanes_free_of_deadlock() {
    // In a ring of eight, where each host sends as fast as it can to the one three further on, two lanes break the circle. Each
    // has one frame of its own, and the pool of four is taken all the time: everything is delivered nevertheless.
    let ring = AnyTopology::read("torus", json!({ "dimensions": [8] })).expect("known").expect("valid");
    let ring = ring.build().expect("a ring");
    let order = Routing::DimensionOrder(DimensionOrder {});
    let flows = (0..8).map(|h| Flow { src: NodeId(h), dst: NodeId((h + 3) % 8), ..flow(0, 1, 952 * 500) });
    let none = scheme("none", json!({}), Time::ZERO);
    let net = Network::build(ring, &order, settings(cells(1, 4)), none, flows.collect::<Vec<_>>(), 1)
        .expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::FlowsDone));
    assert_eq!(sim.counters().drops, 0);
}

#[test]
fn a_circle_that_holds_the_pool_is_a_deadlock_with_a_name() {
    // Without the second lane the ring comes to a standstill, also where both priorities of traffic hold a part of the pool.
    let ring = AnyTopology::read("torus", json!({ "dimensions": [8] })).expect("known").expect("valid");
    let ring = ring.build().expect("a ring");
    let far =
        |h: u32, priority| Flow { src: NodeId(h), dst: NodeId((h + 3) % 8), ..frames(0, 1, priority, 500) };
    let flows: Vec<_> = (0..8).flat_map(|h| [far(h, 0), far(h, 1)]).collect();
    let none = scheme("none", json!({}), Time::ZERO);
    let net =
        Network::build(ring, &Routing::default(), settings(cells(1, 4)), none, flows, 1).expect("a network");
    let mut sim = Simulation::new(net, None, Recording::default(), None);
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Deadlock));
    assert!(sim.deadlock().len() >= 8, "{:?}", sim.deadlock());
}

#[test]
fn what_shared_credits_exclude_is_refused() {
    let keys = |flow_control: FlowControl| -> Vec<String> {
        flow_control.validate().into_iter().map(|violation| violation.key.to_string()).collect()
    };
    let (granularity, shared_credits) = (CreditGranularity::Flit, 1);
    let flits = LinkCredits { granularity, shared_credits, ..LinkCredits::default() };
    assert_eq!(keys(FlowControl::Credit(flits)), ["shared_credits"]);
    let (counters, shared_buffer) = (CounterWidth::TwelveBit, Bytes(64));
    let narrow = Cbfc { counters, shared_buffer, ..Cbfc::default() };
    assert_eq!(keys(FlowControl::Cbfc(narrow)), ["shared_buffer"]);
    let too_many = LinkCredits { shared_credits: u32::MAX, ..LinkCredits::default() };
    assert_eq!(keys(FlowControl::Credit(too_many)), ["shared_credits"]);
}
