//! Two binary trees at the same time, each for half of the data. A rank is a leaf in one of them, so that all ranks send and
//! receive about the same bytes.
//!
//! Source: P. Sanders, J. Speck and J. L. Träff, "Two-tree Algorithms for Full Bandwidth Broadcast, Reduction and Scan"
//! (Parallel Computing 35:12, 2009), sections 2 and 3. The trees are those of NCCL (src/graph/trees.cc): the first one joins
//! ranks by the lowest bit of their number; the second one is its mirror image if the number of ranks is even, and the first one
//! shifted by a rank if that number is odd. As in NCCL, sums go up a tree and results go down the same tree, chunk by chunk.

use super::lane::{Effect, Events, Group, Wire};

/// The parent of a rank in the first tree of `n`; `None` for the root, rank 0.
fn parent_in_first(n: usize, rank: usize) -> Option<usize> {
    if rank == 0 {
        return None;
    }
    let low = rank & rank.wrapping_neg();
    let up = (rank ^ low) | (low << 1);
    Some(if up < n { up } else { rank ^ low })
}

/// By rank: its parent in the first or second tree; `None` for the root.
pub(super) fn parents(n: usize, second: bool) -> Vec<Option<usize>> {
    let first = |rank| parent_in_first(n, rank);
    if !second {
        return (0..n).map(first).collect();
    }
    if n.is_multiple_of(2) {
        return (0..n).map(|rank| first(n - 1 - rank).map(|up| n - 1 - up)).collect();
    }
    (0..n).map(|rank| first((rank + n - 1) % n).map(|up| (up + 1) % n)).collect()
}

/// The ranks of a tree, each after its parent.
fn from_the_root(parents: &[Option<usize>]) -> Vec<usize> {
    let mut children = vec![Vec::new(); parents.len()];
    let mut order = Vec::with_capacity(parents.len());
    for (rank, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(rank),
            None => order.push(rank),
        }
    }
    let mut next = 0;
    while let Some(&rank) = order.get(next) {
        order.append(&mut children[rank]);
        next += 1;
    }
    order
}

/// Sums up one of the trees and results down the same tree.
pub(super) fn all_reduce<W: Wire>(
    wire: &mut W,
    group: &Group<'_>,
    second: bool,
    entry: Events<W::Event>,
) -> Events<W::Event> {
    let parents = parents(group.len(), second);
    let order = from_the_root(&parents);
    let mut events = entry;
    for &rank in order.iter().rev() {
        let Some(parent) = parents[rank] else { continue };
        let sending = group.send(wire, (rank, parent), (0, 1, 1), Effect::Add, &events[rank]);
        events[parent].push(sending.arrival);
    }
    let mut results = group.no_events();
    for &rank in &order {
        let Some(parent) = parents[rank] else {
            results[rank].append(&mut events[rank]);
            continue;
        };
        let sending = group.send(wire, (parent, rank), (0, 1, 1), Effect::Keep, &results[parent]);
        results[rank].push(sending.arrival);
    }
    results
}
