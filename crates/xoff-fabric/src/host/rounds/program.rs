//! A program goes through rounds that are not simulated.

use std::collections::{BTreeSet, HashMap, VecDeque};

use xoff_engine::Time;

use super::super::Hosts;
use super::super::nic::NicScheduler;
use super::super::program::{OfPartition, call_of};
use super::super::recall::Recall;
use super::super::reports::count_over;
use super::{Event, Round, Turns, is_of_program};
use crate::ctx::Ctx;
use crate::event::index_of;
use crate::ids::{ConnectionId, FlowId};
use crate::network::Network;
use crate::network::dependencies::Milestone;
use crate::network::dependency_tracker::{Call, DependencyTracker, Effects};
use crate::observe::records::FlowOutcome;

/// What a program has asked for, in simulated time.
#[derive(Clone, Default)]
struct Pending {
    starts: BTreeSet<(Time, FlowId)>,
    calls: BTreeSet<(Time, u32, Call)>,
    /// The times of steps that have become known.
    done: Vec<(u32, Time)>,
}

impl Effects for Pending {
    fn start(&mut self, flow: FlowId, at: Time) {
        self.starts.insert((at, flow));
    }
    fn done(&mut self, step: u32, at: Time) {
        self.done.push((step, at));
    }
    fn call(&mut self, at: Time, step: u32, call: Call) {
        self.calls.insert((at, step, call));
    }
}

impl Pending {
    /// Adds an event of a program that is pending at a simulated time.
    fn add(&mut self, net: &Network, at: Time, key: u32, arg: u32) {
        match index_of(key).checked_sub(net.first_other) {
            Some(step) => {
                self.calls.insert((at, step, call_of(arg)));
            }
            None => {
                self.starts.insert((at, FlowId(index_of(key))));
            }
        }
    }

    /// Takes the message that starts at a time on a connection, if it has this size and is the first one of its host: simultaneous ones start in the order of
    /// their numbers.
    fn take_start(&mut self, net: &Network, at: Time, connection: ConnectionId, size: u64) -> Option<FlowId> {
        let host = net.ends(connection).src;
        let mut starts = self.starts.range((at, FlowId(0))..=(at, FlowId(u32::MAX)));
        let &(_, flow) = starts.find(|(_, flow)| net.flows.src(*flow) == host)?;
        let is_it = net.connections.of(flow) == connection && net.flows.size(flow).bytes() == Some(size);
        (is_it && self.starts.remove(&(at, flow))).then_some(flow)
    }

    /// Takes the first step with a processor that is called at a time.
    fn take_call(&mut self, net: &Network, at: Time, processor: u32, call: Call) -> Option<u32> {
        let of = |step: u32| net.dependencies.steps()[step as usize].hold.map(|hold| hold.processor);
        let mut calls = self.calls.range((at, 0, Call::Ready)..=(at, u32::MAX, Call::Over));
        let &(_, step, which) = calls.find(|(_, step, _)| of(*step) == Some(processor))?;
        (which == call && self.calls.remove(&(at, step, which))).then_some(step)
    }

    /// Whether all that was asked for before a time has come.
    fn is_over(&self, end: Time) -> bool {
        self.starts.first().is_none_or(|first| first.0 >= end)
            && self.calls.first().is_none_or(|first| first.0 >= end)
    }
}

/// A message under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub flow: FlowId,
    /// In simulated time.
    pub start: Time,
    /// Time of it that was carried forward.
    pub carried: Time,
    stopped: Stopped,
}

/// For how long a port had been stopped: so long in the round that was heard, or before, and this round came so many rounds later.
#[derive(Clone, Copy, Debug)]
struct Stopped(Time, u64);

impl Stopped {
    /// The time, if the port is stopped for `each` in each round.
    fn time(self, each: Time) -> Time {
        self.0 + each * self.1
    }
}

impl Open {
    /// Its start on the network's clock, if so much time was `carried` forward in the run.
    pub fn on_network_clock(&self, carried: Time) -> Time {
        (self.start + self.carried).before(carried)
    }

    /// For how long its sender's port had been stopped at its start, if it is stopped for `each` in each round.
    pub fn stopped(&self, each: Time) -> Time {
        self.stopped.time(each)
    }
}

/// A message that has ended. There are as many as messages of all rounds, so that what its round knows of it is not kept.
#[derive(Clone, Copy)]
struct Ended {
    open: Open,
    /// The place of its end among the events of a round.
    event: u32,
    /// How many rounds later than the one that was heard.
    round: u32,
}

/// The messages of a connection that are under way, first to last.
#[derive(Clone, Default)]
struct Line {
    open: VecDeque<Open>,
    /// How many of them are delivered.
    delivered: usize,
    /// The sizes of those that have begun to send, or are the next to, at the end of each round.
    begun: Vec<u64>,
    /// How many have started.
    started: u32,
}

impl Line {
    /// The size of a message; `None` if anything but the network keeps it from coming to its end.
    fn size(net: &Network, open: &Open) -> Option<u64> {
        Recall::is_plain(net, open.flow).then(|| net.flows.size(open.flow).bytes()).flatten()
    }

    /// Whether all messages that begin to send in the next round do so when those of the round that was heard did: as many start as end, or all of them wait
    /// already, so many as `end`, and others behind them.
    fn is_fed(&self, turns: &Turns) -> bool {
        turns.start == turns.end || self.open.len() > self.begun.len() + turns.end
    }

    /// Whether those that have begun to send are as large as at the end of the round that was heard.
    fn is_same(&self, net: &Network) -> bool {
        self.open.len() >= self.begun.len()
            && self.open.iter().zip(&self.begun).all(|(open, size)| Line::size(net, open) == Some(*size))
    }
}

/// A program that is ahead of the network.
#[derive(Clone)]
pub(super) struct Ahead {
    program: DependencyTracker,
    pending: Pending,
    lines: HashMap<ConnectionId, Line>,
    /// When it began to be ahead.
    since: Time,
    /// Messages that have ended.
    ended: Vec<Ended>,
    /// Rounds that it has gone through.
    rounds: u64,
}

impl Ahead {
    /// Goes through another round; `None` if it goes on in another way.
    fn go_through(&mut self, net: &Network, round: &Round) -> Option<()> {
        let (all, begin) = (&net.dependencies, self.since + round.length * self.rounds);
        self.rounds += 1;
        if !round.turns.iter().all(|(connection, turns)| self.lines[connection].is_fed(turns)) {
            return None;
        }
        for (number, &(after, event)) in round.events.iter().enumerate() {
            let at = begin + after;
            match event {
                Event::Starts(connection, size, stopped) => {
                    let flow = self.pending.take_start(net, at, connection, size)?;
                    let stopped = Stopped(stopped, self.rounds);
                    let open = Open { flow, start: at, carried: Time::ZERO, stopped };
                    let line = self.lines.get_mut(&connection)?;
                    line.open.push_back(open);
                    line.started += 1;
                }
                Event::Delivered(connection) => {
                    let line = self.lines.get_mut(&connection)?;
                    let flow = line.open.get(line.delivered)?.flow;
                    line.delivered += 1;
                    self.reach(net, flow, Milestone::Delivered(flow.0), at);
                }
                Event::Acknowledged(connection, outcome, _) => {
                    let line = self.lines.get_mut(&connection)?;
                    let open = line.open.pop_front()?;
                    if Line::size(net, &open) != Some(outcome.acked_bytes) {
                        return None;
                    }
                    line.delivered -= 1;
                    let (event, rounds) = (number as u32, u32::try_from(self.rounds).ok()?);
                    self.ended.push(Ended { open, event, round: rounds });
                    self.reach(net, open.flow, Milestone::Sent(open.flow.0), at);
                }
                Event::Called(processor, call) => {
                    let step = self.pending.take_call(net, at, processor, call)?;
                    self.program.called(all, step, call, at, &mut self.pending);
                }
            }
        }
        let is_same = self.lines.values().all(|line| line.is_same(net));
        (is_same && self.pending.is_over(begin + round.length)).then_some(())
    }

    /// The outcome of a message that has ended in a round that comes again and again. Ports of connections' senders are `stopped` for so long in
    /// each round.
    fn outcome(
        &self,
        round: &Round,
        ended: &Ended,
        stopped: &HashMap<ConnectionId, Time>,
    ) -> Option<FlowOutcome> {
        let (after, Event::Acknowledged(connection, outcome, then)) =
            *round.events.get(ended.event as usize)?
        else {
            debug_assert!(false, "only ends of messages are noted");
            return None;
        };
        let at = self.since + round.length * u64::from(ended.round - 1) + after;
        let Open { start, carried, .. } = ended.open;
        let each = stopped.get(&connection).copied().unwrap_or_default();
        // Between states that are alike, a port may be stopped at the end alone.
        let then = Stopped(then, ended.round.into()).time(each);
        let paused = then.saturating_sub(ended.open.stopped(each));
        let skipped = carried + (at - start.max(self.since));
        Some(FlowOutcome { start, fct: Some(at - start), skipped, paused, ..outcome })
    }

    /// A milestone of a message has come.
    fn reach(&mut self, net: &Network, flow: FlowId, milestone: Milestone, at: Time) {
        if flow.0 < net.dependencies.flows() {
            let number = net.dependencies.milestone(milestone);
            self.program.reached(&net.dependencies, number, at, &mut self.pending);
        }
    }

    /// The number of messages of a connection that have started.
    pub(super) fn started(&self, connection: ConnectionId) -> u32 {
        self.lines.get(&connection).map_or(0, |line| line.started)
    }

    /// The messages of a connection that are under way at a later time.
    pub(super) fn open(&self, connection: ConnectionId, now: Time) -> impl Iterator<Item = Open> + '_ {
        let open = self.lines.get(&connection).into_iter().flat_map(|line| &line.open);
        open.map(move |open| Open { carried: open.carried + (now - open.start.max(self.since)), ..*open })
    }
}

impl<N: NicScheduler> Hosts<N> {
    /// The program as it is now, before rounds, with what it has asked for that is still to come.
    fn ahead(&self, ctx: &Ctx, round: &Round) -> Option<Ahead> {
        let (net, recall) = (&ctx.net, self.recall.as_deref()?);
        let mut pending = Pending::default();
        ctx.events.visit(|event| {
            if is_of_program(net, event.key) {
                pending.add(net, event.time + ctx.carried, event.key, event.arg);
            }
        });
        let mut lines = HashMap::new();
        for &(connection, turns) in &round.turns {
            let mut line = Line::default();
            if let Some(sender) = self.senders[connection.index()].as_deref() {
                for message in sender.open() {
                    let start = message.start + ctx.carried - message.carried_time;
                    let (flow, carried) = (message.flow, message.carried_time);
                    let stopped = Stopped(message.paused_before, 0);
                    line.open.push_back(Open { flow, start, carried, stopped });
                    line.delivered += usize::from(recall.is_delivered(message.flow));
                }
                let begun = line.open.iter().take(sender.begun());
                line.begun = begun.map(|open| Line::size(net, open)).collect::<Option<_>>()?;
            }
            // Nor did those of the round that was heard wait for others to start.
            let then = line.open.len() + turns.end;
            if turns.start != turns.end && then <= line.begun.len() + turns.end + turns.start {
                return None;
            }
            lines.insert(connection, line);
        }
        let program = self.program.as_deref()?.clone();
        Some(Ahead { program, pending, lines, since: round.end, ended: Vec::new(), rounds: 0 })
    }

    /// The number of rounds, at most `most`, that the program goes through from now on as it went through this one.
    pub fn rounds_ahead(&self, ctx: &Ctx, round: &Round, most: u64) -> u64 {
        let Some(mut ahead) = self.ahead(ctx, round) else { return 0 };
        let goes_on = |_: &u64| {
            ahead.ended.clear();
            ahead.pending.done.clear();
            ahead.go_through(&ctx.net, round).is_some()
        };
        (0..most).take_while(goes_on).count() as u64
    }

    /// The program after so many rounds, as many as it goes through. What it had asked for is no pending event any more.
    pub(super) fn go_ahead(&self, ctx: &mut Ctx, round: &Round, rounds: u64) -> Option<Ahead> {
        let mut ahead = self.ahead(ctx, round)?;
        let net = ctx.net.clone();
        for _ in 0..rounds {
            ahead.go_through(&net, round)?;
        }
        ctx.events.remove(|key| is_of_program(&net, key));
        Some(ahead)
    }

    /// The program goes on from where it has gone ahead by repetitions of `round`, and messages that ended meanwhile are over. Ports of connections'
    /// senders are `stopped` for so long in each round.
    pub(super) fn catch_up(
        &mut self,
        ctx: &mut Ctx,
        round: &Round,
        ahead: Ahead,
        stopped: &HashMap<ConnectionId, Time>,
    ) {
        for ended in &ahead.ended {
            if let Some(outcome) = ahead.outcome(round, ended, stopped) {
                count_over(ctx, ended.open.flow, &outcome);
            }
        }
        let Ahead { program, pending, .. } = ahead;
        let mut effects = OfPartition(ctx);
        pending.done.into_iter().for_each(|(step, at)| effects.done(step, at));
        pending.starts.into_iter().for_each(|(at, flow)| effects.start(flow, at));
        pending.calls.into_iter().for_each(|(at, step, call)| effects.call(at, step, call));
        self.program = Some(Box::new(program));
    }
}
