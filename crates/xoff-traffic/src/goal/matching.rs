//! Matches sends with receives.

use super::{Action, GoalError, Schedule};
use crate::error::Fault;
use xoff_engine::Bytes;

/// A message's sender, receiver and tag, and the place of an operation for it.
type Entry = (u32, u32, u32, u32);

/// By operation: a send's receive, a receive's send, and a calculation itself.
pub(super) fn partners(schedule: &Schedule, ignore_tags: bool) -> Result<Vec<u32>, GoalError> {
    let (sends, receives) = ends(schedule, ignore_tags);
    let partners = pair(schedule.operations.len(), &sends, &receives).map_err(|alone| {
        // The first operation of the text that has no partner.
        let line = |e: &Entry| schedule.operations[e.3 as usize].line;
        let first = alone.into_iter().min_by_key(line).unwrap_or_default();
        let (sends_too, receives_too) = ends(schedule, true);
        let by_order = pair(schedule.operations.len(), &sends_too, &receives_too).is_ok();
        without_partner(schedule, first, &sends, &receives, by_order && !ignore_tags)
    })?;
    sends.iter().try_for_each(|s| check_room(schedule, s.3, partners[s.3 as usize]))?;
    Ok(partners)
}

/// All sends and all receives, by sender, receiver and tag, in the order of the text.
fn ends(schedule: &Schedule, ignore_tags: bool) -> (Vec<Entry>, Vec<Entry>) {
    let (mut sends, mut receives): (Vec<Entry>, Vec<Entry>) = (Vec::new(), Vec::new());
    let of = |tag: u32| if ignore_tags { 0 } else { tag };
    for (place, o) in (0..).zip(&schedule.operations) {
        match o.action {
            Action::Calc { .. } => {}
            Action::Send { to, tag, .. } => sends.push((o.rank, to, of(tag), place)),
            Action::Recv { from, tag, .. } => receives.push((from, o.rank, of(tag), place)),
        }
    }
    sends.sort_unstable();
    receives.sort_unstable();
    (sends, receives)
}

/// By operation: its partner, or itself for a calculation; an error lists the sends and receives without a partner.
fn pair(operations: usize, sends: &[Entry], receives: &[Entry]) -> Result<Vec<u32>, Vec<Entry>> {
    let mut partners: Vec<u32> = (0..operations as u32).collect();
    let mut alone = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        let key = |e: &Entry| (e.0, e.1, e.2);
        match (sends.get(i), receives.get(j)) {
            (Some(s), Some(r)) if key(s) == key(r) => {
                partners[s.3 as usize] = r.3;
                partners[r.3 as usize] = s.3;
                (i, j) = (i + 1, j + 1);
            }
            (Some(s), r) if r.is_none_or(|r| key(s) < key(r)) => {
                alone.push(*s);
                i += 1;
            }
            (_, Some(r)) => {
                alone.push(*r);
                j += 1;
            }
            (_, None) => break,
        }
    }
    if alone.is_empty() { Ok(partners) } else { Err(alone) }
}

fn without_partner(
    schedule: &Schedule,
    (from, to, tag, place): Entry,
    sends: &[Entry],
    receives: &[Entry],
    by_order: bool,
) -> GoalError {
    let count = |entries: &[Entry], what: &str| {
        let n = entries.iter().filter(|e| (e.0, e.1, e.2) == (from, to, tag)).count();
        format!("{n} {what}{}", if n == 1 { "" } else { "s" })
    };
    let (sends, receives) = (count(sends, "send"), count(receives, "receive"));
    let operation = &schedule.operations[place as usize];
    let value = format!(
        "without counterpart: {sends} of rank {from} to rank {to} with tag {tag}, and {receives} there for them"
    );
    let mut expected = "as many receives as sends".to_string();
    if by_order {
        expected +=
            ", or `--ignore-tags` of the import, `ignore_tags = true` in a scenario, with which all have one";
    }
    GoalError::new(operation.line, operation.action.word(), Fault::bounds(value, expected))
}

/// Refuses a receive with less room than its message needs.
fn check_room(schedule: &Schedule, send: u32, receive: u32) -> Result<(), GoalError> {
    let (send, receive) = (&schedule.operations[send as usize], &schedule.operations[receive as usize]);
    if let (Action::Send { size, .. }, Action::Recv { size: room, .. }) = (send.action, receive.action)
        && room < size
    {
        let value =
            format!("of {}, and the message, of line {}, has {}", Bytes(room), send.line, Bytes(size));
        return Err(GoalError::new(receive.line, "recv", Fault::bounds(value, "room for the message")));
    }
    Ok(())
}
