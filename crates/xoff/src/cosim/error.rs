//! The errors of a session.

use xoff_engine::{Nearest, Time};

use crate::run::RunError;

/// Why a call of a session is refused, or why the session cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// No host has this name.
    #[error("unknown host `{name}`: expected the name of a host{nearest}")]
    UnknownHost {
        /// The name.
        name: String,
        /// The nearest name.
        nearest: Nearest,
    },
    /// No host has this number.
    #[error("`{what}` is host {number}, and the network has {count} hosts: expected a number from 0 to {}", count - 1)]
    HostNumber {
        /// `src` or `dst`.
        what: &'static str,
        /// The number.
        number: u32,
        /// The number of hosts.
        count: u32,
    },
    /// A message without data.
    #[error("the message has 0 B: expected at least 1 B, as without data no packet could arrive")]
    NoData,
    /// A message larger than any that can be simulated.
    #[error("the message has {bytes} B: expected at most {most} B (17.6 TB)")]
    TooLarge {
        /// The size.
        bytes: u64,
        /// The maximum size.
        most: u64,
    },
    /// A priority that switches do not have.
    #[error(
        "`priority` is {priority}, and switches have {count}, numbered from 0: expected a number below {count}"
    )]
    Priority {
        /// The priority.
        priority: u8,
        /// The number of priorities.
        count: u8,
    },
    /// Processes are named, and the mapping does not look at them.
    #[error(
        "processes {src} and {dst} are named, and messages share connections by `{mapping}`: expected the connection mapping \
         `per_process_pair`, or processes 0 and 0"
    )]
    Processes {
        /// The sending process.
        src: u32,
        /// The receiving process.
        dst: u32,
        /// The mapping.
        mapping: String,
    },
    /// A time before the one that the session has reached.
    #[error("{what} is {at}, and the session has reached {now}: expected that time or a later one")]
    Past {
        /// What the time is for.
        what: &'static str,
        /// The time.
        at: Time,
        /// The time that the session has reached.
        now: Time,
    },
    /// A time after the end of the session.
    #[error("{what} is {at}, and the session ends at {end}, by {by}: expected at most that")]
    PastEnd {
        /// What the time is for.
        what: &'static str,
        /// The time.
        at: Time,
        /// The end.
        end: Time,
        /// What sets the end.
        by: &'static str,
    },
    /// A setting of the scenario that a session does not have.
    #[error("{setting}: a session has none; expected {expected}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// What is expected.
        expected: &'static str,
    },
    /// A setting of the session that does not fit.
    #[error("`{option}` of the session {found}: expected {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// What was given.
        found: String,
        /// What is expected.
        expected: &'static str,
    },
    /// The network cannot be built or cannot go on, as in a plain run.
    #[error(transparent)]
    Run(#[from] RunError),
}
