//! DCTCP against numbers worked by hand: alpha <- (1 - g) alpha + g F once a window, cwnd <- cwnd (1 - alpha/2) at most
//! once a window (DCTCP, section 3), and what it leaves to TCP (RFC 5681).
//!
//! Throughout, C = 100 Gb/s = 12,500 B/us and T = 10 us, so that C T = 125,000 B = 125 packets of 1,000 B.

use crate::common::flow_env;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::dctcp::{Dctcp, DctcpSender, Form};
use xoff_schemes::detector::red::Red;
use xoff_schemes::int::IntStack;
use xoff_schemes::{Ack, AnyDetector, FlowEnv, IntPath, Mark, NetworkEnv, ReactionPoint, Scheme};

const T: Time = Time::from_us(10);
const BDP: u64 = 125_000;
const MSS: u64 = 1_000;

fn env() -> FlowEnv {
    FlowEnv { payload: MSS, frame: 1_062, ..flow_env(Rate::from_gbps(100), T) }
}

fn sender(params: &Dctcp) -> DctcpSender {
    assert_eq!(params.validate(), Ok(()));
    params.reaction(&env())
}

fn rate_form() -> Dctcp {
    Dctcp { form: Form::Rate, ..Dctcp::default() }
}

/// The ACK of the packet that ends at `seq`.
fn ack(seq: u64, snd_nxt: u64, mark: Mark) -> Ack<'static> {
    let int = IntStack::default();
    Ack {
        now: Time::ZERO,
        seq,
        newly_acked: MSS,
        snd_nxt,
        packet: (seq - 1) / MSS,
        next_packet: snd_nxt.div_ceil(MSS),
        rtt: None,
        mark,
        flow_count: 0,
        label: 0,
        int,
    }
}

/// ACKs of all packets from `from` to `to`, of which the first `marked` are marked, while nothing new is sent.
fn acks(sender: &mut DctcpSender, from: u64, to: u64, snd_nxt: u64, marked: u64) {
    for (i, seq) in (from + MSS..=to).step_by(MSS as usize).enumerate() {
        sender.on_ack(&ack(seq, snd_nxt, if (i as u64) < marked { Mark::Ce } else { Mark::None }));
    }
}

fn alpha(sender: &DctcpSender) -> f64 {
    match sender {
        DctcpSender::Window(sender) => sender.alpha(),
        DctcpSender::Rate(sender) => sender.alpha(),
    }
}

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{value} instead of {expected}");
}

#[test]
fn it_reads_marks_on_acks_and_nothing_else() {
    let signals = Dctcp::default().signals();
    assert!(signals.ecn && signals.acks);
    assert_eq!((signals.int, signals.timestamp, signals.flow_count), (IntPath::Off, false, false));
    // Where a scenario has no detector: 30 KB for each 10 Gb/s, as a step.
    let step = Red::step(Bytes(30_000));
    assert!(matches!(AnyDetector::from(Dctcp::default().detector()), AnyDetector::Red(red) if red == step));
}

#[test]
fn a_flow_starts_with_the_bandwidth_delay_product_and_sends_unpaced() {
    let mut sender = sender(&Dctcp::default());
    assert_eq!((sender.window(), sender.rate()), (BDP, Rate::from_gbps(100)));
    sender.on_ack(&ack(1_000, 126_000, Mark::Ce));
    assert_eq!(sender.rate(), Rate::from_gbps(100)); // the window alone holds it back
}

#[test]
fn the_first_mark_halves_and_each_window_cuts_once() {
    // alpha starts at 1 and stays there: the first ACK, a window of its own, is marked. 125,000 / 2 = 62,500.
    let mut sender = sender(&Dctcp::default());
    sender.on_ack(&ack(1_000, 126_000, Mark::Ce));
    assert_eq!(sender.window(), 62_500);
    // Everything up to 126,000 was sent before the cut: marks there do not cut again, nor does it grow.
    acks(&mut sender, 1_000, 126_000, 126_000, 50);
    assert_eq!(sender.window(), 62_500);
    assert_near(alpha(&sender), 1.0);
    // The packet that ends at 127,000 was sent after it. With it 126,000 B are acknowledged since the last count, of
    // which 51,000 B with a mark: alpha = 15/16 + 51/126/16 = 0.962797619. 62,500 (1 - alpha/2) = 32,412.57.
    sender.on_ack(&ack(127_000, 189_000, Mark::Ce));
    assert_near(alpha(&sender), 0.9375 + 51.0 / 126.0 / 16.0);
    assert_eq!(sender.window(), 32_412);
}

#[test]
fn alpha_decays_by_a_sixteenth_each_window_without_marks_and_softens_the_cut() {
    let mut sender = sender(&Dctcp::default());
    let mut seq = 0;
    for windows in 1..=20 {
        // One ACK for each window: the first byte beyond what was sent when the last one ended.
        seq += MSS;
        sender.on_ack(&ack(seq, seq, Mark::None));
        assert_near(alpha(&sender), 0.9375_f64.powi(windows));
    }
    // Nothing was in flight behind these ACKs, so the window was no limit and did not grow. At the mark F is 1:
    // alpha = 0.9375^21 + 1/16 = 0.320368, and 125,000 (1 - 0.320368/2) = 104,978.0: cut to 104,977.
    sender.on_ack(&ack(seq + MSS, seq + 125_000, Mark::Ce));
    assert_near(alpha(&sender), 0.9375_f64.powi(21) + 0.0625);
    assert_eq!(sender.window(), 104_977);
}

#[test]
fn the_window_grows_by_a_packet_a_round_trip_where_it_is_the_limit() {
    let mut sender = sender(&Dctcp::default());
    sender.on_ack(&ack(1_000, 1_000 + BDP, Mark::None)); // 125,000 + 1,000 * 1,000 / 125,000 = 125,008
    assert_eq!(sender.window(), 125_008);
    for i in 2..=125 {
        sender.on_ack(&ack(i * MSS, i * MSS + BDP, Mark::None));
    }
    // 125 ACKs of 1,000 B each add 1e6/W: W^2 grows by 2e6 an ACK. sqrt(125,000^2 + 125 * 2e6) = 125,996.0.
    assert!((125_990..126_000).contains(&sender.window()), "{}", sender.window());
    // With 123,000 B in flight at the ACK another full packet had room: the flow was held back by something else.
    let window = sender.window();
    sender.on_ack(&ack(126_000, 126_000 + 122_000, Mark::None));
    assert_eq!(sender.window(), window);
}

#[test]
fn no_growth_before_the_cut_is_a_round_trip_old() {
    let mut sender = sender(&Dctcp::default());
    sender.on_ack(&ack(1_000, 126_000, Mark::Ce));
    sender.on_ack(&ack(2_000, 126_000, Mark::None));
    sender.on_ack(&ack(126_000, 188_000, Mark::None));
    assert_eq!(sender.window(), 62_500);
    sender.on_ack(&ack(127_000, 189_000, Mark::None)); // 62,500 + 1e6 / 62,500 = 62,516
    assert_eq!(sender.window(), 62_516);
}

#[test]
fn a_small_initial_window_doubles_up_to_the_bandwidth_delay_product() {
    let mut sender = sender(&Dctcp { initial_window: Some(Bytes(120_000)), ..Dctcp::default() });
    assert_eq!(sender.window(), 120_000);
    for (acks, window) in [(1, 121_000), (2, 122_000), (3, 123_000), (4, 124_000), (5, 125_000), (6, 125_008)]
    {
        sender.on_ack(&ack(acks * MSS, acks * MSS + window, Mark::None));
        assert_eq!(sender.window(), window);
    }
    // A mark ends it for good: after the cut to half the window grows by a packet a round trip.
    let mut sender = self::sender(&Dctcp { initial_window: Some(Bytes(20_000)), ..Dctcp::default() });
    sender.on_ack(&ack(1_000, 21_000, Mark::Ce));
    assert_eq!(sender.window(), 10_000);
    sender.on_ack(&ack(22_000, 32_000, Mark::None)); // 10,000 + 1e6 / 10,000
    assert_eq!(sender.window(), 10_100);
}

#[test]
fn the_window_stays_at_two_packets_or_what_is_given() {
    for (min_window, least) in [(None, 2_000), (Some(1), 1_000), (Some(5), 5_000)] {
        let mut sender = sender(&Dctcp { min_window, ..Dctcp::default() });
        for window in 1..=8 {
            sender.on_ack(&ack(window * MSS, window * MSS, Mark::Ce)); // 125,000 / 2^8 = 488
        }
        assert_eq!(sender.window(), least);
    }
    let small = Dctcp { initial_window: Some(Bytes(1)), ..Dctcp::default() };
    assert_eq!(sender(&small).window(), 2_000);
}

#[test]
fn a_loss_halves_at_most_once_a_window() {
    let mut sender = sender(&Dctcp { initial_alpha: 0.0, ..Dctcp::default() });
    sender.on_ack(&ack(1_000, 126_000, Mark::None));
    sender.on_loss(Time::ZERO);
    sender.on_loss(Time::ZERO);
    assert_eq!(sender.window(), 62_504); // (125,000 + 8) / 2
    sender.on_ack(&ack(126_000, 126_000, Mark::Ce));
    assert_eq!(sender.window(), 62_504);
    sender.on_ack(&ack(127_000, 127_000, Mark::None)); // nothing in flight: no growth, but the window is over
    sender.on_loss(Time::ZERO);
    assert_eq!(sender.window(), 31_252);
}

#[test]
fn only_congestion_encountered_is_a_mark() {
    for params in [Dctcp::default(), rate_form()] {
        let mut sender = sender(&params);
        sender.on_ack(&ack(1_000, 1_000, Mark::Ue));
        assert_eq!((sender.window(), sender.rate()), (BDP, Rate::from_gbps(100)));
    }
}

#[test]
fn the_increase_can_be_given_in_bytes_or_as_a_rate() {
    // The increase is bytes a round trip: 125,000 + 4,000 * 1,000 / 125,000 = 125,032, and
    // 3.2 Gb/s * 10 us = 4,000 B is the same.
    for params in [
        Dctcp { w_ai: Some(Bytes(4_000)), ..Dctcp::default() },
        Dctcp { r_ai: Some(Rate::from_mbps(3_200)), ..Dctcp::default() },
    ] {
        let mut sender = sender(&params);
        sender.on_ack(&ack(1_000, 126_000, Mark::None));
        assert_eq!(sender.window(), 125_032);
    }
    // In the rate form: 50 Gb/s after the cut, then one step. 4,000 B a 10 us are 3.2 Gb/s, a packet is 0.8 Gb/s.
    for (w_ai, r_ai, step) in
        [(None, None, 800), (Some(Bytes(4_000)), None, 3_200), (None, Some(Rate::from_mbps(615)), 615)]
    {
        let mut sender = sender(&Dctcp { w_ai, r_ai, ..rate_form() });
        sender.on_ack(&ack(1_000, 126_000, Mark::Ce));
        sender.on_ack(&ack(127_000, 189_000, Mark::None));
        assert_eq!(sender.rate(), Rate::from_mbps(50_000 + step));
    }
}

#[test]
fn the_rate_form_counts_acks_over_the_packets_in_flight_and_one() {
    let mut sender = sender(&rate_form());
    assert_eq!((sender.rate(), sender.window()), (Rate::from_gbps(100), BDP));
    // First round trip: no alpha, but a cut by the initial one. 126,000 B were sent: F counts over 127 packets.
    sender.on_ack(&ack(1_000, 126_000, Mark::Ce));
    assert_eq!((sender.rate(), sender.window()), (Rate::from_gbps(50), 62_500));
    assert_near(alpha(&sender), 1.0);
    acks(&mut sender, 1_000, 126_000, 126_000, 49);
    assert_eq!(sender.rate(), Rate::from_gbps(50));
    // The round's end, with a mark: 1 + 49 + 1 = 51 marks over 127. alpha = 15/16 + 51/127/16 = 0.96259842...
    // The cut comes at once, by the new alpha: 50e9 (1 - alpha/2) = 25,935,039,370.08, cut to a whole number.
    sender.on_ack(&ack(127_000, 159_000, Mark::Ce));
    assert_near(alpha(&sender), 0.9375 + 51.0 / 127.0 / 16.0);
    assert_eq!(sender.rate(), Rate(25_935_039_370));
    assert_eq!(sender.window(), 32_418); // 125,000 * 0.25935... = 32,418.799
    // The next count is over (159,000 - 127,000) / 1,000 + 1 = 33 packets; none marked, so alpha falls by 1/16, and
    // the rate rises by 0.8 Gb/s.
    acks(&mut sender, 127_000, 159_000, 191_000, 0);
    let before = alpha(&sender);
    sender.on_ack(&ack(160_000, 192_000, Mark::None));
    assert_near(alpha(&sender), 0.9375 * before);
    assert_eq!(sender.rate(), Rate(26_735_039_370));
}

#[test]
fn the_share_of_the_rate_form_is_at_most_one() {
    // The first round trip's marks stay in the count of the second: 5 marks over 3 packets count as 1.
    let mut sender = sender(&Dctcp { initial_alpha: 0.5, ..rate_form() });
    acks(&mut sender, 0, 1_000, 2_000, 1); // 2,000 / 1,000 + 1 = 3 packets
    for _ in 0..3 {
        sender.on_ack(&ack(2_000, 2_000, Mark::Ce));
    }
    sender.on_ack(&ack(3_000, 3_000, Mark::Ce));
    assert_near(alpha(&sender), 0.5 * 0.9375 + 0.0625);
}

#[test]
fn the_rate_stays_between_its_least_and_line_rate() {
    let mut slow = sender(&Dctcp { min_rate: Some(Rate::from_gbps(1)), ..rate_form() });
    let mut slower = sender(&rate_form());
    for round in 1..=12 {
        slow.on_ack(&ack(round * MSS, round * MSS, Mark::Ce)); // 100 Gb/s / 2^12 = 24 Mb/s
        slower.on_ack(&ack(round * MSS, round * MSS, Mark::Ce));
    }
    assert_eq!((slow.rate(), slow.window()), (Rate::from_gbps(1), 1_250));
    assert_eq!((slower.rate(), slower.window()), (Rate::from_mbps(100), 125));
    let mut fast = sender(&rate_form());
    fast.on_ack(&ack(1_000, 126_000, Mark::None));
    fast.on_loss(Time::ZERO);
    assert_eq!(fast.rate(), Rate::from_gbps(100));
}

#[test]
fn values_without_sense_or_effect_are_refused_by_name() {
    let wrong = |params: Dctcp| params.validate().expect_err("refused").to_string();
    let base = Dctcp::default;
    assert!(wrong(Dctcp { g: 0.0, ..base() }).contains("`g` is 0"));
    assert!(wrong(Dctcp { initial_alpha: 1.5, ..base() }).contains("`initial_alpha` is 1.5"));
    assert!(wrong(Dctcp { w_ai: Some(Bytes(0)), ..base() }).contains("`w_ai` is zero"));
    assert!(wrong(Dctcp { r_ai: Some(Rate(0)), ..base() }).contains("`r_ai` is zero"));
    let both = Dctcp { w_ai: Some(Bytes(1)), r_ai: Some(Rate(1)), ..base() };
    assert!(wrong(both).contains("`w_ai` beside `r_ai`"));
    assert!(wrong(Dctcp { initial_window: Some(Bytes(0)), ..base() }).contains("`initial_window` is zero"));
    assert!(wrong(Dctcp { min_window: Some(0), ..base() }).contains("`min_window` is 0"));
    assert!(wrong(Dctcp { min_rate: Some(Rate(0)), ..rate_form() }).contains("`min_rate` is zero"));
    let unused = Dctcp { min_rate: Some(Rate::from_mbps(1)), ..base() };
    assert_eq!(
        wrong(unused),
        "`min_rate` has no effect with `form = \"window\"`: expected none, or `form = \"rate\"`"
    );
    assert!(wrong(Dctcp { min_window: Some(1), ..rate_form() }).contains("`min_window` has no effect"));
    let unused = Dctcp { initial_window: Some(Bytes(1)), ..rate_form() };
    assert!(wrong(unused).contains("`initial_window` has no effect"));
}

#[test]
fn defaults_that_depend_on_the_form_are_filled_in() {
    let window = Dctcp::default().resolve(&NetworkEnv::default());
    assert_eq!((window.min_window, window.min_rate), (Some(2), None));
    let rate = rate_form().resolve(&NetworkEnv::default());
    assert_eq!((rate.min_window, rate.min_rate), (None, Some(Rate::from_mbps(100))));
    assert_eq!((window.validate(), rate.validate()), (Ok(()), Ok(())));
}

#[test]
fn an_alpha_that_no_sum_would_tell_from_none_is_none() {
    // With g = 1/2 α halves in each round trip without a mark: it is 2^-n after n of them. 2^-121, which is 2^-120 g, is kept, and half of it is not.
    let params = Dctcp { g: 0.5, ..Dctcp::default() };
    for params in [params.clone(), Dctcp { form: Form::Rate, ..params }] {
        let mut sender = sender(&params);
        // Each ACK ends a round trip: of the packet before the next one to be sent. The first one of the rate form begins to count.
        let first = u64::from(params.form == Form::Rate);
        let after = |sender: &mut DctcpSender, trips: std::ops::RangeInclusive<u64>| {
            trips.for_each(|n| sender.on_ack(&ack((n + 1) * MSS, (n + 1) * MSS, Mark::None)));
            alpha(sender)
        };
        assert_eq!(after(&mut sender, 1..=121 + first), 0.5f64.powi(121));
        assert_eq!(after(&mut sender, 122 + first..=122 + first), 0.0);
    }
}
