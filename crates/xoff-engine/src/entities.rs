//! Events kept apart by the entity that they happen to, for entities that touch each other only after a *lookahead*.
//!
//! In a window no longer than the lookahead nothing that one entity does can reach another, so each handles its events of
//! the window by itself, one entity after the other: its state stays in the cache meanwhile, and only its own few
//! events need an order, which is that of [`crate::EventQueue`] (time, key, argument). What comes from other
//! entities ([`EntityQueues::arrive`]) is gathered unsorted until its window begins; what an entity schedules for itself
//! ([`EntityQueues::push`]) mostly lies within the window at hand and joins a short sorted list.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;
use crate::wheel::Event;

/// The longest window: an event's time after the beginning of its window has 20 bits.
pub const LONGEST_WINDOW: Time = Time(1 << OFFSET_BITS);

const OFFSET_BITS: u32 = 20;
/// An arrival in order: its time after the window's beginning, its key, and its number among the window's arrivals.
const NUMBER_BITS: u32 = 64 - OFFSET_BITS - 32;
/// Most arrivals at an entity in a window that are sorted that way.
const MOST_NUMBERED: usize = 1 << NUMBER_BITS;
/// Entities whose earliest events are looked at together.
const BLOCK: usize = 64;

/// An event of the window at hand: its time after the window's beginning above its key, and its argument.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    place: u64,
    arg: u32,
}

/// What an entity has to do next, see [`EntityQueues::next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Something has come from another entity.
    Arrival(Event),
    /// Something that the entity has scheduled for itself, or a rare arrival.
    Own(Event),
}

/// Pending events by entity.
pub struct EntityQueues {
    /// By entity: no event is before this.
    next: Vec<Time>,
    /// The same by block of entities.
    block_next: Vec<Time>,
    /// By entity: what came from others, in no order.
    inboxes: Vec<Vec<Event>>,
    /// By entity: its own events beyond the window in which they were scheduled.
    later: Vec<BinaryHeap<Reverse<Event>>>,
    /// The window at hand.
    begin: Time,
    limit: Time,
    /// The entity at hand.
    entity: u32,
    /// Its arrivals in this window, in order, from the next one on; a last one that is none follows.
    arrivals: Vec<u64>,
    next_arrival: usize,
    /// The arguments of its arrivals by their number.
    args: Vec<u32>,
    /// Its other events in this window, in order.
    due: Vec<Due>,
    next_due: usize,
}

/// Nobody is at hand.
const NOBODY: u32 = u32::MAX;
/// Comes after every arrival and everything due.
const NOTHING: u64 = u64::MAX;

impl EntityQueues {
    /// Empty queues of so many entities, at time zero.
    pub fn new(entities: usize) -> Self {
        EntityQueues {
            next: vec![Time::NEVER; entities],
            block_next: vec![Time::NEVER; entities.div_ceil(BLOCK)],
            inboxes: vec![Vec::new(); entities],
            later: (0..entities).map(|_| BinaryHeap::new()).collect(),
            begin: Time::ZERO,
            limit: Time::ZERO,
            entity: NOBODY,
            arrivals: vec![NOTHING],
            next_arrival: 0,
            args: Vec::new(),
            due: Vec::new(),
            next_due: 0,
        }
    }

    /// Adds an event of `entity` that comes from another one: after the window at hand, and with a key that no other of its
    /// arrivals has at that time.
    #[inline]
    pub fn arrive(&mut self, entity: u32, event: Event) {
        debug_assert!(event.time >= self.limit, "nothing reaches another entity within a window");
        self.inboxes[entity as usize].push(event);
        self.expect(entity, event.time);
    }

    /// Adds an event of `entity`: the one at hand, or any where the event comes after the window at hand.
    #[inline]
    pub fn push(&mut self, entity: u32, event: Event) {
        if event.time < self.limit && entity == self.entity {
            return self.join(event);
        }
        self.defer(entity, event);
    }

    #[cold]
    #[inline(never)]
    fn defer(&mut self, entity: u32, event: Event) {
        debug_assert!(
            event.time >= self.limit || self.entity == NOBODY,
            "nothing reaches another entity within a window"
        );
        self.later[entity as usize].push(Reverse(event));
        self.expect(entity, event.time);
    }

    /// Puts an event among those due, most of which come before it.
    #[inline]
    fn join(&mut self, event: Event) {
        let due = Due { place: self.place(&event), arg: event.arg };
        if self.next_due == self.due.len() {
            self.due.clear();
            self.next_due = 0;
        }
        let mut at = self.due.len();
        self.due.push(due);
        while at > self.next_due && self.due[at - 1] > due {
            self.due[at] = self.due[at - 1];
            at -= 1;
        }
        self.due[at] = due;
    }

    #[inline]
    fn place(&self, event: &Event) -> u64 {
        (event.time.0 - self.begin.0) << 32 | u64::from(event.key)
    }

    #[inline]
    fn expect(&mut self, entity: u32, time: Time) {
        let next = &mut self.next[entity as usize];
        *next = time.min(*next);
        let block = &mut self.block_next[entity as usize / BLOCK];
        *block = time.min(*block);
    }

    /// The time of the next event, between windows.
    pub fn earliest(&self) -> Time {
        self.block_next.iter().copied().min().unwrap_or(Time::NEVER)
    }

    /// Begins the window from `begin` up to `limit`, which it leaves out; it is no longer than [`LONGEST_WINDOW`].
    pub fn begin_window(&mut self, begin: Time, limit: Time) {
        debug_assert!(limit <= begin + LONGEST_WINDOW && begin <= self.earliest());
        (self.begin, self.limit) = (begin, limit);
    }

    /// Goes on to the first entity from number `from` on that has events in this window.
    #[inline]
    pub fn open_from(&mut self, from: usize) -> Option<u32> {
        let mut entity = from;
        while entity < self.next.len() {
            if entity.is_multiple_of(BLOCK) && self.block_next[entity / BLOCK] >= self.limit {
                entity += BLOCK;
                continue;
            }
            if self.next[entity] < self.limit {
                self.open(entity);
                return Some(entity as u32);
            }
            entity += 1;
        }
        None
    }

    /// Brings an entity's events of this window into order.
    fn open(&mut self, entity: usize) {
        self.entity = entity as u32;
        (self.next_arrival, self.next_due) = (0, 0);
        self.arrivals.clear();
        self.args.clear();
        self.due.clear();
        let later = &mut self.later[entity];
        while let Some(&Reverse(event)) = later.peek() {
            if event.time >= self.limit {
                break;
            }
            later.pop();
            let place = (event.time.0 - self.begin.0) << 32 | u64::from(event.key);
            self.due.push(Due { place, arg: event.arg });
        }
        let mut next = later.peek().map_or(Time::NEVER, |Reverse(event)| event.time);
        let inbox = &mut self.inboxes[entity];
        let mut kept = 0;
        for at in 0..inbox.len() {
            let event = inbox[at];
            if event.time < self.limit {
                let place = (event.time.0 - self.begin.0) << 32 | u64::from(event.key);
                self.arrivals.push(place << NUMBER_BITS | self.args.len() as u64 % MOST_NUMBERED as u64);
                self.args.push(event.arg);
            } else {
                inbox[kept] = event;
                kept += 1;
                next = next.min(event.time);
            }
        }
        inbox.truncate(kept);
        self.next[entity] = next;
        if self.args.len() > MOST_NUMBERED {
            self.number_no_more();
        }
        self.arrivals.sort_unstable();
        self.arrivals.push(NOTHING);
    }

    /// Makes arrivals beyond those that have a number of their own due.
    #[cold]
    #[inline(never)]
    fn number_no_more(&mut self) {
        let rest = self.arrivals.drain(MOST_NUMBERED..).zip(self.args.drain(MOST_NUMBERED..));
        self.due.extend(rest.map(|(arrival, arg)| Due { place: arrival >> NUMBER_BITS, arg }));
        self.due.sort_unstable();
    }

    /// The next event of the entity at hand in this window.
    #[inline(always)] // the way of every event
    pub fn next(&mut self) -> Option<Next> {
        let arrival = self.arrivals[self.next_arrival];
        let due = self.due.get(self.next_due).map_or(NOTHING, |due| due.place);
        if arrival >> NUMBER_BITS < due {
            if arrival == NOTHING {
                return None;
            }
            self.next_arrival += 1;
            let arg = self.args[arrival as usize % MOST_NUMBERED];
            return Some(Next::Arrival(self.event(arrival >> NUMBER_BITS, arg)));
        }
        let due = self.due.get(self.next_due)?;
        self.next_due += 1;
        Some(Next::Own(self.event(due.place, due.arg)))
    }

    #[inline]
    fn event(&self, place: u64, arg: u32) -> Event {
        Event { time: Time(self.begin.0 + (place >> 32)), key: place as u32, arg }
    }

    /// The argument of the arrival that comes after so many others, if there is one in this window.
    #[inline]
    pub fn arrival_ahead(&self, others: usize) -> Option<u32> {
        let arrival = *self.arrivals.get(self.next_arrival + others)?;
        self.args.get(arrival as usize % MOST_NUMBERED).copied()
    }

    /// Ends the window: nobody is at hand.
    pub fn end_window(&mut self) {
        self.entity = NOBODY;
        for (block, next) in self.block_next.iter_mut().zip(self.next.chunks(BLOCK)) {
            if *block < self.limit {
                *block = next.iter().copied().min().unwrap_or(Time::NEVER);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn event(time: u64, key: u32, arg: u32) -> Event {
        Event { time: Time(time), key, arg }
    }

    /// All events of the window up to `limit`, as entity, time, key and argument.
    fn window(queues: &mut EntityQueues, begin: u64, limit: u64) -> Vec<(u32, u64, u32, u32)> {
        queues.begin_window(Time(begin), Time(limit));
        let (mut all, mut from) = (Vec::new(), 0);
        while let Some(entity) = queues.open_from(from) {
            while let Some(Next::Arrival(e) | Next::Own(e)) = queues.next() {
                all.push((entity, e.time.0, e.key, e.arg));
            }
            from = entity as usize + 1;
        }
        queues.end_window();
        all
    }

    #[test]
    fn an_entity_handles_its_events_of_a_window_in_order_before_the_next_entity_does() {
        let mut queues = EntityQueues::new(200);
        queues.arrive(130, event(700, 5, 0));
        queues.arrive(130, event(600, 6, 1));
        queues.push(130, event(600, 2, 2));
        queues.push(2, event(900, 1, 3));
        queues.arrive(2, event(1_500, 1, 4));
        assert_eq!(queues.earliest(), Time(600));
        let first = [(2, 900, 1, 3), (130, 600, 2, 2), (130, 600, 6, 1), (130, 700, 5, 0)];
        assert_eq!(
            window(&mut queues, 600, 1_500),
            first,
            "what comes at the limit is left for the next window"
        );
        assert_eq!(queues.earliest(), Time(1_500));
        assert_eq!(window(&mut queues, 1_500, 2_500), [(2, 1_500, 1, 4)]);
        assert_eq!(queues.earliest(), Time::NEVER);
    }

    #[test]
    fn more_arrivals_than_have_numbers_come_in_order_too() {
        let mut queues = EntityQueues::new(1);
        let count = 3 * MOST_NUMBERED as u64;
        for i in 0..count {
            // 7919 is prime and no factor of the count: every time once, in no order.
            queues.arrive(0, event(i * 7_919 % count, 1, i as u32));
        }
        let times: Vec<u64> = window(&mut queues, 0, count).iter().map(|e| e.1).collect();
        assert_eq!(times, (0..count).collect::<Vec<_>>());
    }

    proptest! {
        /// Against a sorted set: each event handled makes own events near and far, and arrivals at others beyond the window.
        #[test]
        fn every_entity_sees_its_events_in_order(
            first in prop::collection::vec((0u32..150, 0u64..5_000), 1..40),
            makes in prop::collection::vec((any::<bool>(), 0u64..3_000, 0u32..150), 1..40),
        ) {
            let mut queues = EntityQueues::new(150);
            let mut model: Vec<BTreeSet<(u64, u32, u32)>> = vec![BTreeSet::new(); 150];
            for (i, &(entity, time)) in first.iter().enumerate() {
                queues.push(entity, event(time, 7, i as u32));
                model[entity as usize].insert((time, 7, i as u32));
            }
            let (mut made, mut handled) = (first.len() as u32, 0);
            while queues.earliest() < Time::NEVER {
                let begin = queues.earliest();
                prop_assert_eq!(Some(begin.0), model.iter().filter_map(|m| m.first()).map(|e| e.0).min());
                let limit = begin + Time(1_000);
                queues.begin_window(begin, limit);
                let mut from = 0;
                while let Some(entity) = queues.open_from(from) {
                    while let Some(Next::Arrival(e) | Next::Own(e)) = queues.next() {
                        prop_assert_eq!(Some((e.time.0, e.key, e.arg)), model[entity as usize].pop_first());
                        handled += 1;
                        if handled > 2_000 {
                            continue;
                        }
                        let (own, offset, other) = makes[handled % makes.len()];
                        let new = if own {
                            let new = event(e.time.0 + offset, offset as u32 % 3, made);
                            queues.push(entity, new);
                            (entity, new)
                        } else {
                            // Its key is its own, as an arrival's is.
                            let new = event(limit.0 + offset, made + 10, made);
                            queues.arrive(other, new);
                            (other, new)
                        };
                        model[new.0 as usize].insert((new.1.time.0, new.1.key, new.1.arg));
                        made += 1;
                    }
                    let left = model[entity as usize].first().map(|e| e.0);
                    prop_assert!(left.is_none_or(|time| time >= limit.0));
                    from = entity as usize + 1;
                }
                queues.end_window();
            }
            prop_assert!(model.iter().all(BTreeSet::is_empty));
        }
    }
}
