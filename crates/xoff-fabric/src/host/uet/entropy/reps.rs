//! REPS (Bonato et al., REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure Mitigation, 2024,
//! section 3): a ring of eight EVs that came back unmarked, which are sent again once each; otherwise EVs at random.
//!
//! After a timeout the ring freezes: its EVs go in turn, fresh or not, since others may lead to a failed link. Ten
//! milliseconds later the ring is cleared, and 16 random EVs explore.

use xoff_engine::Time;

use super::PathNews;
use super::rounds::Rounds;

const RING: usize = 8;
const FROZEN_FOR: Time = Time::from_ms(10);
const EXPLORES: u32 = 16;

/// REPS's ring.
#[derive(Debug)]
pub(crate) struct Reps {
    rounds: Rounds,
    /// EVs, each with whether it is fresh.
    ring: [Option<(u32, bool)>; RING],
    /// Where the next EV that comes back goes.
    head: usize,
    fresh: usize,
    /// Until when the ring is frozen.
    frozen_until: Option<Time>,
    /// Which EV of the frozen ring goes next.
    turn: usize,
    /// Random EVs that are still to be sent.
    explores: u32,
}

impl Reps {
    pub fn new(rounds: Rounds) -> Reps {
        Reps { rounds, ring: [None; RING], head: 0, fresh: 0, frozen_until: None, turn: 0, explores: 0 }
    }

    pub fn next(&mut self, now: Time) -> u32 {
        if self.frozen_until.is_some_and(|until| now >= until) {
            self.ring = [None; RING];
            (self.head, self.fresh, self.turn) = (0, 0, 0);
            (self.frozen_until, self.explores) = (None, EXPLORES);
        }
        if self.explores > 0 {
            self.explores -= 1;
            return self.rounds.any();
        }
        if self.frozen_until.is_some() {
            for _ in 0..RING {
                let place = self.turn;
                self.turn = (place + 1) % RING;
                if let Some((ev, _)) = self.ring[place] {
                    return ev;
                }
            }
            return self.rounds.any();
        }
        if self.fresh == 0 {
            return self.rounds.any();
        }
        let place = (self.head + RING - self.fresh) % RING;
        self.fresh -= 1;
        match &mut self.ring[place] {
            Some((ev, fresh)) => {
                *fresh = false;
                *ev
            }
            None => self.rounds.any(),
        }
    }

    pub fn learn(&mut self, ev: Option<u32>, news: PathNews, now: Time) {
        match (ev, news) {
            (Some(ev), PathNews::Good) if self.frozen_until.is_none() => {
                self.ring[self.head] = Some((ev, true));
                self.head = (self.head + 1) % RING;
                self.fresh = (self.fresh + 1).min(RING);
            }
            (_, PathNews::Silent) if self.frozen_until.is_none() && self.explores == 0 => {
                self.frozen_until = Some(now + FROZEN_FOR);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{Domain, stream};

    #[test]
    fn what_came_back_goes_again_once_and_a_frozen_ring_in_turn() {
        let mut reps = Reps::new(Rounds::new(64, stream(1, Domain::Routing, 1)));
        let now = Time::from_us(1);
        for ev in [100, 101, 102] {
            reps.learn(Some(ev), PathNews::Good, now);
        }
        reps.learn(Some(103), PathNews::Marked, now);
        assert_eq!([reps.next(now), reps.next(now)], [100, 101]);
        // A timeout freezes the ring of 100, 101, 102: all three go in turn, the two that are not fresh too.
        reps.learn(None, PathNews::Silent, now);
        reps.learn(Some(104), PathNews::Good, now);
        let later = Time::from_us(9_000);
        assert_eq!([0; 4].map(|_| reps.next(later)), [100, 101, 102, 100]);
        // 10 ms after the timeout the ring is empty: random EVs below 2^16, and none of them counts as recycled.
        reps.next(Time::from_us(10_001));
        assert_eq!((reps.fresh, reps.explores), (0, 15));
    }
}
