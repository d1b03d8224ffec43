//! Programs whose messages wait for each other: what follows from a milestone becomes events and records.
//!
//! A program's times are simulated time, also where the network's clock is behind it: see [`Ctx::carried`].

use xoff_engine::Time;

use super::Hosts;
use super::nic::NicScheduler;
use super::rounds::What;
use crate::ctx::Ctx;
use crate::event::{key, kind};
use crate::ids::FlowId;
use crate::network::dependencies::{Dependencies, Milestone};
use crate::network::dependency_tracker::{Call, DependencyTracker, Effects};

/// A partition's events and records. The number of a step's event is above all messages' numbers.
pub(super) struct OfPartition<'a>(pub &'a mut Ctx);

/// What the argument of a step's event asks for.
pub(super) fn call_of(arg: u32) -> Call {
    if arg == 0 { Call::Ready } else { Call::Over }
}

impl Effects for OfPartition<'_> {
    fn start(&mut self, flow: FlowId, at: Time) {
        let (src, at) = (self.0.net.flows.src(flow), self.0.on_network_clock(at));
        self.0.schedule(src, at, key(kind::FLOW_START, flow.0), 0);
    }
    fn done(&mut self, step: u32, at: Time) {
        self.0.probes.records.step_done(step, at);
    }
    fn call(&mut self, at: Time, step: u32, call: Call) {
        let number = self.0.net.first_other + step;
        let host = self.0.net.dependencies.steps()[step as usize].host;
        let at = self.0.on_network_clock(at);
        self.0.schedule(host, at, key(kind::FLOW_START, number), u32::from(call == Call::Over));
    }
}

impl<N: NicScheduler> Hosts<N> {
    /// Begins the steps of the partition's hosts that wait for nothing.
    pub fn begin_steps(&mut self, ctx: &mut Ctx) {
        let net = ctx.net.clone();
        let (steps, flows) = ((0..).zip(net.dependencies.steps()), net.dependencies.flows() as usize);
        let is_own = |number: u32, host| ctx.boundary.owns_item(flows + number as usize, host);
        let own: Vec<u32> = steps.filter(|(n, step)| is_own(*n, step.host)).map(|(n, _)| n).collect();
        self.with_program(ctx, |all, program, effects| program.begin(all, own.into_iter(), effects));
    }

    /// Whether steps have yet to take their processor, or to give it back.
    pub fn is_busy(&self) -> bool {
        self.program.as_ref().is_some_and(|program| program.busy())
    }

    /// See [`DependencyTracker::waits_in_part`].
    pub fn waits_in_part(&self, unknown: &[u32]) -> bool {
        self.program.as_ref().is_some_and(|program| program.waits_in_part(unknown))
    }

    /// A message's last byte is acknowledged.
    #[inline]
    pub(super) fn message_sent(&mut self, ctx: &mut Ctx, flow: FlowId) {
        if self.program.is_some() || self.news.is_some() {
            self.reached(ctx, flow, Milestone::Sent(flow.0));
        }
    }

    /// A message's last byte has arrived.
    #[inline]
    pub(super) fn message_delivered(&mut self, ctx: &mut Ctx, flow: FlowId) {
        if self.recall.is_some() && self.note_delivered(ctx, flow) {
            return;
        }
        if self.heard.is_some() {
            self.note(ctx, flow.0, What::Delivered);
        }
        if self.program.is_some() || self.news.is_some() {
            self.reached(ctx, flow, Milestone::Delivered(flow.0));
        }
    }

    #[cold]
    #[inline(never)]
    fn reached(&mut self, ctx: &mut Ctx, flow: FlowId, milestone: Milestone) {
        let now = ctx.simulated();
        if let Some(news) = &mut self.news {
            news.push((now, milestone));
        }
        if flow.0 >= ctx.net.dependencies.flows() {
            return;
        }
        self.with_program(ctx, |all, program, effects| {
            program.reached(all, all.milestone(milestone), now, effects);
        });
    }

    /// The event of a step, whose number is above all messages'.
    pub fn step_event(&mut self, ctx: &mut Ctx, index: u32, arg: u32) {
        let (now, step) = (ctx.simulated(), index - ctx.net.first_other);
        let call = call_of(arg);
        self.note(ctx, step, What::Called(call));
        self.with_program(ctx, |all, program, effects| program.called(all, step, call, now, effects));
    }

    fn with_program(
        &mut self,
        ctx: &mut Ctx,
        what: impl FnOnce(&Dependencies, &mut DependencyTracker, &mut dyn Effects),
    ) {
        let Some(program) = &mut self.program else { return };
        let net = ctx.net.clone();
        what(&net.dependencies, program, &mut OfPartition(ctx));
    }
}
