//! Sorting the few events of a slot.

use crate::event::Event;
use crate::units::Time;

/// Maximum number of events that are sorted by counting.
const MAX_COUNTED: usize = 16;
/// Number of events that are compared at a time.
const STRIDE: usize = 4;

/// The event with rank `place` in the slot that begins at `begin`.
#[inline]
pub(super) fn event(begin: u64, place: u64, arg: u32) -> Event {
    Event { time: Time(begin + (place >> 32)), key: place as u32, arg }
}

/// The events of a slot, sorted by counting for each event how many come after it. The order of a few events is
/// unpredictable, so that every branch on it would be mispredicted half the time.
#[derive(Clone, Copy, Default)]
pub(super) struct CountingSort {
    /// The events' places in the order of the slot, with room to fill up the last stride.
    places: [u64; MAX_COUNTED + STRIDE],
    args: [u32; MAX_COUNTED],
}

impl CountingSort {
    /// Stores event `number`; leaves out an event beyond the maximum number.
    #[inline]
    pub fn put(&mut self, number: usize, place: u64, arg: u32) {
        if number < MAX_COUNTED {
            self.places[number] = place;
            self.args[number] = arg;
        }
    }

    /// Puts the first `count` events into the empty list `due`, latest first. `None` if there are too many events, or if two
    /// have the same place, so that their arguments decide.
    #[inline]
    pub fn sort_into(&mut self, count: usize, begin: u64, due: &mut Vec<Event>) -> Option<()> {
        if count == 1 {
            due.push(event(begin, self.places[0], self.args[0]));
            return Some(());
        }
        if count > MAX_COUNTED {
            return None;
        }
        // Zeros fill up the last stride: they come after no event.
        if let Some(rest) = self.places.get_mut(count..count + STRIDE) {
            rest.fill(0);
        }
        due.resize(count, event(0, 0, 0));
        let mut all = 0;
        for (&place, &arg) in self.places[..count].iter().zip(&self.args) {
            let mut after = 0;
            for others in self.places[..count.next_multiple_of(STRIDE)].chunks_exact(STRIDE) {
                after += others.iter().map(|&other| usize::from(other > place)).sum::<usize>();
            }
            due[after] = event(begin, place, arg);
            all += after;
        }
        // Two events at the same place have the same count, and the sum falls short of 0 + 1 + ... + (count - 1).
        if all != count * (count - 1) / 2 {
            due.clear();
            return None;
        }
        Some(())
    }
}
