//! The order of scheduling, for a queue that is asked to keep it.

use crate::event::Event;

/// Maximum number of events that a queue in the order of scheduling takes in all, since events are numbered with 32 bits.
pub const MAX_SCHEDULED: u64 = u32::MAX as u64;

/// Numbers events in the order in which they are pushed. In the queue an event's key is its number and its argument an index
/// into `events`, which holds the key and argument that the event was pushed with.
#[derive(Default)]
pub(super) struct SchedulingOrder {
    pushed: u32,
    /// The key and argument of each pending event.
    events: Vec<(u32, u32)>,
    free: Vec<u32>,
}

impl SchedulingOrder {
    /// Numbers an event; returns the key and argument under which the queue keeps it.
    pub fn put(&mut self, key: u32, arg: u32) -> (u32, u32) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.events.push((0, 0));
            self.events.len() as u32 - 1
        });
        self.events[index as usize] = (key, arg);
        self.pushed += 1;
        (self.pushed, index)
    }

    /// Gives an event from the queue its own key and argument back.
    pub fn take(&mut self, event: Event) -> Event {
        let (key, arg) = self.events[event.arg as usize];
        self.free.push(event.arg);
        Event { key, arg, ..event }
    }
}
