//! Events of the window at hand.

use crate::units::Time;
use crate::wheel::Event;

/// In place of an event; comes after all.
const NONE: u128 = u128::MAX;

/// What one entity has scheduled for itself in the window at hand, in order: mostly a single event. Each is one number, its
/// time above its key above its argument.
pub(crate) struct Due {
    first: u128,
    /// The others, last one first.
    others: Vec<u128>,
}

impl Due {
    /// Nothing.
    pub const fn new() -> Due {
        Due { first: NONE, others: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.first = NONE;
        self.others.clear();
    }

    /// The time of the next one, or never.
    #[inline]
    pub fn at(&self) -> Time {
        Time((self.first >> 64) as u64)
    }

    /// The key of the next one, if there is one.
    pub fn key(&self) -> Option<u32> {
        (self.first != NONE).then_some((self.first >> 32) as u32)
    }

    /// Puts an event in its place.
    #[inline]
    pub fn insert(&mut self, event: Event) {
        let event = u128::from(event.time.0) << 64 | u128::from(event.key) << 32 | u128::from(event.arg);
        if self.first == NONE {
            self.first = event;
        } else {
            self.insert_other(event);
        }
    }

    #[inline(never)]
    fn insert_other(&mut self, event: u128) {
        let later = event.max(self.first);
        self.first = event.min(self.first);
        let place = self.others.iter().rposition(|&other| other >= later).map_or(0, |at| at + 1);
        self.others.insert(place, later);
    }

    /// Takes the next one, which there is.
    #[inline]
    pub fn pop(&mut self) -> Event {
        let event = self.first;
        self.first = self.others.pop().unwrap_or(NONE);
        Event { time: Time((event >> 64) as u64), key: (event >> 32) as u32, arg: event as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_then_key_then_argument() {
        let event = |time, key, arg| Event { time: Time(time), key, arg };
        let mut due = Due::new();
        let order = [(5, 1, 0), (5, 1, 9), (5, 2, 0), (7, 0, 0), (u64::MAX - 1, 3, 3)];
        for i in [3, 1, 4, 0, 2] {
            let (time, key, arg) = order[i];
            due.insert(event(time, key, arg));
        }
        for (time, key, arg) in order {
            assert_eq!((due.at(), due.key()), (Time(time), Some(key)));
            assert_eq!(due.pop(), event(time, key, arg));
        }
        assert_eq!((due.at(), due.key()), (Time::NEVER, None));
    }
}
