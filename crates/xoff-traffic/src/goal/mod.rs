//! GOAL: schedules of parallel programs, in the text form that LogGOPSim and ATLAHS read.
//!
//! T. Hoefler, C. Siebert and A. Lumsdaine, "Group Operation Assembly Language - A Flexible Way to Express Collective
//! Communication" (ICPP 2009); T. Hoefler, T. Schneider and A. Lumsdaine, "LogGOPSim - Simulating Large-Scale Applications
//! in the LogGOPS Model" (LSAP 2010). A schedule gives each rank its operations, and says which wait for which:
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 1000
//! l2: send 64b to 1 tag 7
//! l2 requires l1
//! }
//! rank 1 {
//! l1: recv 64b from 0 tag 7
//! }
//! ```
//!
//! `requires` waits for the end of an operation, `irequires` for its beginning. The n-th send from a rank to another with a
//! tag belongs to the n-th receive there from that rank with that tag, both in the order of the text; or with any tag, if
//! tags are ignored.

mod circle;
mod matching;
mod parse;

pub use parse::parse;

use serde::Serialize;

use crate::error::Fault;

/// What is wrong with a schedule, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: `{subject}` {fault}")]
pub struct GoalError {
    /// Line, from 1.
    pub line: usize,
    /// The word in which the error is.
    pub subject: String,
    /// What is wrong with the line, and what was expected.
    pub fault: Fault,
}

impl GoalError {
    fn new(line: u32, subject: impl Into<String>, fault: Fault) -> GoalError {
        GoalError { line: line as usize, subject: subject.into(), fault }
    }
}

/// Kind of an operation, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Keeps its processor busy.
    Calc {
        /// Length in nanoseconds.
        ns: u64,
    },
    /// Sends a message.
    Send {
        /// Payload in bytes.
        size: u64,
        /// The receiving rank.
        to: u32,
        /// Number that tells messages between two ranks apart.
        tag: u32,
    },
    /// Receives a message.
    Recv {
        /// Room for its payload, in bytes.
        size: u64,
        /// The sending rank.
        from: u32,
        /// Number that tells messages between two ranks apart.
        tag: u32,
    },
}

impl Action {
    /// Its word in a schedule.
    pub fn word(&self) -> &'static str {
        match self {
            Action::Calc { .. } => "calc",
            Action::Send { .. } => "send",
            Action::Recv { .. } => "recv",
        }
    }
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The rank.
    pub rank: u32,
    /// Line of the text, from 1.
    pub line: u32,
    /// The processor of the rank that it takes, from 0.
    pub cpu: u32,
    /// What it does.
    pub action: Action,
}

/// An operation waits for another of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The operation that waits, by its place in [`Schedule::operations`].
    pub then: u32,
    /// The operation that it waits for, by its place.
    pub on: u32,
    /// Whether it waits for the end of that operation; otherwise it waits for the beginning.
    pub ended: bool,
}

/// A schedule that can complete: each send has its receive, and no operation waits for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Number of ranks.
    pub ranks: u32,
    /// Operations in the order of the text.
    pub operations: Vec<Operation>,
    /// Which operations wait for which.
    pub requirements: Vec<Requirement>,
    /// By operation: a send's receive, a receive's send, and a calculation itself.
    pub partners: Vec<u32>,
}

/// The size of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of operations of all ranks.
    pub operations: usize,
    /// Number of messages.
    pub messages: usize,
    /// Payload bytes of all messages.
    pub bytes: u64,
}

impl Schedule {
    /// The schedule's size.
    pub fn size(&self) -> Size {
        let sizes = self.operations.iter().filter_map(|o| match o.action {
            Action::Send { size, .. } => Some(size),
            Action::Calc { .. } | Action::Recv { .. } => None,
        });
        let (messages, bytes) = sizes.fold((0, 0u64), |(n, sum), size| (n + 1, sum.saturating_add(size)));
        Size { ranks: self.ranks, operations: self.operations.len(), messages, bytes }
    }

    /// The messages: their sends and receives by place in [`Schedule::operations`].
    pub fn messages(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let operations = (0u32..).zip(&self.operations).zip(&self.partners);
        operations
            .filter(|((_, o), _)| matches!(o.action, Action::Send { .. }))
            .map(|((send, _), &recv)| (send, recv))
    }
}
