//! In-network telemetry records: what a switch stamps and what a sender computes from two records.
//!
//! Sources: HPCC (SIGCOMM'19) section 4.1; FNCC section 4.3 (field widths).

mod memory;

pub use memory::{IntMemory, IntStack, Records};

use bytemuck::Zeroable;
use xoff_engine::{Rate, Time};

/// Maximum hops of a stack.
pub const MAX_INT_HOPS: usize = 8;

/// The state of an egress port at the moment of stamping, in full precision.
#[derive(Clone, Copy, Debug, Zeroable)]
pub struct PortReading {
    /// Moment of stamping.
    pub at: Time,
    /// Bytes sent by the port since the beginning.
    pub tx_bytes: u64,
    /// Bytes queued at the port.
    pub queue_bytes: u64,
    /// The port's line rate.
    pub rate: Rate,
}

/// The change at one hop between two records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopChange {
    /// Bytes sent in between.
    pub tx_bytes: u64,
    /// Time in between; zero when both show the same snapshot.
    pub elapsed: Time,
    /// The smaller of the two queue lengths, in bytes (HPCC Algorithm 1, line 5: filters noise).
    pub queue_bytes: u64,
    /// The queue length of the earlier record, in bytes.
    pub queue_before: u64,
    /// The queue length of the later record, in bytes.
    pub queue_after: u64,
    /// The port's line rate in bytes a picosecond.
    pub bytes_per_ps: f64,
}

/// One hop's record in the hardware's widths: `B:4 | TS:24 | txBytes:20 | qLen:16`, from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PackedRecord(pub u64);

/// One hop's record in full precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ExactRecord {
    at: Time,
    tx_bytes: u64,
    queue_bytes: u64,
    rate: Rate,
}

/// Rates that the 4-bit speed code can name, in Gbps; the code is the index plus one, 0 is unknown.
pub const CODED_GBPS: [u64; 12] = [1, 5, 10, 25, 40, 50, 56, 100, 200, 400, 800, 1600];
const TX_UNIT_SHIFT: u32 = 7; // 128 B
const QUEUE_UNIT: u64 = 80;
const TS_MASK: u64 = (1 << 24) - 1;
const TX_MASK: u64 = (1 << 20) - 1;
const QUEUE_MAX: u64 = (1 << 16) - 1;
/// Half of the time after which a packed record's clock wraps around.
const HALF_CLOCK: Time = Time((1 << 23) * 1_000);

/// Bytes a picosecond for each speed code.
const CODED_BYTES_PER_PS: [f64; 16] = {
    let mut table = [0.0; 16];
    let mut i = 0;
    while i < CODED_GBPS.len() {
        table[i + 1] = CODED_GBPS[i] as f64 / 8000.0;
        i += 1;
    }
    table
};

impl PackedRecord {
    /// The speed code of `rate`; `None` if the 4 bits cannot name it.
    pub fn speed_code(rate: Rate) -> Option<u8> {
        CODED_GBPS.iter().position(|&g| Rate::from_gbps(g) == rate).map(|i| i as u8 + 1)
    }

    /// The record of a port whose speed code is `code`, in units 2^`shift` times as large.
    #[inline]
    pub fn stamp(code: u8, shift: u8, reading: &PortReading) -> Self {
        let ts = (reading.at.0 / 1_000) & TS_MASK;
        let tx = (reading.tx_bytes >> (TX_UNIT_SHIFT + u32::from(shift))) & TX_MASK;
        let queue = ((reading.queue_bytes / QUEUE_UNIT) >> shift).min(QUEUE_MAX);
        PackedRecord(u64::from(code) << 60 | ts << 36 | tx << 16 | queue)
    }

    /// The state that the record shows, in units 2^`shift` times as large; counters restart at 0 after they wrap
    /// around, and the rate is 0 if the code names none.
    pub fn reading(self, shift: u8) -> PortReading {
        let code = (self.0 >> 60) as usize;
        PortReading {
            at: Time((self.0 >> 36 & TS_MASK) * 1_000),
            tx_bytes: (self.0 >> 16 & TX_MASK) << (TX_UNIT_SHIFT + u32::from(shift)),
            queue_bytes: ((self.0 & QUEUE_MAX) * QUEUE_UNIT) << shift,
            rate: code
                .checked_sub(1)
                .and_then(|i| CODED_GBPS.get(i))
                .map_or(Rate(0), |&g| Rate::from_gbps(g)),
        }
    }

    /// The change since `before`, in units 2^`shift` times as large. Counters must have wrapped around at most once: they do
    /// so after 16.8 ms, and after 134 MB times 2^`shift`.
    #[inline]
    pub fn since(self, before: PackedRecord, shift: u8) -> HopChange {
        let ns = (self.0 >> 36).wrapping_sub(before.0 >> 36) & TS_MASK;
        let tx = (self.0 >> 16).wrapping_sub(before.0 >> 16) & TX_MASK;
        let queue = |record: PackedRecord| ((record.0 & QUEUE_MAX) * QUEUE_UNIT) << shift;
        HopChange {
            tx_bytes: tx << (TX_UNIT_SHIFT + u32::from(shift)),
            elapsed: Time(ns * 1_000),
            queue_bytes: ((self.0 & QUEUE_MAX).min(before.0 & QUEUE_MAX) * QUEUE_UNIT) << shift,
            queue_before: queue(before),
            queue_after: queue(self),
            bytes_per_ps: CODED_BYTES_PER_PS[(self.0 >> 60) as usize],
        }
    }
}

impl PackedRecord {
    /// The shortest time in which a counter wraps around: the clock's range, or the byte counter's if the port is never
    /// idle.
    fn range(self, unit_shift: u8) -> Time {
        let bytes = (TX_MASK + 1) << (TX_UNIT_SHIFT + u32::from(unit_shift));
        let bytes_per_ps = CODED_BYTES_PER_PS[(self.0 >> 60) as usize];
        // A port without a known speed divides by zero: the byte counter then sets no limit.
        Time((bytes as f64 / bytes_per_ps) as u64).min(Time((TS_MASK + 1) * 1_000))
    }
}

impl ExactRecord {
    /// The record of a port.
    pub fn stamp(reading: &PortReading) -> Self {
        let PortReading { at, tx_bytes, queue_bytes, rate } = *reading;
        ExactRecord { at, tx_bytes, queue_bytes, rate }
    }

    /// The same in hardware widths, in units of 128 B and 80 B.
    pub fn packed(self) -> PackedRecord {
        let reading = self.reading();
        PackedRecord::stamp(PackedRecord::speed_code(reading.rate).unwrap_or(0), 0, &reading)
    }

    /// The state that the record shows.
    pub fn reading(self) -> PortReading {
        let ExactRecord { at, tx_bytes, queue_bytes, rate } = self;
        PortReading { at, tx_bytes, queue_bytes, rate }
    }

    /// The change since `before`.
    pub fn since(self, before: ExactRecord) -> HopChange {
        HopChange {
            tx_bytes: self.tx_bytes - before.tx_bytes,
            elapsed: self.at - before.at,
            queue_bytes: self.queue_bytes.min(before.queue_bytes),
            queue_before: before.queue_bytes,
            queue_after: self.queue_bytes,
            bytes_per_ps: self.rate.bytes_per_ps(),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at_ns: u64, tx_bytes: u64, queue_bytes: u64) -> PortReading {
        PortReading { at: Time::from_ns(at_ns), tx_bytes, queue_bytes, rate: Rate::from_gbps(100) }
    }

    #[test]
    fn fields_round_down_to_their_units() {
        let code = PackedRecord::speed_code(Rate::from_gbps(100)).unwrap();
        let a = PackedRecord::stamp(code, 0, &reading(1000, 0, 160));
        let b = PackedRecord::stamp(code, 0, &reading(1121, 1518, 239));
        let change = b.since(a, 0);
        // 1518 B are 11 whole units of 128 B = 1408 B; 239 B of queue are 2 units of 80 B = 160 B.
        assert_eq!(change.tx_bytes, 1408);
        assert_eq!(change.elapsed, Time::from_ns(121));
        assert_eq!(change.queue_bytes, 160);
        assert_eq!(change.bytes_per_ps, 0.0125); // 12.5 GB/s
    }

    #[test]
    fn a_record_shows_what_was_stamped_in_its_units() {
        // 1518 B sent are 11 units of 128 B, 239 B queued 2 of 80 B; with units times 4, 2 of 512 B and none of 320 B.
        let seen = reading(1121, 1518, 239);
        for (shift, tx, queue) in [(0, 1408, 160), (2, 1024, 0)] {
            let shown = PackedRecord::stamp(8, shift, &seen).reading(shift);
            assert_eq!((shown.at, shown.rate), (Time::from_ns(1121), Rate::from_gbps(100)));
            assert_eq!((shown.tx_bytes, shown.queue_bytes), (tx, queue));
        }
        assert_eq!(PackedRecord::stamp(0, 0, &seen).reading(0).rate, Rate(0));
        let exact = ExactRecord::stamp(&seen).reading();
        assert_eq!((exact.at, exact.tx_bytes, exact.queue_bytes), (seen.at, 1518, 239));
    }

    #[test]
    fn larger_units_round_further_down() {
        // Units times 4: 1518 B are 2 of 512 B, 1000 B of queue 3 of 320 B.
        let a = PackedRecord::stamp(8, 2, &reading(0, 0, 1000));
        let b = PackedRecord::stamp(8, 2, &reading(100, 1518, 1000));
        assert_eq!((b.since(a, 2).tx_bytes, b.since(a, 2).queue_bytes), (1024, 960));
    }

    #[test]
    fn of_two_queue_lengths_the_lesser_counts() {
        // 800 B are 10 units of 80 B and 400 B are 5, in either order.
        for (before, after) in [(800, 400), (400, 800)] {
            let (a, b) = (reading(1000, 0, before), reading(2000, 0, after));
            let packed = PackedRecord::stamp(8, 0, &b).since(PackedRecord::stamp(8, 0, &a), 0);
            let exact = ExactRecord::stamp(&b).since(ExactRecord::stamp(&a));
            assert_eq!((packed.queue_bytes, exact.queue_bytes), (400, 400), "{before} B, then {after} B");
        }
    }

    #[test]
    fn counters_wrap_around() {
        // 24 bit of ns wrap at 16,777,216 ns; 20 bit of 128 B wrap at 134,217,728 B.
        let a = PackedRecord::stamp(8, 0, &reading(16_777_200, 134_217_600, 0));
        let b = PackedRecord::stamp(8, 0, &reading(16_777_300, 134_218_880, 0));
        assert_eq!(b.since(a, 0).elapsed, Time::from_ns(100));
        assert_eq!(b.since(a, 0).tx_bytes, 1_280);
    }

    #[test]
    fn the_queue_saturates() {
        // 16 bit of 80 B hold 5,242,800 B.
        let a = PackedRecord::stamp(8, 0, &reading(0, 0, 10_000_000));
        assert_eq!(a.since(a, 0).queue_bytes, 5_242_800);
    }
}
