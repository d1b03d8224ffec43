//! Rounds: times after which the network is as it was, although messages have begun and ended.
//!
//! A collective that sends its data in chunks does the same with each chunk: packets of different messages go the same ways at the same times. So a
//! round is not simulated again. The program of messages that wait for each other goes through it alone ([`program`]): each message is delivered, and
//! acknowledged, as its like was in the round that was heard, and as long as the same messages start at the same times, the network would do the
//! same. Then the messages under way go on as those that would be under way ([`names`]); no packet moves.

mod names;
mod program;

pub(crate) use names::Names;
pub(crate) use program::Open;

use std::collections::{BTreeMap, HashMap};

use xoff_engine::Time;
use xoff_schemes::ReactionPoint;

use super::Hosts;
use super::nic::NicScheduler;
use super::recall::Sent;
use crate::ctx::Ctx;
use crate::event::{index_of, kind, kind_of};
use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;
use crate::network::dependency_tracker::Call;
use crate::observe::records::FlowOutcome;
use crate::settings::Transport;

/// What has happened to a message, or to a step of a program. Some say for how long the port of the message's sender had been stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Started { stopped: Time },
    Delivered,
    Acknowledged { outcome: FlowOutcome, stopped: Time },
    Called(Call),
}

/// Something that has happened to a message or step, in simulated time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Happening {
    at: Time,
    /// The number of the message or step.
    number: u32,
    what: What,
}

/// Something of a round: the same, without the number of the message or step, and with the time since the round began.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A message of this size starts on a connection, whose sender's port had been stopped for some time.
    Starts(ConnectionId, u64, Time),
    /// The first of its messages that are not delivered is delivered.
    Delivered(ConnectionId),
    /// The first of its messages that are not acknowledged is, with an outcome but for times, and the port had been stopped for some time.
    Acknowledged(ConnectionId, FlowOutcome, Time),
    /// A step that takes this processor is called.
    Called(u32, Call),
}

/// Messages of a connection in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Turns {
    start: usize,
    delivered: usize,
    end: usize,
}

/// A round, of which the network is the same before and after.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub length: Time,
    /// When the one that was heard was over, in simulated time.
    pub end: Time,
    /// Payload of the messages that end in it, and as much is delivered.
    pub bytes: u64,
    /// In the order of time, and at each node in the order in which they happened.
    events: Vec<(Time, Event)>,
    /// The connections of which messages end, with the numbers of those that start and end.
    turns: Vec<(ConnectionId, Turns)>,
    /// By connection: data and ACKs of the messages that end.
    sent: BTreeMap<ConnectionId, Sent>,
    /// By connection: payload of the messages that end.
    payloads: HashMap<ConnectionId, u64>,
}

impl Round {
    /// The round of this `length` that began at a simulated time, by what was `heard` of it. `None` if no message ended, if not as many messages of a
    /// connection were delivered as ended, or if something had happened to one before.
    pub fn new(net: &Network, mut heard: Vec<Happening>, begin: Time, length: Time) -> Option<Round> {
        // Nodes go through a window one after the other.
        heard.sort_by_key(|happening| happening.at);
        let mut turns: HashMap<ConnectionId, Turns> = HashMap::new();
        let (mut events, mut bytes) = (Vec::with_capacity(heard.len()), 0);
        let mut sent: BTreeMap<ConnectionId, Sent> = BTreeMap::new();
        let mut payloads: HashMap<ConnectionId, u64> = HashMap::new();
        for Happening { at, number, what } in heard {
            let (flow, connection) = match what {
                What::Called(_) => (FlowId(0), ConnectionId(0)),
                _ => (FlowId(number), net.connections.of(FlowId(number))),
            };
            let mut turn = |count: fn(&mut Turns) -> &mut usize| {
                *count(turns.entry(connection).or_default()) += 1;
            };
            let event = match what {
                What::Started { stopped } => {
                    turn(|turns| &mut turns.start);
                    Event::Starts(connection, net.flows.size(flow).bytes()?, stopped)
                }
                What::Delivered => {
                    turn(|turns| &mut turns.delivered);
                    Event::Delivered(connection)
                }
                What::Acknowledged { outcome, .. } if outcome.cnps + outcome.retransmitted_bytes > 0 => {
                    return None;
                }
                What::Acknowledged { outcome, stopped } => {
                    turn(|turns| &mut turns.end);
                    bytes += outcome.acked_bytes;
                    sent.entry(connection).or_default().add(net, outcome.acked_bytes);
                    *payloads.entry(connection).or_default() += outcome.acked_bytes;
                    Event::Acknowledged(connection, outcome, stopped)
                }
                What::Called(call) => {
                    Event::Called(net.dependencies.steps()[number as usize].hold?.processor, call)
                }
            };
            events.push((at.0.checked_sub(begin.0).map(Time)?, event));
        }
        let is_whole = turns.values().all(|turns| turns.end > 0 && turns.delivered == turns.end);
        let mut turns: Vec<_> = turns.into_iter().collect();
        turns.sort_unstable_by_key(|(connection, _)| *connection);
        (is_whole && bytes > 0).then_some(Round {
            length,
            end: begin + length,
            bytes,
            events,
            turns,
            sent,
            payloads,
        })
    }

    /// The connections of which messages end, in order of their numbers.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.turns.iter().map(|(connection, _)| *connection)
    }

    /// By connection of which messages end: what they send, and the ACKs of it.
    pub fn sent(&self) -> impl Iterator<Item = (ConnectionId, Sent)> + '_ {
        self.sent.iter().map(|(&connection, &sent)| (connection, sent))
    }

    /// Payload of a connection's messages that end in it.
    pub fn payload(&self, connection: ConnectionId) -> u64 {
        self.payloads.get(&connection).copied().unwrap_or_default()
    }

    /// Number of things that happen to messages and steps in it.
    pub fn happenings(&self) -> u64 {
        self.events.len() as u64
    }

    /// Whether messages of a connection end in it.
    pub fn has(&self, connection: ConnectionId) -> bool {
        self.turns.binary_search_by_key(&connection, |(connection, _)| *connection).is_ok()
    }
}

/// Whether a pending event is a message or a step that waited for others.
pub(crate) fn is_of_program(net: &Network, key: u32) -> bool {
    let index = index_of(key);
    kind_of(key) == kind::FLOW_START
        && (index >= net.first_other || net.dependencies.flow_waits(FlowId(index)))
}

impl<N: NicScheduler> Hosts<N> {
    /// Whether rounds are told apart by what is looked at: messages arrive in order, milestones are known where they are waited for, and nobody else hears of
    /// them.
    pub fn may_have_rounds(&self, ctx: &Ctx) -> bool {
        let net = &ctx.net;
        self.program.is_some()
            && self.news.is_none()
            && !net.dependencies.anywhere()
            && net.settings.host.transport == Transport::GoBackN
            && net.settings.quirks.start_steps() == 0
            && ctx.probes.records.recording.interval.is_none()
    }

    /// Whether no reaction point has a timer, or a rate that notifications have brought below the line rate.
    pub fn are_points_settled(&self, ctx: &Ctx) -> bool {
        ConnectionId::all(self.senders.len()).all(|connection| {
            let sender = self.senders[connection.index()].as_deref();
            sender.is_none_or(|sender| sender.reaction.next_timer() == Time::NEVER)
                && self.is_settled(ctx, connection)
        })
    }

    /// Notes what happens to messages and steps from now on.
    pub fn hear(&mut self) {
        self.heard = Some(Vec::new());
    }

    /// Ends that, and returns what has happened.
    pub fn heard(&mut self) -> Vec<Happening> {
        self.heard.take().unwrap_or_default()
    }

    /// Something happens to a message or step.
    pub(super) fn note(&mut self, ctx: &Ctx, number: u32, what: What) {
        if let Some(heard) = &mut self.heard {
            heard.push(Happening { at: ctx.simulated(), number, what });
        }
    }
}
