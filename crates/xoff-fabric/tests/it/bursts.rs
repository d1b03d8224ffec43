//! Bursts between pacing gaps, and what a flow knows of its host's other flows at its start.

use crate::common::{chain, endless, flow, scheme, simulate};
use serde_json::json;
use xoff_engine::{Rate, Time};
use xoff_fabric::Recording;
use xoff_fabric::ids::FlowId;
use xoff_fabric::settings::Settings;

/// 1518 B less 62 B of headers and 8 B of timestamp.
const PAYLOAD: u64 = 1_448;

/// Completion time of 22 packets under TIMELY that starts with 1 Gb/s on links of 10 Gb/s and 1 us, in segments of 11
/// packets, with steps of `delta`.
fn fct(pacing: &str, delta: &str) -> Time {
    let params = json!({ "pacing": pacing, "segment": "15928B", "initial_rate": "1Gbps", "delta": delta });
    let timely = scheme("timely", params, Time::from_us(5));
    let topology = chain(1, &[0, 0], Rate::from_gbps(10), Time::from_us(1));
    let flows = vec![flow(0, 1, 22 * PAYLOAD)];
    let mut sim = simulate(topology, Settings::default(), timely, flows, Recording::default(), None);
    sim.run(&mut |_| true).expect("no loss");
    sim.records().outcomes()[0].fct.expect("completed")
}

#[test]
fn a_burst_goes_back_to_back_and_the_gap_is_that_of_all_of_it() {
    // A frame takes 1,214,400 ps on a link and 12,144,000 ps at 1 Gb/s. The second burst starts 11 of the latter after
    // the first; its 11 frames, the last one again on the second link, two ACKs of 74 B (59,200 ps each) and 4 us:
    // 133,584,000 + 12 x 1,214,400 + 118,400 + 4,000,000.
    assert_eq!(fct("segment", "0bps"), Time(152_275_200));
    // One by one the last packet starts after 21 gaps: 255,024,000 + 2 x 1,214,400 + 118,400 + 4,000,000.
    assert_eq!(fct("packet", "0bps"), Time(261_571_200));
}

#[test]
fn a_change_of_rate_moves_the_gap_of_a_whole_burst() {
    // The ACK that ends the first segment comes 18.7 us after its start and makes 2 Gb/s: the second burst starts after
    // half of the gap, 66,792,000 ps.
    assert_eq!(fct("segment", "1Gbps"), Time(66_792_000 + 12 * 1_214_400 + 118_400 + 4_000_000));
}

#[test]
fn flows_under_way_at_the_same_host_are_counted_at_a_flows_start() {
    // Host 0 sends flow 0, ten packets, which is complete after some 17 us; flow 1 starts beside it at 5 us with C/2,
    // and so does flow 2 at 100 us, when flow 0 is gone. Host 2 has but flow 3.
    let timely = scheme("timely", json!({ "delta": "0bps" }), Time::from_us(5));
    let topology = chain(1, &[0, 0, 0, 0, 0], Rate::from_gbps(10), Time::from_us(1));
    let flows = vec![flow(0, 1, 10 * PAYLOAD), endless(0, 1, 5), endless(0, 4, 100), endless(2, 3, 100)];
    let recording = Recording {
        interval: Some(Time::from_us(1)),
        rates: vec![FlowId(0), FlowId(1), FlowId(2), FlowId(3)],
        ..Recording::default()
    };
    let mut sim = simulate(topology, Settings::default(), timely, flows, recording, Some(Time::from_us(110)));
    sim.run(&mut |_| true).expect("no loss");
    let first =
        |flow| sim.records().samples.rates.iter().find(|r| r.flow == FlowId(flow)).expect("sampled").rate;
    let gbps = [0, 1, 2, 3].map(|flow| first(flow).bps() / 1_000_000_000);
    assert_eq!(gbps, [10, 5, 5, 10]);
}
