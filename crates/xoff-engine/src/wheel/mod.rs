//! The event queue: a timing wheel of short slots, and a tree of slots beyond the wheel's horizon.
//!
//! Nearly all events of a network lie within a few microseconds. A push is therefore a list insertion, and a pop sorts the
//! few events of one slot. Events are ordered by time, then by key, then by argument, and never by which was pushed
//! first. If keys name the entity (for an arrival, its ingress port), the order of simultaneous events is a property of the
//! network, the same however the network is partitioned. Keys of links are an exception ([`EventQueue::with_links`]): what
//! comes by one link at one time comes as it was pushed, since its argument says nothing about which was sent first. A queue that
//! keeps the order in which all events were pushed, for comparison with simulators that do, is [`scheduled`].

pub mod scheduled;
mod slots;
mod sort;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::iter::successors;
use std::ops::Range;

use crate::event::Event;
use crate::insert::insert_from_end;
use crate::units::Time;

use slots::{NO_SLOT, SLOT, SLOT_BITS, Slots, slot_of};
use sort::{CountingSort, event};

/// Stands for the absence of a node.
const NONE: u32 = u32::MAX;

/// Words of the wheel, which has 32,768 slots: the horizon is 16.8 us, longer than most links' delays and than a full packet's time
/// at 1 Gbps.
const WORDS: usize = 512;

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
    /// The first node of each slot's list, or [`NONE`]: events up to the current slot are in `due`.
    slots: Slots<u32, WORDS>,
    nodes: Vec<Node>,
    /// The first node of the list of free nodes, or [`NONE`].
    free: u32,
    /// Events that lay beyond the horizon when they were pushed: by slot, in the order in which they were pushed.
    far: BTreeMap<u64, Vec<Event>>,
    /// The slot number of the first event in `far`; `u64::MAX` if there is none.
    far_slot: u64,
    /// Simultaneous events with one of these keys come in the order in which they were pushed.
    links: Range<u32>,
}

impl Default for EventQueue {
    fn default() -> Self {
        EventQueue {
            due: Vec::with_capacity(64),
            sort: CountingSort::default(),
            slots: Slots::new(NONE),
            nodes: Vec::with_capacity(1024),
            free: NONE,
            far: BTreeMap::new(),
            far_slot: u64::MAX,
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
        self.due.is_empty() && self.slots.next_occupied() == NO_SLOT && self.far.is_empty()
    }

    /// Adds an event. An event whose time is before the last popped event's comes next.
    #[inline]
    pub fn push(&mut self, time: Time, key: u32, arg: u32) {
        let slot = slot_of(time);
        if !self.slots.are_to_hold(slot) {
            return self.insert_off_wheel(Event { time, key, arg }, slot);
        }
        let place = (time.0 % SLOT) << 32 | u64::from(key);
        if let Some(node) = self.nodes.get_mut(self.free as usize) {
            let next = std::mem::replace(self.slots.list_mut(slot), self.free);
            // Assign field by field: a whole node would go through the stack, which costs a seventh of the run time.
            self.free = node.next;
            node.place = place;
            node.arg = arg;
            node.next = next;
        } else {
            let next = std::mem::replace(self.slots.list_mut(slot), self.nodes.len() as u32);
            self.grow(Node { place, arg, next });
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, node: Node) {
        self.nodes.push(node);
    }

    /// Adds an event of the current slot, or one beyond the horizon.
    #[cold]
    #[inline(never)]
    fn insert_off_wheel(&mut self, event: Event, slot: u64) {
        if slot > self.slots.current {
            self.far.entry(slot).or_default().push(event);
            self.far_slot = self.far_slot.min(slot);
        } else {
            let links = &self.links;
            insert_from_end(&mut self.due, event, |before, after| order(links, before, after).is_le());
        }
    }

    /// Takes the next event; `None` if none is before `limit`.
    #[inline(always)] // runs for every event
    pub fn pop_before(&mut self, limit: Time) -> Option<Event> {
        if self.due.is_empty() && !self.open_before(limit) {
            return None;
        }
        self.due.pop_if(|event| event.time < limit)
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

    /// Shows each event, in any order.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(Event)) {
        self.due.iter().chain(self.far.values().flatten()).for_each(|&event| visit(event));
        for (begin, head) in self.slots.lists() {
            let node = |at: u32| (at != NONE).then(|| &self.nodes[at as usize]);
            let list = successors(node(head), move |n| node(n.next));
            list.for_each(|n| visit(event(begin, n.place, n.arg)));
        }
    }

    /// Replaces each event by another or by none. Simultaneous events keep their order.
    pub(crate) fn rearrange(&mut self, moved: &dyn Fn(Event) -> Option<Event>) {
        let mut all = Vec::new();
        while let Some(event) = self.pop() {
            all.extend(moved(event));
        }
        all.sort_by_key(|event| event.time);
        let links = self.links.clone();
        *self = EventQueue { links, ..EventQueue::default() };
        all.into_iter().for_each(|event| self.push(event.time, event.key, event.arg));
    }

    /// The key and the argument of the next event; zeros if the queue would have to open a slot to know them.
    #[inline]
    pub fn next_known(&self) -> (u32, u32) {
        self.due.last().map_or((0, 0), |event| (event.key, event.arg))
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
        self.slots.next_occupied().min(self.far_slot)
    }

    /// Opens the next slot with events if it begins before `limit`; returns whether it does.
    #[inline(never)] // runs once for several events
    fn open_before(&mut self, limit: Time) -> bool {
        let slot = self.next_slot();
        let begins = slot < NO_SLOT && slot << SLOT_BITS < limit.0;
        if begins {
            self.open(slot);
        }
        begins
    }

    /// Makes `slot` the current slot and moves its events to the empty list `due`.
    #[inline]
    fn open(&mut self, slot: u64) {
        let first = self.slots.open(slot);
        if first != NONE {
            let last = self.sort_list(first, slot << SLOT_BITS);
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
        }
        last
    }

    /// Moves the events of a list to `due` in order.
    fn take_list(&mut self, first: u32, begin: u64) {
        let mut at = first;
        while at != NONE {
            let Node { place, arg, next } = self.nodes[at as usize];
            self.due.push(event(begin, place, arg));
            at = next;
        }
        self.sort_due();
    }

    /// Moves the events of slots up to `slot` from `far` to `due`, where they come before simultaneous ones: those were pushed
    /// when the slot had come within the horizon.
    #[cold]
    fn take_far(&mut self, slot: u64) {
        while let Some(slots) = self.far.first_entry().filter(|slots| *slots.key() <= slot) {
            self.due.extend(slots.remove().into_iter().rev());
        }
        self.sort_due();
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
