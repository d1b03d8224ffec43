//! The telemetry of an ACK, and what a sender keeps of it: `L` in HPCC's and FNCC's algorithms.

use xoff_engine::Time;

use super::{ExactRecord, HALF_CLOCK, HopChange, MAX_INT_HOPS, PackedRecord};

/// The telemetry that an ACK brings.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntStack<'a> {
    /// The records in the order in which they were stamped.
    pub records: Records<'a>,
    /// Stamped on the return path, so that the first record is the data path's last hop (FNCC).
    pub last_hop_first: bool,
    /// Packed records count bytes in units 2^`unit_shift` times as large.
    pub unit_shift: u8,
    /// Tells the paths of a flow's packets apart (pathID in HPCC, section 4.1); 0 if all take one path.
    pub path_id: u16,
}

/// Records in one of the two formats.
#[derive(Clone, Copy, Debug)]
pub enum Records<'a> {
    /// Hardware widths.
    Packed(&'a [PackedRecord]),
    /// Full precision.
    Exact(&'a [ExactRecord]),
}

impl Default for Records<'_> {
    fn default() -> Self {
        Records::Packed(&[])
    }
}

/// The last stack that a sender saw, `L` in HPCC's and FNCC's algorithms.
#[derive(Clone, Debug, Default)]
pub struct IntMemory {
    seen: Seen,
    /// The newest packet whose ACK brought a stack, and when the latest stack came.
    newest: u64,
    at: Time,
    path_id: u16,
}

/// Records that a sender saw.
#[derive(Clone, Debug, Default)]
enum Seen {
    #[default]
    Nothing,
    /// In hardware widths; the length is the number of hops.
    Packed { records: [PackedRecord; MAX_INT_HOPS], hops: u8, unit_shift: u8 },
    /// In full precision.
    Exact(Vec<ExactRecord>),
}

impl IntMemory {
    /// Takes in the stack of an ACK that answers `packet` and came at `now`. Calls `hop` for each hop, in data-path
    /// order and with its index, with what changed since the hop's record in memory. Returns the number of hops
    /// compared: zero for the first stack, and after a change of path, which makes the memory useless (HPCC, section 4.1).
    ///
    /// A record that is older than the one in memory is not taken in, and its hop's change shows that no time has
    /// passed. Packed records do not tell old from new by themselves, since their counters wrap around: they are tested
    /// only if the ACK is out of order, and then an apparent step by more than half of the clock's range is a step
    /// back.
    #[inline]
    pub fn compare(
        &mut self,
        stack: &IntStack<'_>,
        now: Time,
        packet: u64,
        mut hop: impl FnMut(usize, HopChange),
    ) -> usize {
        let overtaken = packet < self.newest && now.saturating_sub(self.at) < HALF_CLOCK;
        (self.newest, self.at) = (self.newest.max(packet), now);
        if self.path_id != stack.path_id {
            (self.path_id, self.seen) = (stack.path_id, Seen::Nothing);
        }
        let place = |i: usize, n: usize| if stack.last_hop_first { n - 1 - i } else { i };
        match (stack.records, &mut self.seen) {
            (Records::Packed(new), Seen::Packed { records: old, hops, .. })
                if *hops as usize == new.len().min(MAX_INT_HOPS) =>
            {
                let n = *hops as usize;
                let newest;
                let (new, old) = (&new[..n], &mut old[..n]);
                let new = if overtaken {
                    newest = newest_of(new, old);
                    &newest[..n]
                } else {
                    new
                };
                for i in 0..n {
                    let k = place(i, n);
                    let before = std::mem::replace(&mut old[k], new[k]);
                    hop(i, new[k].since(before, stack.unit_shift));
                }
                n
            }
            (Records::Exact(new), Seen::Exact(old)) if old.len() == new.len() => {
                let n = new.len();
                for i in 0..n {
                    let k = place(i, n);
                    let is_older = new[k].at < old[k].at || new[k].tx_bytes < old[k].tx_bytes;
                    let before = if is_older { new[k] } else { std::mem::replace(&mut old[k], new[k]) };
                    hop(i, new[k].since(before));
                }
                n
            }
            _ => {
                self.seen = Seen::of(stack);
                0
            }
        }
    }

    /// Forgets records whose counters may wrap around before the next ACK comes, if nothing was acknowledged for long:
    /// half of the range is left for the time between stamping and arrival.
    pub fn forget_if_wrapped(&mut self, now: Time) {
        if let Seen::Packed { records, hops, unit_shift } = &self.seen {
            let ranges = records[..*hops as usize].iter().map(|record| record.range(*unit_shift));
            let range = ranges.min().unwrap_or(Time::NEVER);
            if now.saturating_sub(self.at).0 >= range.0 / 2 {
                self.seen = Seen::Nothing;
            }
        }
    }
}

/// For each hop, the newer of two records.
#[cold]
fn newest_of(new: &[PackedRecord], old: &[PackedRecord]) -> [PackedRecord; MAX_INT_HOPS] {
    let mut newest = [PackedRecord::default(); MAX_INT_HOPS];
    for ((newest, &new), &old) in newest.iter_mut().zip(new).zip(old) {
        *newest = if new.since(old, 0).elapsed > HALF_CLOCK { old } else { new };
    }
    newest
}

impl Seen {
    fn of(stack: &IntStack<'_>) -> Self {
        match stack.records {
            Records::Packed(new) => {
                let n = new.len().min(MAX_INT_HOPS);
                let mut records = [PackedRecord::default(); MAX_INT_HOPS];
                records[..n].copy_from_slice(&new[..n]);
                Seen::Packed { records, hops: n as u8, unit_shift: stack.unit_shift }
            }
            Records::Exact(new) => Seen::Exact(new.to_vec()),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::int::PortReading;
    use xoff_engine::Rate;

    fn reading(at_ns: u64, tx_bytes: u64) -> PortReading {
        PortReading { at: Time::from_ns(at_ns), tx_bytes, queue_bytes: 0, rate: Rate::from_gbps(100) }
    }

    #[test]
    fn hops_come_in_data_path_order_whatever_the_stamping_order() {
        // Hop i has sent 1280 i B at 1 us and twice that at 2 us: the difference tells which hop it is.
        let records = |t| [1u64, 2, 3].map(|i| ExactRecord::stamp(&reading(t, i * t * 128 / 100)));
        let (old, new) = (records(1_000), records(2_000));
        let (packed_old, packed_new) = (old.map(ExactRecord::packed), new.map(ExactRecord::packed));
        for last_hop_first in [false, true] {
            for (old, new) in [
                (Records::Exact(&old), Records::Exact(&new)),
                (Records::Packed(&packed_old), Records::Packed(&packed_new)),
            ] {
                let mut memory = IntMemory::default();
                let stack = |records| IntStack { records, last_hop_first, ..IntStack::default() };
                let (first, second) = (Time::from_us(1), Time::from_us(2));
                assert_eq!(
                    memory.compare(&stack(old), first, 0, |_, _| panic!("nothing to compare with")),
                    0
                );
                let mut seen = vec![];
                assert_eq!(memory.compare(&stack(new), second, 1, |hop, c| seen.push((hop, c.tx_bytes))), 3);
                let expected = if last_hop_first {
                    [(0, 3840), (1, 2560), (2, 1280)]
                } else {
                    [(0, 1280), (1, 2560), (2, 3840)]
                };
                assert_eq!(seen, expected);
            }
        }
    }

    #[test]
    fn records_of_another_path_are_never_compared() {
        // Two paths of one hop, whose ports have sent 5,000 B and 9,000 B after 1 us. Their difference, 4,000 B, means nothing:
        // the first stack of a path is kept, and only the second one of the same path in a row is compared with the first.
        let record = |at_ns, tx_bytes| [ExactRecord::stamp(&reading(at_ns, tx_bytes))];
        let mut memory = IntMemory::default();
        let stacks = [
            (7, record(1_000, 5_000), 0),
            (8, record(1_100, 9_000), 0),
            (8, record(1_200, 9_500), 1),
            (7, record(1_300, 6_000), 0),
        ];
        for (packet, (path_id, records, compared)) in stacks.iter().enumerate() {
            let stack =
                IntStack { records: Records::Exact(records), path_id: *path_id, ..IntStack::default() };
            let mut seen = vec![];
            let hops = memory
                .compare(&stack, Time::from_us(2), packet as u64, |_, change| seen.push(change.tx_bytes));
            assert_eq!((hops, seen), (*compared, vec![500; *compared]));
        }
    }
}
