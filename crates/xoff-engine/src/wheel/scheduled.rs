//! The event queue of runs in the order of scheduling: simultaneous events come in the order in which they were scheduled, as
//! in simulators that keep one list of events.
//!
//! Each event has a *place*, the number of events scheduled before it. A place can be reserved for an event that may turn out to
//! change nothing ([`ScheduledQueue::reserve`]): it is then never pushed, or pushed later, and comes where it would have come.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::iter::successors;

use super::slots::{NO_SLOT, NONE, SLOT, SLOT_BITS, Slots};
use crate::event::Event;
use crate::insert::insert_from_end;
use crate::units::Time;

/// Bits of a node's rank for the place; above them is the time since the slot's beginning.
const PLACE_BITS: u32 = 64 - SLOT_BITS;

/// An event in a slot's list.
#[derive(Clone, Copy)]
struct Node {
    /// The time since the slot's beginning, above the place.
    rank: u64,
    key: u32,
    arg: u32,
    /// The next node of the list, or [`NONE`].
    next: u32,
}

/// An event with its place.
#[derive(Clone, Copy)]
struct Placed {
    event: Event,
    place: u64,
}

impl Placed {
    fn order(&self) -> (Time, u64) {
        (self.event.time, self.place)
    }

    /// The event of a node in the slot that begins at `begin`.
    #[inline]
    fn of(begin: u64, node: &Node) -> Placed {
        let time = Time(begin + (node.rank >> PLACE_BITS));
        Placed {
            event: Event { time, key: node.key, arg: node.arg },
            place: node.rank & ((1 << PLACE_BITS) - 1),
        }
    }
}

/// Pending events, by time and then by place.
pub struct ScheduledQueue {
    /// The events of the current slot and before, latest first: the next event is the last element.
    due: Vec<Placed>,
    slots: Slots,
    nodes: Vec<Node>,
    /// The first node of the list of free nodes, or [`NONE`].
    free: u32,
    /// Events that lay beyond the horizon when they were pushed, by slot.
    far: BTreeMap<u64, Vec<Placed>>,
    /// The slot number of the first event in `far`; `u64::MAX` if there is none.
    far_slot: u64,
    /// The place of the next event that is scheduled.
    next_place: u64,
    /// The place of the event that was taken last.
    place: u64,
}

impl Default for ScheduledQueue {
    fn default() -> Self {
        ScheduledQueue {
            due: Vec::with_capacity(64),
            slots: Slots::new(),
            nodes: Vec::with_capacity(1024),
            free: NONE,
            far: BTreeMap::new(),
            far_slot: u64::MAX,
            next_place: 0,
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
    #[inline]
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
    #[inline]
    pub fn push_at(&mut self, place: u64, time: Time, key: u32, arg: u32) {
        let slot = time.0 >> SLOT_BITS;
        if !self.slots.are_to_hold(slot) {
            return self.insert_off_wheel(Placed { event: Event { time, key, arg }, place }, slot);
        }
        let rank = (time.0 % SLOT) << PLACE_BITS | place;
        if let Some(node) = self.nodes.get_mut(self.free as usize) {
            let next = self.slots.put_first(slot, self.free);
            self.free = node.next;
            (node.rank, node.key, node.arg, node.next) = (rank, key, arg, next);
        } else {
            let next = self.slots.put_first(slot, self.nodes.len() as u32);
            self.grow(Node { rank, key, arg, next });
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
    fn insert_off_wheel(&mut self, placed: Placed, slot: u64) {
        if slot > self.slots.current {
            self.far.entry(slot).or_default().push(placed);
            self.far_slot = self.far_slot.min(slot);
        } else {
            self.insert_due(placed);
        }
    }

    /// Inserts an event into the due ones.
    #[inline]
    fn insert_due(&mut self, placed: Placed) {
        insert_from_end(&mut self.due, placed, |before, after| before.order() < after.order());
    }

    /// Takes the next event; `None` if none is before `limit`.
    #[inline]
    pub fn pop_before(&mut self, limit: Time) -> Option<Event> {
        loop {
            if let Some(&Placed { event, place }) = self.due.last() {
                if event.time >= limit {
                    return None;
                }
                self.due.pop();
                self.place = place;
                return Some(event);
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
        self.pop_before(Time::NEVER)
    }

    /// The next event; `None` if the queue would have to open a slot to know it.
    #[inline]
    pub fn next_known(&self) -> Option<&Event> {
        self.due.last().map(|placed| &placed.event)
    }

    /// A time that is not after the next event's and less than a slot's width before it; `None` if no event is pending.
    #[inline]
    pub fn earliest(&self) -> Option<Time> {
        match self.due.last() {
            Some(placed) => Some(placed.event.time),
            None => Some(self.next_slot()).filter(|&slot| slot < NO_SLOT).map(|slot| Time(slot << SLOT_BITS)),
        }
    }

    /// The number of the first slot after the current one that has an event, in the wheel or beyond; [`NO_SLOT`] or more if
    /// there is none.
    #[inline]
    fn next_slot(&self) -> u64 {
        self.slots.next_occupied().min(self.far_slot)
    }

    /// Makes `slot` the current slot and moves its events to the empty list `due`.
    #[inline(never)] // runs once for several events
    fn open(&mut self, slot: u64) {
        let (first, begin) = (self.slots.open(slot), slot << SLOT_BITS);
        let mut at = first;
        while at != NONE {
            let node = self.nodes[at as usize];
            // What was pushed last is first, and mostly comes last.
            self.insert_due(Placed::of(begin, &node));
            if node.next == NONE {
                // The whole list joins the list of free nodes.
                self.nodes[at as usize].next = self.free;
                self.free = first;
            }
            at = node.next;
        }
        if self.far_slot <= slot {
            self.take_far(slot);
        }
    }

    /// Moves the events of slots up to `slot` from `far` to `due`.
    #[cold]
    fn take_far(&mut self, slot: u64) {
        while let Some(slots) = self.far.first_entry().filter(|slots| *slots.key() <= slot) {
            self.due.extend(slots.remove());
        }
        self.due.sort_unstable_by_key(|placed| std::cmp::Reverse(placed.order()));
        self.far_slot = self.far.keys().next().copied().unwrap_or(u64::MAX);
    }

    /// All pending events, in no order.
    fn all(&self) -> impl Iterator<Item = Placed> {
        let lists = self.slots.lists().flat_map(|(begin, head)| {
            let node = |at: u32| (at != NONE).then(|| &self.nodes[at as usize]);
            successors(node(head), move |n| node(n.next)).map(move |n| Placed::of(begin, n))
        });
        self.due.iter().chain(self.far.values().flatten()).copied().chain(lists)
    }

    /// The time of the first of the events with keys that `is_external` names; [`Time::NEVER`] if none is pending.
    pub(crate) fn first_of(&self, is_external: &dyn Fn(u32) -> bool) -> Time {
        let external = self.all().filter(|placed| is_external(placed.event.key));
        external.map(|placed| placed.event.time).min().unwrap_or(Time::NEVER)
    }

    /// Replaces each event by another. Simultaneous events keep their order, and no reserved place is valid any more.
    pub(crate) fn rearrange(&mut self, moved: &dyn Fn(Event) -> Event) {
        let mut all: Vec<Placed> = self.all().collect();
        all.sort_unstable_by_key(Placed::order);
        let mut all: Vec<Event> = all.into_iter().map(|placed| moved(placed.event)).collect();
        all.sort_by_key(|event| event.time);
        *self = ScheduledQueue::default();
        all.into_iter().for_each(|event| self.push(event.time, event.key, event.arg));
    }
}
