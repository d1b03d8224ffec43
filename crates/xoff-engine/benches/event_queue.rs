//! The event queue under the load of a network: each handled event makes another one (the *hold* model of Jones, 1986), so
//! that the number of pending events is constant.
//!
//! A fat-tree of 128 hosts at 100 Gbps under load has some 13,000 packets in flight, each with one pending event; a fat-tree
//! of 1,024 hosts has eight times as many. An arrival comes after a frame's time (0.12 us) and a link's delay.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use xoff_engine::{Event, EventQueue, ScheduledQueue, Time};

/// Events handled in one measured round.
const ROUND: u64 = 1_000;

/// A linear congruential generator modulo 2^64, of which the high bits are used.
struct Draw(u64);

impl Draw {
    fn below(&mut self, span: u64) -> Time {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Time(((u128::from(self.0) * u128::from(span)) >> 64) as u64)
    }
}

trait Queue {
    fn push(&mut self, time: Time, key: u32, arg: u32);
    fn pop(&mut self) -> Option<Event>;
}

impl Queue for EventQueue {
    fn push(&mut self, time: Time, key: u32, arg: u32) {
        EventQueue::push(self, time, key, arg);
    }

    fn pop(&mut self) -> Option<Event> {
        EventQueue::pop(self)
    }
}

impl Queue for ScheduledQueue {
    fn push(&mut self, time: Time, key: u32, arg: u32) {
        ScheduledQueue::push(self, time, key, arg);
    }

    fn pop(&mut self) -> Option<Event> {
        ScheduledQueue::pop(self)
    }
}

/// Measures a queue of `pending` events, each of which makes one between `ahead` and `ahead + span` ps later.
fn hold(bencher: Bencher<'_, '_>, pending: u32, ahead: u64, span: u64, mut queue: impl Queue) {
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    for key in 0..pending {
        queue.push(draw.below(ahead + span), key, 0);
    }
    let mut step = || {
        if let Some(event) = queue.pop() {
            queue.push(event.time + Time(ahead) + draw.below(span), black_box(event.key), event.arg);
        }
    };
    // Reach the steady state, in which each initial event has been replaced.
    (0..pending).for_each(|_| step());
    bencher.counter(ItemsCount::new(ROUND)).bench_local(|| (0..ROUND).for_each(|_| step()));
}

/// Arrivals one link ahead: 1.5 us plus up to a frame's time.
#[divan::bench(args = [100, 2_000, 13_000, 100_000])]
fn arrivals(bencher: Bencher<'_, '_>, pending: u32) {
    hold(bencher, pending, 1_500_000, 121_440, EventQueue::new());
}

/// The same load in the order of scheduling.
#[divan::bench(args = [13_000])]
fn arrivals_in_order_of_scheduling(bencher: Bencher<'_, '_>, pending: u32) {
    hold(bencher, pending, 1_500_000, 121_440, ScheduledQueue::new());
}

/// Timers beyond the wheel's horizon: 55 us to 5 ms ahead.
#[divan::bench(args = [100, 1_000, 10_000])]
fn far(bencher: Bencher<'_, '_>, pending: u32) {
    hold(bencher, pending, 55_000_000, 4_945_000_000, EventQueue::new());
}

fn main() {
    divan::main();
}
