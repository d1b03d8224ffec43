//! Reaction points that hear a period again.

use serde_json::{Value, json};
use xoff_schemes::int::IntStack;
use xoff_schemes::{Ack, AnyScheme, FlowEnv, ReactionPoint, Sent};

use super::*;

const GBPS_100: Rate = Rate::from_gbps(100);
const PAYLOAD: u64 = 1_000;
const PERIOD: Period = Period { connection: ConnectionId(0), in_flight: 3_000, bytes: PAYLOAD, packets: 1 };

fn sender(name: &str) -> AnyReaction {
    sender_with(name, &json!({}))
}

fn sender_with(name: &str, params: &Value) -> AnyReaction {
    let scheme = AnyScheme::read(name, params.clone()).expect("known").expect("valid");
    scheme.reaction(&FlowEnv { payload: PAYLOAD, ..FlowEnv::new(0, GBPS_100, Time::from_us(8), 1) })
}

/// The mark and the round-trip time of all ACKs.
type Acks = (Mark, Time);
const QUIET: Acks = (Mark::None, Time::from_us(8));
const MARKED: Acks = (Mark::Ce, Time::from_us(8));
const LATE: Acks = (Mark::None, Time::from_us(100));

fn ack(number: u64, (mark, rtt): Acks) -> Call {
    let (seq, snd_nxt) = ((number + 1) * PAYLOAD, (number + 51) * PAYLOAD);
    let (packet, next_packet, rtt) = (number, number + 51, Some(rtt));
    Call::Acked { seq, newly_acked: PAYLOAD, snd_nxt, packet, next_packet, rtt, mark, flow_count: 1 }
}

/// 50 packets, one each 160 ns, and their ACKs, as a point hears them that sets these limits: a period of 8 us.
fn lesson(point: &AnyReaction, acks: Acks, in_flight: u64) -> Lesson {
    let (rate, window) = (point.rate(), point.window());
    let heard = (0..50).flat_map(|number| {
        let at = Time(number * 160_000);
        let calls = [Call::Sent { payload: PAYLOAD, frame: 1_062 }, ack(number, acks)];
        calls.map(|call| Heard { at, call, rate, window })
    });
    let period = Ahead { time: Time::from_us(8), bytes: 50 * PAYLOAD, packets: 50 };
    Lesson::of(ConnectionId(0), heard.collect(), period, in_flight)
}

/// A point that hears so many further periods one after the other, each with its own times, offsets and numbers.
fn straight(mut point: AnyReaction, periods: u64, acks: Acks) -> AnyReaction {
    for number in 50..(periods + 1) * 50 {
        let now = Time(number * 160_000);
        point.on_send(&Sent { now, payload: PAYLOAD, frame: 1_062 });
        let Call::Acked { seq, newly_acked, snd_nxt, packet, next_packet, rtt, mark, flow_count } =
            ack(number, acks)
        else {
            unreachable!("an ACK");
        };
        let (int, label) = (IntStack::default(), 0);
        let ack =
            Ack { now, seq, newly_acked, snd_nxt, packet, next_packet, rtt, mark, flow_count, label, int };
        point.on_ack(&ack);
    }
    point
}

/// Schemes whose points do the same again and again after a while.
fn settling() -> [(AnyReaction, Acks); 12] {
    let quiet = |name| (sender(name), QUIET);
    let with = |name, params, acks| (sender_with(name, &params), acks);
    [
        quiet("swift"),
        quiet("dctcp"),
        quiet("theta_powertcp"),
        quiet("timely"),
        quiet("patched_timely"),
        quiet("sqcc"),
        quiet("ib_cc"),
        with("swift", json!({ "endpoint_target": "50us" }), QUIET),
        with("dctcp", json!({ "form": "rate" }), QUIET),
        with("timely", json!({ "form": "ns3_hpcc" }), QUIET),
        // A window of 100 packets is cut again and again, down to the minimum. Swift's is not cut again there, so that the moment of the last cut is
        // ever longer ago; DCTCP's is, so that the end of its reduction moves.
        with("swift", json!({ "min_cwnd": 2.0 }), LATE),
        with("dctcp", json!({}), MARKED),
    ]
}

/// The state of a point, with every digit.
fn state(point: &AnyReaction) -> String {
    format!("{point:?}")
}

fn copy(point: &AnyReaction) -> AnyReaction {
    point.try_clone().expect("built in")
}

#[test]
fn a_point_that_hears_a_period_again_is_as_if_it_had_gone_on() {
    for (point, acks) in settling() {
        // More than are compared at a time, and no multiple of them; and far more than after which nothing changes any more.
        for periods in [150, 5_003] {
            let mut points = [copy(&point), copy(&point)];
            let lessons = [0, 1].map(|_| lesson(&point, acks, 0));
            assert_eq!(teach(&mut points, &lessons, periods), periods, "{point:?}");
            let expected = state(&straight(copy(&point), periods, acks));
            assert!(points.iter().all(|after| state(after) == expected), "{point:?}");
        }
    }
}

#[test]
fn all_points_stop_before_the_period_in_which_one_sets_another_limit() {
    // All packets of the first are marked: a share of marks of 1 halves DCTCP's window in each round trip, which is a period. 100 Gbps have
    // 100,000 B in flight in 8 us, the initial window: 50,000, 25,000 and 12,500 B follow, and the fourth cut, to 6,250 B, is below the 10,000 B
    // that are in flight. The second one's window grows meanwhile, which limits nothing.
    let mut points = [sender("dctcp"), sender("dctcp")];
    assert_eq!(points[0].window(), 100_000);
    let lessons = [lesson(&points[0], MARKED, 10_000), lesson(&points[1], QUIET, 10_000)];
    let done = teach(&mut points, &lessons, 1_000);
    assert!((2..=4).contains(&done), "{done}");
    for (point, acks) in points.iter().zip([MARKED, QUIET]) {
        assert_eq!(format!("{point:?}"), format!("{:?}", straight(sender("dctcp"), done, acks)));
    }
    assert!(points[0].window() > 10_000 && straight(sender("dctcp"), done + 1, MARKED).window() <= 10_000);
    // Where the window limits what is in flight, the first change ends it.
    let lessons = [lesson(&points[0], MARKED, 100_000)];
    assert_eq!(teach(&mut [sender("dctcp")], &lessons, 1_000), 0);
}

#[test]
fn a_jump_in_which_nobody_hears_anything_takes_no_time_and_a_long_one_ends() {
    // Half a second without a message under way, in periods of a picosecond.
    assert_eq!(teach(&mut [], &[], 500_000_000_000), 500_000_000_000);
    // 100 calls a period: 2^24 of them are 167,772 periods, the last one not whole. Nobody can say whether a point of this scheme is as it was.
    let mut points = [sender("none")];
    let lessons = [lesson(&points[0], QUIET, 0)];
    assert_eq!(teach(&mut points, &lessons, 1_000_000), 167_772);
}

#[test]
fn what_a_point_does_again_and_again_it_need_not_hear() {
    // A million periods of 100 calls are six times as many calls as there may be. A second point, which cannot be carried, has to hear them all, so that
    // there are 167,772 periods at most, and half of them where the first one hears as many.
    for (point, acks) in settling() {
        let alone = teach(&mut [copy(&point)], &[lesson(&point, acks, 0)], 1_000_000);
        assert_eq!(alone, 1_000_000, "{point:?}");
        let mut points = [copy(&point), sender("none")];
        let lessons = [lesson(&point, acks, 0), lesson(&points[1], acks, 0)];
        let done = teach(&mut points, &lessons, 1_000_000);
        assert!((150_000..=167_772).contains(&done), "{done}: {point:?}");
        assert_eq!(state(&points[0]), state(&straight(copy(&point), done, acks)));
    }
}

#[test]
fn what_does_not_come_again_is_no_lesson() {
    let heard = |call| Heard { at: Time::ZERO, call, rate: GBPS_100, window: u64::MAX };
    let lesson = |calls: &[Call]| {
        let heard = calls.iter().map(|&call| heard(call)).collect();
        Lesson::new(&PERIOD, (u64::MAX, heard), Time::from_us(1))
    };
    let sent = Call::Sent { payload: PAYLOAD, frame: 1_062 };
    // 3,000 B in flight, 2,000 after the ACK, and then 3,000 and 4,000 B.
    let most = lesson(&[ack(0, QUIET), sent, sent]).map(|lesson| lesson.in_flight);
    assert_eq!(most, Some(4_000));
    assert!(lesson(&[sent, Call::Other]).is_none());
}

#[test]
fn a_period_that_ends_with_another_window_is_no_lesson() {
    // 3,000 B in flight and a packet of 1,000 B more: 4,000 B, which a window of 4,000 B lets nobody exceed, and one of 4,001 B or more
    // does not limit.
    let lesson = |before, after| {
        let call = Call::Sent { payload: PAYLOAD, frame: 1_062 };
        let heard = vec![Heard { at: Time::ZERO, call, rate: GBPS_100, window: after }];
        Lesson::new(&PERIOD, (before, heard), Time::from_us(1))
    };
    assert!(lesson(4_000, 4_000).is_some() && lesson(4_001, 9_000).is_some());
    assert!(lesson(4_000, 4_001).is_none() && lesson(9_000, 4_000).is_none());
}
