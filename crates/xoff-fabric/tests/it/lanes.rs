//! InfiniBand CC with one injection rate delay for all flows of a service level, by hand: 40 Gbps, frames of 1024 B, which
//! take 204.8 ns, and 1000 B of payload.

use crate::common::{chain, endless, flow, scheme};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, PortId};
use xoff_fabric::network::Flow;
use xoff_fabric::routing::Routing;
use xoff_fabric::settings::{Packets, Settings, Switch};
use xoff_fabric::{Cut, Network, Recording, Simulation, Stop};
use xoff_schemes::AnyDetector;

const FRAME: Time = Time(204_800);

/// Hosts on one switch unless `switches` has more, with a table of delays from `multipliers` in eighths of a packet's time.
fn network(scope: &str, multipliers: &[u16], switches: &[u32], flows: Vec<Flow>) -> Network {
    let count = switches.iter().max().map_or(1, |last| last + 1);
    let settings = Settings {
        packets: Packets { mtu: Bytes(1024), header: Bytes(24), ..Packets::default() },
        switch: Switch { priorities: 2, ..Switch::default() },
        ..Settings::default()
    };
    let params = json!({"scope": scope, "cct": "list", "multipliers": multipliers, "ccti_timer": "1s"});
    let topology = chain(count, switches, Rate::from_gbps(40), Time::from_us(1));
    let scheme = scheme("ib_cc", params, Time::ZERO);
    Network::build(topology, &Routing::default(), settings, scheme, flows, 1).expect("a network")
}

fn run(net: Network, duration: Option<Time>) -> Simulation {
    let fecn = AnyDetector::read("fecn", json!({"threshold": "10KB"})).expect("known").expect("valid");
    let recording =
        Recording { interval: Some(Time::from_us(100)), rates: vec![FlowId(0)], ..Recording::default() };
    let mut sim = Simulation::new(net, Some(&fecn), recording, duration);
    sim.run(&mut |_| true).expect("no loss");
    sim
}

#[test]
fn flows_of_one_service_level_share_its_rate_and_others_do_not() {
    // A table of one entry, 8 eighths: half the rate from the beginning. Two flows of one level send a packet each 409.6 ns
    // together, in turn: 2441.4 of them in 1 ms, and one more has begun. By QP each has half the link, and it is full: 4882.8.
    let star = [0, 0, 0, 0];
    let two = || vec![endless(0, 1, 0), endless(0, 2, 0)];
    let sent = |scope, flows| -> Vec<u64> {
        let sim = run(network(scope, &[8], &star, flows), Some(Time::from_ms(1)));
        sim.records().outcomes().iter().map(|f| f.packets_sent).collect()
    };
    assert_eq!(sent("sl", two()), [1_221, 1_221]);
    assert_eq!(sent("qp", two()).iter().sum::<u64>(), 4_883);
    // A flow of another level has its own half: the packets of the two levels take turns, and the link is full.
    let mut three = two();
    three.push(Flow { priority: 1, ..endless(0, 3, 0) });
    let sent = sent("sl", three);
    assert_eq!((sent[0] + sent[1], sent[0].abs_diff(sent[1]) <= 1, sent[2]), (2_442, true, 2_441));
}

#[test]
fn a_becn_for_one_flow_slows_all_of_its_level() {
    // h0 and h1 send to h2, whose queue is soon above 10 KB, and h0 to h3 as well. A BECN takes the index from 0 to 1, a delay
    // of one packet's time, for a second. By QP h0's flow to h3 takes what the other one leaves; by SL both together have half.
    let flows = || vec![endless(0, 2, 0), endless(0, 3, 0), endless(1, 2, 0)];
    let share = |scope| {
        let sim = run(network(scope, &[0, 8], &[0; 4], flows()), Some(Time::from_ms(10)));
        assert!(sim.records().outcomes()[0].marks.ce > 0 && sim.records().outcomes()[1].marks.ce == 0);
        let last = *sim.records().samples.rates.last().expect("samples");
        (sim.port(PortId(0)).tx_packets as f64 * FRAME.0 as f64 / Time::from_ms(10).0 as f64, last.rate)
    };
    let (by_qp, by_sl) = (share("qp"), share("sl"));
    assert!((by_qp.0 - 1.0).abs() < 0.01, "{by_qp:?}");
    assert!((by_sl.0 - 0.5).abs() < 0.01, "{by_sl:?}");
    assert_eq!((by_qp.1, by_sl.1), (Rate::from_gbps(20), Rate::from_gbps(20)));
}

#[test]
fn a_level_remembers_what_its_flows_have_met() {
    // The two flows to h2 end after 400 packets each. At 2 ms h0 sends 100 packets to h3, alone: by QP in its ideal time, by SL
    // with a packet's time between two of them, 99 x 204.8 ns more.
    let late = |scope| {
        let third = Flow { start: Time::from_ms(2), ..flow(0, 3, 100_000) };
        let flows = vec![flow(0, 2, 400_000), flow(1, 2, 400_000), third];
        let sim = run(network(scope, &[0, 8], &[0; 4], flows), None);
        let (fct, ideal) =
            (sim.records().outcomes()[2].fct.expect("done"), sim.network().ideal_fct(FlowId(2)));
        fct - ideal.expect("a size")
    };
    assert_eq!(late("qp"), Time::ZERO);
    assert_eq!(late("sl"), Time(99 * FRAME.0));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let flows = || vec![endless(0, 2, 0), endless(0, 3, 0), endless(1, 2, 0), endless(3, 0, 5)];
    let on = |threads| {
        let net = network("sl", &[0, 2, 4, 8], &[0, 0, 1, 1], flows());
        let fecn = AnyDetector::read("fecn", json!({"threshold": "10KB"})).expect("known").expect("valid");
        let cut = Cut::into(&net, threads, None);
        assert_eq!(cut.partitions(), threads);
        let end = Some(Time::from_ms(1));
        let mut sim = Simulation::cut(net, cut, Some(&fecn), Recording::default(), end);
        assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
        (*sim.counters(), sim.records().outcomes().clone())
    };
    assert_eq!(on(1), on(2));
}
