//! Follows milestones: flows start, steps are done, and steps take processors and give them back.
//!
//! The same rules serve a run, in which the network tells when flows have arrived, and [`super::ideal_steps`], in which each
//! flow takes the time that it takes alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xoff_engine::Time;

use super::Flows;
use super::dependencies::Dependencies;
use crate::ids::FlowId;

/// Why [`DependencyTracker::called`] is called at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Call {
    /// A step is ready to take its processor.
    Ready,
    /// A step gives its processor back.
    Over,
}

/// Receives the consequences of milestones; no time is before the current one.
pub(crate) trait Effects {
    /// A flow starts at a time.
    fn start(&mut self, flow: FlowId, at: Time);
    /// The time of a step is known.
    fn done(&mut self, step: u32, at: Time);
    /// [`DependencyTracker::called`] is to be called at a time.
    fn call(&mut self, at: Time, step: u32, call: Call);
}

/// A processor: whether a step has it, and which steps wait for it, ordered by the time when they were ready, then by
/// number.
#[derive(Clone, Default)]
struct Processor {
    taken: bool,
    queue: BinaryHeap<Reverse<(Time, u32)>>,
}

/// What each flow and step still waits for.
#[derive(Clone)]
pub(crate) struct DependencyTracker {
    /// By flow, then step: the number of milestones still to come.
    left: Vec<u32>,
    /// By flow, then step: the earliest start, by the milestones that have come.
    ready: Vec<Time>,
    /// Milestones that have come and whose waiters have not been told, with their times.
    pending: Vec<(usize, Time)>,
    processors: Vec<Processor>,
    /// Number of steps that have yet to take their processor, or to give it back.
    open: usize,
}

impl DependencyTracker {
    /// The state before the first milestone; `None` if nothing waits.
    pub fn new(all: &Dependencies, flows: &Flows, planned: usize) -> Option<Box<DependencyTracker>> {
        if all.is_empty() {
            return None;
        }
        let ready = flows.iter().take(planned).map(|f| f.start).chain(all.steps().iter().map(|s| s.start));
        Some(Box::new(DependencyTracker {
            left: all.waits().to_vec(),
            ready: ready.collect(),
            pending: Vec::new(),
            processors: (0..all.processors()).map(|_| Processor::default()).collect(),
            open: 0,
        }))
    }

    /// Whether something that waits for several milestones of an `unknown` number, whose times are not known from the schedule alone, knows of some of them already.
    pub fn waits_in_part(&self, unknown: &[u32]) -> bool {
        let mut items = self.left.iter().zip(unknown);
        !self.pending.is_empty() || items.any(|(&left, &unknown)| left > 0 && left < unknown)
    }

    /// Whether steps have yet to take their processor, or to give it back.
    #[inline]
    pub fn busy(&self) -> bool {
        self.open > 0
    }

    /// Begins the steps with these `numbers`: a step that waits for nothing comes at its start.
    pub fn begin(
        &mut self,
        all: &Dependencies,
        numbers: impl Iterator<Item = u32>,
        effects: &mut dyn Effects,
    ) {
        for number in numbers {
            self.open += usize::from(all.steps()[number as usize].hold.is_some());
            let item = (all.flows() + number) as usize;
            if self.left[item] == 0 {
                self.step_ready(all, number, self.ready[item], Time::ZERO, effects);
            }
        }
        self.spread(all, Time::ZERO, effects);
    }

    /// A flow's milestone has come.
    pub fn reached(&mut self, all: &Dependencies, milestone: usize, now: Time, effects: &mut dyn Effects) {
        self.pending.push((milestone, now));
        self.spread(all, now, effects);
    }

    /// Carries out a call that [`Effects::call`] asked for.
    pub fn called(
        &mut self,
        all: &Dependencies,
        step: u32,
        call: Call,
        now: Time,
        effects: &mut dyn Effects,
    ) {
        let Some(hold) = all.steps()[step as usize].hold else { return };
        let processor = &mut self.processors[hold.processor as usize];
        match call {
            Call::Ready => self.claim(all, step, now, effects),
            Call::Over => {
                self.open -= 1;
                processor.taken = false;
                if let Some(Reverse((_, next))) = processor.queue.pop() {
                    self.claim(all, next, now, effects);
                }
            }
        }
        self.spread(all, now, effects);
    }

    /// Tells the waiters of all milestones that have come. The last milestone of a step that takes no processor fixes the
    /// step's time, even if that time is later, so such steps need no events.
    fn spread(&mut self, all: &Dependencies, now: Time, effects: &mut dyn Effects) {
        while let Some((milestone, at)) = self.pending.pop() {
            for edge in all.after(milestone) {
                let item = edge.then as usize;
                let ready = self.ready[item].max(at.saturating_add(edge.delay));
                self.ready[item] = ready;
                self.left[item] -= 1;
                if self.left[item] > 0 {
                    continue;
                }
                if edge.then < all.flows() {
                    effects.start(FlowId(edge.then), ready);
                } else {
                    self.step_ready(all, edge.then - all.flows(), ready, now, effects);
                }
            }
        }
    }

    /// Everything that a step waits for has come, or will have come by `ready`.
    fn step_ready(
        &mut self,
        all: &Dependencies,
        step: u32,
        ready: Time,
        now: Time,
        effects: &mut dyn Effects,
    ) {
        if all.steps()[step as usize].hold.is_none() {
            self.done(all, step, ready, effects);
        } else if ready > now {
            effects.call(ready, step, Call::Ready);
        } else {
            self.claim(all, step, now, effects);
        }
    }

    /// A step takes its processor if that is free, and waits for it otherwise.
    fn claim(&mut self, all: &Dependencies, step: u32, now: Time, effects: &mut dyn Effects) {
        let Some(hold) = all.steps()[step as usize].hold else { return };
        let processor = &mut self.processors[hold.processor as usize];
        if processor.taken {
            return processor.queue.push(Reverse((now, step)));
        }
        processor.taken = true;
        effects.call(now.saturating_add(hold.time), step, Call::Over);
        self.done(all, step, now, effects);
    }

    fn done(&mut self, all: &Dependencies, step: u32, at: Time, effects: &mut dyn Effects) {
        effects.done(step, at);
        self.pending.push(((step + 2 * all.flows()) as usize, at));
    }
}
