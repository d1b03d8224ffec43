//! NSCC's window by hand (UE Specification 1.0, section 3.6.13), at 100 Gb/s with a base RTT of 12 us: the reference
//! network, in which all scale factors are 1. Packets of 4,150 B carry 4,086 B; one bandwidth-delay product is 150,000 B and
//! the maximum window 225,000 B. With trimming the target delay is 9 us.

use xoff_engine::{Rate, Time};
use xoff_schemes::nscc::{Nscc, NsccEnv, Sample, Trigger, Window};

const RTT: Time = Time::from_us(12);
const MTU: u64 = 4_150;

fn env() -> NsccEnv {
    NsccEnv {
        now: Time::ZERO,
        line_rate: Rate::from_gbps(100),
        network_rtt: RTT,
        base_rtt: RTT,
        mtu: MTU,
        payload: 4_086,
        trims: true,
    }
}

/// A window that starts with this number of packets.
fn window(packets: u32) -> Window {
    Window::new(&Nscc { initial_window: Some(packets), ..Nscc::default() }, &env())
}

fn sample(now_us: u64, bytes: u64, delay_us: u64, marked: bool) -> Sample {
    let (now, delay) = (Time::from_us(now_us), Time::from_us(delay_us));
    Sample { now, bytes, delay, marked, in_flight: 20_000, base_rtt: RTT }
}

#[test]
fn it_starts_with_one_and_a_half_bandwidth_delay_products() {
    let window = Window::new(&Nscc::default(), &env());
    assert_eq!((window.bytes(), window.target()), (225_000, Time::from_us(9)));
}

#[test]
fn an_unmarked_ack_below_the_target_adds_in_proportion_to_the_distance() {
    // alpha = 4 x 4,086 B / 12 us = 1.362 B/ns. 4,150 B with 5 us of delay, 4 us below the target:
    // 1.362 x 4,150 x 4,000 = 22,609,200 B^2 are pending. The window, 41,500 B, waits for the adjustment, which is due
    // after more than 8 packets: the ninth ACK makes 203,482,800 B^2 / 41,500 B = 4,903.2 B, cut to 4,903.
    let mut window = window(10);
    window.on_ack(&sample(1, MTU, 5, false));
    assert!((window.pending() - 22_609_200.0).abs() < 1.0, "{}", window.pending());
    assert_eq!(window.bytes(), 41_500);
    for now in 2..=9 {
        window.on_ack(&sample(now, MTU, 5, false));
    }
    assert_eq!((window.bytes(), window.pending()), (46_403, 0.0));
}

#[test]
fn an_unmarked_ack_above_the_target_adds_the_fair_increase() {
    // 5 x 4,086 B x 4,150 B = 84,784,500 B^2. An adjustment 13 us after the start is due, and with it the additive
    // increase of 0.15 x 4,086 = 612 B: 41,500 + 2,043 + 612.
    let mut window = window(10);
    window.on_ack(&sample(13, MTU, 10, false));
    assert_eq!(window.bytes(), 41_500 + 2_043 + 612);
}

#[test]
fn a_window_without_delay_is_followed_by_fast_increase() {
    // Ten packets without delay: the count, 41,500 B, is not above the window. The eleventh adds a quarter of its bytes at
    // once, 1,037 B, beside what the ten left: the adjustment at the ninth, 9 packets x 1.362 B/ns x 4,150 B x 9,000 ns =
    // 457,836,300 B^2 / 41,500 B = 11,032 B, moves the gate to 52,532 B. So packets 10 to 12 (49,800 B in all) still wait,
    // and the thirteenth (53,950 B) is the first to be fast.
    let mut window = window(10);
    (0..9).for_each(|_| window.on_ack(&sample(1, MTU, 0, false)));
    assert_eq!(window.bytes(), 52_532);
    (0..3).for_each(|_| window.on_ack(&sample(1, MTU, 0, false)));
    assert_eq!(window.bytes(), 52_532);
    window.on_ack(&sample(1, MTU, 0, false));
    assert_eq!(window.bytes(), 52_532 + 1_037);
}

#[test]
fn a_mark_alone_changes_nothing_and_with_delay_cuts_by_the_mean_once_a_round_trip() {
    // A gain of 1 makes the mean delay the last one, 18 us: the cut is 0.8 x (18 - 9) / 18 = 0.4. The first one waits
    // until more than a base RTT has passed; a second one 1 us later does nothing.
    let params = Nscc { initial_window: Some(10), delay_gain: 1.0, eta: 0.0, ..Nscc::default() };
    let mut window = Window::new(&params, &env());
    window.on_ack(&sample(11, MTU, 8, true));
    assert_eq!(window.bytes(), 41_500);
    window.on_ack(&sample(13, MTU, 18, true));
    assert_eq!(window.bytes(), 24_900);
    window.on_ack(&sample(14, MTU, 18, true));
    assert_eq!(window.bytes(), 24_900);
}

#[test]
fn a_cut_takes_half_at_most() {
    // A mean of 90 us asks for a cut of 0.8 x 81 / 90 = 0.72.
    let params = Nscc { initial_window: Some(10), delay_gain: 1.0, eta: 0.0, ..Nscc::default() };
    let mut window = Window::new(&params, &env());
    // Quick adapt has no period yet, so that the delay alone does not set it off.
    window.on_ack(&sample(13, MTU, 90, true));
    assert_eq!(window.bytes(), 20_750);
}

#[test]
fn a_nack_takes_its_packet_and_a_spared_one_does_not() {
    let mut window = window(10);
    let nack = sample(1, MTU, 0, false);
    window.on_nack(&nack, false);
    assert_eq!(window.bytes(), 37_350);
    window.on_nack(&nack, true);
    assert_eq!(window.bytes(), 37_350);
    window.on_timeout(MTU);
    assert_eq!(window.bytes(), 33_200);
}

#[test]
fn quick_adapt_takes_what_came_back_in_a_round_trip() {
    // The first ACK opens a period of 12 + 9 us, until 22 us. Two packets come back in it, 8,300 B, less than an eighth of
    // 225,000 B; the NACK at 23 us then sets the window to 8,300 B, and NACKs are ignored for 20,000 B: for five packets.
    let mut window = window(20);
    window.on_ack(&sample(1, MTU, 5, false));
    window.on_ack(&sample(5, MTU, 5, false));
    window.on_ack(&sample(6, MTU, 5, false));
    window.on_nack(&sample(23, MTU, 0, false), false);
    assert_eq!(window.bytes(), 8_300);
    (0..4).for_each(|_| window.on_nack(&sample(24, MTU, 0, false), false));
    assert_eq!(window.bytes(), 8_300);
    window.on_nack(&sample(25, MTU, 0, false), false);
    assert_eq!(window.bytes(), 4_150);
}

#[test]
fn a_trigger_ends_with_its_period_unless_it_is_kept() {
    // A NACK at 2 us, in a period until 22 us in which 60 packets come back: 249,000 B, too many for quick adapt. In the next
    // period, until 44 us, one packet comes back, and no NACK: the trigger of the first period acts only if it is kept.
    for (trigger, acts) in [(Trigger::Period, false), (Trigger::Kept, true)] {
        let params = Nscc { qa_trigger: trigger, eta: 0.0, alpha: 0.0, ..Nscc::default() };
        let mut window = Window::new(&params, &env());
        window.on_ack(&sample(1, MTU, 5, false));
        window.on_nack(&sample(2, MTU, 0, false), true);
        (0..60).for_each(|_| window.on_ack(&sample(3, MTU, 5, false)));
        window.on_ack(&sample(23, MTU, 5, false));
        window.on_ack(&sample(45, MTU, 5, false));
        assert_eq!(window.bytes() == MTU, acts, "{trigger:?}: {}", window.bytes());
    }
}

#[test]
fn the_maximum_follows_the_base_rtt() {
    // 100 Gb/s x 6 us = 75,000 B: at most 112,500 B.
    let mut window = Window::new(&Nscc::default(), &env());
    window.on_ack(&Sample { base_rtt: Time::from_us(6), ..sample(1, MTU, 5, false) });
    assert_eq!(window.bytes(), 112_500);
}
