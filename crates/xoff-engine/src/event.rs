//! An event, and the order of events.

use crate::units::Time;

/// Something that happens to an entity at a moment.
///
/// Events are ordered by time, then by key, then by argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The time at which it happens.
    pub time: Time,
    /// What happens and to which entity; the key orders simultaneous events.
    pub key: u32,
    /// What the handler needs in addition to the key.
    pub arg: u32,
}

impl Event {
    /// The event with a rank.
    pub(crate) fn of_rank(rank: u128) -> Event {
        Event { time: Time((rank >> 64) as u64), key: (rank >> 32) as u32, arg: rank as u32 }
    }

    /// The event as one number that orders events: its time above its key above its argument.
    #[inline]
    pub(crate) fn rank(&self) -> u128 {
        u128::from(self.time.0) << 64 | u128::from(self.key) << 32 | u128::from(self.arg)
    }
}
impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
