//! RCCC's credit and PULLs by hand (UE Specification 1.0, section 3.6.14): quanta of 256 B, PULLs of at most 64 quanta,
//! 16,384 B, at 0.99 of the link's rate.

use xoff_engine::{Domain, Rate, Time, stream};
use xoff_schemes::rccc::{Credit, Pacer, Pull, RateControl, Rccc};

const MTU: u64 = 4_150;

#[test]
fn speculation_ends_with_the_first_thing_that_comes_back() {
    let mut credit = Credit::new(262_926);
    credit.spend(MTU);
    assert_eq!((credit.bytes(), credit.is_open()), (258_776, true));
    credit.on_feedback();
    assert_eq!((credit.bytes(), credit.is_open()), (0, false));
    // 17 quanta are 4,352 B: a packet goes, and with 202 B left another one, which takes the credit below zero.
    credit.on_pull(17, 262_926);
    credit.spend(MTU);
    assert_eq!((credit.bytes(), credit.is_open()), (202, true));
    credit.spend(MTU);
    assert_eq!((credit.bytes(), credit.is_open()), (-3_948, false));
    // Totals, not amounts: 33 quanta in all are 16 more. An older total brings nothing.
    credit.on_pull(33, 262_926);
    credit.on_pull(20, 262_926);
    assert_eq!(credit.bytes(), 148);
}

#[test]
fn a_sender_asks_for_what_it_has_sent_without_credit() {
    // After the first packet, with 2 MB left, 262,926 - 258,776 = 4,150 B are missing to the maximum: 16.2 quanta, rounded
    // up; after the second one 8,300 B: 32.4 quanta.
    let mut credit = Credit::new(262_926);
    credit.spend(MTU);
    assert_eq!(credit.demand(2_000_000, 262_926, 1, MTU), 17);
    credit.spend(MTU);
    assert_eq!(credit.demand(2_000_000, 262_926, 1, MTU), 33);
    // Two flows at the NIC share. A flow with a little left asks for a packet; one with nothing left for nothing.
    assert_eq!(credit.demand(2_000_000, 262_926, 2, MTU), 17);
    assert_eq!(credit.demand(64, 262_926, 1, MTU), 17);
    assert_eq!(credit.demand(0, 262_926, 1, MTU), 0);
}

fn pacer() -> Pacer {
    Pacer::new(&Rccc::default(), Rate::from_gbps(100))
}

/// The PULLs until none is left, each with its time.
fn all(pacer: &mut Pacer, from: Time) -> Vec<(Time, Pull)> {
    let mut pulls = Vec::new();
    let mut now = from;
    while let Some(at) = pacer.next_at() {
        now = now.max(at);
        pulls.extend(pacer.pull(now, 1.0).map(|pull| (now, pull)));
    }
    pulls
}

#[test]
fn flows_take_turns_at_the_pacers_rate() {
    // 256 B at 99 Gb/s take 20,686 whole ps. Flow 7 wants 17 quanta and flow 9 wants 100: 17, 64, 36.
    let mut pacer = pacer();
    pacer.on_target(7, 17, 0);
    pacer.on_target(9, 100, 0);
    let pulls = all(&mut pacer, Time::ZERO);
    let pull = |quanta: u64, flow, total| (Time(20_686 * quanta), Pull { flow, total, is_slow: false });
    assert_eq!(pulls, [pull(0, 7, 17), pull(17, 9, 64), pull(81, 9, 100)]);
}

#[test]
fn a_satisfied_flow_gets_some_ahead_while_no_other_wants_any() {
    // 128 quanta ahead: two PULLs of 64 beyond the 17 that were wanted. In between, flow 9 goes first.
    let mut pacer = pacer();
    pacer.on_target(7, 17, 128 * 256);
    let mut seen = Vec::new();
    for step in 0..4 {
        if step == 2 {
            pacer.on_target(9, 5, 0);
        }
        seen.extend(pacer.pull(Time::from_us(step), 1.0).map(|pull| (pull.flow, pull.total, pull.is_slow)));
    }
    assert_eq!(seen, [(7, 17, false), (7, 81, true), (9, 5, false), (7, 145, true)]);
    assert_eq!(pacer.next_at(), None);
}

#[test]
fn a_trimmed_packet_is_granted_again_beside_what_was_wanted() {
    // 17 quanta were wanted and granted; the packet came trimmed, so 17 more are.
    let mut pacer = pacer();
    pacer.on_target(7, 17, 0);
    pacer.on_trim(7, MTU);
    let totals: Vec<u64> = all(&mut pacer, Time::ZERO).iter().map(|(_, pull)| pull.total).collect();
    assert_eq!(totals, [17, 34]);
}

#[test]
fn marks_slow_an_oversubscribed_receiver() {
    // Oversubscription 4: the rate stays between 0.225 and 1. A period of all packets marked makes the mean share 0.5:
    // 1 - 0.5 x (0.5 - 0.3) = 0.9 of the rate. Ten more such periods: the minimum is not passed.
    let rtt = Time::from_us(10);
    let mut control = RateControl::new(4.0, rtt, stream(1, Domain::Routing, 1));
    control.on_packet(Time::ZERO, true, false);
    control.on_packet(Time::from_us(20), true, false);
    assert!((control.rate() - 0.9).abs() < 1e-12, "{}", control.rate());
    (2..100).for_each(|period| control.on_packet(Time::from_us(20 * period), true, false));
    assert!((control.rate() - 0.225).abs() < 1e-12, "{}", control.rate());
    // Without marks it rises again to 1.
    (100..200).for_each(|period| control.on_packet(Time::from_us(20 * period), false, false));
    assert!((control.rate() - 1.0).abs() < 1e-12, "{}", control.rate());
}
