//! NVIDIA's form at 100 Gb/s.

use super::*;

/// 255/256 to the `n`.
fn kept(n: u32) -> f64 {
    (0..n).fold(1.0, |a, _| a * (255.0 / 256.0))
}

#[track_caller]
fn assert_gbps(rate: Rate, gbps: f64) {
    assert!((rate.0 as f64 - gbps * 1e9).abs() <= 1.0, "{rate} instead of {gbps} Gbps");
}

#[test]
fn mellanox_cuts_at_the_next_decrease_timer_with_alpha_of_that_moment() {
    // First mark at 100 us: alpha is updated at 101, 102, 103 and 104 us, none of them with a mark since; the
    // cut comes at 104 us + 1 ns.
    let mut reaction = mellanox(Dcqcn::default());
    reaction.on_ack(&marked_ack(us(50), Mark::None));
    reaction.on_ack(&marked_ack(us(50), Mark::Ue));
    assert_eq!(reaction.next_timer(), Time::NEVER);
    reaction.on_ack(&marked_ack(us(100), Mark::Ce));
    assert_eq!(reaction.rate(), Rate::from_gbps(100));
    assert_eq!(tick(&mut reaction), Time::from_ns(104_001));
    let first = 100.0 * (1.0 - kept(4) / 2.0);
    assert_gbps(reaction.rate(), first);
    assert_eq!(reaction.next_timer(), Time::from_ns(404_001));
    // A mark at 105.5 us: update at 105 us without, at 106 us with, at 107 and 108 us without. The target stays
    // at line rate, as no increase came in between.
    reaction.on_ack(&marked_ack(Time::from_ns(105_500), Mark::Ce));
    assert_eq!(tick(&mut reaction), Time::from_ns(108_001));
    let alpha = (kept(5) * 255.0 / 256.0 + 1.0 / 256.0) * kept(2);
    assert_gbps(reaction.rate(), first * (1.0 - alpha / 2.0));
    assert_eq!(target(&reaction), Rate::from_gbps(100));
}

#[test]
fn mellanox_raises_before_it_cuts_at_the_same_moment() {
    // First mark at 0: cut at 4.001 us to C1; the increase timer ends 300 us later, at 304.001 us, which is also an end
    // of the decrease timer's periods of 4 us. A mark at 301 us makes a cut pending for it. The increase, whose timer was
    // set 300 us before, comes first: (100 + C1)/2; and since a step lies in between, the cut takes the target along.
    let mut reaction = mellanox(Dcqcn::default());
    reaction.on_ack(&marked_ack(Time::ZERO, Mark::Ce));
    assert_eq!(tick(&mut reaction), Time::from_ns(4_001));
    let first = 100.0 * (1.0 - kept(4) / 2.0);
    reaction.on_ack(&marked_ack(us(301), Mark::Ce));
    assert_eq!(tick(&mut reaction), Time::from_ns(304_001));
    let raised = (100.0 + first) / 2.0;
    assert_gbps(target(&reaction), raised);
    assert!(reaction.rate().0 as f64 / 1e9 < raised * 0.9);
    assert_eq!(reaction.next_timer(), Time::from_ns(604_001));
}

#[test]
fn mellanox_counts_a_mark_at_the_moment_of_an_update_for_that_update() {
    // After the first mark at 0 alpha is updated at each microsecond. A mark at 5 us exactly counts at 5 us: alpha at the
    // cut of 8.001 us is ((k^4) * 255/256 + 1/256) * k^3 with k = 255/256.
    let mut reaction = mellanox(Dcqcn::default());
    reaction.on_ack(&marked_ack(Time::ZERO, Mark::Ce));
    tick(&mut reaction);
    let first = 100.0 * (1.0 - kept(4) / 2.0);
    reaction.on_ack(&marked_ack(us(5), Mark::Ce));
    assert_eq!(tick(&mut reaction), Time::from_ns(8_001));
    let alpha = (kept(5) + 1.0 / 256.0) * kept(3);
    assert_gbps(reaction.rate(), first * (1.0 - alpha / 2.0));
}

#[test]
fn mellanox_in_whole_bits_rounds_halves_down() {
    // After a cut from 100 Gbps by alpha = kept(4): floor(100e9 (1 - kept(4)/2)) bit/s. Fast recovery: floor(100e9/2) +
    // floor(rate/2).
    let mut reaction = mellanox(Dcqcn { whole_bits: true, ..Dcqcn::default() });
    reaction.on_ack(&marked_ack(Time::ZERO, Mark::Ce));
    tick(&mut reaction);
    let cut = (100e9 * (1.0 - kept(4) / 2.0)).floor() as u64;
    assert_eq!(reaction.rate(), Rate(cut));
    tick(&mut reaction);
    assert_eq!(reaction.rate(), Rate(50_000_000_000 + cut / 2));
}

#[test]
fn mellanox_recovers_in_one_fast_one_additive_and_then_hyper_steps() {
    let mut reaction = mellanox(Dcqcn::default());
    reaction.on_ack(&marked_ack(Time::ZERO, Mark::Ce));
    tick(&mut reaction);
    tick(&mut reaction); // one step of increase, so that the next cut takes the target along
    let before = reaction.rate().0 as f64 / 1e9;
    reaction.on_ack(&marked_ack(us(400), Mark::Ce));
    // The decrease timer's periods of 4 us run from 1 ns on: 400.001 us is the next.
    assert_eq!(tick(&mut reaction), Time::from_ns(400_001));
    let cut = reaction.rate().0 as f64 / 1e9;
    assert_gbps(target(&reaction), before);
    // Fast recovery; R_AI = 5 Mb/s * 100/25 = 20 Mb/s; R_HAI = 50 Mb/s * 100/25 = 200 Mb/s.
    let fast = (before + cut) / 2.0;
    let additive = (before + 0.02 + fast) / 2.0;
    let hyper = (before + 0.22 + additive) / 2.0;
    for (i, gbps) in [fast, additive, hyper].into_iter().enumerate() {
        assert_eq!(tick(&mut reaction), Time::from_ns(400_001 + 300_000 * (i as u64 + 1)));
        assert_gbps(reaction.rate(), gbps);
    }
}
