//! Matches sends with receives.

use super::{Action, Source, Trace, TraceError};
use crate::error::Fault;

/// A message's sender, receiver and tag, and the place of a node for it.
type Entry = (u32, u32, u32, u32);

/// By node: a send's receive, a receive's send, and any other node itself.
pub(super) fn partners(source: &Source<'_>, trace: &Trace) -> Result<Vec<u32>, TraceError> {
    let (mut sends, mut receives): (Vec<Entry>, Vec<Entry>) = (Vec::new(), Vec::new());
    for (rank, bounds) in (0u32..).zip(trace.first.windows(2)) {
        for node in bounds[0]..bounds[1] {
            match trace.nodes[node as usize].action {
                Action::Send { to, tag, .. } => sends.push((rank, to, tag, node)),
                Action::Receive { from, tag, .. } => receives.push((from, rank, tag, node)),
                _ => {}
            }
        }
    }
    sends.sort_unstable();
    receives.sort_unstable();
    let mut partners: Vec<u32> = (0..trace.nodes.len() as u32).collect();
    let key = |e: &Entry| (e.0, e.1, e.2);
    let (mut i, mut j) = (0, 0);
    // The first node without a partner.
    let mut alone: Option<Entry> = None;
    let mut note = |entry: Entry| {
        if alone.is_none_or(|first| entry.3 < first.3) {
            alone = Some(entry);
        }
    };
    loop {
        match (sends.get(i), receives.get(j)) {
            (Some(s), Some(r)) if key(s) == key(r) => {
                (partners[s.3 as usize], partners[r.3 as usize]) = (r.3, s.3);
                (i, j) = (i + 1, j + 1);
            }
            (Some(s), r) if r.is_none_or(|r| key(s) < key(r)) => {
                note(*s);
                i += 1;
            }
            (_, Some(r)) => {
                note(*r);
                j += 1;
            }
            (_, None) => break,
        }
    }
    if let Some(entry) = alone {
        return Err(source.error(trace, entry.3, without_partner(trace, entry, &sends, &receives)));
    }
    for &(from, to, _, send) in &sends {
        let receive = partners[send as usize];
        let of = |node: u32| match trace.nodes[node as usize].action {
            Action::Send { size, .. } | Action::Receive { size, .. } => size,
            _ => 0,
        };
        if of(send) != of(receive) {
            let value = format!(
                "a receive of {} B, and the message from rank {from} to rank {to} for it has {} B",
                of(receive),
                of(send)
            );
            return Err(source.error(
                trace,
                receive,
                Fault::bounds(value, "the same `comm_size` at both ends"),
            ));
        }
    }
    Ok(partners)
}

fn without_partner(
    trace: &Trace,
    (from, to, tag, node): Entry,
    sends: &[Entry],
    receives: &[Entry],
) -> Fault {
    let of = |entries: &[Entry], tag: Option<u32>| {
        let same = |e: &&Entry| (e.0, e.1) == (from, to) && tag.is_none_or(|tag| e.2 == tag);
        entries.iter().filter(same).map(|e| e.2).collect::<Vec<u32>>()
    };
    let is_send = matches!(trace.nodes[node as usize].action, Action::Send { .. });
    let (what, others) = if is_send { ("a send", receives) } else { ("a receive", sends) };
    let value = format!(
        "{what} without counterpart: rank {from} has {} sends to rank {to} with tag {tag}, which has {} receives for them",
        of(sends, Some(tag)).len(),
        of(receives, Some(tag)).len()
    );
    let near = of(others, None).into_iter().min_by_key(|other| (other.abs_diff(tag), *other));
    let near = match near {
        Some(other) if other != tag => format!("; the nearest tag at the other end is {other}"),
        _ => String::new(),
    };
    Fault::bounds(value, format!("as many receives as sends{near}"))
}
