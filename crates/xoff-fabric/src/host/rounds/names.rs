//! Messages under way go on as others, which would be under way after rounds that are not simulated.

use std::collections::HashMap;

use xoff_engine::Time;

use super::super::Hosts;
use super::super::message::Message;
use super::super::nic::NicScheduler;
use super::Round;
use super::program::{Ahead, Open};
use crate::ctx::Ctx;
use crate::ids::{ConnectionId, FlowId};
use crate::link::Links;
use crate::packet::DATA;

/// By message under way of a connection of the round: the one that it goes on as.
pub(crate) type Names = HashMap<FlowId, Open>;

/// What is the same before and after rounds, but for its name, and what grows in them.
pub(crate) struct Before {
    ahead: Ahead,
    names: Names,
    /// By connection of the round: its messages under way, before and after.
    lines: Vec<(Vec<FlowId>, Vec<Open>)>,
    /// By connection of the round: for how long its sender's port had been stopped.
    stopped: Vec<Time>,
}

impl<N: NicScheduler> Hosts<N> {
    /// Before the network's clock is carried forward over `rounds`: lets the program go through them. `None` if it does not.
    pub fn before_rounds<C>(
        &self,
        ctx: &mut Ctx,
        links: &Links<C>,
        round: &Round,
        rounds: u64,
    ) -> Option<Before> {
        let ahead = self.go_ahead(ctx, round, rounds)?;
        let then = round.end + round.length * rounds;
        let line = |connection: ConnectionId| {
            let sender = self.senders[connection.index()].as_deref();
            let open = sender.into_iter().flat_map(|sender| sender.open().map(|message| message.flow));
            (open.collect(), ahead.open(connection, then).collect())
        };
        let lines: Vec<(Vec<FlowId>, Vec<Open>)> = round.connections().map(line).collect();
        let pairs =
            lines.iter().flat_map(|(before, after)| before.iter().copied().zip(after.iter().copied()));
        let names = pairs.collect();
        let stopped = round.connections().map(|connection| self.stopped(ctx, links, connection)).collect();
        Some(Before { ahead, names, lines, stopped })
    }

    /// For how long the port of a connection's sender was stopped so far.
    fn stopped<C>(&self, ctx: &Ctx, links: &Links<C>, connection: ConnectionId) -> Time {
        let sender = self.senders[connection.index()].as_deref();
        sender.map_or(Time::ZERO, |sender| {
            let port = self.nics[sender.nic as usize].port;
            links.stopped_for(ctx.now, port, DATA + sender.priority)
        })
    }

    /// The network's clock was carried forward by a `time` over rounds: messages go on as others.
    pub fn after_rounds<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        round: &Round,
        time: Time,
        before: Before,
    ) {
        let Before { ahead, names, lines, stopped } = before;
        let (net, rounds) = (ctx.net.clone(), time.0 / round.length.0.max(1));
        let mut each_round = HashMap::new();
        for ((connection, before), (_, after)) in round.connections().zip(stopped).zip(&lines) {
            let each = Time((self.stopped(ctx, links, connection) - before).0 / rounds.max(1));
            each_round.insert(connection, each);
            let Some(sender) = self.senders[connection.index()].as_deref_mut() else { continue };
            // Those that learn from ACKs have heard what came meanwhile, and those that are idle are ahead.
            if !sender.is_idle() && !net.signals.acks {
                sender.reaction.set_ahead(time);
            }
            let begun = sender.begun();
            for message in sender.open_messages().take(begun) {
                if let Some(name) = names.get(&message.flow) {
                    message.go_on_as(name, ctx.carried, name.stopped(each));
                }
            }
            let waits = after.iter().skip(begun);
            sender.others.queue_instead(waits.map(|open| Message::that_waits(&net, open, ctx.carried, each)));
        }
        ctx.packets.rename(|flow| names.get(&flow).map_or(flow, |other| other.flow));
        if let Some(recall) = &mut self.recall {
            let now = ctx.simulated() - time;
            for (connection, (before, after)) in round.connections().zip(&lines) {
                recall.note_started(connection, ahead.started(connection));
                recall.forget_surplus(&net, connection, before.get(after.len()..).unwrap_or_default(), now);
            }
            recall.carry_rounds(&net, (now, time), round, &names);
            for (connection, (before, after)) in round.connections().zip(&lines) {
                recall.note_line(connection, after);
                recall.add_surplus(&net, after.get(before.len()..).unwrap_or_default(), now + time);
            }
        }
        ctx.changes += 1;
        self.catch_up(ctx, round, ahead, &each_round);
    }
}
