//! DCQCN against numbers worked by hand: the published algorithm (SIGCOMM 2015, section 3.1) at 40 Gb/s, NVIDIA's
//! form at 100 Gb/s.

mod common;

use common::flow_env;
use proptest::prelude::*;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::dcqcn::{Dcqcn, Np, Reaction, Undetermined, Variant};
use xoff_schemes::int::IntStack;
use xoff_schemes::{Ack, Arrival, Cnp, Mark, NetworkEnv, NotificationPoint, ReactionPoint, Scheme, Sent};

const STEP: Time = Time::from_us(55);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn cnp(mark: Mark) -> Cnp {
    Cnp { mark, rate: None }
}

fn paper(params: Dcqcn) -> Reaction {
    params.reaction(&flow_env(Rate::from_gbps(40), us(10)))
}

fn mellanox(params: Dcqcn) -> Reaction {
    Dcqcn { variant: Variant::Mellanox, ..params }.reaction(&flow_env(Rate::from_gbps(100), us(10)))
}

fn target(reaction: &Reaction) -> Rate {
    match reaction {
        Reaction::Paper(sender) => sender.rates().target(),
        Reaction::Mellanox(sender) => sender.rates().target(),
    }
}

fn alpha(reaction: &Reaction, now: Time) -> f64 {
    match reaction {
        Reaction::Paper(sender) => sender.alpha(now),
        Reaction::Mellanox(sender) => sender.alpha(),
    }
}

/// Fires the pending timer at its own moment, which it returns.
fn tick(reaction: &mut Reaction) -> Time {
    let at = reaction.next_timer();
    assert_ne!(at, Time::NEVER);
    reaction.on_timer(at);
    at
}

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
fn a_flow_starts_at_line_rate_without_window_and_without_timer() {
    for reaction in [paper(Dcqcn::default()), mellanox(Dcqcn::default())] {
        assert!(reaction.rate() >= Rate::from_gbps(40));
        assert_eq!(reaction.window(), u64::MAX);
        assert_eq!(reaction.next_timer(), Time::NEVER);
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

fn arrive(np: &mut impl NotificationPoint, at: Time, mark: Mark) -> Option<Cnp> {
    np.on_data(&Arrival { now: at, payload: 938, frame: 1_000, mark })
}

#[test]
fn the_first_mark_is_reported_at_once_and_then_one_an_interval() {
    let mut np = Dcqcn::default().notification(&flow_env(Rate::from_gbps(40), us(10)));
    assert_eq!(arrive(&mut np, us(5), Mark::None), None);
    assert_eq!(arrive(&mut np, us(10), Mark::Ce), Some(cnp(Mark::Ce)));
    assert_eq!(np.next_timer(), Time::NEVER);
    // Marks at 20 and 59 us wait for the end of the interval, at 60 us.
    assert_eq!(arrive(&mut np, us(20), Mark::Ue), None);
    assert_eq!(arrive(&mut np, us(59), Mark::Ce), None);
    assert_eq!(np.next_timer(), us(60));
    assert_eq!(np.on_timer(Time(us(60).0 - 1)), None);
    assert_eq!(np.on_timer(us(60)), Some(cnp(Mark::Ce)));
    assert_eq!(np.next_timer(), Time::NEVER);
    // That CNP opens an interval of its own; after a silent one the next mark goes at once.
    assert_eq!(arrive(&mut np, us(61), Mark::Ue), None);
    assert_eq!(np.on_timer(us(110)), Some(cnp(Mark::Ue)));
    assert_eq!(arrive(&mut np, us(160), Mark::Ce), Some(cnp(Mark::Ce)));
}

#[test]
fn a_periodic_receiver_counts_from_the_flows_first_packet() {
    let params = Dcqcn { np: Some(Np::Periodic), ..Dcqcn::default() };
    let mut np = params.notification(&flow_env(Rate::from_gbps(40), us(10)));
    assert_eq!(arrive(&mut np, us(7), Mark::None), None);
    assert_eq!(np.next_timer(), Time::NEVER);
    // Intervals end at 57, 107, 157 us.
    assert_eq!(arrive(&mut np, us(60), Mark::Ce), None);
    assert_eq!(np.next_timer(), us(107));
    assert_eq!(arrive(&mut np, us(70), Mark::Ce), None);
    assert_eq!(np.on_timer(us(107)), Some(cnp(Mark::Ce)));
    assert_eq!(np.next_timer(), Time::NEVER);
    assert_eq!(arrive(&mut np, us(108), Mark::Ce), None);
    assert_eq!(np.next_timer(), us(157));
}

fn marked_ack(at: Time, mark: Mark) -> Ack<'static> {
    Ack {
        now: at,
        seq: 1_000,
        newly_acked: 1_000,
        snd_nxt: 2_000,
        packet: 0,
        next_packet: 2,
        rtt: None,
        mark,
        flow_count: 0,
        int: IntStack::default(),
    }
}

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

#[test]
fn the_window_follows_the_rate_where_asked_for() {
    // 40 Gb/s * 10 us = 50,000 B; at 20 Gb/s half of it.
    let mut reaction = paper(Dcqcn { window: true, ..Dcqcn::default() });
    assert_eq!(reaction.window(), 50_000);
    reaction.on_cnp(Time::ZERO, &cnp(Mark::Ce));
    assert_eq!(reaction.window(), 25_000);
}

#[test]
fn resolving_shows_what_a_variant_uses_and_nothing_else() {
    let env = NetworkEnv { line_rate: Rate::from_gbps(100), base_rtt: us(10) };
    let paper = Dcqcn::default().resolve(&env);
    assert_eq!(paper.r_ai, Some(Rate::from_mbps(40)));
    assert_eq!(paper.byte_counter, Some(Bytes(10_000_000)));
    assert_eq!((paper.np, paper.cnp_interval), (Some(Np::Immediate), Some(us(50))));
    assert_eq!(paper.decrease_timer, None);
    assert_eq!(paper.validate(), Ok(()));
    assert!(!paper.signals().acks && paper.signals().ecn);

    let mellanox = Dcqcn { variant: Variant::Mellanox, ..Dcqcn::default() }.resolve(&env);
    assert_eq!((mellanox.r_ai, mellanox.r_hai), (Some(Rate::from_mbps(20)), Some(Rate::from_mbps(200))));
    assert_eq!((mellanox.f, mellanox.clamp_target), (Some(1), Some(false)));
    assert_eq!((mellanox.byte_counter, mellanox.np), (None, None));
    assert_eq!(mellanox.validate(), Ok(()));
    assert!(mellanox.signals().acks && mellanox.signals().ecn);
}

#[test]
fn parameters_out_of_range_or_of_the_other_variant_are_refused_by_key() {
    let key = |params: Dcqcn| params.validate().unwrap_err().key;
    assert_eq!(key(Dcqcn { g: 0.0, ..Dcqcn::default() }), "g");
    assert_eq!(key(Dcqcn { g: f64::NAN, ..Dcqcn::default() }), "g");
    assert_eq!(key(Dcqcn { initial_alpha: 2.5, ..Dcqcn::default() }), "initial_alpha");
    assert_eq!(key(Dcqcn { increase_timer: Some(Time::ZERO), ..Dcqcn::default() }), "increase_timer");
    assert_eq!(key(Dcqcn { decrease_timer: Some(us(4)), ..Dcqcn::default() }), "decrease_timer");
    let mellanox = Dcqcn { variant: Variant::Mellanox, ..Dcqcn::default() };
    assert_eq!(key(Dcqcn { np: Some(Np::Immediate), ..mellanox.clone() }), "np");
    assert_eq!(key(Dcqcn { byte_counter: Some(Bytes(1)), ..mellanox }), "byte_counter");
}

proptest! {
    #[test]
    fn no_sequence_of_events_breaks_the_bounds(
        events in prop::collection::vec((0u8..5, 0u64..200_000_000), 1..200),
        mellanox_form: bool,
        window: bool,
        initial_alpha in 0.0..2.0f64,
    ) {
        let variant = if mellanox_form { Variant::Mellanox } else { Variant::Paper };
        let params = Dcqcn { variant, window, initial_alpha, ..Dcqcn::default() };
        let mut reaction = params.reaction(&flow_env(Rate::from_gbps(40), us(10)));
        let mut now = Time::ZERO;
        for (kind, gap) in events {
            now += Time(gap);
            while reaction.next_timer() <= now {
                let at = reaction.next_timer();
                reaction.on_timer(at);
                prop_assert!(reaction.next_timer() > at);
            }
            match kind {
                0 => reaction.on_cnp(now, &cnp(Mark::Ce)),
                1 => reaction.on_cnp(now, &cnp(Mark::Ue)),
                2 => reaction.on_ack(&marked_ack(now, Mark::Ce)),
                3 => reaction.on_ack(&marked_ack(now, Mark::None)),
                _ => reaction.on_send(&Sent { now, payload: 9_000_000, frame: 9_000_000 }),
            }
            prop_assert!(reaction.rate() >= Rate::from_mbps(100) && reaction.rate() <= Rate::from_gbps(40));
            prop_assert!(reaction.window() >= 1);
            prop_assert!(target(&reaction) >= reaction.rate());
        }
    }
}
