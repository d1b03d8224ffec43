//! Adaptive routing: the next hop with the shortest egress queue, the frame on the wire included; ties are broken at
//! random.

use xoff_engine::Stream;

use super::{Candidate, ChoosePath, Load, below};
use crate::ids::PortId;

/// Each switch compares all its candidates.
pub(super) struct Adaptive;

impl ChoosePath for Adaptive {
    const NAME: &'static str = "adaptive";
    const ADAPTS: bool = true;

    fn at_switch(
        candidates: &[Candidate],
        load: impl Fn(PortId) -> Load,
        random: &mut Stream,
    ) -> Option<PortId> {
        let min = candidates.iter().map(|&(port, _)| load(port)).min();
        let mut shortest = candidates.iter().filter(|&&(port, _)| Some(load(port)) == min);
        let ways = shortest.clone().count() as u64;
        let pick = if ways > 1 { below(ways, random) as usize } else { 0 };
        shortest.nth(pick).map(|&(port, _)| port)
    }
}
