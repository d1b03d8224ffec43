//! Which messages are recalled, and which are simulated.
//!
//! All connections of a component go over to recalled messages together, and back: see [`super`].

use xoff_engine::Time;

use super::Recall;
use super::memory::{Like, Memory};
use super::traffic::{self, Way};
use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;

/// Connections of a program are no more messages apart; others are of another program.
const APART: u32 = 8;

impl Recall {
    /// All connections of a component, which is that of `connection`, change their ways, each with its next message but, if others
    /// are ahead of it, the one after that.
    fn change(&mut self, connection: ConnectionId, recalls: bool) {
        let all = self.traffic.connections().filter(|&c| self.components.is_one(c, connection));
        let from = all.map(|c| self.started[c.index()]).max().unwrap_or_default();
        let component = self.components.get_mut(connection);
        (component.recalls, component.from) = (recalls, from);
    }

    /// The run cannot vouch for more recalled messages of a connection's component: there are none, or if it persists, they are recalled by other rules.
    pub(super) fn give_up(&mut self, connection: ConnectionId) {
        if self.persists {
            self.go_on_in_doubt();
        } else {
            self.components.get_mut(connection).is_doubtful = true;
        }
    }

    /// If the run persists: from now on messages are recalled as under schemes with a state of their own, once they agree so, and it is uncertain from the first of them on.
    pub(super) fn go_on_in_doubt(&mut self) {
        if self.persists && std::mem::replace(&mut self.is_known, false) {
            // What was recalled since its like were last simulated is not compared any more.
            if let Some(since) = self.memory.recalled_since() {
                self.tally.doubt(since);
            }
            self.memory = Memory::new(self.tolerance, false);
            self.traffic.queue();
            self.components.start_anew();
        }
    }

    /// When a message like this one that starts `now` has its turn on its connection; `None` if it waits for nobody knows how long, or, under schemes with a known
    /// state, waits at all.
    pub(super) fn turn(&self, net: &Network, like: Like, now: Time) -> Option<Time> {
        if self.is_known {
            return self.is_clear(net, like, now).then_some(now);
        }
        let takes =
            |flow: FlowId| self.memory.expected(Self::like(net, flow)).map(|(taken, _)| taken.delivered);
        self.traffic.turn(net, like.0, now, &takes)
    }

    /// Whether a message like this one that starts `now` has nothing ahead of it on its connection: no message is under way, or one whose data, as far as is known, are
    /// sent by then, and which only waits for its last ACKs.
    fn is_clear(&self, net: &Network, like: Like, now: Time) -> bool {
        let (ahead, start) = match self.traffic.on(like.0) {
            Ok(ahead) => ahead,
            Err(number) => return number == 0,
        };
        let known = || self.memory.expected(Self::like(net, ahead)).map(|(taken, _)| taken);
        let Some(taken) = self.now.get(&ahead).map(|recalled| recalled.taken).or_else(known) else {
            return false;
        };
        let latency = traffic::latency(net, net.route_at(ahead, now), now);
        let slack = traffic::slack((start + taken.delivered).saturating_sub(latency), now);
        let margin = self.memory.margin(self.memory.lasts(like));
        slack.saturating_add_unsigned(margin.0) >= 0 && self.memory.is_as_late(like, slack)
    }

    /// Whether a message that starts `now`, and has its turn after some time, if that is known and so `is_clear`, is simulated or recalled.
    pub(super) fn way(
        &mut self,
        net: &Network,
        flow: FlowId,
        is_clear: bool,
        (now, wait): (Time, Time),
    ) -> Way {
        let is_plain = Self::is_plain(net, flow);
        let like = Self::like(net, flow);
        let component = *self.components.get(like.0);
        let may = self.may && !component.is_doubtful && component.met.is_none();
        if !may || !is_plain || !is_clear {
            if may && is_plain && self.memory.note_hindered(like) {
                self.go_on_in_doubt();
            }
            return Way::Unready;
        }
        let number = self.started[like.0.index()];
        let is_behind = |from: u32| number < from && from - number <= APART;
        if component.recalls && !is_behind(component.from) && self.memory.is_stale(like) {
            self.components.get_mut(like.0).epoch += 1;
            self.change(like.0, false);
        }
        let component = *self.components.get(like.0);
        let epoch = (!is_behind(component.from)).then_some(component.epoch);
        let is_in_time = now + wait + self.memory.lasts(like) < self.until(net, now) && net.is_calm(now, now);
        if !self.memory.is_ready(like, epoch) || !is_in_time {
            if component.recalls {
                self.change(like.0, false);
            }
            return Way::Unready;
        }
        if !component.recalls && component.unready == 0 {
            self.change(like.0, true);
        }
        let component = self.components.get(like.0);
        if is_behind(component.from) != component.recalls { Way::Recalled } else { Way::Ready }
    }
}
