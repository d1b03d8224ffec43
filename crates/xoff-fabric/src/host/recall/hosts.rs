//! Hosts start, deliver and complete the messages that are recalled, without packets.

use xoff_engine::Time;

use super::episodes::Over;
use super::stops;
use super::{Beginning, Ended, Fate, Recall, Surroundings, Troubles, UnderWay};
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::host::Hosts;
use crate::host::message::Message;
use crate::host::nic::NicScheduler;
use crate::host::rounds::What;
use crate::ids::{FlowId, PortId};
use crate::link::Links;
use crate::link::flow_control::LinkControl;
use crate::observe::detection::Marks;
use crate::observe::records::FlowOutcome;
use crate::packet::DATA;
use crate::settings::AckClass;

/// Arguments of the events of recalled messages, which have the kind of stops: the last byte arrives, or the last ACK. The others are of
/// simulated ones that were held.
const DELIVERED: u32 = 1;
const SENT: u32 = 2;
const HELD_DELIVERED: u32 = 3;
const HELD_SENT: u32 = 4;
/// A message that was held back begins to send.
const BEGINS: u32 = 5;

/// What happened on a message's path so far.
fn troubles(ctx: &Ctx, flow: FlowId) -> Troubles {
    let (totals, path) = (&ctx.probes.records.totals, ctx.net.data_path_at(flow, ctx.simulated()));
    let marks = |port: &PortId| {
        let marks = totals.marks.of(*port);
        marks.ce + marks.ue + totals.chances.of(*port)
    };
    let close_calls = |port: &PortId| totals.close_calls.of(*port);
    let pauses = |port: &PortId| totals.pause_frames.of(port.peer());
    Troubles {
        marks: path.iter().map(marks).sum(),
        close_calls: path.iter().map(close_calls).sum(),
        pauses: path.iter().map(pauses).sum(),
    }
}

/// The outcome of a recalled message that has `completed` after a time or `lasted` so far, with `acked` bytes acknowledged.
fn outcome(ctx: &Ctx, ended: &Ended, lasted: Time, completed: bool, acked: u64) -> FlowOutcome {
    FlowOutcome {
        started: true,
        start: ended.start,
        fct: completed.then_some(lasted),
        acked_bytes: acked,
        packets_sent: acked.div_ceil(ctx.net.wire.payload),
        retransmitted_bytes: 0,
        cnps: 0,
        marks: Marks::default(),
        paused: ended.paused,
        hol_blocked: false,
        skipped: lasted,
        recalled: true,
    }
}

impl<N: NicScheduler> Hosts<N> {
    /// Follows all messages from now on, and recalls them if they `may` be, with errors up to `tolerance`; if it `persists`, also where it cannot vouch for that.
    pub fn follow_messages(&mut self, ctx: &Ctx, tolerance: f64, may: bool, persists: bool) {
        // ACKs that wait with data may wait for any number of packets.
        let may = may && !self.slows && ctx.net.settings.host.ack_class == AckClass::Control;
        self.recall = Some(Box::new(Recall::new(&ctx.net, tolerance, may, persists)));
    }

    /// What messages under way take may be wrong by a share `error` of it, as time was carried forward until `now`.
    pub fn note_error(&mut self, now: Time, error: f64) {
        if let Some(recall) = &mut self.recall {
            recall.note_jump(now, error);
        }
    }

    /// What was wrong before is past.
    pub fn begin_anew(&mut self) {
        if let Some(recall) = &mut self.recall {
            recall.begin_anew();
        }
    }

    /// The run's messages, if they are followed.
    pub fn recall(&self) -> Option<&Recall> {
        self.recall.as_deref()
    }

    /// Notes that a message starts; returns whether it is recalled, so that it is not to be simulated.
    #[cold]
    pub(in crate::host) fn starts_recalled<C>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        flow: FlowId,
    ) -> bool {
        if self.heard.is_some() {
            let (port, class) = (ctx.net.data_path(flow)[0], DATA + ctx.net.flows.priority(flow));
            self.note(ctx, flow.0, What::Started { stopped: links.stopped_for(ctx.now, port, class) });
        }
        let Some(mut recall) = self.recall.take() else { return false };
        let (net, now) = (ctx.net.clone(), ctx.simulated());
        let around = Surroundings {
            troubles: troubles(ctx, flow),
            is_settled: self.is_settled(ctx, net.connections.of(flow)),
            events: ctx.counters.events,
            worth: (links.ports.len() + self.senders.len()) as u64,
            look: |over: Vec<Over>, from: Option<usize>, is_worth: bool| {
                over.iter().for_each(|over| stops::count(ctx, links, over));
                if is_worth { self.look(ctx, links, from) } else { None }
            },
        };
        let beginning = recall.begin(&net, flow, now, around);
        self.recall = Some(recall);
        let (ends, now) = (net.flows.of(flow), ctx.now);
        let taken = match beginning {
            Beginning::Simulated => return false,
            Beginning::HeldBack(time) => {
                ctx.schedule(ends.src, now + time, key(kind::FLOW_STOP, flow.0), BEGINS);
                return true;
            }
            Beginning::Recalled(taken) => taken,
        };
        ctx.probes.on_flow_start(ctx.now, flow);
        ctx.schedule(ends.dst, now + taken.delivered, key(kind::FLOW_STOP, flow.0), DELIVERED);
        ctx.schedule(ends.src, now + taken.sent, key(kind::FLOW_STOP, flow.0), SENT);
        true
    }

    /// The event of a recalled message, or of one that was held or held back.
    pub fn recalled_event<C: LinkControl>(
        &mut self,
        ctx: &mut Ctx,
        links: &mut Links<C>,
        flow: FlowId,
        arg: u32,
    ) {
        let net = ctx.net.clone();
        let size = net.flows.size(flow).bytes().unwrap_or(0);
        match arg {
            DELIVERED => {
                ctx.counters.delivered_bytes += size;
                self.message_delivered(ctx, flow);
            }
            HELD_DELIVERED => self.message_delivered(ctx, flow),
            HELD_SENT => self.held_sent(ctx, flow),
            BEGINS => {
                let now = ctx.simulated();
                let waited = self.recall.as_mut().map_or(Time::ZERO, |recall| recall.let_go(flow, now));
                self.simulate(ctx, links, flow, waited);
            }
            _ => self.recalled_sent(ctx, flow, size),
        }
    }

    /// A recalled message of `size` bytes is wholly acknowledged.
    fn recalled_sent(&mut self, ctx: &mut Ctx, flow: FlowId, size: u64) {
        let (net, now) = (ctx.net.clone(), ctx.simulated());
        let Some(recall) = &mut self.recall else { return };
        let Some(ended) = recall.end(&net, flow, now, None) else { return };
        let outcome = outcome(ctx, &ended, now - ended.start, true, size);
        self.message_over(ctx, flow, &outcome);
    }

    /// Notes that a message's last byte has arrived; returns whether its delivery is held.
    #[cold]
    pub(in crate::host) fn note_delivered(&mut self, ctx: &mut Ctx, flow: FlowId) -> bool {
        let Some(recall) = &mut self.recall else { return false };
        let Some(wait) = recall.deliver(&ctx.net, flow, ctx.simulated()) else { return false };
        let (node, at) = (ctx.net.flows.dst(flow), ctx.now + wait);
        ctx.schedule(node, at, key(kind::FLOW_STOP, flow.0), HELD_DELIVERED);
        true
    }

    /// Learns from a message that was simulated, with its `outcome`, and whose sender's port was `paused` for some time; returns whether its end is held.
    #[cold]
    pub(in crate::host) fn learn(&mut self, ctx: &mut Ctx, message: &Message, outcome: &FlowOutcome) -> bool {
        let (flow, now) = (message.flow, ctx.simulated());
        let connection = ctx.net.connections.of(flow);
        let is_smooth = message.cnps == 0 && message.retransmitted == 0 && self.is_settled(ctx, connection);
        let fate = Fate { troubles: troubles(ctx, flow), paused: outcome.paused, is_smooth };
        let Some(recall) = &mut self.recall else { return false };
        let Some(wait) = recall.hold_end(&ctx.net, flow, now) else {
            recall.end(&ctx.net, flow, now, Some(fate));
            return false;
        };
        let fct = outcome.fct.map(|fct| fct + wait);
        recall.keep(flow, FlowOutcome { fct, ..*outcome }, fate);
        let (node, at) = (ctx.net.flows.src(flow), ctx.now + wait);
        ctx.schedule(node, at, key(kind::FLOW_STOP, flow.0), HELD_SENT);
        true
    }

    /// A message is held no more after its last ACK.
    fn held_sent(&mut self, ctx: &mut Ctx, flow: FlowId) {
        let (net, now) = (ctx.net.clone(), ctx.simulated());
        let Some(recall) = &mut self.recall else { return };
        let Some((outcome, fate)) = recall.release(flow) else { return };
        recall.end(&net, flow, now, Some(fate));
        self.message_over(ctx, flow, &outcome);
    }

    /// Writes the outcomes of recalled messages that are under way at the end of a run: they have sent evenly. Counts what was stopped in
    /// recalled episodes.
    pub(in crate::host) fn close_recalled<C>(&mut self, ctx: &mut Ctx, links: &mut Links<C>) {
        let Some(recall) = &mut self.recall else { return };
        let (net, now) = (ctx.net.clone(), ctx.simulated());
        for UnderWay { flow, start, waits, sent, paused } in recall.under_way() {
            let size = net.flows.size(flow).bytes().unwrap_or(0);
            // Where parts of a run are interrupted, others may be further.
            let lasted = now.saturating_sub(start).min(sent);
            let (done, whole) = (lasted.saturating_sub(waits), sent.saturating_sub(waits).0.max(1));
            let share = |all: u64| (u128::from(done.0) * u128::from(all) / u128::from(whole)) as u64;
            let acked = share(size) / net.wire.payload * net.wire.payload;
            recall.send(&net, flow, start, acked);
            let ended = Ended { start, paused: Time(share(paused.0)) };
            let outcome = outcome(ctx, &ended, lasted, false, acked);
            ctx.probes.on_flow_end(ctx.now, flow, &outcome);
        }
        for (flow, start) in recall.held_back() {
            let lasted = now.saturating_sub(start);
            let outcome = outcome(ctx, &Ended { start, paused: Time::ZERO }, lasted, false, 0);
            ctx.probes.on_flow_end(ctx.now, flow, &FlowOutcome { recalled: false, ..outcome });
        }
        for (flow, outcome) in recall.release_all(&net, now) {
            ctx.probes.on_flow_end(ctx.now, flow, &outcome);
        }
        for over in recall.close(now) {
            stops::count(ctx, links, &over);
        }
    }
}
