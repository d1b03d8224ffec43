//! The published algorithm at 40 Gb/s.

use super::*;

/// Two CNPs at time zero: 40 -> 20 -> 10 Gb/s with alpha 1, the target at 20 Gb/s.
fn cut_to_ten(params: Dcqcn) -> Reaction {
    let mut reaction = paper(params);
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    assert_eq!(reaction.rate(), Rate::from_gbps(20));
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    assert_eq!((reaction.rate(), target(&reaction)), (Rate::from_gbps(10), Rate::from_gbps(20)));
    reaction
}

fn send(reaction: &mut Reaction, frames: u64) {
    for _ in 0..frames {
        reaction.on_send(&Sent { now: Time::ZERO, payload: 938, frame: 1_000 });
    }
}

#[test]
fn five_steps_of_fast_recovery_halve_the_gap_then_40_mbps_are_added() {
    // Gap of 10 Gb/s to 20: 15, 17.5, 18.75, 19.375, 19.6875. Then the target is 20.04 and the rate
    // (20.04 + 19.6875) / 2 = 19.86375, then (20.08 + 19.86375) / 2 = 19.971875.
    let mut reaction = cut_to_ten(Dcqcn::default());
    let mbps = [15_000_000, 17_500_000, 18_750_000, 19_375_000, 19_687_500, 19_863_750, 19_971_875];
    for (i, kbps) in mbps.into_iter().enumerate() {
        assert_eq!(tick(&mut reaction), STEP * (i as u64 + 1));
        assert_eq!(reaction.rate(), Rate(kbps * 1_000));
    }
    assert_eq!(target(&reaction), Rate::from_mbps(20_080));
}

#[test]
fn a_cut_uses_alpha_of_before_and_then_raises_it() {
    // alpha 0.5: 40 * (1 - 0.25) = 30 Gb/s, then alpha = 0.5 * 255/256 + 1/256.
    let mut reaction = paper(Dcqcn { initial_alpha: 0.5, ..Dcqcn::default() });
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    assert_eq!(reaction.rate(), Rate::from_gbps(30));
    assert!((alpha(&reaction, Time::ZERO) - (127.5 + 1.0) / 256.0).abs() < 1e-15);
}

#[test]
fn n_cnps_bring_alpha_to_one_minus_a_power_of_255_256() {
    let mut reaction = paper(Dcqcn { initial_alpha: 0.5, ..Dcqcn::default() });
    for _ in 0..10 {
        reaction.on_cnp(us(1), &cnp(Mark::Ce));
    }
    let mut power = 1.0;
    (0..10).for_each(|_| power *= 255.0 / 256.0);
    assert!((alpha(&reaction, us(1)) - (1.0 - 0.5 * power)).abs() < 1e-12);
}

#[test]
fn alpha_decays_once_for_each_55_us_of_silence() {
    // The CNP leaves alpha at 1.
    let mut reaction = paper(Dcqcn::default());
    reaction.on_cnp(us(100), &cnp(Mark::Ce));
    let power = |n| (0..n).fold(1.0, |a: f64, _| a * (255.0 / 256.0));
    assert_eq!(alpha(&reaction, Time(us(100 + 165).0 - 1)), power(2));
    assert_eq!(alpha(&reaction, us(100 + 165)), power(3));
    // The next cut is made with it: after three steps of recovery from 20 to 40 the rate is 37.5 Gb/s.
    reaction.on_cnp(us(100 + 165), &cnp(Mark::Ce));
    let expected = 37.5e9 * (1.0 - power(3) / 2.0);
    assert!((reaction.rate().0 as f64 - expected).abs() <= 1.0);
    assert_eq!(target(&reaction), Rate(37_500_000_000));
}

#[test]
fn the_byte_counter_steps_at_ten_megabytes_and_starts_anew_with_a_cnp() {
    let mut reaction = cut_to_ten(Dcqcn::default());
    send(&mut reaction, 9_999);
    assert_eq!(reaction.rate(), Rate::from_gbps(10));
    send(&mut reaction, 1);
    assert_eq!(reaction.rate(), Rate::from_gbps(15));
    send(&mut reaction, 9_999);
    // alpha is 1 still: 15 -> 7.5 Gb/s; the counter starts from nothing.
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    send(&mut reaction, 9_999);
    assert_eq!(reaction.rate(), Rate::from_mbps(7_500));
    send(&mut reaction, 1);
    assert_eq!(reaction.rate(), Rate::from_mbps(11_250));
}

#[test]
fn bytes_beyond_the_threshold_count_for_the_next_step() {
    // 1,000 B frames against 1,500 B: steps at the second and the third frame (2,000 and 3,000 B sent).
    let mut reaction = cut_to_ten(Dcqcn { byte_counter: Some(Bytes(1_500)), ..Dcqcn::default() });
    send(&mut reaction, 2);
    assert_eq!(reaction.rate(), Rate::from_gbps(15));
    send(&mut reaction, 1);
    assert_eq!(reaction.rate(), Rate::from_mbps(17_500));
}

#[test]
fn hyper_increase_needs_both_counts() {
    // F = 1, from 10 Gb/s with the target at 20. Counts (timer, bytes) before each step:
    // timer (0,0) fast recovery: 15. bytes (1,0) additive: 20.04, 17.52. timer (1,1) hyper i = 1: 20.24, 18.88.
    // bytes (2,1) hyper i = 1: 20.44, 19.66. timer (2,2) hyper i = 2: 20.84, 20.25.
    let params = Dcqcn { f: Some(1), byte_counter: Some(Bytes(1_000)), ..Dcqcn::default() };
    let mut reaction = cut_to_ten(params.clone());
    let mut rates = vec![];
    for step in ["timer", "bytes", "timer", "bytes", "timer"] {
        if step == "timer" {
            tick(&mut reaction);
        } else {
            send(&mut reaction, 1);
        }
        rates.push(reaction.rate().0 / 1_000_000);
    }
    assert_eq!(rates, [15_000, 17_520, 18_880, 19_660, 20_250]);
    // Without hyper increase the third step adds 40 Mb/s as well: 20.08, 18.8.
    let mut reaction = cut_to_ten(Dcqcn { hyper: false, ..params });
    tick(&mut reaction);
    send(&mut reaction, 1);
    tick(&mut reaction);
    assert_eq!(reaction.rate(), Rate::from_mbps(18_800));
}

#[test]
fn the_timer_rests_once_the_line_rate_is_back() {
    // 20 Gb/s below a target at line rate: 20e9 / 2^36 = 0.29 bit/s is less than a rate can show.
    let mut reaction = paper(Dcqcn::default());
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    for _ in 0..36 {
        assert_eq!(tick(&mut reaction).0 % STEP.0, 0);
    }
    assert_eq!(reaction.rate(), Rate::from_gbps(40));
    assert_eq!(reaction.next_timer(), Time::NEVER);
}

#[test]
fn the_byte_counter_ends_recovery_as_the_timer_does() {
    // As above by 36 steps of bytes; the timer, which was due at 55 us, has nothing left to raise.
    let mut reaction = paper(Dcqcn { byte_counter: Some(Bytes(1_000)), ..Dcqcn::default() });
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    assert_eq!(reaction.next_timer(), STEP);
    send(&mut reaction, 36);
    assert_eq!((reaction.rate(), reaction.next_timer()), (Rate::from_gbps(40), Time::NEVER));
}

#[test]
fn alpha_decays_as_far_as_a_double_goes() {
    // (255/256)^189,000 is 5e-322, and 255/256 of so small a double is that double again, so that nothing is left to do.
    let mut reaction = paper(Dcqcn::default());
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    let least = alpha(&reaction, us(55 * 1_000_000));
    assert!(least < 1e-300, "{least}");
    assert_eq!(alpha(&reaction, us(55 * 1_000_000_000)), least);
}

#[test]
fn without_clamp_a_second_cnp_in_a_row_keeps_the_target() {
    let mut reaction = paper(Dcqcn { clamp_target: Some(false), ..Dcqcn::default() });
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    assert_eq!((reaction.rate(), target(&reaction)), (Rate::from_gbps(10), Rate::from_gbps(40)));
    tick(&mut reaction); // 25 Gb/s
    reaction.on_cnp(us(60), &cnp(Mark::Ce));
    assert_eq!(target(&reaction), Rate::from_gbps(25));
}

#[test]
fn the_rate_never_falls_below_its_least() {
    let mut reaction = paper(Dcqcn::default());
    for _ in 0..40 {
        reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    }
    assert_eq!(reaction.rate(), Rate::from_mbps(100));
}

#[test]
fn an_undetermined_cnp_freezes_the_rate_and_restarts_recovery() {
    let mut reaction = cut_to_ten(Dcqcn::default());
    tick(&mut reaction); // 15 Gb/s at 55 us
    reaction.on_cnp(us(70), &cnp(Mark::Ue));
    assert_eq!((reaction.rate(), target(&reaction)), (Rate::from_gbps(15), Rate::from_gbps(15)));
    // One period of silence from 0 to 70 us has decayed alpha; the CNP does not raise it.
    assert_eq!(alpha(&reaction, us(70)), 255.0 / 256.0);
    // Five steps of fast recovery towards 15 Gb/s change nothing, the sixth is additive: 15 + 0.04 / 2.
    for step in 1..=5 {
        assert_eq!(tick(&mut reaction), us(70 + 55 * step));
        assert_eq!(reaction.rate(), Rate::from_gbps(15));
    }
    tick(&mut reaction);
    assert_eq!(reaction.rate(), Rate::from_mbps(15_020));

    let mut reaction = cut_to_ten(Dcqcn { undetermined: Some(Undetermined::Ignore), ..Dcqcn::default() });
    reaction.on_cnp(us(20), &cnp(Mark::Ue));
    assert_eq!((reaction.rate(), target(&reaction)), (Rate::from_gbps(10), Rate::from_gbps(20)));
    assert_eq!(reaction.next_timer(), us(55));
}
