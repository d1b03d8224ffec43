//! A session: the calls of the other program, and the loop that lets time pass.

use std::collections::{HashMap, VecDeque};
use web_time::Instant;

use serde_json::json;
use xoff_engine::{Nearest, Rate, Time};
use xoff_fabric::Stop;
use xoff_fabric::network::Flow;
use xoff_fabric::run::live::Live;
use xoff_fabric::settings::Transport;
use xoff_fabric::topology::{NodeId, NodeKind};
use xoff_traffic::ConnectionMapping;

use super::connection::Numbers;
use super::error::SessionError;
use super::local::{Agenda, Copies, Own};
use super::matching::Matching;
use super::message::{Event, Host, Message, MessageId, ReceiveId, Send, Stats};
use super::options::Options;
use crate::run::{Output, RunError, live};
use crate::scenario::{MAX_DURATION, Scenario, Stop as Until};

/// Maximum payload of a message, so that no sum of a connection's bytes exceeds 64 bits.
const MAX_BYTES: u64 = 1 << 44;

/// A message under way, of which only one end may know that it is through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub message: Message,
    /// One of the two milestones has come.
    pub half: bool,
}

/// A scenario under way, to which another program gives messages; see [`crate::cosim`].
pub struct Session {
    pub(super) scenario: Scenario,
    pub(super) options: Options,
    pub(super) live: Live,
    pub(super) began: Instant,
    pub(super) now: Time,
    pub(super) end: Time,
    pub(super) hosts: Vec<NodeId>,
    pub(super) names: HashMap<String, u32>,
    pub(super) numbers: Numbers,
    /// By flow: messages of the session that are not both delivered and acknowledged.
    pub(super) open: HashMap<u32, Open>,
    pub(super) matching: Matching,
    pub(super) agenda: Agenda,
    pub(super) copies: Copies,
    /// Events that the caller has not got yet.
    pub(super) ready: VecDeque<Event>,
    pub(super) stats: Stats,
    pub(super) receives: u64,
    /// Why the session goes no further.
    pub(super) broken: Option<SessionError>,
}

impl Session {
    /// Opens a session of `scenario` at time zero. The scenario was read with [`crate::scenario::Effort::Session`] or built by
    /// [`crate::ScenarioBuilder::build_for_session`]; its traffic, if there is any, is background.
    ///
    /// The session ends at `run.duration` at the latest; `run.stop = "time"` makes [`Session::close`] go on to it.
    ///
    /// # Errors
    /// [`SessionError`] if the network cannot be built, or the scenario or the options have a setting that does not go with a
    /// session.
    pub fn open(scenario: Scenario, options: Options) -> Result<Session, SessionError> {
        let began = Instant::now();
        let setting = |setting, expected| Err(SessionError::Setting { setting, expected });
        if scenario.run.fast_forward.is_some() {
            return setting("`fast_forward` in [run] skips time", "no `fast_forward`");
        }
        if scenario.run.expect.is_some() {
            return setting("`expect` in [run] is about a run's own end", "no `expect`");
        }
        if options.label.is_empty() {
            let (found, expected) = ("is empty".to_string(), "a name for the results");
            return Err(SessionError::Option { option: "label", found, expected });
        }
        if options.local_rate == Some(Rate(0)) {
            let (found, expected) = ("is 0".to_string(), "a rate such as \"400Gbps\", or none");
            return Err(SessionError::Option { option: "local_rate", found, expected });
        }
        if options.local_delay > MAX_DURATION {
            let found = format!("is {}", options.local_delay);
            let expected = "at most 1000000 s, the longest time that is simulated";
            return Err(SessionError::Option { option: "local_delay", found, expected });
        }
        let is_uet = scenario.host.transport == Transport::Uet;
        let default = if is_uet { ConnectionMapping::PerMessage } else { ConnectionMapping::PerPair };
        let mapping = options.connection.unwrap_or(default);
        if is_uet && mapping != ConnectionMapping::PerMessage {
            let (found, expected) = (format!("is `{mapping}`"), "`per_message` under transport `uet`");
            return Err(SessionError::Option { option: "connection", found, expected });
        }
        let live = live::open(&scenario)?;
        let topology = scenario.network();
        let hosts = topology.hosts();
        let name = |host: &NodeId| topology.nodes[host.index()].name.clone();
        Ok(Session {
            names: hosts.iter().map(name).zip(0..).collect(),
            copies: Copies::new(hosts.len(), options.local_rate, options.local_delay),
            end: scenario.run.duration.unwrap_or(MAX_DURATION),
            hosts,
            live,
            options,
            began,
            now: Time::ZERO,
            numbers: Numbers::new(mapping),
            open: HashMap::new(),
            matching: Matching::default(),
            agenda: Agenda::default(),
            ready: VecDeque::new(),
            stats: Stats::default(),
            receives: 0,
            broken: None,
            scenario,
        })
    }

    /// The scenario, with every default.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The time that the session has reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// The host with this name.
    ///
    /// # Errors
    /// [`SessionError::UnknownHost`], with the nearest name.
    pub fn host(&self, name: &str) -> Result<Host, SessionError> {
        let found = self.names.get(name).map(|&number| Host(number));
        found.ok_or_else(|| {
            let nodes = &self.scenario.network().nodes;
            let names = nodes.iter().filter(|n| n.kind == NodeKind::Host).map(|n| n.name.as_str());
            SessionError::UnknownHost { name: name.to_string(), nearest: Nearest::of(name, names) }
        })
    }

    /// A host's name.
    ///
    /// # Errors
    /// [`SessionError::HostNumber`].
    pub fn name(&self, host: Host) -> Result<&str, SessionError> {
        let node = self.node("host", host)?;
        Ok(&self.scenario.network().nodes[node.index()].name)
    }

    /// The rate of all of a host's links together.
    ///
    /// # Errors
    /// [`SessionError::HostNumber`].
    pub fn rate(&self, host: Host) -> Result<Rate, SessionError> {
        let node = self.node("host", host)?;
        let topology = self.scenario.network();
        let ports = topology.port_ids().filter(|&port| topology.node_of(port) == node);
        Ok(Rate(ports.fold(0, |sum: u64, port| sum.saturating_add(topology.rate(port).bps()))))
    }

    fn node(&self, what: &'static str, host: Host) -> Result<NodeId, SessionError> {
        let found = self.hosts.get(host.0 as usize).copied();
        found.ok_or(SessionError::HostNumber { what, number: host.0, count: self.hosts() })
    }

    /// Refuses a time before now, and one after the end.
    fn check_time(&self, what: &'static str, at: Time) -> Result<(), SessionError> {
        if at < self.now {
            return Err(SessionError::Past { what, at, now: self.now });
        }
        if at > self.end {
            let by = match self.scenario.run.duration {
                Some(_) => "`duration` in [run]",
                None => "the longest time that can be simulated",
            };
            return Err(SessionError::PastEnd { what, at, end: self.end, by });
        }
        Ok(())
    }

    fn check(&self) -> Result<(), SessionError> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    /// Sends a message; returns its number at once. A message of a host to itself does not touch the network.
    ///
    /// # Errors
    /// [`SessionError`] if the message cannot be sent; nothing has changed then.
    pub fn send(&mut self, send: Send) -> Result<MessageId, SessionError> {
        self.check()?;
        let (src, dst) = (self.node("src", send.src)?, self.node("dst", send.dst)?);
        if send.bytes == 0 {
            return Err(SessionError::NoData);
        }
        if send.bytes > MAX_BYTES {
            return Err(SessionError::TooLarge { bytes: send.bytes, most: MAX_BYTES });
        }
        let count = self.scenario.switch.priorities / self.scenario.lanes().max(1);
        if send.priority >= count {
            return Err(SessionError::Priority { priority: send.priority, count });
        }
        let mapping = self.numbers.mapping;
        if send.processes != (0, 0) && mapping != ConnectionMapping::PerProcessPair {
            let (src, dst) = send.processes;
            return Err(SessionError::Processes { src, dst, mapping: mapping.to_string() });
        }
        let start = send.at.unwrap_or(self.now);
        self.check_time("`at` of the message", start)?;
        let message =
            |id| Message { id, src: send.src, dst: send.dst, bytes: send.bytes, tag: send.tag, start };
        let copy = self.copies.time_for(send.bytes);
        if src == dst && copy > MAX_DURATION {
            let found = format!("makes a message of {} B of a host to itself take {copy}", send.bytes);
            let expected = "a rate at which it takes at most the longest time that is simulated";
            return Err(SessionError::Option { option: "local_rate", found, expected });
        }
        let id = if src == dst {
            let id = MessageId(MessageId::LOCAL | self.stats.local_messages);
            self.stats.local_messages += 1;
            self.agenda.push(start, Own::Start(message(id)));
            id
        } else {
            let number = self.numbers.next(&send);
            let flow = Flow::new(src, dst, send.bytes.into(), start, send.priority);
            let flow = self.live.add(self.scenario.router(), flow, number).map_err(RunError::from)?;
            self.numbers.take(&send);
            let id = MessageId(flow.0.into());
            self.open.insert(flow.0, Open { message: message(id), half: false });
            id
        };
        self.stats.messages += 1;
        Ok(id)
    }

    /// Posts a receive for the first message from `src` to `dst` with `tag` that no earlier receive has taken, in the order of
    /// arrival. The message may have arrived already: the event then comes with the next advance, at the current time.
    ///
    /// # Errors
    /// [`SessionError`] if there is no such host, or the session cannot go on.
    pub fn recv(&mut self, src: Host, dst: Host, tag: u64) -> Result<ReceiveId, SessionError> {
        self.check()?;
        self.node("src", src)?;
        self.node("dst", dst)?;
        let receive = ReceiveId(self.receives);
        self.receives += 1;
        if let Some(message) = self.matching.post(src, dst, tag, receive) {
            self.ready.push_back(Event::Received { at: self.now, receive, message });
        }
        Ok(receive)
    }

    /// Has the caller called at a time, with `token`. At one time, timers come in the order of these calls, ahead of the
    /// network's events.
    ///
    /// # Errors
    /// [`SessionError`] if the time is past, or after the end.
    pub fn schedule(&mut self, at: Time, token: u64) -> Result<(), SessionError> {
        self.check()?;
        self.check_time("`at` of the timer", at)?;
        self.agenda.push(at, Own::Timer(token));
        Ok(())
    }

    /// Lets time pass up to `time`, which is included, and returns all events until then, in the order in which they happened.
    /// What the caller sends in answer to one of them starts at `time` at the earliest.
    ///
    /// # Errors
    /// [`SessionError`] if the time is past or after the end, or the network cannot go on. What has happened before the network broke
    /// is returned first, and the error by the next call.
    pub fn advance_until(&mut self, time: Time) -> Result<Vec<Event>, SessionError> {
        self.advance_until_while(time, &mut || true)
    }

    /// As [`Session::advance_until`]; `go_on` is asked every few hundredths of a second, and if it returns `false`, time stops where
    /// it is.
    ///
    /// # Errors
    /// As those of [`Session::advance_until`].
    pub fn advance_until_while(
        &mut self,
        time: Time,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Event>, SessionError> {
        self.check()?;
        self.check_time("`time` to advance to", time)?;
        self.advance(time, false, go_on)
    }

    /// Lets time pass to the next event, but not beyond `limit`, and returns what happens then: more than one event if one makes
    /// others. The session has then reached that time, so that the caller can answer without delay. An empty list means that
    /// nothing happens up to the limit or, without a limit, that nothing is left which could happen.
    ///
    /// # Errors
    /// [`SessionError`] if the limit is past or after the end, or the network cannot go on.
    pub fn advance_to_next(&mut self, limit: Option<Time>) -> Result<Vec<Event>, SessionError> {
        self.advance_to_next_while(limit, &mut || true)
    }

    /// As [`Session::advance_to_next`]; `go_on` is asked every few hundredths of a second, and if it returns `false`, time stops
    /// where it is.
    ///
    /// # Errors
    /// As those of [`Session::advance_to_next`].
    pub fn advance_to_next_while(
        &mut self,
        limit: Option<Time>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Event>, SessionError> {
        self.check()?;
        if let Some(limit) = limit {
            self.check_time("`limit` to advance to", limit)?;
        }
        let nothing_left = self.open.is_empty() && self.agenda.next_at() == Time::NEVER;
        if limit.is_none() && nothing_left {
            return Ok(self.ready.drain(..).collect());
        }
        // With a duration, the end of the session is the limit.
        let end = self.scenario.run.duration.unwrap_or(Time::NEVER);
        self.advance(limit.unwrap_or(end), true, go_on)
    }

    /// The counts so far.
    pub fn stats(&self) -> Stats {
        let counters = self.live.counters();
        Stats {
            unexpected: self.matching.unexpected,
            posted: self.matching.posted,
            events: counters.events,
            packet_hops: counters.packet_hops,
            dropped_packets: counters.drops,
            ..self.stats
        }
    }

    /// Closes the session: its result tables and manifest, as those of a run that ends at the time that the session has reached.
    /// Messages that are not complete are listed as such.
    ///
    /// # Errors
    /// The error with which the session broke.
    pub fn close(mut self) -> Result<Output, SessionError> {
        self.check()?;
        if self.scenario.run.stop == Until::Time && self.now < self.end {
            self.advance(self.end, false, &mut || true)?;
            self.check()?;
        }
        let stats = self.stats();
        let options = &self.options;
        let session = json!({
            "connection": self.numbers.mapping, "label": options.label,
            "local_rate": options.local_rate, "local_delay": options.local_delay,
            "messages": stats.messages, "local_messages": stats.local_messages, "delivered": stats.delivered,
            "sent": stats.sent, "receives": self.receives, "unexpected": stats.unexpected,
            "posted": stats.posted,
        });
        let end = (self.now, Stop::Closed);
        Ok(live::close(&self.scenario, self.live, end, self.began, &options.label, session))
    }
}
