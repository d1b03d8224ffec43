//! RoCC against numbers worked by hand. At 100 Gb/s: F_max 10,000 and F_min 10 units of 10 Mb/s; Q_ref 500,
//! Q_mid 1,000 and Q_max 1,100 units of 600 B; gains 0.45 and 2.25 over the divisor of F's region.

use crate::common::{flow_env, port_env};
use proptest::prelude::*;
use xoff_engine::{Bytes, Domain, Rate, Time, stream};
use xoff_schemes::rocc::{FairRate, Rocc, RoccSender, gain_divisor};
use xoff_schemes::{Cnm, CongestionPoint, PacketView, PortEnv, QueueView, ReactionPoint, Scheme};

const UNIT: u64 = 600;

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn port(rate: Rate) -> FairRate {
    Rocc::default().congestion(&PortEnv {
        point: 3,
        payload: 1_456,
        frame: 1_518,
        random: stream(1, Domain::Congestion, 3).into(),
        ..port_env(rate, Time::from_ns(1_500))
    })
}

/// A congestion point at 100 Gb/s whose clock runs: flow 1 has a packet in its queue since time zero.
fn busy_port() -> FairRate {
    let mut point = port(Rate::from_gbps(100));
    point.on_enqueue(&QueueView { now: Time::ZERO, bytes: 1_000 }, &PacketView { flow: 1, bytes: 1_000 });
    point
}

/// One tick with `units` queued; what it sends.
fn tick(point: &mut FairRate, units: u64) -> Vec<Cnm> {
    let mut out = vec![];
    let now = point.next_timer();
    assert_ne!(now, Time::NEVER);
    point.on_timer(&QueueView { now, bytes: units * UNIT }, &mut out);
    out
}

#[test]
fn gains_halve_each_time_the_rate_halves() {
    // F >= F_max/2, /4, /8, /16, /32, below.
    let divisors = [10_000.0, 5_000.0, 4_999.0, 2_500.0, 1_250.0, 625.0, 312.5, 312.0, 10.0]
        .map(|f| gain_divisor(f, 10_000.0));
    assert_eq!(divisors, [1.0, 1.0, 2.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0]);
}

#[test]
fn the_controller_weighs_length_and_growth_of_the_queue() {
    let mut point = busy_port();
    assert_eq!(point.next_timer(), us(40));
    let mut early = vec![];
    point.on_timer(&QueueView { now: us(39), bytes: 500 * UNIT }, &mut early);
    assert_eq!((early, point.next_timer()), (vec![], us(40)));
    assert_eq!(point.rate(), Rate::from_gbps(100));
    // q = 500: F = 10,000 - 0.45 * (500 - 500) - 2.25 * (500 - 0) = 8,875.
    tick(&mut point, 500);
    assert_eq!(point.rate(), Rate::from_mbps(88_750));
    assert_eq!(point.next_timer(), us(80));
    // q = 600: F = 8,875 - 0.45 * 100 - 2.25 * 100 = 8,605.
    tick(&mut point, 600);
    assert_eq!(point.rate(), Rate::from_mbps(86_050));
    // q = 1,050: F = 8,605 - 0.45 * 550 - 2.25 * 450 = 7,345.
    tick(&mut point, 1_050);
    assert_eq!(point.rate(), Rate::from_mbps(73_450));
}

#[test]
fn a_fast_growing_queue_halves_the_rate() {
    let mut point = busy_port();
    tick(&mut point, 1_000);
    assert_eq!(point.rate(), Rate::from_gbps(50));
}

#[test]
fn at_an_eighth_of_the_greatest_rate_neither_growth_nor_length_cut_it() {
    // Without gains only halving moves F: 10,000, 5,000, 2,500 and 1,250 units, which is F_max/8 and no more above it. There
    // the next growth of Q_mid changes nothing, and neither does a queue of Q_max.
    let none = Rocc { alpha: Some(0.0), beta: Some(0.0), ..Rocc::default() };
    let mut point = none.congestion(&port_env(Rate::from_gbps(100), Time::from_ns(1_500)));
    point.on_enqueue(&QueueView { now: Time::ZERO, bytes: 1_000 }, &PacketView { flow: 1, bytes: 1_000 });
    for mbps in [50_000, 25_000, 12_500, 12_500] {
        tick(&mut point, 1_000);
        assert_eq!(point.rate(), Rate::from_mbps(mbps));
        tick(&mut point, 0);
    }
    tick(&mut point, 1_100);
    assert_eq!(point.rate(), Rate::from_mbps(12_500));
}

#[test]
fn a_long_queue_sets_the_least_rate_and_a_low_one_climbs_gently() {
    let mut point = busy_port();
    tick(&mut point, 1_100);
    assert_eq!(point.rate(), Rate::from_mbps(100));
    // F = 10 is below F_max/8, so the controller acts: 10 - 0.45/32 * 600 - 0, held at F_min.
    tick(&mut point, 1_100);
    assert_eq!(point.rate(), Rate::from_mbps(100));
    // Empty: 10 + 0.45/32 * 500 + 2.25/32 * 1,100 = 10 + 7.03125 + 77.34375 = 94.375, sent as 94 units.
    let sent = tick(&mut point, 0);
    assert_eq!(sent, [Cnm { flow: 1, point: 3, rate: Rate::from_mbps(940), queue: None }]);
}

#[test]
fn at_40_gbps_the_papers_own_column_counts() {
    // Q_ref 250, Q_max 600 units, gains 0.3 and 1.5: q = 300: F = 4,000 - 0.3 * 50 - 1.5 * 300 = 3,535.
    let mut point = port(Rate::from_gbps(40));
    point.on_enqueue(&QueueView { now: Time::ZERO, bytes: 1_000 }, &PacketView { flow: 1, bytes: 1_000 });
    tick(&mut point, 300);
    assert_eq!(point.rate(), Rate::from_mbps(35_350));
    tick(&mut point, 600);
    assert_eq!(point.rate(), Rate::from_mbps(100));
}

#[test]
fn thresholds_of_other_rates_are_scaled_from_100_gbps() {
    // 200 Gb/s: F_max 20,000, Q_ref 1,000, Q_max 2,200. q = 1,000: F = 20,000 - 2.25 * 1,000 = 17,750.
    let mut point = port(Rate::from_gbps(200));
    point.on_enqueue(&QueueView { now: Time::ZERO, bytes: 1_000 }, &PacketView { flow: 1, bytes: 1_000 });
    tick(&mut point, 1_000);
    assert_eq!(point.rate(), Rate::from_mbps(177_500));
    tick(&mut point, 2_200);
    assert_eq!(point.rate(), Rate::from_mbps(100));
}

#[test]
fn messages_go_to_the_flows_in_the_queue_in_their_order() {
    let mut point = port(Rate::from_gbps(100));
    let view = QueueView { now: us(10), bytes: 3_000 };
    for flow in [9, 2, 9, 5] {
        point.on_enqueue(&view, &PacketView { flow, bytes: 1_000 });
    }
    let flows = |sent: Vec<Cnm>| sent.into_iter().map(|c| c.flow).collect::<Vec<_>>();
    assert_eq!(point.next_timer(), us(40));
    assert_eq!(flows(tick(&mut point, 500)), [2, 5, 9]);
    for flow in [9, 2] {
        point.on_dequeue(&view, &PacketView { flow, bytes: 1_000 });
    }
    // Of flow 9 one packet is left.
    assert_eq!(flows(tick(&mut point, 500)), [5, 9]);
}

#[test]
fn an_empty_queue_at_the_greatest_rate_lets_the_clock_rest() {
    let mut point = port(Rate::from_gbps(100));
    assert_eq!(point.next_timer(), Time::NEVER);
    let packet = PacketView { flow: 1, bytes: 1_000 };
    point.on_enqueue(&QueueView { now: us(41), bytes: 1_000 }, &packet);
    // All queues compute at multiples of 40 us.
    assert_eq!(point.next_timer(), us(80));
    tick(&mut point, 500); // F = 8,875
    point.on_dequeue(&QueueView { now: us(81), bytes: 0 }, &packet);
    // q = 0: F = 8,875 + 0.45 * 500 + 2.25 * 500 = 10,225, held at 10,000; nobody to tell.
    assert_eq!(tick(&mut point, 0), []);
    assert_eq!(point.rate(), Rate::from_gbps(100));
    assert_eq!(point.next_timer(), Time::NEVER);
}

fn sender() -> RoccSender {
    Rocc::default().reaction(&flow_env(Rate::from_gbps(100), us(10)))
}

fn cnm(point: u32, gbps: u64) -> Cnm {
    Cnm { flow: 7, point, rate: Rate::from_gbps(gbps), queue: None }
}

/// A message that arrives so that it is obeyed at `at`.
fn obey(sender: &mut RoccSender, at: Time, message: Cnm) -> Rate {
    sender.on_cnm(at - us(15), &message);
    sender.on_timer(at);
    sender.rate()
}

#[test]
fn a_message_is_obeyed_15_us_after_its_arrival() {
    let mut sender = sender();
    assert_eq!((sender.rate(), sender.next_timer()), (Rate::from_gbps(100), Time::NEVER));
    sender.on_cnm(us(100), &cnm(1, 20));
    assert_eq!((sender.rate(), sender.next_timer()), (Rate::from_gbps(100), us(115)));
    sender.on_timer(us(115));
    assert_eq!(sender.rate(), Rate::from_gbps(20));
    assert_eq!(sender.window(), u64::MAX);
}

#[test]
fn the_recorded_point_may_raise_the_rate_and_another_only_lower_it() {
    let mut sender = sender();
    assert_eq!(obey(&mut sender, us(20), cnm(1, 20)), Rate::from_gbps(20));
    assert_eq!(obey(&mut sender, us(21), cnm(2, 30)), Rate::from_gbps(20)); // another, higher: refused
    assert_eq!(obey(&mut sender, us(22), cnm(1, 30)), Rate::from_gbps(30)); // the recorded one
    assert_eq!(obey(&mut sender, us(23), cnm(2, 30)), Rate::from_gbps(30)); // another, equal: recorded now
    assert_eq!(obey(&mut sender, us(24), cnm(1, 40)), Rate::from_gbps(30));
    assert_eq!(obey(&mut sender, us(25), cnm(2, 40)), Rate::from_gbps(40));
    // At line rate the limiter goes, and with it the record: point 1 may speak again.
    assert_eq!(obey(&mut sender, us(26), cnm(2, 100)), Rate::from_gbps(100));
    assert_eq!(sender.next_timer(), Time::NEVER);
    assert_eq!(obey(&mut sender, us(27), cnm(1, 50)), Rate::from_gbps(50));
}

#[test]
fn silence_doubles_the_rate_every_55_us_up_to_line_rate() {
    let mut sender = sender();
    obey(&mut sender, us(15), cnm(1, 20));
    for (at, gbps) in [(70, 40), (125, 80), (180, 100)] {
        assert_eq!(sender.next_timer(), us(at));
        sender.on_timer(us(at));
        assert_eq!(sender.rate(), Rate::from_gbps(gbps));
    }
    assert_eq!(sender.next_timer(), Time::NEVER);
}

#[test]
fn only_an_accepted_message_puts_the_rise_off() {
    let mut sender = sender();
    obey(&mut sender, us(15), cnm(1, 20));
    obey(&mut sender, us(60), cnm(2, 30)); // refused
    assert_eq!(sender.next_timer(), us(70));
    obey(&mut sender, us(65), cnm(1, 20));
    assert_eq!(sender.next_timer(), us(120));
}

#[test]
fn parameters_out_of_range_are_refused_by_key() {
    let key = |params: Rocc| params.validate().unwrap_err().key;
    assert_eq!(key(Rocc { interval: Time::ZERO, ..Rocc::default() }), "interval");
    assert_eq!(key(Rocc { queue_unit: Bytes(0), ..Rocc::default() }), "queue_unit");
    assert_eq!(key(Rocc { alpha: Some(f64::INFINITY), ..Rocc::default() }), "alpha");
    assert_eq!(key(Rocc { min_rate: Rate::from_mbps(5), ..Rocc::default() }), "min_rate");
    let crossed = Rocc { q_ref: Some(Bytes(2_000)), q_max: Some(Bytes(1_000)), ..Rocc::default() };
    assert_eq!(key(crossed), "q_ref");
    assert_eq!(Rocc::default().validate(), Ok(()));
}

proptest! {
    #[test]
    fn no_queue_breaks_the_fair_rates_bounds(lengths in prop::collection::vec(0u64..3_000_000, 1..100)) {
        let mut point = busy_port();
        for bytes in lengths {
            let mut out = vec![];
            let now = point.next_timer();
            point.on_timer(&QueueView { now, bytes }, &mut out);
            prop_assert_eq!(out.len(), 1);
            prop_assert!(out[0].rate >= Rate::from_mbps(100) && out[0].rate <= Rate::from_gbps(100));
        }
    }

    #[test]
    fn no_message_breaks_the_senders_bounds(
        messages in prop::collection::vec((0u64..100_000_000, 0u32..4, 0u64..400_000_000_000), 1..100),
    ) {
        let mut sender = sender();
        let mut now = Time::ZERO;
        for (gap, point, rate) in messages {
            now += Time(gap);
            while sender.next_timer() <= now {
                let at = sender.next_timer();
                sender.on_timer(at);
            }
            sender.on_cnm(now, &Cnm { flow: 7, point, rate: Rate(rate), queue: None });
            prop_assert!(sender.rate() >= Rate(1) && sender.rate() <= Rate::from_gbps(100));
        }
    }
}
