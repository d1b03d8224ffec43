//! Random streams that belong to entities.
//!
//! Each entity (a port that marks, a host that opens flows, a repetition of a traffic pattern) draws from its own
//! stream, seeded by the run's seed, the domain and the entity's number. What one entity draws depends neither on
//! other entities nor on the number of threads.

pub use rand_pcg::Pcg64Mcg as Stream;

/// The purpose of random numbers. The same entity number in two domains gives two independent streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Domain {
    /// Marking at an egress port.
    Marking = 1,
    /// A traffic pattern's arrivals, sizes and pairs.
    Traffic = 2,
    /// A flow's reaction point.
    Reaction = 3,
    /// A router's choice among equal paths.
    Routing = 4,
    /// A scheme's congestion point in a switch.
    Congestion = 5,
    /// The times at which a port sends credit updates.
    Credit = 6,
    /// Which NIC a connection takes.
    Nics = 7,
    /// Frames that a link loses, and times of events that come at random.
    Faults = 8,
    /// A topology's random links.
    Topology = 9,
}

/// The stream of `entity` in `domain` under the run's `seed`.
pub fn stream(seed: u64, domain: Domain, entity: u64) -> Stream {
    let low = mix(seed ^ mix(domain as u64 ^ mix(entity)));
    let high = mix(low ^ 0x9E37_79B9_7F4A_7C15);
    Stream::new(u128::from(high) << 64 | u128::from(low))
}

/// SplitMix64's finalizer (Steele, Lea, Flood, OOPSLA 2014): a bijection in which every input bit affects every
/// output bit.
#[inline]
pub const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_differ_by_seed_domain_and_entity_and_repeat_for_the_same() {
        let first = |s, d, e| stream(s, d, e).next_u64();
        assert_eq!(first(1, Domain::Marking, 7), first(1, Domain::Marking, 7));
        assert_ne!(first(1, Domain::Marking, 7), first(2, Domain::Marking, 7));
        assert_ne!(first(1, Domain::Marking, 7), first(1, Domain::Traffic, 7));
        assert_ne!(first(1, Domain::Marking, 7), first(1, Domain::Marking, 8));
    }

    #[test]
    fn mix_is_splitmix64() {
        // The first output of SplitMix64 seeded with 0, from its authors' reference table.
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
    }
}
