//! Closed loops: flows that start when others have ended, as the messages of a parallel program do.

use serde::Serialize;
use xoff_engine::Time;

/// What can be waited for. A flow is named by its place in [`crate::Traffic::flows`], a step by its place in
/// [`crate::Traffic::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Milestone {
    /// The last byte of this flow has arrived at its receiver.
    Delivered(u32),
    /// The last byte of this flow is acknowledged at its sender.
    Sent(u32),
    /// This step is done.
    Step(u32),
}

/// What can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Waiter {
    /// This flow, with its start.
    Flow(u32),
    /// This step.
    Step(u32),
}

/// `then` comes no earlier than `delay` after `on`, which ends at the host of `then`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// What is waited for.
    pub on: Milestone,
    /// What waits.
    pub then: Waiter,
    /// What passes in between.
    pub delay: Time,
}

/// A point in time at a host, when all that it waits for has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The host's index.
    pub host: u32,
    /// It comes no earlier.
    pub start: Time,
    /// The processor that it takes; it then comes no earlier than that one is free.
    pub hold: Option<Hold>,
}

/// A step's claim on a processor, which serves one at a time, in the order in which they were ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hold {
    /// Number of the processor, of one host.
    pub processor: u32,
    /// For how long from the step on.
    pub time: Time,
}

/// A flow's part in a parallel program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Role {
    /// Index into [`crate::Traffic::kernels`].
    pub kernel: u16,
    /// The process that sends it, among those of its pattern.
    pub process: u32,
    /// The iteration of the kernel's loop, from 0.
    pub iteration: u32,
}

/// What a process does in one iteration of a kernel: from one of its steps to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// Index into [`crate::Traffic::labels`].
    pub label: u16,
    /// Which iteration of which process.
    pub role: Role,
    /// The random ring of GPCNeT, from 0; 0 where there is none.
    pub ring: u32,
    /// The process's host.
    pub host: u32,
    /// Payload that the process sends in it, without what a barrier takes.
    pub bytes: u64,
    /// Its first step.
    pub begin: u32,
    /// Its last.
    pub end: u32,
}
