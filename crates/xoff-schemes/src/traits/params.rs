//! What a scheme, a detector or a throttle says of a parameter that it refuses.

/// A parameter outside its allowed range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParamError {
    /// The parameter's key.
    pub key: &'static str,
    /// What is wrong and what was expected.
    pub message: String,
}

impl ParamError {
    /// An error at `key`.
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        ParamError { key, message: message.into() }
    }
}
