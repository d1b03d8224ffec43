//! Events that one entity has scheduled for itself in the current window.

use crate::event::Event;
use crate::insert::insert_from_end;
use crate::units::Time;

/// Stands for the absence of an event: greater than every event's rank.
const NONE: u128 = u128::MAX;

/// The events that one entity has scheduled for itself in the current window, in order: mostly a single event. Each event
/// is stored as one number, its rank: its time above its key above its argument.
pub(crate) struct WindowEvents {
    first: u128,
    /// The other events, the last one first.
    others: Vec<u128>,
}

impl WindowEvents {
    /// An empty list.
    pub const fn new() -> WindowEvents {
        WindowEvents { first: NONE, others: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.first = NONE;
        self.others.clear();
    }

    /// The time of the next event; [`Time::NEVER`] if the list is empty.
    #[inline]
    pub fn next_time(&self) -> Time {
        Time((self.first >> 64) as u64)
    }

    /// The key of the next event; `None` if the list is empty.
    pub fn next_key(&self) -> Option<u32> {
        (self.first != NONE).then_some((self.first >> 32) as u32)
    }

    /// Inserts an event at its place in the order.
    #[inline]
    pub fn insert(&mut self, event: Event) {
        let rank = event.rank();
        if self.first == NONE {
            self.first = rank;
        } else {
            self.insert_other(rank);
        }
    }

    /// Adds an event's rank without its place, before [`Self::sort`].
    #[inline]
    pub fn add(&mut self, rank: u128) {
        self.others.push(rank);
    }

    /// Puts the events that [`Self::add`] has added to an empty list in order.
    #[inline]
    pub fn sort(&mut self) {
        if self.others.len() > 1 {
            self.others.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.first = self.others.pop().unwrap_or(NONE);
    }

    #[inline(never)]
    fn insert_other(&mut self, rank: u128) {
        let later = rank.max(self.first);
        self.first = rank.min(self.first);
        insert_from_end(&mut self.others, later, |before, after| before < after);
    }

    /// Takes the next event. The list must not be empty.
    #[inline]
    pub fn pop(&mut self) -> Event {
        let rank = self.first;
        self.first = self.others.pop().unwrap_or(NONE);
        Event::of_rank(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_then_key_then_argument() {
        let event = |time, key, arg| Event { time: Time(time), key, arg };
        let mut events = WindowEvents::new();
        let order = [(5, 1, 0), (5, 1, 9), (5, 2, 0), (7, 0, 0), (u64::MAX - 1, 3, 3)];
        for i in [3, 1, 4, 0, 2] {
            let (time, key, arg) = order[i];
            events.insert(event(time, key, arg));
        }
        for (time, key, arg) in order {
            assert_eq!((events.next_time(), events.next_key()), (Time(time), Some(key)));
            assert_eq!(events.pop(), event(time, key, arg));
        }
        assert_eq!((events.next_time(), events.next_key()), (Time::NEVER, None));
    }
}
