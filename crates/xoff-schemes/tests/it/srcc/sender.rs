//! The sender: targets and the base scheme.

use super::*;

/// A sender at 100 Gb/s with a base RTT of 30 us.
fn sender(value: Value) -> xoff_schemes::srcc::sender::SrccSender {
    params(value).reaction(&flow_env(GBPS_100, us(30)))
}

fn cnm(point: u32, gbps: u64) -> Cnm {
    Cnm { flow: 7, point, rate: Rate::from_gbps(gbps), queue: None }
}

/// Calls the timer at each moment that the sender asks for, up to `until`.
fn run(sender: &mut impl ReactionPoint, until: Time) {
    while sender.next_timer() <= until {
        let next = sender.next_timer();
        sender.on_timer(next);
    }
}

#[test]
fn a_message_sets_the_rate_and_dcqcn_recovers_it() {
    let mut s = sender(json!({}));
    assert_eq!((s.rate(), s.next_timer(), s.window()), (GBPS_100, Time::NEVER, u64::MAX));
    s.on_cnm(us(100), &cnm(1, 10));
    assert_eq!(s.rate(), Rate::from_gbps(10));
    // DCQCN's target rate is still 100: at 155 us the current rate would be (100 + 10)/2 = 55, but the target of the
    // message holds for 3 x 30 us, to 190 us. At 210 us: (100 + 55)/2 = 77.5.
    run(&mut s, us(155));
    assert_eq!(s.rate(), Rate::from_gbps(10));
    assert_eq!(s.next_timer(), us(190));
    run(&mut s, us(190));
    assert_eq!(s.rate(), Rate::from_gbps(55));
    run(&mut s, us(210));
    assert_eq!(s.rate(), Rate::from_mbps(77_500));
}

#[test]
fn the_least_of_several_targets_counts() {
    let mut s = sender(json!({ "target_timeout": "50us" }));
    s.on_cnm(us(0), &cnm(1, 40));
    s.on_cnm(us(10), &cnm(2, 20));
    assert_eq!(s.rate(), Rate::from_gbps(20));
    // Point 1 renews its target, a higher one of point 2 takes the place of its own; DCQCN's rate stays at 20.
    s.on_cnm(us(20), &cnm(1, 50));
    s.on_cnm(us(30), &cnm(2, 30));
    assert_eq!(s.rate(), Rate::from_gbps(20));
    // From 30 us on DCQCN recovers: (100 + 20)/2 = 60 at 85 us. Point 1's target ends at 70 us, point 2's at 80 us.
    run(&mut s, us(79));
    assert_eq!((s.rate(), s.next_timer()), (Rate::from_gbps(20), us(80)));
    run(&mut s, us(80));
    assert_eq!((s.rate(), s.next_timer()), (Rate::from_gbps(20), us(85)));
    run(&mut s, us(85));
    assert_eq!(s.rate(), Rate::from_gbps(60));
}

#[test]
fn a_point_that_grants_more_leaves_the_targets_of_others_in_force() {
    // Messages cap only, so that what is left of 100 Gb/s is the least target: point 1's until 50 us, point 2's until 60 us.
    let mut s = sender(json!({ "composition": "cap", "target_timeout": "50us" }));
    s.on_cnm(us(0), &cnm(1, 20));
    s.on_cnm(us(10), &cnm(2, 40));
    assert_eq!((s.rate(), s.next_timer()), (Rate::from_gbps(20), us(50)));
    run(&mut s, us(50));
    assert_eq!((s.rate(), s.next_timer()), (Rate::from_gbps(40), us(60)));
    run(&mut s, us(60));
    assert_eq!((s.rate(), s.next_timer()), (GBPS_100, Time::NEVER));
    // A message that comes when another target has ended, without a timer in between, drops that one.
    s.on_cnm(us(100), &cnm(1, 20));
    s.on_cnm(us(150), &cnm(2, 40));
    assert_eq!((s.rate(), s.next_timer()), (Rate::from_gbps(40), us(200)));
}

#[test]
fn a_message_leaves_dcqcns_estimate_alone() {
    // The same CNP before and after a message: α is 1 before the first CNP, which halves the rate (1 - 1/2) at 10 Gb/s.
    let mut s = sender(json!({ "target_timeout": "1us" }));
    s.on_cnm(us(0), &cnm(1, 10));
    run(&mut s, us(1));
    s.on_cnp(us(2), &Cnp { mark: Mark::Ce, rate: None });
    assert_eq!(s.rate(), Rate::from_gbps(5));
    // Now the target rate is 10, and recovery goes there: (10 + 5)/2 = 7.5 after 55 us.
    run(&mut s, us(57));
    assert_eq!(s.rate(), Rate::from_mbps(7_500));
}

#[test]
fn a_message_that_caps_leaves_dcqcn_as_it_was() {
    // DCQCN is at line rate, so that when the target of 10 Gb/s ends, at 90 us, the rate is 100 again at once; cut, it would
    // be (100 + 10)/2 = 55 from 55 us on.
    let mut s = sender(json!({ "composition": "cap" }));
    s.on_cnm(us(0), &cnm(1, 10));
    run(&mut s, us(89));
    assert_eq!(s.rate(), Rate::from_gbps(10));
    run(&mut s, us(90));
    assert_eq!((s.rate(), s.next_timer()), (GBPS_100, Time::NEVER));
    // A CNP under the target cuts DCQCN's own rate of 100 to 50 and leaves 100 as its target rate, where a cut message would
    // have left 10: the target of 10 holds to 190 us, then DCQCN's 50 has become 75 at 155 us.
    s.on_cnm(us(100), &cnm(1, 10));
    s.on_cnp(us(100), &Cnp { mark: Mark::Ce, rate: None });
    run(&mut s, us(189));
    assert_eq!(s.rate(), Rate::from_gbps(10));
    run(&mut s, us(190));
    assert_eq!(s.rate(), Rate::from_gbps(75));
}

#[test]
fn a_message_starts_dcqcns_recovery_anew() {
    let mut s = sender(json!({ "target_timeout": "1us" }));
    s.on_cnm(us(0), &cnm(1, 10));
    s.on_cnm(us(50), &cnm(1, 10));
    run(&mut s, us(104));
    assert_eq!(s.rate(), Rate::from_gbps(10)); // not at 55 us, but 55 us after the second
    run(&mut s, us(105));
    assert_eq!(s.rate(), Rate::from_gbps(55));
    // Bytes sent before the message do not count for the byte counter either: 6 MB before and 6 MB after make no step
    // of 10 MB.
    let mut s = sender(json!({ "target_timeout": "1us", "dcqcn": { "increase_timer": "1s" } }));
    let send = |s: &mut xoff_schemes::srcc::sender::SrccSender, at| {
        for _ in 0..6_000 {
            s.on_send(&Sent { now: at, payload: 938, frame: 1_000 });
        }
    };
    s.on_cnm(us(0), &cnm(1, 10));
    send(&mut s, us(1));
    s.on_cnm(us(2), &cnm(1, 10));
    send(&mut s, us(3));
    run(&mut s, us(3));
    assert_eq!(s.rate(), Rate::from_gbps(10));
    send(&mut s, us(4));
    assert_eq!(s.rate(), Rate::from_gbps(55));
}

#[test]
fn a_message_above_the_rate_changes_nothing() {
    let mut s = sender(json!({ "target_timeout": "1us" }));
    s.on_cnm(us(0), &cnm(1, 10));
    run(&mut s, us(1));
    s.on_cnm(us(10), &cnm(1, 50));
    run(&mut s, us(11));
    assert_eq!(s.rate(), Rate::from_gbps(10));
}

#[test]
fn mellanox_firmware_may_be_the_base() {
    let mut s = sender(json!({ "target_timeout": "1us", "dcqcn": { "variant": "mellanox" } }));
    s.on_cnm(us(0), &cnm(1, 10));
    assert_eq!(s.rate(), Rate::from_gbps(10));
    // Its increase timer is 300 us: (100 + 10)/2.
    run(&mut s, us(299));
    assert_eq!(s.rate(), Rate::from_gbps(10));
    run(&mut s, us(300));
    assert_eq!(s.rate(), Rate::from_gbps(55));
    let signals = params(json!({ "dcqcn": { "variant": "mellanox" } })).signals();
    assert!(signals.acks && signals.ecn);
}

#[test]
fn without_a_base_the_rate_doubles() {
    let mut s = sender(json!({ "base": "none", "rise_interval": "10us", "target_timeout": "5us" }));
    assert_eq!((s.rate(), s.next_timer(), s.window()), (GBPS_100, Time::NEVER, u64::MAX));
    s.on_cnm(us(0), &cnm(1, 15));
    s.on_cnm(us(4), &cnm(1, 20)); // not less: 15, and the time restarts
    s.on_cnp(us(5), &Cnp { mark: Mark::Ce, rate: None }); // there are no CNPs without DCQCN
    for (at, mbps) in [(13, 15_000), (14, 30_000), (24, 60_000), (34, 100_000)] {
        run(&mut s, us(at));
        assert_eq!(s.rate(), Rate::from_mbps(mbps), "at {at} us");
    }
    assert_eq!(s.next_timer(), Time::NEVER);
    // The target holds the doubled rate down for as long as it stands.
    let mut s = sender(json!({ "base": "none", "rise_interval": "10us", "target_timeout": "25us" }));
    s.on_cnm(us(0), &cnm(1, 15));
    run(&mut s, us(24));
    assert_eq!(s.rate(), Rate::from_gbps(15));
    run(&mut s, us(25));
    assert_eq!(s.rate(), Rate::from_gbps(60));
    // By default it doubles once a base RTT, 30 us.
    let mut s = sender(json!({ "base": "none", "target_timeout": "1us" }));
    s.on_cnm(us(0), &cnm(1, 10));
    run(&mut s, us(29));
    assert_eq!((s.rate(), s.next_timer()), (Rate::from_gbps(10), us(30)));
}
