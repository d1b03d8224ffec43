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

/// An entry of the agenda. Of one time, timers come first; entries of a kind come in the order in which they were made.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    at: Time,
    number: u64,
    own: Own,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let place = |entry: &Entry| (entry.at, !matches!(entry.own, Own::Timer(_)), entry.number);
        place(self).cmp(&place(other))
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

    /// How long a host copies so many bytes.
    pub fn time_for(&self, bytes: u64) -> Time {
        self.rate.map_or(Time::ZERO, |rate| rate.time_for(bytes))
    }

    /// When a message that is handed over now will be there.
    pub fn end(&mut self, now: Time, message: &Message) -> Time {
        let time = self.time_for(message.bytes);
        let free_at = &mut self.free_at[message.src.0 as usize];
        *free_at = now.max(*free_at).saturating_add(time);
        free_at.saturating_add(self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::message::{Host, MessageId};

    #[test]
    fn timers_come_before_messages_of_their_time() {
        let (mut agenda, at) = (Agenda::default(), Time::from_us(1));
        let (src, dst) = (Host(0), Host(0));
        let message = Message { id: MessageId(0), src, dst, bytes: 8, tag: None, start: Time::ZERO };
        agenda.push(at, Own::End(message));
        agenda.push(at, Own::Timer(1));
        agenda.push(at, Own::Timer(2));
        agenda.push(Time::ZERO, Own::Start(message));
        let order: Vec<_> = std::iter::from_fn(|| agenda.pop()).map(|(_, own)| own).collect();
        assert_eq!(order, [Own::Start(message), Own::Timer(1), Own::Timer(2), Own::End(message)]);
    }
}
