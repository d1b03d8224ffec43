//! Closed loops: flows that start when others have ended, like the messages of a parallel program.
//!
//! A dependency names a flow by its place in [`crate::Traffic::flows`] and a step by its place in
//! [`crate::Traffic::steps`]. A step's host is an index into the list of hosts.

use serde::Serialize;
pub use xoff_engine::schedule::{Dependency, Hold, Milestone, Step, Waiter};

/// A flow's part in a parallel program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Role {
    /// Index into [`crate::Traffic::kernels`].
    pub kernel: u16,
    /// The number of the sending process among those of its pattern.
    pub process: u32,
    /// The iteration of the kernel's loop, from 0.
    pub iteration: u32,
}

/// What a process does in one iteration of a kernel: from one of its steps to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// Index into [`crate::Traffic::labels`].
    pub label: u16,
    /// The process and the iteration.
    pub role: Role,
    /// The random ring of GPCNeT, from 0; 0 if there is none.
    pub ring: u32,
    /// The process's host.
    pub host: u32,
    /// Payload bytes that the process sends in the operation, without the messages of a barrier.
    pub bytes: u64,
    /// The operation's first step.
    pub begin: u32,
    /// The operation's last step. If that is its first step too, the operation ends when the step gives its processor back.
    pub end: u32,
}
