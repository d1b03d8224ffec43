//! Oblivious choice: each EV once in a round, in an order that is drawn anew for each round.

use rand::Rng;
use xoff_engine::Stream;

/// Rounds over EVs. The order of a round is that of counting, with each number's bits flipped by a random mask.
#[derive(Debug)]
pub(crate) struct Rounds {
    random: Stream,
    /// Upper bits of the connection's EVs.
    base: u32,
    /// A power of two.
    paths: u32,
    place: u32,
    flips: u32,
}

impl Rounds {
    pub fn new(paths: u32, mut random: Stream) -> Rounds {
        let paths = paths.max(1).next_power_of_two();
        let base = (random.next_u64() as u32 & 0xffff) & !(paths - 1);
        let flips = random.next_u64() as u32 & (paths - 1);
        Rounds { random, base, paths, place: 0, flips }
    }

    /// Number of EVs.
    pub fn paths(&self) -> u32 {
        self.paths
    }

    /// The next EV.
    pub fn next(&mut self) -> u32 {
        let ev = self.base | (self.place ^ self.flips);
        self.step();
        ev
    }

    /// The next EV without flipped bits.
    pub fn in_order(&mut self) -> u32 {
        let ev = self.base | self.place;
        self.step();
        ev
    }

    /// A random EV.
    pub fn any(&mut self) -> u32 {
        self.base | (self.random.next_u64() as u32 & (self.paths - 1))
    }

    /// An EV of the connection.
    #[cfg(test)]
    pub fn base_for_test(&self) -> u32 {
        self.base
    }

    /// The number of an EV among those of the connection.
    pub fn number(&self, ev: u32) -> usize {
        (ev & (self.paths - 1)) as usize
    }

    fn step(&mut self) {
        self.place += 1;
        if self.place == self.paths {
            self.place = 0;
            self.flips = self.random.next_u64() as u32 & (self.paths - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{Domain, stream};

    #[test]
    fn a_round_has_each_ev_once_and_rounds_differ() {
        let mut rounds = Rounds::new(16, stream(1, Domain::Routing, 1));
        let all: Vec<Vec<u32>> = (0..20).map(|_| (0..16).map(|_| rounds.next() & 15).collect()).collect();
        for round in &all {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..16).collect::<Vec<_>>());
        }
        // 16 orders: 20 rounds are all alike with a probability of 16^-19.
        assert!(all.iter().any(|round| *round != all[0]));
    }
}
