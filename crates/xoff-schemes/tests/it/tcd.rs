//! TCD: max(T_on) by Equation 3, and the states and marks of Figures 6 and 9, by the paper's rules and by those of the
//! released simulator.

use crate::common::port_env;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::detector::red::Red;
use xoff_schemes::detector::tcd::{Tcd, TcdMarker};
use xoff_schemes::detector::ternary::Rules;
use xoff_schemes::{Detector, DetectorParams, Mark, PacketView, PortEnv, PortState, QueueView};

use Mark::{Ce, None as Unmarked, Ue};
use PortState::{Congestion, NonCongestion, Released, Undetermined};

/// A port with frames of 1,000 B and PFC that resumes two of them below Xoff.
fn port(gbps: u64, delay_us: u64) -> PortEnv {
    PortEnv { hysteresis: Some(Bytes(2_000)), ..port_env(Rate::from_gbps(gbps), Time::from_us(delay_us)) }
}

#[test]
fn the_longest_on_period_follows_from_the_link() {
    // Section 4.3: 34.4, 26.96 and 24.48 us at 40, 100 and 200 Gbps with epsilon 0.05, MTU 1,000 B and t_p 1 us. At 40
    // Gbps tau = 2 x 0.2 + 2 = 2.4 us, so (2 x 16,000 bit + 96,000 bit) / (0.1 x 40 Gbps) + 2.4 us = 32 + 2.4 us.
    let tcd = Tcd::default();
    for (gbps, delay_us, expected_ps) in [
        (40, 1, 34_400_000),
        (100, 1, 26_960_000),
        (200, 1, 24_480_000),
        (40, 4, 100_400_000), // tau = 8.4 us: (32,000 + 336,000) / 4 Gbps = 92 us, and 8.4 us
    ] {
        assert_eq!(tcd.max_on(&port(gbps, delay_us)), Time(expected_ps), "{gbps} Gbps, {delay_us} us");
    }
    // The testbed (5.1.1): Xoff 800 KB, Xon 770 KB, epsilon 0.04, tau 20 us, 10 Gbps: (480,000 + 200,000 bit) / (0.08 x
    // 10 Gbps) = 850 us, and 20 us.
    let given = Tcd {
        epsilon: 0.04,
        tau: Some(Time::from_us(20)),
        hysteresis: Some(Bytes(30_000)),
        ..Tcd::default()
    };
    assert_eq!(given.max_on(&port(10, 1)), Time::from_us(870));
    // Half of the link's rate to expect doubles it; what is given stands; and without flow control two frames count.
    assert_eq!(Tcd { share: 0.5, ..Tcd::default() }.max_on(&port(40, 1)), Time(68_800_000));
    assert_eq!(
        Tcd { max_on: Some(Time::from_us(97)), ..Tcd::default() }.max_on(&port(40, 4)),
        Time::from_us(97)
    );
    assert_eq!(tcd.max_on(&PortEnv { hysteresis: None, ..port(40, 1) }), Time(34_400_000));
}

/// A marker with max(T_on) and T of 100 us whose RED marks nothing up to 5 KB and everything above 6 KB, driven by time
/// in us and bytes.
struct Driven(TcdMarker);

fn params(rules: Rules) -> Tcd {
    let red = Red { k_min: Some(Bytes(5_000)), k_max: Some(Bytes(6_000)), p_max: 0.0, ..Red::default() };
    Tcd { rules, max_on: Some(Time::from_us(100)), red: Some(red), ..Tcd::default() }
}

impl Driven {
    fn new(rules: Rules) -> Self {
        Driven(params(rules).detector(&port(40, 4)))
    }
    fn at(now_us: u64, bytes: u64) -> QueueView {
        QueueView { now: Time::from_us(now_us), bytes }
    }
    fn resume(&mut self, now_us: u64, bytes: u64) {
        self.0.on_pause(&Driven::at(now_us - 1, bytes));
        self.0.on_resume(&Driven::at(now_us, bytes), &|| 0);
    }
    /// A packet leaves `bytes` behind: its mark and the state.
    fn leave(&mut self, now_us: u64, bytes: u64) -> (Mark, PortState) {
        let mark = self.0.on_dequeue(&Driven::at(now_us, bytes), &PacketView { flow: 0, bytes: 1_000 });
        (mark, self.0.state().expect("TCD tells states apart"))
    }
}

#[test]
fn a_port_that_was_never_stopped_is_as_in_a_lossy_network() {
    for rules in [Rules::Paper, Rules::Code] {
        let mut port = Driven::new(rules);
        assert_eq!(port.0.state(), Some(NonCongestion));
        assert_eq!(port.leave(1, 5_000), (Unmarked, NonCongestion));
        assert_eq!(port.leave(2, 6_001), (Ce, Congestion)); // transition 1
        assert_eq!(port.leave(3, 5_000), (Unmarked, NonCongestion)); // transition 2
    }
}

#[test]
fn between_the_thresholds_the_paper_goes_by_length_and_the_simulator_by_the_mark() {
    // 5,500 B: above K_min, where P_max = 0 marks nothing.
    let mut paper = Driven::new(Rules::Paper);
    assert_eq!(paper.leave(1, 5_500), (Unmarked, Congestion));
    let mut code = Driven::new(Rules::Code);
    assert_eq!(code.leave(1, 6_001), (Ce, Congestion));
    assert_eq!(code.leave(2, 5_500), (Unmarked, NonCongestion));
}

#[test]
fn with_a_gap_between_low_and_high_a_congested_queue_stays_so_until_low() {
    let low_and_high = Tcd { low: Some(Bytes(2_000)), high: Some(Bytes(5_500)), ..params(Rules::Paper) };
    let mut port = Driven(low_and_high.detector(&port(40, 4)));
    for (bytes, state) in
        [(5_500, NonCongestion), (5_501, Congestion), (2_001, Congestion), (2_000, NonCongestion)]
    {
        assert_eq!(port.leave(1, bytes).1, state, "{bytes} B");
    }
}

#[test]
fn up_to_max_on_a_port_is_undetermined_from_either_state() {
    for rules in [Rules::Paper, Rules::Code] {
        for (before, bytes) in [(NonCongestion, 0), (Congestion, 10_000)] {
            let mut port = Driven::new(rules);
            assert_eq!(port.leave(1, bytes).1, before);
            port.resume(1_000, 50_000);
            // Transitions 3 and 6: from the end of the OFF on, whatever is queued.
            assert_eq!(port.leave(1_000, 50_000), (Ue, Undetermined));
            assert_eq!(port.leave(1_099, 0), (Ue, Undetermined));
            // Each OFF restarts T_on.
            port.resume(1_150, 50_000);
            assert_eq!(port.leave(1_249, 50_000), (Ue, Undetermined));
        }
    }
}

#[test]
fn at_max_on_itself_the_paper_is_done_and_the_simulator_is_not() {
    // Paper: "if the current T_on is smaller than max(T_on)"; simulator: not greater.
    let mut paper = Driven::new(Rules::Paper);
    paper.resume(1_000, 50_000);
    paper.leave(1_000, 50_000);
    assert_eq!(paper.leave(1_100, 40_000), (Unmarked, Released));
    let mut code = Driven::new(Rules::Code);
    code.resume(1_000, 50_000);
    code.leave(1_000, 50_000);
    assert_eq!(code.leave(1_100, 40_000), (Ue, Undetermined));
    assert_eq!(code.leave(1_101, 40_000), (Unmarked, Released));
}

#[test]
fn a_stop_that_no_packet_followed_in_time_leaves_no_trace() {
    // Figure 9 looks as packets leave: T_on is past max(T_on), and LAST_STATE is not undetermined.
    for rules in [Rules::Paper, Rules::Code] {
        let mut port = Driven::new(rules);
        port.resume(1_000, 0);
        assert_eq!(port.leave(1_200, 10_000), (Ce, Congestion));
    }
}

#[test]
fn paper_a_queue_that_drains_is_never_marked_and_then_not_congested() {
    // Transition 4, and Figure 12: no CE while a queue above the threshold drains.
    let mut port = Driven::new(Rules::Paper);
    port.resume(1_000, 500_000);
    port.leave(1_001, 500_000);
    for (now, bytes) in
        [(1_100, 400_000), (1_150, 450_000), (1_200, 399_999), (1_300, 200_000), (1_310, 5_001)]
    {
        assert_eq!(port.leave(now, bytes), (Unmarked, Released), "{now} us");
    }
    assert_eq!(port.leave(1_320, 5_000), (Unmarked, NonCongestion)); // low = K_min, within a period
    assert_eq!(port.leave(1_330, 7_000), (Ce, Congestion)); // from there on as in a lossy network
}

#[test]
fn paper_a_queue_that_has_grown_in_a_period_is_congested() {
    // Transition 5. Periods of 100 us from the release at 1,100 us: 300 KB, then 300 KB (not grown), then 300,001 B.
    let mut port = Driven::new(Rules::Paper);
    port.resume(1_000, 500_000);
    port.leave(1_001, 500_000);
    assert_eq!(port.leave(1_100, 300_000), (Unmarked, Released));
    assert_eq!(port.leave(1_199, 400_000), (Unmarked, Released)); // the period is not over
    assert_eq!(port.leave(1_200, 300_000), (Unmarked, Released));
    assert_eq!(port.leave(1_300, 300_001), (Ce, Congestion));
    // Back to undetermined with the next OFF (transition 6).
    port.resume(1_400, 500_000);
    assert_eq!(port.leave(1_400, 500_000), (Ue, Undetermined));
}

#[test]
fn each_period_has_a_reference_of_its_own() {
    // Released with 300 KB at 1,100 us (1,101 us in the simulator), in periods of 100 us. The first ends with 200 KB and
    // begins the second, whose time and length count from then on: 250 KB are growth at the second one's end, and not
    // before, although the queue never has again what it had at its release.
    for (rules, released) in [(Rules::Paper, 1_100), (Rules::Code, 1_101)] {
        let mut port = Driven::new(rules);
        port.resume(1_000, 500_000);
        port.leave(1_001, 500_000);
        for (after, bytes) in [(0, 300_000), (100, 200_000), (110, 290_000), (199, 290_000)] {
            assert_eq!(port.leave(released + after, bytes), (Unmarked, Released), "{rules:?}, {after} us");
        }
        assert_eq!(port.leave(released + 200, 250_000), (Ce, Congestion), "{rules:?}");
    }
    // A peak of 400 KB within the first period is no growth: its two ends count.
    for rules in [Rules::Paper, Rules::Code] {
        let mut port = Driven::new(rules);
        port.resume(1_000, 500_000);
        port.leave(1_001, 500_000);
        for (now, bytes) in [(1_101, 300_000), (1_150, 400_000), (1_201, 290_000), (1_301, 290_000)] {
            assert_eq!(port.leave(now, bytes), (Unmarked, Released), "{rules:?}, {now} us");
        }
    }
}

#[test]
fn paper_a_queue_that_has_not_fallen_counts_where_no_growth_is_asked_for() {
    // Section 4.1 has it so: not congested if the queue decreases, "otherwise" congested. As above, but with `rise` 0 the
    // 300 KB of 1,100 us are congestion at 1,200 us already, and 299,999 B are not.
    let otherwise = Tcd { rise: Some(Bytes(0)), ..params(Rules::Paper) };
    for (bytes, expected) in [(300_000, (Ce, Congestion)), (299_999, (Unmarked, Released))] {
        let mut port = Driven(otherwise.detector(&port(40, 4)));
        port.resume(1_000, 500_000);
        port.leave(1_001, 500_000);
        assert_eq!(port.leave(1_100, 300_000), (Unmarked, Released));
        assert_eq!(port.leave(1_200, bytes), expected, "{bytes} B");
    }
}

#[test]
fn paper_growth_below_the_threshold_is_no_congestion() {
    // "Once the queue size increases in the current period T and exceeds the threshold": low 1 KB, high 5 KB.
    let low = Tcd { low: Some(Bytes(1_000)), ..params(Rules::Paper) };
    let mut port = Driven(low.detector(&port(40, 4)));
    port.resume(1_000, 4_000);
    port.leave(1_001, 4_000);
    assert_eq!(port.leave(1_100, 3_000), (Unmarked, Released));
    assert_eq!(port.leave(1_200, 5_000), (Unmarked, Released));
    // A new period has begun from 5,000 B: with 5,500 B it has grown beyond the threshold; RED itself marks no packet.
    assert_eq!(port.leave(1_300, 5_500), (Unmarked, Congestion));
}

#[test]
fn paper_a_queue_that_is_short_at_its_release_is_not_congested_at_once() {
    let mut port = Driven::new(Rules::Paper);
    port.resume(1_000, 50_000);
    port.leave(1_001, 50_000);
    assert_eq!(port.leave(1_100, 5_000), (Unmarked, NonCongestion));
}

#[test]
fn code_the_first_comparison_is_with_the_queue_at_the_resume() {
    // Not fallen since then: congested at once, and RED decides on the mark.
    let mut port = Driven::new(Rules::Code);
    port.resume(1_000, 50_000);
    port.leave(1_001, 60_000);
    assert_eq!(port.leave(1_101, 50_000), (Ce, Congestion));
    // Also where RED does not mark: 5,000 B at the resume and now.
    let mut port = Driven::new(Rules::Code);
    port.resume(1_000, 5_000);
    port.leave(1_001, 5_000);
    assert_eq!(port.leave(1_101, 5_000), (Unmarked, Congestion));
    assert_eq!(port.leave(1_102, 5_000), (Unmarked, NonCongestion));
}

#[test]
fn code_growth_is_nine_tenths_of_a_packet_whatever_the_length() {
    let mut port = Driven::new(Rules::Code);
    port.resume(1_000, 50_000);
    port.leave(1_001, 50_000);
    assert_eq!(port.leave(1_101, 3_000), (Unmarked, Released));
    assert_eq!(port.leave(1_200, 60_000), (Unmarked, Released)); // 99 us of the period
    assert_eq!(port.leave(1_201, 3_899), (Unmarked, Released)); // 899 B more are none
    assert_eq!(port.leave(1_301, 4_799), (Unmarked, Congestion)); // 900 B more are; RED marks none up to 5 KB
}

#[test]
fn code_two_frames_are_not_congested() {
    for now in [1_150, 1_250] {
        // Within a period, and at its end.
        let mut port = Driven::new(Rules::Code);
        port.resume(1_000, 50_000);
        port.leave(1_001, 50_000);
        assert_eq!(port.leave(1_101, 40_000), (Unmarked, Released));
        assert_eq!(port.leave(now - 1, 2_001), (Unmarked, Released));
        assert_eq!(port.leave(now, 2_000), (Unmarked, NonCongestion));
    }
}

#[test]
fn numbers_that_are_not_given_are_those_of_paper_and_simulator() {
    let paper = Driven::new(Rules::Paper).0;
    let limits = paper.limits();
    assert_eq!((limits.low, limits.high, limits.rise), (5_000, 5_000, 1));
    assert_eq!((limits.max_on, limits.period), (Time::from_us(100), Time::from_us(100))); // T = max(T_on)
    let code = Driven::new(Rules::Code).0;
    assert_eq!((code.limits().low, code.limits().rise), (2_000, 900));
    // A `high` below K_min takes `low` with it, and a `low` above K_min takes `high`.
    let low = Tcd { low: Some(Bytes(9_000)), ..params(Rules::Paper) }.detector(&port(40, 4));
    assert_eq!((low.limits().low, low.limits().high), (9_000, 9_000));
    let high = Tcd { high: Some(Bytes(1_000)), ..params(Rules::Paper) }.detector(&port(40, 4));
    assert_eq!((high.limits().low, high.limits().high), (1_000, 1_000));
    let given = Tcd { period: Some(Time::from_us(7)), rise: Some(Bytes(3)), ..params(Rules::Code) };
    let given = given.detector(&port(40, 4));
    assert_eq!((given.limits().period, given.limits().rise), (Time::from_us(7), 3));
}

#[test]
fn marks_are_ordered_so_that_ce_stays_and_ue_gives_way() {
    // Table 1: UE only where the packet is not CE; CE whenever the port is congested.
    assert!(Ce > Ue && Ue > Unmarked);
}

#[test]
fn parameters_out_of_range_are_refused_by_key() {
    let key = |tcd: Tcd| tcd.validate().unwrap_err().key;
    let at = |us| Some(Time::from_us(us));
    assert!(Tcd::default().validate().is_ok() && params(Rules::Code).validate().is_ok());
    assert_eq!(key(Tcd { epsilon: 0.0, ..Tcd::default() }), "epsilon");
    assert_eq!(key(Tcd { share: 1.5, ..Tcd::default() }), "share");
    assert_eq!(key(Tcd { max_on: at(0), ..Tcd::default() }), "max_on");
    assert_eq!(key(Tcd { tau: at(0), ..Tcd::default() }), "tau");
    assert_eq!(key(Tcd { period: at(0), ..Tcd::default() }), "period");
    assert_eq!(key(Tcd { low: Some(Bytes(2)), high: Some(Bytes(1)), ..Tcd::default() }), "low");
    assert_eq!(key(Tcd { high: Some(Bytes(1)), ..params(Rules::Code) }), "high");
    for beside_max_on in [
        Tcd { epsilon: 0.1, ..params(Rules::Paper) },
        Tcd { tau: at(1), ..params(Rules::Paper) },
        Tcd { hysteresis: Some(Bytes(1)), ..params(Rules::Paper) },
        Tcd { share: 0.5, ..params(Rules::Paper) },
    ] {
        assert!(beside_max_on.validate().unwrap_err().found.contains("beside `max_on`"));
    }
    for (red, nested) in [
        (Red { k_min: Some(Bytes(2)), k_max: Some(Bytes(1)), ..Red::default() }, "red.k_min"),
        (Red { k_max: Some(Bytes(1)), ..Red::default() }, "red.k_max"),
        (Red { p_max: 2.0, ..Red::default() }, "red.p_max"),
        (Red { step: Some(Bytes(0)), ..Red::default() }, "red.step"),
    ] {
        assert_eq!(key(Tcd { red: Some(red), ..Tcd::default() }), nested);
    }
}

#[test]
fn a_rate_that_the_wrapped_red_does_not_list_is_refused() {
    let json =
        serde_json::json!({ "red": { "rates": [{ "rate": "40Gbps", "k_min": "5KB", "k_max": "200KB" }] } });
    let tcd: Tcd = serde_json::from_value(json).expect("valid");
    assert!(tcd.accepts(Rate::from_gbps(40)).is_ok());
    assert_eq!(tcd.accepts(Rate::from_gbps(100)).unwrap_err().key, "red.rates");
}
