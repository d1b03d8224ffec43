//! The event queue of runs in the order of scheduling: simultaneous events come in the order in which they were scheduled, as
//! in simulators that keep one list of events.
//!
//! Each event has a *place*, its number among the events that were scheduled, beginning with 1. A place can be reserved for an
//! event that may turn out to change nothing ([`ScheduledQueue::reserve`]): it is then never pushed, or pushed later, and comes
//! where it would have come.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::iter::successors;

use super::slots::{NO_SLOT, SLOT_BITS, Slots, slot_of};
use crate::event::Event;
use crate::units::Time;

/// Stands for the absence of a node. The node itself comes before all others and is in no list, so that an event can be put behind
/// the last one of a list without the question whether the list is empty, which is unpredictable.
const NONE: u32 = 0;

/// A pending event.
#[derive(Clone, Copy)]
struct Node {
    event: Event,
    place: u64,
    /// The next node of the list, or [`NONE`].
    next: u32,
}

impl Node {
    /// Node [`NONE`].
    const NOTHING: Node = Node { event: Event { time: Time::ZERO, key: 0, arg: 0 }, place: 0, next: NONE };

    #[inline]
    fn order(&self) -> u128 {
        order(self.event.time, self.place)
    }
}

/// A number by which events are ordered.
#[inline]
fn order(time: Time, place: u64) -> u128 {
    u128::from(time.0) << 64 | u128::from(place)
}

/// Words of the wheel, which has 8,192 slots: the horizon is 4.2 us, longer than most links' delays, and its lists leave most of a
/// nearby cache to the network.
const WORDS: usize = 128;

/// The slots of the wheel.
type Wheel = Slots<List, WORDS>;

/// Slots of a [`Bucket`]: half of the wheel, so that all events of a bucket find room in the wheel once the first of them is the next
/// event.
const BUCKET: u64 = Wheel::SLOTS as u64 / 2;

/// Events beyond the horizon.
struct Bucket {
    /// The slot number of the first event.
    first_slot: u64,
    nodes: Vec<u32>,
}

impl Bucket {
    const EMPTY: Bucket = Bucket { first_slot: u64::MAX, nodes: Vec::new() };
}

/// How many events from the first one on are compared with one that is to come before the last one: most lists have fewer. Longer
/// lists, as large networks have, are sorted when their slot is opened.
const NEAR: usize = 32;

/// A list of events.
#[derive(Clone, Copy, PartialEq, Eq)]
struct List {
    first: u32,
    /// [`NONE`] if the list has always been empty; not valid once all events of a list are taken.
    last: u32,
    /// The events are in their order.
    is_sorted: bool,
}

impl List {
    const EMPTY: List = List { first: NONE, last: NONE, is_sorted: true };

    /// A node with this order joins the list: where it belongs if that is at the end, as mostly, or near the beginning. Otherwise it is put
    /// at the end, and the list is no longer sorted.
    #[inline(always)] // runs for every event
    fn join(&mut self, nodes: &mut [Node], at: u32, order: u128) {
        if nodes[self.last as usize].order() > order && self.join_inside(nodes, at, order, NEAR) {
            return;
        }
        self.append(nodes, at);
    }

    /// A node becomes the last one.
    #[inline]
    fn append(&mut self, nodes: &mut [Node], at: u32) {
        nodes[self.last as usize].next = at;
        self.first = if self.first == NONE { at } else { self.first };
        self.last = at;
    }

    /// A node joins the list before its last node if the list is sorted and the node's place is among the `near` first ones. Otherwise
    /// the list is no longer sorted, and the answer is `false`.
    #[cold]
    #[inline(never)]
    fn join_inside(&mut self, nodes: &mut [Node], at: u32, order: u128, near: usize) -> bool {
        let (mut before, mut after) = (NONE, self.first);
        for _ in 0..if self.is_sorted { near } else { 0 } {
            if nodes[after as usize].order() > order {
                nodes[at as usize].next = after;
                match before {
                    NONE => self.first = at,
                    _ => nodes[before as usize].next = at,
                }
                return true;
            }
            (before, after) = (after, nodes[after as usize].next);
        }
        self.is_sorted = false;
        false
    }
}

/// Pending events, by time and then by place.
pub struct ScheduledQueue {
    /// The events of the current slot and before, in their order.
    due: List,
    slots: Wheel,
    nodes: Vec<Node>,
    /// The first node of the list of free nodes, or [`NONE`].
    free: u32,
    /// The nodes of a list that is being sorted, each with its order.
    sorting: Vec<(u128, u32)>,
    /// Events that lay beyond the horizon when they were pushed, by bucket.
    far: BTreeMap<u64, Bucket>,
    /// The slot number of the first event in `far`; `u64::MAX` if there is none.
    far_slot: u64,
    /// The place of the next event that is scheduled.
    next_place: u64,
    /// The place of the event that was taken last.
    place: u64,
}

impl Default for ScheduledQueue {
    fn default() -> Self {
        let mut nodes = Vec::with_capacity(1024);
        nodes.push(Node::NOTHING);
        ScheduledQueue {
            due: List::EMPTY,
            slots: Slots::new(List::EMPTY),
            nodes,
            free: NONE,
            sorting: Vec::new(),
            far: BTreeMap::new(),
            far_slot: u64::MAX,
            next_place: 1,
            place: 0,
        }
    }
}

impl ScheduledQueue {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Schedules an event. An event whose time is before the last popped event's comes next.
    #[inline(always)] // runs for every event
    pub fn push(&mut self, time: Time, key: u32, arg: u32) {
        let place = self.reserve();
        self.push_at(place, time, key, arg);
    }

    /// The place of an event that is scheduled now, and that [`Self::push_at`] may push later.
    #[inline]
    pub fn reserve(&mut self) -> u64 {
        self.next_place += 1;
        self.next_place - 1
    }

    /// The place of the event that was taken last.
    #[inline]
    pub fn place(&self) -> u64 {
        self.place
    }

    /// Adds an event with a reserved place, before anything that comes after it is taken.
    #[inline(always)] // runs for every event
    pub fn push_at(&mut self, place: u64, time: Time, key: u32, arg: u32) {
        if self.free == NONE {
            self.grow();
        }
        let at = self.free;
        let node = &mut self.nodes[at as usize];
        self.free = node.next;
        // Assign field by field: a whole node would go through the stack.
        (node.event.time, node.event.key, node.event.arg) = (time, key, arg);
        (node.place, node.next) = (place, NONE);
        let slot = slot_of(time);
        if !self.slots.are_to_hold(slot) {
            return self.join_off_wheel(at, slot);
        }
        self.slots.list_mut(slot).join(&mut self.nodes, at, order(time, place));
    }

    /// Adds a node to the empty list of free nodes.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node::NOTHING);
    }

    /// Adds an event of the current slot or before, or one beyond the horizon.
    #[cold]
    #[inline(never)]
    fn join_off_wheel(&mut self, at: u32, slot: u64) {
        if slot > self.slots.current {
            let bucket = self.far.entry(slot / BUCKET).or_insert(Bucket::EMPTY);
            bucket.first_slot = bucket.first_slot.min(slot);
            bucket.nodes.push(at);
            self.far_slot = self.far_slot.min(slot);
            return;
        }
        if self.due.first == NONE {
            // The last node is gone.
            self.due = List::EMPTY;
        }
        let order = self.nodes[at as usize].order();
        let is_last = self.nodes[self.due.last as usize].order() <= order;
        if is_last || !self.due.join_inside(&mut self.nodes, at, order, usize::MAX) {
            self.due.append(&mut self.nodes, at);
        }
    }

    /// Takes the next event; `None` if none is before `limit`.
    #[inline(always)] // runs for every event
    pub fn pop_before(&mut self, limit: Time) -> Option<Event> {
        if self.due.first == NONE && !self.open_before(limit) {
            return None;
        }
        let at = self.due.first;
        let node = &mut self.nodes[at as usize];
        if node.event.time >= limit {
            return None;
        }
        self.place = node.place;
        self.due.first = std::mem::replace(&mut node.next, self.free);
        self.free = at;
        Some(node.event)
    }

    /// Takes the next event; `None` if none is pending.
    pub fn pop(&mut self) -> Option<Event> {
        self.pop_before(Time::NEVER)
    }

    /// The key and the argument of the next event; zeros if the queue would have to open a slot to know them.
    #[inline]
    pub fn next_known(&self) -> (u32, u32) {
        let next = &self.nodes[self.due.first as usize].event;
        (next.key, next.arg)
    }

    /// A time that is not after the next event's and less than a slot's width before it; `None` if no event is pending.
    #[inline]
    pub fn earliest(&self) -> Option<Time> {
        match self.due.first {
            NONE => Some(self.next_slot()).filter(|&slot| slot < NO_SLOT).map(|slot| Time(slot << SLOT_BITS)),
            first => Some(self.nodes[first as usize].event.time),
        }
    }

    /// The number of the first slot after the current one that has an event, in the wheel or beyond; [`NO_SLOT`] or more if
    /// there is none.
    #[inline]
    fn next_slot(&self) -> u64 {
        self.slots.next_occupied().min(self.far_slot)
    }

    /// Opens the next slot with events if it begins before `limit`; returns whether it does. No event of the current slot is left.
    #[inline(never)] // runs once for several events
    fn open_before(&mut self, limit: Time) -> bool {
        let slot = self.next_slot();
        if slot >= NO_SLOT || slot << SLOT_BITS >= limit.0 {
            return false;
        }
        if self.far_slot <= slot {
            self.take_far();
        }
        self.due = self.slots.open(slot);
        if !self.due.is_sorted {
            self.sort_due();
        }
        true
    }

    /// Moves the first bucket's events, of which one is the next event, from `far` to the wheel, whose slot of that event is about to be
    /// opened.
    #[cold]
    #[inline(never)]
    fn take_far(&mut self) {
        for at in self.far.pop_first().map_or_else(Vec::new, |(_, bucket)| bucket.nodes) {
            let Node { event, place, .. } = self.nodes[at as usize];
            self.slots.list_mut(slot_of(event.time)).join(&mut self.nodes, at, order(event.time, place));
        }
        self.far_slot = self.far.first_key_value().map_or(u64::MAX, |(_, bucket)| bucket.first_slot);
    }

    /// Puts the events of `due` in their order.
    #[inline(never)]
    fn sort_due(&mut self) {
        let mut at = self.due.first;
        while at != NONE {
            let node = &self.nodes[at as usize];
            self.sorting.push((node.order(), at));
            at = node.next;
        }
        self.sorting.sort_unstable_by_key(|&(order, _)| order);
        self.due = List::EMPTY;
        for (_, at) in self.sorting.drain(..) {
            self.nodes[at as usize].next = NONE;
            self.due.append(&mut self.nodes, at);
        }
    }

    /// All pending events, in no order.
    fn all(&self) -> impl Iterator<Item = Node> {
        let known = |at: u32| (at != NONE).then_some(at);
        let next = move |at: &u32| known(self.nodes[*at as usize].next);
        let listed = self.slots.lists().map(|(_, list)| list.first).chain([self.due.first]);
        let listed = listed.flat_map(move |first| successors(known(first), next));
        listed
            .chain(self.far.values().flat_map(|bucket| &bucket.nodes).copied())
            .map(|at| self.nodes[at as usize])
    }

    /// Shows each event, in any order.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(Event)) {
        self.all().for_each(|node| visit(node.event));
    }

    /// Replaces each event by another or by none. Simultaneous events keep their order, and no reserved place is valid any more.
    pub(crate) fn rearrange(&mut self, moved: &dyn Fn(Event) -> Option<Event>) {
        let mut all: Vec<Node> = self.all().collect();
        all.sort_unstable_by_key(Node::order);
        let mut all: Vec<Event> = all.into_iter().filter_map(|node| moved(node.event)).collect();
        all.sort_by_key(|event| event.time);
        *self = ScheduledQueue::default();
        all.into_iter().for_each(|event| self.push(event.time, event.key, event.arg));
    }
}
