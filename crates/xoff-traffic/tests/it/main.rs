//! All integration tests of this crate, as modules of one binary: to compile and link a binary for each file would take
//! longer than to run the tests. `cargo test -p xoff-traffic --test it patterns` runs the tests of one module.

mod chakra;
mod closed_loops;
mod collectives;
mod connections;
mod et;
mod goal;
mod patterns;
mod properties;
