//! What is wrong with a setting, and what would be right.

use std::borrow::Cow;
use std::fmt;

use crate::{Bytes, Time};

/// A setting that cannot be used. Checks of settings return violations; whoever shows them adds the place at which the
/// setting was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The key, from the table that was checked on, with dots and with places in lists as numbers: `fallback.hash`,
    /// `links.3.a`. Empty if the table as a whole is wrong.
    pub key: Cow<'static, str>,
    /// What is wrong, as the end of a sentence that begins with the key: "is 0".
    pub found: String,
    /// What would be right, as the end of a sentence that begins with "expected".
    pub expected: String,
}

impl Violation {
    /// A violation at `key`.
    pub fn new(
        key: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Violation {
        Violation { key: key.into(), found: found.into(), expected: expected.into() }
    }

    /// The same violation, seen from the table around it, in which it stands under `key`.
    pub fn inside(self, key: &str) -> Violation {
        let key = if self.key.is_empty() { key.to_string() } else { format!("{key}.{}", self.key) };
        Violation { key: key.into(), ..self }
    }
}

/// A key with dots as people write it: `links.3.a` is `links[3].a`.
pub fn key_text(key: &str) -> String {
    key.split('.').fold(String::new(), |text, step| match step.parse::<usize>() {
        Ok(index) => format!("{text}[{index}]"),
        Err(_) if text.is_empty() => step.to_string(),
        Err(_) => format!("{text}.{step}"),
    })
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "`{}` ", key_text(&self.key))?;
        }
        write!(f, "{}: expected {}", self.found, self.expected)
    }
}

impl std::error::Error for Violation {}

/// The violation of a number outside `min..=max`.
pub fn number_within(key: &'static str, value: u64, min: u64, max: u64) -> Option<Violation> {
    let outside = !(min..=max).contains(&value);
    outside.then(|| Violation::new(key, format!("is {value}"), format!("a number from {min} to {max}")))
}

/// The violation of a size outside `min..=max` bytes.
pub fn size_within(key: &'static str, value: Bytes, min: u64, max: u64) -> Option<Violation> {
    let outside = !(min..=max).contains(&value.0);
    outside.then(|| Violation::new(key, format!("is {value}"), format!("a size from {min}B to {max}B")))
}

/// The violation of a time outside `min..=max`.
pub fn time_within(key: &'static str, value: Time, min: Time, max: Time) -> Option<Violation> {
    let outside = !(min..=max).contains(&value);
    outside.then(|| Violation::new(key, format!("is {value}"), format!("a time from {min} to {max}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_reads_as_a_sentence_with_the_key_as_people_write_it() {
        let violation = Violation::new("3.a", "is empty", "a name").inside("links");
        assert_eq!(violation.to_string(), "`links[3].a` is empty: expected a name");
        let whole = Violation::new("", "no hosts", "at least one");
        assert_eq!(whole.to_string(), "no hosts: expected at least one");
        assert_eq!(whole.inside("topology").key, "topology");
    }

    #[test]
    fn bounds_include_their_ends() {
        assert_eq!([1, 8].map(|n| number_within("n", n, 1, 8)), [None, None]);
        let found = number_within("n", 9, 1, 8).map(|v| v.to_string());
        assert_eq!(found.as_deref(), Some("`n` is 9: expected a number from 1 to 8"));
    }
}
