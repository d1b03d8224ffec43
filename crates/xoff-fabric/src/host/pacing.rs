//! Connections that wait for their pacing time, earliest first: a binary heap that knows where each connection is, so that a
//! change of rate moves the connection instead of leaving a stale entry behind.

use xoff_engine::Time;

use crate::ids::ConnectionId;

/// Not in the heap.
pub const ABSENT: u32 = u32::MAX;

/// A heap of (time, connection). Its owner keeps `places`, a list by connection of each connection's place in the heap,
/// [`ABSENT`] for connections in no heap; only the heap changes this list.
#[derive(Default)]
pub struct PacingHeap {
    heap: Vec<(Time, ConnectionId)>,
}

impl PacingHeap {
    /// The earliest connection and its time.
    #[inline]
    pub fn first(&self) -> Option<(Time, ConnectionId)> {
        self.heap.first().copied()
    }

    /// All connections in the heap with their times, in any order.
    pub fn entries(&self) -> &[(Time, ConnectionId)] {
        &self.heap
    }

    /// All connections in the heap, in any order.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        self.heap.iter().map(|&(_, connection)| connection)
    }

    /// Adds a connection that is not in the heap.
    pub fn insert(&mut self, time: Time, connection: ConnectionId, places: &mut [u32]) {
        self.heap.push((time, connection));
        self.up(self.heap.len() - 1, places);
    }

    /// Moves a connection to another time.
    pub fn update(&mut self, time: Time, connection: ConnectionId, places: &mut [u32]) {
        let i = places[connection.index()] as usize;
        let earlier = time < self.heap[i].0;
        self.heap[i].0 = time;
        if earlier { self.up(i, places) } else { self.down(i, places) }
    }

    /// Takes a connection out.
    pub fn remove(&mut self, connection: ConnectionId, places: &mut [u32]) {
        let i = places[connection.index()] as usize;
        self.heap.swap_remove(i);
        places[connection.index()] = ABSENT;
        if i < self.heap.len() {
            let moved = self.heap[i].1;
            self.up(i, places);
            self.down(places[moved.index()] as usize, places);
        }
    }

    fn up(&mut self, mut i: usize, places: &mut [u32]) {
        let item = self.heap[i];
        while i > 0 {
            let parent = (i - 1) / 2;
            if self.heap[parent] <= item {
                break;
            }
            self.heap[i] = self.heap[parent];
            places[self.heap[i].1.index()] = i as u32;
            i = parent;
        }
        self.heap[i] = item;
        places[item.1.index()] = i as u32;
    }

    fn down(&mut self, mut i: usize, places: &mut [u32]) {
        let item = self.heap[i];
        loop {
            let mut child = 2 * i + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1] < self.heap[child] {
                child += 1;
            }
            if item <= self.heap[child] {
                break;
            }
            self.heap[i] = self.heap[child];
            places[self.heap[i].1.index()] = i as u32;
            i = child;
        }
        self.heap[i] = item;
        places[item.1.index()] = i as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Random insertions, moves and removals against a sorted set.
        #[test]
        fn the_first_is_the_minimum(steps in prop::collection::vec((0u32..20, 0u64..50, any::<bool>()), 1..300)) {
            let (mut heap, mut places, mut model) = (PacingHeap::default(), [ABSENT; 20], BTreeSet::new());
            let mut times = [0u64; 20];
            for (connection, time, remove) in steps {
                let connection = ConnectionId(connection);
                let place = places[connection.index()];
                let key = (Time(times[connection.index()]), connection);
                if place == ABSENT {
                    heap.insert(Time(time), connection, &mut places);
                } else if remove {
                    heap.remove(connection, &mut places);
                    model.remove(&key);
                    prop_assert_eq!(heap.first(), model.first().copied());
                    continue;
                } else {
                    heap.update(Time(time), connection, &mut places);
                    model.remove(&key);
                }
                times[connection.index()] = time;
                model.insert((Time(time), connection));
                prop_assert_eq!(heap.first(), model.first().copied());
            }
        }
    }
}
