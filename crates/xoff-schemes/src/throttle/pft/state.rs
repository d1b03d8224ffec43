//! Normal and Congested: Algorithms 1 and 2.
//!
//! Both algorithms act once a cycle. Since used credits change only now and then, all cycles between two changes are
//! alike, and cycles that only count are taken in one step.

use super::Reading;

/// Thresholds in credits, windows and counts in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// t_e: used credits above this make the state Congested.
    pub enter: u64,
    /// t_s: used credits below this make the state Normal.
    pub escape: u64,
    /// T_e and T_e'.
    pub enter_window: u64,
    /// See `enter_window`.
    pub enter_count: u64,
    /// T_s and T_s'.
    pub escape_window: u64,
    /// See `escape_window`.
    pub escape_count: u64,
}

/// Algorithm 2: counters over windows of cycles.
#[derive(Clone, Debug)]
pub(super) struct Average {
    pub reading: Reading,
    pub limits: Limits,
    pub congested: bool,
    cycle_count: u64,
    congested_count: u64,
}

impl Average {
    pub fn new(reading: Reading, limits: Limits) -> Self {
        Average { reading, limits, congested: false, cycle_count: 0, congested_count: 0 }
    }

    /// Window and count of the current state, and whether `used` credits count.
    fn terms(&self, used: u64) -> (u64, u64, bool) {
        let l = &self.limits;
        if self.congested {
            (l.escape_window, l.escape_count, used < l.escape)
        } else {
            (l.enter_window, l.enter_count, used > l.enter)
        }
    }

    /// Whether the state is Normal and stays so while no more than `used` credits are in use, whatever the counters hold.
    pub fn stays_normal_up_to(&self, used: u64) -> bool {
        !self.congested && used <= self.limits.enter && self.reading == Reading::Repaired
    }

    /// Goes through at most `max` cycles with `used` credits, up to a change of state. Returns the number of cycles, and
    /// whether the state changed.
    pub fn run(&mut self, used: u64, max: u64) -> (u64, bool) {
        let mut left = max;
        while left > 0 {
            let plain = self.plain(used).min(left);
            self.cycle_count += plain;
            self.congested_count += plain * u64::from(self.terms(used).2);
            left -= plain;
            if left > 0 {
                let before = self.congested;
                match self.reading {
                    Reading::Repaired => self.repaired(used),
                    Reading::Literal => self.literal(used),
                }
                left -= 1;
                if self.congested != before {
                    return (max - left, true);
                }
            }
        }
        (max, false)
    }

    /// Cycles up to the next change of state with `used` credits; `None` if there is none.
    pub fn next_change(&self, used: u64) -> Option<u64> {
        // After a window of either kind the counters' present values no longer matter; the next window shows what repeats.
        let longest = self.limits.enter_window.max(self.limits.escape_window) + 1;
        let (cycles, changed) = self.clone().run(used, 3 * longest);
        changed.then_some(cycles)
    }

    /// Number of the next cycles that only count.
    fn plain(&self, used: u64) -> u64 {
        let (window, count, counts) = self.terms(used);
        let to_window = match self.cycle_count {
            now if now > window => u64::MAX,
            now => (window - now).saturating_sub(1),
        };
        let to_count = match self.congested_count {
            now if counts && now < count => count - now - 1,
            now if !counts && now == count => 0,
            _ => u64::MAX,
        };
        to_window.min(to_count)
    }

    /// A cycle, with windows that follow one another, and counters that begin anew with each window and state.
    fn repaired(&mut self, used: u64) {
        let (window, count, counts) = self.terms(used);
        self.cycle_count += 1;
        self.congested_count += u64::from(counts);
        let change = self.congested_count == count;
        self.congested ^= change;
        if change || self.cycle_count == window {
            (self.cycle_count, self.congested_count) = (0, 0);
        }
    }

    /// A cycle as printed, lines 3 to 32.
    fn literal(&mut self, used: u64) {
        if !self.congested {
            self.count(used);
        }
        if self.congested_count == self.limits.enter_count {
            self.congested = true;
        }
        if self.congested {
            self.count(used);
        }
        if self.congested_count == self.limits.escape_count {
            self.congested = false;
        }
    }

    /// Lines 4 to 13, and 19 to 28.
    fn count(&mut self, used: u64) {
        let (window, _, counts) = self.terms(used);
        self.cycle_count = if self.cycle_count == window { 0 } else { self.cycle_count + 1 };
        if self.cycle_count == window {
            self.congested_count = 0;
        } else {
            self.congested_count += u64::from(counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Algorithm 2, a cycle at a time, written from the paper's page once more.
    struct Printed {
        normal: bool,
        cycle_count: u64,
        congested_count: u64,
    }

    impl Printed {
        fn cycle(&mut self, c: u64, l: &Limits) {
            if self.normal {
                if self.cycle_count == l.enter_window {
                    self.cycle_count = 0;
                } else {
                    self.cycle_count += 1;
                }
                if self.cycle_count == l.enter_window {
                    self.congested_count = 0;
                } else if c > l.enter {
                    self.congested_count += 1;
                }
            }
            if self.congested_count == l.enter_count {
                self.normal = false;
            }
            if !self.normal {
                if self.cycle_count == l.escape_window {
                    self.cycle_count = 0;
                } else {
                    self.cycle_count += 1;
                }
                if self.cycle_count == l.escape_window {
                    self.congested_count = 0;
                } else if c < l.escape {
                    self.congested_count += 1;
                }
            }
            if self.congested_count == l.escape_count {
                self.normal = true;
            }
        }
    }

    /// Windows of `w` samples with at least `n` that count change the state.
    struct Windowed {
        congested: bool,
        samples: Vec<bool>,
    }

    impl Windowed {
        fn cycle(&mut self, c: u64, l: &Limits) {
            let (w, n, counts) = if self.congested {
                (l.escape_window, l.escape_count, c < l.escape)
            } else {
                (l.enter_window, l.enter_count, c > l.enter)
            };
            self.samples.push(counts);
            if self.samples.iter().filter(|s| **s).count() as u64 == n {
                self.congested = !self.congested;
                self.samples.clear();
            } else if self.samples.len() as u64 == w {
                self.samples.clear();
            }
        }
    }

    proptest! {
        /// Both readings, in steps of any length, against one cycle at a time.
        #[test]
        fn many_cycles_at_once_are_as_many_one_by_one(
            enter in 0u64..6, escape in 0u64..6, windows in prop::array::uniform2(2u64..9),
            counts in prop::array::uniform2(1u64..8), used in prop::collection::vec((0u64..8, 1u64..30), 1..60),
        ) {
            let limits = Limits {
                enter, escape,
                enter_window: windows[0], enter_count: counts[0].min(windows[0] - 1),
                escape_window: windows[1], escape_count: counts[1].min(windows[1] - 1),
            };
            let mut printed = Printed { normal: true, cycle_count: 0, congested_count: 0 };
            let mut windowed = Windowed { congested: false, samples: vec![] };
            let mut literal = Average::new(Reading::Literal, limits);
            let mut repaired = Average::new(Reading::Repaired, limits);
            for (used, cycles) in used {
                let next = [literal.next_change(used), repaired.next_change(used)];
                let before = [literal.congested, repaired.congested];
                let mut first = [None, None];
                for cycle in 1..=cycles {
                    printed.cycle(used, &limits);
                    windowed.cycle(used, &limits);
                    for (i, now) in [!printed.normal, windowed.congested].into_iter().enumerate() {
                        if now != before[i] && first[i].is_none() {
                            first[i] = Some(cycle);
                        }
                    }
                }
                for (i, machine) in [&mut literal, &mut repaired].into_iter().enumerate() {
                    let mut left = cycles;
                    while left > 0 {
                        left -= machine.run(used, left).0;
                    }
                    prop_assert_eq!(first[i], next[i].filter(|n| *n <= cycles));
                }
                prop_assert_eq!(literal.congested, !printed.normal);
                prop_assert_eq!(repaired.congested, windowed.congested);
            }
        }
    }
}
