//! Which messages were delivered last at a port: one that begins soon after may have met them in the plain run.

use xoff_engine::Time;

use crate::ids::{ConnectionId, FlowId};

/// A message that was delivered.
#[derive(Clone, Copy)]
pub(super) struct Late {
    pub flow: FlowId,
    pub connection: ConnectionId,
    /// When it was delivered.
    pub delivered: Time,
    /// Up to when its last byte may be at a port, as its time may be wrong.
    pub until: Time,
    /// By how much its start may have been wrong.
    pub drift: Time,
}

/// Messages at most that were delivered and that a port remembers.
const MAX_LATE: usize = 64;

/// The messages of a port that were delivered last.
#[derive(Clone, Default)]
pub(super) struct Delivered {
    /// One of each connection, at most [`MAX_LATE`].
    pub last: Vec<Late>,
    /// Up to when one that is not among them may be there.
    pub forgotten: Time,
}

impl Delivered {
    /// Another message was delivered.
    pub fn add(&mut self, late: Late) {
        if let Some(before) = self.last.iter_mut().find(|before| before.connection == late.connection) {
            *before = late;
            return;
        }
        let latest = |late: &Late| late.until + late.drift;
        let first = (0..self.last.len()).min_by_key(|&i| latest(&self.last[i]));
        if let Some(first) = first.filter(|_| self.last.len() == MAX_LATE) {
            self.forgotten = self.forgotten.max(latest(&self.last.swap_remove(first)));
        }
        self.last.push(late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_knows_when_those_that_it_forgot_are_gone() {
        // Message i of connection i may be there until i us, and start up to 100 us later than it did. The second one of connection 0 takes
        // the place of its first.
        let late = |connection: u32, us: u64| Late {
            flow: FlowId(connection),
            connection: ConnectionId(connection),
            delivered: Time::from_us(us),
            until: Time::from_us(us),
            drift: Time::from_us(100),
        };
        let mut delivered = Delivered::default();
        (0..MAX_LATE as u32).for_each(|i| delivered.add(late(i, u64::from(i))));
        delivered.add(late(0, 500));
        assert_eq!((delivered.last.len(), delivered.forgotten), (MAX_LATE, Time::ZERO));
        // Two more connections: those of 1 and 2 us are forgotten, which may be there until 102 us.
        delivered.add(late(100, 501));
        delivered.add(late(101, 502));
        assert_eq!((delivered.last.len(), delivered.forgotten), (MAX_LATE, Time::from_us(102)));
        assert!(delivered.last.iter().all(|late| ![1, 2].contains(&late.connection.0)));
    }
}
