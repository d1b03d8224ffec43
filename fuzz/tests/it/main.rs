//! The fuzz targets, as modules of one binary.
//!
//! Each target reads what it needs from the fuzzer's bytes. By itself it tries a number of inputs by chance, few enough for
//! every day; `BOLERO_RANDOM_ITERATIONS` sets another number, and `cargo bolero test` follows coverage instead.

use bolero::ValueGenerator;

mod failures;
mod reaction;
mod run;
mod scenario;
mod schedule;

/// A fuzzer's bytes. By chance bolero itself gives 64 of them at most, after which each choice is the first one.
fn bytes(most: usize) -> impl ValueGenerator<Output = Vec<u8>> {
    bolero::produce::<Vec<u8>>().with().len(0..=most)
}
