//! All integration tests of this crate, as modules of one binary: to compile and link a binary for each file would take
//! longer than to run the tests. `cargo test -p xoff-schemes --test it dcqcn` runs the tests of one module.

mod aimd;
mod bolt;
mod carry;
mod common;
mod dcqcn;
mod dctcp;
mod expresspass;
mod fecn;
mod fncc;
mod foreign;
mod hpcc;
mod ib_cc;
mod idle;
mod np_ecn;
mod nscc;
mod patched_timely;
mod pcn;
mod pft;
mod powertcp;
mod rccc;
mod red;
mod registry;
mod reordering;
mod rocc;
mod signals;
mod sqcc;
mod srcc;
mod swift;
mod tcd;
mod timely;
