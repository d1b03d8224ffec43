//! Arbitration among virtual lanes by weights and two priorities (InfiniBand Architecture Specification 1.3, 7.6.9).
//!
//! A port has two tables of VLs with weights, in units of 64 bytes. The high-priority table goes first while any of its
//! VLs has a packet; but once it has sent more bytes than the limit of high priority, one packet of the other table goes
//! in between, if there is one. Within a table VLs take turns, each until its weight is used up; the packet that uses up
//! the weight goes as a whole.

use crate::packet::DATA;
use crate::settings::Switch;

/// A VL's place in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    class: u8,
    /// In bytes.
    weight: u64,
}

/// A table of VLs, and whose turn it is.
#[derive(Clone, Debug, Default)]
struct Table {
    entries: Vec<Entry>,
    turn: usize,
    /// Bytes left of the current VL's weight; at 0 the next VL takes its turn.
    left: u64,
}

impl Table {
    fn new(entries: Vec<Entry>) -> Self {
        let left = entries.first().map_or(0, |e| e.weight);
        Table { entries, turn: 0, left }
    }

    fn serves(&self, class: u8) -> bool {
        self.entries.iter().any(|e| e.class == class)
    }

    /// The class whose turn it is among those that can send.
    fn choose(&mut self, sendable: u16) -> Option<u8> {
        for _ in 0..=self.entries.len() {
            let entry = self.entries.get(self.turn)?;
            if self.left > 0 && sendable & 1 << entry.class != 0 {
                return Some(entry.class);
            }
            self.turn = (self.turn + 1) % self.entries.len();
            self.left = self.entries[self.turn].weight;
        }
        None
    }

    fn sent(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes.next_multiple_of(64));
    }
}

/// A port's arbitration.
#[derive(Clone, Debug)]
pub struct VlArbiter {
    high: Table,
    low: Table,
    /// Bytes of high priority after which a packet of low priority goes; `None` for never.
    limit: Option<u64>,
    /// Bytes of high priority since the last packet of low priority.
    high_sent: u64,
}

impl VlArbiter {
    /// The arbiter that `switch` describes.
    pub fn new(switch: &Switch) -> Self {
        let entry = |vl: u8| Entry {
            class: DATA + vl,
            weight: switch.weights.get(usize::from(vl)).map_or(1, |&w| u64::from(w)) * 64,
        };
        let high = |vl: &u8| switch.high_priority.contains(vl);
        VlArbiter {
            high: Table::new((0..switch.priorities).filter(high).map(entry).collect()),
            low: Table::new((0..switch.priorities).filter(|vl| !high(vl)).map(entry).collect()),
            limit: (switch.high_limit < 255).then_some(u64::from(switch.high_limit) * 4096),
            high_sent: 0,
        }
    }

    /// The data class to send from among `sendable`, which is not empty.
    pub fn choose(&mut self, sendable: u16) -> u8 {
        let low_is_due = self.limit.is_some_and(|limit| self.high_sent > limit);
        let (first, second) =
            if low_is_due { (&mut self.low, &mut self.high) } else { (&mut self.high, &mut self.low) };
        let class = first.choose(sendable).or_else(|| second.choose(sendable));
        // Every data class is in one of the tables.
        class.unwrap_or(sendable.trailing_zeros() as u8)
    }

    /// A packet of a data class goes.
    pub fn sent(&mut self, class: u8, bytes: u64) {
        if self.high.serves(class) {
            self.high.sent(bytes);
            self.high_sent += bytes;
        } else {
            self.low.sent(bytes);
            self.high_sent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(switch: &Switch, packets: usize, bytes: u64, sendable: u16) -> Vec<u8> {
        let mut arbiter = VlArbiter::new(switch);
        let next = |_| {
            let class = arbiter.choose(sendable);
            arbiter.sent(class, bytes);
            class - DATA
        };
        (0..packets).map(next).collect()
    }

    #[test]
    fn vls_take_turns_by_their_weights() {
        // Weights of 4 and 2 blocks, packets of 2 blocks (128 B): two of VL 0, one of VL 1.
        let switch = Switch { priorities: 2, weights: vec![4, 2], ..Switch::default() };
        assert_eq!(order(&switch, 6, 128, 0b1100), [0, 0, 1, 0, 0, 1]);
        // Packets of 3 blocks: the second one of VL 0 begins with one block left, and goes as a whole.
        assert_eq!(order(&switch, 6, 192, 0b1100), [0, 0, 1, 0, 0, 1]);
        // VL 1 alone has packets.
        assert_eq!(order(&switch, 3, 128, 0b1000), [1, 1, 1]);
    }

    #[test]
    fn high_priority_goes_first_up_to_its_limit() {
        let switch = Switch { priorities: 2, high_priority: vec![1], high_limit: 255, ..Switch::default() };
        assert_eq!(order(&switch, 4, 4096, 0b1100), [1, 1, 1, 1]);
        // After more than 1 x 4096 B one of the low-priority VL goes: two of 4096 B, since the first does not exceed it.
        let switch = Switch { high_limit: 1, ..switch };
        assert_eq!(order(&switch, 6, 4096, 0b1100), [1, 1, 0, 1, 1, 0]);
        // With a limit of 0 the two tables alternate.
        let switch = Switch { high_limit: 0, ..switch };
        assert_eq!(order(&switch, 4, 4096, 0b1100), [1, 0, 1, 0]);
    }
}
