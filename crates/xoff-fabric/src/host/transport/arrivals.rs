//! What has arrived of a connection whose data may come out of order.

use std::collections::BTreeMap;

use crate::ids::FlowId;
use crate::packet::{LAST, Packet};

/// The bytes that have arrived, as a prefix and ranges beyond the prefix.
#[derive(Debug, Default)]
struct Ranges {
    /// All before this offset has arrived.
    prefix: u64,
    /// Ends of the ranges beyond the prefix, by the ranges' beginnings; no range touches another.
    beyond: BTreeMap<u64, u64>,
}

impl Ranges {
    /// All before this offset has arrived.
    pub fn prefix(&self) -> u64 {
        self.prefix
    }

    /// Adds a packet's bytes; returns whether they are new.
    pub fn add(&mut self, from: u64, to: u64) -> bool {
        let before = self.beyond.range(..=from).next_back().map(|(&start, &end)| (start, end));
        if from < self.prefix || before.is_some_and(|(_, end)| from < end) {
            return false;
        }
        if from == self.prefix {
            self.prefix = to;
            if let Some(end) = self.beyond.remove(&to) {
                self.prefix = end;
            }
            return true;
        }
        let end = self.beyond.remove(&to).unwrap_or(to);
        match before {
            Some((start, last)) if last == from => self.beyond.insert(start, end),
            _ => self.beyond.insert(from, end),
        };
        true
    }
}

/// A message that has begun to arrive.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    /// Bytes that have arrived.
    bytes: u64,
    /// Offset of the byte after the message's last byte; `None` until the packet that ends the message has arrived.
    end: Option<u64>,
}

/// The arrivals of a connection.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    ranges: Ranges,
    /// Messages that have begun and are not complete.
    begun: BTreeMap<FlowId, Begun>,
    /// Messages that have become complete since [`Arrivals::take_complete`], in that order.
    complete: Vec<FlowId>,
    /// Number of messages that have begun since [`Arrivals::take_begun`].
    new: u32,
}

impl Arrivals {
    /// The state before the first arrival. The first message, `flow`, counts as begun.
    pub fn new(flow: FlowId) -> Arrivals {
        Arrivals { begun: BTreeMap::from([(flow, Begun::default())]), ..Arrivals::default() }
    }

    /// All before this offset has arrived.
    pub fn prefix(&self) -> u64 {
        self.ranges.prefix()
    }

    /// Adds a data packet; returns whether its bytes are new. `size` is the message's size if a message is complete as soon
    /// as all its bytes are there; `None` if a message completes only after all data before its end.
    pub fn add(&mut self, packet: &Packet, size: Option<u64>) -> bool {
        let end = packet.seq + u64::from(packet.payload);
        if !self.ranges.add(packet.seq, end) {
            return false;
        }
        let news = &mut self.new;
        let begun = self.begun.entry(packet.flow).or_insert_with(|| {
            *news += 1;
            Begun::default()
        });
        begun.bytes += u64::from(packet.payload);
        if packet.flags & LAST != 0 {
            begun.end = Some(end);
        }
        let whole = size.is_some_and(|size| begun.bytes >= size);
        let prefix = self.ranges.prefix();
        let complete = &mut self.complete;
        self.begun.retain(|&flow, begun| {
            let done = begun.end.is_some_and(|end| end <= prefix) || (whole && flow == packet.flow);
            if done {
                complete.push(flow);
            }
            !done
        });
        true
    }

    /// Counts bytes of a message that were carried forward as arrived.
    pub fn carry(&mut self, flow: FlowId, bytes: u64) {
        self.begun.entry(flow).or_default().bytes += bytes;
    }

    /// Number of messages that have begun since the last call.
    pub fn take_begun(&mut self) -> u32 {
        std::mem::take(&mut self.new)
    }

    /// Messages that have become complete since the last call.
    pub fn take_complete(&mut self) -> Vec<FlowId> {
        std::mem::take(&mut self.complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_where_they_touch() {
        // 1,000 B packets 0, 3, 2, 1: the prefix is 1,000 until packet 1 comes, then 4,000.
        let mut ranges = Ranges::default();
        assert!(ranges.add(0, 1_000));
        assert!(ranges.add(3_000, 4_000));
        assert!(ranges.add(2_000, 3_000));
        assert_eq!((ranges.prefix(), ranges.beyond.len()), (1_000, 1));
        assert!(!ranges.add(3_000, 4_000), "it is here already");
        assert!(ranges.add(1_000, 2_000));
        assert_eq!((ranges.prefix(), ranges.beyond.len()), (4_000, 0));
        assert!(!ranges.add(0, 1_000));
    }
}
