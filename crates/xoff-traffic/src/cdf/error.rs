//! What can be wrong with a distribution of sizes.

use std::fmt;

/// Where in a distribution an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The n-th point of a list, counted from 1.
    Point(usize),
    /// The n-th line of a text, counted from 1.
    Line(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Point(n) => write!(f, "point {n}"),
            Place::Line(n) => write!(f, "line {n}"),
        }
    }
}

/// Why a list of points is no distribution of sizes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CdfError {
    /// No point at all.
    #[error("there is no point: expected lines `SIZE PROBABILITY`")]
    Empty,
    /// One point only.
    #[error("{0} is the only point: expected two or more")]
    OnePoint(Place),
    /// A line whose number of columns is not two or three, or differs from the first line's.
    #[error("{place} has {found} columns: expected {expected}")]
    Columns {
        /// Where.
        place: Place,
        /// Columns there.
        found: usize,
        /// Columns that would do.
        expected: &'static str,
    },
    /// A column that is no number.
    #[error("{place}: `{text}` is not a number")]
    NotANumber {
        /// Where.
        place: Place,
        /// What stands there.
        text: String,
    },
    /// A size that is negative, not finite or above [`super::MAX_SIZE`].
    #[error("{place}: the size {size} lies outside 0 to 2^50 bytes")]
    Size {
        /// Where.
        place: Place,
        /// In bytes.
        size: f64,
    },
    /// A probability below 0, above 1 (100 in percent) or not a number.
    #[error("{place}: the probability {probability} lies outside 0 to {max}")]
    Probability {
        /// Where.
        place: Place,
        /// As it stands there.
        probability: f64,
        /// 1, or 100 if the last point has 100.
        max: f64,
    },
    /// A size smaller than the one before.
    #[error("{place}: the size {size} is below {before} of the point before")]
    SizeFalls {
        /// Where.
        place: Place,
        /// In bytes.
        size: f64,
        /// Size of the point before, in bytes.
        before: f64,
    },
    /// A probability smaller than the one before.
    #[error("{place}: the probability {probability} is below {before} of the point before")]
    ProbabilityFalls {
        /// Where.
        place: Place,
        /// As it stands there.
        probability: f64,
        /// Probability of the point before.
        before: f64,
    },
    /// The last probability is neither 1 nor 100 (percent).
    #[error(
        "{place}: the last probability is {probability}: expected 1, or 100 where the points are in percent"
    )]
    LastNotOne {
        /// Where.
        place: Place,
        /// As it stands there.
        probability: f64,
    },
    /// Flows would have less than a byte on average.
    #[error("the mean size is {0} bytes: expected 1 or more")]
    Mean(f64),
}
