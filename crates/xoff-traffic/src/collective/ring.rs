//! Rings and chains.
//!
//! Source: P. Patarasuk and X. Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations" (JPDC 69:2,
//! 2009), section 3. NCCL's ring kernels (src/device/all_reduce.h, all_gather.h, reduce_scatter.h, broadcast.h and reduce.h)
//! take the same steps. A broadcast and a reduction go along a chain, and only chunks make them fast.

use super::lane::{Effect, Events, Group, Wire};

/// In n - 1 steps each rank sends a block of partial sums to the next one; rank r ends up with the sum of block r.
pub(super) fn reduce_scatter<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    go_around(wire, group, entry, 1, Effect::Add)
}

/// In n - 1 steps each rank sends a block to the next one, at first its own block r.
pub(super) fn all_gather<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    go_around(wire, group, entry, 0, Effect::Keep)
}

/// A rank sends block r - `lag` first, and then each block that has come. A rank's events are its entry and all arrivals,
/// the last of them at the end.
fn go_around<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
    lag: usize,
    effect: Effect,
) -> Events<W::Event> {
    let n = group.len();
    let entries: Vec<usize> = entry.iter().map(Vec::len).collect();
    let mut events = entry;
    let mut needs = Vec::new();
    for step in 0..n - 1 {
        let mut arrived = Vec::with_capacity(n);
        for rank in 0..n {
            needs.clear();
            needs.extend_from_slice(&events[rank][..entries[rank]]);
            needs.extend(events[rank][entries[rank]..].last());
            let block = (rank + 2 * n - step - lag) % n;
            let next = (rank + 1) % n;
            arrived.push(group.send(wire, (rank, next), (block, 1, n), effect, &needs).arrival);
        }
        arrived.into_iter().enumerate().for_each(|(rank, event)| events[(rank + 1) % n].push(event));
    }
    events
}

/// Reduce-scatter, then all-gather: 2 (n - 1) steps of an n-th of the bytes.
pub(super) fn all_reduce<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let entries: Vec<usize> = entry.iter().map(Vec::len).collect();
    let summed = reduce_scatter(wire, group, entry);
    // A rank's sum of block r needs its own part and the last arrival.
    let of_sum = |(events, entries): (Vec<_>, usize)| {
        let mut needs = events[..entries].to_vec();
        needs.extend(events[entries..].last());
        needs
    };
    let entry = summed.into_iter().zip(entries).map(of_sum).collect();
    all_gather(wire, group, entry)
}

/// From `root` around to the rank before it.
pub(super) fn broadcast<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    root: usize,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry);
    for place in 0..n - 1 {
        let (from, to) = ((root + place) % n, (root + place + 1) % n);
        let sending = group.send(wire, (from, to), (0, 1, 1), Effect::Keep, &events[from]);
        events[to].push(sending.arrival);
    }
    events
}

/// From the rank after `root` around to `root`.
pub(super) fn reduce<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    root: usize,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry);
    for place in 1..n {
        let (from, to) = ((root + place) % n, (root + place + 1) % n);
        let sending = group.send(wire, (from, to), (0, 1, 1), Effect::Add, &events[from]);
        events[to].push(sending.arrival);
    }
    events
}
