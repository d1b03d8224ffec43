//! Time that is carried forward over a reaction point.

use xoff_engine::Time;

use super::ReactionPoint;

/// By what a reaction point is carried forward that hears the same again and again: see
/// [`ReactionPoint::carry`](super::ReactionPoint::carry).
#[derive(Clone, Copy, Debug)]
pub struct Carry {
    /// Time.
    pub time: Time,
    /// Payload bytes of its connection.
    pub bytes: u64,
    /// Data packets of its connection.
    pub packets: u64,
    /// When the point would hear something next without being carried.
    pub next: Time,
    /// The longest round-trip time that it hears of.
    pub longest_rtt: Time,
}

impl Carry {
    /// Whether a point in the state `from` has the state `to` once it is carried.
    pub fn leads<P: ReactionPoint + Clone + PartialEq>(&self, from: &P, to: &P) -> bool {
        let mut carried = from.clone();
        carried.carry(self) && carried == *to
    }
}
