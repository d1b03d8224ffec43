//! Dependencies between the flows of a list: the columns `id` and `after`.
//!
//! `after` names flows by their `id`: `7:sent` is the last ACK of flow 7 at its sender, `7:received` its last byte at its
//! receiver, `7:sent+8:sent` both, and `-` nothing.

use std::collections::{HashMap, VecDeque};

use xoff_engine::{Nearest, Time};

use crate::closed_loop::{Milestone, Waiter};
use crate::error::Fault;
use crate::generate::{FlowSpec, Sink};

/// A flow's line, its `id`, and its `after`.
pub(super) struct Entry<'a> {
    pub(super) line: usize,
    pub(super) id: Option<&'a str>,
    pub(super) after: Option<&'a str>,
}

/// A flow's end, at either of its hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ended {
    /// The flow's place in the list.
    flow: u32,
    received: bool,
}

/// By flow of the list: the ends that it waits for.
#[derive(Clone, Debug, Default)]
pub(super) struct Triggers {
    waits: Vec<Vec<Ended>>,
    across: bool,
}

/// A line, a column, and the fault.
type Wrong = (usize, &'static str, Fault);

impl Triggers {
    /// The dependencies that `entries` give to `flows`. With `across`, flows may wait for milestones of other hosts.
    pub(super) fn new(flows: &[FlowSpec], entries: &[Entry<'_>], across: bool) -> Result<Triggers, Wrong> {
        let mut by_id: HashMap<&str, u32> = HashMap::new();
        for (place, entry) in (0..).zip(entries) {
            let Some(id) = entry.id else { continue };
            if id.contains([':', '+']) || id == "-" {
                return Err((
                    entry.line,
                    "id",
                    Fault::bounds(format!("`{id}`"), "a word without `:` and `+`"),
                ));
            }
            if let Some(first) = by_id.insert(id, place) {
                let line = entries[first as usize].line;
                let value = format!("`{id}`, as in line {line}");
                return Err((entry.line, "id", Fault::bounds(value, "each flow's own")));
            }
        }
        let mut triggers = Triggers { waits: vec![Vec::new(); flows.len()], across };
        for (place, entry) in entries.iter().enumerate() {
            let Some(after) = entry.after.filter(|after| *after != "-") else { continue };
            for word in after.split('+') {
                let ended = read(word, &by_id).map_err(|fault| (entry.line, "after", fault))?;
                let first = flows[ended.flow as usize];
                let known = if ended.received { first.dst } else { first.src };
                if known != flows[place].src && !across {
                    let value = format!("`{word}`, which the flow's sender does not know of");
                    let expected = "an end at its own host, or `across_hosts = true`";
                    return Err((entry.line, "after", Fault::bounds(value, expected)));
                }
                triggers.waits[place].push(ended);
            }
        }
        match triggers.on_a_circle() {
            Some(place) => {
                let value = "waiting for the flow itself, over others";
                Err((
                    entries[place].line,
                    "after",
                    Fault::bounds(value, "flows of which one can be the first"),
                ))
            }
            None => Ok(triggers),
        }
    }

    /// The first flow that waits for itself.
    fn on_a_circle(&self) -> Option<usize> {
        let mut left: Vec<usize> = self.waits.iter().map(Vec::len).collect();
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); left.len()];
        for (place, waits) in self.waits.iter().enumerate() {
            waits.iter().for_each(|ended| after[ended.flow as usize].push(place));
        }
        let mut free: VecDeque<usize> = (0..left.len()).filter(|&p| left[p] == 0).collect();
        while let Some(place) = free.pop_front() {
            for &then in &after[place] {
                left[then] -= 1;
                if left[then] == 0 {
                    free.push_back(then);
                }
            }
        }
        // A walk back, from a flow that never starts to one that it waits for and that never starts either, leads into a
        // circle. The message names the circle's first flow.
        let mut place = left.iter().position(|&n| n > 0)?;
        let back = |place: usize| {
            self.waits[place].iter().map(|e| e.flow as usize).find(|&p| left[p] > 0).unwrap_or(place)
        };
        for _ in 0..left.len() {
            place = back(place);
        }
        let (end, mut first) = (place, place);
        loop {
            place = back(place);
            first = first.min(place);
            if place == end {
                return Some(first);
            }
        }
    }

    /// Makes the flows with these numbers wait.
    pub(super) fn emit(&self, numbers: &[u32], sink: &mut Sink) {
        if self.waits.iter().any(|waits| !waits.is_empty()) && self.across {
            sink.wait_anywhere();
        }
        for (waits, &flow) in self.waits.iter().zip(numbers) {
            for ended in waits {
                let on = numbers[ended.flow as usize];
                let on = if ended.received { Milestone::Delivered(on) } else { Milestone::Sent(on) };
                sink.after(on, Waiter::Flow(flow), Time::ZERO);
            }
        }
    }
}

fn read(word: &str, by_id: &HashMap<&str, u32>) -> Result<Ended, Fault> {
    let expected = "`ID:sent`, `ID:received`, several of these joined by `+`, or `-`";
    let Some((id, what @ ("sent" | "received"))) = word.split_once(':') else {
        return Err(Fault::bounds(format!("`{word}`"), expected));
    };
    let Some(&flow) = by_id.get(id) else {
        let mut known: Vec<&str> = by_id.keys().copied().collect();
        known.sort_unstable();
        let near = Nearest::of(id, known);
        return Err(Fault::bounds(format!("`{word}`"), format!("the `id` of a flow of the file{near}")));
    };
    Ok(Ended { flow, received: what == "received" })
}
