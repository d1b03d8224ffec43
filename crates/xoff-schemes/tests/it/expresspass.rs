//! ExpressPass by hand (Cho, Jang, Han, SIGCOMM 2017, Algorithm 1): credits of 84 B for frames of 1,538 B. At 10 Gb/s both take
//! 1,622 B x 0.8 ns = 1,297.6 ns, so that the link lets 770,653 credits a second through, the maximum rate.

use crate::common::flow_env;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::expresspass::{CreditPacer, CreditedSender, ExpressPass};
use xoff_schemes::int::IntStack;
use xoff_schemes::{Ack, Arrival, Credit, FlowEnv, Mark, NotificationPoint, ReactionPoint, Scheme, Sent};

const RTT: Time = Time::from_us(100);

fn env() -> FlowEnv {
    FlowEnv { frame: 1_538, payload: 1_474, ..flow_env(Rate::from_gbps(10), RTT) }
}

fn pacer(params: ExpressPass) -> CreditPacer {
    *params.notification(&env())
}

/// A receiver without jitter that was asked at time zero.
fn asked() -> CreditPacer {
    let mut pacer = pacer(ExpressPass { jitter: 0.0, ..ExpressPass::default() });
    pacer.on_request(Time::ZERO, true);
    pacer
}

fn data(now: Time, credit: u16) -> Arrival {
    Arrival { now, payload: 1_474, frame: 1_538, mark: Mark::None, credit }
}

/// From the end of the last period on the receiver sends one credit more than are `lost`; data of the last comes back
/// after 100 us, which ends the period.
fn period(pacer: &mut CreditPacer, now: &mut Time, lost: u16) {
    for _ in 0..lost {
        *now = pacer.next_timer().max(*now);
        pacer.credit(*now).expect("its time has come");
    }
    *now = pacer.next_timer().max(*now);
    let sent = number(pacer.credit(*now)).expect("its time has come");
    *now += RTT;
    pacer.on_data(&data(*now, sent));
}

fn number(credit: Option<Credit>) -> Option<u16> {
    credit.map(|credit| credit.number)
}

/// The rate as a share of the maximum.
fn share(pacer: &CreditPacer) -> f64 {
    pacer.rate() / pacer.max_rate()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs(), "{found} instead of {expected}");
}

#[test]
fn the_first_credit_goes_at_once_and_the_next_after_sixteen_times() {
    let mut pacer = asked();
    close(pacer.max_rate(), 1e10 / 12_976.0);
    assert_eq!(pacer.next_timer(), Time::ZERO);
    assert_eq!(number(pacer.credit(Time::ZERO)), Some(0));
    // 16 x 1,297.6 ns, up to a picosecond.
    let next = pacer.next_timer();
    assert!(next.0.abs_diff(20_761_600) <= 1, "{next}");
    assert_eq!(pacer.credit(Time(next.0 - 1)), None);
    assert_eq!(number(pacer.credit(next)), Some(1));
    // Asked again, it goes on as before.
    pacer.on_request(next, true);
    assert!(pacer.next_timer().0.abs_diff(41_523_200) <= 2);
}

#[test]
fn without_loss_the_rate_rises_by_a_weight_that_grows_from_the_second_rise_on() {
    // w = 1/16: 15/16 x 1/16 + 1/16 x 1.1 = 0.05859375 + 0.06875 = 0.12734375.
    let (mut pacer, mut now) = (asked(), Time::ZERO);
    period(&mut pacer, &mut now, 0);
    close(share(&pacer), 0.12734375);
    close(pacer.w(), 0.0625);
    // w = (1/16 + 1/2) / 2 = 0.28125: 0.71875 x 0.12734375 + 0.28125 x 1.1 = 0.0915283203125 + 0.309375.
    period(&mut pacer, &mut now, 0);
    close(share(&pacer), 0.4009033203125);
    close(pacer.w(), 0.28125);
    // w = 0.390625: 0.609375 x 0.4009033203125 + 0.390625 x 1.1 = 0.244300460815430 + 0.4296875.
    period(&mut pacer, &mut now, 0);
    close(share(&pacer), 0.673987960815430);
    // It never exceeds 1.1, the maximum with the target loss, which it nears.
    (0..40).for_each(|_| period(&mut pacer, &mut now, 0));
    assert!(share(&pacer) > 1.099 && share(&pacer) <= 1.1, "{}", share(&pacer));
    close(pacer.w(), 0.5);
}

#[test]
fn with_more_loss_than_the_target_the_rate_falls_by_it_and_w_halves() {
    // From the full rate. One of two credits: 0.5 x 1.1 = 0.55, w = 1/32. Then again: 0.55 x 0.55 = 0.3025, w = 1/64. Then
    // w = 1/128 would be below its minimum, 0.01.
    let mut pacer = pacer(ExpressPass { jitter: 0.0, initial_rate: 1.0, ..ExpressPass::default() });
    let mut now = Time::ZERO;
    pacer.on_request(now, true);
    for (rate, w) in [(0.55, 0.03125), (0.3025, 0.015625), (0.166375, 0.01)] {
        period(&mut pacer, &mut now, 1);
        close(share(&pacer), rate);
        close(pacer.w(), w);
    }
    // Three of four credits: a quarter and a tenth of that. At one credit in a round trip, 10,000 a second, it ends.
    period(&mut pacer, &mut now, 3);
    close(share(&pacer), 0.166375 * 0.25 * 1.1);
    (0..4).for_each(|_| period(&mut pacer, &mut now, 3));
    assert!(pacer.rate() < 10_001.0 && pacer.rate() > 9_000.0, "{}", pacer.rate());
}

#[test]
fn the_weight_grows_only_after_two_rises() {
    let (mut pacer, mut now) = (asked(), Time::ZERO);
    for (lost, w) in [(1, 0.03125), (0, 0.03125), (0, 0.265625), (1, 0.1328125), (0, 0.1328125)] {
        period(&mut pacer, &mut now, lost);
        close(pacer.w(), w);
    }
}

#[test]
fn loss_at_the_target_is_no_congestion() {
    // Half of the maximum rate: a credit each 2.5952 us. Data of the first one ends a period at 100 us, and the rate is 0.9375 x
    // 0.5 + 0.0625 x 1.1 = 0.5375. Of the next ten one is lost, a tenth: a second rise, with w = 0.28125, when the last
    // comes back at 220 us: after 194.05 us, which makes the round trip 118.8 us, and the period is 120 us old.
    let mut pacer = pacer(ExpressPass { jitter: 0.0, initial_rate: 0.5, ..ExpressPass::default() });
    pacer.on_request(Time::ZERO, true);
    let mut sent = Vec::new();
    for _ in 0..11 {
        let at = pacer.next_timer();
        sent.push((at, number(pacer.credit(at)).expect("its time has come")));
    }
    for &(at, number) in sent.iter().take(10).filter(|(_, number)| *number != 3) {
        pacer.on_data(&data(at + RTT, number));
    }
    close(share(&pacer), 0.5375);
    pacer.on_data(&data(Time::from_us(220), 10));
    close(share(&pacer), 0.71875 * 0.5375 + 0.28125 * 1.1);
    close(pacer.w(), 0.28125);
}

#[test]
fn a_period_is_a_round_trip_smoothed_by_four_fifths() {
    // The base RTT is 100 us; data come after 150 us: (4 x 100 + 150) / 5 = 110 us. The first period is 150 us old.
    let mut pacer = asked();
    pacer.credit(Time::ZERO);
    pacer.on_data(&data(Time::from_us(150), 0));
    close(share(&pacer), 0.12734375);
    // The next credit goes at 150 us and is answered at 255: (4 x 110 + 105) / 5 = 109 us, and the period is 105 us old.
    pacer.credit(Time::from_us(150));
    pacer.on_data(&data(Time::from_us(255), 1));
    close(share(&pacer), 0.12734375);
    // Then one at 200 us, answered at 265: (4 x 109 + 65) / 5 = 100.2 us, and the period is 115 us old.
    pacer.credit(Time::from_us(200));
    pacer.on_data(&data(Time::from_us(265), 2));
    close(share(&pacer), 0.4009033203125);
}

#[test]
fn credits_end_with_the_senders_stop_and_begin_anew_at_its_request() {
    let (mut pacer, mut now) = (asked(), Time::ZERO);
    period(&mut pacer, &mut now, 0);
    pacer.credit(now).expect("another, number 1, without an answer");
    pacer.on_request(now, false);
    assert_eq!((pacer.next_timer(), pacer.credit(now)), (Time::NEVER, None));
    let later = Time::from_us(1_000);
    pacer.on_request(later, true);
    assert_eq!(number(pacer.credit(later)), Some(2));
    close(share(&pacer), 0.0625);
    // Data of a credit from before the stop tells nothing of the new credits.
    pacer.on_data(&data(later + RTT + RTT, 1));
    close(share(&pacer), 0.0625);
}

#[test]
fn a_receiver_that_hears_nothing_for_two_milliseconds_stops() {
    let mut pacer = asked();
    let mut last = Time::ZERO;
    while pacer.next_timer() != Time::NEVER {
        let at = pacer.next_timer();
        if pacer.credit(at).is_some() {
            last = at;
        }
        assert!(at < Time::from_ms(3), "it goes on");
    }
    // 2 ms / 20.7616 us = 96.3: the credits of 0 to 96 times that.
    assert!(last.0.abs_diff(96 * 20_761_600) < 200, "{last}");
}

#[test]
fn gaps_vary_by_a_tenth_either_way() {
    let mut pacer = pacer(ExpressPass::default());
    pacer.on_request(Time::ZERO, true);
    let mut gaps = Vec::new();
    for _ in 0..80 {
        let at = pacer.next_timer();
        pacer.credit(at);
        gaps.push((pacer.next_timer() - at).0);
    }
    let (min, max) = (gaps.iter().min().copied().unwrap_or(0), gaps.iter().max().copied().unwrap_or(0));
    // 20.7616 us less and plus a tenth; of 80 uniform numbers some lie in the outer fifths.
    assert!(
        (18_685_439..19_600_000).contains(&min) && (21_900_000..=22_837_761).contains(&max),
        "{min} {max}"
    );
}

/// 76 to 92 B, each as often as another: of 1,700 credits 100 of each size, within five standard deviations, 5 x 9.7.
#[test]
fn sizes_vary_by_eight_bytes_either_way() {
    let mut pacer = pacer(ExpressPass { timeout: Time::from_ms(100), ..ExpressPass::default() });
    pacer.on_request(Time::ZERO, true);
    let mut counts = [0u32; 17];
    for _ in 0..1_700 {
        let at = pacer.next_timer();
        let credit = pacer.credit(at).expect("its time has come");
        counts[usize::from(credit.size - 76)] += 1;
    }
    assert!(counts.iter().all(|count| (52..=148).contains(count)), "{counts:?}");
}

#[test]
fn a_sender_sends_one_packet_for_each_credit() {
    let mut sender: CreditedSender = ExpressPass::default().reaction(&env());
    let may_send = |sender: &CreditedSender, in_flight: u64| in_flight < sender.window();
    assert!(!may_send(&sender, 0));
    assert_eq!(sender.rate(), Rate::from_gbps(10));
    sender.on_credit(Time::ZERO, 7);
    sender.on_credit(Time::ZERO, 9);
    let sent = Sent { now: Time::ZERO, payload: 1_474, frame: 1_538 };
    assert!(may_send(&sender, 0));
    sender.on_send(&sent);
    assert_eq!(sender.spend_credit(), Some(7));
    assert!(may_send(&sender, 1_474));
    sender.on_send(&sent);
    assert_eq!(sender.spend_credit(), Some(9));
    assert!(!may_send(&sender, 2_948));
    // An acknowledgement brings no permission, and a credit one more packet, whatever is in flight.
    let ack = Ack {
        now: RTT,
        seq: 1_474,
        newly_acked: 1_474,
        snd_nxt: 2_948,
        packet: 0,
        next_packet: 2,
        rtt: None,
        mark: Mark::None,
        flow_count: 0,
        label: 0,
        int: IntStack::default(),
    };
    sender.on_ack(&ack);
    assert!(!may_send(&sender, 1_474));
    sender.on_credit(RTT, 10);
    assert!(may_send(&sender, 1_474) && !may_send(&sender, 1_475));
    assert_eq!(sender.spend_credit(), Some(10));
    // A credit that the ACK has overtaken brings an acknowledgement of nothing: 2,948 B would seem to be in flight, and a packet would
    // go without a credit.
    sender.on_ack(&Ack { seq: 0, newly_acked: 0, ..ack });
    assert!(!may_send(&sender, 1_474));
    assert_eq!(sender.spend_credit(), None);
    sender.on_credit(RTT, 11);
    // An idle connection keeps no credit.
    sender.on_idle(RTT);
    assert!(!may_send(&sender, 0));
    // After a loss nothing is in flight, and the next packet needs a credit too.
    sender.on_send(&sent);
    sender.on_loss(RTT);
    assert!(!may_send(&sender, 0));
}

#[test]
fn parameters_out_of_their_bounds_are_refused() {
    let keys = [
        (ExpressPass { credit_queue: 0, ..ExpressPass::default() }, "credit_queue"),
        (ExpressPass { credit_spread: Bytes(84), ..ExpressPass::default() }, "credit_spread"),
        (ExpressPass { initial_rate: 0.0, ..ExpressPass::default() }, "initial_rate"),
        (ExpressPass { w_init: 0.001, ..ExpressPass::default() }, "w_init"),
        (ExpressPass { w_max: 0.005, ..ExpressPass::default() }, "w_max"),
        (ExpressPass { jitter: f64::NAN, ..ExpressPass::default() }, "jitter"),
        (ExpressPass { target_loss: 0.6, ..ExpressPass::default() }, "target_loss"),
        (ExpressPass { timeout: Time::ZERO, ..ExpressPass::default() }, "timeout"),
    ];
    for (params, key) in keys {
        assert_eq!(params.validate().map_err(|violation| violation.key), Err(key.into()));
    }
    assert_eq!(ExpressPass::default().validate(), Ok(()));
}
