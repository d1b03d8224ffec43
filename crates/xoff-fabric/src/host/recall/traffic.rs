//! Which messages are under way on which ports: whether two of them meet, and how much of a port's time ACKs may take.
//!
//! Times are simulated times.

mod meetings;
mod rounds;
mod routes;
mod turns;

use std::collections::{BTreeSet, HashMap};

use xoff_engine::{Rate, Time};

use super::Troubles;
use super::delivered::{Delivered, Late};
use super::drift::Drift;
use crate::ids::{ConnectionId, FlowId};
use crate::network::{Network, Route};
use meetings::{CROWD, MANY, There};
pub(super) use routes::latency;
use routes::{ack_load, ways};

/// ACKs at one port.
#[derive(Clone, Copy, Default)]
struct Acks {
    /// Messages under way whose ACKs pass the port, and those among them that are recalled.
    messages: u32,
    recalled: u32,
    /// Up to when the sums count, and the sums of both numbers over time.
    until: Time,
    sums: [u64; 2],
}

impl Acks {
    fn count_until(&mut self, now: Time) {
        let time = now.saturating_sub(self.until).0;
        self.sums[0] += time * u64::from(self.messages);
        self.sums[1] += time * u64::from(self.recalled);
        self.until = now;
    }
}

/// Another message that comes to a port of a message's path.
struct Comer {
    flow: FlowId,
    /// The port's place in the path.
    hop: usize,
    /// The earliest time at which its first byte is there.
    at: Time,
}

/// What a message that starts is to its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is simulated, and no time of its like is known.
    Unready,
    /// It is simulated, and a time of its like is known.
    Ready,
    /// It is recalled.
    Recalled,
}

/// A message that is not wholly acknowledged.
struct Open {
    start: Time,
    way: Way,
    /// Its like are known, and it begins as late as they did after the message ahead of it on its connection.
    is_alike: bool,
    /// The route of its packets.
    route: Route,
    delivered: Option<Time>,
    /// It shares a port with data of another message, or, under schemes with a known state, its connection with more than one.
    met: bool,
    /// A meeting of it is noted: another one with such a message says nothing new.
    is_noted: bool,
    /// The message ahead of it on its connection, if that is not over yet, and, under schemes with a known state, whether that is recalled and this one is not.
    behind: Option<FlowId>,
    overtakes: bool,
    /// The message behind it on its connection.
    next: Option<FlowId>,
    /// Its ACKs are counted: under schemes with a state of their own, those of one message of a connection at a time.
    acknowledges: bool,
    /// When its last byte arrives, if that is known before.
    delivers_at: Option<Time>,
    /// Until when it is held back: see [`Traffic::hold_back`].
    begins: Option<Time>,
    /// See [`Seen::slack`].
    slack: i64,
    /// Time from its start until that one was over, and by how much that one's time may be wrong.
    tail: Time,
    ahead_error: Time,
    /// How long its last ACK may wait for data that were there when its last byte arrived.
    waits: Time,
    /// What had happened on its path when it started.
    troubles: Troubles,
    /// By port of its data path: the sums of ACKs at its start.
    before: Vec<[u64; 2]>,
    comers: Vec<Comer>,
    /// Messages that were there when it started, and were not delivered.
    found: Vec<FlowId>,
}

impl Open {
    /// For how long up to `now` it might have waited for a recalled message ahead of it.
    fn jumped(&self, now: Time) -> Time {
        match (self.overtakes, self.behind) {
            (false, _) => Time::ZERO,
            (true, None) => self.tail,
            (true, Some(_)) => now.saturating_sub(self.start),
        }
    }
}

/// What was seen of a message that is now wholly acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub start: Time,
    pub way: Way,
    /// When its last byte arrived.
    pub delivered: Option<Time>,
    /// It shared a port with data of another message, or its connection with more than one.
    pub met: bool,
    /// Time from the moment when the data of the message ahead of it on its connection were sent to its start, ps; [`CLEAR`] if that message was over.
    pub slack: i64,
    /// What had happened on its path when it started.
    pub troubles: Troubles,
    /// Share of its time that ACKs of all messages may have taken.
    pub acks: f64,
    /// By how much it may have begun before the data of the message ahead of it were sent, as that one's time may be wrong.
    pub lead: Time,
    /// The message behind it on its connection.
    pub next: Option<FlowId>,
    /// How long its last ACK may have waited for data of any message.
    pub waits: Time,
    /// Share of its time that it would have waited for ACKs of recalled messages and for the one ahead of it, if that was recalled, and its last ACK for data.
    pub missed: f64,
}

impl Seen {
    /// How long a message with this slack waited until the data ahead of it were sent.
    pub fn waited(slack: i64) -> Time {
        Time(u64::try_from(slack.saturating_neg()).unwrap_or_default())
    }
}

/// All messages under way.
pub(super) struct Traffic {
    /// By port.
    acks: Vec<Acks>,
    /// By port: the messages whose data pass it and which are not delivered.
    data: Vec<Vec<There>>,
    open: HashMap<FlowId, Open>,
    /// By port: the messages that were delivered last.
    late: Vec<Delivered>,
    /// The highest rate of hosts' ports.
    fastest: Rate,
    /// By connection: number of messages under way, and the one that started last.
    on: Vec<(u32, FlowId)>,
    /// The connections with messages under way.
    busy: BTreeSet<ConnectionId>,
    /// Number of messages under way that are simulated, and of those that are recalled.
    simulated: usize,
    recalled: usize,
    /// When two messages first met.
    met: Option<Time>,
    /// Meetings that are not taken yet: a connection, and when.
    meetings: Vec<(ConnectionId, Time)>,
    /// Packets have no path of their own.
    by_hops: bool,
    /// Messages may be recalled that have data of others ahead of them on their connection.
    queues: bool,
}

impl Traffic {
    /// No message. They may be recalled with data ahead of them if `queues` says so.
    pub fn new(net: &Network, queues: bool) -> Traffic {
        let ports = net.topology.ports() as usize;
        let hosts = net.topology.port_ids().filter(|&port| net.is_host(net.topology.node_of(port)));
        let hosts = hosts.map(|port| net.topology.rate(port));
        Traffic {
            acks: vec![Acks::default(); ports],
            data: (0..ports).map(|_| Vec::new()).collect(),
            open: HashMap::new(),
            late: vec![Delivered::default(); ports],
            fastest: hosts.max().unwrap_or(Rate(0)),
            on: vec![(0, FlowId(0)); net.connections.count(net.flows.len())],
            busy: BTreeSet::new(),
            simulated: 0,
            recalled: 0,
            met: None,
            meetings: Vec::new(),
            by_hops: net.paths.next_hops.is_some(),
            queues,
        }
    }

    /// From now on, messages may be recalled that have data of others ahead of them on their connection.
    pub fn queue(&mut self) {
        self.queues = true;
    }

    /// Messages are under way, and all of them are recalled.
    pub fn is_all_recalled(&self) -> bool {
        !self.open.is_empty() && self.simulated == 0
    }

    /// No message is under way.
    pub fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// The message that is under way on a connection, and its start; or how many there are, if not one.
    pub fn on(&self, connection: ConnectionId) -> Result<(FlowId, Time), u32> {
        match self.on[connection.index()] {
            (1, flow) => self.open.get(&flow).map(|open| (flow, open.start)).ok_or(1),
            (number, _) => Err(number),
        }
    }

    /// Whether a connection has a message under way that is recalled.
    pub fn is_recalling(&self, net: &Network, connection: ConnectionId) -> bool {
        let is_it = |(&flow, open): (&FlowId, &Open)| {
            open.way == Way::Recalled && net.connections.of(flow) == connection
        };
        match self.on(connection) {
            Ok((flow, _)) => self.open[&flow].way == Way::Recalled,
            Err(0) => false,
            Err(_) => self.recalled > 0 && self.open.iter().any(is_it),
        }
    }

    /// When a message under way started.
    pub fn start(&self, flow: FlowId) -> Option<Time> {
        self.open.get(&flow).map(|open| open.start)
    }

    /// The connections with messages under way, in order of their numbers.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.busy.iter().copied()
    }

    /// A message starts `now`, on the route that it has at time `at`, and `troubles` have happened on its path so far. `is_alike` says whether its like
    /// are known, and began as late as it does after the message ahead on its connection; if it is held back, it begins to send later.
    pub fn begin(
        &mut self,
        net: &Network,
        flow: FlowId,
        (now, at): (Time, Time),
        (way, is_alike, begins): (Way, bool, Option<Time>),
        troubles: Troubles,
        drift: &Drift,
    ) {
        let connection = net.connections.of(flow);
        let (others, last) = self.on[connection.index()];
        *self.number_of(way) += 1;
        let ahead = self.open.get(&last).filter(|_| others > 0);
        let sent_at =
            ahead.and_then(|ahead| Some(ahead.delivered?.saturating_sub(latency(net, &ahead.route, now))));
        let open = Open {
            start: now,
            way,
            is_alike,
            route: *net.route_at(flow, at),
            delivered: None,
            met: others > 1 && !self.queues,
            is_noted: false,
            behind: (others > 0 && self.open.contains_key(&last)).then_some(last),
            overtakes: way != Way::Recalled && !self.queues && self.is_recalling(net, connection),
            next: None,
            acknowledges: others == 0 || !self.queues,
            delivers_at: None,
            begins,
            slack: sent_at.map_or(CLEAR, |sent_at| slack(sent_at, now)),
            tail: Time::ZERO,
            ahead_error: Time::ZERO,
            waits: Time::ZERO,
            troubles,
            before: Vec::new(),
            comers: Vec::new(),
            found: Vec::new(),
        };
        if let Some(ahead) = self.open.get_mut(&last).filter(|_| others > 0) {
            ahead.next = Some(flow);
        }
        self.on[connection.index()] = (others + 1, flow);
        self.busy.insert(connection);
        if self.by_hops {
            if self.open.keys().any(|&other| net.connections.of(other) != connection) {
                self.met = self.met.or(Some(now));
            }
            self.open.insert(flow, open);
            return;
        }
        let open = self.enter(net, flow, open, now, drift);
        self.open.insert(flow, open);
    }

    /// A message comes to the ports of its route.
    fn enter(&mut self, net: &Network, flow: FlowId, mut open: Open, now: Time, drift: &Drift) -> Open {
        let connection = net.connections.of(flow);
        let path = net.data_ports(&open.route);
        for (port, way) in path.iter().zip(ways(net, path)) {
            let acks = &mut self.acks[port.index()];
            acks.count_until(now);
            open.before.push(acks.sums);
            if open.delivered.is_some() {
                continue;
            }
            // One like others was seen to begin as late as they did behind the one ahead.
            let is_alike = open.is_alike;
            let counts = |of: ConnectionId| of != connection || !is_alike;
            let may_meet = |late: &&Late| {
                counts(late.connection)
                    && drift.may_meet(net, (late.flow, late.drift, late.until), (flow, now + way))
            };
            let there = &self.late[port.index()];
            let late = there.last.iter().filter(may_meet);
            // What was delivered meanwhile is as uncertain.
            let forgotten = (now + way < there.forgotten + drift.of(flow)).then_some(now + way);
            let mut met = late.map(|late| late.delivered).chain(forgotten).min();
            let is_many = self.are_there(*port, MANY, &open, |there| counts(there.connection));
            let is_crowd =
                self.are_there(*port, CROWD, &open, |there| there.is_noted && counts(there.connection));
            if (is_crowd || is_many) && !open.is_noted {
                met = met.or(Some(now + way));
            }
            if is_many {
                self.meet_all(*port, counts, now + way);
            }
            if let Some(at) = met {
                (open.met, open.is_noted) = (true, true);
                self.note_meeting(connection, at.min(now + way));
            }
            for there in self.data[port.index()].iter_mut().filter(|there| counts(there.connection)) {
                if there.is_noted && open.is_noted {
                    continue;
                }
                let Some(other) = self.open.get_mut(&there.flow) else { continue };
                there.is_noted = other.is_noted;
                let hop = net.data_ports(&other.route).iter().position(|p| p == port).unwrap_or(0);
                other.comers.push(Comer { flow, hop, at: now + way });
                if there.connection != connection {
                    open.found.push(there.flow);
                }
            }
            self.data[port.index()].push(There { flow, connection, is_noted: open.is_noted });
        }
        self.come_acks(net, &open, now);
        open
    }

    /// The ACKs of a message, which is `open`, come to its route.
    fn come_acks(&mut self, net: &Network, open: &Open, now: Time) {
        for port in net.ack_ports(&open.route).iter().filter(|_| open.acknowledges) {
            let acks = &mut self.acks[port.index()];
            acks.count_until(now);
            acks.messages += 1;
            acks.recalled += u32::from(open.way == Way::Recalled);
        }
    }

    /// The ACKs of a message, which is `open`, are gone from its route.
    fn leave_acks(&mut self, net: &Network, open: &Open, now: Time) {
        for port in net.ack_ports(&open.route).iter().filter(|_| open.acknowledges) {
            let acks = &mut self.acks[port.index()];
            acks.count_until(now);
            acks.messages -= 1;
            acks.recalled -= u32::from(open.way == Way::Recalled);
        }
    }

    /// Routing may have changed at time `at`: messages under way take other routes. What others that came to the old ones met of them is not
    /// known, so all of those have met.
    pub fn reroute(&mut self, net: &Network, at: Time, drift: &Drift) {
        let mut moved: Vec<FlowId> = self.open.keys().copied().collect();
        moved.sort_unstable_by_key(|flow| flow.0);
        for flow in moved {
            let (Some(mut open), route) = (self.open.remove(&flow), *net.route_at(flow, at)) else {
                continue;
            };
            open.met = true;
            if open.route != route && !self.by_hops {
                for port in net.data_ports(&open.route) {
                    self.data[port.index()].retain(|there| there.flow != flow);
                }
                self.leave_acks(net, &open, at);
                (open.route, open.before) = (route, Vec::new());
                let comers = std::mem::take(&mut open.comers);
                open = self.enter(net, flow, open, at, drift);
                self.open.insert(flow, open);
                comers.into_iter().for_each(|comer| self.meet(net, [flow, comer.flow], comer.at));
                continue;
            }
            self.open.insert(flow, open);
        }
    }

    /// By how much the time of the message ahead of another one may be wrong.
    pub fn note_ahead(&mut self, flow: FlowId, error: Time) {
        if let Some(open) = self.open.get_mut(&flow) {
            open.ahead_error = error;
        }
    }

    /// Share of the time of a message up to `now` that ACKs of all messages may have taken.
    pub fn acks(&mut self, net: &Network, flow: FlowId, now: Time) -> Option<f64> {
        let open = self.open.remove(&flow)?;
        let acks = if self.by_hops { 0.0 } else { self.acks_of(net, &open, now).0 };
        self.open.insert(flow, open);
        Some(acks)
    }

    /// A message's last byte has arrived: another one has met it if that came to a port before the last byte can have left it, or by as much later as the
    /// message's time may be wrong.
    pub fn deliver(&mut self, net: &Network, flow: FlowId, now: Time, error: Time, drift: &Drift) {
        let Some(open) = self.open.get_mut(&flow) else { return };
        open.delivered = Some(now);
        if self.by_hops {
            return;
        }
        let next = if self.queues { open.next } else { Some(self.on[net.connections.of(flow).index()].1) };
        let sent_at = now.saturating_sub(latency(net, &open.route, now));
        if let Some(next) =
            next.and_then(|next| self.open.get_mut(&next)).filter(|next| next.behind == Some(flow))
        {
            next.slack = slack(sent_at, next.start);
        }
        let Some(open) = self.open.remove(&flow) else { return };
        let waits = self.waits(net, &open, false, now);
        let open = self.open.entry(flow).or_insert(Open { waits, ..open });
        let path = net.data_ports(&open.route);
        path.iter().for_each(|port| self.data[port.index()].retain(|there| there.flow != flow));
        for comer in std::mem::take(&mut open.comers) {
            let after: Time =
                path[comer.hop..].iter().fold(Time::ZERO, |sum, &p| sum + net.topology.delay(p));
            let until = (now + error).saturating_sub(after);
            if drift.may_meet(net, (flow, drift.of(flow), until), (comer.flow, comer.at)) {
                // The message itself, which ends now, is as uncertain.
                self.meet(net, [flow, comer.flow], comer.at.min(now));
            }
        }
        self.note_late(net, flow, (now, now + error), drift.of(flow));
    }

    /// A message was `delivered`; its last byte might have arrived as late as `until`, if it started at its time.
    fn note_late(&mut self, net: &Network, flow: FlowId, (delivered, mut until): (Time, Time), drift: Time) {
        let connection = net.connections.of(flow);
        let Some(open) = self.open.get(&flow) else { return };
        for port in net.data_ports(&open.route).iter().rev() {
            until = until.saturating_sub(net.topology.delay(*port));
            self.late[port.index()].add(Late { flow, connection, delivered, until, drift });
        }
    }

    /// A message is not under way on its connection any more.
    fn leave(&mut self, connection: ConnectionId, way: Way) {
        let (number, _) = &mut self.on[connection.index()];
        *number -= 1;
        if *number == 0 {
            self.busy.remove(&connection);
        }
        *self.number_of(way) -= 1;
    }

    fn number_of(&mut self, way: Way) -> &mut usize {
        if way == Way::Recalled { &mut self.recalled } else { &mut self.simulated }
    }

    /// A message is wholly acknowledged.
    pub fn end(&mut self, net: &Network, flow: FlowId, now: Time) -> Option<Seen> {
        let open = self.open.remove(&flow)?;
        let connection = net.connections.of(flow);
        self.leave(connection, open.way);
        let next = if self.queues { open.next } else { Some(self.on[connection.index()].1) };
        let next = next.filter(|next| {
            let Some(next) = self.open.get_mut(next).filter(|next| next.behind == Some(flow)) else {
                return false;
            };
            (next.behind, next.tail) = (None, now.saturating_sub(next.start));
            true
        });
        let Open { start, way, delivered, troubles, slack, .. } = open;
        if self.by_hops {
            let (met, lead, acks, waits, missed) = (true, Time::ZERO, 0.0, Time::ZERO, 0.0);
            return Some(Seen {
                start,
                way,
                delivered,
                met,
                slack,
                lead,
                next,
                troubles,
                acks,
                waits,
                missed,
            });
        }
        // One that was there at its start and still is has met it.
        let still = |other: &FlowId| self.open.get(other).is_some_and(|there| there.delivered.is_none());
        let found: Vec<FlowId> = open.found.iter().copied().filter(still).collect();
        found.iter().for_each(|&other| self.meet(net, [flow, other], start));
        let (waits, missed_waits) =
            (self.waits(net, &open, false, now).max(open.waits), self.waits(net, &open, true, now));
        self.leave_acks(net, &open, now);
        self.acknowledge_next(net, open.next, now);
        let life = now.saturating_sub(start).0.max(1) as f64;
        let (acks, missed) = self.acks_of(net, &open, now);
        let missed = missed + (missed_waits + open.jumped(now)).0 as f64 / life;
        let met = open.met || open.behind.is_some() || !found.is_empty();
        let lead = Time(open.ahead_error.0.saturating_sub(u64::try_from(slack).unwrap_or(0)));
        Some(Seen { start, way, delivered, met, slack, lead, next, troubles, acks, waits, missed })
    }

    /// How long a message has been under way `now`, whose last byte has arrived or, if `acknowledged`, whose last ACK; and how much longer it might have been
    /// with the recalled messages.
    pub fn missed(
        &mut self,
        net: &Network,
        flow: FlowId,
        now: Time,
        acknowledged: bool,
    ) -> Option<(Time, Time)> {
        let open = self.open.remove(&flow)?;
        let life = now.saturating_sub(open.start);
        let acks = if self.by_hops { 0.0 } else { self.acks_of(net, &open, now).1 };
        let waits =
            if acknowledged && !self.by_hops { self.waits(net, &open, true, now) } else { Time::ZERO };
        let missed = waits + open.jumped(now) + Time((acks * life.0 as f64) as u64);
        self.open.insert(flow, open);
        Some((life, missed))
    }

    /// Where data of a message are, or would be if it is recalled, the last ACK of a message, which is `open`, may wait for a frame: the time of all of these, of all messages or
    /// only of `recalled` ones.
    fn waits(&self, net: &Network, open: &Open, recalled: bool, now: Time) -> Time {
        if recalled && self.recalled == 0 {
            return Time::ZERO;
        }
        let is_it = |there: &There| {
            self.open.get(&there.flow).is_some_and(|other| !recalled || other.way == Way::Recalled)
        };
        let ports = net.ack_ports(&open.route).iter();
        let waits = ports.filter(|port| self.data[port.index()].iter().any(is_it));
        let frame = net.wire.frame();
        waits.fold(Time::ZERO, |sum, port| sum + net.rate_at(port, now).serialization(frame))
    }

    /// Share of the time of a message, which is `open`, up to `now` that ACKs of all messages may have taken, and that ACKs of recalled messages would have taken.
    fn acks_of(&mut self, net: &Network, open: &Open, now: Time) -> (f64, f64) {
        let life = now.saturating_sub(open.start).0.max(1) as f64;
        let load = ack_load(net, &open.route);
        // ACKs at one port go into the gaps in the data that ACKs at another one make, once these gaps have come there.
        let at_first = net.env.base_rtt.0 as f64 / life * load;
        let (mut most, mut sums) = ([0.0_f64; 2], [0.0; 2]);
        for (port, before) in net.data_ports(&open.route).iter().zip(&open.before) {
            let at = &mut self.acks[port.index()];
            at.count_until(now);
            // Data of others may come as fast as hosts send, and their ACKs by a slower link.
            let rate = net.rate_at(*port, now).bps().max(1);
            let load = load * (self.fastest.bps() as f64 / rate as f64).max(1.0);
            for i in [0, 1] {
                let share = (at.sums[i] - before[i]) as f64 / life * load;
                most[i] = most[i].max(share);
                sums[i] += share.min(at_first);
            }
        }
        let all = |i: usize| most[i] + sums[i] - most[i].min(at_first);
        (all(0), all(1))
    }

    /// The connections with messages under way that are recalled.
    pub fn recalling<'a>(&'a self, net: &'a Network) -> impl Iterator<Item = ConnectionId> + 'a {
        // Mostly there are none.
        let open = (self.recalled > 0).then_some(&self.open).into_iter().flatten();
        let recalled = open.filter(|(_, open)| open.way == Way::Recalled);
        recalled.map(|(&flow, _)| net.connections.of(flow))
    }

    /// The messages under way that are recalled, with their starts, in order of their numbers.
    pub fn recalled(&self) -> Vec<(FlowId, Time)> {
        let open = (self.recalled > 0).then_some(&self.open).into_iter().flatten();
        let recalled = open.filter(|(_, open)| open.way == Way::Recalled);
        let mut all: Vec<_> = recalled.map(|(&flow, open)| (flow, open.start)).collect();
        all.sort_unstable_by_key(|(flow, _)| flow.0);
        all
    }
}

/// The slack of a message that starts when nothing is under way on its connection.
pub(super) const CLEAR: i64 = i64::MAX;

/// Time from when data were sent to a start, ps.
pub(super) fn slack(sent_at: Time, start: Time) -> i64 {
    start.0.cast_signed().saturating_sub(sent_at.0.cast_signed())
}
