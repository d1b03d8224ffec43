//! What a fuzzer's bytes become: edits of a text, and small scenarios that can be run.
//!
//! The targets themselves are the tests of this crate. `cargo test -p xoff-fuzz` tries each of them for a moment;
//! `docs/testing.md` says how to let them run for hours.

mod edits;
mod failures;
mod scenario;

pub use edits::edited;
pub use failures::failing_scenario;
pub use scenario::small_scenario;

/// Results with the errors of [`arbitrary`], which mean that the bytes have come to their end.
pub type Result<T> = arbitrary::Result<T>;
