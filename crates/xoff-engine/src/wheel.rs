//! The event queue: a timing wheel of short slots with a heap for what lies beyond its horizon.
//!
//! Nearly all events of a network lie within a few microseconds, so a push is a list insertion and a pop sorts the
//! handful of events of one slot. Events are ordered by time, then by key, then by argument, and never by who
//! pushed first: with keys that name the entity (for an arrival, its ingress port) the order of simultaneous
//! events is a property of the network, the same however it is cut into parts. A queue can be made to keep the order in
//! which events were pushed instead, for comparison with simulators that do ([`EventQueue::in_order_of_scheduling`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// Something that happens to an entity at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time: Time,
    /// What and to whom: orders simultaneous events.
    pub key: u32,
    /// What the handler needs beside the key.
    pub arg: u32,
}

impl Event {
    #[inline]
    fn rank(&self) -> u128 {
        u128::from(self.time.0) << 64 | u128::from(self.key) << 32 | u128::from(self.arg)
    }
}
impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Width of a slot: 2^9 ps = 0.512 ns, so that a slot of a busy network of hundreds of links holds a few.
const SLOT_BITS: u32 = 9;
/// Slots in the wheel: a horizon of 16.8 us, beyond any link's delay and a full packet's time at 1 Gbps.
const SLOTS: usize = 1 << 15;
const SLOT: u64 = 1 << SLOT_BITS;
const WORDS: usize = SLOTS / 64;
const NONE: u32 = u32::MAX;
/// No slot: beyond the last that 64 bits of picoseconds reach.
const NO_SLOT: u64 = 1 << (64 - SLOT_BITS);

/// An event in a slot's list.
#[derive(Clone, Copy)]
struct Node {
    /// Its time after the slot's beginning, above its key: the order within the slot.
    place: u64,
    arg: u32,
    next: u32,
}

/// Pending events, earliest first.
pub struct EventQueue {
    /// Events of the current slot and before, latest first: the next event is the last element.
    due: Vec<Event>,
    /// The slot that is being opened.
    handful: Handful,
    /// Slot number (time / slot width) up to which events are in `due`.
    current: u64,
    /// First node of each slot's list.
    heads: Box<[u32; SLOTS]>,
    /// One bit a slot: is its list non-empty.
    occupied: [u64; WORDS],
    nodes: Vec<Node>,
    free: u32,
    /// Events beyond the horizon at the time they were pushed.
    far: BinaryHeap<Reverse<Event>>,
    /// Slot number of the first of these.
    far_slot: u64,
    scheduled: Option<Scheduled>,
}

/// For the order of scheduling: events in the queue carry their number as key, and here is what they are.
#[derive(Default)]
struct Scheduled {
    pushed: u32,
    /// Key and argument of the pending events, by the argument in the queue.
    events: Vec<(u32, u32)>,
    free: Vec<u32>,
}

impl Scheduled {
    fn put(&mut self, key: u32, arg: u32) -> (u32, u32) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.events.push((0, 0));
            self.events.len() as u32 - 1
        });
        self.events[place as usize] = (key, arg);
        self.pushed += 1;
        (self.pushed, place)
    }
    fn take(&mut self, event: Event) -> Event {
        let (key, arg) = self.events[event.arg as usize];
        self.free.push(event.arg);
        Event { key, arg, ..event }
    }
}

impl Default for EventQueue {
    fn default() -> Self {
        EventQueue {
            due: Vec::with_capacity(64),
            handful: Handful::default(),
            current: 0,
            heads: vec![NONE; SLOTS]
                .into_boxed_slice()
                .try_into()
                .unwrap_or_else(|_| Box::new([NONE; SLOTS])),
            occupied: [0; WORDS],
            nodes: Vec::with_capacity(1024),
            free: NONE,
            far: BinaryHeap::new(),
            far_slot: u64::MAX,
            scheduled: None,
        }
    }
}

/// Most events that a queue in the order of scheduling takes in all.
pub const MOST_SCHEDULED: u64 = u32::MAX as u64;

impl EventQueue {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty queue that hands out simultaneous events in the order in which they were pushed, of which it takes at
    /// most [`MOST_SCHEDULED`].
    pub fn in_order_of_scheduling() -> Self {
        EventQueue { scheduled: Some(Scheduled::default()), ..Self::default() }
    }

    /// Number of pending events, counted.
    pub fn len(&self) -> usize {
        let mut free = 0;
        let mut node = self.free;
        while node != NONE {
            (free, node) = (free + 1, self.nodes[node as usize].next);
        }
        self.due.len() + self.nodes.len() - free + self.far.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty() && self.next_occupied() == NO_SLOT && self.far.is_empty()
    }

    /// Adds an event. A time before the last popped event's is handled next.
    #[inline]
    pub fn push(&mut self, time: Time, key: u32, arg: u32) {
        if self.scheduled.is_some() {
            return self.push_scheduled(time, key, arg);
        }
        self.place(time, key, arg);
    }

    #[cold]
    #[inline(never)]
    fn push_scheduled(&mut self, time: Time, key: u32, arg: u32) {
        let Some(scheduled) = &mut self.scheduled else { return };
        let (key, arg) = scheduled.put(key, arg);
        self.place(time, key, arg);
    }

    #[cold]
    #[inline(never)]
    fn take_scheduled(&mut self, event: Event) -> Option<Event> {
        self.scheduled.as_mut().map(|scheduled| scheduled.take(event))
    }

    #[inline]
    fn place(&mut self, time: Time, key: u32, arg: u32) {
        let slot = time.0 >> SLOT_BITS;
        if slot.wrapping_sub(self.current).wrapping_sub(1) >= SLOTS as u64 - 1 {
            return self.place_elsewhere(Event { time, key, arg }, slot);
        }
        let slot = (slot % SLOTS as u64) as usize;
        let (place, next) = ((time.0 % SLOT) << 32 | u64::from(key), self.heads[slot]);
        self.heads[slot] = self.free;
        if let Some(node) = self.nodes.get_mut(self.free as usize) {
            // Field by field: as a whole it would go through the stack, which costs a seventh of all time.
            self.free = node.next;
            node.place = place;
            node.arg = arg;
            node.next = next;
        } else {
            self.heads[slot] = self.grow(Node { place, arg, next });
        }
        // Set whether it is or not: which of the two is as good as random.
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// An event of the current slot or one beyond the horizon.
    #[cold]
    #[inline(never)]
    fn place_elsewhere(&mut self, event: Event, slot: u64) {
        if slot <= self.current {
            insert_due(&mut self.due, event);
        } else {
            self.far.push(Reverse(event));
            self.far_slot = self.far_slot.min(slot);
        }
    }

    /// The next event, if it is before `limit`.
    #[inline]
    pub fn pop_before(&mut self, limit: Time) -> Option<Event> {
        loop {
            if let Some(event) = self.due.last() {
                if event.time >= limit {
                    return None;
                }
                return self.pop_due();
            }
            let slot = self.next_slot();
            if slot >= NO_SLOT || slot << SLOT_BITS >= limit.0 {
                return None;
            }
            self.open(slot);
        }
    }

    /// The next event.
    pub fn pop(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.pop_due() {
                return Some(event);
            }
            let slot = self.next_slot();
            if slot >= NO_SLOT {
                return None;
            }
            self.open(slot);
        }
    }

    #[inline]
    fn pop_due(&mut self) -> Option<Event> {
        let event = self.due.pop()?;
        if self.scheduled.is_some() {
            return self.take_scheduled(event);
        }
        Some(event)
    }

    /// The argument of the event after the one that was popped last, if it is known without opening a slot.
    #[inline]
    pub fn next_arg(&self) -> Option<u32> {
        self.due.last().map(|event| event.arg)
    }

    /// The time of the next event.
    pub fn next_time(&mut self) -> Option<Time> {
        if self.due.is_empty() {
            let slot = self.next_slot();
            if slot >= NO_SLOT {
                return None;
            }
            self.open(slot);
        }
        self.due.last().map(|event| event.time)
    }

    /// A time that is not after the next event's and less than a slot before it; none where nothing is pending. Unlike
    /// [`Self::next_time`] it leaves the slot closed, so that events may still join it cheaply.
    #[inline]
    pub fn earliest(&self) -> Option<Time> {
        match self.due.last() {
            Some(event) => Some(event.time),
            None => Some(self.next_slot()).filter(|&slot| slot < NO_SLOT).map(|slot| Time(slot << SLOT_BITS)),
        }
    }

    /// The number of the first slot after the current one that has an event, in the wheel or beyond; [`NO_SLOT`] or more
    /// where there is none.
    #[inline]
    fn next_slot(&self) -> u64 {
        self.next_occupied().min(self.far_slot)
    }

    /// The number of the first occupied slot of the wheel, or [`NO_SLOT`].
    #[inline]
    fn next_occupied(&self) -> u64 {
        let start = (self.current % SLOTS as u64) as usize;
        let distance = |slot: usize| self.current + ((slot + SLOTS - start) % SLOTS) as u64;
        // The rest of the current word, then whole words around the wheel; in a busy network the next has an event.
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (!0 << (start % 64));
        for _ in 0..=WORDS {
            if bits != 0 {
                return distance(word * 64 + bits.trailing_zeros() as usize);
            }
            word = (word + 1) % WORDS;
            bits = self.occupied[word];
        }
        NO_SLOT
    }

    /// Makes `slot` the current one and its events due.
    #[inline]
    fn open(&mut self, slot: u64) {
        self.current = slot;
        let index = (slot % SLOTS as u64) as usize;
        let first = std::mem::replace(&mut self.heads[index], NONE);
        if first != NONE {
            self.occupied[index / 64] &= !(1 << (index % 64));
            let (mut last, mut count) = (first, 0);
            loop {
                let Node { place, arg, next } = self.nodes[last as usize];
                self.handful.put(count, place, arg);
                count += 1;
                if next == NONE {
                    break;
                }
                last = next;
            }
            if self.handful.sort_into(count, slot << SLOT_BITS, &mut self.due).is_none() {
                self.sort_list(first, slot << SLOT_BITS);
            }
            // The list goes to the free ones as it is.
            self.nodes[last as usize].next = self.free;
            self.free = first;
        }
        if self.far_slot <= slot {
            self.take_far(slot);
        }
    }

    /// Makes the events of a list due that are more than a handful, or not all at different times and places.
    #[cold]
    #[inline(never)]
    fn sort_list(&mut self, first: u32, begin: u64) {
        let mut node = first;
        while node != NONE {
            let Node { place, arg, next } = self.nodes[node as usize];
            self.due.push(event(begin, place, arg));
            node = next;
        }
        self.due.sort_unstable_by_key(|&e| Reverse(e));
    }

    /// Makes the events beyond the horizon due that belong to `slot`.
    #[cold]
    fn take_far(&mut self, slot: u64) {
        let of = |event: &Event| event.time.0 >> SLOT_BITS;
        while let Some(Reverse(event)) = self.far.peek().copied().filter(|r| of(&r.0) <= slot) {
            self.far.pop();
            insert_due(&mut self.due, event);
        }
        self.far_slot = self.far.peek().map_or(u64::MAX, |Reverse(event)| of(event));
    }
}

/// The event at a node's place in the slot that begins at `begin`.
#[inline]
fn event(begin: u64, place: u64, arg: u32) -> Event {
    Event { time: Time(begin + (place >> 32)), key: place as u32, arg }
}

/// Most events that are sorted by counting.
const HANDFUL: usize = 16;
/// So many are compared at a time.
const STRIDE: usize = 4;

/// The events of a slot, sorted by counting for each how many come after it: the order of a handful is as good as
/// random, so every branch that asks for it would be mispredicted half the time.
#[derive(Clone, Copy, Default)]
struct Handful {
    /// With room for what fills the last stride up.
    places: [u64; HANDFUL + STRIDE],
    args: [u32; HANDFUL],
}

impl Handful {
    /// Takes one in; what is too many is left out.
    #[inline]
    fn put(&mut self, number: usize, place: u64, arg: u32) {
        if number < HANDFUL {
            self.places[number] = place;
            self.args[number] = arg;
        }
    }

    /// Puts the first `count` into the empty list of what is due, latest first. None where they are too many, or two
    /// have the same place, so that their arguments decide.
    #[inline]
    fn sort_into(&mut self, count: usize, begin: u64, due: &mut Vec<Event>) -> Option<()> {
        if count == 1 {
            due.push(event(begin, self.places[0], self.args[0]));
            return Some(());
        }
        if count > HANDFUL {
            return None;
        }
        // Up to a whole stride, with what comes after nothing.
        if let Some(rest) = self.places.get_mut(count..count + STRIDE) {
            rest.fill(0);
        }
        due.resize(count, event(0, 0, 0));
        let mut all = 0;
        for (&place, &arg) in self.places[..count].iter().zip(&self.args) {
            let mut after = 0;
            for others in self.places[..count.next_multiple_of(STRIDE)].chunks_exact(STRIDE) {
                after += others.iter().map(|&other| usize::from(other > place)).sum::<usize>();
            }
            due[after] = event(begin, place, arg);
            all += after;
        }
        // Two at the same place have taken the same one, and the sum falls short of 0 + 1 + ... + (count - 1).
        if all != count * (count - 1) / 2 {
            due.clear();
            return None;
        }
        Some(())
    }
}

/// Inserts into a list that is sorted latest first; near the end, where the next events are.
#[inline]
fn insert_due(due: &mut Vec<Event>, event: Event) {
    let mut i = due.len();
    due.push(event);
    while i > 0 && due[i - 1] < event {
        due[i] = due[i - 1];
        i -= 1;
    }
    due[i] = event;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn simultaneous_events_come_by_key_whoever_pushed_first() {
        let mut queue = EventQueue::new();
        for key in [3, 1, 2] {
            queue.push(Time(5_000), key, 0);
        }
        let keys: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|e| e.key).collect();
        assert_eq!(keys, [1, 2, 3]);
    }

    #[test]
    fn or_in_the_order_of_scheduling() {
        let mut queue = EventQueue::in_order_of_scheduling();
        for (time, key) in [(6_000, 9), (5_000, 3), (5_000, 1), (5_000, 2), (100_000_000, 0)] {
            queue.push(Time(time), key, key + 10);
        }
        let mut popped = || queue.pop().map(|e| (e.time.0, e.key, e.arg));
        assert_eq!(popped(), Some((5_000, 3, 13)));
        assert_eq!(popped(), Some((5_000, 1, 11)));
        assert_eq!(popped(), Some((5_000, 2, 12)));
        assert_eq!(popped(), Some((6_000, 9, 19)));
        assert_eq!(popped(), Some((100_000_000, 0, 10)));
    }

    #[test]
    fn an_event_beyond_the_horizon_comes_at_its_time() {
        // The horizon is 16.8 us; one event at 1 s, one an hour later, one pushed late but due early.
        let mut queue = EventQueue::new();
        queue.push(Time(1_000_000_000_000), 1, 0);
        queue.push(Time(3_600_000_000_000_000), 2, 0);
        assert_eq!(queue.pop().map(|e| e.key), Some(1));
        queue.push(Time(1_000_000_000_500), 3, 0);
        assert_eq!(queue.pop().map(|e| e.key), Some(3));
        assert_eq!(queue.pop().map(|e| e.key), Some(2));
        assert_eq!(queue.pop(), None);
    }

    proptest! {
        /// Against a sorted set: random pushes, near and far, between random pops, with a limit now and then.
        #[test]
        fn pops_in_order(steps in prop::collection::vec((0u8..4, 0u64..3, 0u64..200_000, 0u32..5), 1..400)) {
            let (mut queue, mut model, mut now) = (EventQueue::new(), BTreeSet::new(), 0u64);
            for (i, (what, scale, offset, key)) in steps.into_iter().enumerate() {
                if what < 2 {
                    // Offsets of up to 200 ns, 20 us and 2 ms: this slot, the wheel, beyond.
                    let time = now + offset * [1, 100, 10_000][scale as usize];
                    queue.push(Time(time), key, i as u32);
                    model.insert((time, key, i as u32));
                } else {
                    let limit = if what == 2 { u64::MAX } else { now + offset };
                    let expected = model.first().copied().filter(|e| e.0 < limit);
                    let popped = queue.pop_before(Time(limit)).map(|e| (e.time.0, e.key, e.arg));
                    prop_assert_eq!(popped, expected);
                    if let Some(e) = expected {
                        model.remove(&e);
                        now = e.0;
                    }
                }
                prop_assert_eq!(queue.len(), model.len());
                let (bound, next) = (queue.earliest().map(|t| t.0), model.first().map(|e| e.0));
                prop_assert_eq!(bound.is_some(), next.is_some());
                prop_assert!(bound <= next && next.unwrap_or(0) < bound.unwrap_or(0) + (1 << SLOT_BITS));
            }
            while let Some(e) = queue.pop() {
                prop_assert_eq!(Some((e.time.0, e.key, e.arg)), model.pop_first());
            }
            prop_assert!(model.is_empty());
        }
    }
}
