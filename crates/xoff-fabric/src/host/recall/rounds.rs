//! Messages of rounds that are not simulated: see [`crate::host::rounds`].

use xoff_engine::Time;

use super::beside::Beside;
use super::traffic::Way;
use super::{Recall, Troubles};
use crate::host::rounds::{Names, Open, Round};
use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;

impl Recall {
    /// Whether messages under way are simulated as if there were no recalled ones, and so may go on as others: see [`crate::host::rounds`].
    pub fn is_simulating(&self) -> bool {
        !self.is_recalling() && self.slowed.is_empty() && self.episodes.is_open()
    }

    /// The last start of a message that is neither its connection's first nor its last one: the connection, and when.
    pub fn latest(&self) -> Option<(ConnectionId, Time)> {
        self.latest
    }

    /// When the last message of a connection started, if it is under way.
    pub fn latest_on(&self, connection: ConnectionId) -> Option<Time> {
        self.traffic.latest_on(connection)
    }

    /// The number of messages that have started of a connection that carries several, and of those that have not.
    pub fn starts_of(&self, connection: ConnectionId) -> (u64, u64) {
        let (started, all) = (self.started[connection.index()], self.sizes[connection.index()].len() as u64);
        (started.into(), all.saturating_sub(started.into()))
    }

    /// Whether a message under way is delivered.
    pub fn is_delivered(&self, flow: FlowId) -> bool {
        self.traffic.is_delivered(flow)
    }

    /// So many messages of a connection have started in rounds.
    pub fn note_started(&mut self, connection: ConnectionId, number: u32) {
        self.started[connection.index()] += number;
    }

    /// The last messages of a connection, which wait, are not under way after rounds, or have other places.
    pub fn forget_surplus(&mut self, net: &Network, connection: ConnectionId, flows: &[FlowId], now: Time) {
        for &flow in flows {
            if self.traffic.forget(net, flow, now) == Some(Way::Unready) {
                self.components.get_mut(connection).unready -= 1;
            }
        }
    }

    /// The simulated time `now` was carried forward over rounds by a `time`: messages under way go on as those of other `names`.
    pub fn carry_rounds(&mut self, net: &Network, (now, time): (Time, Time), round: &Round, names: &Names) {
        self.traffic.carry_rounds(net, (now, time), round, names);
        self.beside = Beside::default();
        self.episodes.end(now + time, None);
        self.latest = None;
    }

    /// These are the messages of a connection after rounds, of which the last ones are not added yet.
    pub fn note_line(&mut self, connection: ConnectionId, line: &[Open]) {
        self.traffic.note_line(connection, line);
    }

    /// More messages wait on a connection after rounds, `now`, than before.
    pub fn add_surplus(&mut self, net: &Network, line: &[Open], now: Time) {
        // What happened on their paths by then is not known, and they teach nothing.
        let troubles = Troubles { marks: 0, close_calls: 0, pauses: 0 };
        for open in line {
            let way = (Way::Unready, false, None);
            self.traffic.begin(net, open.flow, (open.start, now), way, troubles, &self.drift);
            self.traffic.teach_nothing(open.flow);
            self.components.get_mut(net.connections.of(open.flow)).unready += 1;
        }
        self.note_meetings();
    }
}
