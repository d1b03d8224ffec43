//! Bruck's algorithms, which take ceil(log2 n) steps for any number of ranks.
//!
//! Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, "Efficient Algorithms for All-to-All Communications in
//! Multiport Message-Passing Systems" (IEEE TPDS 8:11, 1997), sections 3 (all-to-all, here with radix 2 and one port) and 4
//! (all-gather). The dissemination barrier has the same partners: D. Hensgen, R. Finkel and U. Manber, "Two Algorithms for Barrier
//! Synchronization" (1988).

use super::lane::{Effect, Events, Group, Wire};

/// The distances 1, 2, 4, ... below `n`.
fn distances(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |distance| Some(2 * distance)).take_while(move |&distance| distance < n)
}

/// A step: each rank sends to the rank at `distance` after it (`true`) or before it.
fn step<W: Wire>(
    group: &Group<'_>,
    (distance, forward): (usize, bool),
    events: &mut Events<W::Event>,
    mut send: impl FnMut(usize, usize, &[W::Event]) -> W::Event,
) {
    let n = group.len();
    let partner = |rank: usize| if forward { (rank + distance) % n } else { (rank + n - distance) % n };
    let arrived: Vec<_> = (0..n).map(|rank| send(rank, partner(rank), &events[rank])).collect();
    arrived.into_iter().enumerate().for_each(|(rank, event)| events[partner(rank)].push(event));
}

/// Each rank sends the blocks that it has, up to `distance` of them, to the rank at that distance before it.
pub(super) fn all_gather<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry);
    for distance in distances(n) {
        step::<W>(group, (distance, false), &mut events, |from, to, needs| {
            let count = distance.min(n - distance);
            group.send(wire, (from, to), (from, count, n), Effect::Keep, needs).arrival
        });
    }
    events
}

/// Data for the rank at distance d go over the powers of two in d, the smallest first. Block s n + d is what rank s has for rank
/// d.
pub(super) fn all_to_all<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry);
    let mut list = Vec::new();
    for distance in distances(n) {
        step::<W>(group, (distance, true), &mut events, |from, to, needs| {
            list.clear();
            // How far the data go in all: those with this power of two, which have come as far as the smaller ones lead.
            for offset in (1..n).filter(|offset| offset & distance != 0) {
                let source = (from + n - (offset & (distance - 1))) % n;
                list.push((source * n + (source + offset) % n) as u32);
            }
            group.send_list(wire, (from, to), &list, needs).arrival
        });
    }
    events
}

/// Dissemination: each rank tells the ranks at distances 1, 2, 4, ... after it.
pub(super) fn barrier<W: Wire>(wire: &mut W, group: &Group<'_>, entry: Events<W::Event>) -> Events<W::Event> {
    let mut events = entry;
    for distance in distances(group.len()) {
        step::<W>(group, (distance, true), &mut events, |from, to, needs| {
            group.send(wire, (from, to), (0, 1, 1), Effect::Add, needs).arrival
        });
    }
    events
}
