//! Rows of rates cover each flow's whole life, and a run ends when it has recorded as many rows as it may.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::ids::{FlowId, PortId};
use xoff_fabric::observe::rows::RateSample;
use xoff_fabric::settings::{FlowControl, Pfc, Settings};
use xoff_fabric::{Flow, Recording, Simulation, Stop};

/// Two hosts at 100 Gbps and 1 us a link, both sides of a switch, with the rates of all flows sampled.
fn two_hosts(flows: Vec<Flow>, interval: Time, duration: Option<Time>) -> Simulation {
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    let rates = FlowId::all(flows.len()).collect();
    let recording = Recording { interval: Some(interval), rates, ..Recording::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    simulate(topology, Settings::default(), none, flows, recording, duration)
}

fn rows(sim: &Simulation, flow: FlowId) -> Vec<RateSample> {
    sim.records().samples.rates.iter().filter(|r| r.flow == flow).copied().collect()
}

/// Bytes that the rows' rates make over their intervals: sent, and acknowledged.
fn bytes(rows: &[RateSample]) -> (f64, f64) {
    let sum = |rate: fn(&RateSample) -> f64| rows.iter().map(|r| rate(r) * r.interval.secs() / 8.0).sum();
    (sum(|r| r.sent_bps), sum(|r| r.goodput_bps))
}

fn assert_close(found: f64, expected: u64) {
    assert!((found - expected as f64).abs() <= 1e-9 * expected as f64, "{found} B, not {expected} B");
}

#[test]
fn a_flow_shorter_than_the_interval_has_one_row() {
    // One byte takes 4,020,640 ps to its ACK (see lone_flow.rs): 63 B sent and 1 B acknowledged in that time.
    let mut sim = two_hosts(vec![flow(0, 1, 1)], Time::from_us(10), None);
    sim.run(&mut |_| true).expect("no loss");
    let rows = rows(&sim, FlowId(0));
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].time, rows[0].interval), (Time(4_020_640), Time(4_020_640)));
    assert!((rows[0].sent_bps - 63.0 * 8.0 / 4.020_640e-6).abs() < 1.0, "{rows:?}");
    assert!((rows[0].goodput_bps - 8.0 / 4.020_640e-6).abs() < 1.0, "{rows:?}");
}

#[test]
fn rows_add_up_to_what_each_flow_sent_and_had_acknowledged() {
    // Two flows share the link; the third begins exactly at a sample, and the fourth when all is quiet. Their lives are
    // shorter and longer than the 3 us between samples, and no multiples of it. 300,000 B take at least 24 us.
    let starting = |at: u64, size| Flow { start: Time(at), ..flow(0, 1, size) };
    let flows = vec![
        starting(100_000, 300_000),
        starting(2_950_000, 150_000),
        starting(9_000_000, 20_000),
        starting(300_000_000, 1),
    ];
    let mut sim = two_hosts(flows, Time::from_us(3), None);
    sim.run(&mut |_| true).expect("no loss");
    for (id, f) in sim.network().flows.iter().enumerate() {
        let rows = rows(&sim, FlowId::at(id));
        let outcome = sim.records().outcomes()[id];
        let size = f.size.bytes().expect("finite");
        let (sent, acked) = bytes(&rows);
        assert_close(acked, size);
        assert_close(sent, size + 62 * outcome.packets_sent); // headers of 62 B
        // One row ends where the next begins, from the start to the last ACK.
        let mut end = f.start;
        for row in &rows {
            assert_eq!(row.time - row.interval, end);
            assert!(row.interval > Time::ZERO && row.interval <= Time::from_us(3), "{row:?}");
            end = row.time;
        }
        assert_eq!(end, f.start + outcome.fct.expect("completed"));
    }
}

#[test]
fn the_last_row_of_a_run_that_is_cut_short_ends_with_it() {
    for (duration, last) in [(Time(10_500_000), Time(500_000)), (Time::from_us(10), Time::from_us(1))] {
        let mut sim = two_hosts(vec![endless(0, 1, 0)], Time::from_us(1), Some(duration));
        assert_eq!(sim.run(&mut |_| true).expect("no loss"), Stop::Duration);
        let rows = rows(&sim, FlowId(0));
        let end = rows.last().expect("rows");
        assert_eq!((end.time, end.interval), (duration, last));
        assert_close(bytes(&rows).1, sim.records().outcomes()[0].acked_bytes);
    }
}

#[test]
fn a_run_ends_with_the_sample_that_fills_its_record() {
    // Four ports and a flow: five rows a sample. 1,000 rows are there at the 200th, long before the first look at the
    // progress, and the run's end adds none.
    let topology = chain(1, &[0, 0], Rate::from_gbps(100), Time::from_us(1));
    let recording = Recording {
        interval: Some(Time::from_ns(1)),
        queues: PortId::all(4).collect(),
        rates: vec![FlowId(0)],
        ..Recording::default()
    };
    let none = scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, Settings::default(), none, vec![endless(0, 1, 0)], recording, None);
    sim.limit_rows(1_000);
    assert_eq!(sim.run(&mut |_| true).expect("no loss"), Stop::Rows);
    assert_eq!((sim.records().rows(), sim.now()), (1_000, Time::from_ns(200)));
}

#[test]
fn pauses_and_notifications_fill_the_record_too() {
    // Senders at 100 Gbps through one port of 100 Gbps with Xoff at 20 KB: PAUSE after PAUSE for as long as they send.
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_ns(100));
    let pfc = Pfc { xoff: Some(Bytes(20_000)), ..Pfc::default() };
    let settings = Settings { flow_control: FlowControl::Pfc(pfc), ..Settings::default() };
    let recording = Recording { pauses: true, ..Recording::default() };
    let none = scheme("none", json!({}), Time::ZERO);
    let flows = vec![endless(0, 2, 0), endless(1, 2, 0)];
    let mut sim = simulate(topology, settings, none, flows, recording, None);
    sim.limit_rows(100);
    assert_eq!(sim.run(&mut |_| true).expect("no loss"), Stop::Rows);
    let rows = sim.records().rows();
    // A look comes every 200,000 events, and no event writes two pauses.
    assert!((100..200_100).contains(&rows), "{rows}");
}
