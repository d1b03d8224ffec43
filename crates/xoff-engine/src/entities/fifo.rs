//! The arrivals of one link, and the groups in which an entity's links are compared.

use crate::units::Time;

/// Maximum number of FIFOs of an entity.
pub const MAX_FIFOS: usize = 1 << POSITION_BITS;

/// A FIFO's head is the time of its first arrival above the FIFO's position among its entity's, which has so many bits.
pub(super) const POSITION_BITS: u32 = 10;
/// Heads do not distinguish times from here on (2^54 ps, five hours); such times are compared in the FIFOs themselves.
pub(super) const FAR: u64 = (1 << (64 - POSITION_BITS)) - 2;
/// The head of an empty FIFO: greater than the head of every arrival.
pub(super) const EMPTY_HEAD: u64 = u64::MAX;
/// FIFOs in a group.
pub(super) const GROUP: usize = 4;
/// Stands for the absence of an entity.
pub(super) const NO_ENTITY: u32 = u32::MAX;

/// The FIFO of a link: what arrives by that link at one entity, in order of time. Half a cache line.
#[repr(align(32))]
pub(super) struct LinkFifo {
    /// The time of the first arrival; [`Time::NEVER`] if there is none.
    pub time: Time,
    /// The argument of the first arrival.
    pub arg: u32,
    /// The argument of the last arrival.
    pub last: u32,
    /// The FIFO's number among all FIFOs.
    pub number: u32,
    /// The entity at which its arrivals come.
    pub entity: u32,
    /// The FIFO's number among its entity's FIFOs.
    pub position: u32,
    /// The key of its arrivals.
    pub key: u32,
}

impl LinkFifo {
    /// Fills the places of a group that no link has.
    pub const UNUSED: LinkFifo =
        LinkFifo { time: Time::NEVER, arg: 0, last: 0, number: 0, entity: NO_ENTITY, position: 0, key: 0 };

    /// Its first arrival as one number, for comparison with the other FIFOs of its entity.
    #[inline]
    fn head(&self) -> u64 {
        let head = self.time.0.min(FAR) << POSITION_BITS | u64::from(self.position);
        if self.time == Time::NEVER { EMPTY_HEAD } else { head }
    }
}

/// FIFOs of an entity whose first arrivals are compared together. The heads fill a cache line of their own, in front of the
/// FIFOs, so that a comparison loads one line.
#[repr(C, align(64))]
pub(super) struct Group {
    /// The minimum of `heads`.
    pub min: u64,
    /// The FIFOs' heads; [`EMPTY_HEAD`] for a FIFO without arrivals.
    heads: [u64; GROUP],
    pub fifos: [LinkFifo; GROUP],
}

impl Group {
    pub const EMPTY: Group =
        Group { min: EMPTY_HEAD, heads: [EMPTY_HEAD; GROUP], fifos: [const { LinkFifo::UNUSED }; GROUP] };

    /// Updates the heads after the first arrival of one of the FIFOs has changed.
    #[inline]
    pub fn update_head(&mut self, fifo: usize) {
        self.heads[fifo] = self.fifos[fifo].head();
        let [a, b, c, d] = self.heads;
        self.min = a.min(b).min(c.min(d));
    }
}
