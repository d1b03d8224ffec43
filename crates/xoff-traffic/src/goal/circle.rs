//! Checks that a schedule can complete: that none of its operations waits for itself.

use super::{GoalError, Schedule};
use crate::cycle;
use crate::error::Fault;

/// Maximum number of lines of a circle that a message lists.
const SHOWN: usize = 8;

/// Refuses operations that wait for themselves. Each operation has two points, its beginning and its end.
pub(super) fn check(schedule: &Schedule) -> Result<(), GoalError> {
    let edges = || {
        let ends = (0..schedule.operations.len() as u32).map(|o| (2 * o, 2 * o + 1));
        let waits = schedule.requirements.iter().map(|r| (2 * r.on + u32::from(r.ended), 2 * r.then));
        let messages = schedule.messages().map(|(send, receive)| (2 * send, 2 * receive + 1));
        ends.chain(waits).chain(messages)
    };
    let Some(points) = cycle::find(2 * schedule.operations.len(), edges) else { return Ok(()) };
    // List the circle from its first operation in the text; each operation is followed by one that it waits for.
    let circle = cycle::items(&points, |point| Some(point / 2));
    let first = &schedule.operations[circle[0] as usize];
    let line = |o: &u32| schedule.operations[*o as usize].line.to_string();
    let mut lines: Vec<String> = circle.iter().take(SHOWN).map(line).collect();
    if circle.len() > SHOWN {
        lines.push("...".into());
    }
    lines.push(first.line.to_string());
    let value = format!("waiting for itself: each of these lines waits for the next, {}", lines.join(" > "));
    Err(GoalError::new(first.line, first.action.word(), Fault::bounds(value, "operations without a circle")))
}
