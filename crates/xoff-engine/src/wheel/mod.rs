//! The event queue: a timing wheel of short slots, and a tree of slots beyond the wheel's horizon.
//!
//! Nearly all events of a network lie within a few microseconds. A push is therefore a list insertion, and a pop sorts the
//! few events of one slot. Events are ordered by time, then by key, then by argument, and never by which was pushed
//! first. If keys name the entity (for an arrival, its ingress port), the order of simultaneous events is a property of the
//! network, the same however the network is partitioned. Keys of links are an exception ([`EventQueue::with_links`]): what
//! comes by one link at one time comes as it was pushed, since its argument says nothing about which was sent first. A queue
//! can also keep the order in which all events were pushed, for comparison with simulators that do
//! ([`EventQueue::in_order_of_scheduling`]).

mod sort;
#[cfg(test)]
mod tests;

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::iter::successors;
use std::ops::Range;

use crate::event::Event;
use crate::units::Time;

use sort::{CountingSort, event, insert_due};

/// A slot's width is 2^9 ps = 0.512 ns, so that in a busy network of hundreds of links a slot holds a few events.
const SLOT_BITS: u32 = 9;
/// Slots in the wheel. The horizon is 16.8 us, longer than any link's delay and than a full packet's time at 1 Gbps.
const SLOTS: usize = 1 << 15;
/// A slot's width in picoseconds.
const SLOT: u64 = 1 << SLOT_BITS;
/// Words of 64 bits that hold one bit per slot.
const WORDS: usize = SLOTS / 64;
/// Stands for the absence of a node.
const NONE: u32 = u32::MAX;
/// Stands for the absence of a slot: beyond the last slot that 64 bits of picoseconds reach.
const NO_SLOT: u64 = 1 << (64 - SLOT_BITS);

/// An event in a slot's list.
#[derive(Clone, Copy)]
struct Node {
    /// Its place in the order of the slot: its time since the slot's beginning, above its key.
    place: u64,
    arg: u32,
    /// The next node of the list, or [`NONE`].
    next: u32,
}

/// Pending events, earliest first.
pub struct EventQueue {
    /// The events of the current slot and before, latest first: the next event is the last element.
    due: Vec<Event>,
    /// Sorts the events of the slot that is being opened.
    sort: CountingSort,
    /// The current slot's number (time / slot width): events up to this slot are in `due`.
    current: u64,
    /// The first node of each slot's list, or [`NONE`].
    heads: Box<[u32; SLOTS]>,
    /// One bit per slot: set if its list is not empty.
    occupied: [u64; WORDS],
    nodes: Vec<Node>,
    /// The first node of the list of free nodes, or [`NONE`].
    free: u32,
    /// Events that lay beyond the horizon when they were pushed: by slot, in the order in which they were pushed.
    far: BTreeMap<u64, Vec<Event>>,
    /// The slot number of the first event in `far`; `u64::MAX` if there is none.
    far_slot: u64,
    /// Simultaneous events come in the order in which they were pushed.
    keeps_order: bool,
    /// Simultaneous events with one of these keys come in the order in which they were pushed.
    links: Range<u32>,
}

impl Default for EventQueue {
    fn default() -> Self {
        EventQueue {
            due: Vec::with_capacity(64),
            sort: CountingSort::default(),
            current: 0,
            heads: vec![NONE; SLOTS]
                .into_boxed_slice()
                .try_into()
                .unwrap_or_else(|_| Box::new([NONE; SLOTS])),
            occupied: [0; WORDS],
            nodes: Vec::with_capacity(1024),
            free: NONE,
            far: BTreeMap::new(),
            far_slot: u64::MAX,
            keeps_order: false,
            links: 0..0,
        }
    }
}

impl EventQueue {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty queue with the keys of links' arrivals: simultaneous events with one such key come in the order in which they
    /// were pushed.
    pub fn with_links(keys: Range<u32>) -> Self {
        EventQueue { links: keys, ..Self::default() }
    }

    /// An empty queue that returns simultaneous events in the order in which they were pushed.
    pub fn in_order_of_scheduling() -> Self {
        EventQueue { keeps_order: true, ..Self::default() }
    }

    /// The number of pending events. The time to count them grows with the number of free nodes.
    pub fn len(&self) -> usize {
        let mut free = 0;
        let mut node = self.free;
        while node != NONE {
            (free, node) = (free + 1, self.nodes[node as usize].next);
        }
        self.due.len() + self.nodes.len() - free + self.far.values().map(Vec::len).sum::<usize>()
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty() && self.next_occupied() == NO_SLOT && self.far.is_empty()
    }

    /// Adds an event. An event whose time is before the last popped event's comes next.
    #[inline]
    pub fn push(&mut self, time: Time, key: u32, arg: u32) {
        let slot = time.0 >> SLOT_BITS;
        if slot.wrapping_sub(self.current).wrapping_sub(1) >= SLOTS as u64 - 1 {
            return self.insert_off_wheel(Event { time, key, arg }, slot);
        }
        let slot = (slot % SLOTS as u64) as usize;
        let (place, next) = ((time.0 % SLOT) << 32 | u64::from(key), self.heads[slot]);
        self.heads[slot] = self.free;
        if let Some(node) = self.nodes.get_mut(self.free as usize) {
            // Assign field by field: a whole node would go through the stack, which costs a seventh of the run time.
            self.free = node.next;
            node.place = place;
            node.arg = arg;
            node.next = next;
        } else {
            self.heads[slot] = self.grow(Node { place, arg, next });
        }
        // Set the bit without asking whether it is set: the answer is unpredictable.
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Adds an event of the current slot, or one beyond the horizon.
    #[cold]
    #[inline(never)]
    fn insert_off_wheel(&mut self, event: Event, slot: u64) {
        if slot > self.current {
            self.far.entry(slot).or_default().push(event);
            self.far_slot = self.far_slot.min(slot);
        } else if self.keeps_order {
            insert_due(&mut self.due, event, |before, after| before.time <= after.time);
        } else {
            let links = &self.links;
            insert_due(&mut self.due, event, |before, after| order(links, before, after).is_le());
        }
    }

    /// Takes the next event; `None` if none is before `limit`.
    #[inline]
    pub fn pop_before(&mut self, limit: Time) -> Option<Event> {
        loop {
            if let Some(event) = self.due.last() {
                if event.time >= limit {
                    return None;
                }
                return self.due.pop();
            }
            let slot = self.next_slot();
            if slot >= NO_SLOT || slot << SLOT_BITS >= limit.0 {
                return None;
            }
            self.open(slot);
        }
    }

    /// Takes the next event; `None` if none is pending.
    pub fn pop(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.due.pop() {
                return Some(event);
            }
            let slot = self.next_slot();
            if slot >= NO_SLOT {
                return None;
            }
            self.open(slot);
        }
    }

    /// The time of the first of the events with keys that `is_external` names; [`Time::NEVER`] if none is pending.
    pub(crate) fn first_of(&self, is_external: &dyn Fn(u32) -> bool) -> Time {
        let due = self.due.iter().chain(self.far.values().flatten()).copied();
        let slots = (0..SLOTS as u64).filter(|&slot| self.heads[slot as usize] != NONE);
        let lists = slots.flat_map(|index| {
            // The number of the slot with this index after the current one.
            let ahead = (index + SLOTS as u64 - self.current % SLOTS as u64) % SLOTS as u64;
            let begin = (self.current + ahead) << SLOT_BITS;
            let node = |at: u32| (at != NONE).then(|| &self.nodes[at as usize]);
            let list = successors(node(self.heads[index as usize]), move |n| node(n.next));
            list.map(move |n| event(begin, n.place, n.arg))
        });
        let external = due.chain(lists).filter(|event| is_external(event.key));
        external.map(|event| event.time).min().unwrap_or(Time::NEVER)
    }

    /// Replaces each event by another. Simultaneous events keep their order.
    pub(crate) fn rearrange(&mut self, moved: &dyn Fn(Event) -> Event) {
        let mut all = Vec::new();
        while let Some(event) = self.pop() {
            all.push(moved(event));
        }
        all.sort_by_key(|event| event.time);
        let (keeps_order, links) = (self.keeps_order, self.links.clone());
        *self = EventQueue { keeps_order, links, ..EventQueue::default() };
        all.into_iter().for_each(|event| self.push(event.time, event.key, event.arg));
    }

    /// The next event; `None` if the queue would have to open a slot to know it.
    #[inline]
    pub fn next_known(&self) -> Option<&Event> {
        self.due.last()
    }

    /// The time of the next event; `None` if none is pending.
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

    /// A time that is not after the next event's and less than a slot's width before it; `None` if no event is pending. Unlike
    /// [`Self::next_time`] this method leaves the slot closed, so that adding events to the slot stays cheap.
    #[inline]
    pub fn earliest(&self) -> Option<Time> {
        match self.due.last() {
            Some(event) => Some(event.time),
            None => Some(self.next_slot()).filter(|&slot| slot < NO_SLOT).map(|slot| Time(slot << SLOT_BITS)),
        }
    }

    /// The number of the first slot after the current one that has an event, in the wheel or beyond; [`NO_SLOT`] or more if
    /// there is none.
    #[inline]
    fn next_slot(&self) -> u64 {
        self.next_occupied().min(self.far_slot)
    }

    /// The number of the wheel's first occupied slot, or [`NO_SLOT`].
    #[inline]
    fn next_occupied(&self) -> u64 {
        let start = (self.current % SLOTS as u64) as usize;
        let distance = |slot: usize| self.current + ((slot + SLOTS - start) % SLOTS) as u64;
        // First the rest of the current word, then whole words around the wheel. In a busy network the next word has an event.
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

    /// Makes `slot` the current slot and moves its events to the empty list `due`.
    #[inline]
    fn open(&mut self, slot: u64) {
        self.current = slot;
        let index = (slot % SLOTS as u64) as usize;
        let first = std::mem::replace(&mut self.heads[index], NONE);
        if first != NONE {
            self.occupied[index / 64] &= !(1 << (index % 64));
            let begin = slot << SLOT_BITS;
            let last =
                if self.keeps_order { self.take_list(first, begin) } else { self.sort_list(first, begin) };
            // The whole list joins the list of free nodes.
            self.nodes[last as usize].next = self.free;
            self.free = first;
        }
        if self.far_slot <= slot {
            self.take_far(slot);
        }
    }

    /// Moves the events of a list to `due` and returns the list's last node.
    #[inline]
    fn sort_list(&mut self, first: u32, begin: u64) -> u32 {
        let (mut last, mut count) = (first, 0);
        loop {
            let Node { place, arg, next } = self.nodes[last as usize];
            self.sort.put(count, place, arg);
            count += 1;
            if next == NONE {
                break;
            }
            last = next;
        }
        if self.sort.sort_into(count, begin, &mut self.due).is_none() {
            // There are too many events to be counted, or two have the same place.
            self.take_list(first, begin);
            self.sort_due();
        }
        last
    }

    /// Moves the events of a list to `due`, the last pushed first and then, latest first, by time; returns the list's last
    /// node.
    #[inline]
    fn take_list(&mut self, first: u32, begin: u64) -> u32 {
        let (mut last, mut is_sorted) = (first, true);
        let mut before = Time::NEVER;
        loop {
            let Node { place, arg, next } = self.nodes[last as usize];
            let event = event(begin, place, arg);
            is_sorted &= event.time <= before;
            before = event.time;
            self.due.push(event);
            if next == NONE {
                break;
            }
            last = next;
        }
        if !is_sorted {
            self.due.sort_by_key(|event| Reverse(event.time));
        }
        last
    }

    /// Moves the events of slots up to `slot` from `far` to `due`, where they come before simultaneous ones: those were pushed
    /// when the slot had come within the horizon.
    #[cold]
    fn take_far(&mut self, slot: u64) {
        while let Some(slots) = self.far.first_entry().filter(|slots| *slots.key() <= slot) {
            self.due.extend(slots.remove().into_iter().rev());
        }
        if self.keeps_order {
            self.due.sort_by_key(|event| Reverse(event.time));
        } else {
            self.sort_due();
        }
        self.far_slot = self.far.keys().next().copied().unwrap_or(u64::MAX);
    }

    /// Puts `due` in order, in which of two equal events the one pushed first is behind the other.
    fn sort_due(&mut self) {
        let links = &self.links;
        self.due.sort_by(|a, b| order(links, b, a));
    }
}

/// The order of two events; equal if the one that was pushed first comes first.
fn order(links: &Range<u32>, a: &Event, b: &Event) -> Ordering {
    let by_key = (a.time, a.key).cmp(&(b.time, b.key));
    by_key.then_with(|| if links.contains(&a.key) { Ordering::Equal } else { a.arg.cmp(&b.arg) })
}
