//! Foreign schemes get each call, and room for them costs the built-in ones nothing.

use std::mem::size_of;
use std::sync::{Arc, Mutex};

use xoff_engine::{Rate, Time};
use xoff_schemes::foreign::{ForeignCongestion, ForeignNotification, ForeignReaction};
use xoff_schemes::int::IntStack;
use xoff_schemes::{
    Ack, AnyCongestion, AnyNotification, AnyReaction, Arrival, Cnm, Cnp, CongestionPoint, Mark,
    NotificationPoint, PacketView, QueueView, ReactionPoint, Scheme, SchemeFailure, Sent,
};
use xoff_schemes::{dcqcn, fncc, hpcc, ib_cc, patched_timely, pcn, rocc, sqcc, srcc, swift, timely};

/// The largest of some types.
macro_rules! largest {
    ($part:ident: $($scheme:ty),*) => { [$(size_of::<<$scheme as Scheme>::$part>()),*].into_iter().max().unwrap_or(0) };
}

#[test]
fn a_boxed_point_is_no_larger_than_the_largest_built_in_one() {
    // A box of a trait object is two pointers.
    assert_eq!(size_of::<ForeignReaction>(), 16);
    let reaction = largest!(Reaction: hpcc::Hpcc, fncc::Fncc, dcqcn::Dcqcn, rocc::Rocc, swift::Swift, srcc::Srcc, pcn::Pcn,
        timely::Timely, patched_timely::PatchedTimely, sqcc::Sqcc, ib_cc::IbCc);
    let notification = largest!(Notification: dcqcn::Dcqcn, pcn::Pcn, srcc::Srcc, ib_cc::IbCc);
    let congestion = largest!(Congestion: rocc::Rocc);
    // The variants' tag takes a word at most, where none of them has room for it.
    for (any, largest, boxed) in [
        (size_of::<AnyReaction>(), reaction, size_of::<ForeignReaction>()),
        (size_of::<AnyNotification>(), notification, size_of::<ForeignNotification>()),
        (size_of::<AnyCongestion>(), congestion, size_of::<ForeignCongestion>()),
    ] {
        assert!(boxed <= largest && any <= largest + 8, "{any} B, {largest} B, {boxed} B");
    }
    // Each receiver has a notification point: schemes whose point takes more than a cache line box the point.
    assert!(notification <= 64, "{notification} B");
}

/// Notes each call by name and number.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<(&'static str, u64)>>>);

impl Notes {
    fn note(&self, name: &'static str, number: u64) {
        self.0.lock().unwrap().push((name, number));
    }
    fn taken(&self) -> Vec<(&'static str, u64)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl ReactionPoint for Notes {
    fn on_send(&mut self, sent: &Sent) {
        self.note("send", sent.payload);
    }
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.note("ack", ack.seq);
    }
    fn on_cnp(&mut self, now: Time, _: &Cnp) {
        self.note("cnp", now.0);
    }
    fn on_cnm(&mut self, _: Time, cnm: &Cnm) {
        self.note("cnm", cnm.flow.into());
    }
    fn on_loss(&mut self, now: Time) {
        self.note("loss", now.0);
    }
    fn on_timeout(&mut self, now: Time) {
        self.note("timeout", now.0);
    }
    fn on_idle(&mut self, now: Time) {
        self.note("idle", now.0);
    }
    fn on_busy(&mut self, now: Time) {
        self.note("busy", now.0);
    }
    fn on_timer(&mut self, now: Time) {
        self.note("timer", now.0);
    }
    fn next_timer(&self) -> Time {
        Time(11)
    }
    fn rate(&self) -> Rate {
        Rate(12)
    }
    fn window(&self) -> u64 {
        13
    }
    fn burst(&self) -> u64 {
        14
    }
}

impl NotificationPoint for Notes {
    fn on_data(&mut self, arrival: &Arrival) -> Option<Cnp> {
        Some(Cnp { mark: arrival.mark, rate: Some(Rate(arrival.payload)) })
    }
    fn on_timer(&mut self, now: Time) -> Option<Cnp> {
        Some(Cnp { mark: Mark::Ue, rate: Some(Rate(now.0)) })
    }
    fn next_timer(&self) -> Time {
        Time(15)
    }
}

impl CongestionPoint for Notes {
    fn on_enqueue(&mut self, queue: &QueueView, _: &PacketView) {
        self.note("enqueue", queue.bytes);
    }
    fn on_dequeue(&mut self, queue: &QueueView, _: &PacketView) {
        self.note("dequeue", queue.bytes);
    }
    fn on_timer(&mut self, queue: &QueueView, out: &mut Vec<Cnm>) {
        out.push(Cnm { flow: 6, point: 7, rate: Rate(queue.bytes), queue: None });
    }
    fn next_timer(&self) -> Time {
        Time(16)
    }
}

#[test]
fn a_foreign_reaction_point_gets_each_call_and_gives_each_answer() {
    let notes = Notes::default();
    let mut point = ForeignReaction(Box::new(notes.clone()));
    point.on_send(&Sent { now: Time(0), payload: 1, frame: 0 });
    point.on_ack(&Ack {
        now: Time(0),
        seq: 2,
        newly_acked: 0,
        snd_nxt: 2,
        packet: 0,
        next_packet: 1,
        rtt: None,
        mark: Mark::None,
        flow_count: 0,
        label: 0,
        int: IntStack::default(),
    });
    point.on_cnp(Time(3), &Cnp { mark: Mark::Ce, rate: None });
    point.on_cnm(Time(0), &Cnm { flow: 4, point: 0, rate: Rate(1), queue: None });
    point.on_loss(Time(5));
    point.on_timeout(Time(6));
    point.on_idle(Time(7));
    point.on_busy(Time(8));
    point.on_timer(Time(9));
    let expected = ["send", "ack", "cnp", "cnm", "loss", "timeout", "idle", "busy", "timer"];
    assert_eq!(notes.taken(), expected.into_iter().zip(1..).collect::<Vec<_>>());
    let answers = (point.next_timer(), point.rate(), point.window(), point.burst());
    assert_eq!(answers, (Time(11), Rate(12), 13, 14));
    assert_eq!(format!("{point:?}"), "ForeignReaction(12bps, 13 B)");
}

#[test]
fn foreign_points_of_receivers_and_switches_do_too() {
    let mut receiver = ForeignNotification(Box::new(Notes::default()));
    let arrival = Arrival { now: Time(0), payload: 1, frame: 2, mark: Mark::Ce, credit: 0 };
    assert_eq!(receiver.on_data(&arrival), Some(Cnp { mark: Mark::Ce, rate: Some(Rate(1)) }));
    assert_eq!(receiver.on_timer(Time(3)), Some(Cnp { mark: Mark::Ue, rate: Some(Rate(3)) }));
    assert_eq!(receiver.next_timer(), Time(15));
    let (notes, mut sent) = (Notes::default(), vec![]);
    let mut switch = ForeignCongestion(Box::new(notes.clone()));
    let (queue, packet) = (|bytes| QueueView { now: Time(0), bytes }, PacketView { flow: 0, bytes: 0 });
    switch.on_enqueue(&queue(1), &packet);
    switch.on_dequeue(&queue(2), &packet);
    switch.on_timer(&queue(3), &mut sent);
    assert_eq!(notes.taken(), [("enqueue", 1), ("dequeue", 2)]);
    assert_eq!(sent, [Cnm { flow: 6, point: 7, rate: Rate(3), queue: None }]);
    assert_eq!(switch.next_timer(), Time(16));
}

#[test]
fn failures_are_alike_if_name_time_and_words_are() {
    let failure = |scheme: &str, at, what: &str| SchemeFailure {
        scheme: scheme.into(),
        at: Time(at),
        what: what.into(),
        cause: Some(Arc::new(at)),
    };
    assert_eq!(failure("a", 1, "x"), SchemeFailure { cause: None, ..failure("a", 1, "x") });
    for other in [failure("b", 1, "x"), failure("a", 2, "x"), failure("a", 1, "y")] {
        assert_ne!(failure("a", 1, "x"), other);
    }
}
