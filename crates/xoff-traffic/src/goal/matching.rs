//! Which send belongs to which receive.

use super::{Action, GoalError, Schedule};
use crate::error::Fault;
use xoff_engine::Bytes;

/// A message's sender, receiver and tag, and the place of an operation for it.
type Entry = (u32, u32, u32, u32);

/// By operation: of a send its receive, of a receive its send, of a calculation itself.
pub(super) fn partners(schedule: &Schedule) -> Result<Vec<u32>, GoalError> {
    let (mut sends, mut receives): (Vec<Entry>, Vec<Entry>) = (Vec::new(), Vec::new());
    for (place, o) in (0..).zip(&schedule.operations) {
        match o.action {
            Action::Calc { .. } => {}
            Action::Send { to, tag, .. } => sends.push((o.rank, to, tag, place)),
            Action::Recv { from, tag, .. } => receives.push((from, o.rank, tag, place)),
        }
    }
    // By sender, receiver and tag, in the order of the text.
    sends.sort_unstable();
    receives.sort_unstable();
    let mut partners: Vec<u32> = (0..schedule.operations.len() as u32).collect();
    let mut alone: Option<(u32, Entry)> = None;
    let (mut i, mut j) = (0, 0);
    while i < sends.len() || j < receives.len() {
        let key = |e: &Entry| (e.0, e.1, e.2);
        let (send, receive) = (sends.get(i), receives.get(j));
        let single = match (send, receive) {
            (Some(s), Some(r)) if key(s) == key(r) => {
                partners[s.3 as usize] = r.3;
                partners[r.3 as usize] = s.3;
                (i, j) = (i + 1, j + 1);
                continue;
            }
            (Some(s), Some(r)) if key(s) < key(r) => (i += 1, *s).1,
            (Some(s), None) => (i += 1, *s).1,
            (_, Some(r)) => (j += 1, *r).1,
            (None, None) => break,
        };
        let line = schedule.operations[single.3 as usize].line;
        if alone.is_none_or(|(first, _)| line < first) {
            alone = Some((line, single));
        }
    }
    if let Some((line, entry)) = alone {
        return Err(without_partner(schedule, line, entry, &sends, &receives));
    }
    sends.iter().try_for_each(|s| check_room(schedule, s.3, partners[s.3 as usize]))?;
    Ok(partners)
}

fn without_partner(
    schedule: &Schedule,
    line: u32,
    (from, to, tag, place): Entry,
    sends: &[Entry],
    receives: &[Entry],
) -> GoalError {
    let count = |entries: &[Entry]| entries.iter().filter(|e| (e.0, e.1, e.2) == (from, to, tag)).count();
    let (sends, receives) = (count(sends), count(receives));
    let word = schedule.operations[place as usize].action.word();
    let counts =
        format!("without counterpart: rank {from} sends {sends} messages to rank {to} with tag {tag}, which");
    let value = format!("{counts} receives {receives}");
    GoalError::new(line, word, Fault::bounds(value, "as many receives as sends"))
}

/// Refuses a receive of less than is sent to it.
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
