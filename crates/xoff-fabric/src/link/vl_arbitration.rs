//! Arbitration among virtual lanes by two tables of weights (InfiniBand Architecture Specification 1.3, 7.6.9).
//!
//! A port has two tables of VLs with weights, in units of 64 bytes: the high-priority and the low-priority one. A VL may stand
//! in both, and several times in one. The high-priority table goes first while any of its VLs has a packet; but once it has
//! sent as many bytes as the limit of high priority, one packet of the other table goes in between, if there is one; with a
//! limit of 0 after each packet. Within a table the entries take turns, each until its weight is used up or its VL has no
//! packet; the packet that uses up the weight goes as a whole. An entry with weight 0 is skipped.
//!
//! The rules of the tables and of the limit are also in the manuals of OpenSM's quality of service, whose options `vlarb_high`,
//! `vlarb_low` and `high_limit` have these names. A reading that was not checked against the specification's text: an expired limit does
//! not begin anew while no packet of low priority waits, so that the next one goes at once. The difference is one packet.

use crate::packet::DATA;
use crate::settings::{Switch, VlWeight};

/// Bytes of a unit of weight.
const UNIT: u64 = 64;

/// A VL's place in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    class: u8,
    /// In bytes, above 0.
    weight: u64,
}

/// A table of VLs, and whose turn it is.
#[derive(Clone, Debug, Default, Hash)]
struct Table {
    entries: Vec<Entry>,
    /// The classes of all entries, one bit each.
    classes: u16,
    turn: usize,
    /// Bytes left of the current entry's weight; at 0 the next entry takes its turn.
    left: u64,
}

impl Table {
    fn new(table: &[VlWeight]) -> Self {
        let with_weight = table.iter().filter(|entry| entry.weight > 0);
        let entry = |e: &VlWeight| Entry { class: DATA + e.vl, weight: u64::from(e.weight) * UNIT };
        let entries: Vec<Entry> = with_weight.map(entry).collect();
        let classes = entries.iter().fold(0, |classes, e| classes | 1 << e.class);
        let left = entries.first().map_or(0, |e| e.weight);
        Table { entries, classes, turn: 0, left }
    }

    /// The class whose turn it is among those that can send; `None` if the table has none of them.
    fn choose(&mut self, sendable: u16) -> Option<u8> {
        if self.classes & sendable == 0 {
            return None;
        }
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
}

/// A port's arbitration.
#[derive(Clone, Debug, Hash)]
pub struct VlArbiter {
    high: Table,
    low: Table,
    /// Bytes of high priority after which a packet of low priority goes; `None` for never.
    limit: Option<u64>,
    /// Bytes of high priority since the last packet of low priority, in whole units.
    high_sent: u64,
    /// The class that was chosen last and has not been sent, and whether the high-priority table chose it.
    chosen: Option<(u8, bool)>,
}

impl VlArbiter {
    /// The arbiter that `switch` describes.
    pub fn new(switch: &Switch) -> Self {
        let (high, low) = switch.vl_tables();
        VlArbiter {
            high: Table::new(&high),
            low: Table::new(&low),
            // A limit of 0 is used up by any packet.
            limit: (switch.high_limit < 255).then_some((u64::from(switch.high_limit) * 4096).max(1)),
            high_sent: 0,
            chosen: None,
        }
    }

    /// The data class to send from among `sendable`, which is not empty.
    pub fn choose(&mut self, sendable: u16) -> u8 {
        let low_is_due = self.limit.is_some_and(|limit| self.high_sent >= limit);
        let (high, low) = (&mut self.high, &mut self.low);
        let chosen = if low_is_due {
            low.choose(sendable).map(|class| (class, false)).or_else(|| Some((high.choose(sendable)?, true)))
        } else {
            high.choose(sendable).map(|class| (class, true)).or_else(|| Some((low.choose(sendable)?, false)))
        };
        self.chosen = chosen;
        // Every data class is in one of the tables.
        chosen.map_or(sendable.trailing_zeros() as u8, |(class, _)| class)
    }

    /// A packet of a data class goes.
    pub fn sent(&mut self, class: u8, bytes: u64) {
        if self.chosen.is_none_or(|(chosen, _)| chosen != class) {
            // The packet went without a choice, since no other waited.
            self.choose(1 << class);
        }
        let units = bytes.next_multiple_of(UNIT);
        let from_high = self.chosen.take().is_some_and(|(_, from_high)| from_high);
        let table = if from_high { &mut self.high } else { &mut self.low };
        table.left = table.left.saturating_sub(units);
        self.high_sent = if from_high { self.high_sent + units } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The VLs of the next packets, with those of `sendable` always waiting.
    fn next(arbiter: &mut VlArbiter, packets: usize, bytes: u64, sendable: u16) -> Vec<u8> {
        let next = |_| {
            let class = arbiter.choose(sendable);
            arbiter.sent(class, bytes);
            class - DATA
        };
        (0..packets).map(next).collect()
    }

    fn order(switch: &Switch, packets: usize, bytes: u64, sendable: u16) -> Vec<u8> {
        next(&mut VlArbiter::new(switch), packets, bytes, sendable)
    }

    /// Three VLs, with tables of VLs and weights.
    fn tables(high: &[(u8, u8)], low: &[(u8, u8)], high_limit: u8) -> Switch {
        let table = |of: &[(u8, u8)]| of.iter().map(|&(vl, weight)| VlWeight { vl, weight }).collect();
        Switch {
            priorities: 3,
            vlarb_high: table(high),
            vlarb_low: table(low),
            high_limit,
            ..Switch::default()
        }
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
        // A limit of 2 is 8192 B: two packets of 4096 B. One of 4032 B, 63 units, leaves a unit, with which a third may go.
        let switch = Switch { high_limit: 2, ..switch };
        assert_eq!(order(&switch, 6, 4096, 0b1100), [1, 1, 0, 1, 1, 0]);
        assert_eq!(order(&switch, 8, 4032, 0b1100), [1, 1, 1, 0, 1, 1, 1, 0]);
        // 4033 B are 64 units.
        assert_eq!(order(&switch, 6, 4033, 0b1100), [1, 1, 0, 1, 1, 0]);
        // With a limit of 0 the two tables alternate.
        let switch = Switch { high_limit: 0, ..switch };
        assert_eq!(order(&switch, 4, 4096, 0b1100), [1, 0, 1, 0]);
    }

    #[test]
    fn a_vl_may_stand_several_times_in_a_table() {
        // 1:2, 2:4, 1:2 and packets of 2 units: one of VL 1, two of VL 2, one of VL 1, and the same again.
        let switch = tables(&[], &[(1, 2), (2, 4), (1, 2), (0, 1)], 255);
        assert_eq!(order(&switch, 8, 128, 0b11000), [1, 2, 2, 1, 1, 2, 2, 1]);
        // VL 2 has nothing: each of VL 1's entries begins with its whole weight.
        assert_eq!(order(&switch, 3, 128, 0b01000), [1, 1, 1]);
        // Entries without weight are skipped.
        let switch = tables(&[(1, 0)], &[(0, 0), (1, 2), (0, 2), (2, 1)], 255);
        assert_eq!(order(&switch, 4, 128, 0b01100), [1, 0, 1, 0]);
    }

    #[test]
    fn a_vl_may_stand_in_both_tables() {
        // High 1:2, low 0:2 and 1:2, limit 0: after each packet of the high table one of the low table, where VLs 0 and 1 take
        // turns. VL 1 gets three packets of four.
        let switch = tables(&[(1, 2)], &[(0, 2), (1, 2), (2, 1)], 0);
        assert_eq!(order(&switch, 8, 128, 0b01100), [1, 0, 1, 1, 1, 0, 1, 1]);
        // Without VL 1's packets only the low table sends, and the high one begins anew with it: after the one high packet the
        // low table goes on where it stopped, at VL 2.
        let mut arbiter = VlArbiter::new(&tables(&[(1, 2)], &[(0, 2), (2, 2)], 0));
        assert_eq!(next(&mut arbiter, 1, 128, 0b10100), [0]);
        assert_eq!(next(&mut arbiter, 3, 128, 0b11100), [1, 2, 1]);
    }

    #[test]
    fn a_table_without_packets_keeps_its_turn() {
        // High 0:4 and 1:2. VL 0 sends 2 of its 4 units, then VL 2 of the low table goes alone. VL 0 has 2 units left.
        let mut arbiter = VlArbiter::new(&tables(&[(0, 4), (1, 2)], &[(2, 1)], 255));
        assert_eq!(next(&mut arbiter, 1, 128, 0b01100), [0]);
        assert_eq!(next(&mut arbiter, 2, 128, 0b10000), [2, 2]);
        assert_eq!(next(&mut arbiter, 4, 128, 0b01100), [0, 1, 0, 0]);
    }

    #[test]
    fn a_packet_that_finds_the_port_free_counts_in_its_own_table() {
        // Low 0:4 and 1:2. A packet of VL 1 goes without a choice and uses up VL 1's turn: VL 0 is next, with all of its weight.
        let mut arbiter = VlArbiter::new(&tables(&[], &[(0, 4), (1, 2), (2, 1)], 255));
        arbiter.sent(DATA + 1, 128);
        assert_eq!(next(&mut arbiter, 4, 128, 0b01100), [0, 0, 1, 0]);
        // In both tables, and the limit is 0: the first packet counts as high, the second as low.
        let mut arbiter = VlArbiter::new(&tables(&[(1, 2)], &[(0, 2), (1, 2)], 0));
        arbiter.sent(DATA + 1, 128);
        assert_eq!(next(&mut arbiter, 1, 128, 0b01100), [0]);
        arbiter.sent(DATA + 1, 128);
        arbiter.sent(DATA + 1, 128);
        assert_eq!(next(&mut arbiter, 2, 128, 0b01100), [1, 0]);
    }
}
