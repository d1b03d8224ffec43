//! What the transport reports of its messages.

use xoff_engine::{Rate, Time};

use super::UetNic;
use super::sender::UetSender;
use crate::ctx::Ctx;
use crate::host::Hosts;
use crate::ids::{ConnectionId, FlowId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::observe::RatesNow;
use crate::observe::detection::Marks;
use crate::observe::records::FlowOutcome;
use crate::packet::DATA;

impl UetSender {
    fn rates(&self, ctx: &Ctx, rate: Rate) -> RatesNow {
        let size = ctx.net.flows.size(self.message.flow).bytes().unwrap_or(0);
        let window = self.window.as_ref().map_or(u64::MAX, |window| window.bytes());
        RatesNow {
            wire_sent: self.message.wire_sent,
            acked: self.acked(size, ctx.net.wire.payload),
            rate,
            window,
        }
    }
}

impl Hosts<UetNic> {
    /// All of a connection's message has arrived.
    pub(super) fn uet_done<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        connection: ConnectionId,
    ) {
        let Some(sender) = self.shared.senders[connection.index()].as_deref() else { return };
        let (flow, nic) = (sender.message.flow, sender.nic);
        ctx.counters.flows_done += 1;
        ctx.counters.background_done += u64::from(ctx.net.is_background(flow));
        self.uet_end(ctx, links, connection, true);
        let own = &mut self.nics[nic as usize];
        own.counts.open_out -= 1;
        own.scheduler.ready.retain(|&other| other != connection);
        self.message_sent(ctx, flow);
    }

    /// Writes a message's last row of rates and its outcome.
    fn uet_end<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &Links<C>,
        connection: ConnectionId,
        completed: bool,
    ) {
        let Some(mut sender) = self.shared.senders[connection.index()].take() else { return };
        let port = self.nics[sender.nic as usize].port;
        self.uet_sample_one(ctx, &mut sender, links.ports[port.index()].rate);
        let paused = links.stopped_for(ctx.now, port, DATA + sender.priority);
        let message = &sender.message;
        let size = ctx.net.flows.size(message.flow).bytes().unwrap_or(0);
        let outcome = FlowOutcome {
            started: true,
            start: message.start + ctx.carried,
            fct: completed.then(|| ctx.now - message.start),
            acked_bytes: if completed { size } else { sender.acked(size, ctx.net.wire.payload) },
            packets_sent: message.packets_sent,
            retransmitted_bytes: message.retransmitted,
            cnps: 0,
            marks: Marks::default(), // the receiver reports them
            paused: paused - message.paused_before,
            hol_blocked: false, // set once the congestion roots of all partitions are known
            skipped: Time::ZERO,
            recalled: false,
        };
        ctx.probes.on_flow_end(ctx.now, message.flow, &outcome);
    }

    fn uet_sample_one(&self, ctx: &mut Ctx, sender: &mut UetSender, rate: Rate) {
        if ctx.probes.records.samples_rates_of(sender.message.flow) {
            let now = sender.rates(ctx, rate);
            let message = &mut sender.message;
            ctx.probes.records.sample_rates(ctx.simulated(), message.flow, &mut message.sampled, &now);
        }
    }

    /// Samples the rates of messages under way.
    pub(super) fn uet_sample(&mut self, ctx: &mut Ctx) {
        let mut flows = ctx.probes.records.take_sampled_flows();
        flows.retain(|&flow| {
            let connection = ctx.net.connections.of(flow);
            let Some(mut sender) = self.shared.senders[connection.index()].take() else { return false };
            let rate = ctx.net.topology.rate(self.nics[sender.nic as usize].port);
            self.uet_sample_one(ctx, &mut sender, rate);
            self.shared.senders[connection.index()] = Some(sender);
            true
        });
        ctx.probes.records.put_sampled_flows(flows);
    }

    /// Writes what is still open at the end of a run, and the marks of all messages.
    pub(super) fn uet_close<C: LinkControl>(&mut self, ctx: &mut Ctx, links: &Links<C>) {
        for connection in ConnectionId::all(self.shared.senders.len()) {
            self.uet_end(ctx, links, connection, false);
        }
        for number in 0..self.shared.receivers.len() {
            let flow: FlowId = ctx.net.connections.first_message(ConnectionId::at(number));
            if let Some(receiver) = self.shared.receivers[number].as_deref() {
                ctx.probes.records.flow_received(flow, receiver.marks);
            }
        }
    }
}
