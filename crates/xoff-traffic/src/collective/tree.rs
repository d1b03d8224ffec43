//! Binomial trees.
//!
//! Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of Collective Communication Operations in MPICH" (IJHPCA
//! 19:1, 2005), sections 4.2 (broadcast) and 4.5 (reduce); gather and scatter by the same tree as in MPICH. Ranks count
//! from the root.

use super::lane::{Effect, Events, Group, Wire};

/// The edges of the tree, child and parent, from the leaves to the root, by distance from the root; with the number of ranks below
/// and at the child.
fn edges(n: usize) -> Vec<(usize, usize, usize)> {
    let (mut edges, mut distance) = (Vec::with_capacity(n), 1);
    while distance < n {
        let children = (distance..n).step_by(2 * distance);
        edges.extend(children.map(|child| (child, child - distance, distance.min(n - child))));
        distance *= 2;
    }
    edges
}

/// Sums go to `root` in ceil(log2 n) phases.
pub(super) fn reduce<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    root: usize,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry);
    for (child, parent, _) in edges(n) {
        let (from, to) = ((child + root) % n, (parent + root) % n);
        let sending = group.send(wire, (from, to), (0, 1, 1), Effect::Add, &events[from]);
        events[to].push(sending.arrival);
    }
    events
}

/// Data go from `root` in ceil(log2 n) phases, to the farthest child first; a rank sends to the next child when the message to
/// the child before is sent.
pub(super) fn broadcast<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    root: usize,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    down(wire, group, root, entry, |_, _| (0, 1, 1))
}

/// Sends `pieces` of a child and of the number of ranks below it, from `root` on.
fn down<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    root: usize,
    entry: Events<W::Event>,
    pieces: impl Fn(usize, usize) -> (usize, usize, usize),
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry);
    let mut sent = vec![None; n];
    let mut needs = Vec::new();
    for (child, parent, below) in edges(n).into_iter().rev() {
        let (from, to) = ((parent + root) % n, (child + root) % n);
        needs.clear();
        needs.extend_from_slice(&events[from]);
        needs.extend(sent[from]);
        let sending = group.send(wire, (from, to), pieces(to, below), Effect::Keep, &needs);
        events[to].push(sending.arrival);
        sent[from] = Some(sending.sent);
    }
    events
}

/// Up the tree and down again.
pub(super) fn all_reduce<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let summed = reduce(wire, group, 0, entry);
    broadcast(wire, group, 0, summed)
}

/// Each rank sends its block and those of the ranks below it towards `root`.
pub(super) fn gather<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    root: usize,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let (n, mut events) = (group.len(), entry);
    for (child, parent, below) in edges(n) {
        let (from, to) = ((child + root) % n, (parent + root) % n);
        let sending = group.send(wire, (from, to), (from, below, n), Effect::Keep, &events[from]);
        events[to].push(sending.arrival);
    }
    events
}

/// Each rank gets its block and those of the ranks below it, from `root` on, in the order of a broadcast.
pub(super) fn scatter<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    root: usize,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let n = group.len();
    down(wire, group, root, entry, |to, below| (to, below, n))
}
