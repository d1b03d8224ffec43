//! Checks that a schedule can complete: that none of its operations waits for itself.

use super::{GoalError, Schedule};
use crate::error::Fault;

/// Maximum number of lines of a circle that a message lists.
const SHOWN: usize = 8;

/// The order of operations. Each operation has two points, its beginning and its end.
struct Order {
    /// By point: its first edge; the last entry is the number of edges.
    first: Vec<u32>,
    /// By edge: the point that comes after.
    after: Vec<u32>,
    /// By point: the number of edges to it.
    before: Vec<u32>,
}

impl Order {
    fn new(schedule: &Schedule) -> Order {
        let ends = (0..schedule.operations.len() as u32).map(|o| (2 * o, 2 * o + 1));
        let waits = schedule.requirements.iter().map(|r| (2 * r.on + u32::from(r.ended), 2 * r.then));
        let messages = schedule.messages().map(|(send, receive)| (2 * send, 2 * receive + 1));
        let edges: Vec<(u32, u32)> = ends.chain(waits).chain(messages).collect();
        let points = 2 * schedule.operations.len();
        let (mut first, mut before) = (vec![0; points + 1], vec![0; points]);
        for &(from, to) in &edges {
            first[from as usize + 1] += 1;
            before[to as usize] += 1;
        }
        for i in 0..points {
            first[i + 1] += first[i];
        }
        let (mut next, mut after) = (first.clone(), vec![0; edges.len()]);
        for (from, to) in edges {
            after[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        Order { first, after, before }
    }

    fn after(&self, point: u32) -> &[u32] {
        &self.after[self.first[point as usize] as usize..self.first[point as usize + 1] as usize]
    }

    /// By point: whether it never comes.
    fn stuck(&self) -> Vec<bool> {
        let mut before = self.before.clone();
        let mut free: Vec<u32> = (0..before.len() as u32).filter(|&p| before[p as usize] == 0).collect();
        let mut stuck = vec![true; before.len()];
        while let Some(point) = free.pop() {
            stuck[point as usize] = false;
            for &then in self.after(point) {
                before[then as usize] -= 1;
                if before[then as usize] == 0 {
                    free.push(then);
                }
            }
        }
        stuck
    }
}

/// Refuses operations that wait for themselves.
pub(super) fn check(schedule: &Schedule) -> Result<(), GoalError> {
    let order = Order::new(schedule);
    let stuck = order.stuck();
    let Some(any) = stuck.iter().position(|&s| s) else { return Ok(()) };
    // Each point that never comes has a point before it that never comes either, so a walk back leads into a circle.
    let mut cause = vec![u32::MAX; stuck.len()];
    for point in (0..stuck.len() as u32).filter(|&p| stuck[p as usize]) {
        order.after(point).iter().for_each(|&then| cause[then as usize] = point);
    }
    let mut point = any as u32;
    for _ in 0..stuck.len() {
        point = cause[point as usize];
    }
    let mut circle = vec![point / 2];
    let mut back = cause[point as usize];
    while back != point {
        if circle.last() != Some(&(back / 2)) {
            circle.push(back / 2);
        }
        back = cause[back as usize];
    }
    if circle.len() > 1 && circle.last() == circle.first() {
        circle.pop();
    }
    // List the circle from its first operation in the text; each operation is followed by one that it waits for.
    let start = (0..circle.len()).min_by_key(|&i| circle[i]).unwrap_or(0);
    circle.rotate_left(start);
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
