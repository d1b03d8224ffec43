//! Messages that meet: what is noted of it, and when it goes without saying.

use xoff_engine::Time;

use super::{Open, Traffic, Way};
use crate::ids::{ConnectionId, FlowId, PortId};
use crate::network::Network;

/// Messages at a port that have all met others: one that comes to so many has met them, whoever is there still when its own data come.
pub(super) const CROWD: usize = 32;

/// Messages at a port that have all met if another one comes.
pub(super) const MANY: usize = 256;

/// A message whose data pass a port, and which is not delivered.
pub(super) struct There {
    pub flow: FlowId,
    pub connection: ConnectionId,
    /// See [`Open::is_noted`], as far as it has been looked at.
    pub is_noted: bool,
}

impl Traffic {
    /// When two messages first met.
    pub fn met(&self) -> Option<Time> {
        self.met
    }

    /// The meetings since the last call, each by a connection, and when.
    pub fn take_meetings(&mut self) -> Vec<(ConnectionId, Time)> {
        std::mem::take(&mut self.meetings)
    }

    /// Whether so many messages are at a port that are of a kind, and `open` is simulated.
    pub(super) fn are_there(
        &self,
        port: PortId,
        number: usize,
        open: &Open,
        is_it: impl Fn(&There) -> bool,
    ) -> bool {
        let mut all = self.data[port.index()].iter().filter(|there| is_it(there));
        open.way != Way::Recalled && all.nth(number - 1).is_some()
    }

    /// All messages that are simulated at a port, and count, have met by a time.
    pub(super) fn meet_all(&mut self, port: PortId, counts: impl Fn(ConnectionId) -> bool, at: Time) {
        let (mut new, others) = (Vec::new(), &mut self.data[port.index()]);
        for there in others.iter_mut().filter(|there| !there.is_noted && counts(there.connection)) {
            let open = self.open.get_mut(&there.flow).filter(|open| open.way != Way::Recalled);
            let Some(open) = open else { continue };
            there.is_noted = true;
            if !open.is_noted {
                (open.met, open.is_noted) = (true, true);
                new.push(there.connection);
            }
        }
        new.into_iter().for_each(|connection| self.note_meeting(connection, at));
    }

    pub(super) fn note_meeting(&mut self, connection: ConnectionId, at: Time) {
        self.met = Some(self.met.map_or(at, |met| met.min(at)));
        self.meetings.push((connection, at));
    }

    pub(super) fn meet(&mut self, net: &Network, flows: [FlowId; 2], at: Time) {
        self.note_meeting(net.connections.of(flows[0]), at);
        for flow in flows {
            if let Some(open) = self.open.get_mut(&flow) {
                (open.met, open.is_noted) = (true, true);
            }
        }
    }
}
