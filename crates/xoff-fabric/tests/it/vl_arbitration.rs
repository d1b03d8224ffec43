//! InfiniBand's arbitration among virtual lanes at the ports of switches and hosts.

use crate::common::{chain, endless, scheme, simulate};
use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_fabric::network::Flow;
use xoff_fabric::settings::{FlowControl, LinkCredits, Packets, Scheduling, Settings, Switch, VlWeight};
use xoff_fabric::{Recording, Stop};

/// The share of VL 1 in what two flows in frames of 1024 B send, one on VL 0 and one on VL 1; `ends` has their sources and
/// destinations.
fn share_of_vl_1(switch: Switch, ends: [(u32, u32); 2]) -> f64 {
    let settings = Settings {
        packets: Packets { mtu: Bytes(1024), header: Bytes(24), ..Packets::default() },
        switch: Switch { priorities: 2, scheduling: Scheduling::Weighted, ..switch },
        flow_control: FlowControl::Credit(LinkCredits { credits: Some(4096), ..LinkCredits::default() }),
        ..Settings::default()
    };
    let topology = chain(1, &[0, 0, 0], Rate::from_gbps(100), Time::from_us(1));
    let [zero, one] = ends.map(|(src, dst)| endless(src, dst, 0));
    let flows = vec![zero, Flow { priority: 1, ..one }];
    let none = scheme("none", json!({}), Time::ZERO);
    let mut sim = simulate(topology, settings, none, flows, Recording::default(), Some(Time::from_ms(1)));
    assert_eq!(sim.run(&mut |_| true), Ok(Stop::Duration));
    let acked: Vec<u64> = sim.records().outcomes().iter().map(|f| f.acked_bytes).collect();
    acked[1] as f64 / (acked[0] + acked[1]) as f64
}

#[test]
fn a_lane_in_both_tables_gets_its_part_of_each() {
    let table = |of: &[(u8, u8)]| of.iter().map(|&(vl, weight)| VlWeight { vl, weight }).collect::<Vec<_>>();
    let share = |high: &[(u8, u8)], low: &[(u8, u8)], high_limit| {
        let switch =
            Switch { vlarb_high: table(high), vlarb_low: table(low), high_limit, ..Switch::default() };
        // Two hosts to a third: the switch's port decides. A host to two others: the host's port does.
        let [by_switch, by_host] =
            [[(0, 2), (1, 2)], [(0, 1), (0, 2)]].map(|ends| share_of_vl_1(switch.clone(), ends));
        assert!((by_switch - by_host).abs() < 0.005, "{by_switch} {by_host}");
        by_switch
    };
    let near = |share: f64, expected: f64| assert!((share - expected).abs() < 0.005, "{share} {expected}");
    // A frame is 16 units. Low table alone: 16 of VL 0 to 16 of VL 1, twice for VL 1: two frames of three.
    near(share(&[], &[(1, 16), (0, 16), (1, 16)], 255), 2.0 / 3.0);
    // An entry of weight 0 has no turn: 16 to 16.
    near(share(&[], &[(1, 0), (0, 16), (1, 16)], 255), 1.0 / 2.0);
    // VL 1 in both: after each frame of the high table (limit 0) one of the low table, in turn VL 0 and VL 1: three of four.
    near(share(&[(1, 16)], &[(0, 16), (1, 16)], 0), 3.0 / 4.0);
    // Limit 1: four frames of 1024 B of the high table, and one of VL 0.
    near(share(&[(1, 16)], &[(0, 16)], 1), 4.0 / 5.0);
}
