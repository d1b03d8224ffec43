//! A schedule on an ideal network: every flow takes the time that it takes alone, and all other times follow.
//!
//! The dependencies, the delays in between and the processors are those of the run; the flows never share a link, not even
//! their hosts' links. The flows' times are the exact ones of [`Network::unloaded`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xoff_engine::Time;

use super::Network;
use super::dependencies::Milestone;
use super::dependency_tracker::{Call, DependencyTracker, Effects};
use crate::ids::FlowId;

/// An event of the ideal network. Simultaneous events come in the order of a run: arrivals, then steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// A flow's milestone, by its number.
    Milestone(usize),
    /// The call that a step asked for.
    Step(u32, Call),
}

struct Ideal<'a> {
    net: &'a Network,
    next: BinaryHeap<Reverse<(Time, Next)>>,
    steps: Vec<Time>,
}

impl Effects for Ideal<'_> {
    fn start(&mut self, flow: FlowId, at: Time) {
        let Some(unloaded) = self.net.unloaded(flow) else { return };
        let milestones =
            [(Milestone::Delivered(flow.0), unloaded.delivered), (Milestone::Sent(flow.0), unloaded.sent)];
        for (milestone, after) in milestones {
            let milestone = self.net.dependencies.milestone(milestone);
            // Nothing waits for most milestones.
            if !self.net.dependencies.after(milestone).is_empty() {
                self.next.push(Reverse((at.saturating_add(after), Next::Milestone(milestone))));
            }
        }
    }
    fn done(&mut self, step: u32, at: Time) {
        self.steps[step as usize] = at;
    }
    fn call(&mut self, at: Time, step: u32, call: Call) {
        self.next.push(Reverse((at, Next::Step(step, call))));
    }
}

/// By step: when it is done on the ideal network; [`Time::NEVER`] if it waits for an endless flow.
pub fn ideal_steps(net: &Network) -> Vec<Time> {
    let all = &net.dependencies;
    let mut ideal = Ideal { net, next: BinaryHeap::new(), steps: vec![Time::NEVER; all.steps().len()] };
    let Some(mut tracker) = DependencyTracker::new(all, &net.flows, net.planned) else {
        return ideal.steps;
    };
    for (number, flow) in FlowId::all(net.planned).zip(net.flows.iter()) {
        if !all.flow_waits(number) {
            ideal.start(number, flow.start);
        }
    }
    tracker.begin(all, 0..all.steps().len() as u32, &mut ideal);
    while let Some(Reverse((now, next))) = ideal.next.pop() {
        match next {
            Next::Milestone(milestone) => tracker.reached(all, milestone, now, &mut ideal),
            Next::Step(step, call) => tracker.called(all, step, call, now, &mut ideal),
        }
    }
    ideal.steps
}
