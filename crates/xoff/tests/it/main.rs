//! All integration tests of this crate, as modules of one binary: to compile and link a binary for each file would take
//! longer than to run the tests. `cargo test -p xoff --test it snapshots` runs the tests of one module.

mod chakra;
mod closed_loops;
mod collectives;
mod common;
mod cosim;
mod determinism;
#[path = "../../../xoff-traffic/tests/it/et.rs"]
mod et;
mod fast_forward;
mod fast_forward_drift;
mod fast_forward_gains;
mod fast_forward_hidden;
mod fast_forward_limits;
mod fast_forward_rates;
mod goal;
mod limits;
mod link_order;
mod link_sharing;
mod memory;
mod own_schemes;
mod sampled;
mod scenario;
mod scenario_bad;
mod scenarios;
mod snapshots;
mod store;
mod threads;
mod thresholds;
mod trace;
mod training;
