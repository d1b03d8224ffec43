//! The variant of the ns-3 HPCC simulator.

use super::*;

/// An ACK of packet `packet` while `ahead` more are in flight.
fn round(sender: &mut TimelySender, packet: u64, ahead: u64, rtt_us: f64) {
    let ack = ack_at(packet as f64, packet, rtt_us, Mark::None);
    sender.on_ack(&Ack { snd_nxt: (packet + ahead) * PACKET, next_packet: packet + ahead, ..ack });
}

#[test]
fn in_the_ns3_form_a_round_trip_has_one_update() {
    assert_eq!(another(Timely { initial_rate: None, ..ns3() }).rate(), LINE);
    assert_eq!(another(ns3()).burst(), 0);
    let mut sender = sender(ns3());
    // The first ACK is stored; the next update is due with the ACK of what follows packet 11.
    round(&mut sender, 1, 10, 30.0);
    round(&mut sender, 11, 10, 30.0);
    assert_mbps(&sender, 1_000.0);
    round(&mut sender, 12, 10, 30.0);
    assert_mbps(&sender, 1_010.0);
    round(&mut sender, 22, 10, 600.0);
    assert_mbps(&sender, 1_010.0);
    // 1010 * (1 - 0.8 * (1 - 500/625)) = 848.4.
    round(&mut sender, 23, 10, 625.0);
    assert_mbps(&sender, 848.4);
}

#[test]
fn the_ns3_form_counts_increases_of_any_kind() {
    // The first ACK is stored; then five increases of 10 Mb/s below T_low, and from there on 50 Mb/s each.
    let mut sender = sender(ns3());
    for packet in 1..=7 {
        round(&mut sender, packet, 0, 20.0);
    }
    assert_mbps(&sender, 1_100.0); // 5 x 10 + 50
    // The gradient does not matter below T_low: + 50.
    round(&mut sender, 8, 0, 24.0);
    assert_mbps(&sender, 1_150.0);
    // A cut ends the row: 24 to 64 us, difference 0.125 * 3.5 + 0.875 * 40 = 35.4375 us, g = 1.771875 and the
    // factor 0 leaves the minimum rate.
    round(&mut sender, 9, 0, 64.0);
    assert_mbps(&sender, 100.0);
    // 64 to 30 us: below T_low, a first increase again.
    round(&mut sender, 10, 0, 30.0);
    assert_mbps(&sender, 110.0);
}

#[test]
fn the_ns3_form_cuts_rates_to_whole_bits_and_times_to_nanoseconds() {
    // 100 to 103.3335 us (103,333 ns): difference 0.875 * 3,333 = 2,916.375 ns, g = 0.14581875,
    // 1010e6 * (1 - 0.116655) = 892,178,450; again 103,333: g = 0.01822734375, * 0.985418125 = 879,168,815.15.
    let mut sender = sender(ns3());
    round(&mut sender, 1, 0, 100.0);
    round(&mut sender, 2, 0, 100.0);
    round(&mut sender, 3, 0, 103.3335);
    assert_eq!(sender.rate(), Rate(892_178_450));
    round(&mut sender, 4, 0, 103.3335);
    assert_eq!(sender.rate(), Rate(879_168_815));
    // 103.3335 to 95 us falls: a step.
    round(&mut sender, 5, 0, 95.0);
    assert_eq!(sender.rate(), Rate(889_168_815));
}

#[test]
fn in_the_ns3_form_a_round_trip_of_t_high_is_not_above_it() {
    // 505 to 500 us = T_high falls: a step of 10 Mb/s. 501 us is above T_high: 1010 (1 - 0.8 (1 - 500/501)) = 1010 - 808/501.
    let mut sender = sender(ns3());
    round(&mut sender, 1, 0, 505.0);
    round(&mut sender, 2, 0, 500.0);
    assert_mbps(&sender, 1_010.0);
    round(&mut sender, 3, 0, 501.0);
    assert_mbps(&sender, 1_008.387_225);
}

#[test]
fn the_ns3_form_keeps_its_bounds() {
    let mut top = sender(Timely { initial_rate: None, ..ns3() });
    round(&mut top, 1, 0, 20.0);
    round(&mut top, 2, 0, 20.0);
    assert_eq!(top.rate(), LINE);
    let mut half = sender(Timely { least_factor: Some(0.5), ..ns3() });
    round(&mut half, 1, 0, 100.0);
    round(&mut half, 2, 0, 140.0);
    assert_mbps(&half, 500.0);
}
