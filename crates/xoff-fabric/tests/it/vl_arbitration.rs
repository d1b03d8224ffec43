//! InfiniBand's arbitration among virtual lanes at a switch's port.

use crate::common::{chain, endless, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::network::Flow;
use xoff_fabric::settings::{FlowControl, LinkCredits, Packets, Scheduling, Settings, Switch, VlWeight};
use xoff_fabric::{Recording, Stop};

/// The share of VL 1 in what a host receives from two hosts, one on VL 0 and one on VL 1, in frames of 1024 B.
fn share_of_vl_1(switch: Switch) -> f64 {
    let settings = Settings {
        packets: Packets { mtu: Bytes(1024), header: Bytes(24), ..Packets::default() },
        switch: Switch { priorities: 2, scheduling: Scheduling::Weighted, ..switch },
        flow_control: FlowControl::Credit(LinkCredits { credits: Some(4096), ..LinkCredits::default() }),
        ..Settings::default()
    };
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let flows = vec![endless(0, 2, 0), Flow { priority: 1, ..endless(1, 2, 0) }];
    let none = scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, settings, none, flows, Recording::default(), Some(Time::from_ms(1)));
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    let acked: Vec<u64> = sim.records().flows.iter().map(|f| f.acked_bytes).collect();
    acked[1] as f64 / (acked[0] + acked[1]) as f64
}

#[test]
fn a_lane_in_both_tables_gets_its_part_of_each() {
    let table = |of: &[(u8, u8)]| of.iter().map(|&(vl, weight)| VlWeight { vl, weight }).collect::<Vec<_>>();
    let share = |high: &[(u8, u8)], low: &[(u8, u8)], high_limit| {
        share_of_vl_1(Switch {
            vlarb_high: table(high),
            vlarb_low: table(low),
            high_limit,
            ..Switch::default()
        })
    };
    let near = |share: f64, expected: f64| assert!((share - expected).abs() < 0.005, "{share} {expected}");
    // A frame is 16 units. Low table alone: 16 of VL 0 to 16 of VL 1, twice for VL 1: two frames of three.
    near(share(&[], &[(1, 16), (0, 16), (1, 16)], 255), 2.0 / 3.0);
    // VL 1 in both: after each frame of the high table (limit 0) one of the low table, in turn VL 0 and VL 1: three of four.
    near(share(&[(1, 16)], &[(0, 16), (1, 16)], 0), 3.0 / 4.0);
    // Limit 1: four frames of 1024 B of the high table, and one of VL 0.
    near(share(&[(1, 16)], &[(0, 16)], 1), 4.0 / 5.0);
}
