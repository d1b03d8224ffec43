//! Checks of parameters: each refuses a value with the key, what it is and what was expected.

use xoff_engine::{Bytes, Rate, Time, Violation};

/// A finite number above `low`, up to and including `high`.
pub(crate) fn above(key: &'static str, value: f64, low: f64, high: f64) -> Result<(), Violation> {
    if value > low && value <= high {
        return Ok(());
    }
    Err(Violation::new(key, format!("is {value}"), format!("a number above {low} and at most {high}")))
}

/// A finite number from `low` to `high`, both included.
pub(crate) fn within(key: &'static str, value: f64, low: f64, high: f64) -> Result<(), Violation> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(Violation::new(key, format!("is {value}"), format!("a number from {low} to {high}")))
}

/// A rate that is not zero.
pub(crate) fn rate(key: &'static str, value: Rate) -> Result<(), Violation> {
    if value > Rate(0) {
        return Ok(());
    }
    Err(Violation::new(key, "is zero", "a rate such as \"100Mbps\""))
}

/// A time that is not zero.
pub(crate) fn time(key: &'static str, value: Time) -> Result<(), Violation> {
    if value > Time::ZERO {
        return Ok(());
    }
    Err(Violation::new(key, "is zero", "a time such as \"50us\""))
}

/// A size that is not zero.
pub(crate) fn bytes(key: &'static str, value: Bytes) -> Result<(), Violation> {
    if value > Bytes(0) {
        return Ok(());
    }
    Err(Violation::new(key, "is zero", "a size such as \"10MB\""))
}
