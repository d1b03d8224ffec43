//! xoff: a packet-level simulator of congestion control in lossless networks.
//!
//! This crate is the one to depend on. It reads or builds scenarios, runs them and gives result tables; the crates below it
//! are its modules [`engine`], [`schemes`], [`fabric`] and [`traffic`]. [`prelude`] holds the names that most programs need.
//!
//! # Two flows that meet
//!
//! A scenario describes a run completely. [`ScenarioBuilder`] builds one from typed values, and [`Scenario::load`] reads one
//! from a TOML file; both get the same checks. [`run()`] runs it.
//!
//! ```
//! use xoff::prelude::*;
//!
//! // Two hosts send 1 MB each to a third one, through one switch with links of 100 Gbps.
//! let star = Star { hosts: 3, ..Star::default() };
//! let scenario = ScenarioBuilder::new(star, AnyScheme::Dctcp(Default::default()))
//!     .traffic(FlowPattern::message("host0", "host2", Bytes(1_000_000)))
//!     .traffic(FlowPattern::message("host1", "host2", Bytes(1_000_000)))
//!     .build()?;
//! let output = xoff::run(&scenario, &mut |_| true)?;
//!
//! let summary = output.summary();
//! assert_eq!((summary.flows, summary.completed), (2, 2));
//! // Two flows share a link, so each takes about twice as long as alone.
//! let slowdown = summary.slowdown.expect("two flows are complete").mean;
//! assert!((1.5..2.5).contains(&slowdown), "{slowdown}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Output`] holds a manifest and the tables: flows, ports, queues and more, as Arrow record batches.
//! [`store::save`] writes them as Parquet files.
//!
//! # Without a scenario
//!
//! [`NetworkBuilder`] builds a network node by node and gives a [`fabric::Simulation`], whose records can be read directly.
//!
//! # Without an operating system
//!
//! Without the feature `system`, which is on by default, neither [`store`] nor anything else that touches the disk by itself is
//! compiled, and the crate builds for `wasm32-unknown-unknown`: simulations run in a browser's tab.
//!
//! # Where to look
//!
//! - [`scenario`]: scenarios, their keys and checks, sweeps and tunings;
//! - [`cosim`]: a network to which another program gives messages while simulated time passes;
//! - [`run()`], [`run_on`], [`run_with`]: one run, on one thread or several, with probes of one's own;
//! - [`files`], [`memory`]: reading the files that a user names, and how much memory is free;
//! - [`tables`], [`summary`], [`store`], [`trace`]: the results of a run;
//! - [`catalogue`]: the names of all schemes, topologies, patterns and workloads;
//! - [`schemes`]: congestion control as state machines that run without a network, and the traits that a new scheme implements;
//! - [`fabric`]: packets, links, switches, hosts, routing and topologies;
//! - [`traffic`]: patterns, sizes and arrivals;
//! - [`engine`]: simulated time, quantities, events and random streams.

pub use xoff_engine as engine;
pub use xoff_fabric as fabric;
pub use xoff_schemes as schemes;
pub use xoff_traffic as traffic;

pub mod catalogue;
#[cfg(feature = "system")]
mod checksums;
pub mod cosim;
pub mod files;
pub mod jobs;
pub mod memory;
pub mod network;
pub mod prelude;
pub mod run;
pub mod scenario;
#[cfg(feature = "system")]
pub mod store;
pub mod summary;
pub mod tables;
pub mod trace;

pub use network::{NetworkBuilder, NetworkError};
pub use run::{Output, RunError, Threads, run, run_on, run_watched, run_with};
pub use scenario::{Scenario, ScenarioBuilder, ScenarioError};
