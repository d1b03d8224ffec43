//! Messages that are recalled: in a fast-forwarded run, a message whose like took the same time again and again is not
//! simulated any more, but takes that time. A ring of 128 hosts has 254 phases, of which few are simulated.
//!
//! - [`traffic`] follows which messages are under way on which ports: whether data of two messages meet at a port, and how much
//!   of a port's time ACKs of others may take.
//! - [`memory`] has what messages took, by connection and size.
//! - [`components`] says which connections can affect each other.
//! - [`beside`] has messages that are simulated beside recalled ones, and take less time than they would have taken.
//! - [`episodes`] recalls all messages between two quiet moments, also where they meet, if everything was the same before.
//! - [`choice`] decides which messages are recalled, this module follows them, [`ends`] learns from them, and [`hosts`] carries that out.
//!
//! A message is recalled if the latest ones of its connection and size agree, and nothing happened to them: no other message's data
//! at a port of their path, no mark nor a queue close to it, no pause, no CNP, nothing sent again. Messages that share ports only with ACKs of others
//! depend on each other a little, so all of a component change together from being simulated to being recalled: as soon as no
//! message of the component is under way that is not ready, each connection changes with its next message but, where others are a message ahead, the one after
//! that. The same holds for the way back. What ACKs that were not there would have taken of a message's ports is an estimated error.
//!
//! As soon as data of two messages of a component meet at a port, none of its messages is recalled by its like any more: how messages share
//! a port may hang on single packets. Then episodes may come again as a whole.

mod beside;
mod choice;
mod components;
mod delivered;
mod drift;
mod ends;
mod episodes;
mod hosts;
mod look;
mod memory;
mod rounds;
mod stops;
mod traffic;

use std::collections::{HashMap, HashSet};

use xoff_engine::{Rate, Time};

use crate::ids::{ConnectionId, FlowId, PortId};
use crate::network::Network;
use beside::Beside;
use components::Components;
use drift::Drift;
use episodes::{Deviation, Episodes, Over, Part};
use look::Look;
use memory::{Like, Memory, Taken};
use traffic::{CLEAR, Traffic, Way};

/// A message under way that is recalled.
struct Recalled {
    taken: Taken,
    /// How long of that it waits for its turn on its connection.
    waits: Time,
    /// By how much its like differed; `None` if it is of an episode that comes again.
    spread: Option<f64>,
    /// Time for which its sender's port would have been paused.
    paused: Time,
}

/// What becomes of a message that starts.
enum Beginning {
    Simulated,
    /// It is simulated, and begins to send so much later.
    HeldBack(Time),
    Recalled(Taken),
}

/// A recalled message: when it started, and for how long its sender's port would have been paused.
struct Ended {
    start: Time,
    paused: Time,
}

/// A recalled message that is under way.
struct UnderWay {
    flow: FlowId,
    start: Time,
    /// Time from its start to its turn on its connection, and to its last ACK.
    waits: Time,
    sent: Time,
    paused: Time,
}

/// What a message that starts needs to know of the network.
struct Surroundings<L> {
    troubles: Troubles,
    /// Nothing of earlier notifications is left at the message's sender.
    is_settled: bool,
    /// Looks at the network while no message is under way, if that is worth it; see [`Episodes::begin`].
    look: L,
    /// Events so far, and how many of them are worth a look.
    events: u64,
    worth: u64,
}

/// What happened on a message's path so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Troubles {
    /// Marks, and packets whose marks hung on chance.
    pub marks: u64,
    /// Packets that left queues which were close to being marked.
    pub close_calls: u64,
    /// PAUSE frames.
    pub pauses: u64,
}

/// What happened to a simulated message.
struct Fate {
    troubles: Troubles,
    /// Time for which its sender's port was paused.
    paused: Time,
    /// Nothing notified its sender, nothing of earlier notifications is left, and nothing was sent again.
    is_smooth: bool,
}

/// Data and ACKs of messages that are not simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sent {
    pub packets: u64,
    /// On the wire.
    pub bytes: u64,
    pub acks: u64,
}

impl Sent {
    /// Adds a message, or the first `size` bytes of one.
    pub fn add(&mut self, net: &Network, size: u64) {
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
    /// The same of messages since the run was last the plain run.
    pub recent: f64,
    /// The first time from which single messages may differ by more than the tolerance.
    pub uncertain_from: Option<Time>,
}

impl Tally {
    /// A message may be wrong by an `error`.
    fn note_error(&mut self, error: f64) {
        self.error = self.error.max(error);
        self.recent = self.recent.max(error);
    }

    fn doubt(&mut self, from: Time) {
        self.uncertain_from = Some(self.uncertain_from.map_or(from, |time| time.min(from)));
    }
}

/// By connection: the sizes of its messages, in order of their numbers, if there are several.
fn sizes(net: &Network, connections: usize) -> Vec<Vec<u64>> {
    let mut sizes = vec![Vec::new(); connections];
    let likes = FlowId::all(net.flows.len()).map(|flow| Recall::like(net, flow));
    for (connection, size) in likes.filter(|like| net.connections.is_shared(like.0)) {
        sizes[connection.index()].push(size);
    }
    sizes
}

/// The messages of a run.
pub(crate) struct Recall {
    tolerance: f64,
    /// Messages may be recalled.
    may: bool,
    /// Messages are recalled also where the run cannot vouch for their times, although the scheme has no state of its own, so that it could for others.
    persists: bool,
    /// The scheme has no state that messages would change, but for what its timers do; and the run vouches for its messages, as far as they allow.
    is_known: bool,
    traffic: Traffic,
    memory: Memory,
    beside: Beside,
    components: Components,
    episodes: Episodes,
    /// Events that looks at the network were worth so far.
    spent: u64,
    /// By connection: the sizes of its messages, in order of their numbers, if there are several.
    sizes: Vec<Vec<u64>>,
    /// By connection: number of messages that have started.
    started: Vec<u32>,
    /// The last start of a message that is neither its connection's first nor its last one.
    latest: Option<(ConnectionId, Time)>,
    /// By message under way that is recalled.
    now: HashMap<FlowId, Recalled>,
    /// Messages for which packets of others were not there, and of whose like nobody knows enough.
    strangers: u64,
    /// By message that is held back, and has sent nothing yet: its start.
    held_back: HashMap<FlowId, Time>,
    /// Messages under way that began below the line rate.
    slowed: HashSet<FlowId>,
    /// What recalled messages sent: by their connection, and since when its route was the same as when they started.
    sent: HashMap<(ConnectionId, Time), Sent>,
    tally: Tally,
    drift: Drift,
    /// The end of the last jump after which times may be wrong, and the largest share of a message's time by which.
    jumped: (Time, f64),
    /// The network is as it was then, as far as is known.
    unchanged_since: Time,
    /// Nodes are at times that are no further apart: the shortest delay of a link.
    window: Time,
}

impl Recall {
    /// Nothing has started. Messages of `net` are recalled with errors up to `tolerance` if they `may` be; if it `persists`, also where the run cannot vouch for that.
    pub fn new(net: &Network, tolerance: f64, may: bool, persists: bool) -> Recall {
        let connections = net.connections.count(net.flows.len());
        let is_known = net.has_known_state();
        Recall {
            tolerance,
            may: may && net.paths.next_hops.is_none(),
            persists: persists && is_known,
            is_known,
            traffic: Traffic::new(net, !is_known),
            memory: Memory::new(tolerance, is_known),
            beside: Beside::default(),
            components: Components::new(net, connections),
            episodes: Episodes::new(net.topology.min_delay()),
            spent: 0,
            sizes: sizes(net, connections),
            started: vec![0; connections],
            latest: None,
            now: HashMap::new(),
            strangers: 0,
            held_back: HashMap::new(),
            slowed: HashSet::new(),
            sent: HashMap::new(),
            tally: Tally::default(),
            drift: Drift::new(net),
            jumped: (Time::ZERO, 0.0),
            unchanged_since: Time::ZERO,
            window: net.topology.min_delay(),
        }
    }

    /// Time was carried forward until `now`, by which what messages under way take may be wrong by a share `error` of it.
    pub fn note_jump(&mut self, now: Time, error: f64) {
        self.jumped = (now, self.jumped.1.max(error));
    }

    /// By how much a simulated message that started at a time and ends `now` may be wrong, as time was carried forward in it.
    fn jump_error(&self, start: Time, now: Time) -> Time {
        let (at, share) = self.jumped;
        let life = if at > start { now.saturating_sub(start) } else { Time::ZERO };
        Time((life.0 as f64 * share) as u64)
    }

    /// What was recalled up to `now`.
    pub fn tally(&self, now: Time) -> Tally {
        let mut tally = self.tally;
        if let Some(Deviation(from)) = self.episodes.missing(now) {
            tally.doubt(from);
        }
        tally
    }

    /// A recalled message that started at time `start` has sent its first `size` bytes.
    fn send(&mut self, net: &Network, flow: FlowId, start: Time, size: u64) {
        let place = (net.connections.of(flow), net.unchanged_since(start));
        self.sent.entry(place).or_default().add(net, size);
    }

    /// A message may be recalled only if it ends before then: before anything changes in the network.
    fn until(&self, net: &Network, now: Time) -> Time {
        net.next_change(now).before(self.window + self.window)
    }

    /// Takes note of what has changed in the network until `now`: what was learned before is past.
    fn keep_up(&mut self, net: &Network, now: Time) {
        let since = net.unchanged_since(now);
        if since <= self.unchanged_since {
            return;
        }
        self.unchanged_since = since;
        self.doubt_from(self.episodes.missing(since));
        self.memory.forget();
        self.episodes.forget();
        self.traffic.reroute(net, since, &self.drift);
        self.note_meetings();
        self.components.forget_ports();
        for connection in self.traffic.connections() {
            self.components.join(net, connection, since);
        }
    }

    /// The run ends `now`; returns the recalled episodes that are over, or have come that far.
    fn close(&mut self, now: Time) -> Vec<Over> {
        self.episodes.close(now);
        self.episodes.take_over()
    }

    /// When two messages first met at a port.
    pub fn met(&self) -> Option<Time> {
        self.traffic.met()
    }

    /// Messages are under way that are recalled or held.
    pub fn is_recalling(&self) -> bool {
        !self.now.is_empty() || !self.held_back.is_empty() || self.beside.is_holding()
    }

    /// No message is under way.
    pub fn is_idle(&self) -> bool {
        self.traffic.is_idle()
    }

    /// The run, in which no message is under way, is the plain run again: what was wrong before is past.
    pub fn begin_anew(&mut self) {
        self.tally.recent = 0.0;
        self.jumped = (Time::ZERO, 0.0);
        self.drift.forget();
        self.components.forget_recalled();
    }

    /// Number of messages so far for which packets of others were not there, and of whose like nobody knows enough: the plain run's
    /// queues may have been longer, up to where marks hang on chance.
    pub fn strangers(&self) -> u64 {
        self.strangers
    }

    /// Messages are under way, and all of them are recalled.
    pub fn is_all_recalled(&self) -> bool {
        self.traffic.is_all_recalled()
    }

    /// The messages under way that are recalled, in order of their numbers.
    fn under_way(&self) -> Vec<UnderWay> {
        let known = |(flow, start): (FlowId, Time)| {
            let recalled = self.now.get(&flow)?;
            let Recalled { taken, waits, paused, .. } = *recalled;
            Some(UnderWay { flow, start, waits, sent: taken.sent, paused })
        };
        self.traffic.recalled().into_iter().filter_map(known).collect()
    }

    /// The connections with messages under way, in order of their numbers.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.traffic.connections()
    }

    /// PAUSE and RESUME frames that ports would have sent in recalled episodes.
    pub fn pause_frames(&self) -> impl Iterator<Item = (PortId, u64)> + '_ {
        self.episodes.frames()
    }

    /// What recalled messages sent: by their connection, and a time at which its route was theirs.
    pub fn sent(&self) -> impl Iterator<Item = (ConnectionId, Time, Sent)> + '_ {
        self.sent.iter().map(|(&(connection, at), &sent)| (connection, at, sent))
    }

    /// A message has an end, and nothing but the network keeps it from coming to it.
    pub(crate) fn is_plain(net: &Network, flow: FlowId) -> bool {
        let f = net.flows.of(flow);
        !f.size.is_endless() && f.stop == Time::NEVER && f.source_rate == Rate::UNLIMITED
    }

    fn like(net: &Network, flow: FlowId) -> Like {
        (net.connections.of(flow), net.flows.size(flow).bytes().unwrap_or(u64::MAX))
    }

    /// A message starts; returns what becomes of it.
    fn begin<L: FnOnce(Vec<Over>, Option<usize>, bool) -> Option<Look>>(
        &mut self,
        net: &Network,
        flow: FlowId,
        now: Time,
        around: Surroundings<L>,
    ) -> Beginning {
        let (like, troubles, is_settled) = (Self::like(net, flow), around.troubles, around.is_settled);
        self.keep_up(net, now);
        // A message of a node that is behind starts as the network changes.
        let from = now.max(self.unchanged_since);
        self.components.join(net, like.0, from);
        let part = self.begin_part(like, now, self.until(net, now), around);
        // The message is to wait behind the one under way, of which there are no packets if that one is recalled.
        let overtakes = part.is_none() && self.traffic.is_recalling(net, like.0);
        let turn = self.turn(net, like, now);
        let (is_clear, wait) = (turn.is_some(), turn.map_or(Time::ZERO, |turn| turn - now));
        let way = if part.is_some() { Way::Recalled } else { self.way(net, flow, is_clear, (now, wait)) };
        let recalled = match part {
            Some(Part { delivered, sent, paused, .. }) => {
                let taken = Taken { delivered, sent, acks: 0.0, waits: Time::ZERO, slack: CLEAR };
                Some(Recalled { taken, waits: Time::ZERO, spread: None, paused })
            }
            None if way == Way::Recalled => {
                let known = self.memory.recall(like, now);
                known.map(|(taken, spread)| Recalled {
                    taken: taken.later(wait),
                    waits: wait,
                    spread: Some(spread),
                    paused: Time::ZERO,
                })
            }
            None => None,
        };
        let may_be_held = recalled.is_none() && is_clear && wait == Time::ZERO && Self::is_plain(net, flow);
        let expected = self.memory.expected(like).filter(|_| may_be_held);
        let may_wait = way != Way::Recalled && !self.is_known;
        let begins = self.traffic.hold_back(like.0, now, turn).filter(|at| may_wait && *at > now);
        let has_turn = begins.is_some() || (turn.is_some() && !self.is_known);
        let overtakes = overtakes && way != Way::Recalled && expected.is_none() && !has_turn;
        let is_alike = recalled.is_some() || expected.is_some();
        if let Some(expected) = expected {
            self.beside.begin(flow, expected);
        }
        self.started[like.0.index()] += 1;
        if self.started[like.0.index()] > 1 && self.starts_of(like.0).1 > 0 {
            self.latest = Some((like.0, now));
        }
        self.traffic.begin(net, flow, (now, from), (way, is_alike, begins), troubles, &self.drift);
        if let Some(recalled) = &recalled {
            self.traffic.note_arrival(flow, now + recalled.taken.delivered);
        }
        self.note_meetings();
        self.doubt_shared_memory(net, like.0, way, now);
        let component = self.components.get_mut(like.0);
        component.unready += usize::from(way == Way::Unready);
        if !is_settled && self.slowed.insert(flow) {
            component.slowed += 1;
        }
        component.has_recalled |= recalled.as_ref().is_some_and(|recalled| recalled.spread.is_some());
        // What a scheme with a state of its own makes of messages that do not come may be more than the tolerance.
        if overtakes || component.is_uncertain() || (recalled.is_some() && !self.is_known) {
            self.tally.doubt(now);
        }
        if overtakes {
            self.give_up(like.0);
        }
        match (recalled, begins) {
            (Some(recalled), _) => {
                let taken = recalled.taken;
                self.now.insert(flow, recalled);
                Beginning::Recalled(taken)
            }
            (None, Some(at)) => {
                self.held_back.insert(flow, now);
                Beginning::HeldBack(at - now)
            }
            (None, None) => Beginning::Simulated,
        }
    }

    /// The messages that are held back, and their starts, in order of their numbers.
    fn held_back(&self) -> Vec<(FlowId, Time)> {
        let mut all: Vec<_> = self.held_back.iter().map(|(&flow, &start)| (flow, start)).collect();
        all.sort_unstable_by_key(|(flow, _)| flow.0);
        all
    }

    /// A message that was held back begins to send `now`; returns for how long it was.
    fn let_go(&mut self, flow: FlowId, now: Time) -> Time {
        self.held_back.remove(&flow).map_or(Time::ZERO, |start| now.saturating_sub(start))
    }

    /// The message that starts `now` as a part of an episode that is recalled, which is over before `until`.
    fn begin_part<L: FnOnce(Vec<Over>, Option<usize>, bool) -> Option<Look>>(
        &mut self,
        like: Like,
        now: Time,
        until: Time,
        around: Surroundings<L>,
    ) -> Option<Part> {
        if !self.may {
            return None;
        }
        if self.traffic.is_idle() {
            let (spent, started, sizes) = (&mut self.spent, &self.started, &self.sizes);
            let left = |c: ConnectionId| sizes[c.index()].get(started[c.index()] as usize..).unwrap_or(&[]);
            let look = |over: Vec<Over>, from| {
                let is_worth = *spent <= around.events;
                *spent += if is_worth { around.worth } else { 0 };
                (around.look)(over, from, is_worth)
            };
            // Until messages meet, each may be recalled by its like.
            let may = self.traffic.met().is_some();
            let deviation = self.episodes.begin(like, now, until, look, |c| if may { left(c) } else { &[] });
            self.doubt_from(deviation);
        }
        let missing = self.episodes.missing(now);
        if missing.is_some() {
            self.episodes.stop(now);
            self.doubt_from(missing);
        }
        self.episodes.start(like, now).unwrap_or_else(|deviation| {
            self.doubt_from(Some(deviation));
            None
        })
    }

    /// A message of a connection starts. A recalled message takes no room in the memory that a switch's ports share, and one of which nothing is known
    /// may find more room so than in the plain run.
    fn doubt_shared_memory(&mut self, net: &Network, connection: ConnectionId, way: Way, now: Time) {
        if !self.components.share_memory() {
            return;
        }
        let is_one = |other: &ConnectionId| self.components.is_one(*other, connection);
        let is_beside = match way {
            Way::Recalled => self.components.get(connection).unready > 0,
            Way::Unready => self.traffic.recalling(net).any(|other| is_one(&other)),
            Way::Ready => false,
        };
        if is_beside {
            self.give_up(connection);
            self.tally.doubt(now);
        }
    }

    fn doubt_from(&mut self, deviation: Option<Deviation>) {
        if let Some(Deviation(from)) = deviation {
            self.tally.doubt(from);
        }
    }

    /// Takes note of the meetings that are new.
    fn note_meetings(&mut self) {
        for (connection, at) in self.traffic.take_meetings() {
            let component = self.components.get_mut(connection);
            component.met = Some(component.met.map_or(at, |met| met.min(at)));
            if component.is_uncertain() {
                self.tally.doubt(at);
            }
        }
    }

    /// A message's last byte has arrived; returns for how long its delivery is held, if it is.
    fn deliver(&mut self, net: &Network, flow: FlowId, now: Time) -> Option<Time> {
        self.keep_up(net, now);
        if let Some(wait) = self.hold_delivery(net, flow, now) {
            return Some(wait);
        }
        // The last byte of a recalled message might arrive later.
        let error = self.now.get(&flow).and_then(|recalled| Some((recalled.taken, recalled.spread?)));
        let error = error.map_or(Time::ZERO, |(taken, spread)| {
            let acks = self.traffic.acks(net, flow, now).unwrap_or(taken.acks);
            taken.share(spread + (acks - taken.acks).abs())
        });
        let start = self.traffic.start(flow).filter(|_| !self.now.contains_key(&flow));
        let error = error.max(start.map_or(Time::ZERO, |start| self.jump_error(start, now)));
        self.traffic.deliver(net, flow, now, error, &self.drift);
        self.note_meetings();
        None
    }
}
