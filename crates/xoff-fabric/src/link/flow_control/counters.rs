//! The arithmetic of credits, for both ends of a link.
//!
//! The receiver counts what has arrived and what has left its buffer, and tells the sender a limit for the sender's count;
//! the sender counts what it has sent. InfiniBand's names are ABR (blocks received), FCCL (the limit: ABR plus the free
//! blocks) and FCTBS (blocks sent). A limit is absolute, so the next update would make up for a lost one. Link credits,
//! which come back one by one, raise the limit instead.

use crate::settings::CounterWidth;

const MODULUS: u64 = 1 << 12;
const MAX_GRANTED: u64 = MODULUS / 2;

/// Bits of a unit's reciprocal below the point.
const FRACTION: u32 = 40;

/// How many credits a packet costs: one for each started block of some number of bytes.
///
/// The quotient is rounded up by a product with the reciprocal, which is the same code for each unit and exact for packets,
/// which have fewer than 2^16 bytes: with blocks of b bytes, the product of a dividend x below 2^17 and a reciprocal that is too
/// large by less than 2^-40 is too large by less than 2^-23, and x / b is below a whole number by at least 1 / b, 2^-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Bytes of a block, less one.
    add: u64,
    /// 2^[`FRACTION`] divided by the bytes of a block, rounded up.
    reciprocal: u64,
}

impl Unit {
    /// More bytes than a packet has: one credit a packet.
    const WHOLE_PACKET: u64 = 1 << 16;

    /// One credit a packet.
    pub const PACKET: Unit = Unit::of_bytes(Unit::WHOLE_PACKET);

    /// One credit for each started block of `bytes` bytes, which must not be 0.
    pub const fn of_bytes(bytes: u64) -> Unit {
        let bytes = if bytes < Unit::WHOLE_PACKET { bytes } else { Unit::WHOLE_PACKET };
        Unit { add: bytes - 1, reciprocal: (1u64 << FRACTION).div_ceil(bytes) }
    }

    /// Credits of a packet of `size` bytes.
    #[inline(always)] // runs several times for every packet
    pub const fn credits(self, size: u64) -> u64 {
        ((size + self.add) * self.reciprocal) >> FRACTION
    }
}

/// The sending end of one (egress port, priority).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendingEnd {
    /// Credits spent since the beginning: FCTBS.
    sent: u64,
    /// Maximum of `sent`: FCCL.
    limit: u64,
    /// Credits that an empty buffer grants.
    capacity: u64,
}

impl SendingEnd {
    /// The sender to an empty buffer of `capacity` credits.
    pub fn new(capacity: u64, width: CounterWidth) -> Self {
        let limit = ReceivingEnd::new(capacity).limit(width);
        SendingEnd { sent: 0, limit, capacity: limit }
    }

    /// Credits that the sender has.
    #[inline]
    pub fn available(&self) -> u64 {
        self.limit - self.sent
    }

    /// Credits in use, as far as the sender knows: those of packets on their way to the neighbour or in its buffer.
    #[inline]
    pub fn used(&self) -> u64 {
        self.capacity.saturating_sub(self.available())
    }

    /// Credits that were freed since the beginning, as far as the sender knows.
    pub fn known_freed(&self) -> u64 {
        self.limit - self.capacity
    }

    /// Credits that an empty buffer grants.
    #[inline]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Spends credits that the sender has.
    #[inline]
    pub fn spend(&mut self, credits: u64) {
        debug_assert!(credits <= self.available(), "never more than there are");
        self.sent += credits;
    }

    /// Takes back credits that were spent last, for a packet that is lost on the link.
    pub fn unspend(&mut self, credits: u64) {
        self.sent -= credits;
    }

    /// Credits that an update grants beyond those that are spent, a value of [`ReceivingEnd::message`].
    pub fn granted(&self, message: u64, width: CounterWidth) -> u64 {
        let granted = message.wrapping_sub(self.sent);
        match width {
            CounterWidth::Wide => granted,
            CounterWidth::TwelveBit => granted % MODULUS,
        }
    }

    /// Takes in an update, a value of [`ReceivingEnd::message`].
    pub fn update(&mut self, message: u64, width: CounterWidth) {
        let granted = self.granted(message, width);
        debug_assert!(width == CounterWidth::Wide || granted <= MAX_GRANTED);
        let limit = self.sent + granted;
        debug_assert!(limit >= self.limit, "credits are never taken back");
        self.limit = limit;
    }

    /// Takes in credits that come back.
    pub fn restore(&mut self, credits: u64) {
        self.limit += credits;
        debug_assert!(self.available() <= self.capacity, "never more than the buffer has");
    }

    /// Takes in the lower bits of the receiver's count of freed credits ([`ReceivingEnd::freed`]).
    pub fn freed(&mut self, count: u32) {
        let known = (self.limit - self.capacity) as u32;
        self.restore(count.wrapping_sub(known).into());
    }

    /// FCTBS: credits spent since the beginning.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

/// The receiving end of one (ingress port, priority) and its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivingEnd {
    /// Credits received since the beginning: ABR.
    received: u64,
    /// Received credits whose packets have left.
    freed: u64,
    capacity: u64,
}

impl ReceivingEnd {
    /// An empty buffer of `capacity` credits.
    pub fn new(capacity: u64) -> Self {
        ReceivingEnd { received: 0, freed: 0, capacity }
    }

    /// A packet arrives.
    #[inline]
    pub fn receive(&mut self, credits: u64) {
        self.received += credits;
        debug_assert!(self.occupied() <= self.capacity, "a buffer never holds more than it granted");
    }

    /// A packet has left.
    #[inline]
    pub fn free(&mut self, credits: u64) {
        self.freed += credits;
        debug_assert!(self.freed <= self.received);
    }

    /// Credits of the packets in the buffer.
    pub fn occupied(&self) -> u64 {
        self.received - self.freed
    }

    /// Credits that were freed since the beginning.
    pub fn freed(&self) -> u64 {
        self.freed
    }

    /// Credits of the whole buffer.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// ABR: credits received since the beginning.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// The limit of the sender's count: all credits received, plus the free ones.
    pub fn limit(&self, width: CounterWidth) -> u64 {
        let free = self.capacity - self.occupied();
        self.received
            + match width {
                CounterWidth::Wide => free,
                CounterWidth::TwelveBit => free.min(MAX_GRANTED),
            }
    }

    /// The limit as an update carries it.
    pub fn message(&self, width: CounterWidth) -> u64 {
        match width {
            CounterWidth::Wide => self.limit(width),
            CounterWidth::TwelveBit => self.limit(width) % MODULUS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CounterWidth::{TwelveBit, Wide};

    #[test]
    fn blocks_and_flits_are_rounded_up_for_each_packet() {
        // 1 B and 64 B are one block, 65 B two; 1000 B are 15.6: 16 blocks of 64 B, 62.5: 63 flits of 16 B.
        let block = Unit::of_bytes(64);
        assert_eq!([1, 64, 65, 1000].map(|b| block.credits(b)), [1, 1, 2, 16]);
        assert_eq!(Unit::of_bytes(16).credits(1000), 63);
        assert_eq!([1, 96, 97].map(|b| Unit::of_bytes(96).credits(b)), [1, 1, 2]);
        assert_eq!([1, 9000, 65_535].map(|b| Unit::PACKET.credits(b)), [1, 1, 1]);
    }

    /// The product stands for a division: all sizes of packets, with blocks that divide them or do not.
    #[test]
    fn credits_are_the_rounded_quotient_for_each_size_and_block() {
        for block in (1..300).chain([4_095, 4_096, 9_999, 32_767, 65_521, 65_535, 65_536, 1 << 20, u64::MAX])
        {
            let unit = Unit::of_bytes(block);
            for size in 1..=u64::from(u16::MAX) {
                assert_eq!(unit.credits(size), size.div_ceil(block), "{size} bytes in blocks of {block}");
            }
        }
    }

    #[test]
    fn the_limit_is_what_has_come_and_what_is_free() {
        // A buffer of 100 blocks; 60 come, 40 of them leave: FCCL = ABR + free = 60 + (100 - 20) = 140.
        let (mut sender, mut receiver) = (SendingEnd::new(100, Wide), ReceivingEnd::new(100));
        assert_eq!((sender.available(), sender.used()), (100, 0));
        sender.spend(60);
        receiver.receive(60);
        receiver.free(40);
        assert_eq!((receiver.occupied(), receiver.message(Wide)), (20, 140));
        assert_eq!((sender.available(), sender.used()), (40, 60));
        sender.update(receiver.message(Wide), Wide);
        // 140 - 60 = 80 may still go; 20 are in use.
        assert_eq!((sender.available(), sender.used()), (80, 20));
        // The same by credits that come back.
        let mut sender = SendingEnd::new(100, Wide);
        sender.spend(60);
        sender.restore(40);
        assert_eq!((sender.available(), sender.used(), sender.sent()), (80, 20, 60));
    }

    #[test]
    fn twelve_bits_grant_no_more_than_half_of_what_they_count() {
        // 5000 blocks: 2048 are granted.
        let (mut sender, mut receiver) = (SendingEnd::new(5000, TwelveBit), ReceivingEnd::new(5000));
        assert_eq!((sender.available(), sender.used()), (2048, 0));
        sender.spend(2048);
        receiver.receive(2048);
        // FCCL = 2048 + min(5000 - 2048, 2048) = 4096, which 12 bits write as 0: (0 - 2048) mod 4096 = 2048.
        assert_eq!(receiver.message(TwelveBit), 0);
        sender.update(receiver.message(TwelveBit), TwelveBit);
        assert_eq!(sender.available(), 2048);
        sender.spend(2000);
        receiver.receive(2000);
        // 4048 are in the buffer and 952 are free: FCCL = 4048 + 952 = 5000, 904 modulo 4096; 4048 + 952 - 4048 = 952.
        assert_eq!(receiver.message(TwelveBit), 904);
        sender.update(904, TwelveBit);
        assert_eq!(sender.available(), 952);
    }
}
