//! Events kept apart by the entity that they happen to, for entities that touch each other only after a *lookahead*.
//!
//! In a window no longer than the lookahead nothing that one entity does can reach another, so each handles its events of
//! the window by itself, one entity after the other: its state stays in the cache meanwhile, and only its own few
//! events need an order, which is that of [`crate::EventQueue`] (time, key, argument).
//!
//! What comes from other entities comes by *lanes*, in order on each, so that the next arrival is the least of the
//! lanes' first ones; a lane is a list linked by the arguments of its arrivals, of which none may be on its way twice.
//! What an entity schedules for itself mostly lies within the window at hand and joins a short sorted list.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::due::Due;
use crate::units::Time;
use crate::wheel::Event;

/// Most lanes of an entity.
pub const MOST_LANES: usize = 1 << SLOT_BITS;

/// A lane's first arrival: its time above the number of its place among the entity's lanes.
const SLOT_BITS: u32 = 10;
/// Times from here on, five hours, are told apart by looking at the lanes themselves.
const FAR: u64 = (1 << (64 - SLOT_BITS)) - 2;
/// Comes after every arrival.
const NOTHING: u64 = u64::MAX;
/// Lanes of an entity whose first arrivals are looked at together.
const GROUP: usize = 4;
/// Entities whose earliest events are looked at together.
const BLOCK: usize = 64;
/// Nobody is at hand.
const NOBODY: u32 = u32::MAX;

/// A lane: arrivals at one entity, in order of time. Half a cache line.
#[repr(align(32))]
struct Lane {
    /// The first arrival; never where there is none.
    time: Time,
    arg: u32,
    /// The argument of the last one.
    last: u32,
    /// Its number among all lanes.
    number: u32,
    entity: u32,
    /// Its number among its entity's.
    place: u32,
    /// The key of its arrivals.
    key: u32,
}

impl Lane {
    /// A slot that stands for none.
    const NONE: Lane =
        Lane { time: Time::NEVER, arg: 0, last: 0, number: 0, entity: NOBODY, place: 0, key: 0 };

    /// Its first arrival as it is compared with other lanes'.
    #[inline]
    fn head(&self) -> u64 {
        let head = self.time.0.min(FAR) << SLOT_BITS | u64::from(self.place);
        if self.time == Time::NEVER { NOTHING } else { head }
    }
}

/// Lanes of an entity whose first arrivals are looked at together, on a cache line before the lanes' own.
#[repr(C, align(64))]
struct Group {
    /// The least of `heads`.
    least: u64,
    /// The lanes' first arrivals, each [`NOTHING`] where there is none.
    heads: [u64; GROUP],
    lanes: [Lane; GROUP],
}

impl Group {
    const EMPTY: Group =
        Group { least: NOTHING, heads: [NOTHING; GROUP], lanes: [const { Lane::NONE }; GROUP] };

    /// A lane's first arrival is another one.
    #[inline]
    fn renew(&mut self, lane: usize) {
        self.heads[lane] = self.lanes[lane].head();
        let [a, b, c, d] = self.heads;
        self.least = a.min(b).min(c.min(d));
    }
}

/// What an entity has to do next, see [`EntityQueues::next_up`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To take an arrival with [`EntityQueues::take`], which wants this.
    Arrival(usize),
    /// To take what it has scheduled for itself with [`EntityQueues::take_own`].
    Own,
    /// Nothing in this window.
    Nothing,
}

/// Something that has come by a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub time: Time,
    /// The lane.
    pub lane: u32,
    /// Its argument.
    pub arg: u32,
    /// The argument of what comes next by this lane, if anything does.
    pub following: u32,
}

/// Where the arguments of arrivals are linked to lists: beside what they stand for, which is looked at anyway.
pub trait Links {
    /// After `arg`, which nothing follows so far, comes `next` at `time`.
    fn link(&mut self, arg: u32, time: Time, next: u32);
    /// When what follows `arg` comes, or never, and its argument; nothing follows it from here on.
    fn unlink(&mut self, arg: u32) -> (Time, u32);
}

/// Pending events by entity.
pub struct EntityQueues {
    /// By entity: no event is before this.
    next: Vec<Time>,
    /// The same by block of entities.
    block_next: Vec<Time>,
    /// By entity: its lanes, filled up to whole groups, at least one.
    groups: Vec<Group>,
    /// By a lane's number: its slot among all groups'.
    slot_of: Vec<u32>,
    /// By entity: where its groups begin; and the end of all.
    first_group: Vec<u32>,
    /// By entity: its own events beyond the window in which they were scheduled.
    later: Vec<BinaryHeap<Reverse<Event>>>,
    /// The end of the window at hand.
    limit: Time,
    /// The same, but no further than times are told apart as they are compared.
    near_limit: Time,
    /// The block of entities that comes next, and of the one before it those whose turn is still to come, a bit each.
    next_block: usize,
    waiting: u64,
    /// The entity at hand.
    entity: u32,
    /// Its groups.
    at_hand: (usize, usize),
    /// Its own events in this window.
    due: Due,
}

impl EntityQueues {
    /// Empty queues of so many entities, with `lanes` to them: each one's entity, and the key of all that comes by it. An
    /// entity has at most [`MOST_LANES`], and simultaneous arrivals come in the order of its lanes.
    pub fn new(entities: usize, lanes: &[(u32, u32)]) -> Self {
        let mut count = vec![0u32; entities];
        lanes.iter().for_each(|&(entity, _)| count[entity as usize] += 1);
        debug_assert!(count.iter().all(|&n| n as usize <= MOST_LANES));
        let mut first_group = vec![0; entities + 1];
        for entity in 0..entities {
            first_group[entity + 1] = first_group[entity] + count[entity].div_ceil(GROUP as u32).max(1);
        }
        let mut groups: Vec<Group> = (0..first_group[entities]).map(|_| Group::EMPTY).collect();
        count.fill(0);
        let put = |(number, &(entity, key)): (usize, &(u32, u32))| {
            let place = count[entity as usize];
            count[entity as usize] += 1;
            let slot = first_group[entity as usize] as usize * GROUP + place as usize;
            groups[slot / GROUP].lanes[slot % GROUP] =
                Lane { number: number as u32, entity, place, key, ..Lane::NONE };
            slot as u32
        };
        EntityQueues {
            slot_of: lanes.iter().enumerate().map(put).collect(),
            groups,
            next: vec![Time::NEVER; entities],
            block_next: vec![Time::NEVER; entities.div_ceil(BLOCK)],
            first_group,
            later: (0..entities).map(|_| BinaryHeap::new()).collect(),
            limit: Time::ZERO,
            near_limit: Time::ZERO,
            next_block: 0,
            waiting: 0,
            entity: NOBODY,
            at_hand: (0, 0),
            due: Due::new(),
        }
    }

    /// A lane's slot, by which arrivals are added.
    pub fn slot(&self, lane: u32) -> u32 {
        self.slot_of[lane as usize]
    }

    /// Adds an arrival by the lane of a slot: after the window at hand, and after the one before it. Nothing else with its
    /// argument may be on its way, and nothing be linked to it.
    #[inline(always)] // on the way of every packet
    pub fn arrive(&mut self, links: &mut impl Links, slot: u32, time: Time, arg: u32) {
        debug_assert!(time >= self.limit, "nothing reaches another entity within a window");
        let group = &mut self.groups[slot as usize / GROUP];
        let place = slot as usize % GROUP;
        let lane = &mut group.lanes[place];
        debug_assert!(
            lane.time == Time::NEVER || time > lane.time,
            "a lane has one arrival at a time, in order"
        );
        let last = std::mem::replace(&mut lane.last, arg);
        if lane.time != Time::NEVER {
            return links.link(last, time, arg);
        }
        (lane.time, lane.arg) = (time, arg);
        let entity = lane.entity;
        group.renew(place);
        self.expect(entity, time);
    }

    /// Adds an event of `entity`: the one at hand, or any where the event comes after the window at hand.
    #[inline]
    pub fn push(&mut self, entity: u32, event: Event) {
        if event.time < self.limit && entity == self.entity {
            return self.due.insert(event);
        }
        self.defer(entity, event);
    }

    #[cold]
    #[inline(never)]
    fn defer(&mut self, entity: u32, event: Event) {
        debug_assert!(event.time >= self.limit || self.entity == NOBODY, "no entity makes another's past");
        self.later[entity as usize].push(Reverse(event));
        self.expect(entity, event.time);
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

    /// Begins a window from the earliest event up to `limit`, which it leaves out.
    pub fn begin_window(&mut self, limit: Time) {
        self.limit = limit;
        self.near_limit = limit.min(Time(FAR));
        (self.next_block, self.waiting) = (0, 0);
    }

    /// Goes on to the next entity, in their order, that has events in this window.
    #[inline]
    pub fn open_next(&mut self) -> Option<u32> {
        while self.waiting == 0 {
            let block = self.next_block;
            if *self.block_next.get(block)? < self.limit {
                let next = &self.next[block * BLOCK..self.next.len().min((block + 1) * BLOCK)];
                // One bit for each, not a branch: which of them have any is as good as random.
                let bit = |(i, &time): (usize, &Time)| u64::from(time < self.limit) << i;
                self.waiting = next.iter().enumerate().map(bit).sum();
            }
            self.next_block += 1;
        }
        let entity = (self.next_block - 1) * BLOCK + self.waiting.trailing_zeros() as usize;
        self.waiting &= self.waiting - 1;
        self.open(entity);
        Some(entity as u32)
    }

    /// Makes an entity's own events of this window due.
    #[inline]
    fn open(&mut self, entity: usize) {
        self.entity = entity as u32;
        self.at_hand = (self.first_group[entity] as usize, self.first_group[entity + 1] as usize);
        self.due.clear();
        let later = &mut self.later[entity];
        while let Some(&Reverse(event)) = later.peek() {
            if event.time >= self.limit {
                break;
            }
            later.pop();
            self.due.insert(event);
        }
        // Its lanes are looked at when it has done.
        self.next[entity] = Time::NEVER;
    }

    /// The lanes of the entity at hand, each with the argument of its first arrival if it has one.
    #[inline]
    pub fn lanes(&self) -> impl Iterator<Item = (u32, u32)> {
        let groups = &self.groups[self.at_hand.0..self.at_hand.1];
        groups.iter().flat_map(|group| &group.lanes).map(|lane| (lane.number, lane.arg))
    }

    /// What the entity at hand has to do next in this window; with nothing left nobody is at hand.
    #[inline(always)] // the way of every event
    pub fn next_up(&mut self) -> Next {
        let (first, end) = self.at_hand;
        let mut head = self.groups[first].least;
        for group in first + 1..end {
            head = head.min(self.groups[group].least);
        }
        let time = Time(head >> SLOT_BITS);
        if time < self.due.at().min(self.near_limit) {
            return Next::Arrival(self.at_hand.0 * GROUP + head as usize % MOST_LANES);
        }
        if self.due.at() < time {
            return Next::Own;
        }
        if self.due.at() == Time::NEVER && (time.0 < FAR || head == NOTHING) {
            return self.close(if head == NOTHING { Time::NEVER } else { time });
        }
        self.settle(head)
    }

    /// The entity at hand has done; its next arrival comes at `arrival`.
    #[inline]
    fn close(&mut self, arrival: Time) -> Next {
        let entity = self.entity as usize;
        let own = self.later[entity].peek().map_or(Time::NEVER, |Reverse(event)| event.time);
        self.next[entity] = arrival.min(own);
        self.entity = NOBODY;
        Next::Nothing
    }

    /// What comes next where times as they are compared do not tell: an arrival and an own event are simultaneous, or hours
    /// have passed.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, head: u64) -> Next {
        let due = self.due.key();
        if head >> SLOT_BITS < FAR {
            let slot = self.at_hand.0 * GROUP + head as usize % MOST_LANES;
            return if due.is_none_or(|due| self.lane(slot).key < due) {
                Next::Arrival(slot)
            } else {
                Next::Own
            };
        }
        let slots = self.at_hand.0 * GROUP..self.at_hand.1 * GROUP;
        let lanes = slots.map(|slot| (self.lane(slot).time, self.lane(slot).key, slot));
        let first = lanes.min().filter(|(time, ..)| *time != Time::NEVER);
        match (first.filter(|(time, ..)| *time < self.limit), due) {
            (Some((time, key, slot)), Some(due)) if (time, key) < (self.due.at(), due) => Next::Arrival(slot),
            (_, Some(_)) => Next::Own,
            (Some((.., slot)), None) => Next::Arrival(slot),
            (None, None) => self.close(first.map_or(Time::NEVER, |(time, ..)| time)),
        }
    }

    /// Takes the first arrival of the lane that [`Self::next_up`] has named.
    #[inline(always)] // on the way of every packet
    pub fn take(&mut self, links: &mut impl Links, slot: usize) -> Arrival {
        let group = &mut self.groups[slot / GROUP];
        let lane = &mut group.lanes[slot % GROUP];
        let (time, arg, number) = (lane.time, lane.arg, lane.number);
        let (next_at, following) = links.unlink(arg);
        (lane.time, lane.arg) = (next_at, following);
        group.renew(slot % GROUP);
        Arrival { time, lane: number, arg, following }
    }

    fn lane(&self, slot: usize) -> &Lane {
        &self.groups[slot / GROUP].lanes[slot % GROUP]
    }

    /// Takes the next own event, which [`Self::next_up`] has told of.
    #[inline(always)] // the way of many events
    pub fn take_own(&mut self) -> Event {
        self.due.pop()
    }

    /// Ends the window.
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

    /// The key of what comes by a lane.
    fn key_of(lane: u32) -> u32 {
        1_000 + lane
    }

    fn queues(entities: usize, lanes: &[u32]) -> EntityQueues {
        let lanes: Vec<_> = lanes.iter().zip(0..).map(|(&entity, lane)| (entity, key_of(lane))).collect();
        EntityQueues::new(entities, &lanes)
    }

    /// By argument: when what follows comes, and its argument.
    #[derive(Default)]
    struct Following(Vec<(Time, u32)>);

    impl Following {
        fn of(&mut self, arg: u32) -> &mut (Time, u32) {
            let least = arg as usize + 1;
            self.0.resize(self.0.len().max(least), (Time::NEVER, 0));
            &mut self.0[arg as usize]
        }
    }

    impl Links for Following {
        fn link(&mut self, arg: u32, time: Time, next: u32) {
            *self.of(arg) = (time, next);
        }

        fn unlink(&mut self, arg: u32) -> (Time, u32) {
            std::mem::replace(self.of(arg), (Time::NEVER, 0))
        }
    }

    fn arrive(queues: &mut EntityQueues, links: &mut Following, lane: u32, time: u64, arg: u32) {
        queues.arrive(links, queues.slot(lane), Time(time), arg);
    }

    fn take(queues: &mut EntityQueues, links: &mut Following) -> Option<(u64, u32, u32)> {
        match queues.next_up() {
            Next::Arrival(slot) => {
                let Arrival { time, lane, arg, .. } = queues.take(links, slot);
                Some((time.0, key_of(lane), arg))
            }
            Next::Own => {
                let e = queues.take_own();
                Some((e.time.0, e.key, e.arg))
            }
            Next::Nothing => None,
        }
    }

    /// All events of the window up to `limit`, as entity, time, key and argument.
    fn window(queues: &mut EntityQueues, links: &mut Following, limit: u64) -> Vec<(u32, u64, u32, u32)> {
        queues.begin_window(Time(limit));
        let mut all = Vec::new();
        while let Some(entity) = queues.open_next() {
            while let Some((time, key, arg)) = take(queues, links) {
                all.push((entity, time, key, arg));
            }
        }
        queues.end_window();
        all
    }

    #[test]
    fn an_entity_handles_its_events_of_a_window_in_order_before_the_next_entity_does() {
        // Lanes 0 and 1 lead to entity 130, lane 2 to entity 2.
        let mut queues = queues(200, &[130, 130, 2]);
        let mut links = Following::default();
        arrive(&mut queues, &mut links, 0, 700, 0);
        arrive(&mut queues, &mut links, 1, 600, 1);
        queues.push(130, event(600, 2, 2));
        queues.push(130, event(600, 2_000, 5));
        queues.push(2, event(900, 1, 3));
        arrive(&mut queues, &mut links, 2, 1_500, 4);
        assert_eq!(queues.earliest(), Time(600));
        let first = [
            (2, 900, 1, 3),
            (130, 600, 2, 2),
            (130, 600, 1_001, 1),
            (130, 600, 2_000, 5),
            (130, 700, 1_000, 0),
        ];
        assert_eq!(
            window(&mut queues, &mut links, 1_500),
            first,
            "what comes at the limit is left for the next window"
        );
        assert_eq!(queues.earliest(), Time(1_500));
        assert_eq!(window(&mut queues, &mut links, 2_500), [(2, 1_500, 1_002, 4)]);
        assert_eq!(queues.earliest(), Time::NEVER);
    }

    #[test]
    fn the_last_of_all_lanes_is_not_taken_for_none() {
        // As many lanes as there may be, and beyond five hours: 2.16e16 ps are six.
        let six_hours = 21_600_000_000_000_000;
        let mut queues = queues(1, &[0; MOST_LANES]);
        let mut links = Following::default();
        arrive(&mut queues, &mut links, MOST_LANES as u32 - 1, six_hours, 7);
        let last = (0, six_hours, key_of(MOST_LANES as u32 - 1), 7);
        assert_eq!(window(&mut queues, &mut links, six_hours + 1), [last]);
    }

    #[test]
    fn times_beyond_hours_are_told_apart() {
        // 2^54 ps are five hours; here two lanes and an own event meet after a week, 6.048e17 ps.
        let week = 604_800_000_000_000_000;
        let mut queues = queues(1, &[0, 0]);
        let mut links = Following::default();
        arrive(&mut queues, &mut links, 0, week + 2, 0);
        arrive(&mut queues, &mut links, 1, week + 1, 1);
        queues.push(0, event(week + 1, 2, 2));
        let expected = [(0, week + 1, 2, 2), (0, week + 1, 1_001, 1), (0, week + 2, 1_000, 0)];
        assert_eq!(window(&mut queues, &mut links, week + 10), expected);
    }

    proptest! {
        /// Against a sorted set: each event handled makes own events near and far, and arrivals beyond the window by lanes,
        /// each after the one before. Entity e has e % 7 lanes, the last one 40.
        #[test]
        fn every_entity_sees_its_events_in_order(
            first in prop::collection::vec((0u32..150, 0u64..5_000), 1..40),
            makes in prop::collection::vec((any::<bool>(), 0u64..3_000, 0usize..1_000), 1..40),
        ) {
            let of = |entity: u32| std::iter::repeat_n(entity, if entity == 149 { 40 } else { entity as usize % 7 });
            let lanes: Vec<u32> = (0..150).flat_map(of).collect();
            let (mut queues, mut links) = (queues(150, &lanes), Following::default());
            let mut model: Vec<BTreeSet<(u64, u32, u32)>> = vec![BTreeSet::new(); 150];
            let mut last = vec![0; lanes.len()];
            for (i, &(entity, time)) in first.iter().enumerate() {
                queues.push(entity, event(time, 7, i as u32));
                model[entity as usize].insert((time, 7, i as u32));
            }
            let (mut made, mut handled) = (first.len() as u32, 0);
            while queues.earliest() < Time::NEVER {
                let begin = queues.earliest();
                prop_assert_eq!(Some(begin.0), model.iter().filter_map(|m| m.first()).map(|e| e.0).min());
                let limit = begin + Time(1_000);
                queues.begin_window(limit);
                while let Some(entity) = queues.open_next() {
                    while let Some(now) = take(&mut queues, &mut links) {
                        prop_assert_eq!(Some(now), model[entity as usize].pop_first());
                        handled += 1;
                        if handled > 2_000 {
                            continue;
                        }
                        let (own, offset, lane) = makes[handled % makes.len()];
                        let lane = (lane + handled) % lanes.len();
                        if own {
                            let new = event(now.0 + offset, offset as u32 % 3, made);
                            queues.push(entity, new);
                            model[entity as usize].insert((new.time.0, new.key, new.arg));
                        } else {
                            let time = (limit.0 + offset).max(last[lane] + 1);
                            last[lane] = time;
                            arrive(&mut queues, &mut links, lane as u32, time, made);
                            model[lanes[lane] as usize].insert((time, key_of(lane as u32), made));
                        }
                        made += 1;
                    }
                    let left = model[entity as usize].first().map(|e| e.0);
                    prop_assert!(left.is_none_or(|time| time >= limit.0));
                }
                queues.end_window();
            }
            prop_assert!(model.iter().all(BTreeSet::is_empty));
        }
    }
}
