//! What can be wrong with a description of traffic.

use xoff_engine::{QuantityError, Time};

use crate::cdf::CdfError;

/// Why there is no traffic.
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
        /// Expected number of flows of all patterns up to this one, or the largest number where it does not fit.
        count: u64,
        /// The limit.
        limit: u64,
        /// What makes them so many.
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

/// What is wrong with a key of a pattern. The texts continue "`key` ...".
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// A name that no host has.
    #[error("names `{name}`, which is no host{}", nearest.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?")))]
    UnknownHost {
        /// As written.
        name: String,
        /// The name most like it.
        nearest: Option<String>,
    },
    /// A name that no workload has.
    #[error("names `{name}`, which is no workload{}", nearest.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?")))]
    UnknownWorkload {
        /// As written.
        name: String,
        /// The name most like it.
        nearest: Option<String>,
    },
    /// Not a range of hosts.
    #[error(
        "has the range `{0}`: expected two names that differ in the number at their end only, the smaller first, such as `host0..host15`"
    )]
    Range(String),
    /// A host that stands twice in a list.
    #[error("lists host `{0}` twice: expected each host once")]
    Twice(String),
    /// A flow from a host to itself.
    #[error("makes host `{0}` send to itself: expected another host")]
    ToItself(String),
    /// A number, time, size or rate outside its bounds.
    #[error("is {value}: expected {expected}")]
    OutOfBounds {
        /// As written, or as it follows from what is written.
        value: String,
        /// What would do.
        expected: String,
    },
    /// A key that these other keys require.
    #[error("is missing: expected {0}")]
    Missing(&'static str),
    /// A key that these other keys exclude.
    #[error("has no meaning here: {0}")]
    Unneeded(&'static str),
    /// A start at or after the end of the run.
    #[error("is {start}: expected a time before the end of the run at {end}")]
    AfterEnd {
        /// As written.
        start: Time,
        /// End of the run.
        end: Time,
    },
    /// A file that the caller could not give.
    #[error("names the file `{path}`, which cannot be read: {why}")]
    File {
        /// As written.
        path: String,
        /// The caller's words.
        why: String,
    },
    /// A file that is no distribution of sizes.
    #[error("names the file `{path}`, which is no size distribution: {error}")]
    Cdf {
        /// As written.
        path: String,
        /// What is wrong with it.
        error: Box<CdfError>,
    },
    /// A line of a list of flows.
    #[error("names the file `{path}`, which has an error in line {line}: `{column}` {fault}")]
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
    /// No quantity.
    #[error("is wrong: {0}")]
    Quantity(QuantityError),
}

impl Fault {
    /// The fault of `key`.
    pub(crate) fn at(self, key: &'static str) -> Misfit {
        Misfit { key, fault: self }
    }

    /// A value outside its bounds.
    pub(crate) fn bounds(value: impl ToString, expected: impl Into<String>) -> Fault {
        Fault::OutOfBounds { value: value.to_string(), expected: expected.into() }
    }
}

/// A fault and the key that has it, before the pattern's place is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Misfit {
    pub(crate) key: &'static str,
    pub(crate) fault: Fault,
}

/// The candidate most like `name`, the first of several; none where every one differs in more than half of its letters.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Beyond any sensible name the comparison, quadratic in length, is not worth its time.
    if name.len() > 128 {
        return None;
    }
    let distances = candidates.into_iter().map(|c| (strsim::osa_distance(name, c), c));
    let best = distances.min_by_key(|(distance, _)| *distance)?;
    (2 * best.0 <= name.chars().count().max(2)).then(|| best.1.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_is_the_fewest_edits_away_and_not_just_anything() {
        let names = ["websearch", "fb_hadoop", "tcd_hadoop"];
        assert_eq!(nearest("web_search", names).as_deref(), Some("websearch"));
        assert_eq!(nearest("fb_hadop", names).as_deref(), Some("fb_hadoop"));
        assert_eq!(nearest("uniform", names), None);
        assert_eq!(nearest("x", []), None);
    }
}
