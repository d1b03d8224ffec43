//! Credits on their way back to the sending end of a link.
//!
//! Nothing happens when credits arrive at an egress queue that does not wait for them. Such arrivals are no events: they
//! are kept here, in order of time, until the queue lacks credits, or has no room for more arrivals, or some windows later. Only the arrival
//! that lets a stopped queue go on is an event. A run counts every arrival as an event, so that counts do not depend on which of them were.

use std::collections::VecDeque;

use xoff_engine::Time;

use crate::ids::QueueId;

/// Arrivals for which a queue has room from its first one on: about as many packets of 1 KB as a link of 100 Gbps carries in a window
/// and a delay of 1.5 us.
const ROOM: usize = 32;

/// Windows after which arrivals that are over are taken in late.
const LATE: u32 = 64;

/// Credits that arrive at an egress queue, in one word: the time, 16 bits of credits, and whether the arrival is an event of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival(u64);

impl Arrival {
    /// Credits that arrive at a time; `None` if these do not fit into a word. Those of a packet always do, in the first 140 s of a run.
    #[inline]
    pub fn new(at: Time, credits: u64) -> Option<Arrival> {
        (at.0 >> 47 == 0 && credits >> 16 == 0).then_some(Arrival(at.0 << 17 | credits << 1))
    }

    /// When the credits arrive.
    #[inline]
    pub fn at(self) -> Time {
        Time(self.0 >> 17)
    }

    /// How many credits arrive.
    #[inline]
    pub fn credits(self) -> u64 {
        self.0 >> 1 & 0xFFFF
    }

    /// Whether the arrival is an event of its own.
    #[inline]
    pub fn is_event(self) -> bool {
        self.0 & 1 != 0
    }

    /// Makes the arrival an event of its own; returns whether it was none.
    fn becomes_event(&mut self) -> bool {
        !std::mem::replace(self, Arrival(self.0 | 1)).is_event()
    }
}

/// Credits on their way, by egress queue.
pub(crate) struct Returning {
    /// By egress queue, in order of time.
    arrivals: Vec<VecDeque<Arrival>>,
    /// The queues that have arrivals, some of them more than once, and others.
    used: Vec<QueueId>,
    /// No credits arrive before this time.
    earliest: Time,
    /// All events before this time have been handled.
    passed: Time,
    /// Windows since arrivals that are over were taken in.
    windows: u32,
}

impl Returning {
    /// The state of `queues` queues without credits on their way.
    pub fn new(queues: usize) -> Returning {
        let arrivals = (0..queues).map(|_| VecDeque::new()).collect();
        Returning { arrivals, used: Vec::new(), earliest: Time::NEVER, passed: Time::ZERO, windows: 0 }
    }

    /// Whether a queue has no room for a further arrival: see [`Returning::make_room`].
    #[inline]
    pub fn is_full(&self, queue: QueueId) -> bool {
        let arrivals = &self.arrivals[queue.index()];
        arrivals.len() == arrivals.capacity()
    }

    /// Makes room for a further arrival at a queue that is full: hands over credits that have arrived in windows that are over.
    #[cold]
    #[inline(never)]
    pub fn make_room(&mut self, queue: QueueId, mut take: impl FnMut(Arrival)) {
        if self.arrivals[queue.index()].capacity() == 0 {
            self.arrivals[queue.index()].reserve(ROOM);
        }
        while let Some(arrival) = self.pop_before(queue, self.passed) {
            take(arrival);
        }
    }

    /// Adds credits, which may arrive before some that were added earlier.
    #[inline]
    pub fn push(&mut self, queue: QueueId, arrival: Arrival) {
        self.earliest = self.earliest.min(arrival.at());
        let arrivals = &mut self.arrivals[queue.index()];
        match arrivals.back() {
            Some(last) if last.at() > arrival.at() => {
                let before = arrivals.iter().rposition(|other| other.at() <= arrival.at());
                arrivals.insert(before.map_or(0, |before| before + 1), arrival);
            }
            last => {
                if last.is_none() {
                    self.used.push(queue);
                }
                arrivals.push_back(arrival);
            }
        }
    }

    /// Takes the next credits of a queue if they arrive before `limit`.
    #[inline]
    pub fn pop_before(&mut self, queue: QueueId, limit: Time) -> Option<Arrival> {
        let arrivals = &mut self.arrivals[queue.index()];
        if arrivals.front()?.at() < limit { arrivals.pop_front() } else { None }
    }

    /// Turns the arrival that gives a queue the `missing` credits into an event, and returns its time. `None` if that
    /// arrival is an event already, or if too few credits are on their way.
    pub fn event_for(&mut self, queue: QueueId, missing: u64) -> Option<Time> {
        let mut sum = 0;
        let enough = |arrival: &&mut Arrival| {
            sum += arrival.credits();
            sum >= missing
        };
        let arrival = self.arrivals[queue.index()].iter_mut().find(enough)?;
        arrival.becomes_event().then_some(arrival.at())
    }

    /// A window with all events before `limit` ends: hands over the credits that have arrived, or, if they may come `late`, those of many
    /// windows at a time.
    pub fn end_window(&mut self, limit: Time, late: bool, take: impl FnMut(QueueId, Arrival)) {
        self.passed = limit;
        self.windows += 1;
        if self.earliest < limit && (!late || self.windows >= LATE) {
            self.take_passed(take);
        }
    }

    /// Hands over all credits that have arrived in windows that are over.
    pub fn take_passed(&mut self, mut take: impl FnMut(QueueId, Arrival)) {
        (self.windows, self.earliest) = (0, Time::NEVER);
        let mut used = std::mem::take(&mut self.used);
        used.retain(|&queue| {
            while let Some(arrival) = self.pop_before(queue, self.passed) {
                take(queue, arrival);
            }
            let first = self.arrivals[queue.index()].front();
            self.earliest = first.map_or(self.earliest, |first| self.earliest.min(first.at()));
            first.is_some()
        });
        used.sort_unstable();
        used.dedup();
        self.used = used;
    }

    /// Shows what is on its way: the queue, when, and how many credits.
    pub fn visit(&self, mut visit: impl FnMut(QueueId, Time, u32)) {
        for (queue, arrivals) in self.arrivals.iter().enumerate() {
            let show =
                |arrival: &Arrival| visit(QueueId(queue as u32), arrival.at(), arrival.credits() as u32);
            arrivals.iter().for_each(show);
        }
    }

    /// A time that is not after the next arrival, between windows; [`Time::NEVER`] if nothing is on its way.
    pub fn earliest(&self) -> Time {
        self.earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: QueueId = QueueId(70);

    fn add(returning: &mut Returning, at: u64, credits: u64) {
        if returning.is_full(QUEUE) {
            returning.make_room(QUEUE, |_| panic!("nothing has arrived"));
        }
        returning.push(QUEUE, Arrival::new(Time(at), credits).expect("it fits"));
    }

    /// Ends a window, and gives the times and credits that are handed over.
    fn end_window(returning: &mut Returning, limit: u64, late: bool) -> Vec<(u64, u64)> {
        let mut seen = Vec::new();
        returning.end_window(Time(limit), late, |queue, arrival| {
            assert_eq!(queue, QUEUE);
            seen.push((arrival.at().0, arrival.credits()));
        });
        seen
    }

    #[test]
    fn a_word_has_47_bits_of_time_and_16_of_credits() {
        // 2^47 ps are 140.7 s. A packet of 65,535 B in flits of 1 B has 65,535 credits.
        let most = Arrival::new(Time((1 << 47) - 1), 65_535).map(|last| (last.at().0, last.credits()));
        assert_eq!(most, Some(((1 << 47) - 1, 65_535)));
        assert_eq!((Arrival::new(Time(1 << 47), 1), Arrival::new(Time(1), 65_536)), (None, None));
    }

    #[test]
    fn credits_arrive_in_order_of_time() {
        // The packet of the first credits leaves by a slow port: its credits arrive after those of the second.
        let mut returning = Returning::new(100);
        for (at, credits) in [(90, 1), (80, 2), (90, 4), (85, 8)] {
            add(&mut returning, at, credits);
        }
        assert_eq!(returning.earliest(), Time(80));
        assert_eq!(end_window(&mut returning, 90, false), [(80, 2), (85, 8)]);
        assert_eq!(returning.earliest(), Time(90));
        assert_eq!(returning.pop_before(QUEUE, Time(90)), None);
        let rest = [(); 3].map(|()| returning.pop_before(QUEUE, Time(91)).map(Arrival::credits));
        assert_eq!(rest, [Some(1), Some(4), None]);
    }

    #[test]
    fn credits_that_may_come_late_are_handed_over_after_some_windows_or_for_lack_of_room() {
        let mut returning = Returning::new(100);
        add(&mut returning, 80, 2);
        // They arrive in the first of 64 windows of 100 ps, and are handed over after the last one.
        let windows: Vec<_> = (1..=64).map(|n| end_window(&mut returning, n * 100, true)).collect();
        assert!(windows[..63].iter().all(Vec::is_empty));
        assert_eq!(windows[63], [(80, 2)]);
        assert_eq!(returning.earliest(), Time::NEVER);
        // A queue is full with as many as there is room for. After a window those that have arrived in it make room for others.
        let mut added = 0;
        while !returning.is_full(QUEUE) {
            add(&mut returning, 6_500 + added, 1);
            added += 1;
        }
        assert!(added as usize >= ROOM);
        assert!(end_window(&mut returning, 6_510, true).is_empty());
        let mut seen = Vec::new();
        returning.make_room(QUEUE, |arrival| seen.push(arrival.at().0));
        assert_eq!(seen, (6_500..6_510).collect::<Vec<_>>());
        // And at the end all that have arrived are handed over.
        assert!(end_window(&mut returning, 6_520, true).is_empty());
        let mut seen = Vec::new();
        returning.take_passed(|_, arrival| seen.push(arrival.at().0));
        assert_eq!(seen, (6_510..6_520).collect::<Vec<_>>());
    }

    #[test]
    fn the_arrival_that_is_awaited_becomes_one_event() {
        // 3 + 4 credits come: a queue that lacks 5 has them at 20, and one that lacks 8 not yet.
        let mut returning = Returning::new(100);
        add(&mut returning, 10, 3);
        add(&mut returning, 20, 4);
        assert_eq!(returning.event_for(QUEUE, 8), None);
        assert_eq!(returning.event_for(QUEUE, 5), Some(Time(20)));
        assert_eq!(returning.event_for(QUEUE, 5), None);
        // 2 more credits overtake these: now the queue has 5 at 15, and the event at 20 remains.
        add(&mut returning, 15, 2);
        assert_eq!(returning.event_for(QUEUE, 5), Some(Time(15)));
        let events = std::iter::from_fn(|| returning.pop_before(QUEUE, Time(99)));
        let events: Vec<_> = events.map(|event| (event.at().0, event.is_event())).collect();
        assert_eq!(events, [(10, false), (15, true), (20, true)]);
    }
}
