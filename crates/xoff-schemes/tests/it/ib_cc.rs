//! InfiniBand congestion control against numbers worked by hand, on a link of 40 Gbps.

use crate::common::flow_env;
use xoff_engine::{Rate, Time};
use xoff_schemes::ib_cc::table::{Entry, Shape};
use xoff_schemes::ib_cc::{Becn, IbCc, Scope, Sender, Undetermined};
use xoff_schemes::int::IntStack;
use xoff_schemes::{
    Ack, Arrival, Cnp, FlowEnv, Mark, NetworkEnv, NotificationPoint, ReactionPoint, Scheme, SlEnv,
};

const LINE: Rate = Rate::from_gbps(40);

fn env() -> FlowEnv {
    flow_env(LINE, Time::from_us(20))
}

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn ack(now: Time, mark: Mark) -> Ack<'static> {
    Ack {
        now,
        seq: 1_456,
        newly_acked: 1_456,
        snd_nxt: 14_560,
        packet: 0,
        next_packet: 10,
        rtt: None,
        mark,
        flow_count: 0,
        label: 0,
        int: IntStack::default(),
    }
}

/// Rate over line rate at an index.
fn share(params: &IbCc, i: u16) -> f64 {
    params.table().entry(i).rate(LINE).bps() as f64 / LINE.bps() as f64
}

fn shape(cct: Shape) -> IbCc {
    IbCc { cct, ..IbCc::default() }
}

#[test]
fn the_quadratic_table_halves_the_rate_at_36() {
    // 8 x 7 x 36^2 / 95^2 = 72,576 / 9,025 = 8.04, so 8/8: one packet's time of delay. 127: 903,224 / 9,025 = 100.08, so
    // 100/8 = 12.5: 1/13.5. 6: 2,016 / 9,025 = 0.22 rounds to none, 7: 2,744 / 9,025 = 0.30 too, 9: 4,536 / 9,025 = 0.503
    // to an eighth.
    let table = IbCc::default().table();
    for (i, multiplier) in [(0, 0), (6, 0), (7, 0), (8, 0), (9, 1), (36, 8), (127, 100)] {
        assert_eq!(table.entry(i), Entry { multiplier, shift: 3 }, "index {i}");
    }
    assert_eq!(table.entry(0).rate(LINE), LINE);
    assert_eq!(table.entry(36).rate(LINE), Rate::from_gbps(20));
    assert_eq!(table.entry(127).rate(LINE), Rate(2_962_962_962)); // 40 Gbps / 13.5
    assert!((0..127).all(|i| table.entry(i).multiplier <= table.entry(i + 1).multiplier));
}

#[test]
fn the_other_tables_have_their_formulas() {
    // 7 x 127^2 = 112,903. mellanox: / (9,025 x 0.218 = 1,967.45) = 57.39, whole packets. simula: / (11,236 x 0.218 =
    // 2,449.448) = 46.09 eighths. ibsim: 8 x 3,300 x 16,129 / (6,889 x 512) = 120.7 eighths.
    let last = |params: &IbCc| params.table().entry(127);
    assert_eq!(last(&shape(Shape::Mellanox)), Entry { multiplier: 57, shift: 0 });
    assert_eq!(last(&shape(Shape::Simula)), Entry { multiplier: 46, shift: 3 });
    assert_eq!(last(&shape(Shape::Ibsim)), Entry { multiplier: 121, shift: 3 });
    let simula = shape(Shape::Simula).table().entry(127);
    assert_eq!(simula.rate(LINE), Rate(5_925_925_925)); // 1 / (1 + 46/8) = 8/54
    // With k = 0.408: 112,903 / 3,682.2 = 30.66, and / 4,584.288 = 24.63.
    let other = |cct| IbCc { fabric_constant: Some(0.408), ..shape(cct) };
    assert_eq!(last(&other(Shape::Mellanox)).multiplier, 30);
    assert_eq!(last(&other(Shape::Simula)).multiplier, 24);
    // Rounded down: at 16 mellanox is 1,792 / 1,967.45, below one packet; at 17 it is 2,023.
    let mellanox = shape(Shape::Mellanox).table();
    assert_eq!((mellanox.entry(16).multiplier, mellanox.entry(17).multiplier), (0, 1));
    // A constant of 0.001 is beyond 14 bits nowhere: 112,903 / 9.025 = 12,510.
    let least = IbCc { fabric_constant: Some(0.001), ..shape(Shape::Mellanox) };
    assert_eq!(last(&least).multiplier, 12_510);
    // The constant is shown where a shape has one.
    let shown = |cct| shape(cct).resolve(&NetworkEnv::default()).fabric_constant;
    assert_eq!((shown(Shape::Simula), shown(Shape::Mellanox)), (Some(0.218), Some(0.218)));
    assert_eq!(shown(Shape::Ibsim), None);
}

#[test]
fn a_table_ends_with_its_last_entry() {
    // A formula's table has 128 entries, and this list has two: what is beyond has the last one.
    for params in [shape(Shape::Quadratic), shape(Shape::Mellanox), shape(Shape::Simula), shape(Shape::Ibsim)]
    {
        let table = params.table();
        assert_ne!(table.entry(127), table.entry(120));
        assert_eq!([128, u16::MAX].map(|i| table.entry(i)), [table.entry(127); 2]);
    }
    let list = IbCc { multipliers: vec![0, 5], shift: Some(2), ..shape(Shape::List) }.table();
    assert_eq!([2, u16::MAX].map(|i| list.entry(i)), [Entry { multiplier: 5, shift: 2 }; 2]);
}

#[test]
fn a_list_is_taken_as_it_stands() {
    // Multipliers 0, 1 and 16,383 with shift 0: all, a half, 1/16,384.
    let list = IbCc { multipliers: vec![0, 1, 16_383], shift: Some(0), ..shape(Shape::List) };
    assert_eq!(list.validate(), Ok(()));
    assert_eq!((0..3).map(|i| share(&list, i)).collect::<Vec<_>>()[..2], [1.0, 0.5]);
    assert_eq!(list.table().entry(2).rate(LINE), Rate(40_000_000_000 / 16_384));
    // Without a shift they are eighths; and the last index is the limit.
    let eighths = IbCc { shift: None, ..list };
    assert_eq!(eighths.table().entry(1), Entry { multiplier: 1, shift: 3 });
    let mut sender = eighths.resolve(&NetworkEnv::default()).reaction(&env());
    for _ in 0..5 {
        sender.on_ack(&ack(us(1), Mark::Ce));
    }
    assert_eq!(sender.ccti(), 2);
}

fn sender(params: &IbCc) -> Sender {
    params.clone().resolve(&NetworkEnv::default()).reaction(&env())
}

#[test]
fn a_becn_raises_the_index_and_the_timer_lowers_it() {
    let mut sender = sender(&IbCc::default());
    assert_eq!((sender.rate(), sender.window(), sender.next_timer()), (LINE, u64::MAX, Time::NEVER));
    // ACKs without BECN do nothing.
    sender.on_ack(&ack(us(1), Mark::None));
    assert_eq!((sender.ccti(), sender.next_timer()), (0, Time::NEVER));
    for n in 1..=36 {
        sender.on_ack(&ack(us(10), Mark::Ce));
        assert_eq!(sender.ccti(), n);
    }
    assert_eq!(sender.rate(), Rate::from_gbps(20));
    // 150 x 1.024 us = 153.6 us after the first BECN.
    assert_eq!(sender.next_timer(), Time::from_ns(163_600));
    sender.on_timer(Time::from_ns(163_600));
    // 35: 8 x 7 x 1,225 / 9,025 = 7.6, so 8 eighths as well; 33: 6.76, so 7: 40 Gbps x 8/15.
    assert_eq!((sender.ccti(), sender.rate()), (35, Rate::from_gbps(20)));
    assert_eq!(sender.next_timer(), Time::from_ns(317_200));
    sender.on_timer(Time::from_ns(317_200));
    sender.on_timer(Time::from_ns(470_800));
    assert_eq!((sender.ccti(), sender.rate()), (33, Rate(21_333_333_333)));
}

#[test]
fn a_becn_does_not_start_a_running_timer_anew_and_it_stops_at_the_least_index() {
    let mut sender = sender(&IbCc { ccti_timer: us(100), ..IbCc::default() });
    sender.on_ack(&ack(us(10), Mark::Ce));
    sender.on_ack(&ack(us(90), Mark::Ce));
    assert_eq!((sender.ccti(), sender.next_timer()), (2, us(110)));
    // A BECN at the moment at which the timer expires comes after it: 2 - 1 + 1.
    sender.on_ack(&ack(us(110), Mark::Ce));
    assert_eq!((sender.ccti(), sender.next_timer()), (2, us(210)));
    sender.on_timer(us(210));
    assert_eq!((sender.ccti(), sender.next_timer()), (1, us(310)));
    sender.on_timer(us(310));
    assert_eq!((sender.ccti(), sender.next_timer()), (0, Time::NEVER));
    // The next one starts it.
    sender.on_ack(&ack(us(1_000), Mark::Ce));
    assert_eq!((sender.ccti(), sender.next_timer()), (1, us(1_100)));
}

#[test]
fn the_index_stays_between_its_bounds() {
    let bounds = IbCc {
        ccti_increase: 30,
        ccti_limit: Some(36),
        ccti_min: 20,
        ccti_timer: us(100),
        ..IbCc::default()
    };
    let mut sender = sender(&bounds);
    // A flow starts at the minimum index: 8 x 7 x 400 / 9,025 = 2.48, so 2 eighths, 40 Gbps x 8/10.
    assert_eq!((sender.ccti(), sender.rate()), (20, Rate::from_gbps(32)));
    assert_eq!(sender.next_timer(), Time::NEVER);
    sender.on_ack(&ack(us(10), Mark::Ce));
    assert_eq!((sender.ccti(), sender.next_timer()), (36, us(110)));
    // All steps that are due: 16 of them, and no more.
    sender.on_timer(us(10 + 15 * 100));
    assert_eq!((sender.ccti(), sender.next_timer()), (21, us(1_610)));
    sender.on_timer(us(5_000));
    assert_eq!((sender.ccti(), sender.next_timer()), (20, Time::NEVER));
    // Where the bounds are one there is nothing to raise, and no timer.
    let mut fixed = self::sender(&IbCc { ccti_limit: Some(20), ..bounds });
    fixed.on_ack(&ack(us(10), Mark::Ce));
    assert_eq!((fixed.ccti(), fixed.next_timer()), (20, Time::NEVER));
}

#[test]
fn under_tcd_ce_raises_by_two_and_ue_updates_nothing() {
    // Section 5.2.2.
    let tcd = IbCc { ccti_increase: 2, ccti_timer: us(100), ..IbCc::default() };
    let mut ignoring = sender(&tcd);
    ignoring.on_ack(&ack(us(1), Mark::Ue));
    assert_eq!((ignoring.ccti(), ignoring.next_timer()), (0, Time::NEVER));
    ignoring.on_ack(&ack(us(10), Mark::Ce));
    ignoring.on_ack(&ack(us(50), Mark::Ue));
    assert_eq!((ignoring.ccti(), ignoring.next_timer()), (2, us(110)));
    // Held: no timer starts, but one that runs does so anew.
    let mut holding = sender(&IbCc { undetermined: Undetermined::Hold, ..tcd });
    holding.on_ack(&ack(us(1), Mark::Ue));
    assert_eq!((holding.ccti(), holding.next_timer()), (0, Time::NEVER));
    holding.on_ack(&ack(us(10), Mark::Ce));
    holding.on_ack(&ack(us(50), Mark::Ue));
    assert_eq!((holding.ccti(), holding.next_timer()), (2, us(150)));
    // A step that is due comes before it: 2 - 1, and then from 250 us on.
    holding.on_ack(&ack(us(150), Mark::Ue));
    assert_eq!((holding.ccti(), holding.next_timer()), (1, us(250)));
}

#[test]
fn a_service_level_has_one_index_for_all_its_flows() {
    let by_sl = IbCc { scope: Scope::Sl, ccti_min: 9, ccti_timer: us(100), ..IbCc::default() };
    assert!(IbCc::default().sl_reaction(&SlEnv { line_rate: LINE }).is_none());
    let mut lane = by_sl.sl_reaction(&SlEnv { line_rate: LINE }).expect("a lane");
    // Index 9 is 1/8 of delay: 40 Gbps x 8/9. BECNs of whatever flow raise it: 27 of them to 36, half the rate.
    assert_eq!((lane.ccti(), lane.rate(), lane.next_timer()), (9, Rate(35_555_555_555), Time::NEVER));
    for _ in 0..27 {
        lane.on_ack(&ack(us(10), Mark::Ce));
    }
    assert_eq!((lane.ccti(), lane.rate(), lane.next_timer()), (36, Rate::from_gbps(20), us(110)));
    lane.on_timer(us(110));
    assert_eq!((lane.ccti(), lane.next_timer()), (35, us(210)));
    // What the flows have of their own never holds them back further: it stays at the minimum index.
    let mut flow = sender(&by_sl);
    flow.on_ack(&ack(us(10), Mark::Ce));
    assert_eq!((flow.ccti(), flow.rate(), flow.next_timer()), (9, Rate(35_555_555_555), Time::NEVER));
    // BECNs as CNPs likewise.
    let by_cnp = IbCc { becn: Becn::Cnp, ccti_increase: 2, ..by_sl };
    let mut lane = by_cnp.sl_reaction(&SlEnv { line_rate: LINE }).expect("a lane");
    lane.on_ack(&ack(us(10), Mark::Ce));
    assert_eq!(lane.ccti(), 9);
    lane.on_cnp(us(10), &Cnp { mark: Mark::Ce, rate: None });
    assert_eq!(lane.ccti(), 11);
}

#[test]
fn an_ack_without_a_mark_changes_nothing() {
    // It says so, and need not be told of such ACKs. A BECN at 1 us raises the index to 1, and the timer ends 153.6 us later; an ACK
    // without BECN changes neither, not even after that time, which is the timer's own.
    let params = IbCc::default();
    assert!(params.signals().acks && params.signals().marked_acks_only);
    let mut sender = sender(&params);
    sender.on_ack(&ack(us(1), Mark::Ce));
    let state = |sender: &Sender| (sender.ccti(), sender.rate(), sender.window(), sender.next_timer());
    let before = state(&sender);
    assert_eq!((before.0, before.3), (1, Time::from_ns(154_600)));
    sender.on_ack(&ack(us(100), Mark::None));
    sender.on_ack(&ack(us(200), Mark::None));
    assert_eq!(state(&sender), before);
}

#[test]
fn a_becn_comes_with_an_ack_or_as_a_cnp_for_each_marked_packet() {
    let arrival = |mark| Arrival { now: us(1), payload: 1_456, frame: 1_518, mark, credit: 0 };
    let cnp = |mark| Cnp { mark, rate: None };
    let by_ack = IbCc::default();
    assert!(by_ack.signals().acks && by_ack.signals().ecn);
    assert_eq!(by_ack.notification(&env()).on_data(&arrival(Mark::Ce)), None);
    let by_cnp = IbCc { becn: Becn::Cnp, ..IbCc::default() };
    assert!(!by_cnp.signals().acks && by_cnp.signals().ecn);
    let mut receiver = by_cnp.notification(&env());
    assert_eq!(receiver.on_data(&arrival(Mark::None)), None);
    for mark in [Mark::Ce, Mark::Ce, Mark::Ue] {
        assert_eq!(receiver.on_data(&arrival(mark)), Some(cnp(mark)));
    }
    // Marks on ACKs are no BECNs then.
    let mut sender = sender(&by_cnp);
    sender.on_ack(&ack(us(1), Mark::Ce));
    assert_eq!(sender.ccti(), 0);
    sender.on_cnp(us(1), &cnp(Mark::None));
    assert_eq!(sender.ccti(), 0);
    sender.on_cnp(us(1), &cnp(Mark::Ce));
    assert_eq!(sender.ccti(), 1);
}

#[test]
fn its_switches_mark_by_fecn() {
    let fecn = IbCc::default().detector();
    assert_eq!(fecn.threshold.0, 50_000);
}

#[test]
fn parameters_out_of_range_are_refused_by_key() {
    let key = |params: IbCc| params.validate().unwrap_err().key;
    let ok = IbCc::default;
    assert_eq!(ok().validate(), Ok(()));
    assert_eq!(key(IbCc { ccti_increase: 0, ..ok() }), "ccti_increase");
    assert_eq!(key(IbCc { ccti_limit: Some(128), ..ok() }), "ccti_limit");
    assert_eq!(key(IbCc { ccti_min: 128, ..ok() }), "ccti_min");
    assert_eq!(key(IbCc { ccti_min: 6, ccti_limit: Some(5), ..ok() }), "ccti_min");
    assert_eq!(key(IbCc { ccti_timer: Time::ZERO, ..ok() }), "ccti_timer");
    assert_eq!(key(IbCc { fabric_constant: Some(0.218), ..ok() }), "fabric_constant");
    for k in [0.0, 1_001.0, f64::NAN] {
        assert_eq!(key(IbCc { fabric_constant: Some(k), ..shape(Shape::Simula) }), "fabric_constant");
    }
    assert_eq!(key(IbCc { multipliers: vec![1], ..ok() }), "multipliers");
    assert_eq!(key(shape(Shape::List)), "multipliers");
    assert_eq!(key(IbCc { multipliers: vec![0; 129], ..shape(Shape::List) }), "multipliers");
    assert_eq!(key(IbCc { multipliers: vec![0, 16_384], ..shape(Shape::List) }), "multipliers");
    let two = IbCc { multipliers: vec![0, 1], ..shape(Shape::List) };
    assert_eq!(two.validate(), Ok(()));
    assert_eq!(key(IbCc { ccti_limit: Some(2), ..two.clone() }), "ccti_limit");
    assert_eq!(key(IbCc { shift: Some(4), ..two }), "shift");
    let message = IbCc { shift: Some(1), ..ok() }.validate().unwrap_err().to_string();
    assert!(message.contains("`shift` has no meaning with `cct = \"quadratic\"`"), "{message}");
}
