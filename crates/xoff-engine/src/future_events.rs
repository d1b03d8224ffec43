//! The pending events of entities that affect each other by links, and the order in which they are handled.
//!
//! If every link has a delay, each entity can have a queue of its own ([`FutureEvents::by_entity`]): the entities handle
//! their events one entity after the other, in windows no longer than the minimum delay. An entity's state then stays in the
//! cache, and its events need an order only among themselves. Otherwise, or if all events need one order, all entities share
//! one queue ([`FutureEvents::joint`]). In both cases every entity sees the same events in the same order.
//!
//! A run with a joint queue repeats [`FutureEvents::pop_before`]. A run by entity repeats windows:
//!
//! 1. [`FutureEvents::begin_window`], then [`FutureEvents::take_start`] until it returns `None`, then [`FutureEvents::list_turns`];
//! 2. for each entity that [`FutureEvents::open_next`] returns: [`FutureEvents::next_up`], with [`FutureEvents::take`] or
//!    [`FutureEvents::take_own`], until it returns [`Next::Nothing`];
//! 3. [`FutureEvents::end_window`], then [`FutureEvents::take_common`] until it returns `None`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::entities::{Arrival, ArrivalLinks, EntityQueues, Next};
use crate::event::Event;
use crate::units::Time;
use crate::wheel::EventQueue;
use crate::wheel::scheduled::ScheduledQueue;

#[cfg(test)]
mod tests;

/// Pending events, in one queue or by entity.
#[allow(clippy::large_enum_variant)] // a run has a single one, and its larger variant is used for every event
pub enum FutureEvents {
    /// All events in one queue.
    Joint(Box<EventQueue>),
    /// The same, in the order of scheduling.
    Scheduled(Box<ScheduledQueue>),
    /// A queue for each entity.
    ByEntity(ByEntity),
}

/// Pending events by entity, the content of [`FutureEvents::ByEntity`].
pub struct ByEntity {
    entities: EntityQueues,
    /// The maximum length of a window.
    lookahead: Time,
    /// Events that concern all entities, such as samples.
    common: BinaryHeap<Reverse<Event>>,
    /// The time and key of the next flow that starts by itself.
    start: Option<(Time, u32)>,
}

impl FutureEvents {
    /// An empty queue for all entities. Simultaneous events come by key; those with one of the keys `links`, which links'
    /// arrivals have, in the order in which they were pushed.
    pub fn joint(links: Range<u32>) -> FutureEvents {
        FutureEvents::Joint(Box::new(EventQueue::with_links(links)))
    }

    /// An empty joint queue that returns simultaneous events in the order in which they were scheduled.
    pub fn in_order_of_scheduling() -> FutureEvents {
        FutureEvents::Scheduled(Box::default())
    }

    /// Empty queues of `entities` entities. `fifos` gives for each link's FIFO the entity at which its arrivals come, and the
    /// key of its arrivals; `None` for a FIFO that is not used. An entity has at most [`crate::MAX_FIFOS`].
    ///
    /// `lookahead` is positive and at most the minimum delay of a link.
    pub fn by_entity(
        entities: usize,
        fifos: impl Iterator<Item = Option<(u32, u32)>> + Clone,
        lookahead: Time,
    ) -> FutureEvents {
        debug_assert!(lookahead > Time::ZERO, "a window holds at least its first moment");
        FutureEvents::ByEntity(ByEntity {
            entities: EntityQueues::new(entities, fifos),
            lookahead,
            common: BinaryHeap::new(),
            start: None,
        })
    }

    /// Adds an event that `entity` has scheduled for itself, or one that comes to `entity` after a link's delay.
    #[inline]
    pub fn push(&mut self, entity: u32, time: Time, key: u32, arg: u32) {
        match self {
            FutureEvents::ByEntity(all) => all.entities.push(entity, Event { time, key, arg }),
            _ => self.push_joint(time, key, arg),
        }
    }

    /// Adds an event to a joint queue. Apart from the code of events by entity, which so asks one question about the kind of queue.
    #[inline(never)]
    fn push_joint(&mut self, time: Time, key: u32, arg: u32) {
        match self {
            FutureEvents::Joint(queue) => queue.push(time, key, arg),
            FutureEvents::Scheduled(queue) => queue.push(time, key, arg),
            FutureEvents::ByEntity(_) => unreachable!("events by entity are in no joint queue"),
        }
    }

    /// The slot by which [`Self::arrive`] adds arrivals of `fifo`, all of which have `key`. In a joint queue the slot is the
    /// key itself.
    pub fn slot(&self, fifo: u32, key: u32) -> u32 {
        match self {
            FutureEvents::Joint(_) | FutureEvents::Scheduled(_) => key,
            FutureEvents::ByEntity(all) => all.entities.slot(fifo),
        }
    }

    /// Adds an arrival to the FIFO of a [`Self::slot`]: at least a lookahead from now, and after the FIFO's last arrival. No
    /// other pending arrival has the argument `arg`.
    #[inline(always)] // runs for every packet
    pub fn arrive(&mut self, links: &mut impl ArrivalLinks, slot: u32, time: Time, arg: u32) {
        match self {
            FutureEvents::ByEntity(all) => all.entities.arrive(links, slot, time, arg),
            _ => self.push_joint(time, slot, arg),
        }
    }

    /// Adds an event that concerns all entities. The event comes after all other events of its time; in a joint queue its
    /// `key` must therefore be greater than the keys of the others.
    pub fn push_common(&mut self, time: Time, key: u32) {
        match self {
            FutureEvents::ByEntity(all) => all.common.push(Reverse(Event { time, key, arg: 0 })),
            _ => self.push_joint(time, key, 0),
        }
    }

    /// Adds the start of the next flow that starts by itself. Only one such start is pending at a time. In a joint queue it
    /// is an event with argument 0; by entity, [`Self::take_start`] takes it.
    pub fn push_start(&mut self, time: Time, key: u32) {
        match self {
            FutureEvents::ByEntity(all) => all.start = Some((time, key)),
            _ => self.push_joint(time, key, 0),
        }
    }

    /// Takes the time and key of the next flow that starts by itself, if that is before `before`, the end of the window: the
    /// start is then to be pushed as an event of its entity. `None` in a joint queue, where the start is an event.
    #[inline]
    pub fn take_start(&mut self, before: Time) -> Option<(Time, u32)> {
        let FutureEvents::ByEntity(all) = self else { return None };
        all.start.take_if(|(time, _)| *time < before)
    }

    /// Whether [`Self::take_start`] takes starts at the beginning of a window, ahead of their time. If not, a start is an
    /// event that comes at its time.
    pub fn looks_ahead(&self) -> bool {
        matches!(self, FutureEvents::ByEntity(_))
    }

    /// A time that is not after the next event's; [`Time::NEVER`] if no event is pending.
    pub fn earliest(&self) -> Time {
        match self {
            FutureEvents::Joint(queue) => queue.earliest().unwrap_or(Time::NEVER),
            FutureEvents::Scheduled(queue) => queue.earliest().unwrap_or(Time::NEVER),
            FutureEvents::ByEntity(all) => all.earliest(),
        }
    }
}

/// Time that is carried forward: between two windows, some events come earlier, and all others stay.
impl FutureEvents {
    /// Shows each event but arrivals in FIFOs, in any order.
    pub fn visit(&self, mut visit: impl FnMut(Event)) {
        match self {
            FutureEvents::Joint(queue) => queue.visit(&mut visit),
            FutureEvents::Scheduled(queue) => queue.visit(&mut visit),
            FutureEvents::ByEntity(all) => {
                all.common.iter().for_each(|Reverse(event)| visit(*event));
                all.start.iter().for_each(|&(time, key)| visit(Event { time, key, arg: 0 }));
                all.entities.visit(&mut visit);
            }
        }
    }

    /// When the first of these events comes; [`Time::NEVER`] if there is none.
    pub fn first_of(&self, is_external: impl Fn(u32) -> bool) -> Time {
        let mut first = Time::NEVER;
        self.visit(|event| first = if is_external(event.key) { first.min(event.time) } else { first });
        first
    }

    /// The number of each link's FIFO that has arrivals, with the time and the argument of the first of them. Nothing in a joint
    /// queue.
    pub fn first_arrivals(&self) -> impl Iterator<Item = (u32, Time, u32)> {
        let entities = match self {
            FutureEvents::ByEntity(all) => Some(&all.entities),
            FutureEvents::Joint(_) | FutureEvents::Scheduled(_) => None,
        };
        entities.into_iter().flat_map(EntityQueues::first_arrivals)
    }

    /// Makes these events come earlier `by` a time.
    pub fn bring_forward(&mut self, by: Time, is_external: impl Fn(u32) -> bool) {
        self.rearrange(&|event: Event| match is_external(event.key) {
            true => Some(Event { time: event.time.saturating_sub(by), ..event }),
            false => Some(event),
        });
    }

    /// Removes these events.
    pub fn remove(&mut self, is_one: impl Fn(u32) -> bool) {
        self.rearrange(&|event: Event| (!is_one(event.key)).then_some(event));
    }

    /// Replaces each event by another or by none.
    fn rearrange(&mut self, moved: &dyn Fn(Event) -> Option<Event>) {
        match self {
            FutureEvents::Joint(queue) => queue.rearrange(moved),
            FutureEvents::Scheduled(queue) => queue.rearrange(moved),
            FutureEvents::ByEntity(all) => {
                all.entities.rearrange(moved);
                let common = std::mem::take(&mut all.common).into_iter();
                all.common = common.filter_map(|Reverse(event)| moved(event).map(Reverse)).collect();
                let start = all.start.and_then(|(time, key)| moved(Event { time, key, arg: 0 }));
                all.start = start.map(|event| (event.time, event.key));
            }
        }
    }
}

/// A joint queue.
impl FutureEvents {
    /// Takes the next event of a joint queue; `None` if none is before `limit`, or if the events are kept by entity.
    #[inline(always)] // runs for every event
    pub fn pop_before(&mut self, limit: Time) -> Option<Event> {
        match self {
            FutureEvents::Joint(queue) => queue.pop_before(limit),
            FutureEvents::Scheduled(queue) => queue.pop_before(limit),
            FutureEvents::ByEntity(_) => None,
        }
    }

    /// The key and the argument of the next event of a joint queue, for prefetching what they stand for; zeros if the queue would
    /// have to open a slot to know them, or if the events are kept by entity.
    #[inline(always)] // runs for every event
    pub fn next_known(&self) -> (u32, u32) {
        match self {
            FutureEvents::Joint(queue) => queue.next_known(),
            FutureEvents::Scheduled(queue) => queue.next_known(),
            FutureEvents::ByEntity(_) => (0, 0),
        }
    }
}

/// Events that may turn out to change nothing, in the order of scheduling. In other orders there is no place to reserve.
impl FutureEvents {
    /// The place of an event that is scheduled now, and pushed later or never; see [`ScheduledQueue::reserve`].
    #[inline]
    pub fn reserve(&mut self) -> u64 {
        match self {
            FutureEvents::Scheduled(queue) => queue.reserve(),
            FutureEvents::Joint(_) | FutureEvents::ByEntity(_) => 0,
        }
    }

    /// Adds an event with a reserved place.
    #[inline(never)] // large, and rare beside the others
    pub fn push_at(&mut self, place: u64, time: Time, key: u32, arg: u32) {
        if let FutureEvents::Scheduled(queue) = self {
            queue.push_at(place, time, key, arg);
        }
    }

    /// Whether an event with a reserved place, at the time of the current event, would have come before the current event.
    #[inline]
    pub fn is_past(&self, place: u64) -> bool {
        match self {
            FutureEvents::Scheduled(queue) => place < queue.place(),
            FutureEvents::Joint(_) | FutureEvents::ByEntity(_) => true,
        }
    }
}

/// Events by entity. With a joint queue there are no windows: these methods return `None` or [`Next::Nothing`].
impl FutureEvents {
    /// Begins the next window and returns the time of its earliest event and its end, which is not part of it: at most
    /// `limit`, at most a lookahead after the earliest event, and right after the next event that concerns all entities.
    /// `None` if nothing happens before `limit`.
    #[inline]
    pub fn begin_window(&mut self, limit: Time) -> Option<Range<Time>> {
        let FutureEvents::ByEntity(all) = self else { return None };
        let begin = all.earliest();
        if begin >= limit {
            return None;
        }
        let end =
            limit.min(begin.saturating_add(all.lookahead)).min(all.next_common().saturating_add(Time(1)));
        all.entities.begin_window(begin, end);
        Some(begin..end)
    }

    /// Makes the next entity that [`Self::list_turns`] has listed the current one and returns it. Entities come in order of their
    /// numbers.
    #[inline]
    pub fn open_next(&mut self) -> Option<u32> {
        let FutureEvents::ByEntity(all) = self else { return None };
        all.entities.open_next()
    }

    /// Lists the entities that have events in this window: after [`Self::take_start`] and before [`Self::open_next`].
    #[inline]
    pub fn list_turns(&mut self) {
        if let FutureEvents::ByEntity(all) = self {
            all.entities.list_turns();
        }
    }

    /// Fetches what is kept here of the entities whose turns come soon.
    #[inline]
    pub fn fetch_turns(&self) {
        if let FutureEvents::ByEntity(all) = self {
            all.entities.fetch_turns();
        }
    }

    /// The entity whose turn in this window comes `turns` turns after the current one's, if there is one.
    #[inline]
    pub fn turn_ahead(&self, turns: usize) -> Option<u32> {
        match self {
            FutureEvents::ByEntity(all) => all.entities.turn_ahead(turns),
            FutureEvents::Joint(_) | FutureEvents::Scheduled(_) => None,
        }
    }

    /// The numbers of an entity's FIFOs, each with the argument of its first arrival, for prefetching what both stand for.
    #[inline]
    pub fn fifos(&self, entity: u32) -> impl Iterator<Item = (u32, u32)> {
        let entities = match self {
            FutureEvents::ByEntity(all) => Some(&all.entities),
            FutureEvents::Joint(_) | FutureEvents::Scheduled(_) => None,
        };
        entities.into_iter().flat_map(move |entities| entities.fifos(entity))
    }

    /// Fetches the FIFO of a slot into the cache: the caller is about to add arrivals. Does nothing if there is no such slot.
    #[inline]
    pub fn fetch_slot(&self, slot: u32) {
        if let FutureEvents::ByEntity(all) = self {
            all.entities.fetch_slot(slot);
        }
    }

    /// The last arrival at the FIFO of a slot, or any that was there if the FIFO is empty; `None` if there is no such slot.
    #[inline]
    pub fn last_of(&self, slot: u32) -> Option<u32> {
        match self {
            FutureEvents::ByEntity(all) => all.entities.last_of(slot),
            FutureEvents::Joint(_) | FutureEvents::Scheduled(_) => None,
        }
    }

    /// What the current entity has to do next in this window. After [`Next::Nothing`] no entity is the current one.
    #[inline(always)] // runs for every event
    pub fn next_up(&mut self) -> Next {
        match self {
            FutureEvents::Joint(_) | FutureEvents::Scheduled(_) => Next::Nothing,
            FutureEvents::ByEntity(all) => all.entities.next_up(),
        }
    }

    /// Takes the first arrival of the FIFO at the slot that [`Self::next_up`] has returned as [`Next::Arrival`].
    #[inline(always)] // runs for every packet
    pub fn take(&mut self, links: &mut impl ArrivalLinks, slot: usize) -> Arrival {
        match self {
            FutureEvents::Joint(_) | FutureEvents::Scheduled(_) => unreachable!("a joint queue has no FIFOs"),
            FutureEvents::ByEntity(all) => all.entities.take(links, slot),
        }
    }

    /// Takes the current entity's next own event after [`Self::next_up`] has returned [`Next::Own`].
    #[inline(always)] // runs for many events
    pub fn take_own(&mut self) -> Event {
        match self {
            FutureEvents::Joint(_) | FutureEvents::Scheduled(_) => {
                unreachable!("a joint queue has no entities")
            }
            FutureEvents::ByEntity(all) => all.entities.take_own(),
        }
    }

    /// Ends the window for all entities.
    #[inline]
    pub fn end_window(&mut self) {
        if let FutureEvents::ByEntity(all) = self {
            all.entities.end_window();
        }
    }

    /// Takes the next event that concerns all entities after the window has ended; `None` if none is before `before`, the
    /// end of the window.
    #[inline]
    pub fn take_common(&mut self, before: Time) -> Option<Event> {
        let FutureEvents::ByEntity(all) = self else { return None };
        if all.next_common() >= before {
            return None;
        }
        all.common.pop().map(|Reverse(event)| event)
    }
}

impl ByEntity {
    fn earliest(&self) -> Time {
        let start = self.start.map_or(Time::NEVER, |(time, _)| time);
        self.entities.earliest().min(start).min(self.next_common())
    }

    fn next_common(&self) -> Time {
        self.common.peek().map_or(Time::NEVER, |Reverse(event)| event.time)
    }
}
