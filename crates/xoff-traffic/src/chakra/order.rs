//! Checks that a trace can complete: that none of its nodes waits for itself.

use super::{Collective, Source, Trace, TraceError, rank};
use crate::collective::CollectiveKind;
use crate::cycle;
use crate::error::Fault;

/// Maximum number of nodes of a cycle that a message lists.
const SHOWN: usize = 6;

/// Refuses nodes that wait for themselves. Each node has two points, its beginning and its end; each collective has one, at
/// which all that its ranks wait for has begun.
pub(super) fn check(source: &Source<'_>, trace: &Trace) -> Result<(), TraceError> {
    let nodes = trace.nodes.len() as u32;
    let edges = || {
        let own = (0..nodes).map(|n| (2 * n, 2 * n + 1));
        let waits = (0..nodes).flat_map(|n| trace.waits_for(n).iter().map(move |&on| (2 * on + 1, 2 * n)));
        let messages = trace.messages().map(|(send, receive)| (2 * send, 2 * receive + 1));
        let collectives =
            (2 * nodes..).zip(&trace.collectives).flat_map(|(point, c)| edges_of(trace, point, c));
        own.chain(waits).chain(messages).chain(collectives)
    };
    let points = 2 * trace.nodes.len() + trace.collectives.len();
    let Some(points) = cycle::find(points, edges) else { return Ok(()) };
    // Each node of the list is followed by one that it waits for.
    let cycle = cycle::items(&points, |point| (point < 2 * nodes).then_some(point / 2));
    let name = |&node: &u32| {
        let rank = trace.rank_of(node);
        let words = rank::words(source, rank, (node - trace.first[rank as usize]) as usize);
        format!("{} of rank {rank}", words.replace("whose node ", ""))
    };
    let mut names: Vec<String> = cycle.iter().take(SHOWN).map(name).collect();
    if cycle.len() > SHOWN {
        names.push("...".into());
    }
    names.push(name(&cycle[0]));
    let value = format!("waiting for itself: each of these waits for the next, {}", names.join(" > "));
    Err(source.error(trace, cycle[0], Fault::bounds(value, "nodes without a cycle")))
}

/// What the ends of a collective's nodes wait for: all ranks, or the root, or for the root all ranks.
fn edges_of<'a>(trace: &'a Trace, point: u32, c: &'a Collective) -> impl Iterator<Item = (u32, u32)> + 'a {
    let is_root = move |place: usize| place == c.root as usize;
    let begins = move |place: usize| match c.kind {
        CollectiveKind::Broadcast | CollectiveKind::Scatter => is_root(place),
        _ => true,
    };
    let ends = move |place: usize| match c.kind {
        CollectiveKind::Reduce | CollectiveKind::Gather => is_root(place),
        _ => true,
    };
    trace.members_of(c).iter().enumerate().flat_map(move |(place, &node)| {
        let begin = begins(place).then_some((2 * node, point));
        let end = ends(place).then_some((point, 2 * node + 1));
        begin.into_iter().chain(end)
    })
}
