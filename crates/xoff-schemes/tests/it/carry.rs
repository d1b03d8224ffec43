//! Reaction points that are carried forward, against what they do without: moments, offsets and packet numbers grow, and nothing else.

use crate::common::flow_env;
use xoff_engine::{Rate, Time};
use xoff_schemes::dctcp::{self, Dctcp};
use xoff_schemes::hpcc::Hpcc;
use xoff_schemes::ib_cc::IbCc;
use xoff_schemes::int::IntStack;
use xoff_schemes::patched_timely::PatchedTimely;
use xoff_schemes::powertcp::theta::ThetaPowerTcp;
use xoff_schemes::sqcc::Sqcc;
use xoff_schemes::swift::Swift;
use xoff_schemes::timely::{self, Timely};
use xoff_schemes::{Ack, Carry, FlowEnv, Mark, ReactionPoint, Scheme};

fn env() -> FlowEnv {
    FlowEnv { payload: 1_000, frame: 1_062, ..flow_env(Rate::from_gbps(100), Time::from_us(10)) }
}

/// At `now_us`, the ACK that 10 others follow, with an RTT of `rtt_us`.
fn ack(now_us: u64, packet: u64, rtt_us: u64, mark: Mark) -> Ack<'static> {
    Ack {
        now: Time::from_us(now_us),
        seq: (packet + 1) * 1_000,
        newly_acked: 1_000,
        snd_nxt: (packet + 11) * 1_000,
        packet,
        next_packet: packet + 11,
        rtt: Some(Time::from_us(rtt_us)),
        mark,
        flow_count: 1,
        label: 0,
        int: IntStack::default(),
    }
}

/// By 7 ms and 80,000 packets, for a point that hears something next at `next_us`, of round trips of 20 us.
fn carry(next_us: u64) -> Carry {
    Carry {
        time: Time::from_ms(7),
        bytes: 80_000_000,
        packets: 80_000,
        next: Time::from_us(next_us),
        longest_rtt: Time::from_us(20),
    }
}

/// A point that is carried in the midst of what it hears, beside one that is not, and hears the rest as much later: both come out with the same limits
/// at each step.
#[track_caller]
fn assert_goes_on<P: ReactionPoint + Clone + std::fmt::Debug>(mut point: P) {
    let mut straight = point.clone();
    // Round trips of 20 us and of 9 us by turns, and a mark now and then.
    let heard = |number: u64, packet: u64, us: u64| {
        let mark = if number.is_multiple_of(7) { Mark::Ce } else { Mark::None };
        ack(us + number * 3, packet + number, if (number / 10).is_multiple_of(2) { 20 } else { 9 }, mark)
    };
    let mut limits = Vec::new();
    for number in 0..200 {
        if number == 101 {
            assert!(point.carry(&carry(number * 3)));
        }
        let (packet, us) = if number < 101 { (0, 0) } else { (80_000, 7_000) };
        point.on_ack(&heard(number, packet, us));
        straight.on_ack(&heard(number, 0, 0));
        assert_eq!((point.rate(), point.window()), (straight.rate(), straight.window()), "ACK {number}");
        limits.push((straight.rate(), straight.window()));
    }
    limits.drain(..101);
    limits.dedup();
    assert!(limits.len() > 1, "it does something: {straight:?}");
}

#[test]
fn a_point_that_is_carried_goes_on_as_it_would_have_done() {
    assert_goes_on(Dctcp::default().reaction(&env()));
    assert_goes_on(Dctcp { form: dctcp::Form::Rate, ..Dctcp::default() }.reaction(&env()));
    assert_goes_on(Swift::default().reaction(&env()));
    // The receiving host takes 7 us, which are above its target: its window is cut in each round trip.
    let two_windows = Swift { endpoint_target: Some(Time::from_us(5)), ..Swift::default() };
    assert_goes_on(two_windows.reaction(&FlowEnv { ack_delay: Time::from_us(7), ..env() }));
    assert_goes_on(ThetaPowerTcp::default().reaction(&env()));
    // A step of a tenth of the line rate, and thresholds that round trips are below and above.
    let (delta, t_low, t_high) = (Some(Rate::from_gbps(10)), Time::from_us(10), Time::from_us(15));
    let timely = Timely { delta, t_low, t_high, ..Timely::default() };
    assert_goes_on(timely.reaction(&env()));
    assert_goes_on(Timely { form: timely::Form::Ns3Hpcc, ..timely }.reaction(&env()));
    let patched = PatchedTimely { delta, t_low, t_high, beta: 0.5, ..PatchedTimely::default() };
    assert_goes_on(patched.reaction(&env()));
    assert_goes_on(Sqcc { t_low, t_high, beta: 0.5, ..Sqcc::default() }.reaction(&env()));
    assert_goes_on(IbCc::default().reaction(&env()));
}

/// Swift's window after an ACK at `us`, with an RTT of `rtt_us`, of a point that cut at 10 us and was carried before what it heard next at `next_us`.
fn window_of_carried(next_us: u64, us: u64, rtt_us: u64) -> u64 {
    let params = Swift { fs_range: Time::ZERO, initial_cwnd: Some(100.0), ..Swift::default() };
    let mut sender = params.reaction(&env());
    // The target is 18 us: 80 % of 2/20 are cut, and 92 packets are left.
    sender.on_ack(&ack(10, 0, 20, Mark::None));
    assert_eq!(sender.window(), 92_000);
    assert!(sender.carry(&carry(next_us)));
    sender.on_ack(&ack(us, 80_001, rtt_us, Mark::None));
    sender.window()
}

#[test]
fn a_moment_that_makes_no_difference_any_more_stays() {
    // Round trips of 20 us: at 12 us the cut at 10 us keeps the next one off, and so 7 ms later, until 7,030 us.
    assert_eq!([7_029, 7_030].map(|us| window_of_carried(12, us, 20)), [92_000, 84_640]);
    // At 30 us nothing keeps the next one off. A round trip of 100 us, which was not to be heard, finds that the last cut was 7 ms ago, and not 40 us: by
    // more than half (80 % of 82/100) no window is cut.
    assert_eq!(window_of_carried(30, 7_050, 100), 46_000);
    assert_eq!(window_of_carried(12, 7_050, 100), 92_000);
}

#[test]
fn a_moment_matters_as_long_as_the_longest_round_trip_that_is_heard_of() {
    let params = Swift { fs_range: Time::ZERO, initial_cwnd: Some(100.0), ..Swift::default() };
    let mut sender = params.reaction(&env());
    // Cut at 10 us to 92 packets; then a round trip of 9 us, below the target, adds 1/92.
    sender.on_ack(&ack(10, 0, 20, Mark::None));
    sender.on_ack(&ack(12, 1, 9, Mark::None));
    assert_eq!(sender.window(), 92_010);
    // At 22 us the cut is longer ago than the last round trip took, but not than one of 20 us, of which the point hears again: it may cut from
    // 7,030 us on, to (92 + 1/92) * 0.92 = 84.64 + 0.01 packets.
    assert!(sender.carry(&carry(22)));
    sender.on_ack(&ack(7_029, 80_002, 20, Mark::None));
    assert_eq!(sender.window(), 92_010);
    sender.on_ack(&ack(7_030, 80_003, 20, Mark::None));
    assert_eq!(sender.window(), 84_650);
}

#[test]
fn a_point_that_says_nothing_is_not_carried() {
    let (mut sender, other) = (Hpcc::default().reaction(&env()), Hpcc::default().reaction(&env()));
    assert!(!sender.carry(&carry(0)) && !sender.repeats(&other, &carry(0)));
}
