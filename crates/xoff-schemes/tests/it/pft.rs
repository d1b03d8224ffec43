//! PFT: states by Algorithms 1 and 2, intervals by Equation 1, against numbers worked by hand. Where nothing else is said
//! the core's clock is 1 GHz, a cycle so 1 ns, and a packet of 1,250 B takes 100 ns on the link of 100 Gbps.

use serde_json::json;
use xoff_engine::{Bytes, Rate, Time};
use xoff_schemes::throttle::pft::{Interval, Pft, PftGate, Reading, Threshold};
use xoff_schemes::{AnyThrottle, Throttle, ThrottleEnv, ThrottleParams, ThrottleState, throttle};

use ThrottleState::{Congested, Normal};

const PACKET: u64 = 1_250;

fn gate(params: &Pft) -> PftGate {
    assert_eq!(params.validate(), Ok(()));
    params.throttle(&ThrottleEnv { rate: Rate::from_gbps(100) })
}

/// FT at 10 and 5 credits and RI with f = c x 2^18 of 2^28: half the rate at 512, a quarter at 768, none at 1,024.
fn ft_ri() -> Pft {
    Pft {
        threshold: Threshold::Fixed,
        threshold_enter: Some(10),
        threshold_escape: Some(5),
        clock_mhz: Some(1_000),
        ..Pft::default()
    }
}

/// FT at 10 and 5 credits and FI with as many idle cycles as credits.
fn ft_fi() -> Pft {
    Pft { interval: Interval::Fixed, n: Some(0), ..ft_ri() }
}

/// AT with windows of 10 cycles of which 4 count, above 5 credits and below 3.
fn at_ri() -> Pft {
    Pft {
        threshold_enter: Some(5),
        threshold_escape: Some(3),
        enter_window: Some(10),
        enter_count: Some(4),
        escape_window: Some(10),
        escape_count: Some(4),
        clock_mhz: Some(1_000),
        ..Pft::default()
    }
}

/// Sets used credits at times in ps, goes on to `end`, and says when the state changed to what.
fn changes(params: &Pft, used: &[(u64, u64)], end: u64) -> Vec<(u64, ThrottleState)> {
    let (mut gate, mut changes) = (gate(params), vec![]);
    for &(now, used) in used {
        gate.used_credits(Time(now), used, &mut changes);
    }
    gate.ready_at(Time(end), &mut changes);
    assert_eq!(gate.state(), changes.last().map_or(Normal, |(_, state)| *state));
    changes.into_iter().map(|(at, state)| (at.ps(), state)).collect()
}

#[test]
fn the_papers_best_setting_is_the_default() {
    // 1 - 592/1024, 1 - 672/1024, and nothing from 1,024 on.
    let pft = Pft::default();
    for (used, rate) in [(0, 1.0), (592, 0.421_875), (672, 0.343_75), (1_024, 0.0), (4_096, 0.0)] {
        assert_eq!(pft.injection_rate(used), rate, "{used} credits");
    }
    let resolved = pft.resolve();
    assert_eq!((resolved.threshold, resolved.interval), (Threshold::Average, Interval::Random));
    assert_eq!((resolved.m, resolved.n, resolved.k), (Some(18), Some(0), 0));
    assert_eq!((resolved.threshold_enter, resolved.threshold_escape), (Some(0x250), Some(0x2a0)));
}

#[test]
fn random_intervals_follow_equation_1() {
    // Figure 1(b), m = 15 to 22 with b = 28: the rate is nothing from c = 2^(28 - m) on, and a half at half of that.
    for m in 15..=22 {
        let pft = Pft { m: Some(m), ..Pft::default() };
        let end = 1 << (28 - m);
        assert_eq!((pft.injection_rate(end), pft.injection_rate(end / 2)), (0.0, 0.5), "m = {m}");
    }
    // b = 32: 1 - 592 x 2^18 / 2^32; and k counts in units of the random number.
    let wide = Pft { random_bits: Some(32), ..Pft::default() };
    assert_eq!(wide.injection_rate(592), 1.0 - 592.0 / 16_384.0);
    let added = Pft { k: 1 << 27, m: Some(0), ..Pft::default() };
    assert_eq!(added.injection_rate(0), 0.5);
}

#[test]
fn fixed_intervals_follow_equation_1_in_whole_cycles() {
    let rate = |m, n, k, used| {
        let (m, n) = (Some(m), Some(n));
        Pft { interval: Interval::Fixed, m, n, k, ..Pft::default() }.injection_rate(used)
    };
    // 592 >> 8 = 2, >> 9 = 1, >> 10 = 0; >> 12 does nothing before 4,096.
    assert_eq!([8, 9, 10].map(|n| rate(0, n, 0, 592)), [1.0 / 3.0, 0.5, 1.0]);
    assert_eq!([4_095, 4_096].map(|used| rate(0, 12, 0, used)), [1.0, 0.5]);
    // k is added, and m shifts left first: 10 << 2 >> 1 = 20; 3 >> 1 << 2 would be 4, 3 << 2 >> 1 is 6.
    assert_eq!((rate(0, 10, 3, 592), rate(2, 1, 0, 10), rate(2, 1, 0, 3)), (0.25, 1.0 / 21.0, 1.0 / 7.0));
    // No overflow: 2^64 - 1 credits, shifted by 40.
    assert!(rate(40, 0, 1, u64::MAX) > 0.0);
}

#[test]
fn a_fixed_threshold_looks_at_the_moment() {
    // Algorithm 1: above t_e, below t_s.
    let used = [(100, 10), (200, 11), (300, 5), (400, 4), (500, 5), (600, 11)];
    assert_eq!(changes(&ft_ri(), &used, 700), [(200, Congested), (400, Normal), (600, Congested)]);
}

#[test]
fn an_average_threshold_counts_cycles_of_a_window() {
    // Cycles end at whole ns. 6 credits from 2.5 ns on: cycles 3 to 6 count.
    let entered = (6_000, Congested);
    assert_eq!(changes(&at_ri(), &[(2_500, 6)], 9_000), [entered]);
    assert_eq!(changes(&at_ri(), &[(2_500, 6)], 5_999), []);
    // 5 are not above the threshold.
    assert_eq!(changes(&at_ri(), &[(2_500, 5)], 9_000), []);
    // Three cycles (8 to 10) of the first window, and three of the next (18 to 20): never four in one.
    let apart = [(7_500, 6), (10_500, 0), (17_500, 6), (20_500, 0)];
    assert_eq!(changes(&at_ri(), &apart, 100_000), []);
    // They need not follow one another: 1, 3, 5, 7.
    let scattered = [(0, 6), (1_500, 0), (2_500, 6), (3_500, 0), (4_500, 6), (5_500, 0), (6_500, 6)];
    assert_eq!(changes(&at_ri(), &scattered, 7_000), [(7_000, Congested)]);
    // Congested since 6 ns, a window of its own begins: 2 credits from 8.2 ns on count in cycles 9 to 12.
    assert_eq!(changes(&at_ri(), &[(2_500, 6), (8_200, 2)], 50_000), [entered, (12_000, Normal)]);
    // 3 are not below the threshold; and three of each window are not enough: 7 to 9, then 17 to 19.
    assert_eq!(changes(&at_ri(), &[(2_500, 6), (6_500, 3)], 50_000), [entered]);
    let apart = [(2_500, 6), (6_000, 0), (9_000, 6), (16_000, 0), (19_000, 6)];
    assert_eq!(changes(&at_ri(), &apart, 50_000), [entered]);
}

#[test]
fn with_thresholds_the_other_way_round_the_state_swings() {
    // 7 credits are above 5 and below 10: four cycles in each state.
    let swinging = Pft { threshold_escape: Some(10), ..at_ri() };
    let expected = [(4_000, Congested), (8_000, Normal), (12_000, Congested)];
    assert_eq!(changes(&swinging, &[(0, 7)], 15_000), expected);
}

#[test]
fn windows_count_the_cores_cycles() {
    // At 700 MHz cycle 7 ends at 10 ns, cycle 1 at 1,428.57 ps: in the 1,429th picosecond.
    let slow = |count| Pft { enter_count: Some(count), clock_mhz: None, ..at_ri() };
    assert_eq!(changes(&slow(7), &[(0, 6)], 12_000), [(10_000, Congested)]);
    assert_eq!(changes(&slow(1), &[(0, 6)], 1_500), [(1_429, Congested)]);
}

#[test]
fn algorithm_2_as_printed_keeps_its_counters() {
    let printed = |escape_count| Pft {
        reading: Some(Reading::Literal),
        threshold_escape: Some(6),
        escape_count: Some(escape_count),
        ..at_ri()
    };
    // With T_e' = T_s' line 30 undoes line 15 in the same cycle.
    assert_eq!(changes(&printed(4), &[(0, 7)], 1_000_000), []);
    // With T_s' = 3 it enters with cycle 4, whose Congested block counts a cycle as well: cycle_count 5, congested_count
    // 4. No credits from 4.5 ns on: 5, 6, 7 and 8 with cycles 5 to 8, all beyond 3; cycle 9 ends the window; cycle 10
    // (cycle_count 10 -> 0), 11 and 12 count 1, 2 and 3.
    let used = [(0, 7), (4_500, 0)];
    assert_eq!(changes(&printed(3), &used, 50_000), [(4_000, Congested), (12_000, Normal)]);
    // Repaired: cycles 5 to 7.
    let repaired = Pft { reading: None, ..printed(3) };
    assert_eq!(changes(&repaired, &used, 50_000), [(4_000, Congested), (7_000, Normal)]);
}

/// When the next packet may begin, in ps.
fn ready(gate: &mut PftGate, now: u64) -> u64 {
    gate.ready_at(Time(now), &mut vec![]).ps()
}

fn send(gate: &mut PftGate, now: u64) {
    gate.on_send(Time(now), PACKET, &mut vec![]);
}

fn set(gate: &mut PftGate, now: u64, used: u64) {
    gate.used_credits(Time(now), used, &mut vec![]);
}

#[test]
fn a_normal_port_holds_nothing_back() {
    for params in [ft_ri(), ft_fi(), at_ri(), Pft { flit: Some(Bytes(1)), ..ft_fi() }] {
        let mut gate = gate(&params);
        assert_eq!(ready(&mut gate, 0), 0);
        send(&mut gate, 1_000);
        assert_eq!(ready(&mut gate, 1_000), 1_000);
    }
}

#[test]
fn random_intervals_stretch_a_packet_by_the_rate_of_each_moment() {
    let mut gate = gate(&ft_ri());
    set(&mut gate, 0, 512);
    assert_eq!(ready(&mut gate, 0), 0); // the first packet follows none
    send(&mut gate, 0);
    assert_eq!(ready(&mut gate, 0), 200_000);
    // Half of it is through at 100 ns: at a quarter of the rate the other half takes 200 ns.
    set(&mut gate, 100_000, 768);
    assert_eq!(ready(&mut gate, 100_000), 300_000);
    assert_eq!(ready(&mut gate, 150_000), 300_000);
    // A quarter is left at 200 ns, when nothing goes any more, until 500 ns; then it takes 50 ns.
    set(&mut gate, 200_000, 1_024);
    assert_eq!(ready(&mut gate, 200_000), Time::NEVER.ps());
    set(&mut gate, 500_000, 512);
    assert_eq!(ready(&mut gate, 500_000), 550_000);
    // Normal: at once.
    set(&mut gate, 520_000, 4);
    assert_eq!(ready(&mut gate, 520_000), 520_000);
    // What is through stays so, however late it is asked.
    set(&mut gate, 530_000, 512);
    send(&mut gate, 530_000);
    assert_eq!(ready(&mut gate, 800_000), 800_000);
    // 100 ns / 0.421875 = 237,037.04 ps.
    set(&mut gate, 900_000, 592);
    send(&mut gate, 900_000);
    assert_eq!(ready(&mut gate, 900_000), 900_000 + 237_038);
}

#[test]
fn fixed_intervals_stretch_it_by_idle_cycles() {
    let mut gate = gate(&ft_fi());
    // Normal for the first 40 ns, then 11 idle cycles after each flit: (100 - 40) x 12.
    send(&mut gate, 0);
    set(&mut gate, 40_000, 11);
    assert_eq!(ready(&mut gate, 40_000), 760_000);
    // At 400 ns 30 ns of it are left: x 20.
    set(&mut gate, 400_000, 19);
    assert_eq!(ready(&mut gate, 400_000), 1_000_000);
    // A new packet restarts, though one in the Normal state was not through.
    set(&mut gate, 450_000, 0);
    send(&mut gate, 450_000);
    set(&mut gate, 450_000, 11);
    assert_eq!(ready(&mut gate, 450_000), 450_000 + 1_200_000);
}

#[test]
fn a_change_of_state_that_comes_by_itself_lets_packets_go() {
    // 1,024 credits: nothing goes while Congested, and the state swings every four cycles (escape at 2,000).
    let mut gate = gate(&Pft { threshold_escape: Some(2_000), ..at_ri() });
    set(&mut gate, 0, 1_024);
    send(&mut gate, 0);
    assert_eq!(ready(&mut gate, 3_000), 3_000);
    assert_eq!(ready(&mut gate, 5_000), 8_000);
    assert_eq!(ready(&mut gate, 8_000), 8_000);
    // At half the rate the packet's 100 ns would take longer than that; one of 1 B, 80 ps, is through in 160 ps.
    set(&mut gate, 12_000, 512);
    assert_eq!(ready(&mut gate, 12_000), 16_000);
    gate.on_send(Time(12_000), 1, &mut vec![]);
    assert_eq!(ready(&mut gate, 12_000), 12_160);
}

#[test]
fn flits_of_a_given_size_take_a_cycle_each() {
    // 1,250 B are 79 flits of 16 B. At 1 GHz with one idle cycle after each: 158 ns.
    let flits = Pft { flit: Some(Bytes(16)), k: 1, m: Some(0), n: Some(40), ..ft_fi() };
    let mut one_idle = gate(&flits);
    set(&mut one_idle, 0, 11);
    send(&mut one_idle, 0);
    assert_eq!(ready(&mut one_idle, 0), 158_000);
    // At 700 MHz without idle cycles: 79 x 1,428.571 = 112,857.1 ps, more than the 100 ns on the wire.
    let mut none_idle = gate(&Pft { k: 0, clock_mhz: None, ..flits });
    set(&mut none_idle, 0, 11);
    send(&mut none_idle, 0);
    assert_eq!(ready(&mut none_idle, 0), 112_858);
}

#[test]
fn the_registry_knows_it() {
    assert_eq!(AnyThrottle::NAMES, ["pft"]);
    for info in throttle::catalogue() {
        let properties = info.schema["properties"].as_object().cloned().unwrap_or_default();
        assert_eq!(properties.len(), info.defaults.as_object().map_or(0, |d| d.len()));
        for (key, schema) in properties {
            assert!(schema["description"].as_str().is_some_and(|d| d.len() > 20), "{key}");
        }
        let default = AnyThrottle::read(info.name, json!({})).unwrap().unwrap();
        assert_eq!((default.validate(), default.name()), (Ok(()), info.name));
        let resolved = default.resolve();
        assert_eq!(resolved.validate(), Ok(()));
        let written = serde_json::to_value(&resolved).unwrap();
        let back: AnyThrottle = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&back).unwrap(), written);
        assert!(AnyThrottle::read(info.name, json!({ "no_such_key": 1 })).unwrap().is_err());
        let mut gate = resolved.throttle(&ThrottleEnv { rate: Rate::from_gbps(100) });
        let mut changes = vec![];
        gate.used_credits(Time::ZERO, 600, &mut changes);
        gate.on_send(Time::ZERO, PACKET, &mut changes);
        // 512 cycles of 700 MHz: 731.43 ns. Then Congested, and the packet is long through.
        assert_eq!(gate.ready_at(Time::from_us(1), &mut changes), Time::from_us(1));
        assert_eq!((changes, gate.state()), (vec![(Time(731_429), Congested)], Congested));
    }
    assert!(AnyThrottle::read("ptf", json!({})).is_none());
    assert_eq!([Normal.name(), Congested.name()], ["normal", "congested"]);
}

#[test]
fn parameters_out_of_range_are_refused_by_key() {
    let key = |params: Pft| params.validate().unwrap_err().key;
    let ok = Pft::default;
    for params in [ok(), ft_ri(), ft_fi(), at_ri(), ok().resolve(), ft_fi().resolve()] {
        assert_eq!(params.validate(), Ok(()));
    }
    assert_eq!(Pft { threshold: Threshold::Fixed, ..ok() }.validate(), Ok(()));
    assert_eq!(key(Pft { m: Some(41), ..ok() }), "m");
    assert_eq!(key(Pft { n: Some(41), ..ok() }), "n");
    for bits in [0, 41] {
        assert_eq!(key(Pft { random_bits: Some(bits), ..ok() }), "random_bits");
    }
    assert_eq!(key(Pft { random_bits: Some(28), ..ft_fi() }), "random_bits");
    // FT needs t_e >= t_s; AT does not.
    assert_eq!(key(Pft { threshold_escape: Some(11), ..ft_ri() }), "threshold_escape");
    assert_eq!(Pft { threshold_escape: Some(10), ..ft_ri() }.validate(), Ok(()));
    for window in [1, 1_000_001] {
        assert_eq!(key(Pft { enter_window: Some(window), ..ok() }), "enter_window");
        assert_eq!(key(Pft { escape_window: Some(window), ..ok() }), "escape_window");
    }
    for count in [0, 1_024] {
        assert_eq!(key(Pft { enter_count: Some(count), ..ok() }), "enter_count");
        assert_eq!(key(Pft { escape_count: Some(count), ..ok() }), "escape_count");
    }
    assert_eq!(key(Pft { enter_window: Some(9), ..ft_ri() }), "enter_window");
    assert_eq!(key(Pft { reading: Some(Reading::Literal), ..ft_ri() }), "reading");
    for mhz in [0, 100_001] {
        assert_eq!(key(Pft { clock_mhz: Some(mhz), ..ok() }), "clock_mhz");
    }
    assert_eq!(key(Pft { flit: Some(Bytes(0)), ..ok() }), "flit");
}

#[test]
fn a_gate_cares_for_credits_on_both_sides_of_a_threshold() {
    // With c >> 10 idle cycles 100 and 101 credits hold back alike, but 101 > t_e = 100 makes the port Congested, and
    // 100 < t_s = 101 makes it Normal.
    let alike = Pft { m: Some(0), n: Some(10), threshold_enter: Some(100), ..ft_fi() };
    let mut gate = gate(&Pft { threshold_escape: Some(100), ..alike });
    assert!(gate.is_indifferent(0, 100) && !gate.is_indifferent(100, 101));
    let mut changes = vec![];
    gate.used_credits(Time::ZERO, 101, &mut changes);
    assert_eq!(gate.state(), Congested);
    assert!(
        gate.is_indifferent(101, 1_023) && !gate.is_indifferent(99, 100) && !gate.is_indifferent(100, 101)
    );
    assert!(!gate.is_indifferent(1_023, 1_024), "another interval");
}
