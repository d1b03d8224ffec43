//! Virtual queues of a link of 100 Gbps, on which a frame of 10,000 B takes 800 ns; roots grow by 30,000 B, 2,400 ns.

use super::*;

const FRAME: u64 = 10_000;
const QUEUE: QueueId = QueueId(0);

fn ns(time: u64) -> Time {
    Time::from_ns(time)
}

fn watch(is_host: bool, priorities: usize) -> RootWatch {
    RootWatch::over(vec![Link::new(Rate::from_gbps(100), 30_000, is_host)], Clock::Exact, 0, priorities)
}

fn root(start: u64, end: u64, max_bytes: u64) -> Ended {
    Ended { queue: QueueId(0), start: ns(start), end: ns(end), max_bytes }
}

#[test]
fn a_queue_is_a_root_from_its_growth_until_its_link_has_caught_up() {
    // A frame each 400 ns: frame k, from 0 on, would find 800 k - 400 k ns before it and waits 800 + 400 k ns with itself.
    // That is 2,400 ns for k = 4, at 1,600 ns. The last, k = 9 at 3,600 ns, waits 4,400 ns.
    let mut w = watch(false, 1);
    for k in 0..10 {
        let leaves = w.enqueue(QUEUE, FRAME, FRAME * (k + 1), ns(400 * k), ns(400 * k));
        assert_eq!(leaves, ns(800 * (k + 1)));
        assert_eq!(w.queues[0].since.is_some(), k >= 4, "frame {k}");
    }
    w.enqueue(QUEUE, FRAME, FRAME, ns(9_000), ns(9_000));
    assert_eq!(w.ended, [root(1_600, 8_000, 10 * FRAME)]);
}

#[test]
fn what_stops_have_held_back_counts_when_it_would_have_come() {
    // A hundred frames come at 80,000 ns, after a stop. They would have come 800 ns apart, as fast as the link sends.
    let mut w = watch(false, 1);
    for k in 0..100 {
        w.enqueue(QUEUE, FRAME, FRAME * (k + 1), ns(800 * k), ns(80_000));
    }
    assert_eq!(w.queues[0].since, None);
    // Frames that nothing has held back overrun the link when they come at once: the third waits 2,400 ns.
    let mut w = watch(false, 1);
    for k in 0..3 {
        assert_eq!(w.queues[0].since, None, "frame {k}");
        w.enqueue(QUEUE, FRAME, FRAME * (k + 1), ns(80_000), ns(80_000));
    }
    assert_eq!(w.queues[0].since, Some(ns(80_000)));
}

#[test]
fn an_overload_that_stops_its_inputs_is_a_root() {
    // A frame comes each 1,000 ns, 80 % of what the link carries, because the queue stops its inputs: they would have sent
    // one each 500 ns. Frame k would have waited 800 (k + 1) - 500 k = 800 + 300 k ns: 2,300 for k = 5, 2,600 for k = 6.
    let mut w = watch(false, 1);
    for k in 0..20 {
        w.enqueue(QUEUE, FRAME, 5 * FRAME, ns(500 * k), ns(1_000 * k));
        assert_eq!(w.queues[0].since.is_some(), k >= 6, "frame {k}");
    }
    // The last frame, at 19,000 ns, would have waited 6,500 ns. But the queue is empty when that frame leaves at 20,000 ns.
    w.dequeue(QUEUE, FRAME, FRAME, ns(19_200));
    assert_eq!(w.queues[0].until, ns(25_500));
    w.dequeue(QUEUE, FRAME, 0, ns(20_000));
    w.end_if_over(QUEUE, ns(21_000));
    assert_eq!(w.ended, [root(6_000, 20_800, 5 * FRAME)]);
}

#[test]
fn an_empty_queue_is_no_root() {
    // The same frames, each of which leaves before the next comes.
    let mut w = watch(false, 1);
    for k in 0..20 {
        w.enqueue(QUEUE, FRAME, FRAME, ns(500 * k), ns(1_000 * k));
        w.dequeue(QUEUE, FRAME, 0, ns(1_000 * k));
        assert_eq!(w.queues[0].since, None, "frame {k}");
    }
}

#[test]
fn a_root_that_is_stopped_stays_one_until_a_packet_would_have_found_no_backlog() {
    // Three frames at once: a root until 2,400 ns. It is stopped from 400 to 9,000 ns, so that 2,000 ns are left then.
    let mut w = watch(false, 1);
    let root_until_stop = |w: &mut RootWatch| {
        for k in 0..3 {
            w.enqueue(QUEUE, FRAME, FRAME * (k + 1), ns(0), ns(0));
        }
        w.stop(QUEUE, ns(400));
    };
    root_until_stop(&mut w);
    w.end_if_over(QUEUE, ns(8_000));
    w.resume(QUEUE, ns(9_000));
    w.end_if_over(QUEUE, ns(12_000));
    assert_eq!(w.ended, [root(0, 11_000, 3 * FRAME)]);
    // A frame that comes at 5,000 ns, and would have come at 1,000, would have waited: 2,400 to 3,200 ns. One that was not
    // held back would not have.
    let mut w = watch(false, 1);
    root_until_stop(&mut w);
    w.enqueue(QUEUE, FRAME, 4 * FRAME, ns(1_000), ns(5_000));
    assert!(w.queues[0].since.is_some());
    w.enqueue(QUEUE, FRAME, 5 * FRAME, ns(6_000), ns(6_000));
    assert_eq!(w.ended, [root(0, 6_000, 4 * FRAME)]);
}

#[test]
fn frames_of_other_classes_take_the_links_time() {
    // Each 1,200 ns a frame of the other priority leaves and one joins the queue: 1,600 ns of work. The queue's frames wait
    // 1,600, 2,000 and 2,400 ns.
    let other = Sent { port: PortId(0), kind: Kind::Data, class: DATA + 1, size: FRAME, stopped: Time::ZERO };
    let mut w = watch(false, 2);
    for k in 0..3 {
        assert_eq!(w.queues[0].since, None, "frame {k}");
        w.depart(other, Time::ZERO, ns(1_200 * k));
        w.enqueue(QUEUE, FRAME, 2 * FRAME, ns(1_200 * k), ns(1_200 * k));
    }
    assert_eq!((w.queues[0].since, w.queues[0].until), (Some(ns(2_400)), ns(4_800)));
    // An ACK in the queue's own class waits like data: it takes time as it leaves. Data does so as it comes.
    for (kind, until) in [(Kind::Ack, 5_600), (Kind::Data, 5_600)] {
        w.depart(Sent { kind, class: DATA, ..other }, Time::ZERO, ns(4_000));
        assert_eq!(w.queues[0].until, ns(until), "{kind:?}");
    }
    w.enqueue(QUEUE, FRAME, FRAME, ns(6_000), ns(6_000));
    assert_eq!(w.ended, [root(2_400, 5_600, 2 * FRAME)]);
}

#[test]
fn a_switch_hands_on_for_how_long_stops_have_held_a_packet() {
    // It would have been sent by 5,000 ns and begins on the wire at 7,000 ns: it is sent by 7,800.
    let mut w = watch(false, 1);
    let sent = Sent { port: PortId(0), kind: Kind::Data, class: DATA, size: FRAME, stopped: Time::ZERO };
    assert_eq!(w.depart(sent, ns(5_000), ns(7_000)), ns(2_800));
    assert_eq!(w.depart(sent, ns(7_800), ns(7_000)), Time::ZERO);
}

#[test]
fn a_host_knows_for_how_long_stops_have_held_its_data() {
    let mut w = watch(true, 1);
    let mut held = |made: u64, now: u64, stopped: u64| {
        let sent = Sent { port: PortId(0), kind: Kind::Data, class: DATA, size: FRAME, stopped: ns(stopped) };
        w.depart(sent, ns(made), ns(now)).0 / 1_000
    };
    // All data is there at 0. The NIC is stopped from 1,600 to 5,600 ns, and is 4,000 ns late from then on.
    assert_eq!(
        [held(0, 0, 0), held(0, 800, 0), held(0, 5_600, 4_000), held(0, 6_400, 4_000)],
        [0, 0, 4_000, 4_000]
    );
    // It has nothing to send from 7,200 to 10,000 ns: what comes then is not late.
    assert_eq!(held(10_000, 10_000, 4_000), 0);
    // Stopped from 10,800 to 12,800 ns. What its source made at 12,000 would have gone at once, and what was made at 12,300
    // behind it at 12,800.
    assert_eq!(held(12_000, 12_800, 6_000), 800);
    assert_eq!(held(12_300, 13_600, 6_000), 800);
}
