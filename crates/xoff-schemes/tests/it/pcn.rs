//! PCN: what the receiver says every 50 us, and what the sender makes of it.

use crate::common;
use xoff_engine::{Rate, Time};
use xoff_schemes::pcn::{Pcn, RateField, Receiver, Sender};
use xoff_schemes::{AnyDetector, Arrival, Cnp, Mark, NotificationPoint, ReactionPoint, Scheme};

fn sender(params: &Pcn) -> Sender {
    params.reaction(&common::flow_env(Rate::from_gbps(40), Time::from_us(50)))
}

fn receiver(params: &Pcn) -> Receiver {
    *params.notification(&common::flow_env(Rate::from_gbps(40), Time::from_us(50)))
}

fn congested(gbps: u64) -> Cnp {
    Cnp { mark: Mark::Ce, rate: Some(Rate::from_gbps(gbps)) }
}

const CLEAR: Cnp = Cnp { mark: Mark::None, rate: Some(Rate(1)) };

/// A packet of 1,000 B at `now_ns`.
fn arrive(np: &mut Receiver, now_ns: u64, mark: Mark) {
    let arrival = Arrival { now: Time::from_ns(now_ns), payload: 970, frame: 1_000, mark, credit: 0 };
    assert_eq!(np.on_data(&arrival), None, "CNPs go at the end of a period only");
}

#[test]
fn the_weight_grows_as_worked_out_by_hand() {
    // w <- w (1 - w) + w_max w from 1/128, the old w in the rate's step.
    let mut rp = sender(&Pcn::default());
    let expected = [
        0.0078, 0.0117, 0.0174, 0.0257, 0.0379, 0.0555, 0.0801, 0.1137, 0.1577, 0.2116, 0.2727, 0.3347, 0.39,
        0.4329, 0.4619,
    ];
    for (step, w) in expected.into_iter().enumerate() {
        assert!((rp.weight() - w).abs() < 5e-5, "step {step}: {} instead of {w}", rp.weight());
        rp.on_cnp(Time::ZERO, &CLEAR);
    }
    let mut rp = sender(&Pcn { w_max: 0.25, ..Pcn::default() });
    let slow = [0.0078, 0.0097, 0.0120, 0.0149, 0.0184, 0.0227, 0.0278, 0.0340, 0.0413, 0.0500, 0.0600];
    for w in slow {
        assert!((rp.weight() - w).abs() < 5e-5, "{} instead of {w}", rp.weight());
        rp.on_cnp(Time::ZERO, &CLEAR);
    }
}

#[test]
fn a_flow_starts_at_line_rate_and_falls_to_just_below_what_is_received() {
    let mut rp = sender(&Pcn::default());
    assert_eq!((rp.rate(), rp.window()), (Rate::from_gbps(40), u64::MAX));
    // 10 Gbps x 127/128 = 9.921875 Gbps.
    rp.on_cnp(Time::ZERO, &congested(10));
    assert_eq!(rp.rate(), Rate(9_921_875_000));
    // A greater receiving rate does not raise it.
    rp.on_cnp(Time::ZERO, &congested(20));
    assert_eq!(rp.rate(), Rate(9_921_875_000));
}

#[test]
fn a_clear_cnp_raises_the_rate_by_the_weight_and_congestion_resets_the_weight() {
    let mut rp = sender(&Pcn::default());
    rp.on_cnp(Time::ZERO, &congested(10));
    // 9.921875 x 127/128 + 40/128 = 10.15686035 Gbps; then with w = 1/128 (1 - 1/128 + 1/2) = 0.011657715:
    // 10.15686035 + 0.011657715 x 29.84313965 = 10.50476312 Gbps.
    rp.on_cnp(Time::ZERO, &CLEAR);
    assert!((rp.rate().0 as f64 - 10_156_860_352.0).abs() < 2.0, "{:?}", rp.rate());
    rp.on_cnp(Time::ZERO, &CLEAR);
    assert!((rp.rate().0 as f64 - 10_504_763_171.0).abs() < 2_000.0, "{:?}", rp.rate());
    rp.on_cnp(Time::ZERO, &congested(40));
    assert!((rp.weight() - 1.0 / 128.0).abs() < 1e-12);
}

#[test]
fn from_a_tenth_to_nine_tenths_of_the_line_takes_14_clear_periods() {
    // With 1/128 and 1/2 14 periods, 700 us; with 1/128 and 1/4 23; with 1/64 and 1/2 12.
    for (w_min, w_max, periods) in [(1.0 / 128.0, 0.5, 14), (1.0 / 128.0, 0.25, 23), (1.0 / 64.0, 0.5, 12)] {
        let mut rp = sender(&Pcn { w_min, w_max, ..Pcn::default() });
        let received = Rate((4e9 / (1.0 - w_min)) as u64);
        rp.on_cnp(Time::ZERO, &Cnp { mark: Mark::Ce, rate: Some(received) });
        let mut count = 0;
        while rp.rate() < Rate::from_gbps(36) {
            rp.on_cnp(Time::ZERO, &CLEAR);
            count += 1;
        }
        assert_eq!(count, periods, "w from {w_min} to {w_max}");
    }
}

#[test]
fn the_rate_never_passes_the_line_nor_falls_below_the_least() {
    let mut rp = sender(&Pcn { min_rate: Some(Rate::from_mbps(100)), ..Pcn::default() });
    for _ in 0..100 {
        rp.on_cnp(Time::ZERO, &CLEAR);
    }
    assert_eq!(rp.rate(), Rate::from_gbps(40));
    rp.on_cnp(Time::ZERO, &Cnp { mark: Mark::Ce, rate: Some(Rate::from_mbps(1)) });
    assert_eq!(rp.rate(), Rate::from_mbps(100));
    // Without a minimum the rate is the one in the CNP, and never zero.
    let mut rp = sender(&Pcn::default());
    rp.on_cnp(Time::ZERO, &Cnp { mark: Mark::Ce, rate: Some(Rate(0)) });
    assert_eq!(rp.rate(), Rate(1));
}

#[test]
fn a_flow_is_congested_from_19_marks_among_20() {
    for (marked, mark) in [(18, Mark::None), (19, Mark::Ce), (20, Mark::Ce)] {
        let mut np = receiver(&Pcn::default());
        for i in 0..20 {
            arrive(&mut np, 1_000 + i * 100, if i < marked { Mark::Ce } else { Mark::Ue });
        }
        // The first look is T after the first packet.
        assert_eq!(np.next_timer(), Time::from_ns(51_000));
        assert_eq!(np.on_timer(Time::from_ns(50_999)), None);
        // 20 x 1,000 B in 50 us are 3.2 Gbps.
        assert_eq!(
            np.on_timer(Time::from_ns(51_000)),
            Some(Cnp { mark, rate: Some(Rate::from_mbps(3_200)) })
        );
        assert_eq!(np.next_timer(), Time::NEVER);
    }
}

#[test]
fn a_period_without_packets_brings_no_cnp_and_periods_keep_their_beat() {
    let mut np = receiver(&Pcn::default());
    arrive(&mut np, 1_000, Mark::None);
    assert!(np.on_timer(Time::from_ns(51_000)).is_some());
    // The next packets come in the fourth period, which ends at 1 + 4 x 50 us.
    arrive(&mut np, 160_000, Mark::None);
    arrive(&mut np, 161_000, Mark::None);
    assert_eq!(np.next_timer(), Time::from_us(201));
    // 2,000 B in 50 us are 320 Mbps.
    let cnp = np.on_timer(Time::from_us(201)).expect("a CNP");
    assert_eq!(cnp, Cnp { mark: Mark::None, rate: Some(Rate::from_mbps(320)) });
    // A packet at the very moment of a look is in the period that ends.
    arrive(&mut np, 251_000, Mark::Ce);
    assert_eq!(np.next_timer(), Time::from_us(251));
}

#[test]
fn one_packet_alone_is_rated_by_the_mean_time_between_arrivals() {
    // The first: 1,000 B over T, 160 Mbps. The second 100 us later: (50 + 100) / 2 = 75 us, 106.67 Mbps. The third at
    // 10 ms after the second restarts: 160 Mbps.
    let mut np = receiver(&Pcn::default());
    arrive(&mut np, 0, Mark::None);
    assert_eq!(np.on_timer(Time::from_us(50)).and_then(|c| c.rate), Some(Rate::from_mbps(160)));
    arrive(&mut np, 100_000, Mark::None);
    assert_eq!(np.next_timer(), Time::from_us(100));
    assert_eq!(np.on_timer(Time::from_us(100)).and_then(|c| c.rate), Some(Rate(106_666_667)));
    arrive(&mut np, 10_100_000, Mark::None);
    assert_eq!(np.on_timer(Time::from_us(10_100)).and_then(|c| c.rate), Some(Rate::from_mbps(160)));
}

#[test]
fn the_field_of_16_bits_rounds_down_and_saturates() {
    // 1,000 packets of 1,000 B in 50 us would be 160 Gbps.
    let mbps = Pcn { rate_field: RateField::Mbps16, ..Pcn::default() };
    let mut np = receiver(&mbps);
    (0..1_000).for_each(|i| arrive(&mut np, i, Mark::None));
    assert_eq!(np.on_timer(Time::from_us(50)).and_then(|c| c.rate), Some(Rate::from_mbps(65_535)));
    let mut np = receiver(&mbps);
    arrive(&mut np, 0, Mark::None);
    np.on_timer(Time::from_us(50));
    arrive(&mut np, 100_000, Mark::None);
    assert_eq!(np.on_timer(Time::from_us(100)).and_then(|c| c.rate), Some(Rate::from_mbps(106)));
}

#[test]
fn it_marks_by_np_ecn_and_refuses_parameters_out_of_range() {
    assert!(matches!(AnyDetector::from(Pcn::default().detector()), AnyDetector::NpEcn(_)));
    assert!(Pcn::default().signals().ecn && Pcn::default().validate().is_ok());
    let key = |pcn: Pcn| pcn.validate().unwrap_err().key;
    assert_eq!(key(Pcn { w_max: 1.1, ..Pcn::default() }), "w_max");
    assert_eq!(key(Pcn { w_min: 0.6, ..Pcn::default() }), "w_min");
    assert_eq!(key(Pcn { w_min: 1.0, w_max: 1.0, ..Pcn::default() }), "w_min");
    assert_eq!(key(Pcn { congested_share: 0.0, ..Pcn::default() }), "congested_share");
    assert_eq!(key(Pcn { period: Time::ZERO, ..Pcn::default() }), "period");
    assert_eq!(key(Pcn { idle: Time::ZERO, ..Pcn::default() }), "idle");
    assert_eq!(key(Pcn { min_rate: Some(Rate(0)), ..Pcn::default() }), "min_rate");
}
