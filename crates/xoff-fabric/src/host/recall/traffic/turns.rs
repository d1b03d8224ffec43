//! Messages that wait behind others on their connection: when they have their turn. Only under schemes with a state of their own are such messages
//! recalled.

use xoff_engine::Time;

use super::{Open, Seen, Traffic, Way, latency};
use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;

/// Simulated messages at most of which the times are added up that a message waits for.
const MOST_AHEAD: u32 = 256;

impl Open {
    /// When its data had their turn, if the one ahead of it is delivered.
    fn turn(&self) -> Time {
        self.start + Seen::waited(self.slack)
    }
}

impl Traffic {
    /// When the data of a message under way arrive, or did: as far as that is known, by what it `takes` from its turn on, and those ahead of it.
    fn delivered_by(
        &self,
        net: &Network,
        flow: FlowId,
        takes: &impl Fn(FlowId) -> Option<Time>,
        most: u32,
    ) -> Option<Time> {
        let open = self.open.get(&flow)?;
        if let Some(at) = open.delivered.or(open.delivers_at) {
            return Some(at);
        }
        let takes_it = takes(flow)?;
        let turn = match open.behind {
            Some(ahead) if most > 0 => {
                let delivered = self.delivered_by(net, ahead, takes, most - 1)?;
                open.start.max(delivered.saturating_sub(latency(net, &open.route, open.start)))
            }
            Some(_) => return None,
            None => open.turn(),
        };
        Some(turn.max(open.begins.unwrap_or_default()) + takes_it)
    }

    /// When a message that starts `now` on a connection has its turn, as the data of all those ahead of it are sent then; `None` if that is not known.
    pub fn turn(
        &self,
        net: &Network,
        connection: ConnectionId,
        now: Time,
        takes: &impl Fn(FlowId) -> Option<Time>,
    ) -> Option<Time> {
        let (number, last) = self.on[connection.index()];
        if number == 0 {
            return Some(now);
        }
        let delivered = self.delivered_by(net, last, takes, MOST_AHEAD)?;
        let route = &self.open.get(&last)?.route;
        Some(now.max(delivered.saturating_sub(latency(net, route, now))))
    }

    /// Until when a message that is simulated, and has its `turn` then, is held back: the last one of its connection is recalled, so that there are no
    /// packets that it could wait for, or is held back itself.
    pub fn hold_back(&self, connection: ConnectionId, now: Time, turn: Option<Time>) -> Option<Time> {
        let (number, last) = self.on[connection.index()];
        let ahead = self.open.get(&last).filter(|_| number > 0)?;
        match (ahead.way, ahead.begins) {
            (Way::Recalled, _) => turn,
            // Behind that one, and so in its order.
            (_, Some(begins)) if begins >= now => Some(begins + Time(1)),
            _ => None,
        }
    }

    /// It is known when a message's last byte arrives.
    pub fn note_arrival(&mut self, flow: FlowId, at: Time) {
        if let Some(open) = self.open.get_mut(&flow) {
            open.delivers_at = Some(at);
        }
    }

    /// A message has the connection's ACKs for itself now.
    pub(super) fn acknowledge_next(&mut self, net: &Network, next: Option<FlowId>, now: Time) {
        let Some((flow, mut open)) = next.and_then(|next| self.open.remove_entry(&next)) else { return };
        if !open.acknowledges {
            open.acknowledges = true;
            self.come_acks(net, &open, now);
        }
        self.open.insert(flow, open);
    }
}
