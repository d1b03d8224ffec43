//! Messages that are recalled: in a fast-forwarded run, a message whose like took the same time again and again is not
//! simulated any more, but takes that time. A ring of 128 hosts has 254 phases, of which few are simulated.
//!
//! - [`traffic`] follows which messages are under way on which ports: whether data of two messages meet at a port, and how much
//!   of a port's time ACKs of others may take.
//! - [`memory`] has what messages took, by connection and size.
//! - This module decides which messages are recalled, and [`hosts`] carries that out.
//!
//! A message is recalled if the latest ones of its connection and size agree, and nothing happened to them: no other message's data
//! at a port of their path, no mark, no pause, no CNP, nothing sent again. Messages that share ports only with ACKs of others
//! depend on each other a little, so all change together from being simulated to being recalled: as soon as no message is
//! under way that is not ready, each connection changes with its next message but, where others are a message ahead, the one after
//! that. The same holds for the way back. What ACKs that were not there would have taken of a message's ports is an estimated error.
//!
//! As soon as data of two messages meet at a port, nothing more is recalled: how messages share a port may hang on single packets.

mod hosts;
mod memory;
mod traffic;

use std::collections::HashMap;

use xoff_engine::Time;

use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;
use memory::{Like, Memory, Taken};
use traffic::{Seen, Traffic, Way};

/// Connections of a program are no more messages apart; others are of another program.
const APART: u32 = 8;

/// A message under way that is recalled.
struct Recalled {
    taken: Taken,
    /// By how much its like differed.
    spread: f64,
}

/// Data and ACKs of recalled messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sent {
    pub packets: u64,
    /// On the wire.
    pub bytes: u64,
    pub acks: u64,
}

impl Sent {
    fn add(&mut self, net: &Network, flow: FlowId) {
        let size = net.flows[flow.index()].size.unwrap_or(0);
        let packets = size.div_ceil(net.wire.payload);
        self.packets += packets;
        self.bytes += size + packets * (net.wire.frame() - net.wire.payload);
        self.acks += packets.div_ceil(u64::from(net.settings.host.ack_every.max(1)));
    }
}

/// What was recalled in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Number of messages.
    pub messages: u64,
    /// The largest estimated error of a message.
    pub error: f64,
    /// The first time from which single messages may differ by more than the tolerance.
    pub uncertain_from: Option<Time>,
}

/// The messages of a run.
pub(crate) struct Recall {
    tolerance: f64,
    /// Messages may be recalled.
    may: bool,
    traffic: Traffic,
    memory: Memory,
    /// By connection: number of messages that have started.
    started: Vec<u32>,
    /// Ready messages are recalled, as soon as connections have started so many messages.
    recalls: bool,
    from: u32,
    /// By message under way that is recalled.
    now: HashMap<FlowId, Recalled>,
    /// By connection: what its recalled messages sent.
    sent: Vec<Sent>,
    tally: Tally,
}

impl Recall {
    /// Nothing has started. Messages of `net` are recalled with errors up to `tolerance` if they `may` be.
    pub fn new(net: &Network, tolerance: f64, may: bool) -> Recall {
        let connections = net.connections.count(net.flows.len());
        let signals = &net.signals;
        // What hosts and switches count of all messages, or learn from time to time, would miss the recalled ones.
        let counts = signals.flow_count || signals.congestion_point || signals.switch_point;
        Recall {
            tolerance,
            may: may && !counts && net.paths.next_hops.is_none(),
            traffic: Traffic::new(net),
            memory: Memory::new(tolerance),
            started: vec![0; connections],
            recalls: false,
            from: 0,
            now: HashMap::new(),
            sent: vec![Sent::default(); connections],
            tally: Tally::default(),
        }
    }

    /// What was recalled so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// When two messages first met at a port.
    pub fn met(&self) -> Option<Time> {
        self.traffic.met()
    }

    /// Messages are under way, and all of them are recalled.
    pub fn is_all_recalled(&self) -> bool {
        self.traffic.is_all_recalled()
    }

    /// The messages under way that are recalled, with their starts and times, in order of their numbers.
    fn under_way(&self) -> Vec<(FlowId, Time, Time)> {
        let time = |(flow, start): (FlowId, Time)| Some((flow, start, self.now.get(&flow)?.taken.sent));
        self.traffic.recalled().into_iter().filter_map(time).collect()
    }

    /// By connection: what its recalled messages sent.
    pub fn sent(&self) -> impl Iterator<Item = (ConnectionId, Sent)> + '_ {
        ConnectionId::all(self.sent.len())
            .zip(&self.sent)
            .filter(|(_, s)| s.packets > 0)
            .map(|(c, s)| (c, *s))
    }

    fn like(net: &Network, flow: FlowId) -> Like {
        (net.connections.of(flow), net.flows[flow.index()].size.unwrap_or(u64::MAX))
    }

    /// All connections change their ways, each with its next message but, if others are ahead of it, the one after that.
    fn change(&mut self, net: &Network, recalls: bool) {
        self.recalls = recalls;
        self.from = self.traffic.connections(net).map(|c| self.started[c.index()]).max().unwrap_or_default();
    }

    /// A message starts; returns what it takes if it is recalled. There were `troubles` on its path so far.
    fn begin(&mut self, net: &Network, flow: FlowId, now: Time, troubles: u64) -> Option<Taken> {
        let way = self.way(net, flow);
        let like = Self::like(net, flow);
        let recalled = (way == Way::Recalled).then(|| self.memory.recall(like, now)).flatten();
        self.started[like.0.index()] += 1;
        self.traffic.begin(net, flow, now, way, troubles);
        let (taken, spread) = recalled?;
        self.now.insert(flow, Recalled { taken, spread });
        Some(taken)
    }

    /// Whether a message that starts is simulated or recalled.
    fn way(&mut self, net: &Network, flow: FlowId) -> Way {
        let f = &net.flows[flow.index()];
        let is_plain = f.size.is_some() && f.stop.is_none() && f.source_rate.is_none();
        let like = Self::like(net, flow);
        if !self.may || self.met().is_some() || !is_plain || self.traffic.is_busy(like.0) {
            return Way::Unready;
        }
        let number = self.started[like.0.index()];
        let is_behind = |from: u32| number < from && from - number <= APART;
        if self.recalls && !is_behind(self.from) && self.memory.is_stale(like) {
            self.memory.begin_epoch();
            self.change(net, false);
        }
        if !self.memory.is_ready(like, is_behind(self.from)) {
            if self.recalls {
                self.change(net, false);
            }
            return Way::Unready;
        }
        if !self.recalls && !self.traffic.has_unready() {
            self.change(net, true);
        }
        if is_behind(self.from) != self.recalls { Way::Recalled } else { Way::Ready }
    }

    /// A message's last byte has arrived.
    fn deliver(&mut self, net: &Network, flow: FlowId, now: Time) {
        self.traffic.deliver(net, flow, now);
    }

    /// A message is wholly acknowledged; with `troubles` on its path so far, and none at its sender if `was_calm`.
    fn end(&mut self, net: &Network, flow: FlowId, now: Time, troubles: u64, was_calm: bool) -> Option<Seen> {
        let seen = self.traffic.end(net, flow, now)?;
        let [all, missed] = seen.acks;
        if let Some(recalled) = self.now.remove(&flow) {
            self.doubt(recalled.spread + (all - recalled.taken.acks).abs(), now);
            self.tally.messages += 1;
            self.sent[net.connections.of(flow).index()].add(net, flow);
            return Some(seen);
        }
        let delivered = seen.delivered.filter(|_| was_calm && !seen.met && seen.troubles == troubles);
        if delivered.is_some() && missed > 0.0 {
            self.doubt(missed, now);
            if missed > self.memory.quota() {
                return Some(seen);
            }
        }
        let since = |time: Time| time.saturating_sub(seen.start);
        let taken = delivered.map(|at| Taken { delivered: since(at), sent: since(now), acks: all });
        if let Some(doubt) = self.memory.learn(Self::like(net, flow), taken) {
            self.doubt(doubt.error, doubt.since);
        }
        Some(seen)
    }

    /// A message may be wrong by `error`, and others from a time on.
    fn doubt(&mut self, error: f64, from: Time) {
        self.tally.error = self.tally.error.max(error);
        if error > self.tolerance {
            // What the run cannot vouch for is not to become more.
            self.may = false;
            self.tally.uncertain_from = Some(self.tally.uncertain_from.map_or(from, |time| time.min(from)));
        }
    }
}
