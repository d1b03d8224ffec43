//! A message starts: on a connection of its own, or behind the earlier messages of a shared one.

use xoff_engine::{Domain, Time, stream};
use xoff_schemes::{FlowEnv, ReactionPoint};

use super::Hosts;
use super::message::Message;
use super::nic::NicScheduler;
use super::other_messages::OtherMessages;
use super::reaction::LimitedReaction;
use super::sender::{Pacing, SendState, SendStream, Sender};
use super::transport::SelectiveSender;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::{ConnectionId, FlowId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::packet::DATA;
use crate::path::routing::Spray;

impl<N: NicScheduler> Hosts<N> {
    /// Starts a message, and schedules the start of the next one. The start first goes behind all other events of its time, as
    /// often as [`crate::settings::Quirks::start_steps`] says; `step` counts how often it has.
    pub fn flow_start<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        flow: FlowId,
        step: u32,
    ) {
        let net = ctx.net.clone();
        let f = net.flows.of(flow);
        if step == 0 && !ctx.events.looks_ahead() && !net.dependencies.flow_waits(flow) {
            await_flow(ctx, flow.next());
        }
        if step < net.settings.quirks.start_steps() {
            let now = ctx.now;
            return ctx.schedule(f.src, now, key(kind::FLOW_START, flow.0), step + 1);
        }
        if self.recall.is_some() && self.starts_recalled(ctx, links, flow) {
            return;
        }
        self.simulate(ctx, links, flow, Time::ZERO);
    }

    /// A message that started begins to send, after it has `waited` for recalled ones.
    pub(super) fn simulate<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        flow: FlowId,
        waited: Time,
    ) {
        let net = ctx.net.clone();
        let f = net.flows.of(flow);
        if f.stop != Time::NEVER {
            let at = f.stop.saturating_sub(ctx.carried).max(ctx.now);
            ctx.schedule(f.src, at, key(kind::FLOW_STOP, flow.0), 0);
        }
        if N::OWN_TRANSPORT {
            return N::start(self, ctx, links, flow);
        }
        let connection = net.connections.of(flow);
        let port = net.data_path(flow)[0];
        let paused_before = links.stopped_for(ctx.now, port, DATA + f.priority);
        let nic = self.nic_of(links, port);
        let cost = self.message_cost(ctx.now, nic);
        let mut message = Message::new(flow, f, ctx.now, ctx.simulated(), paused_before).after(cost);
        message.carried_time = waited;
        ctx.changes += 1;
        ctx.probes.on_flow_start(ctx.now, flow);
        if self.senders[connection.index()].is_some() {
            return self.queue_message(ctx, links, connection, message);
        }
        let counts = &mut self.nics[nic as usize].counts;
        let env = FlowEnv { now: ctx.now, active_flows: counts.open_out, ..net.flow_env(connection) };
        counts.open_out += 1;
        let reaction = LimitedReaction::new(net.scheme.reaction(&env));
        let bdp = env.line_rate.bytes_in(env.base_rtt);
        let spray = net.paths.next_hops.as_ref().filter(|hops| hops.choice().sprays());
        let random = || stream(net.seed, Domain::Routing, 1 + u64::from(connection.0));
        self.senders[connection.index()] = Some(Box::new(Sender {
            stream: SendStream::default(),
            pacing: Pacing::new(ctx.now, &reaction),
            message,
            others: OtherMessages::default(),
            nic,
            position: net.paths.routes[connection.index()].data(1),
            priority: f.priority,
            state: SendState::Idle,
            reaction,
            timer_at: Time::NEVER,
            progress_at: ctx.now,
            timeout_at: Time::NEVER,
            selective: SelectiveSender::new(&net.settings.host, bdp.max(net.min_window())),
            spray: spray.map(|hops| Box::new(Spray::new(random(), hops.flowlet_gap()))),
        }));
        self.begin_sending(ctx, links, connection);
        N::on_start(self, ctx, links, connection);
    }

    /// A message joins a connection that has carried others.
    fn queue_message<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        message: Message,
    ) {
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return };
        let idle = sender.is_idle();
        if idle {
            sender.catch_up(ctx.now);
            sender.reaction.on_busy(ctx.now);
            sender.progress_at = ctx.now;
            self.nics[sender.nic as usize].counts.open_out += 1;
        }
        if idle {
            sender.resume_with(message);
            self.begin_sending(ctx, links, connection);
            return N::on_start(self, ctx, links, connection);
        }
        // The message gets its place in the connection when the messages before it are sent.
        sender.others.queue(message);
        sender.advance_message();
        if sender.message.flow == message.flow {
            if ctx.net.signals.credits.is_some() {
                self.request_credits(ctx, links, connection, true);
            }
            self.sync_reaction(ctx, links, connection);
        } else {
            self.on_message_waits(ctx, connection, message.flow);
        }
    }

    /// A connection that was idle has something to send.
    fn begin_sending<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
    ) {
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return };
        let needs_credits = ctx.net.signals.credits.is_some();
        if ctx.net.may_retransmit() || needs_credits {
            let at = ctx.now + ctx.net.settings.host.retransmit_timeout;
            sender.timeout_at = at;
            let node = self.nics[sender.nic as usize].host;
            ctx.schedule(node, at, key(kind::RETRANSMIT_TIMER, connection.0), 0);
        }
        if needs_credits {
            self.request_credits(ctx, links, connection, true);
        }
        self.sync_reaction(ctx, links, connection);
    }

    /// An endless message, or one that is to stop early, ends with its next packet, so that its receiver learns of it.
    pub fn flow_stop<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>, flow: FlowId) {
        let payload = ctx.net.wire.payload;
        let connection = ctx.net.connections.of(flow);
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return };
        if sender.open_message(flow).is_none() {
            return;
        }
        sender.stop_message(flow, payload);
        ctx.changes += 1;
        self.sync_reaction(ctx, links, connection);
    }
}

/// Schedules the start of the first message from number `first` on that one of this partition's hosts sends and that
/// waits for no other message.
pub(crate) fn await_flow(ctx: &mut Ctx, first: FlowId) {
    let net = &ctx.net;
    let is_next = |flow: &FlowId| {
        ctx.boundary.owns_item(flow.index(), net.flows.src(*flow)) && !net.dependencies.flow_waits(*flow)
    };
    if let Some(flow) = (first.0..net.planned as u32).map(FlowId).find(is_next) {
        let start = net.flows.start(flow).saturating_sub(ctx.carried);
        ctx.events.push_start(start, key(kind::FLOW_START, flow.0));
    }
}
