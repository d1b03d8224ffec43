//! The fuzz targets, as modules of one binary.
//!
//! Each target reads what it needs from the fuzzer's bytes. By itself it tries a number of inputs by chance, few enough for
//! every day; `BOLERO_RANDOM_ITERATIONS` sets another number, and `cargo bolero test` follows coverage instead.

mod reaction;
mod run;
mod scenario;
mod schedule;
