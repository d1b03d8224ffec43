//! A look at a quiet network, in which no message is under way: what tells apart how an episode goes on.

use std::hash::{DefaultHasher, Hash, Hasher};

use xoff_engine::{Event, Time};
use xoff_schemes::{Mark, ReactionPoint};

use super::stops::StopsSoFar;
use crate::ctx::Ctx;
use crate::event::{index_of, kind, kind_of};
use crate::host::Hosts;
use crate::host::nic::NicScheduler;
use crate::host::receiver::Receiver;
use crate::ids::{ConnectionId, FlowId};
use crate::link::Links;
use crate::network::Network;

/// A quiet network.
pub(super) struct Look {
    /// Tells apart the states of all that outlives a message.
    pub state: u64,
    /// What messages and steps are to begin, in order of time: how much later that is, and a number that tells apart what it is.
    pub pending: Vec<(Time, u64)>,
    pub stops: StopsSoFar,
}

/// A number that tells apart what begins with an event.
fn begins(net: &Network, key: u32, arg: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    match index_of(key).checked_sub(net.first_other) {
        Some(step) => (0, net.dependencies.steps()[step as usize].host.0, arg).hash(&mut hasher),
        None => {
            let flow = FlowId(index_of(key));
            (1, net.connections.of(flow).0, net.flows.size(flow)).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// What is to begin; without what comes so soon that one node may have come to it before another node has come to `now`.
fn pending(ctx: &Ctx) -> Vec<(Time, u64)> {
    let near = ctx.now + ctx.net.topology.min_delay();
    let mut pending = Vec::new();
    ctx.events.visit(|Event { time, key, arg }| {
        if time > near && kind_of(key) == kind::FLOW_START {
            pending.push((time - ctx.now, begins(&ctx.net, key, arg)));
        }
    });
    pending.sort_unstable();
    pending
}

impl<N: NicScheduler> Hosts<N> {
    /// Looks at the network, with the records of pauses from the place `from` on. `None` if packets are under way, if receivers
    /// are to notify their senders at some time, or if a reaction point is not settled.
    pub(super) fn look<C>(&self, ctx: &Ctx, links: &Links<C>, from: Option<usize>) -> Option<Look> {
        let is_quiet = ctx.packets.live() == 0
            && !self.holds_times()
            && ConnectionId::all(self.senders.len()).all(|connection| self.is_settled(ctx, connection));
        is_quiet.then(|| Look {
            state: self.state_between_messages(ctx, links),
            pending: pending(ctx),
            stops: StopsSoFar::of(ctx, links, from),
        })
    }

    /// Whether nothing is under way, and no NIC, receiver or reaction point waits for anything.
    pub fn rest(&self, ctx: &Ctx) -> bool {
        let sends = |connection: ConnectionId| {
            let sender = self.senders[connection.index()].as_deref();
            sender.is_some_and(|sender| !sender.is_idle() || sender.reaction.next_timer() != Time::NEVER)
                || !self.is_settled(ctx, connection)
        };
        let owes = |receiver: &Receiver| receiver.unacked() != (0, Mark::None);
        !self.holds_times()
            && self.nics.iter().all(|nic| nic.scheduler.turns(ctx.now).is_empty())
            && !ConnectionId::all(self.senders.len()).any(sends)
            && !self.receivers.iter().flatten().any(|receiver| owes(receiver))
    }

    /// CNPs and CNMs that senders have got so far.
    pub fn notifications(&self) -> u64 {
        self.senders.iter().flatten().map(|sender| u64::from(sender.reaction.notified())).sum()
    }

    /// Whether a connection's reaction point that learns from notifications alone has had none, or has come back to the line rate since. Until
    /// then, time and sent bytes raise its rate. At the line rate they change nothing before the next notification.
    pub(in crate::host) fn is_settled(&self, ctx: &Ctx, connection: ConnectionId) -> bool {
        let Some(sender) = self.senders[connection.index()].as_deref() else { return true };
        let reaction = &sender.reaction;
        ctx.net.signals.acks
            || reaction.notified() == 0
            || reaction.rate() >= ctx.net.flow_env(connection).line_rate
    }

    /// Tells apart whose turn is next, what receivers have yet to acknowledge, and what reaction points say that learn from ACKs.
    fn state_between_messages<C>(&self, ctx: &Ctx, links: &Links<C>) -> u64 {
        let mut hasher = DefaultHasher::new();
        for port in links.ports.iter() {
            (port.turn(), port.paused).hash(&mut hasher);
        }
        for (connection, receiver) in self.receivers.iter().enumerate() {
            let unacked = receiver.as_deref().map_or((0, Mark::None), Receiver::unacked);
            if unacked != (0, Mark::None) {
                (connection, unacked).hash(&mut hasher);
            }
        }
        for (connection, sender) in self.senders.iter().enumerate() {
            let Some(reaction) = sender.as_deref().map(|sender| &sender.reaction) else { continue };
            if ctx.net.signals.acks {
                (connection, reaction.rate().bps(), reaction.window()).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}
