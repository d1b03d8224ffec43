//! Checks of parameters: each refuses a value with the key, what it is and what was expected.

use xoff_engine::{Bytes, Rate, Time};

use crate::traits::ParamError;

/// A finite number above `low`, up to and including `high`.
pub(crate) fn above(key: &'static str, value: f64, low: f64, high: f64) -> Result<(), ParamError> {
    if value > low && value <= high {
        return Ok(());
    }
    Err(ParamError::new(key, format!("`{key}` is {value}: expected a number above {low} and at most {high}")))
}

/// A finite number from `low` to `high`, both included.
pub(crate) fn within(key: &'static str, value: f64, low: f64, high: f64) -> Result<(), ParamError> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(ParamError::new(key, format!("`{key}` is {value}: expected a number from {low} to {high}")))
}

/// A rate that is not zero.
pub(crate) fn rate(key: &'static str, value: Rate) -> Result<(), ParamError> {
    if value > Rate(0) {
        return Ok(());
    }
    Err(ParamError::new(key, format!("`{key}` is zero: expected a rate such as \"100Mbps\"")))
}

/// A time that is not zero.
pub(crate) fn time(key: &'static str, value: Time) -> Result<(), ParamError> {
    if value > Time::ZERO {
        return Ok(());
    }
    Err(ParamError::new(key, format!("`{key}` is zero: expected a time such as \"50us\"")))
}

/// A size that is not zero.
pub(crate) fn bytes(key: &'static str, value: Bytes) -> Result<(), ParamError> {
    if value > Bytes(0) {
        return Ok(());
    }
    Err(ParamError::new(key, format!("`{key}` is zero: expected a size such as \"10MB\"")))
}
