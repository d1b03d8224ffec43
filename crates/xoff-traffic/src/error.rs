//! What can be wrong with a description of traffic.

use std::{fmt, io};

use xoff_engine::spelling::shortened;
use xoff_engine::{Nearest, QuantityError, Time, Violation};

use crate::cdf::CdfError;
use crate::files;

/// A word of a file as a message shows it: the file may be anything, and its words any length.
pub(crate) fn shown(word: &str) -> String {
    shortened(word, 40)
}

/// Maximum length of what a message says of a file's line, in characters.
const MAX_ECHO: usize = 100;

/// Why no traffic can be generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrafficError {
    /// A key of a pattern has a value that it cannot have.
    #[error("traffic[{index}] (`{label}`): `{key}` {fault}")]
    Pattern {
        /// Place of the pattern in the list, from 0.
        index: usize,
        /// Its label.
        label: String,
        /// The key.
        key: &'static str,
        /// What is wrong, and what was expected.
        fault: Fault,
    },
    /// More flows than [`crate::MAX_FLOWS`].
    #[error(
        "traffic[{index}] (`{label}`) brings the flows to about {count}: at most {limit} are generated ({cause})"
    )]
    TooManyFlows {
        /// Place of the pattern that exceeds the limit, from 0.
        index: usize,
        /// Its label.
        label: String,
        /// Expected number of flows of all patterns up to this one, or the largest number if the sum does not fit.
        count: u64,
        /// The limit.
        limit: u64,
        /// The reason for that number.
        cause: String,
    },
    /// More patterns than a flow's label can number.
    #[error("{0} traffic patterns: at most 65535")]
    TooManyPatterns(usize),
    /// More hosts than an index can number.
    #[error("{0} hosts: at most 4294967295")]
    TooManyHosts(usize),
    /// Two hosts have one name.
    #[error("two hosts are called `{0}`: expected names of their own")]
    SameName(String),
}

/// What is wrong with a key of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A name that no host has.
    UnknownHost {
        /// As written.
        name: String,
        /// The nearest valid name.
        nearest: Nearest,
    },
    /// A name that no workload has.
    UnknownWorkload {
        /// As written.
        name: String,
        /// The nearest valid name.
        nearest: Nearest,
    },
    /// Not a range of hosts.
    Range(String),
    /// A host that a list names twice.
    Twice(String),
    /// A flow from a host to itself.
    ToItself(String),
    /// A number, time, size or rate outside its bounds.
    OutOfBounds {
        /// The value as written, or as derived from the text.
        value: String,
        /// The values that are allowed.
        expected: String,
    },
    /// A key that these other keys require.
    Missing(&'static str),
    /// A key that these other keys exclude.
    Unneeded(&'static str),
    /// A start at or after the end of the run.
    AfterEnd {
        /// As written.
        start: Time,
        /// End of the run.
        end: Time,
    },
    /// A file that the caller could not give.
    File {
        /// As written.
        path: String,
        /// The caller's words.
        why: String,
    },
    /// A file that is no distribution of sizes.
    Cdf {
        /// As written.
        path: String,
        /// What is wrong with it.
        error: Box<CdfError>,
    },
    /// A line of a list of flows.
    Line {
        /// As written.
        path: String,
        /// Line, from 1.
        line: usize,
        /// The column.
        column: String,
        /// What is wrong with it.
        fault: Box<Fault>,
    },
    /// An execution trace.
    Trace {
        /// The file, as written with the rank's number.
        path: String,
        /// The node in words, such as "whose node 7 (`gemm`)"; `None` for the file as a whole.
        node: Option<String>,
        /// What is wrong with it.
        fault: Box<Fault>,
    },
    /// A text that is no quantity.
    Quantity(QuantityError),
}

impl Fault {
    /// What is wrong, as the end of a sentence that begins with the key.
    pub fn found(&self) -> String {
        match self {
            Fault::UnknownHost { name, .. } => format!("names the unknown host `{name}`"),
            Fault::UnknownWorkload { name, .. } => format!("names the unknown workload `{name}`"),
            Fault::Range(text) => format!("has the range `{text}`"),
            Fault::Twice(host) => format!("lists host `{host}` twice"),
            Fault::ToItself(host) => format!("makes host `{host}` send to itself"),
            Fault::OutOfBounds { value, .. } => format!("is {value}"),
            Fault::Missing(_) => "is missing".into(),
            Fault::Unneeded(_) => "has no meaning here".into(),
            Fault::AfterEnd { start, .. } => format!("is {start}"),
            Fault::File { path, why } => format!("names the file `{path}`, which cannot be read: {why}"),
            Fault::Cdf { path, error } => {
                format!("names the file `{path}`, which is no size distribution: {error}")
            }
            Fault::Line { path, line, column, fault } => {
                let (column, found) = (shown(column), shortened(&fault.found(), MAX_ECHO));
                format!("names the file `{path}`, which has an error in line {line}: `{column}` {found}")
            }
            Fault::Trace { path, node, fault } => {
                let node = node.as_deref().unwrap_or("which");
                format!("names the file `{path}`, {node} {}", shortened(&fault.found(), 4 * MAX_ECHO))
            }
            Fault::Quantity(error) => format!("is wrong: {}", error.found()),
        }
    }

    /// What is expected, as the end of a sentence that begins with "expected".
    pub fn expected(&self) -> String {
        match self {
            Fault::UnknownHost { nearest, .. } => format!("the name of a host{nearest}"),
            Fault::UnknownWorkload { nearest, .. } => format!("the name of a workload{nearest}"),
            Fault::Range(_) => {
                "two names that differ in the number at their end only, the smaller first, such as `host0..host15`".into()
            }
            Fault::Twice(_) => "each host once".into(),
            Fault::ToItself(_) => "another host".into(),
            Fault::OutOfBounds { expected, .. } => expected.clone(),
            Fault::Missing(expected) => expected.to_string(),
            Fault::Unneeded(why) => format!("no such key: {why}"),
            Fault::AfterEnd { end, .. } => format!("a time before the end of the run at {end}"),
            Fault::File { .. } => "a file, named relative to the scenario".into(),
            Fault::Cdf { .. } => {
                "lines `SIZE_IN_BYTES PROBABILITY`, both rising, the last probability 1 or 100".into()
            }
            Fault::Line { fault, .. } | Fault::Trace { fault, .. } => fault.expected(),
            Fault::Quantity(error) => error.expected(),
        }
    }

    /// The fault as a violation of `key`.
    pub fn violation(&self, key: &'static str) -> Violation {
        Violation::new(key, self.found(), self.expected())
    }

    /// The fault of `key`.
    pub(crate) fn at(self, key: &'static str) -> Misfit {
        Misfit { key, fault: self }
    }

    /// A file that cannot be had.
    pub(crate) fn file(path: &str, error: &io::Error) -> Fault {
        Fault::File { path: path.into(), why: files::reason(error) }
    }

    /// A value outside its bounds.
    pub(crate) fn bounds(value: impl ToString, expected: impl Into<String>) -> Fault {
        Fault::OutOfBounds { value: value.to_string(), expected: expected.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.found(), self.expected())
    }
}

impl std::error::Error for Fault {}

/// A fault and the key that has it, before the pattern's place is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Misfit {
    pub(crate) key: &'static str,
    pub(crate) fault: Fault,
}
