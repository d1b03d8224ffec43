//! How soon schemes react to a queue (FNCC, sections 3.1 and 5.1): the paper's reason to be.

use crate::common::{chain, endless, simulate};
use serde_json::json;
use xoff_engine::{Rate, Time};
use xoff_fabric::ids::FlowId;
use xoff_fabric::settings::{Packets, Settings};
use xoff_fabric::{Recording, Simulation, network_env, routing::Router, routing::Routing};
use xoff_schemes::{AnyScheme, IntFormat};

const STEP: Time = Time::from_ns(20);

/// FNCC's dumbbell (Fig. 10): two senders on the first of three switches, one receiver; flow 1 joins at 300 us.
fn dumbbell(name: &str) -> Simulation {
    let topology = chain(3, &[0, 0, 2], Rate::from_gbps(100), Time(1_500_000));
    // Live counters in full precision: the least delay that FNCC's idea allows. The hardware's units alone move the
    // rate by some 0.2 %, and a table costs half its period on average.
    let packets = Packets { int_format: IntFormat::Exact, int_refresh: Time::ZERO, ..Packets::default() };
    let settings = Settings { packets, ..Settings::default() };
    let scheme = AnyScheme::read(name, json!({})).expect("known").expect("valid");
    let router = Router::new(&topology, &Routing::default(), 1).expect("routes");
    let env = network_env(&topology, &router, &settings, &scheme.signals()).expect("connected");
    let recording = Recording { interval: Some(STEP), rates: vec![FlowId(0)], ..Recording::default() };
    let flows = vec![endless(0, 2, 0), endless(1, 2, 300)];
    let mut sim =
        simulate(topology, settings, scheme.resolve(&env), flows, recording, Some(Time::from_us(330)));
    sim.run(&mut |_| true).expect("no loss");
    sim
}

/// When flow 0's rate first falls a thousandth below all it had in the 50 us before flow 1 joined.
fn first_reaction(sim: &Simulation) -> Time {
    let rates = &sim.records().samples.rates;
    let (from, join) = (Time::from_us(250), Time::from_us(300));
    let before = rates
        .iter()
        .filter(|r| r.time > from && r.time <= join)
        .map(|r| r.rate.bps())
        .min()
        .expect("samples");
    rates.iter().find(|r| r.time > join && r.rate.bps() < before / 1000 * 999).expect("it reacts").time
}

/// Flow 1's first frame is in the switch after its serialization and the link's delay.
fn onset(sim: &Simulation) -> Time {
    Time::from_us(300) + Rate::from_gbps(100).serialization(sim.network().wire.frame()) + Time(1_500_000)
}

#[test]
fn fncc_reacts_within_a_link_delay_of_the_onset() {
    // The ACK that passes switch 1 next, one frame time after the onset at the latest, carries the queue; it takes
    // its own serialization and the link's delay to the sender. The first such record is compared with one from
    // before the onset, and min(q, q') is still 0: it takes one more ACK, and the EWMA (tau/T = 1 %) two or three
    // more to pass the threshold.
    let sim = dumbbell("fncc");
    let frame = Rate::from_gbps(100).serialization(1518);
    let reaction = first_reaction(&sim) - onset(&sim);
    assert!(reaction >= Time(1_500_000), "not before the link's delay: {reaction}");
    assert!(reaction <= Time(1_500_000) + frame * 6, "{reaction} after the onset");
}

#[test]
fn hpcc_reacts_a_round_trip_later() {
    // HPCC's stamp goes on to the receiver and back: from switch 1 three links to the receiver and four to the
    // sender, 10.5 us and the frames' times, where FNCC needs one link: 9 us later, of a base RTT of 12.5 us.
    let (fncc, hpcc) = (dumbbell("fncc"), dumbbell("hpcc"));
    let later = first_reaction(&hpcc) - first_reaction(&fncc);
    assert!(later >= Time::from_us(9) && later <= Time::from_us(11), "{later} later");
}
