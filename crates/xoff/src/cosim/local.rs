//! What a session schedules itself: timers of the caller, and messages of a host to itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xoff_engine::{Rate, Time};

use super::message::Message;

/// Something that the session does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// The caller is called, with this token.
    Timer(u64),
    /// A message of a host to itself is handed over.
    Start(Message),
    /// That message is there.
    End(Message),
}

/// An entry of the agenda; entries of one time come in the order in which they were made.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    at: Time,
    number: u64,
    own: Own,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What is to come, earliest first.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    entries: BinaryHeap<Reverse<Entry>>,
    next: u64,
}

impl Agenda {
    pub fn push(&mut self, at: Time, own: Own) {
        self.entries.push(Reverse(Entry { at, number: self.next, own }));
        self.next += 1;
    }

    /// The time of the next entry; [`Time::NEVER`] if there is none.
    pub fn next_at(&self) -> Time {
        self.entries.peek().map_or(Time::NEVER, |Reverse(entry)| entry.at)
    }

    /// Takes the next entry.
    pub fn pop(&mut self) -> Option<(Time, Own)> {
        self.entries.pop().map(|Reverse(entry)| (entry.at, entry.own))
    }
}

/// Copies of messages within hosts: each host copies one message after the other.
#[derive(Debug)]
pub(super) struct Copies {
    /// By host: when it has copied all messages so far.
    free_at: Vec<Time>,
    rate: Option<Rate>,
    delay: Time,
}

impl Copies {
    pub fn new(hosts: usize, rate: Option<Rate>, delay: Time) -> Copies {
        Copies { free_at: vec![Time::ZERO; hosts], rate, delay }
    }

    /// When a message that is handed over now will be there.
    pub fn end(&mut self, now: Time, message: &Message) -> Time {
        let free_at = &mut self.free_at[message.src.0 as usize];
        let time = self.rate.map_or(Time::ZERO, |rate| rate.time_for(message.bytes));
        *free_at = now.max(*free_at).saturating_add(time);
        free_at.saturating_add(self.delay)
    }
}
