//! Dependencies: flows and steps that start when others have ended, like the messages of a parallel program.
//!
//! A message of a parallel program goes out after other messages have arrived or have been sent. A flow may therefore wait
//! for the *milestones* of other flows: the delivery of a flow's last byte at its receiver, or the acknowledgement of that
//! byte at its sender. A delay after each milestone stands for the process's work in between. A *step* is a point in time at
//! a host, for work without the network: like a flow, a step waits for milestones, and it is a milestone itself.
//!
//! Flows, steps and hosts are plain numbers here. Flows and steps are numbered by their place in the lists that a
//! dependency belongs to, hosts as the owner of the list numbers them.

use serde::Serialize;

use crate::Time;

/// What a flow or step can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Milestone {
    /// The last byte of this flow has arrived at its receiver.
    Delivered(u32),
    /// The last byte of this flow is acknowledged at its sender.
    Sent(u32),
    /// This step is done.
    Step(u32),
}

/// What can wait for a milestone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Waiter {
    /// This flow waits with its start.
    Flow(u32),
    /// This step waits.
    Step(u32),
}

/// `then` comes no earlier than `delay` after `on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// What is waited for.
    pub on: Milestone,
    /// What waits.
    pub then: Waiter,
    /// Minimum time between the two.
    pub delay: Time,
}

/// A point in time at a host: the moment at which every milestone that the step waits for has come. `H` is the type of a
/// host's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step<H = u32> {
    /// The host's number.
    pub host: H,
    /// Earliest time of the step.
    pub start: Time,
    /// The processor that the step takes; the step then also waits until that processor is free.
    pub hold: Option<Hold>,
}

impl Step {
    /// This step in a list that numbers its host as `host`.
    pub fn at<H>(self, host: H) -> Step<H> {
        Step { host, start: self.start, hold: self.hold }
    }
}

/// A step's claim on a processor. A processor serves one step at a time, in the order in which the steps became ready; of
/// steps that became ready at the same time, the one with the lowest number goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hold {
    /// Number of the processor. A processor belongs to one host.
    pub processor: u32,
    /// How long the step holds the processor, from the time of the step on.
    pub time: Time,
}
