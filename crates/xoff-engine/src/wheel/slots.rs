//! The slots of a timing wheel: which of them has events, and where each slot's list lies.

use crate::units::Time;

/// A slot's width is 2^9 ps = 0.512 ns, so that in a busy network of hundreds of links a slot holds a few events.
pub(super) const SLOT_BITS: u32 = 9;
/// A slot's width in picoseconds.
pub(super) const SLOT: u64 = 1 << SLOT_BITS;
/// Slots of which one word tells whether they have events.
const PER_WORD: usize = u64::BITS as usize;
/// Stands for the absence of a slot: beyond the last slot that 64 bits of picoseconds reach.
pub(super) const NO_SLOT: u64 = 1 << (64 - SLOT_BITS);

/// The number of the slot in which a time lies.
#[inline]
pub(super) fn slot_of(time: Time) -> u64 {
    time.0 >> SLOT_BITS
}

/// The slots of a wheel, 64 for each of its `WORDS`. A slot's number is its time divided by its width.
pub(super) struct Slots<L, const WORDS: usize> {
    /// The current slot's number: it and those before are no longer on the wheel.
    pub current: u64,
    /// Where each slot's list lies.
    lists: Box<[[L; PER_WORD]; WORDS]>,
    /// Stands for an empty list.
    empty: L,
    /// One bit per slot: set if its list is not empty.
    occupied: [u64; WORDS],
}

impl<L: Copy + PartialEq, const WORDS: usize> Slots<L, WORDS> {
    /// Slots in the wheel.
    pub const SLOTS: usize = WORDS * PER_WORD;

    /// Slots with `empty` lists from time zero on.
    pub fn new(empty: L) -> Self {
        let lists = vec![[empty; PER_WORD]; WORDS].into_boxed_slice();
        Slots {
            current: 0,
            lists: lists.try_into().unwrap_or_else(|_| Box::new([[empty; PER_WORD]; WORDS])),
            empty,
            occupied: [0; WORDS],
        }
    }

    /// Whether a slot comes after the current one and within the horizon.
    #[inline]
    pub fn are_to_hold(&self, slot: u64) -> bool {
        slot.wrapping_sub(self.current).wrapping_sub(1) < Self::SLOTS as u64 - 1
    }

    /// The list of a slot on the wheel, which is about to get an event.
    #[inline]
    pub fn list_mut(&mut self, slot: u64) -> &mut L {
        let (word, bit) = Self::place(slot);
        // Set the bit without asking whether it is set: the answer is unpredictable.
        self.occupied[word] |= 1 << bit;
        &mut self.lists[word][bit]
    }

    /// Makes `slot` the current one; returns its list, which it no longer holds.
    #[inline]
    pub fn open(&mut self, slot: u64) -> L {
        self.current = slot;
        let (word, bit) = Self::place(slot);
        self.occupied[word] &= !(1 << bit);
        std::mem::replace(&mut self.lists[word][bit], self.empty)
    }

    /// The word and the bit of a slot.
    #[inline]
    fn place(slot: u64) -> (usize, usize) {
        let index = slot as usize % Self::SLOTS;
        (index / PER_WORD, index % PER_WORD)
    }

    /// The number of the first slot with events, or [`NO_SLOT`].
    #[inline]
    pub fn next_occupied(&self) -> u64 {
        let (mut word, first) = Self::place(self.current);
        let start = word * PER_WORD + first;
        let distance = |slot: usize| self.current + ((slot + Self::SLOTS - start) % Self::SLOTS) as u64;
        // First the rest of the current word, then whole words around the wheel. In a busy network the next word has an event.
        let mut bits = self.occupied[word] & (!0 << first);
        for _ in 0..=WORDS {
            if bits != 0 {
                return distance(word * PER_WORD + bits.trailing_zeros() as usize);
            }
            word = (word + 1) % WORDS;
            bits = self.occupied[word];
        }
        NO_SLOT
    }

    /// Each slot with events: its beginning in picoseconds, and its list.
    pub fn lists(&self) -> impl Iterator<Item = (u64, L)> {
        let slots = Self::SLOTS as u64;
        let first = self.current % slots;
        let lists = self.lists.iter().flatten().zip(0u64..).filter(|(list, _)| **list != self.empty);
        lists.map(move |(&list, index)| {
            // The number of the slot with this index after the current one.
            let ahead = (index + slots - first) % slots;
            ((self.current + ahead) << SLOT_BITS, list)
        })
    }
}
