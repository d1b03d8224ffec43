//! Events kept by the entity that they happen to, for entities that affect each other only after a *lookahead*.
//!
//! In a window no longer than the lookahead, no event of one entity can affect another entity. Each entity therefore handles
//! its events of the window on its own, one entity after the other: its state stays in the cache meanwhile, and only its
//! own few events need an order, the order of [`crate::EventQueue`] (time, key, argument).
//!
//! Events from other entities arrive by links, in order on each link. An entity's next arrival is therefore the minimum of
//! the first arrivals of its links' FIFOs. A FIFO is a list linked through the arguments of its arrivals, so no argument may
//! be in two lists at a time. Most events that an entity schedules for itself are within the current window and join a
//! short sorted list.

mod fifo;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use crate::ahead::{fetch_ahead, fetch_whole_ahead};
use crate::event::Event;
use crate::units::Time;
use crate::window_events::WindowEvents;

pub use fifo::MAX_FIFOS;
use fifo::{EMPTY_HEAD, FAR, GROUP, Group, LinkFifo, NO_ENTITY, POSITION_BITS};

/// Entities whose earliest events are compared together.
const BLOCK: usize = 16;

/// The slot of a FIFO that is not used.
const NO_SLOT: u32 = u32::MAX;

/// What the current entity has to do next, see [`EntityQueues::next_up`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// An arrival comes next: [`EntityQueues::take`] takes it, given this slot.
    Arrival(usize),
    /// An event that the entity has scheduled for itself comes next: [`EntityQueues::take_own`] takes it.
    Own,
    /// The entity has no more events in this window.
    Nothing,
}

/// An event that arrives by a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time at which it comes.
    pub time: Time,
    /// The number of the link's FIFO.
    pub fifo: u32,
    /// Its argument.
    pub arg: u32,
    /// The argument of the next arrival by this link, if there is one.
    pub following: u32,
}

/// Where the arguments of arrivals are linked to lists. The links lie in the cache lines of what the arguments stand for, such
/// as packets, which are loaded anyway.
pub trait ArrivalLinks {
    /// Links `next`, which comes at `time`, behind `arg`, behind which nothing is linked so far.
    fn link(&mut self, arg: u32, time: Time, next: u32);
    /// Removes what is linked behind `arg` and returns its time and argument; the time is [`Time::NEVER`] if nothing is
    /// linked.
    fn unlink(&mut self, arg: u32) -> (Time, u32);
}

/// What belongs to one entity: one cache line.
#[repr(align(64))]
struct Entity {
    /// The index of its first group of FIFOs, and the end of its groups.
    groups: (u32, u32),
    /// The ranks of its own events soon after the window in which they were scheduled, in no order. A pass through all of
    /// them in each window is cheaper than a heap.
    soon: Vec<u128>,
    /// Its own events from `soon_limit` of that window on.
    later: BinaryHeap<Reverse<Event>>,
}

/// Pending events by entity.
pub struct EntityQueues {
    /// By entity: none of its events is before this time.
    next: Vec<Time>,
    /// By block of entities: the minimum of `next`.
    block_next: Vec<Time>,
    entities: Vec<Entity>,
    /// An empty group, which stands for the FIFOs of an entity that has none; then by entity its FIFOs in whole groups.
    groups: Vec<Group>,
    /// By a FIFO's number: its slot, its index among the FIFOs of all groups, or [`NO_SLOT`].
    slot_of: Vec<u32>,
    /// The current window's end and two lengths of it.
    soon_limit: Time,
    /// The end of the current window.
    limit: Time,
    /// The end of the current window, but no later than the heads of FIFOs distinguish times.
    near_limit: Time,
    /// The entities with events in the current window, in the order of their turns.
    turns: Vec<u32>,
    /// The index in `turns` of the entity that comes next.
    next_turn: usize,
    /// The current entity, or [`NO_ENTITY`].
    entity: u32,
    /// The current entity's first group, and the end of its groups.
    entity_groups: (usize, usize),
    /// The current entity's own events in this window.
    own: WindowEvents,
}

impl EntityQueues {
    /// Empty queues of `entities` entities. `fifos` gives for each link's FIFO the entity at which its arrivals come, and the
    /// key of its arrivals; `None` for a FIFO that is not used. An entity has at most [`MAX_FIFOS`], and simultaneous arrivals come
    /// in the order of its FIFOs.
    pub fn new(entities: usize, fifos: impl Iterator<Item = Option<(u32, u32)>> + Clone) -> Self {
        let mut count = vec![0u32; entities];
        fifos.clone().flatten().for_each(|(entity, _)| count[entity as usize] += 1);
        debug_assert!(count.iter().all(|&n| n as usize <= MAX_FIFOS));
        let mut end = 1;
        let entity_with = |&fifos: &u32| {
            let first = end;
            end += fifos.div_ceil(GROUP as u32);
            let groups = if fifos == 0 { (0, 1) } else { (first, end) };
            Entity { groups, soon: Vec::new(), later: BinaryHeap::new() }
        };
        let all: Vec<Entity> = count.iter().map(entity_with).collect();
        let mut groups: Vec<Group> = (0..end).map(|_| Group::EMPTY).collect();
        count.fill(0);
        let put = |(number, fifo)| {
            let Some((entity, key)) = fifo else { return NO_SLOT };
            let position = count[entity as usize];
            count[entity as usize] += 1;
            let slot = all[entity as usize].groups.0 as usize * GROUP + position as usize;
            groups[slot / GROUP].fifos[slot % GROUP] =
                LinkFifo { number, entity, position, key, ..LinkFifo::UNUSED };
            slot as u32
        };
        EntityQueues {
            slot_of: (0..).zip(fifos).map(put).collect(),
            groups,
            next: vec![Time::NEVER; entities],
            block_next: vec![Time::NEVER; entities.div_ceil(BLOCK)],
            entities: all,
            soon_limit: Time::ZERO,
            limit: Time::ZERO,
            near_limit: Time::ZERO,
            turns: Vec::with_capacity(entities),
            next_turn: 0,
            entity: NO_ENTITY,
            entity_groups: (0, 0),
            own: WindowEvents::new(),
        }
    }

    /// The slot of a FIFO, which [`Self::arrive`] takes.
    pub fn slot(&self, fifo: u32) -> u32 {
        self.slot_of[fifo as usize]
    }

    /// Fetches the FIFO of a slot into the cache: the caller is about to add arrivals. Does nothing if there is no such slot.
    #[inline]
    pub fn fetch_slot(&self, slot: u32) {
        if let Some(group) = self.groups.get(slot as usize / GROUP) {
            fetch_ahead(&group.fifos, slot % GROUP as u32);
        }
    }

    /// The last arrival at the FIFO of a slot, or any that was there if the FIFO is empty; `None` if there is no such slot.
    #[inline]
    pub fn last_of(&self, slot: u32) -> Option<u32> {
        Some(self.groups.get(slot as usize / GROUP)?.fifos[slot as usize % GROUP].last)
    }

    /// Adds an arrival to the FIFO of a slot. The arrival comes after the current window, and not before the FIFO's last
    /// arrival: two come at one time where a frame takes less than a tick of an imitated clock.
    /// No other pending arrival has its argument, and nothing is linked behind that argument.
    #[inline(always)] // runs for every packet
    pub fn arrive(&mut self, links: &mut impl ArrivalLinks, slot: u32, time: Time, arg: u32) {
        debug_assert!(time >= self.limit, "nothing reaches another entity within a window");
        let group = &mut self.groups[slot as usize / GROUP];
        let place = slot as usize % GROUP;
        let fifo = &mut group.fifos[place];
        debug_assert!(fifo.time == Time::NEVER || time >= fifo.time, "a FIFO's arrivals come in order");
        let last = std::mem::replace(&mut fifo.last, arg);
        if fifo.time != Time::NEVER {
            return links.link(last, time, arg);
        }
        (fifo.time, fifo.arg) = (time, arg);
        let entity = fifo.entity;
        group.update_head(place);
        self.expect(entity, time);
    }

    /// Adds an event of `entity`. An entity other than the current one takes only events after the current window.
    #[inline]
    pub fn push(&mut self, entity: u32, event: Event) {
        if event.time < self.limit && entity == self.entity {
            return self.own.insert(event);
        }
        self.defer(entity, event);
    }

    #[cold]
    #[inline(never)]
    fn defer(&mut self, entity: u32, event: Event) {
        debug_assert!(
            event.time >= self.limit || self.entity == NO_ENTITY,
            "no entity changes another entity's past"
        );
        let own = &mut self.entities[entity as usize];
        if event.time < self.soon_limit {
            own.soon.push(event.rank());
        } else {
            own.later.push(Reverse(event));
        }
        self.expect(entity, event.time);
    }

    /// Notes that `entity` has an event at `time`.
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

    /// Shows each of the entities' own events, in any order.
    pub fn visit(&self, visit: &mut dyn FnMut(Event)) {
        for entity in &self.entities {
            entity.soon.iter().for_each(|&rank| visit(Event::of_rank(rank)));
            entity.later.iter().for_each(|Reverse(event)| visit(*event));
        }
    }

    /// Replaces each of the entities' own events by another of the same entity, not before the last window's end, or by none.
    pub fn rearrange(&mut self, moved: &dyn Fn(Event) -> Option<Event>) {
        for entity in 0..self.entities.len() {
            let own = &mut self.entities[entity];
            let soon = std::mem::take(&mut own.soon).into_iter();
            own.soon = soon.filter_map(|rank| Some(moved(Event::of_rank(rank))?.rank())).collect();
            let later = std::mem::take(&mut own.later).into_iter();
            own.later = later.filter_map(|Reverse(event)| moved(event).map(Reverse)).collect();
            let soon = own.soon.iter().min().map_or(Time::NEVER, |&rank| Event::of_rank(rank).time);
            let first = own.later.peek().map_or(soon, |Reverse(event)| soon.min(event.time));
            self.expect(entity as u32, first);
        }
    }

    /// Begins a window that holds the events before `limit`, the first of which comes at `begin`.
    pub fn begin_window(&mut self, begin: Time, limit: Time) {
        self.limit = limit;
        self.soon_limit = limit.saturating_add(limit.saturating_sub(begin) * 2);
        self.near_limit = limit.min(Time(FAR));
        self.turns.clear();
        self.next_turn = 0;
    }

    /// Lists the entities that have events in this window. No event may be added to the window between this call and the first entity's
    /// turn.
    pub fn list_turns(&mut self) {
        let blocks = self.next.chunks(BLOCK).zip(&mut self.block_next).enumerate();
        for (block, (next, block_next)) in blocks.filter(|(_, (_, block_next))| **block_next < self.limit) {
            let (mut waiting, mut others) = (0u32, Time::NEVER);
            for (i, &time) in next.iter().enumerate() {
                // One bit for each entity instead of a branch: which entities have events is unpredictable.
                let is_waiting = time < self.limit;
                waiting |= u32::from(is_waiting) << i;
                others = others.min(select_unpredictable(is_waiting, Time::NEVER, time));
            }
            // `close` adds the entities that are waiting.
            *block_next = others;
            while waiting != 0 {
                self.turns.push((block * BLOCK) as u32 + waiting.trailing_zeros());
                waiting &= waiting - 1;
            }
        }
    }

    /// Makes the next entity that [`Self::list_turns`] has listed the current one and returns it. Entities come in order of their numbers.
    #[inline]
    pub fn open_next(&mut self) -> Option<u32> {
        let entity = *self.turns.get(self.next_turn)?;
        self.next_turn += 1;
        self.open(entity as usize);
        Some(entity)
    }

    /// Fetches what is kept here of the entities whose turns come three and four turns after the current one's.
    #[inline]
    pub fn fetch_turns(&self) {
        if let Some(third) = self.turn_ahead(3) {
            let Entity { groups, soon, later } = &self.entities[third as usize];
            (groups.0..groups.1).for_each(|group| fetch_whole_ahead(&self.groups, group));
            // An empty list has no address, and to look for a page there takes time.
            if !soon.is_empty() {
                fetch_ahead(soon, 0);
            }
            if !later.is_empty() {
                fetch_ahead(later.as_slice(), 0);
            }
        }
        if let Some(fourth) = self.turn_ahead(4) {
            fetch_ahead(&self.entities, fourth);
        }
    }

    /// The entity whose turn in this window comes `turns` turns after the current one's, if there is one.
    #[inline]
    pub fn turn_ahead(&self, turns: usize) -> Option<u32> {
        self.turns.get(self.next_turn + turns - 1).copied()
    }

    /// Makes `entity` the current one and collects its own events of this window.
    #[inline]
    fn open(&mut self, entity: usize) {
        self.entity = entity as u32;
        let Entity { groups, soon, later } = &mut self.entities[entity];
        self.entity_groups = (groups.0 as usize, groups.1 as usize);
        self.own.clear();
        while let Some(&Reverse(event)) = later.peek() {
            if event.time >= self.limit {
                break;
            }
            later.pop();
            self.own.add(event.rank());
        }
        if !soon.is_empty() {
            let (own, limit) = (&mut self.own, u128::from(self.limit.0) << 64);
            soon.retain(|&rank| {
                let later = rank >= limit;
                if !later {
                    own.add(rank);
                }
                later
            });
        }
        self.own.sort();
        // `close` sets this time anew once the entity has no more events in this window.
        self.next[entity] = Time::NEVER;
    }

    /// The numbers of an entity's FIFOs, each with the argument of its first arrival. An empty FIFO has an argument that means nothing.
    #[inline]
    pub fn fifos(&self, entity: u32) -> impl Iterator<Item = (u32, u32)> {
        let groups = self.entities[entity as usize].groups;
        let groups = &self.groups[groups.0 as usize..groups.1 as usize];
        let fifos = groups.iter().flat_map(|group| &group.fifos);
        fifos.filter(|fifo| fifo.entity != NO_ENTITY).map(|fifo| (fifo.number, fifo.arg))
    }

    /// The number of each FIFO that has arrivals, with the time and the argument of the first of them.
    pub fn first_arrivals(&self) -> impl Iterator<Item = (u32, Time, u32)> {
        let fifos = self.groups.iter().flat_map(|group| &group.fifos);
        fifos.filter(|fifo| fifo.time != Time::NEVER).map(|fifo| (fifo.number, fifo.time, fifo.arg))
    }

    /// What the current entity has to do next in this window. After [`Next::Nothing`] no entity is the current one.
    #[inline(always)] // runs for every event
    pub fn next_up(&mut self) -> Next {
        let (first, end) = self.entity_groups;
        let mut head = self.groups[first].min;
        for group in first + 1..end {
            head = head.min(self.groups[group].min);
        }
        let time = Time(head >> POSITION_BITS);
        if time < self.own.next_time().min(self.near_limit) {
            return Next::Arrival(self.entity_groups.0 * GROUP + head as usize % MAX_FIFOS);
        }
        if self.own.next_time() < time {
            return Next::Own;
        }
        if self.own.next_time() == Time::NEVER && (time.0 < FAR || head == EMPTY_HEAD) {
            return self.close(if head == EMPTY_HEAD { Time::NEVER } else { time });
        }
        self.compare_exactly(head)
    }

    /// Ends the current entity's turn. Its next arrival comes at `arrival`.
    #[inline]
    fn close(&mut self, arrival: Time) -> Next {
        let entity = self.entity as usize;
        let Entity { soon, later, .. } = &self.entities[entity];
        let later = later.peek().map_or(Time::NEVER, |Reverse(event)| event.time);
        let soon = soon.iter().min().map_or(Time::NEVER, |rank| Time((rank >> 64) as u64));
        self.entity = NO_ENTITY;
        self.expect(entity as u32, arrival.min(later).min(soon));
        Next::Nothing
    }

    /// What comes next if the heads of FIFOs do not decide: an arrival and an own event are simultaneous, or hours have
    /// passed.
    #[cold]
    #[inline(never)]
    fn compare_exactly(&mut self, head: u64) -> Next {
        let own = self.own.next_key();
        if head >> POSITION_BITS < FAR {
            let slot = self.entity_groups.0 * GROUP + head as usize % MAX_FIFOS;
            return if own.is_none_or(|own| self.fifo(slot).key < own) {
                Next::Arrival(slot)
            } else {
                Next::Own
            };
        }
        let slots = self.entity_groups.0 * GROUP..self.entity_groups.1 * GROUP;
        let fifos = slots.map(|slot| (self.fifo(slot).time, self.fifo(slot).key, slot));
        let first = fifos.min().filter(|(time, ..)| *time != Time::NEVER);
        match (first.filter(|(time, ..)| *time < self.limit), own) {
            (Some((time, key, slot)), Some(own)) if (time, key) < (self.own.next_time(), own) => {
                Next::Arrival(slot)
            }
            (_, Some(_)) => Next::Own,
            (Some((.., slot)), None) => Next::Arrival(slot),
            (None, None) => self.close(first.map_or(Time::NEVER, |(time, ..)| time)),
        }
    }

    /// Takes the first arrival of the FIFO at the slot that [`Self::next_up`] has returned.
    #[inline(always)] // runs for every packet
    pub fn take(&mut self, links: &mut impl ArrivalLinks, slot: usize) -> Arrival {
        let group = &mut self.groups[slot / GROUP];
        let fifo = &mut group.fifos[slot % GROUP];
        let (time, arg, number) = (fifo.time, fifo.arg, fifo.number);
        let (next_at, following) = links.unlink(arg);
        (fifo.time, fifo.arg) = (next_at, following);
        group.update_head(slot % GROUP);
        Arrival { time, fifo: number, arg, following }
    }

    fn fifo(&self, slot: usize) -> &LinkFifo {
        &self.groups[slot / GROUP].fifos[slot % GROUP]
    }

    /// Takes the current entity's next own event after [`Self::next_up`] has returned [`Next::Own`].
    #[inline(always)] // runs for many events
    pub fn take_own(&mut self) -> Event {
        self.own.pop()
    }

    /// Ends the window.
    pub fn end_window(&mut self) {
        self.entity = NO_ENTITY;
    }
}
