//! Messages straight from whoever has data to whoever needs them.
//!
//! Sources: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of Collective Communication Operations in MPICH" (IJHPCA
//! 19:1, 2005), section 4.4, for the pairwise exchange; the order in which the spread all-to-all sends, first to the next
//! rank and last to the one before, is that of Open MPI's and MPICH's linear all-to-all and of NCCL's grouped sends and receives;
//! the direct reduce-scatter, all-gather and all-reduce are ASTRA-sim's "direct" algorithms (W. Won et al., "ASTRA-sim2.0",
//! ISPASS 2023, section III).

use super::lane::{Effect, Events, Group, Wire};

/// All-to-all in n - 1 steps, in each of which a rank sends to one and receives from one; a step begins when the messages of
/// the step before have arrived and been sent. Powers of two: with the rank whose number differs by the step's number (exclusive
/// or); others: to the rank at the step's distance after it. Block s n + d is what rank s has for rank d; where it is empty,
/// nothing is sent.
pub(super) fn pairwise<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let n = group.len();
    let partner = |rank: usize, step: usize| {
        if n.is_power_of_two() { rank ^ step } else { (rank + step) % n }
    };
    let (mut last, mut all) = (entry, group.no_events());
    for step in 1..n {
        let mut next = group.no_events();
        for (from, needs) in last.iter().enumerate() {
            let to = partner(from, step);
            let block = from * n + to;
            if group.lane.block(block) == 0 {
                continue;
            }
            let sending = group.send_list(wire, (from, to), &[block as u32], needs);
            next[from].push(sending.sent);
            next[to].push(sending.arrival);
        }
        for (rank, next) in next.into_iter().enumerate() {
            // Whoever has nothing in a step goes on with what it waits for already.
            if !next.is_empty() {
                all[rank].extend_from_slice(&next);
                last[rank] = next;
            }
        }
    }
    all
}

/// All-to-all with all messages at once, to the next rank first.
pub(super) fn spread<W: Wire>(wire: &mut W, group: &Group<'_>, entry: Events<W::Event>) -> Events<W::Event> {
    let (n, mut events) = (group.len(), group.no_events());
    for step in 1..n {
        for (from, needs) in entry.iter().enumerate() {
            let to = (from + step) % n;
            let block = from * n + to;
            if group.lane.block(block) > 0 {
                events[to].push(group.send_list(wire, (from, to), &[block as u32], needs).arrival);
            }
        }
    }
    events
}

/// Each rank sends block d to rank d, which adds all up.
pub(super) fn reduce_scatter<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    each_to_each(wire, group, &entry, |_, to| to, Effect::Add)
}

/// Each rank sends its block to each other one.
pub(super) fn all_gather<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    each_to_each(wire, group, &entry, |from, _| from, Effect::Keep)
}

/// A rank's events at the end are its entry and all arrivals.
fn each_to_each<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: &Events<W::Event>,
    block: impl Fn(usize, usize) -> usize,
    effect: Effect,
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry.clone());
    for step in 1..n {
        for (from, needs) in entry.iter().enumerate() {
            let to = (from + step) % n;
            let sending = group.send(wire, (from, to), (block(from, to), 1, n), effect, needs);
            events[to].push(sending.arrival);
        }
    }
    events
}

/// Reduce-scatter, then all-gather.
pub(super) fn all_reduce<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let summed = reduce_scatter(wire, group, entry);
    let entry = joined(wire, group, summed);
    all_gather(wire, group, entry)
}

/// Each rank's block goes to `root`.
pub(super) fn gather<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    root: usize,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry);
    for from in (1..n).map(|i| (root + i) % n) {
        let sending = group.send(wire, (from, root), (from, 1, n), Effect::Keep, &events[from]);
        events[root].push(sending.arrival);
    }
    events
}

/// Each rank's block comes from `root`.
pub(super) fn scatter<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    root: usize,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry);
    for to in (1..n).map(|i| (root + i) % n) {
        let sending = group.send(wire, (root, to), (to, 1, n), Effect::Keep, &events[root]);
        events[to].push(sending.arrival);
    }
    events
}

/// One event for the events of each rank.
pub(super) fn joined<W: Wire>(wire: &mut W, group: &Group<'_>, events: Events<W::Event>) -> Events<W::Event> {
    let join = |(rank, events): (usize, Vec<W::Event>)| match events.len() {
        0 | 1 => events,
        _ => vec![wire.join(group.members[rank], &events)],
    };
    events.into_iter().enumerate().map(join).collect()
}
