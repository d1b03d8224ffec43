//! When each packet would have come to its node had no link been stopped.

use xoff_engine::Time;

use super::PacketId;

/// The times of a pool's data packets, by packet id.
#[derive(Default)]
pub(crate) struct Offers(Vec<Time>);

impl Offers {
    /// A packet's time; zero if it has none.
    pub fn of(&self, id: PacketId) -> Time {
        self.0.get(id as usize).copied().unwrap_or(Time::ZERO)
    }

    /// Sets a packet's time.
    pub fn put(&mut self, id: PacketId, time: Time) {
        let place = id as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, Time::ZERO);
        }
        self.0[place] = time;
    }
}
