//! Bitmap: rounds over EVs that pass over those of congested paths for some rounds.

use super::PathNews;
use super::rounds::Rounds;

/// Maximum penalty of an EV.
const MAX: u8 = 15;

/// Rounds with a penalty for each EV: the number of times that the EV is still passed over.
#[derive(Debug)]
pub(crate) struct Bitmap {
    rounds: Rounds,
    penalties: Vec<u8>,
}

impl Bitmap {
    pub fn new(rounds: Rounds) -> Bitmap {
        let penalties = vec![0; rounds.paths() as usize];
        Bitmap { rounds, penalties }
    }

    /// The next EV without a penalty. Of all that are passed over for a packet, only the first pays; if all have
    /// penalties, the EV after a whole round goes.
    pub fn next(&mut self) -> u32 {
        for passed in 0..=self.rounds.paths() {
            let ev = self.rounds.next();
            let penalty = &mut self.penalties[self.rounds.number(ev)];
            if *penalty == 0 {
                return ev;
            }
            if passed == 0 {
                *penalty -= 1;
            }
        }
        self.rounds.next()
    }

    /// Adds penalties: 1 for a mark, 4 for a trimmed packet, 15 for silence.
    pub fn learn(&mut self, ev: Option<u32>, news: PathNews) {
        let Some(ev) = ev else { return };
        let more = match news {
            PathNews::Good => return,
            PathNews::Marked => 1,
            PathNews::Trimmed => 4,
            PathNews::Silent => MAX,
        };
        let penalty = &mut self.penalties[self.rounds.number(ev)];
        *penalty = (*penalty + more).min(MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{Domain, stream};

    #[test]
    fn an_ev_with_a_penalty_is_passed_over_so_often() {
        // Four EVs, one of them trimmed once: a penalty of 4. Each round passes over it once and takes 1 off, since it is
        // the only one: four rounds have three EVs, the fifth has four.
        let mut bitmap = Bitmap::new(Rounds::new(4, stream(1, Domain::Routing, 1)));
        let bad = bitmap.rounds.base_for_test();
        bitmap.learn(Some(bad), PathNews::Trimmed);
        let sent: Vec<u32> = (0..16).map(|_| bitmap.next()).collect();
        assert_eq!(sent[..12].iter().filter(|&&ev| ev == bad).count(), 0, "{sent:?}");
        assert_eq!(sent[12..].iter().filter(|&&ev| ev == bad).count(), 1, "{sent:?}");
    }
}
