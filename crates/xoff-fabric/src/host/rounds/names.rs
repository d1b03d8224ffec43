//! Messages under way go on as others, which would be under way after rounds that are not simulated.

use std::collections::HashMap;

use xoff_engine::Time;

use super::super::Hosts;
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
        let (mut names, then) = (Names::new(), round.end + round.length * rounds);
        for &connection in &round.connections {
            let sender = self.senders[connection.index()].as_deref();
            let open = sender.into_iter().flat_map(|sender| sender.open().map(|message| message.flow));
            names.extend(open.zip(ahead.open(connection, then)));
        }
        let stopped = round.connections.iter().map(|&connection| self.stopped(ctx, links, connection));
        let stopped = stopped.collect();
        Some(Before { ahead, names, stopped })
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
        let Before { ahead, names, stopped } = before;
        let rounds = time.0 / round.length.0.max(1);
        let mut each_round = HashMap::new();
        for (&connection, before) in round.connections.iter().zip(stopped) {
            let each = Time((self.stopped(ctx, links, connection) - before).0 / rounds.max(1));
            each_round.insert(connection, each);
            let Some(sender) = self.senders[connection.index()].as_deref_mut() else { continue };
            // Those that learn from ACKs have heard what came meanwhile, and those that are idle are ahead.
            if !sender.is_idle() && !ctx.net.signals.acks {
                sender.reaction.set_ahead(time);
            }
            for message in sender.open_messages() {
                if let Some(name) = names.get(&message.flow) {
                    message.go_on_as(name, ctx.carried, name.stopped(each));
                }
            }
        }
        ctx.packets.rename(|flow| names.get(&flow).map_or(flow, |other| other.flow));
        if let Some(recall) = &mut self.recall {
            let ended = ahead.ended_by_connection();
            recall.carry_rounds(&ctx.net, (ctx.simulated() - time, time), round, &names, &ended);
        }
        ctx.changes += 1;
        self.catch_up(ctx, ahead, &each_round);
    }
}
