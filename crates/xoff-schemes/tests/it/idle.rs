//! Connections that are idle between two messages, against numbers worked by hand.

use crate::common::flow_env;
use xoff_engine::{Rate, Time};
use xoff_schemes::dcqcn::{Dcqcn, Reaction};
use xoff_schemes::fncc::Fncc;
use xoff_schemes::hpcc::{Form, Hpcc, InFlight};
use xoff_schemes::ib_cc::IbCc;
use xoff_schemes::int::{ExactRecord, IntStack, PackedRecord, PortReading, Records};
use xoff_schemes::rocc::Rocc;
use xoff_schemes::srcc::Srcc;
use xoff_schemes::swift::Swift;
use xoff_schemes::{Ack, Cnm, Cnp, Mark, ReactionPoint, Scheme, Sent};

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn ack(now: Time, packet: u64, mark: Mark) -> Ack<'static> {
    Ack {
        now,
        seq: (packet + 1) * 1_000,
        newly_acked: 1_000,
        snd_nxt: (packet + 1) * 1_000,
        packet,
        next_packet: packet + 1,
        rtt: None,
        mark,
        flow_count: 0,
        label: 0,
        int: IntStack::default(),
    }
}

/// Lets the timers of a connection run up to a moment, as a simulator does.
fn run(sender: &mut impl ReactionPoint, until: Time) {
    while sender.next_timer() <= until {
        let at = sender.next_timer();
        sender.on_timer(at);
    }
}

/// Two CNPs at time zero: 40 -> 20 -> 10 Gb/s with alpha 1, the target at 20 Gb/s; then 9,999 frames of 1,000 B.
fn dcqcn() -> Reaction {
    let mut sender = Dcqcn::default().reaction(&flow_env(Rate::from_gbps(40), us(10)));
    (0..2).for_each(|_| sender.on_cnp(Time::ZERO, &Cnp { mark: Mark::Ce, rate: None }));
    (0..9_999).for_each(|_| send(&mut sender));
    sender
}

fn send(sender: &mut Reaction) {
    sender.on_send(&Sent { now: us(1), payload: 938, frame: 1_000 });
}

#[test]
fn dcqcns_timers_run_on_while_idle_and_its_byte_counter_stands() {
    // Five periods of 55 us halve the gap of 10 Gb/s to 20: 19.6875. Two more raise the target by 40 Mb/s each:
    // (20.04 + 19.6875) / 2 = 19.86375, (20.08 + 19.86375) / 2 = 19.971875. The point may be told of the time by its
    // timer, or by the new message alone.
    for by_timer in [true, false] {
        let mut sender = dcqcn();
        sender.on_idle(us(2));
        if by_timer {
            run(&mut sender, us(7 * 55));
        }
        sender.on_busy(us(7 * 55));
        assert_eq!(sender.rate(), Rate(19_971_875_000));
        assert_eq!(sender.next_timer(), us(8 * 55));
        let Reaction::Paper(paper) = &sender else { panic!("the other form") };
        let kept = (0..7).fold(1.0, |alpha, _| alpha * 255.0 / 256.0);
        assert!((paper.alpha(us(7 * 55)) - kept).abs() < 1e-12);
        // One more frame makes the 10 MB of the byte counter: (20.12 + 19.971875) / 2.
        send(&mut sender);
        assert_eq!(sender.rate(), Rate(20_045_937_500));
    }
}

#[test]
fn dcqcn_is_back_at_line_rate_after_a_long_idleness() {
    // After n periods beyond the fifth the target is 20 + 0.04 n Gb/s, 40 after 505 periods. From there on each period
    // halves the gap to the line rate, which is below 1 bit/s after some 27 more.
    let mut sender = dcqcn();
    sender.on_idle(us(2));
    sender.on_busy(us(500 * 55));
    assert!(sender.rate() > Rate::from_mbps(39_700) && sender.rate() < Rate::from_gbps(40));
    sender.on_busy(us(550 * 55));
    assert_eq!((sender.rate(), sender.next_timer()), (Rate::from_gbps(40), Time::NEVER));
}

#[test]
fn ib_ccs_index_falls_by_the_timers_that_expire_while_idle() {
    // 36 BECNs at 10 us; the timer expires each 153.6 us. Of 5 ms 32 periods have passed (4.9152 ms): 4 are left,
    // which delays by 8 * 7 * 16 / 9,025 = 0.1 eighths of a packet, rounded to none.
    for by_timer in [true, false] {
        let mut sender = IbCc::default().reaction(&flow_env(Rate::from_gbps(40), us(20)));
        (0..36).for_each(|packet| sender.on_ack(&ack(us(10), packet, Mark::Ce)));
        assert_eq!((sender.ccti(), sender.rate()), (36, Rate::from_gbps(20)));
        sender.on_idle(us(10));
        if by_timer {
            run(&mut sender, us(5_010));
        }
        sender.on_busy(us(5_010));
        assert_eq!((sender.ccti(), sender.rate()), (4, Rate::from_gbps(40)));
        // The 33rd expiry: 10 us + 33 * 153.6 us.
        assert_eq!(sender.next_timer(), Time::from_ns(5_078_800));
        // All 36 are gone after 36 * 153.6 us = 5.5296 ms.
        sender.on_busy(Time::from_ns(5_539_600));
        assert_eq!((sender.ccti(), sender.next_timer()), (0, Time::NEVER));
    }
}

#[test]
fn roccs_limiter_rises_while_idle() {
    // Obeyed 15 us after it came; doubled 55 us and 110 us later.
    let mut sender = Rocc::default().reaction(&flow_env(Rate::from_gbps(40), us(20)));
    sender.on_cnm(Time::ZERO, &Cnm { flow: 0, point: 1, rate: Rate::from_gbps(5), queue: None });
    sender.on_idle(us(1));
    sender.on_busy(us(124));
    assert_eq!(sender.rate(), Rate::from_gbps(10));
    sender.on_busy(us(125));
    assert_eq!(sender.rate(), Rate::from_gbps(20));
}

#[test]
fn srccs_targets_end_while_idle() {
    // Three base RTTs after the message the target is gone; DCQCN underneath has made one of its steps of 55 us.
    let mut sender = Srcc::default().reaction(&flow_env(Rate::from_gbps(40), us(20)));
    sender.on_cnm(Time::ZERO, &Cnm { flow: 0, point: 1, rate: Rate::from_gbps(10), queue: None });
    sender.on_idle(us(1));
    sender.on_busy(us(59));
    assert_eq!(sender.rate(), Rate::from_gbps(10));
    sender.on_busy(us(60));
    assert_eq!(sender.rate(), Rate::from_gbps(25));
}

#[test]
fn swifts_window_and_last_cut_stay_while_idle() {
    let mut sender = Swift::default().reaction(&flow_env(Rate::from_gbps(100), us(10)));
    let slow = |now| Ack { rtt: Some(us(1_000)), ..ack(now, 0, Mark::None) };
    sender.on_ack(&slow(us(1_000)));
    let cut = sender.window();
    sender.on_idle(us(1_001));
    sender.on_busy(us(1_500));
    // The last cut is less than a round trip ago.
    sender.on_ack(&slow(us(1_999)));
    assert_eq!(sender.window(), cut);
    sender.on_ack(&slow(us(2_000)));
    assert!(sender.window() < cut);
}

// HPCC: B = 100 Gb/s = 12,500 B/us and T = 10 us, so that B T = 125,000 B.

fn reading(us: u64, tx_bytes: u64) -> PortReading {
    PortReading { at: Time::from_us(us), tx_bytes, queue_bytes: 25_000, rate: Rate::from_gbps(100) }
}

#[test]
fn hpccs_first_ack_after_idleness_tells_of_all_of_it() {
    // In 1000 us others have sent 11,250,000 B, 0.9 of the link, and there are 25,000 B queued: u = 0.2 + 0.9. It counts
    // in full, tau = min(1000 us, T) = T: W = 125,000 * 0.95 / 1.1 + 80 = 108,034.5.
    let mut sender = Hpcc::default().reaction(&flow_env(Rate::from_gbps(100), us(10)));
    for (packet, at, tx_bytes) in [(0, 0, 0), (1, 1_000, 11_250_000)] {
        let records = [ExactRecord::stamp(&reading(at, tx_bytes))];
        let int = IntStack { records: Records::Exact(&records), ..IntStack::default() };
        sender.on_ack(&Ack { int, ..ack(us(at + 5), packet, Mark::None) });
        sender.on_idle(us(at + 5));
        sender.on_busy(us(at + 990));
    }
    assert_eq!(sender.window(), 108_035);
}

#[test]
fn hpcc_forgets_packed_telemetry_that_may_wrap_around() {
    // 20 bits of 128 B are 134,217,728 B, at 12.5 GB/s 10.737 ms: half of that is 5.369 ms. With units four times as large
    // the clock's 16.777 ms are less: 8.389 ms.
    for (shift, kept, forgotten) in [(0, 5_368, 5_369), (2, 8_388, 8_389)] {
        for (idle, compared) in [(kept, true), (forgotten, false)] {
            let mut in_flight = InFlight::new(us(10));
            let measure = |in_flight: &mut InFlight, now: Time| {
                let packed = [PackedRecord::stamp(8, shift, &reading(now.ps() / 1_000_000, 0))];
                let int =
                    IntStack { records: Records::Packed(&packed), unit_shift: shift, ..IntStack::default() };
                in_flight.measure(&Ack { int, ..ack(now, 0, Mark::None) })
            };
            assert!(!measure(&mut in_flight, Time::ZERO));
            in_flight.on_busy(us(idle));
            assert_eq!(measure(&mut in_flight, us(idle + 10)), compared, "{idle} us");
        }
    }
}

/// The window after two ACKs of a link with 250,000 B queued, with this idleness in between: u' = 250,000/125,000 = 2 if the second
/// one is compared with the first, so that W = 125,000 * 0.95 / 2 + 80 = 59,455 B.
fn window_after(mut sender: impl ReactionPoint, idle: Time) -> u64 {
    for (packet, now) in [(0, Time::ZERO), (1, idle)] {
        sender.on_busy(now);
        let port = PortReading { queue_bytes: 250_000, ..reading(now.ps() / 1_000_000, 0) };
        let packed = [PackedRecord::stamp(8, 0, &port)];
        let int = IntStack { records: Records::Packed(&packed), ..IntStack::default() };
        sender.on_ack(&Ack { int, ..ack(now, packet, Mark::None) });
        sender.on_idle(now);
    }
    sender.window()
}

#[test]
fn senders_of_hpcc_and_fncc_forget_with_their_telemetry() {
    // As above: after 5 ms records are compared, after 6 ms the first ACK fills the memory and the window stays.
    let env = flow_env(Rate::from_gbps(100), us(10));
    for (idle, expected) in [(5_000, 59_455), (6_000, 125_000)] {
        assert_eq!(window_after(Hpcc::default().reaction(&env), us(idle)), expected);
        let rate_form = Hpcc { form: Form::Rate, ..Hpcc::default() };
        assert_eq!(window_after(rate_form.reaction(&env), us(idle)), expected);
        let fncc = Fncc { lhcs: false, ..Fncc::default() };
        assert_eq!(window_after(fncc.reaction(&env), us(idle)), expected);
    }
}
