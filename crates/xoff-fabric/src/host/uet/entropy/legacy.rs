//! Recycled EVs: those that came back unmarked are sent again, first come, first sent (REPS without a bound: Bonato et al.,
//! REPS: Recycled Entropy Packet Spraying, 2024, section 3).

use std::collections::VecDeque;

use super::PathNews;

/// EVs that came back unmarked.
#[derive(Debug)]
pub(crate) struct Recycled {
    good: VecDeque<u32>,
    /// Packets of the first window that have yet to be sent.
    first: u32,
}

impl Recycled {
    /// Nothing has come back; the first window has `first` packets.
    pub fn new(first: u32) -> Recycled {
        Recycled { good: VecDeque::new(), first }
    }

    /// The EV that came back first, if there is one.
    pub fn next(&mut self) -> Option<u32> {
        self.good.pop_front()
    }

    /// Whether a packet without a recycled EV is of the first window, and counts it.
    pub fn begins(&mut self) -> bool {
        let begins = self.first > 0;
        self.first = self.first.saturating_sub(1);
        begins
    }

    pub fn learn(&mut self, ev: Option<u32>, news: PathNews) {
        if news == PathNews::Good {
            self.good.extend(ev);
        }
    }
}
