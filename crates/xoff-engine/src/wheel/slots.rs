//! The slots of a timing wheel: which of them has events, and where each slot's list lies.

/// A slot's width is 2^9 ps = 0.512 ns, so that in a busy network of hundreds of links a slot holds a few events.
pub(super) const SLOT_BITS: u32 = 9;
/// Slots in the wheel. The horizon is 16.8 us, longer than any link's delay and than a full packet's time at 1 Gbps.
const SLOTS: usize = 1 << 15;
/// A slot's width in picoseconds.
pub(super) const SLOT: u64 = 1 << SLOT_BITS;
/// Words of 64 bits that hold one bit per slot.
const WORDS: usize = SLOTS / 64;
/// Stands for the absence of a slot: beyond the last slot that 64 bits of picoseconds reach.
pub(super) const NO_SLOT: u64 = 1 << (64 - SLOT_BITS);

/// The slots of a wheel. A slot's number is its time divided by its width.
pub(super) struct Slots<L> {
    /// The current slot's number: it and those before are no longer on the wheel.
    pub current: u64,
    /// Where each slot's list lies.
    lists: Box<[L; SLOTS]>,
    /// Stands for an empty list.
    empty: L,
    /// One bit per slot: set if its list is not empty.
    occupied: [u64; WORDS],
}

impl<L: Copy + PartialEq> Slots<L> {
    /// Slots with `empty` lists from time zero on.
    pub fn new(empty: L) -> Slots<L> {
        let lists = vec![empty; SLOTS].into_boxed_slice();
        Slots {
            current: 0,
            lists: lists.try_into().unwrap_or_else(|_| Box::new([empty; SLOTS])),
            empty,
            occupied: [0; WORDS],
        }
    }

    /// Whether a slot comes after the current one and within the horizon.
    #[inline]
    pub fn are_to_hold(&self, slot: u64) -> bool {
        slot.wrapping_sub(self.current).wrapping_sub(1) < SLOTS as u64 - 1
    }

    /// The list of a slot on the wheel, which is about to get an event.
    #[inline]
    pub fn list_mut(&mut self, slot: u64) -> &mut L {
        let index = (slot % SLOTS as u64) as usize;
        // Set the bit without asking whether it is set: the answer is unpredictable.
        self.occupied[index / 64] |= 1 << (index % 64);
        &mut self.lists[index]
    }

    /// Makes `slot` the current one; returns its list, which it no longer holds.
    #[inline]
    pub fn open(&mut self, slot: u64) -> L {
        self.current = slot;
        let index = (slot % SLOTS as u64) as usize;
        self.occupied[index / 64] &= !(1 << (index % 64));
        std::mem::replace(&mut self.lists[index], self.empty)
    }

    /// The number of the first slot with events, or [`NO_SLOT`].
    #[inline]
    pub fn next_occupied(&self) -> u64 {
        let start = (self.current % SLOTS as u64) as usize;
        let distance = |slot: usize| self.current + ((slot + SLOTS - start) % SLOTS) as u64;
        // First the rest of the current word, then whole words around the wheel. In a busy network the next word has an event.
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (!0 << (start % 64));
        for _ in 0..=WORDS {
            if bits != 0 {
                return distance(word * 64 + bits.trailing_zeros() as usize);
            }
            word = (word + 1) % WORDS;
            bits = self.occupied[word];
        }
        NO_SLOT
    }

    /// Each slot with events: its beginning in picoseconds, and its list.
    pub fn lists(&self) -> impl Iterator<Item = (u64, L)> {
        let first = self.current % SLOTS as u64;
        let lists = self.lists.iter().zip(0u64..).filter(|(list, _)| **list != self.empty);
        lists.map(move |(&list, index)| {
            // The number of the slot with this index after the current one.
            let ahead = (index + SLOTS as u64 - first) % SLOTS as u64;
            ((self.current + ahead) << SLOT_BITS, list)
        })
    }
}
