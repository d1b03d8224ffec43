//! An update a segment.

use super::*;

/// Gives the sender an ACK for each of `rtts`, in us, 100 us apart, from packet `first` on.
fn feed(sender: &mut TimelySender, first: u64, rtts: &[f64]) {
    for (packet, &rtt) in (first..).zip(rtts) {
        sender.on_ack(&ack_at(packet as f64 * 100.0, packet, rtt, Mark::None));
    }
}

#[test]
fn below_t_low_the_rate_rises_whatever_the_gradient() {
    // From 20 to 45 us the gradient is positive.
    let mut sender = sender(plain());
    feed(&mut sender, 1, &[20.0, 45.0]);
    assert_mbps(&sender, 1_020.0);
}

#[test]
fn above_t_high_the_rate_falls_by_how_far() {
    // 1000 * (1 - 0.8 * (1 - 500/625)) = 1000 * (1 - 0.16) = 840, also with a falling round-trip time:
    // 840 * (1 - 0.8 * (1 - 500/600)) = 840 * 13/15 = 728.
    let mut sender = sender(plain());
    feed(&mut sender, 1, &[625.0]);
    assert_mbps(&sender, 840.0);
    feed(&mut sender, 2, &[600.0]);
    assert_mbps(&sender, 728.0);
}

#[test]
fn in_between_the_gradient_decides() {
    // First sample: no gradient, a step. 100 to 104 us: difference 0.875 * 4 = 3.5 us, g = 0.175;
    // 1010 * (1 - 0.8 * 0.175) = 1010 * 0.86 = 868.6.
    let mut sender = sender(plain());
    feed(&mut sender, 1, &[100.0, 104.0]);
    assert_mbps(&sender, 868.6);
    // 104 again: difference 0.125 * 3.5 = 0.4375 us, g = 0.021875; 868.6 * (1 - 0.0175) = 853.3995.
    feed(&mut sender, 3, &[104.0]);
    assert_mbps(&sender, 853.3995);
    // 103: 0.125 * 0.4375 - 0.875 < 0, a step.
    feed(&mut sender, 4, &[103.0]);
    assert_mbps(&sender, 863.3995);
}

#[test]
fn thresholds_themselves_belong_to_the_middle() {
    // 50 and 500 us exactly: no gradient at first, so a step in both; at 500 us after 496 us a cut by the gradient
    // 0.875 * 4 / 20, where the branch above T_high would cut nothing.
    for rtt in [50.0, 500.0] {
        let mut sender = sender(plain());
        feed(&mut sender, 1, &[rtt]);
        assert_mbps(&sender, 1_010.0);
    }
    let mut sender = sender(plain());
    feed(&mut sender, 1, &[496.0, 500.0]);
    assert_mbps(&sender, 868.6);
}

#[test]
fn five_falls_in_a_row_make_steps_five_times_as_large() {
    // 1,000 + 10 at the first sample, which is no fall; four falls: + 40; the fifth: + 50.
    let mut sender = sender(plain());
    feed(&mut sender, 1, &[110.0, 109.0, 108.0, 107.0, 106.0]);
    assert_mbps(&sender, 1_050.0);
    feed(&mut sender, 6, &[105.0]);
    assert_mbps(&sender, 1_100.0);
    // The same round-trip time again is no fall, though the smoothed gradient still is: a single step.
    feed(&mut sender, 7, &[105.0]);
    assert_mbps(&sender, 1_110.0);
    // Below T_low there is no hyperactive increase, and with a factor of 1 nowhere.
    let mut calm = another(Timely { hai_factor: 1.0, ..plain() });
    feed(&mut calm, 1, &[110.0, 109.0, 108.0, 107.0, 106.0, 105.0]);
    assert_mbps(&calm, 1_060.0);
    let mut low = another(plain());
    feed(&mut low, 1, &[40.0, 39.0, 38.0, 37.0, 36.0, 35.0]);
    assert_mbps(&low, 1_060.0);
}

#[test]
fn a_cut_takes_half_at_most() {
    // From 100 to 140 us: g = 0.875 * 40 / 20 = 1.75, 1 - 0.8 * 1.75 = -0.4: half of 1,010.
    let mut authors = sender(plain());
    feed(&mut authors, 1, &[100.0, 140.0]);
    assert_mbps(&authors, 505.0);
    // Without the bound the factor is 0, and the minimum rate stays.
    let mut bare = sender(Timely { least_factor: Some(0.0), ..plain() });
    feed(&mut bare, 1, &[100.0, 140.0]);
    assert_mbps(&bare, 100.0);
}

#[test]
fn the_rate_stays_between_its_bounds() {
    let mut top = sender(Timely { initial_rate: None, ..plain() });
    feed(&mut top, 1, &[20.0]);
    assert_eq!(top.rate(), LINE);
    // 110 * (1 - 0.8 * (1 - 500/5000)) = 110 * 0.28: half is 55, and the minimum rate is 100.
    let mut bottom = sender(Timely { initial_rate: Some(Rate::from_mbps(110)), ..plain() });
    feed(&mut bottom, 1, &[5_000.0]);
    assert_mbps(&bottom, 100.0);
}

#[test]
fn updates_sooner_than_d_min_rtt_count_in_part() {
    // 5 us after the one before, of 20 us: a quarter of the step, or of the cut above T_high.
    let scaled = Timely { time_scaling: Some(true), ..plain() };
    let mut rising = sender(scaled.clone());
    rising.on_ack(&ack_at(100.0, 1, 30.0, Mark::None)); // + 10: nothing before
    rising.on_ack(&ack_at(105.0, 2, 30.0, Mark::None)); // + 2.5
    rising.on_ack(&ack_at(145.0, 3, 30.0, Mark::None)); // + 10: 40 us count as 20
    assert_mbps(&rising, 1_022.5);
    // In between, on a flat round-trip time: + 10, + 2.5.
    let mut flat = sender(scaled.clone());
    flat.on_ack(&ack_at(100.0, 1, 80.0, Mark::None));
    flat.on_ack(&ack_at(105.0, 2, 80.0, Mark::None));
    assert_mbps(&flat, 1_012.5);
    // 1000 * 0.84 at first, then * (1 - 0.16/4).
    let mut high = sender(scaled.clone());
    high.on_ack(&ack_at(100.0, 1, 625.0, Mark::None));
    high.on_ack(&ack_at(105.0, 2, 625.0, Mark::None));
    assert_mbps(&high, 840.0 * 0.96);
    // A cut by the gradient is whole: 1010 * 0.86.
    let mut gradient = sender(scaled);
    gradient.on_ack(&ack_at(100.0, 1, 100.0, Mark::None));
    gradient.on_ack(&ack_at(105.0, 2, 104.0, Mark::None));
    assert_mbps(&gradient, 868.6);
}

#[test]
fn a_segment_gives_one_sample_that_of_its_last_packet() {
    // 16 KB are 11 packets of 1,456 B, 16,016 B, which go back to back.
    let params = Timely { segment: None, ..plain() };
    let mut sender = sender(params.clone());
    assert_eq!(sender.burst(), 16_016);
    for packet in 1..=10 {
        sender.on_ack(&ack_at(packet as f64, packet, 600.0, Mark::None));
    }
    assert_mbps(&sender, 1_000.0);
    sender.on_ack(&ack_at(11.0, 11, 20.0, Mark::None));
    assert_mbps(&sender, 1_010.0);
    // An ACK for several packets that ends two segments at once is one sample; the next is due at 44 packets.
    sender.on_ack(&ack_at(100.0, 35, 20.0, Mark::None));
    sender.on_ack(&ack_at(101.0, 43, 20.0, Mark::None));
    assert_mbps(&sender, 1_020.0);
    sender.on_ack(&ack_at(102.0, 44, 20.0, Mark::None));
    assert_mbps(&sender, 1_030.0);
    // Packet by packet there is no burst.
    let even: Timely = serde_json::from_value(json!({ "pacing": "packet" })).unwrap();
    assert_eq!(another(even).burst(), 0);
}

#[test]
fn a_samples_own_serialization_is_deducted() {
    // A frame of 1,518 B takes 1.2144 us at 10 Gb/s: 501 us are below T_high, and with no gradient a step.
    let mut sender = sender(Timely { deduct_serialization: Some(true), ..plain() });
    feed(&mut sender, 1, &[501.0]);
    assert_mbps(&sender, 1_010.0);
    let mut whole = another(plain());
    feed(&mut whole, 1, &[501.0]);
    assert_mbps(&whole, 1_000.0 * (1.0 - 0.8 / 501.0));
}

#[test]
fn d_min_rtt_may_be_the_base_rtt() {
    // 10 us in place of 20: g = 3.5 / 10, 1010 * (1 - 0.28) = 727.2.
    let mut sender = sender(Timely { base_min_rtt: true, ..plain() });
    feed(&mut sender, 1, &[100.0, 104.0]);
    assert_mbps(&sender, 727.2);
}

#[test]
fn an_undetermined_mark_holds_the_rate_where_it_would_fall_by_the_gradient() {
    let hold = Timely { undetermined: Some(Undetermined::Hold), ..plain() };
    assert!(resolved(hold.clone()).signals().ecn && !resolved(plain()).signals().ecn);
    assert_eq!(AnyDetector::from(hold.detector()).name(), "tcd");
    // As `in_between_the_gradient_decides`, but the cut is held; its gradient counts on.
    let mut sender = sender(hold.clone());
    sender.on_ack(&ack_at(100.0, 1, 100.0, Mark::Ue)); // no gradient: a step
    sender.on_ack(&ack_at(200.0, 2, 104.0, Mark::Ue));
    assert_mbps(&sender, 1_010.0);
    sender.on_ack(&ack_at(300.0, 3, 104.0, Mark::None)); // 1010 * (1 - 0.0175)
    assert_mbps(&sender, 992.325);
    // Other marks, no mark, and a round-trip time above T_high cut all the same.
    for (mark, params) in [(Mark::Ce, hold.clone()), (Mark::None, hold.clone()), (Mark::Ue, plain())] {
        let mut cut = another(params);
        cut.on_ack(&ack_at(100.0, 1, 100.0, Mark::None));
        cut.on_ack(&ack_at(200.0, 2, 104.0, mark));
        assert_mbps(&cut, 868.6);
    }
    // The thresholds themselves are not between them: 46 to 50 us and 496 to 500 us, g = 0.175 in both.
    for (first, second) in [(46.0, 50.0), (496.0, 500.0)] {
        let mut edge = another(hold.clone());
        edge.on_ack(&ack_at(100.0, 1, first, Mark::None));
        edge.on_ack(&ack_at(200.0, 2, second, Mark::Ue));
        assert_mbps(&edge, 868.6);
    }
    let mut high = another(hold);
    high.on_ack(&ack_at(100.0, 1, 625.0, Mark::Ue));
    assert_mbps(&high, 840.0);
}

proptest! {
    /// Whatever comes, the rate is between the minimum and line rate.
    #[test]
    fn rates_stay_in_bounds(
        rtts in prop::collection::vec((0.0f64..2_000.0, 0.1f64..100.0), 1..200),
        ns3_form in any::<bool>(),
    ) {
        let params = if ns3_form { ns3() } else { Timely { time_scaling: None, ..plain() } };
        let mut sender = sender(params);
        let mut now = 0.0;
        for (packet, (rtt, step)) in (1..).zip(rtts) {
            now += step;
            sender.on_ack(&ack_at(now, packet, rtt, Mark::None));
            prop_assert!(sender.rate() >= Rate::from_mbps(100) && sender.rate() <= LINE);
        }
    }
}
