//! What hosts report about their messages: outcomes, rates, and what holds messages at their senders.

use xoff_schemes::ReactionPoint;

use super::Hosts;
use super::message::Message;
use super::nic::{NicId, NicScheduler};
use super::rounds::What;
use super::sender::{SendState, Sender};
use crate::ctx::Ctx;
use crate::ids::{ConnectionId, FlowId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::observe::RatesNow;
use crate::observe::breakdown::{Cause, Held};
use crate::observe::detection::Marks;
use crate::observe::records::FlowOutcome;
use crate::packet::{DATA, LAST, PacketId};

/// Adds a row with a message's rates since its last row, if the message's rates are sampled.
fn sample_rates(ctx: &mut Ctx, message: &mut Message, acked: u64, rates: (xoff_engine::Rate, u64)) {
    if !ctx.probes.records.samples_rates_of(message.flow) {
        return;
    }
    let now = RatesNow { wire_sent: message.wire_sent, acked, rate: rates.0, window: rates.1 };
    ctx.probes.records.sample_rates(ctx.simulated(), message.flow, &mut message.sampled, &now);
}

/// Adds rows of the variables that a message's reaction point states, if they are sampled.
fn sample_variables(ctx: &mut Ctx, sender: &Sender, flow: FlowId) {
    if ctx.probes.records.samples_variables_of(flow) {
        let (now, simulated) = (ctx.now, ctx.simulated());
        ctx.probes.records.sample_variables(simulated, flow, |probe| sender.reaction.variables(now, probe));
    }
}

/// Counts a message that is over, with an outcome.
pub(super) fn count_over(ctx: &mut Ctx, flow: FlowId, outcome: &FlowOutcome) {
    ctx.counters.flows_done += 1;
    ctx.counters.background_done += u64::from(ctx.net.is_background(flow));
    ctx.probes.on_flow_end(ctx.now, flow, outcome);
}

impl<N: NicScheduler> Hosts<N> {
    /// A connection's rate and window, with those of its priority's shared reaction point.
    pub(super) fn rates_of(&mut self, ctx: &Ctx, connection: ConnectionId) -> (xoff_engine::Rate, u64) {
        let Some(sender) = self.senders[connection.index()].as_deref() else { return Default::default() };
        let own = sender.reaction.rate();
        let rate = match &mut self.sl_reactions {
            Some(shared) => shared.rate(ctx.now, sender.nic, sender.priority).min(own),
            None => own,
        };
        (rate, sender.reaction.window())
    }

    /// Samples the rates of messages under way.
    pub fn sample(&mut self, ctx: &mut Ctx) {
        if N::OWN_TRANSPORT {
            return N::on_sample(self, ctx);
        }
        let mut flows = ctx.probes.records.take_sampled_flows();
        flows.retain(|&flow| {
            let connection = ctx.net.connections.of(flow);
            let rates = self.rates_of(ctx, connection);
            // A completed message got its last row when it completed.
            let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return false };
            let acked_to = sender.acked_to(flow);
            let Some(message) = sender.open_message(flow) else { return false };
            let acked = message.bytes_before(acked_to);
            sample_rates(ctx, message, acked, rates);
            sample_variables(ctx, sender, flow);
            true
        });
        ctx.probes.records.put_sampled_flows(flows);
    }

    /// Writes the last row of a message's rates; returns its outcome.
    fn close_message<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        connection: ConnectionId,
        mut message: Message,
        completed: bool,
    ) -> Option<FlowOutcome> {
        let rates = self.rates_of(ctx, connection);
        let sender = self.senders[connection.index()].as_deref()?;
        let (acked_to, nic) = (sender.acked_to(message.flow), &self.nics[sender.nic as usize]);
        let acked = message.bytes_before(acked_to);
        sample_rates(ctx, &mut message, acked, rates);
        sample_variables(ctx, sender, message.flow);
        let paused = links.stopped_for(ctx.now, nic.port, DATA + sender.priority);
        Some(FlowOutcome {
            started: true,
            start: message.start + ctx.carried - message.carried_time,
            fct: completed.then(|| ctx.now - message.start + message.carried_time),
            acked_bytes: acked,
            packets_sent: message.packets_sent,
            retransmitted_bytes: message.retransmitted,
            cnps: message.cnps,
            marks: Marks::default(), // the receiver reports them
            paused: paused - message.paused_before,
            hol_blocked: false, // set once the congestion roots of all partitions are known
            skipped: message.carried_time,
            recalled: false,
        })
    }

    /// A message is wholly acknowledged, by the packet `id`. Returns its outcome, unless its end is held.
    fn message_done<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        connection: ConnectionId,
        message: Message,
        id: PacketId,
    ) -> Option<FlowOutcome> {
        let (flow, net) = (message.flow, ctx.net.clone());
        ctx.probes.break_down(ctx.now, &net, &mut ctx.packets, flow, id);
        if let Some(breakdown) = &mut ctx.probes.breakdown {
            breakdown.close(flow, net.flows.src(flow));
        }
        let outcome = self.close_message(ctx, links, connection, message, true)?;
        let stopped = message.paused_before + outcome.paused;
        self.note(ctx, flow.0, What::Acknowledged { outcome, stopped });
        let is_held = self.recall.is_some() && self.learn(ctx, &message, &outcome);
        (!is_held).then_some(outcome)
    }

    /// A message is over, with an outcome.
    pub(super) fn message_over(&mut self, ctx: &mut Ctx, flow: FlowId, outcome: &FlowOutcome) {
        count_over(ctx, flow, outcome);
        self.message_sent(ctx, flow);
    }

    /// Completes the messages of a connection that are wholly acknowledged, except the current one.
    #[cold]
    pub(super) fn complete_messages<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        id: PacketId,
    ) {
        while let Some(sender) = self.senders[connection.index()].as_deref_mut()
            && let Some(message) = sender.others.next_complete(sender.stream.snd_una)
        {
            if let Some(outcome) = self.message_done(ctx, links, connection, message, id) {
                self.message_over(ctx, message.flow, &outcome);
            }
        }
    }

    /// A connection's last byte is acknowledged, by the packet `id`, which ends here: its last message completes, and it
    /// leaves its NIC's lists.
    pub(crate) fn connection_done<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        connection: ConnectionId,
        id: PacketId,
    ) {
        self.complete_messages(ctx, links, connection, id);
        let Some(sender) = self.senders[connection.index()].as_deref_mut() else { return };
        let (nic, priority, state, message) = (sender.nic, sender.priority, sender.state, sender.message);
        sender.state = SendState::Idle;
        N::forget(self, connection, nic, priority, state);
        self.nics[nic as usize].counts.open_out -= 1;
        let outcome = self.message_done(ctx, links, connection, message, id);
        ctx.packets.remove(id);
        if ctx.net.connections.is_shared(connection) {
            if let Some(sender) = self.senders[connection.index()].as_deref_mut() {
                sender.timer_at = xoff_engine::Time::NEVER;
                sender.timeout_at = xoff_engine::Time::NEVER;
                sender.reaction.on_idle(ctx.now);
            }
        } else {
            self.senders[connection.index()] = None;
        }
        if let Some(outcome) = outcome {
            self.message_over(ctx, message.flow, &outcome);
        }
    }

    /// Writes what is still open at the end of a run: messages under way, and marks of those that receivers wait for.
    pub fn close<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &mut Links<C>) {
        if N::OWN_TRANSPORT {
            N::on_close(self, ctx, links);
        }
        let net = ctx.net.clone();
        self.end_stops();
        for connection in ConnectionId::all(self.senders.len()) {
            let Some(sender) = self.senders[connection.index()].as_deref_mut() else { continue };
            let open: Vec<Message> = sender.open_messages().map(|message| *message).collect();
            for message in open {
                ctx.probes.break_down_unfinished(ctx.now, &net, message.flow);
                if let Some(outcome) = self.close_message(ctx, links, connection, message, false) {
                    ctx.probes.on_flow_end(ctx.now, message.flow, &outcome);
                }
            }
        }
        self.close_recalled(ctx, links);
        for receiver in self.receivers.iter().flatten() {
            receiver.report(&mut ctx.probes.records);
        }
        self.close_throttles(ctx, links);
    }

    /// What holds a connection's current message from now on.
    fn held<C>(&self, ctx: &Ctx, links: &Links<C>, sender: &Sender) -> Held {
        let settings = &ctx.net.settings;
        let may_retransmit = ctx.net.may_retransmit();
        let port = self.nics[sender.nic as usize].port;
        let all_sent = sender.stream.snd_nxt >= sender.message.end;
        let waits_for = if may_retransmit { Cause::Recovery } else { Cause::InFlight };
        Held {
            all_sent: all_sent.then_some(waits_for),
            window_full: !sender.may_send(ctx.net.wire.min_window),
            data_ready_at: sender.data_ready_at(),
            departs_at: if N::DONE_AFTER_REACTION || sender.state == SendState::Ready {
                sender.pacing.next_at
            } else {
                sender.earliest_departure(&settings.quirks)
            },
            paused: links.ports[port.index()].paused & 1 << (DATA + sender.priority) != 0,
            throttled_until: ctx
                .probes
                .breakdown
                .as_ref()
                .map_or_else(Default::default, |b| b.throttled_until(port)),
        }
    }

    /// Something that may hold a connection's current message has changed; called only if a probe listens.
    #[cold]
    pub fn on_held<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, connection: ConnectionId) {
        let Some(sender) = self.senders[connection.index()].as_deref() else { return };
        let (held, flow) = (self.held(ctx, links, sender), sender.message.flow);
        let node = self.nics[sender.nic as usize].host;
        if let Some(breakdown) = &mut ctx.probes.breakdown {
            breakdown.on_held(ctx.now, flow, node, held);
        }
    }

    /// A message waits behind the earlier ones of its connection.
    pub(super) fn on_message_waits(&mut self, ctx: &mut Ctx, connection: ConnectionId, flow: FlowId) {
        let Some(sender) = self.senders[connection.index()].as_deref() else { return };
        let node = self.nics[sender.nic as usize].host;
        if let Some(breakdown) = &mut ctx.probes.breakdown {
            breakdown.on_held(ctx.now, flow, node, Held::default());
        }
    }

    /// A connection's packet is about to go onto the wire of its NIC's port; the sender's counters include it already.
    #[cold]
    pub(super) fn on_emission<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        connection: ConnectionId,
        port: PortId,
        id: PacketId,
    ) {
        self.on_held(ctx, links, connection);
        let packet = &ctx.packets[id];
        let (flow, again) = (packet.flow, packet.flags & crate::packet::RESENT != 0);
        // Only a packet that may complete its message needs an account: in order, that is the message's last packet.
        let in_order = !ctx.net.loses && ctx.net.paths.next_hops.is_none();
        let counts = packet.flags & LAST != 0 || !in_order;
        let port = &links.ports[port.index()];
        let wire_until = ctx.now + port.serialization(packet.size.into()) + port.gap;
        let Some(breakdown) = &mut ctx.probes.breakdown else { return };
        let Some(spent) = breakdown.on_emission(ctx.now, flow, wire_until, again) else { return };
        if let Some(ways) = &mut ctx.packets.ways {
            ways.begin(id, ctx.now, counts.then_some(spent));
        }
    }

    /// A port was stopped or resumed, which changes what holds its NIC's messages.
    pub(super) fn on_port_changed<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, port: PortId) {
        if ctx.probes.on_flows {
            let nic = self.nic_of(links, port);
            self.on_nic_changed(ctx, links, nic);
        }
    }

    #[cold]
    pub(super) fn on_nic_changed<C>(&mut self, ctx: &mut Ctx, links: &Links<C>, nic: NicId) {
        let node = self.nics[nic as usize].host;
        let flows = ctx.probes.breakdown.as_ref().map_or_else(Vec::new, |b| b.flows_of(node));
        for flow in flows {
            let connection = ctx.net.connections.of(flow);
            let sender = self.senders[connection.index()].as_deref();
            if sender.is_some_and(|sender| sender.message.flow == flow && sender.nic == nic) {
                self.on_held(ctx, links, connection);
            }
        }
    }
}
