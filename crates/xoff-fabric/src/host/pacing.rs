//! Flows that wait for their pacing time, earliest first: a binary heap that knows where each flow is, so that a
//! change of rate moves the flow instead of leaving a stale entry behind.

use xoff_engine::Time;

/// Not in the heap.
pub const ABSENT: u32 = u32::MAX;

/// A heap of (time, flow). Its owner keeps `places`, a list by flow of each flow's place in the heap, [`ABSENT`] for flows
/// in no heap; only the heap changes this list.
#[derive(Default)]
pub struct PacingHeap {
    heap: Vec<(Time, u32)>,
}

impl PacingHeap {
    /// The earliest flow and its time.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        self.heap.first().copied()
    }

    /// All flows in the heap, in any order.
    pub fn flows(&self) -> impl Iterator<Item = u32> {
        self.heap.iter().map(|&(_, flow)| flow)
    }

    /// Adds a flow that is not in the heap.
    pub fn insert(&mut self, time: Time, flow: u32, places: &mut [u32]) {
        self.heap.push((time, flow));
        self.up(self.heap.len() - 1, places);
    }

    /// Moves a flow to another time.
    pub fn update(&mut self, time: Time, flow: u32, places: &mut [u32]) {
        let i = places[flow as usize] as usize;
        let earlier = time < self.heap[i].0;
        self.heap[i].0 = time;
        if earlier { self.up(i, places) } else { self.down(i, places) }
    }

    /// Takes a flow out.
    pub fn remove(&mut self, flow: u32, places: &mut [u32]) {
        let i = places[flow as usize] as usize;
        self.heap.swap_remove(i);
        places[flow as usize] = ABSENT;
        if i < self.heap.len() {
            let moved = self.heap[i].1;
            self.up(i, places);
            self.down(places[moved as usize] as usize, places);
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
            places[self.heap[i].1 as usize] = i as u32;
            i = parent;
        }
        self.heap[i] = item;
        places[item.1 as usize] = i as u32;
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
            places[self.heap[i].1 as usize] = i as u32;
            i = child;
        }
        self.heap[i] = item;
        places[item.1 as usize] = i as u32;
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
            for (flow, time, remove) in steps {
                let place = places[flow as usize];
                let key = (Time(times[flow as usize]), flow);
                if place == ABSENT {
                    heap.insert(Time(time), flow, &mut places);
                } else if remove {
                    heap.remove(flow, &mut places);
                    model.remove(&key);
                    prop_assert_eq!(heap.first(), model.first().copied());
                    continue;
                } else {
                    heap.update(Time(time), flow, &mut places);
                    model.remove(&key);
                }
                times[flow as usize] = time;
                model.insert((Time(time), flow));
                prop_assert_eq!(heap.first(), model.first().copied());
            }
        }
    }
}
