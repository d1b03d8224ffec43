//! Messages that are over: one that was recalled is counted, and from one that was simulated is learned what the next ones take.

use xoff_engine::Time;

use super::episodes::Part;
use super::memory::{Like, Taken};
use super::traffic::{Seen, Way};
use super::{Ended, Fate, Recall, Recalled};
use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;

/// A message that is over.
struct Past {
    flow: FlowId,
    like: Like,
    seen: Seen,
    /// From its start to its last ACK.
    life: Time,
    /// How long of that it waited for the data ahead of it, under schemes with a state of their own.
    waited: Time,
    /// The share of that by which it may be wrong for what it waited, or may have waited, behind others.
    waiting: f64,
    /// If it was simulated, when it was delivered, if nothing but ACKs of others happened to it.
    delivered: Option<Time>,
    /// The network is as it was when it started.
    is_of_now: bool,
    /// Other messages may be recalled by what it took.
    teaches: bool,
}

impl Past {
    fn connection(&self) -> ConnectionId {
        self.like.0
    }

    /// What the message took from its turn on, if nothing but ACKs of others happened to it.
    fn taken(&self) -> Option<Taken> {
        let Seen { start, acks, waits, slack, .. } = self.seen;
        let delivered = self.delivered?.saturating_sub(start + self.waited);
        Some(Taken { delivered, sent: self.life.saturating_sub(self.waited), acks, waits, slack })
    }
}

impl Recall {
    /// A message is wholly acknowledged, or held no more, with a `fate` if it was simulated; returns what is to be said of a recalled one.
    pub(super) fn end(
        &mut self,
        net: &Network,
        flow: FlowId,
        now: Time,
        fate: Option<Fate>,
    ) -> Option<Ended> {
        self.keep_up(net, now);
        let seen = self.traffic.end(net, flow, now)?;
        self.note_meetings();
        let is_calm =
            |fate: &Fate| fate.is_smooth && fate.paused == Time::ZERO && fate.troubles == seen.troubles;
        let is_of_now = seen.start >= self.unchanged_since && net.is_calm(seen.start, now);
        let was_calm = is_of_now && fate.as_ref().is_some_and(is_calm);
        let fate = fate.filter(|_| is_of_now);
        self.episodes.end(now, fate.and_then(|fate| Self::part(net, flow, now, &seen, &fate)));
        let (like, life) = (Self::like(net, flow), now.saturating_sub(seen.start));
        // Data that were ahead of it on its connection have taken a part of its time.
        let was_clear = !self.is_known || seen.slack.saturating_add_unsigned(self.memory.margin(life).0) >= 0;
        let past = Past {
            like,
            life,
            waited: if self.is_known { Time::ZERO } else { Seen::waited(seen.slack) },
            waiting: self.memory.waiting_error(like, seen.waits) + seen.lead.0 as f64 / life.0.max(1) as f64,
            delivered: seen.delivered.filter(|_| was_calm && !seen.met && was_clear),
            is_of_now,
            teaches: self.leave(flow, like.0, &seen, now),
            flow,
            seen,
        };
        if let Some(recalled) = self.now.remove(&flow) {
            return Some(self.end_recalled(net, flow, &past, &recalled));
        }
        let held = self.beside.end(flow);
        self.drift.add(flow, like.0, self.jump_error(past.seen.start, now));
        if self.takes_its_like(&past, held) {
            self.learn(&past);
        }
        None
    }

    /// A message leaves its component; returns whether others may learn from it.
    fn leave(&mut self, flow: FlowId, connection: ConnectionId, seen: &Seen, now: Time) -> bool {
        let component = self.components.get_mut(connection);
        component.unready -= usize::from(seen.way == Way::Unready);
        if self.slowed.remove(&flow) {
            component.slowed -= 1;
            component.slowed_until = component.slowed_until.max(now);
        }
        !self.is_known || !component.is_slowed_after(seen.start)
    }

    /// A recalled message is over.
    fn end_recalled(&mut self, net: &Network, flow: FlowId, past: &Past, recalled: &Recalled) -> Ended {
        let start = past.seen.start;
        if let Some(spread) = recalled.spread {
            let error = spread + (past.seen.acks - recalled.taken.acks).abs() + past.waiting;
            self.note_error(past, error);
        }
        self.tally.messages += 1;
        self.send(net, flow, start, net.flows.size(flow).bytes().unwrap_or(0));
        Ended { start, paused: recalled.paused }
    }

    /// Takes note of by how much a simulated message may be wrong, as packets of others were not there; `held` says so of one that was held. Returns
    /// whether it took what messages like it take.
    fn takes_its_like(&mut self, past: &Past, held: Option<f64>) -> bool {
        let missed = past.seen.missed;
        // Messages like it took the same time in a row with all the packets of others, and none of theirs was where marks hang on chance.
        self.strangers += u64::from(missed > 0.0 && self.memory.expected(past.like).is_none());
        match (past.delivered, held) {
            (Some(_), Some(spread)) => {
                self.note_error(past, spread + past.waiting);
                false
            }
            (Some(_), None) if missed > 0.0 => {
                self.note_error(past, missed);
                missed <= self.memory.quota()
            }
            (None, _) if missed > 0.0 || held.is_some() => {
                // Marks, pauses and losses may hang on the ACKs that were not there. As the network changes, that is past.
                if past.is_of_now {
                    self.give_up(past.connection());
                }
                self.tally.doubt(past.seen.start);
                true
            }
            _ => true,
        }
    }

    /// Learns what messages like this one take.
    fn learn(&mut self, past: &Past) {
        let (connection, taken) = (past.connection(), past.taken());
        let component = self.components.get(connection);
        let doubt = match taken {
            // The next ones are recalled by those before it, which agreed.
            Some(taken) if component.recalls => return self.memory.witness(past.like, taken),
            // Nobody knows how many ACKs the others got that sent below the line rate, and so not why this one took another time.
            Some(taken) if !past.teaches => self.memory.compare(past.like, &taken),
            taken => self.memory.learn(past.like, taken, component.epoch),
        };
        if self.memory.is_unsteady(past.like) {
            self.go_on_in_doubt();
        }
        match doubt {
            Some(doubt) if doubt.is_of_recalled => self.doubt(connection, doubt.error, doubt.since),
            Some(doubt) => self.tally.note_error(doubt.error),
            None => {}
        }
    }

    /// What a simulated message is in its episode; `None` if what happened to it may hang on chance, or on a state that no one tells.
    fn part(net: &Network, flow: FlowId, now: Time, seen: &Seen, fate: &Fate) -> Option<Part> {
        let may_come_again =
            fate.is_smooth && fate.troubles.marks == seen.troubles.marks && Self::is_plain(net, flow);
        let since = |time: Time| time.saturating_sub(seen.start);
        seen.delivered.filter(|_| may_come_again).map(|delivered| Part {
            like: Self::like(net, flow),
            start: seen.start,
            delivered: since(delivered),
            sent: since(now),
            paused: fate.paused,
        })
    }

    /// A message may be wrong by `error`, a share of its time, and so may be the start of the one behind it.
    fn note_error(&mut self, past: &Past, error: f64) {
        let time = Time((past.life.0 as f64 * error) as u64);
        self.drift.add(past.flow, past.connection(), time);
        if let Some(next) = past.seen.next {
            self.traffic.note_ahead(next, time);
        }
        self.doubt(past.connection(), error, past.seen.start);
    }

    /// A message of a connection may be wrong by `error`, and others from a time on.
    fn doubt(&mut self, connection: ConnectionId, error: f64, from: Time) {
        self.tally.note_error(error);
        if error > self.tolerance {
            // What the run cannot vouch for is not to become more. It never can under schemes with a state of their own: there messages must only agree
            // again.
            if self.is_known {
                self.give_up(connection);
            }
            self.tally.doubt(from);
        }
    }
}
